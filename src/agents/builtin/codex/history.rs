//! The history: its items, the requests that they are the output of, and how a compaction rebuilds it.

use super::item::{self, ItemContext};
use super::reader::CodexDecoder;
use super::thread::prefix_key;
use super::wire::{Compacted, Item, ItemMetadata};
use kit::lenient::{self, Raw};
use model::event::{Cause, Kept, Key, NewItem, Node, Part, Reset, Sink};
use model::{Gone, Kind, Role};

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
        out: &mut Sink<'_>,
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
            opens: self.turns.is_waiting(),
            budget,
            model: self.meta.model.as_deref().unwrap_or_default(),
        };
        let piece = item::piece(item, context, out)?;
        let mut node = Node {
            part: piece.part,
            items: piece.items,
            ..Node::default()
        };
        // What comes from outside is taken in between responses. What the model writes next belongs to a new
        // response, even if the interrupted one was never reported.
        self.is_interrupted |= piece.is_users || item.is_agents();
        match node.part {
            Part::Output => {
                self.has_output = true;
                self.turns.output(item.kind.get() == Some("message"));
                if item.kind.get() == Some("web_search_call") {
                    self.price.searches();
                }
                node.request = Some(self.request(item, json));
                if let (Some(call), Some(name)) = (call, item::tool_name(item)) {
                    self.tools.insert(call, name.into());
                }
            }
            Part::Result => self.turns.result(),
            _ => {
                let key = Key::of_number("codex", out.place().id());
                node.key = Some(key);
                if piece.is_users {
                    node.turn = self.turns.user_message();
                    if node.turn {
                        self.open.end();
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

    pub(super) fn compacted(&mut self, payload: Raw<'_>, out: &mut Sink<'_>) -> Option<()> {
        let compacted: Compacted<'_> = lenient::value(Some(payload), "payload", out);
        let mut kept = vec![prefix_key()];
        if compacted.replacement_history.is_none() {
            kept.append(&mut self.opening.clone());
            kept.extend(self.newest_user_messages(LEGACY_KEPT_BYTES));
        }
        let kept = Kept::Nodes(kept);
        let history = compacted.replacement_history.as_deref();
        let cause = if history.is_some_and(is_of_a_running_turn) {
            Cause::Background
        } else {
            self.cause()
        };
        out.reset(Reset::new(Gone::Compaction, cause, kept));
        let settings = &compacted.resume_metadata.previous_turn_settings;
        self.compacted_for = settings.comp_hash.boxed();
        self.compacts();
        let message = compacted.message.or_empty();
        match &compacted.replacement_history {
            Some(history) => self.rebuild(history, message, out),
            None if !message.is_empty() => {
                let summary = out.text(Role::Container, Kind::Summary, message);
                out.node(Node::new(None, Part::Injected, vec![summary]));
            }
            None => {}
        }
        Some(())
    }

    /// The history is another one from here on.
    pub(super) fn compacts(&mut self) {
        self.is_compacting = false;
        self.turns.rebuilt();
        self.open.end();
    }

    /// Reads the history as a compaction leaves it.
    fn rebuild(&mut self, history: &[Item<'_>], message: &str, out: &mut Sink<'_>) {
        self.user_messages.clear();
        self.opening.clear();
        for (nth, item) in history.iter().enumerate() {
            let context = ItemContext {
                tool: None,
                summary: message,
                opens: false,
                budget: item::OUTPUT_BYTES,
                model: self.meta.model.as_deref().unwrap_or_default(),
            };
            let Some(piece) = item::piece(item, context, out) else {
                continue;
            };
            // A line is longer than the number of its items, so no other node has this number.
            let number = out.place().id().saturating_add(nth as u64);
            let key = Key::of_number("codex", number);
            if piece.is_users {
                self.user_messages.push((key, bytes(&piece.items)));
            }
            out.node(Node {
                key: Some(key),
                part: piece.part,
                items: piece.items,
                ..Node::default()
            });
        }
    }

    /// The newest of the user's messages, as many as fit.
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

    /// The cause of a compaction, which the log does not contain. Within a turn it is never the user.
    fn cause(&self) -> Cause {
        if self.turns.is_waiting() {
            Cause::Unlogged
        } else {
            Cause::Automatic
        }
    }
}

/// Whether a new history has results of tools after its summary: what came while the summary was being made (0.171, with
/// `async_compaction`).
fn is_of_a_running_turn(history: &[Item<'_>]) -> bool {
    let kinds = history.iter().map(|item| item.kind.or_empty());
    let after = kinds.skip_while(|kind| *kind != "compaction");
    after.into_iter().any(|kind| kind.ends_with("_output"))
}

fn bytes(items: &[NewItem]) -> u64 {
    items.iter().map(|item| u64::from(item.size.bytes)).sum()
}
