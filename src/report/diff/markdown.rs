//! Writes the differences as Markdown.

use super::Diff;
use super::words::{Line, headline, items, tables, totals, who};
use render::text::inert;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, diff: &Diff) -> io::Result<()> {
    writeln!(out, "**{}**\n", plain(&headline(diff)))?;
    writeln!(out, "- before: {}", plain(&who(&diff.before)))?;
    writeln!(out, "- after: {}", plain(&who(&diff.after)))?;
    table(out, "", totals(diff))?;
    for ([_, heading], lines) in tables(diff) {
        table(out, heading, lines)?;
    }
    for (heading, lines, more) in items(diff) {
        let heading = heading.to_lowercase();
        table(out, &heading, lines)?;
        if more > 0 {
            writeln!(out, "\nand {more} more")?;
        }
    }
    if let Some(left_out) = diff.left_out {
        writeln!(out, "\n{left_out}")?;
    }
    out.flush()
}

fn table(out: &mut dyn Write, heading: &str, lines: Vec<Line>) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n| {heading} | before | after | change |\n|---|---:|---:|---:|"
    )?;
    for line in lines {
        writeln!(out, "| {} |", line.map(|cell| plain(&cell)).join(" | "))?;
    }
    Ok(())
}

/// Returns a text on one line without marks, neither for a terminal nor for Markdown and HTML.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in inert(text).chars() {
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
        let text = plain("a|b <script> [x](y) **b** `c` https://x.y\n| - | \u{1b}[31m");
        assert!(!text.contains(['<', '\n', '\u{1b}']));
        assert!(
            text.starts_with("a\\|b &lt;script\\> \\[x\\](y) \\*\\*b\\*\\* \\`c\\` https&#58;//")
        );
    }
}
