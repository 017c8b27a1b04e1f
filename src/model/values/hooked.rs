//! Compactions as hooks of the agent noted them: what their logs may lack.

use crate::event::Cause;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The largest difference between the clocks of a log and of its hooks: both are this machine's, but one time is of the
/// beginning of a write and the other of the end.
const CLOCKS: SignedDuration = SignedDuration::from_secs(1);
/// A compaction takes no longer than this.
const LONGEST: SignedDuration = SignedDuration::from_mins(15);

/// A compaction that hooks were run for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookedCompaction {
    /// The time at which the hook before it ran.
    pub at: Timestamp,
    /// The time at which the hook after it ran.
    pub ended: Option<Timestamp>,
    /// The cause of the compaction.
    pub cause: Cause,
    /// The size before it, in tokens, if the agent passed it to the hook: its own estimate.
    pub before: Option<u64>,
    /// The size after it, in tokens, as counted here.
    pub after: Option<u64>,
}

impl HookedCompaction {
    /// Returns true if it took place. Hooks that run before a compaction may run for none.
    pub fn is_done(&self) -> bool {
        self.ended.is_some() || self.before.is_some()
    }

    fn can_be(&self, reset: Timestamp) -> bool {
        let began = reset.duration_since(self.at);
        let is_over = self
            .ended
            .is_some_and(|ended| reset.duration_since(ended) > CLOCKS);
        began >= -CLOCKS && began <= LONGEST && !is_over
    }
}

/// Returns the compaction among these, oldest first, that a log has at this time; `since`: when the log has the one
/// before.
pub fn find(
    hooked: &[HookedCompaction],
    since: Option<Timestamp>,
    at: Timestamp,
) -> Option<&HookedCompaction> {
    let of_it = hooked.iter().rev().find(|hooked| hooked.can_be(at))?;
    since.is_none_or(|since| of_it.at > since).then_some(of_it)
}

/// Returns those that took place and are not in a log that has compactions at these times.
pub fn unlogged<'h>(hooked: &'h [HookedCompaction], at: &[Timestamp]) -> Vec<&'h HookedCompaction> {
    let is_logged = |hooked: &HookedCompaction| at.iter().any(|at| hooked.can_be(*at));
    let done = hooked.iter().filter(|hooked| hooked.is_done());
    done.filter(|hooked| !is_logged(hooked)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn hooked(second: i64, ended: Option<i64>, cause: Cause) -> HookedCompaction {
        HookedCompaction {
            at: at(second),
            ended: ended.map(at),
            cause,
            before: None,
            after: None,
        }
    }

    #[test]
    fn a_compaction_is_the_last_that_began_before_it() {
        let all = [
            hooked(10, None, Cause::Automatic),
            hooked(50, None, Cause::Manual),
            hooked(90, None, Cause::Automatic),
        ];
        let cause = |since: Option<i64>, second| {
            find(&all, since.map(at), at(second)).map(|hooked| hooked.cause.name().to_owned())
        };
        assert_eq!(cause(None, 60).as_deref(), Some("manual"));
        assert_eq!(cause(None, 91).as_deref(), Some("auto"));
        assert_eq!(cause(Some(61), 62), None, "it was of the reset before");
        assert_eq!(cause(None, 5), None);
        assert_eq!(cause(None, 90 + 3600), None);
    }

    #[test]
    fn what_has_ended_is_no_later_reset() {
        let all = [hooked(10, Some(20), Cause::Manual)];
        assert!(find(&all, None, at(20)).is_some());
        assert!(find(&all, None, at(30)).is_none());
    }

    #[test]
    fn what_no_log_has_is_named_if_it_took_place() {
        let with_size = HookedCompaction {
            before: Some(170_000),
            ..hooked(50, None, Cause::Automatic)
        };
        let all = [hooked(10, None, Cause::Automatic), with_size.clone()];
        assert_eq!(unlogged(&all, &[]), [&with_size]);
    }
}
