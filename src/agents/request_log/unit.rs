//! A unit: the smallest part of a request that is told apart from others. A prompt is a flat list of
//! them, whatever the dialect: a text, a thought, a tool call, a tool's result.

use crate::agents::lenient;
use crate::model::event::{NewItem, Part, Sink, split_elided};
use crate::model::{Kind, Role};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of a text that are hashed. Less than what a reader leaves of a string that it cuts, so that
/// the same text is the same in lines of any length.
const HASHED: usize = 8 << 10;

/// What a unit holds.
#[derive(Debug, Clone)]
pub(super) enum Matter<'a> {
    /// Text as the model gets it.
    Text(Cow<'a, str>),
    /// A JSON value, which the model gets as text.
    Json(&'a RawValue),
    /// Something of so many tokens by formula, and its name.
    Media(u64, String),
    /// So many bytes of which only the size shows.
    Hidden(u64),
}

/// Whether a unit begins a user turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Begins,
    GoesOn,
}

/// One part of a prompt or an answer.
#[derive(Debug, Clone)]
pub(super) struct Unit<'a> {
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) tool: Option<Cow<'a, str>>,
    /// The tool call's id.
    pub(super) call: Option<Cow<'a, str>>,
    /// What it is known by, where that is not its content: requests write calls and thoughts in other
    /// words than the answers they came in.
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) matter: Vec<Matter<'a>>,
    pub(super) turn: Turn,
    /// Its hash, once it was asked for: units are told apart many times over.
    print: OnceCell<u64>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(role: Role, kind: Kind) -> Unit<'a> {
        Unit {
            role,
            kind,
            tool: None,
            call: None,
            name: None,
            matter: Vec::new(),
            turn: Turn::GoesOn,
            print: OnceCell::new(),
        }
    }

    pub(super) fn text(role: Role, kind: Kind, text: Cow<'a, str>) -> Unit<'a> {
        Unit {
            matter: vec![Matter::Text(text)],
            ..Unit::new(role, kind)
        }
    }

    /// A hash by which the same unit is found in the next request. White space around a text and the
    /// cuts of a reader make no difference; neither do cache marks, which are no part of a unit.
    pub(super) fn print(&self) -> u64 {
        *self.print.get_or_init(|| self.hash())
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.role, self.kind).hash(&mut hasher);
        self.call.hash(&mut hasher);
        if let Some(name) = self.name.as_deref().filter(|name| !name.is_empty()) {
            (name, &self.tool).hash(&mut hasher);
            return hasher.finish();
        }
        let mut text = String::new();
        for matter in &self.matter {
            match matter {
                Matter::Text(part) => {
                    let (shown, cut) = split_elided(part);
                    let room = HASHED.saturating_sub(text.len());
                    text.push_str(&shown[..floor_char(shown, room)]);
                    if shown.len() > HASHED {
                        (shown.len() as u64 + cut).hash(&mut hasher);
                    }
                }
                Matter::Json(raw) => {
                    let room = HASHED.saturating_sub(text.len());
                    text.push_str(&raw.get()[..floor_char(raw.get(), room)]);
                }
                Matter::Media(tokens, label) => (tokens, label).hash(&mut hasher),
                Matter::Hidden(bytes) => bytes.hash(&mut hasher),
            }
        }
        text.trim().hash(&mut hasher);
        hasher.finish()
    }

    /// Its size in bytes, for telling how much a prompt shrank.
    pub(super) fn bytes(&self) -> u64 {
        let of = |matter: &Matter<'_>| match matter {
            Matter::Text(text) => {
                let (shown, cut) = split_elided(text);
                shown.len() as u64 + cut
            }
            Matter::Json(raw) => raw.get().len() as u64,
            Matter::Media(tokens, _) => tokens * 4,
            Matter::Hidden(bytes) => *bytes,
        };
        self.matter.iter().map(of).sum()
    }

    /// The text it begins with.
    pub(super) fn opening(&self) -> &str {
        self.matter
            .iter()
            .find_map(|matter| match matter {
                Matter::Text(text) => Some(text.trim_start()),
                _ => None,
            })
            .unwrap_or_default()
    }

    /// Whether this passage stands in its text.
    pub(super) fn quotes(&self, passage: &str) -> bool {
        self.matter.iter().any(|matter| match matter {
            Matter::Text(text) => text.contains(passage),
            _ => false,
        })
    }

    /// What part of the exchange it is.
    pub(super) fn part(&self) -> Part {
        match self.role {
            Role::Assistant => Part::Output,
            Role::Tool => Part::Result,
            Role::User => Part::Input,
            Role::Container | Role::System => Part::Injected,
        }
    }

    /// Its item.
    pub(super) fn item(&self, out: &mut Sink<'_>) -> NewItem {
        let item = out
            .item(self.role, self.kind)
            .tool(self.tool.as_deref())
            .call(self.call.as_deref());
        let fill = |item, matter: &Matter<'a>| match matter {
            Matter::Text(text) => crate::model::event::ItemBuilder::text(item, text),
            Matter::Json(raw) => lenient::raw(item, raw),
            Matter::Media(tokens, label) => item.fixed(*tokens, label),
            Matter::Hidden(bytes) => item.opaque(*bytes),
        };
        self.matter.iter().fold(item, fill).done()
    }

    /// Whether it reads like the summary of a conversation that was compacted.
    pub(super) fn is_like_a_summary(&self) -> bool {
        /// How summaries begin, as clients write them, marks of headings and tags aside.
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
        if self.kind != Kind::Text && self.kind != Kind::Reminder {
            return false;
        }
        let opening = self
            .opening()
            .trim_start_matches(|c: char| !c.is_alphanumeric());
        let begins = |words: &&str| {
            let start = opening.get(..words.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(words))
        };
        OPENINGS.iter().any(begins)
    }
}

/// Passages by which a text is known where others quote it: from its middle and further on, since whoever
/// quotes it cuts its beginning.
pub(super) fn passages(text: &str) -> [Box<str>; 2] {
    /// Bytes of a passage.
    const LONG: usize = 80;
    let (shown, _) = split_elided(text);
    [2, 3].map(|quarters| {
        let from = floor_char(shown, shown.len() / 4 * quarters);
        let rest = &shown[from..];
        rest[..floor_char(rest, LONG)].trim().into()
    })
}

/// The largest place up to `most` at which a text can be cut.
fn floor_char(text: &str, most: usize) -> usize {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
