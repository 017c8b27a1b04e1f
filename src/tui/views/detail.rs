//! The lines below the list of sessions: facts of the selected session for which the columns have no room.

use super::groups;
use crate::app::layout::{GAUGE_ROWS, WidthClass};
use crate::app::listed::{just_compacted, nearness, size_stage, sizes};
use crate::app::{App, ListLine, Stage, columns, seconds_since};
use crate::paint::{
    Area, Piece, Pieces, Tone, joined, joined_width, piece, plain, quiet, strong, width,
};
use crate::widgets::canvas::Canvas;
use model::due::triggers;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::SessionKey;
use model::window::TriggerKind;
use render::sure::Signs;
use render::{item, number, sparkline, spending, text, triggers as words};

pub(super) fn draw(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let Some(key) = app.current() else {
        return group(app, area, canvas);
    };
    let Some(gauge) = app.sessions.gauge(key) else {
        return;
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let low = area.height < 2;
    let mut groups = vec![groups::roles(
        &gauge.context,
        Stage::settled_if(gauge.is_settled()),
    )];
    if low {
        groups.push(next(app, gauge));
    }
    let mut lines = vec![contents(gauge, groups, columns)];
    if !low {
        lines.insert(0, size(app, gauge, columns));
    }
    let (y, height) = (area.y, area.height.min(GAUGE_ROWS));
    let mut rest = area;
    if area.height > GAUGE_ROWS {
        let [scale, bar] =
            [(y, 1), (y + 1, height - 1)].map(|(y, height)| Area { y, height, ..area });
        super::session::gauge((&gauge.context, gauge.limits()), scale, bar, canvas);
        rest.y += height;
        rest.height -= height;
    }
    canvas.write_rows(rest.inset(1, 0), lines);
}

/// Draws the sums of the selected group, its largest context, and when it was last active.
fn group(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let (Some(ListLine::Group(group)), Some(totals)) = (app.selected_line(), app.group_totals())
    else {
        return;
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let sessions = number::counted(group.keys.len() as u64, "session");
    let narrow = WidthClass::of(area.width) == WidthClass::Narrow;
    let mut facts = Vec::new();
    let largest = totals.largest.and_then(|key| {
        let gauge = app.sessions.gauge(key)?;
        let title = app.sessions.title(key).unwrap_or_default();
        let title = text::cut(&text::one_line(&title), columns / 2);
        let size = size_stage(gauge).number(number::short(gauge.context.used));
        Some(vec![
            quiet("largest context "),
            strong(size),
            plain(format!(" {title}")),
        ])
    });
    facts.extend(largest);
    let age = totals.active.map(|at| seconds_since(at, app.now));
    facts.extend(age.map(|age| vec![quiet(format!("{} ago", number::age(age)))]));
    let lines = [groups::sums(&sessions, &totals, narrow), facts];
    canvas.write_rows(
        area.inset(1, 0),
        lines.map(|groups| joined(groups, columns)),
    );
}

/// Returns a session's name and title, and its state as far as that comes and goes: elsewhere it would move the words after it.
pub(super) fn title(app: &App, key: SessionKey, columns: usize) -> Pieces {
    let Some(gauge) = app.sessions.gauge(key) else {
        return Pieces::new();
    };
    let mut state = Pieces::new();
    let mut say = |piece: Piece| state.extend([quiet(" · "), piece]);
    let name = &*app.sessions.name(key);
    if let Some(away) = app.away_words(key) {
        // The reason may be a long sentence of ssh.
        let of_name = text::width(name).min(LEAST_NAME);
        let room = columns.saturating_sub(of_name + 3);
        say(piece(text::cut(&away, room), Tone::Near));
    }
    if let Some(need) = app.need(key) {
        say(piece(need.words(), Tone::Near));
    }
    if let Some(compacted) = just_compacted(gauge, app.now) {
        let age = compacted
            .at
            .map(|at| number::age(seconds_since(at, app.now)));
        let ago = age.map(|age| format!(", {age} ago")).unwrap_or_default();
        let sizes = sizes(&compacted, &gauge.context);
        say(plain(format!("compacted {sizes}{ago}")));
    }
    if let Some(meeting) = app.shown.meetings.get(&key) {
        let file = text::one_line(&meeting.file);
        let file = text::both_ends(&file, columns / 3);
        let label = app
            .sessions
            .facts(meeting.with)
            .map_or("", |facts| facts.label);
        say(piece(
            format!("{file} is changed by another agent too, {label}"),
            Tone::Near,
        ));
    }
    if let Some(agents) = app.shown.families.get(&key) {
        say(quiet(number::counted(*agents as u64, "sub-agent")));
    }
    if app.is_counting(key) {
        say(quiet("counting"));
    }
    let room = columns.saturating_sub(width(&state));
    let mut pieces = vec![strong(text::cut(name, room))];
    let title = app.sessions.title(key).unwrap_or_default();
    let rest = room.saturating_sub(width(&pieces) + 3);
    if !title.is_empty() && !title.starts_with(name) && rest >= LEAST_TITLE {
        let title = text::cut(&text::one_line(&title), rest);
        pieces.extend([quiet(" · "), plain(title)]);
    }
    pieces.extend(state);
    pieces
}

/// The columns that the reason leaves for the name where a machine does not answer.
const LEAST_NAME: usize = 20;
/// The fewest columns in which a title says something.
const LEAST_TITLE: usize = 8;

/// Returns the size of the session's context in its window, and when it compacts.
fn size(app: &App, gauge: &SessionGauge, columns: usize) -> Pieces {
    let all_estimated = gauge.is_unreported && gauge.context.used > 0;
    let mut groups = Vec::new();
    groups.push(groups::share(
        &gauge.context,
        gauge.limits(),
        size_stage(gauge),
    ));
    if all_estimated {
        let why = "no usage: all estimated";
        groups.push(vec![piece(why, Tone::Estimated)]);
    }
    groups.push(next(app, gauge));
    groups.extend(cost(app, gauge));
    if let Some(model) = gauge.model() {
        groups.push(vec![plain(text::cut(text::short_model(model), 24))]);
    }
    groups.push(groups::trigger(gauge.limits()));
    let growth = gauge.growth();
    if !columns::is_shown("growth", &app.ui) && !growth.is_empty() {
        let bars = sparkline::bars(&growth, gauge.limits().window);
        groups.push(vec![quiet("growth "), plain(bars)]);
    }
    groups.push(groups::window(gauge.limits()));
    joined(groups, columns)
}

/// Returns the forecast, where the list has no column for it: `next 9 (6–14)`. Empty without one.
fn next(app: &App, gauge: &SessionGauge) -> Pieces {
    let forecast = gauge.forecast(app.now);
    let first = triggers::next(gauge, &forecast, app.now).into_iter().next();
    let when = first.filter(|next| next.kind == TriggerKind::Idle);
    if let Some(when) = when.and_then(|next| words::when(&next, &app.clock())) {
        return vec![plain(format!("compacts {when}"))];
    }
    match forecast {
        Ok(forecast) if !columns::is_shown("next", &app.ui) => {
            let stage = Stage::settled_if(Signs::of(gauge).requests.is_empty());
            groups::next_requests(stage, &forecast, nearness(gauge))
        }
        _ => Pieces::new(),
    }
}

/// Returns the cost of the session so far, where the list has no column for it.
fn cost(app: &App, gauge: &SessionGauge) -> Option<Pieces> {
    let spending = gauge.spending.as_ref()?;
    let is_shown = columns::is_shown("cost", &app.ui);
    if is_shown || spending.all.is_unpriced() || spending.all.is_empty() {
        return None;
    }
    Some(vec![quiet("cost "), plain(spending::cost(&spending.all))])
}

/// Returns the groups, and the largest item in the context.
fn contents(gauge: &SessionGauge, mut groups: Vec<Pieces>, columns: usize) -> Pieces {
    if let Some(largest) = &gauge.largest {
        let label = item::label_of(largest.kind, largest.tool.as_deref());
        let what = format!("{label} {}", largest.name);
        let tokens = largest.tokens;
        let stage = Stage::settled_if(gauge.is_settled());
        let size = format!(" {}", stage.number(number::tokens(tokens)));
        let share = number::percent(tokens, gauge.limits().end())
            .map(|share| format!(" ({}%)", stage.number(share.to_string())))
            .unwrap_or_default();
        let used = joined_width(&groups);
        let room = columns
            .saturating_sub(used + 9 + size.len() + share.len())
            .min(60);
        if room >= 8 {
            let what = plain(text::cut(&what, room));
            let [size, share] = [(size, Tone::Strong), (share, Tone::Quiet)]
                .map(|(text, tone)| piece(text, stage.tone(tone)));
            groups.push(vec![quiet("largest "), what, size, share]);
        }
    }
    joined(groups, columns)
}
