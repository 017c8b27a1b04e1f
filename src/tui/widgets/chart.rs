//! The course of a context: a column a request, the trigger, what the forecast expects, a cursor.
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

use super::{line, number, text};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The columns of the sizes on the left, their line included.
const LABELS: u16 = 6;
/// The most cells that one request takes.
const WIDEST: usize = 4;
/// Eighths of a cell, filled from below.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A course to draw.
#[derive(Debug, Clone, Copy)]
pub struct Chart<'a> {
    /// The size of the context after each request, in tokens.
    pub sizes: &'a [u64],
    /// The size now, and the part of it that is known; the last request's where nothing has come since.
    pub now: (u64, u64),
    /// The requests before which a compaction took place.
    pub resets: &'a [usize],
    /// The window, in tokens.
    pub window: u64,
    /// The size at which the agent compacts.
    pub trigger: Option<u64>,
    /// Requests until the trigger: the early end of the band, the median, the late end.
    pub ahead: Option<[f64; 3]>,
    /// The request at which a replay stands; `None`: the last one, live.
    pub cursor: Option<usize>,
    /// How it looks.
    pub theme: Theme,
}

/// How requests lie on columns.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    /// Requests, and columns that they take.
    requests: usize,
    columns: usize,
    /// The size at the top, in tokens.
    top: u64,
    rows: usize,
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
        let scale = self.scale(field);
        self.labels(area, scale, buffer);
        self.trigger_line(field, scale, buffer);
        self.bars(field, scale, buffer);
        self.cone(field, scale, buffer);
        self.marks(field, scale, buffer);
    }

    /// The request below a column of the field; past the last one: the last.
    pub fn request_at(&self, field: Rect, column: u16) -> usize {
        let scale = self.scale(field);
        let at = usize::from(column.saturating_sub(field.x));
        (at * scale.requests / scale.columns.max(1)).min(scale.requests.saturating_sub(1))
    }

    fn scale(&self, field: Rect) -> Scale {
        let width = usize::from(field.width);
        let requests = self.sizes.len().max(1);
        // A quarter is for what is to come, as far as it is needed.
        let ahead = self.ahead.map_or(0.0, |[_, _, late]| late.min(1e6));
        let want = |columns: usize| (ahead * columns as f64 / requests as f64).ceil() as usize;
        let most = width - (width / 4).min(want(width)).min(width / 4);
        let columns = most.min(requests * WIDEST).max(1);
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        let largest = largest.max(self.now.0).max(1);
        let top = self.window.max(largest);
        // A small context in a large window would be a flat line.
        let top = if largest.saturating_mul(3) < top {
            largest.saturating_mul(2)
        } else {
            top
        };
        Scale {
            requests,
            columns,
            top,
            rows: usize::from(field.height),
        }
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
        match self.trigger.and_then(|trigger| scale.row(trigger)) {
            Some(row) if row > 0 => label(
                self.trigger.unwrap_or(0),
                area.y + row as u16,
                self.theme.trigger(),
            ),
            _ => {}
        }
    }

    fn trigger_line(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        let Some(row) = self.trigger.and_then(|trigger| scale.row(trigger)) else {
            return;
        };
        for x in field.left()..field.right() {
            buffer[(x, field.y + row as u16)]
                .set_char('─')
                .set_style(self.theme.trigger());
        }
    }

    fn bars(&self, field: Rect, scale: Scale, buffer: &mut Buffer) {
        let last = scale.requests - 1;
        let cursor = self.cursor.unwrap_or(last).min(last);
        for column in 0..scale.columns {
            let requests = scale.requests_of(column);
            let here = self.sizes.get(requests.clone()).unwrap_or_default();
            let mut size = here.iter().copied().max().unwrap_or(0);
            let mut known = size;
            // The cursor's own column tells of its moment, with what is only estimated there.
            if requests.contains(&cursor) {
                (size, known) = self.now;
            }
            let style = if requests.start > cursor {
                self.theme.quiet()
            } else {
                self.theme.course()
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
        let (Some([early, middle, late]), Some(trigger)) = (self.ahead, self.trigger) else {
            return;
        };
        let from = self.now.0.min(trigger);
        let cursor = self.cursor.unwrap_or(scale.requests - 1);
        let start = scale.column_of(cursor);
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
        for reset in self.resets.iter().filter(|reset| **reset < scale.requests) {
            let x = field.x + scale.column_of(*reset) as u16;
            buffer[(x, field.y)]
                .set_char('▾')
                .set_style(self.theme.trigger());
        }
        if let Some(cursor) = self.cursor {
            let x = field.x + scale.column_of(cursor.min(scale.requests - 1)) as u16;
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

impl Scale {
    /// The requests below a column.
    fn requests_of(self, column: usize) -> std::ops::Range<usize> {
        let from = column * self.requests / self.columns;
        let to = ((column + 1) * self.requests).div_ceil(self.columns);
        from..to.clamp(from + 1, self.requests.max(from + 1))
    }

    /// The last column of a request.
    fn column_of(self, request: usize) -> usize {
        let end = ((request + 1) * self.columns).div_ceil(self.requests);
        end.saturating_sub(1).min(self.columns - 1)
    }

    fn eighths(self, tokens: u64) -> u64 {
        let all = (self.rows * 8) as u128;
        let eighths = u128::from(tokens) * all / u128::from(self.top.max(1));
        u64::try_from(eighths)
            .unwrap_or(u64::MAX)
            .max(u64::from(tokens > 0))
            .min(all as u64)
    }

    /// The row of a size, from the top; `None`: it is above.
    fn row(self, tokens: u64) -> Option<usize> {
        if tokens > self.top {
            return None;
        }
        let from_below = u128::from(tokens) * self.rows as u128 / u128::from(self.top.max(1));
        Some((self.rows - 1).saturating_sub(from_below as usize))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
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
            sizes,
            now: (150_000, 140_000),
            resets: &[6],
            window: 200_000,
            trigger: Some(167_000),
            ahead: Some([2.0, 3.0, 5.0]),
            cursor: None,
            theme: Theme::default(),
        }
    }

    #[test]
    fn a_course_with_its_forecast() {
        let sizes = [
            20_000, 60_000, 90_000, 120_000, 150_000, 166_000, 40_000, 80_000, 110_000, 140_000,
        ];
        insta::assert_debug_snapshot!(drawn(&chart(&sizes), (60, 8)));
        let replayed = Chart {
            cursor: Some(3),
            now: (125_000, 120_000),
            ..chart(&sizes)
        };
        insta::assert_debug_snapshot!(drawn(&replayed, (60, 8)));
    }

    #[test]
    fn a_column_leads_to_its_request() {
        let sizes: Vec<u64> = (0..1_000).map(|n| n * 150).collect();
        let chart = chart(&sizes);
        let area = Rect::new(0, 0, 100, 9);
        let field = field(area);
        let scale = chart.scale(field);
        for request in [0, 1, 499, 998, 999] {
            let column = field.x + scale.column_of(request) as u16;
            assert!(chart.request_at(field, column).abs_diff(request) <= 15);
        }
        assert_eq!(chart.request_at(field, 500), 999);
        assert_eq!(chart.request_at(field, 0), 0);
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
            cursor in prop::option::of(0usize..400),
            size in (0u16..200, 0u16..30),
        ) {
            let chart = Chart { sizes: &sizes, now, resets: &resets, window, trigger, ahead, cursor, theme: Theme::default() };
            drawn(&chart, size);
            chart.request_at(field(Rect::new(0, 0, size.0, size.1)), size.0);
        }
    }
}
