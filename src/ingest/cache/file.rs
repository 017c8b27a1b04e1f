//! The file of a cache: a head, the details of each entry, and the index: entries with the lengths of their parts.
//!
//! At the start the head and the index are read. The details are in the order of the entries, so their places follow
//! from their lengths; each has a checksum of its own.

use super::details::{InFile, Span};
use super::{LARGEST_CACHE, LARGEST_INDEX, LogKey, Value, ValueRef};
use crate::source::CHUNK;
use files::own;
use model::stored::details::Details as _;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The first bytes of a cache file. The digits are the version of the format.
const MAGIC: &[u8; 16] = b"ctxgauge cache 2";
/// The size of a cache file's head: the magic bytes, the version of the contents, where the index begins, and its
/// checksum.
const HEAD_BYTES: usize = 40;
/// The size of what comes before an entry: the lengths of its key, of what is shown and of its details, and the
/// checksum of the details.
const LENGTHS_BYTES: usize = 20;

/// The entries of a file.
pub(super) struct Contents {
    file: Arc<Mutex<File>>,
    entries: HashMap<Box<str>, Entry>,
}

struct Entry {
    key: LogKey,
    /// The lengths and the checksum, the key, and what is shown.
    all: Box<[u8]>,
    /// Where what is shown begins.
    shown: usize,
    details: Span,
}

impl Contents {
    /// The contents of the file at a path; `None`: there is none, or its index is not whole and of this version.
    pub(super) fn read(path: &Path, version: u64) -> Option<Contents> {
        let mut file = files::open(path).ok()?;
        let len = file.metadata().ok()?.len();
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).ok()?;
        let index_at = number(&head[24..32])?;
        let mut left = usize::try_from(len.checked_sub(index_at)?).ok()?;
        if head[..24] != self::head(version, 0, 0)[..24] || left > LARGEST_INDEX {
            return None;
        }
        file.seek(SeekFrom::Start(index_at)).ok()?;
        let mut index = BufReader::with_capacity(CHUNK, file);
        let mut checksum = Xxh3::new();
        let mut entries = HashMap::new();
        let mut at = HEAD_BYTES as u64;
        while left > 0 {
            let entry = Entry::read(&mut index, left, at)?;
            left -= entry.all.len();
            at = at.checked_add(entry.details.len as u64)?;
            checksum.update(&entry.all);
            entries.insert(entry.key.path().into(), entry);
        }
        let is_whole = head == self::head(version, index_at, checksum.digest()) && at == index_at;
        is_whole.then(|| Contents {
            file: Arc::new(Mutex::new(index.into_inner())),
            entries,
        })
    }

    pub(super) fn get(&self, key: &LogKey) -> Option<ValueRef<'_>> {
        let entry = self.entries.get(key.path());
        let entry = entry.filter(|entry| entry.key == *key)?;
        Some(ValueRef {
            shown: entry.all.get(entry.shown..)?,
            details: Arc::new(self.details(entry)),
        })
    }

    fn details(&self, entry: &Entry) -> InFile {
        InFile {
            file: Arc::clone(&self.file),
            span: entry.details,
        }
    }

    /// Forgets the entry of a log.
    pub(super) fn forget(&mut self, key: &LogKey) {
        self.entries.remove(key.path());
    }
}

impl Entry {
    /// The next entry of an index with `left` more bytes, whose details begin at `at`; `None`: it is not whole.
    fn read(index: &mut impl Read, left: usize, at: u64) -> Option<Entry> {
        let mut lengths = [0; LENGTHS_BYTES];
        index.read_exact(&mut lengths).ok()?;
        let length = |bytes: &[u8]| usize::try_from(number(bytes)?).ok();
        let shown = LENGTHS_BYTES.checked_add(length(&lengths[..4])?)?;
        let end = shown.checked_add(length(&lengths[4..8])?)?;
        if end > left {
            return None;
        }
        let mut all = vec![0; end];
        all[..LENGTHS_BYTES].copy_from_slice(&lengths);
        index.read_exact(&mut all[LENGTHS_BYTES..]).ok()?;
        Some(Entry {
            key: postcard::from_bytes(all.get(LENGTHS_BYTES..shown)?).ok()?,
            details: Span {
                at,
                len: length(&lengths[8..12])?,
                checksum: number(&lengths[12..])?,
            },
            all: all.into(),
            shown,
        })
    }
}

/// The number that these bytes are, at most eight of them, the lowest first.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut all = [0; 8];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(all))
}

fn head(version: u64, index_at: u64, checksum: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..16].copy_from_slice(MAGIC);
    for (part, number) in head[16..]
        .chunks_exact_mut(8)
        .zip([version, index_at, checksum])
    {
        part.copy_from_slice(&number.to_le_bytes());
    }
    head
}

/// The most bytes of a cache.
pub(super) struct Capacity {
    pub(super) file: u64,
    pub(super) index: usize,
}

impl Capacity {
    pub(super) const USUAL: Capacity = Capacity {
        file: LARGEST_CACHE,
        index: LARGEST_INDEX,
    };
}

/// Replaces the file: by the fresh entries, and those of the old file whose logs are still there. The newest logs
/// first, as many as there is room for.
pub(super) fn write(
    path: &Path,
    version: u64,
    old: Option<&Contents>,
    fresh: HashMap<Box<str>, (LogKey, Value)>,
    most: &Capacity,
) -> io::Result<()> {
    let mut entries: Vec<(Option<SystemTime>, Piece<'_>)> = Vec::new();
    let paths: HashSet<&str> = fresh.keys().map(|path| &**path).collect();
    if let Some(old) = old {
        for (path, entry) in &old.entries {
            if !paths.contains(&**path) && !entry.key.is_gone() {
                entries.push((entry.key.stamp().written(), Piece::Old(old, entry)));
            }
        }
    }
    for (key, value) in fresh.values() {
        entries.push((key.stamp().written(), Piece::Fresh(key, value)));
    }
    entries.sort_by(|(a, _), (b, _)| b.cmp(a));
    replace(path, |file| {
        let mut file = BufWriter::with_capacity(CHUNK, file);
        file.write_all(&[0; HEAD_BYTES])?;
        let (mut index, mut len) = (Vec::new(), HEAD_BYTES as u64);
        for (_, piece) in entries {
            // What cannot be read any more is left out.
            let Some(details) = piece.details() else {
                continue;
            };
            let entry = piece.entry(&details);
            let new_len = len + details.len() as u64;
            let new_index = index.len() + entry.len();
            if new_len + new_index as u64 > most.file || new_index > most.index {
                break;
            }
            file.write_all(&details)?;
            index.extend_from_slice(&entry);
            len = new_len;
        }
        file.write_all(&index)?;
        file.rewind()?;
        file.write_all(&head(version, len, xxh3_64(&index)))?;
        file.flush()
    })
}

/// Replaces the file as a whole, by what `write` writes.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        own::sweep(folder);
    }
    own::replace(path, write)
}

/// An entry to be written.
enum Piece<'e> {
    Old(&'e Contents, &'e Entry),
    Fresh(&'e LogKey, &'e Value),
}

impl<'e> Piece<'e> {
    fn details(&self) -> Option<Cow<'e, [u8]>> {
        match *self {
            Piece::Old(contents, entry) => Some(Cow::Owned(contents.details(entry).bytes()?)),
            Piece::Fresh(_, value) => Some(Cow::Borrowed(&value.details)),
        }
    }

    /// What the index has of it.
    fn entry(&self, details: &[u8]) -> Cow<'e, [u8]> {
        match *self {
            Piece::Old(_, entry) => Cow::Borrowed(&entry.all),
            Piece::Fresh(key, value) => {
                // No type in it can fail to be written.
                let key = postcard::to_stdvec(key).unwrap_or_default();
                let lengths = [&key, &*value.shown, details].map(<[u8]>::len);
                let mut all = Vec::new();
                for length in lengths {
                    let length = u32::try_from(length).unwrap_or(u32::MAX);
                    all.extend_from_slice(&length.to_le_bytes());
                }
                all.extend_from_slice(&xxh3_64(details).to_le_bytes());
                all.extend_from_slice(&key);
                all.extend_from_slice(&value.shown);
                Cow::Owned(all)
            }
        }
    }
}
