//! The extension's output channel: lines of text, of which its estimator's have numbers.
//!
//! `Recorded actual: N tokens for M messages (FAMILY)` is the provider's number for a prompt. Before it, at
//! the level of debugging, is the extension's own: `Delta: K known + E est (…) = T total`, where `K` is the
//! number recorded before. Nothing names the conversation: a prompt continues the one of its model that had
//! the most messages, but no more than it has.

use decode::bodies::Numbers;
use decode::lenient::Count;
use decode::time::time_before;
use model::event::{Conversation, EventSink, Key, Meta, Usage};

const MARK: &str = "[Estimator] ";

/// Returns true if a file that begins so is an output channel.
pub(super) fn is_channel(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.trim_ascii_start().starts_with(b"{"))
        .any(|line| String::from_utf8_lossy(line).contains(MARK))
}

/// The conversations of a channel.
#[derive(Default)]
pub(super) struct Channel {
    conversations: Vec<GatewayConversation>,
    /// True if a line of the estimator was read.
    pub(super) is_open: bool,
}

/// A conversation, by its newest prompt.
struct GatewayConversation {
    family: Box<str>,
    messages: u64,
    tokens: u64,
}

impl Channel {
    /// Reads a line; `false`: it is not a channel's.
    pub(super) fn read(&mut self, line: &str, out: &mut EventSink<'_>) -> bool {
        let Some((before, message)) = line.split_once(MARK) else {
            if self.is_open {
                out.skip("log line");
            }
            return self.is_open;
        };
        self.is_open = true;
        out.set_time(time_before(before));
        let request = Key::of_number("vscode-gateway", out.place().id());
        if let Some((tokens, messages, family)) = recorded(message) {
            self.prompt(request, tokens, messages, family, out);
        } else if let Some((known, total)) = estimated(message) {
            self.estimate(request, known, total, out);
        } else {
            out.skip("log line");
        }
        true
    }

    fn prompt(
        &mut self,
        request: Key,
        tokens: u64,
        messages: u64,
        family: &str,
        out: &mut EventSink<'_>,
    ) {
        let fits = |one: &&(usize, &GatewayConversation)| {
            *one.1.family == *family && one.1.messages <= messages
        };
        let known = self.conversations.iter().enumerate();
        let known: Vec<(usize, &GatewayConversation)> = known.collect();
        let newest = known
            .iter()
            .filter(fits)
            .max_by_key(|(_, one)| one.messages);
        let ix = newest.map_or(self.conversations.len(), |(ix, _)| *ix);
        out.set_conversation(conversation(ix));
        let conversation = GatewayConversation {
            family: family.into(),
            messages,
            tokens,
        };
        match self.conversations.get_mut(ix) {
            Some(known) => *known = conversation,
            None => {
                self.conversations.push(conversation);
                out.meta(Meta {
                    title: Some(family.into()),
                    model: Some(family.into()),
                    ..Meta::default()
                });
            }
        }
        let numbers = Numbers::of_line([Count(Some(tokens)), Count(None)]);
        let usage = numbers.usage(request, Some(family)).into_iter();
        usage.for_each(|usage| out.usage(usage));
    }

    fn estimate(&mut self, request: Key, known: u64, total: u64, out: &mut EventSink<'_>) {
        let is_its = |one: &GatewayConversation| one.tokens == known;
        match self.conversations.iter().rposition(is_its) {
            Some(ix) => {
                out.set_conversation(conversation(ix));
                out.usage(Usage::estimated(request, total));
            }
            None => out.skip("log line"),
        }
    }
}

fn conversation(ix: usize) -> Conversation {
    match ix {
        0 => Conversation::Main,
        ix => Conversation::Side(Key::of_number("channel", ix as u64)),
    }
}

/// Reads `Recorded actual: 102243 tokens for 142 messages (claude-opus)`.
fn recorded(message: &str) -> Option<(u64, u64, &str)> {
    let (tokens, rest) = number(message.strip_prefix("Recorded actual: ")?)?;
    let (messages, rest) = number(rest.strip_prefix(" tokens for ")?)?;
    let family = rest.strip_prefix(" messages (")?.split(')').next()?;
    Some((tokens, messages, family))
}

/// Reads `Delta: 102243 known + 310 est (2 new messages) = 102553 total`.
fn estimated(message: &str) -> Option<(u64, u64)> {
    let (known, rest) = number(message.strip_prefix("Delta: ")?)?;
    let (total, _) = number(rest.split_once(" = ")?.1)?;
    Some((known, total))
}

/// Returns the number that a text begins with, and the rest of it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((Count::of(digits).0?, rest))
}
