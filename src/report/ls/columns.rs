//! The columns of the list of sessions: a column is one entry with its heading, its layout, its cells and their signs.

use super::{SessionList, Spending};
use crate::output::text::table::{Column, Holds};
use model::due::prompt_cache::CacheState;
use model::due::triggers;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Activity, FileFacts, Row};
use render::clock::Clock;
use render::number::{age, cents, error, percent, tokens, tokens_or_none};
use render::spending::cost_in;
use render::sure::{ABOUT, AT_LEAST, AT_MOST, Signs};
use render::text::{one_line, short_model};
use render::{NONE, OF_WINDOW, live_sign, or_none, triggers as words};
use std::array;
use std::borrow::Cow;

/// A test of a cell, and the meaning of the sign that such cells have.
type Meaning = (fn(&str) -> bool, &'static str);

/// A column of the list.
pub(super) struct ListColumn {
    pub(super) column: Column,
    /// True if it is shown with totals only.
    pub(super) of_totals: bool,
    /// The cell of a session.
    cell: fn(&Entry<'_>) -> String,
    /// The signs that its cells may have: a test of a cell, and the meaning below the list.
    signs: &'static [Meaning],
}

impl ListColumn {
    const fn new(column: Column, cell: fn(&Entry<'_>) -> String) -> ListColumn {
        ListColumn {
            column,
            of_totals: false,
            cell,
            signs: &[],
        }
    }

    const fn of_totals(column: Column, cell: fn(&Entry<'_>) -> String) -> ListColumn {
        ListColumn {
            of_totals: true,
            ..ListColumn::new(column, cell)
        }
    }
}

/// A session that is listed.
pub(super) struct Entry<'a> {
    list: &'a SessionList,
    row: &'a Row,
    gauge: &'a SessionGauge,
    facts: &'a FileFacts,
    spending: Spending,
    /// The most characters of its id.
    id_chars: usize,
}

const PROVISIONAL: Meaning = (
    |cell| cell.contains(ABOUT),
    "~ may change when the whole log is read and counted",
);

/// The columns. On 80 there is room for what tells sessions apart and how full they are. The title is the last one:
/// in a pipe it is whole, and nothing has to be lined up behind it.
pub(super) const COLUMNS: &[ListColumn] = &[
    ListColumn {
        signs: &[
            (|cell| cell == live_sign(Activity::Working), "● works"),
            (
                |cell| cell == live_sign(Activity::Waiting),
                "○ waits for you",
            ),
            (
                |cell| cell == live_sign(Activity::Written),
                "· written just now",
            ),
        ],
        ..ListColumn::new(Column::new("", Holds::Words, 0), |entry| {
            let list = entry.list;
            let live = list.sessions.live(entry.row.key, list.clock.now);
            live.map(live_sign).unwrap_or_default().to_owned()
        })
    },
    ListColumn::new(Column::new("AGE", Holds::Numbers, 0), |entry| {
        let active = entry.list.sessions.activity_of(entry.row.key);
        or_none(active.map(|at| age(entry.list.clock.now.duration_since(at).as_secs())))
    }),
    ListColumn::new(Column::new("AGENT", Holds::Words, 1), |entry| {
        entry.facts.label.to_owned()
    }),
    ListColumn::new(Column::new("PROJECT", Holds::Text(10), 3), |entry| {
        entry.project().to_owned()
    }),
    ListColumn::new(Column::new("MODEL", Holds::Words, 4), |entry| {
        short_model(entry.gauge.model().unwrap_or(NONE)).to_owned()
    }),
    ListColumn {
        signs: &[PROVISIONAL],
        ..ListColumn::new(Column::new("CONTEXT", Holds::Numbers, 2), |entry| {
            let sign = Signs::of(entry.gauge).size;
            format!("{sign}{}", tokens(entry.gauge.context.used))
        })
    },
    ListColumn::new(Column::new("KNOWN", Holds::Numbers, 8), |entry| {
        tokens_or_none(entry.gauge.context.known)
    }),
    ListColumn::new(Column::new("ESTIMATED", Holds::Numbers, 7), |entry| {
        let context = &entry.gauge.context;
        let half = (context.high - context.used).max(context.used - context.low);
        match context.estimated {
            0 => NONE.to_owned(),
            estimated => format!("{} ±{}", tokens(estimated), error(half, estimated)),
        }
    }),
    ListColumn {
        signs: &[
            PROVISIONAL,
            (
                |cell| cell.contains(OF_WINDOW),
                "w: percent of the window, because no trigger is known or the agent does not compact at a size",
            ),
            (
                |cell| cell.contains(AT_LEAST),
                "≥ at least: the whole log may add to what the agent counts",
            ),
        ],
        ..ListColumn::new(Column::new("TRIGGER", Holds::Numbers, 0), |entry| {
            let limits = entry.gauge.limits();
            let (filled, end) = entry.gauge.context.filled(limits);
            let of = match limits.trigger {
                Some(_) => ' ',
                None => OF_WINDOW,
            };
            let percent = percent(filled, end);
            let sign = Signs::of(entry.gauge).share;
            or_none(percent.map(|percent| format!("{sign}{percent}%{of}")))
        })
    },
    ListColumn {
        signs: &[(|cell| cell.contains(AT_MOST), "≤ at most")],
        ..ListColumn::new(Column::new("HEADROOM", Holds::Numbers, 5), |entry| {
            let sign = Signs::of(entry.gauge).left;
            let of = |sign, headroom: Option<u64>| {
                headroom.map(|headroom| format!("{sign}{}", tokens(headroom)))
            };
            let headroom = of(sign, entry.gauge.headroom());
            or_none(headroom.or_else(|| of("about ", entry.gauge.headroom_about())))
        })
    },
    ListColumn::new(Column::optional("IF IDLE", Holds::Numbers, 10), |entry| {
        or_none(if_idle(entry.gauge, &entry.list.clock))
    }),
    ListColumn::new(Column::optional("CACHE", Holds::Numbers, 11), |entry| {
        or_none(cache(entry.gauge, &entry.list.clock))
    }),
    ListColumn::of_totals(Column::new("USED", Holds::Numbers, 9), |entry| {
        tokens_or_none(entry.spending.spent.all())
    }),
    ListColumn::of_totals(Column::new("COST", Holds::Numbers, 0), |entry| {
        cost_in(&entry.spending, cents)
    }),
    ListColumn::new(Column::new("ID", Holds::Words, 6), |entry| {
        let id = entry.gauge.meta.id.as_deref().unwrap_or(NONE);
        id.chars().take(entry.id_chars).collect()
    }),
    // The title of a sub-agent is indented.
    ListColumn::new(Column::new("TITLE", Holds::Text(28), 0), |entry| {
        let indent = usize::from(entry.row.depth) * 2;
        format!("{:indent$}{}", "", one_line(&entry.title()))
    }),
];

/// The cells of a session, one for each of [`COLUMNS`].
pub(super) type Cells = [String; COLUMNS.len()];

impl<'a> Entry<'a> {
    /// Returns its cells.
    pub(super) fn cells(&self) -> Cells {
        array::from_fn(|at| (COLUMNS[at].cell)(self))
    }

    pub(super) fn new(list: &'a SessionList, row: &'a Row, id_chars: usize) -> Option<Entry<'a>> {
        Some(Entry {
            list,
            row,
            gauge: list.sessions.gauge(row.key)?,
            facts: list.sessions.facts(row.key)?,
            spending: list.spending.get(&row.key).copied().unwrap_or_default(),
            id_chars,
        })
    }

    fn project(&self) -> &'a str {
        self.list.sessions.project_of(self.gauge)
    }

    fn title(&self) -> Cow<'a, str> {
        let title = self.list.sessions.title(self.row.key);
        title.unwrap_or_else(|| match self.project() {
            "" => self.list.sessions.name(self.row.key).into(),
            _ => NONE.into(),
        })
    }
}

/// Returns the time at which a session compacts if nobody types.
fn if_idle(gauge: &SessionGauge, clock: &Clock) -> Option<String> {
    let at = triggers::idle_at(gauge, clock.now)?;
    Some(format!("at {}", clock.time(at)))
}

/// Returns the time until which the provider keeps the prompt; `None`: it is cold, or not known.
fn cache(gauge: &SessionGauge, clock: &Clock) -> Option<String> {
    let state = gauge.prompt_cache()?.state(clock.now);
    matches!(state, CacheState::Warm(_)).then(|| words::cache_cell(state, clock))
}

/// Returns the meanings of the signs in the rows, each once.
pub(super) fn signs(rows: &[Cells]) -> Vec<&'static str> {
    let mut meanings = Vec::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        for (has, meaning) in column.signs {
            if !meanings.contains(meaning) && rows.iter().any(|row| has(&row[at])) {
                meanings.push(*meaning);
            }
        }
    }
    meanings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns cells with this one below a heading.
    fn with(heading: &str, cell: &str) -> Cells {
        array::from_fn(|at| {
            let is_it = COLUMNS[at].column.heading == heading;
            if is_it { cell } else { NONE }.to_owned()
        })
    }

    #[test]
    fn a_sign_has_a_meaning_in_its_columns_only() {
        let all = ["●", "○", "·", "~90k", "34%w", "≥88% ", "≤8k"];
        let meant = |heading: &str| {
            let rows = all.map(|cell| with(heading, cell));
            let signs = signs(&rows).into_iter();
            signs.filter_map(|sign| sign.chars().next()).collect()
        };
        for column in COLUMNS {
            let heading = column.column.heading;
            let signs: String = meant(heading);
            let expected = match heading {
                "" => "●○·",
                "CONTEXT" => "~",
                "TRIGGER" => "~w≥",
                "HEADROOM" => "≤",
                _ => "",
            };
            assert_eq!(signs, expected, "{heading}");
        }
        let rows = [with("CONTEXT", "~90k"), with("TRIGGER", "~45% ")];
        assert_eq!(signs(&rows).len(), 1);
    }

    #[test]
    fn totals_add_what_was_used_and_its_cost() {
        let of_totals = COLUMNS.iter().filter(|column| column.of_totals);
        let headings: Vec<_> = of_totals.map(|column| column.column.heading).collect();
        assert_eq!(headings, ["USED", "COST"]);
    }
}
