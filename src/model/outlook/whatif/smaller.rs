//! The session with a smaller window for its compactions, as its agent would compact in it.

use super::course::GrowthHistory;
use super::{FiringRule, ReplayedRule, RetentionRule, RuleOwner, WhatIf};
use super::{kept_by_own_rule, limits, real, seen};
use crate::history::RequestIx;
use crate::session::Session;
use crate::window::{LimitInputs, Overrides};
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
        if own.window < LARGE {
            return None;
        }
        let trigger = trigger(session, requests, *window)?;
        if trigger >= own.trigger.unwrap_or(own.window) {
            return None;
        }
        let usual = Overrides::default();
        let seen = seen(session, requests, &usual);
        let keeps = || kept_by_own_rule(session, &course, &own, &seen);
        let first = row(&course, own.window, trigger, keeps());
        let left = first
            .compactions
            .first()
            .map_or(course.prefix, |done| done.after);
        let history = left.saturating_sub(course.prefix);
        let with = |history| {
            let after = course.prefix.saturating_add(history);
            row(&course, own.window, trigger, RetentionRule::Learned(after))
        };
        Some(SmallerRun {
            window: *window,
            usual: first,
            least_kept: with(history / 2),
            most_kept: with(history.saturating_mul(2)),
        })
    };
    SmallerWindows {
        real: real(session, &course, own.window),
        smaller: windows.iter().filter_map(run).collect(),
    }
}

/// Returns the rows of a session's own rule in smaller windows.
pub(super) fn rows(
    session: &Session,
    requests: RequestIx,
    course: &GrowthHistory<'_>,
) -> Vec<WhatIf> {
    let own = limits(session, requests);
    if own.window < LARGE {
        return Vec::new();
    }
    let usual = Overrides::default();
    let seen = seen(session, requests, &usual);
    let row = |window| {
        let trigger = trigger(session, requests, window)?;
        let is_smaller = trigger < own.trigger.unwrap_or(own.window);
        let keeps = kept_by_own_rule(session, course, &own, &seen);
        is_smaller.then(|| WhatIf {
            policy: format!("with a window of {}k for compaction", window / 1_000),
            ..row(course, own.window, trigger, keeps)
        })
    };
    TRIED.into_iter().filter_map(row).collect()
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
fn trigger(session: &Session, requests: RequestIx, window: u64) -> Option<u64> {
    let usual = Overrides::default();
    let seen: LimitInputs<'_> = seen(session, requests, &usual);
    let policy = session.rules().policies_today(&seen, window);
    let mut own = policy.filter(|policy| policy.agent == session.agent);
    let set = Overrides {
        compact_window: Some(window),
        ..Overrides::default()
    };
    own.next()?.trigger(window, &set)
}
