//! Replays other policies over a session: where each would have compacted, and how much the requests would have
//! carried.
//!
//! The session's own growth is replayed under each rule. A request's prompt grows by the same amount, whatever had been
//! dropped before; after a compaction that only the rule makes, the context is the prefix, what the rule keeps, and a
//! summary. Where the real agent compacted by itself, the others go on with their own size. Compactions by hand and
//! clears, which the user made, take place under every rule.
//!
//! The session's own rule compares the agent's own count with its trigger, the others the context.
//!
//! It leaves out effects that cannot be known: an agent that had forgotten more would have read things again.

mod bill;
mod course;
pub mod now;
mod smaller;
#[cfg(test)]
mod tests;

pub use smaller::{SmallerRun, SmallerWindows, TRIED, smaller_windows};

use crate::history::{ItemIx, RequestIx, SizedItem};
use crate::outlook::compaction::sizes;
use crate::session::Session;
use crate::window::custom::Rule;
use crate::window::{LimitInputs, Limits, Overrides, Policy, Rules, TriggerSource};
use crate::{LeaveReason, Source};
use bill::Bill;
use course::{Change, GrowthHistory};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// One rule, and what it would have made of the session.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The owner of the rule.
    pub whose: RuleOwner,
    /// The name of the rule.
    pub policy: String,
    /// The size at which it compacts; `None`: it does not go by size.
    pub trigger: Option<u64>,
    /// Its compactions, in order.
    pub compactions: Vec<RuleCompaction>,
    /// The largest the context got, in tokens.
    pub largest: u64,
    /// All prompts together, in tokens: what the requests carried.
    pub prompts: u64,
    /// Their cost and that of its compactions in US dollars by list price, as if each prompt found the one before it in the
    /// cache; `None`: a model has no price.
    pub usd: Option<f64>,
    /// The first request that would not have fitted the window.
    pub over: Option<RequestIx>,
}

/// The owner of the rule of a row of [`what_if`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOwner {
    /// None: what did take place.
    Real,
    /// The session's own.
    Own,
    /// The session's own, in a smaller window.
    Smaller,
    /// This agent's, as it is today.
    Agent(String),
    /// Any framework's.
    Generic,
}

impl RuleOwner {
    /// Returns its name, as reports write it; for an agent its id.
    pub fn name(&self) -> &str {
        match self {
            RuleOwner::Real => "real",
            RuleOwner::Own => "own",
            RuleOwner::Smaller => "smaller window",
            RuleOwner::Agent(id) => id,
            RuleOwner::Generic => "generic",
        }
    }
}

/// One compaction of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleCompaction {
    /// The first request after it.
    #[serde(rename = "call")]
    pub request: RequestIx,
    /// The size before, in tokens.
    pub before: u64,
    /// The size after, its summary included.
    pub after: u64,
}

impl WhatIf {
    /// Returns the tokens that its compactions took out, less what they put in.
    pub fn dropped(&self) -> u64 {
        let dropped = |done: &RuleCompaction| done.before.saturating_sub(done.after);
        let all = self.compactions.iter().map(dropped);
        all.fold(0, u64::saturating_add)
    }
}

/// Returns the rules side by side, over the first `requests` requests: what was real, the session's own rule, that of
/// every agent that compacts by size, and generic ones.
pub fn what_if(session: &Session, requests: RequestIx) -> Vec<WhatIf> {
    let course = GrowthHistory::of(session, requests, &BTreeSet::new());
    let limits = limits(session, course.requests);
    let usual = Overrides::default();
    let seen = seen(session, course.requests, &usual);
    let rules = session.rules();
    let window = limits.window;
    let mut rows = vec![
        real(session, &course, window),
        own(session, &course, &limits, &seen),
    ];
    rows.extend(smaller::rows(session, &course, &limits));
    rows.extend(rules.policies_today(&seen, window).filter_map(|policy| {
        let trigger = policy.trigger(window, &usual)?;
        if policy.agent == session.agent && limits.trigger == Some(trigger) {
            return None;
        }
        let rule = ReplayedRule {
            fires: FiringRule::At(trigger),
            keeps: RetentionRule::Policy(policy, rules.summary_of(policy)),
        };
        let whose = RuleOwner::Agent(policy.agent.clone());
        Some(course.run(window, whose, policy.name.clone(), rule))
    }));
    rows.extend(GENERIC.map(|rule| {
        let replayed = generic(rule, window, rules);
        course.run(window, RuleOwner::Generic, rule.name(), replayed)
    }));
    rows
}

/// Returns the result of the session's own rule over the first `requests` requests, had these items never come.
pub fn what_if_without(session: &Session, requests: RequestIx, items: &BTreeSet<ItemIx>) -> WhatIf {
    let course = GrowthHistory::of(session, requests, items);
    let limits = limits(session, course.requests);
    let usual = Overrides::default();
    let seen = seen(session, course.requests, &usual);
    let row = own(session, &course, &limits, &seen);
    WhatIf {
        policy: format!("without {} marked", items.len()),
        ..row
    }
}

/// Rules of frameworks and of no agent, to compare the others with.
const GENERIC: [Rule; 5] = [
    Rule::Share(0.95),
    Rule::Share(1.0),
    Rule::Share(0.5),
    Rule::Messages { keep: 20, over: 5 },
    Rule::Never,
];

/// Returns the size of the context without some of its items: tokens freed, tokens left of `used`.
pub fn without(
    context: impl IntoIterator<Item = SizedItem>,
    marked: &BTreeSet<ItemIx>,
    used: u64,
) -> (u64, u64) {
    let marked = context.into_iter().filter(|(ix, ..)| marked.contains(ix));
    let freed = marked.fold(0_u64, |sum, (_, tokens, _)| sum.saturating_add(tokens));
    (freed, used.saturating_sub(freed))
}

/// A rule to be replayed.
struct ReplayedRule<'p> {
    fires: FiringRule,
    keeps: RetentionRule<'p>,
}

enum FiringRule {
    Never,
    /// It compacts at this size.
    At(u64),
    /// It compacts at more than this many messages.
    Messages(usize),
}

/// The content that a rule leaves in the context, besides the prefix.
enum RetentionRule<'p> {
    /// All together has this size, which it had in the session itself.
    Learned(u64),
    /// The content that a policy keeps, and a summary of this size.
    Policy(&'p Policy, u64),
    /// A summary of this size.
    Summary(u64),
    /// This many messages stay, and a summary of this size.
    Messages(usize, u64),
    /// As much stays as fits.
    AtMost(u64),
}

impl GrowthHistory<'_> {
    /// Returns the course under a rule.
    fn run(&self, window: u64, whose: RuleOwner, policy: String, rule: ReplayedRule<'_>) -> WhatIf {
        let (mut size, mut user, mut counted) = (0_u64, 0_u64, 0_u64);
        // Those in the context.
        let mut messages = 0..0;
        let mut row = WhatIf {
            whose,
            policy,
            trigger: match rule.fires {
                FiringRule::At(trigger) => Some(trigger),
                FiringRule::Never | FiringRule::Messages(_) => None,
            },
            compactions: Vec::new(),
            largest: 0,
            prompts: 0,
            usd: None,
            over: None,
        };
        let mut bill = Bill::new(&self.prices);
        for (ix, step) in self.steps.iter().enumerate() {
            match step.change {
                Change::By(grown) => size = size.saturating_add_signed(grown),
                Change::To(left) => {
                    (size, user, counted) = (left, 0, 0);
                    messages.start = messages.end;
                    bill.forget(self.prefix);
                }
            }
            user = user.saturating_add(step.user);
            messages.end = step.messages;
            row.largest = row.largest.max(size);
            if row.whose == RuleOwner::Own {
                counted = counted.saturating_add(step.counted);
            }
            let fires = match rule.fires {
                FiringRule::Never => false,
                FiringRule::At(trigger) => size.saturating_add(counted) >= trigger,
                FiringRule::Messages(most) => messages.len() > most,
            };
            if fires {
                let after = self.after(&rule.keeps, size, user, &mut messages);
                if after < size {
                    bill.compaction(ix, size, self.prefix);
                    row.compactions.push(RuleCompaction {
                        request: ix,
                        before: size,
                        after,
                    });
                    (size, counted) = (after, 0);
                }
            }
            if ix < self.requests {
                row.prompts = row.prompts.saturating_add(size);
                bill.prompt(ix, size);
                if size > window {
                    row.over.get_or_insert(ix);
                }
            }
        }
        row.usd = bill.usd;
        row
    }

    /// Returns the size after a compaction.
    fn after(
        &self,
        keeps: &RetentionRule<'_>,
        size: u64,
        user: u64,
        messages: &mut Range<usize>,
    ) -> u64 {
        let history = size.saturating_sub(self.prefix);
        let (kept, summary) = match keeps {
            RetentionRule::Learned(after) => return *after,
            RetentionRule::AtMost(most) => return *most,
            RetentionRule::Summary(summary) => (0, *summary),
            RetentionRule::Policy(policy, summary) => (policy.kept(history, user), *summary),
            RetentionRule::Messages(keep, summary) => {
                messages.start = messages.start.max(messages.end.saturating_sub(*keep));
                let kept = self.messages.get(messages.clone()).unwrap_or_default();
                let kept = kept.iter().copied().fold(0, u64::saturating_add);
                (kept.min(history), *summary)
            }
        };
        self.prefix.saturating_add(kept).saturating_add(summary)
    }
}

fn limits(session: &Session, requests: RequestIx) -> Limits {
    match requests.checked_sub(1) {
        Some(last) if requests < session.requests().len() => session.limits_as_of(last),
        _ => session.limits(),
    }
}

/// Returns a session to look up rules for: as its agent works today, whatever its version was.
fn seen<'s>(
    session: &'s Session,
    requests: RequestIx,
    overrides: &'s Overrides,
) -> LimitInputs<'s> {
    let last = requests.checked_sub(1).map(|ix| &session.requests()[ix]);
    let model = last.map_or(session.model(), |last| last.model.as_deref());
    LimitInputs {
        provider: model.and_then(|id| session.model_at(id).provider),
        session: session.meta.id.as_deref(),
        ..LimitInputs::new(session.agent, model, overrides)
    }
}

/// Returns the real course of the session.
fn real(session: &Session, course: &GrowthHistory<'_>, window: u64) -> WhatIf {
    let reported = session.requests().iter().take(course.requests);
    let is_live = course.requests == session.requests().len();
    let within = 1..course.requests + usize::from(is_live);
    let resets = session.resets().iter().enumerate();
    let compactions: Vec<RuleCompaction> = resets
        .filter(|(_, reset)| {
            reset.gone == LeaveReason::Compaction && within.contains(&reset.request)
        })
        .map(|(ix, reset)| RuleCompaction {
            request: reset.request,
            before: reset.before,
            after: sizes(session, ix)
                .after
                .map_or(reset.before, |(after, _)| after),
        })
        .collect();
    let prompts = reported.clone().map(|request| request.prompt);
    let before = compactions.iter().map(|done| done.before);
    WhatIf {
        whose: RuleOwner::Real,
        policy: "as it was".to_owned(),
        trigger: None,
        largest: prompts.clone().chain(before).max().unwrap_or(0),
        prompts: prompts.fold(0, u64::saturating_add),
        usd: real_usd(session, course),
        over: reported.clone().position(|request| request.prompt > window),
        compactions,
    }
}

/// Returns the cost of the real course, as the cost of the others is computed.
fn real_usd(session: &Session, course: &GrowthHistory<'_>) -> Option<f64> {
    let mut bill = Bill::new(&course.prices);
    let mut resets = session.resets().iter().peekable();
    for (ix, request) in session.requests().iter().take(course.requests).enumerate() {
        while let Some(reset) = resets.next_if(|reset| reset.request <= ix) {
            match reset.gone {
                LeaveReason::Compaction if ix > 0 => {
                    bill.compaction(ix, reset.before, course.prefix)
                }
                _ => bill.forget(course.prefix),
            }
        }
        bill.prompt(ix, request.prompt);
    }
    bill.usd
}

/// Returns what a compaction of the session's own rule leaves.
fn kept_by_own_rule<'s>(
    session: &'s Session,
    course: &GrowthHistory<'_>,
    limits: &Limits,
    seen: &LimitInputs<'_>,
) -> RetentionRule<'s> {
    let rules = session.rules();
    if let Some(rule) = rules.custom.rule(seen) {
        return generic(rule, limits.window, rules).keeps;
    }
    let policy = rules
        .policy
        .iter()
        .find(|policy| policy.agent == session.agent && policy.name == limits.policy);
    let mut past: Vec<u64> = session
        .resets()
        .iter()
        .filter(|reset| reset.is_automatic() && reset.request < course.requests)
        .filter(|reset| reset.after_source == Source::Reported)
        .filter_map(|reset| reset.after)
        .collect();
    past.sort_unstable();
    match (past.get(past.len() / 2), policy) {
        (Some(median), _) => RetentionRule::Learned(*median),
        (None, Some(policy)) => RetentionRule::Policy(policy, rules.summary_of(policy)),
        (None, None) => RetentionRule::Summary(rules.summary),
    }
}

/// Returns the session's own rule; its own past compactions show what stays better than the table does.
fn own(
    session: &Session,
    course: &GrowthHistory<'_>,
    limits: &Limits,
    seen: &LimitInputs<'_>,
) -> WhatIf {
    let rules = session.rules();
    let keeps = kept_by_own_rule(session, course, limits, seen);
    let rule = match rules.custom.rule(seen) {
        Some(rule) => generic(rule, limits.window, rules),
        None => ReplayedRule {
            fires: match (limits.trigger, limits.trigger_source) {
                (Some(trigger), _) => FiringRule::At(trigger),
                // Full is full, unless it was switched off.
                (
                    None,
                    TriggerSource::None | TriggerSource::Refused | TriggerSource::Contradicted,
                ) => FiringRule::At(limits.window),
                (None, _) => FiringRule::Never,
            },
            keeps,
        },
    };
    let name = match (limits.trigger_source, limits.policy.as_str()) {
        (source @ TriggerSource::Past, _) => source.name(),
        (_, "") => "at the limit",
        (_, name) => name,
    };
    course.run(limits.window, RuleOwner::Own, name.to_owned(), rule)
}

/// Returns a rule of the user or of no agent. It leaves a summary, unless it keeps something else.
fn generic(rule: Rule, window: u64, rules: &Rules) -> ReplayedRule<'static> {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let trigger = rule.trigger(window);
    let by_size = trigger.map_or(FiringRule::Never, FiringRule::At);
    let (fires, keeps) = match rule {
        Rule::Messages { keep, over } => (
            FiringRule::Messages(count(keep.saturating_add(over))),
            RetentionRule::Messages(count(keep), rules.summary),
        ),
        Rule::DropOldest(_) => (by_size, RetentionRule::AtMost(trigger.unwrap_or(window))),
        Rule::Share(_) | Rule::Budget(_) | Rule::Never => {
            (by_size, RetentionRule::Summary(rules.summary))
        }
    };
    ReplayedRule { fires, keeps }
}
