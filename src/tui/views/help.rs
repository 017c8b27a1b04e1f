//! The keys and the signs, from the table of bindings.

use crate::model::Role;
use crate::tui::keymap::{Keymap, Scope};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::{line, text};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Span;

/// The columns that the keys take.
const KEYS: usize = 14;

pub(super) fn draw(keymap: &Keymap, scope: Scope, theme: Theme, buffer: &mut Buffer) {
    let mut lines: Vec<Vec<Span<'static>>> = Vec::new();
    let here = keymap
        .in_scope(scope)
        .chain(keymap.in_scope(Scope::Anywhere));
    let mut bindings: Vec<_> = here.filter(|b| !b.presses.is_empty()).collect();
    // Where not all fit, those go first that a footer has no word for.
    let room = usize::from(buffer.area.height.saturating_sub(2));
    while bindings.len() > room {
        let least = bindings.iter().rposition(|binding| binding.hint.is_none());
        bindings.remove(least.unwrap_or(bindings.len() - 1));
    }
    for binding in bindings {
        let keys: Vec<String> = binding.presses.iter().map(ToString::to_string).collect();
        lines.push(vec![
            line::span(text::left(&keys.join(" "), KEYS), theme.key()),
            line::plain(binding.help),
        ]);
    }
    // The signs come where there is room for them: the keys matter more.
    let signs = signs(theme);
    if lines.len() + 1 + signs.len() + 2 <= usize::from(buffer.area.height) {
        lines.push(Vec::new());
        lines.extend(signs);
    }
    let columns = lines.iter().map(|l| width(l)).max().unwrap_or(0) as u16;
    let title = format!("keys: {}", scope.name());
    let inside = super::window(&title, (columns, lines.len() as u16), theme, buffer);
    for (spans, y) in lines.into_iter().zip(inside.top()..inside.bottom()) {
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
