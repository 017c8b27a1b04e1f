//! Describes a log format before a file of it is read, as plain data.

mod beside;
mod claim;
pub mod database;
mod decoder;
pub mod facts;
pub mod head;
mod recognition;
mod registry;
mod root;
pub mod settings;
mod sidecar;
mod stores;
mod tier;
mod totals;

pub use beside::FilesBeside;
pub use claim::{Claim, Standing, about_agent, is_uuid, names};
pub use decoder::{Decoder, StateUpdate};
pub use facts::Facts;
pub use recognition::Recognition;
pub use registry::{Registry, RegistryEntry};
pub use root::{Base, FolderListing, Root};
pub use settings::Settings;
pub use sidecar::{SidecarDatabase, SidecarRecord, SidecarSpec};
pub use stores::{ArrayName, ChainSpec, End, FolderSpec, StoreKind};
pub use tier::Tier;
pub use totals::{ANTHROPIC, THOUGHTS, Term, Totals, WITH_CACHE, WITH_CACHE_AND_REASONING};

use model::event::{Event, EventSink, Node};
pub use model::values::token_usage::{Billing, CachePlacement};
use std::path::Path;

/// A log format: where its files are, how to recognise them, how to read them.
///
/// Most formats leave all but their places, their recognition and their decoder to [`Format::DEFAULT`].
#[derive(Clone, Copy)]
pub struct Format {
    /// The agent's id, as in reports: `claude-code`.
    pub id: &'static str,
    /// The agent's name in a narrow column: `claude`.
    pub label: &'static str,
    /// The content of its logs and its limits.
    pub facts: Facts,
    /// The kind of logs with which its decoder was tried.
    pub tier: Tier,
    /// The folders of its logs.
    pub roots: &'static [Root],
    /// See [`Format::claims`].
    pub claims: &'static (dyn Fn(&Path) -> Option<Claim> + Sync),
    /// The rule by which one of several logs with the id of one session is the session.
    pub same_id: SameId,
    /// The marks by which its logs are recognised, and the way in which they hold their records.
    pub recognition: Recognition,
    /// See [`Format::decoder`]; mostly [`decoder()`].
    pub decoder: &'static (dyn Fn() -> Box<dyn Decoder> + Sync),
    /// Byte strings, one of which is in every line that can reset the context. They are used to find the
    /// last reset from the end of a log, and may be in other lines too.
    pub reset_marks: &'static [&'static str],
    /// Byte strings, one of which is in every line that [`Decoder::read_usage`] needs; they may be in other lines too.
    /// One that begins with a brace is the beginning of a line. Empty: it is given all lines.
    pub usage_marks: &'static [&'static str],
    /// The types of records that do not concern the context, separated by white space. Records of other
    /// types that the decoder does not read are shown as unknown.
    pub harmless: &'static str,
    /// Those of them that say that the agent's turn is over: it waits for the user.
    pub turn_over: &'static str,
    /// The numbers of its usage reports.
    pub totals: Totals,
    /// The agent's settings, if they can change when it compacts.
    pub settings: Option<&'static Settings>,
    /// The files beside its logs.
    pub beside: FilesBeside,
}

/// The rule by which one of several logs with the id of one session is the session.
#[derive(Debug, Clone, Copy)]
pub enum SameId {
    /// Each, but that logs of the same name are copies: the longest counts.
    SameName,
    /// The one with the last name. The others have less of the same.
    LastName,
    /// The one with the last name, which continues the others: they are no sessions, but their cost counts.
    Segments,
    /// The longest of those of which this is the same part of their path, where the path does not contain the id: a
    /// session that is resumed leaves a short one.
    LongestOf(fn(&Path) -> Option<String>),
}

impl Format {
    /// A log of lines that reports usage. The id, the facts and the decoder are placeholders.
    pub const DEFAULT: Format = Format {
        id: "",
        label: "",
        facts: Facts::NONE,
        tier: Tier::Sources,
        roots: &[],
        claims: &|_| None,
        same_id: SameId::SameName,
        recognition: Recognition::DEFAULT,
        decoder: &decoder::<PlaceholderDecoder>,
        reset_marks: &[],
        usage_marks: &[],
        harmless: "",
        turn_over: "",
        totals: Totals::DEFAULT,
        settings: None,
        beside: FilesBeside::NONE,
    };

    /// Returns the facts about the log at this path, judged by the path alone; `None`: not a log of this agent.
    pub fn claims(&self, path: &Path) -> Option<Claim> {
        (self.claims)(path)
    }

    /// Returns true if a file that begins with these bytes is such a log. The bytes may end anywhere.
    pub fn recognise(&self, head: &[u8]) -> bool {
        (self.recognition.recognise)(head)
    }

    /// Returns true if only the path of a log shows which of the two formats it has.
    pub fn is_related(&self, other: &Format) -> bool {
        let family = self.recognition.family;
        !family.is_empty() && family == other.recognition.family
    }

    /// Returns the store of a log that begins with these bytes; `None`: its path decides.
    pub fn store(&self, head: &[u8]) -> Option<StoreKind> {
        (self.recognition.store)(head)
    }

    /// Counts a record that its decoder does not read: as skipped if it is of a [`Format::harmless`] type,
    /// otherwise as unknown.
    pub fn pass_over(&self, kind: &str, out: &mut EventSink<'_>) {
        match word_of(self.harmless, kind) {
            Some(word) => {
                if word_of(self.turn_over, kind).is_some() {
                    out.emit(Event::TurnOver);
                }
                out.skip(word);
            }
            None => out.unknown(kind),
        }
    }

    /// Counts a record as [`Format::pass_over`] does, and emits its node, since its conversation's chain includes it.
    pub fn pass_over_node(&self, kind: &str, node: Node, out: &mut EventSink<'_>) {
        self.pass_over(kind, out);
        out.node(node);
    }

    /// Returns the way in which its logs count what a response used.
    pub fn billing(&self) -> Billing {
        Billing {
            cached: self.totals.cached,
            reasoning_beside_output: self.totals.reasoning_beside_output,
        }
    }

    /// Returns a decoder for one log.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        (self.decoder)()
    }
}

/// Returns the word of a list that white space separates, if it is one of it. A search takes a tenth of the time of a
/// comparison with each word, and a third of a log may be records that are passed over.
fn word_of<'l>(list: &'l str, word: &str) -> Option<&'l str> {
    let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = list.as_bytes();
    let mut found = memchr::memmem::find_iter(bytes, word);
    let is_word = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        is_space(before) && is_space(bytes.get(at + word.len()))
    };
    if word.is_empty() || word.contains(|c: char| c.is_ascii_whitespace()) {
        return None;
    }
    let at = found.find(is_word)?;
    list.get(at..at + word.len())
}

/// Returns a new decoder of this type.
pub fn decoder<D: Decoder + Default + 'static>() -> Box<dyn Decoder> {
    Box::<D>::default()
}

/// The placeholder of [`Format::DEFAULT`].
#[derive(Default)]
struct PlaceholderDecoder;

impl Decoder for PlaceholderDecoder {}
