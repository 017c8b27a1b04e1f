//! The menu of what can be copied of a session. Where a row has no room for what it copies, the selected one is shown
//! whole below, so that it can be read and typed.

use super::{pointer, write_menu};
use crate::app::copy::{CopyContent, Copyable};
use crate::app::{App, wrapped};
use crate::paint::{Pieces, Tone, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;
use model::lists::sessions::SessionKey;
use render::text;

/// The columns of the frame of a box.
const FRAME_COLUMNS: usize = 6;
/// The most lines of the selected row's content.
const MOST_LINES: usize = 4;
/// The rows of the frame, and of the note.
const OTHER_ROWS: usize = 3;

/// Draws the menu.
pub(super) fn draw(app: &App, key: SessionKey, canvas: &mut Canvas<'_>) {
    let area = canvas.area();
    let room = usize::from(area.width).saturating_sub(FRAME_COLUMNS);
    let copyables = app.copyables(key);
    let most = usize::from(area.height).saturating_sub(copyables.len() + OTHER_ROWS);
    // The box has one height, whichever row is selected.
    let cut = copyables.iter().filter(|row| !fits(row, room));
    let below = cut.map(|row| whole(row, room).len()).max();
    let below = below.unwrap_or(0).min(most);
    let rows = copyables.iter().enumerate().map(|(row, copyable)| {
        let mut line = head(copyable, row == app.ui.menu_row);
        if let Some(content) = first_line(copyable) {
            let left = room.saturating_sub(width(&line) + 2);
            line.push(quiet(format!("  {}", text::both_ends(content, left))));
        }
        line
    });
    let mut lines: Vec<Pieces> = rows.collect();
    let selected = copyables.get(app.ui.menu_row);
    let selected = selected.map_or(Vec::new(), |row| whole(row, room));
    let selected = selected.into_iter();
    let mut selected = selected.map(|line| vec![plain(format!(" {line}"))]);
    lines.extend((0..below).map(|_| selected.next().unwrap_or_default()));
    let note = if app.is_in_tmux {
        " to tmux's buffer, and the terminal's clipboard (OSC 52)"
    } else {
        " to the clipboard of this terminal (OSC 52)"
    };
    lines.push(vec![quiet(text::cut(note, room))]);
    write_menu("copy", lines, copyables.len(), canvas);
}

/// Returns the beginning of a row: its key and what it copies.
fn head(copyable: &Copyable, is_selected: bool) -> Pieces {
    vec![
        pointer(is_selected),
        piece(format!("{} ", copyable.key), Tone::Key),
        plain(copyable.about),
    ]
}

fn first_line(copyable: &Copyable) -> Option<&str> {
    match &copyable.content {
        CopyContent::Text(content) => Some(content.lines().next().unwrap_or_default()),
        CopyContent::Item(_) => None,
    }
}

/// Returns true if a row has room for what it copies.
fn fits(copyable: &Copyable, room: usize) -> bool {
    let content = first_line(copyable).map_or(0, text::width);
    width(&head(copyable, false)) + 2 + content <= room
}

/// Returns what a row copies, in lines of so many columns.
fn whole(copyable: &Copyable, room: usize) -> Vec<String> {
    let columns = room.saturating_sub(1).max(1);
    let mut lines = wrapped(first_line(copyable).unwrap_or_default(), columns);
    if lines.len() > MOST_LINES {
        let rest = lines.split_off(MOST_LINES - 1).join(" ");
        lines.push(text::cut(&rest, columns));
    }
    lines
}
