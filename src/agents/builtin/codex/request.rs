//! The requests: which outputs belong to them, and the reports of their usage.
//!
//! Since 0.150 or so a `token_usage_record` follows each response at once, before its tools run; the
//! `token_count` that repeats it follows the tools' outputs. A record that no output precedes is of a
//! response that is not in this history: one that wrote a summary, or classified something in the
//! background.

use super::history::UNIQUE_NAME;
use super::order::CountedResponse;
use super::reader::CodexDecoder;
use super::usage::{Cost, Report, billed};
use super::wire::{Item, TokenUsage, UsageRecord};
use decode::lenient::{self, Raw, Text};
use model::event::{Conversation, Event, EventSink, Key, Usage};

/// The first part of a request's key.
const AGENT: &[u8] = b"codex";

impl CodexDecoder {
    /// Returns the request that this output belongs to: the open one, or a new one, named after its place: its thread,
    /// its turn, and what the thread had used before. A copy in another file has the same. Where turns have no ids, it
    /// is named after its first output.
    pub(super) fn request(&mut self, first: &Item<'_>, json: &str) -> Key {
        let is_interrupted = std::mem::take(&mut self.is_interrupted);
        let open = self.open.request.or_else(|| self.open.claim());
        if let Some(open) = open.filter(|_| !is_interrupted) {
            self.open.is_over = false;
            return open;
        }
        let (thread, spent) = (self.thread.of_line().as_bytes(), self.spent());
        let spent = spent.as_flattened();
        let key = match (&self.turn, name_of(first)) {
            // Not a name of its items: a copy may lack what was encrypted.
            (Some(turn), _) => Key::of_parts(&[AGENT, thread, turn.as_bytes(), spent]),
            (None, Some(name)) => Key::of_parts(&[AGENT, name.as_bytes()]),
            // A short name or mere text may occur again elsewhere.
            (None, None) => Key::of_parts(&[AGENT, thread, spent, json.as_bytes()]),
        };
        let key = self.unique(key);
        self.open.begin(key);
        key
    }

    /// Returns the tokens that the thread has used so far, as bytes for a key.
    fn spent(&self) -> [[u8; 8]; 6] {
        self.meter.total.unwrap_or_default().bytes()
    }

    /// Returns a request's key, changed where it has occurred before in this file.
    fn unique(&mut self, key: Key) -> Key {
        let times = self.keys.entry(key).or_default();
        *times += 1;
        match *times {
            1 => key,
            nth => key.under(&format!("codex again {nth}")),
        }
    }

    /// Reads a `token_usage_record`.
    pub(super) fn usage_record(&mut self, payload: Raw<'_>, out: &mut EventSink<'_>) -> Option<()> {
        let record: UsageRecord<'_> = lenient::value(Some(payload), "payload", out);
        let usage = record.usage?;
        if !usage.is_some() {
            // The provider reported nothing. The response is over all the same.
            if usage.input.0 == Some(0) {
                self.open.end();
            }
            return None;
        }
        let is_foreign = match (&self.thread.id, record.thread_id.get()) {
            (Some(own), Some(thread)) => **own != *thread,
            _ => false,
        };
        let surcharges = self.price.of_response(&record.service_tier);
        let billed = billed(usage).with_surcharges(surcharges);
        let cost = Cost::new(billed, is_foreign || self.is_copied());
        let open = self.open.request;
        self.open.end();
        match open {
            Some(request) => {
                self.meter.recorded = Some((usage, request, cost));
                self.emit_usage(request, usage, cost, out);
            }
            None if cost.is_inherited => {}
            None => {
                let response = record.response_id.or_empty();
                let request = self.unique(Key::of_parts(&["codex response", response]));
                self.unshown = Some((request, usage));
                out.billed(request, cost.billed);
            }
        }
        Some(())
    }

    /// Passes on what a `token_count` reports, perhaps with the tier that it names.
    pub(super) fn report(
        &mut self,
        report: Report,
        tier: &Text<'_>,
        out: &mut EventSink<'_>,
    ) -> Option<()> {
        let (last, billed) = match report {
            Report::Again => {
                self.open.is_counted_again();
                return None;
            }
            Report::Estimate(total) => {
                let request = Key::of_number("codex estimate", out.place().id());
                out.usage(Usage {
                    model: self.meta.model.clone(),
                    ..Usage::estimated(request, total)
                });
                return Some(());
            }
            Report::Recorded(last, request, cost) => {
                self.emit_usage(request, last, cost, out);
                return Some(());
            }
            Report::Call(last, billed) => (last, billed),
        };
        let unshown = self.unshown.take();
        let unshown = unshown.filter(|(_, usage)| usage.agrees(&last));
        if unshown.is_some() && self.is_compacting {
            return None;
        }
        let counted = self.open.counted();
        let billed = billed.with_surcharges(self.price.of_response(tier));
        let cost = Cost::new(billed, self.is_copied());
        let request = match (counted, unshown) {
            (CountedResponse::Items(request), _) => request,
            // It may have written the summary of a compaction, which is on the next line then.
            (_, Some((request, _))) => {
                self.unclear = Some((out.place(), out.time(), self.usage(request, last, cost)));
                return Some(());
            }
            // A call of which no line shows the output, such as one that wrote a summary; or its items follow.
            (_, None) => {
                let (thread, numbers) = (self.thread.of_line(), [self.spent(), last.bytes()]);
                let numbers = numbers.as_flattened().as_flattened();
                let key = Key::of_parts(&[AGENT, thread.as_bytes(), numbers]);
                let request = self.unique(key);
                let thread = &self.thread;
                let is_first = thread.id.is_some() && thread.repeated.is_none() && !self.has_output;
                if counted == CountedResponse::Early || is_first {
                    self.open.awaited = Some(request);
                    self.is_interrupted = false;
                }
                request
            }
        };
        self.emit_usage(request, last, cost, out);
        Some(())
    }

    /// Passes on the report of a response of which no line shows the output: it wrote no summary.
    pub(super) fn emit_unclear(&mut self, out: &mut EventSink<'_>) {
        if let Some((place, at, usage)) = self.unclear.take() {
            let now = out.place();
            out.push(Conversation::Main, place, at, Event::Usage(Box::new(usage)));
            out.begin(now);
        }
    }

    fn emit_usage(&mut self, request: Key, usage: TokenUsage, cost: Cost, out: &mut EventSink<'_>) {
        out.usage(self.usage(request, usage, cost));
    }

    fn usage(&self, request: Key, usage: TokenUsage, cost: Cost) -> Usage {
        let (prompt, output) = (usage.input.or_zero(), usage.output.0);
        let reasoning = usage.reasoning.0;
        Usage {
            model: self.meta.model.clone(),
            cached: usage.cached.or_zero().min(prompt),
            output,
            reasoning: reasoning.map(|n| n.min(output.unwrap_or(0))),
            billed: cost.billed,
            is_inherited: cost.is_inherited,
            ..Usage::reported(request, prompt)
        }
    }

    /// Returns true if the line that is being read was copied from the parent's history: it was billed there.
    pub(super) fn is_copied(&self) -> bool {
        self.thread.is_copied(self.ordinal)
    }
}

/// Returns a name that an item shares with no other.
fn name_of<'i>(item: &'i Item<'_>) -> Option<&'i str> {
    let names = [&item.encrypted_content, &item.call_id, &item.id].into_iter();
    let mut names = names.map(|name| name.or_empty());
    names.find(|name| name.len() >= UNIQUE_NAME)
}
