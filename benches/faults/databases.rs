//! Databases whose agent commits all the time, and gives up at once when it is refused.

use crate::place::{LIST, Place, ended};
use crate::tally::{Random, Tally};
use rusqlite::{Connection, ErrorCode, params};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

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
    const SESSION: &str = "UPDATE session SET time_updated = time_updated + 1";
    const MESSAGE: &str = "INSERT INTO message
        SELECT ?1, id, time_updated, time_updated, ?2 FROM session ORDER BY id LIMIT 1";
    let said = r#"{"role":"user","agent":"build","time":{"created":1}}"#;
    let (mut commits, mut refused) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        commits += 1;
        let commit = || {
            let transaction = database.unchecked_transaction()?;
            transaction.execute(SESSION, ())?;
            transaction.execute(MESSAGE, params![format!("msg_z{commits:08}"), said])?;
            transaction.commit()
        };
        match commit() {
            Ok(()) => {}
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => refused += 1,
            Err(e) => panic!("{e}"),
        }
        thread::sleep(pause);
    }
    (commits, refused)
}
