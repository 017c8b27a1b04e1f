//! Defines the stores in which logs are kept.

use super::database::{DatabaseSpec, MAGIC};
use std::path::{Path, PathBuf};

/// The kind of store in which a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// A file of lines that grows at its end.
    Lines,
    /// Such a file, which may continue another one.
    Chain(&'static ChainSpec),
    /// A document that is rewritten; see [`Recognition::list`](super::Recognition::list).
    Document,
    /// A folder of numbered files, each of them a line or several.
    Folder(&'static FolderSpec),
    /// An SQLite database. Each of its sessions is a log of its own, whose lines are rows.
    Database(&'static DatabaseSpec),
}

impl StoreKind {
    /// Returns a database of an agent's, if these are the first bytes of one.
    pub fn database(spec: &'static DatabaseSpec, head: &[u8]) -> Option<StoreKind> {
        head.starts_with(MAGIC).then_some(StoreKind::Database(spec))
    }

    /// Returns true if the path of such a log is that of a folder.
    pub fn is_folder(self) -> bool {
        matches!(self, StoreKind::Folder(_))
    }

    /// Returns true if a file of this name, in the folder that is the log, is part of it.
    pub fn has_part(self, name: &str) -> bool {
        matches!(self, StoreKind::Folder(spec) if (spec.number)(name).is_some())
    }
}

/// An array in a document, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayName {
    /// In a JSON object.
    Json(&'static str),
    /// In a YAML mapping in block style.
    Yaml(&'static str),
}

/// Files of lines of which each may continue another one.
#[derive(Debug)]
pub struct ChainSpec {
    /// From a log's first line: the name of the log that it continues, and how much of it.
    pub base: fn(&[u8]) -> Option<(String, End)>,
    /// Returns true if a file of this name, the first argument, is the log with that name.
    pub is_base: fn(&str, &str) -> bool,
    /// The folders in which it may be, at any depth, from the path of the log that continues it.
    pub folders: fn(&Path) -> Vec<PathBuf>,
    /// Returns true if a log and the one that it continues are of the same conversation, by the first lines of both. Then
    /// the rest of the latter was reverted: it is read too, and the decoder takes it back.
    pub is_same: fn(&[u8], &[u8]) -> bool,
    /// The mark of what cannot be taken back: such a rest is not read.
    pub reset_mark: &'static str,
}

/// The part of a log that another one continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// So many bytes.
    At(u64),
    /// The lines up to the first one with this field, a string of this value.
    After {
        /// The field's name.
        field: &'static str,
        /// Its value.
        value: String,
    },
}

impl PartialEq for ChainSpec {
    fn eq(&self, other: &ChainSpec) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ChainSpec {}

/// A folder of numbered files.
#[derive(Debug)]
pub struct FolderSpec {
    /// The number of a file, from its name; `None`: it is not part of the log.
    pub number: fn(&str) -> Option<u64>,
    /// True if a file holds lines that are added to it. Otherwise it is written once, and is one line.
    pub has_lines: bool,
}

impl PartialEq for FolderSpec {
    fn eq(&self, other: &FolderSpec) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for FolderSpec {}
