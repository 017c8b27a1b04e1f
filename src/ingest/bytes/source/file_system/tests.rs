//! A second file system, in memory: logs in it are found, read and followed by the code that does so with files.

use super::*;
use crate::bytes::sync::lock;
use crate::discover::roots::SearchRoot;
use crate::discover::{ScanResult, Scanner};
use crate::log::reader::read_whole;
use crate::log::{LogFile, NewEntries};
use crate::testing::TOY;
use crate::{IngestEvent, Options, start};
use agents::builtin::codex::CODEX;
use files::paths::User;
use files::waiting::wait_for;
use formats::Format;
use formats::database::MAGIC;
use model::event::{ByLength, Conversation};
use model::lists::sessions::{SessionKey, Sessions};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::channel;

/// The files of a machine that does not exist.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<BTreeMap<PathBuf, Written>>>);

#[derive(Clone, Default)]
struct Written {
    bytes: Vec<u8>,
    writes: u64,
}

impl Memory {
    fn append(&self, path: &str, bytes: &[u8]) {
        let mut files = lock(&self.0);
        let file = files.entry(PathBuf::from(path)).or_default();
        file.bytes.extend_from_slice(bytes);
        file.writes += 1;
    }

    fn root(&self, root: SearchRoot) -> SearchRoot {
        SearchRoot::In(Arc::new(self.clone()), Box::new(root))
    }

    fn look(&self, root: SearchRoot) -> ScanResult {
        let formats: Vec<&'static Format> = vec![&TOY, &CODEX];
        Scanner::new(vec![self.root(root)], formats, |_| None).look()
    }
}

impl FileSystem for Memory {
    fn list(&self, folder: &Path) -> io::Result<Entries> {
        let mut entries = BTreeMap::new();
        for path in lock(&self.0).keys() {
            let Ok(below) = path.strip_prefix(folder) else {
                continue;
            };
            let mut parts = below.iter();
            let Some(name) = parts.next() else { continue };
            let is_folder = parts.next().is_some();
            let kind = if is_folder { Kind::Folder } else { Kind::File };
            entries.insert(name.to_owned(), kind);
        }
        let entries = entries.into_iter();
        Ok(Box::new(
            entries.map(|(name, kind)| Ok(Entry { name, kind })),
        ))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let files = lock(&self.0);
        let (kind, stamp) = match files.get(path) {
            Some(file) => (
                Kind::File,
                Stamp::made(file.bytes.len() as u64, file.writes),
            ),
            None if files.keys().any(|file| file.starts_with(path)) => {
                let writes = files.values().map(|file| file.writes).sum();
                (Kind::Folder, Stamp::made(0, writes))
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(Stat {
            kind,
            stamp,
            has_other_names: false,
        })
    }

    fn open(&self, path: &Path) -> io::Result<(Bytes, Stamp)> {
        let stamp = self.stamp(path)?;
        let files = lock(&self.0);
        let file = files.get(path).cloned().unwrap_or_default();
        Ok((Box::new(Cursor::new(file.bytes)), stamp))
    }
}

/// Logs of every kind that is kept in files, and one that is not.
fn memory() -> Memory {
    let memory = Memory::default();
    let line = b"{\"toy\":100}\n";
    memory.append("far:/toy/lines.toy", line);
    memory.append("far:/toy/document.toys", b"[{\"toy\":7},{\"toy\":200}]");
    for (n, tokens) in [(1, 30), (2, 300)] {
        let part = format!("{{\"toy\":{tokens}}}");
        memory.append(
            &format!("far:/toy/below/talk/parts/part-{n}.json"),
            part.as_bytes(),
        );
    }
    memory.append("far:/toy/all.talks", MAGIC);
    memory
}

fn prompts(log: &LogFile) -> Vec<u64> {
    let sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
    sessions[0].1.requests().iter().map(|r| r.prompt).collect()
}

#[test]
fn logs_in_another_file_system_are_found_and_read() {
    let memory = memory();
    for root in [
        SearchRoot::Usual(&TOY, "far:/toy".into()),
        SearchRoot::Given("far:/toy".into()),
        SearchRoot::Given("far:/".into()),
    ] {
        let is_usual = root.agent().is_some();
        let found = memory.look(root);
        let read: BTreeMap<&str, Vec<u64>> = found
            .files
            .iter()
            .map(|log| (log.facts.id.as_deref().unwrap(), prompts(log)))
            .collect();
        let mut expected = BTreeMap::from([("lines", vec![100]), ("talk", vec![30, 300])]);
        if is_usual {
            // Its bytes do not tell what it is.
            expected.insert("document", vec![7, 200]);
        }
        assert_eq!(read, expected);
        assert!(found.files.iter().all(|log| !log.system.is_here()));
        // A database is passed over, and where it is an agent's, that is said.
        assert_eq!(found.problems.len(), usize::from(is_usual));
    }
    let one = memory.look(SearchRoot::Given("far:/toy/lines.toy".into()));
    assert_eq!(prompts(&one.files[0]), [100]);
    let none = memory.look(SearchRoot::Given("far:/toy/none.toy".into()));
    assert!(
        none.problems[0].1.contains("no such"),
        "{:?}",
        none.problems
    );
}

#[test]
fn a_log_that_continues_others_is_joined_in_another_file_system() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/fork-by-reference");
    let memory = Memory::default();
    for entry in fs::read_dir(&here).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.ends_with(".jsonl") {
            let name = match name.as_str() {
                "log.jsonl" => {
                    "rollout-2026-11-20T10-04-00-cccccccc-3333-7333-8333-333333333333.jsonl"
                }
                name => name,
            };
            let path = format!("far:/codex/sessions/2026/{name}");
            memory.append(&path, &fs::read(entry.path()).unwrap());
        }
    }
    let root = SearchRoot::Usual(&CODEX, "far:/codex/sessions".into());
    let found = memory.look(root).files;
    let fork = found
        .iter()
        .find(|log| log.facts.path.to_string_lossy().contains("cccccccc"));
    let here = Scanner::new(
        vec![SearchRoot::Given(here.join("log.jsonl"))],
        vec![&CODEX],
        |_| None,
    );
    let here = { here }.look().files.remove(0);
    assert!(prompts(&here).len() > 1);
    assert_eq!(prompts(fork.unwrap()), prompts(&here));
}

#[test]
fn a_log_in_another_file_system_is_followed() {
    let memory = memory();
    let path = "far:/toy/lines.toy";
    let root = SearchRoot::Given(path.into());
    let log = memory.look(root).files.remove(0);
    let mut cursor = log.store.cursor(&log, &Arc::default());
    cursor.more(&ByLength).unwrap();
    memory.append(path, b"{\"toy\":200}\n");
    let NewEntries::Entries(entries) = cursor.more(&ByLength).unwrap() else {
        panic!("it goes on");
    };
    assert_eq!(entries.len(), 2);

    let (sender, events) = channel();
    let options = Options {
        formats: vec![&TOY],
        roots: vec![memory.root(SearchRoot::Usual(&TOY, "far:/toy".into()))],
        user: User::default(),
        rules: Arc::default(),
        counter: Arc::default(),
        cache: None,
        poll: false,
    };
    let handle = start(options, None, move |event| match sender.send(event) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    let _handle = handle.unwrap();
    let mut sessions = Sessions::new(Arc::default());
    let key = SessionKey {
        file: log.facts.file,
        conversation: Conversation::Main,
    };
    let mut problems = BTreeSet::new();
    for prompt in [200, 300] {
        wait_for("the newest request", || {
            while let Ok(event) = events.try_recv() {
                match event {
                    IngestEvent::Update(update) => sessions.apply(update),
                    IngestEvent::Problem { what, .. } => drop(problems.insert(what)),
                    other => panic!("{other:?}"),
                }
            }
            let gauge = sessions.gauge(key);
            let newest = gauge.and_then(|gauge| gauge.prompts.last().copied());
            let is_there = newest == Some(prompt);
            is_there.then_some(()).ok_or_else(|| format!("{newest:?}"))
        });
        memory.append(path, b"{\"toy\":300}\n");
    }
    assert_eq!(problems.len(), 1, "the database: {problems:?}");
}
