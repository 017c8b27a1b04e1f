//! Computes from the requests of a session what its provider's prompt cache did: how often its state was predicted
//! wrongly, and which part of a prompt is read after a compaction.

use crate::history::{Request, RequestIx};
use crate::session::{Coverage, Session};
use crate::values::cache_clock::{CacheReliability, was_warm};
use crate::window::{CacheMisses, Rules};
use serde::{Deserialize, Serialize};
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

impl LifeSource {
    /// Returns the source's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Returns the time for which the prompts of a model are kept. `logged` is the time in the log, in minutes.
pub(crate) fn cache_life(rules: &Rules, model: Option<&str>, logged: Option<u8>) -> Option<Life> {
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

/// Returns the seconds between two requests in which nothing was sent and nothing renewed the cache; `None`: the log does
/// not show them.
pub(crate) fn pause(session: &Session, before: &Request, request: &Request) -> Option<u64> {
    let (since, sent) = (before.sent().0?, request.sent().0?);
    let since = since.max(session.cache_clock.renewed(sent).unwrap_or(since));
    u64::try_from(sent.duration_since(since).as_secs()).ok()
}

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
        let minutes = before.sent().1;
        let pause = pause(session, before, request)?;
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
            pause,
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
    judged(session).map(|(_, point)| point).collect()
}

/// Returns each request whose cache can be predicted, with the prediction.
fn judged(session: &Session) -> impl Iterator<Item = (ContinuedPrompt<'_>, CachePoint)> {
    let mut steadiness = CacheReliability::default();
    continued(session).map(move |it| {
        let (is_steady, was_warm) = (steadiness.is_steady(), it.was_warm());
        if it.relation == Relation::Same {
            steadiness.add(it.pause, was_warm);
        }
        let point = CachePoint {
            request: it.ix,
            predicted: it.is_predicted(is_steady),
            was_warm,
        };
        (it, point)
    })
}

/// A summary of what a session has shown of its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct CacheHistory {
    /// How often its cache was predicted wrongly.
    pub(crate) misses: CacheMisses,
    /// The tokens that were read after the newest compaction within the cache's time, or are likely to be read after the
    /// first; `None`: nothing shows it.
    pub(crate) prefix: Option<u64>,
}

impl CacheHistory {
    /// Returns what the first so many requests have shown.
    pub(crate) fn of(session: &Session, requests: usize) -> CacheHistory {
        let mut seen = CacheHistory {
            prefix: first_prefix(session).filter(|_| requests > 0),
            ..CacheHistory::default()
        };
        let judged = judged(session).take_while(|(it, _)| it.ix < requests);
        for (it, point) in judged {
            if point.predicted == Some(true) {
                seen.misses.predicted += 1;
                seen.misses.lost += u32::from(!point.was_warm);
            }
            if matches!(it.relation, Relation::Compacted(_)) && point.was_warm {
                seen.prefix = Some(it.request.cached);
            }
        }
        seen
    }
}

/// Returns the tokens that are likely to be read after a session's first compaction. They are more than its first request
/// read, which was what sessions share, and less than that whole prompt, which had the user's first message. What was read in
/// 11 sessions was 0.7 to 1.5 times the middle between the two, 1.0 times in the median.
fn first_prefix(session: &Session) -> Option<u64> {
    let is_whole = session.coverage == Coverage::Whole;
    let first = session.requests().first().filter(|_| is_whole)?;
    (first.cached > 0).then(|| first.cached.midpoint(first.prompt.max(first.cached)))
}
