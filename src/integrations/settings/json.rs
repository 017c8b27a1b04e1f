//! Settings in JSON, changed with all that is around a change left as it is: order, white space, comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use serde::de::IgnoredAny;

/// The character that some editors put before a text.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The syntax that an agent accepts in its settings. It does not read a file that has more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON alone.
    Plain,
    /// Comments too.
    Comments,
    /// Comments, and commas after the last of several values.
    Loose,
}

impl Syntax {
    fn options(self) -> ParseOptions {
        ParseOptions {
            allow_comments: self != Syntax::Plain,
            allow_trailing_commas: self == Syntax::Loose,
            allow_loose_object_property_names: false,
            ..ParseOptions::default()
        }
    }

    /// Returns the name of the syntax that it lacks.
    fn lacks(self) -> &'static str {
        match self {
            Syntax::Plain => "comments or commas after a last value",
            Syntax::Comments | Syntax::Loose => "commas after a last value",
        }
    }
}

/// A document that is an object.
pub(super) struct Json {
    root: CstRootNode,
    /// True if it began with a byte order mark.
    is_marked: bool,
}

impl Json {
    /// Reads a document that the agent reads too; an empty one is an empty object.
    pub(super) fn read(text: &str, syntax: Syntax) -> Result<Json, String> {
        let plain = text.strip_prefix(BYTE_ORDER_MARK);
        let body = plain.unwrap_or(text);
        let parse = |syntax: Syntax| CstRootNode::parse(body, &syntax.options());
        let root =
            parse(Syntax::Loose).map_err(|error| format!("it is not valid JSON: {error}"))?;
        // The parser passes over comments at the end.
        let is_read = match syntax {
            Syntax::Plain => {
                body.trim().is_empty() || serde_json::from_str::<IgnoredAny>(body).is_ok()
            }
            syntax => parse(syntax).is_ok(),
        };
        if !is_read {
            let lacks = syntax.lacks();
            return Err(format!(
                "the agent does not read it, since it has {lacks}: remove them first"
            ));
        }
        if root.object_value_or_create().is_none() {
            return Err("it is not a JSON object".to_owned());
        }
        Ok(Json {
            root,
            is_marked: plain.is_some(),
        })
    }

    /// Returns the outer object.
    pub(super) fn object(&self) -> CstObject {
        self.root.object_value_or_set()
    }

    /// Returns the document as it is now.
    pub(super) fn text(&self) -> String {
        let mark = if self.is_marked { BYTE_ORDER_MARK } else { "" };
        format!("{mark}{}", self.root)
    }
}

/// Returns the text of a field that is a string.
pub(super) fn field(object: &CstObject, name: &str) -> Option<String> {
    object
        .get(name)?
        .value()?
        .as_string_lit()?
        .decoded_value()
        .ok()
}

/// Returns the texts of a field that is a list.
pub(super) fn texts(object: &CstObject, name: &str) -> Option<Vec<String>> {
    let list = object.array_value(name)?.elements();
    let text = |node: CstNode| node.as_string_lit()?.decoded_value().ok();
    Some(list.into_iter().filter_map(text).collect())
}
