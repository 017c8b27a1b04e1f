//! The gauge of a context: its roles, estimates, error, trigger and window.
//!
//! ```text
//!  S▏C▏A  ▏T                        ~  ±        ▾167k        200k
//!  ██▓████████████████████████████╱╱╱╱╱┄┄       ┃               ▕
//!  └── known, by role ───────────┘└est.┘└ error ┘trigger        window
//! ```
//!
//! Known is solid, estimated hatched, both in the colours of the roles; the error is a thin line past
//! its end; the room behind the trigger is empty: it will not be reached.

use super::canvas::Canvas;
use crate::paint::{Area, Tone, piece, quiet};
use crate::theme::Theme;
use model::Role;
use model::session::context::{Context, Share};
use model::window::Limits;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use render::item::letter;
use render::number;

/// Parts of a cell that blocks can show.
const EIGHTHS: u64 = 8;
/// A cell filled from the left by one to seven eighths.
const BLOCKS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A context in its window.
#[derive(Debug, Clone, Copy)]
pub struct Gauge<'a> {
    /// The context that the gauge shows.
    pub context: &'a Context,
    /// The window and the trigger.
    pub limits: &'a Limits,
    /// The look of the gauge.
    pub theme: Theme,
    /// The place where it is drawn.
    pub place: Place,
}

/// The place where a gauge is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a row of a list: slightly lower than the row, so that gauges do not run together.
    Row,
    /// By itself: cells are split between roles, as exact as blocks can be.
    Large,
}

/// The glyph of a cell and its style.
type Cell = (char, Style);

/// Positions on a bar, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marks {
    /// The first cell that is not known.
    known: u16,
    /// The first cell after the estimate.
    used: u16,
    /// The first cell after the error.
    high: u16,
    /// The trigger's.
    trigger: Option<u16>,
}

impl Gauge<'_> {
    /// Draws the bar in each row of an area.
    pub fn bar(&self, area: Area, canvas: &mut Canvas<'_>) {
        let area = Rect::from(area).intersection(canvas.buffer.area);
        for ((glyph, style), x) in self.cells(area.width).into_iter().zip(area.left()..) {
            for y in area.top()..area.bottom() {
                canvas.cell((x, y)).set_char(glyph).set_style(style);
            }
        }
    }

    /// Draws the line above a large bar: the roles' letters, the signs of estimate and error, the sizes of
    /// trigger and window.
    pub fn scale(&self, area: Area, canvas: &mut Canvas<'_>) {
        if area.is_empty() {
            return;
        }
        let width = area.width;
        let marks = self.marks(width);
        let mut write = |cell: u16, text: String, tone: Tone| {
            let at = (area.x + cell, area.y);
            canvas.write(at, area.right(), &[piece(text, tone)]);
        };
        // A letter in the middle of its part, if that has a whole cell.
        for (role, from, to) in self.known_parts(width) {
            let (from, to) = (from.div_ceil(EIGHTHS) as u16, (to / EIGHTHS) as u16);
            if to > from {
                let middle = from + (to - from - 1) / 2;
                write(middle, letter(role).to_string(), role.into());
            }
        }
        let ranges = [
            ("~", marks.known, marks.used),
            ("±", marks.used, marks.high),
        ];
        for (sign, from, to) in ranges {
            if to > from {
                write(from + (to - from - 1) / 2, sign.to_owned(), Tone::Plain);
            }
        }

        let mut free = marks.high;
        if let Some(trigger) = marks.trigger {
            let size = number::short(self.limits.trigger.unwrap_or(0));
            let columns = size.len() as u16 + 1;
            if trigger + columns <= width {
                write(trigger, format!("▾{size}"), Tone::Strong);
                free = trigger + columns;
            } else if let Some(cell) = (trigger + 1).checked_sub(columns)
                && cell > marks.high
            {
                write(cell, format!("{size}▾"), Tone::Strong);
                free = trigger + 1;
            }
        }
        let size = quiet(number::short(self.limits.window));
        let from = area.x + (free + 1).min(width);
        canvas.write_right((from, area.y), area.right(), &[size]);
    }

    /// Returns the cells that a text may be written to: after the fill, before the trigger or the end.
    pub fn room(&self, width: u16) -> std::ops::Range<u16> {
        let marks = self.marks(width);
        let end = marks.trigger.filter(|t| *t >= marks.high).unwrap_or(width);
        marks.high.min(end)..end
    }

    fn cells(&self, width: u16) -> Vec<Cell> {
        let theme = self.theme;
        let marks = self.marks(width);
        let known = self.known_parts(width);
        let guessed = self.guessed_parts(marks);
        let cell = |glyph, tone: Tone| (glyph, theme.style(tone));
        let cells = (0..width).map(|x| match x {
            x if x < marks.known => self.known_cell(&known, u64::from(x), marks.known > 0),
            x if x < marks.used => {
                let part = guessed.iter().find(|(_, end)| x < *end);
                cell('╱', part.map_or(Tone::Plain, |(role, _)| Tone::from(*role)))
            }
            x if x < marks.high => cell('┄', Tone::Plain),
            x if marks.trigger.is_some_and(|t| x > t) => cell(' ', Tone::Frame),
            _ => cell('·', Tone::Frame),
        });
        let mut cells: Vec<Cell> = cells.collect();
        if let Some(cell) = marks.trigger.and_then(|t| cells.get_mut(usize::from(t))) {
            let (glyph, style) = *cell;
            let is_solid = glyph == '█' && self.splits_cells();
            // Over the fill the mark has the fill's colour behind it.
            let style = match style.fg.filter(|_| is_solid) {
                Some(colour) => Style::new().fg(Color::Black).bg(colour),
                None => theme.style(Tone::Trigger),
            };
            *cell = ('┃', style);
        }
        cells
    }

    fn marks(&self, width: u16) -> Marks {
        let context = self.context;
        let known_eighths = self.scaled(context.known, width);
        // Even one token is shown. If an estimate follows, the known part ends with a whole cell.
        let known = if context.estimated == 0 && self.splits_cells() {
            known_eighths.div_ceil(EIGHTHS)
        } else {
            (known_eighths + EIGHTHS / 2) / EIGHTHS
        };
        let width64 = u64::from(width);
        let known = known.max(u64::from(context.known > 0)).min(width64);
        let cell = |tokens| (self.scaled(tokens, width) + EIGHTHS / 2) / EIGHTHS;
        let (mut used, mut high) = (known, known);
        if context.estimated > 0 {
            used = cell(context.used).max(known + 1).min(width64);
            high = cell(context.high).clamp(used, width64.max(used));
        }
        let trigger = self.limits.trigger.map(|trigger| {
            let here = context.trigger_here(trigger);
            let cell = self.scaled(here, width) / EIGHTHS;
            cell.min(width64.saturating_sub(1)) as u16
        });
        Marks {
            known: known as u16,
            used: used as u16,
            high: high.min(width64) as u16,
            trigger: trigger.filter(|_| width > 0),
        }
    }

    /// Returns the tokens as eighths of cells. More tokens than the window has fill the bar.
    fn scaled(&self, tokens: u64, width: u16) -> u64 {
        let all = u64::from(width) * EIGHTHS;
        let scaled = (u128::from(tokens) * u128::from(all))
            .checked_div(u128::from(self.limits.window))
            // Without a window, anything fills it.
            .unwrap_or(if tokens > 0 { u128::MAX } else { 0 });
        u64::try_from(scaled).unwrap_or(u64::MAX).min(all)
    }

    /// Returns the known parts by role with their ends in eighths of cells, in the gauge's order.
    fn known_parts(&self, width: u16) -> Vec<(Role, u64, u64)> {
        let mut sum = 0u64;
        let mut parts = Vec::with_capacity(Role::ALL.len());
        for role in Role::ALL {
            let from = self.scaled(sum, width);
            sum = sum.saturating_add(self.context.role(role).known);
            let to = self.scaled(sum, width);
            if to > from {
                parts.push((role, from, to));
            }
        }
        parts
    }

    /// Returns the estimated cells by role with the cell after each.
    fn guessed_parts(&self, marks: Marks) -> Vec<(Role, u16)> {
        let cells = u128::from(marks.used - marks.known);
        let guess = |share: &Share| u128::from(share.estimated);
        let total: u128 = self.context.roles.iter().map(guess).sum();
        let mut sum = 0;
        let mut parts = Vec::new();
        for role in Role::ALL {
            sum += guess(self.context.role(role));
            let end = (sum * cells * 2 + total)
                .checked_div(total * 2)
                .unwrap_or(0);
            parts.push((role, marks.known + end.min(cells) as u16));
        }
        parts
    }

    /// Returns one cell of the known part: whole, or split between its two largest roles, or ending.
    fn known_cell(&self, parts: &[(Role, u64, u64)], x: u64, any: bool) -> Cell {
        let theme = self.theme;
        let (start, end) = (x * EIGHTHS, (x + 1) * EIGHTHS);
        let mut here: Vec<(Role, u64)> = parts
            .iter()
            .map(|(role, from, to)| (*role, (*to).min(end).saturating_sub((*from).max(start))))
            .filter(|(_, eighths)| *eighths > 0)
            .collect();
        let filled: u64 = here.iter().map(|(_, eighths)| eighths).sum();
        while here.len() > 2 {
            let least = (0..here.len()).min_by_key(|at| here[*at].1).unwrap_or(0);
            here.remove(least);
        }
        let whole = |role| (self.fill(role), theme.style(role));
        if !self.splits_cells() {
            let most = here.iter().max_by_key(|(_, eighths)| *eighths);
            return most.map_or_else(|| whole(nearest(parts, any)), |(role, _)| whole(*role));
        }
        let block = |eighths: u64, style: Style| {
            (BLOCKS[(eighths.clamp(1, EIGHTHS - 1) - 1) as usize], style)
        };
        match here[..] {
            [] => block(1, theme.style(nearest(parts, any))),
            [(role, EIGHTHS)] => whole(role),
            [(role, eighths)] => block(eighths, theme.style(role)),
            [(first, eighths), (second, _), ..] if filled == EIGHTHS => {
                let behind = theme.role_colour(second);
                block(eighths, theme.style(first).bg(behind))
            }
            // Two roles and then nothing: a cell has two colours, so the larger role takes both parts.
            [(first, a), (second, b), ..] => {
                block(filled, theme.style(if a >= b { first } else { second }))
            }
        }
    }

    /// Returns true if a cell can be split between two roles.
    fn splits_cells(&self) -> bool {
        self.place == Place::Large && self.theme.splits_cells()
    }

    fn fill(&self, role: Role) -> char {
        match self.place {
            Place::Row => self.theme.low_fill(role),
            Place::Large => self.theme.fill(role),
        }
    }
}

/// Returns the role of a fill that is too small for its own part.
fn nearest(parts: &[(Role, u64, u64)], any: bool) -> Role {
    match parts.last() {
        Some((role, ..)) if any => *role,
        _ => Role::System,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::session::context::Basis;
    use model::window::{TriggerSource, WindowSource};
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;

    fn context(known: [u64; 5], estimated: [u64; 5], error: u64) -> Context {
        let mut roles = [Share::default(); 5];
        for ((share, known), estimated) in roles.iter_mut().zip(known).zip(estimated) {
            *share = Share {
                tokens: known + estimated,
                known,
                estimated,
                items: 1,
            };
        }
        let (known, estimated) = (known.iter().sum::<u64>(), estimated.iter().sum::<u64>());
        let used = known + estimated;
        Context {
            used,
            known,
            estimated,
            low: used.saturating_sub(error),
            high: used + error,
            basis: Basis::Delta,
            roles,
            own: None,
        }
    }

    fn limits(window: u64, trigger: Option<u64>) -> Limits {
        Limits {
            window,
            window_source: WindowSource::Log,
            trigger,
            turn_end: None,
            refused_at: None,
            trigger_source: TriggerSource::Policy,
            policy: "test".to_owned(),
            ends: false,
            window_setting: "",
            trigger_setting: "",
            is_window_provisional: false,
            is_trigger_provisional: false,
        }
    }

    const MID: ([u64; 5], [u64; 5], u64) = (
        [27_500, 3_200, 500, 15_200, 53_700],
        [0, 0, 1_000, 0, 18_000],
        6_000,
    );

    fn drawn(theme: Theme, place: Place, width: u16) -> Buffer {
        let (context, limits) = (context(MID.0, MID.1, MID.2), limits(200_000, Some(167_000)));
        let gauge = Gauge {
            context: &context,
            limits: &limits,
            theme,
            place,
        };
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 2));
        let mut canvas = Canvas::new(theme, &mut buffer);
        gauge.scale(Area::new(0, 0, width, 1), &mut canvas);
        gauge.bar(Area::new(0, 1, width, 1), &mut canvas);
        theme.finish(&mut buffer);
        buffer
    }

    #[test]
    fn roles_have_colours() {
        insta::assert_debug_snapshot!(drawn(Theme::default(), Place::Large, 80));
    }

    /// In a row no cell is split: each has one glyph, and the colour of one role on no background.
    #[test]
    fn a_row_has_whole_cells() {
        let theme = Theme::default();
        for width in 1..200 {
            let bar = drawn(theme, Place::Row, width);
            let cells = (0..width).map(|x| &bar[(x, 1)]);
            let symbols: String = cells.clone().map(|cell| cell.symbol()).collect();
            assert!(!symbols.contains(BLOCKS), "{symbols}");
            let roles = Role::ALL.map(|role| theme.role_colour(role));
            for cell in cells.filter(|cell| cell.symbol() == "▇") {
                assert!(roles.contains(&cell.fg), "{symbols}");
                assert_eq!(cell.bg, Color::Reset, "{symbols}");
            }
        }
        let row = drawn(theme, Place::Row, 24);
        let symbols: String = (0..24).map(|x| row[(x, 1)].symbol()).collect();
        assert_eq!(symbols, "▇▇▇▇▇▇▇▇▇▇▇▇╱╱┄·····┃   ");
    }

    #[test]
    fn without_colours_roles_have_fills() {
        let theme = Theme::monochrome();
        insta::assert_debug_snapshot!(drawn(theme, Place::Large, 80));
    }

    #[test]
    fn in_ascii_roles_have_letters() {
        let theme = crate::tests::testing::in_ascii(Theme::monochrome());
        insta::assert_debug_snapshot!(drawn(theme, Place::Large, 80));
    }

    proptest! {
        #[test]
        fn a_gauge_is_as_full_as_its_context(
            known in prop::array::uniform5(0u64..60_000),
            width in 1u16..200,
        ) {
            let (context, limits) = (context(known, [0; 5], 0), limits(300_000, None));
            let gauge = Gauge { context: &context, limits: &limits, theme: Theme::default(), place: Place::Large };
            let filled = gauge.cells(width).iter().filter(|(glyph, _)| *glyph != '·').count() as f64;
            let exact = context.used as f64 / 300_000.0 * f64::from(width);
            prop_assert!((filled - exact).abs() <= 1.0, "{filled} of {exact}");
        }

        #[test]
        fn no_numbers_break_it(
            known in prop::array::uniform5(0u64..1 << 60),
            estimated in prop::array::uniform5(0u64..1 << 60),
            window: u64,
            trigger: Option<u64>,
            width in 0u16..200,
        ) {
            let (context, limits) = (context(known, estimated, 1 << 59), limits(window, trigger));
            let (colours, none) = (Theme::default(), Theme::monochrome());
            let ways = [(colours, Place::Large), (colours, Place::Row), (none, Place::Large)];
            for (theme, place) in ways {
                let gauge = Gauge { context: &context, limits: &limits, theme, place };
                prop_assert_eq!(gauge.cells(width).len(), usize::from(width));
                let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
                let mut canvas = Canvas::new(theme, &mut buffer);
                gauge.scale(Area::new(0, 0, width, 1), &mut canvas);
            }
        }
    }
}
