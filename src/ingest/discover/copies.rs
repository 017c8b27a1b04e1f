//! Logs of the same session, of which one counts.

use crate::log::LogFile;
use crate::source::zst;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

/// A session whose file was copied or moved to an archive counts once: the longest file is the most
/// complete, since logs only grow. Of an agent whose sessions
/// have one log at a time, the newest log counts.
pub(super) fn keep_one_copy(files: &mut Vec<LogFile>) {
    let key = |log: &LogFile| {
        let id = log.facts.id.clone()?;
        let name = if log.format.one_log_a_session {
            None
        } else {
            Some(log.facts.path.file_name()?.to_os_string())
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
    let name = name.filter(|_| log.format.one_log_a_session);
    let facts = &log.facts;
    (
        name.map(OsStr::to_os_string),
        is_plain,
        facts.len,
        facts.modified,
        facts.file,
    )
}
