//! The sub-agents of a session, and what they cost it.
//!
//! ```text
//!    CONTEXT  REQUESTS   SENT  OUTPUT   CAME BACK  AGE  SUB-AGENT
//! ▌    36.2k        31   1.1M    4.2k        2.1k   4s  Explore
//! ```

use crate::model::Role;
use crate::render::{number, text};
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Page};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;

pub(super) fn draw(app: &App, page: &Page, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    let wide = Fold::of(width) > Fold::Narrow;
    let heads = if wide {
        "  CONTEXT  REQUESTS    SENT  OUTPUT  CAME BACK   AGE  SUB-AGENT"
    } else {
        "  CONTEXT  REQUESTS  SUB-AGENT"
    };
    if rows.columns.count > 0 {
        let at = (0, rows.columns.top);
        line::write(buffer, at, width, [line::span(heads, theme.heading())]);
    }
    if page.agents.is_empty() {
        let said = line::span("no sub-agent of this session is known here", theme.quiet());
        line::write(buffer, (3, rows.list.top), width, [said]);
    }
    let session = app.fleet.get(page.key);
    let shown = page.agents.iter().enumerate().skip(app.ui.agents.offset());
    for ((index, child), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        let mut spans = vec![
            super::pointer(index, app.ui.agents.index(), theme),
            line::span(text::right(&number::tokens(child.used), 8), theme.strong()),
            line::plain(text::right(&reported(child.requests as u64), 10)),
        ];
        if wide {
            let back = session.and_then(|session| {
                let (tokens, _) = session.tokens(child.result?);
                Some(number::tokens(tokens))
            });
            let age = app.age(child.key).map_or_else(String::new, number::age);
            spans.push(line::plain(text::right(&reported(child.prompts), 8)));
            spans.push(line::plain(text::right(&reported(child.outputs), 8)));
            let back = back.unwrap_or_else(|| "—".to_owned());
            spans.push(line::plain(text::right(&back, 11)));
            let style = if app.is_live(child.key) {
                theme.live()
            } else {
                theme.quiet()
            };
            spans.push(line::span(text::right(&age, 6), style));
        }
        spans.push(line::plain("  "));
        let of = app.fleet.get(child.key);
        spans.push(line::plain(app.fleet.name(child.key)));
        if let Some(model) = of.and_then(|child| child.model()) {
            spans.push(line::span(
                format!("  {}", text::short_model(model)),
                theme.quiet(),
            ));
        }
        // What it was asked to do.
        let task = of.and_then(|child| child.items().iter().find(|item| item.role == Role::User));
        if let Some(task) = task {
            spans.push(line::span(format!("  {}", task.preview), theme.quiet()));
        }
        line::write(buffer, (0, y), width, spans);
        if index == app.ui.agents.index() {
            super::lift(y, theme, buffer);
        }
    }
}

/// What is only known from usage reports: none came where it is 0.
fn reported(n: u64) -> String {
    match n {
        0 => "—".to_owned(),
        n => number::short(n),
    }
}
