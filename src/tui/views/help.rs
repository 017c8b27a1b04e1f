//! The signs of the screen, and the keys from the table of bindings.

use crate::app::{App, HelpLine, Sign};
use crate::keymap::Action;
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;
use model::Role;
use render::{item, text};

/// The signs of the screen.
pub(super) fn draw_signs(app: &App, canvas: &mut Canvas<'_>) {
    let key = app.keymap.key_text(app.scope(), Action::Help);
    let title = format!("signs: {}, {key} for the keys", app.scope().name());
    draw(app, &title, app.legend_lines(), canvas);
}

/// The keys of the screen.
pub(super) fn draw_keys(app: &App, canvas: &mut Canvas<'_>) {
    let title = format!("keys: {}", app.scope().name());
    draw(app, &title, app.help_lines(), canvas);
}

fn draw(app: &App, title: &str, lines: Vec<HelpLine>, canvas: &mut Canvas<'_>) {
    let columns = app.help_keys();
    let lines = lines.into_iter().map(|line| match line {
        HelpLine::Keys(keys, help) => {
            vec![piece(text::left(&keys, columns), Tone::Key), plain(help)]
        }
        HelpLine::Signs(signs) => signs
            .into_iter()
            .flat_map(|s| [sign(s, canvas), plain(format!(" {}  ", s.word()))])
            .collect(),
    });
    let lines: Vec<Pieces> = lines.collect();
    let columns = lines.iter().map(|l| width(l)).max().unwrap_or(0) as u16;
    let room = usize::from(canvas.area().height.saturating_sub(2));
    let rows = lines.len().min(room);
    let last = lines.len() - rows;
    let top = app.ui.overlay_top.min(last);
    let key = app.keymap.key(app.scope(), Action::Down);
    let down = key.map_or_else(|| "more".to_owned(), |key| format!("{key} more"));
    let more = match (top, last) {
        (_, 0) => String::new(),
        (0, _) => format!(", {down} below"),
        (top, last) if top < last => ", more above and below".to_owned(),
        _ => ", more above".to_owned(),
    };
    let title = format!("{title}{more}");
    let inside = canvas.open_box(&title, (columns, rows as u16));
    canvas.write_rows(inside, lines.into_iter().skip(top));
}

/// A sign as gauges and lists show it.
fn sign(sign: Sign, canvas: &Canvas<'_>) -> Piece {
    match sign {
        Sign::Role(role) => piece(item::letter(role).to_string(), role),
        Sign::Known => {
            let fill = canvas.theme.fill(Role::Tool);
            piece(fill.to_string().repeat(3), Role::Tool)
        }
        Sign::Estimated => piece("╱╱╱", Role::Tool),
        Sign::Error => plain("┄┄"),
        Sign::Trigger => piece("┃", Tone::Trigger),
        Sign::Beyond => quiet("░░"),
        Sign::TriggerLine => piece("──", Tone::Trigger),
        Sign::Median => piece("▒▒", Tone::Forecast),
        Sign::Band => piece("░░", Tone::Forecast),
        Sign::Compaction => piece("▾", Tone::Compaction),
        Sign::Marked => piece("◆", Tone::Marked),
        Sign::Oversized => piece("!", Tone::Oversized),
        Sign::Repeated => piece("×", Tone::Oversized),
        Sign::Works => piece("●", Tone::Live),
        Sign::Waits => quiet("○"),
        Sign::Written => piece("·", Tone::Live),
    }
}
