//! A row as text: what leaves a machine with `ctxgauge follow --summaries`, and what is taken from one.
//!
//! It is a summary as the cache keeps it, so only the same version reads it: see [`VERSION`]. Of texts it has the names of
//! the session, cut as columns are, and of folders only the name of the project and the path of the log, which names the
//! log to the machine that it is on.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use model::event::{Conversation, Meta};
use model::lists::sessions::{SessionKey, Sessions};
use model::lists::summary::Summary;
use model::values::names::at_most;
use model::values::process_activity::ProcessActivity;
use model::window::{Limits, Overrides};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the rows: that of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The longest title that is sent, in characters.
const LONGEST_TITLE: usize = 120;
/// The longest text that is taken, in bytes.
const LONGEST_TEXT: usize = 4_096;
/// The largest number that is taken: no context and no cost has more tokens or billionths of a dollar. A thousand
/// sessions of it can be summed up.
const LARGEST: u64 = 1 << 50;
/// The most elements of a list that are taken.
const MOST_ELEMENTS: usize = 1_024;
/// The keys of numbers that are hashes.
const HASHES: [&str; 6] = ["hash", "id", "keys", "model_hash", "settings", "Side"];

/// A session of another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The agent's id.
    pub agent: Box<str>,
    /// The path of its log there.
    pub path: Box<str>,
    /// The session's id, where the path holds it.
    pub id: Option<Box<str>>,
    /// The id of the session that started it, where the path holds it.
    pub parent: Option<Box<str>>,
    /// Bytes.
    pub len: u64,
    /// The time at which it was last active, by the clock there.
    pub active: Option<Timestamp>,
    /// The activity of its process, by its agent's registry.
    pub running: Option<ProcessActivity>,
    /// Its conversation in the file.
    pub conversation: Conversation,
    /// The settings of its agent there.
    pub settings: Overrides,
    /// The window and the trigger, as the list there shows them.
    pub limits: Limits,
    /// The data that lists show. In the place of the folder is the name of the project there.
    pub summary: Summary,
}

/// Returns the row of a session as text; `None`: there is no such session, or its path is not text.
pub fn row(sessions: &Sessions, key: SessionKey) -> Option<String> {
    let (gauge, facts) = (sessions.gauge(key)?, sessions.facts(key)?);
    let mut summary = gauge.summary().clone();
    let project = sessions.project_of(gauge);
    summary.meta = Meta {
        cwd: Some(project.into()),
        title: summary.meta.title.as_deref().map(cut),
        prompt: summary.meta.prompt.as_deref().map(cut),
        ..summary.meta
    };
    summary.said = summary.said.as_deref().map(cut);
    // It is compared with texts, which are not here.
    summary.answer = None;
    let mut settings = sessions.settings(key)?.clone();
    settings.project = None;
    settings.hooked.clear();
    if let Some(said) = &mut settings.said {
        said.breakdown = None;
    }
    let row = Row {
        agent: facts.agent.into(),
        path: facts.path.to_str()?.into(),
        id: facts.id.as_deref().map(Into::into),
        parent: facts.parent.as_deref().map(Into::into),
        len: facts.len,
        active: sessions.activity_of(key),
        running: sessions.running(key),
        conversation: key.conversation,
        settings,
        limits: gauge.limits().clone(),
        summary,
    };
    Some(text(&postcard::to_stdvec(&row).ok()?))
}

/// Returns the bytes of a row as text.
pub fn text(row: &[u8]) -> String {
    STANDARD.encode(row)
}

/// Returns the bytes of a row from text; `None`: it is not that of any.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Reads a row. `None`: it is not one of this version, or has more than any session has.
pub fn read(text: &str) -> Option<Row> {
    let row: Row = postcard::from_bytes(&bytes(text)?).ok()?;
    // All fields, also those of later versions, are looked at in one place.
    is_bounded("", &serde_json::to_value(&row).ok()?).then_some(row)
}

fn cut(text: &str) -> Box<str> {
    at_most(text, LONGEST_TITLE).into()
}

fn is_bounded(key: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => match number.as_u64() {
            Some(number) => number <= LARGEST || HASHES.contains(&key),
            None => number.as_f64().is_some_and(|n| n.abs() <= LARGEST as f64),
        },
        Value::String(text) => text.len() <= LONGEST_TEXT,
        Value::Array(all) => {
            all.len() <= MOST_ELEMENTS && all.iter().all(|value| is_bounded(key, value))
        }
        Value::Object(all) => all.iter().all(|(key, value)| is_bounded(key, value)),
    }
}
