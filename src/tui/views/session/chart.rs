//! The timeline of a context: one column per request or, without usage reports, per record; the trigger, the
//! forecast, a cursor.
//!
//! ```text
//!  200k│
//!  167k├───────────▾─────────────────────────────────────────
//!      │          ▄▇                                ░▒▒░
//!      │   ▂▃▄▄▅▆▇██                      ▂▃▄▅▅▆▇╱░▒▒░
//!      │▃▅▇█████████▂▃▃▄▅▅▅▅▆▆▆▆▆▇▇▇▇▇▇▇▇▇██████╱▒▒░
//! ```
//!
//! Known is solid, estimated hatched, as in a gauge; what follows the cursor is quiet.

use crate::app::Pace;
use crate::app::timeline::{History, Scale};
use crate::paint::{Area, Tone, piece};
use crate::widgets::canvas::Canvas;
use render::{number, text};

/// The columns of the sizes on the left, their line included.
const LABEL_COLUMNS: u16 = 6;
/// Eighths of a cell, filled from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws a timeline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chart<'a> {
    /// The data that is drawn.
    pub(super) history: History<'a>,
}

/// Returns the part of an area that holds the steps, for the mouse.
pub(super) fn field(area: Area) -> Area {
    area.inset(LABEL_COLUMNS.min(area.width), 0)
}

impl Chart<'_> {
    /// Draws it into an area of the screen.
    pub(super) fn draw(&self, area: Area, canvas: &mut Canvas<'_>) {
        let field = field(area);
        if field.width < 8 || field.height < 2 {
            return;
        }
        let scale = self.history.scale(field);
        let trigger = self
            .history
            .trigger
            .and_then(|tokens| Some((tokens, scale.row(tokens)? as u16)));
        self.labels(area, scale, trigger, canvas);
        if let Some((_, row)) = trigger {
            for x in field.x..field.right() {
                canvas.put((x, field.y + row), '─', Tone::Trigger);
            }
        }
        self.bars(field, scale, canvas);
        self.forecast(field, scale, canvas);
        self.marks(field, scale, canvas);
    }

    fn labels(
        &self,
        area: Area,
        scale: Scale,
        trigger: Option<(u64, u16)>,
        canvas: &mut Canvas<'_>,
    ) {
        for y in area.rows() {
            canvas.write(
                (area.x + LABEL_COLUMNS - 1, y),
                area.right(),
                &[piece("│", Tone::Frame)],
            );
        }
        let mut label = |tokens: u64, row: u16, tone: Tone| {
            let size = text::right(&number::short(tokens), usize::from(LABEL_COLUMNS) - 1);
            let at = (area.x, area.y + row);
            canvas.write(at, area.right(), &[piece(size, tone)]);
        };
        label(scale.top, 0, Tone::Quiet);
        if let Some((tokens, row @ 1..)) = trigger {
            label(tokens, row, Tone::Strong);
        }
    }

    fn bars(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
        let cursor = self.history.at.min(scale.requests - 1);
        for column in 0..scale.columns {
            let requests = scale.requests_of(column);
            let here = self.history.sizes.get(requests.clone()).unwrap_or_default();
            let mut size = here.iter().copied().max().unwrap_or(0);
            let mut known = match self.history.pace {
                Pace::Requests => size,
                Pace::Records => 0,
            };
            // The column of the cursor shows its moment, with the estimate.
            if requests.contains(&cursor) {
                (size, known) = (self.history.now, self.history.known);
            }
            let tone = if requests.start > cursor {
                Tone::Frame
            } else {
                Tone::Chart
            };
            let (eighths, solid) = (scale.eighths(size), scale.eighths(known));
            for row in 0..scale.rows {
                let below = (row * 8) as u64;
                if eighths <= below {
                    break;
                }
                let level = (eighths - below).min(8) as usize;
                let glyph = if solid <= below {
                    '╱'
                } else {
                    LEVELS[level - 1]
                };
                let y = field.bottom() - 1 - row as u16;
                canvas.put((field.x + column as u16, y), glyph, tone);
            }
        }
    }

    /// Draws the forecast: the way from the size now to the trigger, at the early, the median and the late end of the
    /// band.
    fn forecast(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
        let (Some([early, middle, late]), Some(trigger)) =
            (self.history.ahead, self.history.trigger)
        else {
            return;
        };
        let from = self.history.now.min(trigger);
        let start = scale.column_of(self.history.at.min(scale.requests - 1));
        let per_column = scale.requests as f64 / scale.columns as f64;
        for column in start + 1..usize::from(field.width) {
            let gone = (column - start) as f64 * per_column;
            let row = |requests: f64| {
                let share = (gone / requests.max(1e-9)).min(1.0);
                let reached = from + ((trigger - from) as f64 * share) as u64;
                scale.row(reached).unwrap_or(0)
            };
            let (high, likely, low) = (row(early), row(middle), row(late));
            let style = canvas.style(Tone::Forecast);
            for at in high..=low {
                let cell = canvas.cell((field.x + column as u16, field.y + at as u16));
                if cell.symbol() == " " {
                    cell.set_char(if at == likely { '▒' } else { '░' });
                }
                if cell.symbol() != "─" {
                    cell.set_style(style);
                }
            }
            if gone > late {
                break;
            }
        }
    }

    /// Draws the compactions, and the cursor of a replay.
    fn marks(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
        let cold = self.history.cold.iter();
        for request in cold.filter(|request| **request < scale.requests) {
            let x = field.x + scale.column_of(*request) as u16;
            canvas.put((x, field.y), '∘', Tone::Warn);
        }
        let resets = self.history.resets.iter();
        for reset in resets.filter(|reset| **reset < scale.requests) {
            let x = field.x + scale.column_of(*reset) as u16;
            canvas.put((x, field.y), '▾', Tone::Compaction);
        }
        if self.history.is_replayed {
            let cursor = self.history.at.min(scale.requests - 1);
            let x = field.x + scale.column_of(cursor) as u16;
            let style = canvas.style(Tone::Cursor);
            for y in field.rows() {
                let cell = canvas.cell((x, y));
                if cell.symbol() == " " || cell.symbol() == "─" {
                    cell.set_char('│');
                }
                cell.set_style(style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    fn drawn(chart: &Chart<'_>, (width, height): (u16, u16)) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let area = Area::new(0, 0, width, height);
        chart.draw(area, &mut Canvas::new(Theme::default(), &mut buffer));
        buffer
    }

    fn chart(sizes: &[u64]) -> Chart<'_> {
        Chart {
            history: History {
                sizes,
                pace: Pace::Requests,
                now: 150_000,
                known: 140_000,
                resets: &[6],
                cold: &[3],
                window: 200_000,
                trigger: Some(167_000),
                ahead: Some([2.0, 3.0, 5.0]),
                at: sizes.len(),
                is_replayed: false,
            },
        }
    }

    #[test]
    fn a_timeline_with_its_forecast() {
        let sizes = [
            20_000, 60_000, 90_000, 120_000, 150_000, 166_000, 40_000, 80_000, 110_000, 140_000,
        ];
        insta::assert_debug_snapshot!(drawn(&chart(&sizes), (60, 8)));
        let mut replayed = chart(&sizes);
        replayed.history.at = 3;
        replayed.history.is_replayed = true;
        (replayed.history.now, replayed.history.known) = (125_000, 120_000);
        insta::assert_debug_snapshot!(drawn(&replayed, (60, 8)));
    }

    proptest! {
        #[test]
        fn no_numbers_break_it(
            sizes in prop::collection::vec(0u64..1 << 60, 0..300),
            now: u64,
            known: u64,
            resets in prop::collection::vec(0usize..400, 0..5),
            cold in prop::collection::vec(0usize..400, 0..5),
            window: u64,
            trigger: Option<u64>,
            ahead: Option<[f64; 3]>,
            at in 0usize..400,
            is_replayed: bool,
            records: bool,
            size in (0u16..200, 0u16..30),
        ) {
            let pace = if records { Pace::Records } else { Pace::Requests };
            let history = History { sizes: &sizes, pace, now, known, resets: &resets, cold: &cold, window, trigger, ahead, at, is_replayed };
            drawn(&Chart { history }, size);
            history.scale(field(Area::new(0, 0, size.0, size.1))).request_at(size.0);
        }
    }
}
