//! The tabs of a session's screen: one table of what each lists. A new tab is one entry and its file.

mod agents;
mod compactions;
mod items;
mod jumps;
mod tools;
mod what_if;
mod why;

use super::layout::WidthClass;
use super::{App, Page, Stage, seconds_since};
use crate::keymap::Action;
use crate::paint::{Piece, Pieces, Tone, piece, plain};
use jiff::Timestamp;
use model::Source;
use model::lists::sessions::SessionKey;
use model::session::{Item, ItemIx, Session, SizedItem};
use render::{item, number};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A tab of a session's screen.
#[derive(Debug)]
pub struct Tab {
    /// Its name on screen and in the saved state.
    pub name: &'static str,
    /// The action that shows it.
    pub action: Action,
    /// Makes its list; `None`: it shows the timeline.
    pub(super) list: Option<MakeList>,
}

type MakeList = fn(&View<'_>) -> Box<dyn TabList>;

/// All tabs, in order.
pub static TABS: &[Tab] = &[
    tab("items", Action::Items, Some(items::list)),
    tab("tools", Action::Tools, Some(tools::list)),
    tab("compactions", Action::Compactions, Some(compactions::list)),
    tab("what if", Action::WhatIf, Some(what_if::list)),
    tab("agents", Action::Agents, Some(agents::list)),
    // The whole list's room for the timeline, which is small next to the roles or has no room there.
    tab("timeline", Action::Timeline, None),
    tab("jumps", Action::Jumps, Some(jumps::list)),
    tab("why", Action::Why, Some(why::list)),
];

/// The tab of the items.
pub static ITEMS: &Tab = &TABS[0];
/// The tab of the compactions.
pub static COMPACTIONS: &Tab = &TABS[2];
/// The tab of what the user can do.
pub static WHAT_IF: &Tab = &TABS[3];
/// The tab of the findings.
pub static WHY: &Tab = &TABS[7];

const fn tab(name: &'static str, action: Action, list: Option<MakeList>) -> Tab {
    Tab { name, action, list }
}

impl PartialEq for Tab {
    fn eq(&self, other: &Tab) -> bool {
        self.name == other.name
    }
}

impl Eq for Tab {}

impl Tab {
    /// Returns a form of its name for narrow screens.
    pub fn short_name(&self) -> &'static str {
        match self.action {
            Action::Compactions => "compact",
            Action::WhatIf => "if",
            Action::Timeline => "time",
            _ => self.name,
        }
    }

    /// Returns the tab of this name.
    pub(super) fn named(name: &str) -> Option<&'static Tab> {
        TABS.iter().find(|tab| tab.name == name)
    }

    /// Returns the tab `by` places further on, around the ends.
    pub(super) fn further(&self, by: isize) -> &'static Tab {
        let at = TABS.iter().position(|tab| tab == self).unwrap_or(0) as isize + by;
        &TABS[at.rem_euclid(TABS.len() as isize) as usize]
    }

    /// Returns true if it shows a list.
    pub const fn has_list(&self) -> bool {
        self.list.is_some()
    }
}

/// The data of which lists and their cells are made.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The screens.
    pub app: &'a App,
    /// The data that was computed for the session on screen.
    pub page: &'a Page,
    /// The session on screen.
    pub session: &'a Session,
}

impl View<'_> {
    /// Returns the screen's width class.
    pub(super) fn fold(&self) -> WidthClass {
        WidthClass::of(self.app.ui.size.0)
    }

    /// Returns a number that may change while the log is read and counted.
    pub(super) fn number(&self, number: impl Into<String>, tone: impl Into<Tone>) -> Piece {
        let stage = Stage::settled_if(self.session.is_settled());
        piece(stage.number(number), stage.tone(tone))
    }

    /// Returns a number of this source: what the provider or the agent reported does not change.
    pub(super) fn number_from(
        &self,
        source: Source,
        number: impl Into<String> + AsRef<str>,
        tone: impl Into<Tone>,
    ) -> Piece {
        match source {
            Source::Reported | Source::Agent => piece(number, tone),
            _ => self.number(number, tone),
        }
    }

    /// Returns the request that an item entered the context with, and the time since the session began. Empty: the log
    /// has none.
    pub fn entered(&self, item: &Item) -> (String, String) {
        let has_requests = !self.session.requests().is_empty();
        let request = has_requests.then(|| item::request(item.entered));
        let elapsed = self.elapsed(item.at);
        (request.unwrap_or_default(), elapsed.unwrap_or_default())
    }

    /// Returns the mark of an item, if it is marked or oversized.
    pub(super) fn mark(&self, (ix, tokens, _): SizedItem) -> Option<Mark> {
        let window = self.page.state.limits.window;
        match self.session.items().get(ix) {
            Some(item) if self.app.is_marked(self.page.key, item) => Some(MARKED),
            _ if self.app.oversized().is_reached(tokens, window) => Some(OVERSIZED),
            _ => None,
        }
    }

    /// Returns the time from the session's beginning to this time.
    pub(super) fn elapsed(&self, at: Option<Timestamp>) -> Option<String> {
        let began = self.session.started_at.zip(at);
        began.map(|(began, at)| number::elapsed(seconds_since(began, at)))
    }
}

/// A mark before an item, its tone and its meaning.
pub(super) type Mark = (&'static str, Tone, &'static str);

/// The mark of an item that the user has marked.
pub(super) const MARKED: Mark = ("◆", Tone::Marked, "marked");

/// The mark of an oversized item.
pub(super) const OVERSIZED: Mark = ("!", Tone::Oversized, "oversized");

/// Identifies a row of a list, across changes of its order and rereads of the log.
pub type RowId = u64;

/// Returns the identity of what hashes equal.
pub(super) fn row_id(value: impl Hash) -> RowId {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The target that Enter opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing.
    Nothing,
    /// The text of an item.
    Text(ItemIx),
    /// The items of a tool.
    Tool(String),
    /// A sub-agent.
    Session(SessionKey),
    /// All that a reset dropped and kept, or its summary again.
    Reset(usize),
    /// The moment of a jump, counted from the largest.
    Jump(usize),
    /// A finding, counted from the dearest, and one of its places; `None`: its next one.
    Finding(usize, Option<usize>),
    /// The policies of other agents, or what the user can do again.
    Policies,
}

/// The list of a tab, as of the moment on screen.
pub trait TabList: Debug {
    /// Returns the identity of each row.
    fn ids(&self) -> &[RowId];
    /// Returns the headings of its columns.
    fn headings(&self, view: &View<'_>) -> String;
    /// Returns a row, without its pointer.
    fn row(&self, view: &View<'_>, row: usize) -> Pieces;
    /// Returns the lines that are shown instead of an empty list.
    fn empty(&self, view: &View<'_>) -> Vec<String>;
    /// Returns a short description of the list's content and its order, and a shorter one for narrow screens.
    fn captions(&self, view: &View<'_>) -> [String; 2];
    /// Returns the headings and words on screen, and what they mean.
    fn legend(&self, view: &View<'_>) -> Vec<(&'static str, &'static str)>;
    /// Returns the target that a row opens.
    fn target(&self, row: usize) -> Target;
    /// Returns the item of a row.
    fn item(&self, row: usize) -> Option<SizedItem>;
    /// Returns the reset of a row.
    fn reset(&self, row: usize) -> Option<usize>;
}

/// A row of a list: a table of columns, then text in the rest of the line.
pub(super) trait Row: Debug + Sized + 'static {
    /// The columns.
    const COLUMNS: &'static [Column<Self>];
    /// The heading of the text.
    const TEXT: &'static str;
    /// The columns between the last column and the text.
    const GAP: usize = 2;
    /// The words of its text that need one more, and what they mean.
    const WORDS: &'static [(&'static str, &'static str)] = &[];

    /// Returns the text.
    fn text(&self, view: &View<'_>) -> Pieces;

    /// Returns the lines that are shown instead of an empty list.
    fn empty(view: &View<'_>) -> Vec<String>;

    /// Returns a short description of the list's content and its order, and a shorter one for narrow screens.
    fn captions(rows: &[Self], _view: &View<'_>) -> [String; 2] {
        counted(rows.len(), "")
    }

    /// Returns the target that Enter opens.
    fn target(&self) -> Target {
        Target::Nothing
    }

    /// Returns the columns that a line has for the text.
    fn room(view: &View<'_>) -> usize {
        let taken: usize = Self::COLUMNS.iter().map(|c| c.width(view)).sum();
        usize::from(view.app.ui.size.0).saturating_sub(taken + Self::GAP + 1)
    }

    /// Returns its item.
    fn item(&self) -> Option<SizedItem> {
        None
    }

    /// Returns its place among the session's resets.
    fn reset(&self) -> Option<usize> {
        None
    }
}

/// Returns the number of rows with their order, and without it.
fn counted(rows: usize, order: &str) -> [String; 2] {
    match rows {
        0 => ["none", "none"].map(str::to_owned),
        n => [format!("{n}{order}"), n.to_string()],
    }
}

/// A column of a list.
pub(super) struct Column<T: 'static> {
    heading: &'static str,
    /// Its content, for the legend; empty: nothing to explain.
    help: &'static str,
    align: fn(&str, usize) -> String,
    /// Its columns on a narrow, a medium and a wide screen; 0: not shown.
    widths: [usize; 3],
    is_shown: fn(&View<'_>) -> bool,
    cell: fn(&View<'_>, &T) -> Piece,
}

/// Columns of a row: which side their cells are aligned to, their heading, the columns on narrow, medium and wide
/// screens, their cells, and what the heading means; with `when`, on which views they are shown.
macro_rules! columns {
    ($row:ty; $(
        $align:ident $heading:literal $widths:tt |$view:tt, $of:tt| $cell:expr $(, means $help:literal)? $(, when $shown:expr)?;
    )*) => {
        &[$($crate::app::tabs::Column {
            heading: $heading,
            help: concat!("" $(, $help)?),
            align: render::text::$align,
            widths: $widths,
            is_shown: {
                let shown: &[fn(&$crate::app::tabs::View<'_>) -> bool] = &[$($shown,)? |_| true];
                shown[0]
            },
            cell: {
                let cell: fn(&$crate::app::tabs::View<'_>, &$row) -> $crate::paint::Piece = |$view, $of| $cell;
                cell
            },
        }),*]
    };
}

use columns;

impl<T> Column<T> {
    fn width(&self, view: &View<'_>) -> usize {
        let [narrow, medium, wide] = self.widths;
        if (self.is_shown)(view) {
            view.fold().pick(narrow, medium, wide)
        } else {
            0
        }
    }
}

/// Rows with their identities.
#[derive(Debug)]
struct Table<T> {
    rows: Vec<T>,
    ids: Vec<RowId>,
}

/// Returns the list of some rows, identified by what hashes equal.
fn table<T: Row, I: Hash>(rows: Vec<T>, id: impl FnMut(&T) -> I) -> Box<dyn TabList> {
    let ids = rows.iter().map(id).map(row_id).collect();
    Box::new(Table { rows, ids })
}

impl<T: Row> TabList for Table<T> {
    fn ids(&self) -> &[RowId] {
        &self.ids
    }

    fn headings(&self, view: &View<'_>) -> String {
        let headings: String = T::COLUMNS
            .iter()
            .map(|column| (column.align)(column.heading, column.width(view)))
            .collect();
        format!("{headings}{:gap$}{}", "", T::TEXT, gap = T::GAP)
    }

    fn row(&self, view: &View<'_>, row: usize) -> Pieces {
        let Some(row) = self.rows.get(row) else {
            return Pieces::new();
        };
        let mut pieces = Pieces::new();
        for column in T::COLUMNS {
            let width = column.width(view);
            if width > 0 {
                let cell = (column.cell)(view, row);
                pieces.push(piece((column.align)(&cell.text, width), cell.tone));
            }
        }
        pieces.push(plain(" ".repeat(T::GAP)));
        pieces.extend(row.text(view));
        pieces
    }

    fn empty(&self, view: &View<'_>) -> Vec<String> {
        if self.rows.is_empty() {
            T::empty(view)
        } else {
            Vec::new()
        }
    }

    fn captions(&self, view: &View<'_>) -> [String; 2] {
        T::captions(&self.rows, view)
    }

    fn legend(&self, view: &View<'_>) -> Vec<(&'static str, &'static str)> {
        let shown = T::COLUMNS.iter().filter(|column| column.width(view) > 0);
        let columns = shown.map(|column| (column.heading, column.help));
        let explained = columns.chain(T::WORDS.iter().copied());
        explained.filter(|(_, help)| !help.is_empty()).collect()
    }

    fn target(&self, row: usize) -> Target {
        self.rows.get(row).map_or(Target::Nothing, Row::target)
    }

    fn item(&self, row: usize) -> Option<SizedItem> {
        self.rows.get(row)?.item()
    }

    fn reset(&self, row: usize) -> Option<usize> {
        self.rows.get(row)?.reset()
    }
}
