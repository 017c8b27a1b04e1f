//! An agent's own numbers for its context.
//!
//! A number of the agent's own is no usage report. It is shown beside ours for as long as it is about
//! the present context: until another request is reported, or a compaction or clear takes place.

use crate::Source;
use crate::event::{Key, Usage};
use crate::sizes::attribution::Attribution;

/// The agent's own number for its context, and ours to compare it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentEstimate {
    /// The agent's number for the whole context, in tokens.
    pub tokens: u64,
    /// Our number for the same context, in tokens: the prompt that the provider reported for that
    /// request, else what was estimated before the agent's number was read.
    pub ours: u64,
    /// The source of our number: reported, estimated, or [`Source::Agent`] where the gauge shows the agent's number and
    /// this is what it would show without.
    pub source: Source,
}

impl AgentEstimate {
    /// Returns the agent's number less ours, in tokens.
    pub fn difference(&self) -> i64 {
        let difference = i128::from(self.tokens) - i128::from(self.ours);
        i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
    }
}

/// The newest number that the agent logged, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoggedEstimate {
    /// The request that it is about.
    pub(crate) request: Key,
    /// The agent's number for the prompt, in tokens.
    prompt: u64,
    /// The agent's number for the whole context.
    estimate: AgentEstimate,
    /// The part of it that no item explains, in tokens.
    pub(crate) unexplained: u64,
    /// Requests and resets by then.
    requests: usize,
    resets: usize,
    /// Its record.
    pub(crate) record: u32,
}

impl LoggedEstimate {
    /// Compares the agent's number with ours, which is `used` tokens, `logged` of them in items.
    pub(crate) fn new(
        usage: &Usage,
        used: u64,
        logged: u64,
        attribution: &Attribution,
    ) -> LoggedEstimate {
        let tokens = usage.prompt.saturating_add(usage.output.unwrap_or(0));
        LoggedEstimate {
            request: usage.request,
            prompt: usage.prompt,
            estimate: AgentEstimate {
                tokens,
                ours: used,
                source: match attribution.anchor() {
                    Some(_) => Source::Estimated,
                    None => Source::Agent,
                },
            },
            unexplained: tokens.saturating_sub(logged),
            requests: attribution.requests().len(),
            resets: attribution.resets().len(),
            record: attribution.items().record,
        }
    }

    /// Returns the agent's number for the prompt of this request, in tokens, if it is about that one.
    pub(crate) fn prompt_of(&self, request: Key) -> Option<u64> {
        (self.request == request).then_some(self.prompt)
    }

    /// Returns the agent's number, if it is about the present context.
    pub(crate) fn current(&self, attribution: &Attribution) -> Option<AgentEstimate> {
        let requests = attribution.requests();
        if self.requests > requests.len() {
            return None;
        }
        let mut newer = requests.iter().skip(self.requests);
        let is_current = self.resets == attribution.resets().len()
            && newer.all(|request| request.key() == self.request);
        let reported = attribution
            .request_of(self.request)
            .and_then(|ix| attribution.requests().get(ix));
        is_current.then_some(match reported {
            Some(request) => AgentEstimate {
                ours: request.prompt,
                source: Source::Reported,
                ..self.estimate
            },
            None => self.estimate,
        })
    }
}
