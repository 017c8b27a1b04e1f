//! What is known of a log format before a file of it is read, as plain data.

use super::database::DatabaseSpec;
use super::registry::Registry;
use super::{Decoder, Facts, Settings, SidecarSpec, head};
use crate::model::event::{Billed, Node, Sink};
use std::path::{Component, Path, PathBuf};

/// A log format: where its files are, how to recognise them, how to read them.
///
/// Most formats leave all but the first fields to [`Format::DEFAULT`].
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
    /// What its logs contain and what they do not.
    pub facts: Facts,
    /// The newest version whose logs were compared with counts that are known, a whole run of each; empty:
    /// none. Sessions of newer versions are marked.
    pub proven: &'static str,
    /// See [`Format::claims`].
    pub claims: &'static (dyn Fn(&Path) -> Option<Claim> + Sync),
    /// See [`Format::recognise`].
    pub recognise: &'static (dyn Fn(&[u8]) -> bool + Sync),
    /// What the formats have in common whose logs only differ in their paths; empty: no other is like this
    /// one.
    pub family: &'static str,
    /// See [`Format::decoder`]; mostly [`decoder`].
    pub decoder: &'static (dyn Fn() -> Box<dyn Decoder> + Sync),
    /// See [`Format::store`]. The default is a file of lines or a document, by how the file begins.
    pub store: &'static (dyn Fn(&[u8]) -> Option<StoreKind> + Sync),
    /// The array that holds the records of a document. The decoder is given the document with this array
    /// emptied, then each of its elements as a line.
    pub list: Option<List>,
    /// Byte strings, one of which is in every line that can reset the context. They are used to find the
    /// last reset from the end of a log, and may be in other lines too.
    pub reset_marks: &'static [&'static str],
    /// The names of [`Billed`]'s numbers in the provider's own terms, for totals. Empty where no usage is
    /// logged.
    pub terms: &'static [Term],
    /// Whether a log holds several sessions, none of them the parent of the others. Their order and
    /// names depend on the beginning of the log, so such logs are always read from there.
    pub holds_several: bool,
    /// Whether a session has one log at a time: of several with its id, the one with the last name is
    /// live, and the others are parts of its history.
    pub one_log_a_session: bool,
    /// The agent's settings files, if they can change when it compacts.
    pub settings: Option<&'static Settings>,
    /// The agent's registry of its running sessions, if it keeps one.
    pub registry: Option<&'static Registry>,
    /// The documents beside the log at this path that say more about it, if they are there; see
    /// [`Decoder::read_state`].
    pub states: fn(&Path) -> Vec<PathBuf>,
    /// What the agent writes beside its logs about single requests.
    pub sidecar: Option<&'static SidecarSpec>,
    /// The types of records that do not concern the context, separated by white space. Records of other
    /// types that the decoder does not read are shown as unknown.
    pub harmless: &'static str,
}

/// One number of a provider's usage: its name in reports and where it is in [`Billed`].
pub type Term = (&'static str, fn(&Billed) -> u64);

/// The numbers of Google's agents, which call reasoning thoughts.
pub(super) const THOUGHTS: &[Term] = &[
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
        proven: "",
        claims: &|_| None,
        recognise: &|_| false,
        family: "",
        decoder: &decoder::<Nothing>,
        store: &head::lines_or_document,
        list: None,
        reset_marks: &[],
        terms: &[
            ("input", |b| b.input),
            ("cached", |b| b.cache_read),
            ("output", |b| b.output),
            ("reasoning", |b| b.reasoning),
        ],
        holds_several: false,
        one_log_a_session: false,
        settings: None,
        registry: None,
        states: |_| Vec::new(),
        sidecar: None,
        harmless: "",
    };

    /// What the log at this path is, judged by the path alone; `None`: not a log of this agent.
    pub fn claims(&self, path: &Path) -> Option<Claim> {
        (self.claims)(path)
    }

    /// Whether a file that begins with these bytes is such a log. The bytes may end anywhere.
    pub fn recognise(&self, head: &[u8]) -> bool {
        (self.recognise)(head)
    }

    /// Whether only the path of a log shows which of the two formats it has.
    pub fn is_kin(&self, other: &Format) -> bool {
        !self.family.is_empty() && self.family == other.family
    }

    /// The store of a log that begins with these bytes; `None`: its path decides.
    pub fn store(&self, head: &[u8]) -> Option<StoreKind> {
        (self.store)(head)
    }

    /// Counts a record that its decoder does not read: as skipped if it is of a [`Format::harmless`] type,
    /// otherwise as unknown.
    pub(super) fn pass_over(&self, kind: &str, out: &mut Sink<'_>) {
        match has_word(self.harmless, kind) {
            true => out.skip(kind),
            false => out.unknown(kind),
        }
    }

    /// The same, for a record that its conversation's chain includes.
    pub(super) fn pass_over_node(&self, kind: &str, node: Node, out: &mut Sink<'_>) {
        self.pass_over(kind, out);
        out.node(node);
    }

    /// A decoder for one log.
    pub fn decoder(&self) -> Box<dyn Decoder> {
        (self.decoder)()
    }
}

/// Whether a word is one of a list that white space separates. A search takes a tenth of the time of a comparison
/// with each word, and a third of a log may be records that are passed over.
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

/// A new decoder of this type.
pub fn decoder<D: Decoder + Default + 'static>() -> Box<dyn Decoder> {
    Box::<D>::default()
}

/// The placeholder of [`Format::DEFAULT`].
#[derive(Default)]
struct Nothing;

impl Decoder for Nothing {}

/// Reads folders from a list that an agent keeps.
pub type Listing = fn(&[u8]) -> Vec<PathBuf>;

/// A folder in which an agent keeps its logs.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// The environment variable that names the agent's folder, or several, comma separated. If it is
    /// set, `base` does not apply.
    pub env: Option<&'static str>,
    /// The agent's folder otherwise.
    pub base: Base,
    /// The folder of the logs inside the agent's folder.
    pub logs: &'static str,
    /// Whether there are no logs in the folders below it, which are then neither searched nor watched.
    pub is_flat: bool,
    /// `logs` is a file that lists the folders, which are then searched as if they were flat. It is read once.
    pub listing: Option<Listing>,
}

impl Root {
    /// `logs` in an agent's folder below the home directory.
    pub const fn home(agent: &'static str, logs: &'static str) -> Root {
        Root::new(Base::Home(agent), logs)
    }

    /// `logs` in an agent's folder.
    pub const fn new(base: Base, logs: &'static str) -> Root {
        Root {
            env: None,
            base,
            logs,
            is_flat: false,
            listing: None,
        }
    }

    /// The same, without the folders below.
    #[must_use]
    pub const fn flat(self) -> Root {
        Root {
            is_flat: true,
            ..self
        }
    }

    /// The same, of a file that lists folders. `read` returns them, whatever the bytes.
    #[must_use]
    pub const fn listing(self, read: Listing) -> Root {
        Root {
            is_flat: true,
            listing: Some(read),
            ..self
        }
    }

    /// The same, with a variable that names the agent's folder.
    #[must_use]
    pub const fn env(self, name: &'static str) -> Root {
        Root {
            env: Some(name),
            ..self
        }
    }
}

/// An agent's folder when no variable names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Below the home directory.
    Home(&'static str),
    /// Below `$XDG_CONFIG_HOME`, or `~/.config`.
    XdgConfig(&'static str),
    /// Below `$XDG_DATA_HOME`, or `~/.local/share`.
    XdgData(&'static str),
    /// This folder.
    At(&'static str),
}

/// What a log is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// A file of lines that grows at its end.
    Lines,
    /// Such a file, which may continue another one.
    Chain(&'static ChainSpec),
    /// A document that is rewritten; see [`Format::list`].
    Document,
    /// A folder of numbered files, each of them a line or several.
    Folder(&'static FolderSpec),
    /// A document whose records are files of their own.
    Tree(&'static TreeSpec),
    /// An SQLite database. Each of its sessions is a log of its own, whose lines are rows.
    Database(&'static DatabaseSpec),
}

impl StoreKind {
    /// Whether the path of such a log is that of a folder.
    pub fn is_folder(self) -> bool {
        matches!(self, StoreKind::Folder(_))
    }

    /// Whether a file of this name, in the folder that is the log, is part of it.
    pub fn has_part(self, name: &str) -> bool {
        match self {
            StoreKind::Folder(spec) => (spec.number)(name).is_some(),
            StoreKind::Lines
            | StoreKind::Chain(_)
            | StoreKind::Document
            | StoreKind::Tree(_)
            | StoreKind::Database(_) => false,
        }
    }
}

/// An array in a document, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// In a JSON object.
    Json(&'static str),
    /// In a YAML mapping in block style.
    Yaml(&'static str),
}

/// Files of lines of which each may continue another one.
#[derive(Debug)]
pub struct ChainSpec {
    /// From a log's first line: the name of the log that it continues, and how many bytes of it.
    pub base: fn(&[u8]) -> Option<(String, u64)>,
    /// Whether a file of this name, the first argument, is the log with that name.
    pub is_base: fn(&str, &str) -> bool,
    /// The folders in which it may be, at any depth, from the path of the log that continues it.
    pub folders: fn(&Path) -> Vec<PathBuf>,
}

impl PartialEq for ChainSpec {
    fn eq(&self, other: &ChainSpec) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ChainSpec {}

/// A folder of numbered files.
#[derive(Debug)]
pub struct FolderSpec {
    /// The number of a file, from its name; `None`: it is not part of the log.
    pub number: fn(&str) -> Option<u64>,
    /// Whether a file holds lines that are added to it. Otherwise it is written once, and is one line.
    pub has_lines: bool,
}

impl PartialEq for FolderSpec {
    fn eq(&self, other: &FolderSpec) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for FolderSpec {}

/// A session in many files of JSON: its own, one of each message, one of each part of a message. Its decoder is
/// given a document of `info`, the session's file, and `messages`, each of them `info` and `parts`.
#[derive(Debug)]
pub struct TreeSpec {
    /// The folder of the messages, from the path of the session's file.
    pub messages: fn(&Path) -> Option<PathBuf>,
    /// The folder of the parts, from the path of a message.
    pub parts: fn(&Path) -> Option<PathBuf>,
}

impl PartialEq for TreeSpec {
    fn eq(&self, other: &TreeSpec) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for TreeSpec {}

/// What Claude Code and its kin write about a sub-agent, beside its log `agent-<id>.jsonl`.
pub(super) fn about_agent(log: &Path) -> Vec<PathBuf> {
    let name = log.file_name().and_then(|name| name.to_str());
    let is_agents = name.is_some_and(|name| name.starts_with("agent-") && name.ends_with(".jsonl"));
    match is_agents {
        true => vec![log.with_extension("meta.json")],
        false => Vec::new(),
    }
}

/// The names in a path, from its end to its root or the first that is not UTF-8.
pub(super) fn names(path: &Path) -> impl Iterator<Item = &str> {
    let parts = path.components().rev();
    parts.map_while(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}

/// Whether a name looks like a UUID.
pub(super) fn is_uuid(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// What is known of a log by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is kept in.
    pub store: StoreKind,
    /// The session's id, if the path contains it.
    pub id: Option<String>,
    /// The id of the session that started this one, if the path contains it.
    pub parent: Option<String>,
    /// Another log of the same session that says more. If it exists, this one is read only when the user
    /// names it.
    pub superseded_by: Option<PathBuf>,
}

impl Claim {
    /// A file of lines whose path says nothing more.
    pub const LINES: Claim = Claim {
        store: StoreKind::Lines,
        id: None,
        parent: None,
        superseded_by: None,
    };

    /// A database, which contains the ids of its sessions.
    pub const fn database(spec: &'static DatabaseSpec) -> Claim {
        Claim {
            store: StoreKind::Database(spec),
            id: None,
            parent: None,
            superseded_by: None,
        }
    }

    /// A file of lines of the session with this id.
    pub fn session(id: &str) -> Claim {
        Claim {
            id: Some(id.to_owned()),
            ..Claim::LINES
        }
    }

    /// The same log in another store.
    #[must_use]
    pub fn kept_in(self, store: StoreKind) -> Claim {
        Claim { store, ..self }
    }

    /// The same log, of a session that was started by this one.
    #[must_use]
    pub fn child_of(self, parent: &str) -> Claim {
        Claim {
            parent: Some(parent.to_owned()),
            ..self
        }
    }
}
