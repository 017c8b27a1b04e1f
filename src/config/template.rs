//! The file that `ctxgauge config init` writes: all keys with what they are for, none of them set.

use super::keys::{ALL, Key, Kind, Unset};
use std::fmt::Write;

/// The width of comments.
const COLUMNS: usize = 100;

/// Returns the text of the file. Words begin with `# `, and keys with `#`, without which they are set.
pub fn template() -> String {
    let mut text = "\
# The configuration of ctxgauge. A line such as #theme = \"terminal\" shows a default, or else an example;
# remove the # to set a key, and also that of the [section] it is in.
# `ctxgauge config check` finds mistakes, `ctxgauge config show` prints what is set, and where.
"
    .to_owned();
    let is_section = |key: &&Key| matches!(key.kind, Kind::Section(_));
    for key in ALL.iter().filter(|key| !is_section(key) && !is_last(key)) {
        text.push('\n');
        about(key, &mut text);
        line(key, &mut text);
    }
    // In TOML, what has a header comes after what has none.
    for key in ALL.iter().filter(|key| is_last(key)) {
        let (open, close) = match key.kind {
            Kind::Rows(_) => ("[[", "]]"),
            _ => ("[", "]"),
        };
        text.push('\n');
        about(key, &mut text);
        let _ = writeln!(text, "#{open}{}{close}", key.name);
        for below in key.below() {
            about(below, &mut text);
            line(below, &mut text);
        }
        if let Kind::Bindings = key.kind {
            text.push_str("#sort = \"f5\"\n#session.back = [\"b\", \"f2\"]\n#suspend = []\n");
        }
    }
    text
}

/// Returns true if it is written with a header.
fn is_last(key: &Key) -> bool {
    matches!(key.kind, Kind::Section(_) | Kind::Rows(_) | Kind::Bindings)
}

/// Appends the purpose of a key and, if there is no default, the behaviour without it.
fn about(key: &Key, text: &mut String) {
    let mut words = key.about.to_owned();
    if let Kind::Choice(all) | Kind::Choices(all) = key.kind {
        let _ = write!(words, " Values: {}.", all.join(", "));
    }
    match key.unset {
        Unset::Means(_) if matches!(key.kind, Kind::Section(_)) => {}
        Unset::Means(what) => {
            let _ = write!(words, " Default: {what}.");
        }
        Unset::Required => words.push_str(" Required."),
        Unset::Default(_) => {}
    }
    let lines = textwrap::Options::new(COLUMNS)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent("# ")
        .subsequent_indent("# ");
    for line in textwrap::wrap(&words, lines) {
        let _ = writeln!(text, "{line}");
    }
}

fn line(key: &Key, text: &mut String) {
    let value = match key.unset {
        Unset::Default(value) => value,
        Unset::Means(_) | Unset::Required => key.example,
    };
    let _ = writeln!(text, "#{} = {value}", key.name);
}
