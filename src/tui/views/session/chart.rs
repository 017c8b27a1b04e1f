//! The timeline of a context: one column per request or, without usage reports, per record, the roles on each other; the
//! trigger, the forecast, a cursor, and below it requests and times.
//!
//! ```text
//!  200k│           ▾167k→54k               ↑+16.7k
//!  167k├─────────────────────────────────────────────────────
//!      │          ▄▇                                ░▒▒░
//!      │   ▂▃▄▄▅▆▇██                      ▂▃▄▅▅▆▇╱░▒▒░
//!      │▃▅▇█████████▂▃▃▄▅▅▅▅▆▆▆▆▆▇▇▇▇▇▇▇▇▇██████╱▒▒░
//!      #1 09:02          #118 09:40             #389 11:12
//! ```
//!
//! Known is solid, estimated hatched, as in a gauge; what follows the cursor is quiet.

mod bars;
mod marks;

use crate::app::timeline::{History, Scale};
use crate::paint::{Area, Tone, piece, quiet};
use crate::widgets::canvas::Canvas;
use render::clock::Clock;
use render::{number, text};

/// The columns of the sizes on the left, their line included.
const LABEL_COLUMNS: u16 = 6;
/// The rows from which on there is one for the scale of requests and times.
const ROWS_WITH_SCALE: u16 = 6;

/// Draws a timeline.
#[derive(Debug, Clone)]
pub(super) struct Chart<'a> {
    /// The data that is drawn.
    pub(super) history: History<'a>,
    /// The clock of its times.
    pub(super) clock: Clock,
}

/// Returns the part of an area that holds the steps, for the mouse.
pub(super) fn field(area: Area) -> Area {
    let field = area.inset(LABEL_COLUMNS.min(area.width), 0);
    let scale = u16::from(area.height >= ROWS_WITH_SCALE);
    Area {
        height: area.height - scale,
        ..field
    }
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
        if field.height < area.height {
            self.scale_of_steps(field, scale, canvas);
        }
        let beside = Area {
            height: field.height,
            ..area
        };
        self.labels(beside, scale, trigger, canvas);
        if let Some((_, row)) = trigger {
            for x in field.x..field.right() {
                canvas.put((x, field.y + row), '─', Tone::Trigger);
            }
        }
        bars::draw(&self.history, scale, field, canvas);
        self.forecast(field, scale, canvas);
        self.marks(field, scale, canvas);
        self.cursor(field, scale, canvas);
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
            let name = self.history.trigger_name.unwrap_or(tokens);
            label(name, row, Tone::Strong);
        }
        // Its rows are beside those of the roles.
        let rows = (1..area.height).rev();
        let mut free = rows.filter(|row| trigger.is_none_or(|(_, taken)| taken != *row));
        if let Some(row) = free.next() {
            let total = [quiet("total")];
            canvas.write((area.x, area.y + row), area.right(), &total);
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

    /// Draws the cursor of a replay.
    fn cursor(&self, field: Area, scale: Scale, canvas: &mut Canvas<'_>) {
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
    use crate::app::timeline::{JumpMark, ResetMark};
    use crate::app::{Pace, Steps};
    use crate::theme::Theme;
    use jiff::Timestamp;
    use model::session::context::Share;
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    fn drawn(chart: &Chart<'_>, (width, height): (u16, u16)) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let area = Area::new(0, 0, width, height);
        chart.draw(area, &mut Canvas::new(Theme::default(), &mut buffer));
        buffer
    }

    /// A tenth of each size is system, a fifth user, the rest tools.
    fn stacked(sizes: &[u64]) -> Vec<[u32; 5]> {
        let part = |size: u64, tenths: u64| (size / 10 * tenths) as u32;
        let stack = |size: &u64| [part(*size, 1), 0, part(*size, 2), 0, part(*size, 7)];
        sizes.iter().map(stack).collect()
    }

    /// As much is known, and as much estimated.
    fn shares(known: u64, estimated: u64) -> [Share; 5] {
        let mut shares = [Share::default(); 5];
        shares[0].known = known / 5;
        shares[4].known = known - known / 5;
        shares[4].estimated = estimated;
        shares
    }

    fn clock() -> Clock {
        Clock::utc(Timestamp::from_second(90_000).unwrap())
    }

    fn times() -> [Option<Timestamp>; 10] {
        std::array::from_fn(|n| Timestamp::from_second(70_000 + 600 * n as i64).ok())
    }

    fn steps(sizes: &[u64]) -> Steps {
        Steps {
            pace: Pace::Requests,
            roles: stacked(sizes),
            times: times().into(),
            resets: vec![ResetMark {
                step: 6,
                before: 166_000,
                after: Some(40_000),
            }],
            jumps: vec![JumpMark {
                step: 1,
                tokens: 40_000,
            }],
            rebuilt: vec![3],
        }
    }

    fn chart(steps: &Steps) -> Chart<'_> {
        Chart {
            clock: clock(),
            history: History {
                steps,
                now_by_role: shares(140_000, 10_000),
                now: 150_000,
                window: 200_000,
                trigger: Some(167_000),
                trigger_name: Some(167_000),
                ahead: Some([2.0, 3.0, 5.0]),
                at: steps.roles.len(),
                is_replayed: false,
            },
        }
    }

    #[test]
    fn a_timeline_with_its_forecast() {
        let sizes = [
            20_000, 60_000, 90_000, 120_000, 150_000, 166_000, 40_000, 80_000, 110_000, 140_000,
        ];
        let steps = steps(&sizes);
        let live = chart(&steps);
        insta::assert_debug_snapshot!(drawn(&live, (60, 8)));
        let mut replayed = live;
        replayed.history.at = 3;
        replayed.history.is_replayed = true;
        replayed.history.now = 125_000;
        replayed.history.now_by_role = shares(120_000, 5_000);
        insta::assert_debug_snapshot!(drawn(&replayed, (60, 8)));
    }

    #[test]
    fn the_largest_growth_has_its_label_among_others() {
        let sizes = [20_000, 50_000, 60_000, 70_000, 80_000, 90_000];
        let mut steps = steps(&sizes);
        let jumps = [(1, 30_000), (2, 10_000), (3, 11_000)];
        steps.jumps = jumps.map(|(step, tokens)| JumpMark { step, tokens }).into();
        steps.resets.clear();
        let buffer = drawn(&chart(&steps), (40, 8));
        let top: String = (0..40).map(|x| buffer[(x, 0)].symbol()).collect();
        assert!(top.contains("↑+30k") && !top.contains("+10k"), "{top}");
    }

    /// A trigger is named in the agent's own count, as the gauge and the status line do, wherever the context reaches it.
    #[test]
    fn a_trigger_has_one_name() {
        let sizes = [20_000, 60_000, 90_000, 120_000, 140_000];
        let steps = steps(&sizes);
        let mut live = chart(&steps);
        (live.history.trigger, live.history.trigger_name) = (Some(120_000), Some(167_000));
        let buffer = drawn(&live, (60, 8));
        let labels: String = (0..8)
            .flat_map(|y| (0..5).map(move |x| (x, y)))
            .map(|at| buffer[at].symbol())
            .collect();
        assert!(
            labels.contains("167k") && !labels.contains("120k"),
            "{labels}"
        );
    }

    /// In a theme without colours and in ASCII each role has its pattern or letter.
    #[test]
    fn roles_are_distinguished_without_colours() {
        let sizes = [20_000, 60_000, 90_000, 120_000, 150_000, 160_000];
        let mut steps = steps(&sizes);
        steps.resets.clear();
        steps.jumps.clear();
        let live = chart(&steps);
        for (theme, system, tool) in [
            (Theme::monochrome(), '▒', '█'),
            (
                crate::tests::testing::in_ascii(Theme::monochrome()),
                'S',
                'T',
            ),
        ] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 20));
            let mut canvas = Canvas::new(theme, &mut buffer);
            live.draw(Area::new(0, 0, 60, 20), &mut canvas);
            let row = |y: u16| (6..60).map(|x| buffer[(x, y)].symbol()).collect::<String>();
            let (ground, high) = (row(18), row(10));
            assert!(ground.contains(system), "{ground}");
            assert!(high.contains(tool) && !high.contains(system), "{high}");
            let drawn: String = (0..19).map(row).collect();
            assert!(drawn.contains('╱'), "the estimate is hatched: {drawn}");
        }
    }

    proptest! {
        #[test]
        fn no_numbers_break_it(
            now: u64,
            known in prop::array::uniform5(0u64..1 << 60),
            resets in prop::collection::vec((0usize..400, any::<u64>(), any::<Option<u64>>()), 0..5),
            jumps in prop::collection::vec((0usize..400, any::<u64>()), 0..5),
            roles in prop::collection::vec(any::<[u32; 5]>(), 0..300),
            rebuilt in prop::collection::vec(0usize..400, 0..5),
            window: u64,
            trigger: Option<u64>,
            ahead: Option<[f64; 3]>,
            at in 0usize..400,
            is_replayed: bool,
            records: bool,
            size in (0u16..200, 0u16..30),
        ) {
            let pace = if records { Pace::Records } else { Pace::Requests };
            let marks = resets.into_iter().map(|(step, before, after)| ResetMark { step, before, after });
            let resets: Vec<ResetMark> = marks.collect();
            let jumps: Vec<JumpMark> = jumps.into_iter().map(|(step, tokens)| JumpMark { step, tokens }).collect();
            let now_by_role = known.map(|known| Share { tokens: known, known, ..Share::default() });
            let steps = Steps { pace, roles, times: times().into(), resets, jumps, rebuilt };
            let history = History { steps: &steps, now, now_by_role, window, trigger, trigger_name: trigger, ahead, at, is_replayed };
            drawn(&Chart { history, clock: clock() }, size);
            history.scale(field(Area::new(0, 0, size.0, size.1))).request_at(size.0);
        }
    }
}
