//! Lists what took the tokens and the money of a session, the dearest first. The selected finding has its size, what to
//! change, and where it is.
//!
//! ```text
//!       COST   TOKENS  WHAT HAPPENED
//! ▌    $6.12   211.0k  the cache was rebuilt: tools changed
//!              4 times, 211.0k tokens read anew; $6.12 more than from the cache, by list price
//!              change: connect servers and plugins before the session begins
//!                #118 +1h04  prompt 211.0k
//!      $1.20     3.4M  results of Bash were cut or have very long lines
//! ```

use super::compactions::listed_item;
use super::{Column, Row, TabList, Target, View, counted, table};
use crate::app::findings::{GONE, ListedFinding, TextsRead};
use crate::app::layout::WidthClass;
use crate::app::{App, wrapped};
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet, strong};
use model::session::Session;
use model::why::{FindingKind, FindingPlace};
use render::finding::{act, cost, size_here, what};
use render::{self, number, text};
use std::rc::Rc;

/// The most findings that are listed.
const MOST_FINDINGS: usize = 10;
/// The columns of a cost or a size.
const NUMBER_COLUMNS: usize = 9;

/// The columns of a request and its time: `#1234 +12h04`.
const WHEN_COLUMNS: usize = 12;

/// Said of the findings that only several sessions show.
const ELSEWHERE: &str = "skills, agents and servers that are hardly used: see `ctxgauge why`";

/// A row of a finding.
#[derive(Debug)]
struct FindingRow {
    /// Its rank among the findings.
    rank: usize,
    of: Rc<ListedFinding>,
    what: Part,
}

/// The part of a finding that a row shows.
#[derive(Debug)]
enum Part {
    /// Its cost, its tokens and what happened.
    Head,
    /// A line about it.
    Line(String),
    /// One of its places.
    Place(usize),
    /// A note below all findings.
    Note,
}

/// Returns the findings of the whole session, one of them unfolded.
pub(super) fn list(view: &View<'_>) -> Box<dyn TabList> {
    let app = view.app;
    let found = app.findings.found.iter().take(MOST_FINDINGS);
    let open = app.ui.opened_finding.as_ref();
    let open = open.and_then(|open| found.clone().position(|of| of.id() == *open));
    let mut rows = Vec::new();
    for (rank, of) in found.enumerate() {
        let row = |what| FindingRow {
            rank,
            of: Rc::clone(of),
            what,
        };
        rows.push(row(Part::Head));
        if rank == open.unwrap_or(0) {
            rows.extend(parts(app, view.session, of).map(row));
        }
    }
    if let Some(of) = rows.last().filter(|_| app.findings.texts == TextsRead::Yes) {
        rows.push(FindingRow {
            of: Rc::clone(&of.of),
            what: Part::Note,
            ..*of
        });
    }
    let mut nth = 0;
    table(rows, |row| {
        nth = if matches!(row.what, Part::Head) {
            0
        } else {
            nth + 1
        };
        (row.of.id(), nth)
    })
}

/// Returns the parts of a finding that is unfolded.
fn parts(app: &App, session: &Session, of: &ListedFinding) -> impl Iterator<Item = Part> + use<> {
    let finding = &of.finding;
    let size = format!("{}; {}", size_here(finding), cost(finding));
    let act = act(finding, session.agent);
    let act = act.map(|act| format!("change: {}", text::inert(&act)));
    let room = usize::from(app.ui.size.0).saturating_sub(indent(app) + 2);
    // A narrow screen has no room for it beside the numbers.
    let is_narrow = WidthClass::of(app.ui.size.0) == WidthClass::Narrow;
    let what = is_narrow.then(|| text::inert(&what(finding)).into_owned());
    let lines = [what, Some(size), act].into_iter().flatten();
    let lines: Vec<String> = lines.flat_map(|line| wrapped(&line, room)).collect();
    let places = (0..finding.places.len()).map(Part::Place);
    lines.into_iter().map(Part::Line).chain(places)
}

/// Returns the columns before the lines of a finding.
fn indent(app: &App) -> usize {
    let width = WidthClass::of(app.ui.size.0);
    width.pick(2, 2, 2 * NUMBER_COLUMNS + 2)
}

impl Row for FindingRow {
    const COLUMNS: &'static [Column<FindingRow>] = &[];
    const TEXT: &'static str = "     COST   TOKENS  WHAT HAPPENED";
    const GAP: usize = 0;
    const WORDS: &'static [(&'static str, &'static str)] = &[
        (
            "COST",
            "what it cost, by list price; costs overlap: do not add them up",
        ),
        (
            "TOKENS",
            "rebuilt in the cache; for the other kinds, sent again with each request",
        ),
    ];

    fn text(&self, view: &View<'_>) -> Pieces {
        let finding = &self.of.finding;
        let lead = plain(" ".repeat(indent(view.app)));
        match &self.what {
            Part::Head => {
                let number = |text: &str| text::right(text, NUMBER_COLUMNS);
                let usd = render::or_none(finding.usd.map(number::usd));
                // A possible saving is no cost.
                let (usd, saved) = match finding.kind {
                    FindingKind::Window => (String::new(), format!("could save {usd}: ")),
                    _ => (usd, String::new()),
                };
                let tokens = number::tokens(finding.tokens);
                vec![
                    strong(number(&usd)),
                    plain(number(&tokens)),
                    piece(format!("  {saved}{}", what(finding)), Tone::Text),
                ]
            }
            Part::Line(line) => vec![lead, quiet(line)],
            Part::Place(nth) => {
                let place = place(view, self.of.place(view.session, *nth));
                let place = place.unwrap_or_else(|| vec![quiet(GONE)]);
                [lead, plain("  ")].into_iter().chain(place).collect()
            }
            Part::Note => vec![quiet(format!("  {ELSEWHERE}"))],
        }
    }

    fn empty(view: &View<'_>) -> Vec<String> {
        match &view.app.findings.texts {
            TextsRead::No => vec!["reading the texts of this session".to_owned()],
            TextsRead::Yes => vec![
                "no findings: nothing here is worth a change".to_owned(),
                ELSEWHERE.to_owned(),
            ],
            TextsRead::Failed(why) => vec![format!("its texts could not be read: {why}")],
        }
    }

    fn captions(rows: &[FindingRow], view: &View<'_>) -> [String; 2] {
        let order = match (&view.app.findings.texts, view.app.ui.replay.is_on()) {
            (TextsRead::No, _) => return ["reading texts"; 2].map(str::to_owned),
            (TextsRead::Failed(_), _) => ", without texts",
            (TextsRead::Yes, true) => ", of the whole session",
            (TextsRead::Yes, false) => ", by cost",
        };
        counted(rows.last().map_or(0, |row| row.rank + 1), order)
    }

    fn target(&self) -> Target {
        match self.what {
            Part::Note => Target::Nothing,
            Part::Place(nth) => Target::Finding(self.rank, Some(nth)),
            _ => Target::Finding(self.rank, None),
        }
    }
}

/// Returns a request and its time, as wide as all of a list.
fn when(request: &str, elapsed: Option<String>) -> Piece {
    let when = format!("{request} {}", elapsed.unwrap_or_default());
    quiet(text::left(&when, WHEN_COLUMNS))
}

/// Describes a place: a request, or an item. `None`: the log no longer has it.
fn place(view: &View<'_>, place: Option<FindingPlace>) -> Option<Pieces> {
    let session = view.session;
    Some(match place? {
        FindingPlace::Request(ix) => {
            let request = session.requests().get(ix)?;
            let elapsed = view.elapsed(request.at);
            let prompt = number::tokens(request.prompt);
            vec![
                when(&format!("#{}", ix + 1), elapsed),
                plain(format!("  prompt {prompt}")),
            ]
        }
        FindingPlace::Item(ix) => {
            let item = session.items().get(ix)?;
            let (tokens, source) = session.tokens(ix);
            let (request, elapsed) = view.entered(item);
            let mut pieces = vec![when(&request, Some(elapsed))];
            pieces.extend(listed_item(view, (ix, tokens, source)));
            pieces
        }
    })
}
