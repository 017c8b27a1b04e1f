use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::conversations::LogSessions;
use model::event::ByLength;
use model::session::Session;
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::PathBuf;

/// A document of some agent in a folder of its own.
struct Written {
    dir: tempfile::TempDir,
    path: PathBuf,
    log: LogFile,
}

impl Written {
    fn new(path: &str, text: &str) -> Written {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let root = SearchRoot::Given(dir.path().to_path_buf());
        let log = Scanner::new(vec![root], agents::ALL.to_vec(), |_| None)
            .look()
            .files
            .remove(0);
        Written { dir, path, log }
    }

    fn gemini(messages: &[String]) -> Written {
        Written::new("chats/session-2026-01-02T03-04-s.json", &gemini(messages))
    }

    /// Another file takes its place, as agents write them.
    fn write(&self, text: &str) {
        let other = self.dir.path().join("other");
        fs::write(&other, text).unwrap();
        fs::rename(other, &self.path).unwrap();
    }

    fn source(&self) -> Arc<dyn Open> {
        Arc::new(self.path.clone())
    }

    fn cursor(&self) -> DocumentCursor {
        DocumentCursor::new(&self.source(), &self.log, &Arc::default())
    }

    fn fresh(&self) -> LogSessions {
        let mut document = self.cursor();
        let read = document.read_whole(&mut self.source().open().unwrap().0, 0, &ByLength);
        read.unwrap().conversations.into_sessions()
    }
}

fn gemini(messages: &[String]) -> String {
    format!(
        "{{\n \"sessionId\": \"s\", \"projectHash\": \"h\",\n \"lastUpdated\": \"2026-01-02T03:04:{:02}Z\",\n \
         \"messages\": [\n  {}\n ]\n}}",
        messages.len() % 60,
        messages.join(",\n  ")
    )
}

fn message(n: usize, text: &str) -> String {
    let kind = ["user", "gemini"][n % 2];
    format!(
        "{{\"id\":\"m{n}\",\"type\":\"{kind}\",\"content\":{},\"tokens\":{{\"input\":{},\"output\":9}}}}",
        serde_json::to_string(text).unwrap(),
        1_000 + 100 * n
    )
}

fn messages(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| message(n, &format!("text ]}}\" {n}")))
        .collect()
}

fn same(a: &LogSessions, b: &LogSessions) {
    assert_eq!(a.len(), b.len());
    for ((conversation, a), (other, b)) in a.iter().zip(b) {
        assert_eq!(conversation, other);
        assert_eq!(a.context(), b.context());
        assert_eq!(a.items(), b.items());
        assert_eq!(a.requests(), b.requests());
        assert_eq!(a.resets(), b.resets());
        assert_eq!((a.records, a.unreadable), (b.records, b.unreadable));
        assert_eq!((a.started_at, a.updated_at), (b.started_at, b.updated_at));
    }
}

fn main_of(conversations: Conversations) -> Session {
    conversations.into_sessions().remove(0).1
}

#[test]
fn a_grown_document_is_read_on_from_where_it_has_not_changed() {
    let mut said = messages(30);
    let file = Written::gemini(&said);
    let mut document = file.cursor();
    document.rewritten(&ByLength).unwrap().unwrap();
    let checkpoint = |document: &DocumentCursor| document.checkpoint.as_ref().unwrap().elements;
    assert_eq!(checkpoint(&document), 30 - MUTABLE_TAIL);

    said[29] = message(29, "more");
    said.extend([message(30, "new")]);
    file.write(&gemini(&said));
    let mut open = file.source().open().unwrap().0;
    assert!(matches!(
        document.read_on(&mut open, &ByLength).unwrap(),
        Continuation::Read(contents) if contents.checkpoint.as_ref().unwrap().elements == 31 - MUTABLE_TAIL
    ));
}

#[test]
fn one_that_changed_before_is_read_whole() {
    let mut said = messages(30);
    let file = Written::gemini(&said);
    let mut document = file.cursor();
    let mut changes = |change: &dyn Fn(&mut Vec<String>) -> String| {
        document.rewritten(&ByLength).unwrap();
        let text = change(&mut said);
        file.write(&text);
        let mut open = file.source().open().unwrap().0;
        let continued = document.read_on(&mut open, &ByLength).unwrap();
        assert!(matches!(continued, Continuation::Changed));
    };
    changes(&|said| {
        said[3] = message(3, "text ]}\" x");
        gemini(said)
    });
    changes(&|said| {
        said.truncate(12);
        gemini(said)
    });
    changes(&|said| gemini(said).replace("\"s\"", "\"another\""));
    changes(&|_| "{}".to_owned());
}

#[test]
fn one_that_is_half_written_is_not_there_yet() {
    let said = messages(30);
    let file = Written::gemini(&said);
    let mut document = file.cursor();
    document.rewritten(&ByLength).unwrap().unwrap();
    assert_waits_for_all(&file, &mut document);
}

/// Asserts that nothing is read of a document that is written in parts until the last of them is there.
fn assert_waits_for_all(file: &Written, document: &mut DocumentCursor) {
    let text = gemini(&messages(33));
    for part in [0, text.len() / 2, text.len() - 2] {
        file.write(&text[..part]);
        let error = document.rewritten(&ByLength).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
    file.write(&text);
    let read = main_of(document.rewritten(&ByLength).unwrap().unwrap());
    assert_eq!(read.items().len(), 33);
}

/// A file whose reader waits so long between opening and reading that it reads half of a later write.
struct Slow(PathBuf);

impl Open for Slow {
    fn open(&self) -> io::Result<(Bytes, Stamp)> {
        let (bytes, stamp) = self.0.open()?;
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        Ok((bytes, stamp.dated(long_ago)))
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.0.stamp()
    }
}

#[test]
fn one_that_was_rewritten_since_it_was_opened_is_not_there_yet() {
    let file = Written::gemini(&messages(30));
    let mut document = file.cursor();
    document.source = Arc::new(Slow(file.path.clone()));
    assert_waits_for_all(&file, &mut document);
}

#[test]
fn one_that_is_too_large_is_refused_however_it_was_read_before() {
    let file = Written::gemini(&messages(30));
    let mut document = file.cursor();
    document.rewritten(&ByLength).unwrap().unwrap();
    let open = File::options().write(true).open(&file.path).unwrap();
    open.set_len(LARGEST + 1).unwrap();
    let error = document.rewritten(&ByLength).err().unwrap();
    assert!(error.to_string().contains("64 MiB"), "{error}");
}

#[test]
fn a_document_is_the_conversation_that_its_lines_would_be() {
    let text = include_str!("../../fixtures/gemini-cli/document/log.json");
    let file = Written::new("chats/session-2026-01-02T03-04-s.json", text);
    let session = file.fresh().remove(0).1;
    let previews: Vec<&str> = session.items().iter().map(|item| &*item.preview).collect();
    assert_eq!(previews, ["hi", "Hello.", "(not in the log)", "and?"]);
    assert_eq!(
        session.items()[3].place.line(),
        4,
        "the number of the message"
    );
    assert_eq!(session.meta.id.as_deref(), Some("s-doc"));
    assert_eq!(session.unreadable, 1);
}

#[test]
fn names_of_other_elements_are_passed_over() {
    let head = "id: a\ncreated_at: '2026-05-11T09:00:00.1'\nsystem_messages: []\nmessages:\n";
    let text = format!("{head}- &m\n  role: user\n  content: &c [&t 'ha', *t, *t]\n- *m\n");
    let file = Written::new("one/session.yaml", &text);
    let session = file.fresh().remove(0).1;
    assert_eq!((session.items().len(), session.unreadable), (1, 0));
    assert_eq!(session.skipped.get("alias"), Some(&1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However a document is rewritten, reading on gives what reading it whole does.
    #[test]
    fn a_document_that_is_rewritten_ends_as_a_fresh_one(
        acts in prop::collection::vec((0_usize..6, 0_usize..40, "[a-z\\\\\"\\]}{\\[é ]{0,9}"), 1..8),
    ) {
        let mut said = messages(12);
        let file = Written::gemini(&said);
        let mut document = file.cursor();
        for (act, at, text) in acts {
            match act {
                0 => said.truncate(at),
                1 if !said.is_empty() => {
                    let at = at % said.len();
                    said[at] = message(at, &text);
                }
                2 if !said.is_empty() => {
                    let at = said.len() - 1 - at % said.len().min(MUTABLE_TAIL);
                    said[at] = message(at, &text);
                }
                _ => {
                    let from = said.len();
                    said.extend((from..from + at).map(|n| message(n, &text)));
                }
            }
            file.write(&gemini(&said));
            let read = document.rewritten(&ByLength).unwrap();
            if let Some(read) = read {
                same(&read.into_sessions(), &file.fresh());
            }
        }
    }
}

/// A document of Cline with this many messages of the user.
fn cline(count: usize) -> String {
    let message = |n| format!(r#"{{"id":"m{n}","role":"user","content":"text {n}","ts":{n}}}"#);
    let messages: Vec<String> = (0..count).map(message).collect();
    format!(
        r#"{{"version":1,"updated_at":"","agent":"lead","sessionId":"17","messages":[{}]}}"#,
        messages.join(",")
    )
}

#[test]
fn a_document_beside_it_that_comes_later_is_taken_in() {
    let log = Written::new("17/17.messages.json", &cline(20));
    let mut cursor = log.cursor();
    let read = |cursor: &mut DocumentCursor| {
        let news = cursor.rewritten(&ByLength).unwrap();
        let sessions = news.map(Conversations::into_sessions);
        sessions.inspect(|sessions| same(sessions, &log.fresh()))
    };
    assert!(read(&mut cursor).unwrap()[0].1.resets().is_empty());
    assert!(!cursor.has_sidecar_changes());

    let beside = log.path.with_file_name("17.compaction.json");
    let compaction = |count| {
        format!(
            r#"{{"source_message_count":{count},"messages":[{{"role":"user","content":"all"}}]}}"#
        )
    };
    for (count, resets) in [(12, 1), (20, 1), (30, 0)] {
        fs::write(&beside, compaction(count)).unwrap();
        assert!(cursor.has_sidecar_changes());
        let session = &read(&mut cursor).unwrap()[0].1;
        assert_eq!(session.resets().len(), resets, "{count}");
    }
    // With its messages comes the place of the compaction.
    log.write(&cline(31));
    assert_eq!(read(&mut cursor).unwrap()[0].1.resets().len(), 1);
    // Half written, it says nothing yet.
    fs::write(&beside, "{\"source").unwrap();
    assert!(read(&mut cursor).unwrap()[0].1.resets().is_empty());
}
