//! A session that is put away, kept in the cache and read from there between the pieces of its log says what a fresh
//! reading of the log says.

use super::decoders::named;
use super::first_line;
use super::sessions::{RULES, check as check_sessions};
use super::tail::{append_share, log_file};
use ctxgauge::ingest::cache::{
    Cache, LogKey, Part, UnreadCursor, Value, ValueRef, put_away, restore, store,
};
use ctxgauge::ingest::lanes::Sessions;
use ctxgauge::ingest::lines::Progress;
use ctxgauge::ingest::log::{Cursor, LogFile, News, Reading};
use ctxgauge::ingest::reader::tail_only;
use ctxgauge::model::event::{ByLength, Entry};
use ctxgauge::model::forecast::forecast;
use ctxgauge::model::session::{Coverage, Session};
use std::fmt::Debug;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The most that happens to a session.
const STEPS: usize = 16;
/// A window that the user sets.
const WINDOW: u64 = 50_000;

/// The first line of an input is what happens; see [`Life::step`]. The rest is as in [`crate::decoders`]; the log is
/// of lines.
pub fn check(input: &[u8]) {
    let (steps, log) = first_line(input);
    let (format, log) = named(log);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log");
    fs::write(&path, "").expect("a file");
    let mut life = Life::new(log_file(format, &path), folder.path().join("cache"));
    let mut written = 0;
    for step in steps.iter().take(STEPS) {
        if let b'a'..=b'z' = step {
            written = append_share(&path, log, written, *step);
            age(&path);
            life.read_on();
        } else {
            life.step(*step);
        }
        life.says_the_same();
    }
}

/// Makes a file an hour old: nobody is writing to it.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    let file = File::options().write(true).open(path);
    let aged = file.and_then(|file| file.set_times(FileTimes::new().set_modified(then)));
    aged.expect("another time");
}

/// A log as the program has it.
struct Life {
    log: LogFile,
    cache: PathBuf,
    sessions: Sessions,
    cursor: Box<dyn Cursor>,
    /// Whether it was put away: it is read again when the log grows.
    is_away: bool,
}

impl Life {
    fn new(log: LogFile, cache: PathBuf) -> Life {
        let (sessions, cursor) = read(&log);
        Life {
            log,
            cache,
            sessions,
            cursor,
            is_away: false,
        }
    }

    /// Does what a capital letter says.
    fn step(&mut self, step: u8) {
        match step {
            // It is put away, or that and stored, or stored while it goes on.
            b'P' => self.put_away(),
            b'S' => {
                self.store();
                self.put_away();
            }
            b'C' => self.store(),
            // The program ends and begins again.
            b'R' => self.begin(),
            // Somebody opens it.
            b'L' => self.read_again(),
            // A list shows its end, from the cache too.
            b'T' => {
                if let Ok(mut sessions) = tail_only(&self.log, &RULES) {
                    let shown = shown(&sessions);
                    let Value {
                        shown: stored,
                        details,
                    } = store(&mut sessions).expect("a small session");
                    let kept = ValueRef {
                        shown: &stored,
                        details: Arc::new(details),
                    };
                    assert_eq!(shown, self::shown(&self.restored(&kept)));
                }
            }
            _ => {}
        }
    }

    fn read_again(&mut self) {
        (self.sessions, self.cursor) = read(&self.log);
        self.is_away = false;
    }

    fn read_on(&mut self) {
        if self.is_away {
            return self.read_again();
        }
        loop {
            match self.cursor.more(&ByLength).expect("a file") {
                News::Entries(entries) => return self.apply(entries),
                News::Batch(entries) => self.apply(entries),
                News::Rewritten(_) | News::Restart => return self.read_again(),
            }
        }
    }

    fn apply(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let its = self
                .sessions
                .iter_mut()
                .find(|(lane, _)| *lane == entry.lane);
            match its {
                Some((_, session)) => session.apply(entry),
                None => {
                    let mut session = Session::new(self.log.format.id, Arc::clone(&RULES));
                    session.coverage = Coverage::Whole;
                    let lane = entry.lane;
                    session.apply(entry);
                    self.sessions.push((lane, session));
                }
            }
        }
        self.sessions.sort_by_key(|(lane, _)| *lane);
    }

    fn put_away(&mut self) {
        put_away(&mut self.sessions, false);
        self.cursor.trim();
        self.is_away = true;
    }

    fn key(&self) -> Option<LogKey> {
        LogKey::of(&self.log, self.log.store.stamp().expect("a file"))
    }

    fn store(&self) {
        let stored = store(&mut self.sessions.clone()).expect("a small session");
        // Either way of storing it is one.
        assert_eq!(
            put_away(&mut self.sessions.clone(), true),
            Some(stored.clone())
        );
        if let Some(key) = self.key().filter(|_| !self.cursor.is_incomplete()) {
            let mut cache = Cache::open(&self.cache, Part::Sessions, &RULES);
            cache.put(key, stored);
            cache.save().expect("a cache");
        }
    }

    fn restored(&self, kept: &ValueRef<'_>) -> Sessions {
        restore(kept, &self.log, &RULES).expect("what was stored")
    }

    fn begin(&mut self) {
        let cache = Cache::open(&self.cache, Part::Sessions, &RULES);
        let key = self.key();
        let Some(stored) = key.as_ref().and_then(|key| cache.get(key)) else {
            return self.read_again();
        };
        self.sessions = self.restored(&stored);
        self.cursor = Box::new(UnreadCursor::new(&self.log));
        self.is_away = true;
    }

    /// Compares it with a fresh reading.
    fn says_the_same(&self) {
        let (fresh, _) = read(&self.log);
        assert_eq!(shown(&self.sessions), shown(&fresh));
        check_sessions(&self.sessions.iter().cloned().collect());
        // A window counts as it does for a session that was just read.
        let mut sessions = self.sessions.clone();
        let both = sessions.iter_mut().zip(fresh);
        for ((_, session), (_, mut fresh)) in both {
            let mut former = fresh.clone();
            former.take_over(session, None);
            session.set_window(Some(WINDOW));
            fresh.set_window(Some(WINDOW));
            assert_eq!(session.limits(), fresh.limits());
            fresh.take_over(session, None);
        }
    }
}

/// Reads a log from its beginning, as far as it is complete.
fn read(log: &LogFile) -> (Sessions, Box<dyn Cursor>) {
    let mut reading = Reading::whole(log, &RULES);
    let progress = reading.step(&ByLength, &mut || false);
    assert_eq!(progress.expect("a file"), Progress::Done);
    reading.finish()
}

/// What lists and reports show of sessions, without their texts.
fn shown(sessions: &Sessions) -> Vec<impl PartialEq + Debug + use<>> {
    let one = |session: &Session| {
        let context = session.context();
        let sizes = session.in_context();
        let sizes: Vec<_> = sizes.map(|(_, tokens, source)| (tokens, source)).collect();
        // Their items have other numbers in a session that was put away.
        let requests = session.requests().iter();
        let requests = requests.map(|request| (request.key, request.prompt, request.output));
        let requests: Vec<_> = requests.collect();
        (
            (
                session.is_final(&context),
                session.is_own_count_final(&context),
                session.has_begun(),
            ),
            (context, sizes, session.limits(), forecast(session, None)),
            (requests, session.newest_prompts(9)),
            (session.resets().to_vec(), session.is_unreported()),
            (session.agent_estimate(), session.turns, session.records),
            (session.updated_at, session.model().map(str::to_owned)),
        )
    };
    let all = sessions.iter();
    all.map(|(lane, session)| (*lane, one(session))).collect()
}
