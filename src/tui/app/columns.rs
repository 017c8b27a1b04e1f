//! The columns of the list of sessions: one table that drives the headings, the cells, the sort and the help.
//! A new column is one entry.
//!
//! The narrower the screen, the fewer columns it shows. First come those that say which session it is and how full it is,
//! then how long it will last, then the rest. Each entry says from which width on it is shown, and why from there on.

use super::hosts::AWAY_SIGN;
use super::layout::WidthClass;
use super::listed::{GROWTH_BARS, RowNames, nearness, percent};
use super::{App, Nearness, Stage, Ui};
use crate::paint::{Piece, Tone, piece, plain, quiet};
use model::due::prompt_cache::CacheState;
use model::due::triggers::next;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Row, Sessions};
use model::outlook::forecast::{Forecast, NoForecast};
use model::session::Coverage;
use model::window::TriggerKind;
use render::sure::Signs;
use render::{self, NONE, OF_WINDOW, number, sparkline, spending, text, triggers};

/// A column of the list of sessions.
#[derive(Debug)]
pub struct Column {
    /// Its name on screen as a sort, and in the saved state.
    pub name: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// Its content, for the help.
    pub help: &'static str,
    /// Its place in the menu of sorts.
    pub step: u8,
    /// The sessions that its sort puts first, in a few words.
    pub first: &'static str,
    /// The order of the sessions by this column.
    pub sort: Sort,
    /// The layout of its cells.
    pub shape: Shape,
    /// Its columns, from each width of the screen on. Before the first of these it is not shown.
    pub widths: &'static [(u16, u16)],
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
    /// Those that need the user first, the most urgent one at the top.
    Needs,
    /// By a name.
    Name(for<'s> fn(&'s Sessions, &'s SessionGauge) -> &'s str),
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
            Sort::Recent | Sort::Needs => true,
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
/// The narrowest title. Beyond, it takes two thirds of the columns that it shares with the gauge.
const LEAST_TITLE: u16 = 12;
/// The widest title.
const WIDEST_TITLE: u16 = 60;
/// The narrowest gauge beside a title.
const LEAST_GAUGE: u16 = 6;

/// The columns: how their cells are aligned, their name, heading, and widths by the screen's, and their part of spare
/// columns; their place among the sorts, what comes first, and the sort; what they mean; their cells.
macro_rules! columns {
    ($(
        $shape:ident $name:literal $heading:literal [$($from:literal => $width:expr),*] $(grow $grow:literal)?,
        sort $step:literal $first:literal $sort:expr,
        $help:literal,
        |$entry:ident| $cell:expr;
    )*) => {
        &[$(Column {
            name: $name,
            heading: $heading,
            help: $help,
            step: $step,
            first: $first,
            sort: $sort,
            shape: Shape::$shape,
            widths: &[$(($from, $width)),*],
            grow: 0 $(+ $grow)?,
            cell: |$entry| $cell,
        },)*]
    };
}

/// All columns, from left to right.
pub static COLUMNS: &[Column] = columns! {
    // Which program to go to. Six columns tell all agents apart.
    Left "agent" "AGENT" [0 => 6, 120 => 8], sort 10 "A to Z" Sort::Name(|_, gauge| gauge.agent),
        "the agent that writes the log",
        |entry| {
            let facts = entry.app.sessions.facts(entry.row.key);
            let label = facts.map_or("", |facts| facts.label);
            piece(indented(label, entry.row.depth), entry.name_tone())
        };
    // Where it works. It is the first part of a name, so no screen is without it.
    Left "project" "PROJECT" [0 => 11, 70 => 13, 90 => 16, 180 => 22] grow 2,
        sort 11 "A to Z" Sort::Name(|sessions, gauge| sessions.project_of(gauge)),
        "the project, by its folder, or the type of a sub-agent",
        |entry| piece(entry.names().project, entry.name_tone());
    // Which of the sessions of a project: without it they read alike, and an id helps nobody.
    Left "title" "TITLE" [56 => LEAST_TITLE],
        sort 13 "A to Z" Sort::Name(|_, gauge| {
            let (title, prompt) = (&gauge.meta.title, &gauge.meta.prompt);
            let title = title.as_deref().or(prompt.as_deref());
            title.unwrap_or(NO_NAME)
        }),
        "the session's title, or the first words of its first prompt; the end of its id if rows look alike",
        |entry| match entry.app.shown.meetings.get(&entry.row.key) {
            Some(_) => piece(format!("! {}", entry.names().title), Tone::Near),
            None => piece(entry.names().title, entry.name_tone()),
        };
    // Only who has several models at work asks for it.
    Left "model" "MODEL" [140 => 14] grow 1, sort 12 "A to Z" Sort::Name(|_, gauge| gauge.model().unwrap_or(NO_NAME)),
        "the model of the last request",
        |entry| quiet(text::short_model(entry.gauge.model().unwrap_or(NONE)));
    // How full it is: what the program is for.
    Gauge "context" "CONTEXT" [0 => PERCENT_COLUMNS], sort 4 "most tokens" Sort::Highest(|gauge| some(gauge.context.used)),
        "the context by role, its trigger, and percent of the trigger; 34%w: percent of the window, because no trigger is known or the agent does not compact at a size; ≥: at least",
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
                let share = Signs::of(entry.gauge).share;
                format!("{share}{percent}%{sign}")
            });
            piece(percent.unwrap_or(format!("{NONE} ")), tone)
        };
    // The gauge draws both. In numbers they are for who checks a session, which has a screen of its own.
    Right "known" "KNOWN" [150 => 8], sort 7 "most reported tokens" Sort::Highest(|gauge| some(gauge.context.known)),
        "tokens in the context that the provider reported",
        |entry| plain(number::tokens_or_none(entry.gauge.context.known));
    Right "estimated" "EST" [150 => 7], sort 8 "most estimated tokens" Sort::Highest(|gauge| some(gauge.context.estimated)),
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
    // The line below the list names it, of one session at a time. As a column it says which session has the largest of
    // all, which only who looks for waste asks.
    Right "largest" "LARGEST" [156 => 8],
        sort 5 "largest item" Sort::Highest(|gauge| Some(gauge.largest.as_ref()?.tokens)),
        "tokens of the largest item in the context",
        |entry| {
            let largest = entry.gauge.largest.as_ref();
            let stage = Stage::settled_if(entry.gauge.is_settled());
            match largest {
                None => quiet(NONE),
                Some(largest) => piece(
                    stage.number(number::short(largest.tokens)),
                    stage.tone(Tone::Plain),
                ),
            }
        };
    // The percentage and the requests say the same in a more useful unit.
    Right "headroom" "HEADROOM" [110 => 9], sort 2 "fewest tokens left" Sort::Lowest(|gauge| gauge.headroom().filter(|_| gauge.context.used > 0)),
        "tokens left before the trigger; ≤: at most; ~: about, before a prompt is refused",
        |entry| match entry.gauge.headroom() {
            None => match entry.gauge.headroom_about() {
                Some(left) if entry.gauge.context.used > 0 => {
                    quiet(format!("~{}", number::short(left)))
                }
                _ => quiet(NONE),
            },
            Some(left) => {
                let tokens = match (left, entry.gauge.context.used) {
                    (_, 0) => NONE.to_owned(),
                    (0, _) => "now".to_owned(),
                    (left, _) => {
                        let sign = Signs::of(entry.gauge).left;
                        format!("{sign}{}", number::short(left))
                    }
                };
                // The percentage has the stronger style: one such number per row is enough.
                piece(tokens, nearness(entry.gauge).min(Nearness::Near))
            }
        };
    // An event of the past: the session's own screen has them.
    Right "compactions" "COMP" [210 => 5], sort 14 "most compactions" Sort::Highest(|gauge| some(gauge.compactions as u64)),
        "compactions; +: and perhaps more, before the part of the log that was read",
        |entry| {
            let is_whole = entry.gauge.coverage == Coverage::Whole;
            quiet(match (entry.gauge.compactions, is_whole) {
                (0, _) => NONE.to_owned(),
                (n, true) => n.to_string(),
                (n, false) => format!("{n}+"),
            })
        };
    // How long it will last, the number that people ask for most. The median alone has room first, then `9 (6–14)`, then
    // `120 (78–186)`.
    Right "next" "NEXT" [0 => 6, 80 => 10, 100 => 14],
        sort 6 "fewest requests left" Sort::Lowest(|gauge| {
            let forecast = gauge.forecast_then().ok()?;
            Some((forecast.requests.p50 * 10.0) as u64)
        }),
        "requests until the next compaction: median and 80% band; or when it compacts if nobody types",
        |entry| match entry.gauge.forecast(entry.app.now) {
            forecast if let Some(at) = entry.idle_first(&forecast) => plain(at),
            Err(_) => quiet(NONE),
            Ok(forecast) if forecast.is_now() => plain("now"),
            Ok(forecast) => {
                let sign = Signs::of(entry.gauge).requests;
                let band = format!("{sign}{}", number::band(&forecast.requests));
                // Without room for the band, the median stays.
                plain(if text::width(&band) < usize::from(entry.width) {
                    &band
                } else {
                    band.split(' ').next().unwrap_or_default()
                })
            }
        };
    // Its cost so far. The sum of the day is below the list on any screen.
    Right "cost" "COST" [100 => 8],
        sort 16 "most expensive" Sort::Highest(|gauge| some((gauge.spending.as_ref()?.all.usd() * 1e6) as u64)),
        "its cost so far by list prices; ≥: some responses have no price, or surcharges; —: not known, or not all was read yet",
        |entry| {
            let spending = entry.gauge.spending.as_ref();
            let cost = spending.filter(|of| !of.all.is_empty());
            plain(render::or_none(cost.map(|of| spending::cost(&of.all))))
        };
    // When to go on, so that the next request is cheap.
    Right "cache" "CACHE" [120 => 6],
        sort 15 "warm for longest" Sort::Highest(|gauge| {
            let cache = gauge.prompt_cache()?;
            let until = cache.sent.as_second() + i64::from(cache.life.seconds);
            Some(until.max(0).unsigned_abs())
        }),
        "time left in the provider's prompt cache: 54m, cold, or ? if that is unknown",
        |entry| {
            let Some(cache) = entry.gauge.prompt_cache() else {
                return quiet(NONE);
            };
            // Its machine may have used the cache meanwhile.
            if entry.app.sessions.away(entry.row.key).is_some() {
                return quiet(AWAY_SIGN);
            }
            let state = cache.state(entry.app.now);
            let cell = triggers::cache_cell(state, &entry.app.clock());
            match state {
                CacheState::Warm(_) => plain(cell),
                CacheState::Open(_) | CacheState::Cold(..) => quiet(cell),
            }
        };
    // It is a picture of the past, and the line below the list shows it of the selected session.
    Right "growth" "GROWTH" [210 => GROWTH_BARS as u16 + 1],
        sort 9 "grew most lately" Sort::Highest(|gauge| some(gauge.growth().into_iter().fold(0, u64::saturating_add))),
        "tokens added by each of the last requests",
        |entry| {
            let window = entry.gauge.limits().window;
            quiet(sparkline::bars(&entry.gauge.growth(), window))
        };
    // It says when somebody was last at work in it. The list is in this order, so that a narrow screen can do without.
    Right "recent" "AGE" [72 => 5], sort 0 "live, then the newest" Sort::Recent,
        "time since the last record",
        |entry| {
            let age = entry.app.age(entry.row.key);
            let age = render::or_none(age.map(number::age));
            match entry.app.sessions.away(entry.row.key) {
                Some(_) => piece(format!("{AWAY_SIGN}{age}"), Tone::Near),
                None => quiet(age),
            }
        };
    // An order alone: the percentages are beside the gauges.
    Left "trigger" "" [], sort 3 "highest share of its trigger" Sort::Highest(|gauge| some(gauge.context.fill(gauge.limits()))),
        "",
        |_entry| plain("");
    // An order alone: the reasons are in the other columns and above the lines of the selected session.
    Left "needs you" "" [], sort 1 "waits, compacts or cools soon" Sort::Needs,
        "",
        |_entry| plain("");
};

/// Returns the text, indented below its parent for a sub-agent.
fn indented(text: &str, depth: u8) -> String {
    match usize::from(depth.min(3)) {
        0 => text.to_owned(),
        depth => format!("{}└ {text}", " ".repeat(depth - 1)),
    }
}

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

    /// Returns the texts that name it.
    fn names(&self) -> RowNames {
        self.app.row_names(self.row.key)
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

    /// Returns the sort of a new screen: the first of the menu.
    pub fn first() -> &'static Column {
        let first = COLUMNS.iter().min_by_key(|column| column.step);
        first.unwrap_or(&COLUMNS[0])
    }

    /// Returns its columns on a screen of this width, without those that a wide screen has to spare; 0: not shown.
    pub fn width(&self, screen: u16) -> u16 {
        let widths = self.widths.iter().rev();
        let width = widths.copied().find(|(from, _)| screen >= *from);
        width.map_or(0, |(_, width)| width)
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

/// Returns true if the column of this name is shown.
pub fn is_shown(name: &str, ui: &Ui) -> bool {
    let shown = fitting(ui.size.0, ui.sort).into_iter();
    shown.map(|(column, _)| column.name).any(|it| it == name)
}

/// Returns the columns that a screen shows with this sort, with their widths. A number that it has no column for takes
/// the place of NEXT where the sessions are sorted by it.
pub fn fitting(screen: u16, sort: &'static Column) -> Vec<(&'static Column, u16)> {
    let is_number = matches!(sort.sort, Sort::Lowest(_) | Sort::Highest(_));
    let is_left_out = is_number && sort.width(screen) == 0;
    let in_place = |column: &'static Column| match (column.name, sort.widths) {
        ("next", [(_, least), ..]) if is_left_out => (sort, column.width(screen).max(*least)),
        _ => (column, column.width(screen)),
    };
    let mut shown: Vec<_> = COLUMNS
        .iter()
        .map(in_place)
        .filter(|(_, width)| *width > 0)
        .collect();
    let space = |column: &Column| u16::from(column.shape == Shape::Left);
    let taken = shown.iter().map(|(column, width)| width + space(column));
    let free = screen
        .saturating_sub(LEAD_COLUMNS + WidthClass::of(screen).pick(1, 1, 2) + taken.sum::<u16>());
    let title = shown.iter_mut().find(|(column, _)| column.name == "title");
    let title = title.map_or(0, |(_, width)| {
        let most = WIDEST_TITLE.min((free + *width).saturating_sub(LEAST_GAUGE));
        let share = ((free + *width) * 2 / 3).clamp(*width, most.max(*width));
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
            let shown = fitting(screen, Column::first());
            let space = |column: &Column| u16::from(column.shape == Shape::Left);
            let taken = shown.iter().map(|(column, width)| width + space(column));
            let taken = LEAD_COLUMNS + taken.sum::<u16>();
            assert!(taken < screen, "{screen}: {taken}");
            let gauge = shown.iter().find(|(c, _)| c.shape == Shape::Gauge).unwrap();
            let widest = gauge.1 == WIDEST_GAUGE + PERCENT_COLUMNS;
            assert!(widest || taken + 2 >= screen, "{screen}: {taken}");
        }
    }

    /// The columns at each width, as the table says.
    #[test]
    fn the_columns_of_each_width() {
        let shown = |screen| {
            let shown = fitting(screen, Column::first()).into_iter();
            shown
                .map(|(column, _)| column.heading)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut widths: Vec<(u16, String)> = Vec::new();
        for screen in 40..=220 {
            let shown = shown(screen);
            if widths.last().is_none_or(|(_, before)| *before != shown) {
                widths.push((screen, shown));
            }
        }
        let lines: Vec<String> = widths
            .iter()
            .map(|(screen, shown)| format!("{screen} {shown}"))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        40 AGENT PROJECT CONTEXT NEXT
        56 AGENT PROJECT TITLE CONTEXT NEXT
        72 AGENT PROJECT TITLE CONTEXT NEXT AGE
        100 AGENT PROJECT TITLE CONTEXT NEXT COST AGE
        110 AGENT PROJECT TITLE CONTEXT HEADROOM NEXT COST AGE
        120 AGENT PROJECT TITLE CONTEXT HEADROOM NEXT COST CACHE AGE
        140 AGENT PROJECT TITLE MODEL CONTEXT HEADROOM NEXT COST CACHE AGE
        150 AGENT PROJECT TITLE MODEL CONTEXT KNOWN EST HEADROOM NEXT COST CACHE AGE
        156 AGENT PROJECT TITLE MODEL CONTEXT KNOWN EST LARGEST HEADROOM NEXT COST CACHE AGE
        210 AGENT PROJECT TITLE MODEL CONTEXT KNOWN EST LARGEST HEADROOM COMP NEXT COST CACHE GROWTH AGE
        ");
    }

    /// Names come first: at no width do they have less room than the gauge, nor less than on a narrow screen.
    #[test]
    fn names_have_more_room_than_the_gauge() {
        for screen in 60..=200 {
            let width = |name: &str| {
                let shown = fitting(screen, Column::first()).into_iter();
                let mut found = shown.filter(|(column, _)| column.name == name);
                found.next().map_or(0, |(_, width)| width)
            };
            let (names, gauge) = (width("project") + width("title"), width("context"));
            assert!(names > gauge - PERCENT_COLUMNS, "{screen}: {names} {gauge}");
            assert!(gauge - PERCENT_COLUMNS >= LEAST_GAUGE, "{screen}: {gauge}");
            let least = if screen < 80 { 26 } else { 34 };
            assert!(names >= least, "{screen}: {names}");
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
