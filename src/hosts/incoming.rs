//! The lines of one machine as updates of its rows. Nothing of a line is trusted: its length is bounded before
//! ([`files::lines`]), here its numbers and texts and the number of sessions.

use crate::host::Host;
use crate::wire::{self, Row, VERSION};
use formats::Format;
use jiff::{SignedDuration, Timestamp};
use model::event::{Conversation, Key};
use model::lists::sessions::{FileFacts, FileId, OtherHost, Update};
use render::text::{cut, inert, one_line};
use serde::Deserialize;
use std::collections::HashMap;
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

/// A machine that cannot be followed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

/// The sessions of a machine, over all connections to it.
#[derive(Debug)]
pub struct Incoming {
    host: Host,
    agents: Agents,
    /// The sessions that are shown, by their names in the lines.
    places: HashMap<Box<str>, Place>,
    /// The number of this connection.
    connection: u64,
    /// True once the first line of the connection was one of ctxgauge.
    pub has_started: bool,
    /// True if this connection has sent all sessions.
    is_scanned: bool,
    foreign: (usize, usize, String),
    /// Sessions beyond the most, of unknown agents, and lines that were not understood, all of this connection.
    left_out: [u64; 3],
    /// The difference that was said last.
    said: Option<String>,
}

/// A session that is shown.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Each session is a log of its own here, also those that share one there: so a line changes one row.
    file: FileId,
    /// The connection that has sent it last.
    connection: u64,
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
        self.left_out[2] += 1;
    }

    /// Takes a line in, which came at `now`.
    ///
    /// # Errors
    ///
    /// If the other machine sends what is not understood here: no line of ours, or one of another version.
    pub fn line(&mut self, line: &[u8], now: Timestamp) -> Result<News, Refused> {
        let text = String::from_utf8_lossy(line);
        if !self.has_started {
            return self.first(&text);
        }
        let Ok(fields) = serde_json::from_str::<Fields>(&text) else {
            self.left_out[2] += 1;
            return Ok(self.news(Vec::new()));
        };
        let updates = match &*fields.r#type {
            "session" => self.session(&fields, now),
            "gone" => fields.session.map_or(Vec::new(), |name| self.gone(&name)),
            "scanned" => {
                self.is_scanned = true;
                self.forget_earlier()
            }
            // Heartbeats, and lines of later versions.
            _ => Vec::new(),
        };
        Ok(self.news(updates))
    }

    fn news(&mut self, updates: Vec<Update>) -> News {
        let said = self.is_scanned.then(|| self.left_out_in_words()).flatten();
        let is_new = said != self.said && said.is_some();
        let said = said.filter(|_| is_new);
        if is_new {
            self.said.clone_from(&said);
        }
        News {
            updates,
            is_current: self.is_scanned,
            said,
        }
    }

    /// Takes a line before or at the first one of ours. A prompt may stand before it on its line.
    fn first(&mut self, text: &str) -> Result<News, Refused> {
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
                return Err(Refused(format!(
                    "it prints no lines of ctxgauge, but: {first}"
                )));
            }
            return Ok(News::default());
        };
        let (schema, version) = (fields.schema.unwrap_or_default(), fields.version);
        let version = version.unwrap_or_default();
        if schema != SCHEMA || version != VERSION {
            return Err(Refused(format!(
                "ctxgauge {} is there, {VERSION} is here; rows pass between equal versions",
                said(&version)
            )));
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

    fn session(&mut self, fields: &Fields, now: Timestamp) -> Vec<Update> {
        let (Some(name), Some(row)) = (&fields.session, &fields.row) else {
            self.left_out[2] += 1;
            return Vec::new();
        };
        let row = wire::read(row).filter(|_| name.len() <= 64);
        let Some(row) = row else {
            self.left_out[2] += 1;
            return Vec::new();
        };
        if !self.places.contains_key(name.as_str()) && self.places.len() >= MOST_SESSIONS {
            self.left_out[0] += 1;
            return Vec::new();
        }
        let Some(format) = (self.agents)(&row.agent) else {
            self.left_out[1] += 1;
            return Vec::new();
        };
        let at = fields.at.as_deref().and_then(|at| at.parse().ok());
        let active = row.active.map(|active| here(active, at, now));
        self.take(name, row, format, active)
    }

    /// Takes a row in.
    fn take(
        &mut self,
        name: &str,
        row: Row,
        format: &'static Format,
        active: Option<Timestamp>,
    ) -> Vec<Update> {
        let host = self.host.name();
        let file = FileId(Key::of_parts(&["host", host, name]).get());
        let connection = self.connection;
        self.places.insert(name.into(), Place { file, connection });
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
        vec![
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
        ]
    }

    fn gone(&mut self, name: &str) -> Vec<Update> {
        let place = self.places.remove(name);
        place.map_or(Vec::new(), |place| vec![Update::Vanished(place.file)])
    }

    /// Removes what an earlier connection has sent and this one has not.
    fn forget_earlier(&mut self) -> Vec<Update> {
        let connection = self.connection;
        let mut gone = Vec::new();
        self.places.retain(|_, place| {
            let is_there = place.connection == connection;
            if !is_there {
                gone.push(Update::Vanished(place.file));
            }
            is_there
        });
        gone
    }

    fn left_out_in_words(&self) -> Option<String> {
        let [beyond, unknown, lines] = self.left_out;
        let beyond_most = format!("sessions beyond {MOST_SESSIONS}");
        let parts = [
            (beyond, beyond_most.as_str()),
            (unknown, "sessions of agents that are not known here"),
            (lines, "lines that are not understood"),
        ];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0);
        let words: Vec<&str> = parts.map(|(_, what)| what).collect();
        (!words.is_empty()).then(|| format!("left out: {}", words.join(", ")))
    }
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
