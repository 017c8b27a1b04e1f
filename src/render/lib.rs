//! Numbers, ages, sources and log text as strings, in one rendering for screens and reports.
//!
//! These are pure functions from values of the model to strings. [`text`] makes log text safe to print; no log text
//! may reach a terminal or a report without it.

pub mod ascii;
pub mod calls;
pub mod clock;
pub mod excerpt;
pub mod finding;
pub mod inert;
pub mod item;
pub mod jump;
pub mod number;
pub mod own_count;
pub mod plan;
pub mod rebuild;
pub mod recurring;
pub mod shell;
pub mod sparkline;
pub mod spending;
pub mod stack;
pub mod sure;
pub mod text;
pub mod triggers;
pub mod unknown;

use model::event::{Cause, CauseSource};
use model::lists::sessions::Activity;
use model::session::{PastReset, Session};
use text::inert;

/// Shown instead of a value that is not known.
pub const NONE: &str = "—";

/// After a percentage of the window, where no trigger is known.
pub const OF_WINDOW: char = 'w';

/// Returns the mark of a live session.
pub fn live_sign(live: Activity) -> &'static str {
    match live {
        Activity::Working => "●",
        Activity::Waiting => "○",
        Activity::Written => "·",
    }
}

/// Returns the text, or [`NONE`].
pub fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}

/// Returns the cause of a compaction or clear and its source, safe to print. A manual one after a long pause may be a
/// resume from a summary: the log has the same for both.
pub fn cause(session: &Session, reset: &PastReset) -> String {
    let name = inert(reset.cause.name());
    if reset.cause == Cause::Manual
        && let Some(pause) = pause_before(session, reset)
    {
        return format!("{name} after {}", number::age(pause));
    }
    let shown_by = match reset.cause {
        Cause::Idle => "a pause before it",
        Cause::ModelChange => "another hash",
        Cause::Background => "steps kept after it",
        Cause::Beforehand => "its record",
        Cause::TurnEnd => "an answer",
        _ => "",
    };
    match reset.cause_source {
        CauseSource::Hook => format!("{name}, hook"),
        CauseSource::Log if !shown_by.is_empty() => format!("{name}: {shown_by}"),
        CauseSource::Log | CauseSource::Inferred => name.to_string(),
    }
}

/// Returns the time for which nobody typed before a reset, in seconds, if it is at least the time after which Claude
/// Code 2.1.332 offers to resume a session from a summary.
fn pause_before(session: &Session, reset: &PastReset) -> Option<i64> {
    let last = session.requests().get(reset.request.checked_sub(1)?)?;
    let pause = reset.at?.duration_since(last.at?).as_secs();
    (pause >= RESUME_PAUSE).then_some(pause)
}

/// In seconds.
const RESUME_PAUSE: i64 = 70 * 60;
