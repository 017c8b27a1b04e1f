//! The line of a replay: whether it plays and how fast, where in the session it stands.
//!
//! ```text
//!  ▶ 30×   request 118 of 389   turn 14 of 40   09:14:07   ├──────────────●─────────╂──────────┤  l live
//! ```

use crate::render::text;
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Hit, Pace, Page, Zones};
use crate::tui::keymap::{Action, Scope};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

pub(super) fn draw(
    app: &App,
    page: &Page,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
    zones: &mut Zones,
) {
    let width = buffer.area.width;
    let replay = &app.ui.replay;
    let sign = match replay.playing {
        Some(_) => "▶",
        None => "■",
    };
    let state = &page.state;
    let mut said = vec![
        line::span(format!("{sign} "), theme.accent()),
        line::span(
            format!("{} ", replay.speed().name(page.pace)),
            theme.strong(),
        ),
    ];
    let end = line::write(buffer, (1, y), width, said.clone());
    zones.add(Rect::new(1, y, end - 1, 1), Hit::Action(Action::Play));
    said.clear();
    let steps = match page.pace {
        Pace::Requests => format!(" request {} of {}", state.requests, page.sizes.len()),
        Pace::Records => {
            let at = app.moment().map_or(0, |at| at + 1);
            format!(" record {at} of {}", page.sizes.len())
        }
    };
    said.push(line::plain(steps));
    if Fold::of(width) > Fold::Narrow {
        said.push(line::span(
            format!("  turn {} of {}", state.turns, page.turns),
            theme.quiet(),
        ));
        if let Some(at) = state.at {
            let at = at.strftime("%m-%d %H:%M:%S");
            said.push(line::span(format!("  {at}"), theme.quiet()));
        }
    }
    let x = line::write(buffer, (end, y), width, said);

    let live = app.keymap.press(Scope::Session, Action::Live);
    let live = live.map_or_else(String::new, |press| format!(" {press} live "));
    let columns = text::width(&live) as u16;
    let track = Rect::new(x + 2, y, width.saturating_sub(x + 3 + columns), 1);
    if track.width < 8 {
        return;
    }
    line::write(buffer, (track.x, y), track.right(), [bar(track, theme)]);
    marks(app, page, track, theme, buffer);
    zones.add(track, Hit::Transport);
    let end = [line::span(live, theme.quiet())];
    let x = track.right();
    let right = line::write(buffer, (x, y), width, end);
    zones.add(Rect::new(x, y, right - x, 1), Hit::Action(Action::Live));
}

fn bar(track: Rect, theme: Theme) -> Span<'static> {
    let inside = usize::from(track.width) - 2;
    line::span(format!("├{}┤", "─".repeat(inside)), theme.quiet())
}

/// Compactions, and where it stands.
fn marks(app: &App, page: &Page, track: Rect, theme: Theme, buffer: &mut Buffer) {
    let last = page.timeline.end().max(1);
    let column = |moment: usize| {
        let along = moment * usize::from(track.width - 1) / last;
        track.x + (along as u16).min(track.width - 1)
    };
    for reset in 0..page.resets.len() {
        if let Some(moment) = page.timeline.of_reset(reset) {
            let cell = &mut buffer[(column(moment), track.y)];
            cell.set_char('╂').set_style(theme.trigger());
        }
    }
    if let Some(moment) = app.moment() {
        let cell = &mut buffer[(column(moment), track.y)];
        cell.set_char('●').set_style(theme.accent());
    }
}
