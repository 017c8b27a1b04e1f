//! kimi-cli's `context.jsonl`: the context itself, message by message.

use super::KIMI;
use super::here;
use super::message::{Content, ToolCall, add_content, is_note, output_items, text_of};
use decode::anthropic::ToolNames;
use decode::bodies::Numbers;
use decode::lenient::{self, Count, ReportedCount, Text, record};
use model::event::{Event, EventSink, Key, Node, Part, Usage};
use model::{Kind, Role};

/// The beginning of a message with a summary.
const SUMMARY: &str = "<system>Previous context has been compacted.";

record! {
    struct Message<'a> {
        content: Content<'a>,
        tool_calls: Vec<ToolCall<'a>>,
        tool_call_id: Text<'a>,
        token_count: ReportedCount,
    }
}

/// Decodes the messages.
#[derive(Default)]
pub(super) struct Context {
    /// The number just read: the prompt, where the model's message follows.
    count: Option<u64>,
    /// The request whose total comes next, and its prompt.
    open: Option<(Key, u64)>,
    tools: ToolNames,
}

impl Context {
    /// Reads a message of this role.
    pub(super) fn read(&mut self, role: &str, line: &str, out: &mut EventSink<'_>) {
        let Some(message) = lenient::object::<Message<'_>>(line, out) else {
            return;
        };
        let (count, open) = (self.count.take(), self.open.take());
        let key = here(out);
        match role {
            "_usage" => self.usage(message.token_count.get(), open, out),
            "_system_prompt" => {
                let item = out.item(Role::Container, Kind::Prompt);
                let item = add_content(item, &message.content).done();
                out.node(Node::new(Some(key), Part::Injected, vec![item]));
            }
            "user" => {
                let text = text_of(&message.content);
                let is_summary = text.trim_start().starts_with(SUMMARY);
                let (part, role, kind) = match is_note(&text) {
                    true if is_summary => (Part::Injected, Role::Container, Kind::Summary),
                    true => (Part::Injected, Role::Container, Kind::Reminder),
                    false => (Part::Input, Role::User, Kind::Text),
                };
                let item = add_content(out.item(role, kind), &message.content).done();
                out.node(Node::new(Some(key), part, vec![item]));
            }
            "assistant" => self.assistant(&message, count, out),
            "tool" => {
                let call = message.tool_call_id.get();
                let item = out.tool_result(self.tools.get(call), call);
                let item = add_content(item, &message.content).done();
                out.node(Node::new(Some(key), Part::Result, vec![item]));
            }
            other => KIMI.pass_over(other, out),
        }
    }

    fn assistant(&mut self, message: &Message<'_>, prompt: Option<u64>, out: &mut EventSink<'_>) {
        let mut items = output_items(&message.content, out);
        let calls = message.tool_calls.iter();
        items.extend(calls.map(|call| call.item(&mut self.tools, out)));
        // There are no ids and no times: the output and the size of the prompt are the key.
        let hashes = items.iter().map(|item| item.hash);
        let output = hashes.fold(0, |all: u64, hash| all.rotate_left(1) ^ hash);
        let size = prompt.unwrap_or(0);
        let request = Key::of_parts(&["kimi context", &output.to_string(), &size.to_string()]);
        let key = here(out);
        out.node(Node::output(Some(key), Some(request), items));
        if let Some(prompt) = prompt.filter(|prompt| *prompt > 0) {
            self.open = Some((request, prompt));
            out.usage(report(request, prompt, None));
        }
    }

    /// Takes in a number of tokens: of the prompt before the model's message, with the output after it.
    fn usage(&mut self, count: Option<u64>, open: Option<(Key, u64)>, out: &mut EventSink<'_>) {
        match (open, count) {
            (Some((request, prompt)), Some(total)) if total >= prompt => {
                out.usage(report(request, prompt, Some(total - prompt)));
            }
            // It has a meaning only together with the next line, but counts as a record.
            _ => {
                self.count = count;
                out.emit(Event::Meta(Box::default()));
            }
        }
    }
}

fn report(request: Key, prompt: u64, output: Option<u64>) -> Option<Usage> {
    Numbers::of_line([Count(Some(prompt)), Count(output)]).usage(request, None)
}
