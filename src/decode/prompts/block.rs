//! The parts of a prompt or an answer, whatever the dialect: texts, thoughts, tool calls, results.

use crate::lenient::{self, Raw, full_length};
use model::event::cut::{beginning, floor_char};
use model::event::{EventSink, ItemBuilder, NewItem, Part, split_elided};
use model::{Kind, Role};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of a text that are hashed. Less than what a reader keeps of a string that it cuts, so that the
/// same text has the same hash in lines of any length.
const HASHED: usize = 8 << 10;

/// A part of a block.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// Text as the model gets it.
    Text(Cow<'a, str>),
    /// A JSON value, which the model gets as text.
    Json(Raw<'a>),
    /// Media: its tokens by formula, and its label.
    Media(u64, Cow<'a, str>),
    /// The number of bytes of hidden content.
    Hidden(u64),
    /// The number of bytes of text that is not in the log, and a digest that distinguishes it.
    Unlogged(u64, Cow<'a, str>),
}

impl Content<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Content::Text(text) => full_length(text),
            Content::Json(raw) => full_length(raw.get()),
            Content::Media(tokens, _) => tokens * 4,
            Content::Hidden(bytes) | Content::Unlogged(bytes, _) => *bytes,
        }
    }

    /// Returns a copy that does not borrow from the text that it was read from.
    fn into_owned(self) -> Content<'static> {
        match self {
            Content::Text(text) => Content::Text(text.into_owned().into()),
            Content::Json(raw) => Content::Text(raw.get().to_owned().into()),
            Content::Media(tokens, label) => Content::Media(tokens, label.into_owned().into()),
            Content::Hidden(bytes) => Content::Hidden(bytes),
            Content::Unlogged(bytes, digest) => {
                Content::Unlogged(bytes, digest.into_owned().into())
            }
        }
    }

    fn add_to<'s, 'm>(&self, item: ItemBuilder<'s, 'm>) -> ItemBuilder<'s, 'm> {
        match self {
            Content::Text(text) => item.text(text),
            Content::Json(raw) => lenient::raw(item, *raw),
            Content::Media(tokens, label) => item.fixed(*tokens, label),
            Content::Hidden(bytes) => item.opaque(*bytes),
            Content::Unlogged(bytes, digest) => item.unseen(*bytes, digest),
        }
    }
}

/// One part of a prompt or an answer.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    /// The role that it belongs to.
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    /// The name of its tool.
    pub tool: Option<Cow<'a, str>>,
    /// The tool call's id.
    pub call: Option<Cow<'a, str>>,
    /// Its identity, if its content does not identify it: requests write calls and thoughts in other words than the
    /// answers that they came in.
    id: Option<Cow<'a, str>>,
    /// Its contents, in order.
    pub content: Vec<Content<'a>>,
    /// True if it begins a user turn.
    pub begins_turn: bool,
    /// The number of tools that it defines.
    tools: usize,
    /// Computed on first use: blocks are compared many times over.
    fingerprint: OnceCell<u64>,
}

impl<'a> Block<'a> {
    /// Returns a block without content.
    pub fn new(role: Role, kind: Kind) -> Block<'a> {
        Block {
            role,
            kind,
            tool: None,
            call: None,
            id: None,
            content: Vec::new(),
            begins_turn: false,
            tools: 0,
            fingerprint: OnceCell::new(),
        }
    }

    /// Returns a block of one text.
    pub fn text(role: Role, kind: Kind, text: impl Into<Cow<'a, str>>) -> Block<'a> {
        Block {
            content: vec![Content::Text(text.into())],
            ..Block::new(role, kind)
        }
    }

    /// Returns the block with these contents.
    pub fn with(self, content: impl IntoIterator<Item = Content<'a>>) -> Self {
        Block {
            content: content.into_iter().collect(),
            ..self
        }
    }

    /// Returns the block for the tool call of this id. A call is identified by it: clients write arguments in more than
    /// one way.
    pub fn for_call(self, call: Option<Cow<'a, str>>, tool: Option<Cow<'a, str>>) -> Self {
        let id = match self.kind {
            Kind::ToolCall => call.clone(),
            _ => self.id,
        };
        Block {
            id,
            call,
            tool,
            ..self
        }
    }

    /// Returns the block, identified by this id.
    pub fn with_id(self, id: Option<Cow<'a, str>>) -> Self {
        Block { id, ..self }
    }

    /// Returns the block as a list of this many tools.
    pub fn offering(self, tools: usize) -> Self {
        Block { tools, ..self }
    }

    /// Returns a copy that does not borrow from the text that it was read from.
    pub fn into_owned(self) -> Block<'static> {
        let owned = |text: Option<Cow<'a, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        Block {
            tool: owned(self.tool),
            call: owned(self.call),
            id: owned(self.id),
            content: self.content.into_iter().map(Content::into_owned).collect(),
            begins_turn: self.begins_turn,
            ..Block::new(self.role, self.kind)
        }
        .offering(self.tools)
    }

    /// Returns true if it adds nothing to the context.
    pub fn is_empty(&self) -> bool {
        let is_empty = |content: &Content<'_>| match content {
            Content::Text(text) => text.is_empty(),
            Content::Unlogged(bytes, digest) => *bytes == 0 && digest.is_empty(),
            Content::Hidden(bytes) => *bytes == 0,
            Content::Media(..) | Content::Json(_) => false,
        };
        self.call.is_none() && self.content.iter().all(is_empty)
    }

    /// Returns true if it is of the system prompt or the tools on offer.
    pub(super) fn is_front(&self) -> bool {
        matches!(self.kind, Kind::Prompt | Kind::ToolList)
    }

    /// Returns a hash that is the same for the same block of the next request. White space around a text, the cuts of a
    /// reader and cache marks make no difference.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| self.hash())
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.role, self.kind).hash(&mut hasher);
        self.call.hash(&mut hasher);
        if let Some(id) = self.id.as_deref().filter(|id| !id.is_empty()) {
            (id, &self.tool).hash(&mut hasher);
            return hasher.finish();
        }
        let mut text = String::new();
        let mut append = |shown: &str| {
            let room = HASHED.saturating_sub(text.len());
            text.push_str(&shown[..floor_char(shown, room)]);
        };
        for content in &self.content {
            match content {
                Content::Text(part) => {
                    let (shown, cut) = split_elided(part);
                    append(shown);
                    if shown.len() > HASHED {
                        (shown.len() as u64 + cut).hash(&mut hasher);
                    }
                }
                Content::Json(raw) => append(raw.get()),
                Content::Media(number, label) | Content::Unlogged(number, label) => {
                    (number, label).hash(&mut hasher);
                }
                Content::Hidden(bytes) => bytes.hash(&mut hasher),
            }
        }
        text.trim().hash(&mut hasher);
        hasher.finish()
    }

    /// Returns its size in bytes, to compare prompts by.
    pub fn bytes(&self) -> u64 {
        self.content.iter().map(Content::bytes).sum()
    }

    /// Returns its texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(&**text),
            _ => None,
        })
    }

    /// Returns the part of the exchange that it is.
    pub(super) fn part(&self) -> Part {
        match self.role {
            Role::Assistant => Part::Output,
            Role::Tool => Part::Result,
            Role::User => Part::Input,
            Role::Container | Role::System => Part::Injected,
        }
    }

    /// Its item.
    pub fn item(&self, out: &mut EventSink<'_>) -> NewItem {
        let item = out
            .item(self.role, self.kind)
            .tool(self.tool.as_deref())
            .call(self.call.as_deref())
            .tools(self.tools);
        let add = |item, content: &Content<'a>| content.add_to(item);
        self.content.iter().fold(item, add).done()
    }

    /// Returns true if it reads like the summary of a conversation that was compacted.
    pub fn is_like_a_summary(&self) -> bool {
        /// The beginnings of summaries as clients write them, without the marks of headings and tags.
        const OPENINGS: [&str; 12] = [
            "this session is being continued from a previous conversation",
            "another language model started to solve this problem",
            "the conversation history before this point was compacted",
            "state_snapshot",
            "summary",
            "conversation summary",
            "conversation_summary",
            "conversation-summary",
            "previous conversation summary",
            "previous_conversation_summary",
            "here is a summary of the conversation",
            "context summary",
        ];
        match self.kind {
            Kind::Summary => return true,
            Kind::Text | Kind::Reminder => {}
            _ => return false,
        }
        let opening = self.texts().next().unwrap_or_default();
        let opening = opening.trim_start_matches(|c: char| !c.is_alphanumeric());
        let begins = |words: &&str| {
            let start = opening.get(..words.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(words))
        };
        OPENINGS.iter().any(begins)
    }
}

/// Passages by which a text is recognised where others quote it: from its middle and further on, since a
/// quotation may lack its beginning.
pub fn passages(text: &str) -> [Box<str>; 2] {
    /// Bytes of a passage.
    const LONG: usize = 80;
    let (shown, _) = split_elided(text);
    [2, 3].map(|quarters| {
        let rest = &shown[floor_char(shown, shown.len() / 4 * quarters)..];
        beginning(rest, LONG).trim().into()
    })
}
