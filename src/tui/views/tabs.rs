//! The tabs of a session's screen, and what the list below them contains.
//!
//! ```text
//!  1 items  2 tools  3 compactions  4 what if  5 agents           12 in context · tokens ▾ · tool:Read
//! ```

use crate::app::tabs::{ITEMS, TABS};
use crate::app::{App, Page, Purpose, Tab};
use crate::keymap::Scope;
use crate::paint::{Area, Hit, Tone, piece, quiet, strong};
use crate::widgets::canvas::Canvas;
use render::text;

pub(super) fn draw(app: &App, page: &Page, area: Area, canvas: &mut Canvas<'_>) {
    let caption = app
        .list()
        .map(|(list, view)| list.caption(&view))
        .unwrap_or_default();
    let caption_columns = text::width(&caption) as u16 + 2;
    // The timeline needs no tab where it is next to the roles.
    let has_chart = !app.session_layout().chart.is_empty();
    let is_needed = |tab: &&Tab| tab.has_list() || !has_chart || **tab == *app.ui.tab;
    let tabs: Vec<&'static Tab> = TABS.iter().filter(is_needed).collect();
    let names: usize = tabs.iter().map(|tab| tab.name.len() + 4).sum();
    let all = names + usize::from(caption_columns) <= usize::from(area.width);
    let mut x = 1;
    for tab in tabs {
        let active = tab == app.ui.tab;
        let key = app.keymap.key_text(Scope::Session, tab.action);
        // Without room for all names, the keys must do.
        let name = if active || all { tab.name } else { "" };
        let label = [key.as_str(), name].join(" ");
        let (label, tone) = if active {
            (format!(" {} ", label.trim()), Tone::TabActive)
        } else {
            (label.trim().to_owned(), Tone::Tab)
        };
        let end = canvas.write((x, area.y), area.right(), &[piece(label, tone)]);
        canvas.hit(Area::new(x, area.y, end - x, 1), Hit::Tab(tab.name));
        x = end + 1 + u16::from(all);
    }
    let filter = &app.ui.item_filter;
    let typing = app.is_typing(Purpose::ItemFilter).is_some();
    let right = if typing || (app.ui.tab == ITEMS && !filter.is_empty()) {
        let room = usize::from(area.width.saturating_sub(x + 9));
        let count = page.list.as_deref().map_or(0, |list| list.ids().len());
        vec![
            piece("/", Tone::Key),
            strong(text::tail(filter, room)),
            piece(if typing { "▏" } else { " " }, Tone::Accent),
            quiet(format!(" {count} ")),
        ]
    } else {
        vec![quiet(format!("{caption} "))]
    };
    canvas.write_right((x + 1, area.y), area.right(), &right);
}
