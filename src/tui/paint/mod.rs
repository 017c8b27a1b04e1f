//! Defines the content of a screen without a terminal: styled text, areas of the screen, and the effect of a click on
//! an area. The state of the screens and the views, which draw it, share these types.

mod area;
mod hits;
mod piece;

pub use area::Area;
pub use hits::{Hit, HitMap};
pub use piece::{
    Piece, Pieces, Tone, fitted, joined, joined_width, piece, plain, quiet, strong, width,
};
