//! Describes a log format before a file of it is read, as plain data.

mod claim;
pub mod database;
mod decoder;
pub mod facts;
pub mod head;
mod registry;
mod root;
pub mod settings;
mod sidecar;
mod stores;
mod tier;

pub use claim::{Claim, Standing, about_agent, is_uuid, names};
pub use decoder::{Decoder, StateUpdate};
pub use facts::Facts;
pub use registry::{Registry, RegistryEntry};
pub use root::{Base, FolderListing, Root};
pub use settings::Settings;
pub use sidecar::{SidecarDatabase, SidecarRecord, SidecarSpec};
pub use stores::{ArrayName, ChainSpec, End, FolderSpec, StoreKind};
pub use tier::Tier;

use model::event::{BilledUsage, EventSink, Node};
pub use model::token_usage::{Billing, CachePlacement};
use std::path::{Path, PathBuf};

/// A log format: where its files are, how to recognise them, how to read them.
///
/// Most formats leave all but the first fields to [`Format::DEFAULT`].
#[derive(Clone, Copy)]
pub struct Format {
    /// The agent's id, as in reports: `claude-code`.
    pub id: &'static str,
    /// The agent's name in a narrow column: `claude`.
    pub label: &'static str,
    /// The folders of its logs.
    pub roots: &'static [Root],
    /// Patterns of the folders of its logs, for formats with too many roots to list them; empty: they are
    /// listed.
    pub places: &'static [&'static str],
    /// The content of its logs and its limits.
    pub facts: Facts,
    /// The kind of logs with which its decoder was tried.
    pub tier: Tier,
    /// See [`Format::claims`].
    pub claims: &'static (dyn Fn(&Path) -> Option<Claim> + Sync),
    /// See [`Format::recognise`].
    pub recognise: &'static (dyn Fn(&[u8]) -> bool + Sync),
    /// The name of a family of formats whose logs only differ in their paths; empty: no other is like this one.
    pub family: &'static str,
    /// See [`Format::decoder`]; mostly [`decoder()`].
    pub decoder: &'static (dyn Fn() -> Box<dyn Decoder> + Sync),
    /// See [`Format::store`]. The default is a file of lines or a document, by how the file begins.
    pub store: &'static (dyn Fn(&[u8]) -> Option<StoreKind> + Sync),
    /// The array that holds the records of a document. The decoder is given the document with this array
    /// emptied, then each of its elements as a line.
    pub list: Option<ArrayName>,
    /// Byte strings, one of which is in every line that can reset the context. They are used to find the
    /// last reset from the end of a log, and may be in other lines too.
    pub reset_marks: &'static [&'static str],
    /// Byte strings, one of which is in every line that [`Decoder::read_usage`] needs; they may be in other lines too.
    /// One that begins with a brace is the beginning of a line. Empty: it is given all lines.
    pub usage_marks: &'static [&'static str],
    /// The names of [`BilledUsage`]'s numbers in the provider's own terms, for totals. Empty where no usage is
    /// logged.
    pub terms: &'static [Term],
    /// True if the output in its usage is without reasoning, which is counted beside it.
    pub reasoning_beside_output: bool,
    /// Shows whether the input in its usage includes the cached part.
    pub cached: CachePlacement,
    /// True if the requests that compact are not in the log.
    pub hides_compactions: bool,
    /// True if a log holds several sessions, none of them the parent of the others. Their order and names depend on the
    /// beginning of the log, so such logs are always read from there.
    pub holds_several: bool,
    /// The rule by which one of several logs with the id of one session is the session.
    pub same_id: SameId,
    /// The agent's settings files, if they can change when it compacts.
    pub settings: Option<&'static Settings>,
    /// The summary that was made beforehand for a session, of an agent that may make one.
    pub ready: Option<&'static settings::ReadyFile>,
    /// The agent's registry of its running sessions, if it keeps one.
    pub registry: Option<&'static Registry>,
    /// The documents beside the log at this path that say more about it, if they are there; see
    /// [`Decoder::read_state`].
    pub states: fn(&Path) -> Vec<PathBuf>,
    /// The files that the agent writes beside its logs about single requests.
    pub sidecar: Option<&'static SidecarSpec>,
    /// The types of records that do not concern the context, separated by white space. Records of other
    /// types that the decoder does not read are shown as unknown.
    pub harmless: &'static str,
}

/// The rule by which one of several logs with the id of one session is the session.
#[derive(Debug, Clone, Copy)]
pub enum SameId {
    /// Each, but that logs of the same name are copies: the longest counts.
    SameName,
    /// The one with the last name; the others are parts of its history.
    LastName,
    /// The longest of those of which this is the same part of their path, where the path does not contain the id: a
    /// session that is resumed leaves a short one.
    LongestOf(fn(&Path) -> Option<String>),
}

/// One number of a provider's usage: its name in reports and where it is in [`BilledUsage`].
pub type Term = (&'static str, fn(&BilledUsage) -> u64);

/// The numbers of agents that log what was cached beside the input.
pub const WITH_CACHE: &[Term] = &[
    ("input", |b| b.input),
    ("cache_read", |b| b.cache_read),
    ("cache_write", |b| b.cache_creation),
    ("output", |b| b.output),
];

/// The numbers of [`WITH_CACHE`], and the part of the output that was reasoning.
pub const WITH_CACHE_AND_REASONING: &[Term] = &[
    WITH_CACHE[0],
    WITH_CACHE[1],
    WITH_CACHE[2],
    WITH_CACHE[3],
    ("reasoning", |b| b.reasoning),
];

/// The numbers in Anthropic's words.
pub const ANTHROPIC: &[Term] = &[
    ("input", |b| b.input),
    ("cache_creation", |b| b.cache_creation),
    ("cache_read", |b| b.cache_read),
    ("output", |b| b.output),
];

/// The numbers of Google's agents, which call reasoning thoughts.
pub const THOUGHTS: &[Term] = &[
    ("input", |b| b.input),
    ("cached", |b| b.cache_read),
    ("output", |b| b.output),
    ("thoughts", |b| b.reasoning),
];

impl Format {
    /// A log of lines that reports usage. The id, the facts and the three functions after them are
    /// placeholders.
    pub const DEFAULT: Format = Format {
        id: "",
        label: "",
        roots: &[],
        places: &[],
        facts: Facts::NONE,
        tier: Tier::Sources,
        claims: &|_| None,
        recognise: &|_| false,
        family: "",
        decoder: &decoder::<PlaceholderDecoder>,
        store: &head::lines_or_document,
        list: None,
        reset_marks: &[],
        usage_marks: &[],
        terms: &[
            ("input", |b| b.input),
            ("cached", |b| b.cache_read),
            ("output", |b| b.output),
            ("reasoning", |b| b.reasoning),
        ],
        reasoning_beside_output: false,
        cached: CachePlacement::Within,
        hides_compactions: false,
        holds_several: false,
        same_id: SameId::SameName,
        settings: None,
        ready: None,
        registry: None,
        states: |_| Vec::new(),
        sidecar: None,
        harmless: "",
    };

    /// Returns the facts about the log at this path, judged by the path alone; `None`: not a log of this agent.
    pub fn claims(&self, path: &Path) -> Option<Claim> {
        (self.claims)(path)
    }

    /// Returns true if a file that begins with these bytes is such a log. The bytes may end anywhere.
    pub fn recognise(&self, head: &[u8]) -> bool {
        (self.recognise)(head)
    }

    /// Returns true if only the path of a log shows which of the two formats it has.
    pub fn is_related(&self, other: &Format) -> bool {
        !self.family.is_empty() && self.family == other.family
    }

    /// Returns the store of a log that begins with these bytes; `None`: its path decides.
    pub fn store(&self, head: &[u8]) -> Option<StoreKind> {
        (self.store)(head)
    }

    /// Counts a record that its decoder does not read: as skipped if it is of a [`Format::harmless`] type,
    /// otherwise as unknown.
    pub fn pass_over(&self, kind: &str, out: &mut EventSink<'_>) {
        if has_word(self.harmless, kind) {
            out.skip(kind)
        } else {
            out.unknown(kind)
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
            cached: self.cached,
            reasoning_beside_output: self.reasoning_beside_output,
        }
    }

    /// Returns a decoder for one log.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        (self.decoder)()
    }
}

/// Returns true if a word is one of a list that white space separates. A search takes a tenth of the time of a
/// comparison with each word, and a third of a log may be records that are passed over.
fn has_word(list: &str, word: &str) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let list = list.as_bytes();
    let mut found = memchr::memmem::find_iter(list, word);
    let is_word = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| list.get(before));
        is_space(before) && is_space(list.get(at + word.len()))
    };
    !word.is_empty() && !word.contains(|c: char| c.is_ascii_whitespace()) && found.any(is_word)
}

/// Returns a new decoder of this type.
pub fn decoder<D: Decoder + Default + 'static>() -> Box<dyn Decoder> {
    Box::<D>::default()
}

/// The placeholder of [`Format::DEFAULT`].
#[derive(Default)]
struct PlaceholderDecoder;

impl Decoder for PlaceholderDecoder {}
