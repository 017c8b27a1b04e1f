//! The keys and the signs, from the table of bindings.

use crate::model::Role;
use crate::render::{item, text};
use crate::tui::app::{App, HelpLine, Sign};
use crate::tui::keymap::Action;
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::text::Span;

pub(super) fn draw(app: &App, theme: Theme, buffer: &mut Buffer) {
    let (keymap, scope) = (&app.keymap, app.scope());
    let keys = app.help_keys();
    let lines = app.help_lines().into_iter().map(|said| match said {
        HelpLine::Keys(press, help) => vec![
            line::span(text::left(&press, keys), theme.key()),
            line::plain(help),
        ],
        HelpLine::Signs(signs) => signs
            .into_iter()
            .flat_map(|said| {
                [
                    sign(said, theme),
                    line::plain(format!(" {}  ", said.word())),
                ]
            })
            .collect(),
    });
    let lines: Vec<Vec<Span<'static>>> = lines.collect();
    let columns = lines.iter().map(|l| width(l)).max().unwrap_or(0) as u16;
    let rows = lines
        .len()
        .min(usize::from(buffer.area.height.saturating_sub(2)));
    let last = lines.len() - rows;
    let top = app.ui.overlay_top.min(last);
    let down = keymap.press(scope, Action::Down);
    let down = down.map_or_else(|| "more".to_owned(), |press| format!("{press} more"));
    let more = match (top, last) {
        (_, 0) => String::new(),
        (0, _) => format!(", {} below", down),
        (top, last) if top < last => ", more above and below".to_owned(),
        _ => ", more above".to_owned(),
    };
    let title = format!("keys: {}{more}", scope.name());
    let inside = super::window(&title, (columns, rows as u16), theme, buffer);
    let shown = lines.into_iter().skip(top);
    for (spans, y) in shown.zip(inside.top()..inside.bottom()) {
        line::write(buffer, (inside.left(), y), inside.right(), spans);
    }
}

fn width(line: &[Span<'_>]) -> usize {
    line.iter().map(Span::width).sum()
}

/// A sign as gauges and lists show it.
fn sign(sign: Sign, theme: Theme) -> Span<'static> {
    let tool = theme.role(Role::Tool);
    match sign {
        Sign::Role(role) => line::span(letter(role).to_string(), theme.role(role)),
        Sign::Known => {
            let fill: String = std::iter::repeat_n(theme.fill(Role::Tool), 3).collect();
            line::span(fill, tool)
        }
        Sign::Estimated => line::span("╱╱╱", tool),
        Sign::Error => line::plain("┄┄"),
        Sign::Trigger => line::span("┃", theme.trigger()),
        Sign::Source(source) => line::span(item::sign(source), theme.strong()),
    }
}
