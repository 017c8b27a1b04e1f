//! How far the numbers can be trusted: what could not be read, the agent's warnings, the sources of window
//! and trigger.

use super::{NARROW_COLUMNS, Shown};
use crate::app::Page;
use crate::paint::{Pieces, Tone, joined, joined_width, piece, quiet};
use crate::views::groups;
use model::session::{Coverage, Session};
use render::own_count::own_count;
use render::{number, text, unknown};

/// The status in at most `columns` columns. On a `low` screen it includes what has no row of its own.
pub(super) fn status(
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    low: bool,
    columns: usize,
) -> Pieces {
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let lines = number::counted(session.unreadable, "unreadable line");
        groups.push(vec![piece(lines, Tone::Warn)]);
        if let Some((place, why)) = &session.first_unreadable {
            let at = format!("first: {place}: {why}");
            groups.push(vec![quiet(text::cut(&at, columns / 3))]);
        }
    }
    for (n, what) in [
        (session.damaged, "damaged line"),
        (session.unreadable_usage, "unreadable usage report"),
    ] {
        if n > 0 {
            groups.push(vec![piece(number::counted(n, what), Tone::Warn)]);
        }
    }
    if let Some(words) = own_count(shown.label, shown.context, shown.limits.trigger) {
        groups.push(vec![piece(text::cut(&words, columns), Tone::Warn)]);
    }
    if let Some(warning) = unknown::warning(session) {
        groups.push(vec![piece(text::cut(&warning, columns / 2), Tone::Warn)]);
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![quiet("reading…")]);
    } else if shown.is_counting {
        groups.push(vec![quiet("counting")]);
    }
    let notice = groups::notice(session, page, columns);
    let warned = notice.is_some();
    groups.extend(notice);
    let mut window = groups::window(shown.limits);
    let before = groups.len();
    if low {
        if let Ok(forecast) = &page.forecast {
            groups.push(groups::next_requests(forecast, shown.nearness));
        }
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
    // The window is among the numbers too.
    let mut limits = [window, groups::trigger(shown.limits)];
    if warned {
        limits.reverse();
    }
    groups.extend(limits);
    let resets = page.state.resets as u64;
    if resets > 0 {
        groups.push(vec![quiet(number::counted(resets, "reset"))]);
    }
    let skipped = session.skipped.values();
    let skipped = skipped.fold(0u64, |a, b| a.saturating_add(*b));
    if skipped > 0 {
        let skipped = number::counted(skipped, "record");
        groups.push(vec![quiet(format!("{skipped} skipped"))]);
    }
    joined(groups, columns)
}
