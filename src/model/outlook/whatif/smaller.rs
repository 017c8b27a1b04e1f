//! The session with a smaller window for its compactions, as its agent would compact in it.

use super::course::GrowthHistory;
use super::{FiringRule, ReplayedRule, RetentionRule, RuleOwner, WhatIf};
use super::{kept_by_own_rule, limits, real, seen};
use crate::session::Session;
use crate::window::{LimitInputs, Limits, Overrides};
use std::collections::BTreeSet;

/// The course of a session, and its courses in smaller windows.
pub struct SmallerWindows {
    /// The one that it had.
    pub real: WhatIf,
    /// The others, by window.
    pub smaller: Vec<SmallerRun>,
}

/// The course in a smaller window. What its compactions leave is not known, so there are three runs.
pub struct SmallerRun {
    /// The window, in tokens.
    pub window: u64,
    /// The compactions leave what is usual.
    pub usual: WhatIf,
    /// They leave half of it.
    pub least_kept: WhatIf,
    /// They leave twice as much.
    pub most_kept: WhatIf,
}

/// Returns what the whole session would have been in these windows. Windows that are no smaller than its own are left
/// out, and so are all of them where its own is not large.
pub fn smaller_windows(session: &Session, windows: &[u64]) -> SmallerWindows {
    let requests = session.requests().len();
    let course = GrowthHistory::of(session, requests, &BTreeSet::new());
    let own = limits(session, requests);
    let run = |window: &u64| {
        let usual = in_window(session, &course, &own, *window)?;
        let trigger = usual.trigger?;
        let first = usual.compactions.first();
        let left = first.map_or(course.prefix, |done| done.after);
        let history = left.saturating_sub(course.prefix);
        let with = |history| {
            let after = course.prefix.saturating_add(history);
            row(&course, own.window, trigger, RetentionRule::Learned(after))
        };
        Some(SmallerRun {
            window: *window,
            usual,
            least_kept: with(history / 2),
            most_kept: with(history.saturating_mul(2)),
        })
    };
    SmallerWindows {
        real: real(session, &course, own.window),
        smaller: windows.iter().filter_map(run).collect(),
    }
}

/// Returns the rows of a session's own rule in smaller windows. `own` are its limits.
pub(super) fn rows(session: &Session, course: &GrowthHistory<'_>, own: &Limits) -> Vec<WhatIf> {
    let row = |window| {
        let row = in_window(session, course, own, window)?;
        let policy = format!("with a window of {}k for compaction", window / 1_000);
        Some(WhatIf { policy, ..row })
    };
    TRIED.into_iter().filter_map(row).collect()
}

/// Returns the course by a session's own rule in a smaller window; `None`: its own is not large, or the rule would not
/// compact sooner, or is not known.
fn in_window(
    session: &Session,
    course: &GrowthHistory<'_>,
    own: &Limits,
    window: u64,
) -> Option<WhatIf> {
    if own.window < LARGE {
        return None;
    }
    let usual = Overrides::default();
    let seen = seen(session, course.requests, &usual);
    let trigger = trigger(session, &seen, window)?;
    if trigger >= own.trigger.unwrap_or(own.window) {
        return None;
    }
    let keeps = kept_by_own_rule(session, course, own, &seen);
    Some(row(course, own.window, trigger, keeps))
}

/// The windows that are tried, in tokens.
pub const TRIED: [u64; 2] = [200_000, 256_000];
/// Windows below this are not compared with smaller ones.
const LARGE: u64 = 500_000;

fn row(course: &GrowthHistory<'_>, window: u64, trigger: u64, keeps: RetentionRule<'_>) -> WhatIf {
    let rule = ReplayedRule {
        fires: FiringRule::At(trigger),
        keeps,
    };
    course.run(window, RuleOwner::Smaller, String::new(), rule)
}

/// Returns the size at which the session's agent compacts if it takes the window for so large; `None`: no rule of the
/// agent is known.
fn trigger(session: &Session, seen: &LimitInputs<'_>, window: u64) -> Option<u64> {
    let policy = session.rules().policies_today(seen, window);
    let mut own = policy.filter(|policy| policy.agent == session.agent);
    let set = Overrides {
        compact_window: Some(window),
        ..Overrides::default()
    };
    own.next()?.trigger(window, &set)
}
