//! The lines of one machine as updates of its rows. Nothing of a line is trusted: its length is bounded before
//! ([`files::lines`]), here its numbers and texts and the number of sessions.

use crate::host::Host;
use crate::wire::{self, VERSION};
use formats::Format;
use jiff::{SignedDuration, Timestamp};
use model::event::{Conversation, Key};
use model::lists::sessions::{FileFacts, FileId, OtherHost, Update};
use render::text::{cut, inert, one_line};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// The schema of the lines that are understood.
const SCHEMA: &str = "ctxgauge.follow/1";
/// The most sessions of a machine.
pub const MOST_SESSIONS: usize = 2_000;
/// The most lines before the first one of ours: a greeting, a prompt.
const MOST_FOREIGN: usize = 200;
/// The most bytes of them.
const MOST_FOREIGN_BYTES: usize = 1 << 16;
/// The most columns of a text of the other machine in a message.
const LONGEST_SAID: usize = 80;
/// Clocks that differ by less are one: a line takes time to come.
const SAME_CLOCK: SignedDuration = SignedDuration::from_secs(5);
/// The beginning of the first line.
const START: &str = r#"{"type":"start""#;

/// Finds the format of an agent by its id.
pub type Agents = fn(&str) -> Option<&'static Format>;

/// The result of a line.
#[derive(Debug, Default)]
pub struct News {
    /// The changes of rows.
    pub updates: Vec<Update>,
    /// True if all sessions of the machine have been sent, or were before: what is shown is what is there.
    pub is_current: bool,
    /// A message for the user.
    pub said: Option<String>,
}

/// The sessions of a machine, over all connections to it.
#[derive(Debug)]
pub struct Incoming {
    host: Host,
    agents: Agents,
    /// For each session that is shown, by its name in the lines, the connection that has sent it last.
    places: HashMap<Box<str>, u64>,
    /// The number of this connection.
    connection: u64,
    /// True once the first line of the connection was one of ctxgauge.
    pub has_started: bool,
    /// True if this connection has sent all sessions.
    is_scanned: bool,
    foreign: (usize, usize, String),
    /// The kinds of lines that this connection has sent and that are left out.
    left_out: BTreeSet<LeftOut>,
    /// The difference that was said last.
    said: Option<String>,
}

/// The reason for which a line is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOut {
    /// It is about a session beyond [`MOST_SESSIONS`].
    Beyond,
    /// It is about a session of an agent that is not known here.
    UnknownAgent,
    /// It is not understood.
    Unread,
}

/// A line as far as it matters here.
#[derive(Deserialize)]
struct Fields {
    r#type: String,
    at: Option<String>,
    schema: Option<String>,
    version: Option<String>,
    session: Option<String>,
    row: Option<String>,
}

impl Incoming {
    /// Returns a machine of which nothing is known.
    pub fn new(host: Host, agents: Agents) -> Incoming {
        Incoming {
            host,
            agents,
            places: HashMap::new(),
            connection: 0,
            has_started: false,
            is_scanned: false,
            foreign: Default::default(),
            left_out: Default::default(),
            said: None,
        }
    }

    /// A connection begins. Its lines replace what was known.
    pub fn begin(&mut self) {
        self.connection += 1;
        self.has_started = false;
        self.is_scanned = false;
        self.foreign = Default::default();
        self.left_out = Default::default();
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.places.len()
    }

    /// Takes a line that was too long to be read.
    pub fn too_long(&mut self) {
        self.left_out.insert(LeftOut::Unread);
    }

    /// Takes a line in, which came at `now`.
    ///
    /// # Errors
    ///
    /// Returns the reason if the machine cannot be followed: it sends no line of ours, or one of another version.
    pub fn line(&mut self, line: &[u8], now: Timestamp) -> Result<News, String> {
        let text = String::from_utf8_lossy(line);
        if !self.has_started {
            return self.first(&text);
        }
        let updates = self.updates(&text, now).unwrap_or_else(|why| {
            self.left_out.insert(why);
            Vec::new()
        });
        let said = self.is_scanned.then(|| self.left_out_in_words()).flatten();
        let said = said.filter(|said| self.said.as_ref() != Some(said));
        if said.is_some() {
            self.said.clone_from(&said);
        }
        Ok(News {
            updates,
            is_current: self.is_scanned,
            said,
        })
    }

    /// Returns the updates of a line or, if it is left out, the reason.
    fn updates(&mut self, text: &str, now: Timestamp) -> Result<Vec<Update>, LeftOut> {
        let fields: Fields = serde_json::from_str(text).map_err(|_| LeftOut::Unread)?;
        let (host, connection) = (&self.host, self.connection);
        Ok(match &*fields.r#type {
            "session" => return self.session(&fields, now),
            "gone" => {
                let gone = fields
                    .session
                    .filter(|name| self.places.remove(&**name).is_some());
                gone.map_or(Vec::new(), |name| {
                    vec![Update::Vanished(file_of(host, &name))]
                })
            }
            "scanned" => {
                self.is_scanned = true;
                // Sessions that an earlier connection has sent and this one has not.
                let gone = self.places.extract_if(|_, sent_by| *sent_by != connection);
                gone.map(|(name, _)| Update::Vanished(file_of(host, &name)))
                    .collect()
            }
            // Heartbeats, and lines of later versions.
            _ => Vec::new(),
        })
    }

    /// Takes a line before or at the first one of ours. A prompt may stand before it on its line.
    fn first(&mut self, text: &str) -> Result<News, String> {
        let fields = text.find(START).map(|at| &text[at..]);
        let fields = fields.and_then(|text| serde_json::from_str::<Fields>(text).ok());
        let Some(fields) = fields else {
            let (lines, bytes, first) = &mut self.foreign;
            *lines += 1;
            *bytes += text.len();
            if first.is_empty() {
                *first = said(text);
            }
            if *lines > MOST_FOREIGN || *bytes > MOST_FOREIGN_BYTES {
                return Err(format!("it prints no lines of ctxgauge, but: {first}"));
            }
            return Ok(News::default());
        };
        let (schema, version) = (fields.schema.unwrap_or_default(), fields.version);
        let version = version.unwrap_or_default();
        if schema != SCHEMA || version != VERSION {
            return Err(format!(
                "ctxgauge {} is there, {VERSION} is here; rows pass between equal versions",
                said(&version)
            ));
        }
        self.has_started = true;
        let (lines, _, first) = &self.foreign;
        let greeting = (*lines > 0).then(|| {
            let counted = render::number::counted(*lines as u64, "line");
            format!("{counted} before those of ctxgauge passed over: {first}")
        });
        Ok(News {
            said: greeting.filter(|_| self.connection <= 1),
            ..News::default()
        })
    }

    /// Takes a row in.
    fn session(&mut self, fields: &Fields, now: Timestamp) -> Result<Vec<Update>, LeftOut> {
        let name = fields.session.as_deref().filter(|name| name.len() <= 64);
        let row = fields.row.as_deref().and_then(wire::read);
        let (name, row) = name.zip(row).ok_or(LeftOut::Unread)?;
        if !self.places.contains_key(name) && self.places.len() >= MOST_SESSIONS {
            return Err(LeftOut::Beyond);
        }
        let format = (self.agents)(&row.agent).ok_or(LeftOut::UnknownAgent)?;
        let at = fields.at.as_deref().and_then(|at| at.parse().ok());
        let active = row.active.map(|active| here(active, at, now));
        let (host, file) = (self.host.name(), file_of(&self.host, name));
        self.places.insert(name.into(), self.connection);
        let mut summary = row.summary;
        summary.agent = format.id;
        let meta = &mut summary.meta;
        let project = meta.cwd.take().filter(|project| !project.is_empty());
        let project = project.as_deref().unwrap_or(render::NONE);
        let on = OtherHost::new(host, project, row.limits);
        if row.conversation != Conversation::Main {
            meta.parent.get_or_insert_default();
        }
        let facts = FileFacts {
            file,
            agent: format.id,
            label: format.label,
            commands: format.facts.commands,
            path: Arc::new(PathBuf::from(&*row.path)),
            id: row.id.map(Into::into),
            parent: row.parent.map(Into::into),
            len: row.len,
            modified: active,
            host: Some(Arc::new(on)),
        };
        let running = Update::Running {
            file,
            running: row.running,
            at: active.unwrap_or_default(),
        };
        Ok(vec![
            Update::Found(Box::new(facts)),
            Update::Settings {
                file,
                overrides: Arc::new(row.settings),
            },
            Update::Summaries {
                file,
                summaries: vec![(Conversation::Main, summary)],
            },
            running,
        ])
    }

    fn left_out_in_words(&self) -> Option<String> {
        let words = self.left_out.iter().map(|why| match why {
            LeftOut::Beyond => format!("sessions beyond {MOST_SESSIONS}"),
            LeftOut::UnknownAgent => "sessions of agents that are not known here".to_owned(),
            LeftOut::Unread => "lines that are not understood".to_owned(),
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("left out: {}", words.join(", ")))
    }
}

/// Returns the file of a session. Each session is a log of its own here, also those that share one there: so a line
/// changes one row.
fn file_of(host: &Host, name: &str) -> FileId {
    FileId(Key::of_parts(&["host", host.name(), name]).get())
}

/// Returns a time of the other machine's clock by the clock here. `at` is the time there at which a line was made that
/// came now.
fn here(active: Timestamp, at: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let Some(at) = at else {
        return active;
    };
    let differs = now.duration_since(at);
    if differs.abs() < SAME_CLOCK {
        return active;
    }
    active.checked_add(differs).unwrap_or(now)
}

/// Returns a text of the other machine for a message.
pub(crate) fn said(text: &str) -> String {
    cut(&inert(&one_line(text.trim())), LONGEST_SAID)
}

#[cfg(test)]
mod tests;
