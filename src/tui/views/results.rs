//! Draws the results of a search over sessions: a row for each item, with the first line that matches.
//!
//! ```text
//!  ctxgauge  retry  12 items in 3 sessions                            searching: 38 of 305 sessions
//!   SESSION        WHEN    ITEM           TOKENS    TEXT
//! ▌ api-gateway    #4      T shell         14.0k ══ src/retry.rs:14: loop {
//!                  #5      A shell           600 =  cargo test retry
//!  ─ all 305 sessions ────────────────────────────────────────────────────────────────── 1 of 12 ──
//!  api-gateway · codex · gpt-5.4 · 8s ago
//!  line 14 of its text, 3 more lines match · in the context
//! ```

use crate::app::layout::WidthClass;
use crate::app::search::{MOST_FOUND, SearchState};
use crate::app::{App, FoundItem, Search, Syntax};
use crate::keymap::{Action, Scope};
use crate::paint::{Area, Hit, Piece, Pieces, Tone, joined, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;
use render::excerpt::fitted;
use render::item::{letter, sign};
use render::{number, text};

/// The columns of the session, the request and the item's name, by the width of the screen.
struct Columns {
    session: usize,
    request: usize,
    item: usize,
}

/// The columns of the size and of its sign.
const TOKENS_COLUMNS: usize = 7;
const SIGN_COLUMNS: usize = 2;

impl Columns {
    fn of(width: u16) -> Columns {
        let [session, request, item] =
            WidthClass::of(width).pick([9, 0, 6], [13, 5, 10], [36, 6, 16]);
        Columns {
            session,
            request,
            item,
        }
    }

    /// Returns the first cells of a row.
    fn cells(&self, [session, request, item, tokens, sign]: [Piece; 5]) -> Pieces {
        let padded = |piece: Piece, columns| Piece {
            text: text::left(&piece.text, columns),
            ..piece
        };
        let mut cells = vec![padded(session, self.session), plain(" ")];
        if self.request > 0 {
            cells.extend([padded(request, self.request), plain(" ")]);
        }
        cells.push(padded(item, self.item));
        if self.request > 0 {
            let tokens = Piece {
                text: text::right(&tokens.text, TOKENS_COLUMNS),
                ..tokens
            };
            cells.extend([plain(" "), tokens, plain(" "), padded(sign, SIGN_COLUMNS)]);
        }
        cells.push(plain(" "));
        cells
    }
}

pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let Some(search) = &app.search else {
        return;
    };
    let layout = app.overview_layout();
    super::banner(app, layout.banner, canvas);
    header(search, layout.header, canvas);
    if search.found.is_empty() {
        super::instead(empty(app, search), layout.list, canvas);
    } else {
        let columns = Columns::of(canvas.width());
        headings(&columns, layout.columns, canvas);
        rows(app, search, &columns, layout.list, canvas);
        canvas.hit(layout.list, Hit::List);
    }
    rule(app, search, layout.rule, canvas);
    detail(app, layout.detail, canvas);
    super::notices::draw_newest(app, layout.notice, canvas);
    super::footer(app, layout.footer, canvas);
}

fn header(search: &Search, area: Area, canvas: &mut Canvas<'_>) {
    let narrow = WidthClass::of(area.width) == WidthClass::Narrow;
    let sessions = |n: usize| number::counted(n as u64, "session");
    let searched = match (search.searched, search.all()) {
        (searched, all) if narrow => format!("{searched} of {all}"),
        (searched, all) => format!("{searched} of {}", sessions(all)),
    };
    let state = match search.state {
        SearchState::Running => vec![
            piece("searching", Tone::Live),
            plain(format!(" {searched} ")),
        ],
        SearchState::Left | SearchState::Full => vec![quiet("stopped ")],
        SearchState::Done => vec![quiet(format!("searched {searched} "))],
    };
    let found = match search.found.len() {
        0 => String::new(),
        1 => "  1 item".to_owned(),
        n if narrow => format!("  {n} items"),
        n => format!("  {n} items in {}", sessions(search.sessions())),
    };
    let name = if narrow { "" } else { "ctxgauge  " };
    let taken = text::width(name) + text::width(&found) + width(&state) + 2;
    let room = usize::from(area.width).saturating_sub(taken);
    let left = [
        piece(name, Tone::Accent),
        piece(text::cut(search.title(), room), Tone::Match),
        plain(found),
    ];
    let end = canvas.write((1, area.y), area.right(), &left);
    canvas.write_right((end + 1, area.y), area.right(), &state);
}

fn headings(columns: &Columns, area: Area, canvas: &mut Canvas<'_>) {
    let heading = |text| piece(text, Tone::Heading);
    let mut line = vec![plain("  ")];
    let cells = ["SESSION", "WHEN", "ITEM", "TOKENS", ""];
    line.extend(columns.cells(cells.map(heading)));
    line.push(heading("TEXT"));
    canvas.write_in(area, &line);
}

fn rows(app: &App, search: &Search, columns: &Columns, area: Area, canvas: &mut Canvas<'_>) {
    let from = app.ui.results.offset();
    let mut above = None;
    let shown = search.found.iter().enumerate().skip(from);
    let seen = shown.clone().take(usize::from(area.height));
    let names = app.names_apart(seen.map(|(_, found)| found.key), columns.session);
    for ((row, found), y) in shown.zip(area.rows()) {
        let selected = row == app.ui.results.index();
        // A session is named once, unless its row is selected.
        let is_named = above.replace(found.key) != Some(found.key) || selected;
        let name = names.get(&found.key).filter(|_| is_named);
        let name = name.map_or("", String::as_str);
        let tone = if found.in_context {
            Tone::Plain
        } else {
            Tone::Quiet
        };
        let item = format!("{} {}", letter(found.role), text::inert(&found.label));
        let mut line = vec![super::pointer(selected), plain(" ")];
        line.extend(columns.cells([
            strong(name),
            quiet(&found.request),
            piece(item, found.role),
            piece(number::tokens(found.tokens), found.source),
            quiet(sign(found.source)),
        ]));
        let room = usize::from(area.width).saturating_sub(width(&line) + 1);
        let parts = fitted(&found.text, &found.matches, room).into_iter();
        line.extend(parts.map(|part| {
            let tone = if part.is_match { Tone::Match } else { tone };
            piece(part.text, tone)
        }));
        canvas.write((0, y), area.right(), &line);
        if selected {
            canvas.select_row(y);
        }
    }
}

/// Returns the reasons for which the list is empty.
fn empty(app: &App, search: &Search) -> Vec<Piece> {
    let key = |action| app.keymap.key_text(Scope::Results, action);
    match search.state {
        SearchState::Running => return vec![quiet("nothing found so far")],
        SearchState::Left => return vec![quiet("nothing was found until the search was ended")],
        SearchState::Done | SearchState::Full => {}
    }
    let nothing = match search.request.syntax {
        Syntax::Regex | Syntax::Text => format!("nothing matches '{}'", search.title()),
        Syntax::Any => "these sessions have no items".to_owned(),
    };
    let mut lines = vec![plain(nothing)];
    lines.push(quiet(format!(
        "press {} to search for something else, {} to go back",
        key(Action::Search),
        key(Action::Back)
    )));
    lines
}

/// Draws the line below the list: the sessions that were searched, those that could not be, and the place in a list
/// that does not fit.
fn rule(app: &App, search: &Search, area: Area, canvas: &mut Canvas<'_>) {
    super::rule(area, canvas);
    let (found, rows) = (
        search.found.len(),
        usize::from(app.overview_layout().list.height),
    );
    let at = if found > rows {
        format!(" {} of {found} ", app.ui.results.index() + 1)
    } else {
        String::new()
    };
    let room = usize::from(area.width).saturating_sub(text::width(&at) + 8);
    let (unread, why) = &search.unread;
    // Items were found in sessions that were not searched to their end.
    let left = format!(
        "{} of {} not wholly searched",
        search.all().saturating_sub(search.searched),
        number::counted(search.all() as u64, "session")
    );
    let problem = match search.state {
        SearchState::Full => Some(format!("stopped at {MOST_FOUND} items: {left}")),
        SearchState::Left => Some(left),
        _ if *unread > 0 => Some(format!("{unread} not searched: {}", text::one_line(why))),
        _ => None,
    };
    let problem = problem.map(|problem| vec![piece(text::cut(&problem, room), Tone::Near)]);
    let taken = problem.as_ref().map_or(0, |problem| width(problem) + 3);
    let place = text::cut(
        &format!("in {}", search.place()),
        room.saturating_sub(taken),
    );
    let groups = [vec![quiet(place)]].into_iter().chain(problem);
    let groups = groups.filter(|group| group.iter().any(|piece| piece.text.len() > "…".len()));
    let mut line = vec![plain(" ")];
    line.extend(joined(groups, room));
    line.push(plain(" "));
    let end = canvas.write((3, area.y), area.right(), &line);
    canvas.write_right((end, area.y), area.right().saturating_sub(3), &[quiet(at)]);
}

/// Draws the selected item's session, and the place of the match in its text.
fn detail(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let Some(found) = app.found_item() else {
        return;
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let mut lines = vec![place(found, columns)];
    if area.height > 1 {
        lines.insert(0, session(app, found, columns));
    }
    canvas.write_rows(area.inset(1, 0), lines);
}

fn session(app: &App, found: &FoundItem, columns: usize) -> Pieces {
    let key = found.key;
    let name = app.sessions.name(key);
    let mut groups = vec![vec![strong(text::cut(&name, columns / 4))]];
    let title = app.sessions.title(key).unwrap_or_default();
    if !title.trim().is_empty() && !title.starts_with(&*name) {
        let title = text::one_line(&title);
        groups.push(vec![plain(text::cut(&title, columns * 2 / 5))]);
    }
    let label = app.sessions.facts(key).map(|facts| facts.label);
    groups.extend(label.map(|label| vec![quiet(label)]));
    let model = app.sessions.gauge(key).and_then(|gauge| gauge.model());
    groups.extend(model.map(|model| vec![quiet(text::short_model(model))]));
    let age = app.age(key).map(number::age);
    groups.extend(age.map(|age| vec![quiet(format!("{age} ago"))]));
    joined(groups, columns)
}

fn place(found: &FoundItem, columns: usize) -> Pieces {
    let mut groups = vec![vec![
        piece(format!("{} ", letter(found.role)), found.role),
        plain(text::cut(&found.label, columns / 3)),
    ]];
    let more = match found.more {
        0 => String::new(),
        1 => ", 1 more line matches".to_owned(),
        more => format!(", {} more lines match", number::tokens(more)),
    };
    let line = number::tokens(found.line);
    if !found.matches.is_empty() {
        groups.push(vec![quiet(format!("line {line} of its text{more}"))]);
    }
    groups.push(vec![if found.in_context {
        quiet("in the context")
    } else {
        quiet("not in the context")
    }]);
    joined(groups, columns)
}
