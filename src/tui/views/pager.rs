//! An item's text: lines about it above, the text with line numbers below.

use crate::app::pager::{Form, Pager, Row, columns, shown, wrap};
use crate::paint::{Area, Pieces, Tone, joined, piece, quiet, strong};
use crate::widgets::canvas::Canvas;
use render::text;

/// The lines about the item.
pub const HEAD_LINES: usize = 3;
/// Rows above the text: these lines, and a rule.
pub const HEAD_ROWS: u16 = HEAD_LINES as u16 + 1;
/// Rows below it, in the same area: how far it is read, what was found.
pub const FOOT_ROWS: u16 = 1;

/// Draws the text, which was fitted by [`Pager::fit`] to the area's columns, and its rows less [`HEAD_ROWS`] and
/// [`FOOT_ROWS`].
pub fn draw(head: [Pieces; HEAD_LINES], pager: &Pager, area: Area, canvas: &mut Canvas<'_>) {
    if area.height <= HEAD_ROWS + FOOT_ROWS {
        return;
    }
    let columns = usize::from(area.width.saturating_sub(2));
    canvas.write_rows(area.inset(1, 0), head);
    let rule = "─".repeat(usize::from(area.width));
    let at = (area.x, area.y + HEAD_ROWS - 1);
    canvas.write(at, area.right(), &[quiet(rule)]);

    let rows = area.height - HEAD_ROWS - FOOT_ROWS;
    let body = Area::new(area.x, area.y + HEAD_ROWS, area.width, rows);
    match pager.failed.as_deref().map(text::inert) {
        Some(why) => {
            let rows = wrap(&why, columns).into_iter();
            let lines = rows.map(|row| vec![piece(&why[row.range()], Tone::Warn)]);
            canvas.write_rows(body.inset(1, 0), lines);
        }
        None => {
            let rows = pager.visible().iter();
            canvas.write_rows(body, rows.map(|row| line(pager, *row)));
        }
    }
    let at = (area.x + 1, area.bottom() - 1);
    canvas.write(at, area.right(), &status(pager, columns));
}

/// Returns a row's line number and text, with its matches.
fn line(pager: &Pager, row: Row) -> Pieces {
    let number = pager.line_number(row).map(|number| number.to_string());
    let number = text::right(&number.unwrap_or_default(), pager.gutter() - 2);
    let mut pieces = vec![piece(format!("{number}  "), Tone::LineNumber)];
    let (mut from, mut column) = (row.range().start, 0);
    let mut add = |to: usize, tone: Tone| {
        let part = &pager.text()[from..to];
        pieces.push(piece(shown(part, column), tone));
        column += columns(part, column);
        from = to;
    };
    for (found, tone) in pager.matches_in(row) {
        add(found.start, Tone::Plain);
        add(found.end, tone);
    }
    add(row.range().end, Tone::Plain);
    pieces
}

/// Returns the number of matches, the part of the text that was read, and the form of JSON.
fn status(pager: &Pager, columns: usize) -> Pieces {
    let mut parts = Vec::new();
    if let Some(found) = pager.found() {
        let needle = text::cut(found.needle, columns / 3);
        let page = match &pager.page {
            Some(page) if page.pages > 1 => " on this page",
            _ => "",
        };
        let state = match (found.at, found.count) {
            (_, 0) if page.is_empty() => format!("'{needle}' not found"),
            (_, 0) => format!("'{needle}' not{page}"),
            (0, count) => format!("'{needle}' {count}{page}"),
            (at, count) => format!("'{needle}' {at} of {count}{page}"),
        };
        parts.push(strong(state));
    }
    let number = u64::from(pager.page_number()) + 1;
    match &pager.page {
        _ if pager.is_waiting() => parts.push(quiet(format!("reading page {number}"))),
        Some(page) if pager.failed.is_none() => {
            parts.push(quiet(format!("{}%", pager.percent())));
            if page.pages > 1 {
                parts.push(quiet(format!("page {number} of {}", page.pages)));
            }
        }
        _ => {}
    }
    parts.extend(pager.form().map(|form| match form {
        Form::Indented => quiet("JSON, indented"),
        Form::Exact => quiet("JSON, as logged"),
    }));
    joined(parts.into_iter().map(|part| vec![part]), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use model::event::{ByLength, Conversation, Entry, Event, EventSink, Node, Part, Place};
    use model::lists::sessions::{FileId, SessionKey};
    use model::lists::text::{Text, TextPage, TextRequest};
    use model::session::Session;
    use model::{Kind, Role};
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use std::sync::Arc;

    /// A session with a tool result.
    fn session() -> Session {
        let mut session = Session::new("codex", Arc::default());
        let mut out = EventSink::new(&ByLength);
        let item = out.item(Role::Tool, Kind::ToolResult).tool(Some("Read"));
        let node = Node {
            part: Part::Result,
            items: vec![item.text("text").label("src/db.rs").done()],
            ..Node::default()
        };
        session.apply(Entry {
            conversation: Conversation::Main,
            place: Place::default(),
            at: "2026-03-14T15:00:00Z".parse().ok(),
            event: Event::Node(Box::new(node)),
        });
        session
    }

    fn opened(text: Result<Text, String>) -> Pager {
        let (file, conversation) = (FileId(1), Conversation::Main);
        let of = TextRequest::of(file, &session().items()[0]).unwrap();
        let mut pager = Pager::open(SessionKey { file, conversation }, of);
        assert_eq!(pager.take(TextPage { of, text }), None);
        pager
    }

    fn whole(text: &str) -> Text {
        Text {
            text: text.to_owned(),
            pages: 1,
            bytes: text.len() as u64,
            lines: text.split('\n').count() as u64,
            line: 1,
        }
    }

    fn drawn(pager: &mut Pager, (width, height): (u16, u16)) -> String {
        let area = Area::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area.into());
        let rows = height.saturating_sub(HEAD_ROWS + FOOT_ROWS);
        pager.fit(usize::from(width), usize::from(rows));
        let head = ["T Read", "35 ~", "entered #20"].map(|line| vec![quiet(line)]);
        let mut canvas = Canvas::new(Theme::default(), &mut buffer);
        draw(head, pager, area, &mut canvas);
        let row = |y| -> String {
            let cells = (0..width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned() + "\n"
        };
        (0..height).map(row).collect()
    }

    #[test]
    fn a_text_with_what_it_is() {
        let said = "use std::fs;\n\nfn main() {\n\tlet escape = \"\u{1b}[31m\"; // too long a line for the screen\n}\n";
        let mut pager = opened(Ok(whole(said)));
        assert_eq!(pager.search("ma"), None);
        insta::assert_snapshot!(drawn(&mut pager, (52, 12)));
    }

    #[test]
    fn an_unreadable_text_shows_the_reason() {
        let why = "the log no longer exists: it was moved or deleted";
        let mut pager = opened(Err(why.to_owned()));
        insta::assert_snapshot!(drawn(&mut pager, (40, 8)));
    }

    proptest! {
        #[test]
        fn any_text_is_drawn_inert_at_any_size(said in any::<String>(), size in (0_u16..90, 0_u16..30)) {
            let mut pager = opened(Ok(whole(&said)));
            let screen = drawn(&mut pager, size);
            let unsafe_to_show = |c| c != '\n' && model::event::is_unsafe_to_show(c);
            prop_assert!(!screen.contains(unsafe_to_show), "{screen:?}");
        }
    }
}
