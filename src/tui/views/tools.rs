//! What each tool's results cost.
//!
//! ```text
//!    TOKENS   SHARE  RESULTS  IN CONTEXT  LARGEST  CARRIED     COST  TOOL
//! ▌   87.7k     71%       14       61.1k    61.0k     1.1M   $0.33   Read
//! ```

use crate::render::{number, text};
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Page};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;

pub(super) fn draw(app: &App, page: &Page, theme: Theme, buffer: &mut Buffer) {
    let rows = app.session_layout();
    let width = buffer.area.width;
    let fold = Fold::of(width);
    let heads = match fold {
        Fold::Narrow => "   TOKENS SHARE RESULTS  TOOL".to_owned(),
        Fold::Medium => "   TOKENS SHARE RESULTS  IN CONTEXT  LARGEST CARRIED  TOOL".to_owned(),
        Fold::Wide => {
            "   TOKENS SHARE RESULTS  IN CONTEXT  LARGEST CARRIED     COST  TOOL".to_owned()
        }
    };
    if rows.columns.count > 0 {
        let at = (0, rows.columns.top);
        line::write(buffer, at, width, [line::span(heads, theme.heading())]);
    }
    if page.tools.is_empty() {
        let said = line::span("no tool has given a result", theme.quiet());
        line::write(buffer, (3, rows.list.top), width, [said]);
    }
    let shown = page.tools.iter().enumerate().skip(app.ui.tools.offset());
    for ((index, tool), y) in shown.zip(rows.list.top..rows.list.top + rows.list.count) {
        let tokens = |n: u64, columns: usize| text::right(&number::tokens(n), columns);
        let share = format!("{:.0}%", tool.share * 100.0);
        let mut spans = vec![
            super::pointer(index, app.ui.tools.index(), theme),
            line::span(tokens(tool.tokens, 8), theme.strong()),
            line::span(text::right(&share, 6), theme.quiet()),
            line::plain(text::right(&tool.results.to_string(), 8)),
        ];
        if fold > Fold::Narrow {
            let here = match tool.in_context {
                0 => "—".to_owned(),
                n => number::tokens(n),
            };
            spans.push(line::plain(text::right(&here, 12)));
            spans.push(line::plain(tokens(tool.largest.1, 9)));
            let carried = match tool.carried {
                0 => "—".to_owned(),
                n => number::short(n),
            };
            spans.push(line::plain(text::right(&carried, 8)));
        }
        if fold == Fold::Wide {
            let cost = tool.carried_usd.map_or_else(|| "—".to_owned(), number::usd);
            spans.push(line::span(text::right(&cost, 9), theme.quiet()));
        }
        spans.push(line::plain("  "));
        spans.push(line::span(&tool.name, theme.text()));
        line::write(buffer, (0, y), width, spans);
        if index == app.ui.tools.index() {
            super::lift(y, theme, buffer);
        }
    }
}
