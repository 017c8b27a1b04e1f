//! Determines how many colours a terminal has, and which of them is the nearest to another colour.

use ratatui::style::{Color, Style};
use std::ffi::OsString;

/// The colours that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourDepth {
    /// The 256 of xterm's palette.
    Indexed,
    /// All of 24 bits.
    True,
}

/// The steps of red, green and blue in the cube of xterm's palette, which takes the indexes from 16 on;
/// source: `256colres.pl` of xterm.
const CUBE_STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// The first index of the cube.
const CUBE_START: u8 = 16;
/// The first index of the greys, which are 8 + 10 n.
const GREYS_START: u8 = 232;

impl ColourDepth {
    /// Determines the depth from `COLORTERM`: `truecolor` or `24bit` mean all of 24 bits.
    pub fn of(env: &dyn Fn(&str) -> Option<OsString>) -> ColourDepth {
        match env("COLORTERM").as_deref().and_then(|value| value.to_str()) {
            Some("truecolor" | "24bit") => ColourDepth::True,
            _ => ColourDepth::Indexed,
        }
    }

    /// Returns the style with the nearest colours that can be shown.
    pub(super) fn reduce(self, style: Style) -> Style {
        if self == ColourDepth::True {
            return style;
        }
        Style {
            fg: style.fg.map(nearest),
            bg: style.bg.map(nearest),
            ..style
        }
    }
}

/// Returns the nearest of the 240 colours that are equal on all terminals; the user may change the first 16.
fn nearest(colour: Color) -> Color {
    let Color::Rgb(r, g, b) = colour else {
        return colour;
    };
    let off = |index: &u8| {
        let (x, y, z) = components(*index);
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(r, x) + square(g, y) + square(b, z)
    };
    (CUBE_START..=u8::MAX)
        .min_by_key(off)
        .map_or(colour, Color::Indexed)
}

/// Returns red, green and blue of an index from 16 on.
pub(super) fn components(index: u8) -> (u8, u8, u8) {
    if let Some(grey) = index.checked_sub(GREYS_START) {
        let grey = 8 + 10 * grey;
        return (grey, grey, grey);
    }
    let at = usize::from(index.saturating_sub(CUBE_START));
    (
        CUBE_STEPS[at / 36 % 6],
        CUBE_STEPS[at / 6 % 6],
        CUBE_STEPS[at % 6],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_nearest_are_found() {
        for (rgb, index) in [
            (Color::Rgb(0, 0, 0), 16),
            (Color::Rgb(255, 255, 255), 231),
            (Color::Rgb(255, 0, 0), 196),
            (Color::Rgb(95, 135, 175), 67),
            (Color::Rgb(9, 8, 7), 232),
            (Color::Rgb(238, 238, 238), 255),
            (Color::Rgb(28, 30, 36), 234),
        ] {
            assert_eq!(nearest(rgb), Color::Indexed(index), "{rgb}");
        }
        assert_eq!(nearest(Color::Cyan), Color::Cyan);
    }

    #[test]
    fn colorterm_sets_the_depth() {
        for (value, depth) in [
            (Some("truecolor"), ColourDepth::True),
            (Some("24bit"), ColourDepth::True),
            (Some("yes"), ColourDepth::Indexed),
            (None, ColourDepth::Indexed),
        ] {
            let env = |name: &str| value.filter(|_| name == "COLORTERM").map(OsString::from);
            assert_eq!(ColourDepth::of(&env), depth, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn colours_of_the_palette_stay(index in CUBE_START..=u8::MAX) {
            let (r, g, b) = components(index);
            let Color::Indexed(found) = nearest(Color::Rgb(r, g, b)) else {
                panic!("not indexed");
            };
            prop_assert_eq!(components(found), (r, g, b));
        }
    }
}
