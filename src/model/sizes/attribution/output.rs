//! Attributes the output of a response, and what of it stays in the context.

use super::{Attribution, SMALL_OUTPUT};
use crate::event::{Key, NewItem, Size};
use crate::history::record_tree::RecordTree;
use crate::history::{ItemIx, NOT_LOGGED, RequestIx, UNLOGGED};
use crate::sizes::items::Items;
use crate::{Kind, Role};

impl Attribution {
    /// Notes that another line of a response's output came.
    pub(crate) fn output_grew(&mut self, request: Key, tree: &mut RecordTree) {
        if let Some(ix) = self.anchor.filter(|ix| self.requests[*ix].key() == request) {
            self.deferred.note(false, true);
            if !self.deferred.is_long_response() {
                self.deferred.output = false;
                self.attribute_output(ix, tree);
            }
        }
    }

    /// Attributes a request's own output: thinking takes what was reported for it, the rest shares the
    /// rest. An output that the log does not show gets an item of its own. Costs what the response holds.
    pub(super) fn attribute_output(&mut self, ix: RequestIx, tree: &mut RecordTree) {
        let request = &self.requests[ix];
        let Some(output) = request.output else {
            return;
        };
        let (key, reasoning) = (request.key(), request.reasoning.unwrap_or(0).min(output));
        let has_reasoning = request.reasoning.is_some();
        let logged = tree.outputs_of(key).flat_map(|node| tree.items(node));
        let logged: Vec<ItemIx> = logged.collect();
        let (present, gone): (Vec<ItemIx>, Vec<ItemIx>) = logged
            .into_iter()
            .partition(|ix| self.items.all()[*ix].in_context());
        let left = |ix: &ItemIx| self.items.all()[*ix].left;
        // The log shows the output, but it was taken back out: nothing of it is to be attributed.
        if present.is_empty() && gone.iter().filter_map(left).any(|left| left.request > ix) {
            return;
        }
        let is_thinking = |ix: &ItemIx| self.items.all()[*ix].kind == Kind::Thinking;
        let mut gone = gone.iter().filter(|ix| is_thinking(ix));
        let has_thought = gone.any(|of| left(of).is_some_and(|left| left.request > ix));
        let (mut thinking, mut rest): (Vec<ItemIx>, Vec<ItemIx>) =
            present.into_iter().partition(is_thinking);
        if has_reasoning && reasoning > 0 && thinking.is_empty() && !has_thought {
            thinking.push(self.add_unlogged_output(ix, Kind::Thinking, tree));
            // Without any of its output, the log shows nothing of what the client has.
            self.needs_revision |= !rest.is_empty() && self.items.note_hidden_thinking();
        }
        // The few tokens that an output has beside its thinking are framing.
        let more = has_reasoning && output - reasoning > SMALL_OUTPUT;
        if rest.is_empty() && (thinking.is_empty() || more) {
            rest.push(self.add_unlogged_output(ix, Kind::Unlogged, tree));
        }
        let both: Vec<ItemIx> = thinking.iter().chain(&rest).copied().collect();
        let sizes = |items: &Items| -> Vec<_> {
            let attributed = both.iter().map(|ix| items.all()[*ix].attributed);
            attributed.collect()
        };
        let before = sizes(&self.items);
        if has_reasoning && !rest.is_empty() {
            let is_shown = has_thought || !thinking.is_empty();
            let split = if is_shown { reasoning } else { 0 };
            self.apportion_by_estimates(&thinking, split);
            self.apportion_by_estimates(&rest, output - split);
        } else {
            thinking.extend(rest);
            self.apportion_by_estimates(&thinking, output);
        }
        if sizes(&self.items) != before {
            self.void_later(ix);
        }
    }

    fn add_unlogged_output(&mut self, ix: RequestIx, kind: Kind, tree: &mut RecordTree) -> ItemIx {
        let request = &self.requests[ix];
        let (key, place, at) = (request.key(), request.place, request.at);
        let item = NewItem {
            role: Role::Assistant,
            kind,
            tool: None,
            call: None,
            size: Size::default(),
            preview: NOT_LOGGED.into(),
            hash: 0,
            nth: UNLOGGED,
            is_failed: false,
        };
        let live = tree.outputs_of(key).find(|node| tree.is_live(*node));
        let node = live.unwrap_or_else(|| tree.last());
        let item = self.items.add(item, node, place, at, Some(key));
        tree.hold(node, item);
        item
    }
}
