//! The columns of the list of sessions: one table that drives the headings, the cells, the sort and the help.
//! A new column is one entry.

use super::layout::WidthClass;
use super::listed::{GROWTH_BARS, nearness, percent, share_stage};
use super::{App, Nearness};
use crate::paint::{Piece, Tone, piece, plain, quiet};
use model::forecast::{Forecast, NoForecast};
use model::gauge::SessionGauge;
use model::prompt_cache::CacheState;
use model::session::Coverage;
use model::sessions::{Row, Sessions};
use model::triggers::next;
use model::window::TriggerKind;
use render::{self, NONE, OF_WINDOW, number, sparkline, text, triggers};

/// A column of the list of sessions.
#[derive(Debug)]
pub struct Column {
    /// Its name on screen as a sort, and in the saved state.
    pub name: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// Its content, for the help.
    pub help: &'static str,
    /// Its place among the sorts that the sort key steps through.
    pub step: u8,
    /// The order of the sessions by this column.
    pub sort: Sort,
    /// The layout of its cells.
    pub shape: Shape,
    /// Its columns on a narrow, a medium and a wide screen; 0: not shown.
    pub widths: [u16; 3],
    /// The fewest columns of a screen on which it is shown.
    pub from: u16,
    /// Its share of the columns that a very wide screen has to spare.
    pub grow: u16,
    /// The cell of a session.
    pub cell: fn(&Entry<'_>) -> Piece,
}

/// The order of sessions by a column: those that matter more come first, then the newest.
#[derive(Debug, Clone, Copy)]
pub enum Sort {
    /// Live sessions first, then the newest.
    Recent,
    /// By a name.
    Name(for<'s> fn(&Sessions, &'s SessionGauge) -> &'s str),
    /// The lowest number first. Those without one come last, whatever the direction.
    Lowest(fn(&SessionGauge) -> Option<u64>),
    /// The highest number first. Those without one come last, whatever the direction.
    Highest(fn(&SessionGauge) -> Option<u64>),
}

/// The name by which sessions without one are sorted: after all others.
const NO_NAME: &str = "\u{10ffff}";

impl Sort {
    /// Returns true if a session has what it sorts by.
    pub(super) fn has_value(&self, sessions: &Sessions, gauge: &SessionGauge) -> bool {
        match self {
            Sort::Recent => true,
            Sort::Name(name) => !matches!(name(sessions, gauge), "" | NO_NAME),
            Sort::Lowest(number) | Sort::Highest(number) => number(gauge).is_some(),
        }
    }
}

/// Returns a number unless it is 0, which the list shows as none.
fn some(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number > 0)
}

/// The layout of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Text, a space after it.
    Left,
    /// A number, flush right.
    Right,
    /// A gauge, and a number after it. Takes all columns that no other column needs.
    Gauge,
}

/// A session as a row of the list.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The screens.
    pub app: &'a App,
    /// Its place in the list.
    pub row: &'a Row,
    /// The data of the session that the list shows.
    pub gauge: &'a SessionGauge,
    /// The columns of the cell.
    pub width: u16,
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.name == other.name
    }
}

impl Eq for Column {}

/// The columns of the pointer and the live mark.
pub const LEAD_COLUMNS: u16 = 3;
/// The columns of the percentage after a gauge.
pub const PERCENT_COLUMNS: u16 = 6;
/// A gauge of this width leaves further columns to the names.
const WIDE_GAUGE: u16 = 60;
/// The most columns that it leaves.
const MOST_SPARE: u16 = 18;
/// The widest gauge: wider ones are hard to follow across the row.
const WIDEST_GAUGE: u16 = 120;
/// The narrowest title. Beyond, it takes three fifths of the columns that it shares with the gauge.
const LEAST_TITLE: u16 = 12;
/// The widest title.
const WIDEST_TITLE: u16 = 60;
/// The columns of requests until the trigger: `120 (78–186)` and a space.
const NEXT_COLUMNS: u16 = 13;

/// The columns: how their cells are aligned, their name, heading and widths, the screen's width from which on they are
/// shown, and their part of spare columns; their place among the sorts, and the sort; what they mean; their cells.
macro_rules! columns {
    ($(
        $shape:ident $name:literal $heading:literal $widths:tt $(from $from:literal)? $(grow $grow:literal)?,
        sort $step:literal $sort:expr,
        $help:literal,
        |$entry:ident| $cell:expr;
    )*) => {
        &[$(Column {
            name: $name,
            heading: $heading,
            help: $help,
            step: $step,
            sort: $sort,
            shape: Shape::$shape,
            widths: $widths,
            from: 0 $(+ $from)?,
            grow: 0 $(+ $grow)?,
            cell: |$entry| $cell,
        },)*]
    };
}

/// All columns, from left to right.
pub static COLUMNS: &[Column] = columns! {
    Left "agent" "AGENT" [6, 8, 8], sort 7 Sort::Name(|_, gauge| gauge.agent),
        "the agent that writes the log",
        |entry| {
            let facts = entry.app.sessions.facts(entry.row.key);
            let label = facts.map_or("", |facts| facts.label);
            // A sub-agent is indented below its parent.
            let indented = match usize::from(entry.row.depth.min(3)) {
                0 => label.to_owned(),
                depth => format!("{}└ {label}", " ".repeat(depth - 1)),
            };
            piece(indented, entry.name_tone())
        };
    Left "project" "PROJECT" [11, 13, 16] grow 2, sort 8 Sort::Name(|sessions, gauge| sessions.project_of(gauge)),
        "the project, by its folder, or the title of a sub-agent",
        |entry| {
            let (sessions, key) = (&entry.app.sessions, entry.row.key);
            let mut name = sessions.name(key);
            // Of a path, the beginning and the end say which one it is.
            if name.contains(['/', '\\']) && name == sessions.project(key) {
                name = text::both_ends(&name, usize::from(entry.width)).into_owned();
            }
            if !is_shown("title", entry.app.ui.size.0) {
                name = entry.told_apart(&name);
            }
            piece(name, entry.name_tone())
        };
    Left "title" "TITLE" [0, LEAST_TITLE, LEAST_TITLE] from 110,
        sort 10 Sort::Name(|_, gauge| {
            let (title, prompt) = (&gauge.meta.title, &gauge.meta.prompt);
            let title = title.as_deref().or(prompt.as_deref());
            title.unwrap_or(NO_NAME)
        }),
        "the session's title, or the first words of its first prompt; the end of its id where rows read alike",
        |entry| {
            let (sessions, key) = (&entry.app.sessions, entry.row.key);
            let title = sessions.title(key).filter(|title| *title != sessions.name(key));
            let title = title.unwrap_or_default();
            piece(entry.told_apart(&text::one_line(&title)), entry.name_tone())
        };
    // On narrower screens the title says more.
    Left "model" "MODEL" [0, 0, 14] from 132 grow 1, sort 9 Sort::Name(|_, gauge| gauge.model().unwrap_or(NO_NAME)),
        "the model of the last request",
        |entry| quiet(text::short_model(entry.gauge.model().unwrap_or(NONE)));
    Gauge "context" "CONTEXT" [PERCENT_COLUMNS; 3], sort 2 Sort::Highest(|gauge| some(gauge.context.fill(gauge.limits()))),
        "the context by role, its trigger, and percent of the trigger; 34%w: of the window, as no trigger is known or nothing fires at one",
        |entry| {
            let sign = match entry.gauge.limits().trigger {
                Some(_) => ' ',
                None => OF_WINDOW,
            };
            let tone = match nearness(entry.gauge) {
                Nearness::Calm => Tone::Strong,
                near => near.into(),
            };
            let percent = percent(entry.gauge);
            let percent = percent.map(|percent| {
                let stage = share_stage(entry.gauge);
                stage.number(format!("{percent}%{sign}"))
            });
            piece(percent.unwrap_or(format!("{NONE} ")), tone)
        };
    Right "known" "KNOWN" [0, 8, 8], sort 4 Sort::Highest(|gauge| some(gauge.context.known)),
        "tokens in the context that the provider reported",
        |entry| plain(number::tokens_or_none(entry.gauge.context.known));
    Right "estimated" "EST" [0, 7, 7], sort 5 Sort::Highest(|gauge| some(gauge.context.estimated)),
        "estimated since the last usage report",
        |entry| {
            let context = &entry.gauge.context;
            let sign = if context.known == 0 { "" } else { "+" };
            let (tokens, tone) = match (context.estimated, entry.gauge.is_final) {
                (0, _) => (String::new(), Tone::Plain),
                (n, true) => (format!("{sign}{}", number::tokens(n)), Tone::Estimated),
                (n, false) => (format!("~{}", number::short(n)), Tone::Quiet),
            };
            piece(tokens, tone)
        };
    Right "headroom" "HEADROOM" [0, 9, 9], sort 1 Sort::Lowest(|gauge| gauge.headroom().filter(|_| gauge.context.used > 0)),
        "tokens left before the trigger",
        |entry| match entry.gauge.headroom() {
            None => quiet(NONE),
            Some(left) => {
                let tokens = match (left, entry.gauge.context.used) {
                    (_, 0) => NONE.to_owned(),
                    (0, _) => "now".to_owned(),
                    (left, _) => share_stage(entry.gauge).number(number::short(left)),
                };
                // The percentage has the stronger style: one such number per row is enough.
                piece(tokens, nearness(entry.gauge).min(Nearness::Near))
            }
        };
    Right "compactions" "COMP" [0, 0, 5] from 132, sort 11 Sort::Highest(|gauge| some(gauge.compactions as u64)),
        "compactions; +: and perhaps more, before the part of the log that was read",
        |entry| {
            let is_whole = entry.gauge.coverage == Coverage::Whole;
            quiet(match (entry.gauge.compactions, is_whole) {
                (0, _) => NONE.to_owned(),
                (n, true) => n.to_string(),
                (n, false) => format!("{n}+"),
            })
        };
    Right "next" "NEXT" [0, NEXT_COLUMNS, NEXT_COLUMNS] from 100,
        sort 3 Sort::Lowest(|gauge| {
            let forecast = gauge.forecast_then().ok()?;
            Some((forecast.requests.p50 * 10.0) as u64)
        }),
        "requests until the next compaction: median and 80% band; or when it compacts if nobody types",
        |entry| match entry.gauge.forecast(entry.app.now) {
            forecast if let Some(at) = entry.idle_first(&forecast) => plain(at),
            Err(_) => quiet(NONE),
            Ok(forecast) if forecast.is_now() => plain("now"),
            Ok(forecast) => {
                let band = number::band(&forecast.requests);
                // Without room for the band, the median stays.
                plain(if text::width(&band) < usize::from(NEXT_COLUMNS) {
                    &band
                } else {
                    band.split(' ').next().unwrap_or_default()
                })
            }
        };
    Right "cache" "CACHE" [0, 6, 6] from 120,
        sort 12 Sort::Highest(|gauge| {
            let cache = gauge.prompt_cache()?;
            let until = cache.sent.as_second() + i64::from(cache.life.seconds);
            Some(until.max(0).unsigned_abs())
        }),
        "how long the provider keeps the prompt in its cache: 54m, cold, or ? where it may be either",
        |entry| {
            let Some(cache) = entry.gauge.prompt_cache() else {
                return quiet(NONE);
            };
            let state = cache.state(entry.app.now);
            let cell = triggers::cache_cell(state, &entry.app.clock());
            match state {
                CacheState::Warm(_) => plain(cell),
                CacheState::Open(_) | CacheState::Cold(..) => quiet(cell),
            }
        };
    // On narrower screens the gauge and the title need the room more.
    Right "growth" "GROWTH" [0, 0, GROWTH_BARS as u16 + 1] from 150,
        sort 6 Sort::Highest(|gauge| some(gauge.growth().into_iter().fold(0, u64::saturating_add))),
        "tokens added by each of the last requests",
        |entry| {
            let window = entry.gauge.limits().window;
            quiet(sparkline::bars(&entry.gauge.growth(), window))
        };
    Right "recent" "AGE" [0, 5, 5], sort 0 Sort::Recent,
        "time since the last record",
        |entry| {
            let age = entry.app.age(entry.row.key);
            quiet(render::or_none(age.map(number::age)))
        };
};

impl Entry<'_> {
    /// Returns the time at which it compacts if nobody types, where that comes before the size.
    fn idle_first(&self, forecast: &Result<Forecast, NoForecast>) -> Option<String> {
        let app = self.app;
        let all = next(self.gauge, forecast, app.now);
        let first = all.iter().find(|next| next.compacts())?;
        let is_idle = first.kind == TriggerKind::Idle;
        let at = first.at.filter(|_| is_idle)?;
        Some(format!("at {}", app.clock().time(at)))
    }

    /// Returns the text, with the end of the session's id after it if its row reads like another one.
    fn told_apart(&self, text: &str) -> String {
        let Some(id) = self.app.distinguishing_id(self.row.key) else {
            return text.to_owned();
        };
        let room = usize::from(self.width).saturating_sub(text::width(&id) + 1);
        match text::cut(text, room) {
            text if text.is_empty() => id,
            text => format!("{text} {id}"),
        }
    }

    /// Names of idle sessions are quiet, unless they are selected.
    fn name_tone(&self) -> Tone {
        let (app, key) = (self.app, self.row.key);
        match (app.current() == Some(key), app.is_live(key)) {
            (true, _) => Tone::Strong,
            (false, true) => Tone::Plain,
            (false, false) => Tone::Quiet,
        }
    }
}

impl Column {
    /// Returns the column of this name.
    pub fn named(name: &str) -> Option<&'static Column> {
        COLUMNS.iter().find(|column| column.name == name)
    }

    /// Returns the sort of a new screen: the first step of the sort key.
    pub fn first() -> &'static Column {
        let first = COLUMNS.iter().min_by_key(|column| column.step);
        first.unwrap_or(&COLUMNS[0])
    }

    /// Returns the column that the sort key selects next.
    pub fn next(&self) -> &'static Column {
        let later = COLUMNS.iter().filter(|column| column.step > self.step);
        let next = later.min_by_key(|column| column.step);
        next.unwrap_or(Column::first())
    }

    /// Returns its columns on a screen of this width, without those that a very wide screen has to spare; 0: not shown.
    pub fn width(&self, screen: u16) -> u16 {
        let [narrow, medium, wide] = self.widths;
        if screen >= self.from {
            WidthClass::of(screen).pick(narrow, medium, wide)
        } else {
            0
        }
    }

    /// Returns its heading, `width` columns wide.
    pub fn heading(&self, width: u16) -> String {
        self.shape.align(self.heading, width)
    }
}

impl Shape {
    /// Returns a text padded or cut to `width` columns.
    pub fn align(self, text: &str, width: u16) -> String {
        match self {
            Shape::Left => text::left(text, usize::from(width)) + " ",
            Shape::Right => text::right(text, usize::from(width)),
            Shape::Gauge => text::left(text, usize::from(width)),
        }
    }
}

/// Returns true if the column of this name is shown on a screen this wide.
pub fn is_shown(name: &str, screen: u16) -> bool {
    Column::named(name).is_some_and(|column| column.width(screen) > 0)
}

/// Returns the columns that a screen shows, with their widths.
pub fn fitting(screen: u16) -> Vec<(&'static Column, u16)> {
    let mut shown: Vec<_> = COLUMNS
        .iter()
        .map(|column| (column, column.width(screen)))
        .filter(|(_, width)| *width > 0)
        .collect();
    let space = |column: &Column| u16::from(column.shape == Shape::Left);
    let taken = shown.iter().map(|(column, width)| width + space(column));
    let free = screen
        .saturating_sub(LEAD_COLUMNS + WidthClass::of(screen).pick(1, 1, 2) + taken.sum::<u16>());
    let title = shown.iter_mut().find(|(column, _)| column.name == "title");
    let title = title.map_or(0, |(_, width)| {
        let share = ((free + *width) * 3 / 5).clamp(*width, WIDEST_TITLE);
        share - std::mem::replace(width, share)
    });
    let free = free - title;
    let spare = free.saturating_sub(WIDE_GAUGE).min(MOST_SPARE);
    let shares: u16 = shown.iter().map(|(column, _)| column.grow).sum();
    let mut done = 0;
    for (column, width) in &mut shown {
        let before = spare * done / shares.max(1);
        done += column.grow;
        *width += spare * done / shares.max(1) - before;
        if column.shape == Shape::Gauge {
            *width += (free - spare).min(WIDEST_GAUGE);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_columns_fill_every_screen() {
        for screen in 40..600 {
            let shown = fitting(screen);
            let space = |column: &Column| u16::from(column.shape == Shape::Left);
            let taken = shown.iter().map(|(column, width)| width + space(column));
            let taken = LEAD_COLUMNS + taken.sum::<u16>();
            assert!(taken < screen, "{screen}: {taken}");
            let gauge = shown.iter().find(|(c, _)| c.shape == Shape::Gauge).unwrap();
            let widest = gauge.1 == WIDEST_GAUGE + PERCENT_COLUMNS;
            assert!(widest || taken + 2 >= screen, "{screen}: {taken}");
        }
    }

    #[test]
    fn every_column_has_its_own_name_and_step() {
        let names: HashSet<&str> = COLUMNS.iter().map(|column| column.name).collect();
        let steps: HashSet<u8> = COLUMNS.iter().map(|column| column.step).collect();
        assert_eq!((names.len(), steps.len()), (COLUMNS.len(), COLUMNS.len()));
        assert_eq!(Column::first().name, "recent");
    }
}
