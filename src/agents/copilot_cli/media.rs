//! What images cost. Copilot's documentation does not say how it counts them: the formula is that of the
//! model's maker.

use super::events::Binary;
use crate::agents::image;
use crate::agents::lenient::{Piece, Pieces};
use crate::model::event::ItemBuilder;

/// Whose formula holds for images.
#[derive(Clone, Copy)]
pub(super) enum Speaks {
    Claude,
    Other,
}

pub(super) fn pictures<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    binaries: &Pieces<'_, Binary<'_>>,
    speaks: Speaks,
) -> ItemBuilder<'s, 'm> {
    binaries.0.iter().fold(item, |item, piece| match piece {
        Piece::Part(media) => picture(item, media, speaks),
        Piece::Text(_) => item,
    })
}

pub(super) fn picture<'s, 'm>(
    item: ItemBuilder<'s, 'm>,
    media: &Binary<'_>,
    speaks: Speaks,
) -> ItemBuilder<'s, 'm> {
    let tokens = match (image::dimensions(media.data.or_empty()), speaks) {
        (Some((width, height)), Speaks::Claude) => image::claude(width, height),
        (Some((width, height)), Speaks::Other) => image::openai(width, height),
        (None, _) => image::DEFAULT,
    };
    item.fixed(tokens, "[image]")
}
