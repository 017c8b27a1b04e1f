//! Decodes the text of a call as a tool receives it: the strings in its arguments, which are JSON, without their
//! escapes.

use model::Kind;
use std::borrow::Cow;

/// Returns the text of an item of this kind without escapes; borrowed if it has none.
pub(super) fn meant(kind: Kind, text: &str) -> Cow<'_, str> {
    let meant = has_escapes(kind)
        .then(|| json::without_escapes(text))
        .flatten();
    meant.unwrap_or(text.into())
}

/// Returns true if items of this kind are JSON.
pub(super) fn has_escapes(kind: Kind) -> bool {
    kind == Kind::ToolCall
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_have_escapes() {
        let text = r#"Bash {"command":"echo \"hi\"\nls \u00e9"}"#;
        assert_eq!(
            meant(Kind::ToolCall, text),
            "Bash {\"command\":\"echo \"hi\"\nls é\"}"
        );
        assert_eq!(meant(Kind::ToolResult, text), text);
    }
}
