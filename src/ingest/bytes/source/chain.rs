//! A log that continues another one: its first line names a file and how much of it comes before the
//! lines that follow. That file may itself continue another.
//!
//! It is read as one log: its first line, what it inherits, the rest of it. What is inherited is found by
//! name, in the agent's own folders and the log's.

use super::Stamp;
use crate::bytes::source::file_system::{Kind, Location};
use crate::bytes::source::{self, Bytes, Open, Positioned, ReadAt, read_some};
use crate::bytes::sync::lock;
use formats::{ChainSpec, End};
use memchr::memmem;
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// The longest first line that is searched, in bytes.
const LONGEST_FIRST_LINE: u64 = 1 << 20;
/// The most logs in a chain; a longer one is cut at its beginning.
const LONGEST_CHAIN: usize = 32;
/// The most of reverted turns that are read, in bytes.
const MOST_REVERTED: u64 = 16 << 20;
/// The most folders that are searched for one file.
const MOST_FOLDERS: usize = 20_000;

/// A log that may continue another one.
pub struct Chain {
    at: Location,
    spec: &'static ChainSpec,
    own: Arc<dyn Open>,
    inherited: Mutex<Option<InheritedContent>>,
}

/// The content that a log inherits.
#[derive(Clone)]
struct InheritedContent {
    /// The log when this was looked for; `None`: a write since would not show in its stamp.
    seen: Option<Stamp>,
    /// The hash of its first line.
    hash: u64,
    /// The length of the log's first line, its newline included.
    first: u64,
    parts: Arc<[Part]>,
    /// True if its first line names a file that it continues, found or not.
    names_base: bool,
}

/// A piece of another file.
struct Part {
    source: Arc<dyn Open>,
    from: u64,
    to: u64,
}

impl Chain {
    /// Returns the log at a path.
    pub fn new(at: &Location, spec: &'static ChainSpec) -> Chain {
        Chain {
            at: at.clone(),
            spec,
            own: source::file(at),
            inherited: Mutex::default(),
        }
    }

    /// Returns the content that the log inherits. It is looked for once, and again if the first line of the log is
    /// another one.
    fn inherited(&self, own: &mut Bytes, stamp: Stamp) -> io::Result<Option<InheritedContent>> {
        let mut held = lock(&self.inherited);
        if held.as_ref().is_some_and(|held| held.seen == Some(stamp)) {
            return Ok(held.clone());
        }
        let seen = Some(stamp).filter(Stamp::is_sure);
        match (first_line(own)?, &mut *held) {
            (None, held) => *held = None,
            (Some(line), Some(held)) if xxh3_64(&line) == held.hash => held.seen = seen,
            (Some(line), held) => {
                let mut visited = vec![self.at.path.to_path_buf()];
                *held = Some(InheritedContent {
                    seen,
                    hash: xxh3_64(&line),
                    first: line.len() as u64,
                    names_base: (self.spec.base)(&line).is_some(),
                    parts: self.before(&self.at.path, &line, &mut visited).into(),
                });
            }
        }
        Ok(held.clone())
    }

    /// Returns the parts before the second line of the log at `path`, of which this is the first. A file that is not
    /// there, or no longer whole, leaves nothing.
    fn before(&self, path: &Path, line: &[u8], seen: &mut Vec<PathBuf>) -> Vec<Part> {
        let mut part = || {
            let (name, end) = (self.spec.base)(line)?;
            let base = self.find(path, &name)?;
            if seen.len() > LONGEST_CHAIN || seen.contains(&base) {
                return None;
            }
            seen.push(base.clone());
            let source = source::file(&self.at.at(base.clone()));
            let (mut bytes, stamp) = source.open().ok()?;
            let first = first_line(&mut bytes).ok()??;
            let end = match end {
                End::At(end) => end,
                End::After { field, value } => end_of_line(&mut bytes, field, &value).ok()??,
            };
            let middle = (first.len() as u64).min(end);
            if stamp.len < end {
                return None;
            }
            let mut parts = vec![Part {
                source: Arc::clone(&source),
                from: 0,
                to: middle,
            }];
            let is_same = (self.spec.is_same)(line, &first);
            let reverted = is_same.then(|| self.reverted(&mut bytes, end, stamp.len));
            let end = end + reverted.unwrap_or(Ok(0)).ok()?;
            parts.extend(self.before(&base, &first, seen));
            parts.push(Part {
                source,
                from: middle,
                to: end,
            });
            Some(parts)
        };
        part().unwrap_or_default()
    }

    /// Returns the length of what was reverted between these places, or 0 where it cannot be taken back, is too much or is
    /// not complete.
    fn reverted(&self, bytes: &mut Bytes, from: u64, to: u64) -> io::Result<u64> {
        let len = to.saturating_sub(from);
        let mut rest = Vec::new();
        if (1..=MOST_REVERTED).contains(&len) {
            bytes.seek(SeekFrom::Start(from))?;
            bytes.take(len).read_to_end(&mut rest)?;
        }
        let has_reset = || memmem::find(&rest, self.spec.reset_mark.as_bytes()).is_some();
        let is_read = rest.ends_with(b"\n") && !has_reset();
        Ok(if is_read { rest.len() as u64 } else { 0 })
    }

    /// Returns the file of this name in the folders of the log at `log`. Links are not followed.
    fn find(&self, log: &Path, name: &str) -> Option<PathBuf> {
        let mut folders: VecDeque<PathBuf> = (self.spec.folders)(log).into();
        let system = &self.at.system;
        let mut visited = 0;
        while let Some(folder) = folders.pop_front() {
            visited += 1;
            if visited > MOST_FOLDERS {
                return None;
            }
            let Ok(folder) = system.beside(log, &folder) else {
                continue;
            };
            for entry in system.list(&folder).into_iter().flatten().flatten() {
                let is_base = |file: &str| (self.spec.is_base)(file, name);
                match entry.kind {
                    Kind::Folder => folders.push_back(folder.join(entry.name)),
                    Kind::File if entry.name.to_str().is_some_and(is_base) => {
                        return Some(folder.join(entry.name));
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

impl Open for Chain {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let (mut own, stamp) = self.own.open()?;
        let inherited = self.inherited(&mut own, stamp)?;
        let Some(inherited) = inherited.filter(|i| !i.parts.is_empty()) else {
            own.seek(SeekFrom::Start(0))?;
            return Ok((own, stamp));
        };
        let between: u64 = inherited.parts.iter().map(|part| part.to - part.from).sum();
        let len = stamp.len + between;
        let joined = JoinedBytes {
            own,
            inherited,
            between,
            len,
            opened: None,
        };
        Ok((Box::new(Positioned::new(joined)), Stamp { len, ..stamp }))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.own.stamp()
    }

    fn is_one_file(&self) -> bool {
        let held = lock(&self.inherited);
        held.as_ref().is_some_and(|held| !held.names_base)
    }

    fn is_streamed(&self) -> bool {
        let held = lock(&self.inherited);
        let mut parts = held.iter().flat_map(|held| held.parts.iter());
        self.own.is_streamed() || parts.any(|part| part.source.is_streamed())
    }
}

/// Returns the first line with its newline; `None`: it is not complete yet, or too long.
fn first_line(bytes: &mut Bytes) -> io::Result<Option<Vec<u8>>> {
    bytes.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    let mut source = bytes.take(LONGEST_FIRST_LINE);
    let mut chunk = [0; 16 << 10];
    loop {
        let read = read_some(&mut source, &mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        if let Some(at) = memchr::memchr(b'\n', &chunk[..read]) {
            line.extend_from_slice(&chunk[..=at]);
            return Ok(Some(line));
        }
        line.extend_from_slice(&chunk[..read]);
    }
}

/// Returns the end of the first line that has a field with a value, a string without escapes; `None`: no complete line
/// has it.
fn end_of_line(bytes: &mut Bytes, field: &str, value: &str) -> io::Result<Option<u64>> {
    let value = format!("\"{value}\"");
    let name = format!("\"{field}\"");
    // The bytes that a chunk leaves unsearched: a field that may go on in the next one.
    let longest = name.len() + value.len() + MOST_SPACES;
    let is_named = |before: &[u8]| {
        let before = before.trim_ascii_end().strip_suffix(b":");
        before.is_some_and(|before| before.trim_ascii_end().ends_with(name.as_bytes()))
    };
    bytes.seek(SeekFrom::Start(0))?;
    let (mut start, mut window) = (0, Vec::new());
    let mut is_found = false;
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = read_some(bytes, &mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        window.extend_from_slice(&chunk[..read]);
        let mut from = 0;
        if !is_found {
            let mut places = memmem::find_iter(&window, value.as_bytes());
            match places.find(|at| is_named(&window[..*at])) {
                Some(at) => (is_found, from) = (true, at),
                None => from = window.len().saturating_sub(longest),
            }
        }
        if is_found && let Some(at) = memchr::memchr(b'\n', &window[from..]) {
            return Ok(Some(start + (from + at + 1) as u64));
        }
        if is_found {
            from = window.len();
        }
        start += from as u64;
        window.drain(..from);
    }
}

/// The most spaces around the colon of a field.
const MOST_SPACES: usize = 64;

/// The bytes of a log with what it inherits.
struct JoinedBytes {
    own: Bytes,
    inherited: InheritedContent,
    /// The number of bytes that are inherited.
    between: u64,
    len: u64,
    /// The part that was read last, with its place among the parts.
    opened: Option<(usize, Bytes)>,
}

impl ReadAt for JoinedBytes {
    fn size(&self) -> u64 {
        self.len
    }

    /// Reads in the file that the offset is in.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || offset >= self.len {
            return Ok(0);
        }
        let InheritedContent { first, parts, .. } = &self.inherited;
        let (from, most) = match offset.checked_sub(*first) {
            None => (offset, first - offset),
            Some(within) if within >= self.between => (offset - self.between, self.len - offset),
            Some(within) => return read_part(parts, within, &mut self.opened, buffer),
        };
        self.own.seek(SeekFrom::Start(from))?;
        (&mut self.own).take(most).read(buffer)
    }
}

fn read_part(
    parts: &[Part],
    mut within: u64,
    opened: &mut Option<(usize, Bytes)>,
    buffer: &mut [u8],
) -> io::Result<usize> {
    for (ix, part) in parts.iter().enumerate() {
        let len = part.to - part.from;
        if within >= len {
            within -= len;
            continue;
        }
        let bytes = match opened {
            Some((open, bytes)) if *open == ix => bytes,
            slot => &mut slot.insert((ix, part.source.open()?.0)).1,
        };
        bytes.seek(SeekFrom::Start(part.from + within))?;
        return match bytes.take(len - within).read(buffer)? {
            // It was cut short: what there is now will be read from its beginning.
            0 => Err(io::ErrorKind::WouldBlock.into()),
            read => Ok(read),
        };
    }
    Ok(0)
}

#[cfg(test)]
mod tests;
