//! Records that are read without relying on any of their fields.
//!
//! [`record!`](super::record) declares a struct and the names of its fields in the log. Reading one
//! never fails once the text is a JSON object: a field that is absent or null has its default, a field
//! of another type than expected has its default too, and its name is noted in [`LostFields`]. Fields that the struct
//! does not name are skipped unread.
//!
//! A `whole struct` is a usage report: if one of its numbers is there and cannot be read, the report is
//! not used, since the sum of the others would be wrong. A `mended whole struct` implements [`Repair`](super::Repair):
//! of such a report the rest is used, see [`super::repair`].
//!
//! There are hundreds of records with more than a thousand fields. What is the same for all of them is compiled
//! once: it is given a [`Slot`] or a function in the place of a type.

use super::lost::LostFields;
use super::repair::UsableReport;
use super::{Count, Dollars, MAX_WINDOW, Pieces, Report, ReportedCount, Text, Texts, Window};
use json::{NotJson, Raw, Scanner, VisitField, string};
use model::event::EventSink;
use serde::de::IgnoredAny;

/// The deepest nesting that is read. No agent nests half as deep; a forged log may.
const MOST_DEPTH: u32 = 32;

/// The place at which a value is read: the name of its field, and the list in which a loss is noted.
#[derive(Debug, Clone, Copy)]
pub struct FieldPlace<'l> {
    name: &'static str,
    lost: &'l LostFields,
}

impl<'l> FieldPlace<'l> {
    /// Returns a field of this name, with the same place for losses.
    pub fn field(self, name: &'static str) -> FieldPlace<'l> {
        FieldPlace { name, ..self }
    }

    /// Notes that the value cannot be read.
    pub fn lose(self) {
        self.lost.note(self.name);
    }

    /// Reads a value. `None`: it is null, or of another type than expected, which is noted.
    pub fn read<'a, T: Field<'a>>(self, value: Raw<'a>) -> Option<T> {
        if value.get() == "null" {
            return None;
        }
        let read = self.enter().then(|| self.leave(T::read(value, self)));
        let read = read.flatten();
        if read.is_none() {
            self.note(T::HOLDS_NUMBERS);
        }
        read
    }

    /// Reads the value at which the scanner is, and passes it. `None` as in [`FieldPlace::read`].
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    pub fn scan<'a, T: Field<'a>>(self, json: &mut Scanner<'a>) -> Result<Option<T>, NotJson> {
        let mut value = None;
        self.fill(json, &mut value)?;
        Ok(value)
    }

    /// Reads the value at which the scanner is into a field, and passes it. The field stays as it is where
    /// [`FieldPlace::scan`] finds no value.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    pub fn fill<'a>(self, json: &mut Scanner<'a>, field: &mut dyn Slot<'a>) -> Result<(), NotJson> {
        let holds_numbers = field.holds_numbers();
        self.scan_with(json, holds_numbers, &mut |json| field.fill(json, self))
    }

    /// Reads a value as [`FieldPlace::fill`] does, but at the end of a path of names in the object at which the scanner is.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    #[inline]
    pub fn fill_along<'a>(
        self,
        path: &[&'static str],
        json: &mut Scanner<'a>,
        field: &mut dyn Slot<'a>,
    ) -> Result<(), NotJson> {
        match path.split_first() {
            None => self.fill(json, field),
            Some((first, rest)) => self.fill_within(first, rest, json, field),
        }
    }

    /// Reads the object at which the scanner is as a record whose one field has the name `first`.
    fn fill_within<'a>(
        self,
        first: &'static str,
        rest: &[&'static str],
        json: &mut Scanner<'a>,
        field: &mut dyn Slot<'a>,
    ) -> Result<(), NotJson> {
        self.scan_with(json, true, &mut |json| {
            if json.peek() != Some(b'{') {
                return Ok(false);
            }
            json.fields(&mut |name, json| {
                if name == first {
                    self.field(first).fill_along(rest, json, field)
                } else {
                    json.skip()
                }
            })?;
            Ok(true)
        })
    }

    /// Reads a value by `read`, which returns true if the value was of the expected type.
    #[inline]
    fn scan_with<'a>(
        self,
        json: &mut Scanner<'a>,
        holds_numbers: bool,
        read: &mut dyn FnMut(&mut Scanner<'a>) -> Result<bool, NotJson>,
    ) -> Result<(), NotJson> {
        if json.peek() == Some(b'n') {
            return json.skip();
        }
        let place = json.place();
        let is_read = self.enter() && self.leave(read(json))?;
        if !is_read {
            json.back_to(place);
            json.skip()?;
            self.note(holds_numbers);
        }
        Ok(())
    }

    /// Begins a value in the one that is being read. `false`: it is too deep.
    #[inline]
    fn enter(self) -> bool {
        let depth = self.lost.depth.get();
        let is_near = depth < MOST_DEPTH;
        if is_near {
            self.lost.depth.set(depth + 1);
        }
        is_near
    }

    /// Ends the value that was begun. Returns what was read.
    #[inline]
    fn leave<T>(self, read: T) -> T {
        self.lost.depth.update(|depth| depth - 1);
        read
    }

    #[cold]
    fn note(self, holds_numbers: bool) {
        self.lost.note(self.name);
        if holds_numbers {
            self.lost.numbers.borrow_mut().push(self.name);
        }
    }
}

/// A value of a record. Each type implements one of the two methods: `scan` if it has parts that are read on the
/// way, `read` if it needs the value's text.
pub trait Field<'a>: Sized {
    /// True if it is a number of tokens or holds such numbers.
    const HOLDS_NUMBERS: bool = false;

    /// Reads a JSON value; `None` where it is of another type than expected.
    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Self> {
        Self::scan(&mut Scanner::new(value.get()), at)
            .ok()
            .flatten()
    }

    /// Reads the JSON value at which the scanner is, and passes it. After `None`, the scanner may be anywhere in
    /// the value.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<Self>, NotJson> {
        Ok(Self::read(json.value()?, at))
    }
}

/// A field of a record, whatever its type.
pub trait Slot<'a> {
    /// Returns [`Field::HOLDS_NUMBERS`] of its type.
    fn holds_numbers(&self) -> bool;

    /// Reads the value at which the scanner is into the field. `false`: it is of another type than expected, and
    /// the field is unchanged; see [`Field::scan`].
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    fn fill(&mut self, json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<bool, NotJson>;
}

impl<'a, T: Field<'a>> Slot<'a> for T {
    fn holds_numbers(&self) -> bool {
        T::HOLDS_NUMBERS
    }

    fn fill(&mut self, json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<bool, NotJson> {
        let read = T::scan(json, at)?;
        let is_read = read.is_some();
        if let Some(value) = read {
            *self = value;
        }
        Ok(is_read)
    }
}

/// An object whose fields have names; `record!` implements it.
pub trait Record<'a>: Default {
    /// True if the whole record is lost if one of its numbers is.
    const IS_WHOLE: bool = false;

    /// Repairs a usage report of which the numbers of these names are lost.
    fn mend(&mut self, _lost: &[&'static str]) -> UsableReport {
        UsableReport::Unusable
    }

    /// Reads the value of the field of this name, if it is one of the record's, and passes it.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    fn set(
        &mut self,
        name: &str,
        json: &mut Scanner<'a>,
        at: FieldPlace<'_>,
    ) -> Result<(), NotJson>;
}

/// Reads a line that holds one JSON object. Otherwise reports it as unreadable, with the reason.
/// Fields that are lost are reported as [`Event::Lost`](model::event::Event::Lost).
pub fn object<'a, T: Record<'a>>(line: &'a str, out: &mut EventSink<'_>) -> Option<T> {
    let lost = LostFields::default();
    match parse(line, &lost) {
        Ok(record) => {
            lost.report(out);
            Some(record)
        }
        Err(why) => {
            out.unreadable(why);
            None
        }
    }
}

/// Reads a document beside a log that holds one JSON object, and reports what is lost. `None`: it is half written, or none.
pub fn state<'a, T: Record<'a>>(document: &'a str, out: &mut EventSink<'_>) -> Option<T> {
    let lost = LostFields::default();
    let record = parse(document, &lost).ok()?;
    lost.report(out);
    Some(record)
}

/// Reads text that holds one JSON object. What is lost is noted, for [`LostFields::report`].
///
/// # Errors
///
/// Returns the reason for which the text is no JSON object.
pub fn parse<'a, T: Record<'a>>(json: &'a str, lost: &LostFields) -> Result<T, Box<str>> {
    let (mut record, at) = (T::default(), lost.at(""));
    let before = lost.mark();
    whole_text(json, &mut |name, json| record.set(name, json, at))?;
    let is_usable = lost.settle(&mut record, before);
    Ok(if is_usable { record } else { T::default() })
}

/// The one JSON object that a text holds, as it is written.
///
/// # Errors
///
/// Why the text is no JSON object.
pub fn raw_object(json: &str) -> Result<Raw<'_>, Box<str>> {
    whole_text(json, &mut |_, json| json.skip())?;
    Raw::of(json).ok_or_else(|| why_not(json))
}

/// Returns the one JSON value that a text holds, as it is written.
///
/// # Errors
///
/// Returns the reason for which the text is no JSON.
pub fn raw_value(json: &str) -> Result<Raw<'_>, Box<str>> {
    Raw::of(json).ok_or_else(|| why_not(json))
}

/// Visits the fields of the one object that a text holds.
fn whole_text<'a>(json: &'a str, visit: VisitField<'_, 'a>) -> Result<(), Box<str>> {
    if !json.trim_start().starts_with('{') {
        return Err("not a JSON object".into());
    }
    let mut scanner = Scanner::new(json);
    let read = scanner.fields(visit);
    read.and_then(|()| scanner.end())
        .map_err(|NotJson| why_not(json))
}

/// Reads the object at which the scanner is. `None`: it is a usage report that cannot be used.
fn record<'a, T: Record<'a>>(
    json: &mut Scanner<'a>,
    at: FieldPlace<'_>,
) -> Result<Option<T>, NotJson> {
    let mut record = T::default();
    let before = at.lost.mark();
    json.fields(&mut |name, json| record.set(name, json, at))?;
    Ok(at.lost.settle(&mut record, before).then_some(record))
}

/// Returns the error in a text that is no JSON, with its place.
#[cold]
fn why_not(json: &str) -> Box<str> {
    match serde_json::from_str::<IgnoredAny>(json) {
        Err(error) => error.to_string().into(),
        Ok(IgnoredAny) => "not JSON".into(),
    }
}

/// Reads a value that was kept as it is written. `name` is its field's, for the report of losses.
pub fn value<'a, T: Field<'a> + Default>(
    raw: Option<Raw<'a>>,
    name: &'static str,
    out: &mut EventSink<'_>,
) -> T {
    let lost = LostFields::default();
    let value = raw
        .and_then(|raw| lost.at(name).read(raw))
        .unwrap_or_default();
    lost.report(out);
    value
}

impl LostFields {
    /// Returns a value of the field of this name, whose losses are noted here.
    pub fn at(&self, name: &'static str) -> FieldPlace<'_> {
        FieldPlace { name, lost: self }
    }

    /// Returns true if a record that was read since the mark can be used. A usage report that lacks numbers is mended
    /// first.
    fn settle<'a, T: Record<'a>>(&self, record: &mut T, (numbers, usages): (usize, u64)) -> bool {
        let mut lost = self.numbers.borrow_mut();
        if !T::IS_WHOLE || lost.len() == numbers {
            return true;
        }
        // The reports inside it are parts of this one, and not counted apart.
        self.usages.set(usages + 1);
        match record.mend(&lost[numbers..]) {
            UsableReport::Unusable => return false,
            UsableReport::Whole => {}
            UsableReport::WithoutPrompt => self.lacks_prompt.set(true),
        }
        lost.truncate(numbers);
        true
    }
}

impl<'a, T: Record<'a>> Field<'a> for T {
    const HOLDS_NUMBERS: bool = true;

    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<T>, NotJson> {
        match json.peek() {
            Some(b'{') => record(json, at),
            _ => {
                if T::IS_WHOLE {
                    at.lost.note_usage();
                }
                Ok(None)
            }
        }
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    const HOLDS_NUMBERS: bool = T::HOLDS_NUMBERS;

    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<Option<T>>, NotJson> {
        Ok(T::scan(json, at)?.map(Some))
    }
}

/// A value and how it is written.
#[derive(Debug, Default, Clone)]
pub struct WithRaw<'a, T> {
    /// Its text in the log; `None`: it is not there.
    pub raw: Option<Raw<'a>>,
    /// The value.
    pub value: T,
}

impl<'a, T: Field<'a>> Field<'a> for WithRaw<'a, T> {
    const HOLDS_NUMBERS: bool = T::HOLDS_NUMBERS;

    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<WithRaw<'a, T>>, NotJson> {
        let (value, raw) = json.scanned(|json| T::scan(json, at))?;
        let raw = Some(raw);
        Ok(value.map(|value| WithRaw { raw, value }))
    }
}

/// A value that may concern nobody: what is lost in it counts only where it is used.
#[derive(Debug, Default, Clone)]
pub struct TentativeValue<'a, T> {
    /// Its text in the log.
    pub raw: Option<Raw<'a>>,
    value: T,
    lost: LostFields,
}

impl<T> TentativeValue<'_, T> {
    /// Returns the value. Its losses are reported.
    pub fn get(&self, out: &mut EventSink<'_>) -> &T {
        self.lost.report(out);
        &self.value
    }
}

impl<'a, T: Field<'a> + Default> Field<'a> for TentativeValue<'a, T> {
    fn scan(
        json: &mut Scanner<'a>,
        at: FieldPlace<'_>,
    ) -> Result<Option<TentativeValue<'a, T>>, NotJson> {
        let lost = LostFields {
            depth: at.lost.depth.clone(),
            ..LostFields::default()
        };
        let (value, raw) = json.scanned(|json| lost.at(at.name).scan(json))?;
        let (raw, value) = (Some(raw), value.unwrap_or_default());
        Ok(Some(TentativeValue { raw, value, lost }))
    }
}

/// Keeps any value as it is written.
impl<'a> Field<'a> for Raw<'a> {
    fn read(value: Raw<'a>, _: FieldPlace<'_>) -> Option<Raw<'a>> {
        Some(value)
    }
}

impl<'a> Field<'a> for Text<'a> {
    // The text of a value was checked when it was skipped.
    fn read(value: Raw<'a>, _: FieldPlace<'_>) -> Option<Text<'a>> {
        string(value.get()).map(|text| Text(Some(text)))
    }

    fn scan(json: &mut Scanner<'a>, _: FieldPlace<'_>) -> Result<Option<Text<'a>>, NotJson> {
        match json.peek() {
            Some(b'"') => Ok(Some(Text(Some(json.quoted()?.text())))),
            _ => Ok(None),
        }
    }
}

impl Field<'_> for bool {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<bool> {
        value.get().parse().ok()
    }
}

impl Field<'_> for f64 {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<f64> {
        value.get().parse().ok().filter(|n: &f64| n.is_finite())
    }
}

impl Field<'_> for Window {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Window> {
        let tokens = Count::of(value.get()).0.filter(|n| *n <= MAX_WINDOW)?;
        Some(Window(Some(tokens).filter(|n| *n > 0)))
    }
}

impl<'a, T: Record<'a>> Field<'a> for Report<T> {
    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Report<T>> {
        let read = at.read(value);
        Some(read.map_or(Report::Unreadable, Report::Is))
    }
}

impl Field<'_> for ReportedCount {
    fn read(value: Raw<'_>, at: FieldPlace<'_>) -> Option<ReportedCount> {
        Some(match Count::of(value.get()).0 {
            Some(tokens) => ReportedCount::Tokens(tokens),
            None => {
                at.lost.note(at.name);
                at.lost.note_usage();
                ReportedCount::Unreadable
            }
        })
    }
}

impl Field<'_> for Count {
    const HOLDS_NUMBERS: bool = true;

    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Count> {
        Some(Count::of(value.get())).filter(|count| count.0.is_some())
    }
}

impl Field<'_> for Dollars {
    fn read(value: Raw<'_>, _: FieldPlace<'_>) -> Option<Dollars> {
        Some(Dollars::of(value.get())).filter(|dollars| dollars.0.is_some())
    }
}

/// Elements of another type than expected are passed over, and noted.
impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    const HOLDS_NUMBERS: bool = T::HOLDS_NUMBERS;

    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<Vec<T>>, NotJson> {
        if json.peek() != Some(b'[') {
            return Ok(None);
        }
        let mut list = Vec::new();
        json.elements(&mut |json| {
            list.extend(at.scan(json)?);
            Ok(())
        })?;
        Ok(Some(list))
    }
}

/// A string or a list of strings.
impl<'a> Field<'a> for Texts<'a> {
    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<Texts<'a>>, NotJson> {
        let list = match json.peek() {
            Some(b'[') => Vec::scan(json, at)?,
            _ => Text::scan(json, at)?.map(|text| vec![text]),
        };
        Ok(list.map(Texts))
    }
}

impl<'a, B: Record<'a>> Field<'a> for Pieces<B> {
    fn scan(json: &mut Scanner<'a>, at: FieldPlace<'_>) -> Result<Option<Pieces<B>>, NotJson> {
        let mut pieces = Vec::new();
        let is_read = add_pieces(json, at, MOST_NESTED_LISTS, &mut pieces)?;
        Ok(is_read.then_some(Pieces(pieces)))
    }
}

/// The deepest nesting of lists in a content that is read. No agent writes more than one; a forged log may.
const MOST_NESTED_LISTS: usize = 16;

fn add_pieces<'a, B: Record<'a>>(
    json: &mut Scanner<'a>,
    at: FieldPlace<'_>,
    lists: usize,
    pieces: &mut Vec<B>,
) -> Result<bool, NotJson> {
    match json.peek() {
        Some(b'[') => {}
        Some(b'"') => {
            let mut piece = B::default();
            piece.set("text", json, at)?;
            pieces.push(piece);
            return Ok(true);
        }
        _ => {
            let piece = B::scan(json, at)?;
            let is_read = piece.is_some();
            pieces.extend(piece);
            return Ok(is_read);
        }
    }
    let Some(lists) = lists.checked_sub(1) else {
        return Ok(false);
    };
    json.elements(&mut |json| {
        at.scan_with(json, false, &mut |json| add_pieces(json, at, lists, pieces))
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::record;
    use super::*;
    use model::event::{ByLength, Event};

    record! {
        /// Sample.
        pub struct Sample<'a> {
            name: Text<'a>,
            tokens: Count = "inputTokens" | "tokens",
            content: Pieces<Inner<'a>>,
            inner: Option<Inner<'a>>,
            raw: Option<Raw<'a>>,
            flags: Vec<Numbers>,
            model: Text<'a> = "settings" | "config" / "model" / "id",
        }
    }

    record! {
        struct Inner<'a> {
            text: Text<'a>,
        }
    }

    record! {
        struct Numbers {
            ok: Option<bool>,
            share: Option<f64>,
        }
    }

    fn read(line: &str) -> (Option<Sample<'_>>, Vec<Event>) {
        let mut out = EventSink::new(&ByLength);
        let sample = object(line, &mut out);
        (sample, out.entries.into_iter().map(|e| e.event).collect())
    }

    #[test]
    fn fields_are_read_by_their_names() {
        let line = r#"{"name":"n","tokens":7,"inner":{"text":"i"},"raw":[1,2],"more":{},
            "content":["a",{"text":"b"},[{"text":"c"}]],"flags":[{"ok":true,"share":0.5}]}"#;
        let (sample, events) = read(line);
        let sample = sample.unwrap();
        assert_eq!(events, []);
        assert_eq!(sample.name.get(), Some("n"));
        assert_eq!(sample.tokens.0, Some(7));
        assert_eq!(sample.inner.unwrap().text.get(), Some("i"));
        assert_eq!(sample.raw.unwrap().get(), "[1,2]");
        let texts = sample.content.0.iter().filter_map(|inner| inner.text.get());
        assert!(texts.eq(["a", "b", "c"]));
        assert_eq!(sample.flags[0].ok, Some(true));
        assert_eq!(sample.flags[0].share, Some(0.5));
    }

    #[test]
    fn fields_of_another_type_cost_themselves_and_are_named() {
        let line = r#"{"name":{"a":[1,{}]},"tokens":-1,"inner":7,"flags":[{"ok":"yes"},9],
            "content":true,"raw":null}"#;
        let (sample, events) = read(line);
        let sample = sample.unwrap();
        assert_eq!(sample.name.get(), None);
        assert!(sample.inner.is_none() && sample.raw.is_none());
        let names = ["name", "inputTokens", "inner", "ok", "flags", "content"];
        assert_eq!(events, names.map(Event::Lost));
    }

    #[test]
    fn a_path_is_read_like_records_of_one_field() {
        let model = |json: &str| {
            let line = format!("{{\"config\":{json}}}");
            let (sample, events) = read(&line);
            (sample.unwrap().model.get().map(str::to_owned), events)
        };
        let found = |json: &str| model(json).0.unwrap();
        assert_eq!(
            found(r#"{"a":[{}],"model":{"id":"m","id2":"n"},"b":1}"#),
            "m"
        );
        for none in [
            "null",
            "{}",
            r#"{"model":null}"#,
            r#"{"model":{"id":null}}"#,
        ] {
            assert_eq!(model(none), (None, vec![]), "{none}");
        }
        for (other, lost) in [
            ("7", "settings"),
            (r#"[{"model":{"id":"m"}}]"#, "settings"),
            (r#"{"model":"m"}"#, "model"),
            (r#"{"model":{"id":7}}"#, "id"),
        ] {
            assert_eq!(model(other), (None, vec![Event::Lost(lost)]), "{other}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_true_are_lost() {
        let count = |json: &str| {
            let line = format!("{{\"tokens\":{json}}}");
            read(&line).0.and_then(|sample| sample.tokens.0)
        };
        assert_eq!(count("12207"), Some(12_207));
        assert_eq!(count("12.0"), Some(12));
        assert_eq!(Dollars::of("0.58").0, Some(580_000_000));
        for odd in [
            "-1",
            "18446744073709551615",
            "1e300",
            "null",
            "\"7\"",
            "[1]",
            "true",
        ] {
            assert_eq!(count(odd), None, "{odd}");
            assert_eq!(Dollars::of(odd).0, None, "{odd}");
        }
    }

    #[test]
    fn null_is_absent_and_no_loss() {
        let line =
            r#"{"name":null,"tokens":null,"inner":null,"flags":null,"content":[null],"raw":null}"#;
        let (sample, events) = read(line);
        assert!(sample.unwrap().content.0.is_empty());
        assert_eq!(events, []);
    }

    #[test]
    fn what_is_no_object_is_unreadable() {
        for line in ["", "7", "[{}]", "{\"name\":", "{} x", "{\"a\":\"\u{1}\"}"] {
            let (sample, events) = read(line);
            assert!(sample.is_none(), "{line}");
            assert!(matches!(&events[..], [Event::Unreadable(_)]), "{line}");
        }
    }

    #[test]
    fn huge_numbers_and_lone_surrogates_cost_themselves() {
        let (sample, events) = read(r#"{"tokens":1e999,"name":"a\ud83d","skipped":1e999}"#);
        assert_eq!(sample.unwrap().name.get(), Some("a\u{fffd}"));
        assert_eq!(events, [Event::Lost("inputTokens")]);
    }
}
