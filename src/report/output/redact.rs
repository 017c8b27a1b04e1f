//! Leaves the texts of logs out of what is read of them, for output that leaves the machine. All formats show what was
//! read, so this is the one place for all of them.
//!
//! Numbers, roles, kinds and times stay. Texts, titles and what tools were called with are dropped. Paths, ids and names
//! that are not those of a known tool or model become pseudonyms, the same for the same name everywhere, so that they
//! can be compared and joined. A pseudonym hides a name, but not from somebody who guesses it.

mod models;

use crate::ReportContext;
use ingest::bytes::sync::lock;
use model::cost::tools::server_of;
use model::event::{Cause, Event, Key, Measure, Meta, MissCause, Node, Size};
use model::lists::sessions::FileFacts;
use model::values::project::Project;
use model::window::{Overrides, Rules};
use models::Models;
use render::number::counted;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};

/// The most names that are told apart when they are counted.
const MOST_NAMES: usize = 100_000;

/// Causes of compactions that decoders and agents name, besides those that have a meaning here.
const CAUSES: [&str; 8] = [
    "clear",
    "context_limit",
    "overflow",
    "reactive",
    "threshold",
    "token_limit",
    "truncation",
    "user",
];

/// The names that Claude Code gives to the parts of a context.
const PARTS: [&str; 11] = [
    "Autocompact buffer",
    "Custom agents",
    "Free space",
    "MCP tools",
    "MCP tools (deferred)",
    "Memory files",
    "Messages",
    "Skills",
    "System prompt",
    "System tools",
    "System tools (deferred)",
];

/// The names that are public, and stay in a report.
pub struct PublicNames<'k> {
    /// The built-in models table.
    pub rules: &'k Rules,
    /// The names of tools.
    pub tools: HashSet<&'static str>,
}

/// The texts of logs that an output shows. It has no default: whoever makes an output chooses.
pub enum Redaction {
    /// The output shows all of them.
    Off,
    /// The output shows none: this redactor leaves them out.
    On(Arc<Redactor>),
}

impl Redaction {
    /// Returns the redactor; `None`: nothing is left out.
    pub fn redactor(&self) -> Option<&Arc<Redactor>> {
        match self {
            Redaction::Off => None,
            Redaction::On(redactor) => Some(redactor),
        }
    }
}

/// Leaves texts out, and counts them.
pub struct Redactor {
    tools: HashSet<&'static str>,
    models: Models,
    /// All but the names.
    left_out: Mutex<OmittedCounts>,
    /// The hashes of the names that were replaced.
    names: Mutex<HashSet<Key>>,
}

/// The counts of what was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OmittedCounts {
    /// Beginnings of items, and reasons why a record could not be read.
    pub texts: u64,
    /// Titles of sessions and first prompts.
    pub titles: u64,
    /// Paths of logs and working directories.
    pub paths: u64,
    /// Ids of sessions.
    pub ids: u64,
    /// Different names of tools, servers, models and types of records.
    pub names: u64,
}

impl fmt::Display for OmittedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (texts, titles) = (counted(self.texts, "text"), counted(self.titles, "title"));
        let (paths, ids) = (counted(self.paths, "path"), counted(self.ids, "id"));
        let names = counted(self.names, "name");
        write!(
            f,
            "left out: {texts}, {titles}; replaced by pseudonyms: {paths}, {ids}, {names}"
        )
    }
}

impl Redactor {
    /// Creates a redactor of sessions that are read with these rules.
    pub fn new(known: PublicNames<'_>, rules: &Rules) -> Redactor {
        Redactor {
            tools: known.tools,
            models: Models::new(known.rules, rules),
            left_out: Mutex::default(),
            names: Mutex::default(),
        }
    }

    /// Returns the counts of what was left out so far.
    pub fn left_out(&self) -> OmittedCounts {
        OmittedCounts {
            names: lock(&self.names).len() as u64,
            ..*lock(&self.left_out)
        }
    }

    /// Leaves texts out of an event before it is folded. Ids and the working directory are still needed.
    fn event(&self, event: &mut Event) {
        match event {
            Event::Node(node) => self.node(node),
            Event::Meta(meta) => {
                self.drop_titles(meta);
                self.rename_model(&mut meta.model);
                meta.provider
                    .take_if(|name| !self.models.has_provider(name));
            }
            Event::Usage(usage) => {
                self.rename_model(&mut usage.model);
                if let Some(MissCause::Other(name)) = usage.miss.as_mut().map(|it| &mut it.cause) {
                    *name = self.name("cause", name).into();
                }
            }
            Event::Billed { model, .. } => self.rename_model(model),
            Event::Reset(reset) => self.cause(&mut reset.cause),
            // Those of decoders are borrowed.
            Event::Skipped(Cow::Owned(kind)) => *kind = self.name("type", kind),
            Event::Unknown(kind) => *kind = self.name("type", kind).into(),
            Event::Unreadable(why) => {
                lock(&self.left_out).texts += 1;
                *why = "the reason is left out".into();
            }
            _ => {}
        }
    }

    /// Leaves texts out of what is known of a session from elsewhere: hooks name causes, and clients what fills a context.
    pub(crate) fn overrides(&self, overrides: &mut Arc<Overrides>) {
        let has_texts =
            !overrides.hooked.is_empty() || overrides.said.is_some() || overrides.project.is_some();
        if !has_texts {
            return;
        }
        let overrides = Arc::make_mut(overrides);
        if let Some(Project { cwd, folder }) = &mut overrides.project {
            for path in [cwd, folder] {
                *path = self.folder(path).into();
            }
        }
        for compaction in &mut overrides.hooked {
            self.cause(&mut compaction.cause);
        }
        let said = overrides.said.as_mut();
        let breakdown = said.and_then(|said| said.breakdown.as_mut());
        for (name, _) in breakdown.into_iter().flat_map(|it| &mut it.parts) {
            if !PARTS.contains(&name.as_str()) {
                *name = self.name("part", name);
            }
        }
    }

    /// Gives a cause that is not known a pseudonym.
    fn cause(&self, cause: &mut Cause) {
        if let Cause::Other(name) = cause
            && !CAUSES.contains(&&**name)
        {
            *name = self.name("cause", name).into();
        }
    }

    fn node(&self, node: &mut Node) {
        for item in &mut node.items {
            lock(&self.left_out).texts += u64::from(!item.preview.is_empty());
            item.preview = Box::default();
            let Some(tool) = item.tool.as_deref() else {
                continue;
            };
            if let Some(name) = self.tool(tool) {
                item.tool = Some(name.into());
            }
        }
    }

    /// Returns the pseudonym of a tool; `None`: its name is known.
    fn tool(&self, tool: &str) -> Option<String> {
        if self.tools.contains(tool) {
            return None;
        }
        let Some(server) = server_of(tool) else {
            return Some(self.name("tool", tool));
        };
        // Still a tool of that server.
        let own = &tool[tool.len().min("mcp__".len() + server.len() + "__".len())..];
        let (server, own) = (self.name("server", server), self.name("tool", own));
        Some(format!("mcp__{server}__{own}"))
    }

    /// Gives a model that is not known a pseudonym.
    pub(crate) fn rename_model(&self, model: &mut Option<Box<str>>) {
        let Some(name) = model.as_deref() else { return };
        if let Some(other) = self.models.pseudonym(name) {
            self.note(Key::of_parts(&["model", name]));
            *model = Some(other.into());
        }
    }

    fn drop_titles(&self, meta: &mut Meta) {
        let texts = [meta.title.take(), meta.prompt.take()];
        lock(&self.left_out).titles += texts.iter().flatten().count() as u64;
    }

    /// Leaves texts out of the facts about a session, when it was read and they are needed no more.
    pub(crate) fn meta(&self, meta: &mut Meta) {
        self.drop_titles(meta);
        for id in [&mut meta.id, &mut meta.parent] {
            if let Some(known) = id.take() {
                *id = Some(self.id(&known).into());
            }
        }
        if let Some(folder) = meta.cwd.take() {
            lock(&self.left_out).paths += 1;
            meta.cwd = Some(self.folder(&folder).into());
        }
        if let Some(version) = meta.version.take() {
            let is_number = |c: char| c.is_ascii_digit() || c == '.';
            let number: String = version.chars().take_while(|c| is_number(*c)).collect();
            lock(&self.left_out).texts += u64::from(number.len() < version.len());
            meta.version = (!number.is_empty()).then(|| number.into());
        }
    }

    /// Returns the pseudonym of a folder.
    pub(crate) fn folder(&self, folder: &str) -> String {
        pseudonym("project", folder)
    }

    /// Replaces the path and the ids of a log by pseudonyms.
    pub(crate) fn facts(&self, facts: &mut FileFacts) {
        lock(&self.left_out).paths += 1;
        let path = pseudonym("log", &facts.path.to_string_lossy());
        facts.path = Arc::new(path.into());
        for id in [&mut facts.id, &mut facts.parent] {
            if let Some(known) = id.take() {
                *id = Some(self.id(&known));
            }
        }
    }

    fn id(&self, id: &str) -> String {
        lock(&self.left_out).ids += 1;
        session_pseudonym(id)
    }

    /// Returns the pseudonym of a name, and counts the name.
    fn name(&self, kind: &str, name: &str) -> String {
        self.note(Key::of_parts(&[kind, name]));
        pseudonym(kind, name)
    }

    /// Counts a name, once.
    fn note(&self, name: Key) {
        let mut names = lock(&self.names);
        if names.len() < MOST_NAMES {
            names.insert(name);
        }
    }
}

/// Returns the pseudonym of a session's id.
pub fn session_pseudonym(id: &str) -> String {
    pseudonym("session", id)
}

/// Returns the pseudonym of a name. It depends only on the name and its kind.
fn pseudonym(kind: &str, name: &str) -> String {
    format!("{kind}-{:08x}", digest(kind, name))
}

fn digest(kind: &str, name: &str) -> u32 {
    (Key::of_parts(&[kind, name]).get() >> 32) as u32
}

/// Measures the texts of a log for a report, and leaves them out if that was asked for.
pub struct Reader {
    sizes: Box<dyn Measure + Send + Sync>,
    pub(crate) redactor: Option<Arc<Redactor>>,
}

impl Reader {
    pub(crate) fn new(
        context: &ReportContext,
        sizes: impl Measure + Send + Sync + 'static,
    ) -> Reader {
        Reader {
            sizes: Box::new(sizes),
            redactor: context.redaction.redactor().cloned(),
        }
    }
}

impl Measure for Reader {
    fn text(&self, text: &str) -> Size {
        self.sizes.text(text)
    }

    fn prepare(&self, event: &mut Event) {
        if let Some(redactor) = &self.redactor {
            redactor.event(event);
        }
    }
}
