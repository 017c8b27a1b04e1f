//! A session in many files: its own, one of each message, one of each of its parts. They are joined to a document,
//! `{"info":…,"messages":[{"info":…,"parts":[…]},…]}`, the files of a folder in the order of their names.
//!
//! Files are rewritten in place. To follow a session, only its newest messages are looked at: older ones change only
//! while the session is written to, and a reading takes in all of them. Whether nothing at all has changed since an
//! earlier run shows in the stamps of all files, which one walk collects; see [`Tree::files`].

mod listing;
mod owners;

pub use owners::Owners;

use super::Stamp;
use crate::source::file_system::{Entry, Location};
use crate::source::{Bytes, LARGEST, Open, TORN, retry_if_gone};
use crate::sync::lock;
use decode::lenient::Raw;
use formats::TreeSpec;
use listing::{json_files, names};
use std::ffi::OsString;
use std::hash::Hash;
use std::io::{self, Cursor};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::Xxh3;

/// Agents may still rewrite this many messages at the end.
const MUTABLE_TAIL: usize = 2;
/// The replacement for a file that is no JSON: a value that is no record either.
const TORN_FILE: &[u8] = b"\"no JSON\"";

/// The files of a session.
pub struct Tree {
    at: Location,
    spec: &'static TreeSpec,
    owners: Arc<Owners>,
    newest: Mutex<Newest>,
}

/// The newest messages.
#[derive(Default)]
struct Newest {
    /// Their folder's stamp at that time, if a file that comes or goes is sure to change it.
    folder: Option<Stamp>,
    messages: Vec<PathBuf>,
}

/// The files of a session as they were listed, but for its own.
pub struct Files {
    messages: Vec<Message>,
    /// The stamp of all of them.
    pub stamp: Stamp,
}

impl Files {
    /// Returns the number of messages.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }
}

struct Message {
    name: OsString,
    parts: Vec<Part>,
}

struct Part {
    name: OsString,
    len: u64,
}

/// The part of the files from which a document is made.
#[derive(Debug, Clone)]
pub struct Extract {
    /// The messages.
    pub messages: Range<usize>,
    /// The longest part, in bytes.
    pub longest_part: u64,
}

impl Extract {
    /// Returns all that is in the messages from this one on.
    pub fn from(files: &Files, first: usize) -> Extract {
        Extract {
            messages: first..files.messages(),
            longest_part: u64::MAX,
        }
    }
}

impl Tree {
    /// Returns the session whose own file is at a path. `owners` is shared by all sessions that may share folders.
    pub fn new(at: &Location, spec: &'static TreeSpec, owners: &Arc<Owners>) -> Tree {
        Tree {
            at: at.clone(),
            spec,
            owners: Arc::clone(owners),
            newest: Mutex::default(),
        }
    }

    /// Returns the session's id, by its path.
    fn id(&self) -> &str {
        let stem = self.at.path.file_stem();
        stem.and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    /// Lists all files. None is opened.
    pub fn files(&self) -> io::Result<Files> {
        let mut all = AllStamps::new(self.at.stamp_of_any()?);
        let mut messages = Vec::new();
        if let Some(folder) = (self.spec.messages)(&self.at.path) {
            let mut part_folders = PartFolders::of(self);
            for (entry, stamp) in json_files(&self.at, &self.beside(&folder)?)? {
                all.add(&entry.name, stamp);
                let mut parts = Vec::new();
                for (part, stamp) in self.parts(&folder.join(&entry.name), &mut part_folders)? {
                    all.add(&part.name, stamp);
                    let (name, len) = (part.name, stamp.len);
                    parts.push(Part { name, len });
                }
                let name = entry.name;
                messages.push(Message { name, parts });
            }
        }
        let stamp = all.done();
        Ok(Files { messages, stamp })
    }

    /// Returns the parts of a message, in the order of their names.
    fn parts(
        &self,
        message: &Path,
        folders: &mut PartFolders<'_>,
    ) -> io::Result<Vec<(Entry, Stamp)>> {
        match folders.find(message) {
            Ok(Some(folder)) => self.owners.parts(&self.at, self.spec, &folder, self.id()),
            Ok(None) => Ok(Vec::new()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(e),
        }
    }

    /// Returns the path of a folder of the log's, if no link leads out; the same path if there is none.
    fn beside(&self, folder: &Path) -> io::Result<PathBuf> {
        match self.at.system.resolve_beside(&self.at.path, folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(folder.to_path_buf()),
            real => real,
        }
    }

    /// Reads files, and joins them to a document.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if one of them is being written or is gone.
    pub fn document(&self, files: &Files, extract: &Extract) -> io::Result<Vec<u8>> {
        let path = &*self.at.path;
        let mut text = b"{\"info\":".to_vec();
        let own = path.parent().unwrap_or(Path::new(""));
        self.add(own, path.file_name().unwrap_or_default(), &mut text)?;
        text.extend(b",\"messages\":[");
        let messages = files.messages.get(extract.messages.clone());
        let messages = messages.unwrap_or_default();
        let named = (self.spec.messages)(path).filter(|_| !messages.is_empty());
        if let Some(named) = named {
            let folder = self
                .at
                .system
                .resolve_beside(path, &named)
                .map_err(retry_if_gone)?;
            let mut part_folders = PartFolders::of(self);
            for (n, message) in messages.iter().enumerate() {
                text.extend(if n > 0 { ",\n" } else { "\n" }.bytes());
                text.extend(b"{\"info\":");
                let read = self.add(&folder, &message.name, &mut text);
                read.map_err(retry_if_gone)?;
                text.extend(b",\"parts\":[");
                let is_short = |part: &&Part| part.len <= extract.longest_part;
                let parts: Vec<&Part> = message.parts.iter().filter(is_short).collect();
                if !parts.is_empty() {
                    let folder = part_folders.find(&named.join(&message.name));
                    self.add_parts(folder.map_err(retry_if_gone)?, &parts, &mut text)?;
                }
                text.extend(b"]}");
                if text.len() as u64 > LARGEST {
                    break;
                }
            }
        }
        text.extend(b"\n]}");
        Ok(text)
    }

    /// Adds the texts of parts that are in a folder, if there is one.
    fn add_parts(
        &self,
        folder: Option<PathBuf>,
        parts: &[&Part],
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        let Some(folder) = folder else { return Ok(()) };
        let mut parts = parts.iter();
        parts.try_for_each(|part| self.add_part(&folder, &part.name, text))
    }

    /// Adds the text of a part, unless that names another session as its own.
    fn add_part(&self, folder: &Path, name: &OsString, text: &mut Vec<u8>) -> io::Result<()> {
        let before = text.len();
        text.extend((text.last() != Some(&b'[')).then_some(b','));
        let start = text.len();
        self.add(folder, name, text).map_err(retry_if_gone)?;
        let owner = (self.spec.owner)(&text[start..]);
        if owner.is_some_and(|owner| owner != self.id()) {
            text.truncate(before);
        }
        Ok(())
    }

    /// Adds the text of a file.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if it is being written.
    fn add(&self, folder: &Path, name: impl AsRef<Path>, text: &mut Vec<u8>) -> io::Result<()> {
        let read = self.at.system.read_listed(folder, name.as_ref(), LARGEST);
        let (file, stamp) = read?;
        if Raw::of(&decode::text(&file)).is_some() {
            text.extend(file);
        } else if stamp.age() < TORN {
            return Err(io::ErrorKind::WouldBlock.into());
        } else {
            text.extend(TORN_FILE);
        }
        Ok(())
    }

    /// Returns the stamp of the newest files.
    fn newest(&self) -> io::Result<Stamp> {
        let mut all = AllStamps::new(self.at.stamp_of_any()?);
        let Some(folder) = (self.spec.messages)(&self.at.path) else {
            return Ok(all.done());
        };
        let mut newest = lock(&self.newest);
        let now = self.at.at(&folder).stamp_of_any().ok();
        if now.is_none() || newest.folder != now {
            let mut names = names(&self.at, &self.beside(&folder)?)?;
            let tail = names.split_off(names.len().saturating_sub(MUTABLE_TAIL));
            newest.messages = tail.into_iter().map(|name| folder.join(name)).collect();
            newest.folder = now.filter(Stamp::is_sure);
        }
        let mut part_folders = PartFolders::of(self);
        for message in &newest.messages {
            // One that is gone since makes another stamp too.
            if let Ok(stamp) = self.at.at(message).stamp_of_any() {
                all.add(message.as_os_str(), stamp);
            }
            for (part, stamp) in self.parts(message, &mut part_folders)? {
                all.add(&part.name, stamp);
            }
        }
        Ok(all.done())
    }
}

/// Finds the folders of the parts of messages. None of them leads out of the folder that they are in.
struct PartFolders<'t> {
    tree: &'t Tree,
    /// The folder that they are in.
    all: Option<PathBuf>,
}

impl PartFolders<'_> {
    fn of(tree: &Tree) -> PartFolders<'_> {
        PartFolders { tree, all: None }
    }

    /// Returns the folder of a message's parts; `None`: messages of this log have none.
    fn find(&mut self, message: &Path) -> io::Result<Option<PathBuf>> {
        let at = &self.tree.at;
        let Some(folder) = (self.tree.spec.parts)(message) else {
            return Ok(None);
        };
        let (Some(all), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Ok(None);
        };
        let all = match &self.all {
            Some(all) => all,
            None => self.all.insert(at.system.resolve_beside(&at.path, all)?),
        };
        at.system.part(all, Path::new(name)).map(Some)
    }
}

impl Open for Tree {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let stamp = self.stamp()?;
        let files = self.files()?;
        let text = self.document(&files, &Extract::from(&files, 0))?;
        let stamp = Stamp {
            len: text.len() as u64,
            ..stamp
        };
        Ok((Box::new(Cursor::new(text)), stamp))
    }

    /// Returns the stamp of the newest files. Its length is that of all only where they were opened.
    fn stamp(&self) -> io::Result<Stamp> {
        self.newest()
    }
}

/// The stamps of several files as one.
struct AllStamps {
    all: Stamp,
    version: Xxh3,
}

impl AllStamps {
    fn new(first: Stamp) -> AllStamps {
        let mut version = Xxh3::new();
        first.hash(&mut version);
        AllStamps {
            all: first,
            version,
        }
    }

    fn add(&mut self, name: impl AsRef<std::ffi::OsStr>, stamp: Stamp) {
        self.all.len += stamp.len;
        self.all.modified = self.all.modified.max(stamp.modified);
        name.as_ref().hash(&mut self.version);
        stamp.hash(&mut self.version);
    }

    fn done(self) -> Stamp {
        Stamp {
            version: (self.version.digest(), 0),
            ..self.all
        }
    }
}

#[cfg(test)]
mod tests;
