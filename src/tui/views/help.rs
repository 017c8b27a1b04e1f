//! The signs of the screen, and the keys from the table of bindings.

use crate::app::App;
use crate::keymap::Action;
use crate::paint::{Pieces, quiet, width};
use crate::widgets::canvas::Canvas;
use model::Role;

/// The columns under which the title has no room for the filter.
const NARROW_COLUMNS: u16 = 60;

/// Draws the signs of the screen.
pub(super) fn draw_signs(app: &App, canvas: &mut Canvas<'_>) {
    let key = app.keymap.key_text(app.scope(), Action::Help);
    let title = format!("signs: {}, {key} for the keys", app.scope().name());
    draw(app, &title, app.legend_lines(), canvas);
}

/// Draws the keys of the screen.
pub(super) fn draw_keys(app: &App, canvas: &mut Canvas<'_>) {
    let filter = match &app.ui.help_filter {
        Some(text) => format!(", /{text}▏"),
        None if canvas.width() < NARROW_COLUMNS => String::new(),
        None => ", / filters".to_owned(),
    };
    let title = format!("keys: {}{filter}", app.scope().name());
    let mut lines = app.help_lines();
    if lines.is_empty() {
        let typed = app.ui.help_filter.as_deref().unwrap_or_default();
        lines.push(vec![quiet(format!("no key matches '{typed}'"))]);
    }
    draw(app, &title, lines, canvas);
}

/// Returns the words for the lines above and below those of a box that shows the lines from `top` on, the last of which
/// is `last`.
pub(super) fn more(app: &App, top: usize, last: usize) -> String {
    let key = app.keymap.key(app.scope(), Action::Down);
    let down = key.map_or_else(|| "more".to_owned(), |key| format!("{key} more"));
    match (top, last) {
        (_, 0) => String::new(),
        (0, _) => format!(", {down} below"),
        (top, last) if top < last => ", more above and below".to_owned(),
        _ => ", more above".to_owned(),
    }
}

fn draw(app: &App, title: &str, mut lines: Vec<Pieces>, canvas: &mut Canvas<'_>) {
    // The sign of what is known is filled as gauges are.
    let fill = canvas.theme.fill(Role::Tool).to_string();
    for piece in lines.iter_mut().flatten() {
        piece.text = piece.text.replace('█', &fill);
    }
    let columns = lines.iter().map(|l| width(l)).max().unwrap_or(0) as u16;
    // The box keeps its width while a filter is typed.
    let filtered = app.ui.help_filter.as_ref().map_or(0, |_| NARROW_COLUMNS);
    let columns = columns.max(filtered);
    let room = usize::from(canvas.area().height.saturating_sub(2));
    let rows = lines.len().min(room);
    let last = lines.len() - rows;
    let top = app.ui.overlay_top.min(last);
    let title = format!("{title}{}", more(app, top, last));
    let inside = canvas.open_box(&title, (columns, rows as u16));
    canvas.write_rows(inside, lines.into_iter().skip(top));
}
