//! Kiro's command line.
//!
//! A session is `sessions/cli/<id>.jsonl`, which only grows, and `<id>.json` beside it, rewritten at the end
//! of each turn. What public readers of 2.14 to 2.24 agree on (getagentseal/codeburn, `docs/providers/kiro.md`,
//! `src/providers/kiro.ts`; inference-sh/agentprotocol, `transcript/kiro`):
//!
//! * A record is `version`, `kind` and `data`. A content is a list of `kind` and `data`: text, thinking, calls,
//!   results, images as lists of bytes. Only prompts have a time. A record with an id that was there already is
//!   the same message.
//! * `Compaction` has the summary and a copy of the messages that stay, `messages_snapshot`. After `Clear`
//!   nothing of before is sent. `CancelledPrompt` takes away the user's message before it. Rewinding begins
//!   another session.
//! * No provider's number is kept: the token counts of a turn are 0. How full the window was at its end is a
//!   percentage from Kiro's server, `last_context_usage` or `context_usage_percentage`: with the window beside
//!   it, that is read as the agent's own number. It holds the system prompt and the tools, which are in no file.
//! * Since 3, and in the editor's second version, a session is `sessions/<workspace>/<id>/messages.jsonl` with
//!   `session.json` beside it. A record has a `payload` of a `type`, a `toolName` and a `content`, or it is a message
//!   with a `role`. Readers agree on no more (getagentseal/codeburn; chattymin/PokeTokenBar, pull request 238).
//! * The editor's older sessions, and those of before in a database, are not read.
//! * Nothing shows whether a compaction was asked for, or at what size Kiro compacts by itself.

mod session;

use decode::anthropic::ToolNames;
use decode::image;
use decode::lenient::{self, Count, Raw, Text, record};
use decode::openai::{self, Content};
use decode::sums::PendingResponse;
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, Totals, decoder, head,
};
use jiff::Timestamp;
use model::event::{
    Cause, Event, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Part, Reset, RetainedItems,
    Usage,
};
use model::{Kind, LeaveReason, Role};
use session::Session;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The format.
pub static KIRO: Format = Format {
    id: "kiro",
    roots: &[Root::home(".kiro", "sessions").env("KIRO_HOME")],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<KiroDecoder>,
    reset_marks: &[r#""Compaction""#, r#""Clear""#],
    harmless: "ResetTo turn_start turn_end usage_summary session_metadata",
    totals: Totals::new(&[]),
    beside: FilesBeside::states(|log| {
        let is_of_3 = log.ends_with("messages.jsonl");
        vec![if is_of_3 {
            log.with_file_name("session.json")
        } else {
            log.with_extension("json")
        }]
    }),
    ..Format::DEFAULT
};

/// Claims `sessions/cli/<session id>.jsonl` and `sessions/<workspace>/<session id>/messages.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    if id == "messages" {
        let session = path.parent()?.file_name()?.to_str()?;
        return session
            .starts_with("sess_")
            .then(|| Claim::session(session));
    }
    let is_its = path.parent()?.ends_with("sessions/cli");
    is_its.then(|| Claim::session(id))
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let kinds = [
        "Prompt",
        "AssistantMessage",
        "ToolResults",
        "Compaction",
        "Clear",
    ];
    let start = head::solid(line, 64);
    let has_kind = |kind: &&str| head::has(&start, &format!(r#""kind":"{kind}""#));
    start.starts_with(br#"{"version":"v"#) && kinds.iter().any(has_kind)
}

record! {
    struct Record<'a> {
        kind: Text<'a>,
        data: Data<'a>,
        /// Since 3.
        id: Text<'a>,
        timestamp: Text<'a>,
        role: Text<'a>,
        content: Content<'a>,
        payload: Option<Payload<'a>>,
    }

    struct Payload<'a> {
        kind: Text<'a> = "type",
        operation: Text<'a> = "operationType",
        tool: Text<'a> = "toolName" | "name",
        call: Text<'a> = "toolCallId",
        input: Option<Raw<'a>> = "input" | "arguments",
        content: Content<'a>,
    }

    struct Data<'a> {
        id: Text<'a> = "message_id" | "id",
        role: Text<'a>,
        content: Vec<Block<'a>>,
        timestamp: Count = "meta" / "timestamp",
        summary: Text<'a>,
        snapshot: Vec<Data<'a>> = "messages_snapshot",
    }

    struct Block<'a> {
        kind: Text<'a>,
        data: Option<Raw<'a>>,
    }

    /// The data of a thought, a call or a result.
    struct Body<'a> {
        text: Text<'a>,
        id: Text<'a> = "toolUseId",
        name: Text<'a>,
        input: Option<Raw<'a>>,
        content: Vec<Block<'a>>,
    }
}

impl Data<'_> {
    /// Returns true if it holds results of tools.
    fn has_results(&self) -> bool {
        let mut blocks = self.content.iter();
        blocks.any(|block| block.kind.get() == Some("toolResult"))
    }
}

impl<'a> Block<'a> {
    /// Returns the data, where it is a string.
    fn string(&self) -> Option<Cow<'a, str>> {
        json::string(self.data?.get())
    }

    /// Returns the data, where it is an object.
    fn body(&self, out: &mut EventSink<'_>) -> Body<'a> {
        lenient::value(self.data, "data", out)
    }

    /// Adds a piece of a message or a result to an item.
    fn add<'s, 'm>(&self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        match (self.kind.or_empty(), self.string(), self.data) {
            ("image", _, _) => item.fixed(image::DEFAULT, "[image]"),
            (_, Some(text), _) => item.text(&text),
            (_, None, Some(data)) => lenient::raw(item, data),
            (_, None, None) => item,
        }
    }
}

/// Decodes one session.
#[derive(Default)]
struct KiroDecoder {
    /// The facts in `<id>.json`, and those that were emitted.
    facts: Meta,
    meta: Meta,
    /// The sizes at the ends of turns that were not emitted.
    ends: HashMap<Key, u64>,
    /// The model's messages, and when those with a size were emitted.
    answers: HashMap<Key, PendingResponse>,
    emitted: HashMap<Key, u64>,
    messages: HashSet<Key>,
    /// The user's message at the end of the conversation.
    unanswered: Option<Key>,
    at: Option<Timestamp>,
    tools: ToolNames,
}

impl Decoder for KiroDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let session: Session<'_> = lenient::state(document, out)?;
        self.facts = session.meta();
        self.ends = session.ends();
        // Sizes of messages that were read go before those of the lines that follow.
        if !self.answers.is_empty() {
            self.read_end(out);
        }
        Some(StateUpdate::Accepted)
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        if record.payload.is_some() || record.role.get().is_some() {
            return self.record_of_3(&record, out);
        }
        let data = &record.data;
        self.at = data
            .timestamp
            .0
            .and_then(|_| data.timestamp.time())
            .or(self.at);
        out.set_time(self.at);
        out.meta(self.facts.clone().changes(&mut self.meta));
        match record.kind.or_empty() {
            "Prompt" => self.message(data, Part::Input, out),
            "ToolResults" => self.message(data, Part::Result, out),
            "AssistantMessage" => self.message(data, Part::Output, out),
            "Compaction" => self.compaction(data, out),
            "Clear" => {
                self.unanswered = None;
                out.reset(Reset::new(
                    LeaveReason::Clear,
                    Cause::Manual,
                    RetainedItems::Nothing,
                ));
            }
            "CancelledPrompt" => match self.unanswered.take() {
                Some(prompt) => out.emit(Event::cleared_node(prompt)),
                None => out.skip("CancelledPrompt"),
            },
            "" if data.has_results() => self.message(data, Part::Result, out),
            "" => out.unreadable("no kind"),
            other => KIRO.pass_over(other, out),
        }
    }

    /// Emits the facts and sizes that were written beside the log after the messages they are about.
    fn read_end(&mut self, out: &mut EventSink<'_>) {
        out.meta(self.facts.clone().changes(&mut self.meta));
        let is_new = |(key, tokens): &(&Key, &u64)| self.emitted.get(key) != Some(tokens);
        let new = self.ends.iter().filter(is_new);
        let new = new.filter_map(|(key, tokens)| Some((*self.answers.get(key)?, *tokens)));
        let mut sizes: Vec<_> = new.collect();
        sizes.sort_by_key(|(answer, _)| answer.place);
        for (answer, tokens) in sizes {
            answer.begin(out);
            self.size(answer.request, tokens, out);
        }
    }
}

impl KiroDecoder {
    /// Emits the size by Kiro's own number when this message was the last one.
    fn size(&mut self, message: Key, tokens: u64, out: &mut EventSink<'_>) {
        self.emitted.insert(message, tokens);
        out.usage(Usage {
            model: self.meta.model.clone(),
            ..Usage::estimated(message, tokens)
        });
    }

    /// Takes in a record of version 3.
    fn record_of_3(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        out.set_time(record.timestamp.time());
        out.meta(self.facts.clone().changes(&mut self.meta));
        let flat = Payload {
            kind: record.role.clone(),
            content: record.content.clone(),
            ..Payload::default()
        };
        let payload = record.payload.as_ref().unwrap_or(&flat);
        let text = |item: ItemBuilder<'_, '_>| openai::whole(&payload.content, item);
        let (part, item) = match payload.kind.or_empty() {
            "user" => (Part::Input, text(out.item(Role::User, Kind::Text))),
            "assistant" => {
                let kind = match payload.operation.or_empty() {
                    "Reasoning" => Kind::Thinking,
                    _ => Kind::Text,
                };
                (Part::Output, text(out.item(Role::Assistant, kind)))
            }
            "tool_call" => {
                let (call, name) = (payload.call.get(), payload.tool.get());
                (
                    Part::Output,
                    self.tools.call(call, name, payload.input, out),
                )
            }
            "tool_result" => {
                let name = payload.tool.get().or(self.tools.get(payload.call.get()));
                (
                    Part::Result,
                    text(out.tool_result(name, payload.call.get())),
                )
            }
            other => return KIRO.pass_over(other, out),
        };
        out.node(Node::new(record.id.key(), part, vec![item]));
    }

    fn message(&mut self, data: &Data<'_>, part: Part, out: &mut EventSink<'_>) {
        let key = data.id.key();
        self.messages.extend(key);
        let items = self.items(data, part, out);
        if part != Part::Output {
            self.unanswered = key;
            return out.node(Node::new(key, part, items));
        }
        self.unanswered = None;
        out.node(Node::output(key, key, items));
        if let Some(key) = key {
            self.answers.insert(key, PendingResponse::new(key, out));
            if let Some(tokens) = self.ends.get(&key) {
                self.size(key, *tokens, out);
            }
        }
    }

    fn items(&mut self, data: &Data<'_>, part: Part, out: &mut EventSink<'_>) -> Vec<NewItem> {
        let role = match part {
            Part::Output => Role::Assistant,
            _ => Role::User,
        };
        let mut items = Vec::new();
        for block in data.content.iter() {
            match block.kind.or_empty() {
                "text" | "image" => {
                    if block.string().is_none_or(|text| !text.trim().is_empty()) {
                        items.push(block.add(out.item(role, Kind::Text)).done());
                    }
                }
                "thinking" => {
                    // A withheld thought has no text.
                    let body = block.body(out);
                    if let Some(text) = body.text.get().filter(|text| !text.is_empty()) {
                        items.push(out.text(role, Kind::Thinking, text));
                    }
                }
                "toolUse" => {
                    let body = block.body(out);
                    items.push(
                        self.tools
                            .call(body.id.get(), body.name.get(), body.input, out),
                    );
                }
                "toolResult" => {
                    let body = block.body(out);
                    let id = body.id.get();
                    let item = out.tool_result(self.tools.get(id), id);
                    let parts = body.content.iter();
                    items.push(parts.fold(item, |item, part| part.add(item)).done());
                }
                "" => out.unknown("piece of a message without a kind"),
                other => out.unknown(format!("{other} in a message")),
            }
        }
        items
    }

    /// Compacts the context. The summary and the listed messages remain. Of these, the messages before the place from
    /// which the log was read are not known yet.
    fn compaction(&mut self, data: &Data<'_>, out: &mut EventSink<'_>) {
        self.unanswered = None;
        let listed = data.snapshot.iter();
        let kept = listed.filter_map(|message| message.id.key());
        let kept = kept.filter(|key| self.messages.contains(key)).collect();
        out.reset(Reset::compaction(
            Cause::Unlogged,
            RetainedItems::Nodes(kept),
        ));
        if let Some(summary) = data.summary.get() {
            let item = out.text(Role::Container, Kind::Summary, summary);
            out.node(Node::new(None, Part::Injected, vec![item]));
        }
        for message in data.snapshot.iter() {
            let key = message.id.key();
            if key.is_some_and(|key| self.messages.insert(key)) {
                let part = match message.role.or_empty() {
                    "assistant" => Part::Output,
                    _ if message.has_results() => Part::Result,
                    _ => Part::Input,
                };
                let items = self.items(message, part, out);
                out.node(Node {
                    turn: false,
                    ..Node::new(key, part, items)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::ByLength;

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        let claim = KIRO.claims(Path::new("/home/dev/.kiro/sessions/cli/c4a1.jsonl"));
        assert_eq!(claim.and_then(|claim| claim.id), Some("c4a1".to_owned()));
        assert!(
            KIRO.claims(Path::new("/home/dev/.kiro/sessions/cli/c4a1.json"))
                .is_none()
        );
        let of_3 = KIRO.claims(Path::new(
            "/home/dev/.kiro/sessions/ws/sess_c4/messages.jsonl",
        ));
        assert_eq!(of_3.and_then(|claim| claim.id), Some("sess_c4".to_owned()));
        assert!(KIRO.recognise(br#"{"version":"v1", "kind":"Prompt","data":{"message_id":"#));
        assert!(!KIRO.recognise(br#"{"version":"v1","kind":"chat","data":{}}"#));
    }

    #[test]
    fn version_3_has_payloads_or_roles() {
        let mut decoder = KiroDecoder::default();
        let mut out = EventSink::new(&ByLength);
        let session = r#"{"id":"sess_c4","workspacePaths":["/home/dev/shop"],"modelId":"glm-5"}"#;
        decoder.read_state(session, &mut out);
        for line in [
            r#"{"id":"m1","role":"user","content":"Count the sacks."}"#,
            r#"{"id":"m2","payload":{"type":"assistant","operationType":"Reasoning","content":"A tool."}}"#,
            r#"{"id":"m3","payload":{"type":"tool_call","toolName":"shell","toolCallId":"c1"}}"#,
            r#"{"id":"m4","payload":{"type":"tool_result","toolCallId":"c1","content":"12"}}"#,
            r#"{"id":"m5","payload":{"type":"usage_summary"}}"#,
            r#"{"id":"m6","role":"assistant","content":[{"text":"Twelve."}]}"#,
        ] {
            decoder.read_line(line, &mut out);
        }
        let nodes = out.entries.iter().filter_map(|entry| match &entry.event {
            Event::Node(node) => Some(&node.items[0]),
            _ => None,
        });
        let items = nodes.map(|item| (item.kind, item.tool.as_deref(), &*item.preview));
        let expected = [
            (Kind::Text, None, "Count the sacks."),
            (Kind::Thinking, None, "A tool."),
            (Kind::ToolCall, Some("shell"), "shell"),
            (Kind::ToolResult, Some("shell"), "12"),
            (Kind::Text, None, "Twelve."),
        ];
        assert_eq!(items.collect::<Vec<_>>(), expected);
        assert_eq!(decoder.meta.cwd.as_deref(), Some("/home/dev/shop"));
        assert_eq!(decoder.meta.model.as_deref(), Some("glm-5"));
    }

    /// The sizes that are reported while lines and documents come.
    #[test]
    fn a_size_that_comes_after_its_message_is_reported_once() {
        let mut decoder = KiroDecoder::default();
        let mut out = EventSink::new(&ByLength);
        let answer =
            r#"{"version":"v1","kind":"AssistantMessage","data":{"message_id":"a1","content":[]}}"#;
        let session = |percent: &str| {
            format!(
                r#"{{"session_state":{{"conversation_metadata":{{"user_turn_metadatas":[{{"message_ids":["p1","a1"],"context_usage_percentage":{percent}}}]}},"rts_model_state":{{"model_info":{{"model_id":"m","context_window_tokens":1000}}}}}}}}"#
            )
        };
        decoder.read_line(answer, &mut out);
        for percent in ["null", "12.5", "12.5", "30"] {
            decoder.read_state(&session(percent), &mut out);
            decoder.read_end(&mut out);
            decoder.read_end(&mut out);
        }
        let sizes = out.entries.iter().filter_map(|entry| match &entry.event {
            Event::Usage(usage) => Some(usage.prompt),
            _ => None,
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [125, 300]);
    }

    #[test]
    fn a_size_that_comes_late_goes_before_those_of_later_answers() {
        let mut decoder = KiroDecoder::default();
        let mut out = EventSink::new(&ByLength);
        let answer = |id: &str| {
            format!(
                r#"{{"version":"v1","kind":"AssistantMessage","data":{{"message_id":"{id}","content":[]}}}}"#
            )
        };
        let session = r#"{"session_state":{"conversation_metadata":{"user_turn_metadatas":[
            {"message_ids":["p1","a1"],"context_usage_percentage":30},
            {"message_ids":["p2","a2"],"context_usage_percentage":10}]},
            "rts_model_state":{"model_info":{"model_id":"m","context_window_tokens":1000}}}}"#;
        decoder.read_line(&answer("a1"), &mut out);
        decoder.read_state(session, &mut out);
        decoder.read_line(&answer("a2"), &mut out);
        decoder.read_end(&mut out);
        let sizes = out.entries.iter().filter_map(|entry| match &entry.event {
            Event::Usage(usage) => Some(usage.prompt),
            _ => None,
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [300, 100]);
    }
}
