//! The thread that reads, turn by turn, with logs that count how they are looked at.

use super::inbox::INBOX_CAPACITY;
use super::*;
use crate::discover::ScanResult;
use crate::discover::roots::SearchRoot;
use crate::log::LogFile;
use crate::testing::made::{Fault, MadeLog};
use crate::testing::{TABLES, TOY, some_time, toy_log};
use crate::worker::job::TextJob;
use crate::worker::reporter::SharedState;
use files::paths::User;
use files::waiting::wait_for;
use model::event::Conversation;
use model::lists::sessions::{SessionKey, Sessions};
use model::lists::text::{TextPage, TextRequest};
use rusqlite::Connection;
use std::io::Write;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::SystemTime;

#[cfg(unix)]
mod linked;
mod polled;

struct Driven {
    worker: Worker,
    inbox: SyncSender<Wake>,
    sessions: Arc<Mutex<Sessions>>,
    problems: Arc<Mutex<Vec<String>>>,
    /// Texts that were read.
    texts: Arc<Mutex<Vec<TextPage>>>,
    /// How far its time is ahead.
    ahead: Duration,
}

impl Driven {
    fn new(logs: &[&MadeLog]) -> Driven {
        let (sessions, problems) = (
            Arc::new(Mutex::new(Sessions::new(Arc::default()))),
            Arc::<Mutex<Vec<String>>>::default(),
        );
        let texts = Arc::<Mutex<Vec<TextPage>>>::default();
        let sink = {
            let (sessions, problems) = (Arc::clone(&sessions), Arc::clone(&problems));
            let texts = Arc::clone(&texts);
            move |event| {
                match event {
                    IngestEvent::Update(update) => lock(&sessions).apply(update),
                    IngestEvent::Text(page) => lock(&texts).push(*page),
                    IngestEvent::Problem { what, .. } => lock(&problems).push(what),
                    IngestEvent::Banner(_) => {}
                }
                ControlFlow::Continue(())
            }
        };
        let options = Options {
            formats: Vec::new(),
            roots: Vec::new(),
            user: User::default(),
            rules: Arc::default(),
            counter: Arc::default(),
            cache: None,
            poll: false,
        };
        let (inbox, wakes) = sync_channel(INBOX_CAPACITY);
        let mut worker = Worker::new(
            options,
            Arc::default(),
            Arc::new(Mutex::new(wakes)),
            Reporter::of(&Arc::new(SharedState::new(Box::new(sink)))),
        );
        let found = ScanResult {
            files: logs.iter().map(|made| made.log()).collect(),
            ..ScanResult::default()
        };
        assert!(worker.take_in(found).is_continue());
        Driven {
            worker,
            inbox,
            sessions,
            problems,
            texts,
            ahead: Duration::ZERO,
        }
    }

    /// One turn, in which live files are looked at.
    fn turn(&mut self) {
        let worker = &mut self.worker;
        let _ = worker.look_at_live();
        let now = some_time() + self.ahead;
        let _ = worker.look_again(now);
        worker.read_texts(now, &self.inbox);
        let _ = worker.read_on(&self.inbox);
        let _ = worker.take_wakes(Duration::from_millis(1));
    }

    fn until(&mut self, what: &str, holds: impl Fn(&Driven) -> bool) {
        wait_for(what, || {
            self.turn();
            holds(self).then_some(()).ok_or("what was before")
        });
    }

    fn known(&self) -> u64 {
        let sessions = lock(&self.sessions);
        let key = SessionKey {
            file: FileId(7),
            conversation: Conversation::Main,
        };
        sessions.gauge(key).map_or(0, |gauge| gauge.context.known)
    }

    fn read_all(&mut self) {
        self.until("caught up", |driven| lock(&driven.sessions).caught_up);
    }
}

fn years(years: u32) -> Duration {
    Duration::from_secs(365 * 24 * 3600) * years
}

#[test]
fn files_dated_in_the_future_are_not_looked_at_for_ever() {
    let made = MadeLog::new("{\"toy\":1}\n{\"toy\":2}");
    made.date(SystemTime::now() + years(70));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    assert_eq!(driven.known(), 3, "an incomplete last line counts");
    let (stats, read) = (made.stats(), made.read());
    for _ in 0..20 {
        driven.turn();
    }
    assert_eq!((made.stats(), made.read()), (stats, read));
    // What is written then is seen as usual.
    made.append("\n{\"toy\":5}\n");
    let _ = driven.worker.check(FileId(7));
    driven.until("what was appended", |driven| driven.known() == 6);
}

#[test]
fn a_clock_that_goes_back_neither_stops_nor_spins() {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.date(SystemTime::now());
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    // For the log it is an hour ago, then an hour ahead; each write is one.
    let hour = Duration::from_secs(3600);
    for (n, at) in [SystemTime::now() - hour, SystemTime::now() + hour]
        .into_iter()
        .enumerate()
    {
        made.append(&format!("{{\"toy\":{}}}\n", 10 + n));
        made.date(at);
        let _ = driven.worker.check(FileId(7));
        driven.until("what was appended", |driven| {
            driven.known() == 11 + n as u64
        });
        let _ = driven.worker.walk();
        let (stats, read) = (made.stats(), made.read());
        for _ in 0..20 {
            driven.turn();
        }
        assert_eq!((made.stats(), made.read()), (stats, read));
    }
}

#[test]
fn a_log_that_lost_its_header_is_refused_once_until_it_changes() {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.date(SystemTime::now() - Duration::from_secs(5));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    made.refuse(Some("it has no header"));
    made.append("{\"toy\":2}\n");
    driven.until("the refusal", |driven| !lock(&driven.problems).is_empty());
    let opened = made.opened();
    for _ in 0..20 {
        driven.turn();
        driven
            .worker
            .retries
            .iter_mut()
            .for_each(|again| again.at = some_time());
        let known = driven.worker.tracked.values_mut();
        known.for_each(|known| known.not_before = None);
    }
    assert_eq!(made.opened(), opened);
    assert_eq!(lock(&driven.problems).len(), 1);
    assert_eq!(driven.known(), 2, "what was read before stays");
    made.refuse(None);
    made.date(SystemTime::now() - Duration::from_secs(4));
    driven.until("the log again", |driven| driven.known() == 3);
    driven.until("all of it", |driven| {
        lock(&driven.sessions)
            .gauges()
            .all(|(_, gauge)| gauge.requests == 2)
    });
}

#[test]
fn a_read_error_midway_is_shown_once_and_the_log_is_read_when_it_is_over() {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.date(SystemTime::now() - Duration::from_secs(5));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    made.append_many("{\"toy\":7}\n", 1000);
    made.fail(|| Fault::Error(io::ErrorKind::Deadlock));
    driven.until("the error", |driven| !lock(&driven.problems).is_empty());
    made.fail(|| Fault::None);
    driven.until("all of it", |driven| {
        lock(&driven.sessions)
            .gauges()
            .all(|(_, gauge)| gauge.requests == 1001)
    });
    assert_eq!(lock(&driven.problems).len(), 1);
}

#[test]
fn pieces_of_a_line_that_come_at_once_are_read_at_once() {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.date(SystemTime::now() - Duration::from_secs(5));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    made.append("{\"toy\":");
    driven.until("the first piece", |driven| {
        driven
            .worker
            .tracked
            .values()
            .all(|known| known.not_before.is_some())
    });
    // None of those that come before then is looked at.
    for known in driven.worker.tracked.values_mut() {
        known.not_before = Some(some_time() + Duration::from_secs(3600));
    }
    let opened = made.opened();
    for _ in 0..100 {
        made.append(" ");
        let _ = driven.worker.check(FileId(7));
    }
    assert_eq!(made.opened(), opened);
    for known in driven.worker.tracked.values_mut() {
        known.not_before = None;
    }
    made.append("7}\n");
    driven.until("the line", |driven| driven.known() == 8);
}

/// Takes a text, but not before it may.
struct Waiting(Receiver<()>);

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_text_that_never_comes_does_not_keep_the_others_waiting() {
    let made = MadeLog::new("{\"toy\":1}\n{\"say\":\"words\"}\n");
    made.date(SystemTime::now() - Duration::from_secs(5));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    let (sessions, _) = crate::faults::follow(&made);
    let item = sessions[0].1.items().last().unwrap().clone();
    let wanted = TextRequest::of(FileId(7), &item).unwrap();
    let (mut release, done): (Vec<Sender<()>>, _) = (Vec::new(), Arc::<Mutex<u64>>::default());
    for stuck in 1..=texts::MOST_THREADS {
        let (sender, receiver) = channel();
        release.push(sender);
        let done = Arc::clone(&done);
        let whole = TextJob::WriteAll(
            wanted,
            Box::new(Waiting(receiver)),
            Box::new(move |_| *lock(&done) += 1),
        );
        lock(&driven.worker.wanted.texts).put(whole);
        driven.until("the thread that waits", |driven| {
            lock(&driven.worker.wanted.texts).is_empty()
        });
        lock(&driven.worker.wanted.texts).put(TextJob::Page(wanted));
        if stuck == texts::MOST_THREADS {
            break;
        }
        assert!(driven.worker.next_reader().is_some(), "it is woken for it");
        driven.ahead += texts::LONGEST_TEXT_WAIT;
        driven.until("the text", |driven| lock(&driven.texts).len() == stuck);
    }
    // The number of threads is limited. The page waits until one of them comes back.
    driven.ahead += texts::LONGEST_TEXT_WAIT;
    driven.turn();
    assert_eq!(driven.worker.readers.len(), texts::MOST_THREADS);
    assert_eq!(driven.worker.next_reader(), None);
    release.clear();
    driven.until("the last text", |driven| {
        lock(&driven.texts).len() == texts::MOST_THREADS
            && *lock(&done) == texts::MOST_THREADS as u64
    });
    let texts = lock(&driven.texts);
    assert!(
        texts
            .iter()
            .all(|page| page.text.as_ref().unwrap().text == "words")
    );
}

/// Checks that lines that are appended while the log cannot be opened are read once it can, and that those read before
/// stay. Returns the problems that were reported.
fn shut_for_a_while(error: fn() -> io::Error) -> Vec<String> {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.date(SystemTime::now() - Duration::from_secs(5));
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    made.shut(Some(error));
    made.append("{\"toy\":2}\n");
    let before = made.opened();
    for attempt in 1..=5 {
        driven.until("another attempt", |driven| {
            let is_due = |known: &TrackedFile| known.not_before.is_some();
            made.opened() >= before + attempt
                && driven.worker.tracked.values().all(|known| is_due(known))
        });
        // Time passes.
        for known in driven.worker.tracked.values_mut() {
            known.not_before = None;
            known.is_stamp_sure = false;
        }
        assert_eq!(driven.known(), 2, "what was read before stays");
    }
    made.shut(None);
    driven.until("all of it", |driven| {
        driven.known() == 3
            && lock(&driven.sessions)
                .gauges()
                .all(|(_, gauge)| gauge.requests == 2)
    });
    lock(&driven.problems).clone()
}

#[test]
fn a_permission_that_is_lost_is_said_once_and_the_log_is_read_when_it_is_back() {
    let said = shut_for_a_while(|| io::ErrorKind::PermissionDenied.into());
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("permission"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn no_descriptors_left_is_said_once_and_the_log_is_read_when_there_are_some() {
    let exhausted = || io::Error::from(rustix::io::Errno::MFILE);
    assert!(files::is_exhausted(&exhausted()));
    let said = shut_for_a_while(exhausted);
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn a_log_that_vanishes_between_stat_and_open_is_no_problem_and_is_read_when_it_is_back() {
    let said = shut_for_a_while(|| io::ErrorKind::NotFound.into());
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn what_is_wrong_for_a_moment_is_no_problem() {
    let mut driven = Driven::new(&[]);
    let found = |what: Option<&str>| ScanResult {
        problems: what
            .map(|what| (PathBuf::from("/logs"), what.to_owned()))
            .into_iter()
            .collect(),
        ..ScanResult::default()
    };
    // One look finds it, and the next one does not.
    for what in [Some("gone"), None, Some("gone"), Some("shut")] {
        let _ = driven.worker.take_in_all(found(what));
        assert_eq!(*lock(&driven.problems), [""; 0]);
    }
    for _ in 0..3 {
        let _ = driven.worker.take_in_all(found(Some("shut")));
        assert_eq!(*lock(&driven.problems), ["shut"]);
    }
    // What a hint led to counts as a look.
    let _ = driven.worker.take_in(found(Some("gone")));
    assert_eq!(*lock(&driven.problems), ["shut"]);
    let _ = driven.worker.take_in_all(found(Some("gone")));
    assert_eq!(*lock(&driven.problems), ["shut", "gone"]);
}

#[test]
fn a_session_that_is_written_just_after_its_database_was_looked_at_is_found_without_another_write()
{
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.talks");
    let writer = Connection::open(&path).unwrap();
    // Times long past: nothing is looked at because it is live.
    let talk = |id: &str| {
        let rows = "INSERT INTO talk VALUES (?1, NULL, 1000, '/p'); INSERT INTO word(talk, line) VALUES (?1, '{}')";
        writer
            .execute_batch(&rows.replace("?1", &format!("'{id}'")))
            .unwrap();
    };
    writer.execute_batch(TABLES).unwrap();
    let mut driven = Driven::new(&[]);
    let root = SearchRoot::Usual(&TOY, dir.path().to_path_buf());
    driven.worker.scanner = Scanner::new(vec![root], vec![&TOY], |_| None);
    for n in 0..5 {
        talk(&n.to_string());
        // Its only hint.
        let _ = driven.worker.changed(&path);
    }
    // A look within the pause after another one is put off once more.
    wait_for("all sessions, and nothing to look at again", || {
        let _ = driven.worker.look_again(some_time() + years(1));
        let sessions = lock(&driven.sessions).len();
        let due = driven.worker.retries.len();
        let is_done = sessions == 5 && due == 0;
        is_done
            .then_some(())
            .ok_or(format!("{sessions} sessions, {due} due"))
    });
}

#[test]
fn a_log_vanishes_when_it_is_not_back_after_a_while() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.toy");
    let put = || std::fs::write(&path, "{\"toy\":1}\n").unwrap();
    let remove = || std::fs::remove_file(&path).unwrap();
    put();
    let log = toy_log(&path);
    let file = log.facts.file;
    let mut driven = Driven::new(&[]);
    let all = |files: &[&LogFile]| ScanResult {
        files: files.iter().map(|log| (*log).clone()).collect(),
        ..ScanResult::default()
    };
    let is_shown = |driven: &Driven| !lock(&driven.sessions).is_empty();
    let _ = driven.worker.take_in_all(all(&[&log]));
    assert!(is_shown(&driven));
    // It was away for the look alone.
    for found in [all(&[]), all(&[&log]), all(&[]), all(&[&log])] {
        let _ = driven.worker.take_in_all(found);
        assert!(is_shown(&driven));
    }
    // It is away for less than the time of grace.
    for _ in 0..2 {
        remove();
        let _ = driven.worker.take_in_all(all(&[]));
        let _ = driven.worker.check(file);
        assert!(is_shown(&driven));
        put();
        let _ = driven.worker.check(file);
        assert!(driven.worker.tracked[&file].missing_since.is_none());
    }
    // It stays away.
    remove();
    let _ = driven.worker.check(file);
    let known = driven.worker.tracked.get_mut(&file).unwrap();
    *known.missing_since.as_mut().unwrap() -= REPLACEMENT_TIME;
    let _ = driven.worker.check(file);
    assert!(!is_shown(&driven));
    assert_eq!(*lock(&driven.problems), [""; 0]);
    // It is there, and two looks pass it over: another log has all that it has.
    put();
    let _ = driven.worker.take_in_all(all(&[&log]));
    let _ = driven.worker.take_in_all(all(&[]));
    assert!(is_shown(&driven));
    let _ = driven.worker.take_in_all(all(&[]));
    assert!(!is_shown(&driven));
}

#[test]
fn a_long_log_with_an_unfinished_line_waits_longer_for_the_rest_of_it() {
    let made = MadeLog::new("{\"toy\":1}\n");
    let ago = |seconds| made.date(SystemTime::now() - Duration::from_secs(seconds));
    ago(0);
    let mut driven = Driven::new(&[&made]);
    driven.read_all();
    let unreadable = |driven: &Driven| {
        let sessions = lock(&driven.sessions);
        let mut gauges = sessions.gauges();
        gauges.next().map(|(_, gauge)| gauge.unreadable)
    };
    made.append("{\"say\":\"");
    made.append_many(&"x".repeat(1 << 20), 33);
    ago(3);
    for _ in 0..3 {
        let _ = driven.worker.check(FileId(7));
    }
    assert_eq!(unreadable(&driven), Some(0));
    ago(60);
    // Time passes.
    let known = driven.worker.tracked.values_mut();
    known.for_each(|known| known.not_before = None);
    for _ in 0..3 {
        let _ = driven.worker.check(FileId(7));
    }
    assert_eq!(unreadable(&driven), Some(1));
}
