//! One session: the gauge, the roles, the timeline, the list of the active tab.
//!
//! ```text
//!  shop  claude  claude-opus-4-6  2.1.39                                                  ● 2s
//!  window 200k (log) · compacts at 167k (policy)
//!   S   C A      T                                        ~~  ±      ▾167k                200k
//!  ██▓██████████████████████████████████████████████████╱╱╱╱┄┄      ┃                        ▕
//!  124.1k known + 3.9k ±0.4k est · 77% of 167k trigger (policy) · headroom 39k
//!  compacts in about 9 requests (6–14), 2 turns (1–4), 6 min (4–11) of work
//!
//!  S system     27.5k  ████████████                                27.5k known
//!  …
//!   TOKENS     ROLE  TOOL        WHEN  WHAT
//!    18.4k ══  T     Read          2m  src/db.rs
//! ```

mod chart;
mod forecast;
mod numbers;
mod status;

use crate::app::layout::Session as Layout;
use crate::app::listed::{nearness, nearness_of};
use crate::app::{App, Nearness};
use crate::keymap::{Action, Scope};
use crate::paint::{
    Area, Hit, Piece, Tone, joined, joined_width, piece, plain, quiet, strong, width,
};
use crate::widgets::canvas::Canvas;
use crate::widgets::gauge::{Gauge, Place};
use chart::Chart;
use model::cost::spending::SessionSpending;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::SessionKey;
use model::session::context::Context;
use model::state::agent_estimate::AgentEstimate;
use model::values::process_activity::ProcessActivity;
use model::why::FindingKind;
use model::window::Limits;
use render::finding::{act, what};
use render::{self, number, text, triggers};

/// The columns under which the numbers are shortened.
const NARROW_COLUMNS: usize = 60;

/// The columns from which the header has room for a model's whole id.
const ROOMY_COLUMNS: usize = 100;

/// The most columns of the name of another session.
const OTHER_NAME: usize = 16;

/// The numbers of the moment on screen.
struct SessionNumbers<'a> {
    /// The agent's name.
    label: &'a str,
    context: &'a Context,
    limits: &'a Limits,
    /// The agent's own number.
    agent_estimate: Option<AgentEstimate>,
    /// The data that the list shows of the session.
    gauge: &'a SessionGauge,
    nearness: Nearness,
    /// The cost of the session; `None`: not all of its log was read, or this is a replay.
    spending: Option<&'a SessionSpending>,
    /// True if its texts are being counted.
    is_counting: bool,
}

pub(super) fn draw(app: &App, key: SessionKey, canvas: &mut Canvas<'_>) {
    let Some(listed) = app.sessions.gauge(key) else {
        return;
    };
    let layout = app.session_layout();
    let columns = usize::from(canvas.width().saturating_sub(2));
    header(app, key, listed, layout.header, canvas);
    let facts = app.sessions.facts(key);
    let mut shown = SessionNumbers {
        label: facts.map_or(listed.agent, |facts| facts.label),
        context: &listed.context,
        limits: listed.limits(),
        agent_estimate: None,
        gauge: listed,
        nearness: nearness(listed),
        spending: listed.spending.as_ref(),
        is_counting: app.is_counting(key),
    };
    let (Some(session), Some(page)) = (app.sessions.get(key), app.page()) else {
        // Only its summary is held; its log is being read.
        bars(&shown, &layout, columns, canvas);
        canvas.write_in(layout.list.inset(1, 0), &[quiet("reading its log")]);
        super::footer(app, layout.footer, canvas);
        return;
    };
    (shown.context, shown.limits) = (&page.state.context, &page.state.limits);
    shown.agent_estimate = page.state.agent_estimate;
    if app.ui.replay.is_on() {
        shown.spending = None;
        shown.nearness = nearness_of(shown.context, shown.limits, &[]);
    }
    let status = status::status(session, page, &shown, &layout, columns);
    canvas.write_in(layout.status.inset(1, 0), &status);
    bars(&shown, &layout, columns, canvas);
    let forecast = forecast::forecast(app, session, page, &shown, columns);
    canvas.write_in(layout.forecast.inset(1, 0), &forecast);
    dearest(app, listed.agent, layout.finding, canvas);
    if !layout.transport.is_empty() {
        super::transport::draw(app, page, layout.transport, canvas);
    }
    super::roles::draw(app, session, page, layout.roles, canvas);
    timeline(app, layout.chart, canvas);

    super::tabs::draw(app, page, layout.tabs, canvas);
    if app.ui.tab.has_list() {
        super::table::draw(app, canvas);
    } else {
        let (columns, list) = (layout.columns, layout.list);
        let height = columns.height + list.height;
        let area = Area::new(0, columns.y, list.width, height);
        timeline(app, area.inset(1, 1), canvas);
    }
    super::notices::draw_newest(app, layout.notice, canvas);
    super::footer(app, layout.footer, canvas);
}

/// Draws a large gauge: its scale, and its bar.
pub(super) fn gauge(
    (context, limits): (&Context, &Limits),
    scale: Area,
    bar: Area,
    canvas: &mut Canvas<'_>,
) {
    let gauge = Gauge {
        context,
        limits,
        theme: canvas.theme,
        place: Place::Large,
    };
    gauge.scale(scale.inset(1, 2), canvas);
    gauge.bar(bar.inset(1, 2), canvas);
    for y in bar.rows() {
        let x = canvas.width() - 2;
        canvas.write((x, y), canvas.width(), &[piece("▕", Tone::Frame)]);
    }
}

/// Draws the gauge and the numbers below it.
fn bars(shown: &SessionNumbers<'_>, layout: &Layout, columns: usize, canvas: &mut Canvas<'_>) {
    gauge(
        (shown.context, shown.limits),
        layout.scale,
        layout.bar,
        canvas,
    );
    let numbers = numbers::numbers(shown, columns);
    canvas.write_in(layout.numbers.inset(1, 0), &numbers);
}

/// Draws the dearest finding: the key of its tab, its cost, what happened and, where there is room, what to change.
fn dearest(app: &App, agent: &str, area: Area, canvas: &mut Canvas<'_>) {
    let Some(finding) = app.dearest_finding().filter(|_| !area.is_empty()) else {
        return;
    };
    let cost = match (finding.usd, finding.kind) {
        (Some(cost), FindingKind::Window) => format!("could save {}:", number::usd(cost)),
        (Some(cost), _) => number::usd(cost),
        (None, _) => format!("{} tokens", number::short(finding.tokens)),
    };
    let key = app.keymap.key_text(Scope::Session, Action::Why);
    let mut line = vec![
        piece(key, Tone::Key),
        quiet(" why  "),
        strong(cost),
        plain("  "),
    ];
    let columns = usize::from(area.width.saturating_sub(2));
    let room = columns.saturating_sub(width(&line));
    line.push(plain(text::cut(&text::inert(&what(finding)), room)));
    let act = act(finding, agent).map(|act| vec![quiet(text::inert(&act))]);
    let groups = std::iter::once(line).chain(act);
    canvas.write_in(area.inset(1, 0), &joined(groups, columns));
    canvas.hit(area, Hit::Action(Action::Why));
}

/// Draws the context over time.
fn timeline(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    if let Some(history) = app.history().filter(|_| !area.is_empty()) {
        let clock = app.clock();
        Chart { history, clock }.draw(area, canvas);
        canvas.hit(chart::field(area), Hit::Timeline);
    }
}

/// Returns the state of the prompt in the provider's cache: `cache 54m`. It is empty in a replay, whose prompt is
/// another one, and on a narrow screen, which needs the room for names.
fn cache(app: &App, gauge: &SessionGauge) -> Piece {
    let is_shown = !app.ui.replay.is_on() && usize::from(app.ui.size.0) >= NARROW_COLUMNS;
    let cache = gauge.prompt_cache().filter(|_| is_shown);
    let cell = cache.map(|cache| triggers::cache_cell(cache.state(app.now), &app.clock()));
    quiet(cell.map_or_else(String::new, |cell| format!("cache {cell}  ")))
}

fn header(app: &App, key: SessionKey, listed: &SessionGauge, area: Area, canvas: &mut Canvas<'_>) {
    let age = render::or_none(app.age(key).map(number::age));
    let running = app.sessions.running(key).and_then(ProcessActivity::word);
    let [live, age] = match (app.is_live(key), running) {
        (true, Some(word)) => [super::live(app, key), plain(format!("{word}  {age} "))],
        (true, None) => [super::live(app, key), plain(format!("{age} "))],
        (false, _) => [piece("", Tone::Live), plain(format!("{age} "))],
    };
    let mut right = vec![cache(app, listed), live, age];
    if let Some((other, all)) = app.shown.other_waiting {
        let name = app.sessions.name(other);
        let more = match all {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let room = usize::from(area.width) / 3;
        let verb = if all == 1 { "waits" } else { "wait" };
        let words = format!("{}{more} {verb} for you", text::cut(&name, OTHER_NAME));
        if text::width(&words) <= room {
            right.insert(0, piece(format!("{words}  "), Tone::Near));
        }
    }
    let end = area.right().saturating_sub(width(&right) as u16 + 1);
    let columns = usize::from(end.saturating_sub(2));

    let name = app.sessions.name(key);
    let label = app.sessions.facts(key).map(|facts| facts.label);
    let mut groups = vec![
        vec![piece(text::cut(&name, columns / 3), Tone::Accent)],
        vec![plain(label.unwrap_or(listed.agent))],
    ];
    if let Some(model) = listed.model() {
        let room = columns.saturating_sub(joined_width(&groups));
        let model = if columns < ROOMY_COLUMNS {
            text::short_model(model)
        } else {
            model
        };
        let model = text::cut(model, room);
        groups.push(vec![plain(model)]);
    }
    if let Some(version) = listed.meta.version.as_deref() {
        let version = text::cut(version, columns / 3);
        groups.push(match listed.newer_than_proven() {
            None => vec![quiet(version)],
            Some(proven) => vec![
                piece(version, Tone::Warn),
                quiet(format!(" (rules as of {proven})")),
            ],
        });
    }
    // The title has what the others leave, or their room.
    let title = app
        .sessions
        .title(key)
        .filter(|title| !title.starts_with(&name));
    if let Some(title) = title {
        let left = columns.saturating_sub(joined_width(&groups));
        let title = text::cut(&text::one_line(&title), left.max(columns / 3));
        groups.insert(1, vec![plain(title)]);
    }
    canvas.write((1, area.y), end, &joined(groups, columns));
    canvas.write_right((1, area.y), area.right(), &right);
}
