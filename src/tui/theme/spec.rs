//! A style as a theme's file writes it: `bold`, `cyan bold`, `#24292f on #fafafa`, `default on 236`.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

/// A style in words.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct StyleSpec(pub(super) Style);

const MODIFIERS: [(&str, Modifier); 5] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underline", Modifier::UNDERLINED),
    ("reverse", Modifier::REVERSED),
];

impl TryFrom<String> for StyleSpec {
    type Error = String;

    fn try_from(text: String) -> Result<StyleSpec, String> {
        let mut style = Style::new();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let modifier = MODIFIERS.iter().find(|(name, _)| *name == word);
            style = match (word, modifier) {
                (_, Some((_, modifier))) => style.add_modifier(*modifier),
                ("on", _) if style.bg.is_none() => {
                    let named = words.next().unwrap_or_default();
                    style.bg(colour(named).ok_or_else(|| wrong(named))?)
                }
                _ if style.fg.is_none() => style.fg(colour(word).ok_or_else(|| wrong(word))?),
                _ => return Err(wrong(word)),
            };
        }
        Ok(StyleSpec(style))
    }
}

fn colour(word: &str) -> Option<Color> {
    match word.strip_prefix('#') {
        Some(hex) if hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
            u32::from_str_radix(hex, 16).ok().map(Color::from_u32)
        }
        Some(_) => None,
        None => match word {
            "default" => Some(Color::Reset),
            // The names are those of ECMA-48; for ratatui this one is bright.
            "white" => Some(Color::Gray),
            // It takes other names as well, and any case.
            word if is_named(word) || word.bytes().all(|b| b.is_ascii_digit()) => word.parse().ok(),
            _ => None,
        },
    }
}

/// Returns true if it is one of the eight colours, or a bright one.
fn is_named(word: &str) -> bool {
    let names = "black red green yellow blue magenta cyan white";
    let word = word.strip_prefix("bright-").unwrap_or(word);
    names.split(' ').any(|name| name == word)
}

fn wrong(word: &str) -> String {
    let names = |name: &(&'static str, Modifier)| name.0;
    let modifiers: Vec<&str> = MODIFIERS.iter().map(names).collect();
    format!(
        "'{}' is not part of a style; a style is a colour, `on` and a background colour, and any of {}; \
         a colour is #rrggbb, 0 to 255, default, black, red, green, yellow, blue, magenta, \
         cyan, white, or bright- with one of these",
        word.escape_debug(),
        modifiers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spec(text: &str) -> Result<Style, String> {
        StyleSpec::try_from(text.to_owned()).map(|spec| spec.0)
    }

    #[test]
    fn styles_are_read_as_they_are_written() {
        let cases = [
            ("", Style::new()),
            ("bold", Style::new().add_modifier(Modifier::BOLD)),
            (
                "red bold reverse",
                Style::new()
                    .fg(Color::Red)
                    .add_modifier(Modifier::BOLD | Modifier::REVERSED),
            ),
            (
                "default on 236",
                Style::new().fg(Color::Reset).bg(Color::Indexed(236)),
            ),
            ("on #0A0b0c", Style::new().bg(Color::Rgb(10, 11, 12))),
            (
                "on white black",
                Style::new().fg(Color::Black).bg(Color::Gray),
            ),
        ];
        for (text, style) in cases {
            assert_eq!(spec(text), Ok(style), "{text:?}");
        }
    }

    #[test]
    fn unknown_words_are_named() {
        for (text, word) in [
            ("rde", "'rde'"),
            ("red green", "'green'"),
            ("on", "''"),
            ("on red on blue", "'on'"),
            ("#12345", "'#12345'"),
            ("#+12345", "'#+12345'"),
            ("256", "'256'"),
            ("White", "'White'"),
            ("gray", "'gray'"),
            ("reset", "'reset'"),
            ("\u{1b}[2J", "'\\u{1b}[2J'"),
        ] {
            let error = spec(text).unwrap_err();
            assert!(error.starts_with(word), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_style_or_none(text in ".{0,20}") {
            let _ = spec(&text);
        }
    }
}
