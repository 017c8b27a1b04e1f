//! Settings in JSON, changed with all that is around a change left as it is: order, white space, comments.

use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{ParseOptions, Scanner, ScannerOptions};
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
    /// Returns true if an agent that accepts this syntax reads a document.
    fn reads(self, body: &str) -> serde_json::Result<()> {
        if body.trim().is_empty() {
            return Ok(());
        }
        serde_json::from_str::<IgnoredAny>(&self.plain(body)).map(|_| ())
    }

    /// Returns a document with blanks in the place of what this syntax has more than JSON. The parser for changes accepts yet
    /// more, such as control characters in a text.
    fn plain(self, body: &str) -> String {
        let mut scanner = Scanner::new(body, &ScannerOptions::default());
        let mut plain = String::with_capacity(body.len());
        let mut last_comma = None;
        while let Ok(Some(token)) = scanner.scan() {
            plain.push_str(&body[plain.len()..scanner.token_start()]);
            let text = &body[scanner.token_start()..scanner.token_end()];
            match token {
                Token::CommentLine(_) | Token::CommentBlock(_) if self != Syntax::Plain => {
                    plain.extend(text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
                    continue;
                }
                Token::Comma if self == Syntax::Loose => {
                    last_comma = Some(plain.len());
                    plain.push_str(text);
                    continue;
                }
                Token::CloseBrace | Token::CloseBracket => {
                    if let Some(comma) = last_comma {
                        plain.replace_range(comma..=comma, " ");
                    }
                }
                _ => {}
            }
            last_comma = None;
            plain.push_str(text);
        }
        plain.push_str(&body[plain.len()..]);
        plain
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
        let root = CstRootNode::parse(body, &ParseOptions::default())
            .map_err(|error| format!("it is not valid JSON: {error}"))?;
        let read = Syntax::Loose.reads(body);
        read.map_err(|error| format!("it is not valid JSON: {error}"))?;
        if syntax.reads(body).is_err() {
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
    let text = object.get(name)?.value()?.as_string_lit()?;
    text.decoded_value().ok()
}

/// Returns the texts of a field that is a list.
pub(super) fn texts(object: &CstObject, name: &str) -> Option<Vec<String>> {
    let list = object.array_value(name)?.elements();
    let text = |node: CstNode| node.as_string_lit()?.decoded_value().ok();
    Some(list.into_iter().filter_map(text).collect())
}
