//! kimi-cli's `context.jsonl`: the context itself, message by message.

use super::Writer;
use super::message::{Content, ToolCall, fill, is_note, one, said, text_of};
use crate::agents::lenient::{self, Count, Piece, Pieces, Text};
use crate::model::event::{Billed, Event, Key, Part, Usage};
use crate::model::{Kind, Role, Source};
use serde::Deserialize;
use std::collections::HashMap;

/// What the message begins with that holds a summary.
const SUMMARY: &str = "<system>Previous context has been compacted.";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    tool_calls: Pieces<'a, ToolCall<'a>>,
    #[serde(borrow)]
    tool_call_id: Text<'a>,
    token_count: Count,
}

/// Reads the messages.
#[derive(Default)]
pub(super) struct Context {
    /// The number just read: the prompt, where the model's message follows.
    count: Option<u64>,
    /// The request whose total comes next, and its prompt.
    open: Option<(Key, u64)>,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
}

impl Context {
    /// Reads a message of this role.
    pub(super) fn read(&mut self, role: &str, line: &[u8], writer: &mut Writer<'_, '_>) {
        let message: Message<'_> = match lenient::object(line) {
            Ok(message) => message,
            Err(why) => return writer.push(Event::Unreadable(why)),
        };
        let (count, open) = (self.count.take(), self.open.take());
        let key = writer.here();
        match role {
            "_usage" => self.usage(message.token_count.0, open, writer),
            "_system_prompt" => {
                let item = one(writer.out, Role::Container, Kind::Prompt, &message.content);
                writer.node(key, Part::Injected, |node| node.items.push(item));
            }
            "user" => {
                let text = text_of(&message.content);
                let (role, kind) = match is_note(&text) {
                    true if text.trim_start().starts_with(SUMMARY) => {
                        (Role::Container, Kind::Summary)
                    }
                    true => (Role::Container, Kind::Reminder),
                    false => (Role::User, Kind::Text),
                };
                let item = one(writer.out, role, kind, &message.content);
                let part = match role {
                    Role::User => Part::Input,
                    _ => Part::Injected,
                };
                writer.node(key, part, |node| {
                    node.turn = part == Part::Input;
                    node.items.push(item);
                });
            }
            "assistant" => self.assistant(&message, count, writer),
            "tool" => {
                let call = message.tool_call_id.get();
                let name = call.and_then(|call| self.tools.get(&Key::of(call)));
                let item = writer.out.item(Role::Tool, Kind::ToolResult);
                let item = item.tool(name.map(|name| &**name)).call(call);
                let item = fill(item, &message.content).done();
                writer.node(key, Part::Result, |node| node.items.push(item));
            }
            other => writer.skip(other),
        }
    }

    fn assistant(
        &mut self,
        message: &Message<'_>,
        prompt: Option<u64>,
        writer: &mut Writer<'_, '_>,
    ) {
        let mut items = said(&message.content, writer.out);
        for call in &message.tool_calls.0 {
            let Piece::Part(call) = call else {
                continue;
            };
            if let (Some(id), Some(name)) = (call.id.get(), call.name()) {
                self.tools.insert(Key::of(id), name.into());
            }
            items.push(call.item(writer.out));
        }
        // There are no ids and no times: what was said and how large the prompt was must do.
        let words = items
            .iter()
            .fold(0, |all: u64, item| all.rotate_left(1) ^ item.hash);
        let size = prompt.unwrap_or(0);
        let request = Key::of_parts(&["kimi context", &words.to_string(), &size.to_string()]);
        let key = writer.here();
        writer.node(key, Part::Output, |node| {
            node.request = Some(request);
            node.items = items;
        });
        if let Some(prompt) = prompt.filter(|prompt| *prompt > 0) {
            self.open = Some((request, prompt));
            writer.push(report(request, prompt, None));
        }
    }

    /// A number of tokens: of the prompt before the model's message, with the output after it.
    fn usage(&mut self, count: Option<u64>, open: Option<(Key, u64)>, writer: &mut Writer<'_, '_>) {
        match (open, count) {
            (Some((request, prompt)), Some(total)) if total >= prompt => {
                writer.push(report(request, prompt, Some(total - prompt)));
            }
            // It says something only together with the next line.
            _ => {
                self.count = count;
                writer.push(Event::Meta(Box::default()));
            }
        }
    }
}

fn report(request: Key, prompt: u64, output: Option<u64>) -> Event {
    Event::Usage(Box::new(Usage {
        request,
        model: None,
        prompt,
        cached: 0,
        output,
        reasoning: None,
        source: Source::Reported,
        billed: Billed {
            input: prompt,
            output: output.unwrap_or(0),
            ..Billed::default()
        },
    }))
}
