//! Draws the limits of the numbers: the records that could not be read, the agent's warnings, the sources of window and
//! trigger.

use super::{NARROW_COLUMNS, ROOMY_COLUMNS, SessionNumbers};
use crate::app::{Page, Stage, layout};
use crate::paint::{Pieces, Tone, joined, joined_width, piece, plain, quiet};
use crate::views::groups;
use model::LeaveReason;
use model::cost::spending::SessionSpending;
use model::session::{Coverage, Session};
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
    let is_narrow = columns < NARROW_COLUMNS;
    let mut groups = unread(session, columns);
    let notice = groups::notice(session, page, columns);
    let is_warned = notice.is_some();
    groups.extend(notice);
    let before = groups.len();
    if layout.forecast.height == 0 {
        groups.extend(forecast(session, page, shown));
    }
    let mut window = groups::window(shown.limits);
    if is_narrow {
        let room = columns.saturating_sub(joined_width(&groups));
        let own = shown.agent_estimate;
        groups.extend(own.and_then(|own| groups::agent(own, room)));
        if groups.len() > before {
            // Without the word "window".
            window.remove(0);
        }
    }
    let mut limits = [window, groups::trigger(shown.limits)];
    if is_warned {
        // The window is among the numbers too.
        limits.reverse();
    }
    if is_narrow {
        // There is no room after the limits.
        groups.extend(transient(session, shown, columns, joined_width(&groups)));
        groups.extend(limits);
    } else {
        // Groups that come and go follow those that stay, so that nothing moves.
        groups.extend(limits);
        groups.extend(shown.spending.and_then(|all| cost_so_far(all, columns)));
        groups.extend(transient(session, shown, columns, joined_width(&groups)));
    }
    groups.push(resets(session, page));
    joined(groups, columns)
}

/// Returns the parts of the log that could not be read or used.
fn unread(session: &Session, columns: usize) -> Vec<Pieces> {
    let warning = |words: String| vec![piece(words, Tone::Warn)];
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let lines = number::counted(session.unreadable, "unreadable line");
        groups.push(warning(lines));
        if let Some((place, why)) = &session.first_unreadable {
            let at = format!("first: {place}: {why}");
            groups.push(vec![quiet(text::cut(&at, columns / 3))]);
        }
    }
    if let Some(short) = session.short_prompts() {
        let prompts = number::counted(short as u64, "prompt");
        groups.push(warning(format!("{prompts} held less than the log")));
    }
    for (n, what) in [
        (session.damaged, "damaged line"),
        (session.unreadable_usage, "unreadable usage report"),
    ] {
        if n > 0 {
            groups.push(warning(number::counted(n, what)));
        }
    }
    let unknown = unknown::warning(session);
    groups.extend(unknown.map(|words| warning(text::cut(&words, columns / 2))));
    groups
}

/// Returns the words of the forecast for a screen without its row.
fn forecast(session: &Session, page: &Page, shown: &SessionNumbers<'_>) -> Vec<Pieces> {
    let mut groups = Vec::new();
    if let Ok(forecast) = &page.forecast {
        let stage = Stage::settled_if(session.coverage == Coverage::Whole);
        groups.push(groups::next_requests(stage, forecast, shown.nearness));
    }
    groups.extend(groups::without_marked(page));
    if session.is_unreported() && shown.context.used > 0 {
        groups.push(vec![piece("all estimated", Tone::Estimated)]);
    }
    groups
}

/// Returns the cost of the session so far by list prices, and what it leaves out where there is room.
fn cost_so_far(spending: &SessionSpending, columns: usize) -> Option<Pieces> {
    let all = &spending.all;
    if all.is_empty() || all.is_unpriced() {
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
    use model::cost::spending::PriceList;
    use model::event::BilledUsage;
    use model::values::token_usage::{Billing, CachePlacement};
    use model::window::Rules;

    fn spending(models: &[&str]) -> SessionSpending {
        let rules: Rules = toml::from_str(assets::MODELS).unwrap();
        let rules = rules.listing(assets::CATALOGUE);
        let mut prices = PriceList::new(&rules);
        let mut all = SessionSpending::default();
        for model in models {
            let billed = BilledUsage::new(100_000, 1_000);
            let billing = Billing {
                cached: CachePlacement::Beside,
                reasoning_beside_output: false,
            };
            let one = prices.spending(
                billed,
                CachePlacement::Beside,
                billing,
                Some((*model).into()),
            );
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
