//! An item's text: what it is and what it costs above, the text with line numbers below.

use crate::app::pager::{Form, Match, Pager, Row, columns, shown, wrap};
use crate::app::seconds_since;
use crate::paint::{Area, Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;
use jiff::Timestamp;
use model::Source;
use model::session::Item;
use render::item::{self, letter, sign};
use render::{number, text};
use std::borrow::Cow;

/// Rows above the text.
pub const HEAD_ROWS: u16 = 4;
/// Rows below it, in the same area: how far it is read, what was found.
pub const FOOT_ROWS: u16 = 1;

/// The item whose text is shown.
#[derive(Debug, Clone)]
pub struct PagerItem<'a> {
    /// The item; `None`: its log no longer contains it, or was not read so far.
    pub item: Option<&'a Item>,
    /// The text to show in its place then.
    pub missing: &'static str,
    /// Its name beside its tool or kind.
    pub name: Cow<'a, str>,
    /// Its tokens and their source.
    pub tokens: (u64, Source),
    /// The trigger or, where none is known, the window, in tokens.
    pub end: u64,
    /// The time since which it was sent, the number of times and the cost.
    pub sent: SendFacts,
    /// The time, for the item's age.
    pub now: Timestamp,
}

/// The time since which an item was sent, the number of times and the cost.
#[derive(Debug, Clone, Default)]
pub struct SendFacts {
    /// The request that it entered the context with; empty: no requests were reported.
    pub request: String,
    /// The time since the session began; empty: the log has no times.
    pub elapsed: String,
    /// The number of requests that held it.
    pub requests: usize,
    /// Its tokens times these requests.
    pub tokens: u64,
    /// The least that these tokens have cost, in US dollars; `None`: no price is known.
    pub usd: Option<f64>,
}

/// Draws the text, which was fitted by [`Pager::fit`] to the area's columns, and its rows less [`HEAD_ROWS`] and
/// [`FOOT_ROWS`].
pub fn draw(about: PagerItem<'_>, pager: &Pager, area: Area, canvas: &mut Canvas<'_>) {
    if area.height <= HEAD_ROWS + FOOT_ROWS {
        return;
    }
    let columns = usize::from(area.width.saturating_sub(2));
    let head = [
        heading(&about, columns),
        facts(&about, pager, columns),
        sent(&about.sent, columns),
    ];
    canvas.write_rows(area.inset(1, 0), head);
    let rule = "─".repeat(usize::from(area.width));
    let at = (area.x, area.y + HEAD_ROWS - 1);
    canvas.write(at, area.right(), &[quiet(rule)]);

    let rows = area.height - HEAD_ROWS - FOOT_ROWS;
    let body = Area::new(area.x, area.y + HEAD_ROWS, area.width, rows);
    match pager.failed().map(text::inert) {
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

/// Returns the item's role, tool and name.
fn heading(about: &PagerItem<'_>, columns: usize) -> Pieces {
    let Some(item) = about.item else {
        return vec![quiet(about.missing)];
    };
    let name = text::cut(&item::label(item), columns / 2);
    let room = columns.saturating_sub(text::width(&name) + 4);
    vec![
        piece(format!("{} ", letter(item.role)), item.role),
        strong(name),
        quiet(format!("  {}", text::cut(&about.name, room))),
    ]
}

/// Returns the item's tokens, whether it is in the context, the text's size; as much as fits.
fn facts(about: &PagerItem<'_>, pager: &Pager, columns: usize) -> Pieces {
    let mut groups = Vec::new();
    if let Some(item) = about.item {
        let (tokens, source) = about.tokens;
        let share = match number::percent(tokens, about.end) {
            None | Some(0) => String::new(),
            Some(share) => format!(" {share}%"),
        };
        groups.push(vec![
            piece(number::tokens(tokens), source),
            quiet(format!(" {}{share}", sign(source))),
        ]);
        groups.push(vec![match item.left {
            None => quiet("in the context"),
            _ if item.is_notice() => piece("a notice, not in the context", Tone::Warn),
            Some(left) => {
                let why = item::words(left.why.name());
                piece(format!("left: {why}"), Tone::Warn)
            }
        }]);
    }
    if let Some(page) = pager.page() {
        groups.push(vec![quiet(number::counted(page.lines, "line"))]);
        groups.push(vec![quiet(format!("{} bytes", number::short(page.bytes)))]);
    }
    if let Some(at) = about.item.and_then(|item| item.at) {
        let age = number::age(seconds_since(at, about.now));
        groups.push(vec![quiet(format!("{age} ago"))]);
    }
    joined(groups, columns)
}

/// Returns `entered #20, +1h04 · in 62 requests · 1.0M sent in all · at least $0.31 (cache reads)`, as much as fits.
fn sent(sent: &SendFacts, columns: usize) -> Pieces {
    let is_sent = sent.requests > 0;
    let request = if is_sent { &*sent.request } else { "" };
    let entered = [request, &*sent.elapsed].into_iter();
    let entered: Vec<&str> = entered.filter(|part| !part.is_empty()).collect();
    let mut groups = Vec::new();
    if !entered.is_empty() {
        groups.push(vec![quiet("entered "), plain(entered.join(", "))]);
    }
    if !is_sent && !sent.request.is_empty() {
        groups.push(vec![quiet("not sent yet")]);
    }
    if is_sent {
        let requests = number::counted(sent.requests as u64, "request");
        groups.push(vec![quiet("in "), plain(requests)]);
        let tokens = number::short(sent.tokens);
        groups.push(vec![plain(tokens), quiet(" sent in all")]);
    }
    let usd = sent.usd.filter(|_| is_sent).and_then(number::least_usd);
    if let Some(usd) = usd {
        let mut cost = vec![quiet("at least "), plain(usd)];
        let what = quiet(" (cache reads)");
        if joined_width(&groups) + width(&cost) + what.width() <= columns {
            cost.push(what);
        }
        groups.push(cost);
    }
    joined(groups, columns)
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
    for (found, which) in pager.matches_in(row) {
        add(found.start, Tone::Plain);
        add(
            found.end,
            match which {
                Match::Current => Tone::MatchHere,
                Match::Other => Tone::Match,
            },
        );
    }
    add(row.range().end, Tone::Plain);
    pieces
}

/// Returns the number of matches, the part of the text that was read, and the form of JSON.
fn status(pager: &Pager, columns: usize) -> Pieces {
    let mut parts = Vec::new();
    if let Some(found) = pager.found() {
        let needle = text::cut(found.needle, columns / 3);
        let page = match pager.page() {
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
    match pager.page() {
        _ if pager.is_waiting() => parts.push(quiet(format!("reading page {number}"))),
        Some(page) if pager.failed().is_none() => {
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

    /// A session with a tool result of this text.
    fn session(said: &str) -> Session {
        let mut session = Session::new("codex", Arc::default());
        let mut out = EventSink::new(&ByLength);
        let item = out.item(Role::Tool, Kind::ToolResult).tool(Some("Read"));
        let node = Node {
            part: Part::Result,
            items: vec![item.text(said).label("src/db.rs").done()],
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

    fn opened(session: &Session, text: Result<Text, String>) -> Pager {
        let (file, conversation) = (FileId(1), Conversation::Main);
        let of = TextRequest::of(file, &session.items()[0]).unwrap();
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

    fn drawn(session: &Session, pager: &mut Pager, (width, height): (u16, u16)) -> String {
        let area = Area::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area.into());
        let rows = height.saturating_sub(HEAD_ROWS + FOOT_ROWS);
        pager.fit(usize::from(width), usize::from(rows));
        let about = PagerItem {
            item: session.items().first(),
            missing: "",
            name: Cow::default(),
            tokens: session.tokens(0),
            end: 200_000,
            sent: SendFacts {
                request: "#20".to_owned(),
                elapsed: "+1h04".to_owned(),
                requests: 62,
                tokens: 1_040_000,
                usd: Some(0.312),
            },
            now: "2026-03-14T15:09:26Z".parse().unwrap(),
        };
        let mut canvas = Canvas::new(Theme::default(), &mut buffer);
        draw(about, pager, area, &mut canvas);
        let row = |y| -> String {
            let cells = (0..width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned() + "\n"
        };
        (0..height).map(row).collect()
    }

    #[test]
    fn a_text_with_what_it_is() {
        let said = "use std::fs;\n\nfn main() {\n\tlet escape = \"\u{1b}[31m\"; // too long a line for the screen\n}\n";
        let session = session(said);
        let mut pager = opened(&session, Ok(whole(said)));
        assert_eq!(pager.search("ma"), None);
        insta::assert_snapshot!(drawn(&session, &mut pager, (52, 12)));
    }

    #[test]
    fn an_unreadable_text_shows_the_reason() {
        let session = session("text");
        let why = "the log no longer exists: it was moved or deleted";
        let mut pager = opened(&session, Err(why.to_owned()));
        insta::assert_snapshot!(drawn(&session, &mut pager, (40, 8)));
    }

    proptest! {
        #[test]
        fn any_text_is_drawn_inert_at_any_size(said in any::<String>(), size in (0_u16..90, 0_u16..30)) {
            let session = session("text");
            let mut pager = opened(&session, Ok(whole(&said)));
            let screen = drawn(&session, &mut pager, size);
            let unsafe_to_show = |c| c != '\n' && model::event::is_unsafe_to_show(c);
            prop_assert!(!screen.contains(unsafe_to_show), "{screen:?}");
        }
    }
}
