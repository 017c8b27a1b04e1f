//! Factory Droid.
//!
//! A session is one JSON Lines file, with a `<id>.settings.json` beside it. After public readers of the
//! format (jazzyalex/agent-sessions, `DroidSessionParser.swift`; inference-sh/agentprotocol,
//! `transcript/droid`, whose samples are of droid 0.226 with what it then sent to the model):
//!
//! * No record contains a request's usage. The settings file has it: `lastCallTokenUsage` is that of the
//!   newest response, without what was read from a cache in `inputTokens`; `tokenUsage` is the session's
//!   sum. The file is rewritten after each response: in 0.215 up to 0.1 s after its message and mostly
//!   before its tools have returned, in 0.225 up to 0.1 s before its message. So is the cost of a
//!   compaction. So the newest response is known; those before it only while the log is followed. The
//!   others are known as a sum, which may be of many days. In versions without `lastCallTokenUsage` the
//!   context is estimated.
//! * Messages are a list, in the order of the file, `parentId` notwithstanding. Their content is
//!   Anthropic's blocks. `visibility` names who gets them: `user_only` (what hooks did, with an empty
//!   content) never goes to the model, `llm_only` is the harness's.
//! * `compaction_state` inside a session names an `anchorMessage`: the messages after it stay. The
//!   command `/compress` instead begins a new session, whose `session_start` names its `parent` (no
//!   sub-agent), and a `compaction_state` without an anchor. The model then gets the summary and
//!   `systemInfoText`.
//! * A sub-agent's session names its `callingSessionId`.
//! * When it compacts by itself is in `settings.rs`, as far as it is known. Which models keep their thinking is not
//!   public: the models table names them.
//! * Models are named by `modelId` of the answers; a user's own begin with `custom:`.

mod settings;

use decode::anthropic::{Content, ToolNames, assistant_items, part_of, user_items};
use decode::lenient::{self, Count, Text, record};
use decode::sums::{PendingResponse, ReportedSums};
use formats::is_uuid;
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, Totals, decoder, head,
};
use model::event::{
    BilledUsage, Cause, Event, EventSink, Key, Meta, Node, Part, Reset, RetainedItems, Usage,
};
use model::{Kind, Role};
use std::path::Path;

/// The format.
pub static DROID: Format = Format {
    id: "droid",
    roots: &[Root::home("", ".factory/sessions").env("FACTORY_HOME_OVERRIDE")],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<DroidDecoder>,
    reset_marks: &[r#""type":"compaction_state""#],
    harmless: "agent_turn_outcome todo_state",
    totals: Totals::new(&[
        ("input", |b| b.input),
        ("cache_creation", |b| b.cache_creation),
        ("cache_read", |b| b.cache_read),
        ("output", |b| b.output),
        ("thinking", |b| b.reasoning),
    ])
    .cached_beside(),
    settings: Some(&settings::SETTINGS),
    beside: FilesBeside::states(|log| vec![log.with_extension("settings.json")]),
    ..Format::DEFAULT
};

/// Claims `<session id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    Some(Claim {
        id: is_uuid(name).then(|| name.to_owned()),
        ..Claim::LINES
    })
}

fn recognise(head: &[u8]) -> bool {
    head::solid(head, 32).starts_with(br#"{"type":"session_start","#)
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        timestamp: Text<'a>,
        message: Option<Message<'a>>,
        visibility: Text<'a>,
        title: Text<'a>,
        session_title: Text<'a> = "sessionTitle",
        cwd: Text<'a>,
        calling_session_id: Text<'a> = "callingSessionId",
        summary_text: Text<'a> = "summaryText",
        system_info_text: Text<'a> = "systemInfoText",
        anchor: Text<'a> = "anchorMessage" / "id",
    }

    struct Message<'a> {
        role: Text<'a>,
        visibility: Text<'a>,
        content: Content<'a>,
        model_id: Text<'a> = "modelId",
    }

    /// `<id>.settings.json`.
    struct Settings<'a> {
        provider: Text<'a> = "providerLock",
        sums: Option<Numbers> = "tokenUsage",
        last: Option<Numbers> = "lastCallTokenUsage",
    }

    #[derive(Copy, PartialEq)]
    whole struct Numbers {
        input: Count = "inputTokens",
        output: Count = "outputTokens",
        cache_creation: Count = "cacheCreationTokens",
        cache_read: Count = "cacheReadTokens",
        thinking: Count = "thinkingTokens",
    }
}

impl Numbers {
    fn billed(self) -> BilledUsage {
        BilledUsage::new(self.input.or_zero(), self.output.or_zero())
            .with_cache(self.cache_read.or_zero(), self.cache_creation.or_zero())
            .with_reasoning(self.thinking.or_zero())
    }
}

/// Decodes one session.
#[derive(Default)]
struct DroidDecoder {
    provider: Option<Box<str>>,
    sums: Option<Numbers>,
    last: Option<Numbers>,
    reported: ReportedSums,
    /// The newest response since the last compaction, until something follows its numbers.
    newest: Option<PendingResponse>,
    /// True if its numbers were reported.
    is_reported: bool,
    /// True if the cost of the newest compaction is not known yet.
    is_unpaid: bool,
    /// True if there are numbers of a response, or of a compaction, whose record is not written yet.
    is_early: bool,
    tools: ToolNames,
    /// The messages so far.
    messages: Vec<Key>,
    /// The record of the newest summary.
    summary: Option<Key>,
    /// The newest facts.
    meta: Meta,
}

impl Decoder for DroidDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.time());
        match record.kind.or_empty() {
            "session_start" => {
                let meta = Meta {
                    id: record.id.boxed(),
                    title: record.session_title.boxed().or(record.title.boxed()),
                    cwd: record.cwd.boxed(),
                    parent: record.calling_session_id.boxed(),
                    ..Meta::default()
                };
                out.meta(meta.changes(&mut self.meta));
            }
            "message" => self.message(&record, out),
            "compaction_state" => self.compaction(&record, out),
            "" => out.unreadable("no type"),
            other => DROID.pass_over(other, out),
        }
    }

    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let settings: Settings<'_> = lenient::state(document, out)?;
        self.provider = settings.provider.boxed();
        (self.sums, self.last) = (settings.sums, settings.last);
        Some(StateUpdate::Accepted)
    }

    /// Other sums than those that were reported are of a new response, which was written before them, and of others.
    fn read_end(&mut self, out: &mut EventSink<'_>) {
        let Some(sums) = self.sums.map(Numbers::billed) else {
            return;
        };
        let last = self.last.unwrap_or_default();
        let numbers = last.billed();
        let newest = self.newest.filter(|_| numbers.prompt() > 0);
        // Of the end of a log it is not known what was before it.
        let follows = numbers.prompt() > 0 && self.meta.id.is_some() && !self.is_unpaid;
        self.is_early = newest.is_none() && follows && !self.reported.are(sums);
        if self.is_early {
            return;
        }
        let Some(growth) = self.reported.growth(sums, numbers) else {
            return;
        };
        self.is_unpaid = false;
        let rest = match newest {
            Some(_) => growth.saturating_sub(numbers),
            None => growth,
        };
        let has_rest = rest.prompt() + rest.output > 0;
        if has_rest {
            let id = self.meta.id.as_deref().unwrap_or_default();
            let sizes = [sums.prompt(), sums.output].map(|n| n.to_string());
            out.set_time(None);
            out.billed_rest(
                Key::of_parts(&["droid sums", id, &sizes[0], &sizes[1]]),
                rest,
            );
        }
        if let Some(newest) = newest {
            let billed = if has_rest {
                growth.saturating_sub(rest)
            } else {
                growth
            };
            newest.begin(out);
            self.is_reported = true;
            out.usage(Usage {
                model: self.meta.model.clone(),
                cached: numbers.cache_read,
                output: last.output.0,
                billed,
                ..Usage::reported(newest.request, numbers.prompt())
            });
        }
    }
}

impl DroidDecoder {
    fn message(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let Some(message) = &record.message else {
            return out.unreadable("a message without a message");
        };
        let visibility = message.visibility.get().or(record.visibility.get());
        if visibility == Some("user_only") {
            return out.skip("user_only message");
        }
        let key = record.id.key();
        self.messages.extend(key);
        let (part, items) = match message.role.or_empty() {
            "assistant" => {
                let meta = Meta::of_model_at(message.model_id.boxed(), self.provider.clone());
                out.meta(meta.changes(&mut self.meta));
                let items = assistant_items(&message.content, &mut self.tools, out);
                let request = record.id.get().map(|id| Key::of_parts(&["response", id]));
                self.newest = request.map(|request| PendingResponse::new(request, out));
                self.is_reported = false;
                return out.node(Node::output(key, request, items));
            }
            "user" => {
                self.newest = self.newest.filter(|_| !self.is_reported);
                let (role, kind) = match visibility {
                    Some("llm_only") => (Role::Container, Kind::Reminder),
                    _ => (Role::User, Kind::Text),
                };
                let items = user_items(&message.content, role, kind, &self.tools, out);
                (part_of(&items), items)
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(Node::new(key, part, items));
    }

    fn compaction(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        let anchor = record.anchor.key();
        let first = anchor.and_then(|anchor| {
            // An anchor that was not read is older than every message that was.
            let after = self.messages.iter().rposition(|key| *key == anchor);
            self.messages.get(after.map_or(0, |at| at + 1)).copied()
        });
        let id = record.id.get();
        self.newest = None;
        self.is_unpaid = true;
        if self.is_early {
            self.read_end(out);
        }
        // At the beginning of a file nothing leaves: its history was another session's. Where the line's number is not
        // known, a compaction without an anchor is at the beginning.
        let is_first = out.place().line() > 0 || anchor.is_none();
        let begins = self.messages.is_empty() && is_first;
        if !begins {
            let cause = match anchor {
                Some(_) => Cause::Automatic,
                None => Cause::Manual,
            };
            out.reset(Reset {
                key: id.map(|id| Key::of_parts(&["reset", id])),
                ..Reset::compaction(cause, RetainedItems::from(first))
            });
        }
        // The kept messages may begin before the previous summary, which is never kept.
        if let Some(old) = std::mem::replace(&mut self.summary, record.id.key()) {
            out.emit(Event::cleared_node(old));
        }
        let texts = [
            (Kind::Summary, &record.summary_text),
            (Kind::Reminder, &record.system_info_text),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(kind, text)| Some((kind, text.get()?)));
        let items = texts
            .map(|(kind, text)| out.text(Role::Container, kind, text))
            .collect();
        out.node(Node::new(record.id.key(), Part::Injected, items));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::{ByLength, Place};

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        let id = "6f0c1d9e-3b7a-4a52-9d1e-2c8b5a7f4e31";
        let path = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.jsonl");
        let claim = DROID.claims(Path::new(&path)).map(|claim| claim.id);
        assert_eq!(claim, Some(Some(id.to_owned())));
        let settings = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.settings.json");
        assert_eq!(DROID.claims(Path::new(&settings)), None);
        assert!(DROID.recognise(b"{ \"type\": \"session_start\", \"id\""));
        assert!(!DROID.recognise(b"{\"type\":\"session\",\"id\""));
    }

    /// The prompts and billed inputs that are reported while lines and settings come.
    fn reports(moments: &[&str]) -> Vec<(u64, u64)> {
        let mut decoder = DroidDecoder::default();
        let mut out = EventSink::new(&ByLength);
        for (line, moment) in (1..).zip(moments) {
            match moment.strip_prefix("settings ") {
                Some(settings) => {
                    decoder.read_state(settings, &mut out);
                }
                None => {
                    out.begin(Place::of_line(line));
                    decoder.read_line(moment, &mut out);
                }
            }
            decoder.read_end(&mut out);
        }
        let usages = out.entries.iter().filter_map(|entry| match &entry.event {
            Event::Usage(usage) => Some((usage.prompt, usage.billed.input)),
            _ => None,
        });
        usages.collect()
    }

    fn answer(id: u32) -> String {
        format!(
            r#"{{"type":"message","id":"a{id}","message":{{"role":"assistant","content":[]}}}}"#
        )
    }

    fn settings(sum: u64, input: u64, cached: u64) -> String {
        format!(
            r#"settings {{"tokenUsage":{{"inputTokens":{sum}}},"lastCallTokenUsage":{{"inputTokens":{input},"outputTokens":3,"cacheReadTokens":{cached}}}}}"#
        )
    }

    #[test]
    fn each_response_is_reported_while_the_settings_are_followed() {
        let [a, b] = [answer(1), answer(2)];
        let [first, second] = [settings(100, 100, 0), settings(130, 30, 96)];
        let said = [&*a, &first, &first, &b, &second, "settings {\"half"];
        assert_eq!(reports(&said), [(100, 100), (126, 30)]);
        // A rewrite that was missed shows in the sums.
        assert_eq!(reports(&[&a, &b, &second]), [(126, 30)]);
        // Nothing is written yet, or nothing but sums.
        assert_eq!(reports(&[&second]), []);
        assert_eq!(
            reports(&[&a, r#"settings {"tokenUsage":{"inputTokens":7}}"#]),
            []
        );
    }

    #[test]
    fn settings_may_be_written_before_the_record() {
        let start = r#"{"type":"session_start","id":"s"}"#;
        let result = r#"{"type":"message","id":"u","message":{"role":"user","content":[]}}"#;
        let summary = r#"{"type":"compaction_state","id":"c","summaryText":"Both were answered."}"#;
        let [a, b, c] = [1, 2, 3].map(answer);
        let [first, second, third, fourth] = [(100, 100), (130, 30), (190, 60), (240, 50)]
            .map(|(sum, input)| settings(sum, input, 0));
        let said = [
            start, result, &first, &a, result, &second, &b, result, &third, summary, &fourth, &c,
        ];
        assert_eq!(reports(&said), [(100, 100), (30, 30), (50, 50)]);
    }

    #[test]
    fn the_sum_has_what_is_not_known_by_response_and_is_of_no_day() {
        let mut decoder = DroidDecoder::default();
        let mut out = EventSink::new(&ByLength);
        let second = settings(130, 30, 96);
        decoder.read_state(&second["settings ".len()..], &mut out);
        for id in [1, 2] {
            let at = r#""timestamp":"2026-11-20T10:00:00Z","#;
            let line = answer(id).replacen('{', &format!("{{{at}"), 1);
            out.begin(Place::of_line(id.into()));
            decoder.read_line(&line, &mut out);
        }
        decoder.read_end(&mut out);
        decoder.read_end(&mut out);
        let sums = out.entries.iter().filter_map(|entry| match &entry.event {
            Event::Billed { billed, of, .. } if of.is_sum() => Some((billed.input, entry.at)),
            _ => None,
        });
        assert_eq!(sums.collect::<Vec<_>>(), [(100, None)]);
    }

    #[test]
    fn what_a_compaction_cost_is_no_context() {
        let summary = r#"{"type":"compaction_state","id":"s","summaryText":"Both were answered."}"#;
        let [a, b] = [answer(1), answer(2)];
        let [first, second, third] = [
            settings(100, 100, 0),
            settings(250, 150, 0),
            settings(290, 40, 0),
        ];
        let said = [&*a, &first, summary, &second, &b, &third];
        assert_eq!(reports(&said), [(100, 100), (40, 40)]);
    }
}
