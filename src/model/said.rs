//! What an agent itself says of its context: its own number for it, and its notices.
//!
//! A number of the agent's own is no usage report. It stands beside ours for as long as it tells of the
//! context at hand: until another request is reported, or a compaction or clear takes place.

use super::event::{Key, Usage};
use super::past::Standing;
use super::session::{Item, ItemIx, Session};
use super::{Kind, Source};

/// The agent's own number for its context, with what it is to be set beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The whole context, as the agent has it, in tokens.
    pub tokens: u64,
    /// The same context here, in tokens: what the provider reported of that request, else what was
    /// estimated before the agent said anything.
    pub ours: u64,
    /// How ours is known: reported, estimated, or [`Source::Agent`] where the gauge takes the agent's
    /// number and this is what it would show without.
    pub source: Source,
}

impl Said {
    /// How many tokens more the agent has than we have; below 0: less.
    pub fn difference(&self) -> i64 {
        let difference = i128::from(self.tokens) - i128::from(self.ours);
        i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
    }
}

/// The newest number that the agent has given, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// The request that it is of.
    pub(super) of: Key,
    /// Of the prompt, in tokens.
    pub(super) prompt: u64,
    /// Of the whole context.
    said: Said,
    /// Requests and resets by then.
    requests: usize,
    resets: usize,
    /// The record that told it.
    record: u32,
}

impl Session {
    /// Takes in the agent's own number, before anything is made of it.
    pub(super) fn hear(&mut self, usage: &Usage) {
        let said = Said {
            tokens: usage.prompt.saturating_add(usage.output.unwrap_or(0)),
            ours: self.calibrated_context().used,
            source: match self.anchor {
                Some(_) => Source::Estimated,
                None => Source::Agent,
            },
        };
        self.word = Some(Word {
            of: usage.request,
            prompt: usage.prompt,
            said,
            requests: self.requests.len(),
            resets: self.resets.len(),
            record: self.record(),
        });
    }

    /// The agent's own number, while it holds.
    pub fn said(&self) -> Option<Said> {
        let word = self.word?;
        let newer = self.requests.get(word.requests..)?;
        let holds = word.resets == self.resets.len() && newer.iter().all(|r| r.key == word.of);
        let reported = self.by_request.get(&word.of);
        let reported = reported.and_then(|ix| self.requests.get(*ix));
        holds.then_some(match reported {
            Some(request) => Said {
                ours: request.prompt,
                source: Source::Reported,
                ..word.said
            },
            None => word.said,
        })
    }

    /// The agent's newest notice among the first items: one that tells of the context as it then stood.
    pub(super) fn notice(&self, so_far: usize, standing: &Standing) -> Option<ItemIx> {
        let reset = (standing.resets as usize).checked_sub(1);
        let reset = reset.and_then(|ix| self.resets.get(ix));
        let after = reset.map_or(0, |reset| reset.record);
        let items = self.items.get(..so_far)?.iter().enumerate().rev();
        let mut since = items.take_while(|(_, item)| item.record > after);
        let (ix, notice) = since.find(|(_, item)| item.is_notice())?;
        // What the agent said of itself later takes its place.
        let outdated = self.past.word_at(standing) > notice.record;
        (!outdated).then_some(ix)
    }

    /// The record of the agent's newest number; 0: it has given none.
    pub(super) fn word_record(&self) -> u32 {
        self.word.map_or(0, |word| word.record)
    }
}

impl Item {
    /// Whether it is a notice: something that the agent tells people of its context, and no model.
    pub fn is_notice(&self) -> bool {
        let left = self.left.map(|left| left.record);
        let gone = self.away.first().map(|away| away.gone).or(left);
        self.kind == Kind::Reminder && gone == Some(self.record)
    }
}
