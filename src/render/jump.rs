//! A jump of a context in words: how much it grew, and by what.

use crate::item::{label, words};
use crate::number::{error, tokens};
use crate::text::{inert, shortened, width};
use model::cost::calls::{Calls, preview};
use model::outlook::jumps::{Jump, JumpPart};
use model::session::{ItemIx, Session};
use model::{Kind, Role};

/// The most parts that are named.
const NAMED_PARTS: usize = 3;
/// The fewest columns of a name that is cut shorter.
const LEAST_NAME: usize = 8;
/// The most columns of the name of a part in reports.
pub const NAME_COLUMNS: usize = 48;

/// Returns the request and the growth: `#241 +16.7k`, or `next +4.0k ±0.4k` before its report has come.
pub fn growth(jump: &Jump) -> String {
    let request = request(jump);
    format!("{request} {}", size(jump))
}

/// Returns the first request that held what came, or the line of the newest item where there is no report on it.
pub fn request(jump: &Jump) -> String {
    match jump.line {
        0 => crate::item::request(jump.request),
        line => format!("line {line}"),
    }
}

/// Returns the growth alone.
pub fn size(jump: &Jump) -> String {
    match jump.error {
        0 => format!("+{}", tokens(jump.tokens)),
        half => format!("+{} ±{}", tokens(jump.tokens), error(half, jump.tokens)),
    }
}

/// Returns the items by which jumps are named.
pub fn items(jumps: &[Jump]) -> impl Iterator<Item = ItemIx> + '_ {
    let parts = jumps
        .iter()
        .flat_map(|jump| jump.parts.iter().take(NAMED_PARTS));
    parts.map(|part| part.item)
}

/// Returns what came with a jump, safe to print: its largest parts with names of at most so many columns, the number of
/// the others, what no item explains, and what left.
pub fn parts(session: &Session, calls: &Calls, jump: &Jump, columns: usize) -> String {
    named_parts(session, calls, jump, (NAMED_PARTS, columns))
}

/// Returns [`parts`] on a line with room for so many columns: fewer parts are named where the line has no room for all,
/// so that no name is cut twice, and a single name is cut shorter.
pub fn parts_in(
    session: &Session,
    calls: &Calls,
    jump: &Jump,
    columns: usize,
    room: usize,
) -> String {
    let words = |named, columns| named_parts(session, calls, jump, (named, columns));
    let fewer = (2..=NAMED_PARTS).rev().map(|named| words(named, columns));
    let shorter = (LEAST_NAME..=columns)
        .rev()
        .map(|columns| words(1, columns));
    let mut all = fewer.chain(shorter);
    all.find(|words| width(words) <= room)
        .unwrap_or_else(|| words(1, LEAST_NAME))
}

/// Names so many parts at most, each in so many columns.
fn named_parts(
    session: &Session,
    calls: &Calls,
    jump: &Jump,
    (named, columns): (usize, usize),
) -> String {
    let (named, others) = jump.parts.split_at(jump.parts.len().min(named));
    let named = named.iter().map(|part| {
        let name = name_in(session, calls, part, columns);
        format!("{name} {}", tokens(part.tokens))
    });
    let rest = others.iter().map(|part| part.tokens);
    let rest = (!others.is_empty()).then(|| {
        let sum = rest.fold(0, u64::saturating_add);
        format!("{} more {}", others.len(), tokens(sum))
    });
    let unlogged = (jump.unlogged != 0).then(|| {
        let sign = if jump.unlogged < 0 { "-" } else { "" };
        let size = tokens(jump.unlogged.unsigned_abs());
        format!("{sign}{size} without an item")
    });
    let left = (jump.left > 0).then(|| format!("-{} that left", tokens(jump.left)));
    let all = named.chain(rest).chain(unlogged).chain(left);
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the name of a part: its call, without the name of a tool that runs commands, or its kind. It is safe to
/// print.
pub fn part_name(session: &Session, calls: &Calls, part: &JumpPart) -> String {
    name_in(session, calls, part, usize::MAX)
}

/// Returns the name of a part, of whose call or text at most so many columns are shown.
fn name_in(session: &Session, calls: &Calls, part: &JumpPart, columns: usize) -> String {
    let Some(item) = session.items().get(part.item) else {
        return String::new();
    };
    let name = calls.name(session, item);
    let is_own = *name == *preview(item);
    let name = shortened(&name, columns);
    let of_call = matches!(item.kind, Kind::ToolCall | Kind::ToolResult);
    if of_call && (item.kind == Kind::ToolCall || !is_own) {
        let label = label(item);
        let is_command = COMMANDS
            .iter()
            .any(|word| label.to_lowercase().contains(word));
        return match (is_command, name.is_empty()) {
            (true, false) => name,
            (_, true) => inert(&label).into_owned(),
            (false, false) => format!("{} {name}", inert(&label)),
        };
    }
    if of_call {
        let is_both = part.tokens > session.tokens(part.item).0;
        let what = if is_both { "call and result" } else { "result" };
        return format!("{} {what}", inert(&label(item)));
    }
    match (item.role, item.kind) {
        (Role::User, Kind::Text) => format!("user: {name}"),
        (role, Kind::Text) => format!("{} text", role.name()),
        (_, Kind::Unlogged) => "output that is not in the log".to_owned(),
        (_, Kind::Thinking) => "thinking".to_owned(),
        (_, kind) => format!("{}: {name}", words(kind.name())),
    }
}

/// The words in the names of tools that run commands.
const COMMANDS: [&str; 5] = ["bash", "shell", "exec", "command", "terminal"];
