//! The menus of a session whose rows are a key and what it does.

use super::{pointer, write_menu};
use crate::app::{App, HandOut};
use crate::paint::{Pieces, Tone, piece, plain, quiet};
use crate::widgets::canvas::Canvas;
use model::lists::sessions::SessionKey;

/// Draws the menu of the reports and tables that can be made of a session to share.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let rows = HandOut::ALL.iter();
    let rows = rows.map(|kind| (kind.key().to_string(), kind.about()));
    let note = " files go to the working directory; nothing is overwritten";
    draw_menu(app, "share", rows.collect(), note, canvas);
}

/// Draws the menu of what can be done with a session.
pub(super) fn draw_actions(app: &App, key: SessionKey, canvas: &mut Canvas<'_>) {
    let rows = app.action_rows(key).into_iter();
    let rows = rows.map(|row| (row.key, row.about));
    let note = " nothing is deleted, and nothing is sent to a running agent";
    draw_menu(app, "actions", rows.collect(), note, canvas);
}

fn draw_menu(
    app: &App,
    title: &str,
    rows: Vec<(String, &str)>,
    note: &str,
    canvas: &mut Canvas<'_>,
) {
    let height = rows.len();
    let rows = rows.into_iter().enumerate().map(|(row, (key, about))| {
        vec![
            pointer(row == app.ui.menu_row),
            piece(format!("{key} "), Tone::Key),
            plain(about),
        ]
    });
    let mut lines: Vec<Pieces> = rows.collect();
    lines.push(vec![quiet(note)]);
    write_menu(title, lines, height, canvas);
}
