//! Every hand-written database, followed while it is written, and with other values than expected.

use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::lanes::Sessions;
use crate::lines::Progress;
use crate::log::{Cursor, LogFile, News, Reading};
use crate::reader::{read_whole, tail_only};
use files::waiting::wait_for;
use model::event::{ByLength, Entry};
use model::fleet::FileId;
use model::session::Session;
use model::text::TextRequest;
use rusqlite::Batch;
use rusqlite::fallible_iterator::FallibleIterator;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A log, what was read of it and where reading continues.
type Followed = (LogFile, Sessions, Box<dyn Cursor>);

/// The SQL of all fixtures.
fn scripts() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let agents = fs::read_dir(folder).unwrap().flatten();
    let cases = agents.flat_map(|agent| fs::read_dir(agent.path()).into_iter().flatten());
    let scripts = cases.flatten().map(|case| case.path().join("log.sql"));
    scripts
        .filter_map(|path| {
            let sql = fs::read_to_string(&path).ok()?;
            Some((path, sql))
        })
        .collect()
}

/// The sessions of the database at a path, of the agent whose fixture the script is.
fn logs(script: &Path, path: &Path) -> Vec<LogFile> {
    let agent = script.ancestors().nth(2).and_then(Path::file_name);
    let format = agents::by_id(agent.unwrap().to_str().unwrap()).unwrap();
    let root = SearchRoot::Forced(format, path.to_path_buf());
    Scanner::new(vec![root], vec![format], |_| None)
        .look()
        .files
}

fn begin(log: &LogFile) -> (Sessions, Box<dyn Cursor>) {
    let mut reading = Reading::whole(log, &Arc::default());
    while reading.step(&ByLength, &mut || false).unwrap() != Progress::Done {}
    reading.finish()
}

#[test]
fn following_ends_where_a_fresh_reading_does() {
    for (script, sql) in scripts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer.pragma_update(None, "synchronous", "off").unwrap();
        let mut followed: BTreeMap<FileId, Followed> = BTreeMap::new();
        let mut statements = Batch::new(&writer, &sql);
        while let Some(mut statement) = statements.next().unwrap() {
            statement.raw_execute().unwrap();
            go_on((&script, &path), &mut followed);
        }
        // What is looked at once in a while is seen in the end.
        let name = script.display();
        wait_for(&format!("{name} as it is read afresh"), || {
            go_on((&script, &path), &mut followed);
            settle(&mut followed);
            let mut other = followed.values().filter(|one| !is_as_fresh(one));
            match other.next() {
                None => Ok(()),
                Some((_, sessions, _)) => Err(format!("{:?}", facts(&sessions[0].1))),
            }
        });
        assert!(!followed.is_empty(), "{name}: no session");
        for (log, sessions, _) in followed.into_values() {
            let fresh = read_whole(&log, &ByLength, &Arc::default()).unwrap();
            assert_eq!(sessions.len(), fresh.len(), "{name}");
            let (a, b) = (&sessions[0].1, &fresh[0].1);
            assert_eq!(a.context(), b.context(), "{name}");
            assert_eq!(facts(a), facts(b), "{name}");
            assert_eq!((&a.skipped, &a.unknown), (&b.skipped, &b.unknown), "{name}");
            for item in b.items() {
                let Some(wanted) = TextRequest::of(log.facts.file, &item) else {
                    continue;
                };
                let text = log.store.text(&log, wanted).map(|_| ());
                assert!(text.is_ok(), "{name}: {item:?}: {text:?}");
            }
            // The gauge needs no more than the end.
            let tail = tail_only(&log, &Arc::default()).unwrap();
            assert_eq!(tail[0].1.context().known, b.context().known, "{name}");
        }
    }
}

/// Nobody goes on writing.
fn settle(followed: &mut BTreeMap<FileId, Followed>) {
    for (log, sessions, cursor) in followed.values_mut() {
        match cursor.finish(&ByLength) {
            Ok(News::Entries(entries)) => {
                if !apply(sessions, entries) {
                    (*sessions, *cursor) = begin(log);
                }
            }
            Ok(_) => {}
            Err(e) => assert_eq!(e.kind(), io::ErrorKind::WouldBlock, "{e}"),
        }
    }
}

fn is_as_fresh((log, sessions, _): &Followed) -> bool {
    let fresh = read_whole(log, &ByLength, &Arc::default()).unwrap();
    let (a, b) = (&sessions[0].1, &fresh[0].1);
    sessions.len() == fresh.len()
        && a.context() == b.context()
        && facts(a) == facts(b)
        && (&a.skipped, &a.unknown) == (&b.skipped, &b.unknown)
}

/// The items and requests. The numbers of their records differ: the line about a session may have come several
/// times.
fn facts(session: &Session) -> (Vec<String>, Vec<(u64, Option<u64>)>) {
    let items = session.items().iter().map(|item| {
        let left = item.left.as_ref().map(|left| (left.request, left.why));
        let (place, logged, settled) = (item.place, &item.logged, item.settled);
        format!(
            "{place} {logged:?} {settled:?} {:?} {left:?}",
            item.entered()
        )
    });
    let requests = session.requests().iter();
    let requests = requests.map(|request| (request.prompt, request.output));
    (items.collect(), requests.collect())
}

/// Whether no entry is of a conversation that was not there before.
fn apply(sessions: &mut Sessions, entries: Vec<Entry>) -> bool {
    entries.into_iter().all(|entry| {
        let of_it = sessions.iter_mut().find(|(lane, _)| *lane == entry.lane);
        of_it.map(|(_, session)| session.apply(entry)).is_some()
    })
}

fn go_on((script, path): (&Path, &Path), followed: &mut BTreeMap<FileId, Followed>) {
    for log in logs(script, path) {
        let file = log.facts.file;
        let Some((log, mut sessions, mut cursor)) = followed.remove(&file) else {
            let (sessions, cursor) = begin(&log);
            followed.insert(file, (log, sessions, cursor));
            continue;
        };
        match cursor.more(&ByLength) {
            Ok(News::Entries(entries) | News::Batch(entries)) => {
                if !apply(&mut sessions, entries) {
                    (sessions, cursor) = begin(&log);
                }
            }
            Ok(_) => (sessions, cursor) = begin(&log),
            Err(e) => assert_eq!(e.kind(), io::ErrorKind::WouldBlock, "{e}"),
        }
        followed.insert(file, (log, sessions, cursor));
    }
}

#[test]
fn other_values_than_expected_cost_no_more_than_themselves() {
    const VALUES: [&str; 8] = [
        "NULL",
        "7",
        "-1e300",
        "'junk'",
        "'{\"id\":[]}'",
        "'[{}]'",
        "x'00ff28b52ffd'",
        "9223372036854775807",
    ];
    const COLUMNS: &str = "SELECT t.name, c.name FROM sqlite_schema AS t
         JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'";
    // Of each column of an agent's databases, the cases that have it.
    let mut cases: BTreeMap<(&Path, String, String), Vec<usize>> = BTreeMap::new();
    let folder = tempfile::tempdir().unwrap();
    let original = |case: usize| folder.path().join(format!("original-{case}"));
    let scripts = scripts();
    for (case, (script, sql)) in scripts.iter().enumerate() {
        let writer = Connection::open(original(case)).unwrap();
        writer.pragma_update(None, "synchronous", "off").unwrap();
        writer.execute_batch(sql).unwrap();
        let agent = script.ancestors().nth(2).unwrap();
        let mut statement = writer.prepare(COLUMNS).unwrap();
        let columns = statement.query_map((), |row| Ok((agent, row.get(0)?, row.get(1)?)));
        for column in columns.unwrap().map(Result::unwrap) {
            cases.entry(column).or_default().push(case);
        }
    }
    let path = folder.path().join("log.db");
    for ((_, table, column), cases) in cases {
        // Cases take turns: each value is read by each query, and each case holds odd values.
        for (nth, value) in VALUES.iter().enumerate() {
            let case = cases[nth % cases.len()];
            fs::copy(original(case), &path).unwrap();
            let writer = Connection::open(&path).unwrap();
            writer.pragma_update(None, "synchronous", "off").unwrap();
            writer
                .pragma_update(None, "journal_mode", "memory")
                .unwrap();
            let update = format!("UPDATE OR IGNORE \"{table}\" SET \"{column}\" = {value}");
            // A constraint may be in the way.
            let _ = writer.execute_batch(&update);
            for log in logs(&scripts[case].0, &path) {
                let _ = read_whole(&log, &ByLength, &Arc::default());
            }
        }
    }
}
