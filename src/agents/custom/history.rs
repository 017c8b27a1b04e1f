//! A history that is written again with every request: what is new in it, and what has left.

use super::mapping::{Author, Mapping};
use super::message::Message;
use model::Gone;
use model::event::{Event, Key, NewItem, Node, Sink};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The messages of the newest request.
#[derive(Clone, Default)]
pub(super) struct History {
    /// Its messages, in their order.
    sent: Vec<Key>,
    /// The model's reply to it.
    reply: Option<Reply>,
    /// All messages so far, in the context or not.
    seen: HashSet<Key>,
    /// The messages of a list that repeat a reply, with that reply's key.
    replies: HashMap<Key, Key>,
}

/// A reply: one node, however many messages a later list makes of it.
#[derive(Clone, Copy)]
struct Reply {
    key: Key,
    request: Key,
    /// True if its content is still to come, with the next request.
    is_empty: bool,
}

impl History {
    /// Takes in a request's list of messages.
    pub(super) fn add_request(
        &mut self,
        mapping: &Mapping,
        list: &[Value],
        tools: &mut HashMap<Key, Box<str>>,
        out: &mut Sink<'_>,
    ) {
        let before = std::mem::take(&mut self.sent);
        let reply = self.reply.take();
        let mut now: Vec<Key> = Vec::new();
        let mut messages: Vec<(Key, Result<Message<'_>, Box<str>>)> = Vec::new();
        let mut alike: HashMap<Key, u64> = HashMap::new();
        for value in list {
            let read = Message::read(mapping, value);
            let content = match &read {
                Ok(message) => message.key(&mapping.id),
                Err(_) => Key::of_parts(&[&mapping.id, "other", &value.to_string()]),
            };
            // Equal contents are separate messages.
            let nth = alike.entry(content).or_default();
            *nth += 1;
            let own = Key::of_parts(&[&content.get().to_string(), &nth.to_string()]);
            // However a list writes the response, it is the response.
            let follows = reply.is_some_and(|reply| match now.strip_prefix(&before[..]) {
                Some(rest) => rest.is_empty() || rest == [reply.key],
                None => false,
            });
            let key = match (self.replies.get(&own), reply) {
                (Some(key), _) => *key,
                (None, Some(reply)) if follows && is_reply(&read) => {
                    self.replies.insert(own, reply.key);
                    reply.key
                }
                _ => own,
            };
            if now.last() != Some(&key) {
                now.push(key);
            }
            messages.push((key, read));
        }
        self.drop_missing(&before, reply, &now, out);
        if let Some(reply) = reply.filter(|reply| reply.is_empty) {
            let of_it = messages.iter().filter(|(key, _)| *key == reply.key);
            let of_reply = of_it.filter_map(|(_, read)| read.as_ref().ok());
            let items: Vec<NewItem> = of_reply.flat_map(|m| m.items(tools, out)).collect();
            if !items.is_empty() {
                reply.emit(items, out);
            }
        }
        for (key, read) in messages {
            if !self.seen.insert(key) {
                continue;
            }
            match read {
                Ok(message) => {
                    let items = message.items(tools, out);
                    out.node(Node::new(Some(key), message.part(), items));
                }
                Err(why) => out.unknown(why),
            }
        }
        self.sent = now;
    }

    /// Emits what the list no longer holds, and what it holds again.
    fn drop_missing(&self, before: &[Key], reply: Option<Reply>, now: &[Key], out: &mut Sink<'_>) {
        let listed: HashSet<Key> = now.iter().copied().collect();
        let held: HashSet<Key> = before.iter().copied().collect();
        let lost = before.iter().any(|key| !listed.contains(key));
        let reply = reply.map(|reply| reply.key);
        let reply_is_missing = reply.is_some_and(|key| !listed.contains(&key));
        let is_back =
            |key: &Key| self.seen.contains(key) && !held.contains(key) && reply != Some(*key);
        if lost || reply_is_missing || now.iter().any(is_back) {
            let cause = if lost {
                Gone::Compaction
            } else {
                Gone::Replaced
            };
            let keys = now.to_vec();
            out.emit(Event::Retain { keys, cause });
        }
    }

    /// Takes in the response to the request.
    pub(super) fn add_reply(&mut self, request: Key, items: Vec<NewItem>, out: &mut Sink<'_>) {
        let key = Key::of_parts(&["reply", &request.get().to_string()]);
        let reply = Reply {
            key,
            request,
            is_empty: items.is_empty(),
        };
        self.seen.insert(key);
        self.reply = Some(reply);
        reply.emit(items, out);
    }
}

impl Reply {
    fn emit(self, items: Vec<NewItem>, out: &mut Sink<'_>) {
        out.node(Node::output(Some(self.key), Some(self.request), items));
    }
}

fn is_reply(read: &Result<Message<'_>, Box<str>>) -> bool {
    let author = read.as_ref().map(|message| message.author);
    matches!(author, Ok(Author::Assistant | Author::Call))
}
