//! Gemini CLI.
//!
//! A session is a JSON Lines file of messages; before version 0.39 one JSON document, rewritten in
//! place. After its chat recording service (google-gemini/gemini-cli, `packages/core/src/services`),
//! checked on two real sessions:
//!
//! * A message is written anew, whole, whenever it gains tokens or tool calls: the same id takes the
//!   place of what was there. So tokens may come before, with or after the text they belong to.
//! * `{"$set":{"messages":[…]}}` is a checkpoint: the history is this list and no other. It is written
//!   after a compression, but as well when tool results were masked or a history was loaded; nothing
//!   else shows a compression. Messages that survive keep the tokens of their time, which are not those
//!   of the context after it.
//! * `{"$rewindTo":id}` takes that message away and all after it; everything, where the id is unknown.
//! * `input` includes `cached`; `output` does not include `thoughts`, and thoughts leave: 12,207 with
//!   105 of output and 153 of thoughts became 12,350, the result being 38. Numbers that are missing are
//!   written as 0, so a prompt of 0 is an unknown one.
//! * `tool` are tokens of what the provider's own tools returned within the request
//!   (`toolUsePromptTokenCount`): input beside `input`, since the total is the sum of `input`, `tool`,
//!   `output` and `thoughts` (google-genai's types), and in no later prompt.
//! * Tool results are next to their calls; after a checkpoint in messages of the user too, and the
//!   results of parallel calls then contain each other's.

use super::format::{THOUGHTS, names};
use super::genai::{Call, Response};
use super::lenient::{self, Text};
use super::{Claim, Decoder, Format, List, Root, StoreKind, decoder, head};
use crate::model::event::{
    Billed, Event, ItemBuilder, Key, Meta, NewItem, Node, Part, Sink, Usage,
};
use crate::model::{Gone, Kind, Role};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::path::Path;

mod record;
mod settings;
use record::{Facts, Record, Tokens, media};

/// The beginning of a summary.
const SNAPSHOT: &str = "<state_snapshot>";
/// The beginning of what replaces a tool result.
const MASKED: &str = "<tool_output_masked>";
/// The beginnings of the harness's notes in the user's name: now, and in older versions.
const NOTES: [&str; 2] = ["<session_context>", "This is the Gemini CLI."];

/// The format.
pub static GEMINI_CLI: Format = Format {
    id: "gemini-cli",
    label: "gemini",
    // The variable replaces the home directory, not the folder in it.
    roots: &[Root::home("", ".gemini/tmp").env("GEMINI_CLI_HOME")],
    facts: super::Facts {
        mark: "`sessionId` beside `projectHash`",
        live: "each line; up to 0.38 each rewrite",
        known: "prompts, outputs, thoughts",
        estimated: "",
        sub_agents: "in files of their own",
        compactions: "told from checkpoints; not in older logs",
        tried: "0.40, and documents of before 0.39",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<GeminiCliDecoder>,
    store: &store,
    list: Some(List::Json("messages")),
    reset_marks: &[r#""messages":["#],
    terms: THOUGHTS,
    settings: Some(&settings::SETTINGS),
    harmless: "info warning error",
    ..Format::DEFAULT
};

/// `chats/session-….json`, `chats/session-….jsonl`, and a sub-agent's `chats/<parent>/<id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let name = names.next()?;
    let (parent, grandparent) = (names.next()?, names.next());
    if parent == "chats" && name.starts_with("session-") {
        let store = match name.rsplit_once('.')?.1 {
            "json" => StoreKind::Document,
            "jsonl" => StoreKind::Lines,
            _ => return None,
        };
        // The name holds only the first eight characters of the id.
        return Some(Claim::LINES.kept_in(store));
    }
    if grandparent != Some("chats") {
        return None;
    }
    Some(Claim::session(name.strip_suffix(".jsonl")?).child_of(parent))
}

fn recognise(head: &[u8]) -> bool {
    let marks = [r#""sessionId""#, r#""projectHash""#];
    head::is_object(head) && marks.iter().all(|mark| head::has(head, mark))
}

/// A document on one line holds the messages that a first line of many does not.
fn store(head: &[u8]) -> Option<StoreKind> {
    match head::has(head::first_line(head), r#""messages":["#) {
        true => Some(StoreKind::Document),
        false => head::lines_or_document(head),
    }
}

/// The messages since the last checkpoint, and it.
#[derive(Clone, Default)]
struct History {
    order: Vec<Key>,
    parts: HashMap<Key, Part>,
}

impl History {
    fn add(&mut self, key: Key, part: Part) {
        if self.parts.insert(key, part).is_none() {
            self.order.push(key);
        }
    }

    fn rewind(&mut self, key: Key) {
        let from = self.order.iter().position(|k| *k == key).unwrap_or(0);
        for key in self.order.drain(from..) {
            self.parts.remove(&key);
        }
    }

    /// Whether a message is missing from this list. Notices to the user always are.
    fn lacks_some(&self, listed: &HashSet<Key>) -> bool {
        let lacks = |(key, part): (&Key, &Part)| *part != Part::Link && !listed.contains(key);
        self.parts.iter().any(lacks)
    }
}

/// Decodes one session.
#[derive(Clone, Default)]
struct GeminiCliDecoder {
    history: History,
    /// The results seen next to their calls, by the call, with a hash of their text.
    results: HashMap<Key, u64>,
    /// Messages whose tokens of built-in tools have been read.
    built_in: HashSet<Key>,
    /// The newest facts.
    meta: Meta,
}

impl Decoder for GeminiCliDecoder {
    /// The order of these questions is the agent's own.
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        if let Some(key) = record.rewind_to.key() {
            self.history.rewind(key);
            out.emit(Event::RewindTo(key));
        } else if record.id.get().is_some() {
            self.message(&record, true, out);
        } else if let Some(facts) = &record.set {
            meta(facts, out);
            if let Some(messages) = &facts.messages {
                self.checkpoint(messages, out);
            }
        } else if let Some(facts) = lenient::object::<Facts<'_>>(line, out) {
            match facts.session_id.get() {
                Some(_) => meta(&facts, out),
                None => out.unreadable("neither a message nor about the session"),
            }
        }
    }

    fn read_document(&mut self, document: &str, out: &mut Sink<'_>) {
        if let Some(mut facts) = lenient::object::<Facts<'_>>(document, out) {
            if facts.messages.is_none() {
                return out.unreadable("no messages");
            }
            // The document's newest time is not that of its beginning.
            facts.last_updated = Text::default();
            meta(&facts, out);
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl GeminiCliDecoder {
    /// Reads a checkpoint: the history is this list and no other.
    fn checkpoint(&mut self, messages: &[&RawValue], out: &mut Sink<'_>) {
        let records: Vec<Record<'_>> = messages
            .iter()
            .filter_map(|raw| lenient::value(Some(raw), "messages", out))
            .collect();
        let ids: Vec<&str> = records.iter().filter_map(|m| m.id.get()).collect();
        let listed: HashSet<Key> = ids.iter().map(|id| Key::of(id)).collect();
        let is_shorter = self.history.lacks_some(&listed);
        let contains = |text: &str| messages.iter().any(|m| m.get().contains(text));
        let is_compacted = is_shorter && (contains(SNAPSHOT) || !contains(MASKED));
        // A reader that begins here has not read the reports that these messages repeat.
        let is_report = self.history.order.is_empty() && !contains(SNAPSHOT);
        let keys = ids.iter().flat_map(|id| [Key::of(id), results_of(id)]);
        out.emit(Event::Retain {
            keys: keys.collect(),
            cause: match is_compacted {
                true => Gone::Compaction,
                false => Gone::Cleared,
            },
        });
        self.history = History::default();
        for record in &records {
            self.message(record, is_report, out);
        }
    }

    /// Reads a message. `is_report`: its tokens are a new report.
    fn message(&mut self, message: &Record<'_>, is_report: bool, out: &mut Sink<'_>) {
        out.set_time(message.timestamp.time());
        let key = message.id.key();
        let part = match message.kind.or_empty() {
            "user" => self.user(message, out),
            "gemini" => self.gemini(message, is_report, out),
            "" => return out.unreadable("no type"),
            other => {
                let link = Node::new(key, Part::Link, Vec::new());
                GEMINI_CLI.pass_over_node(other, link, out);
                Part::Link
            }
        };
        if let Some(key) = key {
            self.history.add(key, part);
        }
    }

    fn user(&mut self, message: &Record<'_>, out: &mut Sink<'_>) -> Part {
        let mut items: Vec<NewItem> = Vec::new();
        let text: String = message.texts().collect();
        let start = text.trim_start();
        let (role, kind) = if start.starts_with(SNAPSHOT) {
            (Role::Container, Kind::Summary)
        } else if NOTES.iter().any(|note| start.starts_with(note)) {
            (Role::Container, Kind::Reminder)
        } else {
            (Role::User, Kind::Text)
        };
        let media: Vec<_> = message.content.parts().filter_map(media).collect();
        let has_content = !text.is_empty() || !media.is_empty();
        if has_content {
            let item = message
                .texts()
                .fold(out.item(role, kind), ItemBuilder::text);
            let item = media
                .into_iter()
                .fold(item, |item, (tokens, label)| item.fixed(tokens, label));
            items.push(item.done());
        }
        let parts = message.content.parts();
        for response in parts.filter_map(|part| part.function_response.as_ref()) {
            // It may be next to its call already.
            let is_known = |key: Key| self.results.contains_key(&key);
            if !response.id.key().is_some_and(is_known) {
                items.push(result(response, None, out));
            }
        }
        let part = match (role, has_content) {
            (Role::User, true) => Part::Input,
            (_, true) => Part::Injected,
            (_, false) if items.is_empty() => Part::Link,
            (_, false) => Part::Result,
        };
        out.node(Node::new(message.id.key(), part, items));
        part
    }

    fn gemini(&mut self, message: &Record<'_>, is_report: bool, out: &mut Sink<'_>) -> Part {
        let model = Meta::of_model(message.model.boxed());
        out.meta(model.changes(&mut self.meta));
        let tokens = message.tokens.filter(|_| is_report);
        let report = tokens.filter(|tokens| tokens.input.or_zero() > 0);
        let built_in = message.id.get().and_then(|id| {
            let tokens = report.map_or(0, |tokens| tokens.tool.or_zero());
            self.built_in(id, tokens, out)
        });
        let mut items: Vec<NewItem> = Vec::new();
        if message.texts().any(|text| !text.is_empty()) {
            let item = out.item(Role::Assistant, Kind::Text);
            items.push(message.texts().fold(item, ItemBuilder::text).done());
        }
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
        let parts = message.content.parts();
        let calls = parts.filter_map(|part| part.function_call.as_ref());
        for call in calls
            .filter(|call| !repeats(call))
            .chain(message.tool_calls.iter())
        {
            let item = out.item(Role::Assistant, Kind::ToolCall);
            items.push(call.add_to(item).done());
        }
        let request = message.id.get().map(|id| Key::of_parts(&["gemini", id]));
        out.node(Node::output(message.id.key(), request, items));

        let results = self.results(message, out);
        if let (Some(id), false) = (message.id.get(), results.is_empty()) {
            out.node(Node::new(Some(results_of(id)), Part::Result, results));
        }
        if let (Some(tokens), Some(request)) = (report, request) {
            out.usage(usage(tokens, request, message));
        }
        if let Some(key) = built_in {
            out.emit(Event::cleared_node(key));
        }
        Part::Output
    }

    /// The results next to the calls of a message.
    fn results(&mut self, message: &Record<'_>, out: &mut Sink<'_>) -> Vec<NewItem> {
        let mut results: Vec<NewItem> = Vec::new();
        for call in &message.tool_calls {
            let responses = call.result.iter();
            let responses = responses.filter_map(|part| part.function_response.as_ref());
            let is_own = |response: &&Response<'_>| {
                response.id.get().is_none() || response.id.get() == call.id.get()
            };
            for response in responses.filter(is_own) {
                let item = result(response, Some(call), out);
                self.masks(call, &item, out);
                results.push(item);
            }
        }
        results
    }

    /// What the provider's own tools returned, before the output that was made of it. Its node is
    /// emitted as soon as there is a message: its tokens may come later. Returns the node that is to
    /// leave again.
    fn built_in(&mut self, id: &str, tokens: u64, out: &mut Sink<'_>) -> Option<Key> {
        let key = Key::of_parts(&["built-in", id]);
        let is_new = tokens > 0 && self.built_in.insert(key);
        let item = is_new.then(|| {
            out.tool_result(Some("built-in"), None)
                .reported(tokens, "(not in the log)")
                .done()
        });
        if is_new || !self.history.parts.contains_key(&Key::of(id)) {
            out.node(Node::new(Some(key), Part::Link, item.into_iter().collect()));
        }
        is_new.then_some(key)
    }

    /// Where a result became a stub, its text was cleared, not replaced by the model's doing.
    fn masks(&mut self, call: &Call<'_>, item: &NewItem, out: &mut Sink<'_>) {
        let Some(key) = call.id.key() else {
            return;
        };
        let old = self.results.insert(key, item.hash);
        if old.is_some_and(|old| old != item.hash) && item.preview.contains(MASKED) {
            out.emit(Event::cleared_calls(vec![key]));
        }
    }
}

/// A tool's result, with what was sent beside it.
fn result(response: &Response<'_>, call: Option<&Call<'_>>, out: &mut Sink<'_>) -> NewItem {
    let name = response.name.get();
    let name = name.or(call.and_then(|call| call.name.get()));
    let (role, kind) = match name {
        Some("activate_skill") => (Role::Container, Kind::Skill),
        _ => (Role::Tool, Kind::ToolResult),
    };
    let id = response.id.get();
    let id = id.or(call.and_then(|call| call.id.get()));
    let mut item = out.item(role, kind).tool(name).call(id);
    if let Some(value) = response.response {
        item = lenient::strings(item, value);
    }
    for part in call.into_iter().flat_map(|call| &call.result) {
        item = item.text(part.text.or_empty());
        if let Some((tokens, label)) = media(part) {
            item = item.fixed(tokens, label);
        }
    }
    item.done()
}

fn usage(tokens: Tokens, request: Key, message: &Record<'_>) -> Usage {
    let prompt = tokens.input.or_zero() + tokens.tool.or_zero();
    Usage {
        model: message.model.boxed(),
        cached: tokens.cached.or_zero().min(prompt),
        output: tokens.output.0,
        billed: Billed {
            input: prompt,
            cache_creation: 0,
            cache_read: tokens.cached.or_zero(),
            output: tokens.output.or_zero(),
            reasoning: tokens.thoughts.or_zero(),
        },
        ..Usage::reported(request, prompt)
    }
}

/// The key of a message's tool results: they are in the prompt after it, so their node is not its own.
fn results_of(id: &str) -> Key {
    Key::of_parts(&["results", id])
}

fn meta(facts: &Facts<'_>, out: &mut Sink<'_>) {
    out.set_time(facts.last_updated.time().or(facts.start_time.time()));
    // Even an empty one counts as a record, and its time is the session's.
    out.emit(Event::Meta(Box::new(Meta {
        id: facts.session_id.boxed(),
        title: facts.summary.boxed(),
        cwd: facts.directories.iter().next().map(Box::from),
        ..Meta::default()
    })));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing;
    use crate::model::Source;
    use crate::model::event::{ByLength, Entry};
    use crate::model::session::Session;
    use std::sync::Arc;

    fn fold(entries: Vec<Entry>) -> Session {
        let rules = toml::from_str(include_str!("../../assets/models.toml")).unwrap();
        let mut session = Session::new("gemini-cli", Arc::new(rules));
        entries.into_iter().for_each(|entry| session.apply(entry));
        session
    }

    fn session(log: &str) -> Session {
        fold(testing::read(&GEMINI_CLI, log.lines()))
    }

    fn document(log: &str) -> Session {
        let mut out = Sink::new(&ByLength);
        GeminiCliDecoder::default().read_document(log, &mut out);
        fold(out.entries)
    }

    fn previews(session: &Session) -> Vec<&str> {
        let alive = session.alive();
        alive
            .iter()
            .map(|ix| &*session.items()[*ix].preview)
            .collect()
    }

    fn prompts(session: &Session) -> Vec<u64> {
        session.requests().iter().map(|r| r.prompt).collect()
    }

    macro_rules! case {
        ($name:literal) => {
            case!($name, "log.jsonl")
        };
        ($name:literal, $file:literal) => {
            include_str!(concat!(
                "../../tests/fixtures/gemini-cli/",
                $name,
                "/",
                $file
            ))
        };
    }

    #[test]
    fn the_same_id_again_is_the_same_message() {
        let session = session(case!("same-id"));
        assert_eq!(
            previews(&session),
            [
                "Which files?",
                "Let me see.",
                "ls {\"path\":\".\"}",
                "a.rs b.rs",
                "Two."
            ]
        );
        assert_eq!(
            prompts(&session),
            [12_000, 12_060],
            "tokens that are repeated count once"
        );
        assert_eq!(session.requests()[0].output, Some(30));
        assert_eq!(session.turns, 1);
    }

    #[test]
    fn thoughts_leave() {
        let session = session(case!("thoughts"));
        assert_eq!(prompts(&session), [12_207, 12_350]);
        let result = &session.items()[session.alive()[2]];
        assert_eq!(result.settled, Some((38, Source::Derived)));
        let billed = session.requests()[0].billed;
        assert_eq!((billed.output, billed.reasoning), (105, 153));
        assert_eq!(session.context().known, 12_350 + 51);
    }

    #[test]
    fn what_built_in_tools_gave_is_known_and_in_one_prompt() {
        let session = session(case!("built_in_tools_are_known_and_leave"));
        assert_eq!(prompts(&session), [14_500, 12_050]);
        let given = session.items().iter().find(|item| item.role == Role::Tool);
        let given = given.unwrap();
        assert_eq!(given.settled, Some((2_500, Source::Reported)));
        let carried: Vec<_> = given.spans_held(session.requests().len()).collect();
        assert!(matches!(&carried[..], [only] if *only == (0..1)));
        assert_eq!(session.context().known, 12_060);
    }

    #[test]
    fn no_tokens_or_zeros_are_no_report() {
        let session = session(case!("no-tokens"));
        assert_eq!(prompts(&session), [12_000, 12_100]);
        assert_eq!(session.unreadable, 0);
    }

    #[test]
    fn notices_and_what_is_only_shown_are_not_in_the_context() {
        let session = session(case!("notices"));
        assert_eq!(
            previews(&session),
            ["<session_context> Linux", "run it", "sh {}", "ok"]
        );
        let roles: Vec<Role> = session
            .alive()
            .iter()
            .map(|ix| session.items()[*ix].role)
            .collect();
        assert_eq!(
            roles,
            [Role::Container, Role::User, Role::Assistant, Role::Tool]
        );
        let skipped: Vec<&str> = session.skipped.keys().map(|kind| &**kind).collect();
        assert_eq!(skipped, ["error", "info", "warning"]);
        assert_eq!(session.turns, 1);
    }

    #[test]
    fn a_checkpoint_that_lost_messages_is_a_compaction() {
        let session = session(case!("compaction"));
        assert_eq!(session.resets().len(), 1);
        assert_eq!(
            (session.resets()[0].place.line, session.resets()[0].before),
            (6, 12_165)
        );
        assert_eq!(
            previews(&session),
            [
                "kept",
                "Kept too.",
                "<state_snapshot>All that was.",
                "Got it."
            ]
        );
        assert_eq!(
            prompts(&session),
            [12_000, 12_115],
            "surviving tokens are old ones"
        );
        assert_eq!(session.context().known, 0);
    }

    #[test]
    fn the_first_tokens_after_a_compaction_are_an_anchor() {
        let after =
            r#"{"id":"n9","type":"gemini","content":"Go.","tokens":{"input":12050,"output":5}}"#;
        let log = case!("compaction").lines().chain([after]);
        let session = fold(testing::read(&GEMINI_CLI, log));
        assert_eq!(session.context().known, 12_055);
        assert_eq!(session.resets()[0].after, Some(12_050));
    }

    #[test]
    fn a_checkpoint_that_masks_results_is_none() {
        let session = session(case!("masked"));
        assert_eq!(session.resets().len(), 0);
        let masked = session
            .items()
            .iter()
            .find(|item| item.preview.starts_with("long"));
        assert_eq!(
            masked.unwrap().left.map(|left| left.why),
            Some(Gone::Cleared)
        );
        assert_eq!(
            previews(&session),
            [
                "read it",
                "cat {}",
                "<tool_output_masked>12 kB</tool_output_masked>",
                "Read."
            ]
        );
        assert_eq!(prompts(&session), [10_000, 10_085]);
    }

    #[test]
    fn results_stand_once_though_parallel_calls_hold_each_others() {
        let session = session(case!("parallel"));
        assert_eq!(
            previews(&session),
            ["both", "a {}", "b {}", "result a", "result b"]
        );
        assert_eq!(session.resets().len(), 0);
    }

    #[test]
    fn a_rewind_takes_all_from_there_on() {
        let log = case!("rewind");
        assert_eq!(previews(&session(log)), ["one", "One.", "three"]);
        let unknown = log.replace("{\"$rewindTo\":\"u2\"}", "{\"$rewindTo\":\"nobody\"}");
        assert_eq!(previews(&session(&unknown)), ["three"]);
    }

    #[test]
    fn hostile_lines_are_counted() {
        let session = session(case!("hostile"));
        assert_eq!(session.unreadable, 5);
        assert_eq!(session.lost_fields.get("messages"), Some(&1));
        assert_eq!(prompts(&session), [1_000]);
        assert_eq!(session.requests()[0].output, None);
        assert_eq!(document("[]").unreadable, 1);
        assert_eq!(document("").unreadable, 1);
    }

    #[test]
    fn names() {
        let claim = |path: &str| GEMINI_CLI.claims(Path::new(path));
        let main = claim("/t/p/chats/session-2026-08-01T10-00-aabbccdd.jsonl").unwrap();
        assert_eq!(
            (main.store, main.id, main.parent),
            (StoreKind::Lines, None, None)
        );
        let old = claim("/t/p/chats/session-2026-01-01T10-00-aabbccdd.json").unwrap();
        assert_eq!(old.store, StoreKind::Document);
        let side = claim("/t/p/chats/parent-id/side-id.jsonl").unwrap();
        assert_eq!(side.id.as_deref(), Some("side-id"));
        assert_eq!(side.parent.as_deref(), Some("parent-id"));
        for other in [
            "/t/p/logs.json",
            "/t/p/chats/x.jsonl",
            "/t/p/chats/a/b.json",
            "x",
        ] {
            assert_eq!(claim(other), None, "{other}");
        }
        assert!(GEMINI_CLI.recognise(b" {\n \"sessionId\": 1,\n \"projectHash\": \"ab"));
        assert!(!GEMINI_CLI.recognise(b"{\"sessionId\":\"x\",\"type\":\"user\"}"));
    }
}
