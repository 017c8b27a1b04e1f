//! Hits for people: a row for each item, with its first line that matches and the number of the others. On a terminal they are below their session and fit its width, with the
//! match in sight; elsewhere each row has all that is to be known, and nothing is cut.

use super::{Colours, Hit, Writer};
use crate::Style;
use anyhow::Result;
use ingest::search::Line;
use model::lists::sessions::SessionKey;
use render::excerpt::{Part, fitted, one_line, whole};
use render::item::{label, request, sign};
use render::number::{counted, tokens};
use render::text::{cut, inert, shortened, width};
use std::borrow::Cow;
use std::io::Write;

/// The fewest columns for a text.
const LEAST_TEXT: usize = 20;
/// The most columns for what a tool was called with.
const MOST_NAME: usize = 40;

pub(super) struct Rows {
    style: Style,
    colours: Colours,
    /// The most lines of an item that are shown.
    most_lines: usize,
    /// The session of the last row.
    below: Option<SessionKey>,
}

impl Rows {
    pub(super) fn new(style: Style, colours: Colours, most_lines: usize) -> Rows {
        Rows {
            style,
            colours,
            most_lines,
            below: None,
        }
    }

    /// Writes a text that was made safe to print.
    fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        Ok(out.write_all(self.style.in_charset(text).as_bytes())?)
    }

    fn parts(&self, parts: &[Part<'_>], out: &mut dyn Write) -> Result<()> {
        for Part { text, is_match } in parts {
            if *is_match && self.colours == Colours::On {
                out.write_all(b"\x1b[1;31m")?;
                self.write(text, out)?;
                out.write_all(b"\x1b[0m")?;
            } else {
                self.write(text, out)?;
            }
        }
        Ok(())
    }

    fn heading(&mut self, hit: &Hit<'_>, columns: usize, out: &mut dyn Write) -> Result<()> {
        let is_first = self.below.is_none();
        if self.below.replace(hit.key) == Some(hit.key) {
            return Ok(());
        }
        let name = hit.sessions.name(hit.key);
        let title = hit.sessions.title(hit.key).unwrap_or_default();
        let mut facts = vec![hit.session.agent.to_owned(), one_line(&name)];
        if !title.trim().is_empty() && title != name {
            facts.push(format!("“{}”", one_line(&title)));
        }
        let line = cut(&facts.join(" · "), columns);
        let path = hit.facts.path.to_string_lossy();
        // Whole, so that it can be copied.
        let open = format!("ctxgauge {}", inert(&quoted(&path)));
        let gap = if is_first { "" } else { "\n" };
        self.write(&format!("{gap}{line}\n  {open}\n"), out)
    }

    fn on_terminal(&mut self, hit: &Hit<'_>, columns: usize, out: &mut dyn Write) -> Result<()> {
        self.heading(hit, columns, out)?;
        let item = &hit.item;
        let what = format!(
            "  {:>5} item {} {} {} {}{}  ",
            request(item.entered),
            hit.ix,
            item.role.name(),
            name(hit),
            tokens(hit.tokens),
            sign(hit.source),
        );
        let (first, next) = (width(&what), "      ");
        let below = first + LEAST_TEXT > columns;
        let (shown, more) = self.shown(hit, ' ');
        for (nth, line) in shown.iter().enumerate() {
            let before = match nth {
                0 if below => format!("{}\n{next}", cut(what.trim_end(), columns)),
                0 => what.clone(),
                _ if below => next.to_owned(),
                _ => " ".repeat(first),
            };
            let used = if below { next.len() } else { first };
            self.write(&before, out)?;
            let after = if nth + 1 == shown.len() { &*more } else { "" };
            let room = columns.saturating_sub(used + width(after)).max(1);
            self.parts(&fitted(&line.text, &line.matches, room), out)?;
            self.write(&format!("{after}\n"), out)?;
        }
        Ok(())
    }

    /// Returns the lines of a hit that are shown, and how many others match after this sign: ` (+14)`; empty: none.
    fn shown<'h>(&self, hit: &'h Hit<'_>, sign: char) -> (&'h [Line], String) {
        let lines = &hit.lines.lines;
        let shown = &lines[..lines.len().min(self.most_lines)];
        let more = (lines.len() - shown.len()) as u64 + hit.lines.more;
        let more = (more > 0).then(|| format!("{sign}(+{})", counted(more, "line")));
        (shown, more.unwrap_or_default())
    }

    /// Writes rows with tabs between their cells.
    fn anywhere(&self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()> {
        let item = &hit.item;
        let path = hit.facts.path.to_string_lossy();
        let what = format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t",
            inert(&path),
            request(item.entered),
            hit.ix,
            item.role.name(),
            inert(&label(item)),
            hit.tokens,
        );
        let (shown, more) = self.shown(hit, '\t');
        for (nth, line) in shown.iter().enumerate() {
            self.write(&what, out)?;
            self.parts(&whole(&line.text, &line.matches), out)?;
            let after = if nth + 1 == shown.len() { &*more } else { "" };
            self.write(&format!("{after}\n"), out)?;
        }
        Ok(())
    }
}

impl Writer for Rows {
    fn hit(&mut self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()> {
        match self.style.columns {
            Some(columns) => self.on_terminal(hit, columns, out),
            None => self.anywhere(hit, out),
        }
    }
}

/// Returns the name of an item: its tool and what that was called with, or its kind.
pub(super) fn name(hit: &Hit<'_>) -> String {
    let label = cut(&one_line(&label(hit.item)), LEAST_TEXT);
    match hit.call.as_deref().filter(|call| !call.is_empty()) {
        Some(call) => format!("{label} {}", shortened(call, MOST_NAME)),
        None => label,
    }
}

/// Returns a path as a shell reads it.
fn quoted(path: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%~".contains(c);
    if path.chars().all(is_plain) && !path.starts_with('~') {
        path.into()
    } else {
        format!("'{}'", path.replace('\'', r"'\''")).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_copied_into_a_shell() {
        assert_eq!(quoted("/a/b-1.jsonl"), "/a/b-1.jsonl");
        assert_eq!(quoted("/a b/c'd"), r"'/a b/c'\''d'");
        assert_eq!(quoted("~x"), "'~x'");
    }
}
