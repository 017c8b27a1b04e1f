//! The tokens of images. Copilot's documentation does not describe how it counts them: the formula is that of the
//! model's maker.

use super::events::Binary;
use decode::image::{self, Formula};
use model::event::ItemBuilder;

pub(super) fn pictures<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    binaries: &[Binary<'_>],
    formula: Formula,
) -> ItemBuilder<'s, 'm> {
    binaries
        .iter()
        .fold(item, |item, media| picture(item, media, formula))
}

pub(super) fn picture<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    media: &Binary<'_>,
    formula: Formula,
) -> ItemBuilder<'s, 'm> {
    let tokens = image::tokens(media.data.or_empty(), formula, image::DEFAULT);
    item.fixed(tokens, "[image]")
}
