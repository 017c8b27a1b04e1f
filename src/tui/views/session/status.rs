//! Draws the limits of the numbers: the records that could not be read, the agent's warnings, the sources of window and
//! trigger.

use super::{NARROW_COLUMNS, ROOMY_COLUMNS, SessionNumbers};
use crate::app::{Page, layout};
use crate::paint::{Pieces, Tone, joined, joined_width, piece, plain, quiet};
use crate::views::groups;
use crate::views::roles::ROWS_WITH_REPEATS;
use model::LeaveReason;
use model::session::{Coverage, Session};
use model::spending::SessionSpending;
use render::own_count::own_count;
use render::spending::{cost, left_out};
use render::{number, text, unknown};

/// Returns the status in at most `columns` columns. On a low screen it includes what has no row of its own.
pub(super) fn status(
    session: &Session,
    page: &Page,
    shown: &SessionNumbers<'_>,
    layout: &layout::Session,
    columns: usize,
) -> Pieces {
    let low = layout.forecast.height == 0;
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let lines = number::counted(session.unreadable, "unreadable line");
        groups.push(vec![piece(lines, Tone::Warn)]);
        if let Some((place, why)) = &session.first_unreadable {
            let at = format!("first: {place}: {why}");
            groups.push(vec![quiet(text::cut(&at, columns / 3))]);
        }
    }
    if let Some(short) = session.short_prompts() {
        let prompts = number::counted(short as u64, "prompt");
        let words = format!("{prompts} held less than the log");
        groups.push(vec![piece(words, Tone::Warn)]);
    }
    for (n, what) in [
        (session.damaged, "damaged line"),
        (session.unreadable_usage, "unreadable usage report"),
    ] {
        if n > 0 {
            groups.push(vec![piece(number::counted(n, what), Tone::Warn)]);
        }
    }
    if let Some(warning) = unknown::warning(session) {
        groups.push(vec![piece(text::cut(&warning, columns / 2), Tone::Warn)]);
    }
    let notice = groups::notice(session, page, columns);
    let warned = notice.is_some();
    groups.extend(notice);
    let mut window = groups::window(shown.limits);
    let before = groups.len();
    if low {
        let without_marked = groups::without_marked(page);
        if let Ok(forecast) = &page.forecast {
            groups.push(groups::next_requests(forecast, shown.nearness));
        }
        groups.extend(without_marked);
        if session.is_unreported() && shown.context.used > 0 {
            groups.push(vec![piece("all estimated", Tone::Estimated)]);
        }
    }
    if columns < NARROW_COLUMNS {
        let room = columns.saturating_sub(joined_width(&groups));
        groups.extend(
            shown
                .agent_estimate
                .and_then(|own| groups::agent(own, room)),
        );
        if groups.len() > before {
            // Without the word "window".
            window.remove(0);
        }
    }
    if layout.roles.height < ROWS_WITH_REPEATS && page.repeats.items() > 0 {
        let repeats = number::counted(page.repeats.items() as u64, "repeat");
        let wasted = number::short(page.repeats.wasted);
        let repeats = piece(format!("{repeats}, {wasted} wasted"), Tone::Oversized);
        groups.push(vec![repeats]);
    }
    // The window is among the numbers too.
    let mut limits = [window, groups::trigger(shown.limits)];
    if warned {
        limits.reverse();
    }
    let cost = shown.spending.and_then(|all| cost_so_far(all, columns));
    let cost = cost.filter(|_| columns >= NARROW_COLUMNS);
    if columns < NARROW_COLUMNS {
        // There is no room after the limits.
        groups.extend(transient(session, shown, columns, joined_width(&groups)));
        groups.extend(limits);
    } else {
        // Groups that come and go follow those that stay, so that nothing moves.
        groups.extend(limits);
        groups.extend(cost);
        groups.extend(transient(session, shown, columns, joined_width(&groups)));
    }
    groups.push(resets(session, page));
    joined(groups, columns)
}

/// Returns the cost of the session so far by list prices, and what it leaves out where there is room.
fn cost_so_far(spending: &SessionSpending, columns: usize) -> Option<Pieces> {
    let all = &spending.all;
    if all.responses == 0 || all.is_unpriced() {
        return None;
    }
    let mut pieces = vec![quiet("cost so far "), plain(cost(all))];
    if let Some(left_out) = left_out(all).filter(|_| columns >= ROOMY_COLUMNS) {
        pieces.push(quiet(format!(" ({left_out})")));
    }
    Some(pieces)
}

/// Returns the agent's own count where it differs from the context and is not among the numbers, or the reason for the
/// difference, as much as fits after `taken` columns; and the state of reading the log.
fn transient(
    session: &Session,
    shown: &SessionNumbers<'_>,
    columns: usize,
    taken: usize,
) -> Vec<Pieces> {
    let mut groups = Vec::new();
    if let Some(own) = own_count(shown.label, shown.context, shown.limits.trigger) {
        // A narrow screen has room for the count alone: the trigger is before it. On others the count is among the
        // numbers, and its reason is here.
        let words = own.to_string();
        let is_narrow = columns < NARROW_COLUMNS;
        let fits = text::width(&words) <= columns.saturating_sub(taken + 3);
        let shown = if fits {
            Some(words).filter(|_| is_narrow || own.has_reason())
        } else {
            Some(own.counted).filter(|_| is_narrow)
        };
        groups.extend(shown.map(|words| vec![piece(words, Tone::Warn)]));
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![quiet("reading")]);
    } else if shown.is_counting {
        groups.push(vec![quiet("counting")]);
    }
    groups
}

/// Returns the compactions and clears until the moment on screen.
fn resets(session: &Session, page: &Page) -> Pieces {
    let resets = session.resets().iter().take(page.state.resets);
    let (compactions, others): (Vec<_>, Vec<_>) =
        resets.partition(|reset| reset.gone == LeaveReason::Compaction);
    let words = [(compactions, "compaction"), (others, "clear")];
    let words = words.into_iter().filter(|(all, _)| !all.is_empty());
    let words: Vec<String> = words
        .map(|(all, word)| number::counted(all.len() as u64, word))
        .collect();
    vec![quiet(words.join(", "))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::BilledUsage;
    use model::spending::PriceList;
    use model::token_usage::{Billing, CachePlacement};
    use model::window::Rules;

    fn spending(models: &[&str]) -> SessionSpending {
        let rules: Rules = toml::from_str(assets::MODELS).unwrap();
        let mut prices = PriceList::new(&rules);
        let mut all = SessionSpending::default();
        for model in models {
            let billed = BilledUsage::new(100_000, 1_000);
            let billing = Billing {
                cached: CachePlacement::Beside,
                reasoning_beside_output: false,
            };
            let one = prices.spending(billed, CachePlacement::Beside, billing, Some(model));
            all.all.add(one);
        }
        all
    }

    fn shown(models: &[&str], columns: usize) -> Option<String> {
        let pieces = cost_so_far(&spending(models), columns)?;
        Some(pieces.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn a_cost_names_what_it_leaves_out_where_there_is_room() {
        let known = "claude-opus-4-8";
        let all = shown(&[known], 200).unwrap();
        assert!(all.starts_with("cost so far $0.5"), "{all}");
        let narrow = shown(&[known, "unknown"], 80).unwrap();
        assert_eq!(narrow, all.replace('$', "≥$"));
        let wide = shown(&[known, "unknown"], 200).unwrap();
        assert!(
            wide.contains("without 1 response of unknown price"),
            "{wide}"
        );
        assert_eq!(shown(&["unknown"], 200), None);
    }
}
