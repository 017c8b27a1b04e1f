use super::*;
use crate::bytes::lines::Progress;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::reader::{each_usage, read_whole};
use crate::log::{Cursor, LogFile, NewEntries, Reading};
use agents::builtin::codex::CODEX;
use model::event::{ByLength, Event};
use std::fs;
use std::io::Write;

const A: &str = "aaaaaaaa-1111-7111-8111-111111111111";
const B: &str = "bbbbbbbb-2222-7222-8222-222222222222";
const C: &str = "cccccccc-3333-7333-8333-333333333333";

/// The three rollouts of a fork of a fork, below a home of Codex.
fn home() -> (tempfile::TempDir, [PathBuf; 3]) {
    let home = tempfile::tempdir().unwrap();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/fork-by-reference");
    let file = |folder: &str, name: String, from: String| {
        let folder = home.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::copy(case.join(from), &path).unwrap();
        path
    };
    let names = [("10-00-00", A), ("10-02-00", B), ("10-04-00", C)]
        .map(|(time, id)| format!("rollout-2026-11-20T{time}-{id}.jsonl"));
    let [a, b, c] = names;
    let paths = [
        file("archived_sessions", a.clone(), a),
        file("sessions/2026/11/20", b.clone(), b),
        file("sessions/2026/11/21", c, "log.jsonl".into()),
    ];
    (home, paths)
}

fn found(home: &Path) -> Vec<LogFile> {
    let roots = ["sessions", "archived_sessions"]
        .map(|folder| SearchRoot::Usual(&CODEX, home.join(folder)));
    let mut files = Scanner::new(roots.to_vec(), vec![&CODEX], |_| None)
        .look()
        .files;
    files.sort_by_key(|log| log.facts.path.file_name().map(ToOwned::to_owned));
    files
}

fn prompts(log: &LogFile) -> Vec<u64> {
    let mut sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
    let session = sessions.remove(0).1;
    session.requests().iter().map(|r| r.prompt).collect()
}

fn text(log: &LogFile) -> String {
    let chain = Chain::new(
        &log.location(),
        log.format.claims(&log.facts.path).and_then(spec).unwrap(),
    );
    let mut text = String::new();
    chain.open().unwrap().0.read_to_string(&mut text).unwrap();
    text
}

fn spec(claim: formats::Claim) -> Option<&'static ChainSpec> {
    match claim.store {
        formats::StoreKind::Chain(spec) => Some(spec),
        _ => None,
    }
}

#[test]
fn a_fork_of_a_fork_is_read_with_all_that_it_inherits() {
    let (home, _paths) = home();
    let logs = found(home.path());
    assert_eq!(logs.len(), 3);
    assert_eq!(prompts(&logs[0]), [9_000, 9_280, 9_310]);
    assert_eq!(prompts(&logs[1]), [9_000, 9_280, 9_340]);
    assert_eq!(prompts(&logs[2]), [9_000, 9_280, 9_340, 9_430]);
    // Its id is its own, and what it inherits is billed where it took place.
    let sessions = read_whole(&logs[2], &ByLength, &Arc::default()).unwrap();
    assert_eq!(sessions[0].1.meta.id.as_deref(), Some(C));
    let mut billed = Vec::new();
    each_usage(&logs[2], &mut |entry| {
        if let Event::Usage(usage) = entry.event {
            billed.push(usage.billed.input);
        }
    })
    .unwrap();
    assert_eq!(
        billed.iter().filter(|n| **n > 0).collect::<Vec<_>>(),
        [&9_430, &9_430]
    );
}

#[test]
fn every_byte_can_be_sought() {
    let (home, _paths) = home();
    let log = &found(home.path())[2];
    let whole = text(log);
    let chain = Chain::new(
        &log.location(),
        log.format.claims(&log.facts.path).and_then(spec).unwrap(),
    );
    let (mut bytes, stamp) = chain.open().unwrap();
    assert_eq!(stamp.len, whole.len() as u64);
    for at in (0..whole.len()).rev().step_by(7) {
        let mut rest = Vec::new();
        bytes.seek(SeekFrom::Start(at as u64)).unwrap();
        (&mut bytes).take(9).read_to_end(&mut rest).unwrap();
        assert_eq!(rest, &whole.as_bytes()[at..whole.len().min(at + 9)]);
    }
    assert!(bytes.seek(SeekFrom::End(-(1 << 40))).is_err());
}

#[test]
fn a_base_that_is_gone_cut_or_the_log_itself_leaves_nothing() {
    let (home, [a, b, c]) = home();
    let own = fs::read_to_string(&c).unwrap();
    let base = fs::read(&b).unwrap();
    fs::write(&b, &base[..base.len() - 9]).unwrap();
    assert_eq!(text(&found(home.path())[2]), own);
    fs::write(&b, &base).unwrap();
    fs::remove_file(&a).unwrap();
    assert_eq!(prompts(found(home.path()).last().unwrap()), [9_340, 9_430]);
    // Two that name each other.
    let line = String::from_utf8(base).unwrap().replace(A, C);
    fs::write(&b, line).unwrap();
    assert_eq!(prompts(found(home.path()).last().unwrap()), [9_340, 9_430]);
    fs::remove_file(&b).unwrap();
    assert_eq!(text(&found(home.path())[0]), own);
}

#[test]
fn a_first_line_that_is_replaced_in_place_inherits_what_it_names_now() {
    let (home, [_, _, c]) = home();
    let log = found(home.path()).remove(2);
    let mut cursor = log.store.cursor(&log, &Arc::default());
    cursor.finish(&ByLength).unwrap();
    let own = fs::read_to_string(&c).unwrap();
    let rest = own.find('\n').unwrap();
    let first = own[..rest].replace(B, "dddddddd-2222-7222-8222-222222222222");
    assert_ne!(first, own[..rest]);
    fs::write(&c, format!("{first}{}", &own[rest..])).unwrap();
    let restarts =
        |cursor: &mut Box<dyn Cursor>| matches!(cursor.finish(&ByLength), Ok(NewEntries::Restart));
    assert!(restarts(&mut cursor), "it inherits nothing now");
    assert_eq!(prompts(&log), [9_430]);
    let mut cursor = log.store.cursor(&log, &Arc::default());
    cursor.finish(&ByLength).unwrap();
    fs::write(&c, own).unwrap();
    assert!(restarts(&mut cursor), "and the same as at first");
    assert_eq!(prompts(&log), [9_000, 9_280, 9_340, 9_430]);
}

#[test]
fn a_base_that_vanishes_between_two_reads_is_looked_for_again_and_adds_nothing() {
    let (home, [a, b, _]) = home();
    let log = found(home.path()).remove(2);
    assert_eq!(prompts(&log).len(), 4);
    fs::remove_file(a).unwrap();
    fs::remove_file(b).unwrap();
    let read = Reading::whole(&log, &Arc::default()).step(&ByLength, &mut || false);
    // Nothing of the log itself is shown as if it were all.
    assert!(!matches!(read, Ok(Progress::Done)));
}

#[test]
fn it_is_followed_as_it_grows() {
    let (home, [_, _, c]) = home();
    let log = found(home.path()).remove(2);
    let mut cursor = log.store.cursor(&log, &Arc::default());
    let before = cursor.finish(&ByLength);
    assert!(matches!(before, Ok(crate::log::NewEntries::Entries(entries)) if !entries.is_empty()));
    let mut file = fs::OpenOptions::new().append(true).open(c).unwrap();
    writeln!(file, "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"more\"}}}}").unwrap();
    match cursor.finish(&ByLength).unwrap() {
        crate::log::NewEntries::Entries(entries) => assert_eq!(entries.len(), 1),
        _ => panic!("it was only appended to"),
    }
}

/// Returns the billed input of each response of a log.
fn billed(log: &LogFile) -> Vec<u64> {
    let mut billed = Vec::new();
    each_usage(log, &mut |entry| {
        if let Event::Usage(usage) = entry.event {
            billed.push(usage.billed.input);
        }
    })
    .unwrap();
    billed.dedup();
    billed
}

#[test]
fn a_thread_that_was_resumed_after_a_rewind_is_one_session_and_pays_for_all_of_it() {
    let (home, [a, b, c]) = home();
    fs::remove_file(b).unwrap();
    let text = fs::read_to_string(a).unwrap();
    // Without its second turn.
    let end = text.find(r#","ordinal":12,"#).unwrap();
    let end = text[..end].rfind('\n').unwrap() + 1;
    let base = format!(
        r#""history_base":{{"thread_id":"{A}","end_ordinal_exclusive":12,"end_byte_offset":{end}}}"#
    );
    let own = fs::read_to_string(&c).unwrap().replace(C, A);
    let (before, rest) = own.split_once(r#""history_base":"#).unwrap();
    let (_, rest) = rest.split_once('}').unwrap();
    let own = format!("{before}{base}{rest}").replacen(r#""ordinal":21"#, r#""ordinal":12"#, 1);
    let name = format!("rollout-2026-11-20T11-00-00-{A}_{C}.jsonl");
    fs::write(c.with_file_name(name), own).unwrap();
    fs::remove_file(c).unwrap();
    let roots = ["sessions", "archived_sessions"]
        .map(|folder| SearchRoot::Usual(&CODEX, home.path().join(folder)));
    let found = Scanner::new(roots.to_vec(), vec![&CODEX], |_| None).look();
    let [session] = &found.files[..] else {
        panic!("{} sessions", found.files.len());
    };
    // The turn that was taken back is shown.
    assert_eq!(prompts(session), [9_000, 9_280, 9_310, 9_430]);
    assert_eq!(billed(session), [9_000, 9_280, 9_310, 9_430]);
    // It was paid for once: both files have the same responses.
    let [segment] = &found.archives[..] else {
        panic!("{} segments", found.archives.len());
    };
    assert_eq!(billed(segment), [9_000, 9_280, 9_310]);
}

#[test]
fn the_newest_rollout_of_a_thread_is_the_live_one() {
    let (home, [_, b, _]) = home();
    let reverted = format!("rollout-2026-11-22T09-00-00-{B}_{A}.jsonl");
    fs::copy(&b, home.path().join("sessions").join(&reverted)).unwrap();
    let names = || -> Vec<String> {
        let name = |log: LogFile| {
            log.facts
                .path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        found(home.path()).into_iter().map(name).collect()
    };
    assert_eq!(names().len(), 3);
    assert!(names().contains(&reverted));
    // An archived copy, compressed: the plain one is at least as new.
    let name = format!("{reverted}.zst");
    fs::write(home.path().join("archived_sessions").join(name), b"").unwrap();
    assert!(names().contains(&reverted));
}
