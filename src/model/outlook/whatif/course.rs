//! Computes the growth of a session: the tokens that were added between its requests, whatever was dropped meanwhile.

use super::bill::CoursePrices;
use crate::event::Key;
use crate::history::{Coverage, Departure, ItemIx, PastReset, RequestIx};
use crate::session::Session;
use crate::session::own_count::Counts;
use crate::{Kind, LeaveReason, Role};
use std::collections::{BTreeSet, HashMap};

/// The growth of a session.
pub(super) struct GrowthHistory<'s> {
    /// The prices of its requests.
    pub(super) prices: CoursePrices<'s>,
    /// One for each request, and one more where a compaction came after the last.
    pub(super) steps: Vec<CourseStep>,
    /// Tokens of the messages that were added, by step, the oldest of each first.
    pub(super) messages: Vec<u64>,
    pub(super) requests: RequestIx,
    /// The tokens that come back after every compaction: the system prompt, memory files, tool lists.
    pub(super) prefix: u64,
}

/// The growth between two requests.
#[derive(Debug, Default)]
pub(super) struct CourseStep {
    pub(super) change: Change,
    /// The end of the messages that were added among those of all steps.
    pub(super) messages: usize,
    /// The user's part of them.
    pub(super) user: u64,
    /// Tokens that the agent's own count gained beside: reasoning that became that of an earlier turn.
    pub(super) counted: u64,
}

#[derive(Debug)]
pub(super) enum Change {
    /// The context grew, or shrank, by this many tokens.
    By(i64),
    /// The user emptied it, and it went on from this size.
    To(u64),
}

impl Default for Change {
    fn default() -> Change {
        Change::By(0)
    }
}

impl<'s> GrowthHistory<'s> {
    /// Returns the course of the first `requests` requests, as if `without` had not come.
    pub(super) fn of(
        session: &'s Session,
        requests: RequestIx,
        without: &BTreeSet<ItemIx>,
    ) -> GrowthHistory<'s> {
        let requests = requests.min(session.requests().len());
        let reported = session.requests().iter().take(requests);
        let mut steps: Vec<CourseStep> = Vec::with_capacity(requests + 1);
        let mut resets = session.resets().iter().peekable();
        let mut last = 0;
        let mut add = |change| {
            steps.push(CourseStep {
                change,
                ..CourseStep::default()
            });
        };
        for (ix, request) in reported.enumerate() {
            add(match first_of(&mut resets, ix) {
                // The size before the beginning of the log is not known.
                Some(reset) if ix == 0 || !reset.is_automatic() => Change::To(request.prompt),
                Some(reset) => Change::By(difference(reset.before.max(last), last)),
                None => Change::By(difference(request.prompt, last)),
            });
            last = request.prompt;
        }
        if requests == session.requests().len()
            && let Some(reset) = first_of(&mut resets, requests)
            && reset.is_automatic()
        {
            add(Change::By(difference(reset.before.max(last), last)));
        }
        let messages = fill_messages(session, &mut steps, without);
        fill_counted(session, &mut steps[..requests]);
        for ix in without {
            take_out(session, *ix, &mut steps[..requests]);
        }
        GrowthHistory {
            prices: CoursePrices::of(session, requests),
            steps,
            messages,
            requests,
            prefix: prefix(session, requests, without),
        }
    }
}

/// Returns the first reset between the request before this one and this one; the others there are passed over.
fn first_of<'r>(
    resets: &mut std::iter::Peekable<impl Iterator<Item = &'r PastReset>>,
    request: RequestIx,
) -> Option<&'r PastReset> {
    let mut first: Option<&PastReset> = None;
    while let Some(reset) = resets.next_if(|reset| reset.request <= request) {
        // A reset by the user outweighs one by the agent.
        if first.is_none_or(|first| first.is_automatic() && !reset.is_automatic()) {
            first = Some(reset);
        }
    }
    first
}

fn difference(now: u64, before: u64) -> i64 {
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    signed(now).saturating_sub(signed(before))
}

/// Takes an item out of what was added. A compaction of the agent's own is no step; whatever else made the item leave is
/// one.
fn take_out(session: &Session, ix: ItemIx, steps: &mut [CourseStep]) {
    let Some(item) = session.items().get(ix) else {
        return;
    };
    let tokens = session.tokens(ix).0;
    let signed = i64::try_from(tokens).unwrap_or(i64::MAX);
    let compacted =
        |left: &Departure| matches!(left.why, LeaveReason::Compaction | LeaveReason::Clear);
    let left = item.left.filter(|left| !compacted(left));
    for (request, step) in steps.iter_mut().enumerate() {
        match &mut step.change {
            Change::To(size) if item.held_by(request) => *size = size.saturating_sub(tokens),
            Change::By(grown) if item.entered == Some(request) => {
                *grown = grown.saturating_sub(signed);
            }
            Change::By(grown) if left.is_some_and(|left| left.request == request) => {
                *grown = grown.saturating_add(signed);
            }
            _ => {}
        }
    }
}

/// Adds what the agent's own count gained besides the prompts.
fn fill_counted(session: &Session, steps: &mut [CourseStep]) {
    let counts = Counts::until(session, steps.len());
    let reported = counts.prompts.iter().zip(session.requests());
    let mut before = 0;
    for (step, (counted, request)) in steps.iter_mut().zip(reported) {
        let beside = counted.saturating_sub(request.prompt);
        step.counted = beside.saturating_sub(before);
        before = beside;
    }
}

/// A message, and the step that added it.
struct Message {
    step: usize,
    tokens: u64,
}

/// Returns the messages by step, and notes in each step where its own end. A message is a response, or a record of any
/// other role; what the harness adds belongs to no message.
fn fill_messages(
    session: &Session,
    steps: &mut [CourseStep],
    without: &BTreeSet<ItemIx>,
) -> Vec<u64> {
    // In the order in which they begin.
    let mut messages: Vec<Message> = Vec::new();
    let mut responses: HashMap<Key, usize> = HashMap::new();
    let mut last = None;
    for (ix, item) in session.items().iter().enumerate() {
        let Some(entered) = item.entered.filter(|at| *at < steps.len()) else {
            continue;
        };
        if matches!(item.role, Role::System | Role::Container) || without.contains(&ix) {
            continue;
        }
        let tokens = session.tokens(ix).0;
        if item.role == Role::User {
            let step = &mut steps[entered];
            step.user = step.user.saturating_add(tokens);
        }
        // A response's lines may have results of its calls between them; a record's items have nothing.
        let new = messages.len();
        let message = match item.output_of {
            Some(response) => *responses.entry(response).or_insert(new),
            None => match last {
                Some((node, message)) if node == item.node => message,
                _ => new,
            },
        };
        if item.output_of.is_none() {
            last = Some((item.node, message));
        }
        if message == new {
            let step = entered;
            messages.push(Message { step, tokens: 0 });
        }
        let message = &mut messages[message];
        message.tokens = message.tokens.saturating_add(tokens);
    }
    messages.sort_by_key(|message| message.step);
    for message in &messages {
        steps[message.step].messages += 1;
    }
    let mut end = 0;
    for step in steps {
        end += step.messages;
        step.messages = end;
    }
    messages.into_iter().map(|message| message.tokens).collect()
}

/// Returns the tokens that every epoch begins with: what no log shows, and what the harness puts in. The least that was
/// seen: some epochs begin with restored files and such as well.
fn prefix(session: &Session, requests: RequestIx, without: &BTreeSet<ItemIx>) -> u64 {
    let resets = session.resets().iter().map(|reset| reset.request);
    let first = (session.coverage == Coverage::Whole).then_some(0);
    let mut firsts: Vec<RequestIx> = first.into_iter().chain(resets).collect();
    firsts.dedup();
    firsts.retain(|ix| *ix < requests && session.requests()[*ix].generation.is_some());
    // An item may be held by many of them: each is added where it comes and taken off where it goes.
    let mut changes = vec![0_i128; firsts.len() + 1];
    for (ix, item) in session.items().iter().enumerate() {
        let returns = matches!(item.role, Role::System | Role::Container);
        if !returns || item.kind == Kind::Summary || without.contains(&ix) {
            continue;
        }
        let tokens = i128::from(session.tokens(ix).0);
        for span in item.spans_held(requests) {
            let at = |request| firsts.partition_point(|first| *first < request);
            changes[at(span.start)] += tokens;
            changes[at(span.end)] -= tokens;
        }
    }
    let mut held = 0;
    let sums = firsts.iter().zip(changes).map(|(first, change)| {
        held += change;
        let system = session.requests()[*first].system;
        system.saturating_add(u64::try_from(held).unwrap_or(0))
    });
    let least = sums.min();
    least.unwrap_or_else(|| {
        let rules = session.rules();
        rules.usual_prefix(session.agent, session.model(), 0)
    })
}
