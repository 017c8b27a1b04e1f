//! The result of a check as annotations: a GitHub workflow shows each such line of its output as an error.

use super::Check;
use super::document::{what, who};
use crate::Charset;
use crate::output::text::of_log;
use anyhow::Result;
use std::io::Write;

pub(super) fn write(out: &mut dyn Write, check: &Check, charset: Charset) -> Result<()> {
    for of in &check.passed {
        let title = format!("ctxgauge: {}", of.passed.what.name().replace('_', " "));
        let message = format!("{}: {}", who(of), what(of));
        writeln!(
            out,
            "::error title={}::{}",
            property(&title, charset),
            data(&message, charset)
        )?;
    }
    Ok(())
}

/// Returns the text of an annotation, which no text of a log can end.
fn data(text: &str, charset: Charset) -> String {
    let text = of_log(text, charset).replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Like [`data`], but for a property, which ends at a colon or comma.
fn property(text: &str, charset: Charset) -> String {
    data(text, charset).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_an_annotation() {
        let hostile = "50 %\r\n::error title=x::gotcha\u{1b}[31m";
        let shown = data(hostile, Charset::Unicode);
        assert!(!shown.contains(['\r', '\n', '\u{1b}']), "{shown}");
        assert!(shown.starts_with("50 %25"), "{shown}");
        assert_eq!(property("a: b, c", Charset::Unicode), "a%3A b%2C c");
        // In ASCII, this block is a percent sign.
        let encoded = data("▇0A::error::gotcha", Charset::Ascii);
        assert_eq!(encoded, "%250A::error::gotcha");
    }
}
