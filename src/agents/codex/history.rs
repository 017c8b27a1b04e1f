//! The history: its items, the requests that they are the output of, and its rebuilding by a
//! compaction.

use super::item::{self, Setting};
use super::reader::{CodexDecoder, Done, Read, Stamp, push};
use super::thread::prefix_key;
use super::wire::{self, Item, str_of};
use crate::model::event::{Event, Kept, Key, NewItem, Node, Part, Reset, Sink};
use crate::model::{Gone, Kind, Role};
use serde_json::value::RawValue;

/// The most that Codex keeps of the user's words at a compaction that says no more than its summary:
/// 20,000 tokens at four bytes a token.
const LEGACY_KEPT_BYTES: u64 = 80_000;

/// The shortest name of an item that no other session gives: `call_` with 24 letters, encrypted text.
/// Some providers' calls are named `call_0`.
const UNIQUE_NAME: usize = 24;

impl CodexDecoder {
    /// An item of the history, as a line of its own.
    pub(super) fn history(
        &mut self,
        of: &str,
        payload: &str,
        stamp: Stamp,
        out: &mut Sink<'_>,
    ) -> Read {
        let mut item: Item<'_> = serde_json::from_str(payload)?;
        if of == "inter_agent_communication" {
            item.kind = Some(wire::Text(of.into()));
        }
        let call = item.call_id.as_ref().map(|id| Key::of(&id.0));
        let tool = call.and_then(|call| self.tools.remove(&call));
        let setting = Setting {
            tool: tool.as_deref(),
            summary: "",
            opens: self.turns.waits(),
        };
        let Some(piece) = item::piece(&item, setting, out) else {
            return Ok(Done::Skipped);
        };
        let mut node = Node {
            part: piece.part,
            items: piece.items,
            ..Node::default()
        };
        match node.part {
            Part::Output => {
                self.spoken = true;
                self.turns.spoke(str_of(&item.kind) == "message");
                node.request = Some(self.request(&item, payload));
                if let (Some(call), Some(name)) = (call, item::tool_name(&item)) {
                    self.tools.insert(call, name.into());
                }
            }
            Part::Result => self.turns.returned(),
            _ => {
                let key = Key::of_number("codex", stamp.place.offset);
                node.key = Some(key);
                if piece.said {
                    node.turn = self.turns.said();
                    if node.turn {
                        self.open = None;
                    }
                    self.said.push((key, bytes(&node.items)));
                } else if !self.spoken {
                    self.opening.push(key);
                }
            }
        }
        push(out, stamp, Event::Node(Box::new(node)));
        Ok(Done::Read)
    }

    /// The request that this output belongs to: the open one, or a new one, named after its first
    /// output, so that a copy of it in a fork's file has the same name.
    fn request(&mut self, first: &Item<'_>, payload: &str) -> Key {
        if let Some(open) = self.open {
            return open;
        }
        let name = [&first.encrypted_content, &first.call_id, &first.id]
            .into_iter()
            .map(str_of)
            .find(|name| name.len() >= UNIQUE_NAME);
        let key = match name {
            Some(name) => Key::of_parts(&["codex", name]),
            // What is short or mere text may come again elsewhere: the spend so far tells it apart.
            None => {
                let spent = format!("{:?}", self.meter.total());
                Key::of_parts(&["codex", &self.thread.latest, &spent, payload])
            }
        };
        let key = self.once(key);
        self.open = Some(key);
        key
    }

    /// A request's key, made another one where it has come before in this file.
    pub(super) fn once(&mut self, key: Key) -> Key {
        let times = self.keys.entry(key).or_default();
        *times += 1;
        match *times {
            1 => key,
            nth => Key::of_number("codex again", key.0 ^ nth),
        }
    }

    pub(super) fn compacted(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let compacted: wire::Compacted<'_> = serde_json::from_str(payload)?;
        let mut kept = vec![prefix_key()];
        if compacted.replacement_history.is_none() {
            kept.append(&mut self.opening.clone());
            kept.extend(self.newest_said(LEGACY_KEPT_BYTES));
        }
        let reset = Reset {
            key: None,
            gone: Gone::Compaction,
            cause: self.cause().into(),
            before: None,
            after: None,
            kept: Kept::Nodes(kept),
        };
        push(out, stamp, Event::Reset(Box::new(reset)));
        self.turns.rebuilt();
        self.open = None;
        let message = str_of(&compacted.message);
        match &compacted.replacement_history {
            Some(history) => self.rebuild(history, message, stamp, out),
            None if !message.is_empty() => {
                let summary = out.item(Role::Container, Kind::Summary).text(message);
                let node = Node {
                    part: Part::Injected,
                    items: vec![summary.done()],
                    ..Node::default()
                };
                push(out, stamp, Event::Node(Box::new(node)));
            }
            None => {}
        }
        Ok(Done::Read)
    }

    /// The history as a compaction leaves it.
    fn rebuild(&mut self, history: &[&RawValue], message: &str, stamp: Stamp, out: &mut Sink<'_>) {
        self.said.clear();
        self.opening.clear();
        for (nth, raw) in history.iter().enumerate() {
            let Ok(item) = serde_json::from_str::<Item<'_>>(raw.get()) else {
                continue;
            };
            let setting = Setting {
                tool: None,
                summary: message,
                opens: false,
            };
            let Some(piece) = item::piece(&item, setting, out) else {
                continue;
            };
            // A line is longer than the number of its items, so no other node has this number.
            let number = stamp.place.offset.saturating_add(nth as u64);
            let key = Key::of_number("codex", number);
            if piece.said {
                self.said.push((key, bytes(&piece.items)));
            }
            let node = Node {
                key: Some(key),
                part: piece.part,
                items: piece.items,
                ..Node::default()
            };
            push(out, stamp, Event::Node(Box::new(node)));
        }
    }

    /// The newest of what the user said, as much as fits.
    fn newest_said(&mut self, mut left: u64) -> Vec<Key> {
        let fits = self.said.iter().rev().take_while(|(_, bytes)| {
            let fits = *bytes <= left;
            left = left.saturating_sub(*bytes);
            fits
        });
        let from = self.said.len() - fits.count();
        self.said.drain(..from);
        self.said.iter().map(|(key, _)| *key).collect()
    }

    /// The log does not say what caused a compaction. Within a turn it is never the user; before the
    /// user's message it is where the context was far from full.
    fn cause(&self) -> &'static str {
        let used = self.meter.last_total();
        match self.window {
            Some(window) if self.turns.waits() && used < window / 10 * 9 => "manual",
            _ => "auto",
        }
    }
}

fn bytes(items: &[NewItem]) -> u64 {
    items.iter().map(|item| item.size.bytes).sum()
}
