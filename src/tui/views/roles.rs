//! Draws the content of the context: a line for each role, and notable items below.
//!
//! ```text
//!  S system     27.5k           not logged
//!  T tool       87.7k  +3.9k    14 items
//!
//!  repeated   2 items, 21k wasted
//!  oversized  3 items ≥ 8.0k
//!  largest    Read src/db.rs 18.4k
//! ```

use super::groups;
use crate::app::{App, Page, Stage};
use crate::paint::{Area, Pieces, Tone, joined, piece, plain, quiet, width};
use crate::widgets::canvas::Canvas;
use model::Role;
use model::session::Session;
use model::values::threshold::Threshold;
use render::recurring::recurring;
use render::{item, number, text};

/// The columns of the labels below the roles.
const LABEL_COLUMNS: usize = 11;
/// From this width on there is room for shares and counts of items.
const WIDE_COLUMNS: usize = 38;

pub(super) fn draw(app: &App, session: &Session, page: &Page, area: Area, canvas: &mut Canvas<'_>) {
    let columns = usize::from(area.width);
    if usize::from(area.height) < Role::ALL.len() {
        let line = in_a_line(app, session, page, columns);
        canvas.write_in(area, &line);
        return;
    }
    let stage = Stage::settled_if(session.is_settled());
    let lines = Role::ALL.map(|role| role_line(page, role, stage, columns));
    let noteworthy = noteworthy(app, session, page, columns);
    let gap = std::iter::once(Pieces::new());
    canvas.write_rows(area, lines.into_iter().chain(gap).chain(noteworthy));
}

fn role_line(page: &Page, role: Role, stage: Stage, columns: usize) -> Pieces {
    let share = page.state.context.role(role);
    // An estimate follows the known number; without a known number it replaces it.
    let (tokens, estimated) = match (share.known, share.estimated) {
        (_, 0) => (share.tokens, String::new()),
        (0, _) => (share.tokens, "~".to_owned()),
        (known, n) => (known, format!("+{}", number::short(n))),
    };
    let items = match (share.items, role) {
        (0, Role::System) if share.tokens > 0 => "not logged".to_owned(),
        (0, Role::System) if page.state.context.used > 0 => "not counted".to_owned(),
        (0, _) => String::new(),
        (n, _) => items(n),
    };
    let tokens = stage.number(number::tokens_or_none(tokens));
    let estimated = stage.number(estimated);
    let mut pieces = vec![
        piece(format!("{} ", item::letter(role)), role),
        plain(text::left(role.name(), 10)),
        piece(text::right(&tokens, 7), stage.tone(Tone::Strong)),
        piece(
            format!(" {}", text::left(&estimated, 6)),
            stage.tone(Tone::Estimated),
        ),
    ];
    if columns >= WIDE_COLUMNS {
        let share = match number::percent(share.tokens, page.state.context.used) {
            None | Some(0) => String::new(),
            Some(share) => stage.number(format!("{share}%")),
        };
        // The mark takes a column of the gap.
        let (width, gap) = match stage {
            Stage::Provisional => (5, " "),
            Stage::Settled => (4, "  "),
        };
        pieces.push(piece(text::right(&share, width), stage.tone(Tone::Quiet)));
        pieces.push(quiet(format!("{gap}{items}")));
    }
    pieces
}

fn items(n: usize) -> String {
    number::counted(n as u64, "item")
}

/// Returns the lines below the roles: marked, oversized and repeated items, the largest one, sub-agents.
fn noteworthy(app: &App, session: &Session, page: &Page, columns: usize) -> Vec<Pieces> {
    let mut lines = Vec::new();
    let stage = Stage::settled_if(session.is_settled());
    let short = |tokens| stage.number(number::short(tokens));
    let mut add = |label: &str, text: String| {
        let text = text::cut(&text, columns.saturating_sub(LABEL_COLUMNS));
        let text = piece(text, stage.tone(Tone::Plain));
        lines.push(vec![quiet(text::left(label, LABEL_COLUMNS)), text]);
    };
    let window = page.state.limits.window;
    if page.marked > 0 {
        let (marked, left) = (short(page.marked), page.without_marked);
        let percent = stage.number(
            number::percent(left, page.state.limits.end())
                .unwrap_or(0)
                .to_string(),
        );
        let left = short(left);
        add(
            "marked",
            if columns < WIDE_COLUMNS {
                format!("{marked}, {left} without")
            } else {
                format!("{marked}; without it {left} ({percent}%)")
            },
        );
    }
    if page.oversized > 0 {
        let from = number::tokens(app.oversized().tokens(window));
        let share = match app.oversized() {
            share @ Threshold::Share(_) if columns >= WIDE_COLUMNS => {
                format!(", {share} of the window")
            }
            _ => String::new(),
        };
        let oversized = stage.number(items(page.oversized));
        add("oversized", format!("{oversized} ≥ {from}{share}"));
    }
    // These parts are not known for earlier moments.
    if !app.ui.replay.is_on() {
        for part in session.recurring() {
            add("unlogged", recurring(part));
        }
    }
    let largest = page.state.items.iter().max_by_key(|(_, tokens, _)| *tokens);
    if let Some((ix, tokens, _)) = largest
        && let Some(item) = session.items().get(*ix)
    {
        let size = stage.number(number::tokens(*tokens));
        let room = columns.saturating_sub(LABEL_COLUMNS + size.len() + 1);
        let name = page.calls.name(session, item);
        let what = format!("{} {name}", item::label(item));
        add("largest", format!("{} {size}", text::cut(&what, room)));
    }
    if !page.agents.is_empty() {
        let sizes = page.agents.iter().map(|child| child.used);
        let used = number::short(sizes.fold(0, u64::saturating_add));
        let agents = page.agents.len();
        add("sub-agents", format!("{agents}, {used} in their contexts"));
    }
    lines
}

/// Returns the roles' letters and tokens in a line. In a replay on a low screen, which has no status row, the agent's
/// notice and number follow.
fn in_a_line(app: &App, session: &Session, page: &Page, columns: usize) -> Pieces {
    let taken = |group: &Pieces| width(group) + 3;
    let roles = groups::roles(&page.state.context, Stage::settled_if(session.is_settled()));
    let mut room = columns.saturating_sub(taken(&roles));
    let mut groups = vec![roles];
    if app.session_layout().status.is_empty() {
        let notice = groups::notice(session, page, room);
        if let Some(notice) = notice.filter(|notice| taken(notice) <= room + 3) {
            room = room.saturating_sub(taken(&notice));
            groups.push(notice);
        }
        let estimate = page.state.agent_estimate;
        groups.extend(estimate.and_then(|own| groups::agent(own, room)));
    }
    joined(groups, columns)
}
