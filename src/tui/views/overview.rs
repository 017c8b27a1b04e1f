//! The list of sessions, one row for each.
//!
//! ```text
//!  ctxgauge  14 sessions, 3 live, 1 needs you                       sort recent ▾
//!    AGENT  PROJECT       TITLE                CONTEXT                NEXT  AGE
//! ▌● codex  api-gateway   why does the retry…  ▇▇▇▇▇▇▇╱┃   94%   1 (1–2)   8s
//!  ● claude shop          the cart loses its…  ▇▇▇▇▇╱╱ ┃   64%  9 (6–14)   2s
//!  ── api-gateway · compacts soon ──────────────────────────────────────────────
//!  94% of 250k trigger · next 1 (1–2) · gpt-5.4 · compacts at 250k (policy)
//!  S 27.5k  C 3.2k  U 0.5k  A 5.2k  T 33.9k  · largest Read src/db.rs 18.4k (9%)
//!  all 14: 1.1M known + 9k est · 2 near the trigger · today $12
//!  ⏎ open  / filter  f search  s sort  ? help  q quit
//! ```

use super::groups;
use crate::app::columns::{self, Entry, LEAD_COLUMNS, PERCENT_COLUMNS, Shape, Sort};
use crate::app::filter::SESSIONS;
use crate::app::layout::WidthClass;
use crate::app::listed::{just_compacted, sizes};
use crate::app::{App, Column, Group, Grouping, ListLine, Notice, Purpose, Severity};
use crate::keymap::{Action, Scope};
use crate::paint::{Area, Hit, Piece, Pieces, Tone, joined, piece, plain, quiet, strong, width};
use crate::widgets::canvas::Canvas;
use crate::widgets::gauge::{Gauge, Place};
use model::lists::sessions::Row;
use render::{number, text};

/// Before a session whose sub-agents are not listed, and a group whose sessions are not.
pub(super) const FOLDED: &str = "▸";
/// Before one whose are.
pub(super) const UNFOLDED: &str = "▾";
/// The columns of a filter beside the sort that are enough for a longer one.
const LEAST_FILTER: usize = 12;

pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let layout = app.overview_layout();
    super::banner(app, layout.banner, canvas);
    header(app, layout.header, canvas);
    if app.lines().is_empty() {
        super::instead(empty(app), layout.list, canvas);
    } else {
        let columns = columns::fitting(canvas.width(), app.ui.sort);
        headings(app, &columns, layout.columns, canvas);
        for (listed, y) in app.visible_lines().zip(layout.list.rows()) {
            let selected = app.is_selected(listed);
            match listed {
                ListLine::Session(row) => session(app, row, &columns, y, canvas),
                ListLine::Group(group) => {
                    let line = group_line(app, group, selected);
                    canvas.write((0, y), canvas.width(), &line);
                }
            }
            if selected {
                canvas.select_row(y);
            }
        }
        canvas.hit(layout.list, Hit::List);
        rule(app, layout.rule, canvas);
        super::detail::draw(app, layout.detail, canvas);
        sums(app, layout.sums, canvas);
    }
    super::notices::draw_newest(app, layout.notice, canvas);
    super::footer(app, layout.footer, canvas);
}

fn header(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let agents = app.shown.sub_agents_below;
    let own = app.shown.listed_of.saturating_sub(app.shown.sub_agents);
    let all_matching = app.shown.matching.len();
    let matching = all_matching.saturating_sub(agents);
    let counts = match app.shown.listed_of {
        0 => String::new(),
        all if all_matching < all => format!("{matching} of {own} sessions"),
        _ => sessions(matching),
    };
    let mut left = vec![
        piece("ctxgauge", Tone::Accent),
        plain(format!("  {counts}")),
    ];
    let is_plain = app.ui.grouping == Grouping::None && !app.ui.is_live_only;
    let has_room = match WidthClass::of(area.width) {
        WidthClass::Narrow => false,
        WidthClass::Medium => is_plain,
        WidthClass::Wide => true,
    };
    if agents > 0 && has_room {
        let agents = number::counted(agents as u64, "sub-agent");
        left.push(plain(format!(", {agents}")));
    }
    if app.shown.live > 0 {
        left.extend([plain(", "), strong(format!("{} live", app.shown.live))]);
    }
    let needs = app.shown.totals.needs;
    let verb = if needs == 1 { "needs" } else { "need" };
    let words = format!(", {needs} {verb} you");
    let room = usize::from(area.width).saturating_sub(width(&left) + 1);
    if needs > 0 && text::width(&words) <= room {
        left.push(piece(words, Tone::Near));
    } else if needs == 0 && matches!(app.ui.sort.sort, Sort::Needs) {
        left.push(quiet(", none needs you"));
    }
    let away = app.sessions.hosts_away();
    // Without sessions, nothing stands before it.
    let comma = if app.shown.listed_of > 0 { ", " } else { "" };
    let words = format!("{comma}{} away", number::counted(away as u64, "host"));
    let room = usize::from(area.width).saturating_sub(width(&left) + 1);
    if away > 0 && text::width(&words) <= room {
        left.push(piece(words, Tone::Near));
    }
    if !app.sessions.initial_scan_done {
        left.push(quiet("  reading"));
    }
    let end = canvas.write((1, area.y), area.right(), &left);

    let mut right = Pieces::new();
    let typing = app.is_typing(Purpose::Filter).is_some();
    if app.ui.is_live_only {
        right.push(piece("live only  ", Tone::Accent));
    }
    if app.ui.grouping != Grouping::None && !typing {
        right.push(quiet(format!("{}  ", app.ui.grouping.name())));
    }
    let sort = format!("{} {} ", app.ui.sort.name, app.ui.direction.arrow());
    let sort = [quiet("sort "), plain(sort)];
    let columns = width(&sort) as u16;
    if typing || !app.ui.filter.is_empty() {
        let room = area.width.saturating_sub(end + 4);
        // The filter needs the room more while it is long.
        let filter = text::width(&app.ui.filter).min(LEAST_FILTER);
        let has_sort = usize::from(room) >= usize::from(columns) + width(&right) + filter + 3;
        let rest = usize::from(if has_sort { room - columns } else { room });
        right.push(piece("/", Tone::Key));
        right.push(plain(text::both_ends(
            &app.ui.filter,
            rest.saturating_sub(width(&right) + 3),
        )));
        right.push(piece(if typing { "▏" } else { " " }, Tone::Accent));
        if !has_sort {
            canvas.write_right((end + 1, area.y), area.right(), &right);
            return;
        }
        right.push(plain(" "));
    }
    right.extend(sort);
    canvas.write_right((end + 1, area.y), area.right(), &right);
    let x = area.right().saturating_sub(columns);
    canvas.hit(Area::new(x, area.y, columns, 1), Hit::Action(Action::Sort));
}

fn sessions(n: usize) -> String {
    number::counted(n as u64, "session")
}

/// Returns the reasons for which the list is empty.
fn empty(app: &App) -> Vec<Piece> {
    let mut lines = Vec::new();
    if !app.sessions.is_empty() {
        let key = |action| app.keymap.key_text(Scope::Overview, action);
        if !app.ui.filter.is_empty() {
            lines.push(plain(format!("no session matches '{}'", app.ui.filter)));
            lines.extend(SESSIONS.correction(&app.ui.filter).map(plain));
            let back = key(Action::Back);
            lines.push(quiet(format!("press {back} to clear the filter")));
        }
        if app.ui.is_live_only {
            let idle = key(Action::Idle);
            lines.push(quiet(format!(
                "no live session; press {idle} to show idle ones"
            )));
        }
    } else if app.sessions.initial_scan_done {
        lines.push(plain("no agent logs found in:"));
        let roots = app.looked_in.iter();
        lines.extend(roots.map(|root| quiet(format!("  {root}"))));
        let all = app.notices.all.iter();
        let problems = all.filter(|notice| notice.severity == Severity::Problem);
        let said = |notice: &Notice| plain(format!("{}: {}", notice.about, notice.text));
        lines.extend(problems.map(said));
        lines.push(plain("new logs appear here automatically"));
    } else {
        lines.push(quiet("searching for agent logs"));
    }
    lines
}

/// Draws the headings; a click on one sorts by its column.
fn headings(app: &App, columns: &[(&'static Column, u16)], area: Area, canvas: &mut Canvas<'_>) {
    let mut x = LEAD_COLUMNS;
    for (column, width) in columns {
        let tone = if app.ui.sort == *column {
            Tone::Strong
        } else {
            Tone::Heading
        };
        let heading = piece(column.shape.align(column.heading, *width), tone);
        let end = canvas.write((x, area.y), area.right(), &[heading]);
        canvas.hit(Area::new(x, area.y, end - x, 1), Hit::Column(column.name));
        x = end;
    }
}

/// Draws a session's row.
fn session(
    app: &App,
    row: &Row,
    columns: &[(&'static Column, u16)],
    y: u16,
    canvas: &mut Canvas<'_>,
) {
    let Some(listed) = app.sessions.gauge(row.key) else {
        return;
    };
    let mut entry = Entry {
        app,
        row,
        gauge: listed,
        width: 0,
    };
    let pointer = super::pointer(app.current() == Some(row.key));
    let end = canvas.width();
    let mut x = canvas.write((0, y), end, &[pointer, super::live(app, row.key)]);
    if app.shown.families.contains_key(&row.key) {
        let is_unfolded = app.ui.unfolded.contains(&row.key);
        let sign = quiet(if is_unfolded { UNFOLDED } else { FOLDED });
        canvas.write((LEAD_COLUMNS - 1, y), end, &[sign]);
    }
    for (column, width) in columns {
        entry.width = *width;
        let cell = (column.cell)(&entry);
        let mut width = *width;
        let mut shape = column.shape;
        if shape == Shape::Gauge {
            let bar = width.saturating_sub(PERCENT_COLUMNS);
            gauge(&entry, Area::new(x, y, bar, 1), canvas);
            (x, width, shape) = (x + bar, PERCENT_COLUMNS, Shape::Right);
        }
        let text = shape.align(&cell.text, width);
        // The background of a number does not extend to the space before it.
        let (space, text) = text.split_at(text.len() - text.trim_start().len());
        x = canvas.write((x, y), end, &[plain(space), piece(text, cell.tone)]);
    }
}

/// Draws the gauge, with a recent compaction written into its free space.
fn gauge(entry: &Entry<'_>, area: Area, canvas: &mut Canvas<'_>) {
    let listed = entry.gauge;
    if listed.context.used == 0 {
        let why = text::cut(super::empty_context(listed), usize::from(area.width));
        canvas.write_in(area, &[quiet(why)]);
        return;
    }
    let gauge = Gauge {
        context: &listed.context,
        limits: listed.limits(),
        theme: canvas.theme,
        place: Place::Row,
    };
    gauge.bar(area, canvas);
    let Some(compacted) = just_compacted(listed, entry.app.now) else {
        return;
    };
    let sizes = sizes(&compacted, &listed.context);
    let free = gauge.room(area.width);
    let columns = usize::from(free.end.saturating_sub(free.start));
    let texts = [
        format!(" compacted {sizes} "),
        format!(" {sizes} "),
        format!(" ↓{} ", number::short(compacted.before)),
    ];
    let fits = |text: &String| text::width(text) <= columns;
    if let Some(text) = texts.into_iter().find(fits) {
        let at = (area.x + free.start, area.y);
        canvas.write(at, area.right(), &[piece(text, Tone::Over)]);
    }
}

/// Returns a group's name and the number of its sessions.
fn group_line(app: &App, group: &Group, selected: bool) -> Pieces {
    let sign = if app.ui.folded.contains(&group.id) {
        FOLDED
    } else {
        UNFOLDED
    };
    let name = text::cut(&group.name, usize::from(app.ui.size.0 / 2));
    let mut pieces = vec![
        super::pointer(selected),
        quiet(format!("{sign} ")),
        strong(name),
        quiet(format!("  {}", sessions(group.keys.len()))),
    ];
    if group.live > 0 {
        pieces.push(strong(format!(", {} live", group.live)));
    }
    pieces
}

/// Draws the line below the list: the selected session's name, its state as far as that comes and goes, and the place in a
/// list that does not fit.
fn rule(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    super::rule(area, canvas);
    let (lines, rows) = (app.lines().len(), app.overview_layout().list.height);
    let place = (lines > usize::from(rows)).then(|| {
        let place = quiet(format!(" {} of {lines} ", app.ui.sessions.index() + 1));
        let columns = width(std::slice::from_ref(&place)) as u16;
        canvas.write_right((area.x, area.y), area.right().saturating_sub(3), &[place]);
        columns + 3
    });
    let end = area.right().saturating_sub(place.unwrap_or(0) + 4);
    let room = usize::from(end.saturating_sub(6));
    let title = match (app.current(), app.selected_line()) {
        (Some(key), _) => super::detail::title(app, key, room),
        (None, Some(ListLine::Group(group))) => vec![strong(text::cut(&group.name, room))],
        _ => return,
    };
    let mut pieces = vec![plain(" ")];
    pieces.extend(title);
    pieces.push(plain(" "));
    canvas.write((3, area.y), end, &pieces);
}

/// Draws the sums of the listed sessions, and what was spent today.
fn sums(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let sessions = match (app.shown.listed_of, app.shown.matching.len()) {
        (all, matching) if matching < all => format!("{matching} of {all}"),
        (all, _) => format!("all {all}"),
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let narrow = WidthClass::of(area.width) == WidthClass::Narrow;
    let groups = groups::sums(&sessions, &app.shown.totals, narrow);
    canvas.write_rows(area.inset(1, 0), [joined(groups, columns)]);
}
