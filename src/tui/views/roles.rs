//! Who fills the context: a line a role, and below them what stands out.
//!
//! ```text
//!  S system     27.5k           not logged
//!  T tool       87.7k  +3.9k    14 items
//!
//!  oversized  3 items from 8.0k on
//!  repeated   2 items, 21k wasted
//!  largest    Read src/db.rs 18.4k
//! ```

use crate::model::Role;
use crate::model::session::Session;
use crate::render::{item, number, text};
use crate::tui::app::{App, Page};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// The columns of the names of what stands out.
const NAME: usize = 11;

pub(super) fn draw(
    app: &App,
    session: &Session,
    page: &Page,
    area: Rect,
    theme: Theme,
    buffer: &mut Buffer,
) {
    if area.height < Role::ALL.len() as u16 {
        let roles = in_a_line(app, session, page, usize::from(area.width), theme);
        line::write(buffer, (area.x, area.y), area.right(), roles);
        return;
    }
    let lines = Role::ALL
        .into_iter()
        .map(|role| of(page, role, area.width, theme));
    let mut lines: Vec<Vec<Span<'static>>> = lines.collect();
    lines.push(Vec::new());
    lines.extend(standing_out(app, page, usize::from(area.width), theme));
    for (spans, y) in lines.into_iter().zip(area.top()..area.bottom()) {
        line::write(buffer, (area.x, y), area.right(), spans);
    }
}

fn of(page: &Page, role: Role, width: u16, theme: Theme) -> Vec<Span<'static>> {
    let share = page.state.context.role(role);
    let tokens = match share.tokens {
        0 => "—".to_owned(),
        n => number::tokens(n),
    };
    let estimated = match (share.known, share.estimated) {
        (_, 0) => String::new(),
        (0, _) => "~".to_owned(),
        (_, n) => format!("+{}", number::short(n)),
    };
    // What is only counted stands behind what is known; where nothing is known, it is all there is.
    let (main, behind) = match (share.known, share.estimated) {
        (0, _) | (_, 0) => (tokens, estimated),
        (known, _) => (number::tokens(known), estimated),
    };
    let items = match (share.items, role) {
        (0, Role::System) if share.tokens > 0 => "not logged".to_owned(),
        (0, Role::System) if page.state.context.used > 0 => "not counted".to_owned(),
        (0, _) => String::new(),
        (1, _) => "1 item".to_owned(),
        (n, _) => format!("{n} items"),
    };
    let mut spans = vec![
        line::span(format!("{} ", letter(role)), theme.role(role)),
        line::plain(text::left(role.name(), 10)),
        line::span(text::right(&main, 7), theme.strong()),
        line::span(format!(" {}", text::left(&behind, 6)), theme.estimated()),
    ];
    if width >= 38 {
        let share = number::percent(share.tokens, page.state.context.used).filter(|p| *p > 0);
        let share = share.map_or_else(String::new, |share| format!("{share}%"));
        spans.push(line::span(text::right(&share, 4), theme.quiet()));
        spans.push(line::span(format!("  {items}"), theme.quiet()));
    }
    spans
}

/// What stands out among the items.
fn standing_out(app: &App, page: &Page, columns: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let mut lines = Vec::new();
    let mut add = |name: &str, said: String| {
        lines.push(vec![
            line::span(text::left(name, NAME), theme.quiet()),
            line::plain(text::cut(&said, columns.saturating_sub(NAME))),
        ]);
    };
    let items = |n: usize| match n {
        1 => "1 item".to_owned(),
        n => format!("{n} items"),
    };
    let window = page.state.limits.window;
    if page.marked > 0 {
        let left = page.without_marked;
        let percent = number::percent(left, window).unwrap_or(0);
        let freed = number::short(page.marked);
        add(
            "marked",
            format!("{freed}; without it {} ({percent}%)", number::short(left)),
        );
    }
    if page.oversized > 0 {
        let from = number::short(app.ui.oversized.tokens(window));
        add(
            "oversized",
            format!("{} from {from} on", items(page.oversized)),
        );
    }
    if page.repeats.items() > 0 {
        let wasted = number::short(page.repeats.wasted);
        add(
            "repeated",
            format!("{}, {wasted} wasted", items(page.repeats.items())),
        );
    }
    let largest = page.state.items.iter().max_by_key(|(_, tokens, _)| *tokens);
    if let Some((ix, tokens, _)) = largest
        && let Some(item) = app.fleet.get(page.key).and_then(|s| s.items().get(*ix))
    {
        let tool = item::label(item);
        let size = number::tokens(*tokens);
        let room = columns.saturating_sub(NAME + size.len() + 1);
        let session = app.fleet.get(page.key);
        let subject = session.and_then(|session| page.calls.subject(session, item));
        let subject = subject.unwrap_or_else(|| item::preview(item).into());
        let what = text::cut(&format!("{tool} {subject}"), room);
        add("largest", format!("{what} {size}"));
    }
    if !page.agents.is_empty() {
        let used = page.agents.iter().map(|child| child.used);
        let used = number::short(used.fold(0, u64::saturating_add));
        add(
            "sub-agents",
            format!("{}, {used} in their contexts", page.agents.len()),
        );
    }
    lines
}

/// The roles' letters and tokens in a line; in a low replay, which has no row for it, what the agent says
/// of its context too.
fn in_a_line(
    app: &App,
    session: &Session,
    page: &Page,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let width = |group: &[Span<'_>]| group.iter().map(Span::width).sum::<usize>() + 3;
    let roles = super::detail::roles(&page.state.context, theme);
    let mut room = columns.saturating_sub(width(&roles));
    let mut groups = vec![roles];
    if app.session_layout().facts.count == 0 {
        let notice = super::session::notice(session, page, room, theme);
        if let Some(notice) = notice.filter(|notice| width(notice) <= room + 3) {
            room = room.saturating_sub(width(&notice));
            groups.push(notice);
        }
        let said = page.state.agent_estimate;
        groups.extend(said.and_then(|said| super::session::agent(said, room, theme)));
    }
    line::joined(groups, columns, theme.quiet())
}
