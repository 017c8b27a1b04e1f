//! The tabs of a session's screen, and what the list below them contains.
//!
//! ```text
//!  1 items  2 tools  3 compactions  4 what if  5 agents  6 timeline   12 in context · tokens ▾ · tool:Read
//! ```

use crate::app::layout::WidthClass;
use crate::app::tabs::{ITEMS, TABS, Tab, TabList};
use crate::app::{App, Page, Purpose};
use crate::keymap::Scope;
use crate::paint::{Area, Hit, Tone, piece, quiet, strong};
use crate::widgets::canvas::Canvas;
use render::{number, text};

/// The fewest columns for a filter.
const FILTER_COLUMNS: usize = 24;

/// Returns the name of a tab.
type Name = fn(&Tab) -> &'static str;

/// Returns the longest form of names that these columns have room for, and the columns between them; `None`: there is room
/// for none.
fn names(columns: usize) -> Option<(Name, u16)> {
    let forms = [(|tab: &Tab| tab.name) as Name, Tab::short_name];
    let mut forms = forms.into_iter().flat_map(|name| [(name, 2), (name, 1)]);
    forms.find(|(name, gap)| {
        let gap = usize::from(*gap);
        let tabs = TABS.iter().map(|tab| name(tab).len() + 2 + gap);
        // The active one has a margin, and none is after the last.
        3 + tabs.sum::<usize>() - gap <= columns
    })
}

pub(super) fn draw(app: &App, page: &Page, area: Area, canvas: &mut Canvas<'_>) {
    let captions = app.list().map(|(list, view)| list.captions(&view));
    let [caption, brief] = captions.unwrap_or_default();
    let filter = &app.ui.item_filter;
    let typing = app.is_typing(Purpose::ItemFilter).is_some();
    let has_filter = typing || (app.ui.tab == ITEMS && !filter.is_empty());
    // The names of the tabs are needed more than all of the caption. Narrow screens have no room for them in any case.
    let is_narrow = WidthClass::of(area.width) == WidthClass::Narrow;
    let captions = [caption, brief, String::new()];
    let forms = if is_narrow {
        &captions[..1]
    } else {
        &captions[..]
    };
    let beside = |caption: &String| match (has_filter, caption.is_empty()) {
        (true, _) => FILTER_COLUMNS,
        (false, true) => 0,
        (false, false) => text::width(caption) + 2,
    };
    let room = |caption| usize::from(area.width).saturating_sub(beside(caption));
    let mut fitting = forms
        .iter()
        .filter_map(|caption| Some((names(room(caption))?, caption)));
    let (names, caption) = match fitting.next() {
        Some((names, caption)) => (Some(names), caption),
        None => (None, &captions[0]),
    };
    let (mut x, mut end) = (1, 1);
    for tab in TABS {
        let active = tab == app.ui.tab;
        let key = app.keymap.key_text(Scope::Session, tab.action);
        // Without room for all names, the keys must do.
        let name = match names {
            Some((name, _)) => name(tab),
            None if active => tab.name,
            None => "",
        };
        let label = [key.as_str(), name].join(" ");
        let (label, tone) = if active {
            (format!(" {} ", label.trim()), Tone::TabActive)
        } else {
            (label.trim().to_owned(), Tone::Tab)
        };
        end = canvas.write((x, area.y), area.right(), &[piece(label, tone)]);
        canvas.hit(Area::new(x, area.y, end - x, 1), Hit::Tab(tab.name));
        x = end + names.map_or(1, |(_, gap)| gap);
    }
    let right = if has_filter {
        let found = page.list.as_deref().map(found).unwrap_or_default();
        let room =
            usize::from(area.width.saturating_sub(end + 5)).saturating_sub(text::width(&found));
        vec![
            piece("/", Tone::Key),
            strong(text::both_ends(filter, room)),
            piece(if typing { "▏" } else { " " }, Tone::Accent),
            quiet(format!(" {found} ")),
        ]
    } else {
        let room = usize::from(area.width.saturating_sub(end + 2));
        let fitting = [caption, &captions[1]].into_iter();
        let mut fitting = fitting.filter(|caption| text::width(caption) <= room);
        vec![quiet(format!("{} ", fitting.next().unwrap_or(caption)))]
    };
    canvas.write_right((end + 1, area.y), area.right(), &right);
}

/// Returns the number of listed items, and their tokens: `234 items, 21k`.
fn found(list: &dyn TabList) -> String {
    let rows = list.ids().len();
    let items = (0..rows).filter_map(|row| list.item(row));
    let tokens = items.fold(0_u64, |sum, (_, tokens, _)| sum.saturating_add(tokens));
    let items = number::counted(rows as u64, "item");
    format!("{items}, {}", number::short(tokens))
}
