use super::*;
use ingest::IngestEvent;
use model::event::Conversation;
use model::lists::sessions::FileId;
use model::lists::sessions::{FileFacts, Update};
use model::session::{Coverage, Session};
use model::testing::file_facts;
use model::window::Rules;
use serde_json::Value;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const PACE: Pace = Pace {
    every: Duration::ZERO,
    heartbeat: Duration::from_secs(3600),
};

/// Returns the time at which tests begin.
pub(super) fn some_time() -> Instant {
    Instant::now()
}

fn stream() -> Stream {
    Stream::new(Arc::new(Rules::default()), PACE, Texts::Names)
}

fn take(stream: &Stream, update: Update) {
    let flow = stream.take(IngestEvent::Update(update), some_time());
    assert!(flow.is_continue());
}

/// Sends a state of the session of a file to the stream, with this number of records.
fn write_state(stream: &Stream, file: u64, records: u64) {
    let file = FileId(file);
    take(
        stream,
        Update::Found(Box::new(FileFacts {
            len: records,
            modified: Some(Timestamp::UNIX_EPOCH),
            ..file_facts(file, "codex", &format!("/logs/{}.jsonl", file.0))
        })),
    );
    let mut session = Session::new("codex", Arc::default());
    session.coverage = Coverage::Whole;
    session.meta.title = Some("a secret title".into());
    session.turns = 1;
    session.updated_at = Timestamp::from_second(i64::try_from(records).unwrap()).ok();
    let sessions = vec![(Conversation::Main, session)];
    take(stream, Update::Rebuilt { file, sessions });
}

/// Standard output whose reader takes a write when it is told to.
struct Stalled {
    writes: Receiver<()>,
    begun: SyncSender<()>,
    read: Arc<Mutex<Vec<u8>>>,
}

impl Write for Stalled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.begun.send(());
        // If the test has dropped the other end, all writes succeed.
        let _ = self.writes.recv();
        self.read.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lines(read: &Mutex<Vec<u8>>) -> Vec<Value> {
    let text = String::from_utf8(read.lock().unwrap().clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_reader_that_stalls_gets_the_newest_state_of_each_session_and_nothing_in_between() {
    const SESSIONS: u64 = 200;
    let stream = Arc::new(stream());
    let (go, writes) = sync_channel(0);
    let (begun, waits) = sync_channel(1_000);
    let read = Arc::<Mutex<Vec<u8>>>::default();
    let mut out = Stalled {
        writes,
        begun,
        read: Arc::clone(&read),
    };
    let shared = Arc::clone(&stream);
    let writer = std::thread::spawn(move || {
        let now = || Timestamp::UNIX_EPOCH;
        super::write(&shared, now, &mut out, &mut io::sink())
    });
    // The first line waits for the reader, while each session changes many times.
    waits.recv().unwrap();
    for records in 1..=40 {
        for file in 0..SESSIONS {
            write_state(&stream, file, records);
        }
    }
    take(&stream, Update::Vanished(FileId(7)));
    take(&stream, Update::InitialScanDone);
    drop(go);
    files::waiting::wait_for("end of the first states", || {
        let read = lines(&read);
        let is_last = read.last().is_some_and(|line| line["type"] == "scanned");
        is_last.then_some(()).ok_or(read.len())
    });
    stream.end();
    writer.join().unwrap().unwrap();

    let read = lines(&read);
    assert_eq!(read[0]["type"], "start");
    for (seq, line) in read.iter().enumerate() {
        assert_eq!(line["seq"], seq);
    }
    // One that came and went meanwhile was never there for this reader.
    let states = &read[1..read.len() - 1];
    assert_eq!(states.len() as u64, SESSIONS - 1);
    for state in states {
        assert_eq!(state["type"], "session");
        assert_eq!(state["updated_at"], "1970-01-01T00:00:40Z", "the newest");
    }
    assert_eq!(read.last().unwrap()["sessions"], SESSIONS - 1);
}

/// Returns all lines that are due now.
fn written(stream: &Stream, lines: &mut Lines) -> Vec<Value> {
    let mut ready = Vec::new();
    let now = some_time();
    stream.wait(now, lines, &mut ready).unwrap();
    super::tests::lines(&Mutex::new(ready))
}

#[test]
fn what_has_not_changed_is_not_said_again_and_what_is_gone_is() {
    let stream = stream();
    let mut lines = Lines {
        seq: 0,
        now: || Timestamp::UNIX_EPOCH,
        reports_alone: false,
        is_plain: false,
    };
    let types = |lines: &[Value]| {
        let types = lines.iter().map(|line| line["type"].as_str().unwrap());
        types.collect::<Vec<_>>().join(" ")
    };
    write_state(&stream, 1, 1);
    write_state(&stream, 2, 1);
    let first = written(&stream, &mut lines);
    assert_eq!(types(&first), "session session");
    take(&stream, Update::InitialScanDone);
    assert_eq!(types(&written(&stream, &mut lines)), "scanned");
    write_state(&stream, 1, 1);
    assert_eq!(types(&written(&stream, &mut lines)), "");
    write_state(&stream, 1, 2);
    let second = written(&stream, &mut lines);
    assert_eq!(types(&second), "session");
    assert_eq!(second[0]["session"], first[0]["session"]);
    take(&stream, Update::Vanished(FileId(1)));
    let gone = written(&stream, &mut lines);
    assert_eq!(types(&gone), "gone");
    for key in ["session", "id", "agent", "path"] {
        assert_eq!(gone[0][key], first[0][key], "{key}");
    }
    // It is back.
    write_state(&stream, 1, 2);
    assert_eq!(types(&written(&stream, &mut lines)), "session");
}

#[test]
fn titles_are_texts_which_are_said_if_they_are_asked_for() {
    let said = |texts| {
        let stream = Stream::new(Arc::new(Rules::default()), PACE, texts);
        let mut lines = Lines {
            seq: 0,
            now: || Timestamp::UNIX_EPOCH,
            reports_alone: false,
            is_plain: false,
        };
        write_state(&stream, 1, 1);
        written(&stream, &mut lines).remove(0)
    };
    let without = said(Texts::Names);
    assert!(!without.to_string().contains("secret"), "{without}");
    assert_eq!(
        (&without["name"], &without["path"]),
        (&"1".into(), &"/logs/1.jsonl".into())
    );
    let with = said(Texts::All);
    assert_eq!(
        (&with["title"], &with["name"]),
        (&"a secret title".into(), &"a secret title".into())
    );
}
