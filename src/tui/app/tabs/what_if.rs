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
use crate::app::listed::requests_left;
use crate::paint::{Pieces, Tone, piece, plain};
use model::outlook::whatif::now::{Cache, Outlook, UserAction, outlooks};
use render::{self, number, text};
use std::cmp::Ordering;

/// Lists what the user can do or, once they are opened, the policies.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    if view.app.ui.lists_policies {
        return policies::list(view);
    }
    let (page, session) = (view.page, view.session);
    let outlooks = outlooks(session, &page.state, &page.marked_items, page.cache);
    let now = outlooks.first().and_then(|now| now.forecast.ok());
    let now = now.as_ref().map(requests_left);
    let policies = (page.state.requests > 0).then_some(None);
    let outlooks = outlooks.into_iter().map(Some).chain(policies);
    let rows = outlooks.map(|outlook| NowRow { outlook, now }).collect();
    let mut places = 0_usize..;
    table(rows, |_| places.next())
}

/// A row of what the user can do.
#[derive(Debug)]
struct NowRow {
    /// The outlook; `None`: the row is that of the policies.
    outlook: Option<Outlook>,
    /// The requests that are left if the user does nothing.
    now: Option<u64>,
}

impl NowRow {
    fn is_nothing(&self) -> bool {
        let action = self.outlook.as_ref().map(|outlook| &outlook.action);
        action == Some(&UserAction::Nothing)
    }

    /// Returns a cell, which is empty in the row of the policies.
    fn cell(&self, cell: impl Fn(&Outlook) -> Option<String>) -> String {
        let outlook = self.outlook.as_ref();
        outlook.map_or_else(String::new, |outlook| render::or_none(cell(outlook)))
    }

    /// Returns the size. One that is only expected is an estimate.
    fn size(&self, view: &View<'_>) -> String {
        let context = &view.page.state.context;
        self.cell(|outlook| {
            let is_measured = outlook.size == context.used && context.known > 0;
            Some(Stage::settled_if(is_measured).number(number::short(outlook.size)))
        })
    }

    /// Returns the requests until it compacts, without their band where it does not fit.
    fn band(&self, view: &View<'_>) -> String {
        let room = Self::COLUMNS
            .iter()
            .find(|column| column.heading == "REQUESTS");
        let room = room.map_or(0, |column| column.width(view));
        self.cell(|outlook| {
            let forecast = outlook.forecast.ok()?;
            Some(match number::band(&forecast.requests) {
                _ if forecast.is_now() => "now".to_owned(),
                band if text::width(&band) < room => band,
                _ => number::short(requests_left(&forecast)),
            })
        })
    }

    /// Returns how many requests later it compacts than if the user does nothing.
    fn more(&self) -> String {
        self.cell(|outlook| {
            let (then, now) = (requests_left(&outlook.forecast.ok()?), self.now?);
            match then.cmp(&now) {
                Ordering::Greater => Some(format!("+{}", then - now)),
                Ordering::Less => Some(format!("−{}", now - then)),
                Ordering::Equal => None,
            }
        })
    }

    /// Returns what the user would do.
    fn name(&self, view: &View<'_>) -> String {
        let Some(outlook) = &self.outlook else {
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
        right "PRICE" [0, 8, 8] |_, row| {
            plain(row.cell(|it| it.usd.filter(|usd| *usd > 0.0).map(number::usd)))
        },
            means "the price of doing it: one request over the whole context, and its summary";
        right "NEXT PROMPT" [0, 13, 13] |_, row| plain(row.cell(|it| it.next_usd.map(number::usd))),
            means "the price of the prompt of the next request, without its answer";
    };
    const TEXT: &'static str = "IF YOU ACT NOW";

    fn text(&self, view: &View<'_>) -> Pieces {
        let name = text::inert(&self.name(view)).into_owned();
        let name = text::cut(&name, Self::room(view));
        let tone = match self.outlook.as_ref().map(|outlook| &outlook.action) {
            None => Tone::Quiet,
            Some(UserAction::Nothing) => Tone::Strong,
            Some(UserAction::WithoutMarked(_)) => Tone::Marked,
            Some(_) => Tone::Plain,
        };
        vec![piece(name, tone)]
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
        match self.outlook {
            None => Target::Policies,
            Some(_) => Target::Nothing,
        }
    }
}
