//! Computes the expected cost of items with pictures.

use super::Items;
use crate::history::ItemIx;
use crate::sizes::calibration::{Expectation, Sample};
use crate::sizes::pictures::{Media, Pictures};

impl Items {
    /// Returns the prompt to expect that holds these items beside `base` tokens.
    pub(crate) fn expected(&self, base: u64, items: &[ItemIx]) -> Expectation {
        let sum: f64 = items.iter().map(|ix| self.estimate(*ix)).sum();
        let media = |kind: fn(Media<u64>) -> u64| {
            let sizes = items.iter().map(|ix| Media::of(&self.list[*ix].size));
            sizes.map(kind).sum()
        };
        let pictures = Media {
            images: media(|media| media.images),
            documents: media(|media| media.documents),
        };
        let spread = self.calibrations.current().spread();
        let errors = [
            spread.below(sum, items.len(), pictures),
            spread.around(sum, items.len()),
        ];
        Expectation::between(base, sum, errors)
    }

    /// Learns from items that left `rest` tokens of a prompt. Returns whether pictures cost otherwise than was
    /// believed.
    pub(crate) fn judge_pictures(&mut self, items: &[ItemIx], rest: f64) -> bool {
        if items.iter().all(|ix| self.list[*ix].size.fixed == 0) {
            return false;
        }
        let samples: Vec<Sample> = items.iter().map(|ix| Sample::of(&self.list[*ix])).collect();
        let pictures = self.calibrations.current().pictures_by(&samples, rest);
        self.set_pictures(pictures)
    }

    /// Sets the treatment of pictures. Returns true if they cost otherwise than was assumed.
    pub(crate) fn set_pictures(&mut self, pictures: Media<Pictures>) -> bool {
        let is_other = pictures.differs(self.calibrations.current().pictures);
        if is_other {
            self.keep_unattributed();
            self.estimated = None;
        }
        self.calibrations.current_mut().set_pictures(pictures);
        is_other
    }
}
