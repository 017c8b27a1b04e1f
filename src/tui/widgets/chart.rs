//! The course of a context: a column a request or, where none was reported, a record, the trigger, what the forecast expects, a cursor.
//!
//! ```text
//!  200k│
//!  167k├───────────▾─────────────────────────────────────────
//!      │          ▄▇                                ░▒▒░
//!      │   ▂▃▄▄▅▆▇██                      ▂▃▄▅▅▆▇╱░▒▒░
//!      │▃▅▇█████████▂▃▃▄▅▅▅▅▆▆▆▆▆▇▇▇▇▇▇▇▇▇██████╱▒▒░
//! ```
//!
//! Known is solid, estimated hatched, as in a gauge; what came after the cursor stands back.

use super::line;
use crate::render::{number, text};
use crate::tui::app::Pace;
use crate::tui::app::course::{Course, Scale, When};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The columns of the sizes on the left, their line included.
const LABELS: u16 = 6;
/// Eighths of a cell, filled from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A course and how it looks.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// What is drawn.
    pub course: Course<'a>,
    /// How it looks.
    pub theme: Theme,
}

/// Which part of an area holds the columns, for the mouse.
pub fn field(area: Rect) -> Rect {
    let labels = LABELS.min(area.width);
    Rect {
        x: area.x + labels,
        width: area.width - labels,
        ..area
    }
}

impl Chart<'_> {
    /// Draws the course.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let field = field(area);
        if field.width < 8 || field.height < 2 {
            return;
        }
        let scale = self.course.scale(field);
        self.labels(area, scale, buffer);
        self.trigger_line(field, scale, buffer);
        self.bars(field, scale, buffer);
        self.cone(field, scale, buffer);
        self.marks(field, scale, buffer);
    }

    fn labels(&self, area: Rect, scale: Scale, buffer: &mut Buffer) {
        let quiet = self.theme.quiet();
        let room = usize::from(LABELS) - 1;
        for y in area.top()..area.bottom() {
            let at = (area.x + LABELS - 1, y);
            line::write(buffer, at, area.right(), [line::span("│", quiet)]);
        }
        let mut label = |tokens: u64, y: u16, style: Style| {
            let said = text::right(&number::short(tokens), room);
            line::write(buffer, (area.x, y), area.right(), [line::span(said, style)]);
        };
        label(scale.top, area.y, quiet);
        match self.course.trigger.and_then(|trigger| scale.row(trigger)) {
            Some(row) if row > 0 => label(
                self.course.trigger.unwrap_or(0),
                area.y + row as u16,
                self.theme.trigger(),
            ),
            _ => {}
        }
    }

    fn trigger_line(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        let Some(row) = self.course.trigger.and_then(|trigger| scale.row(trigger)) else {
            return;
        };
        for x in field.left()..field.right() {
            buffer[(x, field.y + row as u16)]
                .set_char('─')
                .set_style(self.theme.trigger());
        }
    }

    fn bars(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        let cursor = self.course.at.min(scale.requests - 1);
        for column in 0..scale.columns {
            let requests = scale.requests_of(column);
            let here = self.course.sizes.get(requests.clone()).unwrap_or_default();
            let mut size = here.iter().copied().max().unwrap_or(0);
            let mut known = match self.course.pace {
                Pace::Requests => size,
                Pace::Records => 0,
            };
            // The cursor's own column tells of its moment, with what is only estimated there.
            if requests.contains(&cursor) {
                (size, known) = self.course.now;
            }
            let style = if requests.start > cursor {
                self.theme.quiet()
            } else {
                self.theme.chart()
            };
            self.bar(field, scale, (column, size, known), style, buffer);
        }
    }

    fn bar(
        &self,
        field: Rect,
        scale: Scale,
        (column, size, known): (usize, u64, u64),
        style: Style,
        buffer: &mut Buffer,
    ) {
        let eighths = scale.eighths(size);
        let solid = scale.eighths(known);
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
            buffer[(field.x + column as u16, y)]
                .set_char(glyph)
                .set_style(style);
        }
    }

    /// From the size now to the trigger: as early, as likely, as late as the forecast says.
    fn cone(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        let (Some([early, middle, late]), Some(trigger)) = (self.course.ahead, self.course.trigger)
        else {
            return;
        };
        let from = self.course.now.0.min(trigger);
        let start = scale.column_of(self.course.at.min(scale.requests - 1));
        let per_column = scale.requests as f64 / scale.columns as f64;
        for column in start + 1..usize::from(field.width) {
            let gone = (column - start) as f64 * per_column;
            let reached = |requests: f64| {
                let share = (gone / requests.max(1e-9)).min(1.0);
                from + ((trigger - from) as f64 * share) as u64
            };
            let row = |tokens| scale.row(tokens).unwrap_or(0);
            let (high, likely, low) = (
                row(reached(early)),
                row(reached(middle)),
                row(reached(late)),
            );
            for at in high..=low {
                let cell = &mut buffer[(field.x + column as u16, field.y + at as u16)];
                if cell.symbol() == " " {
                    cell.set_char(if at == likely { '▒' } else { '░' });
                }
                if cell.symbol() != "─" {
                    cell.set_style(self.theme.forecast());
                }
            }
            if gone > late {
                break;
            }
        }
    }

    fn marks(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        for reset in self
            .course
            .resets
            .iter()
            .filter(|reset| **reset < scale.requests)
        {
            let x = field.x + scale.column_of(*reset) as u16;
            buffer[(x, field.y)]
                .set_char('▾')
                .set_style(self.theme.compaction());
        }
        if self.course.when == When::Replayed {
            let cursor = self.course.at.min(scale.requests - 1);
            let x = field.x + scale.column_of(cursor) as u16;
            for y in field.top()..field.bottom() {
                let cell = &mut buffer[(x, y)];
                if cell.symbol() == " " || cell.symbol() == "─" {
                    cell.set_char('│');
                }
                cell.set_style(self.theme.cursor());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(chart: &Chart<'_>, (width, height): (u16, u16)) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        chart.draw(buffer.area, &mut buffer);
        buffer
    }

    fn chart(sizes: &[u64]) -> Chart<'_> {
        Chart {
            course: Course {
                sizes,
                pace: Pace::Requests,
                now: (150_000, 140_000),
                resets: &[6],
                window: 200_000,
                trigger: Some(167_000),
                ahead: Some([2.0, 3.0, 5.0]),
                at: sizes.len(),
                when: When::Live,
            },
            theme: Theme::default(),
        }
    }

    #[test]
    fn a_course_with_its_forecast() {
        let sizes = [
            20_000, 60_000, 90_000, 120_000, 150_000, 166_000, 40_000, 80_000, 110_000, 140_000,
        ];
        insta::assert_debug_snapshot!(drawn(&chart(&sizes), (60, 8)));
        let mut replayed = chart(&sizes);
        replayed.course.at = 3;
        replayed.course.when = When::Replayed;
        replayed.course.now = (125_000, 120_000);
        insta::assert_debug_snapshot!(drawn(&replayed, (60, 8)));
    }

    proptest! {
        #[test]
        fn no_course_breaks_it(
            sizes in prop::collection::vec(0u64..1 << 60, 0..300),
            now: (u64, u64),
            resets in prop::collection::vec(0usize..400, 0..5),
            window: u64,
            trigger: Option<u64>,
            ahead: Option<[f64; 3]>,
            at in 0usize..400,
            replayed: bool,
            records: bool,
            size in (0u16..200, 0u16..30),
        ) {
            let when = if replayed { When::Replayed } else { When::Live };
            let pace = if records { Pace::Records } else { Pace::Requests };
            let course = Course { sizes: &sizes, pace, now, resets: &resets, window, trigger, ahead, at, when };
            drawn(&Chart { course, theme: Theme::default() }, size);
            course.scale(field(Rect::new(0, 0, size.0, size.1))).request_at(size.0);
        }
    }
}
