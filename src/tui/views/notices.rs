//! Notices: the newest in a line, and all of them on demand.

use crate::app::{App, Severity, seconds_since};
use crate::paint::{Area, Piece, Tone, piece, quiet, strong};
use crate::widgets::canvas::Canvas;
use render::{number, text};

/// The newest notice in a line.
pub(super) fn draw_newest(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let Some(notice) = app.notices.newest(app.now) else {
        return;
    };
    let count = match (notice.severity, app.notices.unseen_problems()) {
        (Severity::Problem, n @ 2..) => format!("{n} problems, newest: "),
        _ => String::new(),
    };
    let about = match notice.about.as_str() {
        "" => String::new(),
        about => format!("{about}: "),
    };
    let line = format!("{count}{about}{}", notice.text);
    let tone = match notice.severity {
        Severity::Alert => Tone::Near,
        _ => Tone::Quiet,
    };
    let columns = usize::from(area.width).saturating_sub(4);
    let line = piece(text::cut(&line, columns), tone);
    canvas.write_in(area.inset(1, 0), &[sign(notice.severity), line]);
}

/// All notices, the newest first.
pub(super) fn draw_all(app: &App, canvas: &mut Canvas<'_>) {
    let (notices, screen) = (app.notices.all(), canvas.area());
    let rows = (notices.len() * 2).clamp(1, usize::from(screen.height)) as u16;
    let columns = screen.width.saturating_sub(8);
    let inside = canvas.open_box("notices", (columns, rows));
    let width = usize::from(inside.width);
    if notices.is_empty() {
        let nothing = quiet("no notices");
        canvas.write_in(inside, &[nothing]);
    }
    let top = app.ui.overlay_top.min(notices.len().saturating_sub(1));
    let lines = notices.iter().rev().skip(top).flat_map(|notice| {
        let age = number::age(seconds_since(notice.at, app.now));
        let head = match notice.about.as_str() {
            "" => format!("{age} ago"),
            about => format!("{age} ago  {about}"),
        };
        let head = strong(text::cut(&head, width.saturating_sub(2)));
        let what = quiet(text::cut(&notice.text, width));
        [vec![sign(notice.severity), head], vec![what]]
    });
    canvas.write_rows(inside, lines);
}

fn sign(severity: Severity) -> Piece {
    match severity {
        Severity::Info => quiet("· "),
        Severity::Problem => piece("! ", Tone::Warn),
        Severity::Alert => piece("▲ ", Tone::Near),
    }
}
