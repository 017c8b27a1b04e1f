//! Reads Claude Code's statement about its own context. Our plugin passes it as an event of its own.
//!
//! The interface that it comes from changes between releases. What does not look as it was seen in 2.1.331 is left out as a
//! whole: nothing is said rather than something wrong.

use crate::client_record::RecordedCompaction;
use crate::fields::{object, tokens, window, word};
use model::values::names::at_most;
use serde_json::{Map, Value};

/// The event's name.
pub(super) const EVENT: &str = "CtxgaugeContext";
/// The most parts that are taken, and the longest name of one, in characters.
const MOST_PARTS: usize = 32;
const LONGEST_NAME: usize = 40;

/// A client's statement about its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientContext {
    /// The size at which it compacts by itself.
    pub compaction: RecordedCompaction,
    /// Its size, in tokens, as the client estimates it.
    pub tokens: u64,
    /// The parts of that by name, in tokens.
    pub parts: Vec<(String, u64)>,
}

/// Reads it; `None`: it is not as it was seen.
pub(super) fn read(fields: &Map<String, Value>) -> Option<ClientContext> {
    let breakdown = object(fields, "breakdown")?;
    let window = window(fields, "window")?;
    let categories = breakdown.get("categories")?.as_array()?;
    let categories: Vec<_> = categories.iter().map(category).collect::<Option<_>>()?;
    let compaction = match (
        breakdown.get("isAutoCompactEnabled")?.as_bool()?,
        tokens(breakdown, "autoCompactThreshold"),
    ) {
        (false, _) => RecordedCompaction::Off,
        // It names a size where nothing fires at one too, but keeps no room free for a summary then.
        (true, Some(_)) if !categories.iter().any(|(kind, _)| kind == "buffer") => {
            RecordedCompaction::WhenRefused
        }
        (true, Some(at)) if at > 0 && at <= window => RecordedCompaction::At(at),
        _ => return None,
    };
    let used = categories.into_iter();
    let used = used.filter(|(kind, (_, tokens))| kind == "used" && *tokens > 0);
    Some(ClientContext {
        compaction,
        tokens: tokens(breakdown, "totalTokens")?,
        parts: used.take(MOST_PARTS).map(|(_, part)| part).collect(),
    })
}

/// Returns the kind of a category, and the part of the context that it is.
fn category(value: &Value) -> Option<(String, (String, u64))> {
    let fields = value.as_object()?;
    let name = at_most(&word(fields, "name")?, LONGEST_NAME);
    Some((word(fields, "kind")?, (name, tokens(fields, "tokens")?)))
}
