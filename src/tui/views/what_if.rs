//! What other policies would have made of the session.
//!
//! ```text
//!    TRIGGER  COMPACTIONS  AT REQUEST          LARGEST  DROPPED     SENT  POLICY
//! ▌     167k            2  118, 301               171k     227k    38.2M  what took place
//!       100k            5  61, 118, 170, …        101k     385k    21.0M  gemini-cli: half of the window
//! ```

use crate::model::whatif::{WhatIf, Whose};
use crate::render::{number, text};
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Page};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::text::Span;

/// The columns in which the requests of compactions stand.
const REQUESTS: usize = 20;

pub(super) fn draw(app: &App, page: &Page, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    let fold = Fold::of(width);
    let heads = match fold {
        Fold::Narrow => "  TRIGGER TIMES  POLICY".to_owned(),
        Fold::Medium => "  TRIGGER TIMES LARGEST DROPPED    SENT  POLICY".to_owned(),
        Fold::Wide => format!(
            "  TRIGGER TIMES LARGEST DROPPED    SENT  {}  POLICY",
            text::left("AT REQUEST", REQUESTS)
        ),
    };
    if rows.columns.count > 0 {
        let at = (0, rows.columns.top);
        line::write(buffer, at, width, [line::span(heads, theme.heading())]);
    }
    if page.policies.is_empty() {
        let said = "no request reported to try other policies on";
        let said = text::cut(said, usize::from(width.saturating_sub(4)));
        line::write(
            buffer,
            (3, rows.list.top),
            width,
            [line::span(said, theme.quiet())],
        );
    }
    let shown = page
        .policies
        .iter()
        .enumerate()
        .skip(app.ui.policies.offset());
    for ((index, row), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        let tokens = |n: u64| text::right(&number::short(n), 8);
        let trigger = row.trigger.map_or_else(|| "—".to_owned(), number::short);
        let mut spans = vec![
            super::pointer(index, app.ui.policies.index(), theme),
            line::plain(text::right(&trigger, 8)),
            line::span(
                text::right(&row.compactions.len().to_string(), 6),
                theme.strong(),
            ),
        ];
        if fold > Fold::Narrow {
            let largest = match row.over {
                Some(_) => theme.warn(),
                None => theme.text(),
            };
            spans.push(line::span(tokens(row.largest), largest));
            spans.push(line::plain(tokens(row.dropped())));
            spans.push(line::plain(tokens(row.prompts)));
        }
        if fold == Fold::Wide {
            let at = text::left(&requests(row), REQUESTS);
            spans.push(line::span(format!("  {at}"), theme.quiet()));
        }
        spans.push(line::plain("  "));
        let style = match row.whose {
            Whose::Real | Whose::Own => theme.strong(),
            _ => theme.text(),
        };
        let taken: usize = spans.iter().map(Span::width).sum();
        let room = usize::from(width).saturating_sub(taken);
        spans.push(line::span(text::cut(&name(row), room), style));
        if row.over.is_some() {
            spans.push(line::span("  would not have fitted", theme.warn()));
        }
        line::write(buffer, (0, y), width, spans);
        if index == app.ui.policies.index() {
            super::lift(y, theme, buffer);
        }
    }
}

fn name(row: &WhatIf) -> String {
    match &row.whose {
        Whose::Real => "what took place".to_owned(),
        Whose::Own => format!("its own: {}", row.policy),
        Whose::Agent(agent) => format!("{agent}: {}", row.policy),
        Whose::Generic => row.policy.clone(),
    }
}

/// The requests before which it compacts, counted from 1.
fn requests(row: &WhatIf) -> String {
    let at = row
        .compactions
        .iter()
        .map(|done| (done.request + 1).to_string());
    at.collect::<Vec<_>>().join(", ")
}
