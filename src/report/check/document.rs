//! The result of a check for people: a line for each bound that was passed.

use super::{Check, SessionViolation};
use crate::output::document::{Document, Line, Section};
use model::due::bounds::{BoundedQuantity, Violation};
use render::number::{counted, tokens};

/// The most characters of an id: enough to select a session.
const ID_CHARS: usize = 13;

/// Puts the result together.
pub(super) fn document(check: &Check) -> Document {
    let lines = check.passed.iter();
    let lines = lines.map(|of| Line::log(&who(of)).and(": ").and_log(&what(of)));
    let mut whose: Vec<_> = check.passed.iter().map(|of| (&of.path, &of.id)).collect();
    whose.dedup();
    let checked = counted(check.sessions as u64, "session");
    let unread = match check.unreadable {
        0 => String::new(),
        n => format!(", {} not read", counted(n as u64, "log")),
    };
    let beyond = whose.len();
    let sum = format!("{checked} checked, {beyond} beyond a limit{unread}");
    Document {
        title: Line::default(),
        sections: vec![Section::default().with_all(lines).with(sum)],
    }
}

/// Returns the name of a session: agent, name, and the beginning of its id.
pub(super) fn who(of: &SessionViolation) -> String {
    let id: String = of
        .id
        .iter()
        .flat_map(|id| id.chars().take(ID_CHARS))
        .collect();
    let parts = [of.agent, &of.name, &id];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// Returns the value that is beyond its bound, by how much, and since when.
pub(super) fn what(of: &SessionViolation) -> String {
    let passed = &of.passed;
    let since = passed.since.map_or(String::new(), |at| {
        format!(", since {}", at.strftime("%Y-%m-%d %H:%M:%S UTC"))
    });
    let more = match passed.items {
        0 | 1 => String::new(),
        n => format!(", and {} more", counted(n as u64 - 1, "item")),
    };
    format!("{}{more}{since}", value(passed, of.item.as_ref()))
}

fn value(passed: &Violation, item: Option<&(u64, String)>) -> String {
    let size = |value: f64| tokens(value.round() as u64);
    let of_size = |what: String| {
        let (value, bound, by) = (size(passed.value), size(passed.bound), size(passed.by()));
        format!("{what} {value}, {by} more than {bound}")
    };
    let percent = |of: &str| {
        let (value, bound, by) = (passed.value, passed.bound, passed.by());
        format!("context at {value:.1} % of the {of}, {by:.1} more than {bound}")
    };
    let of_count = |noun: &str, what: &str, than: &str| {
        let (value, bound, by) = (
            counted(passed.value as u64, noun),
            passed.bound,
            passed.by(),
        );
        format!("{value}{what}, {by} {than} than {bound}")
    };
    match passed.what {
        BoundedQuantity::PercentOfTrigger => percent("trigger"),
        BoundedQuantity::PercentOfWindow => percent("window"),
        BoundedQuantity::Tokens => of_size("context of".to_owned()),
        BoundedQuantity::Item => {
            let (line, label) = item.map_or((0, ""), |(line, label)| (*line, label));
            of_size(format!("{label} at line {line}, size"))
        }
        BoundedQuantity::RequestsLeft => {
            of_count("request", " left before the compaction", "fewer")
        }
        BoundedQuantity::MinutesLeft => of_count(
            "minute",
            " left before it compacts if nobody types",
            "fewer",
        ),
        BoundedQuantity::Compactions => of_count("compaction", "", "more"),
        BoundedQuantity::Rebuilds => of_count("rebuilt cache", "", "more"),
        BoundedQuantity::RebuiltTokens => of_size("rebuilt caches of".to_owned()),
    }
}
