//! The screen of an item's text: the pager, notices, keys.

use super::pager::{self, PagerItem, SendFacts};
use crate::app::tabs::View;
use crate::app::{App, Page};
use crate::paint::Area;
use crate::widgets::canvas::Canvas;
use model::Source;
use model::cost::carried::CarriedCost;
use model::session::{Item, ItemIx, Session};

pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let area = canvas.area();
    let (Some(page), Some(pager)) = (app.page(), &app.pager) else {
        return;
    };
    let found = app.item_read().zip(app.sessions.get(page.key));
    let found = found.as_ref();
    let tokens = found.map(|((ix, _), session)| session.tokens(*ix));
    let about = PagerItem {
        item: found.map(|((_, item), _)| *item),
        missing: if app.is_seeking() {
            "reading its session"
        } else {
            "this item is no longer in the log"
        },
        name: found
            .map(|((_, item), session)| page.calls.name(session, item))
            .unwrap_or_default(),
        tokens: tokens.unwrap_or((0, Source::Estimated)),
        end: page.state.limits.end(),
        sent: found
            .map(|((ix, item), session)| sent(app, page, session, (*ix, item)))
            .unwrap_or_default(),
        now: app.now,
    };
    let (rows, footer) = (area.height - 1, area.bottom() - 1);
    pager::draw(about, pager, Area::new(0, 0, area.width, rows), canvas);
    if app.notices.newest(app.now).is_some() {
        let last = Area::new(0, rows - 1, area.width, 1);
        for x in 0..area.width {
            canvas.cell((x, last.y)).reset();
        }
        super::notices::draw_newest(app, last, canvas);
    }
    super::footer(app, Area::new(0, footer, area.width, 1), canvas);
}

/// Returns the time since which an item was sent, the number of times and the cost, until the moment on screen.
fn sent(app: &App, page: &Page, session: &Session, (ix, item): (ItemIx, &Item)) -> SendFacts {
    let requests = page.state.requests;
    let (tokens, _) = session.tokens(ix);
    let carried = CarriedCost::by(session, requests);
    let (request, elapsed) = View { app, page, session }.entered(item);
    SendFacts {
        request,
        elapsed,
        requests: item.requests_held(requests),
        tokens: carried.tokens(ix, tokens),
        usd: carried.usd(ix, tokens),
    }
}
