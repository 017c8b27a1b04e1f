//! Whether the model gets pictures, by what the prompt grew by after one was logged.

use super::{Calibration, Sample};
use crate::model::pictures::Pictures;

impl Calibration {
    /// What becomes of pictures, as far as it is known.
    pub(in crate::model) fn pictures(&self) -> Pictures {
        self.pictures
    }

    /// From now on it is this.
    pub(in crate::model) fn set_pictures(&mut self, pictures: Pictures) {
        self.pictures = pictures;
    }

    /// What becomes of pictures if these items, some of them with pictures, left `rest` tokens of a prompt: what
    /// alone fits that, else what it was.
    pub(in crate::model) fn pictures_by(&self, items: &[Sample], rest: f64) -> Pictures {
        let fits = |pictures: &Pictures| {
            let estimates = items.iter().map(|item| self.estimate_if(*pictures, item));
            let sum: f64 = estimates.sum();
            (rest - sum).abs() <= self.error(sum, items.len())
        };
        match [Pictures::Sent, Pictures::Replaced].map(|it| (it, fits(&it))) {
            [(sent, true), (_, false)] => sent,
            [(_, false), (replaced, true)] => replaced,
            // Something else came or went, or the pictures are too small to tell.
            _ => self.pictures,
        }
    }
}
