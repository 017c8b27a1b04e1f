//! Every hand-written database, followed while it is written, and with other values than expected.

use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::LogFile;
use crate::log::reader::{read_whole, tail_only};
use crate::testing::followed::FollowedLog;
use model::event::ByLength;
use model::lists::sessions::FileId;
use model::lists::text::TextRequest;
use model::session::Session;
use rusqlite::Batch;
use rusqlite::fallible_iterator::FallibleIterator;
use state::LOOK_INTERVAL;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The SQL of all fixtures.
fn scripts() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
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

/// Finds the sessions of the database at a path, of the agent whose fixture the script is.
fn scanner(script: &Path, path: &Path) -> Scanner {
    let agent = script.ancestors().nth(2).and_then(Path::file_name);
    let format = agents::by_id(agent.unwrap().to_str().unwrap()).unwrap();
    let root = SearchRoot::Forced(format, path.to_path_buf());
    Scanner::new(vec![root], vec![format], |_| None)
}

#[test]
fn following_ends_where_a_fresh_reading_does() {
    for (script, sql) in scripts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer.pragma_update(None, "synchronous", "off").unwrap();
        let clock = Clock::stopped();
        let mut scanner = scanner(&script, &path).with_clock(&clock);
        let mut followed: BTreeMap<FileId, FollowedLog> = BTreeMap::new();
        let mut statements = Batch::new(&writer, &sql);
        while let Some(mut statement) = statements.next().unwrap() {
            statement.raw_execute().unwrap();
            clock.pass(LOOK_INTERVAL);
            go_on(&scanner.look().files, &mut followed);
        }
        let name = script.display();
        assert!(!followed.is_empty(), "{name}: no session");
        for mut one in followed.into_values() {
            clock.pass(LOOK_INTERVAL);
            one.finish().unwrap();
            let (log, sessions) = (&one.log, one.sessions());
            let fresh = read_whole(log, &ByLength, &Arc::default()).unwrap();
            assert_eq!(sessions.len(), fresh.len(), "{name}");
            let (a, b) = (&sessions[0].1, &fresh[0].1);
            assert_eq!(a.context(), b.context(), "{name}");
            assert_eq!(facts(a), facts(b), "{name}");
            assert_eq!((&a.skipped, &a.unknown), (&b.skipped, &b.unknown), "{name}");
            for item in b.items() {
                let Some(wanted) = TextRequest::of(log.facts.file, item) else {
                    continue;
                };
                let text = log.store.text(log, wanted).map(|_| ());
                assert!(text.is_ok(), "{name}: {item:?}: {text:?}");
            }
            // The gauge needs no more than the end.
            let tail = tail_only(log, &Arc::default()).unwrap();
            assert_eq!(tail[0].1.context().known, b.context().known, "{name}");
        }
    }
}

/// The items and requests. The numbers of their records differ: the line about a session may have come several
/// times.
fn facts(session: &Session) -> (Vec<String>, Vec<(u64, Option<u64>)>) {
    let items = session.items().iter().map(|item| {
        let left = item.left.map(|left| (left.request, left.why));
        let what = (item.role, item.kind, item.tool.as_deref(), item.call);
        let text = (item.size, &*item.preview, item.hash, item.nth);
        let when = (item.attributed, item.entered, left);
        format!("{} {what:?} {text:?} {when:?}", item.place)
    });
    let requests = session.requests().iter();
    let requests = requests.map(|request| (request.prompt, request.output));
    (items.collect(), requests.collect())
}

/// Reads on in the sessions that are there now.
fn go_on(logs: &[LogFile], followed: &mut BTreeMap<FileId, FollowedLog>) {
    for log in logs {
        let begin = || FollowedLog::begin(log, &Arc::default());
        let one = followed.entry(log.facts.file).or_insert_with(begin);
        let read = one.go_on();
        let is_at_work = read
            .as_ref()
            .is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
        assert!(read.is_ok() || is_at_work, "{read:?}");
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
            // A file that is overwritten is flushed to the disk by some file systems.
            let _ = fs::remove_file(&path);
            fs::copy(original(case), &path).unwrap();
            let writer = Connection::open(&path).unwrap();
            writer.pragma_update(None, "synchronous", "off").unwrap();
            writer
                .pragma_update(None, "journal_mode", "memory")
                .unwrap();
            let update = format!("UPDATE OR IGNORE \"{table}\" SET \"{column}\" = {value}");
            // A constraint may be in the way.
            let _ = writer.execute_batch(&update);
            // An old file is opened once for all that is read of it.
            tests::age(&path);
            for log in scanner(&scripts[case].0, &path).look().files {
                let _ = read_whole(&log, &ByLength, &Arc::default());
            }
        }
    }
}
