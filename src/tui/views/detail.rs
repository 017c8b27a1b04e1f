//! The lines below the list of sessions: facts of the selected session for which the columns have no room.

use super::groups;
use crate::app::{App, Summary, columns, seconds_since};
use crate::paint::{Area, Pieces, Tone, joined, joined_width, piece, plain, quiet, strong};
use crate::widgets::canvas::Canvas;
use model::fleet::SessionKey;
use model::session::Session;
use model::triggers;
use model::window::TriggerKind;
use render::{item, number, sparkline, text, triggers as words};

pub(super) fn draw(app: &App, area: Area, canvas: &mut Canvas<'_>) {
    let Some(key) = app.current() else {
        return;
    };
    let (Some(session), Some(summary)) = (app.fleet.get(key), app.summary(key)) else {
        return;
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let low = area.height < 2;
    let mut groups = vec![groups::roles(&summary.context, summary.stage)];
    if app.is_counting(key) {
        groups.push(vec![quiet("counting")]);
    }
    if low {
        groups.push(next(app, session, summary));
    }
    let mut lines = vec![contents(app, session, summary, groups, columns)];
    if !low {
        lines.insert(0, identity(app, key, session, summary, columns));
    }
    canvas.write_rows(area.inset(1, 0), lines);
}

fn identity(
    app: &App,
    key: SessionKey,
    session: &Session,
    summary: &Summary,
    columns: usize,
) -> Pieces {
    let name = &*app.fleet.name(key);
    let mut groups = vec![vec![strong(text::cut(name, columns / 4))]];
    let title = app.fleet.title(key).unwrap_or_default();
    let all_estimated = session.is_unreported() && summary.context.used > 0;
    if !title.starts_with(name) {
        let room = if all_estimated {
            columns / 3
        } else {
            columns * 2 / 5
        };
        groups.push(vec![plain(text::cut(&text::one_line(&title), room))]);
    }
    if let Some(compacted) = summary.just_compacted(app.now) {
        let age = compacted
            .at
            .map(|at| number::age(seconds_since(at, app.now)));
        let ago = age.map(|age| format!(", {age} ago")).unwrap_or_default();
        let sizes = compacted.sizes(&summary.context);
        groups.push(vec![plain(format!("compacted {sizes}{ago}"))]);
    }
    groups.push(groups::share(
        &summary.context,
        &summary.limits,
        summary.size_stage(),
    ));
    if all_estimated {
        let why = "no usage: all estimated";
        groups.push(vec![piece(why, Tone::Estimated)]);
    }
    groups.push(next(app, session, summary));
    if let Some(model) = session.model() {
        groups.push(vec![plain(text::cut(text::short_model(model), 24))]);
    }
    groups.push(groups::trigger(&summary.limits));
    if !columns::is_shown("growth", app.ui.size.0) && !summary.growth.is_empty() {
        let bars = sparkline::bars(&summary.growth, summary.limits.window);
        groups.push(vec![quiet("growth "), plain(bars)]);
    }
    groups.push(groups::window(&summary.limits));
    joined(groups, columns)
}

/// The forecast, where the list has no column for it: `next 9 (6–14)`. Empty without one.
fn next(app: &App, session: &Session, summary: &Summary) -> Pieces {
    let forecast = summary.forecast(session, app.now);
    let first = triggers::next(session, &forecast, app.now)
        .into_iter()
        .next();
    let when = first.filter(|next| next.kind == TriggerKind::Idle);
    if let Some(when) = when.and_then(|next| words::when(&next, &app.clock())) {
        return vec![plain(format!("compacts {when}"))];
    }
    match forecast {
        Ok(forecast) if !columns::is_shown("next", app.ui.size.0) => {
            groups::next_requests(&forecast, summary.nearness())
        }
        _ => Pieces::new(),
    }
}

/// The groups, and the largest item in the context.
fn contents(
    app: &App,
    session: &Session,
    summary: &Summary,
    mut groups: Vec<Pieces>,
    columns: usize,
) -> Pieces {
    let largest = app
        .largest()
        .and_then(|(ix, tokens, _)| Some((session.items().get(ix)?, tokens)));
    if let Some((item, tokens)) = largest {
        let stage = summary.stage;
        let size = format!(" {}", stage.number(number::tokens(tokens)));
        let share = number::percent(tokens, summary.limits.end())
            .map(|share| format!(" ({}%)", stage.number(share.to_string())))
            .unwrap_or_default();
        let used = joined_width(&groups);
        let room = columns
            .saturating_sub(used + 9 + size.len() + share.len())
            .min(60);
        if room >= 8 {
            let what = format!("{} {}", item::label(&item), item::preview(&item));
            let what = plain(text::cut(&what, room));
            let [size, share] = [(size, Tone::Strong), (share, Tone::Quiet)]
                .map(|(text, tone)| piece(text, stage.tone(tone)));
            groups.push(vec![quiet("largest "), what, size, share]);
        }
    }
    joined(groups, columns)
}
