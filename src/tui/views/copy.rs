//! The menu of what can be copied of a session.

use super::pointer;
use crate::app::App;
use crate::app::copy::CopyContent;
use crate::paint::{Area, Pieces, Tone, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;
use model::sessions::SessionKey;
use render::text;

/// The columns of the frame of a box.
const FRAME_COLUMNS: usize = 6;

/// Draws the menu. Returns where its rows are.
pub(super) fn draw(app: &App, key: SessionKey, canvas: &mut Canvas<'_>) -> Area {
    let room = usize::from(canvas.width()).saturating_sub(FRAME_COLUMNS);
    let copyables = app.copyables(key);
    let rows = copyables.iter().enumerate().map(|(row, copyable)| {
        let mut line = vec![
            pointer(row == app.ui.menu_row),
            piece(format!("{} ", copyable.key), Tone::Key),
            plain(copyable.about),
        ];
        if let CopyContent::Text(content) = &copyable.content {
            let content = content.lines().next().unwrap_or_default();
            let left = room.saturating_sub(width(&line) + 2);
            line.push(quiet(format!("  {}", text::both_ends(content, left))));
        }
        line
    });
    let mut lines: Vec<Pieces> = rows.collect();
    let note = " to the clipboard of this terminal (OSC 52)";
    lines.push(vec![quiet(text::cut(note, room))]);
    let columns = lines.iter().map(|line| width(line)).max().unwrap_or(0);
    let inside = canvas.open_box("copy", (columns as u16, lines.len() as u16));
    canvas.write_rows(inside, lines);
    Area {
        height: copyables.len() as u16,
        ..inside
    }
}
