//! Draws the limits of the numbers: the records that could not be read, the agent's warnings, the sources of window and
//! trigger.

use super::{NARROW_COLUMNS, SessionNumbers};
use crate::app::{Page, layout};
use crate::paint::{Pieces, Tone, joined, joined_width, piece, quiet};
use crate::views::groups;
use crate::views::roles::ROWS_WITH_REPEATS;
use model::LeaveReason;
use model::session::{Coverage, Session};
use render::own_count::own_count;
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
    if let Some(words) = own_count(shown.label, shown.context, shown.limits.trigger) {
        groups.push(vec![piece(text::cut(&words, columns), Tone::Warn)]);
    }
    if let Some(warning) = unknown::warning(session) {
        groups.push(vec![piece(text::cut(&warning, columns / 2), Tone::Warn)]);
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![quiet("reading")]);
    } else if shown.is_counting {
        groups.push(vec![quiet("counting")]);
    }
    let notice = groups::notice(session, page, columns);
    let warned = notice.is_some();
    groups.extend(notice);
    let mut window = groups::window(shown.limits);
    let before = groups.len();
    if low {
        let without_marked = groups::without_marked(page);
        if let (Ok(forecast), None) = (&page.forecast, &without_marked) {
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
    groups.extend(limits);
    groups.push(resets(session, page));
    joined(groups, columns)
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
