//! Mistral Vibe up to version 2.
//!
//! A session is a folder with `messages.jsonl` and `meta.json`. After its sources (mistralai/mistral-vibe,
//! `vibe/core/session/session_logger.py`, `agent_loop.py`, `types.py`):
//!
//! * The messages are OpenAI's, without the system prompt. That is in `meta.json`, and so are the tools with
//!   their schemas: nothing of a prompt is unlogged.
//! * No message has its usage. `stats` in `meta.json`, which is written after the messages, have the newest
//!   request's (`last_turn_prompt_tokens`, `last_turn_completion_tokens`, their sum `context_tokens`) and the
//!   session's sums. So the newest request is known; those before it only while the log is followed.
//! * A compaction begins a new session, whose first message is a summary.
//! * `injected` messages of the user's are the harness's.

use decode::anthropic::ToolNames;
use decode::lenient::{self, Count, LostFields, Text, Window, record};
use decode::openai::{self, Call, Content, Tool};
use decode::sums::{PendingResponse, ReportedSums};
use formats::settings::Layers;
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, Totals, decoder, head,
};
use model::event::{BilledUsage, EventSink, Key, Meta, NewItem, Node, Part, Usage};
use model::{Kind, Role};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The beginning of a summary.
const SUMMARY: &str = "You are continuing a trajectory after a context compaction.";

/// The format.
pub static MISTRAL_VIBE_2: Format = Format {
    id: "mistral-vibe-2",
    roots: &[
        Root::home(".vibe", "logs/session").env("VIBE_HOME"),
        Root::home(".vibe", "config.toml")
            .env("VIBE_HOME")
            .listing("session_logging.save_dir", save_dir),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<VibeDecoder>,
    totals: Totals::new(&[("input", |b| b.input), ("output", |b| b.output)]),
    beside: FilesBeside::states(|log| vec![log.with_file_name("meta.json")]),
    ..Format::DEFAULT
};

/// Returns the folder that the configuration names for sessions.
pub(super) fn save_dir(config: &[u8]) -> Vec<PathBuf> {
    let layers = Layers::toml(&[config]);
    let folder = layers.find("/session_logging/save_dir", Value::as_str);
    folder.into_iter().map(PathBuf::from).collect()
}

/// Claims `session_<time>_<id>/messages.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let is_log = path.file_name()? == "messages.jsonl" && folder.contains('_');
    is_log.then_some(Claim::LINES)
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    line.starts_with(br#"{"role": "#) && head::has(line, r#""message_id": "#)
}

record! {
    struct Message<'a> {
        role: Text<'a>,
        content: Content<'a>,
        injected: bool,
        reasoning: Text<'a> = "reasoning_content",
        calls: Vec<Call<'a>> = "tool_calls",
        name: Text<'a>,
        call: Text<'a> = "tool_call_id",
        id: Text<'a> = "message_id",
    }

    /// `meta.json`.
    struct About<'a> {
        id: Text<'a> = "session_id",
        title: Text<'a>,
        cwd: Text<'a> = "environment" / "working_directory",
        config: Config<'a>,
        stats: Stats,
        tools: Vec<Offer<'a>> = "tools_available",
        prompt: Option<Message<'a>> = "system_prompt",
    }

    struct Offer<'a> {
        function: Tool<'a>,
    }

    struct Config<'a> {
        model: Text<'a> = "active_model",
        threshold: Window = "auto_compact_threshold",
    }

    #[derive(Copy, PartialEq)]
    whole struct Stats {
        prompts: Count = "session_prompt_tokens",
        outputs: Count = "session_completion_tokens",
        prompt: Count = "last_turn_prompt_tokens",
        output: Count = "last_turn_completion_tokens",
    }
}

/// Decodes one session.
#[derive(Default)]
struct VibeDecoder {
    /// `meta.json`, until it is used.
    document: Option<String>,
    stats: Stats,
    reported: ReportedSums,
    newest: Option<PendingResponse>,
    tools: ToolNames,
    meta: Meta,
}

impl Decoder for VibeDecoder {
    fn read_state(&mut self, document: &str, _: &mut EventSink<'_>) -> Option<StateUpdate> {
        let about: About<'_> = lenient::parse(document, &LostFields::default()).ok()?;
        self.stats = about.stats;
        self.document = Some(document.to_owned());
        Some(StateUpdate::Accepted)
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        self.front(out);
        if let Some(message) = lenient::object::<Message<'_>>(line, out) {
            self.message(&message, out);
        }
    }

    /// Other sums than those that were reported are of a new response, whose message came before them.
    fn read_end(&mut self, out: &mut EventSink<'_>) {
        let sums = BilledUsage::new(self.stats.prompts.or_zero(), self.stats.outputs.or_zero());
        let prompt = self.stats.prompt.or_zero();
        let Some(newest) = self.newest.filter(|_| prompt > 0) else {
            return;
        };
        if let Some(billed) = self.reported.growth(sums, sums) {
            newest.begin(out);
            out.usage(Usage {
                model: self.meta.model.clone(),
                output: self.stats.output.0,
                billed,
                is_whole: true,
                ..Usage::reported(newest.request, prompt)
            });
        }
    }
}

impl VibeDecoder {
    /// Emits the content of `meta.json`: facts, the system prompt, the tools.
    fn front(&mut self, out: &mut EventSink<'_>) {
        let Some(document) = self.document.take() else {
            return;
        };
        let Some(about) = lenient::object::<About<'_>>(&document, out) else {
            return;
        };
        let model = about.config.model.get().map(lenient::model_name);
        let meta = Meta {
            id: about.id.boxed(),
            title: about.title.boxed(),
            cwd: about.cwd.boxed(),
            trigger: about.config.threshold.0,
            ..Meta::of_model(model.map(Into::into))
        };
        out.meta(meta.changes(&mut self.meta));
        let mut items = Vec::new();
        if let Some(prompt) = &about.prompt {
            items.push(prompt.whole(out, Role::Container, Kind::Prompt));
        }
        let tools = about.tools.iter();
        items.extend(tools.map(|tool| tool.function.item(out).done()));
        let key = Some(Key::of("vibe front"));
        out.node(Node::new(key, Part::Front, items));
    }

    fn message(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let key = message.id.key();
        let node = match message.role.or_empty() {
            "user" if message.is_summary() => {
                let item = message.whole(out, Role::Container, Kind::Summary);
                Node::new(key, Part::Injected, vec![item])
            }
            "user" if message.injected => {
                let item = message.whole(out, Role::Container, Kind::Reminder);
                Node::new(key, Part::Injected, vec![item])
            }
            "user" => {
                let item = message.whole(out, Role::User, Kind::Text);
                Node::new(key, Part::Input, vec![item])
            }
            "assistant" => {
                let request = Key::of_number("vibe response", out.place().id());
                self.newest = Some(PendingResponse::new(request, out));
                let Message {
                    reasoning,
                    content,
                    calls,
                    ..
                } = message;
                let items = openai::answer(reasoning, content, calls, &mut self.tools, out);
                Node::output(key, Some(request), items)
            }
            "tool" => {
                let call = message.call.get();
                let tool = message.name.get().or(self.tools.get(call));
                let item = openai::whole(&message.content, out.tool_result(tool, call));
                Node::new(key, Part::Result, vec![item])
            }
            "" => return out.unreadable("no role"),
            other => return out.unknown(format!("{other} message")),
        };
        out.node(node);
    }
}

impl Message<'_> {
    fn is_summary(&self) -> bool {
        openai::texts(&self.content)
            .next()
            .is_some_and(|text| text.trim_start().starts_with(SUMMARY))
    }

    fn whole(&self, out: &mut EventSink<'_>, role: Role, kind: Kind) -> NewItem {
        openai::whole(&self.content, out.item(role, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        let claim = |path| MISTRAL_VIBE_2.claims(Path::new(path)).is_some();
        assert!(claim(
            "/home/dev/.vibe/logs/session/session_20260301_5e55/messages.jsonl"
        ));
        assert!(!claim(
            "/home/dev/.vibe/logs/session/session_20260301_5e55/other.jsonl"
        ));
        let head = br#"{"role": "user", "content": "Hello", "injected": false, "message_id": "1"}"#;
        assert!(MISTRAL_VIBE_2.recognise(head));
        assert!(!MISTRAL_VIBE_2.recognise(br#"{"role":"user","content":"Hello"}"#));
    }
}
