//! Later lines of a response, which correct its report; and what is put off where a log makes it necessary again and
//! again: the shares in a response of very many lines, and in the agent's own number where that comes with every message.

use super::Attribution;
use crate::event::{Event, Part, Place, Usage};
use crate::history::record_tree::RecordTree;
use crate::history::{Coverage, RequestIx};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The work that was put off.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DeferredWork {
    /// Lines of the newest response so far.
    pub(super) lines: u32,
    /// Its prompt has risen.
    pub(super) prompt: bool,
    /// Its output has grown, in the log or in its report.
    pub(super) output: bool,
    /// The agent's own number, to be shared.
    pub(super) agents: Option<u64>,
}

impl DeferredWork {
    /// Notes that another line of the newest response came.
    pub(super) fn note(&mut self, prompt: bool, output: bool) {
        self.lines = self.lines.saturating_add(1);
        self.prompt |= prompt;
        self.output |= output;
    }

    /// Returns true if the newest response has too many lines to attribute each of them on its own.
    pub(super) fn is_long_response(&self) -> bool {
        self.lines > LONG_RESPONSE_LINES
    }
}

impl Attribution {
    /// Returns true if something was put off.
    pub(crate) fn is_late(&self) -> bool {
        let due = self.deferred;
        due.prompt || due.output || due.agents.is_some() || self.items.is_late()
    }

    /// Returns true if the work that was put off may still wait after this event: the event is another line of the same
    /// response, or none of the conversation's.
    pub(crate) fn goes_on(&self, event: &Event) -> bool {
        let newest = self.anchor.map(|ix| self.requests[ix].key());
        match event {
            Event::Node(node) => node.part == Part::Output && node.request == newest,
            Event::Usage(usage) => Some(usage.request) == newest,
            // Another model may have another tokenizer.
            Event::Meta(meta) => meta.model.is_none(),
            Event::PlanLimits(_)
            | Event::Skipped(_)
            | Event::Unknown(_)
            | Event::Lost(_)
            | Event::UnreadableUsage
            | Event::Damaged
            | Event::Unreadable(_) => true,
            _ => false,
        }
    }

    /// Attributes the newest response, as far as that was put off.
    pub(crate) fn catch_up(&mut self, tree: &mut RecordTree, coverage: Coverage) {
        if self.deferred.prompt || self.deferred.output {
            self.attribute_response(tree, coverage);
        }
    }

    /// Does all that was put off.
    pub(crate) fn catch_up_all(&mut self, tree: &mut RecordTree, coverage: Coverage) {
        self.catch_up(tree, coverage);
        if let Some(tokens) = self.deferred.agents.take() {
            self.share_own_count_now(tokens, tree);
        }
        self.items.apply_rescale();
    }

    /// Attributes what the newest report and its output have changed since they were attributed.
    pub(super) fn attribute_response(&mut self, tree: &mut RecordTree, coverage: Coverage) {
        let Some(ix) = self.anchor else {
            return;
        };
        if std::mem::take(&mut self.deferred.prompt) {
            let request = &self.requests[ix];
            let (previous, start) = (request.previous, request.start);
            self.anchor = previous;
            self.items.take_back(ix, start);
            self.attribute(ix, tree, coverage);
            self.void_later(ix);
            self.anchor = Some(ix);
        }
        if std::mem::take(&mut self.deferred.output) {
            self.attribute_output(ix, tree);
        }
        self.revise(tree);
    }

    /// Takes in another line of a response whose report is known. Its output only rises while it streams.
    /// Another prompt is a correction: what the request attributed is attributed again.
    pub(crate) fn merge_report(
        &mut self,
        ix: RequestIx,
        usage: &Usage,
        place: Place,
        tree: &mut RecordTree,
        coverage: Coverage,
    ) {
        self.forgotten = None;
        // Otherwise it has been attributed by the next report.
        let is_newest = self.anchor == Some(ix);
        let before = self.requests[ix].prompt;
        if is_newest && usage.prompt < before {
            self.catch_up(tree, coverage);
        }
        let request = &mut self.requests[ix];
        request.place = place;
        request.usage.billed = request.billed.followed_by(usage.billed);
        if !is_newest {
            return;
        }
        let (changes, grows) = request.merge(usage);
        if (changes || grows) && ix + 1 < self.requests.len() {
            self.note_prompt(ix);
        }
        let fell_by = before.saturating_sub(self.requests[ix].prompt);
        if fell_by > 0 {
            self.lower_prompt(ix, fell_by, tree);
        }
        self.deferred.note(changes && fell_by == 0, grows);
        if !self.deferred.is_long_response() {
            self.attribute_response(tree, coverage);
        }
    }

    /// Takes a fall of the newest prompt out of its system part, which had what no item explained. Items share what is
    /// left if that is too little.
    fn lower_prompt(&mut self, ix: RequestIx, by: u64, tree: &RecordTree) {
        let request = &self.requests[ix];
        let (prompt, system) = (request.prompt, request.system);
        let lowered = match system.checked_sub(by) {
            Some(lowered) => lowered,
            None => self.fit_into_prompt(ix, tree),
        };
        self.set_system(ix, lowered, tree);
        self.void_later(ix);
        if ix + 1 < self.requests.len() {
            self.note_prompts_again();
        }
        if self.prefix == Some(system) {
            self.prefix = Some(lowered);
        }
        if let Some(reset) = self.resets.last_mut()
            && reset.request == ix
        {
            reset.after = Some(prompt);
        }
    }

    /// Finds the largest prompt of each model again: one that was noted has fallen.
    fn note_prompts_again(&mut self) {
        self.largest.clear();
        (0..self.requests.len().saturating_sub(1)).for_each(|ix| self.note_prompt(ix));
    }

    /// Notes a prompt as the largest of its model, if it is.
    pub(super) fn note_prompt(&mut self, ix: RequestIx) {
        let request = &self.requests[ix];
        let largest = self.largest.entry(request.model.clone()).or_default();
        *largest = (*largest).max(request.prompt);
    }

    /// Returns the models of the requests, in the order of their names.
    pub(crate) fn models(&self) -> BTreeSet<&Arc<str>> {
        let newest = self.requests.last().and_then(|last| last.model.as_ref());
        let earlier = self.largest.keys().filter_map(Option::as_ref);
        earlier.chain(newest).collect()
    }

    /// Returns the largest prompt of a model, in tokens; 0: none.
    pub(crate) fn largest_prompt(&self, model: Option<&Arc<str>>) -> u64 {
        let before = self.largest.get(&model.cloned()).copied().unwrap_or(0);
        let newest = self.requests.len().checked_sub(1);
        let newest = newest.map(|ix| &self.requests[ix]);
        let newest = newest.filter(|request| request.model.as_ref() == model);
        newest.map_or(before, |request| before.max(request.prompt))
    }
}

/// The lines of a response from which on it is long. A response has a line for each of its blocks, rarely more than
/// ten; a line counts once or twice.
const LONG_RESPONSE_LINES: u32 = 256;
