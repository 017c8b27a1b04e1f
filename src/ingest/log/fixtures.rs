//! Every hand-written log, followed while it is written.

use super::*;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::index::{restore, value};
use crate::log::NewEntries;
use crate::log::conversations::summaries_of;
use crate::log::conversations::{Conversations, SearchLimits, main_of};
use crate::log::reach::Reach;
use crate::log::reader::{each_usage, read_once, read_whole, tail_only};
use crate::log::usage_facts::UsageFacts;
use crate::store::backwards;
use crate::testing::followed::read_to_end;
use crate::{bytes::source, store};
use formats::database::MAGIC;
use formats::{Format, StoreKind};
use model::event::{ByLength, Conversation, Place};
use model::lists::gauge::SessionGauge;
use model::outlook::forecast::forecast;
use model::session::context::Context;
use model::session::{Coverage, Session};
use model::window::Overrides;
use proptest::prelude::*;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};
use tokens::Counter;

static LOGS: LazyLock<Vec<LogFile>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut logs = Scanner::new(
        vec![SearchRoot::Given(folder)],
        agents::ALL.to_vec(),
        |_| None,
    )
    .look()
    .files;
    logs.sort_by_key(|log| log.facts.path.clone());
    logs
});
/// Those that are files of lines.
static LINE_LOGS: LazyLock<Vec<&LogFile>> = LazyLock::new(|| {
    let is_lines = |log: &&LogFile| !is_folder(log) && !is_document(log);
    LOGS.iter().filter(is_lines).collect()
});
static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| {
    let rules: Rules = toml::from_str(assets::MODELS).expect("the table");
    Arc::new(rules.listing(assets::CATALOGUE))
});

static COUNTER: LazyLock<Counter> = LazyLock::new(Counter::new);

/// The state of a log at one moment.
enum Moment<'b> {
    /// These bytes have been added.
    Appended(&'b [u8]),
    /// It holds these bytes.
    Written(&'b [u8]),
    /// A file in its folder, or beside that, holds these bytes.
    Put(&'b Path, &'b [u8]),
}

impl Moment<'_> {
    fn come(&self, path: &Path) {
        match self {
            Moment::Appended(bytes) => {
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                file.write_all(bytes).unwrap();
            }
            Moment::Written(bytes) => fs::write(path, bytes).unwrap(),
            Moment::Put(name, bytes) => fs::write(path.join(name), bytes).unwrap(),
        }
    }
}

/// Checks that following a file through these moments ends in the result of a fresh reading.
fn follow(log: &LogFile, moments: &[Moment<'_>]) {
    let mut conversations = Conversations::new(&log.facts, &RULES, Coverage::Whole);
    let mut document: Option<LogSessions> = None;
    let mut cursor = Reading::whole(log, &RULES).cursor;
    let mut has_aged = false;
    for n in 0..=moments.len() {
        if let Some(moment) = moments.get(n) {
            moment.come(&log.facts.path);
        }
        loop {
            let more = if n == moments.len() {
                cursor.finish(&ByLength)
            } else {
                cursor.more(&ByLength)
            };
            let more = match more {
                // Half written: not there yet.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && n < moments.len() => break,
                // Nobody goes on writing.
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && !has_aged => {
                    age(&log.facts.path);
                    has_aged = true;
                    continue;
                }
                more => more.unwrap(),
            };
            match more {
                NewEntries::Rewritten(conversations) => {
                    document = Some(conversations.into_sessions());
                    break;
                }
                NewEntries::Entries(entries) => {
                    conversations.apply(entries);
                    break;
                }
                NewEntries::Batch(entries) => conversations.apply(entries),
                NewEntries::Restart => {
                    let reading = read_to_end(|| Reading::whole(log, &RULES));
                    (conversations, cursor) = (reading.conversations, reading.cursor);
                }
            }
        }
    }
    let fresh = read_whole(log, &ByLength, &RULES).unwrap();
    let followed = document.unwrap_or_else(|| conversations.into_sessions());
    assert_eq!(followed.len(), fresh.len());
    for ((conversation, a), (other, b)) in followed.iter().zip(&fresh) {
        assert_eq!(conversation, other);
        assert_eq!(a.context(), b.context());
        assert_eq!(a.items(), b.items());
        assert_eq!(a.requests(), b.requests());
        assert_eq!(a.resets(), b.resets());
        assert_eq!((a.unreadable, &a.skipped), (b.unreadable, &b.skipped));
        assert_eq!(a.unknown, b.unknown);
    }
}

/// Makes a file an hour old.
fn age(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let then = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

fn is_folder(log: &LogFile) -> bool {
    log.facts.path.is_dir()
}

fn is_document(log: &LogFile) -> bool {
    let news = log.store.cursor(log, &RULES).more(&ByLength);
    matches!(news, Ok(NewEntries::Rewritten(_)))
}

/// A log like this one, at a place of its own and empty.
fn empty(log: &LogFile, folder: &Path, kind: StoreKind) -> (LogFile, Vec<u8>) {
    let bytes = fs::read(&*log.facts.path).unwrap();
    let path: PathBuf = folder.join("log");
    fs::write(&path, "").unwrap();
    let mut log = log.clone();
    log.facts.path = Arc::new(path);
    log.store = store::open(kind, &log.location()).unwrap();
    (log, bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_log_that_grows_in_any_pieces_ends_as_a_fresh_one(
        which in any::<prop::sample::Index>(),
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(LINE_LOGS[which.index(LINE_LOGS.len())], dir.path(), StoreKind::Lines);
        let mut at: Vec<usize> = cuts.drain(..).map(|cut| cut.index(bytes.len())).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<Moment<'_>> = at
            .windows(2)
            .map(|two| Moment::Appended(&bytes[two[0]..two[1]]))
            .collect();
        follow(&log, &pieces);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn what_the_end_of_a_log_does_not_show_is_inside_its_interval(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        first in prop_oneof![Just(1), 1_u64..5000],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(LINE_LOGS[which.index(LINE_LOGS.len())], dir.path(), StoreKind::Lines);
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
        fs::write(&*log.facts.path, &bytes[..=ends[cut.index(ends.len())]]).unwrap();
        let tail = backwards::tail(&source::file(&log.location()), &log, &ByLength, &RULES, Reach { first, ..Reach::ALL });
        let (tail, _) = tail.unwrap().finish();
        let whole = read_whole(&log, &ByLength, &RULES).unwrap();
        let context = |sessions: &LogSessions| main_of(sessions).map(Session::context);
        if let (Some(tail), Some(whole)) = (context(&tail), context(&whole)) {
            prop_assert!((tail.low..=tail.high).contains(&whole.used), "{:?}: {:?}", tail, whole);
        }
        store_and_restore(&log, tail);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn what_a_list_says_without_a_sign_is_what_a_report_says(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        first in prop_oneof![Just(1), 1_u64..5000],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let which = LINE_LOGS[which.index(LINE_LOGS.len())];
        let (log, bytes) = empty(which, dir.path(), StoreKind::Lines);
        fs::write(&*log.facts.path, &bytes[..cut.index(bytes.len() + 1)]).unwrap();
        // As of a log that is much longer than its last piece.
        let searched = SearchLimits { report: u64::MAX, output: u64::MAX, before: 0 };
        let reach = Reach { first, searched, small: 0, ..Reach::ALL };
        let list = backwards::tail(&source::file(&log.location()), &log, &ByLength, &RULES, reach);
        let mut list = list.unwrap();
        // Nobody writes to it, so an incomplete last line counts.
        age(&log.facts.path);
        list.settle(&log, &ByLength).unwrap();
        let report = read_once(&log, &*COUNTER, &RULES).unwrap();
        let (list, _) = list.finish();
        for (conversation, list) in list.iter().filter(|(conversation, _)| *conversation == Conversation::Main) {
            let (_, report) = report.iter().find(|(of, _)| of == conversation).unwrap();
            says_no_more(list, report, which);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn what_the_last_epochs_say_without_a_sign_is_what_a_report_says(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        records in 1_u64..40,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let which = LINE_LOGS[which.index(LINE_LOGS.len())];
        let (log, bytes) = empty(which, dir.path(), StoreKind::Lines);
        fs::write(&*log.facts.path, &bytes[..cut.index(bytes.len() + 1)]).unwrap();
        age(&log.facts.path);
        let recent = log.store.epochs_within(&log, &RULES, Recent { records, bytes: u64::MAX });
        let newest = log.store.epoch(&log, &RULES);
        let report = read_once(&log, &*COUNTER, &RULES).unwrap();
        for mut reading in recent.unwrap().into_iter().chain([newest.unwrap()]) {
            while !matches!(reading.step(&*COUNTER, &mut || false), Ok(Progress::Done)) {}
            reading.settle(&log, &*COUNTER).unwrap();
            let (epochs, _) = reading.finish();
            if let (Some(epochs), Some(report)) = (main_of(&epochs), main_of(&report)) {
                says_no_more(epochs, report, which);
            }
        }
    }
}

#[test]
fn the_last_piece_of_a_log_says_what_a_report_says() {
    let searched = SearchLimits {
        report: u64::MAX,
        output: u64::MAX,
        before: 0,
    };
    let reach = Reach {
        first: 1,
        searched,
        small: 0,
        ..Reach::ALL
    };
    // Its newest records may repeat the system prompt and all tools.
    let logs = LINE_LOGS
        .iter()
        .filter(|log| log.format.id == "claude-code");
    for whole in logs {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(whole, dir.path(), StoreKind::Lines);
        fs::write(&*log.facts.path, &bytes).unwrap();
        let list = backwards::tail(
            &source::file(&log.location()),
            &log,
            &ByLength,
            &RULES,
            reach,
        );
        let (list, _) = list.unwrap().finish();
        let report = read_once(&log, &*COUNTER, &RULES).unwrap();
        if let (Some(list), Some(report)) = (main_of(&list), main_of(&report)) {
            says_no_more(list, report, whole);
        }
    }
}

/// Checks that every value that a list shows as final is the value of a report.
fn says_no_more(list: &Session, report: &Session, log: &LogFile) {
    let path = log.facts.path.display();
    let (context, whole) = (list.context(), report.context());
    let (limits, right) = (list.limits(), report.limits());
    if list.is_final(&context) {
        assert_eq!(
            (context.used, context.known),
            (whole.used, whole.known),
            "{path}"
        );
    }
    if list.is_own_count_final(&context) {
        let tokens = |context: &Context| context.own.map(|own| own.tokens);
        assert_eq!(tokens(&context), tokens(&whole), "{path}");
    }
    if list.is_model_final() {
        assert_eq!(list.model(), report.model(), "{path}");
    }
    if !limits.is_window_provisional {
        assert_eq!(limits.window, right.window, "{path}");
    }
    if !limits.is_trigger_provisional {
        assert_eq!(limits.trigger, right.trigger, "{path}");
    }
    assert_ne!(limits.trigger, Some(0), "{path}");
}

/// Returns the result of a reading for usage.
fn usage(log: &LogFile) -> UsageFacts {
    let mut usage = UsageFacts::default();
    each_usage(log, &mut |entry| usage.add(entry)).unwrap();
    usage.done()
}

/// Returns the usage that all records show.
fn usage_of_all(log: &LogFile) -> UsageFacts {
    let mut usage = UsageFacts::default();
    let give = &mut |entries: Vec<Entry>| {
        entries
            .into_iter()
            .for_each(|entry| usage.add_if_any(entry));
        ControlFlow::Continue(())
    };
    log.store.entries(log, &Unmeasured, give).unwrap();
    usage.done()
}

#[test]
fn a_reading_for_usage_gives_what_all_records_say_of_it() {
    for log in LOGS.iter() {
        let all = usage_of_all(log);
        assert_eq!(usage(log), all, "{}", log.facts.path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn so_it_does_wherever_the_log_ends(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(LINE_LOGS[which.index(LINE_LOGS.len())], dir.path(), StoreKind::Lines);
        fs::write(&*log.facts.path, &bytes[..cut.index(bytes.len() + 1)]).unwrap();
        prop_assert_eq!(usage(&log), usage_of_all(&log), "{}", log.format.id);
    }
}

#[test]
fn an_epoch_found_by_its_mark_begins_at_the_last_reset_of_the_log() {
    let mut epochs = 0;
    for log in LINE_LOGS.iter() {
        let path = log.facts.path.display();
        let whole = read_whole(log, &ByLength, &RULES).unwrap();
        let (epoch, _) = read_to_end(|| log.store.epoch(log, &RULES).unwrap()).finish();
        let (Some(whole), Some(epoch)) = (main_of(&whole), main_of(&epoch)) else {
            assert_eq!(whole.len(), epoch.len(), "{path}");
            continue;
        };
        // A rewind to before the reset shows what only the whole log has, and the epoch is known to lack it.
        if epoch.has_all_that_left() {
            assert_eq!(epoch.context().known, whole.context().known, "{path}");
        }
        let mut all = whole.resets().iter().map(|reset| reset.place);
        if epoch.coverage == Coverage::Epoch {
            let found = epoch.resets().iter().map(|reset| reset.place.offset());
            let last = all.next_back().map(Place::offset);
            assert_eq!(found.collect::<Vec<_>>(), last.as_slice(), "{path}");
            epochs += 1;
            continue;
        }
        // Then no reset has a mark, or the first line has it, which begins the epoch as well.
        let log_bytes = fs::read(&*log.facts.path).unwrap();
        let is_marked = |place: &Place| {
            let line = &log_bytes[place.offset() as usize..][..place.length() as usize];
            let mut marks = log.format.reset_marks.iter();
            marks.any(|mark| memchr::memmem::find(line, mark.as_bytes()).is_some())
        };
        let marked = all.filter(|place| place.offset() > 0 && is_marked(place));
        assert!(
            marked.count() == 0 || log.format.recognition.holds_several,
            "{path}"
        );
    }
    assert!(epochs >= 10, "{epochs}");
}

#[test]
fn every_agents_logs_are_among_them() {
    // Those of databases are SQL, with tests of their own.
    let is_database = |format: &Format| matches!(format.store(MAGIC), Some(StoreKind::Database(_)));
    for format in agents::ALL.iter().filter(|format| !is_database(format)) {
        let own = LOGS.iter().filter(|log| log.format.id == format.id);
        assert!(own.count() > 0, "{}", format.id);
    }
}

#[test]
fn a_log_alone_under_another_name_is_its_own_formats_or_nobodys() {
    let dir = tempfile::tempdir().unwrap();
    for log in LOGS.iter().filter(|log| !is_folder(log)) {
        for name in ["some.json", "some.jsonl", "context.jsonl", "some"] {
            let path = dir.path().join(name);
            fs::copy(&*log.facts.path, &path).unwrap();
            let root = SearchRoot::Given(path.clone());
            let found = Scanner::new(vec![root], agents::ALL.to_vec(), |_| None).look();
            for found in found.files {
                let is_its =
                    found.format.id == log.format.id || found.format.is_related(log.format);
                assert!(is_its, "{}: {}", log.facts.path.display(), found.format.id);
            }
            fs::remove_file(&path).unwrap();
        }
    }
    let path = dir.path().join("some.jsonl");
    fs::write(&path, "{\"role\": \"user\", \"content\": \"hello\"}\n").unwrap();
    let root = SearchRoot::Given(path);
    let found = Scanner::new(vec![root], agents::ALL.to_vec(), |_| None).look();
    let taken = found.files.iter().map(|log| log.format.id);
    assert_eq!(taken.collect::<Vec<_>>(), [""; 0]);
    assert_eq!(found.problems.len(), 1);
}

#[test]
fn a_document_that_was_torn_ends_as_a_fresh_one() {
    for log in LOGS.iter().filter(|log| is_document(log)) {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(log, dir.path(), StoreKind::Document);
        let torn = &bytes[..bytes.len() / 2];
        follow(&log, &[Moment::Written(torn), Moment::Written(&bytes)]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_folder_that_grows_file_by_file_ends_as_a_fresh_one(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 40),
        told in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let has_state = |log: &&LogFile| log.facts.path.join("../base_state.json").exists();
        let logs: Vec<&LogFile> = LOGS.iter().filter(has_state).collect();
        let log = logs[which.index(logs.len())];
        let folder = log.facts.path.as_path();
        let mut names: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into())
            .collect();
        names.sort();
        let files: Vec<Vec<u8>> = names.iter().map(|n| fs::read(folder.join(n)).unwrap()).collect();
        let mut moments = Vec::new();
        for ((name, bytes), cut) in names.iter().zip(&files).zip(&cuts) {
            moments.push(Moment::Put(name, &bytes[..cut.index(bytes.len())]));
            moments.push(Moment::Put(name, bytes));
        }
        // Sidecar files may come at any time, or never, and hold more each time.
        let beside = Path::new("../base_state.json");
        let state: Value = serde_json::from_slice(&fs::read(folder.join(beside)).unwrap()).unwrap();
        let calls = "/stats/usage_to_metrics/agent/token_usages";
        let all = state.pointer(calls).and_then(Value::as_array).unwrap();
        let mut at: Vec<usize> = told.iter().map(|at| at.index(moments.len() + 1)).collect();
        at.sort_unstable();
        let states: Vec<Vec<u8>> = (1..=at.len())
            .map(|n| {
                let mut now = state.clone();
                *now.pointer_mut(calls).unwrap() = all[..all.len() * n / at.len()].into();
                now.to_string().into_bytes()
            })
            .collect();
        for (at, state) in at.iter().zip(&states).rev() {
            moments.insert(*at, Moment::Put(beside, state));
            moments.insert(*at, Moment::Put(beside, &state[..state.len() / 2]));
        }
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("conversation/events");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(&names[0]), &files[0]).unwrap();
        let root = SearchRoot::Given(own.clone());
        let log = Scanner::new(vec![root], agents::ALL.to_vec(), |_| None).look().files.remove(0);
        follow(&log, &moments);
    }
}

/// The summaries of sessions, stored and read again, show what the sessions do.
fn store_and_restore(log: &LogFile, mut sessions: LogSessions) {
    let stored = value(&summaries_of(&sessions));
    let restored = restore(&stored, log.format.id).expect("what was stored");
    assert_eq!(restored, summaries_of(&sessions), "{:?}", log.facts.path);
    for ((_, session), (_, summary)) in sessions.iter_mut().zip(restored) {
        let mut gauge = SessionGauge::new(summary, Arc::clone(&RULES), Overrides::none());
        assert_eq!(*gauge.limits(), session.limits());
        assert_eq!(gauge.forecast_then(), forecast(session, None));
        // Another window counts as it does for a session that was just read.
        gauge.set_window(Some(50_000));
        session.set_window(Some(50_000));
        assert_eq!(*gauge.limits(), session.limits());
    }
}

#[test]
fn a_session_from_the_cache_shows_what_a_fresh_one_does() {
    for log in LOGS.iter() {
        if let Ok(sessions) = read_whole(log, &ByLength, &RULES) {
            store_and_restore(log, sessions);
        }
        if let Ok(sessions) = tail_only(log, &RULES) {
            store_and_restore(log, sessions);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_log_may_be_stored_at_any_length(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (log, bytes) = empty(LINE_LOGS[which.index(LINE_LOGS.len())], dir.path(), StoreKind::Lines);
        fs::write(&*log.facts.path, &bytes[..cut.index(bytes.len() + 1)]).unwrap();
        let sessions = read_whole(&log, &ByLength, &RULES).unwrap();
        store_and_restore(&log, sessions);
    }
}
