//! The file of a cache: a head, then entries with their lengths.

use super::LogKey;
use files;
use model::window::Rules;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

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

/// The bytes of a file, and where its entries are.
pub(super) struct Contents {
    bytes: Vec<u8>,
    entries: HashMap<Box<str>, Entry>,
}

struct Entry {
    key: LogKey,
    /// The lengths, the key and the value.
    all: Range<usize>,
    value: Range<usize>,
}

impl Contents {
    /// The contents of the file at a path; `None`: there is none, or it is not whole and of this version.
    pub(super) fn read(path: &Path, version: u64) -> Option<Contents> {
        let bytes = files::read(path, super::LARGEST_CACHE as u64).ok()?;
        let (head, body) = bytes.split_at_checked(HEAD_BYTES)?;
        if head != self::head(version, xxh3_64(body)) {
            return None;
        }
        let mut entries = HashMap::new();
        let mut at = HEAD_BYTES;
        while at < bytes.len() {
            let length = |at: usize| {
                let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
                usize::try_from(u32::from_le_bytes(bytes)).ok()
            };
            let key = at + LENGTHS_BYTES;
            let value = key.checked_add(length(at)?)?;
            let end = value.checked_add(length(at + 4)?)?;
            let entry = Entry {
                key: postcard::from_bytes(bytes.get(key..value)?).ok()?,
                all: at..end,
                value: value..end,
            };
            entries.insert(entry.key.path().into(), entry);
            at = end;
        }
        (at == bytes.len()).then_some(Contents { bytes, entries })
    }

    pub(super) fn get(&self, key: &LogKey) -> Option<&[u8]> {
        let entry = self.entries.get(key.path())?;
        self.bytes
            .get(entry.value.clone())
            .filter(|_| entry.key == *key)
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
    for (path, entry) in old.iter().flat_map(|old| &old.entries) {
        if !paths.contains(&**path) && !entry.key.is_gone() {
            let bytes = old.and_then(|old| old.bytes.get(entry.all.clone()));
            let piece = Piece::Old(bytes.unwrap_or_default());
            entries.push((entry.key.stamp().written(), piece));
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
    create_folder(folder)?;
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

/// Creates a folder that only the user may read, as the XDG base directory specification demands.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
