//! Lists the effects of a session's compactions, the newest first.
//!
//! ```text
//! ▌ #189 +1h04 auto 167.4k ? → 39.9k ~ · freed 127.5k ~
//!   removed  U 310 A 1.3k T 135k 7 items
//!            120.0k ══ T Bash     a very long listing
//!   kept     1.2k 3 items
//!   summary    9.0k ~  This session is being continued from a previous conversation
//!   ours     166.8k, 600 less than the agent's
//! ▌  #97 +0h40 cleared 28 results · freed 44.1k ~
//! ```
//!
//! `Enter` lists all items that one of them removed and kept instead.

use super::{Column, Row, TabList, Target, View, counted, table};
use crate::app::layout::WidthClass;
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet, strong};
use jiff::Timestamp;
use model::cost::clearing::{Clearing, clearings};
use model::outlook::compaction::{Compaction, compactions, contents, unlogged};
use model::session::{PastReset, RequestIx, SizedItem};
use model::values::hooked::HookedCompaction;
use model::{LeaveReason, Role, Source};
use render::item::{self, letter, sign};
use render::{self, number, text};
use std::rc::Rc;

/// The columns of a row's label.
const LABEL_COLUMNS: usize = 9;
/// The columns of an item's size.
const SIZE_COLUMNS: usize = 7;

/// The widest cause that leaves room for words in place of signs on a medium screen.
const SHORT_CAUSE: usize = 16;

/// Said of a compaction whose items are not in this log.
const EARLIER_LOG: &str = "not in this log: it compacted the one before it";

/// Before what was freed.
const FREED: &str = " · freed ";
/// The form of [`FREED`] where there is little room.
const NARROW_FREED: &str = " −";

/// One row of what a compaction or a clearing of results did.
#[derive(Debug)]
enum Detail {
    Reset(Rc<Compaction>, RowKind),
    Cleared(Clearing),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RowKind {
    /// When, why, how large before and after.
    Sizes,
    /// The items that left, by role.
    Left,
    /// Its items are in an earlier log.
    EarlierLog,
    /// An item that left: one of the largest or, of an opened compaction, any.
    LeftItem(SizedItem),
    /// The items that stayed.
    Kept,
    /// An item that stayed, of an opened compaction.
    KeptItem(SizedItem),
    /// The summary that every request now carries.
    Summary(SizedItem),
    /// It kept none.
    NoSummary,
    /// Our size before less the agent's, in tokens.
    Difference(i64),
    /// An empty row.
    Gap,
}

/// Returns the compactions until the moment on screen, a few rows each.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    let session = view.session;
    let mut done = compactions(session);
    done.truncate(view.page.state.resets);
    let reset_of = |done: &Compaction| session.resets().get(done.reset);
    let place_of = |done: &Compaction| reset_of(done).map(|reset| reset.place);
    let opened = view.app.ui.opened_reset;
    let opened = done.iter().position(|done| {
        let place = place_of(done);
        place.is_some() && place == opened
    });
    let rows: Vec<Detail> = match opened {
        Some(opened) => {
            let (left, kept) = contents(session, opened);
            details(done.swap_remove(opened), left, kept).collect()
        }
        None => {
            let mut clearings = clearings(session);
            clearings.retain(|clearing| clearing.request < view.page.state.requests);
            let mut rows = Vec::new();
            for done in done.into_iter().rev() {
                let request = reset_of(&done).map_or(0, |reset| reset.request);
                rows.extend(since(&mut clearings, request));
                let largest = done.largest.clone();
                rows.extend(details(done, largest, Vec::new()));
            }
            rows.extend(since(&mut clearings, 0));
            rows
        }
    };
    let mut row = 0;
    table(rows, |detail: &Detail| match detail {
        Detail::Reset(done, what) => {
            row = match what {
                RowKind::Sizes => 0,
                _ => row + 1,
            };
            let place = place_of(done).unwrap_or_default();
            (place.id(), place.line(), row)
        }
        Detail::Cleared(clearing) => (0, clearing.request as u64, 0),
    })
}

/// Takes the clearings from this request on, the newest first.
fn since(
    clearings: &mut Vec<Clearing>,
    request: RequestIx,
) -> impl Iterator<Item = Detail> + use<> {
    let from = clearings.partition_point(|clearing| clearing.request < request);
    let newer = clearings.split_off(from);
    newer.into_iter().rev().map(Detail::Cleared)
}

/// Returns the rows of a compaction, with these items.
fn details(
    done: Compaction,
    left: Vec<SizedItem>,
    kept: Vec<SizedItem>,
) -> impl Iterator<Item = Detail> {
    let done = Rc::new(done);
    let is_here = !done.is_of_earlier_log;
    let parts = [RowKind::Sizes]
        .into_iter()
        .chain([if is_here {
            RowKind::Left
        } else {
            RowKind::EarlierLog
        }])
        .chain(left.into_iter().map(RowKind::LeftItem))
        .chain(is_here.then_some(RowKind::Kept))
        .chain(kept.into_iter().map(RowKind::KeptItem))
        .chain(Some(
            done.summary.map_or(RowKind::NoSummary, RowKind::Summary),
        ))
        .chain(done.difference.map(RowKind::Difference))
        .chain([RowKind::Gap]);
    parts.map(move |what| Detail::Reset(Rc::clone(&done), what))
}

impl Row for Detail {
    const COLUMNS: &'static [Column<Detail>] = &[];
    const TEXT: &'static str = "  WHEN, CAUSE, BEFORE → AFTER";
    const GAP: usize = 0;
    const WORDS: &'static [(&'static str, &'static str)] = &[
        (
            "WHEN",
            "#189 +1h04: after request 189, 1 h 4 min after the session began",
        ),
        ("auto", "the agent compacted by itself, at its trigger"),
        ("beforehand", "the same, with a summary that was ready"),
        ("end of turn", "the agent compacted after its answer"),
        ("background", "the summary was made beside the turn"),
        ("idle", "nobody typed until the prompt cache went cold"),
        ("model change", "another model, or version of it, goes on"),
        ("manual", "the user asked for it"),
        (
            "after 2h",
            "nobody typed for so long; it may be a resume from a summary",
        ),
        (
            "cleared",
            "old results left the context, nothing was compacted",
        ),
        ("hook", "a hook noted the cause: the log lacks it"),
        (
            "ours",
            "the size before it by our count, beside the agent's own",
        ),
    ];

    fn text(&self, view: &View<'_>) -> Pieces {
        let (done, what) = match self {
            Detail::Reset(done, what) => (done, what),
            Detail::Cleared(clearing) => return cleared(view, clearing),
        };
        let Some(reset) = view.session.resets().get(done.reset) else {
            return Pieces::new();
        };
        match *what {
            RowKind::Sizes => sizes(view, reset, done),
            RowKind::Left => left(view, reset, done),
            RowKind::EarlierLog => line("removed", [quiet(EARLIER_LOG)]),
            RowKind::LeftItem(item) | RowKind::KeptItem(item) => line("", listed_item(view, item)),
            RowKind::Kept => kept(view, done),
            RowKind::Summary(summary) => line("summary", summary_item(view, summary)),
            RowKind::NoSummary => match reset.gone {
                LeaveReason::Compaction => line("summary", [quiet("none")]),
                _ => Pieces::new(),
            },
            RowKind::Difference(tokens) => difference(view, reset, tokens),
            RowKind::Gap => Pieces::new(),
        }
    }

    fn empty(view: &View<'_>) -> Vec<String> {
        let noted = noted(view).into_iter().rev();
        match noted.collect::<Vec<String>>() {
            noted if noted.is_empty() => vec!["no compactions yet".to_owned()],
            noted => std::iter::once("no compactions in the log; noted by hooks:".to_owned())
                .chain(noted)
                .collect(),
        }
    }

    fn captions(rows: &[Detail], view: &View<'_>) -> [String; 2] {
        let all = view.page.state.resets;
        if let Some(row) = rows.first().filter(|_| view.app.ui.opened_reset.is_some()) {
            let at = row.reset().map_or(0, |reset| reset + 1);
            return [(); 2].map(|()| format!("{at} of {all}"));
        }
        let first_rows = rows
            .iter()
            .filter(|row| matches!(row, Detail::Reset(_, RowKind::Sizes) | Detail::Cleared(_)));
        counted(first_rows.count(), ", newest first")
    }

    fn target(&self) -> Target {
        match (self, self.item()) {
            (_, Some((ix, ..))) => Target::Text(ix),
            (Detail::Reset(done, _), None) => Target::Reset(done.reset),
            (Detail::Cleared(_), None) => Target::Nothing,
        }
    }

    fn item(&self) -> Option<SizedItem> {
        match self {
            Detail::Reset(
                _,
                RowKind::LeftItem(item) | RowKind::KeptItem(item) | RowKind::Summary(item),
            ) => Some(*item),
            _ => None,
        }
    }

    fn reset(&self) -> Option<usize> {
        match self {
            Detail::Reset(done, _) => Some(done.reset),
            Detail::Cleared(_) => None,
        }
    }
}

fn sizes(view: &View<'_>, reset: &PastReset, done: &Compaction) -> Pieces {
    let (cause, freed) = match view.fold() {
        WidthClass::Narrow => (12, NARROW_FREED),
        _ => (24, FREED),
    };
    let cause = match reset.gone {
        LeaveReason::Compaction => text::cut(&render::cause(view.session, reset), cause),
        other => other.name().to_owned(),
    };
    let when = when(view, reset.request, reset.at);
    let mut pieces = vec![strong(when), plain(format!(" {cause} "))];
    pieces.extend(before(view, reset, text::width(&cause)));
    if let Some((after, source)) = done.after {
        pieces.push(plain(" → "));
        pieces.extend(size(view, after, source));
    }
    if let Some((tokens, source)) = done.freed {
        pieces.push(quiet(freed));
        let mut size = size(view, tokens, source);
        // A narrow screen has no room for a third sign.
        if view.fold() == WidthClass::Narrow {
            size.truncate(1);
        }
        pieces.extend(size);
    }
    pieces
}

/// Returns the size before a compaction. A number of the agent's own says so where there is room for it, since the sign
/// before the arrow reads as a question. `cause` is the width of the words before it.
fn before(view: &View<'_>, reset: &PastReset, cause: usize) -> Pieces {
    let is_agents = reset.before_source == Source::Agent;
    let has_room = cause <= view.fold().pick(0, SHORT_CAUSE, usize::MAX);
    if !is_agents || !has_room {
        return size(view, reset.before, reset.before_source);
    }
    let tokens = piece(number::tokens(reset.before), Tone::from(Source::Agent));
    vec![tokens, quiet(" by the agent")]
}

fn cleared(view: &View<'_>, clearing: &Clearing) -> Pieces {
    let freed = match view.fold() {
        WidthClass::Narrow => NARROW_FREED,
        _ => FREED,
    };
    let results = number::counted(clearing.results as u64, "result");
    let when = when(view, clearing.request, clearing.at);
    let mut pieces = vec![strong(when), plain(format!(" cleared {results}"))];
    pieces.push(quiet(freed));
    pieces.extend(size(view, clearing.tokens, clearing.source));
    pieces
}

fn left(view: &View<'_>, reset: &PastReset, done: &Compaction) -> Pieces {
    let mut pieces = Pieces::new();
    for role in Role::ALL {
        let tokens = reset.dropped[role.index()];
        if tokens > 0 {
            let tokens = view.number(number::short(tokens), Tone::Plain);
            let letter = piece(format!("{} ", letter(role)), role);
            pieces.extend([letter, tokens, plain(" ")]);
        }
    }
    pieces.push(quiet(items(done.left_items)));
    pieces.extend(estimated(view, done.left_estimated));
    line("removed", pieces)
}

fn kept(view: &View<'_>, done: &Compaction) -> Pieces {
    let mut pieces = Pieces::new();
    if done.kept_items > 0 {
        let tokens = view.number(number::tokens(done.kept_tokens), Tone::Strong);
        pieces.extend([tokens, plain(" ")]);
    }
    pieces.push(quiet(items(done.kept_items)));
    pieces.extend(estimated(view, done.kept_estimated));
    line("kept", pieces)
}

/// Returns the compactions that hooks noted and the log does not have.
fn noted(view: &View<'_>) -> Vec<String> {
    let unlogged = unlogged(view.session).into_iter();
    let row = |hooked: &HookedCompaction| {
        let elapsed = view.elapsed(Some(hooked.at));
        let before = hooked.before.map(number::tokens);
        let before = render::or_none(before);
        let (elapsed, cause) = (render::or_none(elapsed), text::inert(hooked.cause.name()));
        format!("{elapsed} {cause} {before} {}", sign(Source::Agent))
    };
    unlogged.map(row).collect()
}

/// Returns the number of requests before, and the time since the session began.
fn when(view: &View<'_>, requests: usize, at: Option<Timestamp>) -> String {
    let request = match requests {
        0 => String::new(),
        before => format!("#{before}"),
    };
    let elapsed = render::or_none(view.elapsed(at));
    match view.fold() {
        WidthClass::Narrow => text::right(&elapsed, 5),
        _ => text::right(&format!("{request} {elapsed}"), 11),
    }
}

fn line(label: &str, pieces: impl IntoIterator<Item = Piece>) -> Pieces {
    let label = quiet(format!("  {}", text::left(label, LABEL_COLUMNS)));
    std::iter::once(label).chain(pieces).collect()
}

pub(super) fn listed_item(view: &View<'_>, listed: SizedItem) -> Pieces {
    let mut pieces = sized(view, listed);
    if let Some(item) = view.session.items().get(listed.0) {
        let label = text::left(&item::label(item), 8);
        pieces.push(piece(format!("{} ", letter(item.role)), item.role));
        pieces.push(plain(format!("{label} ")));
        pieces.push(plain(view.page.calls.name(view.session, item)));
    }
    pieces
}

fn summary_item(view: &View<'_>, summary: SizedItem) -> Pieces {
    let mut pieces = sized(view, summary);
    let item = view.session.items().get(summary.0);
    pieces.extend(item.map(|item| quiet(&*item.preview)));
    pieces
}

/// Returns our size before the compaction, compared with the agent's own.
fn difference(view: &View<'_>, reset: &PastReset, difference: i64) -> Pieces {
    let off = number::tokens(difference.unsigned_abs());
    let off = match difference {
        0 => "the same".to_owned(),
        1.. => format!("{off} more than the agent's"),
        _ => format!("{off} less than the agent's"),
    };
    let ours = [
        view.number(number::tokens(reset.ours), Tone::Strong),
        quiet(format!(", {off}")),
    ];
    line("ours", ours)
}

/// Returns a size and the sign of its source.
fn size(view: &View<'_>, tokens: u64, source: Source) -> Pieces {
    let sign = quiet(format!(" {}", sign(source)));
    vec![
        view.number_from(source, number::tokens(tokens), source),
        sign,
    ]
}

/// Returns the part of a sum that is only estimated, if there is one.
fn estimated(view: &View<'_>, tokens: u64) -> Pieces {
    // A narrow screen has no room for it.
    if tokens == 0 || view.fold() == WidthClass::Narrow {
        return Pieces::new();
    }
    let mut pieces = vec![quiet(", ")];
    pieces.extend(size(view, tokens, Source::Estimated));
    pieces.push(quiet(" of it"));
    pieces
}

/// Returns the size of an item and the sign of its source, in fixed columns.
fn sized(view: &View<'_>, (_, tokens, source): SizedItem) -> Pieces {
    let sign = quiet(format!(" {} ", text::left(sign(source), 2)));
    let tokens = view.number_from(source, number::tokens(tokens), source);
    let room = SIZE_COLUMNS.saturating_sub(tokens.width());
    vec![plain(" ".repeat(room)), tokens, sign]
}

fn items(n: usize) -> String {
    match n {
        0 => "nothing".to_owned(),
        n => number::counted(n as u64, "item"),
    }
}
