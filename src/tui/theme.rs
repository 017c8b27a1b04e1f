//! Themes: how each meaning looks. A theme is a small file: five are built in (`assets/themes`), the user may add
//! others. Where colours do not distinguish the roles, patterns do; in ASCII each glyph has a stand-in of the same
//! width.

mod colour_depth;
mod file;
mod glyphs;
mod spec;
mod themes;

pub use colour_depth::ColourDepth;
pub use file::ThemeError;
pub use themes::{Themes, UnknownTheme};

use crate::paint::Tone;
use model::Role;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Style};
use render::ascii::Charset;
use render::item::letter;
use serde::Deserialize;
use strum::EnumCount;

/// The characters that fill the bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fills {
    /// One full block for all: colours distinguish the roles.
    #[default]
    Solid,
    /// A pattern for each role.
    ByRole,
}

/// The look of the screens. [`Themes`] reads it from a theme file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// The characters that may be used.
    pub charset: Charset,
    /// The characters that fill the bars.
    pub fills: Fills,
    styles: [Style; Tone::COUNT],
}

impl Default for Theme {
    fn default() -> Theme {
        Theme::built_in(file::DEFAULT)
    }
}

/// Sets the colours that a cell does not have yet.
pub fn fill_colours(cell: &mut Cell, fg: Option<Color>, bg: Option<Color>) {
    if let (Color::Reset, Some(fg)) = (cell.fg, fg) {
        cell.fg = fg;
    }
    if let (Color::Reset, Some(bg)) = (cell.bg, bg) {
        cell.bg = bg;
    }
}

impl Theme {
    /// No styles at all.
    const PLAIN: Theme = Theme {
        charset: Charset::Unicode,
        fills: Fills::ByRole,
        styles: [Style::new(); Tone::COUNT],
    };

    /// Returns a theme with bold, dim and reverse, but no colours.
    pub fn monochrome() -> Theme {
        Theme::built_in(file::MONOCHROME)
    }

    /// Returns the theme with colours that the terminal can show.
    pub fn at(self, depth: ColourDepth) -> Theme {
        Theme {
            styles: self.styles.map(|style| depth.reduce(style)),
            ..self
        }
    }

    /// Returns the style of a meaning.
    pub fn style(self, tone: impl Into<Tone>) -> Style {
        self.styles[tone.into() as usize]
    }

    /// Returns a role's colour; [`Color::Reset`] without colours.
    pub fn role_colour(self, role: Role) -> Color {
        self.style(role).fg.unwrap_or(Color::Reset)
    }

    /// Returns the character that fills a gauge with known tokens of a role.
    pub fn fill(self, role: Role) -> char {
        match (self.charset, self.fills) {
            (Charset::Ascii, _) => letter(role),
            (_, Fills::Solid) => '█',
            (_, Fills::ByRole) => match role {
                Role::System => '▒',
                Role::Container => '▓',
                Role::User => '▌',
                Role::Assistant => '▚',
                Role::Tool => '█',
            },
        }
    }

    /// Returns that fill, slightly lower, for bars in adjacent rows, so that they do not run together.
    pub fn low_fill(self, role: Role) -> char {
        match self.fill(role) {
            '█' if self.fills == Fills::Solid => '▇',
            fill => fill,
        }
    }

    /// Returns true if a part of a cell can be filled.
    pub fn has_blocks(self) -> bool {
        self.charset == Charset::Unicode
    }

    /// Returns true if a cell can be split between two roles, by a block and two colours.
    pub fn splits_cells(self) -> bool {
        self.fills == Fills::Solid && self.charset == Charset::Unicode
    }

    /// Gives cells without colours those of the text, and replaces glyphs that may not be used. The last step
    /// of drawing.
    pub fn finish(self, buffer: &mut Buffer) {
        let Style { fg, bg, .. } = self.style(Tone::Text);
        if fg.is_some() || bg.is_some() {
            for cell in &mut buffer.content {
                fill_colours(cell, fg, bg);
            }
        }
        if self.charset == Charset::Ascii {
            glyphs::to_ascii(buffer);
        }
    }
}

#[cfg(test)]
mod tests;
