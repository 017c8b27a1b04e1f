//! The menu of what is made of a session to be handed on.

use super::pointer;
use crate::app::{App, HandOut};
use crate::paint::{Area, Hit, Pieces, Tone, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;

/// Draws the menu.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let rows = HandOut::ALL.iter().enumerate().map(|(row, kind)| {
        vec![
            pointer(row == app.ui.menu_row),
            piece(format!("{} ", kind.key()), Tone::Key),
            plain(kind.about()),
        ]
    });
    let mut lines: Vec<Pieces> = rows.collect();
    lines.push(vec![quiet(
        " files go to the working directory; nothing is overwritten",
    )]);
    let columns = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let inside = canvas.open_box("hand on", (columns as u16, lines.len() as u16));
    canvas.write_rows(inside, lines);
    let height = HandOut::ALL.len() as u16;
    canvas.hit(Area { height, ..inside }, Hit::Menu);
}
