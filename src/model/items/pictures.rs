//! What items with pictures are expected to cost.

use super::Items;
use crate::model::calibration::{Expected, Sample};
use crate::model::history::ItemIx;
use crate::model::pictures::Pictures;

impl Items {
    /// The prompt to expect that holds these items beside `base` tokens.
    pub(in crate::model) fn expected(&self, base: u64, items: &[ItemIx]) -> Expected {
        let sum: f64 = items.iter().map(|ix| self.estimate(*ix)).sum();
        let pictures = items.iter().map(|ix| self.list[*ix].size.fixed).sum();
        let spread = self.calibrations.current().spread();
        let errors = [
            spread.below(sum, items.len(), pictures),
            spread.around(sum, items.len()),
        ];
        Expected::between(base, sum, errors)
    }

    /// These items left `rest` tokens of a prompt. Returns whether pictures cost otherwise than was believed.
    pub(in crate::model) fn judge_pictures(&mut self, items: &[ItemIx], rest: f64) -> bool {
        let samples = items.iter().map(|ix| Sample::of(&self.list[*ix]));
        let samples: Vec<Sample> = samples.collect();
        let calibration = self.calibrations.current();
        match samples.iter().any(Sample::has_pictures) {
            true => self.set_pictures(calibration.pictures_by(&samples, rest)),
            false => false,
        }
    }

    /// What becomes of pictures is this. Returns whether they cost otherwise than was believed.
    pub(in crate::model) fn set_pictures(&mut self, pictures: Pictures) -> bool {
        let calibration = self.calibrations.current();
        let is_replaced = |it: Pictures| it == Pictures::Replaced;
        let is_other = is_replaced(pictures) != is_replaced(calibration.pictures());
        if is_other {
            self.keep_unsettled();
            self.forget_estimates();
        }
        self.calibrations.current_mut().set_pictures(pictures);
        is_other
    }
}
