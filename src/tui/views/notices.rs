//! Notices: the newest in a line, and all of them on demand.

use super::pointer;
use crate::app::{App, NOTICE_ROWS, Severity, seconds_since, wrapped};
use crate::keymap::{Action, KeyPress};
use crate::paint::{Area, Hit, Piece, Pieces, Tone, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;
use render::{number, text};

/// Draws the newest notice in a line.
pub(super) fn draw_newest(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let Some(notice) = app.notices.newest(app.now) else {
        return;
    };
    let count = match (notice.severity, app.notices.unseen_of(notice.severity)) {
        (Severity::Problem, n @ 2..) => format!("{n} problems, newest: "),
        (Severity::Alert, n @ 2..) => format!("{n} alerts, newest: "),
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
    let all = match notice.severity {
        Severity::Info => String::new(),
        _ => app.keymap.key_text(app.scope(), Action::Notices),
    };
    let all = match all.as_str() {
        "" => Vec::new(),
        key => vec![piece(format!("  {key}"), Tone::Key), quiet(" all notices ")],
    };
    let columns = app.notice_columns();
    let mut pieces = vec![
        sign(notice.severity),
        piece(text::cut(&line, columns), tone),
    ];
    if text::width(&line) + width(&all) <= columns {
        pieces.extend(all);
    }
    canvas.write_in(area.inset(1, 0), &pieces);
    if notice.severity != Severity::Info {
        canvas.hit(area, Hit::Action(Action::Notices));
    }
}

/// Draws all notices, the newest first, and the text of the selected one where its row is too short for it. Returns the
/// area of the notices.
pub(super) fn draw_all(app: &App, canvas: &mut Canvas<'_>) {
    let (notices, screen) = (&app.notices.all, canvas.area());
    let nothing = nothing(app);
    let rows = (notices.len() * NOTICE_ROWS).max(nothing.len());
    let rows = rows.min(usize::from(screen.height)) as u16;
    let columns = screen.width.saturating_sub(8);
    let cursor = &app.ui.notices;
    let selected = notices.iter().rev().nth(cursor.index());
    let whole = selected.map_or(Vec::new(), |notice| in_full(&notice.text, columns));
    let room = usize::from(screen.height).saturating_sub(2);
    let below = match whole.len() + 1 {
        1 => 0,
        lines if usize::from(rows) + lines > room => 0,
        lines => lines as u16,
    };
    let title = if notices.iter().any(|notice| notice.session.is_some()) {
        format!("notices: {} opens the session", KeyPress::Enter)
    } else {
        "notices".to_owned()
    };
    let inside = canvas.open_box(&title, (columns, rows + below));
    let height = inside.height.saturating_sub(below);
    let below = Area::new(inside.x, inside.y + height, inside.width, below);
    let inside = Area { height, ..inside };
    let whole = whole.into_iter().map(|line| vec![plain(line)]);
    canvas.write_rows(below, std::iter::once(Pieces::new()).chain(whole));
    let width = usize::from(inside.width).saturating_sub(1);
    canvas.write_rows(inside, nothing);
    let shown = notices.iter().rev().enumerate().skip(cursor.offset());
    let lines = shown.flat_map(|(row, notice)| {
        let age = number::age(seconds_since(notice.at, app.now));
        let head = match notice.about.as_str() {
            "" => format!("{age} ago"),
            about => format!("{age} ago  {about}"),
        };
        let facts = notice.session.and_then(|key| app.sessions.facts(key));
        let agent = facts.map(|facts| format!(" · {}", facts.label));
        let head = head + &agent.unwrap_or_default();
        let head = strong(text::cut(&head, width.saturating_sub(2)));
        let what = quiet(text::cut(&notice.text, width));
        let pointer = || pointer(row == cursor.index());
        [
            vec![pointer(), sign(notice.severity), head],
            vec![pointer(), what],
        ]
    });
    canvas.write_rows(inside, lines);
    canvas.hit(inside, Hit::Notices);
}

/// Returns a text in lines of a row's width; none where one row is enough.
fn in_full(text: &str, columns: u16) -> Vec<String> {
    let columns = usize::from(columns.saturating_sub(1));
    if text::width(text) <= columns {
        return Vec::new();
    }
    wrapped(&text::inert(text), columns)
}

/// Returns the lines of a box without notices.
fn nothing(app: &App) -> Vec<Pieces> {
    if !app.notices.all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![vec![quiet("no notices")]];
    if !app.has_alerts() {
        let how = "alerts are off; `ctxgauge help configuration` says how to set them";
        lines.push(vec![quiet(how)]);
    }
    lines
}

fn sign(severity: Severity) -> Piece {
    match severity {
        Severity::Info => quiet("· "),
        Severity::Problem => piece("! ", Tone::Warn),
        Severity::Alert => piece("▲ ", Tone::Near),
    }
}
