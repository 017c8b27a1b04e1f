//! The keys and the signs, from the table of bindings.

use crate::model::Role;
use crate::tui::app::App;
use crate::tui::keymap::{Action, Scope};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::{line, text};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Span;

/// The columns that the keys take.
const KEYS: usize = 14;

pub(super) fn draw(app: &App, theme: Theme, buffer: &mut Buffer) {
    let (keymap, scope) = (&app.keymap, app.scope());
    let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
    let here = keymap
        .in_scope(scope)
        .chain(keymap.in_scope(Scope::Anywhere));
    for binding in here.filter(|binding| !binding.presses.is_empty()) {
        let keys: Vec<String> = binding.presses.iter().map(ToString::to_string).collect();
        lines.push(vec![
            line::span(text::left(&keys.join(" "), KEYS), theme.key()),
            line::plain(binding.help),
        ]);
    }
    lines.push(Vec::new());
    lines.extend(signs(theme));
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

/// How to read a gauge and a number.
fn signs(theme: Theme) -> Vec<Vec<Span<'static>>> {
    let mut roles = Vec::new();
    for role in Role::ALL {
        roles.push(line::span(format!("{} ", letter(role)), theme.role(role)));
        roles.push(line::plain(format!("{}  ", role.name())));
    }
    let fill: String = std::iter::repeat_n(theme.fill(Role::Tool), 3).collect();
    let bar = vec![
        line::span(fill, theme.role(Role::Tool)),
        line::plain(" known  "),
        line::span("╱╱╱", theme.role(Role::Tool)),
        line::plain(" estimated  ┄┄ its error  "),
        line::span("┃", theme.trigger()),
        line::plain(" compacts here"),
    ];
    let sign = |sign: &'static str, word: &'static str| {
        [
            line::span(sign, theme.strong()),
            line::span(format!(" {word}  "), Style::new()),
        ]
    };
    let sources = [
        sign("=", "reported"),
        sign("══", "derived"),
        sign("≈", "shared"),
        sign("~", "estimated"),
        sign("?", "by the agent"),
    ];
    vec![roles, bar, sources.into_iter().flatten().collect()]
}
