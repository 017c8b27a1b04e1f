//! Logs of the same session, of which one counts.

use crate::bytes::source::zst;
use crate::log::LogFile;
use formats::SameId;
use model::lists::sessions::FileId;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

/// Returns the logs of sessions of which another log counts. A session whose file was copied or moved to an archive
/// counts once: the longest file is the most complete, since logs only grow. Logs of other names may be of the same
/// session too, see [`SameId`]. If a session is in several databases, the one that it was written to last counts.
pub(super) fn copies(files: &[LogFile]) -> HashSet<FileId> {
    let mut best: HashMap<_, &LogFile> = HashMap::new();
    let mut copies = HashSet::new();
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
                copies.insert(other.facts.file);
            }
        }
    }
    copies
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
        SameId::SameName | SameId::LastName => (id()?, None),
    };
    Some(Key {
        agent: facts.agent,
        id,
        parent: facts.parent.as_deref(),
        name,
    })
}

/// Returns the order of the logs of one session, the best last.
fn rank(log: &LogFile) -> impl PartialOrd {
    let path = &log.facts.path;
    let is_plain = !zst::is_compressed(path);
    let name = if is_plain {
        path.file_name()
    } else {
        path.file_stem()
    };
    // A name begins with the time at which its log was begun.
    let name = name.filter(|_| matches!(log.format.same_id, SameId::LastName));
    let facts = &log.facts;
    (
        name.map(OsStr::to_os_string),
        is_plain,
        facts.len,
        facts.modified,
        facts.file,
    )
}
