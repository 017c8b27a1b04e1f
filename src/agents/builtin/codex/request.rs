//! The requests: which outputs belong to them, and the reports of their usage.
//!
//! Since 0.150 or so a `token_usage_record` follows each response at once, before its tools run; the
//! `token_count` that repeats it follows the tools' outputs. A record that no output precedes is of a
//! response that is not in this history: one that wrote a summary, or classified something in the
//! background.

use super::history::UNIQUE_NAME;
use super::reader::CodexDecoder;
use super::usage::{Report, billed};
use super::wire::{Item, TokenUsage, UsageRecord};
use kit::lenient::{self, Raw};
use model::event::{Billed, Key, Sink, Usage};

impl CodexDecoder {
    /// The request that this output belongs to: the open one, or a new one, named after its first
    /// output, so that a copy of it in a fork's file has the same name.
    pub(super) fn request(&mut self, first: &Item<'_>, json: &str) -> Key {
        let is_interrupted = std::mem::take(&mut self.is_interrupted);
        if let Some(open) = self.open.filter(|_| !is_interrupted) {
            return open;
        }
        let name = [&first.encrypted_content, &first.call_id, &first.id]
            .into_iter()
            .map(|name| name.or_empty())
            .find(|name| name.len() >= UNIQUE_NAME);
        let key = match name {
            Some(name) => Key::of_parts(&["codex", name]),
            // A short name or mere text may occur again elsewhere: the spend so far distinguishes them.
            None => {
                let spent = format!("{:?}", self.meter.total());
                Key::of_parts(&["codex", &self.thread.latest, &spent, json])
            }
        };
        let key = self.unique(key);
        self.open = Some(key);
        key
    }

    /// A request's key, changed where it has occurred before in this file.
    fn unique(&mut self, key: Key) -> Key {
        let times = self.keys.entry(key).or_default();
        *times += 1;
        match *times {
            1 => key,
            nth => key.under(&format!("codex again {nth}")),
        }
    }

    /// Reads a `token_usage_record`.
    pub(super) fn usage_record(&mut self, payload: Raw<'_>, out: &mut Sink<'_>) -> Option<()> {
        let record: UsageRecord<'_> = lenient::value(Some(payload), "payload", out);
        let usage = record.usage?;
        if !usage.is_some() {
            // The provider reported nothing. The response is over all the same.
            self.open = self.open.filter(|_| usage.input.0 != Some(0));
            return None;
        }
        let is_foreign = match (&self.thread.id, record.thread_id.get()) {
            (Some(own), Some(thread)) => **own != *thread,
            _ => false,
        };
        let cost = if is_foreign || self.is_copied(out) {
            Billed::default()
        } else {
            billed(usage)
        };
        match self.open.take() {
            Some(request) => {
                self.meter.record(usage);
                self.recorded = Some((request, cost));
                self.emit_usage(request, usage, cost, out);
            }
            None => {
                let response = record.response_id.or_empty();
                let request = self.unique(Key::of_parts(&["codex response", response]));
                self.unshown = Some((request, usage));
                out.billed(request, cost);
            }
        }
        Some(())
    }

    /// Passes on what a `token_count` reports.
    pub(super) fn report(&mut self, report: Report, out: &mut Sink<'_>) -> Option<()> {
        let (last, billed) = match report {
            Report::Nothing => return None,
            Report::Estimate(total) => {
                let request = Key::of_number("codex estimate", out.place().id());
                out.usage(Usage {
                    model: self.meta.model.clone(),
                    ..Usage::estimated(request, total)
                });
                return Some(());
            }
            Report::Recorded(last) => {
                let (request, cost) = self.recorded.take()?;
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
        let request = match (self.open.take(), unshown) {
            (Some(request), _) | (None, Some((request, _))) => request,
            // A call of which no line shows the output, such as one that wrote a summary.
            (None, None) => {
                let spent = format!("{:?} {last:?}", self.meter.total());
                self.unique(Key::of_parts(&["codex", &self.thread.latest, &spent]))
            }
        };
        let cost = if self.is_copied(out) {
            Billed::default()
        } else {
            billed
        };
        self.emit_usage(request, last, cost, out);
        Some(())
    }

    fn emit_usage(&mut self, request: Key, usage: TokenUsage, billed: Billed, out: &mut Sink<'_>) {
        let (prompt, output) = (usage.input.or_zero(), usage.output.0);
        let reasoning = usage.reasoning.0;
        out.usage(Usage {
            model: self.meta.model.clone(),
            cached: usage.cached.or_zero().min(prompt),
            output,
            reasoning: reasoning.map(|n| n.min(output.unwrap_or(0))),
            billed,
            ..Usage::reported(request, prompt)
        });
    }

    /// Whether the line that is being read was copied from the parent's history: it was billed there.
    pub(super) fn is_copied(&self, out: &Sink<'_>) -> bool {
        self.thread.is_copied(self.ordinal, out.time())
    }
}
