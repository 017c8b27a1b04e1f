//! Forecasts when a context will reach its trigger: in how many requests, user turns and minutes.
//!
//! The growth of a request is heavy-tailed: the median step of a coding session is 570 tokens, one in a hundred is
//! above 14,000. A mean follows the few large reads of the past, which do not come again when expected, so each step is
//! capped, the newest weigh most, and a usual rate replaces steps not seen yet. The band is that of a drift of
//! uncertain rate plus a random walk: after k requests the context has grown by about k ± √k steps.
//!
//! The formulas are closed and without randomness: the same session always has the same forecast, and more headroom
//! never leads to a shorter one. [`backtest`](backtest()) forecasts past compactions.

mod backtest;
mod words;

pub use crate::session::growth::{Growth, GrowthStep};
pub use backtest::{BacktestSummary, Fit, Point, backtest};

use crate::session::Session;
use crate::session::context::Context;
use crate::session::own_count::Counts;
use crate::session::replay::Snapshot;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Half-life of a step's weight, in requests.
const HALF_LIFE: f64 = 40.0;
/// The most tokens a step counts for, unless half of the steps are above half of it.
const STEP_CAP: f64 = 9_000.0;
/// The weight of the usual growth beside this epoch's, in steps.
const PRIOR_GROWTH: f64 = 20.0;
/// The weight of all else that is usual, in steps.
const PRIOR_STEPS: f64 = 10.0;
/// The largest weight of earlier epochs, in steps.
const EARLIER_STEPS: f64 = 20.0;
/// The usual growth, in tokens a request, steps capped. Of 56 epochs of Claude Code sessions that ended
/// in an automatic compaction the mean was 813 to 2,083 (first to last tenth), uncapped. This and the
/// numbers above were chosen there: of those that beat a straight line at 3, 5, 10, 20 and 40 requests before,
/// and whose band holds three quarters at each, the best at 3, 5 and 10. A cap of 7,000 to 9,000 and a prior of 18 to 25
/// do nearly as well.
const USUAL_GROWTH: f64 = 1_200.0;
/// The usual number of user turns a request begins: 0.08 in the same epochs.
const USUAL_TURNS: f64 = 0.08;
/// The usual time from one request to the next, in seconds, pauses capped: 10 to 52 in 16 sessions of
/// Claude Code and Codex.
const USUAL_SECONDS: f64 = 15.0;
/// The longest time between two requests that counts as work, in seconds. Beyond, it is a pause.
const PAUSE_SECONDS: f64 = 300.0;
/// The time without a record after which a session is idle, in seconds.
const IDLE_SECONDS: u64 = 600;
/// The error of the rate: a factor, at the ends of the 80 % band.
const RATE_SPREAD: f64 = 1.55;
/// The random walk's width at the ends of the band, in mean steps a √request. Large steps bring a
/// compaction sooner more often than small ones put it off.
const WALK_SOONER: f64 = 2.0;
const WALK_LATER: f64 = 0.5;
/// The additional error of the turns a request: a factor, at the ends of the band.
const TURN_SPREAD: f64 = 1.4;
/// The number of steps that must have been seen before they can be called alike.
const STEPS_TO_COMPARE: usize = 5;
/// The number of steps that must have been seen before a session counts as not growing.
const STEPS_TO_JUDGE: usize = 3;

/// A median and the 80 % band around it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// One in ten ends below.
    pub p10: f64,
    /// The median: as many forecasts end below as above.
    pub p50: f64,
    /// One in ten ends above.
    pub p90: f64,
}

impl Band {
    /// Returns this band in another unit: `pace` of it per unit of this one, known to a factor of `spread`.
    fn paced(self, pace: f64, spread: f64) -> Band {
        Band {
            p10: self.p10 * pace / spread,
            p50: self.p50 * pace,
            p90: self.p90 * pace * spread,
        }
    }
}

/// The requests, turns and minutes that are left until the trigger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Requests that are still sent before the compaction.
    pub requests: Band,
    /// User turns that still begin before it.
    pub turns: Band,
    /// Minutes of work until then, pauses left out; `None`: the session is idle.
    pub minutes: Option<Band>,
}

/// The pace at which a context grows: all of a forecast but the distance to the trigger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Tokens a request, above 0.
    rate: f64,
    /// The irregularity of the steps, from 0 to 1.
    irregularity: f64,
    /// User turns that a request begins.
    turns: f64,
    /// Seconds a request.
    seconds: f64,
    /// Tokens by which the agent's own count jumps when the user's next turn begins.
    jump: f64,
}

impl Pace {
    /// Returns the requests that are left when `to_go` tokens are, and with them turns and minutes.
    pub fn forecast(&self, to_go: u64) -> Forecast {
        let Pace {
            rate,
            irregularity,
            turns,
            seconds,
            jump,
        } = *self;
        let way = to_go as f64;
        // The chance that a turn begins before the trigger is reached.
        let jumps = 1.0 - (-turns * way / rate).exp();
        let requests = match to_go {
            0 => Band::default(),
            _ => crossing((way - jumps * jump).max(0.0) / rate, irregularity),
        };
        Forecast {
            requests,
            turns: requests.paced(turns, TURN_SPREAD),
            minutes: Some(requests.paced(seconds / 60.0, 1.0)),
        }
    }
}

/// The reason for which there is no forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoForecast {
    /// The agent is not known to compact before the window is full.
    NoTrigger,
    /// No request was reported yet.
    NoRequest,
    /// The context does not grow.
    NoGrowth,
}

impl Growth {
    /// Returns the requests that are left when `to_go` tokens are, and with them turns and minutes.
    pub fn forecast(&self, to_go: u64) -> Result<Forecast, NoForecast> {
        Ok(self.pace()?.forecast(to_go))
    }

    /// Returns the median of this epoch's steps, in tokens.
    fn median(&self) -> f64 {
        let mut sizes: Vec<f64> = self.steps.iter().map(|step| step.tokens).collect();
        let middle = sizes.len() / 2;
        if sizes.is_empty() {
            return 0.0;
        }
        *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// Returns the pace of the growth.
    fn pace(&self) -> Result<Pace, NoForecast> {
        let irregularity = self.irregularity();
        let seconds = |step: &GrowthStep| Some(step.seconds?.clamp(0.0, PAUSE_SECONDS));
        Ok(Pace {
            rate: self.rate(irregularity)?,
            irregularity,
            turns: self.per_request(USUAL_TURNS, MOST_TURNS, |step| Some(step.turns)),
            seconds: self.per_request(USUAL_SECONDS, PAUSE_SECONDS, seconds),
            jump: self.jump,
        })
    }

    /// Returns the tokens a request, above 0.
    fn rate(&self, irregularity: f64) -> Result<f64, NoForecast> {
        let cap = STEP_CAP.max(2.0 * self.median());
        let capped = |step: &GrowthStep| Some(step.tokens.clamp(-cap, cap));
        let (sum, weight) = weigh(&self.steps, cap, capped);
        let shrinks = sum <= 0.0 && self.steps.len() >= STEPS_TO_JUDGE;
        let prior = PRIOR_GROWTH * irregularity;
        let rate = (sum + prior * self.usual(USUAL_GROWTH, capped)) / (weight + prior);
        match rate {
            rate if shrinks || rate < 1.0 => Err(NoForecast::NoGrowth),
            rate => Ok(rate),
        }
    }

    /// Returns the irregularity of this epoch's steps, from 0 (all are alike) to 1 (as usual, or too few to judge):
    /// their mean distance from their mean, as a share of it. Steps that are alike need no prior.
    fn irregularity(&self) -> f64 {
        let n = self.steps.len();
        if n < STEPS_TO_COMPARE {
            return 1.0;
        }
        let mean = self.steps.iter().map(|step| step.tokens).sum::<f64>() / n as f64;
        let distances = self.steps.iter().map(|step| (step.tokens - mean).abs());
        let share = distances.sum::<f64>() / n as f64 / mean;
        if share >= 0.0 { share.min(1.0) } else { 1.0 }
    }

    /// Returns the amount of something per request: this epoch's steps, shrunk towards what is usual.
    fn per_request(&self, prior: f64, most: f64, of: impl Fn(&GrowthStep) -> Option<f64>) -> f64 {
        let (sum, weight) = weigh(&self.steps, most, &of);
        (sum + PRIOR_STEPS * self.usual(prior, of)) / (weight + PRIOR_STEPS)
    }

    /// Returns the usual amount per request: the earlier epochs' mean, shrunk towards the prior.
    fn usual(&self, prior: f64, of: impl Fn(&GrowthStep) -> Option<f64>) -> f64 {
        let (sum, n) = self
            .earlier
            .iter()
            .filter_map(of)
            .fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
        if n == 0.0 {
            return prior;
        }
        let weight = f64::min(n, EARLIER_STEPS);
        (weight * (sum / n) + PRIOR_STEPS * prior) / (weight + PRIOR_STEPS)
    }
}

/// Returns the weighted sum of a value of the steps, the newest weighing most, and the sum of the weights. No value is
/// further than `most` from 0.
fn weigh(steps: &[GrowthStep], most: f64, of: impl Fn(&GrowthStep) -> Option<f64>) -> (f64, f64) {
    let fading = 0.5_f64.powf(1.0 / HALF_LIFE);
    let mut weight = 1.0;
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in steps.iter().rev() {
        if let Some(x) = of(step) {
            sum += weight * x;
            weights += weight;
        }
        weight *= fading;
        // A term below half of the last digit changes no sum, and each older step adds less.
        let is_lost = |sum: f64, most: f64| weight * most < sum * (f64::EPSILON / 8.0);
        if weight == 0.0 || (is_lost(sum.abs(), most) && is_lost(weights, 1.0)) {
            break;
        }
    }
    (sum, weights)
}

/// Returns the number of requests after which a walk of mean step 1 has gone a distance. The band's ends are the roots
/// of k · spread + walk · √k = distance and k / spread − walk · √k = distance. On top comes one request, the one whose
/// step passes the trigger; the lower end goes without it. Where steps are alike, the median does too: `irregularity`
/// of it is added.
fn crossing(distance: f64, irregularity: f64) -> Band {
    let sooner = {
        let root = (WALK_SOONER * WALK_SOONER + 4.0 * RATE_SPREAD * distance).sqrt();
        ((root - WALK_SOONER) / (2.0 * RATE_SPREAD)).powi(2)
    };
    let later = {
        let root = (WALK_LATER * WALK_LATER + 4.0 * distance / RATE_SPREAD).sqrt();
        (RATE_SPREAD * (root + WALK_LATER) / 2.0).powi(2)
    };
    Band {
        p10: sooner,
        p50: distance + irregularity,
        p90: later + 1.0,
    }
}

/// Forecasts when the session will compact, from what is in its context now. `now` decides whether it is idle; `None`:
/// as of its newest record.
///
/// One pass over the session's requests and the items in the context: a caller that draws often keeps
/// the result until the session changes.
pub fn forecast(session: &Session, now: Option<Timestamp>) -> Result<Forecast, NoForecast> {
    let near = session.limits().compacts_near();
    let trigger = near.ok_or(NoForecast::NoTrigger)?;
    let mut forecast = pace(session)?.forecast(session.context().headroom(trigger));
    if is_idle(session.updated_at, now) {
        forecast.minutes = None;
    }
    Ok(forecast)
}

/// Returns the pace at which the session's context grows now.
pub(crate) fn pace(session: &Session) -> Result<Pace, NoForecast> {
    grown(session, session.requests().len(), session.resets().len())?.pace()
}

/// Returns the forecast as of an earlier state, from what had been reported by then.
pub fn forecast_at(session: &Session, snapshot: &Snapshot) -> Result<Forecast, NoForecast> {
    forecast_with(session, snapshot, snapshot.context)
}

/// Returns the forecast as of an earlier state with this context.
fn forecast_with(
    session: &Session,
    snapshot: &Snapshot,
    context: Context,
) -> Result<Forecast, NoForecast> {
    let trigger = snapshot.limits.compacts_near();
    let mut forecast = forecast_as_if(session, snapshot, context, trigger)?;
    if snapshot.at.is_none() {
        forecast.minutes = None;
    }
    Ok(forecast)
}

/// Returns the forecast if this many tokens of an earlier state had not been in its context.
pub fn forecast_without(
    session: &Session,
    snapshot: &Snapshot,
    tokens: u64,
) -> Result<Forecast, NoForecast> {
    forecast_with(session, snapshot, snapshot.context.without(tokens))
}

/// Returns the forecast if this were the context of an earlier state, and this the trigger.
pub(crate) fn forecast_as_if(
    session: &Session,
    snapshot: &Snapshot,
    context: Context,
    trigger: Option<u64>,
) -> Result<Forecast, NoForecast> {
    let trigger = trigger.ok_or(NoForecast::NoTrigger)?;
    let growth = grown(session, snapshot.requests, snapshot.resets)?;
    growth.forecast(context.headroom(trigger))
}

/// Returns the growth of the context over the first `requests` requests and `resets` resets.
fn grown(session: &Session, requests: usize, resets: usize) -> Result<Growth, NoForecast> {
    let newest = requests.checked_sub(1).ok_or(NoForecast::NoRequest)?;
    let resets = session.resets().get(..resets).unwrap_or(session.resets());
    // After a reset, all that is known is of earlier epochs.
    let reset = resets.last().map_or(0, |reset| reset.request);
    Ok(if reset > newest {
        Growth {
            earlier: Counts::until(session, requests).steps(0..requests),
            ..Growth::default()
        }
    } else {
        Growth::until(session, newest)
    })
}

/// Returns true if a session whose newest record is of this time was idle for so long that minutes of work cannot be
/// compared with the clock.
pub fn is_idle(updated_at: Option<Timestamp>, now: Option<Timestamp>) -> bool {
    match (updated_at, now) {
        // A log whose clock is ahead cannot be compared either.
        (Some(last), Some(now)) => now.as_second().abs_diff(last.as_second()) > IDLE_SECONDS,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// The most turns that a step begins.
const MOST_TURNS: f64 = u32::MAX as f64;

#[cfg(test)]
mod tests;
