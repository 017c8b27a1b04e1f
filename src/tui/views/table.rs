//! The list of a tab.

use crate::app::App;
use crate::paint::{Hit, Tone, fitted, piece, quiet};
use crate::widgets::canvas::Canvas;
use render::text;

pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let Some((list, view)) = app.list() else {
        return;
    };
    let layout = app.session_layout();
    let headings = format!(" {}", list.headings(&view));
    canvas.write_in(layout.columns, &[piece(headings, Tone::Heading)]);
    let cursor = app.ui.cursor();
    let shown = (cursor.offset()..list.ids().len()).zip(layout.list.rows());
    for (row, y) in shown {
        let selected = row == cursor.index();
        let x = canvas.write((0, y), canvas.width(), &[super::pointer(selected)]);
        let room = usize::from(canvas.width().saturating_sub(x));
        let line = fitted(list.row(&view, row), room);
        canvas.write((x, y), canvas.width(), &line);
        if selected {
            canvas.select_row(y);
        }
    }
    let room = usize::from(canvas.width()).saturating_sub(4);
    let empty = list.empty(&view).into_iter();
    let lines = empty.map(|line| vec![quiet(text::cut(&line, room))]);
    canvas.write_rows(layout.list.inset(3, 0), lines);
    canvas.hit(layout.list, Hit::List);
}
