//! Hits for people: a row for each line that matches. On a terminal they are below their session and fit its width, with the
//! match in sight; elsewhere each row has all that is to be known, and nothing is cut.

use super::{Colours, Hit, Writer};
use crate::Style;
use anyhow::Result;
use model::sessions::SessionKey;
use render::excerpt::{Part, fitted, one_line, whole};
use render::item::{label, request, sign};
use render::number::{counted, tokens};
use render::text::{cut, inert, width};
use std::borrow::Cow;
use std::io::Write;

/// The fewest columns for a text.
const LEAST_TEXT: usize = 20;
/// The most lines of an item that are shown on a terminal.
const MOST_LINES: usize = 5;

pub(super) struct Rows {
    style: Style,
    colours: Colours,
    /// The session of the last row.
    below: Option<SessionKey>,
}

impl Rows {
    pub(super) fn new(style: Style, colours: Colours) -> Rows {
        Rows {
            style,
            colours,
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
            request(item.entered()),
            hit.ix,
            item.role().name(),
            cut(&one_line(&label(item)), LEAST_TEXT),
            tokens(hit.tokens),
            sign(hit.source),
        );
        let (first, next) = (width(&what), "      ");
        let below = first + LEAST_TEXT > columns;
        let shown = hit.lines.lines.iter().take(MOST_LINES);
        for (nth, line) in shown.enumerate() {
            let before = match nth {
                0 if below => format!("{}\n{next}", cut(what.trim_end(), columns)),
                0 => what.clone(),
                _ if below => next.to_owned(),
                _ => " ".repeat(first),
            };
            let used = if below { next.len() } else { first };
            self.write(&before, out)?;
            let room = columns.saturating_sub(used).max(1);
            self.parts(&fitted(&line.text, &line.matches, room), out)?;
            self.write("\n", out)?;
        }
        let rest = hit.lines.lines.len().saturating_sub(MOST_LINES) as u64 + hit.lines.more;
        if rest > 0 {
            let rest = counted(rest, "more line");
            self.write(&format!("{next}and {rest} of this item\n"), out)?;
        }
        Ok(())
    }

    /// Writes rows with tabs between their cells.
    fn anywhere(&self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()> {
        let item = &hit.item;
        let path = hit.facts.path.to_string_lossy();
        let what = format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t",
            inert(&path),
            request(item.entered()),
            hit.ix,
            item.role().name(),
            inert(&label(item)),
            hit.tokens,
        );
        for line in &hit.lines.lines {
            self.write(&what, out)?;
            self.parts(&whole(&line.text, &line.matches), out)?;
            self.write("\n", out)?;
        }
        match hit.lines.more {
            0 => Ok(()),
            more => self.write(&format!("{what}({})\n", counted(more, "more line")), out),
        }
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
