//! Databases whose agent commits all the time, and gives up at once when it is refused.

use crate::place::{LIST, Place, ended};
use crate::tally::{Random, Tally};
use rusqlite::{Connection, ErrorCode, params};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SQL: &str = include_str!("../../tests/fixtures/opencode/prompts_are_input_and_cache/log.sql");
const JOURNALS: [&str; 4] = ["wal", "delete", "truncate", "persist"];
/// Commits a second.
const RATES: [u64; 3] = [10, 30, 100];
/// Each command is run so often in a round.
const TIMES: usize = 4;
/// A database that was locked all the time.
const BUSY: i32 = 75;

/// Runs every command beside a writer.
pub fn written(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(0);
    let path = place.home().join(".local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let journal = random.of(&JOURNALS);
    let database = open(&path, journal);
    database.execute_batch(SQL).unwrap();
    let pause = Duration::from_millis(1000 / random.of(&RATES));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = thread::spawn({
        let stop = Arc::clone(&stop);
        move || write(&database, pause, &stop)
    });
    let mut monitor = place.monitor();
    let report = ["report", "--json", path.to_str().unwrap()];
    for arguments in [&LIST[..], &report].repeat(TIMES) {
        monitor.settle_for(Duration::from_millis(random.below(100)));
        let ended = ended(place.command(arguments));
        tally.count("busy", u64::from(ended.code() == Some(BUSY)));
        tally.check(match ended.code() {
            Some(BUSY) if !ended.err.contains("no session") => Ok(()),
            Some(0) if !ended.out.contains("\"sessions\":[]") => Ok(()),
            _ => Err(format!("{journal}, every {pause:?}: {ended:?}")),
        });
    }
    stop.store(true, Ordering::Relaxed);
    let (commits, refused) = writer.join().unwrap();
    tally.count("commits", commits);
    tally.check(match refused {
        0 => Ok(()),
        _ => Err(format!(
            "{journal}: {refused} of {commits} commits were refused"
        )),
    });
    tally.check(place.rows().and_then(|rows| place.lists(&rows)));
    tally.check(monitor.end());
}

/// How long a writer's commits take alone and beside the monitor, in each mode of the journal. They do not wait for the
/// disk, whose noise would hide what the monitor adds.
pub fn timed(_: &mut Random, tally: &mut Tally) {
    for journal in JOURNALS {
        let place = Place::new(0);
        let path = place.home().join(".local/share/opencode/opencode.db");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let database = open(&path, journal);
        database.pragma_update(None, "synchronous", "off").unwrap();
        database.execute_batch(SQL).unwrap();
        let mut first = 0;
        let mut write = |place: &str, tally: &mut Tally| {
            let mut refused = 0;
            for n in first..first + COMMITS {
                let begun = Instant::now();
                refused += u64::from(!commit(&database, n));
                tally.time(format!("{journal} {place}"), begun.elapsed());
                thread::sleep(PAUSE);
            }
            first += COMMITS;
            refused
        };
        let alone = write("alone", tally);
        let mut monitor = place.monitor();
        monitor.settle_for(STARTED);
        let refused = alone + write("beside", tally);
        tally.check(match refused {
            0 => monitor.end(),
            _ => Err(format!("{journal}: {refused} commits were refused")),
        });
    }
}

/// The monitor has read what it begins with by then.
const STARTED: Duration = Duration::from_secs(3);

/// Commits that are timed, and the pause after each.
const COMMITS: u64 = 400;
const PAUSE: Duration = Duration::from_millis(3);

/// A connection that does not wait.
fn open(path: &Path, journal: &str) -> Connection {
    let database = Connection::open(path).unwrap();
    database
        .pragma_update(None, "journal_mode", journal)
        .unwrap();
    database.busy_timeout(Duration::ZERO).unwrap();
    database
}

/// Commits a message after each pause. Returns how many commits were tried, and how many refused.
fn write(database: &Connection, pause: Duration, stop: &AtomicBool) -> (u64, u64) {
    let (mut commits, mut refused) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        commits += 1;
        refused += u64::from(!commit(database, commits));
        thread::sleep(pause);
    }
    (commits, refused)
}

/// Commits a message. Returns whether that was not refused.
fn commit(database: &Connection, n: u64) -> bool {
    const SESSION: &str = "UPDATE session SET time_updated = time_updated + 1";
    const MESSAGE: &str = "INSERT INTO message
        SELECT ?1, id, time_updated, time_updated, ?2 FROM session ORDER BY id LIMIT 1";
    let said = r#"{"role":"user","agent":"build","time":{"created":1}}"#;
    let commit = || {
        let transaction = database.unchecked_transaction()?;
        transaction.execute(SESSION, ())?;
        transaction.execute(MESSAGE, params![format!("msg_z{n:08}"), said])?;
        transaction.commit()
    };
    match commit() {
        Ok(()) => true,
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => false,
        Err(e) => panic!("{e}"),
    }
}
