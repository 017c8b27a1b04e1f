//! The line of a replay: whether it plays and how fast, and its place in the session.
//!
//! ```text
//!  ▶ 30×   after #118 of 389   turn 14 of 40   09:14:07   ├──────────────●─────────╂──────────┤  l live
//! ```

use crate::app::layout::WidthClass;
use crate::app::{App, Pace, Page};
use crate::keymap::{Action, Scope};
use crate::paint::{Area, Hit, Tone, piece, plain, quiet, strong};
use crate::widgets::canvas::Canvas;
use render::text;

pub(super) fn draw(app: &App, page: &Page, area: Area, canvas: &mut Canvas<'_>) {
    let (replay, state, y) = (&app.ui.replay, &page.state, area.y);
    let sign = if replay.playing.is_some() {
        "▶ "
    } else {
        "■ "
    };
    let speed = strong(format!("{} ", replay.speed().name(page.steps.pace)));
    let x = canvas.write((1, y), area.right(), &[piece(sign, Tone::Accent), speed]);
    canvas.hit(Area::new(1, y, x - 1, 1), Hit::Action(Action::Play));
    let all = page.steps.roles.len();
    let steps = match page.steps.pace {
        Pace::Requests if state.requests == 0 => format!(" before #1 of {all}"),
        Pace::Requests => format!(" after #{} of {all}", state.requests),
        Pace::Records => {
            let at = app.moment().map_or(0, |at| at + 1);
            format!(" record {at} of {all}")
        }
    };
    let mut place = vec![plain(steps)];
    let compacted = compacted(app, page);
    if WidthClass::of(area.width) > WidthClass::Narrow {
        place.push(match &compacted {
            Some(what) => strong(format!("  {what}")),
            None => quiet(format!("  turn {} of {}", state.turns, page.turns)),
        });
        let at = state
            .at
            .map(|at| at.strftime("  %m-%d %H:%M:%S").to_string());
        place.extend(at.map(quiet));
    }
    let x = canvas.write((x, y), area.right(), &place);

    let key = app.keymap.key(Scope::Session, Action::Live);
    let live = key.map(|key| format!(" {key} live ")).unwrap_or_default();
    let columns = text::width(&live) as u16;
    let track = Area::new(x + 2, y, area.width.saturating_sub(x + 3 + columns), 1);
    if track.width < 8 {
        return;
    }
    let line = "─".repeat(usize::from(track.width) - 2);
    canvas.write_in(track, &[piece(format!("├{line}┤"), Tone::Frame)]);
    marks(app, page, track, canvas);
    canvas.hit(track, Hit::Transport);
    let x = track.right();
    let end = canvas.write((x, y), area.right(), &[quiet(live)]);
    canvas.hit(Area::new(x, y, end - x, 1), Hit::Action(Action::Live));
}

/// Returns the compaction that the moment on screen follows, until the next request: `compaction 2`. The number of the
/// request is the same before and after it.
fn compacted(app: &App, page: &Page) -> Option<String> {
    let number = page.state.resets;
    let session = app.sessions.get(page.key)?;
    let last = session.resets().get(number.checked_sub(1)?)?;
    let is_new = page.steps.pace == Pace::Requests && last.request == page.state.requests;
    is_new.then(|| format!("{} {number}", last.gone.name()))
}

/// Draws the compactions, and the moment on screen.
fn marks(app: &App, page: &Page, track: Area, canvas: &mut Canvas<'_>) {
    let last = page.timeline.end().max(1);
    let column = |moment: usize| {
        let along = moment * usize::from(track.width - 1) / last;
        track.x + (along as u16).min(track.width - 1)
    };
    let resets = (0..page.steps.resets.len()).filter_map(|reset| page.timeline.of_reset(reset));
    for moment in resets {
        canvas.put((column(moment), track.y), '╂', Tone::Trigger);
    }
    if let Some(moment) = app.moment() {
        canvas.put((column(moment), track.y), '●', Tone::Accent);
    }
}
