//! Tests what can happen to a database while it is read.

use super::*;
use crate::bytes::patience::PATIENCE;
use crate::discover::roots::SearchRoot;
use crate::discover::{ScanResult, Scanner};
use crate::log::conversations::LogSessions;
use crate::log::reader::{read_whole, tail_only};
use crate::log::{LogFile, NewEntries};
use crate::testing::followed::FollowedLog;
use crate::testing::{TABLES, TALKS, TOY};
use files::waiting::wait_for;
use formats::database::Schema;
use model::event::ByLength;
use model::session::{Coverage, Session};
use state::{IDLE_TIME, LOOK_INTERVAL};
use std::fs;
use std::time::SystemTime;

mod beside;
mod hostile;
mod listed;

/// A toy's database and its writer.
struct Agent {
    home: tempfile::TempDir,
    path: PathBuf,
    writer: Connection,
    clock: Clock,
}

impl Agent {
    fn new(journal: &str) -> Agent {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("logs/all.talks");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", journal).unwrap();
        // Nobody needs it after a loss of power.
        writer.pragma_update(None, "synchronous", "off").unwrap();
        writer.execute_batch(TABLES).unwrap();
        Agent {
            home,
            path,
            writer,
            clock: Clock::stopped(),
        }
    }

    /// Its database, which is looked at by its clock.
    fn database(&self, spec: &'static DatabaseSpec) -> Database {
        Database::new(&Location::here(self.path.as_path()), spec, &self.clock)
    }

    /// Follows a session.
    fn watch(&self, id: &str) -> Watched {
        Watched {
            followed: FollowedLog::begin(&self.log(id), &Arc::default()),
            clock: self.clock.clone(),
        }
    }

    fn run(&self, sql: &str) {
        self.writer.execute_batch(sql).unwrap();
    }

    fn talk(&self, id: &str, lines: &[&str]) {
        self.run(&format!(
            "INSERT OR IGNORE INTO talk VALUES ('{id}', NULL, unixepoch() * 1000, '/p/{id}')"
        ));
        for line in lines {
            self.writer
                .execute("INSERT INTO word(talk, line) VALUES (?1, ?2)", [id, line])
                .unwrap();
        }
        self.run(&format!(
            "UPDATE talk SET updated = updated + 1 WHERE id = '{id}'"
        ));
    }

    /// Begins a transaction that writes to the database before it is committed.
    fn begin_to_write(&self) {
        self.run(
            "PRAGMA cache_size = 1; BEGIN; CREATE TABLE more(text);
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100)
             INSERT INTO more SELECT zeroblob(10000) FROM n",
        );
    }

    /// Nothing was written for long.
    fn age(&self) {
        for name in self.files() {
            age(&self.path.with_file_name(name));
        }
    }

    fn look(&self) -> ScanResult {
        let root = SearchRoot::Usual(&TOY, self.path.parent().unwrap().to_path_buf());
        Scanner::new(vec![root], vec![&TOY], |_| None)
            .with_clock(&self.clock)
            .look()
    }

    fn log(&self, id: &str) -> LogFile {
        let mut found = self.look();
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        found
            .files
            .retain(|log| log.facts.id.as_deref() == Some(id));
        found.files.remove(0)
    }

    /// The names of the files beside the database.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path.parent().unwrap()).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Nothing was written to this file for long.
pub(super) fn age(path: &std::path::Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

fn main_of(sessions: LogSessions) -> Session {
    sessions.into_iter().next().unwrap().1
}

fn prompts(log: &LogFile) -> Vec<u64> {
    let session = main_of(read_whole(log, &ByLength, &Arc::default()).unwrap());
    session.requests().iter().map(|r| r.prompt).collect()
}

/// A session that is followed, and the clock by which its database is looked at again.
struct Watched {
    followed: FollowedLog,
    clock: Clock,
}

impl Watched {
    /// Follows until there are these requests. The list of sessions is looked at once in a while.
    fn until(&mut self, prompts: &[u64]) {
        wait_for(&format!("{prompts:?}"), || {
            self.clock.pass(LOOK_INTERVAL);
            match self.followed.go_on() {
                Ok(()) if self.followed.prompts() == prompts => Ok(()),
                Ok(()) => Err(format!("{:?}", self.followed.prompts())),
                Err(e) => Err(e.to_string()),
            }
        });
    }

    /// Follows until that fails.
    fn until_error(&mut self) -> io::ErrorKind {
        wait_for("error", || {
            self.clock.pass(LOOK_INTERVAL);
            match self.followed.go_on() {
                Ok(()) => Err(format!("{:?}", self.followed.prompts())),
                Err(e) => Ok(e.kind()),
            }
        })
    }
}

#[test]
fn rows_that_come_are_read_and_no_trace_is_left() {
    for journal in ["wal", "delete", "truncate"] {
        let agent = Agent::new(journal);
        agent.talk("a", &["{\"toy\":1}"]);
        let before = agent.files();
        let mut watched = agent.watch("a");
        for n in 2..6 {
            agent.talk("a", &[&format!("{{\"toy\":{n}}}")]);
            watched.until(&(1..=n).collect::<Vec<u64>>());
        }
        assert_eq!(
            (watched.followed.restarts, agent.files()),
            (0, before),
            "{journal}"
        );
    }
}

#[test]
fn a_log_without_its_writer_is_read_and_a_database_without_a_log_as_it_is() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    // As a backup has it: the log, and not its index.
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("all.talks");
    fs::copy(&agent.path, &copy).unwrap();
    fs::copy(
        agent.path.with_extension("talks-wal"),
        copy.with_extension("talks-wal"),
    )
    .unwrap();
    let names = || fs::read_dir(elsewhere.path()).unwrap().count();
    let look = || {
        let root = SearchRoot::Given(copy.clone());
        let mut found = Scanner::new(vec![root], vec![&TOY], |_| None).look();
        assert!(found.problems.is_empty(), "{:?}", found.problems);
        found.files.remove(0)
    };
    assert_eq!((prompts(&look()), names()), (vec![1], 2));
    // As the agent leaves it when it ends.
    agent.run("PRAGMA wal_checkpoint(TRUNCATE)");
    fs::copy(&agent.path, &copy).unwrap();
    fs::remove_file(copy.with_extension("talks-wal")).unwrap();
    assert_eq!((prompts(&look()), names()), (vec![1], 1));
}

#[test]
fn a_checkpoint_and_a_log_that_begins_again_lose_nothing() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    let mut watched = agent.watch("a");
    for n in 2..6 {
        agent.run("PRAGMA wal_checkpoint(RESTART)");
        agent.talk("a", &[&format!("{{\"toy\":{n}}}")]);
        agent.run(match n % 2 {
            0 => "PRAGMA wal_checkpoint(TRUNCATE)",
            _ => "PRAGMA wal_checkpoint(FULL)",
        });
        watched.until(&(1..=n).collect::<Vec<u64>>());
    }
    assert_eq!(watched.followed.restarts, 0);
}

#[test]
fn rows_that_are_rewritten_or_deleted_are_read_again() {
    let agent = Agent::new("wal");
    let lines: Vec<String> = (1..=2000).map(|n| format!("{{\"toy\":{n}}}")).collect();
    agent.talk("a", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let mut watched = agent.watch("a");
    let mut prompts: Vec<u64> = (1..=2000).collect();
    watched.until(&prompts);
    // One of the last rows, and an early one: those are looked at in turn.
    for (id, n) in [(1990, 10_000), (3, 20_000)] {
        agent.run(&format!(
            "UPDATE word SET line = '{{\"toy\":{n}}}', mark = {n} WHERE id = {id}"
        ));
        agent.talk("a", &["{\"toy\":7}"]);
        prompts[id - 1] = n;
        prompts.push(7);
        watched.until(&prompts);
    }
    assert_eq!(watched.followed.restarts, 2);
    agent.run("DELETE FROM word WHERE id > 100");
    agent.talk("a", &[]);
    prompts.truncate(100);
    watched.until(&prompts);
    agent.run("VACUUM");
    watched.until(&prompts);
    assert_eq!(watched.followed.restarts, 3);
}

#[test]
fn a_row_that_is_being_written_is_waited_for() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    agent.run("INSERT INTO word(talk, line, done) VALUES ('a', '{\"toy\":2}', 0)");
    let log = agent.log("a");
    let mut watched = agent.watch("a");
    assert_eq!(watched.followed.prompts().len(), 1);
    assert!(
        !watched.followed.cursor.is_incomplete(),
        "it may still be written"
    );
    // A report takes it as it is, and so does a gauge after a while without writes.
    assert_eq!(prompts(&log), [1, 2]);
    agent.run("UPDATE word SET line = '{\"toy\":3}', done = 1, mark = 1 WHERE id = 2");
    agent.talk("a", &[]);
    watched.until(&[1, 3]);
    assert_eq!(watched.followed.restarts, 0);
    agent.run("INSERT INTO word(talk, line, done) VALUES ('a', '{\"toy\":4}', 0)");
    agent.run("UPDATE talk SET updated = 1000");
    wait_for("last row that nobody goes on with", || {
        watched.until(&[1, 3]);
        let is_incomplete = watched.followed.cursor.is_incomplete();
        is_incomplete.then_some(()).ok_or("it may be written")
    });
    // One that another follows stays as it is.
    agent.talk("a", &["{\"toy\":5}"]);
    watched.until(&[1, 3, 4, 5]);
}

#[test]
fn a_locked_database_is_tried_again_and_said_after_a_while() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    let mut watched = agent.watch("a");
    agent.talk("a", &["{\"toy\":2}"]);
    // Who only locks it changes nothing.
    agent.run("BEGIN EXCLUSIVE");
    watched.until(&[1, 2]);
    agent.run("COMMIT");
    agent.talk("a", &["{\"toy\":3}"]);
    agent.begin_to_write();
    let database = agent.database(&TALKS);
    let error_after = |time| {
        agent.clock.pass(time);
        database.sessions().1.map(|e| e.kind())
    };
    let busy = Some(io::ErrorKind::WouldBlock);
    assert_eq!(error_after(Duration::ZERO), busy);
    assert_eq!(error_after(PATIENCE - LOOK_INTERVAL), busy);
    let locked = Some(io::ErrorKind::ResourceBusy);
    assert_eq!(error_after(LOOK_INTERVAL), locked);
    watched.until(&[1, 2]);
    agent.run("COMMIT");
    watched.until(&[1, 2, 3]);
}

#[test]
fn what_is_no_database_costs_nobody_else_anything() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    let beside = |name: &str| agent.path.with_file_name(name);
    fs::write(beside("empty.talks"), "").unwrap();
    fs::write(beside("text.talks"), "no database").unwrap();
    fs::write(beside("half.talks"), &fs::read(&agent.path).unwrap()[..50]).unwrap();
    agent.run("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut torn = fs::read(&agent.path).unwrap();
    torn[100..].fill(0xff);
    fs::write(beside("torn.talks"), torn).unwrap();
    let fresh = Connection::open(beside("fresh.talks")).unwrap();
    fresh.execute_batch("PRAGMA user_version = 1").unwrap();
    let other = Connection::open(beside("other.talks")).unwrap();
    other.execute_batch("CREATE TABLE talk(id)").unwrap();
    let found = agent.look();
    assert_eq!(found.files.len(), 1);
    let mut problems: Vec<String> = found
        .problems
        .iter()
        .map(|(path, what)| {
            let name = path.file_name().unwrap().to_string_lossy();
            format!("{name}: {what}")
        })
        .collect();
    problems.sort();
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems[0].starts_with("half.talks: cannot read it: this is no SQLite"));
    assert!(problems[1].contains("no such table: word"), "{problems:#?}");
    assert!(problems[2].starts_with("text.talks"));
    assert!(problems[3].contains("damaged"), "{problems:#?}");
}

#[test]
fn schemas_of_yesterday_and_tomorrow() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    agent.run("ALTER TABLE word ADD COLUMN mood TEXT; CREATE TABLE mood(id)");
    assert_eq!(prompts(&agent.log("a")), [1], "columns and tables more");
    agent.run("ALTER TABLE word DROP COLUMN mark");
    assert_eq!(prompts(&agent.log("a")), [1], "an earlier schema");
    agent.run("ALTER TABLE word RENAME TO said");
    let found = agent.look();
    assert!(found.files.is_empty());
    assert!(
        found.problems[0]
            .1
            .contains("a newer ctxgauge may read them")
    );
}

#[test]
fn deleted_replaced_and_truncated() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    agent.talk("gone", &["{\"toy\":9}"]);
    let mut watched = agent.watch("a");
    let mut other = agent.watch("gone");
    // Another file takes its place.
    let replacement = Agent::new("delete");
    replacement.talk("a", &["{\"toy\":5}", "{\"toy\":6}"]);
    fs::rename(&replacement.path, &agent.path).unwrap();
    watched.until(&[5, 6]);
    assert_eq!(other.until_error(), io::ErrorKind::NotFound);
    // It loses its end.
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&agent.path)
        .unwrap();
    file.set_len(4096).unwrap();
    assert!(agent.look().problems[0].1.contains("damaged"));
    watched.until(&[5, 6]);
    fs::remove_file(&agent.path).unwrap();
    assert_eq!(watched.until_error(), io::ErrorKind::NotFound);
}

#[test]
fn a_row_that_cannot_be_read_costs_that_row_alone() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    agent.run(
        "INSERT INTO word(talk, line) VALUES ('a', NULL);
         INSERT INTO word(talk, line) VALUES ('a', zeroblob(70000000));
         INSERT INTO word(talk, line) VALUES ('a', x'ff00');",
    );
    agent.talk("a", &["{\"toy\":2}"]);
    let log = agent.log("a");
    let session = main_of(read_whole(&log, &ByLength, &Arc::default()).unwrap());
    let prompts: Vec<u64> = session.requests().iter().map(|r| r.prompt).collect();
    assert_eq!((prompts, session.unreadable), (vec![1, 2], 3));
}

#[test]
fn a_large_database_is_not_read_through() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&agent.path)
        .unwrap();
    file.set_len(4 << 30).unwrap();
    assert_eq!(prompts(&agent.log("a")), [1]);
}

#[test]
fn a_tail_is_as_long_as_a_gauge_needs() {
    let agent = Agent::new("wal");
    let mut lines = vec!["{\"toy\":1}"; 500];
    lines.push("{\"toy\":400}");
    lines.extend(["{\"say\":\"words\"}"; 40]);
    agent.talk("a", &lines);
    let log = agent.log("a");
    let tail = main_of(tail_only(&log, &Arc::default()).unwrap());
    let whole = main_of(read_whole(&log, &ByLength, &Arc::default()).unwrap());
    assert_eq!(tail.coverage, Coverage::Tail);
    assert!(tail.requests().len() < 200);
    assert_eq!(tail.context().used, whole.context().used);
    assert_eq!(tail.context().known, whole.context().known);
    assert_eq!(tail.items().last().unwrap().place.line(), 541);
}

/// A version of the toy that has a table of its own.
static NEWER: DatabaseSpec = DatabaseSpec {
    schemas: &[
        Schema {
            sessions: "SELECT id, NULL, NULL FROM newer_talk",
            header: "SELECT '{}' WHERE ?1 <> ''",
            from: "word WHERE talk = ?1",
            order: "id",
            line: "line",
            ..Schema::DEFAULT
        },
        Schema {
            sessions: "SELECT id, NULL, NULL FROM talk",
            header: "SELECT '{}' WHERE ?1 <> ''",
            from: "word WHERE talk = ?1",
            order: "id",
            line: "line",
            ..Schema::DEFAULT
        },
    ],
};

#[test]
fn tables_count_once_there_is_a_session_in_them() {
    for journal in ["WAL", "DELETE"] {
        let agent = Agent::new(journal);
        let database = agent.database(&NEWER);
        // The list may be late.
        let expect = |expected: &[&str]| {
            wait_for(&format!("{expected:?}"), || {
                agent.clock.pass(LOOK_INTERVAL);
                let (sessions, error) = database.sessions();
                assert!(error.is_none(), "{error:?}");
                let mut ids: Vec<&str> = sessions.keys().map(|id| &**id).collect();
                ids.sort_unstable();
                (ids == expected)
                    .then_some(())
                    .ok_or_else(|| format!("{ids:?}"))
            });
        };
        agent.talk("a", &["{\"toy\":1}"]);
        expect(&["a"]);
        agent.run("CREATE TABLE newer_talk(id TEXT PRIMARY KEY)");
        expect(&["a"]);
        agent.talk("b", &["{\"toy\":2}"]);
        expect(&["a", "b"]);
        agent.run("INSERT INTO newer_talk VALUES ('b')");
        expect(&["b"]);
    }
}

#[test]
fn a_database_that_lost_its_header_is_refused_once_until_it_changes() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    let log = agent.log("a");
    let database = agent.database(&TALKS);
    let (sessions, error) = database.sessions();
    assert!(error.is_none() && sessions.len() == 1);
    let seen = database.stamp(&"a".into()).unwrap();
    let whole = fs::read(&agent.path).unwrap();
    fs::write(&agent.path, [&[0; 100], &whole[100..]].concat()).unwrap();
    // As soon as a later write is sure to show, what is wrong is remembered.
    wait_for("refusal", || {
        agent.clock.pass(LOOK_INTERVAL);
        assert_eq!(database.stamp(&"a".into()).unwrap(), seen, "it stays");
        let is_remembered = lock(&database.state).failed.is_some();
        is_remembered.then_some(()).ok_or("nothing is remembered")
    });
    let files = Files::of(&agent.path).unwrap();
    assert!(lock(&database.state).refusal(files).is_some());
    assert_eq!(database.stamp(&"a".into()).unwrap(), seen);
    fs::write(&agent.path, &whole).unwrap();
    let files = Files::of(&agent.path).unwrap();
    assert!(
        lock(&database.state).refusal(files).is_none(),
        "it is tried again"
    );
    assert_eq!(prompts(&log), [1]);
}

#[test]
fn a_connection_without_use_is_closed() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    let database = agent.database(&TALKS);
    let is_open_after = |time| {
        agent.clock.pass(time);
        let (sessions, error) = database.sessions();
        assert!(error.is_none() && sessions.len() == 1, "{error:?}");
        lock(&database.state).open.is_some()
    };
    assert!(is_open_after(Duration::ZERO));
    // Whatever was written, it is not looked at before.
    let far = agent.clock.now() + 2 * IDLE_TIME;
    lock(&database.state).next_look = Some(far);
    assert!(is_open_after(IDLE_TIME));
    assert!(!is_open_after(LOOK_INTERVAL));
}

#[test]
fn a_database_that_vanishes_while_it_is_read_is_gone_whatever_sqlite_says() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    let database = agent.database(&TALKS);
    let says = |connection: &Connection| connection.execute_batch("no SQL");
    let read = database.read(|connection, _| says(connection));
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::Other);
    let read = database.read(|connection, _| {
        fs::remove_file(&agent.path).unwrap();
        says(connection)
    });
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::NotFound);
}
