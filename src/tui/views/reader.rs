//! The text of an item: what it is and what it costs above, its text below, with the lines' numbers.

use crate::model::Source;
use crate::model::session::Item;
use crate::render::{
    item::{self, sign},
    number, text,
};
use crate::tui::app::reader::{Form, Hit, Reader, Row, columns, shown, wrap};
use crate::tui::app::seconds_since;
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::line;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use std::borrow::Cow;

/// Rows above the text.
pub const HEAD: u16 = 3;
/// Rows below it, in the same area: how far it is read, what was found.
pub const FOOT: u16 = 1;

/// The item whose text is read.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// The item; `None`: its log no longer has it.
    pub item: Option<&'a Item>,
    /// What its call was about, where it is a tool's result.
    pub subject: Option<Cow<'a, str>>,
    /// Its tokens and how they are known.
    pub tokens: (u64, Source),
    /// The session's window, in tokens.
    pub window: u64,
    /// The time, for the item's age.
    pub now: Timestamp,
}

/// Draws the text, fitted before by [`Reader::fit`] to the area's columns, and its rows less [`HEAD`]
/// and [`FOOT`].
pub fn draw(about: About<'_>, reader: &Reader, area: Rect, theme: Theme, buffer: &mut Buffer) {
    if area.height <= HEAD + FOOT {
        return;
    }
    let columns = usize::from(area.width.saturating_sub(2));
    let head = [
        what(&about, columns, theme),
        cost(&about, reader, columns, theme),
    ];
    for (spans, y) in head.into_iter().zip(area.top()..) {
        line::write(buffer, (area.left() + 1, y), area.right(), spans);
    }
    let rule = "─".repeat(usize::from(area.width));
    let at = (area.left(), area.top() + HEAD - 1);
    line::write(buffer, at, area.right(), [line::span(rule, theme.quiet())]);

    let body = Rect {
        y: area.top() + HEAD,
        height: area.height - HEAD - FOOT,
        ..area
    };
    if let Some(why) = unreadable(reader) {
        let rows = wrap(&why, columns);
        for (row, y) in rows.iter().zip(body.top()..body.bottom()) {
            let said = line::span(&why[row.range()], theme.warn());
            line::write(buffer, (body.left() + 1, y), body.right(), [said]);
        }
    } else {
        for (row, y) in reader.visible().iter().zip(body.top()..body.bottom()) {
            line::write(
                buffer,
                (body.left(), y),
                body.right(),
                spans(reader, *row, theme),
            );
        }
    }
    let foot = (area.left() + 1, area.bottom() - 1);
    line::write(buffer, foot, area.right(), status(reader, columns, theme));
}

/// What stands in the text's place.
fn unreadable(reader: &Reader) -> Option<String> {
    reader.failed().map(text::inert).map(Into::into)
}

/// Whose it is and what it is about, or what it begins with.
fn what(about: &About<'_>, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let Some(item) = about.item else {
        return vec![line::span(
            "an item that is no longer in its log",
            theme.quiet(),
        )];
    };
    let name = text::cut(&item::label(item), columns / 2);
    let room = columns.saturating_sub(text::width(&name) + 4);
    vec![
        line::span(format!("{} ", letter(item.role)), theme.role(item.role)),
        line::span(name, theme.strong()),
        line::span(
            format!(
                "  {}",
                text::cut(
                    about.subject.as_deref().unwrap_or(item::preview(item)),
                    room
                )
            ),
            theme.quiet(),
        ),
    ]
}

/// What it costs, how large it is, and whether it is in the context: what fits.
fn cost(about: &About<'_>, reader: &Reader, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let mut groups = Vec::new();
    if let Some(item) = about.item {
        let (tokens, source) = about.tokens;
        let style = if source.is_known() {
            theme.strong()
        } else {
            theme.estimated()
        };
        let share = number::percent(tokens, about.window).filter(|share| *share > 0);
        let share = share.map_or_else(String::new, |share| format!(" {share}%"));
        groups.push(vec![
            line::span(number::tokens(tokens), style),
            line::span(format!(" {}{share}", sign(source)), theme.quiet()),
        ]);
        groups.push(vec![match item.left {
            None => line::span("in the context", theme.quiet()),
            _ if item.is_notice() => line::span("a notice, in no context", theme.warn()),
            Some(left) => {
                let why = left.why;
                let why = why.name().replace('_', " ");
                line::span(format!("left: {why}"), theme.warn())
            }
        }]);
    }
    if let Some(page) = reader.page() {
        let lines = match page.lines {
            1 => "1 line".to_owned(),
            lines => format!("{} lines", number::short(lines)),
        };
        let bytes = format!("{} bytes", number::short(page.bytes));
        groups.push(vec![line::span(lines, theme.quiet())]);
        groups.push(vec![line::span(bytes, theme.quiet())]);
    }
    if let Some(at) = about.item.and_then(|item| item.at) {
        let age = number::age(seconds_since(at, about.now));
        groups.push(vec![line::span(format!("{age} ago"), theme.quiet())]);
    }
    line::joined(groups, columns, theme.quiet())
}

/// A row's number and text, hits marked.
fn spans(reader: &Reader, row: Row, theme: Theme) -> Vec<Span<'static>> {
    let gutter = reader.gutter();
    let number = reader.line_number(row);
    let number = number.map_or_else(String::new, |number| number.to_string());
    let mut spans = vec![line::span(
        format!("{number:>width$}  ", width = gutter - 2),
        theme.line_number(),
    )];
    let (mut from, mut column) = (row.range().start, 0);
    let mut add = |to: usize, style: Style| {
        let part = &reader.text()[from..to];
        spans.push(line::span(shown(part, column), style));
        column += columns(part, column);
        from = to;
    };
    for (hit, which) in reader.hits_in(row) {
        add(hit.start, Style::new());
        let style = match which {
            Hit::Current => theme.match_here(),
            Hit::Other => theme.match_(),
        };
        add(hit.end, style);
    }
    add(row.range().end, Style::new());
    spans
}

/// How far it is read, what was found, how it is shown.
fn status(reader: &Reader, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let mut groups = Vec::new();
    if let Some(found) = reader.found() {
        let needle = text::cut(found.needle, columns / 3);
        let page = match reader.page() {
            Some(page) if page.pages > 1 => " on this page",
            _ => "",
        };
        let said = match (found.at, found.hits) {
            (_, 0) if page.is_empty() => format!("'{needle}' stands nowhere"),
            (_, 0) => format!("'{needle}' not{page}"),
            (0, hits) => format!("'{needle}' {hits}{page}"),
            (at, hits) => format!("'{needle}' {at} of {hits}{page}"),
        };
        groups.push(vec![line::span(said, theme.strong())]);
    }
    match reader.page() {
        _ if reader.is_waiting() => groups.push(vec![line::span(
            format!("reading page {} …", u64::from(reader.page_number()) + 1),
            theme.quiet(),
        )]),
        Some(page) if reader.failed().is_none() => {
            let percent = format!("{}%", reader.percent());
            groups.push(vec![line::span(percent, theme.quiet())]);
            if page.pages > 1 {
                let said = format!("page {} of {}", reader.page_number() + 1, page.pages);
                groups.push(vec![line::span(said, theme.quiet())]);
            }
        }
        _ => {}
    }
    match reader.form() {
        Some(Form::Indented) => groups.push(vec![line::span("JSON, indented", theme.quiet())]),
        Some(Form::Exact) => groups.push(vec![line::span("JSON, as it is", theme.quiet())]),
        None => {}
    }
    line::joined(groups, columns, theme.quiet())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::{ByLength, Entry, Event, Lane, Node, Part, Place, Sink};
    use crate::model::fleet::{FileId, SessionKey};
    use crate::model::session::Session;
    use crate::model::text::{Text, TextPage, TextRequest};
    use crate::model::{Kind, Role};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A session with a tool result of this text.
    fn session(said: &str) -> Session {
        let mut session = Session::new("codex", Arc::default());
        let mut out = Sink::new(&ByLength);
        let item = out.item(Role::Tool, Kind::ToolResult).tool(Some("Read"));
        let node = Node {
            part: Part::Result,
            items: vec![item.text(said).label("src/db.rs").done()],
            ..Node::default()
        };
        session.apply(Entry {
            lane: Lane::Main,
            place: Place::default(),
            at: "2026-03-14T15:00:00Z".parse().ok(),
            event: Event::Node(Box::new(node)),
        });
        session
    }

    fn opened(session: &Session, text: Result<Text, String>) -> Reader {
        let (file, lane) = (FileId(1), Lane::Main);
        let of = TextRequest::of(file, &session.items()[0]).unwrap();
        let mut reader = Reader::open(SessionKey { file, lane }, of);
        assert_eq!(reader.take(TextPage { of, text }), None);
        reader
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

    fn drawn(session: &Session, reader: &mut Reader, (width, height): (u16, u16)) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let rows = height.saturating_sub(HEAD + FOOT);
        reader.fit(usize::from(width), usize::from(rows));
        let about = About {
            item: session.items().first(),
            subject: None,
            tokens: session.tokens(0),
            window: 200_000,
            now: "2026-03-14T15:09:26Z".parse().unwrap(),
        };
        draw(about, reader, area, Theme::default(), &mut buffer);
        let row = |y| -> String {
            let cells = (0..width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned() + "\n"
        };
        (0..height).map(row).collect()
    }

    #[test]
    fn a_text_with_what_it_is() {
        let said = "use std::fs;\n\nfn main() {\n\tlet escape = \"\u{1b}[31m\"; // too long a line to stand here\n}\n";
        let session = session(said);
        let mut reader = opened(&session, Ok(whole(said)));
        assert_eq!(reader.search("ma"), None);
        insta::assert_snapshot!(drawn(&session, &mut reader, (52, 12)));
    }

    #[test]
    fn what_cannot_be_read_stands_in_its_place() {
        let session = session("text");
        let why = "the log is gone: it was moved or deleted since it was read";
        let mut reader = opened(&session, Err(why.to_owned()));
        insta::assert_snapshot!(drawn(&session, &mut reader, (40, 8)));
    }

    proptest! {
        #[test]
        fn any_text_is_drawn_inert_at_any_size(said in any::<String>(), size in (0_u16..90, 0_u16..30)) {
            let session = session("text");
            let mut reader = opened(&session, Ok(whole(&said)));
            let screen = drawn(&session, &mut reader, size);
            let unsafe_to_show = |c| c != '\n' && crate::model::event::is_unsafe_to_show(c);
            prop_assert!(!screen.contains(unsafe_to_show), "{screen:?}");
        }
    }
}
