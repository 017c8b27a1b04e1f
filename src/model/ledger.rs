//! Who cost what, and how we know.
//!
//! A usage report settles the past: what the prompt grew by since the report before is exact. The
//! model's own output takes what was reported for it; what is left belongs to the items in between.
//! One item left: it is *derived*. Several: *shared* by their estimates. What no estimate can explain
//! stays unexplained and goes to the *system* role, never to a message.
//!
//! Invariant, for any input: the prompt of a settled request is its system part plus the settled tokens
//! of the items it held.

use super::calibration::{Expected, Sample};
pub use super::context::{Basis, Context, Share};
use super::event::{Key, NewItem, Parent, Part, Place, Size, Usage};
use super::session::{Coverage, Item, ItemIx, Request, RequestIx, Session};
use super::{Kind, Role, Source};
use jiff::Timestamp;

impl Session {
    /// Whether an item was in the prompt of this request, by both the order of reports and of records:
    /// a report may come late.
    pub(super) fn in_prompt(&self, item: &Item, request: RequestIx) -> bool {
        item.held_by(request) && (item.node as usize) < self.requests[request].start
    }

    /// Takes in a usage report.
    pub(super) fn report(&mut self, usage: Usage, place: Place, at: Option<Timestamp>) {
        if usage.source != Source::Reported {
            self.hear(&usage);
            let items = self.alive().into_iter().map(|ix| self.tokens(ix).0);
            let total = usage.prompt + usage.output.unwrap_or(0);
            self.agent_says = Some(total.saturating_sub(items.sum()));
            if let Some(reset) = self.resets.last_mut()
                && reset.request == self.requests.len()
            {
                reset.after.get_or_insert(usage.prompt);
            }
            return;
        }
        if let Some(model) = &usage.model {
            self.use_model(model);
        }
        if let Some(&ix) = self.by_request.get(&usage.request) {
            self.merge_report(ix, &usage, place);
            return;
        }
        if self.chain.start_of(usage.request).is_none() {
            self.hold_place(usage.request);
        }
        let start = self.chain.start_of(usage.request).unwrap_or(0);
        let ix = self.requests.len();
        self.by_request.insert(usage.request, ix);
        self.requests.push(Request {
            key: usage.request,
            place,
            at,
            model: self.model_shared(),
            prompt: usage.prompt,
            cached: usage.cached,
            output: usage.output,
            reasoning: usage.reasoning,
            billed: usage.billed,
            predicted: None,
            said: self
                .word
                .filter(|word| word.of == usage.request)
                .map(|word| word.prompt),
            system: 0,
            turn: self.turns,
            start,
            generation: None,
            previous: None,
        });
        if start < self.newest_start || !self.chain.is_live(start) {
            return; // a report that comes after a later one's, or of a branch that was left
        }
        self.newest_start = start;
        self.requests[ix].previous = self.anchor;
        self.settle(ix);
        self.anchor = Some(ix);
        self.settle_output(ix, place, at);
    }

    /// A report for a request whose output no line shows: a place on the branch for it.
    fn hold_place(&mut self, request: Key) {
        self.chain
            .push(None, Parent::Previous, Part::Output, Some(request), false);
    }

    /// Another line of a response whose report is known. Numbers only rise while it streams.
    fn merge_report(&mut self, ix: RequestIx, usage: &Usage, place: Place) {
        let request = &mut self.requests[ix];
        request.place = place;
        request.billed = request.billed.max(usage.billed);
        let output = request.output.max(usage.output);
        let reasoning = request.reasoning.max(usage.reasoning);
        let prompt = request.prompt.max(usage.prompt);
        if self.anchor != Some(ix) {
            return; // it has been settled by the next report
        }
        if prompt != request.prompt {
            request.prompt = prompt;
            request.cached = request.cached.max(usage.cached);
            let previous = request.previous;
            self.unsettle(ix);
            self.anchor = previous;
            self.settle(ix);
            self.anchor = Some(ix);
        }
        let request = &mut self.requests[ix];
        if output != request.output || reasoning != request.reasoning {
            (request.output, request.reasoning) = (output, reasoning);
            let at = request.at;
            self.settle_output(ix, place, at);
        }
    }

    /// Another line of a response's output came.
    pub(super) fn output_grew(&mut self, request: Key) {
        if let Some(ix) = self.anchor.filter(|ix| self.requests[*ix].key == request)
            && self.requests[ix].output.is_some()
        {
            let (place, at) = (self.requests[ix].place, self.requests[ix].at);
            self.settle_output(ix, place, at);
        }
    }

    /// Settles what a request's prompt held.
    fn settle(&mut self, ix: RequestIx) {
        let start = self.requests[ix].start;
        let (mut held, mut fresh, mut reported) = (0, Vec::new(), Vec::new());
        let live = self.chain.live().iter().take_while(|node| **node < start);
        for item in live.flat_map(|node| self.chain.items(*node)).copied() {
            let sent = &mut self.items[item];
            if !sent.in_context() {
                continue;
            }
            sent.entered.get_or_insert(ix);
            for away in &mut sent.away {
                if (away.from..away.to).contains(&ix) {
                    away.to = ix;
                }
            }
            match (sent.settled, sent.size.reported) {
                (Some((tokens, _)), _) => held += tokens,
                (None, 0) => fresh.push(item),
                (None, tokens) => {
                    reported.push((item, tokens));
                    held += tokens;
                }
            }
        }
        for (item, tokens) in reported {
            self.know(item, Some((tokens, Source::Reported)));
        }
        self.keep_former_from(start, &fresh);
        let estimates: Vec<f64> = fresh.iter().map(|item| self.estimate(*item)).collect();
        let sum: f64 = estimates.iter().sum();
        let error = self.calibration.error(sum, fresh.len());
        let tolerance = self.calibration.tolerance(sum, fresh.len());
        let prompt = self.requests[ix].prompt;

        let unlogged = match self.anchor {
            Some(anchor) => self.requests[anchor].system,
            None => self.prefix.unwrap_or(0),
        };
        if self.anchor.is_some() {
            self.requests[ix].predicted = Some(Expected::around(unlogged + held, sum, error));
        }
        let rest = prompt as i128 - (unlogged + held) as i128;
        if self.anchor.is_some() && rest > 0 {
            self.calibrate(&fresh, rest as f64);
        }
        let system = if self.anchor.is_none() {
            let system = self.share_whole(&fresh, &estimates, prompt, held);
            // At the end of a log the rest is what was not read, not the prefix.
            if self.coverage != Coverage::Tail || !self.resets.is_empty() {
                self.prefix = Some(system);
            }
            if let Some(reset) = self.resets.last_mut()
                && reset.request == ix
            {
                (reset.after, reset.after_source) = (Some(prompt), Source::Reported);
            }
            Some(system)
        } else if rest as f64 > sum + tolerance {
            // More came than was logged: the excess is unlogged text.
            let given = self.give(&fresh, &estimates, sum.round() as u64, Source::Shared);
            Some((prompt - held).saturating_sub(given))
        } else if rest >= 0 && rest as f64 >= sum * LEAST_SHARE - tolerance {
            let source = if fresh.len() == 1 {
                Source::Derived
            } else {
                Source::Shared
            };
            let given = self.give(&fresh, &estimates, rest as u64, source);
            Some(unlogged + (rest as u64 - given))
        } else {
            // Less came than was logged: something left that no record tells of.
            let given = self.give(&fresh, &estimates, sum.round() as u64, Source::Shared);
            prompt.checked_sub(held + given)
        };
        self.requests[ix].system = match system {
            Some(system) => system,
            None => self.share_anew(ix),
        };
        self.requests[ix].generation = Some(self.generation);
    }

    /// Learns from what the items of a delta cost together.
    fn calibrate(&mut self, items: &[ItemIx], reported: f64) {
        let items: Vec<Sample> = items
            .iter()
            .map(|ix| Sample::of(&self.items[*ix]))
            .collect();
        self.calibration.learn(&items, reported);
    }

    /// The first report: items take their estimates, the rest is the unlogged prefix. Returns it.
    fn share_whole(&mut self, fresh: &[ItemIx], estimates: &[f64], prompt: u64, held: u64) -> u64 {
        let room = prompt.saturating_sub(held);
        let sum: f64 = estimates.iter().sum();
        let target = (sum.round() as u64).min(room);
        let given = self.give(fresh, estimates, target, Source::Shared);
        if held > prompt {
            // What was kept was thought to be larger than all there is: it is not known any more.
            let kept: Vec<ItemIx> = self.alive_before(fresh);
            let sizes: Vec<f64> = kept.iter().map(|ix| self.tokens(*ix).0 as f64).collect();
            self.give(&kept, &sizes, prompt, Source::Shared);
            self.generation += 1;
            return 0;
        }
        room - given
    }

    /// The settled items in the context that are not among these.
    fn alive_before(&self, fresh: &[ItemIx]) -> Vec<ItemIx> {
        self.alive()
            .into_iter()
            .filter(|ix| self.items[*ix].settled.is_some() && !fresh.contains(ix))
            .collect()
    }

    /// The known parts do not fit the prompt any more: all items it held share it anew, in proportion
    /// to what they were thought to cost. Returns the system part.
    fn share_anew(&mut self, ix: RequestIx) -> u64 {
        let held: Vec<ItemIx> = self
            .alive()
            .into_iter()
            .filter(|item| self.in_prompt(&self.items[*item], ix))
            .collect();
        let sizes: Vec<f64> = held.iter().map(|ix| self.tokens(*ix).0 as f64).collect();
        let sum: f64 = sizes.iter().sum();
        let prompt = self.requests[ix].prompt;
        self.generation += 1;
        let system = self.prefix.unwrap_or(0).min(prompt / 2);
        let target = (sum.round() as u64).min(prompt - system);
        let given = self.give(&held, &sizes, target, Source::Shared);
        prompt - given
    }

    /// Gives out a sum in proportion to weights, to the token. Returns what was given: all of it,
    /// unless nobody was there to take it.
    fn give(&mut self, items: &[ItemIx], weights: &[f64], sum: u64, source: Source) -> u64 {
        let total: f64 = weights.iter().sum();
        if items.is_empty() {
            return 0;
        }
        let (mut upto, mut given) = (0.0, 0);
        for (n, (item, weight)) in items.iter().zip(weights).enumerate() {
            upto += if total > 0.0 {
                weight / total
            } else {
                1.0 / items.len() as f64
            };
            let target = if n + 1 == items.len() {
                sum
            } else {
                ((sum as f64 * upto).round() as u64).clamp(given, sum)
            };
            self.know(*item, Some((target - given, source)));
            given = target;
        }
        given
    }

    /// Settles a request's own output: thinking takes what was reported for it, the rest shares the
    /// rest. An output of which the log shows nothing gets an item of its own.
    fn settle_output(&mut self, ix: RequestIx, place: Place, at: Option<Timestamp>) {
        let request = &self.requests[ix];
        let Some(output) = request.output else {
            return;
        };
        let (key, reasoning) = (request.key, request.reasoning.unwrap_or(0).min(output));
        let has_reasoning = request.reasoning.is_some();
        let (mut thinking, mut said) = self.output_items(key);
        // The log shows the output, but it was taken back out: nothing of it is to be settled.
        if thinking.is_empty() && said.is_empty() && self.output_left(key, ix) {
            return;
        }
        if has_reasoning && reasoning > 0 && thinking.is_empty() {
            thinking.push(self.unlogged_output(key, Kind::Thinking, place, at));
        }
        // What little an output has beside its thinking is framing.
        let more = has_reasoning && output - reasoning > SMALL_OUTPUT;
        if said.is_empty() && (thinking.is_empty() || more) {
            said.push(self.unlogged_output(key, Kind::Unlogged, place, at));
        }
        if has_reasoning && !said.is_empty() {
            let split = if thinking.is_empty() { 0 } else { reasoning };
            self.give_by_estimate(&thinking, split);
            self.give_by_estimate(&said, output - split);
        } else {
            thinking.extend(said);
            self.give_by_estimate(&thinking, output);
        }
    }

    fn give_by_estimate(&mut self, items: &[ItemIx], sum: u64) {
        let weights: Vec<f64> = items.iter().map(|ix| self.estimate(*ix)).collect();
        let source = if items.len() == 1 {
            Source::Reported
        } else {
            Source::Shared
        };
        self.give(items, &weights, sum, source);
    }

    /// A request's output items in the context: thinking, and the rest.
    fn output_items(&self, request: Key) -> (Vec<ItemIx>, Vec<ItemIx>) {
        self.chain
            .outputs_of(request)
            .flat_map(|node| self.chain.items(node))
            .copied()
            .filter(|ix| self.items[*ix].in_context())
            .partition(|ix| self.items[*ix].kind == Kind::Thinking)
    }

    /// Whether a request's output is in the log and has left the context since.
    fn output_left(&self, request: Key, ix: RequestIx) -> bool {
        let newest_first = self.items.iter().rev();
        let mut output = newest_first.filter(|item| item.output_of == Some(request));
        output.any(|item| item.left.is_some_and(|left| left.request > ix))
    }

    fn unlogged_output(
        &mut self,
        request: Key,
        kind: Kind,
        place: Place,
        at: Option<Timestamp>,
    ) -> ItemIx {
        let node = self
            .chain
            .outputs_of(request)
            .next()
            .unwrap_or_else(|| self.chain.last());
        let item = NewItem {
            role: Role::Assistant,
            kind,
            tool: None,
            call: None,
            size: Size::default(),
            preview: "(not in the log)".into(),
            hash: 0,
            ephemeral: false,
            nth: u32::MAX,
        };
        self.add_item(node, item, place, at, Some(request));
        self.items.len() - 1
    }

    /// Takes back what a request settled, but not what was settled before it, nor what has left since.
    fn unsettle(&mut self, ix: RequestIx) {
        for at in 0..self.items.len() {
            let item = &mut self.items[at];
            if item.entered == Some(ix) && item.in_context() {
                item.entered = None;
                // An output keeps what was reported for it.
                if !matches!(item.settled, Some((_, Source::Reported))) && item.output_of.is_none()
                {
                    self.know(at, None);
                }
            }
        }
    }

    /// Another tokenizer: no settled number holds, and there is no anchor until the next report.
    pub(super) fn forget_settled(&mut self) {
        for ix in self.alive() {
            self.know(ix, None);
        }
        self.anchor = None;
        self.generation += 1;
    }

    /// The anchor after the live branch has changed: the newest request that is still on it.
    pub(super) fn find_anchor(&mut self) {
        let after = self.resets.last().map_or(0, |reset| reset.request);
        self.anchor = (0..self.requests.len()).rev().find(|ix| {
            let request = &self.requests[*ix];
            *ix >= after
                && request.generation == Some(self.generation)
                && self.chain.is_live(request.start)
        });
        if let Some(ix) = self.anchor {
            let (place, at) = (self.requests[ix].place, self.requests[ix].at);
            self.settle_output(ix, place, at);
        }
    }
}

/// The smallest share of their estimates that items are believed to have cost. Below it, something
/// else has left the context.
const LEAST_SHARE: f64 = 0.5;

/// An output this much larger than its thinking needs no item of its own: framing.
const SMALL_OUTPUT: u64 = 16;
