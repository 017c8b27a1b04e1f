//! The items of a session.
//!
//! ```text
//!    TOKENS    FILLS CARRIED   TOOL              WHEN  WHAT
//! ▌    3.9k ~     2%       —  T Edit       next +1h04  The file src/db.rs has been updated.
//! !   61.1k ══   31%    122k  T Grep          #4 +58m  src/main.rs:12: fn connect(url: &str)
//! ```

use super::{Column, Row, TabList, Target, View, columns, table};
use crate::app::filter::{Condition, Fact, ITEMS};
use crate::app::items::{Facts, item_id};
use crate::app::layout::WidthClass;
use crate::app::{Direction, ItemSort, ShownItems};
use crate::keymap::{Action, Scope};
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet};
use model::cost::calls::preview;
use model::cost::carried::CarriedCost;
use model::session::{Coverage, Item, ItemIx, SizedItem};
use model::{Kind, Source};
use render::item::{self, letter, sign};
use render::{self, number, text};
use std::cmp::Reverse;

/// From this width on the cost of an item is shown in dollars too.
const COST_FROM: u16 = 100;
/// The columns of a request and a time in the session, on a medium and on a wide screen.
const WHEN_COLUMNS: [usize; 2] = [11, 12];

/// An item of the list, as of the moment on screen.
#[derive(Debug)]
struct ListedItem {
    /// Its place in the session.
    ix: ItemIx,
    tokens: u64,
    source: Source,
    /// Tokens × requests that included it.
    carried: u64,
    /// The least that this can have cost, in US dollars; `None`: no price is known.
    usd: Option<f64>,
    in_context: bool,
}

/// Returns the items that are shown and pass the filter.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    let (app, page, session) = (view.app, view.page, view.session);
    let (ui, window) = (&app.ui, page.state.limits.window);
    let conditions = ITEMS.read(&ui.item_filter);
    let lists_all = ui.listed == ShownItems::All || conditions.contains(&Condition::Is(Fact::Left));
    let carried = CarriedCost::by(session, page.state.requests);
    let moment = ui.replay.moment(&page.timeline);
    let moment = page.timeline.moment(moment).into_iter();
    let gone = moment
        .flat_map(|moment| session.departed_at(moment))
        .map(|ix| {
            let (tokens, source) = session.tokens(ix);
            ((ix, tokens, source), false)
        });
    let here = page.state.items.iter().map(|item| (*item, true));
    let passes = |((ix, tokens, source), in_context): &(SizedItem, bool)| {
        let Some(item) = session.items().get(*ix) else {
            return false;
        };
        let facts = Facts {
            item,
            subject: &|| page.calls.subject(session, item).unwrap_or_default(),
            tokens: *tokens,
            end: page.state.limits.end(),
            source: *source,
            in_context: *in_context,
            oversized: app.oversized().is_reached(*tokens, window),
            marked: app.is_marked(page.key, item),
        };
        (lists_all || *in_context) && facts.meet(&conditions)
    };
    let mut rows: Vec<ListedItem> = Vec::with_capacity(page.state.items.len());
    rows.extend(
        here.chain(gone)
            .filter(passes)
            .map(|((ix, tokens, source), in_context)| ListedItem {
                ix,
                tokens,
                source,
                carried: carried.tokens(ix, tokens),
                usd: carried.usd(ix, tokens),
                in_context,
            }),
    );
    // No two have the same index, so nothing is lost without a buffer for equal ones.
    rows.sort_unstable_by_key(|row| {
        let first = match ui.item_sort {
            ItemSort::Tokens => row.tokens,
            ItemSort::Newest => 0,
            ItemSort::Carried => row.carried,
        };
        (Reverse(first), Reverse(row.ix))
    });
    if ui.item_direction == Direction::Reversed {
        rows.reverse();
    }
    table(rows, |row| session.items().get(row.ix).map(item_id))
}

impl Row for ListedItem {
    const COLUMNS: &'static [Column<ListedItem>] = columns! { ListedItem;
        left "" [1; 3] |view, row| {
            let mark = view.mark((row.ix, row.tokens, row.source));
            mark.map(|(mark, tone, _)| piece(mark, tone)).unwrap_or_default()
        };
        right "TOKENS" [7; 3] |view, row| row.number(view, number::tokens(row.tokens), row.source),
            means "its size; the sign after it shows the source";
        left "" [3; 3] |_, row| quiet(format!(" {}", sign(row.source)));
        right "NOW" [0, 9, 9] |view, row| {
            let (tokens, source) = view.session.tokens(row.ix);
            let changed = (tokens, source) != (row.tokens, row.source);
            let now = changed.then(|| format!("→{}", number::tokens(tokens)));
            quiet(now.unwrap_or_default())
        }, means "its size as known now", when |view| view.app.ui.replay.is_on();
        right "FILLS" [0, 6, 6] |view, row| match number::percent(row.tokens, view.page.state.limits.end()) {
            None | Some(0) => quiet(""),
            Some(share) => row.number(view, format!("{share}%"), Tone::Quiet),
        }, means "its size, in percent of the trigger or, where none is known, of the window";
        right "CARRIED" [0, 8, 8] |view, row| row.number(view, number::short_or_none(row.carried), Tone::Quiet),
            means "tokens sent so far: its size times the requests whose prompts held it";
        right "CARRIED $" [11; 3] |_, row| {
            let usd = row.usd.filter(|_| row.carried > 0);
            quiet(render::or_none(usd.map(number::usd)))
        }, means "the least that CARRIED has cost: the list price of cache reads",
            when |view| view.app.ui.size.0 >= COST_FROM;
        left "" [3; 3] |view, row| {
            let letter = |item: &Item| piece(format!(" {}", letter(item.role)), row.tone(item.role));
            row.logged(view).map(letter).unwrap_or_default()
        };
        left "TOOL" [8, 10, 18] |view, row| {
            let label = |item: &Item| piece(item::label(item), row.tone(Tone::Plain));
            row.logged(view).map(label).unwrap_or_default()
        };
        left "" [1; 3] |_, _| plain("");
        right "WHEN" [0, WHEN_COLUMNS[0], WHEN_COLUMNS[1]] |view, row| quiet(row.when(view)),
            means "#20 +1h04: entered with request 20, 1 h 4 min after the session began";
    };
    const TEXT: &'static str = "WHAT";

    fn text(&self, view: &View<'_>) -> Pieces {
        let Some(item) = self.logged(view) else {
            return Pieces::new();
        };
        let mut pieces = Pieces::new();
        pieces.extend(self.why_it_left(item));
        let name = view.page.calls.name(view.session, item);
        // Many results begin with what their call was about.
        if item.kind == Kind::ToolResult && !preview(item).starts_with(&*name) {
            pieces.extend([piece(&name, self.tone(Tone::Strong)), quiet(" · ")]);
            pieces.push(piece(preview(item), self.tone(Tone::Plain)));
        } else {
            pieces.push(piece(&name, self.tone(Tone::Plain)));
        }
        pieces
    }

    fn empty(view: &View<'_>) -> Vec<String> {
        let ui = &view.app.ui;
        if !ui.item_filter.is_empty() {
            let mut lines = vec![format!("no item matches '{}'", ui.item_filter)];
            lines.extend(ITEMS.correction(&ui.item_filter));
            if let Some((name, _)) = ITEMS.last_value(&ui.item_filter) {
                let values = view.app.values_of_items(name);
                lines.push(match values.len() {
                    0 => "no item has this".to_owned(),
                    _ => format!("there are {}", values.join(", ")),
                });
            }
            let back = view.app.keymap.key(Scope::Session, Action::Back);
            lines.extend(back.map(|key| format!("press {key} to clear the filter")));
            return lines;
        }
        let why = match (view.session.coverage, ui.listed) {
            (Coverage::Unread, _) => "reading",
            (_, ShownItems::InContext) => "no items in the context",
            (_, ShownItems::All) => "no items yet",
        };
        vec![why.to_owned()]
    }

    fn captions(rows: &[ListedItem], view: &View<'_>) -> [String; 2] {
        let ui = &view.app.ui;
        let (count, all) = match ui.listed {
            ShownItems::InContext if view.fold() < WidthClass::Wide => (rows.len().to_string(), ""),
            ShownItems::InContext => (format!("{} in context", rows.len()), ""),
            ShownItems::All => (format!("all {}", rows.len()), "all, "),
        };
        let order = format!("{} {}", ui.item_sort.name(), ui.item_direction.arrow());
        [format!("{count} · {order}"), format!("{all}{order}")]
    }

    fn target(&self) -> Target {
        Target::Text(self.ix)
    }

    fn item(&self) -> Option<SizedItem> {
        Some((self.ix, self.tokens, self.source))
    }
}

impl ListedItem {
    fn logged<'a>(&self, view: &View<'a>) -> Option<&'a Item> {
        view.session.items().get(self.ix)
    }

    /// Returns the request that it entered with, and the time since the session began; of these what fits.
    fn when(&self, view: &View<'_>) -> String {
        let history = self.logged(view).map(|item| view.entered(item));
        let (request, elapsed) = history.unwrap_or_default();
        let columns = view.fold().pick(0, WHEN_COLUMNS[0], WHEN_COLUMNS[1]);
        let both = [&*request, &*elapsed].join(" ");
        let ways = [both.trim(), &request, &elapsed];
        let fits = |way: &&str| !way.is_empty() && text::width(way) < columns;
        let shown = ways.into_iter().find(fits);
        shown.unwrap_or(render::NONE).to_owned()
    }

    /// Returns the tone, or a quiet one for an item that has left the context.
    fn tone(&self, tone: impl Into<Tone>) -> Tone {
        if self.in_context {
            tone.into()
        } else {
            Tone::Quiet
        }
    }

    /// Returns a number that follows from the item's size.
    fn number(&self, view: &View<'_>, number: String, tone: impl Into<Tone>) -> Piece {
        view.number_from(self.source, number, self.tone(tone))
    }

    fn why_it_left(&self, item: &Item) -> Option<Piece> {
        if self.in_context {
            return None;
        }
        if item.is_notice() {
            return Some(piece("notice · ", Tone::Warn));
        }
        let why = item::words(item.left?.why.name());
        Some(quiet(format!("left: {why} · ")))
    }
}
