//! Styles by meaning. ANSI-16 colours, so that the terminal's own palette decides; without colour the
//! roles differ by their fill; in ASCII every glyph has a stand-in of the same width.

use crate::model::Role;
use crate::tui::app::Nearness;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// Which colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// The terminal's sixteen.
    #[default]
    Ansi16,
    /// None: bold, dim and reverse only (`NO_COLOR`).
    None,
}

/// Which glyphs may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// Blocks, arrows, lines.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

/// How things look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Theme {
    /// Which colours may be used.
    pub colours: Colours,
    /// Which glyphs may be used.
    pub glyphs: Glyphs,
}

impl Theme {
    fn fg(self, colour: Color) -> Style {
        match self.colours {
            Colours::Ansi16 => Style::new().fg(colour),
            Colours::None => Style::new(),
        }
    }

    /// A role's colour; [`Color::Reset`] without colours.
    pub fn role_colour(self, role: Role) -> Color {
        match (self.colours, role) {
            (Colours::None, _) => Color::Reset,
            (_, Role::System) => Color::Blue,
            (_, Role::Container) => Color::Magenta,
            (_, Role::User) => Color::Green,
            (_, Role::Assistant) => Color::Cyan,
            (_, Role::Tool) => Color::Yellow,
        }
    }

    /// A role.
    pub fn role(self, role: Role) -> Style {
        self.fg(self.role_colour(role))
    }

    /// What fills a gauge with known tokens of a role.
    pub fn fill(self, role: Role) -> char {
        match (self.glyphs, self.colours) {
            (Glyphs::Ascii, _) => letter(role),
            (_, Colours::Ansi16) => '█',
            (_, Colours::None) => match role {
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
            '█' if self.colours == Colours::Ansi16 => '▇',
            fill => fill,
        }
    }

    /// Whether a cell can be split between two roles: with blocks and two colours it can.
    pub fn splits_cells(self) -> bool {
        self.colours == Colours::Ansi16 && self.glyphs == Glyphs::Unicode
    }

    /// What stands back: units, headings, what has left the context.
    pub fn quiet(self) -> Style {
        match self.colours {
            Colours::Ansi16 => Style::new().fg(Color::DarkGray),
            Colours::None => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// What stands out: names, the numbers that matter.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is written over a gauge.
    pub fn over(self) -> Style {
        self.strong().fg(Color::Reset)
    }

    /// The program's name and the pointer of the selected row.
    pub fn accent(self) -> Style {
        self.fg(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Signs of life.
    pub fn live(self) -> Style {
        self.fg(Color::Green)
    }

    /// What is only estimated.
    pub fn estimated(self) -> Style {
        Style::new().add_modifier(Modifier::ITALIC)
    }

    /// The trigger's mark.
    pub fn trigger(self) -> Style {
        self.fg(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What went wrong.
    pub fn warn(self) -> Style {
        self.fg(Color::Red)
    }

    /// A number that says how near the trigger is.
    pub fn nearness(self, nearness: Nearness) -> Style {
        match nearness {
            Nearness::Calm => Style::new(),
            Nearness::Near => self.fg(Color::Red).add_modifier(Modifier::BOLD),
            Nearness::Next => self
                .fg(Color::Red)
                .add_modifier(Modifier::BOLD | Modifier::REVERSED),
        }
    }

    /// A key in a footer or the help.
    pub fn key(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The banner.
    pub fn banner(self) -> Style {
        self.fg(Color::Cyan).add_modifier(Modifier::REVERSED)
    }

    /// Puts stand-ins for the glyphs that may not be used. The last step of drawing.
    pub fn finish(self, buffer: &mut Buffer) {
        if self.glyphs == Glyphs::Unicode {
            return;
        }
        for cell in &mut buffer.content {
            if !cell.symbol().is_ascii() {
                cell.set_char(stand_in(cell.symbol()));
            }
        }
    }
}

/// A role's letter.
pub const fn letter(role: Role) -> char {
    match role {
        Role::System => 'S',
        Role::Container => 'C',
        Role::User => 'U',
        Role::Assistant => 'A',
        Role::Tool => 'T',
    }
}

/// ASCII for every glyph that the screens draw; each is one cell wide, so nothing moves.
const STAND_INS: &[(&str, char)] = &[
    ("█", '#'),
    ("░", ':'),
    ("╱", '/'),
    ("┄", '-'),
    ("┃", '|'),
    ("▕", '|'),
    ("▾", 'v'),
    ("●", '*'),
    ("▌", '>'),
    ("└", '`'),
    ("│", '|'),
    ("─", '-'),
    ("┌", '+'),
    ("┐", '+'),
    ("┘", '+'),
    ("·", '.'),
    ("…", '~'),
    ("—", '-'),
    ("→", '>'),
    ("←", '<'),
    ("↑", '^'),
    ("↓", 'v'),
    ("⌫", '<'),
    ("±", '~'),
    ("≈", '&'),
    ("═", '='),
    ("×", 'x'),
    ("▁", '_'),
    ("▂", '.'),
    ("▃", '-'),
    ("▄", '='),
    ("▅", '+'),
    ("▆", '*'),
    ("▇", '%'),
];

fn stand_in(symbol: &str) -> char {
    let known = STAND_INS.iter().find(|(glyph, _)| *glyph == symbol);
    known.map_or('?', |(_, ascii)| *ascii)
}
