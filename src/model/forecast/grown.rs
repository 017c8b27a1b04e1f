//! The growth of a long session, kept from one forecast to the next: one more request is one more step.

use super::{Forecast, Growth, NoForecast, step};
use crate::history::RequestIx;
use crate::own_count::Counting;
use crate::session::Session;

/// How a session had grown before its newest request.
#[derive(Debug)]
pub(crate) struct Grown {
    /// The agent's own count before the newest request, and of each prompt before it.
    counting: Counting,
    prompts: Vec<u64>,
    growth: Growth,
    /// The sizes of this epoch's steps, the smallest first.
    sorted: Vec<f64>,
    /// The first request of this epoch.
    epoch: RequestIx,
    resets: usize,
    corrections: u32,
}

/// The forecast of a session as it is now; `None`: it is not long enough for this, or nothing was requested since its
/// last reset.
pub(super) fn forecast(session: &Session, trigger: u64) -> Option<Result<Forecast, NoForecast>> {
    let newest = session.requests().len().checked_sub(1)?;
    let epoch = session.resets().last().map_or(0, |reset| reset.request);
    (session.requests().len() >= LONG && epoch <= newest).then(|| {
        let to_go = session.context().headroom(trigger);
        session.grown_memo().get(
            |grown| grown.follow(session),
            || Grown::of(session),
            |grown| grown.forecast(session, to_go),
        )
    })
}

impl Grown {
    fn of(session: &Session) -> Grown {
        let mut grown = Grown {
            counting: Counting::of(session),
            prompts: Vec::new(),
            growth: Growth::default(),
            sorted: Vec::new(),
            epoch: session.resets().last().map_or(0, |reset| reset.request),
            resets: session.resets().len(),
            corrections: session.ledger().corrections(),
        };
        let newest = session.requests().len().saturating_sub(1);
        let mut resets = session.resets().iter().peekable();
        for ix in 0..newest {
            while resets.next_if(|reset| reset.request <= ix).is_some() {
                grown.counting.reset();
            }
            grown.add(ix, session);
        }
        if resets.next().is_some() {
            grown.counting.reset();
        }
        grown.sorted = grown.growth.steps.iter().map(|step| step.tokens).collect();
        grown.sorted.sort_unstable_by(f64::total_cmp);
        grown
    }

    /// Takes in the requests that have come. `false`: something else has changed.
    fn follow(&mut self, session: &Session) -> bool {
        let newest = session.requests().len().saturating_sub(1);
        let is_same = self.resets == session.resets().len()
            && self.corrections == session.ledger().corrections()
            && self.counting.adds == Counting::of(session).adds
            && self.prompts.len() <= newest;
        if is_same {
            for ix in self.prompts.len()..newest {
                let steps = self.growth.steps.len();
                self.add(ix, session);
                if let Some(step) = self.growth.steps.get(steps) {
                    let before = |other: &f64| other.total_cmp(&step.tokens).is_lt();
                    let at = self.sorted.partition_point(before);
                    self.sorted.insert(at, step.tokens);
                }
            }
        }
        is_same
    }

    /// Adds a request that will not change any more.
    fn add(&mut self, ix: RequestIx, session: &Session) {
        let requests = session.requests();
        self.prompts.push(self.counting.count(&requests[ix]));
        let step = step(requests, &self.prompts, ix);
        match ix < self.epoch {
            true => self.growth.earlier.extend(step),
            false => self.growth.steps.extend(step),
        }
    }

    fn forecast(&mut self, session: &Session, to_go: u64) -> Result<Forecast, NoForecast> {
        let requests = session.requests();
        let newest = requests.len().saturating_sub(1);
        let mut counting = self.counting;
        self.prompts.push(counting.count(&requests[newest]));
        let step = step(requests, &self.prompts, newest);
        self.prompts.pop();
        self.growth.steps.extend(step);
        self.growth.jump = counting.running as f64;
        let newest = step.map(|step| step.tokens);
        let forecast = self.growth.forecast_around(self.median(newest), to_go);
        if step.is_some() {
            self.growth.steps.pop();
        }
        forecast
    }

    /// The median of the sizes and of this one.
    fn median(&self, newest: Option<f64>) -> f64 {
        let Some(newest) = newest else {
            let middle = self.sorted.get(self.sorted.len() / 2);
            return middle.copied().unwrap_or(0.0);
        };
        let middle = self.sorted.len().div_ceil(2);
        let at = self
            .sorted
            .partition_point(|other| other.total_cmp(&newest).is_lt());
        match middle.cmp(&at) {
            std::cmp::Ordering::Less => self.sorted[middle],
            std::cmp::Ordering::Equal => newest,
            std::cmp::Ordering::Greater => self.sorted[middle - 1],
        }
    }
}

/// Shorter sessions are looked through.
const LONG: usize = if cfg!(test) { 3 } else { 2_048 };
