//! The documentation in the columns of a terminal: Markdown as it is written, with its text wrapped.

use std::mem::take;
use textwrap::{Options, WordSplitter};

/// Returns Markdown in lines of at most these columns. Code, tables and longer words stay as they are. Headings are bold
/// where styles are shown. Comments, pictures and the targets of links are left out.
pub(super) fn wrapped(markdown: &str, columns: usize, has_styles: bool) -> String {
    let (mut out, mut block, mut is_code) = (String::new(), String::new(), false);
    for line in markdown.lines().chain([""]) {
        let text = line.trim_start();
        let (is_fence, is_heading) = (text.starts_with("```"), text.starts_with('#'));
        let stays = is_code || is_fence || is_heading || text.is_empty() || text.starts_with('|');
        if (stays || mark(text) > 0) && !block.is_empty() {
            out += &filled(&take(&mut block), columns);
            out.push('\n');
        }
        let is_comment = text.starts_with("<!--") || text.starts_with("![");
        if text.is_empty() && !is_code && (out.is_empty() || out.ends_with("\n\n")) {
            // One empty line is enough where a comment or a picture is left out.
        } else if is_heading && !is_code && has_styles {
            out += &format!("\u{1b}[1m{line}\u{1b}[22m\n");
        } else if stays && !is_code {
            out += &(without_targets(line) + "\n");
        } else if stays || !is_comment {
            let to = if stays { &mut out } else { &mut block };
            to.push_str(line);
            to.push('\n');
        }
        is_code ^= is_fence;
    }
    out.trim().to_owned() + "\n"
}

/// Returns the columns of the mark that a list's item begins with; 0: the text is none.
fn mark(text: &str) -> usize {
    let (first, _) = text.split_once(' ').unwrap_or_default();
    let number = first.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || matches!(first, "*" | "-") {
        first.len() + 1
    } else {
        0
    }
}

/// Returns the text of a block in lines of these columns.
fn filled(block: &str, columns: usize) -> String {
    let text = block.trim_start();
    let indent = block.len() - text.len();
    let (first, rest) = (" ".repeat(indent), " ".repeat(indent + mark(text)));
    let options = Options::new(columns)
        .initial_indent(&first)
        .subsequent_indent(&rest)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation);
    let words: Vec<&str> = text.split_whitespace().collect();
    textwrap::fill(&without_targets(&words.join(" ")), &options)
}

/// Returns a text in which links are only their texts: a terminal cannot follow them.
fn without_targets(text: &str) -> String {
    let mut links = text.split("](");
    let mut out = links.next().unwrap_or_default().to_owned();
    for target in links {
        if let Some(bracket) = out.rfind('[') {
            out.remove(bracket);
        }
        out += target.split_once(')').map_or(target, |(_, rest)| rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use textwrap::core::display_width;

    #[test]
    fn text_is_wrapped_and_the_rest_stays() {
        let page = "<!-- keys -->\n# A title\n\n![a picture](a.svg)\n\nOne two three [four](a.md#b) five six seven eight\n\
            nine [ten](https://a.b). [x]\n\n* an item that is longer than a line can be here\n* `code`\n  1. inner\n\n\
            ```sh\ncargo run  # not wrapped, however long the line of code may be\n```\n\n\
            | a table | whose row is longer than a line |\n|---|---|\n";
        let expected = "\
# A title

One two three four five six seven eight
nine ten. [x]

* an item that is longer than a line can
  be here
* `code`
  1. inner

```sh
cargo run  # not wrapped, however long the line of code may be
```

| a table | whose row is longer than a line |
|---|---|
";
        assert_eq!(wrapped(page, 40, false), expected);
    }

    #[test]
    fn a_terminal_gets_bold_headings() {
        let styled = wrapped("# A\n\n`b` c\n", 40, true);
        assert_eq!(styled, "\u{1b}[1m# A\u{1b}[22m\n\n`b` c\n");
    }

    #[test]
    fn every_page_fits() {
        for page in &assets::PAGES {
            for columns in [40, 80, 120] {
                let (text, mut is_code) = (wrapped(page.text, columns, false), false);
                for line in text.lines() {
                    is_code ^= line.trim_start().starts_with("```");
                    let stays = is_code || line.starts_with(['#', '|']);
                    let has_room = display_width(line) <= columns || !line.trim().contains(' ');
                    assert!(has_room || stays, "{} at {columns}: {line}", page.name);
                }
                assert!(!text.contains("<!--"));
            }
        }
    }
}
