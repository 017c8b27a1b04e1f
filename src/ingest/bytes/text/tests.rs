use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::LogFile;
use crate::log::event::IngestEvent;
use crate::log::reader::read_whole;
use crate::testing::toy_log;
use crate::worker::job::{Origin, TextQueue, do_job};
use crate::{OnWritten, TextJob};
use model::event::ByLength;
use model::lists::text::{PAGE_BYTES, Text};
use model::session::Item;
use std::path::Path;
use std::sync::{Arc, Mutex};

fn wanted(log: &LogFile, item: &Item, page: u32) -> TextRequest {
    let request = TextRequest::of(log.facts.file, item).unwrap();
    TextRequest { page, ..request }
}

fn items(log: &LogFile) -> Vec<Item> {
    let sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
    sessions
        .into_iter()
        .flat_map(|(_, session)| session.items().to_vec())
        .collect()
}

fn page(log: &LogFile, item: &Item, page: u32) -> Result<Text, String> {
    let job = TextJob::Page(wanted(log, item, page));
    match do_job(job, Origin::Log(log.clone())) {
        Some(IngestEvent::Text(page)) => page.text,
        other => panic!("{other:?}"),
    }
}

/// A toy log of these bytes.
fn written(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, LogFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let log = toy_log(&path);
    (dir, log)
}

fn texts(name: &str, content: &str) -> Vec<String> {
    let (_dir, log) = written(name, content);
    let text = |item: &Item| page(&log, item, 0).unwrap().text;
    items(&log).iter().map(text).collect()
}

/// A log of Claude Code with this line.
fn claude(line: &str) -> (tempfile::TempDir, LogFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let first = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(&path, format!("{first}\n{line}\n")).unwrap();
    let formats = vec![agents::by_id("claude-code").unwrap()];
    let mut found = Scanner::new(vec![SearchRoot::Given(path)], formats, |_| None).look();
    (dir, found.files.swap_remove(0))
}

/// Written anywhere, to be looked at afterwards.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn whole(log: &LogFile, item: &Item) -> Vec<u8> {
    let paper = Paper::default();
    let (sender, told) = std::sync::mpsc::channel();
    let done: OnWritten = Box::new(move |result| sender.send(result).unwrap());
    let job = TextJob::WriteAll(wanted(log, item, 0), Box::new(paper.clone()), done);
    assert!(do_job(job, Origin::Log(log.clone())).is_none());
    let bytes = std::mem::take(&mut *paper.0.lock().unwrap());
    assert_eq!(told.recv().unwrap(), Ok(bytes.len() as u64));
    bytes
}

#[test]
fn an_items_text_is_read_where_it_stands() {
    let lines = "{\"say\":\"eins\"}\r\n\n{\"toy\":9}\n{\"say\":\"größer\"}";
    assert_eq!(texts("a.toy", lines), ["eins", "answer", "größer"]);
    let document = "[{\"say\":\"eins\"},\n{\"toy\":9},{\"say\":\"zwei\"}]";
    assert_eq!(texts("a.toys", document), ["eins", "answer", "zwei"]);
}

#[test]
fn every_item_of_every_format_has_its_text() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let logs = Scanner::new(
        vec![SearchRoot::Given(fixtures)],
        agents::ALL.to_vec(),
        |_| None,
    )
    .look();
    assert!(logs.files.len() > 50);
    for log in &logs.files {
        for item in items(log) {
            if item.size.bytes == 0 {
                assert_eq!(TextRequest::of(log.facts.file, &item), None);
                continue;
            }
            let text = page(log, &item, 0);
            let text = text.unwrap_or_else(|e| panic!("{:?}: {item:?}: {e}", log.facts.path));
            // The parts of a text stand on lines of their own.
            let between = text.bytes - u64::from(item.size.bytes);
            assert!(between < 40, "{:?}: {item:?}: {text:?}", log.facts.path);
            assert_eq!(text.text.len() as u64, text.bytes);
        }
    }
}

#[test]
fn a_line_of_8_mb_comes_in_pages() {
    // Escapes and characters of all lengths, so that pages end inside of them.
    let row = "0 größer 漢字 😀\t\"quoted\"\\\n";
    let text: String = (0..)
        .map(|n| row.replace('0', &n.to_string()))
        .take(160_000)
        .collect();
    let json = serde_json::to_string(&text).unwrap();
    assert!(json.len() > 6 << 20);
    let line = format!("{{\"toy\":1}}\n{{\"say\":{json}}}\n{{\"say\":\"after\"}}\n");
    let (_dir, log) = written("a.toy", line);
    let item = items(&log).swap_remove(1);
    let pages = page(&log, &item, 0).unwrap().pages;
    assert!(pages > 5);
    // A page begins with the character that begins in it.
    let begin = |n: u32| {
        let at = (n as usize * PAGE_BYTES as usize).min(text.len());
        (at..).find(|at| text.is_char_boundary(*at)).unwrap()
    };
    for n in [0, 1, 2, pages - 2, pages - 1] {
        let part = page(&log, &item, n).unwrap();
        assert_eq!((part.bytes, part.pages), (text.len() as u64, pages));
        assert!(part.text == text[begin(n)..begin(n + 1)], "page {n}");
        let newlines = |text: &str| text.matches('\n').count() as u64;
        assert_eq!(part.line, 1 + newlines(&text[..begin(n)]));
        assert_eq!(part.lines, 1 + newlines(&text));
    }
    assert!(
        whole(&log, &item) == text.as_bytes(),
        "the whole is not the text"
    );
    assert_eq!(
        page(&log, &item, u32::MAX).unwrap(),
        page(&log, &item, pages - 1).unwrap(),
        "beyond the end is the end"
    );
}

#[test]
fn long_strings_of_one_line_are_told_apart() {
    let long = |c: &str| format!("{c}{}", c.repeat(100_000));
    let content = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"text","text":"{}"}},{{"type":"text","text":"{}<system-reminder>a</system-reminder>{}"}}]}}]}},"uuid":"u","parentUuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","pad":"{}"}}"#,
        long("a"),
        "b",
        long("c"),
        "x".repeat(5 << 20),
    );
    let (_dir, log) = claude(&content);
    let items = items(&log);
    let text = page(&log, &items[1], 0).unwrap().text;
    assert_eq!(text, format!("{}\nb\n{}", long("a"), long("c")));
}

#[test]
fn json_stays_as_it_is_written() {
    let input = format!(
        r#"{{"old":"{}\n","new":"{}\u00e9"}}"#,
        "o".repeat(90_000),
        "n".repeat(90_000)
    );
    let content = format!(
        r#"{{"type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"Edit","input":{input}}}]}},"uuid":"u","parentUuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","pad":"{}"}}"#,
        "x".repeat(5 << 20),
    );
    let (_dir, log) = claude(&content);
    let items = items(&log);
    assert_eq!(
        page(&log, &items[1], 0).unwrap().text,
        format!("Edit\n{input}")
    );
}

#[test]
fn what_was_rewritten_or_is_gone_is_said() {
    for name in ["a.toy", "a.toys"] {
        let log = |text: &str| format!("[{{\"say\":\"{text}\"}}]");
        let log = |text: &str| match name {
            "a.toy" => log(text).trim_matches(['[', ']']).to_owned(),
            _ => log(text),
        };
        let (_dir, file) = written(name, log("eins"));
        let item = items(&file).swap_remove(0);
        std::fs::write(&*file.facts.path, log("zwei")).unwrap();
        let said = page(&file, &item, 0).unwrap_err();
        assert!(said.contains("rewritten"), "{said}");
        std::fs::remove_file(&*file.facts.path).unwrap();
        let said = page(&file, &item, 0).unwrap_err();
        assert!(said.contains("gone"), "{said}");
    }
}

#[test]
fn of_pages_that_wait_the_newest_is_read() {
    let (_dir, log) = written("a.toy", "{\"say\":\"eins\"}\n");
    let item = items(&log).swap_remove(0);
    let mut shelf = TextQueue::default();
    let whole = TextJob::WriteAll(
        wanted(&log, &item, 7),
        Box::new(io::sink()),
        Box::new(|_| ()),
    );
    shelf.put(TextJob::Page(wanted(&log, &item, 0)));
    shelf.put(whole);
    shelf.put(TextJob::Page(wanted(&log, &item, 1)));
    let pages: Vec<u32> = std::iter::from_fn(|| shelf.take())
        .map(|job| job.request().page)
        .collect();
    assert_eq!(pages, [1, 7]);
}

#[test]
fn a_mark_is_words_where_nothing_more_is_read() {
    let cut = format!("a{ELIDED}7{ELIDED}\",\"b{ELIDED}12{ELIDED}");
    assert_eq!(without_marks(&cut), "a[… 7 bytes …]\",\"b[… 12 bytes …]");
    let forged = format!("a{ELIDED}b{ELIDED}c{ELIDED}");
    assert_eq!(without_marks(&forged), "abc");
}

#[test]
fn texts_of_a_folder_are_in_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("talk/parts");
    std::fs::create_dir_all(&folder).unwrap();
    let long = "x".repeat(LONG_LINE);
    for (number, text) in ["one", &long, "three"].into_iter().enumerate() {
        let path = folder.join(format!("part-{number}.json"));
        std::fs::write(path, format!("{{\n\"say\":\"{text}\"}}")).unwrap();
    }
    let root = SearchRoot::Usual(&crate::testing::TOY, folder.clone());
    let log = Scanner::new(vec![root], vec![], |_| None)
        .look()
        .files
        .swap_remove(0);
    let items = items(&log);
    let read = |n: usize| page(&log, &items[n], 0).map(|page| (page.text, page.bytes));
    assert_eq!(read(0), Ok(("one".to_owned(), 3)));
    assert_eq!(read(2), Ok(("three".to_owned(), 5)));
    assert_eq!(read(1).unwrap().1, LONG_LINE as u64);
    assert_eq!(whole(&log, &items[1]), long.as_bytes());
    // Another file stands there now.
    std::fs::remove_file(folder.join("part-0.json")).unwrap();
    assert!(read(2).unwrap_err().contains("rewritten"));
}
