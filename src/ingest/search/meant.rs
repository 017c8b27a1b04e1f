//! Decodes the text of a call as a tool receives it: the strings in its arguments, which are JSON, without their
//! escapes.

use crate::bytes::text::Unescape;
use model::Kind;
use std::borrow::Cow;
use std::io;

/// Returns the text of an item of this kind without escapes; borrowed if it has none.
pub(super) fn meant(kind: Kind, text: &str) -> Cow<'_, str> {
    if !has_escapes(kind) || !text.contains('\\') {
        return text.into();
    }
    let mut meant = Vec::with_capacity(text.len());
    let mut reader = Parts::default();
    reader.feed(text.as_bytes(), &mut |part| meant.extend_from_slice(part));
    String::from_utf8_lossy(&meant).into_owned().into()
}

/// Returns true if items of this kind are JSON.
pub(super) fn has_escapes(kind: Kind) -> bool {
    kind == Kind::ToolCall
}

/// Takes the escapes out of a text that comes in parts.
#[derive(Default)]
pub(super) struct Parts(Unescape);

impl Parts {
    pub(super) fn feed(&mut self, part: &[u8], give: &mut dyn FnMut(&[u8])) {
        let mut infallible = |part: &[u8]| -> io::Result<()> {
            give(part);
            Ok(())
        };
        let _ = self.0.feed(part, &mut infallible);
    }
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
