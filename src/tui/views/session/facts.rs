//! How far the numbers can be trusted, and why: what could not be read, what the agent warns of, where
//! the window and the trigger are known from.

use super::Shown;
use super::numbers::{NARROW, agent};
use crate::model::session::{Coverage, Session};
use crate::model::window::Limits;
use crate::render::{number, text};
use crate::tui::app::Page;
use crate::tui::theme::Theme;
use crate::tui::views::detail;
use crate::tui::widgets::line;
use ratatui::text::Span;

/// Whether what stands in rows of its own on higher screens is among the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It has rows of its own.
    Enough,
    /// There is no row for it.
    Low,
}

pub(super) fn facts(
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    room: Room,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let said = number::counted(session.unreadable, "unreadable line");
        groups.push(vec![line::span(said, theme.warn())]);
        if let Some((place, why)) = &session.first_unreadable {
            let at = match place.line {
                0 => format!("first: byte {}: {why}", place.offset),
                line => format!("first: line {line}: {why}"),
            };
            groups.push(vec![line::span(text::cut(&at, columns / 3), theme.quiet())]);
        }
    }
    let lost: u64 = session.lost_fields.values().sum();
    if lost > 0 {
        let lost = number::counted(lost, "unexpected field");
        groups.push(vec![line::span(lost, theme.warn())]);
        let names: Vec<&str> = session.lost_fields.keys().copied().collect();
        let names = text::cut(&names.join(", "), columns / 3);
        groups.push(vec![line::span(names, theme.quiet())]);
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![line::span("reading…", theme.quiet())]);
    }
    let notice = notice(session, page, columns, theme);
    let warned = notice.is_some();
    groups.extend(notice);
    let mut window = window(shown.limits, theme);
    let before = groups.len();
    if room == Room::Low {
        groups.extend(Some(next(page, shown, theme)).filter(|next| !next.is_empty()));
        if session.is_unreported() && shown.context.used > 0 {
            groups.push(vec![line::span("all estimated", theme.estimated())]);
        }
    }
    if columns < NARROW {
        let taken: usize = groups.iter().map(|group| width(group) + 3).sum();
        let room = columns.saturating_sub(taken);
        groups.extend(shown.said.and_then(|said| agent(said, room, theme)));
        if groups.len() > before {
            window.remove(0);
        }
    }
    // The numbers tell the window too.
    let mut limits = [window, trigger(shown.limits, theme)];
    if warned {
        limits.reverse();
    }
    groups.extend(limits);
    let resets = page.state.resets as u64;
    if resets > 0 {
        groups.push(vec![line::span(
            number::counted(resets, "reset"),
            theme.quiet(),
        )]);
    }
    let skipped = session
        .skipped
        .values()
        .fold(0u64, |a, b| a.saturating_add(*b));
    if skipped > 0 {
        let said = format!("{} passed over", number::counted(skipped, "record"));
        groups.push(vec![line::span(said, theme.quiet())]);
    }
    line::joined(groups, columns, theme.quiet())
}

fn width(group: &[Span<'_>]) -> usize {
    group.iter().map(Span::width).sum()
}

/// What is left until the next compaction, in short: `next 9 (6–14)`; empty where there is no forecast.
fn next(page: &Page, shown: &Shown<'_>, theme: Theme) -> Vec<Span<'static>> {
    let forecast = page.forecast.as_ref().ok();
    forecast.map_or_else(Vec::new, |forecast| {
        detail::next_in_short(forecast, shown.nearness, theme)
    })
}

/// What the agent tells people of its context: where all of it does not fit, what it is about.
pub(in crate::tui::views) fn notice(
    session: &Session,
    page: &Page,
    columns: usize,
    theme: Theme,
) -> Option<Vec<Span<'static>>> {
    let notice = session.items().get(page.state.notice?)?;
    let said = match text::width(&notice.preview) {
        width if width > columns => notice.preview.split(':').next()?,
        _ => &notice.preview,
    };
    Some(vec![line::span(said, theme.warn())])
}

/// The window and how it is known.
pub(in crate::tui::views) fn window(limits: &Limits, theme: Theme) -> Vec<Span<'static>> {
    vec![
        line::span("window ", theme.quiet()),
        line::plain(number::short(limits.window)),
        line::span(format!(" ({})", limits.window_source.name()), theme.quiet()),
    ]
}

/// The trigger and how it is known.
pub(in crate::tui::views) fn trigger(limits: &Limits, theme: Theme) -> Vec<Span<'static>> {
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
