//! Recorded streams: the events of a response put together again. Anthropic's blocks and Chat
//! Completions' choices grow by deltas, Gemini's parts follow each other, Responses end in an event that
//! holds it all. Usage is in the last event, or in the first and the last.

use super::json::object;
use super::message::blocks;
use super::part::tool_call;
use super::response::{Response, Thoughts, whole};
use super::usage::Numbers;
use crate::lenient::{Count, FieldPlace, LostFields, Raw, Text, full_length, parse, record};
use crate::prompts::{Block, Content};
use model::{Kind, Role};
use std::borrow::Cow;

record! {
    struct Event<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        model: Text<'a>,
        message: Option<Raw<'a>>,
        index: Count,
        content_block: Option<Raw<'a>>,
        delta: Option<Raw<'a>>,
        usage: Option<Raw<'a>> = "usage" | "usageMetadata",
        response: Option<Raw<'a>>,
        item: Option<Raw<'a>>,
        choices: Vec<Choice<'a>>,
        candidates: Vec<Candidate<'a>>,
    }

    /// A block of Anthropic's, or what it grows by; a choice's delta.
    struct Delta<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        name: Text<'a>,
        text: Text<'a>,
        thinking: Text<'a>,
        signature: Text<'a>,
        data: Text<'a>,
        partial_json: Text<'a>,
        content: Option<Raw<'a>>,
        reasoning: Text<'a> = "reasoning_content" | "reasoning",
        tool_calls: Vec<CallDelta<'a>>,
    }

    struct CallDelta<'a> {
        index: Count,
        id: Text<'a>,
        function: Option<Function<'a>>,
    }

    struct Function<'a> {
        name: Text<'a>,
        arguments: Text<'a>,
    }

    struct Choice<'a> {
        index: Count,
        delta: Option<Delta<'a>>,
    }

    struct Candidate<'a> {
        content: Option<Raw<'a>>,
    }
}

/// A part of the response while it is put together.
#[derive(Default)]
struct PartialBlock<'a> {
    /// Its number among parts of its kind, as the stream counts them.
    number: u64,
    kind: Option<Kind>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    text: String,
    hidden: u64,
}

#[derive(Default)]
struct Stream<'a> {
    response: Response<'a>,
    partial: Vec<PartialBlock<'a>>,
}

/// Returns the JSON of each event in the text of a stream: the text after `data:`.
fn events(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
}

/// Parses a response's body: a whole one, the chunks of a stream as a list, or their text. `None`: it
/// is no response of a model.
pub fn response<'a>(body: &'a str, lost: &LostFields) -> Option<Response<'a>> {
    let body = body.trim_start();
    let own_lost = LostFields::default();
    let response = match body.as_bytes().first()? {
        b'{' => whole(body, &own_lost),
        b'[' => {
            let chunks: Vec<Raw<'_>> = serde_json::from_str(body).ok()?;
            joined(chunks.into_iter().map(Raw::get), &own_lost)
        }
        _ => joined(events(body), &own_lost),
    };
    lost.extend(own_lost);
    response.filter(|response| !response.is_empty())
}

/// Puts a response together; `None`: these are no events of one.
fn joined<'a>(chunks: impl Iterator<Item = &'a str>, lost: &LostFields) -> Option<Response<'a>> {
    let mut stream = Stream::default();
    for chunk in chunks.filter(|chunk| chunk.starts_with('{')) {
        if let Ok(event) = parse(chunk, lost) {
            stream.add(chunk, event, lost);
        }
    }
    let mut response = stream.response;
    let partial = stream.partial.into_iter();
    response
        .blocks
        .extend(partial.filter_map(PartialBlock::done));
    (!response.is_empty()).then_some(response)
}

impl<'a> Stream<'a> {
    fn add(&mut self, chunk: &'a str, event: Event<'a>, lost: &LostFields) {
        let at = lost.at("");
        if let Some(response) = event.response {
            // `response.completed` and its kind hold the whole response, `response.created` its id.
            return self.merge(whole(response.get(), lost));
        }
        if let Some(item) = event.item {
            // An item that is done is repeated in the response that is completed; where the stream broke
            // off before, it is here alone.
            if event.kind.get() == Some("response.output_item.done") {
                let blocks = blocks(item, Role::Assistant, at.field("item"));
                self.response.blocks.extend(blocks);
            }
            return;
        }
        let number = event.index.or_zero();
        match event.kind.or_empty() {
            "message_start" => {
                let message = event.message.and_then(|raw| whole(raw.get(), lost));
                self.merge(message);
            }
            "content_block_start" => {
                if let Some(raw) = event.content_block {
                    self.block(number, object(raw, at.field("content_block")));
                }
            }
            "content_block_delta" => {
                if let Some(raw) = event.delta {
                    self.block_delta(number, &object(raw, at.field("delta")));
                }
            }
            _ if !event.candidates.is_empty() => self.candidates(chunk, &event.candidates, at),
            _ => {
                self.name(event.id.0, event.model.0);
                if !event.choices.is_empty() {
                    self.response.thoughts = Thoughts::AreNotSentBack;
                }
                // Of several choices the first counts.
                let choices = event.choices.into_iter();
                for choice in choices.filter(|choice| choice.index.or_zero() == 0) {
                    self.choice(choice.delta.unwrap_or_default(), at);
                }
            }
        }
        if let Some(usage) = event.usage {
            let numbers = Numbers::read(usage, at);
            self.response.numbers = self.response.numbers.max(numbers);
        }
    }

    fn name(&mut self, id: Option<Cow<'a, str>>, model: Option<Cow<'a, str>>) {
        let set = |slot: &mut Option<Cow<'a, str>>, new: Option<Cow<'a, str>>| {
            if slot.is_none() {
                *slot = new.filter(|new| !new.is_empty());
            }
        };
        set(&mut self.response.id, id);
        set(&mut self.response.model, model);
    }

    fn merge(&mut self, response: Option<Response<'a>>) {
        let Some(response) = response else {
            return;
        };
        self.name(response.id, response.model);
        self.response.numbers = self.response.numbers.max(response.numbers);
        if !response.blocks.is_empty() {
            self.response.blocks = response.blocks;
        }
    }

    fn candidates(&mut self, chunk: &'a str, candidates: &[Candidate<'a>], at: FieldPlace<'_>) {
        let content = candidates.first().and_then(|first| first.content);
        let content = content.map(|raw| blocks(raw, Role::Assistant, at.field("content")));
        for mut block in content.into_iter().flatten() {
            // The text of one response, in pieces.
            let last = self.response.blocks.last_mut();
            match last.filter(|last| last.kind == block.kind && block.kind != Kind::ToolCall) {
                Some(last) => last.content.append(&mut block.content),
                None => self.response.blocks.push(block),
            }
        }
        // Losses were noted with the event.
        let lost = LostFields::default();
        if let Some(response) = whole(chunk, &lost) {
            self.response.thoughts = response.thoughts;
            self.name(response.id, response.model);
        }
    }

    fn block(&mut self, number: u64, block: Delta<'a>) {
        let kind = match block.kind.or_empty() {
            "thinking" | "redacted_thinking" => Kind::Thinking,
            kind if kind.ends_with("tool_use") => Kind::ToolCall,
            _ => Kind::Text,
        };
        self.partial.push(PartialBlock {
            number,
            kind: Some(kind),
            hidden: full_length(block.data.or_empty()),
            id: block.id.0,
            name: block.name.0,
            text: block.text.or_empty().to_owned() + block.thinking.or_empty(),
        });
    }

    fn block_delta(&mut self, number: u64, delta: &Delta<'a>) {
        let mut blocks = self.partial.iter_mut().rev();
        if let Some(block) = blocks.find(|block| block.number == number) {
            for text in [&delta.text, &delta.thinking, &delta.partial_json] {
                block.text.push_str(text.or_empty());
            }
            block.hidden += full_length(delta.signature.or_empty());
        }
    }

    fn choice(&mut self, delta: Delta<'a>, at: FieldPlace<'_>) {
        let content: Option<Text<'_>> = delta.content.and_then(|raw| at.field("content").read(raw));
        let content = content.unwrap_or_default();
        let texts = [
            (Kind::Thinking, delta.reasoning.or_empty()),
            (Kind::Text, content.or_empty()),
        ];
        for (kind, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.part(kind, 0).text.push_str(text);
        }
        for call in delta.tool_calls {
            let function = call.function.unwrap_or_default();
            let part = self.part(Kind::ToolCall, call.index.or_zero());
            part.text.push_str(function.arguments.or_empty());
            part.id = part.id.take().or(call.id.0);
            part.name = part.name.take().or(function.name.0);
        }
    }

    fn part(&mut self, kind: Kind, number: u64) -> &mut PartialBlock<'a> {
        let is_it = |part: &PartialBlock<'a>| part.kind == Some(kind) && part.number == number;
        let at = self.partial.iter().position(is_it).unwrap_or_else(|| {
            self.partial.push(PartialBlock {
                number,
                kind: Some(kind),
                ..PartialBlock::default()
            });
            self.partial.len() - 1
        });
        &mut self.partial[at]
    }
}

impl<'a> PartialBlock<'a> {
    fn done(self) -> Option<Block<'a>> {
        let mut block = match self.kind? {
            Kind::ToolCall => tool_call(self.id, self.name.unwrap_or_default(), None),
            _ if self.text.is_empty() && self.hidden == 0 => return None,
            kind => Block::new(Role::Assistant, kind),
        };
        block.content.push(Content::Text(self.text.into()));
        if block.kind == Kind::Thinking {
            block.content.push(Content::Hidden(self.hidden));
        }
        Some(block)
    }
}
