//! What the compactions of a session did, the newest first.
//!
//! ```text
//!    COMPACTIONS                                                          2, the newest first
//! ▌  2h auto 167.4k ? → 39.9k ~ · freed 127.5k
//!   left     U 310 A 1.3k T 135k 7 items
//!            120.0k ══ T Bash     a very long listing
//!   kept     1.2k 3 items
//!   summary    9.0k ~  This session is being continued from a previous conversation
//!   ours     166.8k, 600 less than the agent's
//! ```

use crate::model::compaction::Compaction;
use crate::model::session::{PastReset, Session, SizedItem};
use crate::model::{Gone, Role, Source};
use crate::render::{
    item::{self, sign},
    number, text,
};
use crate::tui::app::layout::Fold;
use crate::tui::app::{self, App, Fact, Page};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::text::Span;

/// The columns of a row's name.
const NAME: usize = 9;

pub(super) fn draw(app: &App, session: &Session, page: &Page, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    if rows.columns.count > 0 {
        let head = line::span("   WHEN, WHY, BEFORE → AFTER", theme.heading());
        line::write(buffer, (0, rows.columns.top), width, [head]);
    }
    if page.facts.compactions.is_empty() {
        let said = line::span("none so far", theme.quiet());
        line::write(buffer, (3, rows.list.top), width, [said]);
    }
    let shown = page.facts.rows().enumerate().skip(app.ui.facts.offset());
    for ((index, (done, fact)), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        let Some(reset) = session.resets().get(done.reset) else {
            continue;
        };
        let pointer = super::pointer(index, app.ui.facts.index(), theme);
        let x = line::write(buffer, (0, y), width, [pointer]);
        let spans = match fact {
            Fact::Sizes => sizes(app, done, reset, theme),
            Fact::Left => left(done, reset, theme),
            Fact::Largest(item_that_left) => item(session, item_that_left, theme),
            Fact::Kept => kept(done, theme),
            Fact::Summary(summary) => cost(session, summary, theme),
            Fact::Difference(tokens) => difference(reset, tokens, theme),
            Fact::Gap => Vec::new(),
        };
        line::write(buffer, (x, y), width, spans);
        if index == app.ui.facts.index() {
            super::lift(y, theme, buffer);
        }
    }
}

fn name(name: &str, theme: Theme) -> Span<'static> {
    line::span(format!("  {}", text::left(name, NAME)), theme.quiet())
}

/// A size and, in a sign, how it is known.
fn size(tokens: u64, source: Source, theme: Theme) -> [Span<'static>; 2] {
    let style = if source.is_known() {
        theme.strong()
    } else {
        theme.estimated()
    };
    [
        line::span(number::tokens(tokens), style),
        line::span(format!(" {}", sign(source)), theme.quiet()),
    ]
}

/// When, why, how large before and after.
fn sizes(app: &App, done: &Compaction, reset: &PastReset, theme: Theme) -> Vec<Span<'static>> {
    let ago = reset.at.map_or_else(
        || "—".to_owned(),
        |at| number::age(app::seconds_since(at, app.now)),
    );
    let (cause, freed) = match Fold::of(app.ui.size.0) {
        Fold::Narrow => (8, " −"),
        _ => (24, " · freed "),
    };
    let cause = match reset.gone {
        Gone::Compaction => text::cut(reset.cause.name(), cause),
        other => other.name().to_owned(),
    };
    let mut spans = vec![
        line::span(format!("{} ", text::right(&ago, 4)), theme.strong()),
        line::plain(format!("{cause} ")),
    ];
    spans.extend(size(reset.before, reset.before_source, theme));
    if let Some((after, source)) = done.after {
        spans.push(line::plain(" → "));
        spans.extend(size(after, source, theme));
    }
    if let Some(tokens) = done.freed {
        spans.push(line::span(freed, theme.quiet()));
        spans.push(line::span(number::tokens(tokens), theme.strong()));
    }
    spans
}

/// Who lost how much.
fn left(done: &Compaction, reset: &PastReset, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = vec![name("left", theme)];
    for role in Role::ALL {
        let tokens = reset.dropped[role.index()];
        if tokens > 0 {
            spans.push(line::span(letter(role).to_string(), theme.role(role)));
            spans.push(line::plain(format!(" {} ", number::short(tokens))));
        }
    }
    spans.push(line::span(items(done.left_items), theme.quiet()));
    spans
}

/// One of the largest items that left.
fn item(session: &Session, largest: SizedItem, theme: Theme) -> Vec<Span<'static>> {
    let Some(item) = session.items().get(largest.0) else {
        return Vec::new();
    };
    let tool = item::label(item);
    let mut spans = vec![name("", theme)];
    spans.extend(sized(largest, theme));
    spans.push(line::span(
        format!("{} ", letter(item.role)),
        theme.role(item.role),
    ));
    spans.push(line::plain(format!("{} ", text::left(&tool, 8))));
    spans.push(line::plain(item::preview(item)));
    spans
}

/// What stayed.
fn kept(done: &Compaction, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = vec![name("kept", theme)];
    if done.kept_items > 0 {
        spans.push(line::span(number::tokens(done.kept_tokens), theme.strong()));
        spans.push(line::plain(" "));
    }
    spans.push(line::span(items(done.kept_items), theme.quiet()));
    spans
}

/// What it cost: the summary that every request now carries.
fn cost(session: &Session, summary: SizedItem, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = vec![name("summary", theme)];
    spans.extend(sized(summary, theme));
    if let Some(item) = session.items().get(summary.0) {
        spans.push(line::span(&item.preview, theme.quiet()));
    }
    spans
}

/// The agent's own number beside ours.
fn difference(reset: &PastReset, difference: i64, theme: Theme) -> Vec<Span<'static>> {
    let off = number::tokens(difference.unsigned_abs());
    let off = match difference {
        0 => "the same".to_owned(),
        1.. => format!("{off} more than the agent's"),
        _ => format!("{off} less than the agent's"),
    };
    vec![
        name("ours", theme),
        line::span(number::tokens(reset.ours), theme.strong()),
        line::span(format!(", {off}"), theme.quiet()),
    ]
}

fn sized((_, tokens, source): SizedItem, theme: Theme) -> [Span<'static>; 2] {
    let style = if source.is_known() {
        theme.strong()
    } else {
        theme.estimated()
    };
    [
        line::span(text::right(&number::tokens(tokens), 6), style),
        line::span(format!(" {} ", text::left(sign(source), 2)), theme.quiet()),
    ]
}

fn items(n: usize) -> String {
    match n {
        0 => "nothing".to_owned(),
        1 => "1 item".to_owned(),
        n => format!("{n} items"),
    }
}
