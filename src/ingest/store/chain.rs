//! A log that continues another one: its first line names a file and how much of it comes before the
//! lines that follow. That file may itself continue another.
//!
//! It is read as one log: its first line, what it inherits, the rest of it. What is inherited is found by
//! name, in the agent's own folders and the log's.

use super::Stamp;
use super::bytes::{self, Bytes, Open};
use crate::agents::ChainSpec;
use crate::ingest::lock;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The longest first line that is looked at.
const FIRST_LINE: u64 = 1 << 20;
/// Longer chains are cut at their beginning.
const DEEPEST: usize = 32;
/// The most folders that are searched for one file.
const FOLDERS: usize = 20_000;

/// A log that may continue another one.
pub struct Chain {
    path: Arc<PathBuf>,
    spec: &'static ChainSpec,
    own: Arc<dyn Open>,
    inherited: Mutex<Option<Inherited>>,
}

/// What a log inherits.
#[derive(Clone)]
struct Inherited {
    /// The length of the log's first line, its newline included.
    first: u64,
    parts: Arc<[Part]>,
}

/// A piece of another file.
struct Part {
    source: Arc<dyn Open>,
    from: u64,
    to: u64,
}

impl Chain {
    /// The log at a path.
    pub fn new(path: &Arc<PathBuf>, spec: &'static ChainSpec) -> Chain {
        Chain {
            path: Arc::clone(path),
            spec,
            own: bytes::file(path),
            inherited: Mutex::default(),
        }
    }

    /// What the log inherits. Looked for once: a first line is never changed.
    fn inherited(&self, own: &mut Bytes) -> io::Result<Option<Inherited>> {
        let mut held = lock(&self.inherited);
        if held.is_none()
            && let Some(line) = first_line(own)?
        {
            let mut seen = vec![self.path.to_path_buf()];
            *held = Some(Inherited {
                first: line.len() as u64,
                parts: self.before(&self.path, &line, &mut seen).into(),
            });
        }
        Ok(held.clone())
    }

    /// What comes before the second line of the log at `path`, of which this is the first. A file that is
    /// not there, or no longer whole, leaves nothing.
    fn before(&self, path: &Path, line: &[u8], seen: &mut Vec<PathBuf>) -> Vec<Part> {
        let part = || {
            let (name, end) = (self.spec.base)(line)?;
            let base = self.find(path, &name)?;
            if seen.len() > DEEPEST || seen.contains(&base) {
                return None;
            }
            seen.push(base.clone());
            let source = bytes::file(&Arc::new(base.clone()));
            let (mut bytes, stamp) = source.open().ok()?;
            let first = first_line(&mut bytes).ok()??;
            let middle = (first.len() as u64).min(end);
            if stamp.len < end {
                return None;
            }
            let mut parts = vec![Part {
                source: Arc::clone(&source),
                from: 0,
                to: middle,
            }];
            parts.extend(self.before(&base, &first, seen));
            parts.push(Part {
                source,
                from: middle,
                to: end,
            });
            Some(parts)
        };
        let mut part = part;
        part().unwrap_or_default()
    }

    /// The file of this name in the folders of the log at `log`. Links are not followed.
    fn find(&self, log: &Path, name: &str) -> Option<PathBuf> {
        let mut folders: VecDeque<PathBuf> = (self.spec.folders)(log).into();
        let mut visited = 0;
        while let Some(folder) = folders.pop_front() {
            visited += 1;
            if visited > FOLDERS {
                return None;
            }
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let file = entry.file_name();
                if kind.is_dir() {
                    folders.push_back(entry.path());
                } else if kind.is_file()
                    && file
                        .to_str()
                        .is_some_and(|file| (self.spec.is_base)(file, name))
                {
                    return Some(entry.path());
                }
            }
        }
        None
    }
}

impl Open for Chain {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let (mut own, stamp) = self.own.open()?;
        let Some(inherited) = self.inherited(&mut own)?.filter(|i| !i.parts.is_empty()) else {
            own.seek(SeekFrom::Start(0))?;
            return Ok((own, stamp));
        };
        let between: u64 = inherited.parts.iter().map(|part| part.to - part.from).sum();
        let len = stamp.len + between;
        let joined = Joined {
            own,
            inherited,
            between,
            len,
            at: 0,
            opened: None,
        };
        Ok((Box::new(joined), Stamp { len, ..stamp }))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.own.stamp()
    }
}

/// The first line with its newline; `None`: it is not complete yet, or too long.
fn first_line(bytes: &mut Bytes) -> io::Result<Option<Vec<u8>>> {
    bytes.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    let mut source = bytes.take(FIRST_LINE);
    let mut chunk = [0; 16 << 10];
    loop {
        let read = source.read(&mut chunk)?;
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

/// The bytes of a log with what it inherits.
struct Joined {
    own: Bytes,
    inherited: Inherited,
    /// How many bytes are inherited.
    between: u64,
    len: u64,
    at: u64,
    /// The part that was read last, by its place among the parts.
    opened: Option<(usize, Bytes)>,
}

impl Joined {
    /// Reads on in the file that `at` is in.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Inherited { first, parts } = &self.inherited;
        let (from, most) = match self.at.checked_sub(*first) {
            None => (self.at, first - self.at),
            Some(within) if within >= self.between => (self.at - self.between, self.len - self.at),
            Some(within) => return read_part(parts, within, &mut self.opened, buffer),
        };
        let most = usize::try_from(most)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        self.own.seek(SeekFrom::Start(from))?;
        self.own.read(&mut buffer[..most])
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
            Some((of, bytes)) if *of == ix => bytes,
            slot => &mut slot.insert((ix, part.source.open()?.0)).1,
        };
        let most = usize::try_from(len - within).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        bytes.seek(SeekFrom::Start(part.from + within))?;
        return match bytes.read(&mut buffer[..most])? {
            // It was cut short: what there is now will be read from its beginning.
            0 => Err(io::ErrorKind::WouldBlock.into()),
            read => Ok(read),
        };
    }
    Ok(0)
}

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.at >= self.len {
            return Ok(0);
        }
        let read = self.read_some(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Joined {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
