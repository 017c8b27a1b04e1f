use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::{LogEnd, LogFile, NewEntries};
use crate::reader::{each_usage, read_whole, tail_only};
use agents::builtin::opencode::OPENCODE;
use model::event::{ByLength, Event};
use model::session::{Coverage, Session};
use std::fs::{self, FileTimes};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A storage with a session.
struct Storage {
    home: tempfile::TempDir,
}

impl Storage {
    fn new() -> Storage {
        let home = tempfile::tempdir().unwrap();
        let storage = Storage { home };
        let session =
            r#"{"id":"ses_1","projectID":"p","directory":"/d","title":"Doors","parentID":"ses_0"}"#;
        storage.put("session/p/ses_1.json", session);
        storage
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join("storage").join(path)
    }

    fn answer(&self, n: u64, input: u64) {
        let text = format!(
            r#"{{"id":"msg_{n}","role":"assistant","modelID":"x","tokens":{{"input":{input},"output":5}}}}"#
        );
        self.put(&format!("message/ses_1/msg_{n}.json"), &text);
    }

    fn part(&self, n: u64, text: &str) {
        let part = format!(r#"{{"id":"prt_{n}","type":"text","text":"{text}"}}"#);
        self.put(&format!("part/msg_{n}/prt_{n}.json"), &part);
    }

    /// Nothing was written lately.
    fn age(&self, path: &str) {
        let file = fs::File::options()
            .write(true)
            .open(self.path(path))
            .unwrap();
        let then = SystemTime::now() - Duration::from_secs(60);
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
    }

    fn found(&self) -> Vec<LogFile> {
        let root = SearchRoot::Usual(&OPENCODE, self.path("session"));
        Scanner::new(vec![root], vec![&OPENCODE], |_| None)
            .look()
            .files
    }

    fn session(&self) -> Session {
        let log = self.found().remove(0);
        let mut sessions = read_whole(&log, &ByLength, &Arc::default()).unwrap();
        sessions.remove(0).1
    }
}

fn reports(session: &Session) -> Vec<u64> {
    session
        .requests()
        .iter()
        .map(|request| request.prompt())
        .collect()
}

#[test]
fn files_are_one_document() {
    let storage = Storage::new();
    let session = storage.session();
    assert_eq!(session.meta.title.as_deref(), Some("Doors"));
    assert_eq!(session.meta.parent.as_deref(), Some("ses_0"));
    for n in [3, 1, 2] {
        storage.answer(n, n * 100);
    }
    storage.part(2, "painted");
    let session = storage.session();
    assert_eq!(reports(&session), [100, 200, 300]);
    // An answer without parts has output all the same.
    assert_eq!((session.items().len(), session.unreadable), (3, 0));
}

#[test]
fn files_that_are_rewritten_are_read_again() {
    let storage = Storage::new();
    storage.answer(1, 0);
    let log = storage.found().remove(0);
    let mut cursor = log.store.cursor(&log, &Arc::default());
    let mut read = || match cursor
        .read(&ByLength, LogEnd::Open, &mut |_| false)
        .unwrap()
    {
        NewEntries::Rewritten(conversations) => Some(conversations.into_sessions().remove(0).1),
        _ => None,
    };
    assert_eq!(reports(&read().unwrap()), [0; 0]);
    let mut stamp = log.store.stamp().unwrap();
    let mut is_new = || {
        let old = std::mem::replace(&mut stamp, log.store.stamp().unwrap());
        old != stamp
    };
    assert!(!is_new());
    storage.part(1, "pain");
    assert!(is_new(), "a part came");
    storage.part(1, "painted");
    assert!(is_new(), "it grew");
    storage.answer(1, 700);
    assert!(is_new(), "the answer is complete");
    let session = read().unwrap();
    assert_eq!((reports(&session), session.items().len()), (vec![700], 1));
    storage.answer(2, 800);
    assert!(is_new(), "another came");
    assert_eq!(reports(&read().unwrap()), [700, 800]);
}

#[test]
fn a_file_that_is_half_written_is_waited_for() {
    let storage = Storage::new();
    storage.answer(1, 100);
    storage.answer(2, 200);
    storage.part(2, "painted");
    let torn = "part/msg_2/prt_2.json";
    storage.put(torn, "{\"id\":\"pr");
    let log = storage.found().remove(0);
    let error = log.store.cursor(&log, &Arc::default()).more(&ByLength);
    assert_eq!(error.err().unwrap().kind(), io::ErrorKind::WouldBlock);
    // One that stays so costs itself alone.
    storage.age(torn);
    let session = storage.session();
    assert_eq!(reports(&session), [100, 200]);
    assert_eq!(session.lost_fields["parts"], 1);
    storage.put("message/ses_1/msg_3.json", "{\"id\":");
    storage.age("message/ses_1/msg_3.json");
    let session = storage.session();
    assert_eq!((reports(&session), session.unreadable), (vec![100, 200], 1));
}

/// The items of a session and its reports.
fn held(log: &LogFile) -> (Vec<String>, Vec<u64>) {
    let mut sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
    let session = sessions.remove(0).1;
    let items = session
        .items()
        .iter()
        .map(|item| item.preview().to_string());
    (items.collect(), reports(&session))
}

#[test]
fn sessions_whose_messages_have_one_id_inherit_nothing() {
    let storage = Storage::new();
    let answer = r#"{"id":"REDACTED","role":"assistant","tokens":{"input":9,"output":5}}"#;
    let part = |session: &str, n: u64| {
        let part = format!(
            r#"{{"id":"prt_{n}","sessionID":"{session}","type":"text","text":"of {session}"}}"#
        );
        storage.put(&format!("part/REDACTED/prt_{n:03}.json"), &part);
    };
    // Few files, and so many that they are looked at once for all sessions.
    for (parts, others) in [(2, 0), (100, 100)] {
        for n in 0..parts {
            let session = ["ses_1", "ses_2"][n as usize % 2];
            part(session, n);
        }
        for n in 0..others {
            part("ses_3", 500 + n);
        }
        for session in ["ses_1", "ses_2"] {
            let own = format!(r#"{{"id":"{session}","projectID":"p","directory":"/d"}}"#);
            storage.put(&format!("session/p/{session}.json"), &own);
            storage.put(&format!("message/{session}/REDACTED.json"), answer);
        }
        let logs = storage.found();
        assert_eq!(logs.len(), 2);
        for log in &logs {
            let id = log.facts.id.as_deref().unwrap();
            let (items, reports) = held(log);
            assert_eq!(items, vec![format!("of {id}"); parts as usize / 2]);
            assert_eq!(reports, [9]);
        }
        // Each of them was paid for.
        let mut requests = std::collections::HashSet::new();
        for log in &logs {
            each_usage(log, &mut |entry| {
                if let Event::Usage(usage) = entry.event {
                    assert!(requests.insert(usage.request));
                }
            })
            .unwrap();
        }
        assert_eq!(requests.len(), 2);
    }
    // One more file, in the folder of many.
    part("ses_1", 300);
    let log = storage
        .found()
        .into_iter()
        .find(|log| log.facts.id.as_deref() == Some("ses_1"));
    assert_eq!(held(&log.unwrap()).0.len(), 51);
}

#[test]
fn the_stamp_of_all_files_shows_every_change() {
    let storage = Storage::new();
    for n in 1..=9 {
        storage.answer(n, n * 100);
        storage.part(n, "painted");
    }
    let stamp = || {
        let log = storage.found().remove(0);
        log.store.stamp_of_all().unwrap().unwrap()
    };
    let first = stamp();
    assert_eq!(stamp(), first);
    storage.part(1, "painted anew");
    let second = stamp();
    assert_ne!(second, first, "an old part was rewritten");
    fs::remove_file(storage.path("part/msg_3/prt_3.json")).unwrap();
    assert_ne!(stamp(), second, "one is gone");
}

#[test]
fn a_gauge_comes_from_the_newest_messages() {
    let storage = Storage::new();
    for n in 1..=9 {
        storage.answer(n, n * 100);
        storage.part(n, "painted");
    }
    // Those at the beginning are not opened.
    let old = storage.path("message/ses_1/msg_2.json");
    fs::remove_file(&old).unwrap();
    fs::create_dir(&old).unwrap();
    let log = storage.found().remove(0);
    let session = tail_only(&log, &Arc::default()).unwrap().remove(0).1;
    assert_eq!(session.anchor().unwrap().prompt(), 900);
    assert_eq!(session.coverage, Coverage::Tail);
    assert_eq!(session.meta.title.as_deref(), Some("Doors"));
    assert!(read_whole(&log, &ByLength, &Arc::default()).is_err());
}

#[test]
#[cfg(unix)]
fn links_do_not_lead_out() {
    let storage = Storage::new();
    storage.answer(1, 100);
    let elsewhere = tempfile::tempdir().unwrap();
    let part = r#"{"id":"prt_1","type":"text","text":"secret"}"#;
    fs::write(elsewhere.path().join("prt_1.json"), part).unwrap();
    fs::create_dir_all(storage.path("part")).unwrap();
    let link = storage.path("part/msg_1");
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    let log = storage.found().remove(0);
    let error = read_whole(&log, &ByLength, &Arc::default()).unwrap_err();
    assert!(error.to_string().contains("leads out"), "{error}");
    // Within the storage they are followed.
    fs::remove_file(&link).unwrap();
    storage.put("part/other/prt_1.json", part);
    std::os::unix::fs::symlink(storage.path("part/other"), &link).unwrap();
    assert_eq!(held(&storage.found().remove(0)).0, ["secret"]);
}

#[test]
fn a_database_takes_their_place() {
    let storage = Storage::new();
    assert_eq!(storage.found().len(), 1);
    fs::write(storage.home.path().join("opencode.db"), "").unwrap();
    assert!(storage.found().is_empty());
    // By its bytes where the user names it.
    let root = SearchRoot::Given(storage.path("session/p/ses_1.json"));
    let found = Scanner::new(vec![root], vec![&OPENCODE], |_| None).look();
    assert_eq!(found.files.len(), 1);
}
