//! A folder of numbered files that is read as one log of lines: each file is a line, in the order of
//! their numbers. A newline follows each line. Newlines inside a file are read as blanks: JSON has them only
//! between its values.
//!
//! Files are written once: one that was not written to lately is not looked at again. The newest
//! is followed by a newline once it is complete; it may still be being written.
//!
//! Where files hold lines ([`FolderSpec::has_lines`]), they are read unchanged, one after the other.

use super::Stamp;
use crate::bytes::source::file_system::Location;
use crate::bytes::source::{Bytes, LARGEST, Open, Positioned, ReadAt, SETTLED, retry_if_gone};
use crate::bytes::sync::lock;
use formats::FolderSpec;
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A folder of numbered files.
pub struct Folder {
    at: Location,
    spec: &'static FolderSpec,
    listing: Mutex<Listing>,
}

/// The files that were found in a folder.
#[derive(Default)]
struct Listing {
    /// The folder's stamp at that time, if a file that comes or goes is sure to change it.
    folder: Option<Stamp>,
    parts: Arc<[Part]>,
    /// The newest file's stamp at that time, if a later write is sure to change it.
    newest: Option<Stamp>,
    /// The bytes behind the newest file: a newline once it is whole.
    newline: u64,
}

/// One file.
#[derive(Clone)]
struct Part {
    name: OsString,
    /// The offset in the log at which it begins.
    start: u64,
    /// Its bytes, the newline behind it excluded.
    len: u64,
    /// True if it is no longer written to.
    is_settled: bool,
}

impl Folder {
    /// Returns the folder at a path.
    pub fn new(at: &Location, spec: &'static FolderSpec) -> Folder {
        Folder {
            at: at.clone(),
            spec,
            listing: Mutex::default(),
        }
    }

    fn number(&self, name: &OsString) -> Option<u64> {
        (self.spec.number)(name.to_str()?)
    }

    fn joined(&self) -> io::Result<(JoinedFiles, Stamp)> {
        let (parts, stamp) = self.look()?;
        let joined = JoinedFiles {
            folder: self.at.clone(),
            has_lines: self.spec.has_lines,
            parts,
            len: stamp.len,
            file: None,
        };
        Ok((joined, stamp))
    }

    fn look(&self) -> io::Result<(Arc<[Part]>, Stamp)> {
        let mut listing = lock(&self.listing);
        match self.look_once(&mut listing) {
            // A file went between the listing and the look at it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                listing.folder = None;
                self.look_once(&mut listing)
            }
            looked => looked,
        }
    }

    fn look_once(&self, listing: &mut Listing) -> io::Result<(Arc<[Part]>, Stamp)> {
        let folder = self.at.stamp_of_any()?;
        if listing.folder != Some(folder) {
            listing.parts = self.list(&listing.parts)?.into();
            listing.folder = Some(folder).filter(Stamp::is_sure);
            listing.newest = None;
        }
        let newest = self.measure(Arc::make_mut(&mut listing.parts))?;
        let (Some(stamp), Some(part)) = (newest, listing.parts.last()) else {
            return Ok((Arc::clone(&listing.parts), Stamp { len: 0, ..folder }));
        };
        if listing.newest != Some(stamp) {
            let is_line = !self.spec.has_lines;
            listing.newline = u64::from(is_line && is_whole(&self.at, &part.name)?);
            listing.newest = Some(stamp).filter(Stamp::is_sure);
        }
        let stamp = Stamp {
            version: folder.version,
            len: part.start + part.len + listing.newline,
            ..stamp
        };
        Ok((Arc::clone(&listing.parts), stamp))
    }

    /// Returns the files that are there now. `known` are those that were there before.
    fn list(&self, known: &[Part]) -> io::Result<Vec<Part>> {
        let mut found = Vec::new();
        for entry in self.at.system.list(&self.at.path)? {
            let name = entry?.name;
            found.extend(self.number(&name).map(|number| (number, name)));
        }
        found.sort();
        let known: HashMap<&OsString, &Part> =
            known.iter().map(|part| (&part.name, part)).collect();
        let part = |(_, name)| match known.get(&name) {
            Some(part) => (*part).clone(),
            None => Part {
                name,
                start: 0,
                len: 0,
                is_settled: false,
            },
        };
        Ok(found.into_iter().map(part).collect())
    }

    /// Looks at the files that may still be written to, and sets where each begins. Returns the stamp of
    /// the newest.
    fn measure(&self, parts: &mut [Part]) -> io::Result<Option<Stamp>> {
        let (mut start, mut newest) = (0, None);
        let last = parts.len().saturating_sub(1);
        for (n, part) in parts.iter_mut().enumerate() {
            if n == last || !part.is_settled {
                let path = self.at.path.join(&part.name);
                let stamp = self.at.system.stat(&path)?.stamp;
                part.len = stamp.len;
                part.is_settled = stamp.age() >= SETTLED;
                newest = Some(stamp);
            }
            part.start = start;
            start += part.len + 1;
        }
        Ok(newest)
    }
}

impl Open for Folder {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let (joined, stamp) = self.joined()?;
        Ok((Box::new(Positioned::new(joined)), stamp))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.look().map(|(_, stamp)| stamp)
    }
}

/// Returns true if a file contains complete JSON.
fn is_whole(folder: &Location, name: &OsString) -> io::Result<bool> {
    let opened = folder.system.open_part(&folder.path, Path::new(name));
    let (file, _) = opened.map_err(|e| of_part(name, e))?;
    let file = BufReader::new(file.take(LARGEST));
    match serde_json::from_reader::<_, IgnoredAny>(file) {
        Ok(IgnoredAny) => Ok(true),
        Err(error) if error.is_io() => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Returns an error of a file in the folder, which names the file.
fn of_part(name: &OsString, error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => io::Error::new(error.kind(), format!("{} in it: {error}", name.display())),
    }
}

/// The bytes of a folder's files, one after the other.
pub struct JoinedFiles {
    folder: Location,
    has_lines: bool,
    parts: Arc<[Part]>,
    len: u64,
    /// The file that was read last, with its place among the parts.
    file: Option<(usize, Bytes)>,
}

impl JoinedFiles {
    /// Reads in the file that the offset is in, or the newline behind it.
    fn read_part(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let ix = self.parts.partition_point(|part| part.start <= offset);
        let Some((ix, part)) = ix
            .checked_sub(1)
            .and_then(|ix| Some((ix, self.parts.get(ix)?)))
        else {
            return Ok(0);
        };
        let within = offset - part.start;
        if within >= part.len {
            buffer[0] = b'\n';
            return Ok(1);
        }
        let file = match &mut self.file {
            Some((open, bytes)) if *open == ix => bytes,
            slot => {
                let Location { system, path } = &self.folder;
                let opened = system.open_part(path, Path::new(&part.name));
                let (bytes, _) = opened.map_err(|e| of_part(&part.name, retry_if_gone(e)))?;
                &mut slot.insert((ix, bytes)).1
            }
        };
        file.seek(SeekFrom::Start(within))?;
        let read = file.take(part.len - within).read(buffer)?;
        if read == 0 {
            return Err(retry_if_gone(io::ErrorKind::NotFound.into()));
        }
        if self.has_lines {
            return Ok(read);
        }
        for byte in &mut buffer[..read] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        Ok(read)
    }
}

impl ReadAt for JoinedFiles {
    fn size(&self) -> u64 {
        self.len
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() && offset + (filled as u64) < self.len {
            let read = self.read_part(offset + filled as u64, &mut buffer[filled..])?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::source::head;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::reader::read_whole;
    use crate::log::{Cursor, LogFile, NewEntries, Reading};
    use crate::testing::followed::{read_to_end, tail};
    use crate::testing::{PARTS, TOY};
    use model::event::ByLength;
    use model::session::Session;
    use proptest::prelude::*;
    use std::fs;
    use std::path::PathBuf;

    /// A folder of parts below a home.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("talk/parts");
        fs::create_dir_all(&folder).unwrap();
        (home, folder)
    }

    fn put(folder: &Path, number: u64, text: &str) {
        fs::write(folder.join(format!("part-{number}.json")), text).unwrap();
    }

    fn bytes(folder: &Folder) -> String {
        let mut text = String::new();
        folder.open().unwrap().0.read_to_string(&mut text).unwrap();
        text
    }

    fn found(root: SearchRoot) -> Vec<LogFile> {
        Scanner::new(vec![root], vec![&TOY], |_| None).look().files
    }

    #[test]
    fn files_are_lines_in_the_order_of_their_numbers() {
        let (_home, path) = home();
        let folder = Folder::new(&Location::here(&path), &PARTS);
        assert_eq!(
            (bytes(&folder).as_str(), !head(&folder).unwrap().is_empty()),
            ("", false)
        );
        put(&path, 10, "{\"toy\":3}");
        put(&path, 2, "{\"toy\":\r\n 2}\n");
        fs::write(path.join("notes.json"), "x").unwrap();
        assert_eq!(bytes(&folder), "{\"toy\":   2} \n{\"toy\":3}\n");
        // The newest is still being written, and then another.
        put(&path, 11, "{\"to");
        assert!(bytes(&folder).ends_with("{\"toy\":3}\n{\"to"));
        put(&path, 11, "");
        assert!(bytes(&folder).ends_with("{\"toy\":3}\n"));
        put(&path, 12, "{}");
        assert!(bytes(&folder).ends_with("{\"toy\":3}\n\n{}\n"));
        let stamp = folder.stamp().unwrap();
        assert_eq!(stamp.len, bytes(&folder).len() as u64);
        // Any place can be sought, in any order.
        let whole = bytes(&folder);
        let (joined, _) = folder.joined().unwrap();
        let mut joined = Positioned::new(joined);
        for at in (0..whole.len()).rev() {
            let mut rest = String::new();
            joined.seek(SeekFrom::Start(at as u64)).unwrap();
            (&mut joined).take(3).read_to_string(&mut rest).unwrap();
            assert_eq!(rest, whole[at..whole.len().min(at + 3)]);
        }
        assert_eq!(joined.seek(SeekFrom::End(-1)).unwrap(), stamp.len - 1);
        assert!(joined.seek(SeekFrom::End(-99)).is_err());
    }

    #[test]
    fn a_part_that_vanishes_between_stat_and_open_is_a_moment_that_passes() {
        let (_home, path) = home();
        for n in 1..4 {
            put(&path, n, "{\"toy\":3}");
        }
        let folder = Folder::new(&Location::here(&path), &PARTS);
        let (mut opened, _) = folder.open().unwrap();
        fs::remove_file(path.join("part-2.json")).unwrap();
        let error = opened.read_to_string(&mut String::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(bytes(&folder), "{\"toy\":3}\n{\"toy\":3}\n");
    }

    #[test]
    fn a_folder_is_found_from_wherever_it_is_named() {
        let (home, path) = home();
        put(&path, 0, "{\"toy\":1}");
        put(&path, 1, "{\"toy\":2}");
        let roots = [
            SearchRoot::Usual(&TOY, home.path().to_path_buf()),
            SearchRoot::Given(home.path().to_path_buf()),
            SearchRoot::Given(home.path().join("talk")),
            SearchRoot::Given(path.clone()),
            SearchRoot::Given(path.join("part-1.json")),
            SearchRoot::Forced(&TOY, path.join("part-0.json")),
        ];
        for root in roots {
            let named = root.path().display().to_string();
            let found = found(root);
            assert_eq!(found.len(), 1, "{named}");
            let facts = &found[0].facts;
            assert!(found[0].facts.path.is_dir(), "{named}");
            assert_eq!((facts.id.as_deref(), facts.len), (Some("talk"), 20));
            assert!(facts.path.ends_with("talk/parts"), "{named}");
        }
        // Below a usual place, by the file that the watcher names.
        let usual = SearchRoot::Usual(&TOY, home.path().to_path_buf());
        let mut scanner = Scanner::new(vec![usual], vec![&TOY], |_| None);
        let below = scanner.scan_below(&path.join("part-1.json")).files;
        assert_eq!(*below[0].facts.path, path);
        assert_eq!(below[0].facts.file, scanner.look().files[0].facts.file);
    }

    #[test]
    fn a_folder_of_something_else_is_no_log() {
        let (home, path) = home();
        assert!(found(SearchRoot::Given(home.path().to_path_buf())).is_empty());
        put(&path, 0, "{\"other\":1}");
        assert!(found(SearchRoot::Given(home.path().to_path_buf())).is_empty());
        // In an agent's own place its name is enough.
        let usual = SearchRoot::Usual(&TOY, home.path().to_path_buf());
        assert_eq!(found(usual).len(), 1);
        let lone = home.path().join("part-7.json");
        fs::write(&lone, "{\"toy\":1}\n").unwrap();
        assert_eq!(*found(SearchRoot::Given(lone.clone()))[0].facts.path, lone);
    }

    /// A change of a folder.
    #[derive(Debug, Clone)]
    enum Act {
        /// A file of the next number is written, in pieces that end at these shares of it, in percent.
        Next(String, Vec<usize>),
        /// One of a lower number comes late, if there is none.
        Late(u64, String),
        /// The n-th goes.
        Gone(usize),
        /// The newest is written again.
        Again(String),
    }

    fn act() -> impl Strategy<Value = Act> {
        let text = || {
            prop_oneof![
                4 => (1_u64..99).prop_map(|n| format!("{{\"toy\":{n}}}")),
                3 => "[a-z ]{0,12}".prop_map(|text| format!("{{\"say\":\"{text}\"}}")),
                1 => Just("{\n  \"reset\": 1\n}\n".to_owned()),
                1 => Just("junk".to_owned()),
                1 => Just("{\"torn".to_owned()),
                1 => Just(String::new()),
            ]
        };
        prop_oneof![
            8 => (text(), prop::collection::vec(0_usize..100, 0..3)).prop_map(|(t, cuts)| Act::Next(t, cuts)),
            1 => (0_u64..40, text()).prop_map(|(n, t)| Act::Late(n, t)),
            1 => (0_usize..20).prop_map(Act::Gone),
            1 => text().prop_map(Act::Again),
        ]
    }

    /// A session that is followed.
    struct Followed {
        log: LogFile,
        session: Session,
        cursor: Box<dyn Cursor>,
    }

    impl Followed {
        fn begin(log: LogFile) -> Followed {
            let reading = read_to_end(|| Reading::whole(&log, &Arc::default()));
            Followed::after(log, reading)
        }

        fn after(log: LogFile, reading: Reading) -> Followed {
            let (mut sessions, cursor) = reading.finish();
            let session = sessions.remove(0).1;
            Followed {
                log,
                session,
                cursor,
            }
        }

        fn go_on(&mut self, is_end: bool) {
            loop {
                let more = if is_end {
                    self.cursor.finish(&ByLength)
                } else {
                    self.cursor.more(&ByLength)
                };
                let (entries, is_all) = match more.unwrap() {
                    NewEntries::Entries(entries) => (entries, true),
                    NewEntries::Batch(entries) => (entries, false),
                    NewEntries::Rewritten(_) => panic!("a folder is no document"),
                    NewEntries::Restart => {
                        let log = self.log.clone();
                        let reading = tail(&log);
                        *self = Followed::after(log, reading);
                        continue;
                    }
                };
                entries
                    .into_iter()
                    .for_each(|entry| self.session.apply(entry));
                if is_all {
                    return;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]
        #[test]
        fn following_ends_where_a_fresh_reading_does(acts in prop::collection::vec(act(), 1..14)) {
            let (_home, path) = home();
            put(&path, 20, "{\"toy\":1}");
            let log = found(SearchRoot::Given(path.clone())).remove(0);
            let mut followed = Followed::begin(log);
            let mut next = 41;
            for act in acts {
                match act {
                    Act::Next(text, cuts) => {
                        for cut in cuts {
                            let end = text.len() * cut / 100;
                            put(&path, next, &text[..end]);
                            followed.go_on(false);
                        }
                        put(&path, next, &text);
                        next += 1;
                    }
                    Act::Late(number, text) => {
                        if !path.join(format!("part-{number}.json")).exists() {
                            put(&path, number, &text);
                        }
                    }
                    Act::Gone(n) => {
                        let mut there: Vec<_> = fs::read_dir(&path).unwrap().flatten().collect();
                        there.sort_by_key(fs::DirEntry::file_name);
                        // A folder of empty files alone is no log.
                        let has_text = |entry: &fs::DirEntry| entry.metadata().unwrap().len() > 0;
                        let mut others = (0..).zip(&there).filter(|(at, _)| *at != n);
                        if n < there.len() && others.any(|(_, entry)| has_text(entry)) {
                            fs::remove_file(there[n].path()).unwrap();
                        }
                    }
                    Act::Again(text) => put(&path, next - 1, &text),
                }
                followed.go_on(false);
            }
            followed.go_on(true);
            let fresh = found(SearchRoot::Usual(&TOY, path)).remove(0);
            let fresh = read_whole(&fresh, &ByLength, &Arc::default()).unwrap().remove(0).1;
            let session = followed.session;
            prop_assert_eq!(session.context(), fresh.context());
            prop_assert_eq!(&session.items(), &fresh.items());
            prop_assert_eq!(&session.requests(), &fresh.requests());
            prop_assert_eq!(session.unreadable, fresh.unreadable);
        }
    }
}
