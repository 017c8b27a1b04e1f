//! The timeline of a session's context: one step is a request or, without usage reports, a record. The
//! geometry is here because the mouse needs it as much as drawing does.

use super::{App, Pace, Steps};
use crate::paint::Area;
use model::session::context::{Basis, Share};
use model::session::replay::role_sizes::total;

/// The most cells that one request takes.
const WIDEST_REQUEST: usize = 4;

/// The data that the timeline shows.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// The requests or records, the compactions and clears, and the largest growths.
    pub steps: &'a Steps,
    /// The size at the moment on screen.
    pub now: u64,
    /// That size by role, known and estimated.
    pub now_by_role: [Share; 5],
    /// The window, in tokens.
    pub window: u64,
    /// The size of the context at which the agent compacts.
    pub trigger: Option<u64>,
    /// That size in the agent's own count, in which everything names it.
    pub trigger_name: Option<u64>,
    /// Requests until the trigger: the early end of the band, the median, the late end.
    pub ahead: Option<[f64; 3]>,
    /// The step of the moment on screen: the last reported request, or the next one where items followed.
    pub at: usize,
    /// True if that moment is one of a replay, not the newest.
    pub is_replayed: bool,
}

/// A compaction or clear on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetMark {
    /// The step before which it took place.
    pub step: usize,
    /// The size before it, in tokens.
    pub before: u64,
    /// The size after it, as far as it is known.
    pub after: Option<u64>,
}

/// A large growth on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpMark {
    /// The step at which it had come.
    pub step: usize,
    /// The tokens that the context grew by.
    pub tokens: u64,
}

/// The columns of requests and the rows of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Requests, at least 1.
    pub requests: usize,
    /// The columns that they take, at least 1.
    pub columns: usize,
    /// The size at the top, in tokens.
    pub top: u64,
    /// The rows of the field.
    pub rows: usize,
}

impl History<'_> {
    /// Returns the scale of a field of this size.
    pub fn scale(&self, field: Area) -> Scale {
        let width = usize::from(field.width);
        let sizes = self.steps.roles.iter().map(total);
        let requests = sizes.len().max(self.at + 1);
        // Live, up to a quarter is for the forecast.
        let ahead = match self.ahead {
            Some([_, _, late]) if !self.is_replayed => late.clamp(0.0, 1e6),
            _ => 0.0,
        };
        let wanted = (ahead * width as f64 / requests as f64).ceil() as usize;
        let columns = (width - wanted.min(width / 4))
            .min(requests * WIDEST_REQUEST)
            .max(1);
        let largest = sizes.fold(self.now.max(1), u64::max);
        let whole = self.window.max(largest);
        // A small context in a large window would be a flat line.
        let top = if largest < whole / 3 {
            round_top(largest.saturating_add(largest / 8))
        } else {
            whole
        };
        Scale {
            requests,
            columns,
            top,
            rows: usize::from(field.height),
        }
    }
}

/// Returns the least round number from `least` on. With it the bars stay where they are while the context grows a little.
fn round_top(least: u64) -> u64 {
    let digits = least.max(1).ilog10();
    let unit = 10_u64.pow(digits);
    let round = [1, 2, 3, 4, 5, 6, 8].map(|n| unit.saturating_mul(n));
    let fitting = round.into_iter().find(|round| *round >= least);
    fitting.unwrap_or(unit.saturating_mul(10))
}

impl Scale {
    /// Returns the requests below a column.
    pub fn requests_of(self, column: usize) -> std::ops::Range<usize> {
        let from = column * self.requests / self.columns;
        let to = ((column + 1) * self.requests).div_ceil(self.columns);
        from..to.clamp(from + 1, self.requests.max(from + 1))
    }

    /// Returns the last column of a request.
    pub fn column_of(self, request: usize) -> usize {
        let end = ((request + 1) * self.columns).div_ceil(self.requests);
        end.saturating_sub(1).min(self.columns - 1)
    }

    /// Returns the first column of a request.
    pub fn first_column_of(self, request: usize) -> usize {
        (request * self.columns / self.requests).min(self.columns - 1)
    }

    /// Returns a size as eighths of rows; what is more than the top ends with it.
    pub fn eighths(self, tokens: u64) -> u64 {
        let all = (self.rows * 8) as u128;
        let eighths = u128::from(tokens) * all / u128::from(self.top.max(1));
        u64::try_from(eighths)
            .unwrap_or(u64::MAX)
            .max(u64::from(tokens > 0))
            .min(all as u64)
    }

    /// Returns the row of a size, from the top; `None`: it is above.
    pub fn row(self, tokens: u64) -> Option<usize> {
        if tokens > self.top {
            return None;
        }
        let from_below = u128::from(tokens) * self.rows as u128 / u128::from(self.top.max(1));
        Some((self.rows - 1).saturating_sub(from_below as usize))
    }

    /// Returns the request below a column of the field, the last one past the end.
    pub fn request_at(self, column: u16) -> usize {
        let request = usize::from(column) * self.requests / self.columns;
        request.min(self.requests - 1)
    }
}

impl App {
    /// Returns the timeline of the session on screen.
    pub fn history(&self) -> Option<History<'_>> {
        let page = self.shown.page.as_ref()?;
        let state = &page.state;
        let forecast = page.forecast.as_ref().ok();
        let forecast = forecast.filter(|_| state.limits.trigger.is_some());
        Some(History {
            steps: &page.steps,
            now: state.context.used,
            now_by_role: state.context.roles,
            window: state.limits.window,
            trigger: state
                .limits
                .trigger
                .map(|trigger| state.context.trigger_here(trigger)),
            trigger_name: state.limits.trigger,
            ahead: forecast.map(|f| [f.requests.p10, f.requests.p50, f.requests.p90]),
            at: match (page.steps.pace, state.context.basis) {
                (Pace::Records, _) => self.moment().unwrap_or(0),
                (_, Basis::Exact) => state.requests.saturating_sub(1),
                (_, Basis::Delta | Basis::Estimated) => state.requests,
            },
            is_replayed: self.ui.replay.is_on(),
        })
    }

    /// Returns the step below a column of the screen, with the timeline in this field.
    pub(super) fn step_at(&self, field: Area, column: u16) -> Option<usize> {
        let scale = self.history()?.scale(field);
        Some(scale.request_at(column.clamp(field.x, field.right()) - field.x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_a_round_number() {
        let tops = [0, 1, 9, 10, 11, 65_000, 296_000, 810_000, u64::MAX].map(round_top);
        assert_eq!(
            tops,
            [1, 1, 10, 10, 20, 80_000, 300_000, 1_000_000, u64::MAX]
        );
    }

    #[test]
    fn a_column_leads_to_its_request() {
        let steps = Steps {
            pace: Pace::Requests,
            roles: (0..1_000).map(|n| [n * 150, 0, 0, 0, 0]).collect(),
            times: Vec::new(),
            resets: Vec::new(),
            jumps: Vec::new(),
            rebuilt: Vec::new(),
        };
        let history = History {
            steps: &steps,
            now: 150_000,
            now_by_role: [Share::default(); 5],
            window: 200_000,
            trigger: None,
            trigger_name: None,
            ahead: Some([2.0, 3.0, 5.0]),
            at: 999,
            is_replayed: false,
        };
        let scale = history.scale(Area::new(6, 0, 94, 9));
        for request in [0, 1, 499, 998, 999] {
            let column = scale.column_of(request) as u16;
            assert!(scale.request_at(column).abs_diff(request) <= 15);
        }
        assert_eq!(scale.request_at(500), 999);
        assert_eq!(scale.request_at(0), 0);
    }
}
