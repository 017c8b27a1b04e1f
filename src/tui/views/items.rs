//! The items of a session, newest first.
//!
//! ```text
//!    TOKENS    SHARE   TOOL          WHEN  WHAT                     10 in context
//! ▌    3.9k ~     2% T Edit            2s  The file src/db.rs has been updated.
//!     61.1k ══   31% T Grep           33s  src/main.rs:12: fn connect(url: &str)
//! ```

use crate::model::Source;
use crate::model::session::{Coverage, Item, ItemIx, Session};
use crate::tui::app::layout::Fold;
use crate::tui::app::{self, App, Brief, Listed};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::{line, number, text};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Span;

/// How the list of items is cut into columns.
#[derive(Debug, Clone, Copy)]
struct Columns {
    share: usize,
    tool: usize,
    when: usize,
}

impl Columns {
    fn of(width: u16) -> Columns {
        match Fold::of(width) {
            Fold::Narrow => Columns {
                share: 0,
                tool: 8,
                when: 0,
            },
            Fold::Medium => Columns {
                share: 5,
                tool: 12,
                when: 5,
            },
            Fold::Wide => Columns {
                share: 5,
                tool: 18,
                when: 5,
            },
        }
    }
}

pub(super) fn draw(app: &App, session: &Session, brief: &Brief, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    let columns = Columns::of(width);
    let heads = [
        text::right("TOKENS", 9),
        "    ".to_owned(),
        text::left(if columns.share > 0 { "SHARE" } else { "" }, columns.share),
        text::left("   TOOL", columns.tool + 4),
        text::right(if columns.when > 0 { "WHEN" } else { "" }, columns.when),
        "  WHAT".to_owned(),
    ];
    let y = rows.columns.top;
    let end = line::write(
        buffer,
        (0, y),
        width,
        [line::span(heads.concat(), theme.quiet())],
    );
    let count = match app.ui.listed {
        Listed::InContext => format!("{} in context ", app.items().len()),
        Listed::All => format!("all {} ", app.items().len()),
    };
    line::write_right(
        buffer,
        (end + 1, y),
        width,
        [line::span(count, theme.quiet())],
    );

    if app.items().is_empty() {
        let said = match (session.coverage, app.ui.listed) {
            (Coverage::Unread, _) => "reading…",
            (_, Listed::InContext) => "no item is in the context",
            (_, Listed::All) => "no items yet",
        };
        line::write(
            buffer,
            (3, rows.list.top),
            width,
            [line::span(said, theme.quiet())],
        );
    }
    let shown = app.items().iter().enumerate().skip(app.ui.items.offset());
    for ((index, ix), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        if let Some(item) = session.items.get(*ix) {
            let selected = index == app.ui.items.index();
            let spans = item_row(app, session, brief, (*ix, item), columns, theme);
            let pointer = line::span(if selected { "▌" } else { " " }, theme.accent());
            let x = line::write(buffer, (0, y), width, [pointer]);
            line::write(buffer, (x, y), width, spans);
        }
    }
}

fn item_row(
    app: &App,
    session: &Session,
    brief: &Brief,
    (ix, item): (ItemIx, &Item),
    columns: Columns,
    theme: Theme,
) -> Vec<Span<'static>> {
    let (tokens, source) = session.tokens(ix);
    let here = item.in_context();
    let style = |style: Style| if here { style } else { theme.quiet() };
    let share = number::percent(tokens, brief.limits.window).unwrap_or(0);
    let share = match (columns.share, share) {
        (0, _) => String::new(),
        (_, 0) => String::new(),
        (_, share) => format!("{share}%"),
    };
    let when = item.at.map_or_else(String::new, |at| {
        number::age(app::seconds_since(at, app.now))
    });
    let when = if columns.when > 0 {
        when
    } else {
        String::new()
    };
    let tool = item.tool.as_deref().unwrap_or(item.kind.name());
    let mut spans = vec![
        line::span(
            text::right(&number::tokens(tokens), 8),
            style(if source.is_known() {
                theme.strong()
            } else {
                theme.estimated()
            }),
        ),
        line::span(format!(" {} ", text::left(sign(source), 2)), theme.quiet()),
        line::span(text::right(&share, columns.share), theme.quiet()),
        line::span(
            format!(" {} ", letter(item.role)),
            style(theme.role(item.role)),
        ),
        line::span(
            format!("{} ", text::left(tool, columns.tool)),
            style(Style::new()),
        ),
        line::span(text::right(&when, columns.when), theme.quiet()),
        line::plain("  "),
    ];
    if let Some((_, why)) = item.left {
        let why = why.name().replace('_', " ");
        spans.push(line::span(format!("left: {why} · "), theme.quiet()));
    }
    spans.push(line::span(&item.preview, style(Style::new())));
    spans
}

/// How a number is known, in a sign.
pub(super) const fn sign(source: Source) -> &'static str {
    match source {
        Source::Reported => "=",
        Source::Derived => "══",
        Source::Shared => "≈",
        Source::Estimated => "~",
        Source::Agent => "?",
    }
}
