//! The result of a check as annotations: a GitHub workflow shows each such line of its output as an error.

use super::Check;
use super::text::{what, who};
use anyhow::Result;
use render::text::inert;
use std::io::Write;

pub(super) fn write(out: &mut dyn Write, check: &Check) -> Result<()> {
    for of in &check.passed {
        let title = format!("ctxgauge: {}", of.passed.what.name().replace('_', " "));
        let message = format!("{}: {}", who(of), what(of));
        writeln!(
            out,
            "::error title={}::{}",
            property(&title),
            data(&message)
        )?;
    }
    Ok(())
}

/// Returns the text of an annotation, which no text of a log can end.
fn data(text: &str) -> String {
    let text = inert(text).replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Like [`data`], but for a property, which ends at a colon or comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_an_annotation() {
        let hostile = "50 %\r\n::error title=x::gotcha\u{1b}[31m";
        let shown = data(hostile);
        assert!(!shown.contains(['\r', '\n', '\u{1b}']), "{shown}");
        assert!(shown.starts_with("50 %25"), "{shown}");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }
}
