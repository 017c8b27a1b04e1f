//! The screen of an item's text: the text as [`super::reader`] draws it, notices, keys.

use super::reader::{self, About};
use crate::tui::app::{App, Zones};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(super) fn draw(app: &App, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    let area = buffer.area;
    let (Some(page), Some(open)) = (app.page(), &app.reader) else {
        return;
    };
    let found = app.item_read();
    let session = app.fleet.get(page.key);
    let tokens = found
        .zip(session)
        .map(|((ix, _), session)| session.tokens(ix));
    let about = About {
        item: found.map(|(_, item)| item),
        subject: found
            .zip(session)
            .and_then(|((_, item), session)| page.calls.subject(session, item)),
        tokens: tokens.unwrap_or((0, crate::model::Source::Estimated)),
        window: page.state.limits.window,
        now: app.now,
    };
    let body = Rect {
        height: area.height.saturating_sub(1),
        ..area
    };
    reader::draw(about, open, body, theme, buffer);
    if app.notices.newest(app.now).is_some() {
        let y = body.bottom().saturating_sub(1);
        for x in area.left()..area.right() {
            buffer[(x, y)].reset();
        }
        super::notices::draw_newest(app, y, theme, buffer);
    }
    super::footer(app, area.bottom() - 1, theme, buffer, zones);
}
