//! Messages of all interfaces as blocks.

use super::json::{Object, is_object, list, object};
use super::part::{self, MOST_NESTED_LISTS, Piece};
use crate::lenient::{FieldPlace, Raw, Text, Texts, record};
use crate::prompts::{Block, Content};
use model::{Kind, Role};
use std::borrow::Cow;

record! {
    struct Message<'a> {
        role: Text<'a>,
        kind: Text<'a> = "type",
        content: Option<Raw<'a>> = "content" | "contents",
        /// Gemini's content, and OpenTelemetry's.
        parts: Option<Raw<'a>>,
        name: Text<'a>,
        tool_calls: Vec<Raw<'a>>,
        function_call: Option<Object<'a>>,
        tool_call_id: Text<'a> = "tool_call_id" | "toolCallId",
        reasoning: Text<'a> = "reasoning_content" | "reasoning",
        /// An id, or the path of a class in LangChain.
        id: Texts<'a>,
        /// OpenInference and LangChain have the fields in an object of their own.
        inner: Option<Raw<'a>> = "message" | "kwargs" | "data",
    }
}

/// Returns the blocks of a prompt or a response: a list of messages, one of them, or bare text. `usual` is the role of
/// a message that names none.
pub fn blocks<'a>(raw: Raw<'a>, usual: Role, at: FieldPlace<'_>) -> Vec<Block<'a>> {
    let mut all = Vec::new();
    messages(raw, usual, at, MOST_NESTED_LISTS, &mut all);
    all
}

/// Returns the blocks of the content of a response.
pub(super) fn output<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Vec<Block<'a>> {
    let mut all = Vec::new();
    MessageReader::new(Role::Assistant, at, &mut all).content(raw);
    all
}

/// Returns the tool calls that are listed beside a text.
pub fn calls<'a>(raw: Raw<'a>, at: FieldPlace<'_>) -> Vec<Block<'a>> {
    let calls = list(raw).into_iter();
    calls.map(|one| part::call(one, at)).collect()
}

fn messages<'a>(
    raw: Raw<'a>,
    usual: Role,
    at: FieldPlace<'_>,
    depth: usize,
    all: &mut Vec<Block<'a>>,
) {
    let Some(depth) = depth.checked_sub(1) else {
        return at.lose();
    };
    match raw.get().as_bytes().first() {
        Some(b'[') => {
            for element in list(raw) {
                messages(element, usual, at, depth, all);
            }
        }
        Some(b'{') => message(raw, usual, at, depth, all),
        _ => {
            if let Some(Text(Some(text))) = at.read(raw) {
                let mut reader = MessageReader::new(usual, at, all);
                reader.text(text);
                reader.begin_turn();
            }
        }
    }
}

/// Returns the role of a message, by the word for it or by the name of its class: `HumanMessage`, `AIMessageChunk`.
pub fn role_of(word: &str) -> Option<Role> {
    let class = word.strip_suffix("Chunk").unwrap_or(word);
    let word = class.strip_suffix("Message").unwrap_or(class);
    Some(match &*word.to_ascii_lowercase() {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" | "thinking" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

fn message<'a>(
    raw: Raw<'a>,
    usual: Role,
    at: FieldPlace<'_>,
    depth: usize,
    all: &mut Vec<Block<'a>>,
) {
    let message: Message<'a> = object(raw, at);
    let class = message.kind.get().and_then(role_of);
    if let Some(inner) = message.inner.filter(|inner| is_object(*inner)) {
        let path = || message.id.iter().last().and_then(role_of);
        let usual = class.or_else(path).unwrap_or(usual);
        return messages(inner, usual, at, depth, all);
    }
    let has_content = message.content.is_some() || message.parts.is_some();
    let role = match message.role.get().and_then(role_of).or(class) {
        Some(role) => role,
        // An item of the Responses API that is no message, or a part without a message around it.
        None if message.parts.is_none() && message.kind.get().is_some()
            || !has_content && message.tool_calls.is_empty() =>
        {
            let mut reader = MessageReader::new(usual, at, all);
            reader.part(raw);
            return reader.begin_turn();
        }
        None => usual,
    };
    let mut reader = MessageReader::new(role, at.field("content"), all);
    if let Some(thought) = message.reasoning.0.filter(|thought| !thought.is_empty()) {
        let thought = Block::text(Role::Assistant, Kind::Thinking, thought);
        reader.all.push(thought);
    }
    for content in [message.content, message.parts].into_iter().flatten() {
        reader.content(content);
    }
    if message.role.get() == Some("thinking") {
        reader.own().for_each(|block| block.kind = Kind::Thinking);
    }
    let calls = message.tool_calls.into_iter();
    for raw in calls.chain(message.function_call.map(|call| call.0)) {
        reader.all.push(part::call(raw, at.field("tool_calls")));
    }
    if role == Role::Tool {
        // An empty result is a result.
        if reader.is_empty() {
            reader.text(Cow::Borrowed(""));
        }
        let id =
            message
                .tool_call_id
                .0
                .or(message.id.0.into_iter().next_back().and_then(|id| id.0));
        for block in reader.own() {
            block.call = block.call.take().or_else(|| id.clone());
            block.tool = block.tool.take().or_else(|| message.name.0.clone());
        }
    }
    reader.begin_turn();
}

/// Reads the contents of one message.
struct MessageReader<'f, 'a, 'l> {
    role: Role,
    at: FieldPlace<'l>,
    all: &'f mut Vec<Block<'a>>,
    /// The index at which its own blocks begin.
    from: usize,
}

impl<'f, 'a, 'l> MessageReader<'f, 'a, 'l> {
    fn new(role: Role, at: FieldPlace<'l>, all: &'f mut Vec<Block<'a>>) -> Self {
        let from = all.len();
        MessageReader {
            role,
            at,
            all,
            from,
        }
    }

    fn is_empty(&self) -> bool {
        self.all.len() == self.from
    }

    fn own(&mut self) -> impl Iterator<Item = &mut Block<'a>> {
        self.all.iter_mut().skip(self.from)
    }

    fn content(&mut self, raw: Raw<'a>) {
        match raw.get().as_bytes().first() {
            Some(b'[') => list(raw).into_iter().for_each(|part| self.part(part)),
            _ => self.part(raw),
        }
    }

    /// Adds a text. The assistant's text is one block however many parts it came in; so is a tool's result. A user's
    /// parts have several authors.
    fn text(&mut self, text: Cow<'a, str>) {
        if text.trim().is_empty() && self.role != Role::Tool {
            return;
        }
        let (role, kind) = match self.role {
            Role::User if text.trim_start().starts_with("<system-reminder>") => {
                (Role::Container, Kind::Reminder)
            }
            Role::System => (Role::Container, Kind::Prompt),
            Role::Tool => (Role::Tool, Kind::ToolResult),
            role => (role, Kind::Text),
        };
        self.add(role, kind, Content::Text(text));
    }

    fn add(&mut self, role: Role, kind: Kind, content: Content<'a>) {
        let joins = matches!(self.role, Role::Assistant | Role::Tool);
        let last = self.all.get_mut(self.from..).and_then(<[_]>::last_mut);
        match last.filter(|last| joins && last.role == role && last.kind == kind) {
            Some(last) => last.content.push(content),
            None => self.all.push(Block::new(role, kind).with([content])),
        }
    }

    fn part(&mut self, raw: Raw<'a>) {
        let content = match part::piece(raw, self.at) {
            Piece::Block(block) => return self.all.push(block),
            Piece::Text(text) => return self.text(text),
            Piece::Nothing => return,
            Piece::Other(content) => content,
        };
        match self.role {
            Role::System => self.add(Role::Container, Kind::Text, content),
            Role::Tool => self.add(Role::Tool, Kind::ToolResult, content),
            role => self.add(role, Kind::Text, content),
        }
    }

    /// A user's message begins a turn unless it only brings results, or continues one before it.
    fn begin_turn(&mut self) {
        if self.role != Role::User {
            return;
        }
        let before = self.from.checked_sub(1).and_then(|ix| self.all.get(ix));
        let continues = before.is_some_and(|block| block.role == Role::User);
        let own = &mut self.all[self.from..];
        if continues || own.iter().any(|block| block.role == Role::Tool) {
            return;
        }
        if let Some(first) = own.iter_mut().find(|block| block.role == Role::User) {
            first.begins_turn = true;
        }
    }
}
