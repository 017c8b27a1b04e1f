//! Settings in JSON, changed with all that is around a change left as it is: order, white space, comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};

/// What some editors put before a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A document that is an object.
pub(super) struct Json {
    root: CstRootNode,
    /// Whether it began with a byte order mark.
    is_marked: bool,
}

impl Json {
    /// Reads a document; an empty one is an empty object.
    pub(super) fn read(text: &str) -> Result<Json, String> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            ..ParseOptions::default()
        };
        let plain = text.strip_prefix(BYTE_ORDER_MARK);
        let root = CstRootNode::parse(plain.unwrap_or(text), &options)
            .map_err(|error| format!("it is not valid JSON: {error}"))?;
        if root.object_value_or_create().is_none() {
            return Err("it is not a JSON object".to_owned());
        }
        Ok(Json {
            root,
            is_marked: plain.is_some(),
        })
    }

    /// The outer object.
    pub(super) fn object(&self) -> CstObject {
        self.root.object_value_or_set()
    }

    /// The document as it is now.
    pub(super) fn text(&self) -> String {
        let mark = if self.is_marked { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.root)
    }
}

/// The text of a field that is a string.
pub(super) fn field(object: &CstObject, name: &str) -> Option<String> {
    object
        .get(name)?
        .value()?
        .as_string_lit()?
        .decoded_value()
        .ok()
}

/// The texts of a field that is a list.
pub(super) fn texts(object: &CstObject, name: &str) -> Option<Vec<String>> {
    let list = object.array_value(name)?.elements();
    let text = |node: CstNode| node.as_string_lit()?.decoded_value().ok();
    Some(list.into_iter().filter_map(text).collect())
}
