//! Decodes one rollout, line by line.

use super::CODEX;
use super::opening::{LineOpening, is_one_record};
use super::order::OpenResponse;
use super::price::{Price, surcharges};
use super::thread::Thread;
use super::turn::Turns;
use super::usage::Meter;
use super::wire::{
    EventLine, EventMsg, Item, ItemLine, Line, Ordinal, TokenUsage, TurnContext, TurnStart,
};
use decode::lenient::{self, LostFields, Raw, Text, Window, WithRaw};
use formats::Decoder;
use jiff::Timestamp;
use model::event::PlanLimit;
use model::event::{Cause, Event, EventSink, Key, Meta, Place, Usage};
use std::collections::HashMap;

/// Decodes one rollout.
#[derive(Debug, Default)]
pub(super) struct CodexDecoder {
    pub(super) thread: Thread,
    pub(super) turns: Turns,
    pub(super) meter: Meter,
    pub(super) price: Price,
    /// The newest response of which no line shows the output, until a `token_count` repeats its usage.
    pub(super) unshown: Option<(Key, TokenUsage)>,
    /// The usage that a `token_count` reported for such a response, with its place and time, until the next line.
    pub(super) unclear: Option<(Place, Option<Timestamp>, Usage)>,
    /// The model of the turn before the newest compaction and its hash, until the next turn has its own.
    pub(super) compacted_for: Option<Meta>,
    /// The window before this turn.
    window_before: Option<u64>,
    /// True if a summary was written that has not yet replaced the history.
    pub(super) is_compacting: bool,
    /// The number of the line that is being read, where lines are numbered.
    pub(super) ordinal: Option<u64>,
    /// The numbers of the lines with which user turns began.
    pub(super) begun: Vec<u64>,
    /// The id of the running turn.
    pub(super) turn: Option<Box<str>>,
    /// The response that is being written.
    pub(super) open: OpenResponse,
    /// True if a message came from outside since the last output.
    pub(super) is_interrupted: bool,
    /// The number of times that each request's key has occurred, to distinguish equal ones.
    pub(super) keys: HashMap<Key, u64>,
    /// Tools by the id of their call, until the output comes.
    pub(super) tools: HashMap<Key, Box<str>>,
    /// The user's messages since the last compaction: node, bytes.
    pub(super) user_messages: Vec<(Key, u64)>,
    /// The messages that the harness inserted before the model's first output.
    pub(super) opening: Vec<Key>,
    pub(super) has_output: bool,
    /// The newest facts.
    pub(super) meta: Meta,
    /// The newest limits of the plan.
    limits: Vec<PlanLimit>,
}

impl Decoder for CodexDecoder {
    fn read_line(&mut self, text: &str, out: &mut EventSink<'_>) {
        let opening = LineOpening::of(text.as_bytes()).unwrap_or_default();
        if opening.kind != b"compacted" {
            self.emit_unclear(out);
        }
        let is_read = match opening.kind {
            b"event_msg" if is_irrelevant(opening.subtype) && is_one_record(text.as_bytes()) => {
                let [time, kind] = [opening.time, opening.subtype].map(decode::text);
                out.set_time(time.parse().ok());
                CODEX.pass_over(&record_name("event_msg", &kind), out);
                Some(())
            }
            b"response_item" if !opening.subtype.is_empty() => self.item_line(text, out),
            b"event_msg" if !opening.subtype.is_empty() => self.event_line(text, out),
            _ => None,
        };
        if is_read.is_none() {
            self.any_line(text, out);
        }
    }

    fn read_usage(&mut self, line: &[u8], out: &mut EventSink<'_>) {
        self.spend(line, out);
    }
}

impl CodexDecoder {
    /// Reads a line of type `response_item`; `None`: it is damaged, or has no payload.
    fn item_line(&mut self, text: &str, out: &mut EventSink<'_>) -> Option<()> {
        let lost = LostFields::default();
        let line = lenient::parse::<ItemLine<'_>>(text, &lost).ok()?;
        let WithRaw { raw, value: item } = line.payload.as_ref()?;
        lost.report(out);
        self.begin(&line.timestamp, line.ordinal, out);
        let json = raw.map_or("", Raw::get);
        if self.history(item, &line.metadata, json, out).is_none() {
            let name = record_name("response_item", item.kind.or_empty());
            CODEX.pass_over(&name, out);
        }
        Some(())
    }

    /// Reads a line of type `event_msg`; `None` as above.
    fn event_line(&mut self, text: &str, out: &mut EventSink<'_>) -> Option<()> {
        let lost = LostFields::default();
        let line = lenient::parse::<EventLine<'_>>(text, &lost).ok()?;
        let event = line.payload.as_ref()?;
        lost.report(out);
        self.begin(&line.timestamp, line.ordinal, out);
        if self.event(event, out).is_none() {
            CODEX.pass_over(&record_name("event_msg", event.kind.or_empty()), out);
        }
        Some(())
    }

    /// Reads a line of any type.
    fn any_line(&mut self, text: &str, out: &mut EventSink<'_>) {
        let Some(line) = lenient::object::<Line<'_>>(text, out) else {
            return;
        };
        self.begin(&line.timestamp, line.ordinal, out);
        match line.payload {
            Some(payload) => self.line(&line, payload.0, out),
            None => self.bare_line(&line, text, out),
        }
    }

    fn begin(&mut self, time: &Text<'_>, ordinal: Ordinal, out: &mut EventSink<'_>) {
        out.set_time(time.time());
        self.take_back_reverted(ordinal.0, out);
        self.ordinal = ordinal.0;
        self.thread.reads(self.ordinal, out.time());
        if self.thread.lacks_base(self.ordinal) {
            out.emit(Event::BeginningMissing);
        }
    }

    /// Takes back the turns that were reverted, where numbers begin again: an earlier rollout of the thread has them beyond
    /// the line at which this one goes on.
    fn take_back_reverted(&mut self, ordinal: Option<u64>, out: &mut EventSink<'_>) {
        let Some((now, before)) = ordinal.zip(self.ordinal).filter(|(now, _)| *now > 0) else {
            return;
        };
        // The line before this one, which has the number at which the history ends, is the rollout's first.
        let kept = self.begun.partition_point(|begun| *begun < now - 1);
        let turns = self.begun.len() - kept;
        // Without the first line, nothing is known of the thread.
        let has_base = self.thread.has_base || self.thread.id.is_none();
        if has_base && !self.thread.is_sub_agent && now <= before && turns > 0 {
            self.begun.truncate(kept);
            self.roll_back(turns as u64, out);
        }
    }

    fn roll_back(&mut self, turns: u64, out: &mut EventSink<'_>) {
        let left = (self.user_messages.len() as u64).saturating_sub(turns);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        self.user_messages.truncate(left);
        self.open.end();
        out.emit(Event::Rollback { turns });
    }

    fn line(&mut self, line: &Line<'_>, payload: Raw<'_>, out: &mut EventSink<'_>) {
        let kind = line.kind.or_empty();
        let mut subtype = "".into();
        let read = match kind {
            "session_meta" => self.session_meta(payload, out),
            "turn_context" => self.turn_context(payload, out),
            "compacted" => self.compacted(payload, out),
            "token_usage_record" => self.usage_record(payload, out),
            "response_item" | "inter_agent_communication" => {
                let mut item: Item<'_> = lenient::value(Some(payload), "payload", out);
                if kind == "response_item" {
                    subtype = item.kind.or_empty().to_owned();
                } else {
                    item.kind.0 = Some(kind.into());
                }
                self.history(&item, &line.metadata, payload.get(), out)
            }
            "event_msg" => {
                let event: EventMsg<'_> = lenient::value(Some(payload), "payload", out);
                subtype = event.kind.or_empty().to_owned();
                self.event(&event, out)
            }
            _ => None,
        };
        if read.is_none() {
            CODEX.pass_over(&record_name(kind, &subtype), out);
        }
    }

    /// Before September 2025 lines had no payload: the first is the session's, then each is an item of
    /// history or a `{"record_type": "state"}`.
    fn bare_line(&mut self, line: &Line<'_>, text: &str, out: &mut EventSink<'_>) {
        let (kind, record_type) = (line.kind.or_empty(), line.record_type.or_empty());
        if kind.is_empty() && record_type.is_empty() && line.id.get().is_some() {
            if self.thread.id.is_some() || out.place().line() == 0 {
                return out.skip("session_meta");
            }
            self.thread.id = Some(line.id.or_empty().into());
            return out.meta(Meta {
                id: self.thread.id.clone(),
                ..Meta::default()
            });
        }
        let item = lenient::object::<Item<'_>>(text, out);
        if item
            .and_then(|item| self.history(&item, &line.metadata, text, out))
            .is_none()
        {
            let name = match record_type {
                "" => record_name(kind, ""),
                record_type => record_name("record_type", record_type),
            };
            CODEX.pass_over(&name, out);
        }
    }

    fn turn_context(&mut self, payload: Raw<'_>, out: &mut EventSink<'_>) -> Option<()> {
        let context: TurnContext<'_> = lenient::value(Some(payload), "payload", out);
        self.turns.settings();
        self.open.awaited = None;
        self.turn = context.turn_id.boxed().or(self.turn.take());
        self.price.tier(&context.service_tier);
        let differs = |now: &Text<'_>, before: Option<Box<str>>| {
            let both = now.get().zip(before);
            both.is_some_and(|(now, before)| *now != *before)
        };
        // A smaller window is one that the context may not fit into.
        let is_smaller = self.meta.window < self.window_before;
        let is_for_another = |before: Meta| {
            let is_other_model = differs(&context.model, before.model);
            differs(&context.comp_hash, before.model_hash) || (is_smaller && is_other_model)
        };
        if self.compacted_for.take().is_some_and(is_for_another) {
            out.emit(Event::ResetCause(Cause::ModelChange));
        }
        self.settings(&context, out)
    }

    fn settings(&mut self, context: &TurnContext<'_>, out: &mut EventSink<'_>) -> Option<()> {
        let meta = Meta {
            model: context.model.boxed(),
            provider: context.model_provider_id.boxed(),
            cwd: context.cwd.boxed(),
            model_hash: context
                .comp_hash
                .boxed()
                .filter(|hash| hash.len() <= LONGEST_HASH),
            ..Meta::default()
        };
        self.emit_changes(meta, out)
    }

    /// Emits the facts that have changed; `None`: none has.
    fn emit_changes(&mut self, meta: Meta, out: &mut EventSink<'_>) -> Option<()> {
        let changes = meta.changes(&mut self.meta);
        let is_new = changes != Meta::default();
        out.meta(changes);
        is_new.then_some(())
    }

    pub(super) fn event(&mut self, event: &EventMsg<'_>, out: &mut EventSink<'_>) -> Option<()> {
        match event.kind.or_empty() {
            "token_count" => {
                self.limits(event, out);
                let info = event.info.as_ref()?;
                self.window(info.model_context_window, out);
                let total = info.total_token_usage;
                let report = self.meter.read(total, info.last_token_usage)?;
                self.report(report, &event.service_tier, out)
            }
            "task_started" | "turn_started" => {
                self.turns.started();
                self.turn = event.turn_id.boxed();
                if let TurnStart(Some(at)) = event.started_at {
                    self.thread.turn_began(at);
                }
                self.price.tier = self.price.of_next_turn;
                self.open.end();
                self.window_before = self.meta.window;
                self.window(event.model_context_window, out);
                None
            }
            "turn_aborted" => {
                self.turns.busy = false;
                None
            }
            "thread_rolled_back" => {
                self.roll_back(event.num_turns.0?, out);
                Some(())
            }
            "thread_settings_applied" => {
                // Settings that name no tier have the usual one.
                self.price.of_next_turn = surcharges(event.thread_settings.service_tier.or_empty());
                self.settings(&event.thread_settings, out)
            }
            "thread_name_updated" if !self.is_copied() => {
                let title = event.thread_name.get()?;
                out.meta(Meta::of_title(Some(title.into())));
                Some(())
            }
            _ => None,
        }
    }

    /// Emits the limits of the plan where they have changed. Those of a parent's history are counted there.
    fn limits(&mut self, event: &EventMsg<'_>, out: &mut EventSink<'_>) {
        let limits = event.rate_limits.of_plan();
        if !self.is_copied() && !limits.is_empty() && limits != self.limits {
            out.emit(Event::PlanLimits(limits.clone().into()));
            self.limits = limits;
        }
    }

    /// Reads a window. In a log it is 95 % of the model's: what Codex uses of it.
    fn window(&mut self, window: Window, out: &mut EventSink<'_>) {
        self.emit_changes(Meta::of_window(window.0), out);
    }
}

/// The most bytes of a hash that is compared.
const LONGEST_HASH: usize = 64;

/// The events that concern the context. All others repeat the history, for the screen.
const EVENTS: [&str; 7] = [
    "token_count",
    "task_started",
    "turn_started",
    "turn_aborted",
    "thread_rolled_back",
    "thread_name_updated",
    "thread_settings_applied",
];

/// Returns true if an event of this type does not concern the context. Such lines are a third of a log, and their
/// bodies need not be parsed.
pub(super) fn is_irrelevant(kind: &[u8]) -> bool {
    !kind.is_empty() && !EVENTS.iter().any(|event| event.as_bytes() == kind)
}

/// Returns the name of a type of records: the line's type, and its payload's.
fn record_name(kind: &str, subtype: &str) -> String {
    let kind = if kind.is_empty() { "unknown" } else { kind };
    let mut name: String = kind.chars().take(40).collect();
    if !subtype.is_empty() {
        name.push('/');
        name.extend(subtype.chars().take(40));
    }
    name
}
