//! A document in many files: one of the session, one of each message, one of each of its parts. They are
//! joined to one document, `{"info":…,"messages":[{"info":…,"parts":[…]},…]}`, the files of a folder in the
//! order of their names.
//!
//! Files are rewritten in place. Each look checks only the newest messages: older ones change only while the
//! session is written to, and a reading takes in all of them.

use super::Stamp;
use crate::source::file_system::{Location, read_all};
use crate::source::{Bytes, LARGEST, Open, TORN, retry_if_gone};
use crate::sync::lock;
use format::TreeSpec;
use serde::de::IgnoredAny;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use xxhash_rust::xxh3::Xxh3;

/// Agents may still rewrite this many messages at the end.
const MUTABLE_TAIL: usize = 2;
/// What replaces a file that is no JSON: a value that is no record either.
const TORN_FILE: &[u8] = b"\"no JSON\"";

/// The files of a session.
pub struct Tree {
    at: Location,
    spec: &'static TreeSpec,
    newest: Mutex<Newest>,
}

/// The newest messages.
#[derive(Default)]
struct Newest {
    /// Their folder's stamp at that time, if a file that comes or goes is sure to change it.
    folder: Option<Stamp>,
    messages: Vec<PathBuf>,
}

impl Tree {
    /// The session whose own file is at a path.
    pub fn new(at: &Location, spec: &'static TreeSpec) -> Tree {
        Tree {
            at: at.clone(),
            spec,
            newest: Mutex::default(),
        }
    }

    /// The files that are looked at.
    fn looked_at(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = vec![self.at.path.to_path_buf()];
        let Some(folder) = (self.spec.messages)(&self.at.path) else {
            return Ok(files);
        };
        let mut newest = lock(&self.newest);
        let now = self.at.at(&folder).stamp_of_any().ok();
        if now.is_none() || newest.folder != now {
            let mut messages = self.list(&folder)?;
            newest.messages = messages.split_off(messages.len().saturating_sub(MUTABLE_TAIL));
            newest.folder = now.filter(Stamp::is_sure);
        }
        for message in &newest.messages {
            files.push(message.clone());
            files.extend(self.parts(message)?);
        }
        Ok(files)
    }

    fn parts(&self, message: &Path) -> io::Result<Vec<PathBuf>> {
        (self.spec.parts)(message).map_or(Ok(Vec::new()), |folder| self.list(&folder))
    }

    /// The JSON files of a folder, in the order of their names; none if there is no such folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let Location { system, path } = &self.at;
        let listed = system.beside(path, folder).and_then(|real| {
            let entries = system.list(&real)?;
            Ok((real, entries))
        });
        let (folder, entries) = match listed {
            Ok(listed) => listed,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = folder.join(entry?.name);
            if path.extension().is_some_and(|ext| ext == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// The document.
    fn joined(&self) -> io::Result<Vec<u8>> {
        let mut text = b"{\"info\":".to_vec();
        add(&self.at, &mut text)?;
        text.extend(b",\"messages\":[");
        let folder = (self.spec.messages)(&self.at.path);
        let messages = folder.map_or(Ok(Vec::new()), |folder| self.list(&folder))?;
        for (n, message) in messages.iter().enumerate() {
            text.extend(if n > 0 { ",\n" } else { "\n" }.bytes());
            text.extend(b"{\"info\":");
            add(&self.at.at(message), &mut text).map_err(retry_if_gone)?;
            text.extend(b",\"parts\":[");
            for (n, part) in self.parts(message)?.iter().enumerate() {
                text.extend((n > 0).then_some(b','));
                add(&self.at.at(part), &mut text).map_err(retry_if_gone)?;
            }
            text.extend(b"]}");
            if text.len() as u64 > LARGEST {
                break;
            }
        }
        text.extend(b"\n]}");
        Ok(text)
    }
}

impl Open for Tree {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let stamp = self.stamp()?;
        let text = self.joined()?;
        let stamp = Stamp {
            len: text.len() as u64,
            ..stamp
        };
        Ok((Box::new(Cursor::new(text)), stamp))
    }

    /// The stamp of the files that are looked at. Its length is that of all only where they were opened.
    fn stamp(&self) -> io::Result<Stamp> {
        let mut newest = self.at.stamp_of_any()?;
        let mut version = Xxh3::new();
        let mut len = 0;
        for path in self.looked_at()? {
            // One that is gone since makes another stamp too.
            let Ok(stamp) = self.at.at(&path).stamp_of_any() else {
                continue;
            };
            len += stamp.len;
            version.update(path.as_os_str().as_encoded_bytes());
            version.update(format!("{stamp:?}").as_bytes());
            newest.modified = newest.modified.max(stamp.modified);
        }
        Ok(Stamp {
            version: (version.digest(), 0),
            len,
            ..newest
        })
    }
}

/// Adds a file's text.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if it is being written.
fn add(file: &Location, text: &mut Vec<u8>) -> io::Result<()> {
    let stamp = file.stamp_of_any()?;
    let Location { system, path } = file;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = Path::new(path.file_name().unwrap_or_default());
    let file = read_all(system.open_part(folder, name)?, LARGEST)?;
    match serde_json::from_slice::<IgnoredAny>(&file) {
        Ok(IgnoredAny) => text.extend(file),
        Err(_) if stamp.age() < TORN => return Err(io::ErrorKind::WouldBlock.into()),
        Err(_) => text.extend(TORN_FILE),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
