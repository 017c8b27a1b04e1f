//! Logs of the same session, of which one counts.

use crate::log::LogFile;
use crate::source::zst;
use format::SameId;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

/// A session whose file was copied or moved to an archive counts once: the longest file is the most
/// complete, since logs only grow. Logs of other names may be of the same session too, see [`SameId`].
pub(super) fn keep_one_copy(files: &mut Vec<LogFile>) {
    let key = |log: &LogFile| {
        let (path, id) = (&log.facts.path, &log.facts.id);
        let (id, name) = match log.format.same_id {
            SameId::SameName => (id.clone()?, Some(path.file_name()?.to_os_string())),
            SameId::LastName => (id.clone()?, None),
            SameId::LongestOf(part) => (part(path)?, None),
        };
        Some((log.facts.agent, id, log.facts.parent.clone(), name))
    };
    let mut best: HashMap<_, usize> = HashMap::new();
    for (ix, log) in files.iter().enumerate() {
        if let Some(key) = key(log) {
            let held = best.entry(key).or_insert(ix);
            if rank(log) > rank(&files[*held]) {
                *held = ix;
            }
        }
    }
    let best: HashSet<usize> = best.into_values().collect();
    let mut ix = 0;
    files.retain(|log| {
        ix += 1;
        key(log).is_none() || best.contains(&(ix - 1))
    });
}

/// The order of the logs of one session, the best last.
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
