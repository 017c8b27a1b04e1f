//! The menus of the order of the sessions.

use super::help::more;
use super::{pointer, write_menu};
use crate::app::menu::Choice;
use crate::app::{App, Overlay};
use crate::keymap::{Action, Scope};
use crate::paint::Tone;
use crate::paint::{Pieces, fitted, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;

/// The column of what comes first.
const GLOSS_COLUMN: usize = 16;

/// Draws the menu: the current row has a mark.
pub(super) fn draw(app: &App, menu: Overlay, canvas: &mut Canvas<'_>) {
    let rows = app.menu_rows().unwrap_or_default();
    let columns = usize::from(canvas.width().saturating_sub(4));
    let top = app.menu_top();
    let all = rows.iter().enumerate().map(|(nth, row)| {
        let mut line = vec![pointer(nth == app.ui.menu_row)];
        if app.is_current(row) {
            line.extend([piece("• ", Tone::Accent), strong(row.about)]);
            if menu == Overlay::Sort {
                line.push(plain(format!(" {}", app.ui.direction.arrow())));
            }
        } else {
            line.push(plain(format!("  {}", row.about)));
        }
        if let Choice::Sort(column) = row.choice {
            let gap = GLOSS_COLUMN.saturating_sub(width(&line));
            line.push(quiet(format!("{:gap$} {}", "", column.first)));
        }
        fitted(line, columns)
    });
    let mut lines: Vec<Pieces> = all.skip(top).collect();
    let reverse = app.keymap.key_text(Scope::Overview, Action::Reverse);
    let kept = " kept for the next run";
    let (title, note) = match menu {
        Overlay::Sort => ("sort", format!("{kept}; {reverse} reverses")),
        _ => ("group", kept.to_owned()),
    };
    let note = vec![quiet(note)];
    let room = usize::from(canvas.area().height).saturating_sub(3);
    let last = rows.len().saturating_sub(room);
    lines.truncate(room);
    let title = format!("{title}{}", more(app, top, last));
    let height = lines.len();
    lines.push(note);
    write_menu(&title, lines, height, canvas);
}
