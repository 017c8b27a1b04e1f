//! Styled text without a terminal: the text of a line, and the meaning of each piece. A theme turns meanings
//! into colours.

use model::{Role, Source};
use render::text;
use serde::Deserialize;
use strum::{EnumCount, EnumIter, IntoStaticStr};

/// The meaning of a piece of text. Tones with a name in a theme file have it in kebab case.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    EnumCount,
    EnumIter,
    IntoStaticStr,
    Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Tone {
    /// No style.
    #[default]
    #[serde(skip)]
    Plain,
    /// The screen's own foreground and background.
    Text,
    /// Secondary: units, labels, what has left the context.
    Quiet,
    /// Lines, frames, the free part of a gauge: nothing to read.
    Frame,
    /// Names and the numbers that matter.
    Strong,
    /// Headings of panels and columns.
    Heading,
    /// Text over a gauge.
    Over,
    /// The program's name and the pointer of the selected row.
    Accent,
    /// A live session.
    Live,
    /// An estimate.
    Estimated,
    /// A number that may still change, since not all was read and counted.
    Provisional,
    /// The mark of the trigger.
    Trigger,
    /// Something went wrong.
    Warn,
    /// A number near the trigger.
    Near,
    /// A number that may reach the trigger with the next request.
    Next,
    /// A key in the footer or the help.
    Key,
    /// The banner.
    Banner,
    /// The selected row, beneath the styles of its parts.
    Selected,
    /// The cursor of the timeline.
    Cursor,
    /// The mark of a large growth on the timeline.
    Chart,
    /// The mark of a compaction on the timeline.
    Compaction,
    /// The forecast on the timeline.
    Forecast,
    /// A match of the search.
    Match,
    /// The current match of the search.
    MatchHere,
    /// Line numbers.
    LineNumber,
    /// A marked item.
    Marked,
    /// The mark of an oversized item.
    Oversized,
    /// A tab in the background.
    Tab,
    /// The active tab.
    TabActive,
    /// The role.
    #[serde(skip)]
    System,
    /// The role.
    #[serde(skip)]
    Container,
    /// The role.
    #[serde(skip)]
    User,
    /// The role.
    #[serde(skip)]
    Assistant,
    /// The role.
    #[serde(skip)]
    Tool,
}

impl From<Role> for Tone {
    fn from(role: Role) -> Tone {
        match role {
            Role::System => Tone::System,
            Role::Container => Tone::Container,
            Role::User => Tone::User,
            Role::Assistant => Tone::Assistant,
            Role::Tool => Tone::Tool,
        }
    }
}

/// Known numbers are emphasized, estimated ones styled as estimates.
impl From<Source> for Tone {
    fn from(source: Source) -> Tone {
        if source.is_known() {
            Tone::Strong
        } else {
            Tone::Estimated
        }
    }
}

/// A piece of a line. Its text is safe to print.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Its meaning.
    pub tone: Tone,
}

/// The pieces of a line.
pub type Pieces = Vec<Piece>;

impl Piece {
    /// Returns the columns that it takes.
    pub fn width(&self) -> usize {
        text::width(&self.text)
    }
}

/// Returns a piece; the text is made safe to print.
pub fn piece(text: impl AsRef<str>, tone: impl Into<Tone>) -> Piece {
    Piece {
        text: text::inert(text.as_ref()).into_owned(),
        tone: tone.into(),
    }
}

/// Returns a piece without a style.
pub fn plain(text: impl AsRef<str>) -> Piece {
    piece(text, Tone::Plain)
}

/// Returns a secondary piece.
pub fn quiet(text: impl AsRef<str>) -> Piece {
    piece(text, Tone::Quiet)
}

/// Returns an emphasized piece.
pub fn strong(text: impl AsRef<str>) -> Piece {
    piece(text, Tone::Strong)
}

/// Returns the columns that a line takes.
pub fn width(line: &[Piece]) -> usize {
    line.iter().map(Piece::width).sum()
}

/// Returns as much of a line as fits into these columns, with a sign where it was cut.
pub fn fitted(line: Pieces, columns: usize) -> Pieces {
    let text: String = line.iter().map(|piece| &*piece.text).collect();
    if text::width(text.trim_end()) <= columns {
        return line;
    }
    let cut = text::cut(&text, columns);
    let mut kept = cut.strip_suffix('…').unwrap_or(&cut);
    let mut shown = Pieces::new();
    for piece in line {
        let Some(rest) = kept.strip_prefix(&*piece.text) else {
            let text = format!("{kept}…");
            shown.push(Piece { text, ..piece });
            break;
        };
        kept = rest;
        shown.push(piece);
    }
    shown
}

/// Returns the columns of groups in a line, with the separator after each.
pub fn joined_width(groups: &[Pieces]) -> usize {
    groups.iter().map(|group| width(group) + 3).sum()
}

/// Returns the groups joined by ` · `. A group that does not fit into the rest of `columns` is left out.
pub fn joined(groups: impl IntoIterator<Item = Pieces>, columns: usize) -> Pieces {
    let mut line = Pieces::new();
    let mut used = 0;
    for group in groups {
        let gap = if line.is_empty() { 0 } else { 3 };
        let width = width(&group);
        if width == 0 || used + gap + width > columns {
            continue;
        }
        if gap > 0 {
            line.push(quiet(" · "));
        }
        line.extend(group);
        used += gap + width;
    }
    line
}
