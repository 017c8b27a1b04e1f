//! Lists what the user can do now and what would follow; opened, how the session would have gone under other policies.
//!
//! ```text
//!     AFTER  REQUESTS         MORE   PRICE  NEXT PROMPT  IF YOU ACT NOW
//! ▌    129k  7 (2–13)            —       —        $0.09  as it is
//!      ~54k  32 (19–48)        +25   $0.11        $0.34  compact now
//!      ~29k  44 (27–63)        +37       —        $0.18  clear now
//!         …                                              8 policies, Enter lists them
//! ```

mod policies;

use super::{Column, Row, TabList, Target, View, columns, table};
use crate::app::Stage;
use crate::paint::{Pieces, Tone, piece, plain, quiet};
use model::outlook::forecast::Forecast;
use model::outlook::whatif::now::{Cache, Outlook, UserAction, outlooks};
use render::{self, number, text};

/// Lists what the user can do or, once they are opened, the policies.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    if view.app.ui.lists_policies {
        return policies::list(view);
    }
    let (page, session) = (view.page, view.session);
    let outlooks = outlooks(session, &page.state, &page.marked_items, page.cache);
    let now = outlooks
        .first()
        .and_then(|now| now.forecast.ok())
        .map(requests);
    let mut rows: Vec<NowRow> = outlooks
        .into_iter()
        .map(|outlook| NowRow::Outlook {
            outlook: Box::new(outlook),
            now,
        })
        .collect();
    if page.state.requests > 0 {
        rows.push(NowRow::Policies);
    }
    let mut place = 0;
    table(rows, |_| {
        place += 1;
        place
    })
}

/// A row of what the user can do.
#[derive(Debug)]
enum NowRow {
    Outlook {
        outlook: Box<Outlook>,
        /// The requests that are left if the user does nothing.
        now: Option<u64>,
    },
    /// The policies, folded.
    Policies,
}

/// Returns the median of the requests that are left, as they are shown.
fn requests(forecast: Forecast) -> u64 {
    forecast.requests.rounded()[1]
}

impl NowRow {
    fn outlook(&self) -> Option<&Outlook> {
        match self {
            NowRow::Outlook { outlook, .. } => Some(&**outlook),
            NowRow::Policies => None,
        }
    }

    fn is_nothing(&self) -> bool {
        let action = self.outlook().map(|outlook| &outlook.action);
        action == Some(&UserAction::Nothing)
    }

    /// Returns the size. One that is only expected is an estimate.
    fn size(&self, view: &View<'_>) -> String {
        let Some(outlook) = self.outlook() else {
            return String::new();
        };
        let size = number::short(outlook.size);
        let context = &view.page.state.context;
        let is_measured = outlook.size == context.used && context.known > 0;
        Stage::settled_if(is_measured).number(size)
    }

    /// Returns the requests until it compacts, without their band where it does not fit.
    fn band(&self, view: &View<'_>) -> String {
        let room = Self::COLUMNS
            .iter()
            .find(|column| column.heading == "REQUESTS");
        let room = room.map_or(0, |column| column.width(view));
        self.outlook().map_or_else(String::new, |outlook| {
            let band = outlook.forecast.ok().map(|forecast| match forecast {
                forecast if forecast.is_now() => "now".to_owned(),
                forecast => match number::band(&forecast.requests) {
                    band if text::width(&band) < room => band,
                    _ => number::short(requests(forecast)),
                },
            });
            render::or_none(band)
        })
    }

    /// Returns how many requests later it compacts than if the user does nothing.
    fn more(&self) -> String {
        let NowRow::Outlook { outlook, now } = self else {
            return String::new();
        };
        let then = outlook.forecast.ok().map(requests);
        match (then, now) {
            (Some(then), Some(now)) if then > *now => format!("+{}", then - now),
            (Some(then), Some(now)) if then < *now => format!("−{}", now - then),
            _ => render::NONE.to_owned(),
        }
    }

    fn price(&self) -> String {
        let usd = self.outlook().map(|outlook| outlook.usd);
        usd.map_or_else(String::new, |usd| {
            render::or_none(usd.filter(|usd| *usd > 0.0).map(number::usd))
        })
    }

    fn next_cost(&self) -> String {
        let usd = self.outlook().map(|outlook| outlook.next_usd);
        usd.map_or_else(String::new, |usd| render::or_none(usd.map(number::usd)))
    }

    /// Returns what the user would do.
    fn name(&self, view: &View<'_>) -> String {
        let Some(outlook) = self.outlook() else {
            return "other policies (Enter)".to_owned();
        };
        match &outlook.action {
            UserAction::Nothing => "as it is".to_owned(),
            UserAction::Compact => {
                let facts = view
                    .app
                    .current()
                    .and_then(|key| view.app.sessions.facts(key));
                let command = facts.and_then(|facts| facts.commands.compact);
                let command = command.unwrap_or("compact");
                match outlook.left.map(|left| left.map(number::short)) {
                    Some([least, most]) => {
                        format!("{command} now: earlier ones left {least}–{most}")
                    }
                    None => format!("{command} now"),
                }
            }
            UserAction::Clear => "clear now: as it began".to_owned(),
            UserAction::WithoutMarked(items) => format!("without {items} marked"),
            UserAction::WithoutServer(name) => format!("without MCP server {name}"),
            UserAction::WithoutSkill(name) => format!("without skill {name}"),
            UserAction::Window(window) => {
                let trigger = outlook.trigger.map(number::short);
                let window = number::short(*window);
                format!("window {window}: compacts at {}", render::or_none(trigger))
            }
            UserAction::Trigger(trigger) => {
                let usual = view.page.state.limits.trigger.map(number::short);
                let earlier = number::short(*trigger);
                format!("trigger at {earlier}, not {}", render::or_none(usual))
            }
            UserAction::NoTrigger => {
                let window = number::short(view.page.state.limits.window);
                format!("compaction off: full at {window}")
            }
        }
    }
}

impl Row for NowRow {
    const COLUMNS: &'static [Column<NowRow>] = columns! { NowRow;
        right "AFTER" [7; 3] |view, row| {
            let size = row.size(view);
            if row.is_nothing() { view.number(size, Tone::Strong) } else { piece(size, Tone::Estimated) }
        }, means "the size of the context then";
        right "REQUESTS" [12, 14, 14] |view, row| plain(row.band(view)),
            means "the requests until it compacts, and the 80 % band";
        right "MORE" [6, 7, 7] |_, row| plain(row.more()),
            means "how many more requests that is than if you do nothing";
        right "PRICE" [0, 8, 8] |_, row| plain(row.price()),
            means "the price of doing it: one request over the whole context, and its summary";
        right "NEXT PROMPT" [0, 13, 13] |_, row| plain(row.next_cost()),
            means "the price of the prompt of the next request, without its answer";
    };
    const TEXT: &'static str = "IF YOU ACT NOW";

    fn text(&self, view: &View<'_>) -> Pieces {
        let name = text::inert(&self.name(view)).into_owned();
        let name = text::cut(&name, Self::room(view));
        vec![match self {
            NowRow::Policies => quiet(name),
            NowRow::Outlook { .. } if self.is_nothing() => piece(name, Tone::Strong),
            NowRow::Outlook { outlook, .. } => match outlook.action {
                UserAction::WithoutMarked(_) => piece(name, Tone::Marked),
                _ => plain(name),
            },
        }]
    }

    fn empty(_: &View<'_>) -> Vec<String> {
        vec!["nothing is in the context".to_owned()]
    }

    fn captions(_: &[NowRow], view: &View<'_>) -> [String; 2] {
        let cache = match view.page.cache {
            Cache::Warm => "warm cache",
            Cache::Cold => "cold cache",
        };
        [format!("list prices, with a {cache}"), cache.to_owned()]
    }

    fn target(&self) -> Target {
        match self {
            NowRow::Policies => Target::Policies,
            NowRow::Outlook { .. } => Target::Nothing,
        }
    }
}
