//! The history: its items, the requests that they are the output of, and how a compaction rebuilds it.

use super::item::{self, ItemContext};
use super::reader::CodexDecoder;
use super::thread::prefix_key;
use super::wire::{CompactedPayload, Item, ItemMetadata};
use decode::lenient::{self, Raw};
use model::event::{Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems};
use model::{Kind, Role, values::version};

/// The most of the user's messages that Codex keeps at a compaction whose record has only its summary:
/// 20,000 tokens at four bytes a token.
const LEGACY_KEPT_BYTES: u64 = 80_000;

/// The length from which a name is unique to its session: `call_` with 24 letters, encrypted text.
/// Some providers' calls are named `call_0`.
pub(super) const UNIQUE_NAME: usize = 24;

impl CodexDecoder {
    /// Reads an item of the history; `None`: it is not sent to the model, or of an unknown type.
    /// `json` is the item as it is written, `metadata` what stands beside it.
    pub(super) fn history(
        &mut self,
        item: &Item<'_>,
        metadata: &ItemMetadata<'_>,
        json: &str,
        out: &mut EventSink<'_>,
    ) -> Option<()> {
        if metadata.compaction_output {
            self.is_compacting = true;
            out.skip("response_item/compaction_output");
            return Some(());
        }
        let is_assistants = item.role.get() == Some("assistant");
        if is_assistants && metadata.delivered_assistant_message.get().is_some() {
            out.skip("response_item/delivered_assistant_message");
            return Some(());
        }
        let limit = metadata.fallback_token_limit_override.0;
        let budget = limit.map_or(item::OUTPUT_BYTES, |tokens| tokens * 4);
        let call = item.call_id.key();
        let tool = call.and_then(|call| self.tools.remove(&call));
        let context = ItemContext {
            tool: tool.as_deref(),
            summary: "",
            opens: self.turns.waiting,
            budget,
            model: self.meta.model.as_deref().unwrap_or_default(),
        };
        let (part, items) = item::piece(item, context, out)?;
        let mut node = Node {
            key: key_of_call(item, &items),
            part,
            items,
            ..Node::default()
        };
        // Messages from outside are inserted between responses. The model's next output belongs to a new response, even
        // if the interrupted one was never reported.
        self.is_interrupted |= part == Part::Input || item.is_agents();
        match part {
            Part::Output => {
                self.has_output = true;
                self.turns.output(item.kind.get() == Some("message"));
                self.price.has_searched |= item.kind.get() == Some("web_search_call");
                node.request = Some(self.request(item, json));
                if let (Some(call), Some(name)) = (call, item::tool_name(item)) {
                    self.tools.insert(call, name.into());
                }
            }
            Part::Result => self.turns.result(),
            _ => {
                let key = Key::of_number("codex", out.place().id());
                node.key = Some(key);
                if part == Part::Input {
                    node.turn = self.turns.user_message();
                    if node.turn {
                        self.open.end();
                        self.begun.extend(self.ordinal);
                    }
                    self.user_messages.push((key, bytes(&node.items)));
                } else if !self.has_output {
                    self.opening.push(key);
                }
            }
        }
        out.node(node);
        Some(())
    }

    pub(super) fn compacted(&mut self, payload: Raw<'_>, out: &mut EventSink<'_>) -> Option<()> {
        let compacted: CompactedPayload<'_> = lenient::value(Some(payload), "payload", out);
        let message = compacted.message.or_empty();
        let history = compacted.replacement_history.as_deref();
        let mut kept = vec![prefix_key()];
        let mut nodes = Vec::new();
        let mut cause = self.cause();
        match history {
            Some(history) => {
                let stays = came_beside(history);
                nodes = self.rebuild(history, stays, message, out);
                if stays < history.len() {
                    kept.extend(nodes.iter().filter_map(|node| node.key));
                    cause = Cause::Background;
                }
            }
            None => {
                kept.extend(&self.opening);
                kept.extend(self.newest_user_messages(LEGACY_KEPT_BYTES));
                if !message.is_empty() {
                    let summary = out.text(Role::Container, Kind::Summary, message);
                    nodes.push(Node::new(None, Part::Injected, vec![summary]));
                }
            }
        }
        out.reset(Reset::compaction(cause, RetainedItems::Nodes(kept)));
        let settings = &compacted.settings_before;
        self.compacted_for = Some(Meta {
            model_hash: settings.comp_hash.boxed(),
            ..Meta::of_model(settings.model.boxed())
        });
        self.compacts();
        nodes.into_iter().for_each(|node| out.node(node));
        Some(())
    }

    /// The history is another one from here on.
    pub(super) fn compacts(&mut self) {
        (self.is_compacting, self.unclear) = (false, None);
        self.turns.rebuilt = true;
        self.open.end();
    }

    /// Reads the history as a compaction leaves it. What was in it before has the same node, from item `stays` on.
    fn rebuild(
        &mut self,
        history: &[Item<'_>],
        stays: usize,
        message: &str,
        out: &mut EventSink<'_>,
    ) -> Vec<Node> {
        self.user_messages.clear();
        self.opening.clear();
        let mut nodes = Vec::new();
        for (nth, item) in history.iter().enumerate() {
            let context = ItemContext {
                tool: None,
                summary: message,
                opens: false,
                budget: item::OUTPUT_BYTES,
                model: self.meta.model.as_deref().unwrap_or_default(),
            };
            let Some((part, items)) = item::piece(item, context, out) else {
                continue;
            };
            // A line is longer than the number of its items, so no other node has this number.
            let number = out.place().id().saturating_add(nth as u64);
            let of_call = key_of_call(item, &items).filter(|_| nth >= stays);
            let key = of_call.unwrap_or(Key::of_number("codex", number));
            if part == Part::Input {
                self.user_messages.push((key, bytes(&items)));
            }
            nodes.push(Node {
                key: Some(key),
                part,
                items,
                ..Node::default()
            });
        }
        nodes
    }

    /// Returns the newest of the user's messages, as many as fit.
    fn newest_user_messages(&mut self, mut left: u64) -> Vec<Key> {
        let fits = self.user_messages.iter().rev().take_while(|(_, bytes)| {
            let fits = *bytes <= left;
            left = left.saturating_sub(*bytes);
            fits
        });
        let from = self.user_messages.len() - fits.count();
        self.user_messages.drain(..from);
        self.user_messages.iter().map(|(key, _)| *key).collect()
    }

    /// Returns true if this version may compact at the end of a turn, below its usual limit.
    fn compacts_turn_ends(&self) -> bool {
        let version = self.meta.version.as_deref();
        version.is_some_and(|version| !version::is_newer(FIRST_WITH_TURN_ENDS, version))
    }

    /// Returns the cause of a compaction, which the log does not contain. Within a turn it is never the user.
    fn cause(&self) -> Cause {
        if self.turns.waiting {
            Cause::Unlogged
        } else if self.turns.has_ended() && self.compacts_turn_ends() {
            Cause::TurnEnd
        } else {
            Cause::Automatic
        }
    }
}

/// The first version that was seen to compact at the end of a turn, by `model_post_turn_compact_threshold_percent`.
const FIRST_WITH_TURN_ENDS: &str = "0.169";

/// Returns the index of the first item of a new history that came while its summary was being made (0.171, with
/// `async_compaction`): the summary's, if results of tools follow it. Otherwise there are none, and it returns the
/// length.
fn came_beside(history: &[Item<'_>]) -> usize {
    let is_summary = |item: &Item<'_>| item.kind.get() == Some("compaction");
    let summary = history.iter().position(is_summary);
    let is_result = |item: &Item<'_>| item.kind.or_empty().ends_with("_output");
    let summary = summary.filter(|at| history[*at..].iter().any(is_result));
    summary.unwrap_or(history.len())
}

/// Returns the key of the node of a call or of a result, where the call's id is unique to the session. A call may have
/// several results.
fn key_of_call(item: &Item<'_>, items: &[NewItem]) -> Option<Key> {
    let call = item.call_id.get().filter(|id| id.len() >= UNIQUE_NAME)?;
    let content = items.first().map_or(0, |item| item.hash).to_le_bytes();
    let parts = [b"codex call", call.as_bytes(), &content];
    Some(Key::of_parts(&parts))
}

fn bytes(items: &[NewItem]) -> u64 {
    items.iter().map(|item| u64::from(item.size.bytes)).sum()
}
