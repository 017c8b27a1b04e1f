//! What was told: one quiet line, and all of it on demand.

use crate::render::{number, text};
use crate::tui::app::{App, Notice, Weight, seconds_since};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::text::Span;

/// The newest notice in a line.
pub(super) fn draw_newest(app: &App, y: u16, theme: Theme, buffer: &mut Buffer) {
    let Some(notice) = app.notices.newest(app.now) else {
        return;
    };
    let count = match (notice.weight, app.notices.unseen_problems()) {
        (Weight::Problem, n @ 2..) => format!("{n} problems, the newest: "),
        _ => String::new(),
    };
    let said = format!("{count}{}", told(notice));
    let columns = usize::from(buffer.area.width).saturating_sub(4);
    let spans = [
        sign(notice.weight, theme),
        line::span(text::cut(&said, columns), style(notice.weight, theme)),
    ];
    line::write(buffer, (1, y), buffer.area.right(), spans);
}

/// All that was told, the newest first.
pub(super) fn draw_all(app: &App, theme: Theme, buffer: &mut Buffer) {
    let notices = app.notices.all();
    let rows = (notices.len() * 2)
        .max(1)
        .min(usize::from(buffer.area.height)) as u16;
    let columns = buffer.area.width.saturating_sub(8);
    let inside = super::window("notices", (columns, rows), theme, buffer);
    let at = |y| (inside.left(), y);
    if notices.is_empty() {
        let said = line::span("nothing: all that was found could be read", theme.quiet());
        line::write(buffer, at(inside.top()), inside.right(), [said]);
    }
    let width = usize::from(inside.width);
    let shown = (inside.top()..inside.bottom()).step_by(2);
    let top = app.ui.overlay_top.min(notices.len().saturating_sub(1));
    for (notice, y) in notices.iter().rev().skip(top).zip(shown) {
        let age = number::age(seconds_since(notice.at, app.now));
        let head = match notice.about.as_str() {
            "" => format!("{age} ago"),
            about => format!("{age} ago  {about}"),
        };
        let head = [
            sign(notice.weight, theme),
            line::span(text::cut(&head, width.saturating_sub(2)), theme.strong()),
        ];
        line::write(buffer, at(y), inside.right(), head);
        if y + 1 < inside.bottom() {
            let what = line::span(text::cut(&notice.text, width), theme.quiet());
            line::write(buffer, at(y + 1), inside.right(), [what]);
        }
    }
}

fn told(notice: &Notice) -> String {
    match notice.about.as_str() {
        "" => notice.text.clone(),
        about => format!("{about}: {}", notice.text),
    }
}

fn sign(weight: Weight, theme: Theme) -> Span<'static> {
    match weight {
        Weight::Done => line::span("· ", theme.quiet()),
        Weight::Problem => line::span("! ", theme.warn()),
        Weight::Alert => line::span("▲ ", theme.near()),
    }
}

fn style(weight: Weight, theme: Theme) -> ratatui::style::Style {
    match weight {
        Weight::Alert => theme.near(),
        _ => theme.quiet(),
    }
}
