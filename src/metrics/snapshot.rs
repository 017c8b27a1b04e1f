//! The numbers of the sessions at one moment.

use crate::labels::{Labels, Naming};
use crate::own::OwnNumbers;
use jiff::Timestamp;
use model::cost::counts::SessionCounts;
use model::lists::sessions::{SessionKey, Sessions};
use model::outlook::forecast::Band;
use model::session::Coverage;
use model::session::context::Context;
use model::values::token_usage::TokenUsage;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

/// The time after a session's last record from which on it has no series any more. A store then ends them.
pub const LEAVES_AFTER: Duration = Duration::from_secs(600);
/// The most sessions that have series. A log can list any number of them, and a store takes memory for each.
pub const MOST_SESSIONS: usize = 2_000;

/// The numbers of a session.
#[derive(Debug, Clone)]
pub struct SessionNumbers {
    /// Its labels.
    pub labels: Labels,
    /// The size of its context.
    pub context: Context,
    /// The trigger; `None`: none is known.
    pub trigger: Option<u64>,
    /// The window.
    pub window: u64,
    /// The forecast of the requests that are left; `None`: there is none.
    pub requests_left: Option<Band>,
    /// The time since its newest record.
    pub age: Duration,
    /// Requests so far.
    pub requests: u64,
    /// Records that could not be read.
    pub unreadable: u64,
    /// The counts of what it has done; `None`: not all of its log was read, and these and other counts would be too small.
    pub counts: Option<SessionCounts>,
    /// The usage that its provider has counted; `None`: as there.
    pub usage: Option<TokenUsage>,
}

/// The numbers of all sessions that have series, and of the program.
#[derive(Debug)]
pub struct Snapshot {
    /// The sessions, the newest first.
    pub sessions: Vec<SessionNumbers>,
    /// The numbers of the program.
    pub own: OwnNumbers,
}

/// Returns the sessions that have series, the newest first, and the number of those for which there is no room. Little is
/// computed for that, since the sessions are locked meanwhile.
pub(crate) fn listed(sessions: &Sessions, now: Timestamp, most: usize) -> (Vec<SessionKey>, usize) {
    let active = sessions.activities().filter_map(|(key, active)| {
        let active = active?;
        (age(active, now) <= LEAVES_AFTER).then_some((Reverse(active), key))
    });
    let mut active: Vec<_> = active.collect();
    active.sort_unstable();
    let omitted = active.len().saturating_sub(most);
    active.truncate(most);
    (active.into_iter().map(|(_, key)| key).collect(), omitted)
}

/// Returns the numbers of a session; `None`: nothing is known of it, or lists leave it out.
pub(crate) fn numbers(
    sessions: &Sessions,
    key: SessionKey,
    naming: &Naming,
    now: Timestamp,
    taken: &mut HashSet<String>,
) -> Option<SessionNumbers> {
    let gauge = sessions.gauge(key)?;
    if gauge.coverage == Coverage::Unread || sessions.is_remnant(key) {
        return None;
    }
    let limits = gauge.limits();
    let spending = gauge.spending.as_ref();
    Some(SessionNumbers {
        labels: naming.labels(sessions, key, taken)?,
        context: gauge.context,
        trigger: limits.trigger,
        window: limits.window,
        requests_left: gauge.forecast(now).ok().map(|forecast| forecast.requests),
        age: age(sessions.activity_of(key)?, now),
        requests: gauge.requests as u64,
        unreadable: gauge.unreadable,
        counts: gauge.counts,
        usage: spending.map(|spending| spending.all.spent),
    })
}

/// Returns the time since then. A record of the future, by a clock that goes wrong, is one of now.
fn age(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(at)).unwrap_or_default()
}
