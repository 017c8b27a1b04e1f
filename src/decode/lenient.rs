//! Reading JSON whose shape cannot be relied on: a field of an unexpected type counts as absent and is
//! reported, so that one odd field does not cost the whole line.

mod declare;
mod lost;
mod record;
mod repair;

pub use crate::lenient_record as record;
pub use json::{NotJson, Raw, Scanner};
pub use lost::LostFields;
pub use record::{
    Field, FieldPlace, Record, Slot, TentativeValue, WithRaw, object, parse, raw_object, raw_value,
    state, value,
};
pub use repair::{NamedCount, Repair, UsableReport, UsageParts, mend};

use jiff::Timestamp;
use model::event::{ELIDED, EventSink, ItemBuilder, Key, NewItem};
use std::borrow::Cow;

/// The largest plausible number of tokens: sums of such numbers cannot overflow.
const MAX_TOKENS: u64 = 1_000_000_000_000;
/// More dollars than any session costs.
const MAX_DOLLARS: f64 = 1e9;
/// More tokens than any model's window has.
pub const MAX_WINDOW: u64 = 1_000_000_000;

/// A string, borrowed from the line where it holds no escapes; absent where it is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// Returns the string, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the string, empty where there is none.
    pub fn or_empty(&self) -> &str {
        self.get().unwrap_or_default()
    }

    /// Returns the string to keep, unless it is empty.
    pub fn boxed(&self) -> Option<Box<str>> {
        self.get().filter(|text| !text.is_empty()).map(Into::into)
    }

    /// Returns the string to keep, unless it is empty or known already.
    pub fn boxed_if_changed(&self, known: &Option<Box<str>>) -> Option<Box<str>> {
        if self.get() == known.as_deref() {
            None
        } else {
            self.boxed()
        }
    }

    /// Returns the string as the key of an id.
    pub fn key(&self) -> Option<Key> {
        self.get().map(Key::of)
    }

    /// Returns the string as a time.
    pub fn time(&self) -> Option<Timestamp> {
        crate::date::parse(self.get()?)
    }
}

/// A number of tokens; absent where it is negative, too large to be true, not whole, or no number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count(pub Option<u64>);

impl Count {
    /// Returns the number that this JSON contains.
    pub fn of(json: &str) -> Count {
        let whole = json.parse().ok().filter(|n| *n <= MAX_TOKENS);
        Count(whole.or_else(|| {
            let number: f64 = json.parse().ok()?;
            let is_plausible = (0.0..=MAX_TOKENS as f64).contains(&number);
            (is_plausible && number.fract() == 0.0).then_some(number as u64)
        }))
    }

    /// Returns the number, 0 where there is none.
    pub fn or_zero(self) -> u64 {
        self.0.unwrap_or(0)
    }

    /// Returns the number as seconds since 1970, where it is either that or milliseconds.
    pub fn seconds(self) -> u64 {
        match self.or_zero() {
            ms @ 100_000_000_000.. => ms / 1000,
            seconds => seconds,
        }
    }

    /// Returns the number, seconds since 1970 or milliseconds, as a time.
    pub fn time(self) -> Option<Timestamp> {
        Timestamp::from_second(i64::try_from(self.seconds()).ok()?).ok()
    }
}

/// An amount in US dollars, kept in billionths; absent where it is negative, too large to be true, or no number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dollars(pub Option<u64>);

impl Dollars {
    /// Returns the amount that this JSON contains.
    pub fn of(json: &str) -> Dollars {
        let amount = json.parse().ok();
        let amount = amount.filter(|amount: &f64| (0.0..=MAX_DOLLARS).contains(amount));
        Dollars(amount.map(|amount| (amount * 1e9).round() as u64))
    }
}

/// A number of tokens of a usage report whose other parts are beside it in the same record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReportedCount {
    /// It is not there, or null.
    #[default]
    Absent,
    /// It is there.
    Tokens(u64),
    /// It is there, and no number of tokens.
    Unreadable,
}

impl ReportedCount {
    /// Returns the parts of a report; all of them are absent where one is unreadable.
    pub fn whole<const N: usize>(parts: [ReportedCount; N]) -> [Count; N] {
        let is_whole = !parts.contains(&ReportedCount::Unreadable);
        parts.map(|part| match part {
            ReportedCount::Tokens(tokens) if is_whole => Count(Some(tokens)),
            _ => Count(None),
        })
    }

    /// Returns the parts of a report of which the first is the whole prompt. Without that they are absent; others that
    /// are unreadable cost themselves.
    pub fn mended<const N: usize>(parts: [ReportedCount; N]) -> [Count; N] {
        match parts.first() {
            Some(ReportedCount::Unreadable) => [Count(None); N],
            _ => parts.map(|part| Count(part.get())),
        }
    }

    /// Returns the only part of a report.
    pub fn get(self) -> Option<u64> {
        match self {
            ReportedCount::Tokens(tokens) => Some(tokens),
            ReportedCount::Absent | ReportedCount::Unreadable => None,
        }
    }
}

/// A usage report, where it matters whether there was one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Report<T> {
    /// There is none, or null.
    #[default]
    Absent,
    /// This one.
    Is(T),
    /// There is one, and a number of it cannot be read.
    Unreadable,
}

/// The size of a window, or the size at which an agent compacts; absent where it is 0, larger than any window,
/// or no number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window(pub Option<u64>);

/// A time in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Millis(pub i64);

impl Millis {
    /// Returns the time, if there is one.
    pub fn time(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.0).ok()
    }
}

impl Field<'_> for Millis {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Millis> {
        value.get().parse().ok().map(Millis)
    }
}

/// Returns true if a number of tokens is not too large to be true.
pub fn is_plausible(tokens: u64) -> bool {
    tokens <= MAX_TOKENS
}

/// The content of a message: a string, one object, or a list of either; empty if it is something else. A string
/// is read as an object that has it as its `text` and nothing else.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pieces<B>(pub Vec<B>);

/// Strings of a list, or one bare string; absent where it is something else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts<'a>(pub Vec<Text<'a>>);

impl Texts<'_> {
    /// Returns the strings.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Text::get)
    }
}

/// Adds a JSON value, if there is one, to an item as the text that it is. If the reader cut one of its strings, adds
/// its strings one by one, since only a string can be marked as cut.
pub fn raw<'s, 'm, 'a>(
    item: ItemBuilder<'s, 'm>,
    value: impl Into<Option<Raw<'a>>>,
) -> ItemBuilder<'s, 'm> {
    match value.into() {
        Some(value) if value.get().contains(ELIDED) => strings(item, value),
        Some(value) => item.text(value.get()),
        None => item,
    }
}

/// Returns the item of a call of a tool: its name, and its arguments.
pub fn call(
    tool: Option<&str>,
    id: Option<&str>,
    arguments: Option<Raw<'_>>,
    out: &mut EventSink<'_>,
) -> NewItem {
    let item = out.tool_call(tool, id).text(tool.unwrap_or_default());
    raw(item, arguments).done()
}

/// Returns the item of a call of a tool whose arguments are a text.
pub fn written_call(
    tool: Option<&str>,
    id: Option<&str>,
    arguments: &str,
    out: &mut EventSink<'_>,
) -> NewItem {
    let item = out.tool_call(tool, id).text(tool.unwrap_or_default());
    item.text(arguments).done()
}

/// Adds a JSON list of tools to an item.
pub fn tools<'s, 'm>(item: ItemBuilder<'s, 'm>, list: Raw<'_>) -> ItemBuilder<'s, 'm> {
    raw(item, list).tools(tool_count(list.get()))
}

/// Returns the number of tools in a JSON list, bare or as `tools` in an object; 1 for any other value.
pub fn tool_count(json: &str) -> usize {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum List {
        Plain(Vec<serde::de::IgnoredAny>),
        Named { tools: Vec<serde::de::IgnoredAny> },
    }
    match serde_json::from_str(json) {
        Ok(List::Plain(tools) | List::Named { tools }) => tools.len(),
        Err(_) => 1,
    }
}

/// Adds the strings in a JSON value, if there is one, to an item; the value as it is where it holds none.
pub fn strings<'s, 'm, 'a>(
    item: ItemBuilder<'s, 'm>,
    value: impl Into<Option<Raw<'a>>>,
) -> ItemBuilder<'s, 'm> {
    let Some(value) = value.into() else {
        return item;
    };
    let parsed: serde_json::Value = serde_json::from_str(value.get()).unwrap_or_default();
    let mut found = Vec::new();
    collect(&parsed, &mut found);
    if found.is_empty() {
        return item.text(value.get());
    }
    found.into_iter().fold(item, ItemBuilder::text)
}

fn collect<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::String(text) => found.push(text),
        serde_json::Value::Array(list) => list.iter().for_each(|v| collect(v, found)),
        serde_json::Value::Object(map) => map.values().for_each(|v| collect(v, found)),
        _ => {}
    }
}

/// Returns the length of a text in JavaScript, which is what agents written in it count, with what the reader cut.
pub fn utf16_length(text: &str) -> u64 {
    whole(text, |shown| {
        if shown.is_ascii() {
            shown.len() as u64
        } else {
            shown.encode_utf16().count() as u64
        }
    })
}

/// Returns the length of a text or of JSON in bytes, with what the reader cut.
pub fn full_length(text: &str) -> u64 {
    whole(text, |shown| shown.len() as u64)
}

/// Returns what `count` is for a text or for JSON, with what the reader cut from its strings ([`ELIDED`]). That counts
/// in proportion to what was kept before it.
pub fn whole(text: &str, count: impl Fn(&str) -> u64) -> u64 {
    let (mut rest, mut total) = (text, 0_u64);
    while let Some((shown, after)) = rest.split_once(ELIDED)
        && let Some((digits, next)) = after.split_once(ELIDED)
        && let Ok(missing) = digits.parse::<u32>()
    {
        let (shown_count, missing) = (count(shown), u64::from(missing));
        let unseen = (missing * shown_count).checked_div(shown.len() as u64);
        total = total.saturating_add(shown_count + unseen.unwrap_or(missing));
        rest = next;
    }
    total.saturating_add(count(rest))
}

/// Returns a model's id without the provider's name, which gateways put before it.
pub fn model_name(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    // Bedrock: `us.anthropic.claude-…`.
    match name.split_once("anthropic.") {
        Some((_, claude)) => claude,
        None => name,
    }
}
