//! One message of a custom log: its author, and what it puts into the context.

use super::mapping::{Author, Mapping};
use super::pointer::{Pointer, Pointers};
use decode::image;
use decode::lenient::{LostFields, Raw};
use decode::prompts::{Block, Content};
use model::{Kind, Role};

/// A message as the mapping reads it.
pub(super) struct Message<'v> {
    pub(super) author: Author,
    /// The word for its author.
    pub(super) word: Box<str>,
    /// True if the places of texts hold none, and nothing else is in it.
    pub(super) lacks_text: bool,
    pub(super) blocks: Vec<Block<'v>>,
}

/// Why a record is no message.
pub(super) enum NoMessage {
    /// It has no word for its author: there is nothing of this name.
    NoRole(&'static str),
    /// Its word is none of the mapping's.
    OtherRole(Box<str>),
}

impl NoMessage {
    /// Returns it in words.
    pub(super) fn why(self) -> Box<str> {
        match self {
            NoMessage::NoRole(name) => format!("no {name}").into(),
            NoMessage::OtherRole(word) => word,
        }
    }
}

impl<'v> Message<'v> {
    /// Reads a message.
    pub(super) fn read(
        mapping: &'static Mapping,
        value: Raw<'v>,
        lost: &LostFields,
    ) -> Result<Message<'v>, NoMessage> {
        let (author, word) = author(mapping, value, lost)?;
        let mut parts = Parts::default();
        let keys = &mapping.message;
        let (role, kind) = match author {
            Author::User => (Role::User, Kind::Text),
            Author::Assistant => (Role::Assistant, Kind::Text),
            Author::Call => (Role::Assistant, Kind::ToolCall),
            Author::Tool => (Role::Tool, Kind::ToolResult),
            Author::System => (Role::Container, Kind::Prompt),
            Author::Container | Author::Clear => (Role::Container, Kind::Reminder),
            Author::Summary => (Role::Container, Kind::Summary),
        };
        let is_of_tool = matches!(author, Author::Call | Author::Tool);
        if author == Author::Assistant {
            let is_beside = keys.thinking.iter().all(|place| !place.is_of_list());
            for text in texts(&keys.thinking, value, lost) {
                let block = Block::new(role, Kind::Thinking).with([content(text)]);
                parts.add(text, block);
            }
            if is_beside {
                parts.0.iter_mut().for_each(|(at, _)| *at = 0);
            }
            let length = |found: Raw<'v>| Some((found, json::string(found.get())?.len()));
            for (hidden, bytes) in keys.hidden.read(value, lost, length) {
                let block = Block::new(role, Kind::Thinking);
                parts.add(hidden, block.with([Content::Hidden(bytes as u64)]));
            }
        }
        let said = texts(&keys.text, value, lost);
        if is_of_tool {
            let tool = keys.tool.id(value, lost);
            let block = Block::new(role, kind).for_call(keys.call.id(value, lost), tool.clone());
            let name = tool.filter(|_| author == Author::Call).map(Content::Text);
            let arguments = match author {
                Author::Call => values(&keys.arguments, value),
                _ => Vec::new(),
            };
            let all = said.iter().chain(&arguments).map(|text| content(*text));
            parts.add(value, block.with(name.into_iter().chain(all)));
        } else if keys.apart {
            for text in said {
                parts.add(text, Block::new(role, kind).with([content(text)]));
            }
        } else if let Some(first) = said.first() {
            let all = said.iter().map(|text| content(*text));
            parts.add(*first, Block::new(role, kind).with(all));
        }
        for image in keys.images.each(value) {
            let data = json::string(image.get()).unwrap_or_default();
            let tokens = image::tokens(&data, image::claude, image::DEFAULT);
            let content = Content::Media(tokens, "[image]".into());
            parts.add(image, Block::new(role, kind).with([content]));
        }
        parts.add_calls(mapping, value, lost);
        let is_empty = parts.0.iter().all(|(_, block)| block.content.is_empty());
        let is_passed_over = matches!(author, Author::Clear | Author::Summary);
        let is_nowhere = !keys.text.is_empty() && keys.text.each(value).is_empty();
        Ok(Message {
            author,
            word,
            lacks_text: is_empty && is_nowhere && !is_passed_over,
            blocks: parts.in_order(),
        })
    }

    /// Makes a tool's result of a message that seemed to be the user's.
    pub(super) fn become_result(&mut self) {
        for block in &mut self.blocks {
            (block.role, block.kind) = (Role::Tool, Kind::ToolResult);
        }
    }

    /// Returns true if the model wrote it.
    pub(super) fn is_output(&self) -> bool {
        matches!(self.author, Author::Assistant | Author::Call)
    }
}

/// The author of a record, and the word for it: that of the first place that holds one which the mapping names. Words
/// before it that mean nothing are noted.
fn author(
    mapping: &'static Mapping,
    value: Raw<'_>,
    lost: &LostFields,
) -> Result<(Author, Box<str>), NoMessage> {
    let (mut other, mut before, mut name) = (None, Vec::new(), "role");
    for place in mapping.message.role.iter() {
        name = place.name();
        for found in place.each(value) {
            let word = match found.get() {
                "false" => continue,
                "true" => Some("true".into()),
                other => json::string(other),
            };
            let author = word.as_deref().and_then(|word| mapping.roles.author(word));
            match (author, word) {
                (Some(author), Some(word)) => {
                    before.into_iter().for_each(|name| lost.note_once(name));
                    return Ok((author, word.into()));
                }
                (None, Some(word)) if word != "true" => {
                    before.push(name);
                    other = Some(word);
                }
                _ => lost.note_once(name),
            }
        }
    }
    Err(match other.filter(|word| !word.is_empty()) {
        Some(word) if name == "role" => NoMessage::OtherRole(format!("{word} message").into()),
        Some(word) => NoMessage::OtherRole(word.into()),
        None => NoMessage::NoRole(name),
    })
}

/// The parts of a message, each with where it stands in the record.
#[derive(Default)]
struct Parts<'v>(Vec<(usize, Block<'v>)>);

impl<'v> Parts<'v> {
    fn add(&mut self, at: Raw<'v>, block: Block<'v>) {
        self.0.push((at.get().as_ptr().addr(), block));
    }

    fn add_calls(&mut self, mapping: &'static Mapping, value: Raw<'v>, lost: &LostFields) {
        let keys = &mapping.calls;
        for call in mapping.message.calls.elements(value) {
            // A part of another kind has no name, or nothing at all.
            let Some(tool) = keys.name.text(call, lost) else {
                let places = mapping.message.calls.iter();
                let is_list = |place: &&Pointer| {
                    place.is_of_list()
                        || place
                            .each(value)
                            .iter()
                            .all(|found| found.get().starts_with('['))
                };
                let odd = places.filter(|place| !is_list(place));
                odd.for_each(|place| lost.note_once(place.name()));
                continue;
            };
            let arguments = values(&keys.arguments, call);
            let name = [Content::Text(tool.clone())];
            let content = name.into_iter().chain(arguments.into_iter().map(content));
            let block = Block::new(Role::Assistant, Kind::ToolCall).with(content);
            self.add(call, block.for_call(keys.id.id(call, lost), Some(tool)));
        }
        let keys = &mapping.results;
        for result in mapping.message.results.elements(value) {
            let mut said = texts(&keys.text, result, lost);
            if said.is_empty() {
                said = texts(&keys.state, result, lost);
            }
            if said.is_empty() {
                continue;
            }
            let block = Block::new(Role::Tool, Kind::ToolResult);
            let (call, tool) = (keys.call.id(result, lost), keys.tool.text(result, lost));
            let block = block.for_call(call, tool);
            self.add(result, block.with(said.into_iter().map(content)));
        }
    }

    /// The parts in the order in which they stand. What is hidden belongs to the thinking before it.
    fn in_order(mut self) -> Vec<Block<'v>> {
        self.0.sort_by_key(|(at, _)| *at);
        let mut blocks: Vec<Block<'v>> = Vec::new();
        for (_, block) in self.0 {
            let is_hidden = matches!(block.content[..], [Content::Hidden(_)]);
            match blocks.last_mut() {
                Some(last) if is_hidden && last.kind == Kind::Thinking => {
                    last.content.extend(block.content);
                }
                _ => blocks.push(block),
            }
        }
        blocks
    }
}

/// The values these point at that are not empty; lists aside, whose elements `*` points at.
fn values<'v>(places: &Pointers, value: Raw<'v>) -> Vec<Raw<'v>> {
    let found = places.each(value).into_iter();
    found.filter(|found| is_content(*found)).collect()
}

/// Reads a content: an object stands for its `text`, a list for its texts and those of its objects.
fn texts<'v>(places: &'static Pointers, value: Raw<'v>, lost: &LostFields) -> Vec<Raw<'v>> {
    let mut texts: Vec<Raw<'v>> = Vec::new();
    for found in places.read(value, lost, Some) {
        let mut each = Vec::new();
        match json::each_element(found.get(), &mut |element| each.push(element)) {
            Ok(()) => each.retain_mut(|element| match text_of(*element, lost) {
                Some(text) => {
                    *element = text;
                    true
                }
                None => false,
            }),
            Err(_) => each.push(text_of(found, lost).unwrap_or(found)),
        }
        // Two places may be the same.
        let is_known = |text: &Raw<'_>| {
            texts
                .iter()
                .any(|known| std::ptr::eq(known.get(), text.get()))
        };
        each.retain(|text| is_content(*text) && !is_known(text));
        texts.extend(each);
    }
    // A value around another text does not count besides.
    let ends = |raw: Raw<'_>| {
        let start = raw.get().as_ptr().addr();
        (start, start + raw.get().len())
    };
    let all: Vec<(usize, usize)> = texts.iter().map(|text| ends(*text)).collect();
    let is_around = |(start, end): (usize, usize)| {
        let is_inside = |other: &(usize, usize)| start < other.0 && other.1 < end;
        all.iter().any(is_inside)
    };
    texts.retain(|text| !is_around(ends(*text)));
    texts.sort_by_key(|text| ends(*text));
    texts
}

/// A value that is a text, or the `text` of one that is an object.
fn text_of<'v>(value: Raw<'v>, lost: &LostFields) -> Option<Raw<'v>> {
    let is_text = |value: &Raw<'_>| value.get().starts_with('"');
    let mut text = Some(value).filter(is_text);
    let _ = json::each_field(value.get(), &mut |name, value| {
        if name == "text" && value.get() != "null" {
            text = Some(value);
        }
    });
    if text.is_some_and(|text| !is_text(&text)) {
        lost.note_once("text");
    }
    text.filter(is_text)
}

fn is_content(value: Raw<'_>) -> bool {
    !value.get().starts_with('[') && value.get() != "\"\""
}

/// A string as the text that it is, anything else as JSON.
fn content(value: Raw<'_>) -> Content<'_> {
    match json::string(value.get()) {
        Some(text) => Content::Text(text),
        None => Content::Json(value),
    }
}
