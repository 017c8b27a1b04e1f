//! The provider's prompt cache: whether it still has the newest prompt, and what the next request costs.
//!
//! A provider reads the part of a prompt that it has seen a short time ago for a tenth of its price. That time counts from the
//! start of the newest request, and each request renews it. Another model has a cache of its own; after a compaction nothing but
//! the prefix is the same, which is read all the same within that time.

use crate::Role;
use crate::history::{Request, RequestIx};
use crate::lists::gauge::SessionGauge;
use crate::lists::summary::CacheFacts;
use crate::session::Session;
use crate::values::cache_clock::{CacheReliability, was_warm};
use crate::window::{ModelAt, Rules};
use jiff::{SignedDuration, Timestamp};
use strum::IntoStaticStr;

/// The time for which a prompt is kept, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// At least.
    pub seconds: u32,
    /// At most.
    pub most: u32,
    /// The way in which this is known.
    pub source: LifeSource,
}

/// The way in which the life of a prompt is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LifeSource {
    /// It is in the log.
    Log,
    /// The agent's client said it.
    Client,
    /// The provider promises it.
    #[strum(serialize = "model table")]
    ModelTable,
}

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

impl LifeSource {
    /// Returns the source's name, as screens and reports write it.
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

/// Returns the time for which the prompts of a model are kept. `logged` is the time in the log, in minutes.
pub(super) fn cache_life(rules: &Rules, model: Option<&str>, logged: Option<u8>) -> Option<Life> {
    if let Some(minutes) = logged.filter(|minutes| *minutes > 0) {
        let seconds = u32::from(minutes) * 60;
        return Some(Life {
            seconds,
            most: seconds,
            source: LifeSource::Log,
        });
    }
    rules.cache_of(model?).map(|row| Life {
        seconds: row.seconds,
        most: row.most(),
        source: LifeSource::ModelTable,
    })
}

impl SessionGauge {
    /// Returns the cache of the newest prompt; `None`: nothing was answered yet, or nothing is known of how long it is
    /// kept.
    pub fn prompt_cache(&self) -> Option<PromptCache> {
        let CacheFacts {
            sent,
            minutes,
            is_steady,
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
        })
    }

    /// Returns the cost of the next request for its prompt as it is now. Without the prompt before it, the cache has the
    /// prefix for some time after a compaction.
    pub fn next_prompt(&self, now: Timestamp) -> NextPrompt {
        let used = self.context.used;
        let cached = self.prompts.last().copied().unwrap_or(0).min(used);
        let cache = self.prompt_cache();
        let kept_seconds = cache.map_or(0, |cache| cache.life.seconds);
        let prefix = match cache.filter(|cache| cache.keeps_prefix(now)) {
            Some(_) => self.context.role(Role::System).tokens.min(used),
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

/// The state of the cache before a request, predicted from the requests before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachePoint {
    /// The request.
    pub request: RequestIx,
    /// True if its prompt was predicted to be in the cache; `None`: it could be either.
    pub predicted: Option<bool>,
    /// True if it was in the cache.
    pub was_warm: bool,
}

/// The relation of a prompt to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// It goes on with it, with the same model.
    Same,
    /// The context was compacted or cleared: the prefix is the same, no larger than this prompt.
    Compacted(u64),
    /// Another model is asked.
    AnotherModel,
}

/// A request after another one, and how its prompt goes on with that one's.
struct ContinuedPrompt<'s> {
    relation: Relation,
    request: &'s Request,
    ix: RequestIx,
    before: &'s Request,
    /// The seconds before it in which nothing was sent.
    pause: u64,
    /// The time for which the prompt before it was kept.
    life: Life,
}

impl ContinuedPrompt<'_> {
    /// Returns true if the prompt before it, or what is left of it, was read from the cache.
    fn was_warm(&self) -> bool {
        let cached = self.request.cached;
        match self.relation {
            Relation::Compacted(smallest) => cached as f64 >= smallest as f64 * PREFIX_SHARE,
            _ => was_warm(self.before.prompt, self.request.prompt, cached),
        }
    }

    /// Returns true if it was to be in the cache, by the life of the prompt before it; `None`: it can be either.
    fn is_predicted(&self, is_steady: bool) -> Option<bool> {
        match self.pause {
            _ if self.relation == Relation::AnotherModel => Some(false),
            pause if pause < self.life.seconds.into() && is_steady => Some(true),
            pause if pause >= self.life.most.into() => Some(false),
            _ => None,
        }
    }
}

/// The least share of the session's smallest prompt that is read from the cache after a compaction, if its prefix is
/// there: 0.4 to 0.8 in 17 real compactions. Less is what sessions share.
const PREFIX_SHARE: f64 = 0.3;

/// Returns the requests whose cache can be predicted from those before them.
fn continued(session: &Session) -> impl Iterator<Item = ContinuedPrompt<'_>> {
    let requests = session.requests();
    let mut next_reset = session.resets().iter().peekable();
    // Mostly the same as of the request before.
    let (mut known, mut smallest) = (None, u64::MAX);
    (1..requests.len()).filter_map(move |ix| {
        let (before, request) = (&requests[ix - 1], &requests[ix]);
        smallest = smallest.min(before.prompt);
        while next_reset.next_if(|reset| reset.request < ix).is_some() {}
        let is_reset = next_reset.peek().is_some_and(|reset| reset.request == ix);
        let (model, next_model) = (before.model.as_ref(), request.model.as_ref());
        let relation = match is_reset {
            _ if model != next_model => Relation::AnotherModel,
            true => Relation::Compacted(smallest.min(request.prompt)),
            false => Relation::Same,
        };
        let (since, minutes) = before.sent();
        let pause = request.sent().0?.duration_since(since?).as_secs();
        let life = match &known {
            Some((of, logged, life)) if (*of, *logged) == (model, minutes) => *life,
            _ => {
                let life = cache_life(session.rules(), model.map(|id| &**id), Some(minutes));
                known = Some((model, minutes, life));
                life
            }
        }?;
        Some(ContinuedPrompt {
            relation,
            pause: u64::try_from(pause).ok()?,
            request,
            ix,
            before,
            life,
        })
    })
}

/// Predicts the state of the cache for each request from those before it, where the log shows what it was: a session of which
/// nothing was ever cached shows nothing.
pub fn backtest(session: &Session) -> Vec<CachePoint> {
    if !session.requests().iter().any(|request| request.cached > 0) {
        return Vec::new();
    }
    let mut steadiness = CacheReliability::default();
    let points = continued(session).map(|it| {
        let (is_steady, was_warm) = (steadiness.is_steady(), it.was_warm());
        if it.relation == Relation::Same {
            steadiness.add(it.pause, was_warm);
        }
        CachePoint {
            request: it.ix,
            predicted: it.is_predicted(is_steady),
            was_warm,
        }
    });
    points.collect()
}

#[cfg(test)]
pub(super) mod tests;
