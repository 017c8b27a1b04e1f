//! The hand-written logs in parts, one of which is changed.

use crate::fuzzed::targets::seeds::project;
use crate::fuzzed::targets::sessions::read_document;
use ctxgauge::agents;
use ctxgauge::formats::Format;
use ctxgauge::model::event::{ByLength, Entry, EventSink, Place};
use std::fs;
use std::path::{Path, PathBuf};

/// A log in parts: its lines, the files of its folder, or one document.
pub struct Log {
    pub format: &'static Format,
    pub name: String,
    pub parts: Vec<String>,
    pub is_document: bool,
}

impl Log {
    pub fn original(&self) -> Vec<Entry> {
        let first = self.parts.first();
        first.map_or_else(Vec::new, |text| self.entries(0, text))
    }

    /// The entries of the log, where one part is another text. All have their places in the log as it is,
    /// since some decoders name nodes by them.
    pub fn entries(&self, changed: usize, text: &str) -> Vec<Entry> {
        if self.is_document {
            return read_document(self.format, text.as_bytes());
        }
        let mut out = EventSink::new(&ByLength);
        let mut decoder = self.format.decoder();
        for (place, text) in self.lines(changed, text) {
            if !text.trim().is_empty() {
                out.begin(place);
                decoder.read_line(text, &mut out);
            }
        }
        out.entries
    }

    /// The parts with their places, where one part is another text.
    pub fn lines<'t>(
        &'t self,
        changed: usize,
        text: &'t str,
    ) -> impl Iterator<Item = (Place, &'t str)> {
        let mut offset = 0;
        (1..).zip(&self.parts).map(move |(line, part)| {
            let len = part.len() as u64;
            let place = Place::new(line, offset, len);
            offset += len + 1;
            let is_changed = line == changed as u64 + 1;
            (place, if is_changed { text } else { part })
        })
    }
}

/// All logs, the long ones last: what is tried once is tried where that takes less time.
pub fn logs() -> Vec<Log> {
    let root = project().join("tests/fixtures");
    let mut logs = Vec::new();
    for format in agents::ALL.iter().copied() {
        for case in folder(&root.join(format.id)) {
            let files = folder(&case);
            let name = case.strip_prefix(&root).unwrap().display().to_string();
            let log = |parts, is_document| Log {
                format,
                name: name.clone(),
                parts,
                is_document,
            };
            let read = |path: &PathBuf| fs::read_to_string(path).ok();
            let file = |name: &str| read(&case.join(name));
            // The files of agents that find others by their names.
            let is_named = |path: &&PathBuf| {
                let path = path.to_string_lossy();
                path.ends_with(".messages.json") || path.ends_with("api_conversation_history.json")
            };
            let named = files.iter().find(is_named);
            if let Some(text) = file("log.jsonl") {
                logs.push(log(text.lines().map(Into::into).collect(), false));
            } else if let Some(text) = file("log.json").or_else(|| named.and_then(read)) {
                logs.push(log(vec![text], true));
            } else {
                let parts = |name: &str| {
                    let parts = files.iter().find(|path| path.ends_with(name));
                    let parts = parts.map(|path| folder(path)).unwrap_or_default();
                    parts.iter().filter_map(read).collect::<Vec<String>>()
                };
                let journal = parts("journal");
                let lines = journal.iter().flat_map(|part| part.lines().map(Into::into));
                logs.push(log(
                    parts("events").into_iter().chain(lines).collect(),
                    false,
                ));
            }
        }
    }
    logs.sort_by_key(|log| log.parts.iter().map(String::len).sum::<usize>() > 16_000);
    logs
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
