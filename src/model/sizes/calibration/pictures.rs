//! Learns whether the model gets pictures from the growth of the prompt after one was logged.

use super::{Calibration, Sample};
use crate::sizes::pictures::{Media, Pictures};

impl Calibration {
    /// Sets what becomes of pictures from now on.
    pub(crate) fn set_pictures(&mut self, pictures: Media<Pictures>) {
        self.pictures = pictures;
    }

    /// Returns the treatment of pictures if these items left `rest` tokens of a prompt: the only one that fits this,
    /// else the one before. Where the models table names it, a prompt that fell short has another cause.
    pub(crate) fn pictures_by(&self, items: &[Sample], rest: f64) -> Media<Pictures> {
        let has = |prior: Pictures, kind: fn(Media<u64>) -> u64| {
            prior == Pictures::Unknown && items.iter().any(|item| kind(item.media()) > 0)
        };
        let are_there = Media {
            images: has(self.prior.pictures, |media| media.images),
            documents: has(self.prior.documents, |media| media.documents),
        };
        if are_there == Media::default() {
            return self.pictures;
        }
        let fit = |new: Pictures| {
            let pictures = self.pictures.with(new, are_there);
            let estimates = items.iter().map(|item| self.estimate_if(pictures, item));
            let sum: f64 = estimates.sum();
            let fits = (rest - sum).abs() <= self.error(sum, items.len());
            fits.then_some(pictures)
        };
        match (fit(Pictures::Sent), fit(Pictures::Replaced)) {
            (Some(shown), None) | (None, Some(shown)) => shown,
            // Something else came or went, or the pictures are too small to tell.
            _ => self.pictures,
        }
    }
}
