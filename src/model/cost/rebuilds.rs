//! Rebuilt caches: requests for which the provider read tokens anew that it had kept in its cache.

use crate::cost::cache_history::{Life, cache_life, pause};
use crate::event::{CacheMiss, MissCause};
use crate::history::{Request, RequestIx};
use crate::session::Session;
use crate::values::token_usage::TokenUsage;
use crate::window::PriceRow;
use jiff::Timestamp;

/// Without a logged cause, a rebuild read at most this share of the prompt before from the cache.
const KEPT_SHARE: f64 = 0.6;
/// Without a logged cause, a rebuild read at least so many tokens anew.
const LEAST: u64 = 30_000;
/// A logged cause of fewer tokens concerns the end of the prompt only, which each request writes anew.
const LEAST_LOGGED: u64 = 4_000;

/// A request for which tokens were read anew that had been in the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuild {
    /// The request.
    pub request: RequestIx,
    /// The seconds before it in which nothing was sent; `None`: the log does not show them.
    pub pause: Option<u64>,
    /// True if the pause was at least as long as the provider keeps a prompt.
    pub is_expired: bool,
    /// The tokens that were read anew: the provider's own number where the log has one.
    pub tokens: u64,
    /// The cause.
    pub cause: RebuildCause,
    /// The extra cost over reading them from the cache, in US dollars by list price; `None`: not known.
    pub usd: Option<f64>,
    /// The tools that were added and removed before it, by the agent's client; 0: not known.
    pub tools: [u64; 2],
}

/// The cause of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuildCause {
    /// The provider logged it.
    Logged(MissCause),
    /// The time for which the provider keeps a prompt was over.
    Expired,
    /// Another model answered than before.
    ModelSwitched,
    /// Nothing shows it.
    NotStated,
}

impl RebuildCause {
    /// Returns its name, as reports write it.
    pub fn name(&self) -> &str {
        match self {
            RebuildCause::Logged(cause) => cause.name(),
            RebuildCause::Expired => "expired",
            RebuildCause::ModelSwitched => "model_switched",
            RebuildCause::NotStated => "not_stated",
        }
    }

    /// Returns true if the log has it.
    pub fn is_logged(&self) -> bool {
        matches!(self, RebuildCause::Logged(_))
    }
}

/// Looks for rebuilds among the requests of a session. The newest rows of the tables are kept: mostly all requests are of one
/// model.
struct Finder<'s> {
    session: &'s Session,
    life: Option<(Option<&'s str>, u8, Option<Life>)>,
    price: Option<(&'s str, Option<&'s PriceRow>)>,
    /// The first request that used a cache, once it was looked for.
    first_cached: Option<Option<RequestIx>>,
}

impl<'s> Finder<'s> {
    fn new(session: &'s Session) -> Finder<'s> {
        Finder {
            session,
            life: None,
            price: None,
            first_cached: None,
        }
    }

    /// Returns the rebuild that a request was; `None`: it was none.
    fn at(&mut self, ix: RequestIx) -> Option<Rebuild> {
        let requests = self.session.requests();
        let request = &requests[ix];
        if request.is_inherited || !request.source.is_known() {
            return None;
        }
        let before = ix.checked_sub(1).map(|before| &requests[before]);
        match (&request.miss, before) {
            (Some(miss), _) => logged(self, ix, before, miss),
            (None, Some(before)) => unlogged(self, ix, before),
            _ => None,
        }
    }

    /// Returns true if the context was compacted or cleared just before a request.
    fn is_after_reset(&self, ix: RequestIx) -> bool {
        let resets = self.session.resets();
        let next = resets.partition_point(|reset| reset.request < ix);
        resets.get(next).is_some_and(|reset| reset.request == ix)
    }

    /// Returns true if a request before this one used a cache.
    fn is_caching(&mut self, ix: RequestIx) -> bool {
        let requests = self.session.requests();
        let first = self.first_cached.get_or_insert_with(|| {
            let mut all = requests.iter();
            all.position(|request| request.cached > 0 || request.billed.cache_creation > 0)
        });
        first.is_some_and(|first| first < ix)
    }

    /// Returns the time for which the prompt of a request is kept.
    fn life(&mut self, of: &'s Request) -> Option<Life> {
        let (model, minutes) = (of.model.as_deref(), of.sent().1);
        match self.life {
            Some((known, logged, life)) if (known, logged) == (model, minutes) => life,
            _ => {
                let life = cache_life(self.session.rules(), model, Some(minutes));
                self.life = Some((model, minutes, life));
                life
            }
        }
    }

    fn price(&mut self, model: &'s str) -> Option<&'s PriceRow> {
        match self.price {
            Some((known, price)) if known == model => price,
            _ => {
                let session = self.session;
                let price = session.rules().price_of(session.model_at(model));
                self.price = Some((model, price));
                price
            }
        }
    }
}

/// Returns the rebuilds of a session, in order.
pub fn rebuilds(session: &Session) -> Vec<Rebuild> {
    let mut finder = Finder::new(session);
    let all = 0..session.requests().len();
    all.filter_map(|ix| finder.at(ix)).collect()
}

/// Returns the rebuild that the newest request was; `None`: it was none. Where the log does not have the cause, the agent's
/// client may.
pub fn newest(session: &Session) -> Option<Rebuild> {
    let last = session.requests().len().checked_sub(1)?;
    let request = &session.requests()[last];
    let mut finder = Finder::new(session);
    let found = finder.at(last);
    let is_of_it = |at: Timestamp| request.sent().0.is_some_and(|sent| at >= sent);
    let miss = session.said().and_then(|said| said.miss.as_ref());
    let Some(miss) = miss.filter(|miss| miss.at.is_some_and(is_of_it)) else {
        return found;
    };
    let said = miss.causes.first();
    let said = said.map(|word| RebuildCause::Logged(MissCause::named(word)));
    let rebuild = match (found, said) {
        (Some(found), Some(cause)) if !found.cause.is_logged() => Rebuild { cause, ..found },
        (Some(found), _) => found,
        (None, said) => {
            let tokens = request.prompt.saturating_sub(request.cached);
            let cause = said.filter(|_| tokens >= LEAST)?;
            Rebuild::new(&mut finder, last, tokens, cause)
        }
    };
    let tools = [miss.tools_added, miss.tools_removed];
    Some(Rebuild { tools, ..rebuild })
}

/// Returns the rebuild of which the provider logged the cause.
fn logged<'s>(
    finder: &mut Finder<'s>,
    ix: RequestIx,
    before: Option<&'s Request>,
    miss: &CacheMiss,
) -> Option<Rebuild> {
    let request = &finder.session.requests()[ix];
    let tokens = miss.tokens.or(before.map(|before| lost(before, request)))?;
    let tokens = tokens.min(request.prompt.saturating_sub(request.cached));
    let cause = RebuildCause::Logged(miss.cause.clone());
    (tokens >= LEAST_LOGGED).then(|| Rebuild::new(finder, ix, tokens, cause))
}

/// Returns the rebuild that the numbers of the provider show.
fn unlogged<'s>(finder: &mut Finder<'s>, ix: RequestIx, before: &'s Request) -> Option<Rebuild> {
    let request = &finder.session.requests()[ix];
    let (same, tokens) = (before.prompt.min(request.prompt), lost(before, request));
    let is_kept = request.cached as f64 >= same as f64 * KEPT_SHARE;
    if is_kept || tokens < LEAST || !before.source.is_known() {
        return None;
    }
    if finder.is_after_reset(ix) || !finder.is_caching(ix) {
        return None;
    }
    let mut rebuild = Rebuild::new(finder, ix, tokens, RebuildCause::NotStated);
    if before.model != request.model {
        rebuild.cause = RebuildCause::ModelSwitched;
    } else if rebuild.is_expired {
        rebuild.cause = RebuildCause::Expired;
    }
    Some(rebuild)
}

/// Returns the tokens of the prompt before that were not read from the cache.
fn lost(before: &Request, request: &Request) -> u64 {
    let same = before.prompt.min(request.prompt);
    same.saturating_sub(request.cached)
}

impl Rebuild {
    /// Returns the name of its cause, the same for all that have the same remedy.
    pub fn cause_name(&self) -> &str {
        match &self.cause {
            RebuildCause::Logged(MissCause::NotFound) if self.is_expired => {
                RebuildCause::Expired.name()
            }
            RebuildCause::Logged(MissCause::Model) => RebuildCause::ModelSwitched.name(),
            cause => cause.name(),
        }
    }

    fn new<'s>(
        finder: &mut Finder<'s>,
        ix: RequestIx,
        tokens: u64,
        cause: RebuildCause,
    ) -> Rebuild {
        let session = finder.session;
        let request = &session.requests()[ix];
        let before = ix.checked_sub(1).map(|before| &session.requests()[before]);
        let pause = before.and_then(|before| pause(session, before, request));
        let life = before.and_then(|before| finder.life(before));
        let is_over = |(pause, life): (u64, Life)| pause >= life.seconds.into();
        Rebuild {
            request: ix,
            pause,
            is_expired: pause.zip(life).is_some_and(is_over),
            tokens,
            cause,
            usd: premium(finder, request, tokens),
            tools: [0; 2],
        }
    }
}

/// Returns the extra cost of tokens of a prompt over reading them from the cache.
fn premium<'s>(finder: &mut Finder<'s>, request: &'s Request, tokens: u64) -> Option<f64> {
    let row = finder.price(request.model.as_deref()?)?;
    let anew = request.prompt.saturating_sub(request.cached);
    let cache_write = request.billed.cache_creation.min(anew);
    let paid = TokenUsage {
        input: anew - cache_write,
        cache_read: request.prompt - anew,
        cache_write,
        cache_write_hour: request.billed.cache_creation_hour.min(cache_write),
        output: 0,
    };
    let written = tokens.min(cache_write);
    let hit = TokenUsage {
        input: paid.input - (tokens - written).min(paid.input),
        cache_read: paid.cache_read + tokens.min(anew),
        cache_write: cache_write - written,
        cache_write_hour: paid.cache_write_hour.saturating_sub(written),
        output: 0,
    };
    let usd = |spent| row.usd(spent, request.billed.surcharges);
    Some((usd(&paid)? - usd(&hit)?).max(0.0))
}

#[cfg(test)]
mod tests;
