//! Determines the parts of a message that are in the prompt.

use super::record::{Record, media, own_tokens};
use super::{NOTES, SNAPSHOT};
use decode::genai::{Call, Parts, Response};
use decode::lenient::{self, utf16_length, whole};
use model::event::{EventSink, ItemBuilder, Key, NewItem};
use model::{Kind, Role};
use std::collections::HashSet;

/// A part of a message.
pub(super) enum Bit<'r, 'a> {
    /// A text or a file.
    Said { part: &'r Parts<'a>, hash: u64 },
    /// A call of a tool.
    Call(&'r Call<'a>),
    /// A result, with what was sent beside it.
    Result {
        response: &'r Response<'a>,
        call: Option<&'r Call<'a>>,
        beside: Vec<&'r Parts<'a>>,
    },
}

impl<'r, 'a> Bit<'r, 'a> {
    fn said(part: &'r Parts<'a>) -> Option<Bit<'r, 'a>> {
        let hash = match text_of(part) {
            Some(text) => Key::of(text.trim()).get(),
            None => {
                let file = part.media()?;
                Key::of_parts(&[file.mime_type.or_empty(), file.data.or_empty()]).get()
            }
        };
        Some(Bit::Said { part, hash })
    }

    /// Returns what was said, if it is a text.
    fn text(&self) -> Option<&'r str> {
        match self {
            Bit::Said { part, .. } => text_of(part),
            _ => None,
        }
    }

    /// Returns the hash of a text or file.
    pub(super) fn piece(&self) -> Option<u64> {
        match self {
            Bit::Said { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    /// Returns the identity of a call, or of that which this is the result of.
    pub(super) fn call(&self) -> Option<u64> {
        let of =
            |id: Option<&str>, name: Option<&str>| Key::of(id.or(name).unwrap_or_default()).get();
        match self {
            Bit::Said { .. } => None,
            Bit::Call(call) => Some(match (call.id.get(), call.args) {
                (None, Some(args)) => Key::of_parts(&[call.name.or_empty(), args.get()]).get(),
                (id, _) => of(id, call.name.get()),
            }),
            Bit::Result { response, call, .. } => {
                let id = call.and_then(|call| call.id.get());
                Some(of(response.id.get().or(id), response.name.get()))
            }
        }
    }

    /// Returns true if it begins a text that the harness wrote.
    pub(super) fn begins_note(&self) -> bool {
        class(std::slice::from_ref(self)).0 == Role::Container
    }
}

/// Returns the text of a part, unless it is empty.
fn text_of<'r>(part: &'r Parts<'_>) -> Option<&'r str> {
    part.text.get().filter(|text| !text.is_empty())
}

/// Returns the parts of a message.
pub(super) fn of<'r, 'a>(message: &'r Record<'a>) -> Vec<Bit<'r, 'a>> {
    match message.kind.or_empty() {
        "user" => of_user(message),
        _ => of_model(message),
    }
}

/// Returns the parts of a message of the user's. A file beside a result in it is the tool's.
fn of_user<'r, 'a>(message: &'r Record<'a>) -> Vec<Bit<'r, 'a>> {
    let mut bits: Vec<Bit<'r, 'a>> = Vec::new();
    for part in &message.content.0 {
        if part.thought == Some(true) {
            continue;
        }
        if let Some(response) = &part.function_response {
            bits.push(Bit::Result {
                response,
                call: None,
                beside: Vec::new(),
            });
            continue;
        }
        if let (Some(Bit::Result { beside, .. }), Some(_)) = (bits.last_mut(), part.media()) {
            beside.push(part);
            continue;
        }
        bits.extend(Bit::said(part));
    }
    bits
}

/// Returns the parts of a message of the model's, and after them the results beside its calls.
fn of_model<'r, 'a>(message: &'r Record<'a>) -> Vec<Bit<'r, 'a>> {
    let listed: HashSet<&str> = message
        .tool_calls
        .iter()
        .filter_map(|call| call.id.get())
        .collect();
    // After a checkpoint the content repeats the calls.
    let repeats = |call: &&Call<'_>| match call.id.get() {
        Some(id) => listed.contains(id),
        None => !listed.is_empty(),
    };
    let parts = message.content.0.iter();
    let is_said = |part: &&Parts<'_>| part.thought != Some(true) && text_of(part).is_some();
    let said = parts.clone().filter(is_said);
    let mut bits: Vec<Bit<'r, 'a>> = said.filter_map(Bit::said).collect();
    let calls = parts.filter_map(|part| part.function_call.as_ref());
    let calls = calls.filter(|call| !repeats(call));
    bits.extend(calls.chain(&message.tool_calls).map(Bit::Call));
    bits.extend(message.tool_calls.iter().flat_map(results));
    bits
}

/// Returns the results next to a call: those of parallel calls contain each other's.
fn results<'r, 'a>(call: &'r Call<'a>) -> impl Iterator<Item = Bit<'r, 'a>> {
    let responses = call.result.iter();
    let responses = responses.filter_map(|part| part.function_response.as_ref());
    let is_own = |response: &&Response<'_>| {
        response.id.get().is_none() || response.id.get() == call.id.get()
    };
    responses.filter(is_own).map(|response| {
        let others = call.result.iter();
        let others = others.filter(|part| part.function_response.is_none());
        Bit::Result {
            response,
            call: Some(call),
            beside: others.collect(),
        }
    })
}

/// Returns the author of a text that begins so in a message of the user's, and its kind.
pub(super) fn class(bits: &[Bit<'_, '_>]) -> (Role, Kind) {
    let text = bits.iter().find_map(Bit::text);
    let start = text.unwrap_or_default().trim_start();
    if start.starts_with(SNAPSHOT) {
        (Role::Container, Kind::Summary)
    } else if NOTES.iter().any(|note| start.starts_with(note)) {
        (Role::Container, Kind::Reminder)
    } else {
        (Role::User, Kind::Text)
    }
}

/// Returns the items of neighbouring parts of a message of the user's. What hooks have put into it is not the user's.
pub(super) fn of_one_step(
    bits: &[Bit<'_, '_>],
    class: (Role, Kind),
    out: &mut EventSink<'_>,
) -> Vec<NewItem> {
    let texts = bits.iter().filter_map(Bit::text);
    let hooks: String = texts.map(|text| split_hook(text).0).collect();
    if class.0 != Role::User || hooks.is_empty() {
        return item(bits, class, out).into_iter().collect();
    }
    let of_hooks = own_bytes_of_text(&hooks);
    let own = bits.iter().map(own_bytes).sum::<u64>();
    let hook = out.item(Role::Container, Kind::Reminder).text(&hooks);
    let hook = hook.own_bytes(of_hooks).done();
    let said = bits.iter().fold(out.item(class.0, class.1), add_said);
    vec![hook, said.own_bytes(own.saturating_sub(of_hooks)).done()]
}

/// Returns a text's beginning that a hook has added, and what follows.
fn split_hook(text: &str) -> (&str, &str) {
    let end = if text.starts_with("<hook_context>") {
        text.find(HOOK_END).map_or(0, |at| at + HOOK_END.len())
    } else {
        0
    };
    text.split_at(end)
}

const HOOK_END: &str = "</hook_context>";

/// Returns the item of neighbouring parts that are one: several of what was said, else a single one.
pub(super) fn item(
    bits: &[Bit<'_, '_>],
    said: (Role, Kind),
    out: &mut EventSink<'_>,
) -> Option<NewItem> {
    let own_bytes = bits.iter().map(own_bytes).sum();
    let item = match bits.first()? {
        Bit::Said { .. } => {
            let item = out.item(said.0, said.1);
            bits.iter().fold(item, add)
        }
        Bit::Call(call) => call.add_to(out.item(Role::Assistant, Kind::ToolCall)),
        Bit::Result {
            response,
            call,
            beside,
        } => result(response, *call, beside, out),
    };
    Some(item.own_bytes(own_bytes).done())
}

/// Returns Gemini CLI's own count of a part, in bytes of four to a token
/// (`packages/core/src/utils/tokenCalculation.ts`).
fn own_bytes(bit: &Bit<'_, '_>) -> u64 {
    let of_file = |part: &Parts<'_>| own_tokens(part) * 4;
    match bit {
        Bit::Said { part, .. } => text_of(part).map_or_else(|| of_file(part), own_bytes_of_text),
        Bit::Call(call) => {
            let texts = [call.id.or_empty(), call.name.or_empty()];
            let texts = texts.into_iter().chain(call.args.map(|args| args.get()));
            texts.map(utf16_length).sum::<u64>() + CALL_FRAME
        }
        Bit::Result {
            response, beside, ..
        } => {
            let value = response
                .response
                .map_or(0, |value| utf16_length(value.get()));
            let files: u64 = beside.iter().map(|part| of_file(part)).sum();
            utf16_length(response.name.or_empty()) + value + files
        }
    }
}

fn own_bytes_of_text(text: &str) -> u64 {
    let length = utf16_length(text);
    if length > LONG_TEXT {
        return length;
    }
    whole(text, |shown| {
        let ascii = shown.bytes().filter(u8::is_ascii).count() as u64;
        ascii + (utf16_length(shown) - ascii) * 6
    })
}

/// Longer texts count four characters a token, whatever they are.
const LONG_TEXT: u64 = 100_000;
/// The JSON around a call's id, name and arguments, in bytes.
const CALL_FRAME: u64 = 43;

fn add<'s, 'm>(item: ItemBuilder<'s, 'm>, bit: &Bit<'_, '_>) -> ItemBuilder<'s, 'm> {
    let Bit::Said { part, .. } = bit else {
        return item;
    };
    match (text_of(part), media(part)) {
        (Some(text), _) => item.text(text),
        (None, Some((tokens, label))) => item.fixed(tokens, label),
        (None, None) => item,
    }
}

/// Like [`add`], but leaves out the text that a hook has added.
fn add_said<'s, 'm>(item: ItemBuilder<'s, 'm>, bit: &Bit<'_, '_>) -> ItemBuilder<'s, 'm> {
    match bit.text().map(split_hook) {
        Some((hook, said)) if !hook.is_empty() => item.text(said.trim_start()),
        _ => add(item, bit),
    }
}

/// Returns a tool's result, with what was sent beside it.
fn result<'s, 'm>(
    response: &Response<'_>,
    call: Option<&Call<'_>>,
    beside: &[&Parts<'_>],
    out: &'s mut EventSink<'m>,
) -> ItemBuilder<'s, 'm> {
    let name = response.name.get();
    let name = name.or(call.and_then(|call| call.name.get()));
    let (role, kind) = match name {
        Some("activate_skill") => (Role::Container, Kind::Skill),
        _ => (Role::Tool, Kind::ToolResult),
    };
    let id = response.id.get();
    let id = id.or(call.and_then(|call| call.id.get()));
    let mut item = out.item(role, kind).tool(name).call(id);
    item = lenient::strings(item, response.response);
    for part in beside {
        item = item.text(part.text.or_empty());
        if let Some((tokens, label)) = media(part) {
            item = item.fixed(tokens, label);
        }
    }
    item
}
