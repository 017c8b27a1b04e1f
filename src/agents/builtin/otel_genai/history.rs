//! LangChain's messages as `messages_to_dict` writes them: a list, as a document or as a line, or a message a
//! line. Each has its class in `type` and its fields in `data`; an answer's `usage_metadata` is of the call
//! that it answers.

use super::call::Call;
use super::content::messages;
use super::run;
use decode::bodies::{object_if, role_of};
use decode::lenient::{LostFields, Raw, Text, record};
use decode::prompts::{self, Block, Prompt, PromptHistory, Step, mark_turns};
use formats::head;
use model::event::{EventSink, Key};
use model::{Kind, Role};

record! {
    /// The fields by which a message is recognised.
    struct Message<'a> {
        class: Text<'a> = "type",
        content: Option<Raw<'a>> = "data" / "content",
    }
}

impl<'a> Message<'a> {
    fn of(value: Raw<'a>) -> Message<'a> {
        object_if(Some(value), LostFields::default().at(""))
    }
}

/// Returns true if a value is a message.
pub(super) fn is_message(value: Raw<'_>) -> bool {
    let message = Message::of(value);
    message.class.0.is_some() && message.content.is_some()
}

/// Returns true if a file that begins so holds such messages.
pub(super) fn is_like_messages(head: &[u8]) -> bool {
    const CLASSES: [&str; 6] = ["human", "ai", "system", "tool", "function", "chat"];
    let begins = head::solid(head, 48);
    let first = begins.strip_prefix(b"[").unwrap_or(&begins);
    CLASSES.iter().any(|class| {
        let mark = format!(r#"{{"type":"{class}","data":{{"#);
        first.starts_with(mark.as_bytes())
    })
}

/// A history that is read message by message.
#[derive(Default)]
pub(super) struct History {
    /// Hashes of the messages so far.
    seen: Vec<u64>,
    /// The system prompt.
    front: Vec<Block<'static>>,
}

impl History {
    /// Returns the number of messages of a list that were read already. Another history is read from its beginning.
    pub(super) fn known(&mut self, list: &[Call]) -> usize {
        let hashes = list.iter().map(hash);
        let same = hashes.zip(&self.seen).take_while(|(a, b)| a == *b).count();
        if same < self.seen.len() {
            *self = History::default();
            return 0;
        }
        same
    }

    /// Adds a message to a conversation.
    pub(super) fn add(&mut self, call: &mut Call, to: &mut PromptHistory, out: &mut EventSink<'_>) {
        let (step, kept) = if self.seen.is_empty() {
            (Step::Replace, 0)
        } else {
            (Step::Continue, to.held())
        };
        self.seen.push(hash(call));
        let place = out.place();
        let number = place.id().wrapping_add(self.seen.len() as u64);
        let request = call.key.unwrap_or(Key::of_number("langchain", number));
        if call.input.is_empty() {
            call.output.retain(|block| !block.is_empty());
            let usage = call.usage(request, out);
            return to.add_response(request, &call.output, usage, out);
        }
        mark_turns(&mut call.input);
        if call.input.iter().all(|block| block.kind == Kind::Prompt) {
            self.front.append(&mut call.input);
        }
        let prompt = Prompt {
            front: &self.front,
            keeps_front: false,
            kept,
            blocks: &call.input,
            step,
        };
        to.add_request(&prompt, out);
    }
}

fn hash(message: &Call) -> u64 {
    let blocks = message.input.iter().chain(&message.output);
    prompts::hash(&blocks.map(Block::fingerprint).collect::<Vec<_>>())
}

/// Reads a message as what a call carried or answered.
pub(super) fn read(message: Raw<'_>, lost: &LostFields) -> Call {
    if Message::of(message).class.get().and_then(role_of) != Some(Role::Assistant) {
        let mut call = Call::default();
        messages(message.get(), Role::User, lost, &mut call.input);
        return call;
    }
    let mut call = run::answered(message, lost);
    messages(message.get(), Role::Assistant, lost, &mut call.output);
    call
}
