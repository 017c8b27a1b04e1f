//! Logs of the same session, of which one counts.

use crate::bytes::source::zst;
use crate::log::LogFile;
use formats::SameId;
use model::lists::sessions::FileId;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

/// The logs of sessions of which another log is the session.
#[derive(Default)]
pub(super) struct Copies {
    /// The logs that have nothing of their own.
    copies: HashSet<FileId>,
    /// The logs that the session continues: their cost counts.
    segments: HashSet<FileId>,
}

impl Copies {
    /// Finds them. A session whose file was copied or moved to an archive counts once: the longest file is the most
    /// complete, since logs only grow. Logs of other names may be of the same session too, see [`SameId`]. If a session
    /// is in several databases, the one that it was written to last counts.
    pub(super) fn among(files: &[LogFile]) -> Copies {
        let copies = outranked(files.iter(), key);
        let others = files.iter().filter(|log| !copies.contains(&log.facts.file));
        let segments = outranked(others, |log| {
            let is_one = matches!(log.format.same_id, SameId::Segments);
            key(log)
                .filter(|_| is_one)
                .map(|key| Key { name: None, ..key })
        });
        Copies { copies, segments }
    }

    /// Removes them from these logs. Returns the segments.
    pub(super) fn take_from(&self, files: &mut Vec<LogFile>) -> Vec<LogFile> {
        files.retain(|log| !self.copies.contains(&log.facts.file));
        let is_segment = |log: &mut LogFile| self.segments.contains(&log.facts.file);
        files.extract_if(.., is_segment).collect()
    }
}

/// Returns all logs but the best one of each key.
fn outranked<'l>(
    files: impl Iterator<Item = &'l LogFile>,
    key: impl Fn(&'l LogFile) -> Option<Key<'l>>,
) -> HashSet<FileId> {
    let mut best: HashMap<_, &LogFile> = HashMap::new();
    let mut outranked = HashSet::new();
    for log in files {
        let Some(key) = key(log) else { continue };
        match best.entry(key) {
            Entry::Vacant(place) => {
                place.insert(log);
            }
            Entry::Occupied(mut held) => {
                let mut other = log;
                if rank(log) > rank(held.get()) {
                    other = held.insert(log);
                }
                outranked.insert(other.facts.file);
            }
        }
    }
    outranked
}

/// The properties that the logs of one session have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key<'l> {
    agent: &'l str,
    id: Cow<'l, str>,
    parent: Option<&'l str>,
    /// The file's name, where only a file of the same name is a copy.
    name: Option<&'l OsStr>,
}

fn key(log: &LogFile) -> Option<Key<'_>> {
    let facts = &log.facts;
    let id = || facts.id.as_deref().map(Cow::Borrowed);
    let (id, name) = match log.format.same_id {
        SameId::LongestOf(part) => (part(&facts.path)?.into(), None),
        SameId::SameName if !log.is_one_of_several() => (id()?, Some(facts.path.file_name()?)),
        SameId::Segments => (id()?, Some(plain_name(log)?)),
        SameId::SameName | SameId::LastName => (id()?, None),
    };
    Some(Key {
        agent: facts.agent,
        id,
        parent: facts.parent.as_deref(),
        name,
    })
}

/// Returns the name of a log's file without the ending of a compressed one.
fn plain_name(log: &LogFile) -> Option<&OsStr> {
    let path = &log.facts.path;
    if zst::is_compressed(path) {
        path.file_stem()
    } else {
        path.file_name()
    }
}

/// Returns the order of the logs of one session, the best last.
fn rank(log: &LogFile) -> impl PartialOrd {
    // A name begins with the time at which its log was begun.
    let is_named = matches!(log.format.same_id, SameId::LastName | SameId::Segments);
    let name = plain_name(log).filter(|_| is_named);
    let facts = &log.facts;
    (
        name.map(OsStr::to_os_string),
        !zst::is_compressed(&facts.path),
        facts.len,
        facts.modified,
        facts.file,
    )
}
