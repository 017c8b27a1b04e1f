//! A database that is followed, whatever its writer does to it meanwhile, ends as a fresh reading of it does.

use super::cases::named;
use super::first_line;
use super::sessions::{RULES, Said, said};
use super::tail::Followed;
use ctxgauge::formats::Format;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::LogFile;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::model::event::ByLength;
use ctxgauge::model::lists::sessions::FileId;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, io};

/// The most that a writer does.
const STEPS: usize = 64;
/// What is said of agents that keep the newest numbers alone: who follows them knows more of the past.
const FOLLOWED: &str = "where the log was followed";
/// Files and sessions are looked at once in a while: so long after the last write, all of it has been seen.
const PATIENCE: Duration = Duration::from_secs(4);
/// How many looks it takes then: on a busy machine, one look may take all of that time.
const LAST_LOOKS: usize = 20;

/// The first line of an input is a case of the hand-written databases, the rest is what happens: letters, each after
/// a number if that matters; see [`Writer::step`]. `r` reads.
pub fn check(input: &[u8]) {
    let (name, steps) = first_line(input);
    let case = named(name, |case| case.sql().is_some());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut writer = Writer::new(folder.path().join("log.db"), &case.sql().expect("SQL"));
    let mut reader = Reader::new(case.format, &writer.path);
    let (mut number, mut done) = (0, 0);
    for step in steps {
        match step {
            b'0'..=b'9' => number = (number * 10 + usize::from(step - b'0')) % 1000,
            b'r' => reader.look(),
            _ => writer.step(*step, std::mem::take(&mut number)),
        }
        done += usize::from(step.is_ascii_lowercase());
        if done == STEPS {
            break;
        }
    }
    writer.run("COMMIT");
    reader.settle();
}

/// The agent.
struct Writer {
    path: PathBuf,
    connection: Connection,
    /// What it writes, and how much of it is written.
    statements: Vec<String>,
    written: usize,
    /// How much was written when the transaction began.
    begun: usize,
}

impl Writer {
    fn new(path: PathBuf, sql: &str) -> Writer {
        let memory = Connection::open_in_memory().expect("memory");
        let (mut batch, mut statements) = (Batch::new(&memory, sql), Vec::new());
        while let Some(mut statement) = batch.next().expect("hand-written SQL") {
            statements.extend(statement.expanded_sql());
            statement.raw_execute().expect("hand-written SQL");
        }
        Writer {
            connection: open(&path),
            path,
            statements,
            written: 0,
            begun: 0,
        }
    }

    /// Does what a letter says.
    fn step(&mut self, step: u8, number: usize) {
        const JOURNALS: [&str; 4] = ["wal", "delete", "truncate", "persist"];
        const CHECKPOINTS: [&str; 4] = ["passive", "full", "restart", "truncate"];
        match step {
            // So many statements.
            b's' => {
                for _ in 0..number.max(1) {
                    if let Some(statement) = self.statements.get(self.written) {
                        self.run(statement);
                        self.written += 1;
                    }
                }
            }
            b'b' => self.begin("BEGIN"),
            b'e' => self.begin("BEGIN EXCLUSIVE"),
            b'c' => self.run("COMMIT"),
            b'a' if !self.connection.is_autocommit() => {
                self.run("ROLLBACK");
                self.written = self.begun;
            }
            // All is deleted, to be written again.
            b'd' => {
                for table in self.tables() {
                    self.run(&format!("DELETE FROM \"{table}\""));
                }
                self.written = 0;
            }
            b'v' => self.run("VACUUM"),
            b'k' => self.run(&format!(
                "PRAGMA wal_checkpoint({})",
                CHECKPOINTS[number % 4]
            )),
            b'j' => self.run(&format!("PRAGMA journal_mode = {}", JOURNALS[number % 4])),
            b'o' => {
                self.close();
                self.connection = open(&self.path);
            }
            // A copy takes its place.
            b'x' if self.connection.is_autocommit() => self.replace(),
            _ => {}
        }
    }

    fn begin(&mut self, how: &str) {
        if self.connection.is_autocommit() {
            self.run(how);
            self.begun = self.written;
        }
    }

    /// Runs a statement, which may fail: it may not suit what was done before.
    fn run(&self, statement: &str) {
        let _ = self.connection.execute_batch(statement);
    }

    fn tables(&self) -> Vec<String> {
        let query = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        let mut query = self.connection.prepare(query).expect("a query");
        let names = query.query_map((), |row| row.get(0)).expect("names");
        names.flatten().collect()
    }

    /// Closes the database; what was not committed is gone.
    fn close(&mut self) {
        if !self.connection.is_autocommit() {
            self.written = self.begun;
        }
        self.connection = Connection::open_in_memory().expect("memory");
    }

    fn replace(&mut self) {
        let copy = self.path.with_extension("copy");
        self.run(&format!("VACUUM INTO '{}'", copy.display()));
        self.close();
        for beside in ["db-wal", "db-shm", "db-journal"] {
            let _ = fs::remove_file(self.path.with_extension(beside));
        }
        let _ = fs::rename(copy, &self.path);
        self.connection = open(&self.path);
    }
}

fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a database");
    let _ = connection.pragma_update(None, "synchronous", "off");
    connection
}

/// The sessions of a database that is followed.
struct Reader {
    format: &'static Format,
    path: PathBuf,
    scanner: Scanner,
    followed: BTreeMap<FileId, (LogFile, Followed)>,
}

impl Reader {
    fn new(format: &'static Format, path: &Path) -> Reader {
        Reader {
            format,
            path: path.to_owned(),
            scanner: scanner(format, path),
            followed: BTreeMap::new(),
        }
    }

    /// Reads what has come.
    fn look(&mut self) {
        let mut before = std::mem::take(&mut self.followed);
        for log in self.scanner.look().files {
            let file = log.facts.file;
            let followed = match before.remove(&file) {
                Some((log, mut followed)) => {
                    let read = followed.read_on(&log);
                    goes_on(&read).then_some((log, followed))
                }
                None => Followed::new(&log).ok().map(|followed| (log, followed)),
            };
            self.followed
                .extend(followed.map(|followed| (file, followed)));
        }
    }

    /// Waits until it says what a fresh reading says.
    fn settle(&mut self) {
        let until = Instant::now() + PATIENCE;
        let mut last_looks = 0;
        loop {
            self.look();
            for (log, followed) in self.followed.values_mut() {
                let _ = followed.settle(log);
            }
            let mut fresh = fresh(self.format, &self.path);
            let all = self.followed.iter();
            let mut seen: BTreeMap<FileId, Vec<Said>> = all
                .map(|(file, (_, followed))| {
                    (*file, followed.sessions.values().map(said).collect())
                })
                .collect();
            if self.format.facts.known.contains(FOLLOWED) {
                let all = seen.values_mut().chain(fresh.values_mut()).flatten();
                all.for_each(|(_, items, requests)| (*items, *requests) = Default::default());
            }
            if seen == fresh {
                return;
            }
            if Instant::now() > until {
                last_looks += 1;
                if last_looks == LAST_LOOKS {
                    assert_eq!(seen, fresh);
                }
            }
            sleep(Duration::from_millis(10));
        }
    }
}

/// Whether reading can go on: what was locked for a moment is read the next time, what is gone is not.
fn goes_on(read: &io::Result<()>) -> bool {
    match read {
        Ok(()) => true,
        Err(e) => e.kind() == io::ErrorKind::WouldBlock,
    }
}

fn scanner(format: &'static Format, path: &Path) -> Scanner {
    let root = SearchRoot::Forced(format, path.to_owned());
    Scanner::new(vec![root], vec![format], |_| None)
}

fn fresh(format: &'static Format, path: &Path) -> BTreeMap<FileId, Vec<Said>> {
    let logs = scanner(format, path).look().files.into_iter();
    let read = logs.map(|log| {
        let sessions = read_whole(&log, &ByLength, &RULES).expect("a session");
        let said = sessions.iter().map(|(_, session)| said(session)).collect();
        (log.facts.file, said)
    });
    read.collect()
}
