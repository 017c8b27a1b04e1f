//! No text of a log is markup in any format.

use super::*;
use crate::{Charset, DOCUMENT_FORMATS, Output, Style};
use anyhow::Result;
use model::Role;
use model::event::is_unsafe_to_show;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};
use std::io::Write;

/// Returns a document with this text in each place that can have text of a log.
fn with(text: &str) -> Document {
    let log = || Line::own("before ").and_log(text).and(" after");
    let table = |headings: &'static str| {
        let columns = headings.split(" | ").count();
        let rows = (0..3).map(|_| Row {
            cells: (0..columns).map(|_| log()).collect(),
            role: Some(Role::Tool),
            share: Some(0.5),
        });
        Table::new(headings, rows)
    };
    Document {
        title: Line::log(text),
        sections: vec![
            Section::default().with(vec![("fact", log()), ("other", Line::log(text))]),
            Section::new(log())
                .with(Block::Headline(log()))
                .with(Line::log(text))
                .with(table("name | name | name"))
                .with(Block::Note(log()))
                .with(table("name | name | name | name | name | name | name"))
                .with(Line::log(text).and_log(text)),
        ],
    }
}

/// A report with this text.
struct Hostile<'t>(&'t str);

impl Output for Hostile<'_> {
    fn document(&self) -> Option<Document> {
        Some(with(self.0))
    }

    fn json(&self, _: &mut dyn Write) -> Result<()> {
        unreachable!()
    }
}

fn written(format: &str, charset: Charset, text: &str) -> String {
    let mut out = Vec::new();
    let style = Style {
        format: DOCUMENT_FORMATS
            .iter()
            .find(|it| it.name == format)
            .unwrap(),
        charset,
        columns: None,
    };
    style.print(&Hostile(text), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the tags of a page.
fn tags(page: &str) -> Vec<&str> {
    let rest = page.split('<').skip(1);
    rest.map(|tag| tag.split_once('>').unwrap_or((tag, "")).0)
        .collect()
}

/// Returns the page's text with its character references read.
fn references_are_read(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Returns the structure of a Markdown text, and the code spans in it.
fn structure(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut events, mut code) = (Vec::new(), Vec::new());
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Code(span) => {
                events.push("code".to_owned());
                code.push(span.into_string());
            }
            other => events.push(format!("{other:?}")),
        }
    }
    (events, code)
}

fn check(text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let shown = inert(&words.join(" ")).into_owned();
    if words.is_empty() {
        return;
    }
    for charset in [Charset::Unicode, Charset::Ascii] {
        let (plain, page) = (
            written("html", charset, "x"),
            written("html", charset, text),
        );
        assert_eq!(tags(&plain), tags(&page), "{text:?}");
        if charset == Charset::Unicode {
            let body = references_are_read(&page);
            assert!(body.contains(&format!("<bdi>{shown}</bdi>")), "{text:?}");
        }
        let (plain, lines) = (
            written("text", charset, "x"),
            written("text", charset, text),
        );
        assert_eq!(plain.lines().count(), lines.lines().count(), "{text:?}");
        let is_safe = |line: &str| !line.contains(is_unsafe_to_show);
        assert!(lines.lines().all(is_safe), "{text:?}");
        let (plain, _) = structure(&written("markdown", charset, "x"));
        let (events, code) = structure(&written("markdown", charset, text));
        assert_eq!(plain, events, "{text:?}");
        if charset == Charset::Unicode {
            assert!(
                code.iter()
                    .all(|it| *it == shown || *it == shown.replace('|', "¦"))
            );
        }
    }
}

const HOSTILE: [&str; 19] = [
    "\u{113b8}`\u{16d40}",
    "▘`└ a │ b ╲",
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "</bdi></svg></td></table></style></title><h1>x</h1>",
    "--> <!-- ]]> <![CDATA[",
    "\"' onload='x' style=\"y\"",
    "&lt;b&gt; &#60;i&#62; &amp;amp;",
    "| a | b |\n|---|---|\n| c | d |",
    "a \\| b \\\\| c \\",
    "\\",
    "`",
    "``` \n# heading\n```",
    "` `` ``` ````",
    "[link](javascript:x) ![i](x) [r]: x <https://x.example> www.x.example @name #1 :smile:",
    "**b** ~~s~~ _i_ $x$ ^[note] - [ ] task",
    "# heading\n\n> quote\n- item\n1. item\n---\n===",
    "\u{202e}\u{5d0}\u{5d1}\u{200f}\u{2066}",
    "\u{1b}[31m\0\u{7f}\u{2028}\u{85}",
    "one\r\n# two\r\n\r",
];

#[test]
fn what_imitates_markup_is_text() {
    HOSTILE.iter().for_each(|text| check(text));
}

proptest! {
    #[test]
    fn no_text_is_markup(parts in prop::collection::vec(prop_oneof![
        prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        "[`|\\\\<>&\"' a*_~\\[\\]()#\n-]{0,12}",
        any::<String>(),
    ], 1..5)) {
        check(&parts.concat());
    }
}

#[test]
fn a_page_needs_nothing_else() {
    let page = written("html", Charset::Ascii, "x");
    assert!(page.is_ascii());
    for what in [
        "http:", "https:", "src=", "href", "url(", "@import", "<script", "<link",
    ] {
        assert!(!page.contains(what), "{what}");
    }
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
}
