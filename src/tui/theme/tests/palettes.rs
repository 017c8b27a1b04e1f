//! The themes without colours of their own on the palettes that terminals have: what must be read can be read.

use super::contrast;
use crate::paint::Tone;
use crate::theme::{Theme, colour_depth};
use ratatui::style::{Color, Modifier, Style};
use strum::IntoEnumIterator;

/// The colours of a terminal.
struct Palette {
    name: &'static str,
    background: u32,
    text: u32,
    /// Its colours 0 to 15.
    colours: [u32; 16],
}

/// Source: "Solarized", Ethan Schoonover, its table of values.
const SOLARIZED: [u32; 16] = [
    0x073642, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198, 0xeee8d5, 0x002b36,
    0xcb4b16, 0x586e75, 0x657b83, 0x839496, 0x6c71c4, 0x93a1a1, 0xfdf6e3,
];
/// Source: GNOME Terminal, the palette "GNOME" of its profiles.
const GNOME: [u32; 16] = [
    0x171421, 0xc01c28, 0x26a269, 0xa2734c, 0x12488b, 0xa347ba, 0x2aa1b3, 0xd0cfcc, 0x5e5c64,
    0xf66151, 0x33d17a, 0xe9ad0c, 0x2a7bde, 0xc061cb, 0x33c7de, 0xffffff,
];

const PALETTES: [Palette; 8] = [
    Palette {
        name: "Solarized Dark",
        background: 0x002b36,
        text: 0x839496,
        colours: SOLARIZED,
    },
    Palette {
        name: "Solarized Light",
        background: 0xfdf6e3,
        text: 0x657b83,
        colours: SOLARIZED,
    },
    // Source of both: "gruvbox-contrib", Pavel Pertsev, medium contrast.
    Palette {
        name: "Gruvbox Dark",
        background: 0x282828,
        text: 0xebdbb2,
        colours: [
            0x282828, 0xcc241d, 0x98971a, 0xd79921, 0x458588, 0xb16286, 0x689d6a, 0xa89984,
            0x928374, 0xfb4934, 0xb8bb26, 0xfabd2f, 0x83a598, 0xd3869b, 0x8ec07c, 0xebdbb2,
        ],
    },
    Palette {
        name: "Gruvbox Light",
        background: 0xfbf1c7,
        text: 0x3c3836,
        colours: [
            0xfbf1c7, 0xcc241d, 0x98971a, 0xd79921, 0x458588, 0xb16286, 0x689d6a, 0x7c6f64,
            0x928374, 0x9d0006, 0x79740e, 0xb57614, 0x076678, 0x8f3f71, 0x427b58, 0x3c3836,
        ],
    },
    Palette {
        name: "GNOME dark",
        background: 0x171421,
        text: 0xd0cfcc,
        colours: GNOME,
    },
    Palette {
        name: "GNOME light",
        background: 0xffffff,
        text: 0x171421,
        colours: GNOME,
    },
    // Source: Windows Terminal, "Campbell" of its defaults.json.
    Palette {
        name: "Campbell",
        background: 0x0c0c0c,
        text: 0xcccccc,
        colours: [
            0x0c0c0c, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd, 0xcccccc,
            0x767676, 0xe74856, 0x16c60c, 0xf9f1a5, 0x3b78ff, 0xb4009e, 0x61d6d6, 0xf2f2f2,
        ],
    },
    // Source: Wikipedia, "ANSI escape code", Terminal.app; its profile "Basic".
    Palette {
        name: "macOS Basic",
        background: 0xffffff,
        text: 0x000000,
        colours: [
            0x000000, 0x990000, 0x00a600, 0x999900, 0x0000b2, 0xb200b2, 0x00a6b2, 0xbfbfbf,
            0x666666, 0xe60000, 0x00d900, 0xe6e600, 0x0000ff, 0xe600e6, 0x00e6e6, 0xe6e6e6,
        ],
    },
];

/// What is seen rather than read: fills and the letters in their colours, marks, lines.
const SEEN: [Tone; 13] = [
    Tone::System,
    Tone::Container,
    Tone::User,
    Tone::Assistant,
    Tone::Tool,
    Tone::Frame,
    Tone::Live,
    Tone::Trigger,
    Tone::Chart,
    Tone::Compaction,
    Tone::Forecast,
    Tone::Cursor,
    Tone::Marked,
];

/// The least contrast of text; source: WCAG 2.2, 1.4.3.
const READABLE: f64 = 4.5;
/// The least contrast of the rest. The blue of GNOME has no more on its background.
const VISIBLE: f64 = 1.9;

impl Palette {
    /// A colour of a style; `None`: the style leaves it to the terminal.
    fn colour(&self, colour: Option<Color>) -> Option<Color> {
        let number = match colour? {
            Color::Reset => return None,
            Color::Indexed(number) => number,
            named => NAMED.iter().position(|known| *known == named).unwrap() as u8,
        };
        Some(match self.colours.get(usize::from(number)) {
            Some(rgb) => Color::from_u32(*rgb),
            None => {
                let (r, g, b) = colour_depth::components(number);
                Color::Rgb(r, g, b)
            }
        })
    }

    /// The contrast of a style, and whether both its colours are the terminal's own.
    fn contrast(&self, style: Style) -> (f64, bool) {
        let (fg, bg) = (self.colour(style.fg), self.colour(style.bg));
        let own = Color::from_u32;
        let seen = contrast(
            fg.unwrap_or(own(self.text)),
            bg.unwrap_or(own(self.background)),
        );
        (seen, fg.is_none() && bg.is_none())
    }

    fn check(&self, tone: Tone, style: Style) {
        let key: &str = tone.into();
        let (contrast, is_own) = self.contrast(style);
        let is_dim = style.add_modifier.contains(Modifier::DIM);
        let (least, why) = if SEEN.contains(&tone) {
            (VISIBLE, "to be seen")
        } else {
            (READABLE, "to be read")
        };
        let name = self.name;
        assert!(
            is_own || contrast >= least,
            "{name}: {key}: {contrast:.1} {why}"
        );
        // Terminals differ in how dim that is.
        assert!(
            !is_dim || (SEEN.contains(&tone) && is_own),
            "{name}: {key} is dim"
        );
    }
}

/// The colours 0 to 15 as ratatui names them.
const NAMED: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

/// Dim text cannot be read: a terminal that halves the contrast leaves less than enough of it everywhere.
#[test]
fn dim_text_is_too_faint() {
    for palette in &PALETTES {
        let [text, background] = [palette.text, palette.background].map(u32::to_be_bytes);
        let dim = std::array::from_fn(|ix| text[ix].midpoint(background[ix]));
        let dim = u32::from_be_bytes(dim);
        let seen = contrast(Color::from_u32(dim), Color::from_u32(palette.background));
        assert!(seen < READABLE, "{}: {seen}", palette.name);
    }
}

#[test]
fn what_must_be_read_can_be_read_in_all_terminals() {
    for theme in [Theme::default(), Theme::monochrome()] {
        for palette in &PALETTES {
            Tone::iter().for_each(|tone| palette.check(tone, theme.style(tone)));
        }
    }
}

/// Nothing is more readable than the terminal's own text, which is less so in Solarized Light than it should be.
#[test]
fn the_palettes_are_those_of_their_sources() {
    for palette in &PALETTES {
        let (contrast, _) = palette.contrast(Style::new());
        let least = match palette.name {
            "Solarized Light" => 4.1,
            _ => READABLE,
        };
        assert!(contrast >= least, "{}: {contrast}", palette.name);
    }
    // What is gone: text on colour 8 was all but invisible there.
    let grey = Style::new().fg(Color::DarkGray);
    assert!(PALETTES[0].contrast(grey).0 < 1.1);
}
