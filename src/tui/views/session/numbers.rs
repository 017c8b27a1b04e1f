//! The gauge in numbers, always in this shape:
//! `124.1k known + 3.9k ±0.4k est · 64% of 200k · compacts at 167k (policy) · headroom 39k`,
//! with the agent's own number where it gives one: `agent says 123.5k (−4.5k)`, or, where ours is taught
//! by it, `agent says 123.5k, counted 98.2k`.

use super::Shown;
use super::facts::trigger;
use crate::model::Source;
use crate::model::agent_estimate::AgentEstimate;
use crate::model::context::Context;
use crate::render::item::sign;
use crate::render::number;
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::text::Span;

/// The columns under which the numbers come in short.
pub(super) const NARROW: usize = 60;

pub(super) fn numbers(shown: &Shown<'_>, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let (context, limits) = (shown.context, shown.limits);
    if context.used == 0 {
        return vec![line::span(shown.nothing, theme.quiet())];
    }
    if columns < NARROW {
        return in_short(shown, columns, theme);
    }
    let mut groups = vec![amount(context, theme)];
    if let Some(percent) = number::percent(context.used, limits.window) {
        groups.push(vec![
            line::span(format!("{percent}%"), theme.strong()),
            line::plain(format!(" of {}", number::short(limits.window))),
        ]);
    }
    let width = |group: &[Span<'_>]| group.iter().map(Span::width).sum::<usize>() + 3;
    let used = |groups: &[Vec<Span<'_>>]| groups.iter().map(|group| width(group)).sum::<usize>();
    let headroom = headroom(shown).map(|left| {
        vec![
            line::plain("headroom "),
            line::span(number::short(left), theme.nearness(shown.nearness)),
        ]
    });
    let kept = headroom.as_deref().map_or(0, width);
    if let Some(said) = shown.said {
        let room = (columns + 3).saturating_sub(used(&groups) + kept + 3);
        groups.extend(agent(said, room, theme));
    }
    if let Some(headroom) = headroom {
        // Headroom matters more than the trigger, so it comes first where only one of both fits.
        let trigger = trigger(limits, theme);
        if used(&groups) + width(&trigger) + kept <= columns + 3 {
            groups.push(trigger);
        }
        groups.push(headroom);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The same where there is less room: `124.1k + 3.9k ±0.4k · 64% · 39k left`
fn in_short(shown: &Shown<'_>, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let mut amount = amount(shown.context, theme);
    amount.retain(|span| span.content != " known");
    for span in &mut amount {
        if let Some(short) = span.content.strip_suffix(" est") {
            span.content = short.to_owned().into();
        }
    }
    let mut groups = vec![amount];
    if let Some(percent) = number::percent(shown.context.used, shown.limits.window) {
        groups.push(vec![line::span(format!("{percent}%"), theme.strong())]);
    }
    if let Some(left) = headroom(shown) {
        let left = format!("{} left", number::short(left));
        groups.push(vec![line::span(left, theme.nearness(shown.nearness))]);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The agent's own number, and how much more or less that is than ours, or what ours would be without it;
/// as much of it as fits.
pub(in crate::tui::views) fn agent(
    said: AgentEstimate,
    columns: usize,
    theme: Theme,
) -> Option<Vec<Span<'static>>> {
    let tokens = number::tokens(said.tokens);
    let off = number::error(said.difference().unsigned_abs());
    let off = match said.difference() {
        _ if said.source == Source::Agent => {
            format!(", counted {}", number::tokens(said.ours))
        }
        0 => " (the same)".to_owned(),
        1.. => format!(" (+{off})"),
        _ => format!(" (−{off})"),
    };
    let ways = [
        ("agent says ", &*off),
        ("agent ", &*off),
        ("agent ", ""),
        (sign(Source::Agent), ""),
    ];
    let mut ways = ways.into_iter().map(|(word, off)| {
        vec![
            line::span(word, theme.quiet()),
            line::span(&tokens, theme.estimated()),
            line::span(off, theme.quiet()),
        ]
    });
    ways.find(|spans| spans.iter().map(Span::width).sum::<usize>() <= columns)
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

/// Tokens left before the agent compacts; `None`: it is not known to.
fn headroom(shown: &Shown<'_>) -> Option<u64> {
    Some(shown.limits.trigger?.saturating_sub(shown.context.used))
}
