//! From a local count to an estimate, with its error.
//!
//! An estimate is `per_token · local + per_item`, a constant of the item's class (its tool) on top,
//! plus images by their formula. The models table has the first numbers; the session's own
//! attributed deltas correct them, per exact model id. Robustly: reports that hidden text has swollen
//! weigh little. The error is computed from the same residuals.
//!
//! Two assumptions are tested against the deltas first (`judge`): what becomes of thinking, and that the
//! tokenizer is the table's. Where another is far more likely, it takes its place.

mod classes;
mod fit;
mod judge;
mod misses;
mod pictures;
mod tokenizer;
mod verdict;

use self::classes::{Class, ClassIx, Classes};
use self::judge::DECISIVE_MARGIN;
use self::misses::Misses;
pub use self::tokenizer::Tokenizer;
use crate::event::{Key, Size};
use crate::history::Item;
pub use crate::history::expectation::Expectation;
use crate::sizes::pictures::{Media, Pictures};
use crate::sizes::thinking::Thinking;
use crate::{Kind, Role};
use std::collections::VecDeque;

/// The properties of an item that its estimate depends on.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    role: Role,
    kind: Kind,
    size: Size,
    class: Class,
}

impl Sample {
    /// Returns the sample of an item.
    pub fn of(item: &Item) -> Sample {
        Sample {
            role: item.role,
            kind: item.kind,
            size: item.size,
            class: Class::of(item.kind, item.tool.as_deref()),
        }
    }

    /// Returns true if the price of text can be learned from the tokens that were reported for the item.
    fn teaches(&self) -> bool {
        let size = &self.size;
        self.kind != Kind::Thinking
            && size.fixed == 0
            && size.opaque == 0
            && size.counted
            && !size.partial
    }

    /// Returns its tokens by formula.
    pub(crate) fn media(&self) -> Media<u64> {
        Media::of(&self.size)
    }

    /// Returns true if the item is framed and may thus cost what its class costs.
    fn is_framed(&self) -> bool {
        self.role != Role::Assistant
    }

    fn parts(&self) -> Parts {
        let one_if = |it: bool| f64::from(u8::from(it));
        [
            self.size.local.into(),
            one_if(self.is_framed()),
            one_if(self.kind == Kind::ToolCall),
            self.size.digits.into(),
            self.size.wide.into(),
            self.size.marks.into(),
        ]
    }
}

/// A delta that was attributed: the items that were counted here, to be compared with the tokens that were reported.
#[derive(Debug, Clone)]
struct AttributedDelta {
    /// The parts of its items.
    parts: Parts,
    /// The number of items.
    items: usize,
    /// The classes of its framed items.
    classes: Vec<ClassIx>,
    /// The tokens that the prior expects of it.
    expected: f64,
    /// The tokens that were reported for all of it, by what becomes of thinking.
    reported: [f64; 3],
    /// The yardstick of its residual; see [`Calibration::yard`].
    yard: f64,
}

impl AttributedDelta {
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

/// The calibration of one model's token counts, as far as this session has shown it.
#[derive(Debug, Clone)]
pub struct Calibration {
    prior: Tokenizer,
    /// The treatment of thinking, as far as the reports have shown it.
    pub(super) thinking: Thinking,
    /// True if the log shows no thinking where it was reported.
    pub(super) hidden: bool,
    /// The treatment of pictures, as far as it is known.
    pub(super) pictures: Media<Pictures>,
    /// The cost of a token, as a multiple of the prior's price: `usual` unless reports have refuted that.
    scale: f64,
    /// The expected value of `scale`: 1 unless earlier sessions have shown another.
    usual: f64,
    /// The distance of a scale that is more likely, though not yet beyond doubt.
    doubt: f64,
    /// The scale with which past requests were last attributed.
    attributed_scale: f64,
    price: Parts,
    /// The costs of classes beyond `price`.
    classes: Classes,
    seen: VecDeque<AttributedDelta>,
    /// The 90th and 50th percentile of residuals, in yards.
    p90: f64,
    median: f64,
    misses: Misses,
}

/// Settled deltas that are kept: older ones belong to another phase of the work.
const MOST_DELTAS: usize = 300;
/// An excess this many median residuals large is unlogged text, not a miscount.
const OUTLIER_RESIDUALS: f64 = 2.5;
/// The least yards an excess must have to be unlogged text, however well the counts have fitted.
const LEAST_OUTLIER_YARDS: f64 = 0.35;

impl Default for Calibration {
    fn default() -> Calibration {
        Calibration::new(Tokenizer::default())
    }
}

impl Calibration {
    /// Returns the models table's numbers, before anything was seen.
    pub fn new(prior: Tokenizer) -> Calibration {
        Calibration::scaled(prior, 1.0)
    }

    /// Returns a calibration for a model whose tokens cost `usual` times the price in the table, as earlier sessions
    /// have shown.
    pub(crate) fn scaled(prior: Tokenizer, usual: f64) -> Calibration {
        Calibration {
            thinking: prior.thinking,
            hidden: false,
            pictures: Media {
                images: prior.pictures,
                documents: prior.documents,
            },
            scale: usual,
            usual,
            doubt: 0.0,
            attributed_scale: usual,
            price: prior.price_times(usual),
            classes: Classes::new(prior.extra()),
            seen: VecDeque::new(),
            p90: 1.0,
            median: 1.0 / OUTLIER_RESIDUALS,
            misses: Misses::default(),
            prior,
        }
    }

    /// Returns the expected cost of an item, in provider tokens.
    pub fn estimate(&self, item: &Sample) -> f64 {
        self.estimate_if(self.pictures, item)
    }

    /// Like [`Calibration::estimate`], but assumes this treatment of pictures.
    fn estimate_if(&self, pictures: Media<Pictures>, item: &Sample) -> f64 {
        let text = dot(item.parts(), self.price).max(0.0) + pictures.cost(item.media());
        let hidden = (f64::from(item.size.opaque) - self.prior.opaque_overhead).max(0.0)
            * self.prior.per_opaque_byte;
        if item.kind == Kind::Thinking {
            // Readable thinking may be a summary of what is hidden: the larger of the two.
            self.prior.whole_thinking(text).max(hidden)
        } else if item.is_framed() {
            (text + hidden + self.classes.extra_of(item.class)).max(1.0)
        } else {
            text + hidden
        }
    }

    /// Returns a residual's yardstick: the models table's 90 % error of such a sum.
    fn yard(&self, estimate: f64, items: usize) -> f64 {
        self.prior.spread * estimate + self.prior.spread_floor * (items as f64).sqrt()
    }

    /// Returns half the width of the 90 % interval around a sum of estimates.
    pub fn error(&self, estimate: f64, items: usize) -> f64 {
        self.spread().around(estimate, items)
    }

    /// Returns the present width of the 90 % interval.
    pub(crate) fn spread(&self) -> Spread {
        Spread {
            share: self.p90 * self.prior.spread + self.doubt,
            floor: self.p90 * self.prior.spread_floor,
            pictures: self.pictures,
            slack: self.misses.slack(),
        }
    }

    /// Returns the prompt to expect of a request, with the slack that earlier reports have shown to be needed. Notes its
    /// report.
    pub(crate) fn note_report(
        &mut self,
        request: Key,
        expected: Expectation,
        prompt: u64,
    ) -> Expectation {
        self.misses.take_back(request);
        let [below, above] = self.misses.slack();
        self.misses.note(request, expected, prompt);
        Expectation {
            low: expected.low.saturating_sub(below.into()),
            high: expected.high.saturating_add(above.into()),
            ..expected
        }
    }

    /// Returns the largest distance of a report from a sum of estimates that needs no other explanation, in tokens.
    pub fn tolerance(&self, estimate: f64, items: usize) -> f64 {
        let yards = (OUTLIER_RESIDUALS * self.median).clamp(LEAST_OUTLIER_YARDS, 1.0);
        yards * self.yard(estimate, items)
    }

    /// Returns the number of attributed deltas that it has learned from. The newest of them count.
    pub(crate) fn deltas(&self) -> usize {
        self.seen.len()
    }

    /// Returns true if a report may be far from the estimate of a single item because nothing has shown yet that the
    /// prior fits.
    pub(crate) fn is_open(&self) -> bool {
        self.seen.len() < PROVING_DELTAS
    }

    /// Learns from an attributed delta: its items, and the tokens that they cost together, by what becomes of
    /// thinking. A delta with images, or with thinking that is not attributed, teaches nothing. Returns whether what was attributed
    /// before is to be attributed again.
    pub fn learn(&mut self, items: &[Sample], reported: [f64; 3]) -> bool {
        let differ = reported.iter().any(|tokens| *tokens != reported[0]);
        let costs = !items.is_empty() && reported.iter().any(|tokens| *tokens > 0.0);
        if !(costs || differ) || !items.iter().all(Sample::teaches) {
            return false;
        }
        let estimate: f64 = items.iter().map(|item| self.estimate(item)).sum();
        if self.seen.len() == MOST_DELTAS {
            self.seen.pop_front();
        }
        let mut sum = [0.0; PARTS];
        for item in items {
            sum.iter_mut()
                .zip(item.parts())
                .for_each(|(sum, part)| *sum += part);
        }
        let framed = items.iter().filter(|item| item.is_framed());
        let classes: Vec<ClassIx> = framed.map(|item| self.classes.ix(item.class)).collect();
        self.seen.push_back(AttributedDelta {
            parts: sum,
            items: items.len(),
            expected: (dot(sum, self.prior.price_times(1.0)) + self.classes.expected(&classes))
                .max(0.0),
            classes,
            reported,
            yard: self.yard(estimate, items.len()),
        });
        let is_other = self.judge(DECISIVE_MARGIN);
        self.fit();
        is_other
    }
}

#[inline]
fn dot(a: Parts, b: Parts) -> f64 {
    a.iter().enumerate().map(|(i, a)| a * b[i]).sum()
}

/// The number of deltas that shows whether the prior fits.
const PROVING_DELTAS: usize = 3;

/// The width of the 90 % interval of estimates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Half its width, as a share of the estimate.
    share: f64,
    /// Half the width that even the smallest estimate has, in tokens.
    floor: f64,
    /// The treatment of pictures.
    pictures: Media<Pictures>,
    /// The tokens by which reports were outside of this width, below and above.
    slack: [u32; 2],
}

impl Spread {
    /// Returns the tokens by which the interval of a context is wider than that of its items, below and above.
    pub(crate) fn slack(self) -> [u64; 2] {
        self.slack.map(u64::from)
    }

    /// Returns half the width around a sum of estimates, in tokens.
    pub(crate) fn around(self, estimate: f64, items: usize) -> f64 {
        self.share * estimate + self.floor * (items as f64).sqrt()
    }

    /// Returns the distance from a sum of estimates down to the beginning of the interval, where pictures in it have
    /// this many tokens by formula: they may not have been sent at all.
    pub(crate) fn below(self, estimate: f64, items: usize, pictures: Media<u64>) -> f64 {
        let doubt = (self.pictures.doubt(pictures) as f64).min(estimate);
        self.around(estimate - doubt, items) + doubt
    }
}
