//! What was read of logs, kept from run to run: an unchanged log is not read again.
//!
//! A cache is one file in the user's cache folder. It maps a log, by its [`LogKey`], to a [`Value`] that the caller made
//! from it; its details stay in the file until somebody looks at one of the log's sessions. The file begins with a
//! version, a hash of all that its contents depend on (the program, the models table), and the checksum of its index;
//! a file that does not fit is ignored and replaced. It is replaced as a whole, so two programs at once lose at most
//! what the other has added. Of texts it contains only what sessions are called.
//!
//! A log counts as unchanged while its `Stamp` is the same: device, file, size, and the times of the last write
//! and of the last change of the file, in nanoseconds. Nothing continues from the cache: a log that has changed, or
//! is opened, is read from its beginning. So no hash of its content is needed to trust what follows.

mod details;
mod file;
mod sessions;
#[cfg(test)]
mod tests;

pub use sessions::{UnreadCursor, restore, value};

pub use crate::index::LogKey;

use crate::index::{self, key};
use file::{Capacity, Contents};
use model::stored::details::Details;
use model::window::Rules;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a cache holds, each in a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Part {
    /// Sessions that were read whole.
    Sessions,
    /// Sessions as the ends of their logs show them.
    Ends,
}

/// The most bytes of a cache. Beyond, the logs that were written longest ago are left out.
const LARGEST_CACHE: u64 = 128 << 20;
/// The most bytes of it that are read at the start.
const LARGEST_INDEX: usize = 32 << 20;
/// The number of waiting bytes at which they are written.
const WAITING_BYTES: usize = 8 << 20;

/// What a cache keeps of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Value {
    /// What is at hand as soon as the cache is open.
    pub shown: Vec<u8>,
    /// What is read from the file only when it is asked for.
    pub details: Vec<u8>,
}

/// A [`Value`] that was found in a cache.
pub struct ValueRef<'c> {
    /// See [`Value::shown`].
    pub shown: &'c [u8],
    /// See [`Value::details`].
    pub details: Arc<dyn Details>,
}

/// The cache of one kind of contents.
pub struct Cache {
    path: PathBuf,
    /// What the contents depend on besides the logs.
    version: u64,
    /// The contents that were found; dropped when all logs were looked up.
    found: Option<Contents>,
    /// What is to be written: by path, the key and the value.
    fresh: HashMap<Box<str>, (LogKey, Value)>,
    waiting: usize,
    has_failed: bool,
}

impl Value {
    fn bytes(&self) -> usize {
        self.shown.len() + self.details.len()
    }
}

impl Cache {
    /// Reads the cache in a folder. Whatever is wrong with it, it is empty then.
    pub fn open(folder: &Path, part: Part, rules: &Rules) -> Cache {
        let name: &str = part.into();
        let path = folder.join(format!("{name}.cache"));
        let version = index::version(rules);
        Cache {
            found: Contents::read(&path, version),
            path,
            version,
            fresh: HashMap::new(),
            waiting: 0,
            has_failed: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was kept of a log that has not changed since.
    pub fn get(&self, key: &LogKey) -> Option<ValueRef<'_>> {
        self.found.as_ref()?.get(key)
    }

    /// Forgets what was kept of a log that has been looked up: so as sessions come, the cache goes.
    pub fn forget(&mut self, key: &LogKey) {
        if let Some(found) = &mut self.found {
            found.forget(key);
        }
    }

    /// All logs that were there have been looked up.
    pub fn forget_found(&mut self) {
        self.found = None;
    }

    /// Keeps this of a log. The key must be older than the reading.
    pub fn put(&mut self, key: LogKey, value: Value) {
        self.waiting += value.bytes();
        let path = key.path().into();
        if let Some((_, old)) = self.fresh.insert(path, (key, value)) {
            self.waiting -= old.bytes();
        }
    }

    /// Whether enough waits to be written.
    pub fn is_full(&self) -> bool {
        self.waiting > WAITING_BYTES
    }

    /// Writes what is new, with what is still valid of the file as it is now. Does nothing after it has failed once.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&mut self) -> io::Result<()> {
        if self.fresh.is_empty() || self.has_failed {
            return Ok(());
        }
        self.waiting = 0;
        let fresh = std::mem::take(&mut self.fresh);
        let old = Contents::read(&self.path, self.version);
        let saved = file::write(
            &self.path,
            self.version,
            old.as_ref(),
            fresh,
            &Capacity::USUAL,
        );
        self.has_failed = saved.is_err();
        saved
    }

    /// Writes what earlier sessions have shown into the index beside.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_earlier(&self, rules: &Rules) -> io::Result<()> {
        match self.path.parent() {
            Some(folder) => index::earlier::save(folder, &rules.earlier),
            None => Ok(()),
        }
    }
}
