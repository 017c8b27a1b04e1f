//! What is painted, without a terminal: styled text, areas of the screen, and what a click on an area does. The state
//! of the screens and the views, which draw it, share these types.

mod area;
mod hits;
mod piece;

pub use area::Area;
pub use hits::{Hit, HitMap};
pub use piece::{Piece, Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width};
