//! The file of a cache: a head, then entries with their lengths.

use super::LogKey;
use crate::source::CHUNK;
use model::window::Rules;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::Xxh3;

/// The first bytes of a cache file. The digits are the version of the format.
const MAGIC: &[u8; 16] = b"ctxgauge cache 1";
/// The size of a cache file's head: the magic bytes, the version of the contents, and the checksum of what follows.
const HEAD_BYTES: usize = 32;
/// The size of the two lengths before an entry: those of its key and its value.
const LENGTHS_BYTES: usize = 8;

/// A hash of all that the contents depend on besides the logs: the program and the rules.
pub(super) fn version(rules: &Rules) -> u64 {
    struct Hashed(Xxh3);
    impl std::fmt::Write for Hashed {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut hash = Hashed(Xxh3::new());
    // Another build of the program may count otherwise.
    let program = std::env::current_exe()
        .and_then(fs::metadata)
        .and_then(|meta| Ok((meta.len(), meta.modified()?)))
        .ok();
    let _ = write!(hash, "{} {program:?} {rules:?}", env!("CARGO_PKG_VERSION"));
    hash.0.digest()
}

/// The entries of a file.
pub(super) struct Contents(HashMap<Box<str>, Entry>);

struct Entry {
    key: LogKey,
    /// The lengths, the key and the value.
    all: Box<[u8]>,
    /// Where the value begins.
    value: usize,
}

impl Contents {
    /// The contents of the file at a path; `None`: there is none, or it is not whole and of this version.
    pub(super) fn read(path: &Path, version: u64) -> Option<Contents> {
        let file = files::open(path).ok()?;
        let len = file.metadata().ok()?.len();
        let mut left = usize::try_from(len).ok()?.checked_sub(HEAD_BYTES)?;
        if left > super::LARGEST_CACHE {
            return None;
        }
        let mut file = BufReader::with_capacity(CHUNK, file);
        let mut head = [0; HEAD_BYTES];
        file.read_exact(&mut head).ok()?;
        // Of another version it need not be read to its end.
        if head[..24] != self::head(version, 0)[..24] {
            return None;
        }
        let mut checksum = Xxh3::new();
        let mut entries = HashMap::new();
        while left > 0 {
            let entry = Entry::read(&mut file, left)?;
            left -= entry.all.len();
            checksum.update(&entry.all);
            entries.insert(entry.key.path().into(), entry);
        }
        (head == self::head(version, checksum.digest())).then_some(Contents(entries))
    }

    pub(super) fn get(&self, key: &LogKey) -> Option<&[u8]> {
        let entry = self.0.get(key.path()).filter(|entry| entry.key == *key)?;
        entry.all.get(entry.value..)
    }

    /// Forgets the entry of a log.
    pub(super) fn forget(&mut self, key: &LogKey) {
        self.0.remove(key.path());
    }
}

impl Entry {
    /// The next entry of a file with `left` more bytes; `None`: it is not whole.
    fn read(file: &mut impl Read, left: usize) -> Option<Entry> {
        let mut lengths = [0; LENGTHS_BYTES];
        file.read_exact(&mut lengths).ok()?;
        let (key, value) = lengths.split_at(4);
        let length = |bytes: &[u8]| {
            let length = u32::from_le_bytes(bytes.try_into().ok()?);
            usize::try_from(length).ok()
        };
        let end_of_key = LENGTHS_BYTES.checked_add(length(key)?)?;
        let end = end_of_key.checked_add(length(value)?)?;
        if end > left {
            return None;
        }
        let mut all = vec![0; end];
        all[..LENGTHS_BYTES].copy_from_slice(&lengths);
        file.read_exact(&mut all[LENGTHS_BYTES..]).ok()?;
        Some(Entry {
            key: postcard::from_bytes(all.get(LENGTHS_BYTES..end_of_key)?).ok()?,
            all: all.into(),
            value: end_of_key,
        })
    }
}

fn head(version: u64, checksum: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..16].copy_from_slice(MAGIC);
    head[16..24].copy_from_slice(&version.to_le_bytes());
    head[24..].copy_from_slice(&checksum.to_le_bytes());
    head
}

/// Replaces the file: by the fresh entries, and those of the old file whose logs are still there. The newest logs
/// first, `most` bytes in all.
pub(super) fn write(
    path: &Path,
    version: u64,
    old: Option<&Contents>,
    fresh: HashMap<Box<str>, (LogKey, Vec<u8>)>,
    most: usize,
) -> io::Result<()> {
    let mut entries: Vec<(Option<SystemTime>, Piece<'_>)> = Vec::new();
    let paths: HashSet<&str> = fresh.keys().map(|path| &**path).collect();
    for (path, entry) in old.iter().flat_map(|old| &old.0) {
        if !paths.contains(&**path) && !entry.key.is_gone() {
            entries.push((entry.key.stamp().written(), Piece::Old(&entry.all)));
        }
    }
    for (key, value) in fresh.values() {
        entries.push((key.stamp().written(), Piece::Fresh(key, value)));
    }
    entries.sort_by(|(a, _), (b, _)| b.cmp(a));
    replace(path, |file| {
        file.write_all(&[0; HEAD_BYTES])?;
        let mut checksum = Xxh3::new();
        let mut len = HEAD_BYTES;
        for (_, piece) in entries {
            let bytes = piece.bytes();
            len += bytes.len();
            if len > most {
                break;
            }
            checksum.update(&bytes);
            file.write_all(&bytes)?;
        }
        io::Seek::rewind(file)?;
        file.write_all(&head(version, checksum.digest()))
    })
}

/// Replaces a file of the cache's folder as a whole, by what `write` writes.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut NamedTempFile) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_private_folder(folder)?;
    sweep(folder);
    let mut file = NamedTempFile::with_prefix_in(UNFINISHED_PREFIX, folder)?;
    write(&mut file)?;
    file.persist(path)?;
    Ok(())
}

/// The beginning of the names of unfinished files.
const UNFINISHED_PREFIX: &str = ".unfinished-";
/// The longest time that a file takes to write.
const LONGEST_WRITE: Duration = Duration::from_secs(600);

/// Removes what programs that were killed have left.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_unfinished = name
            .as_encoded_bytes()
            .starts_with(UNFINISHED_PREFIX.as_bytes());
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_unfinished && age().is_some_and(|age| age > LONGEST_WRITE) {
            // If it is gone already, all the better.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// An entry to be written.
enum Piece<'e> {
    Old(&'e [u8]),
    Fresh(&'e LogKey, &'e [u8]),
}

impl<'e> Piece<'e> {
    fn bytes(&self) -> std::borrow::Cow<'e, [u8]> {
        match self {
            Piece::Old(bytes) => (*bytes).into(),
            Piece::Fresh(key, value) => {
                // No type in it can fail to be written.
                let key = postcard::to_stdvec(key).unwrap_or_default();
                let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let lengths = [len(&key), len(value)].map(u32::to_le_bytes);
                [lengths.as_flattened(), &key, value].concat().into()
            }
        }
    }
}
