//! The whole way, from files that are written to sessions that are shown.

use super::*;
use crate::discover::roots::SearchRoot;
use crate::log::file_id;
use crate::log::reader::read_whole;
use crate::store::pipe::PipeInput;
use crate::testing::{HANG, TOY, some_time, toy_log};
use crate::worker::stuck::ANSWER_TIME;
use agents::builtin::ouro::OURO;
use files::paths::User;
use files::waiting::wait_for;
use model::event::{ByLength, Conversation, Measure};
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{SessionKey, Sessions, Update};
use model::lists::text::TextRequest;
use model::session::{Coverage, Session};
use model::values::process_activity::ProcessActivity;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, SystemTime};
use tokens::Counter;

mod beside;
mod cached;
mod many;

struct Watching {
    sessions: Sessions,
    updates: Receiver<IngestEvent>,
    handle: Handle,
    overseer: Overseer,
    seen: Vec<&'static str>,
}

fn options(roots: Vec<SearchRoot>) -> Options {
    Options {
        formats: vec![&TOY],
        roots,
        user: User::default(),
        rules: Arc::default(),
        counter: Arc::default(),
        cache: None,
        poll: false,
    }
}

fn kind(update: &Update) -> &'static str {
    match update {
        Update::Found(_) => "found",
        Update::Rebuilt { .. } => "rebuilt",
        Update::Appended { .. } => "appended",
        Update::Settings { .. } => "settings",
        Update::Summaries { .. } => "summaries",
        Update::Running { .. } => "running",
        Update::Vanished(_) => "vanished",
        Update::InitialScanDone => "gauges",
        Update::PutAway(_) => "put away",
        Update::Host { .. } => "host",
        Update::CaughtUp => "caught up",
    }
}

impl Watching {
    fn new(options: Options) -> Watching {
        Watching::with_pipe(options, None)
    }

    fn with_pipe(options: Options, log: Option<&'static [u8]>) -> Watching {
        let piped = log.map(|log| PipeInput {
            source: Box::new(log),
            format: None,
        });
        let (sender, updates) = sync_channel(8);
        let rules = Arc::clone(&options.rules);
        let begun = begin(options, piped, move |update| match sender.send(update) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        let (handle, overseer) = begun.unwrap();
        Watching {
            sessions: Sessions::new(rules),
            updates,
            handle,
            overseer,
            seen: Vec::new(),
        }
    }

    fn folder(path: &Path) -> Watching {
        Watching::new(options(vec![SearchRoot::Usual(&TOY, path.to_path_buf())]))
    }

    /// Takes in updates until something holds.
    fn until(&mut self, what: &str, holds: impl Fn(&Sessions) -> bool) {
        self.take_in(what, |watching| holds(&watching.sessions));
    }

    /// Takes in updates until one of a kind has come.
    fn until_seen(&mut self, kind: &'static str) {
        self.take_in(kind, |watching| watching.seen.contains(&kind));
    }

    fn take_in(&mut self, what: &str, holds: impl Fn(&Watching) -> bool) {
        wait_for(what, || {
            while !holds(self) {
                let update = self.updates.try_recv();
                let update = update.map_err(|e| format!("{e} after {:?}", self.seen))?;
                self.seen.push(match &update {
                    IngestEvent::Update(update) => kind(update),
                    IngestEvent::Problem { .. } => "problem",
                    IngestEvent::Banner(_) => "banner",
                    IngestEvent::Text(_) => "text",
                });
                if let IngestEvent::Update(update) = update {
                    self.sessions.apply(update);
                }
            }
            Ok::<(), String>(())
        });
    }

    /// Ends the reading, and waits until it has: what the cache is to hold is written then.
    fn end(self) {
        self.handle.wanted.stop.store(true, Ordering::Relaxed);
        let _ = self.handle.inbox.try_send(Wake::Look);
        wait_for("end of the reading", || {
            // Who reads may wait for somebody to take an update.
            while self.updates.try_recv().is_ok() {}
            match lock(&self.handle.worker).try_recv() {
                Err(TryRecvError::Disconnected) => Ok(()),
                _ => Err("it reads"),
            }
        });
    }

    fn until_known(&mut self, path: &Path, known: u64) {
        let key = key(path);
        self.until(&format!("{known} known"), |sessions| {
            sessions
                .gauge(key)
                .is_some_and(|gauge| gauge.context.known == known)
        });
    }

    fn gauge(&self, path: &Path) -> &SessionGauge {
        self.sessions.gauge(key(path)).expect("a session")
    }

    fn session(&self, path: &Path) -> &Session {
        self.sessions.get(key(path)).expect("a session")
    }

    /// Asserts that a followed session is the same as one from a fresh reading. Appended texts are counted, the rest
    /// may be sized by its length.
    fn assert_same_as_fresh(&self, path: &Path) {
        let followed = self.session(path);
        let read = |measure: &dyn Measure| {
            let mut fresh = read_whole(&toy_log(path), measure, &Arc::default()).unwrap();
            fresh.remove(0).1
        };
        let fresh = [read(&Counter::new()), read(&ByLength)];
        let is_either = |equals: &dyn Fn(&Session) -> bool| fresh.iter().any(equals);
        assert!(is_either(&|fresh| followed.context() == fresh.context()));
        assert!(is_either(&|fresh| followed.requests() == fresh.requests()));
        for (ix, item) in followed.items().iter().enumerate() {
            assert!(is_either(&|fresh| &fresh.items()[ix] == item), "{item:?}");
        }
        assert!(is_either(&|fresh| {
            (followed.items().len(), followed.unreadable) == (fresh.items().len(), fresh.unreadable)
        }));
    }
}

fn key(path: &Path) -> SessionKey {
    SessionKey {
        file: file_id(path),
        conversation: Conversation::Main,
    }
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// Replaces a file at one moment: a busy machine may stop whoever rewrites it, and leave it empty for long.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path).unwrap();
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("one.toy");
    (dir, path)
}

#[test]
fn all_gauges_first_then_all_the_rest() {
    let (dir, _) = folder();
    for n in 0..20 {
        let path = dir.path().join(format!("{n}.toy"));
        append(
            &path,
            &format!("{{\"toy\":5}}\n{{\"say\":\"{}\"}}\n", "x".repeat(300_000)),
        );
        append(&path, &format!("{{\"toy\":90}}\n{{\"toy\":{}}}\n", 100 + n));
    }
    let mut watching = Watching::folder(dir.path());
    watching.until("gauges", |sessions| sessions.initial_scan_done);
    assert_eq!(watching.sessions.len(), 20);
    for (_, gauge) in watching.sessions.gauges() {
        assert_eq!(gauge.coverage, Coverage::Tail);
        assert!(gauge.context.known >= 100);
    }
    watching.until("caught up", |sessions| sessions.caught_up);
    for (_, gauge) in watching.sessions.gauges() {
        assert_eq!(gauge.coverage, Coverage::Whole);
        assert_eq!(gauge.requests, 3);
    }
}

#[test]
fn appended_torn_truncated_replaced_vanished() {
    let (dir, path) = folder();
    append(&path, "{\"cwd\":\"/p\"}\n{\"toy\":100}\n");
    let mut watching = Watching::folder(dir.path());
    watching.until_known(&path, 101);
    append(&path, "{\"say\":\"hi\"}\n{\"toy\":2");
    append(&path, "00}\n");
    watching.until_known(&path, 201);
    watching.assert_same_as_fresh(&path);
    // Truncated and written anew.
    fs::write(&path, "{\"toy\":300}\n").unwrap();
    watching.until_known(&path, 301);
    watching.assert_same_as_fresh(&path);
    // Replaced, and longer than before.
    replace(&path, "{\"toy\":1}\n{\"side\":\"agent\"}\n{\"toy\":400}\n");
    watching.until_known(&path, 401);
    watching.assert_same_as_fresh(&path);
    assert_eq!(watching.sessions.len(), 2, "a lane of its own");
    assert!(!watching.seen.contains(&"vanished"));
    // Rewritten in place, to the same length.
    fs::write(&path, "{\"toy\":1}\n{\"side\":\"agent\"}\n{\"toy\":500}\n").unwrap();
    watching.until_known(&path, 501);
    // A last line without its newline counts when nobody goes on.
    append(&path, "{\"toy\":600}");
    watching.until_known(&path, 601);
    append(&path, "\n{\"toy\":700}\n");
    watching.until_known(&path, 701);
    watching.assert_same_as_fresh(&path);
    fs::remove_file(&path).unwrap();
    watching.until("vanished", |sessions| sessions.is_empty());
}

#[test]
fn new_files_in_new_folders_appear() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("logs");
    fs::create_dir(&root).unwrap();
    let mut watching = Watching::folder(&root);
    watching.until("caught up", |sessions| sessions.caught_up);
    assert!(watching.sessions.is_empty());
    let path = root.join("a/b/c/new.toy");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    append(&path, "{\"toy\":7}\n");
    watching.until_known(&path, 8);
    append(&path, "{\"toy\":9}\n");
    watching.until_known(&path, 10);
}

#[test]
fn a_folder_of_files_appears_and_grows_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let parts = dir.path().join("talk/parts");
    let mut watching = Watching::folder(dir.path());
    watching.until("caught up", |sessions| sessions.caught_up);
    fs::create_dir_all(&parts).unwrap();
    let put = |number: u64, text: &str| {
        fs::write(parts.join(format!("part-{number}.json")), text).unwrap();
    };
    put(3, "{\"toy\":100}");
    watching.until_known(&parts, 101);
    put(4, "{\"say\":\"hi\"}");
    put(5, "{\"toy\":2");
    put(5, "{\"toy\":200}");
    watching.until_known(&parts, 201);
    watching.assert_same_as_fresh(&parts);
    // What comes late, or goes, has it read afresh.
    put(1, "{\"toy\":50}");
    fs::remove_file(parts.join("part-5.json")).unwrap();
    watching.until_known(&parts, 101);
    put(6, "{\"toy\":300}");
    watching.until_known(&parts, 301);
    watching.assert_same_as_fresh(&parts);
    assert_eq!(watching.sessions.len(), 1);
    fs::remove_dir_all(&parts).unwrap();
    watching.until("vanished", |sessions| sessions.is_empty());
}

#[test]
fn what_is_looked_at_is_counted() {
    let (dir, path) = folder();
    let text = "word ".repeat(100_000);
    append(
        &path,
        &format!("{{\"say\":\"{text}\"}}\n{{\"toy\":5}}\n{{\"reset\":1}}\n"),
    );
    append(
        &path,
        "{\"say\":\"some words here\"}\n{\"toy\":9}\n{\"say\":\"and more of them\"}\n",
    );
    let mut watching = Watching::folder(dir.path());
    watching.until("caught up", |sessions| sessions.caught_up);
    assert!(
        watching
            .session(&path)
            .items()
            .iter()
            .all(|item| !item.size.counted)
    );
    assert!(!watching.session(&path).is_settled());
    watching.handle.look_at(file_id(&path));
    let key = key(&path);
    watching.until("counted", |sessions| {
        let session = sessions.get(key).unwrap();
        session.items().iter().all(|item| item.size.counted)
    });
    assert!(watching.session(&path).is_settled());
    assert_eq!(watching.session(&path).items()[0].size.local, 100_001);
    // What is appended from now on is counted too.
    append(&path, "{\"say\":\"one two three\"}\n");
    watching.until("appended", |sessions| {
        sessions.get(key).unwrap().items().len() == 6
    });
    assert!(watching.session(&path).items()[5].size.counted);
    assert!(watching.session(&path).is_settled());
}

#[test]
fn a_document_is_followed_though_it_is_torn() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.toys");
    fs::write(&path, "[{\"toy\":5}]").unwrap();
    let mut watching = Watching::folder(dir.path());
    watching.until_known(&path, 6);
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"[{\"toy\":5},").unwrap();
    // Half of it is there when something else has been seen.
    let other = dir.path().join("other.toy");
    append(&other, "{\"toy\":1}\n");
    watching.until_known(&other, 2);
    file.write_all(b"{\"toy\":8}]").unwrap();
    watching.until_known(&path, 9);
    assert_eq!(watching.session(&path).unreadable, 0);
}

#[test]
fn standard_input_is_a_log_too() {
    let log = b"{\"toy\":100}\n{\"say\":\"x\"}\n{\"toy\":200}\n";
    let mut watching = Watching::with_pipe(options(Vec::new()), Some(log));
    let path = Path::new(pipe::STDIN);
    watching.until_known(path, 201);
    assert_eq!(watching.session(path).requests().len(), 2);

    let mut watching = Watching::with_pipe(options(Vec::new()), Some(b"nothing of that kind"));
    watching.until_seen("problem");
}

#[test]
fn binary_junk_is_counted() {
    let (dir, path) = folder();
    fs::write(
        &path,
        [
            &[0_u8, 159, 146, 150, b'\n'][..],
            b"{\"toy\":3}\n\xff\xfe\n",
        ]
        .concat(),
    )
    .unwrap();
    let mut watching = Watching::folder(dir.path());
    watching.until_known(&path, 4);
    assert_eq!(watching.session(&path).unreadable, 2);
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_a_problem_and_the_others_are_read() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, path) = folder();
    append(&path, "{\"toy\":3}\n");
    let closed = dir.path().join("closed.toy");
    append(&closed, "{\"toy\":4}\n");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(&closed).is_ok() {
        return; // root may read anything
    }
    let mut watching = Watching::folder(dir.path());
    watching.until("caught up", |sessions| sessions.caught_up);
    let problems = watching.seen.iter().filter(|seen| **seen == "problem");
    assert_eq!(problems.count(), 1);
    assert_eq!(watching.session(&path).context().known, 4);
}

#[test]
fn the_reading_ends_when_nobody_listens() {
    let (dir, path) = folder();
    append(&path, "{\"toy\":3}\n");
    let mut watching = Watching::folder(dir.path());
    watching.until_seen("found");
    let Watching {
        updates,
        handle,
        overseer,
        ..
    } = watching;
    drop((handle, overseer));
    // Who reads has let go of what takes the updates.
    wait_for("end of the updates", || match updates.try_recv() {
        Err(TryRecvError::Disconnected) => Ok(()),
        other => Err(format!("{:?}", other.err())),
    });
}

#[test]
fn an_items_text_is_read_while_logs_are_followed() {
    let (dir, path) = folder();
    append(&path, "{\"say\":\"eins\"}\n{\"toy\":5}\n");
    let mut watching = Watching::folder(dir.path());
    watching.until("caught up", |sessions| sessions.caught_up);
    let item = watching.session(&path).items()[0].clone();
    let wanted = TextRequest::of(file_id(&path), &item).unwrap();
    let read = |wanted| {
        watching.handle.read_text(TextJob::Page(wanted));
        wait_for("text", || match watching.updates.try_recv() {
            Ok(IngestEvent::Text(page)) if page.of == wanted => Ok(page.text),
            Ok(_) => Err("another update".to_owned()),
            Err(e) => Err(e.to_string()),
        })
    };
    assert_eq!(read(wanted).unwrap().text, "eins");
    assert_eq!(read(wanted).unwrap().text, "eins", "and again");
    let elsewhere = |path| TextRequest {
        file: file_id(Path::new(path)),
        ..wanted
    };
    assert!(read(elsewhere("none.toy")).unwrap_err().contains("gone"));
    assert!(read(elsewhere("-")).unwrap_err().contains("pipe"));
}

#[test]
fn a_summary_that_comes_while_its_session_is_watched_is_a_compaction() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.yaml");
    let history = include_str!("../../fixtures/ouro/history_before_its_summary/log.yaml");
    let summary = include_str!("../../fixtures/ouro/summary_in_place_of_history/log.yaml");
    fs::write(&path, history).unwrap();
    let mut watching = Watching::new(Options {
        formats: vec![&OURO],
        ..options(vec![SearchRoot::Forced(&OURO, path.clone())])
    });
    watching.until("the history, counted", |sessions| {
        sessions.get(key(&path)).is_some_and(|session| {
            let items = session.items();
            !items.is_empty() && items.iter().all(|item| item.size.counted)
        })
    });
    let before = watching.session(&path).context().used;
    replace(&path, summary);
    watching.until("the compaction", |sessions| {
        let session = sessions.get(key(&path));
        session.is_some_and(|session| !session.resets().is_empty())
    });
    let session = watching.session(&path);
    let after = session.context().used;
    let reset = &session.resets()[0];
    assert_eq!((reset.before, reset.after), (before, Some(after)));
    assert!(reset.at.is_some());
    // It is still there when the agent writes on.
    let more = "- role: assistant\n  content: I will read the export.\n  tokens: 0\n";
    replace(&path, &format!("{}\n{more}", summary.trim_end()));
    watching.until("the answer", |sessions| {
        let session = sessions.get(key(&path));
        session.is_some_and(|session| session.context().used > after)
    });
    let resets = watching.session(&path).resets();
    assert_eq!((resets.len(), resets[0].after), (1, Some(after)));
}

#[test]
fn a_file_system_that_hangs_stops_neither_the_other_sessions_nor_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let [good, bad] = ["good", "bad"].map(|name| dir.path().join(name));
    for folder in [&good, &bad] {
        fs::create_dir(folder).unwrap();
    }
    let (well, ill) = (good.join("a.toy"), bad.join("b.toy"));
    append(&well, "{\"toy\":1}\n");
    append(&ill, "{\"toy\":7}\n");
    let roots = [&bad, &good].map(|folder| SearchRoot::Usual(&TOY, folder.clone()));
    let mut watching = Watching::new(options(roots.to_vec()));
    watching.until("caught up", |sessions| sessions.caught_up);
    HANG.close();
    append(&ill, "{\"hang\":1}\n{\"toy\":8}\n");
    let hang = |threads| {
        wait_for("threads that hang", || match HANG.waiting() {
            waiting if waiting == threads => Ok(()),
            waiting => Err(waiting),
        });
    };
    hang(1);
    let _ = watching.overseer.look(some_time());
    assert!(watching.overseer.has_all(), "it may still answer");
    let _ = watching.overseer.look(some_time() + ANSWER_TIME);
    assert!(!watching.overseer.has_all());
    watching.until_seen("problem");
    append(&well, "{\"toy\":2}\n");
    watching.until_known(&well, 3);
    assert_eq!(watching.session(&ill).context().known, 8, "it stays");
    // A program that ends now does not wait for it.
    let mut other = Watching::new(options(vec![roots[0].clone()]));
    other.until_seen("found");
    hang(2);
    let (sender, ended) = channel();
    spawn("end", move || {
        drop(other);
        sender.send(())
    })
    .unwrap();
    wait_for("end of the other program", || ended.try_recv());
    assert_eq!(HANG.waiting(), 2);
    // It answers again.
    HANG.open();
    wait_for("the thread that hung", || {
        let _ = watching.overseer.look(some_time());
        if watching.overseer.has_all() {
            Ok(())
        } else {
            Err("it is away")
        }
    });
    watching.until_known(&ill, 9);
    append(&ill, "{\"toy\":10}\n");
    watching.until_known(&ill, 11);
    append(&well, "{\"toy\":12}\n");
    watching.until_known(&well, 13);
}

#[test]
fn a_folder_of_logs_that_is_deleted_and_made_anew_is_watched_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let path = logs.join("below/a.toy");
    fs::create_dir_all(logs.join("below")).unwrap();
    append(&path, "{\"toy\":1}\n{\"toy\":4}\n");
    let mut watching = Watching::folder(&logs);
    watching.until_known(&path, 5);
    let gone = |sessions: &Sessions| sessions.get(key(&path)).is_none();
    for round in 0..2 {
        fs::remove_dir_all(&logs).unwrap();
        if round == 0 {
            watching.until("the session is gone", gone);
        }
        // In the second round it is there again at once.
        fs::create_dir_all(logs.join("below")).unwrap();
        append(&path, "{\"toy\":6}\n");
        watching.until_known(&path, 7);
        append(&path, "{\"toy\":8}\n");
        watching.until_known(&path, 9);
        watching.assert_same_as_fresh(&path);
    }
    assert!(!watching.seen.contains(&"problem"));
}
