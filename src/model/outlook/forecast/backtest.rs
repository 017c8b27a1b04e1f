//! Forecasts made in hindsight before past compactions, compared with what happened.

use super::{Band, Growth};
use crate::history::RequestIx;
use crate::session::Session;
use crate::session::growth::epoch_of;
use crate::session::own_count::Counts;
use crate::values::median::median;
use serde::Serialize;
use std::collections::BTreeMap;

/// The numbers of requests before a compaction at which the backtest forecasts it.
pub const BEFORE: [usize; 5] = [3, 5, 10, 20, 40];

/// A forecast from before a compaction, and what happened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Requests that were still sent before the compaction.
    pub before: usize,
    /// Requests that were forecast.
    pub requests: Band,
    /// Requests by the epoch's mean growth; `None`: it had not grown.
    pub straight_line: Option<f64>,
    /// User turns that still began before the compaction.
    pub turns_before: u32,
    /// User turns that were forecast.
    pub turns: Band,
}

/// Forecasts every past automatic compaction of a session from 3, 5, 10, 20 and 40 requests before it,
/// with what was known then: the reports so far, the earlier epochs, the trigger without this and later
/// compactions. Points for which there was no forecast, or less than one step had been seen, are left
/// out.
pub fn backtest(session: &Session) -> Vec<Point> {
    let automatic = session.resets().iter().filter(|reset| reset.is_automatic());
    automatic
        .flat_map(|reset| {
            BEFORE
                .iter()
                .filter_map(|before| point(session, reset.request, *before))
        })
        .collect()
}

/// Returns the point of a forecast; `end`: the first request after the compaction.
fn point(session: &Session, end: RequestIx, before: usize) -> Option<Point> {
    let last = end.checked_sub(1)?;
    let here = last.checked_sub(before)?;
    let epoch = epoch_of(session, last);
    if here <= epoch.start {
        return None;
    }
    let at = session.requests().get(here)?;
    let trigger = session.limits_as_of(here).trigger?;
    let counts = Counts::until(session, here + 1);
    let count = |ix: RequestIx| counts.prompts.get(ix).copied();
    let counted = count(here)?.saturating_add(at.output.unwrap_or(0));
    let to_go = trigger.saturating_sub(counted);
    let forecast = Growth::until(session, here).forecast(to_go).ok()?;
    let grown = count(here)?.saturating_sub(count(epoch.start)?) as f64;
    let mean = grown / (here - epoch.start) as f64;
    Some(Point {
        before,
        requests: forecast.requests,
        straight_line: (mean > 0.0).then(|| to_go as f64 / mean),
        turns_before: session.requests().get(last)?.turn.saturating_sub(at.turn),
        turns: forecast.turns,
    })
}

/// The fit of the forecasts of many sessions.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BacktestSummary {
    /// The fit of all points.
    #[serde(flatten)]
    pub all: Fit,
    /// The fit of the points with this number of requests before the compaction.
    pub at: BTreeMap<usize, Fit>,
}

/// The fit of forecasts. `None` where there are no points.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Fit {
    /// Forecasts.
    pub points: usize,
    /// The share of them whose 80 % band held what happened.
    pub coverage: Option<f64>,
    /// The median of |median forecast − requests| / requests.
    pub median_error: Option<f64>,
    /// The median error of forecasts by the epoch's mean growth.
    pub straight_line_median_error: Option<f64>,
}

impl BacktestSummary {
    /// Returns the summary of these points.
    pub fn of(points: &[Point]) -> BacktestSummary {
        let all: Vec<&Point> = points.iter().collect();
        BacktestSummary {
            all: Fit::of(&all),
            at: BEFORE
                .into_iter()
                .map(|before| {
                    let here = points.iter().filter(|p| p.before == before);
                    (before, Fit::of(&here.collect::<Vec<_>>()))
                })
                .collect(),
        }
    }
}

impl Fit {
    fn of(points: &[&Point]) -> Fit {
        let held = points
            .iter()
            .filter(|p| (p.requests.p10..=p.requests.p90).contains(&(p.before as f64)));
        Fit {
            points: points.len(),
            coverage: (!points.is_empty()).then(|| held.count() as f64 / points.len() as f64),
            median_error: median(points.iter().map(|p| p.error(p.requests.p50)).collect()),
            straight_line_median_error: median(
                points
                    .iter()
                    .filter_map(|p| Some(p.error(p.straight_line?)))
                    .collect(),
            ),
        }
    }
}

impl Point {
    /// Returns the error of a number of requests, as a share of the real number.
    fn error(&self, requests: f64) -> f64 {
        let came = self.before.max(1) as f64;
        (requests - came).abs() / came
    }
}
