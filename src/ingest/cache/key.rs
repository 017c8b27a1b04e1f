//! What identifies the content of a log without reading it.

use crate::log::LogFile;
use crate::source::Stamp;
use format::Tier;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A log, its stamp, and those of the files beside it that its decoder reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogKey {
    path: Box<str>,
    agent: Box<str>,
    stamp: Stamp,
    beside: Vec<Option<Stamp>>,
}

impl LogKey {
    /// The key of a log with this stamp. `None`: what is read of it cannot be kept, since its stamp does not cover
    /// all that it is read from, or may stay the same although it is written to.
    ///
    /// What was read of a log is kept only if its store [is one file](crate::log::Store::is_one_file).
    pub fn of(log: &LogFile, stamp: Stamp) -> Option<LogKey> {
        // What the user's own mapping reads may change with the mapping.
        if log.sidecar.is_some() || log.format.tier == Tier::Mapping {
            return None;
        }
        let beside = stamps_beside(log).into_iter().map(|(_, stamp)| stamp);
        let key = LogKey {
            path: log.facts.path.to_str()?.into(),
            agent: log.format.id.into(),
            stamp,
            beside: beside.collect(),
        };
        let is_sure = key.beside.iter().flatten().all(Stamp::is_sure);
        (is_sure && stamp.is_sure()).then_some(key)
    }

    /// The path of the log.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The stamp of the log itself.
    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }
}

/// The files beside a log that its decoder reads, with their stamps; `None`: not there.
pub(super) fn stamps_beside(log: &LogFile) -> Vec<(PathBuf, Option<Stamp>)> {
    let paths = (log.format.states)(&log.facts.path).into_iter();
    let stamped = paths.map(|path| {
        let stamp = Stamp::of(&path).ok();
        (path, stamp)
    });
    stamped.collect()
}
