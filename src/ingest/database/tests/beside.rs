//! Reading beside a writer: neither meets the other.

use super::*;
use crate::log::Cursor;
use crate::store::rows::RowCursor;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const MODES: [&str; 4] = ["delete", "truncate", "persist", "wal"];

/// Runs a writer that waits for nobody, and what goes on beside it until it has ended. Returns what the writer does.
fn beside<T: Send>(
    path: &std::path::Path,
    write: impl FnOnce(&Connection) -> T + Send,
    mut read: impl FnMut(),
) -> T {
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let writer = Connection::open(path).unwrap();
            writer.busy_timeout(Duration::ZERO).unwrap();
            writer.pragma_update(None, "synchronous", "off").unwrap();
            let result = write(&writer);
            has_ended.store(true, Ordering::Release);
            result
        });
        while !has_ended.load(Ordering::Acquire) {
            read();
        }
        writer.join().unwrap()
    })
}

fn is_at_work<T>(result: &io::Result<T>) -> bool {
    result.as_ref().is_ok() || result.as_ref().is_err_and(is_busy)
}

#[test]
fn a_writer_that_waits_for_nobody_is_never_refused() {
    const COMMITS: u64 = 400;
    for mode in MODES {
        let agent = Agent::new(mode);
        agent.talk("a", &["{\"toy\":1}"]);
        let mut watched = agent.watch("a");
        let refused = beside(
            &agent.path,
            |writer| {
                let commit = |n| {
                    let sql = format!(
                        "BEGIN IMMEDIATE;
                         INSERT INTO word(talk, line) VALUES ('a', '{{\"toy\":{n}}}');
                         UPDATE talk SET updated = {n};
                         COMMIT"
                    );
                    writer.execute_batch(&sql)
                };
                (2..=COMMITS).filter_map(|n| commit(n).err()).count()
            },
            || {
                let database = agent.database(&TALKS);
                assert!(database.sessions().1.is_none_or(|e| is_busy(&e)));
                let whole = read_whole(&watched.followed.log, &ByLength, &Arc::default());
                assert!(is_at_work(&whole), "{mode}: {:?}", whole.err());
                let followed = watched.followed.go_on();
                assert!(is_at_work(&followed), "{mode}: {:?}", followed.err());
            },
        );
        assert_eq!(refused, 0, "{mode}");
        watched.until(&(1..=COMMITS).collect::<Vec<u64>>());
        assert_eq!(
            prompts(&watched.followed.log).len() as u64,
            COMMITS,
            "{mode}"
        );
        assert_eq!(
            watched.followed.restarts, 0,
            "{mode}: nothing was seen half"
        );
    }
}

#[test]
fn an_agent_ends_beside_a_follower_and_takes_its_log_with_it() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    let mut watched = agent.watch("a");
    agent.talk("a", &["{\"toy\":2}"]);
    watched.until(&[1, 2]);
    let Agent {
        home, path, writer, ..
    } = agent;
    drop(writer);
    watched.until(&[1, 2]);
    let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "the database alone");
    drop(home);
}

#[test]
fn an_agent_leaves_and_enters_write_ahead_logging_while_it_is_read() {
    let agent = Agent::new("wal");
    agent.talk("a", &["{\"toy\":1}"]);
    let log = agent.log("a");
    let Agent {
        home, path, writer, ..
    } = agent;
    drop(writer);
    let refused = beside(
        &path,
        |writer| {
            let modes = ["delete", "wal"].iter().cycle().take(200);
            let set = |mode: &&&str| {
                let set = writer.pragma_update(None, "journal_mode", mode);
                let write = writer.execute_batch("UPDATE talk SET updated = updated + 1");
                set.and(write).is_err()
            };
            modes.filter(set).count()
        },
        || {
            let whole = read_whole(&log, &ByLength, &Arc::default());
            assert!(is_at_work(&whole), "{:?}", whole.err());
        },
    );
    assert_eq!(refused, 0);
    drop(home);
}

#[test]
fn what_is_read_while_the_file_changes_does_not_count() {
    for mode in MODES {
        let agent = Agent::new(mode);
        agent.talk("a", &["{\"toy\":1}"]);
        let database = agent.database(&TALKS);
        let read = |meanwhile: &dyn Fn()| {
            let read = database.read(|connection, tables| {
                let count = tables.count(connection, "a")?;
                meanwhile();
                Ok(count)
            });
            read.map_err(|e| e.kind())
        };
        let busy = Err(io::ErrorKind::WouldBlock);
        assert_eq!(read(&|| {}), Ok(1), "{mode}");
        let commit = || agent.talk("a", &["{\"toy\":2}"]);
        match mode {
            // What is appended to the log changes nothing of what is there.
            "wal" => assert_eq!(read(&commit), Ok(1)),
            _ => assert_eq!(read(&commit), busy, "{mode}"),
        }
        // A checkpoint of what was there takes nothing away; one of what came since does.
        let checkpoint = || agent.run("PRAGMA wal_checkpoint(PASSIVE)");
        let both = || {
            commit();
            checkpoint();
        };
        let begun_again = || {
            agent.run("PRAGMA wal_checkpoint(RESTART)");
            commit();
        };
        assert!(read(&checkpoint).is_ok(), "{mode}");
        assert_eq!(read(&both), busy, "{mode}");
        assert_eq!(read(&begun_again), busy, "{mode}");
        if mode != "wal" {
            let begin = || agent.begin_to_write();
            let once = Cell::new(Some(begin));
            let read = read(&|| once.take().into_iter().for_each(|begin| begin()));
            assert_eq!(read, busy, "{mode}: pages before the commit");
            agent.run("ROLLBACK");
        }
        assert!(read(&|| {}).is_ok(), "{mode}");
    }
}

#[test]
fn rows_are_read_in_pieces_and_those_that_change_meanwhile_again() {
    let agent = Agent::new("delete");
    let lines: Vec<String> = (1..=2000).map(|n| format!("{{\"toy\":{n}}}")).collect();
    agent.talk("a", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let log = agent.log("a");
    let database = Arc::new(agent.database(&TALKS));
    let mut cursor = RowCursor::new(&database, &"a".into(), &log, 0);
    let rows = Cell::new(0);
    let read = |cursor: &mut RowCursor| {
        lock(&database.state).piece = Some(Duration::ZERO);
        let mut read = 0;
        cursor.read(&ByLength, crate::log::LogEnd::Open, &mut |_| {
            read += 1;
            rows.set(rows.get() + 1);
            read == 10
        })
    };
    while rows.get() < 1000 {
        read(&mut cursor).unwrap();
    }
    // An early row, of which no later one shows anything.
    agent.run("UPDATE word SET line = '{\"toy\":0}', mark = 7 WHERE id = 5");
    agent.talk("a", &[]);
    let is_changed = loop {
        match read(&mut cursor).unwrap() {
            NewEntries::Batch(_) => {}
            NewEntries::Entries(_) if cursor.has_sidecar_changes() => {}
            NewEntries::Entries(_) | NewEntries::Rewritten(_) => break false,
            NewEntries::Restart => break true,
        }
    };
    assert!(is_changed);
    assert_eq!(rows.get(), 2000, "each once");
}

#[test]
fn the_journal_of_a_writer_that_is_gone_is_left_to_the_agent() {
    let agent = Agent::new("delete");
    agent.talk("a", &["{\"toy\":1}"]);
    agent.begin_to_write();
    agent.run("INSERT INTO word(talk, line) VALUES ('a', '{\"toy\":2}')");
    // As a machine leaves it that went down.
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("all.talks");
    let journal = copy.with_extension("talks-journal");
    fs::copy(&agent.path, &copy).unwrap();
    fs::copy(agent.path.with_extension("talks-journal"), &journal).unwrap();
    let look = || {
        let root = SearchRoot::Given(copy.clone());
        Scanner::new(vec![root], vec![&TOY], |_| None).look()
    };
    let found = look();
    assert_eq!((found.files.len(), found.locked.len()), (0, 1));
    age(&copy);
    age(&journal);
    let before = fs::read(&journal).unwrap();
    let found = look();
    assert!(found.files.is_empty());
    let problem = found.problems[0].1.to_string();
    assert!(problem.contains("start the agent once"), "{problem}");
    assert!(fs::read(&journal).unwrap() == before);
    // The agent starts again.
    let writer = Connection::open(&copy).unwrap();
    let rows = writer.query_row("SELECT count(*) FROM word", (), |row| row.get(0));
    assert_eq!(rows, Ok(1));
    assert_eq!(prompts(&look().files[0]), [1]);
}
