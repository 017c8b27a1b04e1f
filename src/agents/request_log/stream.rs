//! Recorded streams: the events of a response put together again. Anthropic's blocks and Chat
//! Completions' choices grow by deltas, Gemini's parts follow each other, Responses end in an event that
//! holds it all. Usage stands in the last event, or in the first and the last.

use super::answer::{Answer, Thoughts, whole};
use super::message::{tool_call, units};
use super::unit::{Matter, Unit};
use super::usage::Numbers;
use crate::agents::lenient::{Count, Text};
use crate::model::{Kind, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    message: Raw<'a>,
    index: Count,
    content_block: Raw<'a>,
    delta: Raw<'a>,
    usage: Raw<'a>,
    response: Raw<'a>,
    item: Raw<'a>,
    choices: Raw<'a>,
    candidates: Raw<'a>,
    #[serde(rename = "usageMetadata")]
    gemini_usage: Raw<'a>,
}

/// A block of Anthropic's, or what it grows by; a choice's delta.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    partial_json: Text<'a>,
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallDelta<'a> {
    index: Count,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    index: Count,
    #[serde(borrow)]
    delta: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Raw<'a>,
}

/// A part of the answer while it is put together.
struct Growing<'a> {
    /// Its number among parts of its kind, as the stream counts them.
    number: u64,
    kind: Kind,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    text: String,
    hidden: u64,
}

#[derive(Default)]
struct Stream<'a> {
    answer: Answer<'a>,
    growing: Vec<Growing<'a>>,
}

/// The JSON of each event in the text of a stream: what follows `data:`.
pub(super) fn events(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
}

/// Puts an answer together; `None`: these are no events of one.
pub(super) fn read<'a>(chunks: impl Iterator<Item = &'a str>) -> Option<Answer<'a>> {
    let mut stream = Stream::default();
    for chunk in chunks.filter(|chunk| chunk.starts_with('{')) {
        if let Ok(event) = serde_json::from_str(chunk) {
            stream.take(chunk, event);
        }
    }
    let Stream {
        mut answer,
        growing,
    } = stream;
    answer
        .units
        .extend(growing.into_iter().filter_map(Growing::done));
    (!answer.is_empty()).then_some(answer)
}

impl<'a> Stream<'a> {
    fn take(&mut self, chunk: &'a str, event: Event<'a>) {
        if let Some(response) = event.response {
            // `response.completed` and its kind hold the whole response, `response.created` its id.
            if let Some(answer) = whole(response.get()) {
                self.merge(answer);
            }
            return;
        }
        if let Some(item) = event.item {
            // An item that is done stands again in the response that is completed; where the stream
            // broke off before, it stands here alone.
            if event.kind.get() == Some("response.output_item.done") {
                self.answer.units.extend(units(item));
            }
            return;
        }
        match event.kind.or_empty() {
            "message_start" => {
                if let Some(answer) = event.message.and_then(|raw| whole(raw.get())) {
                    self.merge(answer);
                }
            }
            "content_block_start" => self.block(event.index.or_zero(), event.content_block),
            "content_block_delta" => self.block_delta(event.index.or_zero(), event.delta),
            _ if event.candidates.is_some() => self.candidates(chunk, event.candidates),
            _ => {
                self.name(event.id.0, event.model.0);
                if event.choices.is_some() {
                    self.answer.thoughts = Thoughts::AreNotSentBack;
                }
                let choices: Vec<Choice<'a>> = event.choices.map_or_else(Vec::new, parse);
                // Of several choices the first counts.
                for choice in choices.iter().filter(|choice| choice.index.or_zero() == 0) {
                    self.choice(choice.delta.map(parse).unwrap_or_default());
                }
            }
        }
        for usage in [event.usage, event.gemini_usage].into_iter().flatten() {
            self.answer.numbers = self.answer.numbers.max(Numbers::read(usage));
        }
    }

    fn name(&mut self, id: Option<Cow<'a, str>>, model: Option<Cow<'a, str>>) {
        let set = |slot: &mut Option<Cow<'a, str>>, new: Option<Cow<'a, str>>| {
            if slot.is_none() {
                *slot = new.filter(|new| !new.is_empty());
            }
        };
        set(&mut self.answer.id, id);
        set(&mut self.answer.model, model);
    }

    fn merge(&mut self, answer: Answer<'a>) {
        self.name(answer.id, answer.model);
        self.answer.numbers = self.answer.numbers.max(answer.numbers);
        if !answer.units.is_empty() {
            self.answer.units = answer.units;
        }
    }

    fn candidates(&mut self, chunk: &'a str, candidates: Raw<'a>) {
        let candidates: Vec<Candidate<'a>> = candidates.map_or_else(Vec::new, parse);
        let content = candidates
            .into_iter()
            .next()
            .and_then(|first| first.content);
        for mut unit in content.map(units).unwrap_or_default() {
            unit.role = match unit.role {
                Role::User => Role::Assistant,
                role => role,
            };
            // The text of one answer, in pieces.
            let last = self.answer.units.last_mut();
            match last.filter(|last| last.kind == unit.kind && unit.kind != Kind::ToolCall) {
                Some(last) => last.matter.append(&mut unit.matter),
                None => self.answer.units.push(unit),
            }
        }
        if let Some(answer) = whole(chunk) {
            self.answer.thoughts = answer.thoughts;
            self.name(answer.id, answer.model);
        }
    }

    fn block(&mut self, number: u64, block: Raw<'a>) {
        let block: Delta<'a> = block.map(parse).unwrap_or_default();
        let kind = match block.kind.or_empty() {
            "thinking" | "redacted_thinking" => Kind::Thinking,
            kind if kind.ends_with("tool_use") => Kind::ToolCall,
            _ => Kind::Text,
        };
        let text = block.text.or_empty().to_owned() + block.thinking.or_empty();
        self.growing.push(Growing {
            number,
            kind,
            hidden: block.data.or_empty().len() as u64,
            id: block.id.0,
            name: block.name.0,
            text,
        });
    }

    fn block_delta(&mut self, number: u64, delta: Raw<'a>) {
        let delta: Delta<'a> = delta.map(parse).unwrap_or_default();
        let block = self.growing.iter_mut().rev();
        if let Some(block) = block.into_iter().find(|block| block.number == number) {
            for text in [&delta.text, &delta.thinking, &delta.partial_json] {
                block.text.push_str(text.or_empty());
            }
            block.hidden += delta.signature.or_empty().len() as u64;
        }
    }

    fn choice(&mut self, delta: Delta<'a>) {
        for thought in [&delta.reasoning_content, &delta.reasoning] {
            self.grow(Kind::Thinking, 0, thought.or_empty());
        }
        self.grow(Kind::Text, 0, delta.content.or_empty());
        for call in delta.tool_calls.into_iter().flatten() {
            let function = call.function.unwrap_or_default();
            let number = call.index.or_zero();
            let growing = self.part(Kind::ToolCall, number);
            growing.text.push_str(function.arguments.or_empty());
            let fill = |slot: &mut Option<Cow<'a, str>>, text: Text<'a>| {
                if slot.is_none() {
                    *slot = text.0;
                }
            };
            fill(&mut growing.id, call.id);
            fill(&mut growing.name, function.name);
        }
    }

    fn grow(&mut self, kind: Kind, number: u64, text: &str) {
        if !text.is_empty() {
            self.part(kind, number).text.push_str(text);
        }
    }

    fn part(&mut self, kind: Kind, number: u64) -> &mut Growing<'a> {
        let is_it = |part: &Growing<'a>| part.kind == kind && part.number == number;
        let at = self.growing.iter().position(is_it).unwrap_or_else(|| {
            self.growing.push(Growing {
                number,
                kind,
                id: None,
                name: None,
                text: String::new(),
                hidden: 0,
            });
            self.growing.len() - 1
        });
        &mut self.growing[at]
    }
}

impl<'a> Growing<'a> {
    fn done(self) -> Option<Unit<'a>> {
        let mut unit = match self.kind {
            Kind::ToolCall => tool_call(self.id, self.name.unwrap_or_default(), None),
            _ if self.text.is_empty() && self.hidden == 0 => return None,
            kind => Unit::new(Role::Assistant, kind),
        };
        unit.matter.push(Matter::Text(Cow::Owned(self.text)));
        if self.kind == Kind::Thinking {
            unit.matter.push(Matter::Hidden(self.hidden));
        }
        Some(unit)
    }
}

fn parse<'a, T: Default + Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_default()
}
