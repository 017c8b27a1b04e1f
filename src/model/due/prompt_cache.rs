//! The provider's prompt cache: whether it still has the newest prompt, and what the next request costs.
//!
//! A provider reads the part of a prompt that it has seen a short time ago for a tenth of its price. That time counts from the
//! start of the newest request, and each request renews it. Another model has a cache of its own; after a compaction nothing but
//! the prefix is the same, which is read all the same within that time.

use crate::Role;
use crate::cost::cache_history::{Life, LifeSource, cache_life};
use crate::lists::gauge::SessionGauge;
use crate::lists::summary::CacheFacts;
use crate::window::{CacheMisses, ModelAt};
use jiff::{SignedDuration, Timestamp};
use strum::IntoStaticStr;

/// The state of the newest prompt in the provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    /// The provider has it, until then.
    Warm(Timestamp),
    /// The provider may have it: it need not keep it any more, and will not have it after this time.
    Open(Timestamp),
    /// The provider does not have it, since then.
    Cold(Timestamp, MissReason),
}

/// The reason for which a prompt is not in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum MissReason {
    /// Its time is over.
    Expired,
    /// The context was compacted or cleared.
    Compacted,
    /// Another model answers next.
    ModelChange,
}

impl CacheState {
    /// Returns one word for it.
    pub fn word(self) -> &'static str {
        match self {
            CacheState::Warm(_) => "warm",
            CacheState::Open(_) => "unknown",
            CacheState::Cold(..) => "cold",
        }
    }

    /// Returns the time until which the provider has the prompt or, of [`CacheState::Open`], until which it may have
    /// it.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            CacheState::Warm(until) | CacheState::Open(until) => Some(until),
            CacheState::Cold(..) => None,
        }
    }

    /// Returns the time since which it no longer has the prompt.
    pub fn since(self) -> Option<Timestamp> {
        match self {
            CacheState::Cold(since, _) => Some(since),
            CacheState::Warm(_) | CacheState::Open(_) => None,
        }
    }

    /// Returns the reason for which the prompt is no longer in the cache; `None`: it is, or may be.
    pub fn lost(self) -> Option<MissReason> {
        match self {
            CacheState::Cold(_, why) => Some(why),
            CacheState::Warm(_) | CacheState::Open(_) => None,
        }
    }
}

impl MissReason {
    /// Returns the reason, as reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The cache of a session's newest prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptCache {
    /// The time at which the newest request was sent.
    pub sent: Timestamp,
    /// The time for which its prompt is kept.
    pub life: Life,
    /// The time since which the next prompt is another one, and the reason.
    lost: Option<(Timestamp, MissReason)>,
    /// True if the provider has kept prompts for as long as it promises.
    is_steady: bool,
    /// How often a prompt of this session was predicted to be in the cache and was not.
    pub here: CacheMisses,
    /// How often that was so in other sessions of its agent; `None`: not known.
    pub elsewhere: Option<CacheMisses>,
}

impl PromptCache {
    /// Returns true if a prompt was compacted, and the provider still has the prefix that stays.
    fn keeps_prefix(&self, now: Timestamp) -> bool {
        matches!(self.lost, Some((_, MissReason::Compacted)))
            && now < after(self.sent, self.life.seconds)
            && self.is_steady
    }

    /// Returns the state of the prompt in the provider's cache at this time. A time before the request is one by a
    /// clock that was set back.
    pub fn state(&self, now: Timestamp) -> CacheState {
        let [until, gone] = [self.life.seconds, self.life.most].map(|life| after(self.sent, life));
        match self.lost {
            Some((since, why)) => CacheState::Cold(since, why),
            None if now < until && self.is_steady => CacheState::Warm(until),
            None if now < gone => CacheState::Open(gone),
            None => CacheState::Cold(gone, MissReason::Expired),
        }
    }
}

/// Returns the time so many seconds later.
fn after(at: Timestamp, seconds: u32) -> Timestamp {
    at.saturating_add(SignedDuration::from_secs(seconds.into()))
        .unwrap_or(at)
}

impl SessionGauge {
    /// Returns the cache of the newest prompt; `None`: nothing was answered yet, or nothing is known of how long it is
    /// kept.
    pub fn prompt_cache(&self) -> Option<PromptCache> {
        let CacheFacts {
            sent,
            minutes,
            is_steady,
            seen,
        } = self.cache?;
        let life = cache_life(self.rules(), self.model(), minutes);
        let said = self.said();
        let by_client = said.and_then(|said| {
            let until = said.cache_until?;
            let seconds = u32::try_from(until.duration_since(sent).as_secs()).ok()?;
            Some(Life {
                seconds,
                most: seconds,
                source: LifeSource::Client,
            })
        });
        // The client's statement may be about an earlier request.
        let life = match (life, by_client) {
            (Some(life), Some(said)) if life.seconds >= said.seconds => life,
            (_, Some(said)) => said,
            (life, None) => life?,
        };
        let reset = self.newest_reset.filter(|reset| !reset.is_reported);
        let reset = reset.map(|reset| (reset.at.unwrap_or(sent), MissReason::Compacted));
        let changed = said
            .filter(|said| said.changed_to(self.model(), Some(sent)).is_some())
            .and_then(|said| Some((said.since?, MissReason::ModelChange)));
        Some(PromptCache {
            sent,
            life,
            lost: reset.or(changed),
            is_steady,
            here: seen.misses,
            elsewhere: self.rules().misses.get(self.agent).copied(),
        })
    }

    /// Returns the tokens that are read from the cache after a compaction within its time: as measured in this session, or
    /// the system prompt and the tools.
    fn likely_prefix(&self) -> u64 {
        let measured = self.cache.and_then(|cache| cache.seen.prefix);
        measured.unwrap_or(self.context.role(Role::System).tokens)
    }

    /// Returns the cost of the next request for its prompt as it is now. Without the prompt before it, the cache has the
    /// prefix for some time after a compaction.
    pub fn next_prompt(&self, now: Timestamp) -> NextPrompt {
        let used = self.context.used;
        let cached = self.prompts.last().copied().unwrap_or(0).min(used);
        let cache = self.prompt_cache();
        let kept_seconds = cache.map_or(0, |cache| cache.life.seconds);
        let prefix = match cache.filter(|cache| cache.keeps_prefix(now)) {
            Some(_) => self.likely_prefix().min(used),
            None => 0,
        };
        let provider = self.meta.provider.as_deref();
        let at = |model| ModelAt { model, provider };
        let row = self
            .model()
            .and_then(|model| self.rules().price_of(at(model)));
        let usd = |read: u64| row?.prompt_usd(used, read, kept_seconds);
        NextPrompt {
            warm: Prompt {
                written: used - cached,
                usd: usd(cached),
            },
            cold: Prompt {
                written: used - prefix,
                usd: usd(prefix),
            },
        }
    }
}

/// The next prompt, with and without the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextPrompt {
    /// The provider has the prompt before it.
    pub warm: Prompt,
    /// It has nothing of it but, for some time after a compaction, the prefix.
    pub cold: Prompt,
}

/// The cost of a prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prompt {
    /// Tokens that are read anew.
    pub written: u64,
    /// US dollars by list price, without the answer; `None`: not known.
    pub usd: Option<f64>,
}

#[cfg(test)]
mod tests;
