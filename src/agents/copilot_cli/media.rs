//! The tokens of images. Copilot's documentation does not describe how it counts them: the formula is that of the
//! model's maker.

use super::events::Binary;
use crate::agents::image;
use crate::model::event::ItemBuilder;

/// The maker whose formula applies to images.
#[derive(Clone, Copy)]
pub(super) enum Formula {
    Claude,
    Other,
}

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
    let tokens = match (image::dimensions(media.data.or_empty()), formula) {
        (Some((width, height)), Formula::Claude) => image::claude(width, height),
        (Some((width, height)), Formula::Other) => image::openai(width, height),
        (None, _) => image::DEFAULT,
    };
    item.fixed(tokens, "[image]")
}
