//! From a local count to an estimate, with its error.
//!
//! An estimate is `per_token · local + per_item`, a constant of the item's class (its tool) on top,
//! plus images by their formula. The models table has the first numbers; the session's own
//! settled deltas correct them, per exact model id. Robustly: reports that hidden text has swollen
//! weigh little. The error is computed from the same residuals.
//!
//! Two assumptions are tested against the deltas first (`judge`): what becomes of thinking, and that the
//! tokenizer is the table's. Where another is far more likely, it takes its place.

mod judge;
mod tokenizer;
mod verdict;

use self::judge::DECISIVE;
pub use self::tokenizer::Tokenizer;
use super::event::Size;
use super::history::Item;
use super::thinking::Thinking;
use super::{Kind, Role};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The properties of an item that its estimate depends on.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    role: Role,
    kind: Kind,
    size: Size,
    class: Class,
}

/// Items with similar framing: results of one tool, reminders, summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Class(u64);

impl Class {
    fn of(kind: Kind, tool: Option<&str>) -> Class {
        let mut hasher = DefaultHasher::new();
        (kind, tool).hash(&mut hasher);
        Class(hasher.finish())
    }
}

impl Sample {
    /// An item's.
    pub fn of(item: &Item) -> Sample {
        Sample {
            role: item.role,
            kind: item.kind,
            size: item.size,
            class: Class::of(item.kind, item.tool.as_deref()),
        }
    }

    /// Whether text can be learned from what was reported for it.
    fn teaches(&self) -> bool {
        let size = &self.size;
        self.kind != Kind::Thinking
            && size.fixed == 0
            && size.opaque == 0
            && size.counted
            && !size.partial
    }

    /// Whether it is framed, and may thus cost what its class costs.
    fn is_framed(&self) -> bool {
        self.role != Role::Assistant
    }

    fn parts(&self) -> Parts {
        let one_if = |it: bool| f64::from(u8::from(it));
        [
            self.size.local as f64,
            one_if(self.is_framed()),
            one_if(self.kind == Kind::ToolCall),
            self.size.digits as f64,
            self.size.wide as f64,
            self.size.marks as f64,
        ]
    }
}

/// A settled delta: what was counted here against what the provider reported.
#[derive(Debug, Clone)]
struct Settled {
    /// What is in it.
    parts: Parts,
    /// How many items.
    items: usize,
    /// The classes of its framed items.
    classes: Vec<Class>,
    /// What was reported for all of it, by what becomes of thinking.
    reported: [f64; 3],
    /// The yardstick of its residual; see [`Calibration::yard`].
    yard: f64,
}

impl Settled {
    fn depends_on_thinking(&self) -> bool {
        self.reported
            .iter()
            .any(|tokens| *tokens != self.reported[0])
    }
}

/// Local tokens, framed items, tool calls, digits, letters and other characters outside ASCII: what an
/// estimate is made of, or the price of each.
type Parts = [f64; PARTS];
const PARTS: usize = 6;

/// How one model counts, as far as this session has shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Calibration {
    #[serde(with = "tokenizer::numbers")]
    prior: Tokenizer,
    /// What becomes of thinking, as far as the reports have shown.
    thinking: Thinking,
    /// Whether the log shows no thinking where it was reported.
    hidden: bool,
    /// What a token costs, as a multiple of the prior's price: 1 unless reports have refuted that.
    scale: f64,
    /// How far away a scale is that is more likely, though not yet beyond doubt.
    doubt: f64,
    /// The scale with which past requests were last settled.
    settled_scale: f64,
    price: Parts,
    /// What a class costs beyond `price`.
    extra: BTreeMap<Class, f64>,
    #[serde(skip)]
    seen: VecDeque<Settled>,
    /// The 90th and 50th percentile of residuals, in yards.
    p90: f64,
    median: f64,
}

/// Settled deltas that are kept: older ones belong to another phase of the work.
const MEMORY: usize = 300;
/// The weight of the models table's prices, in settled deltas.
const PRIOR_WEIGHT: f64 = 5.0;
/// The weight of the models table's price of a class, in settled deltas.
const CLASS_PRIOR_WEIGHT: f64 = 6.0;
/// Residuals beyond this many yards weigh less (Huber).
const HUBER: f64 = 0.35;
/// An excess this many median residuals large is unlogged text, not a miscount.
const OUTLIER: f64 = 2.5;
/// The least yards an excess must have to be unlogged text, however well the counts have fitted.
const LEAST_OUTLIER: f64 = 0.35;

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration::new(Tokenizer::default())
    }
}

impl Calibration {
    /// The models table's numbers, before anything was seen.
    pub fn new(prior: Tokenizer) -> Calibration {
        Calibration {
            thinking: prior.thinking,
            hidden: false,
            scale: 1.0,
            doubt: 0.0,
            settled_scale: 1.0,
            price: prior.price(),
            extra: prior.extra(),
            seen: VecDeque::new(),
            p90: 1.0,
            median: 1.0 / OUTLIER,
            prior,
        }
    }

    /// Forgets the deltas that it has learned from. It cannot learn any more.
    pub(super) fn forget_deltas(&mut self) {
        self.seen = VecDeque::new();
    }

    /// What an item is expected to cost, in provider tokens.
    pub fn estimate(&self, item: &Sample) -> f64 {
        let text = dot(item.parts(), self.price).max(0.0) + item.size.fixed as f64;
        let hidden = (item.size.opaque as f64 - self.prior.opaque_overhead).max(0.0)
            * self.prior.per_opaque_byte;
        if item.kind == Kind::Thinking {
            // Readable thinking may be a summary of what is hidden: the larger of the two.
            self.prior.whole_thinking(text).max(hidden)
        } else if item.is_framed() {
            (text + hidden + self.extra_of(item.class)).max(1.0)
        } else {
            text + hidden
        }
    }

    fn extra_of(&self, class: Class) -> f64 {
        self.extra.get(&class).copied().unwrap_or(0.0)
    }

    /// A residual's yardstick: the models table's 90 % error of such a sum.
    fn yard(&self, estimate: f64, items: usize) -> f64 {
        self.prior.spread * estimate + self.prior.spread_floor * (items as f64).sqrt()
    }

    /// Half the width of the 90 % interval around a sum of estimates.
    pub fn error(&self, estimate: f64, items: usize) -> f64 {
        self.spread().around(estimate, items)
    }

    /// How wide the 90 % interval is now.
    pub(super) fn spread(&self) -> Spread {
        Spread {
            share: self.p90 * self.prior.spread + self.doubt,
            floor: self.p90 * self.prior.spread_floor,
        }
    }

    /// How far a report may be from a sum of estimates before something else must explain it.
    pub fn tolerance(&self, estimate: f64, items: usize) -> f64 {
        let yards = (OUTLIER * self.median).clamp(LEAST_OUTLIER, 1.0);
        yards * self.yard(estimate, items)
    }

    /// What becomes of the model's thinking.
    pub fn thinking(&self) -> Thinking {
        self.thinking
    }

    /// Whether a report may be far from the estimate of a single item because nothing has shown yet
    /// whether the prior fits.
    pub(super) fn is_open(&self) -> bool {
        self.seen.len() < PROVEN
    }

    /// Learns from a settled delta: the items in it, and what they cost together, by what becomes of
    /// thinking. Deltas with unsettled thinking or images teach nothing. Returns whether what was settled
    /// before is to be settled again.
    pub fn learn(&mut self, items: &[Sample], reported: [f64; 3]) -> bool {
        let differ = reported.iter().any(|tokens| *tokens != reported[0]);
        let costs = !items.is_empty() && reported.iter().any(|tokens| *tokens > 0.0);
        if !(costs || differ) || !items.iter().all(Sample::teaches) {
            return false;
        }
        let estimate: f64 = items.iter().map(|item| self.estimate(item)).sum();
        if self.seen.len() == MEMORY {
            self.seen.pop_front();
        }
        let mut sum = [0.0; PARTS];
        for item in items {
            sum.iter_mut()
                .zip(item.parts())
                .for_each(|(sum, part)| *sum += part);
        }
        let framed = items.iter().filter(|item| item.is_framed());
        self.seen.push_back(Settled {
            parts: sum,
            items: items.len(),
            classes: framed.map(|item| item.class).collect(),
            reported,
            yard: self.yard(estimate, items.len()),
        });
        let is_other = self.judge(DECISIVE);
        self.fit();
        is_other
    }

    /// Whether the log shows no thinking where some was reported.
    pub(super) fn hides_thinking(&self) -> bool {
        self.hidden
    }

    /// The deltas that a fit is made of.
    fn usable(&self) -> impl Iterator<Item = &Settled> {
        let thinking = self.thinking.index();
        let seen = self.seen.iter();
        seen.filter(move |d| d.items > 0 && d.reported[thinking] > 0.0)
    }

    /// What a token and its like cost before anything was seen, and what framing does.
    fn expected_price(&self) -> Parts {
        let [token, item, call, digit, wide, mark] = self.prior.price();
        let scale = self.scale;
        [
            token * scale,
            item,
            call,
            digit * scale,
            wide * scale,
            mark * scale,
        ]
    }

    fn fit(&mut self) {
        for _ in 0..ROUNDS {
            self.fit_prices();
            self.fit_classes();
        }
        self.fit_errors();
    }

    /// Weighted least squares, each price pulled towards the prior's as by [`PRIOR_WEIGHT`] deltas of
    /// a typical size.
    fn fit_prices(&mut self) {
        let prior = self.expected_price();
        let yard = self.yard(TYPICAL[0] * prior[0], 1);
        let mut left = [[0.0; PARTS]; PARTS];
        let mut right = [0.0; PARTS];
        for (i, typical) in TYPICAL.into_iter().enumerate() {
            left[i][i] = PRIOR_WEIGHT * (typical / yard).powi(2);
            right[i] = left[i][i] * prior[i];
        }
        for d in self.usable() {
            let weight = huber(self.residual(d)) / (d.yard * d.yard);
            let reported = d.reported[self.thinking.index()] - self.extras(d);
            for (i, row) in left.iter_mut().enumerate() {
                for (cell, part) in row.iter_mut().zip(d.parts) {
                    *cell += weight * d.parts[i] * part;
                }
                right[i] += weight * d.parts[i] * reported;
            }
        }
        let Some([token, item, call, digit, wide, mark]) = solve(left, right) else {
            return;
        };
        self.price = [
            token.clamp(0.3 * prior[0], 3.0 * prior[0]),
            item.clamp(0.0, MOST_FRAMING),
            call.clamp(0.0, MOST_FRAMING),
            digit.clamp(-MOST_SKEW, MOST_SKEW),
            wide.clamp(-MOST_SKEW, MOST_SKEW),
            mark.clamp(-MOST_MARK_SKEW, MOST_MARK_SKEW),
        ];
    }

    /// What is left after the prices, by class, pulled towards the prior's.
    fn fit_classes(&mut self) {
        let prior = self.prior.extra();
        let usual = self.yard(TYPICAL[0] * self.prior.per_token, 1);
        let pull = CLASS_PRIOR_WEIGHT / (usual * usual);
        let mut sums: BTreeMap<Class, (f64, f64)> = BTreeMap::new();
        for d in self.usable() {
            let off = self.residual(d);
            let weight = huber(off) / (d.yard * d.yard);
            // What the delta is off by is its items' alike.
            let share = off * d.yard / d.classes.len().max(1) as f64;
            for class in &d.classes {
                let (sum, n) = sums.entry(*class).or_default();
                *sum += weight * (share + self.extra_of(*class));
                *n += weight;
            }
        }
        for (class, (sum, n)) in sums {
            let expected = prior.get(&class).copied().unwrap_or(0.0);
            let extra = (sum + pull * expected) / (n + pull);
            self.extra
                .insert(class, extra.clamp(-MOST_FRAMING, MOST_FRAMING));
        }
    }

    /// How far the settled deltas are from their estimates now.
    fn fit_errors(&mut self) {
        let mut residuals: Vec<f64> = self.usable().map(|d| self.residual(d).abs()).collect();
        if residuals.is_empty() {
            (self.p90, self.median) = (1.0, 1.0 / OUTLIER);
            return;
        }
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
        (d.reported[self.thinking.index()] - dot(d.parts, self.price) - self.extras(d)) / d.yard
    }

    fn extras(&self, d: &Settled) -> f64 {
        d.classes.iter().map(|class| self.extra_of(*class)).sum()
    }
}

fn dot(a: Parts, b: Parts) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The weight of a residual, in yards: far ones weigh less.
fn huber(residual: f64) -> f64 {
    if residual.abs() > HUBER {
        HUBER / residual.abs()
    } else {
        1.0
    }
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

/// So many deltas show whether the prior fits.
const PROVEN: usize = 3;
/// Rounds of re-weighting: the weights settle within three.
const ROUNDS: usize = 3;
/// A typical delta, which represents the prior.
const TYPICAL: Parts = [400.0, 1.0, 1.0, 200.0, 200.0, 50.0];
/// The most that a mark costs more or less than its local count.
const MOST_MARK_SKEW: f64 = 3.0;
/// The most that a digit or letter costs more or less than its local count.
const MOST_SKEW: f64 = 1.0;
/// The largest framing, in tokens.
const MOST_FRAMING: f64 = 200.0;

/// How wide the 90 % interval of estimates is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Spread {
    /// Half its width, as a share of the estimate.
    share: f64,
    /// Half the width that even the smallest estimate has, in tokens.
    floor: f64,
}

impl Spread {
    /// Half the width around a sum of estimates, in tokens.
    pub(super) fn around(self, estimate: f64, items: usize) -> f64 {
        self.share * estimate + self.floor * (items as f64).sqrt()
    }
}

/// An expected number of tokens with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
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
