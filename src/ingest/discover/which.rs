//! Finds the log of the session that is meant, by the evidence that there is: an id, a folder, a process, the call of a
//! tool. Each caller weighs the kinds of evidence by itself, since it knows what its client gives.

pub mod call;
pub mod folder;
pub mod process;

use crate::bytes::patience::{WaitTime, is_busy};
use crate::log::LogFile;
use crate::log::conversations::main_of;
use crate::log::reader::glance;
use model::lists::sessions::FileId;
use model::window::Rules;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the log of the session with this id, by the names of the logs.
pub fn with_id<'l>(logs: &'l [LogFile], id: &str) -> Option<&'l LogFile> {
    logs.iter().find(|log| log.facts.id.as_deref() == Some(id))
}

/// Returns the log of the session with this id or, if there is none, the newest one whose id begins with it, in any
/// case. The newest logs come first.
pub fn with_beginning<'l>(logs: &'l [LogFile], beginning: &str) -> Option<&'l LogFile> {
    let beginning = beginning.to_lowercase();
    let id = |log: &LogFile| log.facts.id.as_deref().unwrap_or_default().to_lowercase();
    let whole = logs.iter().find(|log| id(log) == beginning);
    whole.or_else(|| logs.iter().find(|log| id(log).starts_with(&beginning)))
}

/// The facts about a session at the beginning and the end of its log.
#[derive(Debug, Clone, Default)]
struct Glance {
    id: Option<String>,
    folder: Option<PathBuf>,
}

/// Reads and caches the ids and folders of sessions. A log is read again once its length has changed.
pub struct Glances {
    rules: Arc<Rules>,
    waiting: WaitTime,
    known: HashMap<FileId, (u64, Glance)>,
}

impl Glances {
    /// Creates an empty cache.
    pub fn new(rules: &Arc<Rules>) -> Glances {
        Glances {
            rules: Arc::clone(rules),
            waiting: WaitTime::default(),
            known: HashMap::new(),
        }
    }

    /// Returns the id of a log's session.
    pub fn id(&mut self, log: &LogFile) -> Option<String> {
        log.facts.id.clone().or_else(|| self.of(log).id.clone())
    }

    /// Returns true if the sessions of two logs have the same working directory. Two that have none do not.
    pub fn are_of_one_folder(&mut self, one: &LogFile, other: &LogFile) -> bool {
        let folder = self.of(one).folder.clone();
        folder.is_some() && folder == self.of(other).folder
    }

    /// Returns the newest log whose working directory is `here`, given under all its paths, or else its nearest parent
    /// that has one; and the directory that matched. The newest logs come first.
    pub fn newest_in<'l>(
        &mut self,
        logs: impl IntoIterator<Item = &'l LogFile>,
        here: &[PathBuf],
        home: Option<&Path>,
    ) -> Option<(&'l LogFile, PathBuf)> {
        let logs = logs.into_iter();
        let logs = logs.filter_map(|log| Some((log, self.of(log).folder.clone()?)));
        folder::newest(logs, here, home)
    }

    fn of(&mut self, log: &LogFile) -> &Glance {
        let (file, len) = (log.facts.file, log.facts.len);
        if self.known.get(&file).is_none_or(|(known, _)| *known != len) {
            let glance = self.read(log);
            self.known.insert(file, (len, glance));
        }
        &self.known[&file].1
    }

    fn read(&mut self, log: &LogFile) -> Glance {
        let sessions = loop {
            match glance(log, &self.rules) {
                Err(e) if is_busy(&e) && self.waiting.pause().is_ok() => {}
                read => break read.unwrap_or_default(),
            }
        };
        let meta = main_of(&sessions).map(|session| &session.meta);
        Glance {
            id: meta.and_then(|meta| meta.id.as_deref().map(str::to_owned)),
            folder: meta.and_then(|meta| meta.cwd.as_deref().map(PathBuf::from)),
        }
    }
}
