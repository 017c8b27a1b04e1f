//! The bounds that a user sets for sessions, and which of them a session has passed: by how much, and since when.

use crate::LeaveReason;
use crate::cost::rebuilds::rebuilds;
use crate::due::triggers;
use crate::history::{ItemIx, SizedItem};
use crate::outlook::forecast::{Forecast, NoForecast};
use crate::session::Session;
use crate::session::context::Context;
use crate::values::threshold::Threshold;
use jiff::Timestamp;
use strum::IntoStaticStr;

/// The states of a session that are compared with the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoundScope {
    /// The context as it is now.
    #[default]
    Now,
    /// The largest context of all requests so far, and all items.
    Ever,
}

/// Bounds for a session; `None`: not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// The most percent of the trigger or, where none is known, of the window.
    pub percent: Option<f64>,
    /// The largest context, in tokens.
    pub tokens: Option<u64>,
    /// The largest item.
    pub item: Option<Threshold>,
    /// The fewest requests left before the trigger, by the median of the forecast.
    pub requests_left: Option<u64>,
    /// The fewest minutes left before it compacts because nobody types.
    pub minutes_left: Option<u64>,
    /// The most compactions.
    pub compactions: Option<u64>,
    /// The most caches that were rebuilt.
    pub rebuilds: Option<u64>,
    /// The most tokens that were read anew because a cache was rebuilt.
    pub rebuilt_tokens: Option<u64>,
    /// The states of the session that are compared with the bounds.
    pub moment: BoundScope,
}

/// A quantity that a bound limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BoundedQuantity {
    /// The context in percent of the trigger.
    PercentOfTrigger,
    /// The context in percent of the window, since no trigger is known.
    PercentOfWindow,
    /// The context in tokens.
    Tokens,
    /// The tokens of an item.
    Item,
    /// The requests left before the trigger.
    RequestsLeft,
    /// The minutes left before it compacts because nobody types.
    MinutesLeft,
    /// The number of compactions.
    Compactions,
    /// The number of caches that were rebuilt.
    Rebuilds,
    /// The tokens that were read anew because of them.
    RebuiltTokens,
}

impl BoundedQuantity {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A bound that a session has passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The quantity that the bound limits.
    pub what: BoundedQuantity,
    /// The bound, in percent, tokens or a count.
    pub bound: f64,
    /// The value, in the same unit.
    pub value: f64,
    /// The time since which it is beyond the bound; `None`: the log does not show that.
    pub since: Option<Timestamp>,
    /// The largest of the items that are beyond it, if items are bounded.
    pub item: Option<ItemIx>,
    /// The number of items beyond it.
    pub items: usize,
}

impl Violation {
    fn new(what: BoundedQuantity, bound: f64, value: f64, since: Option<Timestamp>) -> Violation {
        Violation {
            what,
            bound,
            value,
            since,
            item: None,
            items: 0,
        }
    }

    /// Returns the distance of the value from the bound.
    pub fn by(&self) -> f64 {
        (self.value - self.bound).abs()
    }
}

/// Returns the bounds that a session has passed, in the order of [`Bounds`].
pub fn passed(
    bounds: &Bounds,
    session: &Session,
    forecast: &Result<Forecast, NoForecast>,
    now: Timestamp,
) -> Vec<Violation> {
    let found = [
        percent(bounds, session),
        tokens(bounds, session),
        item(bounds, session),
        requests_left(bounds, forecast),
        minutes_left(bounds, session, now),
        compactions(bounds, session),
        rebuilt(session, BoundedQuantity::Rebuilds, bounds.rebuilds),
        rebuilt(
            session,
            BoundedQuantity::RebuiltTokens,
            bounds.rebuilt_tokens,
        ),
    ];
    found.into_iter().flatten().collect()
}

fn percent(bounds: &Bounds, session: &Session) -> Option<Violation> {
    let most = bounds.percent?;
    let (context, limits) = (session.context(), session.limits());
    let (now, end) = context.filled(&limits);
    if end == 0 {
        return None;
    }
    // The tokens that the agent counts beside the context are not known for earlier requests. They are taken to be the
    // present ones.
    let beside = i128::from(now) - i128::from(context.used);
    let (percent, since) = size(bounds, session, &context, |tokens| {
        let counted = u64::try_from(i128::from(tokens) + beside).unwrap_or(0);
        let percent = counted as f64 * 100.0 / end as f64;
        (percent > most).then_some(percent)
    })?;
    let what = match limits.trigger {
        Some(_) => BoundedQuantity::PercentOfTrigger,
        None => BoundedQuantity::PercentOfWindow,
    };
    Some(Violation::new(what, most, percent, since))
}

fn tokens(bounds: &Bounds, session: &Session) -> Option<Violation> {
    let most = bounds.tokens?;
    let is_beyond = |tokens| (tokens > most).then_some(tokens as f64);
    let (tokens, since) = size(bounds, session, &session.context(), is_beyond)?;
    let what = BoundedQuantity::Tokens;
    Some(Violation::new(what, most as f64, tokens, since))
}

/// Returns the size of the context, if it is beyond its bound, and the time since which it is: `beyond` says so of a size
/// in tokens, by its value in the bound's unit.
fn size(
    bounds: &Bounds,
    session: &Session,
    context: &Context,
    beyond: impl Fn(u64) -> Option<f64>,
) -> Option<(f64, Option<Timestamp>)> {
    let requests = session.requests();
    let now = beyond(context.used);
    let of_request = |ix: usize| beyond(requests[ix].total());
    let (value, first) = match bounds.moment {
        BoundScope::Now => {
            let reset = session.resets().last().map_or(0, |reset| reset.request);
            let epoch = (reset.min(requests.len())..requests.len()).rev();
            let first = epoch.take_while(|ix| of_request(*ix).is_some()).last();
            (now?, first)
        }
        BoundScope::Ever => {
            let largest = (0..requests.len()).filter_map(of_request).chain(now);
            let first = (0..requests.len()).find(|ix| of_request(*ix).is_some());
            (largest.max_by(f64::total_cmp)?, first)
        }
    };
    let since = first.map_or(session.updated_at, |ix| requests[ix].at);
    Some((value, since))
}

fn item(bounds: &Bounds, session: &Session) -> Option<Violation> {
    let most = bounds.item?.tokens(session.limits().window);
    let all: Vec<SizedItem> = match bounds.moment {
        BoundScope::Now => session.in_context().collect(),
        BoundScope::Ever => (0..session.items().len())
            .map(|ix| session.sized(ix))
            .collect(),
    };
    let beyond: Vec<&SizedItem> = all.iter().filter(|(_, tokens, _)| *tokens > most).collect();
    let (largest, tokens, _) = **beyond.iter().max_by_key(|(ix, tokens, _)| (*tokens, *ix))?;
    let first = beyond.first().and_then(|(ix, ..)| session.items()[*ix].at);
    Some(Violation {
        item: Some(largest),
        items: beyond.len(),
        ..Violation::new(BoundedQuantity::Item, most as f64, tokens as f64, first)
    })
}

fn requests_left(bounds: &Bounds, forecast: &Result<Forecast, NoForecast>) -> Option<Violation> {
    let least = bounds.requests_left?;
    let [_, left, _] = forecast.as_ref().ok()?.requests.rounded();
    let what = BoundedQuantity::RequestsLeft;
    (left < least).then(|| Violation::new(what, least as f64, left as f64, None))
}

fn minutes_left(bounds: &Bounds, session: &Session, now: Timestamp) -> Option<Violation> {
    let least = bounds.minutes_left?;
    let at = triggers::idle_at(&session.gauge(), now)?;
    let left = at.duration_since(now).as_secs() / 60;
    let left = u64::try_from(left).ok().filter(|left| *left < least)?;
    let what = BoundedQuantity::MinutesLeft;
    Some(Violation::new(what, least as f64, left as f64, None))
}

fn compactions(bounds: &Bounds, session: &Session) -> Option<Violation> {
    let most = bounds.compactions?;
    let resets = session.resets().iter();
    let all: Vec<Option<Timestamp>> = resets
        .filter(|reset| reset.gone == LeaveReason::Compaction)
        .map(|reset| reset.at)
        .collect();
    let first = all.get(usize::try_from(most).ok()?)?;
    let what = BoundedQuantity::Compactions;
    Some(Violation::new(what, most as f64, all.len() as f64, *first))
}

/// Compares the rebuilds of a session, or the tokens that were read anew, with the most that there may be.
fn rebuilt(session: &Session, what: BoundedQuantity, most: Option<u64>) -> Option<Violation> {
    let most = most?;
    let (mut sum, mut first) = (0_u64, None);
    for rebuild in rebuilds(session) {
        sum = sum.saturating_add(match what {
            BoundedQuantity::Rebuilds => 1,
            _ => rebuild.tokens,
        });
        if sum > most && first.is_none() {
            first = Some(session.requests()[rebuild.request].at);
        }
    }
    Some(Violation::new(what, most as f64, sum as f64, first?))
}

#[cfg(test)]
mod tests;
