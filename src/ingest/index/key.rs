//! Identifies the content of a log without reading it.

use crate::bytes::source::Stamp;
use crate::log::LogFile;
use formats::Tier;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A log, its stamp, and the stamps of the sidecars that its decoder reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogKey {
    pub(super) path: Box<str>,
    /// True if the path is on this machine.
    is_here: bool,
    agent: Box<str>,
    pub(crate) stamp: Stamp,
    beside: Vec<Option<Stamp>>,
}

impl LogKey {
    /// Returns the key of a log as it is now.
    ///
    /// # Errors
    ///
    /// If its files cannot be looked at.
    pub fn now(log: &LogFile) -> io::Result<Option<LogKey>> {
        Ok(LogKey::of(log, log.store.stamp()?))
    }

    /// Returns the key of a log with this stamp. `None`: data that is read of it cannot be
    /// kept, since its stamp does not cover all its sources, or may stay the same although it is written to.
    ///
    /// Data that was read of a log is kept only if that stamp [shows every
    /// change](crate::log::Store::is_stamped_whole).
    pub fn of(log: &LogFile, stamp: Stamp) -> Option<LogKey> {
        // The result of the user's own mapping may change with the mapping.
        if log.sidecar.is_some() || log.format.tier == Tier::Mapping {
            return None;
        }
        let key = LogKey {
            path: log.facts.path.to_str()?.into(),
            is_here: log.system.is_here(),
            agent: log.format.id.into(),
            stamp,
            beside: stamps_beside(log),
        };
        let is_sure = key.beside.iter().flatten().all(Stamp::is_sure);
        (is_sure && stamp.is_sure()).then_some(key)
    }

    /// Returns true if the log is known to be gone. Other file systems are not asked.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_here && !Path::new(&*self.path).exists()
    }
}

/// Returns the stamps of the files beside a log that its decoder reads; `None`: one is not there.
pub(crate) fn stamps_beside(log: &LogFile) -> Vec<Option<Stamp>> {
    let paths = (log.format.beside.states)(&log.facts.path).into_iter();
    let stat = |path: PathBuf| log.system.stat(&path).ok();
    paths
        .map(|path| stat(path).map(|stat| stat.stamp))
        .collect()
}
