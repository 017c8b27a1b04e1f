//! From a local count to an estimate, with its error.
//!
//! An estimate is `per_token · local + per_item` plus images by their formula. The models table gives
//! both numbers to begin with; the session's own settled deltas correct them, per exact model id.
//! Robustly: reports that hidden text has swollen weigh little. The same residuals give the error.

use super::event::Size;
use super::{Kind, Role};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How a provider's tokenizer relates to the local count: a row of the models table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Provider tokens a local token.
    pub per_token: f64,
    /// Provider tokens that frame one item of a user, a tool or the harness.
    pub per_item: f64,
    /// Provider tokens that frame one tool call of the model's.
    #[serde(default)]
    pub per_call: f64,
    /// Tokens a byte of hidden content: signatures, encrypted reasoning.
    #[serde(default)]
    pub per_opaque_byte: f64,
    /// Bytes of hidden content that stand for nothing.
    #[serde(default)]
    pub opaque_overhead: f64,
    /// Half the width of the 90 % interval, as a share of the estimate.
    pub spread: f64,
    /// Half the width of the 90 % interval that even the smallest estimate has, in tokens.
    pub spread_floor: f64,
    /// Where these numbers are from.
    #[serde(default)]
    pub source: String,
}

impl Tokenizer {
    fn price(&self) -> Parts {
        [self.per_token, self.per_item, self.per_call, 0.0, 0.0]
    }

    /// For models that no table knows: the local count as it is, and little trust in it.
    pub fn unknown() -> Tokenizer {
        Tokenizer {
            per_token: 1.1,
            per_item: 12.0,
            per_call: 20.0,
            per_opaque_byte: 0.15,
            opaque_overhead: 0.0,
            spread: 0.35,
            spread_floor: 40.0,
            source: String::new(),
        }
    }
}

/// A settled delta: what was counted here against what the provider reported.
#[derive(Debug, Clone, Copy)]
struct Settled {
    /// What is in it.
    parts: Parts,
    /// What was reported for all of it.
    reported: f64,
    /// The yardstick of its residual; see [`Calibration::yard`].
    yard: f64,
}

/// Local tokens, framed items, tool calls, digits, characters outside ASCII: what an estimate is made
/// of, or the price of each.
type Parts = [f64; PARTS];
const PARTS: usize = 5;

/// How one model counts, as far as this session has shown.
#[derive(Debug, Clone)]
pub struct Calibration {
    prior: Tokenizer,
    price: Parts,
    seen: VecDeque<Settled>,
    /// The 90th and 50th percentile of residuals, in yards.
    p90: f64,
    median: f64,
}

/// Settled deltas that are remembered: older ones tell of another phase of the work.
const MEMORY: usize = 300;
/// The weight of the models table's numbers, in settled deltas.
const PRIOR_WEIGHT: f64 = 4.0;
/// Residuals beyond this many yards weigh less (Huber).
const HUBER: f64 = 0.5;
/// An excess this many median residuals large is unlogged text, not a miscount.
const OUTLIER: f64 = 2.5;
/// The least yards an excess must have to be unlogged text, however well the counts have fitted.
const LEAST_OUTLIER: f64 = 0.35;

impl Calibration {
    /// What the models table says, before anything was seen.
    pub fn new(prior: Tokenizer) -> Calibration {
        Calibration {
            price: prior.price(),
            seen: VecDeque::new(),
            p90: 1.0,
            median: 1.0 / OUTLIER,
            prior,
        }
    }

    /// What an item is expected to cost, in provider tokens.
    pub fn estimate(&self, role: Role, kind: Kind, size: &Size) -> f64 {
        let parts = parts(role, kind, size);
        let text: f64 = parts.iter().zip(self.price).map(|(n, p)| n * p).sum();
        let text = text.max(0.0) + size.fixed as f64;
        let hidden =
            (size.opaque as f64 - self.prior.opaque_overhead).max(0.0) * self.prior.per_opaque_byte;
        if kind == Kind::Thinking {
            // Readable thinking may be a summary of what is hidden: the larger of the two.
            text.max(hidden)
        } else {
            text + hidden
        }
    }

    /// A residual's yardstick: the models table's 90 % error of such a sum.
    fn yard(&self, estimate: f64, items: usize) -> f64 {
        self.prior.spread * estimate + self.prior.spread_floor * (items as f64).sqrt()
    }

    /// Half the width of the 90 % interval around a sum of estimates.
    pub fn error(&self, estimate: f64, items: usize) -> f64 {
        if items == 0 {
            0.0
        } else {
            self.p90 * self.yard(estimate, items)
        }
    }

    /// How far a report may be from a sum of estimates before something else must explain it.
    pub fn tolerance(&self, estimate: f64, items: usize) -> f64 {
        let yards = (OUTLIER * self.median).clamp(LEAST_OUTLIER, 1.0);
        yards * self.yard(estimate, items)
    }

    /// Learns from a settled delta: the items in it, and what they cost together. Deltas with
    /// thinking or images teach nothing.
    pub fn learn(&mut self, items: &[(Role, Kind, Size)], reported: f64) {
        let teaches = |(_, kind, size): &(Role, Kind, Size)| {
            *kind != Kind::Thinking && size.fixed == 0 && size.opaque == 0 && size.counted
        };
        if items.is_empty() || !items.iter().all(teaches) {
            return;
        }
        let estimate: f64 = items.iter().map(|(r, k, s)| self.estimate(*r, *k, s)).sum();
        if self.seen.len() == MEMORY {
            self.seen.pop_front();
        }
        let mut sum = [0.0; PARTS];
        for (role, kind, size) in items {
            let parts = parts(*role, *kind, size);
            sum.iter_mut()
                .zip(parts)
                .for_each(|(sum, part)| *sum += part);
        }
        self.seen.push_back(Settled {
            parts: sum,
            reported,
            yard: self.yard(estimate, items.len()),
        });
        self.fit();
    }

    fn fit(&mut self) {
        for _ in 0..ROUNDS {
            // Weighted least squares, each price pulled towards the prior's as by PRIOR_WEIGHT
            // deltas of a typical size.
            let prior = self.prior.price();
            let yard = self.yard(TYPICAL[0] * prior[0], 1);
            let mut left = [[0.0; PARTS]; PARTS];
            let mut right = [0.0; PARTS];
            for (i, typical) in TYPICAL.into_iter().enumerate() {
                left[i][i] = PRIOR_WEIGHT * (typical / yard).powi(2);
                right[i] = left[i][i] * prior[i];
            }
            for d in &self.seen {
                let residual = self.residual(d).abs();
                let huber = if residual > HUBER {
                    HUBER / residual
                } else {
                    1.0
                };
                let weight = huber / (d.yard * d.yard);
                for (i, row) in left.iter_mut().enumerate() {
                    for (cell, part) in row.iter_mut().zip(d.parts) {
                        *cell += weight * d.parts[i] * part;
                    }
                    right[i] += weight * d.parts[i] * d.reported;
                }
            }
            let Some([per_token, per_item, per_call, per_digit, per_wide]) = solve(left, right)
            else {
                return;
            };
            self.price = [
                per_token.clamp(0.3 * prior[0], 3.0 * prior[0]),
                per_item.clamp(0.0, MOST_FRAMING),
                per_call.clamp(0.0, MOST_FRAMING),
                per_digit.clamp(-MOST_SKEW, MOST_SKEW),
                per_wide.clamp(-MOST_SKEW, MOST_SKEW),
            ];
        }
        let mut residuals: Vec<f64> = self.seen.iter().map(|d| self.residual(d).abs()).collect();
        residuals.sort_by(f64::total_cmp);
        // The prior's own quantiles count as some residuals do.
        let n = residuals.len() as f64;
        let trust = n / (n + 2.0 * PRIOR_WEIGHT);
        let quantile = |q: f64| residuals[((n * q) as usize).min(residuals.len() - 1)];
        self.p90 = trust * quantile(0.9) + (1.0 - trust);
        self.median = trust * quantile(0.5) + (1.0 - trust) / OUTLIER;
    }

    /// How far a delta is from its estimate, in yards.
    fn residual(&self, d: &Settled) -> f64 {
        let estimate: f64 = d.parts.iter().zip(self.price).map(|(n, p)| n * p).sum();
        (d.reported - estimate) / d.yard
    }
}

/// What an item is made of.
fn parts(role: Role, kind: Kind, size: &Size) -> Parts {
    let framed = role != Role::Assistant;
    let call = kind == Kind::ToolCall;
    [
        size.local as f64,
        f64::from(u8::from(framed)),
        f64::from(u8::from(call)),
        size.digits as f64,
        size.wide as f64,
    ]
}

/// Solves linear equations by elimination; `None` where they do not determine the unknowns.
fn solve(mut left: [Parts; PARTS], mut right: Parts) -> Option<Parts> {
    for i in 0..PARTS {
        // The prior's share of the diagonal keeps it away from 0; no pivoting is needed.
        let pivot = left[i][i];
        if !pivot.is_finite() || pivot.abs() < f64::MIN_POSITIVE {
            return None;
        }
        for row in i + 1..PARTS {
            let factor = left[row][i] / pivot;
            let upper = left[i];
            for (cell, above) in left[row].iter_mut().zip(upper).skip(i) {
                *cell -= factor * above;
            }
            right[row] -= factor * right[i];
        }
    }
    let mut x = [0.0; PARTS];
    for i in (0..PARTS).rev() {
        let known: f64 = (i + 1..PARTS).map(|j| left[i][j] * x[j]).sum();
        x[i] = (right[i] - known) / left[i][i];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// Rounds of re-weighting: the weights settle within three.
const ROUNDS: usize = 3;
/// A typical delta, the prior's stand-in.
const TYPICAL: Parts = [400.0, 1.0, 1.0, 200.0, 200.0];
/// No digit or character costs this much more or less than the local count has for it.
const MOST_SKEW: f64 = 1.0;
/// No framing is larger than this, in tokens.
const MOST_FRAMING: f64 = 200.0;

/// An expected number of tokens with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Expected {
    /// The best guess.
    pub tokens: u64,
    /// One in twenty is below.
    pub low: u64,
    /// One in twenty is above.
    pub high: u64,
}

impl Expected {
    /// A known base with an estimate on top of it.
    pub fn around(base: u64, estimate: f64, error: f64) -> Expected {
        let at = |x: f64| base + x.max(0.0).round() as u64;
        Expected {
            tokens: at(estimate),
            low: at(estimate - error),
            high: at(estimate + error),
        }
    }
}
