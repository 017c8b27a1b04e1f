//! One session: the large gauge, the roles, the items.
//!
//! ```text
//!  shop  claude  claude-opus-4-6  2.1.39                                                  ● 2s
//!  window 200k (log) · compacts at 167k (policy)
//!   S   C A      T                                        ~~  ±      ▾167k                200k
//!  ██▓██████████████████████████████████████████████████╱╱╱╱┄┄      ┃░░░░░░░░░░░░░░░░░░░░░░░░▕
//!  124.1k known + 3.9k ±0.4k est · 64% of 200k · compacts at 167k (policy) · headroom 39k
//!  compacts in about 9 requests (6–14), 2 turns (1–4), 6 min (4–11) of work
//!
//!  S system     27.5k  ████████████                                27.5k known
//!  …
//!   TOKENS     ROLE  TOOL        WHEN  WHAT
//!    18.4k ══  T     Read          2m  src/db.rs
//! ```

use super::detail;
use crate::model::Role;
use crate::model::fleet::SessionKey;
use crate::model::ledger::Context;
use crate::model::session::{Coverage, Session};
use crate::tui::app::layout::Rows;
use crate::tui::app::{self, App, Brief, Panel};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::{
    gauge::{Gauge, Place},
    line, number, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

pub(super) fn draw(app: &App, key: SessionKey, theme: Theme, buffer: &mut Buffer) {
    let (Some(session), Some(brief)) = (app.fleet.get(key), app.brief(key)) else {
        return;
    };
    let rows = app.session_layout();
    let (width, columns) = (
        buffer.area.width,
        usize::from(buffer.area.width.saturating_sub(2)),
    );
    header(app, key, session, rows.header.top, theme, buffer);
    let low = rows.forecast.count == 0;
    let next = if low {
        detail::next(app, session, brief, theme)
    } else {
        Vec::new()
    };
    let facts = facts(session, brief, next, columns, theme);
    line::write(buffer, (1, rows.facts.top), width, facts);

    let gauge = Gauge {
        context: &brief.context,
        limits: &brief.limits,
        theme,
        place: Place::Large,
    };
    let across = |rows: Rows| Rect::new(1, rows.top, width.saturating_sub(3), rows.count);
    gauge.scale(across(rows.scale), buffer);
    gauge.bar(across(rows.bar), buffer);
    for y in rows.bar.top..rows.bar.top + rows.bar.count {
        line::write(
            buffer,
            (width - 2, y),
            width,
            [line::span("▕", theme.quiet())],
        );
    }
    let numbers = numbers(brief, columns, theme);
    line::write(buffer, (1, rows.numbers.top), width, numbers);
    if !low {
        let forecast = forecast(app, session, brief, columns, theme);
        line::write(buffer, (1, rows.forecast.top), width, [forecast]);
    }

    if rows.legend.count > 1 {
        legend(brief, rows.legend.top, theme, buffer);
    } else {
        line::write(
            buffer,
            (1, rows.legend.top),
            width,
            detail::roles(brief, theme),
        );
    }
    match app.ui.panel {
        Panel::Items => super::items::draw(app, session, brief, theme, buffer),
        Panel::Compactions => super::compactions::draw(app, session, theme, buffer),
    }
    super::footer(app, rows.footer.top, theme, buffer);
}

fn header(
    app: &App,
    key: SessionKey,
    session: &Session,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
) {
    let age = app.age(key);
    let live = app.is_live(key);
    let width = buffer.area.width;
    let age = age.map_or_else(|| "—".to_owned(), number::age);
    let right = [
        line::span(if live { "● " } else { "" }, theme.live()),
        line::plain(format!("{age} ")),
    ];
    let end = width.saturating_sub(right.iter().map(Span::width).sum::<usize>() as u16 + 1);
    let columns = usize::from(end.saturating_sub(2));

    let name = app::name(&app.fleet, key);
    let label = app
        .fleet
        .facts(key)
        .map_or(session.agent, |facts| facts.label);
    let mut groups = vec![
        vec![line::span(text::cut(&name, columns / 3), theme.accent())],
        vec![line::plain(label)],
    ];
    let mut add = |part: Option<&str>, style: Style| {
        if let Some(part) = part {
            groups.push(vec![line::span(text::cut(part, columns / 3), style)]);
        }
    };
    add(session.model(), Style::new());
    add(session.meta.version.as_deref(), theme.quiet());
    let title = session.meta.title.as_deref();
    add(title.filter(|title| *title != name), theme.quiet());
    let left = line::joined(groups, columns, theme.quiet());
    line::write(buffer, (1, y), end, left);
    line::write_right(buffer, (1, y), width, right);
}

/// When it will compact, or why nobody can say.
fn forecast(
    app: &App,
    session: &Session,
    brief: &Brief,
    columns: usize,
    theme: Theme,
) -> Span<'static> {
    match brief.forecast(session, app.now) {
        Ok(forecast) => {
            let said = text::cut(&forecast.to_string(), columns);
            line::span(said, theme.nearness(brief.nearness()))
        }
        Err(why) => line::span(format!("no forecast: {}", why.name()), theme.quiet()),
    }
}

/// How far the numbers can be trusted, and why; what has no row of its own comes before the window.
fn facts(
    session: &Session,
    brief: &Brief,
    next: Vec<Span<'static>>,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let lines = if session.unreadable == 1 {
            "line"
        } else {
            "lines"
        };
        groups.push(vec![line::span(
            format!("{} unreadable {lines}", number::short(session.unreadable)),
            theme.warn(),
        )]);
        if let Some((place, why)) = &session.first_unreadable {
            let at = match place.line {
                0 => format!("first: byte {}: {why}", place.offset),
                line => format!("first: line {line}: {why}"),
            };
            groups.push(vec![line::span(text::cut(&at, columns / 3), theme.quiet())]);
        }
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![line::span("reading…", theme.quiet())]);
    }
    let mut window = window(brief, theme);
    if !next.is_empty() && columns < NARROW {
        window.remove(0);
    }
    groups.push(next);
    groups.push(window);
    groups.push(trigger(brief, theme));
    let resets = session.resets.len() as u64;
    if resets > 0 {
        let word = if resets == 1 { "reset" } else { "resets" };
        groups.push(vec![line::span(
            format!("{} {word}", number::short(resets)),
            theme.quiet(),
        )]);
    }
    let skipped = session
        .skipped
        .values()
        .fold(0u64, |a, b| a.saturating_add(*b));
    if skipped > 0 {
        let said = format!("{} records passed over", number::short(skipped));
        groups.push(vec![line::span(said, theme.quiet())]);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The window and how it is known.
pub(super) fn window(brief: &Brief, theme: Theme) -> Vec<Span<'static>> {
    let limits = &brief.limits;
    vec![
        line::span("window ", theme.quiet()),
        line::plain(number::short(limits.window)),
        line::span(format!(" ({})", limits.window_source.name()), theme.quiet()),
    ]
}

/// The trigger and how it is known.
pub(super) fn trigger(brief: &Brief, theme: Theme) -> Vec<Span<'static>> {
    let limits = &brief.limits;
    match limits.trigger {
        None => {
            let said = limits.no_trigger();
            let words = said.unwrap_or_else(|| "no compaction known".to_owned());
            vec![line::span(words, theme.quiet())]
        }
        Some(trigger) => vec![
            line::span("compacts at ", theme.quiet()),
            line::plain(number::short(trigger)),
            line::span(
                format!(" ({})", limits.trigger_source.name()),
                theme.quiet(),
            ),
        ],
    }
}

/// The gauge in numbers, always in this shape:
/// `124.1k known + 3.9k ±0.4k est · 64% of 200k · compacts at 167k (policy) · headroom 39k`
fn numbers(brief: &Brief, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let (context, limits) = (&brief.context, &brief.limits);
    if context.used == 0 {
        return vec![line::span("no usage reported yet", theme.quiet())];
    }
    if columns < NARROW {
        return numbers_in_short(brief, columns, theme);
    }
    let mut groups = vec![amount(context, theme)];
    if let Some(percent) = number::percent(context.used, limits.window) {
        groups.push(vec![
            line::span(format!("{percent}%"), theme.strong()),
            line::plain(format!(" of {}", number::short(limits.window))),
        ]);
    }
    if let Some(left) = brief.headroom() {
        // Headroom matters more than the trigger, so it comes first where only one of both fits.
        let headroom = vec![
            line::plain("headroom "),
            line::span(number::short(left), theme.nearness(brief.nearness())),
        ];
        let used: usize = groups.iter().flatten().map(Span::width).sum();
        let trigger = trigger(brief, theme);
        let both = used
            + 12
            + trigger
                .iter()
                .chain(&headroom)
                .map(Span::width)
                .sum::<usize>();
        if both <= columns {
            groups.push(trigger);
        }
        groups.push(headroom);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The columns under which the numbers come in short.
const NARROW: usize = 60;

/// The same where there is less room: `124.1k + 3.9k ±0.4k · 64% · 39k left`
fn numbers_in_short(brief: &Brief, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let mut amount = amount(&brief.context, theme);
    amount.retain(|span| span.content != " known");
    for span in &mut amount {
        if let Some(short) = span.content.strip_suffix(" est") {
            span.content = short.to_owned().into();
        }
    }
    let mut groups = vec![amount];
    if let Some(percent) = number::percent(brief.context.used, brief.limits.window) {
        groups.push(vec![line::span(format!("{percent}%"), theme.strong())]);
    }
    if let Some(left) = brief.headroom() {
        let left = format!("{} left", number::short(left));
        groups.push(vec![line::span(left, theme.nearness(brief.nearness()))]);
    }
    line::joined(groups, columns, theme.quiet())
}

fn amount(context: &Context, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if context.known > 0 {
        spans.push(line::span(number::tokens(context.known), theme.strong()));
        spans.push(line::plain(" known"));
    }
    if context.estimated > 0 {
        let error = context.high.saturating_sub(context.used);
        spans.push(line::plain(if context.known > 0 { " + " } else { "~" }));
        spans.push(line::span(
            format!(
                "{} ±{} est",
                number::tokens(context.estimated),
                number::error(error)
            ),
            theme.estimated(),
        ));
    }
    spans
}

/// A line a role: tokens, a bar, what is known of them, items.
fn legend(brief: &Brief, y: u16, theme: Theme, buffer: &mut Buffer) {
    let width = buffer.area.width;
    let fixed = 62;
    let bar = width.saturating_sub(fixed).min(100);
    let most = Role::ALL.map(|role| brief.context.role(role).tokens);
    let most = most.into_iter().max().unwrap_or(0);
    for (role, y) in Role::ALL.into_iter().zip(y..) {
        let share = brief.context.role(role);
        let cells = |tokens: u64| {
            let all = u128::from(tokens) * u128::from(bar) + u128::from(most / 2);
            all.checked_div(u128::from(most))
                .unwrap_or(0)
                .min(u128::from(bar)) as usize
        };
        let (filled, solid) = (cells(share.tokens), cells(share.known));
        let fill: String = std::iter::repeat_n(theme.low_fill(role), solid).collect();
        let hatch = "╱".repeat(filled.saturating_sub(solid));
        let none = |n: u64, said: String| if n == 0 { String::new() } else { said };
        let tokens = if share.tokens == 0 {
            "—".to_owned()
        } else {
            number::tokens(share.tokens)
        };
        let items = match (share.items, role) {
            (0, Role::System) if share.tokens > 0 => "not logged".to_owned(),
            (0, _) => String::new(),
            (1, _) => "1 item".to_owned(),
            (n, _) => format!("{n} items"),
        };
        let spans = [
            line::span(format!("{} ", letter(role)), theme.role(role)),
            line::plain(text::left(role.name(), 10)),
            line::span(text::right(&tokens, 7), theme.strong()),
            line::plain("  "),
            line::span(fill, theme.role(role)),
            line::span(hatch, theme.role(role)),
            line::plain(" ".repeat(usize::from(bar) - filled)),
            line::plain(text::right(
                &none(
                    share.known,
                    format!("{} known", number::tokens(share.known)),
                ),
                14,
            )),
            line::span(
                text::right(
                    &none(
                        share.estimated,
                        format!("+{} est", number::tokens(share.estimated)),
                    ),
                    12,
                ),
                theme.estimated(),
            ),
            line::span(text::right(&items, 12), theme.quiet()),
        ];
        line::write(buffer, (1, y), width, spans);
    }
}
