//! Keeps the time at which the newest request of a session was sent, and the time for which the provider keeps its
//! prompt in a cache.

use crate::event::Usage;
use jiff::Timestamp;

/// The minutes of an hour.
const HOUR: u8 = 60;
/// Every provider that keeps prompts keeps them for this long, in seconds.
const ALWAYS: u32 = 60;
/// The share of the prompt before that a warm request reads from the cache at least. What is read after the time is over is the
/// prefix that sessions share.
const WARM_SHARE: f64 = 0.5;
/// The factor by which each new request reduces the weight of those before it.
const FADING: f32 = 0.9;
/// The weight of requests that were not seen and found their prompt.
const PRIOR: f32 = 6.0;
/// From this share of lost prompts on, a provider is not relied on. Of Claude's, 0.5 % were lost, of a relay's with several
/// servers 18 %.
const UNSTEADY: f32 = 0.15;

/// The share of prompts that a provider should have had in its cache and did not have: a relay may ask another server
/// each time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CacheReliability {
    tries: f32,
    lost: f32,
}

impl CacheReliability {
    /// Adds a request so many seconds after the one before, whose prompt it goes on with.
    pub(crate) fn add(&mut self, pause: u64, was_warm: bool) {
        if pause < ALWAYS.into() {
            self.tries = self.tries * FADING + 1.0;
            self.lost = self.lost * FADING + f32::from(u8::from(!was_warm));
        }
    }

    /// Returns true if the provider keeps prompts for as long as it promises.
    pub(crate) fn is_steady(self) -> bool {
        self.lost < (self.tries + PRIOR) * UNSTEADY
    }
}

/// Returns true if a prompt was read from the cache as far as it repeats the prompt before. All numbers are in tokens.
pub(crate) fn was_warm(before: u64, prompt: u64, cached: u64) -> bool {
    cached as f64 >= before.min(prompt) as f64 * WARM_SHARE
}

/// The times at which requests are sent, as their log shows them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheClock {
    /// The time at which the next request was sent, or at which the record that it answers was written.
    next: Option<Timestamp>,
    /// The minutes for which the provider keeps its prompt, by a record of it.
    next_minutes: Option<u8>,
    /// The time at which the newest answered request was sent.
    newest: Option<Timestamp>,
    /// The minutes for which the provider keeps its prompt.
    minutes: Option<u8>,
    /// Its prompt, in tokens; `None`: the next one does not go on with it.
    prompt: Option<u64>,
    /// The times from which on the provider kept a prompt anew, without a request of the conversation.
    renewals: Vec<Timestamp>,
    /// True if anything was ever read from the cache.
    pub(crate) has_cache: bool,
    steadiness: CacheReliability,
}

impl CacheClock {
    /// Returns the time at which the newest request was sent, and the minutes for which its prompt is kept, where the
    /// log has them.
    pub(crate) fn newest(&self) -> Option<(Timestamp, Option<u8>)> {
        Some((self.newest?, self.minutes))
    }

    /// Returns true if the provider keeps prompts for as long as it promises.
    pub(crate) fn is_steady(&self) -> bool {
        self.steadiness.is_steady()
    }

    /// Notes that the next prompt does not go on with the newest one.
    pub(crate) fn forget_prompt(&mut self) {
        self.prompt = None;
    }

    /// Notes that a record that the next request answers was written.
    pub(crate) fn note_written(&mut self, at: Option<Timestamp>) {
        (self.next, self.next_minutes) = (at.or(self.next), None);
    }

    /// Notes that the next request is sent.
    pub(crate) fn note_requested(&mut self, at: Option<Timestamp>, cache_minutes: Option<u8>) {
        (self.next, self.next_minutes) = (at.or(self.next), cache_minutes);
    }

    /// Notes that the provider keeps the newest prompt from this time on.
    pub(crate) fn renew(&mut self, at: Option<Timestamp>) {
        if self.newest.is_some() && self.newest < at {
            self.newest = at;
            self.renewals.extend(at);
        }
    }

    /// Returns the last time until then from which on the provider kept a prompt anew.
    pub(crate) fn renewed(&self, until: Timestamp) -> Option<Timestamp> {
        let before = self.renewals.partition_point(|at| *at <= until);
        self.renewals[..before].last().copied()
    }

    /// Takes in that a request was answered. Returns the seconds between the request and its logged answer, and the minutes
    /// for which the provider keeps its prompt; 0: not known. A clock that goes backwards shows nothing: the time of the
    /// answer counts.
    pub(crate) fn sent(&mut self, usage: &Usage, at: Option<Timestamp>) -> (u16, u8) {
        let billed = usage.billed;
        let by_bill = match (billed.cache_creation_hour, billed.cache_creation) {
            (0, 0) => self.minutes,
            (0, _) => None,
            _ => Some(HOUR),
        };
        let next = self
            .next
            .take()
            .filter(|next| at.is_none_or(|at| *next <= at));
        let sent = next.or(at);
        if let (Some(before), Some(since), Some(sent)) = (self.prompt, self.newest, sent)
            && let Ok(pause) = u64::try_from(sent.duration_since(since).as_secs())
            && self.has_cache
        {
            let was_warm = was_warm(before, usage.prompt, usage.cached);
            self.steadiness.add(pause, was_warm);
        }
        self.has_cache |= usage.cached > 0 || billed.cache_creation > 0;
        self.prompt = Some(usage.prompt);
        self.newest = sent.or(self.newest);
        self.minutes = self.next_minutes.take().or(by_bill);
        let seconds = sent
            .zip(at)
            .map_or(0, |(sent, at)| at.duration_since(sent).as_secs());
        let seconds = u16::try_from(seconds).unwrap_or(u16::MAX);
        (seconds, self.minutes.unwrap_or(0))
    }
}
