//! Grok Build.
//!
//! A session is a folder, `sessions/<percent-encoded cwd>/<id>/`. Checked on runs of 0.2.111 and 1.0.41:
//!
//! * `updates.jsonl` only grows: the Agent Client Protocol's updates, and Grok's own. A response is what has
//!   the same `streamStartMs`. On its calls `totalTokens` is exactly its prompt and its output; on text it is
//!   Grok's estimate. `turn_completed.usage` is the sum of the turn's requests: a cost, where those are not known.
//! * `output_for_prompt` of a completed call is what the model gets of the result; before, and for the
//!   screen, the same output is written again and again.
//! * The numbers of each request are in `~/.grok/logs/unified.jsonl`, of all sessions and in their order, as
//!   `shell.turn.inference_done`. Requests for titles and summaries are not.
//! * A compaction leaves the system prompt, the environment, the task and the summary. It can come between
//!   a call and its completion: that result is not sent any more. The summary is in a file of its own.
//! * The system prompt and the tools are not in this log. `chat_history.jsonl` has the prompt's messages, but
//!   is rewritten at each compaction, so that it is not read.
//! * `summary.json` has the folder, the model and a title, `signals.json` the window.
//!
//! It compacts at 85 % of the window, at 80 % with the models of its own list (1.0.41), by the last total and a quarter of
//! the bytes of what came since.

mod usage;

use decode::lenient::{
    self, Count, LostFields, Millis, Pieces, Raw, ReportedCount, Text, Window, record,
};
use formats::names;
use formats::settings::{Layers, Settings, SettingsFile, tokens};
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, SidecarRecord, StateUpdate, decoder,
    head,
};
use jiff::Timestamp;
use model::event::{Cause, EventSink, Key, Meta, Node, Part, Reset, RetainedItems};
use model::window::{ModelWindow, Overrides};
use model::{Kind, Role};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;
use usage::Requests;

/// The format.
pub static GROK: Format = Format {
    id: "grok",
    roots: &[Root::home(".grok", "sessions").env("GROK_HOME")],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<GrokDecoder>,
    reset_marks: &[r#""auto_compact_completed""#],
    harmless: "tool_call_update auto_compact_started compaction_checkpoint turn_completed plan \
        available_commands_update current_mode_update",
    turn_over: "turn_completed",
    settings: Some(&SETTINGS),
    beside: FilesBeside {
        states: |log| {
            ["summary.json", "signals.json"]
                .map(|name| log.with_file_name(name))
                .to_vec()
        },
        sidecar: Some(&usage::SIDECAR),
        ..FilesBeside::NONE
    },
    ..Format::DEFAULT
};

const PERCENT_ENV: &str = "GROK_AUTO_COMPACT_THRESHOLD_PERCENT";

const SETTINGS: Settings = Settings::new(&[SettingsFile::Agent("config.toml")], |files| {
    let layers = Layers::toml(files);
    let percent = |value: &Value| {
        let number = || value.as_str()?.parse().ok();
        let share: f64 = value.as_f64().or_else(number)? / 100.0;
        Some(share).filter(|share| (0.01..=1.0).contains(share))
    };
    let by_env = Layers::json(files).find(&format!("/env/{PERCENT_ENV}"), percent);
    let by_file = || layers.find("/session/auto_compact_threshold_percent", percent);
    let session = by_env.or_else(by_file);
    let models = layers.fields("/model").map(|(name, model)| ModelWindow {
        id: model["model"].as_str().unwrap_or(name).to_owned(),
        window: tokens(&model["context_window"]),
        share: percent(&model["auto_compact_threshold_percent"]).filter(|_| session.is_none()),
        from: "config.toml",
        ..ModelWindow::default()
    });
    Overrides {
        share: session,
        models: models
            .filter(|model| model.window.is_some() || model.share.is_some())
            .collect(),
        ..Overrides::default()
    }
})
.env(&[PERCENT_ENV]);

/// Claims `<session id>/updates.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let id = (names.next()? == "updates.jsonl").then(|| names.next())??;
    Some(Claim::session(id))
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    head::is_object(line) && head::has(line, r#""sessionUpdate""#) && head::has(line, r#""params""#)
}

record! {
    struct Record<'a> {
        timestamp: Count,
        params: Params<'a>,
    }

    struct Params<'a> {
        session_id: Text<'a> = "sessionId",
        update: Update<'a>,
        meta: About = "_meta",
    }

    struct Update<'a> {
        kind: Text<'a> = "sessionUpdate",
        content: Pieces<Content<'a>>,
        call: Text<'a> = "toolCallId",
        title: Text<'a>,
        status: Text<'a>,
        input: Option<Raw<'a>> = "rawInput",
        output: Text<'a> = "rawOutput" / "output_for_prompt",
        before: Count = "tokens_before",
        after: Count = "tokens_after",
        window: Window = "context_window",
        model: Text<'a> = "_meta" / "modelId",
        usage: Option<Sum>,
    }

    /// The sum of a turn.
    #[derive(Copy)]
    whole struct Sum {
        input: Count = "inputTokens",
        output: Count = "outputTokens",
        cached: Count = "cachedReadTokens",
        reasoning: Count = "reasoningTokens",
        calls: Count = "modelCalls",
    }

    struct Content<'a> {
        text: Text<'a>,
        inner: Text<'a> = "content" / "text",
    }

    #[derive(Copy)]
    struct About {
        total: ReportedCount = "totalTokens",
        stream: Option<Millis> = "streamStartMs",
        at: Option<Millis> = "agentTimestampMs",
    }

    /// `summary.json` or `signals.json`.
    struct Summary<'a> {
        cwd: Text<'a> = "info" / "cwd",
        model: Text<'a> = "current_model_id",
        title: Text<'a> = "generated_title",
        window: Window = "contextWindowTokens",
    }
}

impl Update<'_> {
    /// Returns the text that the model gets: of a result its own field, else the content.
    fn text(&self) -> String {
        if let Some(output) = self.output.get() {
            return output.to_owned();
        }
        let parts = self.content.0.iter();
        let texts = parts.filter_map(|part| part.text.get().or(part.inner.get()));
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Decodes one session.
#[derive(Default)]
struct GrokDecoder {
    /// The facts in the files beside the log, and those that were emitted.
    summary: Meta,
    meta: Meta,
    tools: decode::anthropic::ToolNames,
    requests: Requests,
    /// The newest message of the user, which every compaction keeps.
    task: Option<Key>,
    /// Calls without a result, and those that a compaction took away.
    open: HashSet<Key>,
    gone: HashSet<Key>,
}

impl Decoder for GrokDecoder {
    fn read_sidecar(&mut self, records: &[SidecarRecord]) -> StateUpdate {
        self.requests = Requests::of(records);
        StateUpdate::RereadLog
    }

    fn read_state(&mut self, document: &str, _: &mut EventSink<'_>) -> Option<StateUpdate> {
        let summary: Summary<'_> = lenient::parse(document, &LostFields::default()).ok()?;
        if let Some(window) = summary.window.0 {
            self.summary.window = Some(window);
            return Some(StateUpdate::Accepted);
        }
        let new = Meta {
            cwd: summary.cwd.boxed(),
            title: summary.title.boxed(),
            ..Meta::of_model(summary.model.boxed())
        };
        let _ = new.changes(&mut self.summary);
        Some(StateUpdate::Accepted)
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        let (params, update) = (&record.params, &record.params.update);
        let seconds = |seconds: u64| Timestamp::from_second(seconds.try_into().ok()?).ok();
        let at = params.meta.at.and_then(Millis::time);
        out.set_time(at.or_else(|| seconds(record.timestamp.0?)));
        let meta = Meta {
            id: params.session_id.boxed(),
            model: update.model.boxed().or(self.summary.model.clone()),
            window: update.window.0.or(self.summary.window),
            ..self.summary.clone()
        };
        out.meta(meta.changes(&mut self.meta));
        self.update(update, params.meta, out);
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        self.requests.settle(out);
    }
}

impl GrokDecoder {
    fn update(&mut self, update: &Update<'_>, about: About, out: &mut EventSink<'_>) {
        let text = |role, kind, out: &mut EventSink<'_>| out.text(role, kind, &update.text());
        match update.kind.or_empty() {
            "user_message_chunk" => {
                self.requests.end(out);
                let key = Key::of_number("grok user", out.place().id());
                self.task = Some(key);
                let item = text(Role::User, Kind::Text, out);
                out.node(Node::new(Some(key), Part::Input, vec![item]));
            }
            "agent_message_chunk" => {
                let item = text(Role::Assistant, Kind::Text, out);
                self.requests.output(about, vec![item], out);
            }
            "agent_thought_chunk" => {
                let item = text(Role::Assistant, Kind::Thinking, out);
                self.requests.output(about, vec![item], out);
            }
            "tool_call" => {
                self.open.extend(update.call.key());
                let (name, call) = (update.title.get(), update.call.get());
                let item = self.tools.call(call, name, update.input, out);
                self.requests.output(about, vec![item], out);
                self.requests.total(about.total.get(), out);
            }
            "tool_call_update" if matches!(update.status.or_empty(), "completed" | "failed") => {
                self.result(update, out);
            }
            "auto_compact_completed" => {
                self.requests.end(out);
                self.gone.extend(self.open.drain());
                out.reset(Reset {
                    before: update.before.0,
                    after: update.after.0,
                    ..Reset::compaction(
                        Cause::Automatic,
                        RetainedItems::Nodes(self.task.into_iter().collect()),
                    )
                });
            }
            "" => out.unreadable("no update"),
            other => {
                if other == "turn_completed" {
                    self.requests.end_turn(update.usage, out);
                }
                GROK.pass_over(other, out);
            }
        }
    }

    fn result(&mut self, update: &Update<'_>, out: &mut EventSink<'_>) {
        let call = update.call.get();
        if call.is_some_and(|id| self.gone.contains(&Key::of(id))) {
            return out.skip("result of a call before a compaction");
        }
        if let Some(id) = call {
            self.open.remove(&Key::of(id));
        }
        let item = out.tool_result(self.tools.get(call), call);
        let item = item.text(&update.text()).done();
        out.node(Node::new(None, Part::Result, vec![item]));
    }
}

#[cfg(test)]
mod tests;
