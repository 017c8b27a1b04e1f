//! The menus of a session. Where a row has no room for what it copies, the selected one is shown whole below, so that it
//! can be read and typed.

use super::{pointer, write_menu};
use crate::app::menu::{Choice, MenuRow};
use crate::app::{App, Overlay, wrapped};
use crate::paint::{Pieces, Tone, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;
use render::text;

/// The columns of the frame of a box.
const FRAME_COLUMNS: usize = 6;
/// The most lines of the selected row's content.
const MOST_LINES: usize = 4;
/// The rows of the frame, and of the note.
const OTHER_ROWS: usize = 3;

/// Draws the menu.
pub(super) fn draw(app: &App, menu: Overlay, canvas: &mut Canvas<'_>) {
    let rows = app.menu_rows().unwrap_or_default();
    let area = canvas.area();
    let room = usize::from(area.width).saturating_sub(FRAME_COLUMNS);
    let most = usize::from(area.height).saturating_sub(rows.len() + OTHER_ROWS);
    // The box has one height, whichever row is selected.
    let cut = rows.iter().filter(|row| !fits(row, room));
    let below = cut.map(|row| whole(row, room).len()).max();
    let below = below.unwrap_or(0).min(most);
    let lines = rows.iter().enumerate().map(|(nth, row)| {
        let mut line = head(row, nth == app.ui.menu_row);
        if let Some(content) = first_line(row) {
            let left = room.saturating_sub(width(&line) + 2);
            line.push(quiet(format!("  {}", text::both_ends(content, left))));
        }
        line
    });
    let mut lines: Vec<Pieces> = lines.collect();
    let selected = rows.get(app.ui.menu_row);
    let selected = selected.map_or(Vec::new(), |row| whole(row, room));
    let selected = selected.into_iter();
    let mut selected = selected.map(|line| vec![plain(format!(" {line}"))]);
    lines.extend((0..below).map(|_| selected.next().unwrap_or_default()));
    let (title, note) = match menu {
        Overlay::HandOn(_) => (
            "share",
            " files go to the working directory; nothing is overwritten",
        ),
        Overlay::Actions(_) => (
            "actions",
            " nothing is deleted, and nothing is sent to a running agent",
        ),
        _ if app.is_in_tmux => (
            "copy",
            " to tmux's buffer, and the terminal's clipboard (OSC 52)",
        ),
        _ => ("copy", " to the clipboard of this terminal (OSC 52)"),
    };
    lines.push(vec![quiet(text::cut(note, room))]);
    write_menu(title, lines, rows.len(), canvas);
}

/// Returns the beginning of a row: its key and its description.
fn head(row: &MenuRow, is_selected: bool) -> Pieces {
    vec![
        pointer(is_selected),
        piece(format!("{} ", row.key), Tone::Key),
        plain(row.about),
    ]
}

fn first_line(row: &MenuRow) -> Option<&str> {
    match &row.choice {
        Choice::Copy(content) => Some(content.lines().next().unwrap_or_default()),
        _ => None,
    }
}

/// Returns true if a row has room for what it copies.
fn fits(row: &MenuRow, room: usize) -> bool {
    first_line(row)
        .is_none_or(|content| width(&head(row, false)) + 2 + text::width(content) <= room)
}

/// Returns what a row copies, in lines of so many columns.
fn whole(row: &MenuRow, room: usize) -> Vec<String> {
    let columns = room.saturating_sub(1).max(1);
    let mut lines = wrapped(first_line(row).unwrap_or_default(), columns);
    if lines.len() > MOST_LINES {
        let rest = lines.split_off(MOST_LINES - 1).join(" ");
        lines.push(text::cut(&rest, columns));
    }
    lines
}
