//! Writes the differences as Markdown.

use super::Diff;
use super::words::{Line, headline, items, tables, totals, who};
use crate::Charset;
use crate::text::of_log;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, diff: &Diff, charset: Charset) -> io::Result<()> {
    writeln!(out, "**{}**\n", plain(&headline(diff), charset))?;
    writeln!(out, "- before: {}", plain(&who(&diff.before), charset))?;
    writeln!(out, "- after: {}", plain(&who(&diff.after), charset))?;
    table(out, "", totals(diff), charset)?;
    for ([_, heading], lines) in tables(diff) {
        table(out, heading, lines, charset)?;
    }
    for (heading, lines, more) in items(diff) {
        let heading = heading.to_lowercase();
        table(out, &heading, lines, charset)?;
        if more > 0 {
            writeln!(out, "\nand {more} more")?;
        }
    }
    if let Some(left_out) = diff.left_out {
        writeln!(out, "\n{left_out}")?;
    }
    out.flush()
}

fn table(out: &mut dyn Write, heading: &str, lines: Vec<Line>, charset: Charset) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n| {heading} | before | after | change |\n|---|---:|---:|---:|"
    )?;
    for line in lines {
        writeln!(
            out,
            "| {} |",
            line.map(|cell| plain(&cell, charset)).join(" | ")
        )?;
    }
    Ok(())
}

/// Returns a text on one line without marks, neither for a terminal nor for Markdown and HTML.
fn plain(text: &str, charset: Charset) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in of_log(text, charset).chars() {
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            // In Markdown a backslash makes each of these an ordinary character; in HTML an entity does.
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '!' | '|' | '>' | '~' | '$' => {
                plain.push('\\');
                plain.push(c);
            }
            // A `:` or `@` may be part of an address, which would become a link.
            ':' => plain.push_str("&#58;"),
            '@' => plain.push_str("&#64;"),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_marks_anything_up() {
        let text = plain(
            "a|b <script> [x](y) **b** `c` https://x.y\n| - | \u{1b}[31m",
            Charset::Unicode,
        );
        assert!(!text.contains(['<', '\n', '\u{1b}']));
        assert!(
            text.starts_with("a\\|b &lt;script\\> \\[x\\](y) \\*\\*b\\*\\* \\`c\\` https&#58;//")
        );
        // In ASCII, these are a backtick and a backslash.
        assert_eq!(plain("▘╲", Charset::Ascii), "\\`\\\\");
    }
}
