//! A history that is written again with every request: what is news in it, and what has left.

use super::mapping::{Mapping, Speaker};
use super::message::Message;
use super::reader::At;
use crate::model::Gone;
use crate::model::event::{Event, Key, NewItem, Node, Part, Sink};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The messages of the newest request.
#[derive(Clone, Default)]
pub(super) struct History {
    /// Its messages, in their order.
    sent: Vec<Key>,
    /// What it was answered.
    answer: Option<Answer>,
    /// All messages so far, in the context or not.
    seen: HashSet<Key>,
    /// Messages that are an answer written into the list: whose.
    answers: HashMap<Key, Key>,
}

/// An answer: one node, however many messages a later list makes of it.
#[derive(Clone, Copy)]
struct Answer {
    key: Key,
    request: Key,
    /// Whether its content is still to come, with the next request.
    is_empty: bool,
}

impl History {
    /// Tells what is news in a request's list of messages.
    pub(super) fn take(
        &mut self,
        mapping: &Mapping,
        at: At,
        list: &[Value],
        tools: &mut HashMap<Key, Box<str>>,
        out: &mut Sink<'_>,
    ) {
        let before = std::mem::take(&mut self.sent);
        let answer = self.answer.take();
        let mut now: Vec<Key> = Vec::new();
        let mut messages: Vec<(Key, Result<Message<'_>, Box<str>>)> = Vec::new();
        let mut alike: HashMap<Key, u64> = HashMap::new();
        for value in list {
            let read = Message::read(mapping, value);
            let content = match &read {
                Ok(message) => message.key(&mapping.id),
                Err(_) => Key::of_parts(&[&mapping.id, "other", &value.to_string()]),
            };
            // The same content twice is two messages.
            let nth = alike.entry(content).or_default();
            *nth += 1;
            let own = Key::of_parts(&[&content.0.to_string(), &nth.to_string()]);
            // However a list writes what was answered, it is the answer.
            let follows = answer.is_some_and(|answer| match now.strip_prefix(&before[..]) {
                Some(rest) => rest.is_empty() || rest == [answer.key],
                None => false,
            });
            let key = match (self.answers.get(&own), answer) {
                (Some(key), _) => *key,
                (None, Some(answer)) if follows && is_answer(&read) => {
                    self.answers.insert(own, answer.key);
                    answer.key
                }
                _ => own,
            };
            if now.last() != Some(&key) {
                now.push(key);
            }
            messages.push((key, read));
        }
        self.leave(&before, answer, &now, at, out);
        if let Some(answer) = answer.filter(|answer| answer.is_empty) {
            let of_it = messages.iter().filter(|(key, _)| *key == answer.key);
            let said = of_it.filter_map(|(_, read)| read.as_ref().ok());
            let items: Vec<NewItem> = said.flat_map(|m| m.items(tools, out)).collect();
            if !items.is_empty() {
                answer.tell(at, items, out);
            }
        }
        for (key, read) in messages {
            if !self.seen.insert(key) {
                continue;
            }
            match read {
                Ok(message) => {
                    let node = Node {
                        key: Some(key),
                        part: message.part(),
                        turn: message.part() == Part::Input,
                        items: message.items(tools, out),
                        ..Node::default()
                    };
                    at.node(node, out);
                }
                Err(why) => at.push(Event::Skipped(why), out),
            }
        }
        self.sent = now;
    }

    /// Tells what the list no longer holds, and what it holds again.
    fn leave(
        &self,
        before: &[Key],
        answer: Option<Answer>,
        now: &[Key],
        at: At,
        out: &mut Sink<'_>,
    ) {
        let listed: HashSet<Key> = now.iter().copied().collect();
        let held: HashSet<Key> = before.iter().copied().collect();
        let lost = before.iter().any(|key| !listed.contains(key));
        let answer = answer.map(|answer| answer.key);
        let unsaid = answer.is_some_and(|key| !listed.contains(&key));
        let is_back =
            |key: &Key| self.seen.contains(key) && !held.contains(key) && answer != Some(*key);
        if lost || unsaid || now.iter().any(is_back) {
            let cause = if lost {
                Gone::Compaction
            } else {
                Gone::Replaced
            };
            let keys = now.to_vec();
            at.push(Event::Retain { keys, cause }, out);
        }
    }

    /// Tells what the request was answered.
    pub(super) fn answered(
        &mut self,
        at: At,
        request: Key,
        items: Vec<NewItem>,
        out: &mut Sink<'_>,
    ) {
        let key = Key::of_parts(&["answer", &request.0.to_string()]);
        let answer = Answer {
            key,
            request,
            is_empty: items.is_empty(),
        };
        self.seen.insert(key);
        self.answer = Some(answer);
        answer.tell(at, items, out);
    }
}

impl Answer {
    fn tell(self, at: At, items: Vec<NewItem>, out: &mut Sink<'_>) {
        let node = Node {
            key: Some(self.key),
            part: Part::Output,
            request: Some(self.request),
            items,
            ..Node::default()
        };
        at.node(node, out);
    }
}

fn is_answer(read: &Result<Message<'_>, Box<str>>) -> bool {
    let said = read.as_ref().map(|message| message.speaker);
    matches!(said, Ok(Speaker::Assistant | Speaker::Call))
}
