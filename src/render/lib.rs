//! Numbers, ages, sources and log text as strings, in one rendering for screens and reports.
//!
//! These are pure functions from values of the model to strings. [`text`] makes log text safe to print; no log text
//! may reach a terminal or a report without it.

pub mod ascii;
pub mod clock;
pub mod excerpt;
pub mod inert;
pub mod item;
pub mod number;
pub mod own_count;
pub mod recurring;
pub mod sparkline;
pub mod text;
pub mod triggers;
pub mod unknown;

use model::event::{Cause, CauseSource};
use model::fleet::Live;
use model::session::PastReset;
use text::inert;

/// Shown instead of a value that is not known.
pub const NONE: &str = "—";

/// After a percentage of the window, where no trigger is known.
pub const OF_WINDOW: char = 'w';

/// The mark of a live session.
pub fn live_sign(live: Live) -> &'static str {
    match live {
        Live::Working => "●",
        Live::Waiting => "○",
        Live::Written => "·",
    }
}

/// The text, or [`NONE`].
pub fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}

/// What caused a compaction or clear, safe to print, with a note where a hook noted it.
pub fn cause(reset: &PastReset) -> String {
    let name = inert(reset.cause.name());
    let shown_by = match reset.cause {
        Cause::Idle => "a pause before it",
        Cause::ModelChange => "another hash",
        Cause::Background => "steps kept after it",
        _ => "",
    };
    if !shown_by.is_empty() && reset.cause_source == CauseSource::Log {
        return format!("{name}: {shown_by}");
    }
    match reset.cause_source {
        CauseSource::Hook => format!("{name}, hook"),
        CauseSource::Log | CauseSource::Inferred => name.to_string(),
    }
}
