//! What the built-in themes promise: text that can be read, roles that stay apart.

mod palettes;

use super::*;
use ratatui::layout::Rect;
use strum::IntoEnumIterator;

type Rgb = [f64; 3];

/// Linear red, green and blue; source: IEC 61966-2-1 (sRGB).
fn linear(colour: Color) -> Rgb {
    let Color::Rgb(r, g, b) = colour else {
        panic!("{colour} is not of 24 bits");
    };
    [r, g, b].map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    })
}

/// The contrast of two colours, 1 to 21; source: WCAG 2.2.
fn contrast(a: Color, b: Color) -> f64 {
    let luminance = |colour| {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn times(matrix: [Rgb; 3], v: Rgb) -> Rgb {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Lightness and two axes of colour, so that distances are as large as they look; source: Ottosson,
/// "A perceptual color space for image processing" (Oklab).
fn oklab(rgb: Rgb) -> Rgb {
    let cones = times(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ],
        rgb,
    );
    times(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ],
        cones.map(f64::cbrt),
    )
}

/// How colours are seen: by most, and with no cones of one kind; source: Machado, Oliveira and Fernandes,
/// "A physiologically-based model for simulation of color vision deficiency" (2009), severity 1.
const SIGHTS: [(&str, [Rgb; 3]); 4] = [
    ("full", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// The least distance between two roles, as somebody sees them.
fn least_distance(theme: Theme, sight: [Rgb; 3]) -> f64 {
    let seen = |role: &Role| {
        let rgb = times(sight, linear(theme.role_colour(*role)));
        oklab(rgb.map(|c| c.clamp(0.0, 1.0)))
    };
    let roles: Vec<Rgb> = Role::ALL.iter().map(seen).collect();
    let pairs = (0..roles.len()).flat_map(|a| (a + 1..roles.len()).map(move |b| (a, b)));
    pairs
        .map(|(a, b)| {
            let square = |axis: usize| (roles[a][axis] - roles[b][axis]).powi(2);
            (square(0) + square(1) + square(2)).sqrt()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Colours side by side are told apart from 0.02 on; this is far more.
const APART: f64 = 0.12;

#[test]
fn roles_are_apart() {
    for name in ["dark", "light", "colour-blind"] {
        let least = least_distance(Theme::built_in(name), SIGHTS[0].1);
        assert!(least >= APART, "{name}: {least}");
    }
}

#[test]
fn roles_stay_apart_for_the_colour_blind() {
    let theme = Theme::built_in("colour-blind");
    assert_eq!(theme.fills, Fills::ByRole);
    for (sight, matrix) in SIGHTS {
        let least = least_distance(theme, matrix);
        assert!(least >= APART, "{sight}: {least}");
    }
    // What this theme is for: others do not hold it.
    assert!(least_distance(Theme::built_in("dark"), SIGHTS[1].1) < APART);
}

#[test]
fn text_can_be_read() {
    for name in ["dark", "light", "colour-blind"] {
        let theme = Theme::built_in(name);
        let (fg, bg) = (
            theme.style(Tone::Text).fg.unwrap(),
            theme.style(Tone::Text).bg.unwrap(),
        );
        for tone in Tone::iter() {
            let (key, style): (&str, Style) = (tone.into(), theme.style(tone));
            let set = |colour: Option<Color>| colour.filter(|c| *c != Color::Reset);
            let fg = set(style.fg).unwrap_or(fg);
            let behind = match set(style.bg) {
                Some(bg) => vec![bg],
                None => vec![bg, theme.style(Tone::Selected).bg.unwrap()],
            };
            for bg in behind {
                let contrast = contrast(fg, bg);
                assert!(contrast >= 4.5, "{name}: {key} on {bg}: {contrast}");
            }
        }
    }
}

#[test]
fn without_colours_there_are_none() {
    let theme = Theme::monochrome();
    let mut looks = Vec::new();
    for style in theme.styles {
        assert_eq!((style.fg, style.bg), (None, None));
    }
    for role in Role::ALL {
        assert_eq!(theme.role_colour(role), Color::Reset);
        looks.push(theme.fill(role));
    }
    looks.sort_unstable();
    looks.dedup();
    assert_eq!(looks.len(), Role::ALL.len(), "a fill for each role");
}

#[test]
fn cells_without_colours_get_those_of_the_text() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
    buffer[(1, 0)].set_style(Style::new().fg(Color::Red));
    Theme::default().finish(&mut buffer);
    assert_eq!(buffer[(0, 0)].bg, Color::Reset);
    let dark = Theme::built_in("dark");
    dark.finish(&mut buffer);
    let cell = &buffer[(0, 0)];
    assert_eq!(
        (Some(cell.fg), Some(cell.bg)),
        (dark.style(Tone::Text).fg, dark.style(Tone::Text).bg)
    );
    assert_eq!(buffer[(1, 0)].fg, Color::Red);
}
