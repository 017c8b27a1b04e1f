//! A log of lines that is followed, whatever becomes of its file, ends as a fresh reading of it does.

use super::decoders::named;
use super::first_line;
use super::sessions::RULES;
use ctxgauge::formats::{Format, StoreKind};
use ctxgauge::ingest::bytes::lines::Progress;
use ctxgauge::ingest::bytes::source::file_system::{Local, Location};
use ctxgauge::ingest::log::conversations::LogSessions;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::ingest::log::{Cursor, LogFile, NewEntries, Reading, file_id};
use ctxgauge::ingest::store;
use ctxgauge::model::event::{ByLength, Conversation, Entry};
use ctxgauge::model::lists::sessions::FileFacts;
use ctxgauge::model::session::Session;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The most that happens to a file.
const STEPS: usize = 12;

/// The first line of an input is what happens: a small letter appends a share of the log, a capital one cuts
/// the file to a share of its size, a digit replaces it by a file with a share of the log. The rest is as in
/// [`crate::decoders`]; the log is of lines.
pub fn check(input: &[u8]) {
    let (steps, log) = first_line(input);
    let (format, log) = named(log);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log");
    fs::write(&path, "").expect("a file");
    let file = log_file(format, &path);
    let mut followed = Followed::new(&file).expect("a file");
    let mut written = 0;
    for step in steps.iter().take(STEPS) {
        match step {
            b'a'..=b'z' => written = append_share(&path, log, written, *step),
            b'A'..=b'Z' => {
                let len = fs::metadata(&path).expect("the file").len();
                let len = len * u64::from(step - b'A') / 26;
                let cut = fs::OpenOptions::new().write(true).open(&path);
                cut.and_then(|file| file.set_len(len)).expect("a cut");
            }
            b'0'..=b'9' => {
                written = log.len() * usize::from(step - b'0') / 9;
                let new = folder.path().join("new");
                fs::write(&new, &log[..written]).expect("a file");
                fs::rename(&new, &path).expect("a replacement");
            }
            _ => {}
        }
        followed.read_on(&file).expect("a file");
    }
    followed.settle(&file).expect("a file");
    let fresh = read_whole(&file, &ByLength, &RULES).expect("a file");
    same(&followed.sessions, &fresh);
}

/// Appends the share of a log that a small letter names, after what was written of it. Returns how much is written
/// now.
pub(super) fn append_share(path: &Path, log: &[u8], written: usize, letter: u8) -> usize {
    let share = log.len() * usize::from(letter - b'a' + 1) / 52;
    let end = (written + share).min(log.len());
    let file = fs::OpenOptions::new().append(true).open(path);
    let appended = file.and_then(|mut file| file.write_all(&log[written..end]));
    appended.expect("an append");
    end
}

/// A log of lines at a path.
pub(super) fn log_file(format: &'static Format, path: &Path) -> LogFile {
    let path = Arc::new(path.to_owned());
    LogFile {
        facts: FileFacts {
            file: file_id(&path),
            agent: format.id,
            label: format.label,
            commands: format.facts.commands,
            path: Arc::clone(&path),
            id: None,
            parent: None,
            len: 0,
            modified: None,
            host: None,
        },
        system: Arc::new(Local),
        format,
        store: store::open(StoreKind::Lines, &Location::here(path.to_path_buf()))
            .expect("no database"),
        sidecar: None,
    }
}

/// A log as far as it was read.
pub(super) struct Followed {
    pub(super) sessions: BTreeMap<Conversation, Session>,
    cursor: Box<dyn Cursor>,
}

impl Followed {
    /// Reads a log from its beginning.
    pub(super) fn new(file: &LogFile) -> io::Result<Followed> {
        let mut reading = Reading::whole(file, &RULES);
        if reading.step(&ByLength, &mut || false)? != Progress::Done {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (sessions, cursor) = reading.finish();
        Ok(Followed {
            sessions: sessions.into_iter().collect(),
            cursor,
        })
    }

    /// Reads what has come.
    pub(super) fn read_on(&mut self, file: &LogFile) -> io::Result<()> {
        loop {
            match self.cursor.more(&ByLength)? {
                NewEntries::Entries(entries) => {
                    self.apply(file, entries);
                    return Ok(());
                }
                NewEntries::Batch(entries) => self.apply(file, entries),
                NewEntries::Rewritten(_) | NewEntries::Restart => {
                    *self = Followed::new(file)?;
                    return Ok(());
                }
            }
        }
    }

    /// Reads all there is: nobody goes on writing.
    pub(super) fn settle(&mut self, file: &LogFile) -> io::Result<()> {
        match self.cursor.finish(&ByLength)? {
            NewEntries::Entries(entries) | NewEntries::Batch(entries) => {
                self.apply(file, entries);
                Ok(())
            }
            NewEntries::Rewritten(_) | NewEntries::Restart => {
                *self = Followed::new(file)?;
                self.settle(file)
            }
        }
    }

    fn apply(&mut self, file: &LogFile, entries: Vec<Entry>) {
        for entry in entries {
            let session = self.sessions.entry(entry.conversation);
            let session =
                session.or_insert_with(|| Session::new(file.format.id, Arc::clone(&RULES)));
            session.apply(entry);
        }
    }
}

fn same(followed: &BTreeMap<Conversation, Session>, fresh: &LogSessions) {
    assert_eq!(followed.len(), fresh.len());
    for ((conversation, followed), (other, fresh)) in followed.iter().zip(fresh) {
        assert_eq!(conversation, other);
        assert_eq!(followed.context(), fresh.context());
        assert_eq!(followed.items(), fresh.items());
        assert_eq!(followed.requests(), fresh.requests());
        assert_eq!(followed.resets(), fresh.resets());
        assert_eq!(followed.unreadable, fresh.unreadable);
        assert_eq!(followed.unknown, fresh.unknown);
    }
}
