//! Styles by meaning. A theme is a small file: five are built in (`assets/themes`), the user may have his
//! own. Where roles are not told apart by colour, their fill does it; in ASCII every glyph has a stand-in
//! of the same width.

mod depth;
mod glyphs;
mod look;
mod sheet;
mod themes;

pub use depth::Depth;
pub use glyphs::{Glyphs, letter};
pub use sheet::BrokenTheme;
pub use themes::{NoTheme, Themes};

use crate::model::Role;
use crate::tui::app::Nearness;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};
use serde::Deserialize;

/// What fills the bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fills {
    /// The same full block for all: colour tells the roles apart.
    #[default]
    Solid,
    /// A pattern for each role.
    ByRole,
}

/// How things look. Made by [`Themes`], from the file of a theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// Which glyphs may be used.
    pub glyphs: Glyphs,
    /// What fills the bars.
    pub fills: Fills,
    roles: [Style; Role::ALL.len()],
    styles: Styles,
}

/// The styles that have a name in the file of a theme: the field, the name, the meaning.
macro_rules! styles {
    ($($(#[$meaning:meta])+ $field:ident = $key:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct Styles {
            $($field: Style,)+
        }

        impl Styles {
            const PLAIN: Styles = Styles { $($field: Style::new(),)+ };

            fn map(self, change: impl Fn(Style) -> Style) -> Styles {
                Styles { $($field: change(self.$field),)+ }
            }

            /// With those styles changed that a theme's file gives.
            fn with(self, given: &GivenStyles) -> Styles {
                Styles { $($field: given.$field.map_or(self.$field, Style::from),)+ }
            }

            #[cfg(test)]
            fn named(&self) -> Vec<(&'static str, Style)> {
                vec![$(($key, self.$field),)+]
            }
        }

        /// The styles as a theme's file gives them.
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct GivenStyles {
            $(#[serde(rename = $key)] $field: Option<look::Look>,)+
        }

        impl Theme {
            $($(#[$meaning])+ pub fn $field(self) -> Style { self.styles.$field })+
        }
    };
}

styles! {
    /// What has no other style, and what the screen is painted with where nothing else is.
    text = "text";
    /// What stands back: units, headings, what has left the context.
    quiet = "quiet";
    /// What stands out: names, the numbers that matter.
    strong = "strong";
    /// The headings of panels and columns.
    heading = "heading";
    /// What is written over a gauge.
    over = "over";
    /// The program's name and the pointer of the selected row.
    accent = "accent";
    /// Signs of life.
    live = "live";
    /// What is only estimated.
    estimated = "estimated";
    /// The trigger's mark.
    trigger = "trigger";
    /// What went wrong.
    warn = "warn";
    /// A number near its trigger.
    near = "near";
    /// A number that may reach its trigger with the next request.
    next = "next";
    /// A key in a footer or the help.
    key = "key";
    /// The banner.
    banner = "banner";
    /// The row under the cursor, beneath the styles of its parts.
    selected = "selected";
    /// The cursor of the timeline.
    cursor = "cursor";
    /// What was known of the context, on the timeline.
    chart = "chart";
    /// A compaction's mark on the timeline.
    compaction = "compaction";
    /// The forecast's cone on the timeline.
    forecast = "forecast";
    /// A hit of the search.
    match_ = "match";
    /// The hit that the search stands at.
    match_here = "match-here";
    /// The numbers of lines.
    line_number = "line-number";
    /// An item that the user has marked.
    marked = "marked";
    /// The mark of an oversized item.
    oversized = "oversized";
    /// A tab in the background.
    tab = "tab";
    /// The tab in front.
    tab_active = "tab-active";
}

impl Default for Theme {
    fn default() -> Theme {
        Theme::built_in(sheet::DEFAULT)
    }
}

impl Theme {
    /// No styles at all.
    const PLAIN: Theme = Theme {
        glyphs: Glyphs::Unicode,
        fills: Fills::ByRole,
        roles: [Style::new(); Role::ALL.len()],
        styles: Styles::PLAIN,
    };

    /// Bold, dim and reverse, but no colours.
    pub fn monochrome() -> Theme {
        Theme::built_in(sheet::MONOCHROME)
    }

    /// With ASCII characters only.
    pub fn in_ascii(self) -> Theme {
        Theme {
            glyphs: Glyphs::Ascii,
            ..self
        }
    }

    /// With colours that the terminal can show.
    pub fn at(self, depth: Depth) -> Theme {
        let change = |style| depth.reduce(style);
        Theme {
            roles: self.roles.map(change),
            styles: self.styles.map(change),
            ..self
        }
    }

    /// A role.
    pub fn role(self, role: Role) -> Style {
        self.roles[role.index()]
    }

    /// A role's colour; [`Color::Reset`] without colours.
    pub fn role_colour(self, role: Role) -> Color {
        self.role(role).fg.unwrap_or(Color::Reset)
    }

    /// What fills a gauge with known tokens of a role.
    pub fn fill(self, role: Role) -> char {
        match (self.glyphs, self.fills) {
            (Glyphs::Ascii, _) => letter(role),
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

    /// The same for bars that stand row below row: a hair lower, so that they do not run together.
    pub fn low_fill(self, role: Role) -> char {
        match self.fill(role) {
            '█' if self.fills == Fills::Solid => '▇',
            fill => fill,
        }
    }

    /// Whether a cell can be split between two roles: with blocks and two colours it can.
    pub fn splits_cells(self) -> bool {
        self.fills == Fills::Solid && self.glyphs == Glyphs::Unicode
    }

    /// A number that says how near the trigger is.
    pub fn nearness(self, nearness: Nearness) -> Style {
        match nearness {
            Nearness::Calm => Style::new(),
            Nearness::Near => self.near(),
            Nearness::Next => self.next(),
        }
    }

    /// Paints what has no colour with those of the text, and puts stand-ins for the glyphs that may not
    /// be used. The last step of drawing.
    pub fn finish(self, buffer: &mut Buffer) {
        let (fg, bg) = (self.text().fg, self.text().bg);
        if fg.is_some() || bg.is_some() {
            for cell in &mut buffer.content {
                if let (Color::Reset, Some(fg)) = (cell.fg, fg) {
                    cell.fg = fg;
                }
                if let (Color::Reset, Some(bg)) = (cell.bg, bg) {
                    cell.bg = bg;
                }
            }
        }
        if self.glyphs == Glyphs::Ascii {
            glyphs::to_ascii(buffer);
        }
    }
}

#[cfg(test)]
mod tests;
