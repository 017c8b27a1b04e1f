//! The screen of an item's text: what it is and what it costs, the pager, notices, keys.

use super::pager;
use crate::app::pager::Pager;
use crate::app::tabs::View;
use crate::app::{App, seconds_since};
use crate::paint::{Area, Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;
use model::cost::carried::CarriedCost;
use model::session::{Item, ItemIx};
use render::item::{self, letter, sign};
use render::{number, text};

pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let area = canvas.area();
    let (Some(page), Some(pager)) = (app.page(), &app.pager) else {
        return;
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let head = match app.item_read().zip(app.sessions.get(page.key)) {
        Some((found, session)) => {
            let view = View { app, page, session };
            [
                heading(&view, found.1, columns),
                facts(&view, found, pager, columns),
                sent(&view, found, columns),
            ]
        }
        None => {
            let why = if app.is_seeking() {
                "reading its session"
            } else {
                "this item is no longer in the log"
            };
            let size = joined(size(pager), columns);
            [vec![quiet(why)], size, Pieces::new()]
        }
    };
    let (rows, footer) = (area.height - 1, area.bottom() - 1);
    pager::draw(head, pager, Area::new(0, 0, area.width, rows), canvas);
    if app.notices.newest(app.now).is_some() {
        let last = Area::new(0, rows - 1, area.width, 1);
        for x in 0..area.width {
            canvas.cell((x, last.y)).reset();
        }
        super::notices::draw_newest(app, last, canvas);
    }
    super::footer(app, Area::new(0, footer, area.width, 1), canvas);
}

/// Returns the item's role, tool and name.
fn heading(view: &View<'_>, item: &Item, columns: usize) -> Pieces {
    let label = text::cut(&item::label(item), columns / 2);
    let room = columns.saturating_sub(text::width(&label) + 4);
    let name = view.page.calls.name(view.session, item);
    vec![
        piece(format!("{} ", letter(item.role)), item.role),
        strong(label),
        quiet(format!("  {}", text::cut(&name, room))),
    ]
}

/// Returns the item's tokens, whether it is in the context, the text's size; as much as fits.
fn facts(view: &View<'_>, (ix, item): (ItemIx, &Item), pager: &Pager, columns: usize) -> Pieces {
    let (tokens, source) = view.session.tokens(ix);
    let share = match number::percent(tokens, view.page.state.limits.end()) {
        None | Some(0) => String::new(),
        Some(share) => format!(" {share}%"),
    };
    let mut groups = vec![
        vec![
            piece(number::tokens(tokens), source),
            quiet(format!(" {}{share}", sign(source))),
        ],
        vec![match item.left {
            None => quiet("in the context"),
            _ if item.is_notice() => piece("a notice, not in the context", Tone::Warn),
            Some(left) => {
                let why = item::words(left.why.name());
                piece(format!("left: {why}"), Tone::Warn)
            }
        }],
    ];
    groups.extend(size(pager));
    if let Some(at) = item.at {
        let age = number::age(seconds_since(at, view.app.now));
        groups.push(vec![quiet(format!("{age} ago"))]);
    }
    joined(groups, columns)
}

/// Returns the size of the text, once a page of it was read.
fn size(pager: &Pager) -> impl Iterator<Item = Pieces> {
    let size = pager.page.as_ref().map(|page| {
        let bytes = format!("{} bytes", number::short(page.bytes));
        [number::counted(page.lines, "line"), bytes]
    });
    size.into_iter().flatten().map(|words| vec![quiet(words)])
}

/// Returns `entered #20, +1h04 · in 62 requests · 1.0M sent in all · at least $0.31 (cache reads)`, until the moment on
/// screen, as much as fits.
fn sent(view: &View<'_>, (ix, item): (ItemIx, &Item), columns: usize) -> Pieces {
    let until = view.page.state.requests;
    let requests = item.requests_held(until);
    let (request, elapsed) = view.entered(item);
    let is_sent = requests > 0;
    let entered = [request.as_str(), &elapsed].into_iter();
    let entered: Vec<&str> = entered
        .skip(usize::from(!is_sent))
        .filter(|part| !part.is_empty())
        .collect();
    let mut groups = Vec::new();
    if !entered.is_empty() {
        groups.push(vec![quiet("entered "), plain(entered.join(", "))]);
    }
    if !is_sent && !request.is_empty() {
        groups.push(vec![quiet("not sent yet")]);
    }
    if is_sent {
        let carried = CarriedCost::by(view.session, until);
        let (tokens, _) = view.session.tokens(ix);
        let requests = number::counted(requests as u64, "request");
        groups.push(vec![quiet("in "), plain(requests)]);
        let all = number::short(carried.tokens(ix, tokens));
        groups.push(vec![plain(all), quiet(" sent in all")]);
        if let Some(usd) = carried.usd(ix, tokens).and_then(number::least_usd) {
            let mut cost = vec![quiet("at least "), plain(usd)];
            let what = quiet(" (cache reads)");
            if joined_width(&groups) + width(&cost) + what.width() <= columns {
                cost.push(what);
            }
            groups.push(cost);
        }
    }
    joined(groups, columns)
}
