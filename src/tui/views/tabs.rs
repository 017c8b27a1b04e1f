//! The tabs of a session's screen, and what the list below them holds.
//!
//! ```text
//!  1 items  2 tools  3 compactions  4 what if  5 agents           12 in context · tokens ▾ · tool:Read
//! ```

use crate::render::text;
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Hit, Page, Panel, Purpose, ShownItems, Zones};
use crate::tui::keymap::Scope;
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(super) fn draw(
    app: &App,
    page: &Page,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
    zones: &mut Zones,
) {
    let width = buffer.area.width;
    let said = told(app, page);
    let beside = text::width(&said) as u16 + 2;
    let course_is_shown = !app.session_layout().course.is_empty();
    let panels: Vec<Panel> = Panel::ALL
        .into_iter()
        .filter(|panel| {
            let is_beside = *panel == Panel::Course && course_is_shown;
            !is_beside || *panel == app.ui.panel
        })
        .collect();
    let names: usize = panels.iter().map(|panel| panel.name().len() + 4).sum();
    let all = names + usize::from(beside) <= usize::from(width);
    let mut x = 1;
    for panel in panels {
        let active = panel == app.ui.panel;
        let key = app.keymap.press(Scope::Session, panel.action());
        let key = key.map_or_else(String::new, |press| press.to_string());
        // Where there is no room for all words, the key stands for the tab.
        let name = if active || all { panel.name() } else { "" };
        let gap = if name.is_empty() || key.is_empty() {
            ""
        } else {
            " "
        };
        let label = if active {
            format!(" {key}{gap}{name} ")
        } else {
            format!("{key}{gap}{name}")
        };
        let style = if active {
            theme.tab_active()
        } else {
            theme.tab()
        };
        let end = line::write(buffer, (x, y), width, [line::span(label, style)]);
        zones.add(Rect::new(x, y, end - x, 1), Hit::Tab(panel));
        x = end + 1 + u16::from(all);
    }
    let typing = app.is_typing(Purpose::ItemFilter).is_some();
    if typing || (app.ui.panel == Panel::Items && !app.ui.item_filter.is_empty()) {
        let room = usize::from(width.saturating_sub(x + 9));
        let filter = text::tail(&app.ui.item_filter, room);
        let mut spans = vec![
            line::span("/", theme.key()),
            line::span(filter, theme.strong()),
        ];
        spans.push(line::span(if typing { "▏" } else { " " }, theme.accent()));
        let count = format!(" {} ", page.items.len());
        spans.push(line::span(count, theme.quiet()));
        line::write_right(buffer, (x + 1, y), width, spans);
    } else {
        let said = line::span(format!("{said} "), theme.quiet());
        line::write_right(buffer, (x + 1, y), width, [said]);
    }
}

/// What the list holds and in which order.
fn told(app: &App, page: &Page) -> String {
    match app.ui.panel {
        Panel::Items => {
            let count = match app.ui.listed {
                ShownItems::InContext if Fold::of(app.ui.size.0) < Fold::Wide => {
                    page.items.len().to_string()
                }
                ShownItems::InContext => format!("{} in context", page.items.len()),
                ShownItems::All => format!("all {}", page.items.len()),
            };
            let (sort, arrow) = (app.ui.item_sort.name(), app.ui.item_direction.arrow());
            format!("{count} · {sort} {arrow}")
        }
        Panel::Tools => match page.tools.len() {
            0 => "none".to_owned(),
            n => format!("{n} by tokens"),
        },
        Panel::Compactions => match page.facts.compactions.len() {
            0 => "none".to_owned(),
            n => format!("{n}, the newest first"),
        },
        Panel::WhatIf => String::new(),
        Panel::Agents => match page.agents.len() {
            0 => "none".to_owned(),
            n => n.to_string(),
        },
        Panel::Course => String::new(),
    }
}
