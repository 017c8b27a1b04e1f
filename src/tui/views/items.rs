//! The items of a session.
//!
//! ```text
//!    TOKENS    SHARE CARRIED   TOOL          WHEN  WHAT
//! ▌    3.9k ~     2%       —  T Edit            2s  The file src/db.rs has been updated.
//! !   61.1k ══   31%    122k  T Grep           33s  src/main.rs:12: fn connect(url: &str)
//! ```

use crate::model::session::{Coverage, Item, ItemIx, Session};
use crate::render::{
    item::{self, sign},
    number, text,
};
use crate::tui::app::layout::Fold;
use crate::tui::app::{self, App, ListedItem, Page, ShownItems};
use crate::tui::keymap::{Action, Scope};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Span;

/// How the list of items is cut into columns. One of no width is not shown.
#[derive(Debug, Clone, Copy)]
struct Columns {
    then: usize,
    share: usize,
    carried: usize,
    cost: usize,
    tool: usize,
    when: usize,
}

/// From this width on what an item has cost stands in money too.
const COST_FROM: u16 = 140;

impl Columns {
    fn of(width: u16, app: &App) -> Columns {
        let fold = Fold::of(width);
        let wide = usize::from(fold == Fold::Wide);
        Columns {
            // What is known now of what was only estimated then.
            then: if app.ui.replay.is_on() && fold > Fold::Narrow {
                9
            } else {
                0
            },
            share: if fold > Fold::Narrow { 6 } else { 0 },
            carried: if fold > Fold::Narrow { 8 } else { 0 },
            cost: if width >= COST_FROM { 8 } else { 0 },
            tool: match fold {
                Fold::Narrow => 8,
                _ => 10 + 8 * wide,
            },
            when: if fold > Fold::Narrow { 5 } else { 0 },
        }
    }
}

pub(super) fn draw(app: &App, session: &Session, page: &Page, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    let columns = Columns::of(width, app);
    if rows.columns.count > 0 {
        let at = (0, rows.columns.top);
        line::write(
            buffer,
            at,
            width,
            [line::span(heads(columns), theme.heading())],
        );
    }
    if page.items.is_empty() {
        nothing(app, session, rows.list.top, theme, buffer);
    }
    let shown = page.items.iter().enumerate().skip(app.ui.items.offset());
    for ((index, listed), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        if let Some(item) = session.items().get(listed.ix) {
            let marks = [
                super::pointer(index, app.ui.items.index(), theme),
                mark(app, page, listed, item, theme),
            ];
            let x = line::write(buffer, (0, y), width, marks);
            let spans = row(app, session, page, (listed, item), columns, theme);
            line::write(buffer, (x, y), width, spans);
            if index == app.ui.items.index() {
                super::lift(y, theme, buffer);
            }
        }
    }
}

fn heads(columns: Columns) -> String {
    let head = |word: &str, columns: usize| match columns {
        0 => String::new(),
        columns => text::right(word, columns),
    };
    [
        text::right("TOKENS", 9),
        "   ".to_owned(),
        head("NOW", columns.then),
        head("SHARE", columns.share),
        head("CARRIED", columns.carried),
        head("COST", columns.cost),
        text::left("   TOOL", columns.tool + 4),
        head("WHEN", columns.when),
        "  WHAT".to_owned(),
    ]
    .concat()
}

/// Why no item is listed.
fn nothing(app: &App, session: &Session, y: u16, theme: Theme, buffer: &mut Buffer) {
    let back = app.keymap.press(Scope::Session, Action::Back);
    let said = match (session.coverage, app.ui.listed) {
        _ if !app.ui.item_filter.is_empty() => {
            if let Some(press) = back {
                let said = format!("{press} shows all again");
                let said = line::span(said, theme.quiet());
                line::write(buffer, (3, y + 1), buffer.area.width, [said]);
            }
            format!("nothing matches '{}'", app.ui.item_filter)
        }
        (Coverage::Unread, _) => "reading…".to_owned(),
        (_, ShownItems::InContext) => "no item is in the context".to_owned(),
        (_, ShownItems::All) => "no items yet".to_owned(),
    };
    let said = text::cut(&said, usize::from(buffer.area.width.saturating_sub(4)));
    line::write(
        buffer,
        (3, y),
        buffer.area.width,
        [line::span(said, theme.quiet())],
    );
}

/// What the user should see of an item at once: that he marked it, that it is too large, that it stands
/// there twice.
fn mark(app: &App, page: &Page, listed: &ListedItem, item: &Item, theme: Theme) -> Span<'static> {
    let window = page.state.limits.window;
    if app.is_marked(page.key, item) {
        line::span("◆", theme.marked())
    } else if app.ui.oversized.is_reached(listed.tokens, window) {
        line::span("!", theme.oversized())
    } else if page.repeats.of.contains_key(&listed.ix) {
        line::span("×", theme.oversized())
    } else {
        line::plain(" ")
    }
}

fn row(
    app: &App,
    session: &Session,
    page: &Page,
    (listed, item): (&ListedItem, &Item),
    columns: Columns,
    theme: Theme,
) -> Vec<Span<'static>> {
    let style = |style: Style| {
        if listed.in_context {
            style
        } else {
            theme.quiet()
        }
    };
    let share = number::percent(listed.tokens, page.state.limits.window).filter(|p| *p > 0);
    let share = share.map_or_else(String::new, |share| format!("{share}%"));
    let carried = match listed.carried {
        0 => "—".to_owned(),
        n => number::short(n),
    };
    let cost = listed.usd.filter(|_| listed.carried > 0);
    let cost = cost.map_or_else(|| "—".to_owned(), number::usd);
    let seen_at = page
        .state
        .at
        .filter(|_| app.ui.replay.is_on())
        .unwrap_or(app.now);
    let when = item.at.map_or_else(
        || "—".to_owned(),
        |at| number::age(app::seconds_since(at, seen_at)),
    );
    let column = |said: &str, columns: usize| match columns {
        0 => String::new(),
        columns => text::right(said, columns),
    };
    let tool = item::label(item);
    let mut spans = vec![
        line::span(
            text::right(&number::tokens(listed.tokens), 7),
            style(if listed.source.is_known() {
                theme.strong()
            } else {
                theme.estimated()
            }),
        ),
        line::span(
            format!(" {}", text::left(sign(listed.source), 2)),
            theme.quiet(),
        ),
        line::span(column(&now(session, listed), columns.then), theme.quiet()),
        line::span(column(&share, columns.share), theme.quiet()),
        line::span(column(&carried, columns.carried), theme.quiet()),
        line::span(column(&cost, columns.cost), theme.quiet()),
        line::span(
            format!(" {} ", letter(item.role)),
            style(theme.role(item.role)),
        ),
        line::span(
            format!("{} ", text::left(&tool, columns.tool)),
            style(Style::new()),
        ),
        line::span(column(&when, columns.when), theme.quiet()),
        line::plain("  "),
    ];
    if let Some(first) = page.repeats.of.get(&listed.ix) {
        let first = again(session, *first);
        spans.push(line::span(format!("again{first} · "), theme.oversized()));
    }
    if item.is_notice() && !listed.in_context {
        spans.push(line::span("notice · ", theme.warn()));
    } else if let Some(left) = item.left.filter(|_| !listed.in_context) {
        let why = left.why.name().replace('_', " ");
        spans.push(line::span(format!("left: {why} · "), theme.quiet()));
    }
    let preview = item::preview(item);
    let subject = page.calls.subject(session, item);
    // A result that repeats what its call said says it.
    if let Some(subject) = subject.filter(|subject| !preview.starts_with(&**subject)) {
        spans.push(line::span(&subject, style(theme.strong())));
        spans.push(line::span(" · ", theme.quiet()));
    }
    spans.push(line::span(preview, style(Style::new())));
    spans
}

/// Which request took the same content along first.
fn again(session: &Session, first: ItemIx) -> String {
    let entered = session.items().get(first).and_then(|item| item.entered);
    entered.map_or_else(String::new, |request| {
        format!(", unchanged since #{}", request + 1)
    })
}

/// What is known today of an item of which less was known then.
fn now(session: &Session, listed: &ListedItem) -> String {
    let (tokens, source) = session.tokens(listed.ix);
    if (tokens, source) == (listed.tokens, listed.source) {
        return String::new();
    }
    format!("→{}", number::tokens(tokens))
}
