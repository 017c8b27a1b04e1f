//! Computes the geometry of the drawings: the size of a context, and its growth. The formats draw it.

use model::session::replay::role_sizes::{RoleSizes, total};
use render::stack;

/// The size at which an agent compacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trigger {
    /// The size in the agent's own count.
    pub(crate) size: u64,
    /// The size of the context at which it is reached, if the agent's count grows as the context does.
    pub(crate) here: u64,
}

/// The size of a context, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauge {
    /// The reported part.
    pub(crate) known: u64,
    /// The part that is only counted here.
    pub(crate) estimated: u64,
    /// The 90 % interval of both.
    pub(crate) low: u64,
    #[allow(missing_docs)]
    pub(crate) high: u64,
    /// The size at which the agent compacts; `None`: not known.
    pub(crate) trigger: Option<Trigger>,
    /// The window.
    pub(crate) window: u64,
}

impl Gauge {
    /// Returns the number of tokens that the whole width stands for; at least 1.
    pub(crate) fn whole(&self) -> u64 {
        let used = self.known.saturating_add(self.estimated);
        [used, self.high, self.trigger.map_or(0, |it| it.here)]
            .into_iter()
            .fold(self.window.max(1), u64::max)
    }

    /// Returns a size as a share of the whole width, 0 to 1.
    pub(crate) fn share(&self, tokens: u64) -> f64 {
        (tokens as f64 / self.whole() as f64).clamp(0.0, 1.0)
    }
}

/// The kind of a chart's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Requests, whose sizes are known.
    Requests,
    /// Records: the log has no usage reports.
    Records,
}

impl Steps {
    /// Returns their name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Steps::Requests => "request",
            Steps::Records => "record",
        }
    }
}

/// The size of a context over time.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// The size after each step by role, in tokens; one at least.
    pub(crate) sizes: Vec<RoleSizes>,
    /// The kind of the steps.
    pub(crate) steps: Steps,
    /// The steps before which the context was reset.
    pub(crate) resets: Vec<usize>,
    /// The size now by role.
    pub(crate) now: RoleSizes,
    /// The size at which the agent compacts; `None`: not known.
    pub(crate) trigger: Option<Trigger>,
    /// The window.
    pub(crate) window: u64,
    /// Requests until the trigger: the early end of the band, the median, the late end.
    pub(crate) ahead: Option<[f64; 3]>,
}

/// The most of the width that a forecast takes.
const MOST_AHEAD: f64 = 0.25;
/// The furthest end of a forecast, in widths.
const FURTHEST: f64 = 100.0;

impl Chart {
    /// Returns the size at the top, in tokens; at least 1. With the whole window, a small context would be a flat line.
    pub(crate) fn top(&self) -> u64 {
        let largest = self
            .sizes
            .iter()
            .map(total)
            .fold(total(&self.now).max(1), u64::max);
        let end = self.trigger.map_or(self.window, |it| it.here).max(largest);
        match end {
            end if largest < end / 3 => largest.saturating_mul(2),
            end => end.saturating_add(end / 20),
        }
    }

    /// Returns a size as a share of the height, 0 to 1; `None`: it is above the top.
    pub(crate) fn height(&self, tokens: u64) -> Option<f64> {
        let top = self.top();
        (tokens <= top).then(|| tokens as f64 / top as f64)
    }

    /// Returns true if the context has changed since the last step. The size now is then a step of its own.
    fn has_rest(&self) -> bool {
        self.steps == Steps::Requests && total(&self.now) != self.sizes.last().map_or(0, total)
    }

    /// Returns the number of steps, with the size now; at least 1.
    pub(crate) fn len(&self) -> usize {
        (self.sizes.len() + usize::from(self.has_rest())).max(1)
    }

    /// Returns the name of the last step: its number, or that it is the size now.
    pub(crate) fn last(&self) -> String {
        if self.has_rest() {
            "now".to_owned()
        } else {
            self.len().to_string()
        }
    }

    /// Returns the size after each step, with the size now.
    pub(crate) fn all(&self) -> impl Iterator<Item = u64> {
        self.steps_by_role().map(|sizes| total(&sizes))
    }

    fn steps_by_role(&self) -> impl Iterator<Item = RoleSizes> {
        let rest = self.has_rest().then_some(self.now);
        self.sizes.iter().copied().chain(rest)
    }

    /// Returns the share of the width that the steps take. The rest is for the forecast.
    pub(crate) fn past(&self) -> f64 {
        let steps = self.len() as f64;
        let trigger = self.trigger.and_then(|it| self.height(it.here));
        match self.ahead.filter(|_| trigger.is_some()) {
            Some([_, _, late]) if late.is_finite() && late > 0.0 => {
                (steps / (steps + late)).max(1.0 - MOST_AHEAD)
            }
            Some(_) | None => 1.0,
        }
    }

    /// Returns the end of a forecast of so many requests, as a share of the width. It may be above 1.
    pub(crate) fn ahead_at(&self, requests: f64) -> f64 {
        let share = self.past() * (1.0 + requests.max(0.0) / self.len() as f64);
        share.min(FURTHEST)
    }

    /// Returns the end of so many steps, as a share of the width, 0 to 1.
    pub(crate) fn at(&self, steps: usize) -> f64 {
        let share = self.past() * steps as f64 / self.len() as f64;
        share.clamp(0.0, 1.0)
    }

    /// Divides the steps into at most so many columns, and returns the upper end of each role's part in each, in tokens.
    pub(crate) fn columns(&self, most: usize) -> Vec<[u64; 5]> {
        let all: Vec<RoleSizes> = self.steps_by_role().collect();
        let largest = stack::columns(&all, most).filter_map(stack::largest);
        largest
            .map(|sizes| stack::edges(sizes.map(u64::from)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_is_inside(
            sizes in prop::collection::vec(any::<RoleSizes>(), 0..50),
            stacked_now: RoleSizes, now: u64, known: u64, here: Option<u64>, window: u64,
            ahead in prop::option::of([any::<f64>(), any::<f64>(), any::<f64>()]),
            most in 0_usize..60,
        ) {
            let trigger = here.map(|here| Trigger { size: now, here });
            let chart = Chart {
                sizes, steps: Steps::Requests, resets: Vec::new(), now: stacked_now, trigger, window, ahead,
            };
            let inside = |share: f64| (0.0..=1.0).contains(&share);
            prop_assert!(inside(chart.past()) && inside(chart.at(chart.len())));
            let columns = chart.columns(most);
            prop_assert!(columns.len() <= most.max(1));
            prop_assert_eq!(columns.iter().map(|edges| edges[4]).max(), chart.all().max());
            for size in columns.into_iter().flatten() {
                prop_assert!(chart.height(size).is_some_and(inside));
            }
            let gauge = Gauge { known, estimated: now, low: known, high: now, trigger, window };
            prop_assert!(inside(gauge.share(known)) && inside(gauge.share(now)));
        }
    }

    #[test]
    fn a_column_has_its_largest_size() {
        let chart = Chart {
            sizes: [1, 9, 2, 3].map(|size| [1, 0, 0, 0, size - 1]).to_vec(),
            steps: Steps::Requests,
            resets: Vec::new(),
            now: [1, 0, 0, 0, 3],
            trigger: None,
            window: 100,
            ahead: None,
        };
        let tops = |most| {
            let columns = chart.columns(most).into_iter();
            columns
                .map(|edges| (edges[0], edges[4]))
                .collect::<Vec<_>>()
        };
        assert_eq!(tops(100), [(1, 1), (1, 9), (1, 2), (1, 3), (1, 4)]);
        assert_eq!(tops(2), [(1, 9), (1, 4)]);
    }
}
