//! Files that agents write in addition to their logs.
//!
//! A sidecar file is about all sessions. It is read once for all of them, and further as it grows; the decoder
//! of each session is given its records. When there are new ones, the log is read again from its
//! beginning if they concern requests that were read before. The rows of a database are read likewise,
//! session by session.
//!
//! The state files of a log ([`FilesBeside::states`]) are given to the decoder, and again whenever they have
//! changed; the decoder decides whether what it has read still holds.
//!
//! [`FilesBeside::states`]: formats::FilesBeside::states

use crate::bytes::clock::Clock;
use crate::bytes::lines::Line;
use crate::bytes::lines::Progress;
use crate::bytes::lines::position::Position;
use crate::bytes::source::file_system::{Entry, Kind, Location};
use crate::bytes::source::{LARGEST, Stamp};
use crate::bytes::sync::lock;
use formats::{Decoder, Format, SidecarRecord, SidecarSpec, StateUpdate};
use model::event::EventSink;
use rows::SidecarRows;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

mod rows;

/// The sidecar files of the logs in one folder.
pub struct SidecarStore {
    spec: &'static SidecarSpec,
    /// One of the logs.
    log: Location,
    folder: Option<PathBuf>,
    /// The file that the environment names.
    named: Option<PathBuf>,
    rows: Option<SidecarRows>,
    files: Mutex<BTreeMap<PathBuf, SidecarFile>>,
}

/// A sidecar file, and how far it was read.
struct SidecarFile {
    position: Position,
    by_session: HashMap<Box<str>, Vec<SidecarRecord>>,
    /// The number of times that it was read from its beginning.
    readings: u64,
}

/// The extent of the data about a session, to notice that there is more, or something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Extent {
    records: usize,
    readings: u64,
}

impl SidecarStore {
    /// Returns the sidecar files of this log. `named` is the file that the environment names.
    pub fn new(
        spec: &'static SidecarSpec,
        log: &Location,
        named: Option<PathBuf>,
        clock: &Clock,
    ) -> SidecarStore {
        let database = spec.database.filter(|_| log.system.is_here());
        SidecarStore {
            spec,
            log: log.clone(),
            folder: (spec.folder)(&log.path),
            named,
            rows: database.and_then(|database| SidecarRows::new(database, log, clock)),
            files: Mutex::default(),
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        let Location { system, path } = &self.log;
        let folder = self.folder.as_ref();
        let real = folder.and_then(|folder| system.beside(path, folder).ok());
        let mut paths: Vec<PathBuf> = self.named.iter().cloned().collect();
        if let Some(folder) = real {
            let entries = system.list(&folder).into_iter().flatten().flatten();
            for Entry { name, kind } in entries {
                let path = folder.join(name);
                // Who can write into the folder cannot make the program read what is elsewhere.
                let is_inside = match kind {
                    Kind::File => true,
                    Kind::Link => system.below(&folder, &path).is_ok(),
                    Kind::Folder | Kind::Other => false,
                };
                if is_inside && path.extension().is_some_and(|ext| ext == "jsonl") {
                    paths.push(path);
                }
            }
        }
        paths.sort();
        paths.dedup();
        paths
    }

    /// Calls `give` with the present records of a session, file by file. A file that cannot be read has none.
    fn records(&self, session: &str, give: &mut dyn FnMut(&[SidecarRecord])) -> Extent {
        let mut files = lock(&self.files);
        let mut extent = Extent::default();
        for path in self.paths() {
            let file = files
                .entry(path.clone())
                .or_insert_with(|| SidecarFile::new(1));
            file.read_on(&self.log.at(path), self.spec);
            if let Some(records) = file.by_session.get(session) {
                give(records);
                extent.records += records.len();
                extent.readings += file.readings;
            }
        }
        if let Some(rows) = &self.rows {
            rows.records(session, give, &mut extent);
        }
        extent
    }
}

impl SidecarFile {
    fn new(readings: u64) -> SidecarFile {
        SidecarFile {
            position: Position::start(),
            by_session: HashMap::new(),
            readings,
        }
    }

    fn read_on(&mut self, file: &Location, spec: &SidecarSpec) {
        for _ in 0..2 {
            let by_session = &mut self.by_session;
            let outcome = self.position.read_more(file, &mut |_, line| {
                if let Line::Bytes(bytes) = line
                    && let Some(record) = (spec.read)(bytes)
                {
                    let records = by_session.entry(record.session.clone());
                    records.or_default().push(record);
                }
                ControlFlow::Continue(())
            });
            match outcome {
                Ok(Progress::Restart) => *self = SidecarFile::new(self.readings + 1),
                _ => return,
            }
        }
    }
}

/// A decoder that also reads the sidecars and state files of its log.
pub(crate) struct DecoderWithSidecar {
    pub(crate) decoder: Box<dyn Decoder>,
    /// The sidecar files, and the session's id in them.
    sidecar: Option<(Arc<SidecarStore>, Box<str>)>,
    given: Extent,
    states: States,
}

impl DecoderWithSidecar {
    /// Returns a decoder with the sidecar files of its log, the session's id in them, and the log's state files. It is
    /// given the sidecar records but not the state files.
    pub(crate) fn new(
        mut decoder: Box<dyn Decoder>,
        sidecar: Option<(Arc<SidecarStore>, Box<str>)>,
        states: States,
    ) -> DecoderWithSidecar {
        let (records, given) = records(sidecar.as_ref());
        if !records.is_empty() {
            decoder.read_sidecar(&records);
        }
        DecoderWithSidecar {
            decoder,
            sidecar,
            given,
            states,
        }
    }

    /// Returns true if there are other sidecar records than the decoder was given.
    pub(crate) fn is_outdated(&self) -> bool {
        extent(self.sidecar.as_ref(), &mut |_| {}) != self.given
    }

    /// Returns true if a sidecar or state file of the log has anything new.
    pub(crate) fn has_news(&self) -> bool {
        self.is_outdated() || self.states.have_changed()
    }

    /// Passes what is new in the log's sidecars and state files to the decoder.
    pub(crate) fn read_beside(&mut self, out: &mut EventSink<'_>) -> StateUpdate {
        match self.read_sidecar() {
            StateUpdate::RereadLog => StateUpdate::RereadLog,
            _ => self.read_state(out),
        }
    }

    /// Passes the sidecar records to the decoder if there are others than it was given.
    pub(crate) fn read_sidecar(&mut self) -> StateUpdate {
        if !self.is_outdated() {
            return StateUpdate::Accepted;
        }
        let (records, now) = records(self.sidecar.as_ref());
        let before = std::mem::replace(&mut self.given, now);
        let update = self.decoder.read_sidecar(&records);
        if now.readings == before.readings && now.records >= before.records {
            update
        } else {
            StateUpdate::RereadLog
        }
    }

    /// Passes the state files that have changed to the decoder.
    pub(crate) fn read_state(&mut self, out: &mut EventSink<'_>) -> StateUpdate {
        self.states.give(self.decoder.as_mut(), out)
    }
}

/// The state files of a log, each with its stamp when it was last given to a decoder.
pub(crate) struct States {
    log: Location,
    files: Vec<StateFile>,
}

/// A state file.
struct StateFile {
    file: Location,
    /// Its stamp when it was given; `None`: not given yet.
    given: Option<Stamp>,
}

impl States {
    /// Returns the state files of this log, none of them given to a decoder yet.
    pub(crate) fn new(format: &Format, log: Location) -> States {
        let paths = (format.beside.states)(&log.path).into_iter();
        let files = paths.map(|path| StateFile {
            file: log.at(path),
            given: None,
        });
        States {
            files: files.collect(),
            log,
        }
    }

    /// Returns true if one was written to since it was given.
    pub(crate) fn have_changed(&self) -> bool {
        let changed = |StateFile { file, given }: &StateFile| {
            let now = file.stamp_of_any();
            now.is_ok_and(|now| *given != Some(now))
        };
        self.files.iter().any(changed)
    }

    /// Passes those that have changed to the decoder. One that cannot be read counts as unreadable.
    pub(crate) fn give(
        &mut self,
        decoder: &mut dyn Decoder,
        out: &mut EventSink<'_>,
    ) -> StateUpdate {
        let mut all = StateUpdate::Accepted;
        for StateFile { file, given } in &mut self.files {
            let now = file.stamp_of_any().ok();
            let Some(now) = now.filter(|now| *given != Some(*now)) else {
                continue;
            };
            let Location { system, path } = file;
            let real = system.beside(&self.log.path, path);
            let read = real.and_then(|real| system.read(&real, LARGEST));
            let bytes = match read {
                Ok(bytes) => bytes,
                Err(e) => {
                    if is_lasting(&e) {
                        *given = Some(now);
                        let name = path.file_name().unwrap_or_default().display();
                        out.unreadable(format!("{name} beside the log: {e}"));
                    }
                    continue;
                }
            };
            let update = decoder.read_state(&decode::text(&bytes), out);
            // A second write in the same tick does not change the stamp.
            *given = Some(now).filter(|now| update.is_some() || now.is_sure());
            if update == Some(StateUpdate::RereadLog) {
                all = StateUpdate::RereadLog;
            }
        }
        all
    }
}

/// Returns true if a file that could not be read is to be read again only when it has changed.
fn is_lasting(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::PermissionDenied
    )
}

/// Returns all records of a session.
fn records(sidecar: Option<&(Arc<SidecarStore>, Box<str>)>) -> (Vec<SidecarRecord>, Extent) {
    let mut records = Vec::new();
    let extent = extent(sidecar, &mut |more| records.extend_from_slice(more));
    (records, extent)
}

fn extent(
    sidecar: Option<&(Arc<SidecarStore>, Box<str>)>,
    give: &mut dyn FnMut(&[SidecarRecord]),
) -> Extent {
    sidecar.map_or(Extent::default(), |(store, session)| {
        store.records(session, give)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::LOOK_INTERVAL;
    use crate::discover::Scanner;
    use crate::discover::roots::SearchRoot;
    use crate::log::LogFile;
    use crate::log::reader::read_whole;
    use crate::testing::followed::{FollowedLog, open};
    use agents::builtin::copilot_cli::COPILOT_CLI;
    use model::event::ByLength;
    use proptest::prelude::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    const LOG: &str = include_str!("fixtures/copilot-cli/telemetry_tells_prompts/log.jsonl");
    const SPANS: &str = include_str!("fixtures/copilot-cli/telemetry_tells_prompts/otel.jsonl");

    /// A session's log and the file of its telemetry, and the log as it is found.
    fn home(log: &str, spans: &str) -> (tempfile::TempDir, [PathBuf; 2], LogFile) {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("session-state");
        let paths = [
            state.join("5e000000-0000-4000-8000-000000000007/events.jsonl"),
            home.path().join("otel/spans.jsonl"),
        ];
        for (path, text) in paths.iter().zip([log, spans]) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut scanner =
            Scanner::new(vec![SearchRoot::Usual(&COPILOT_CLI, state)], vec![], |_| {
                None
            });
        let found = scanner.look().files.remove(0);
        (home, paths, found)
    }

    /// The prompts of the main conversation in a fresh reading.
    fn prompts(log: &LogFile) -> Vec<u64> {
        FollowedLog::begin(log, &Arc::default()).prompts()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn whatever_comes_first_it_ends_in_the_same_state(
            pieces in prop::collection::vec((0_usize..2, 1_usize..900), 0..30),
        ) {
            let (_home, paths, log) = home("", "");
            let mut followed = FollowedLog::begin(&log, &Arc::default());
            let mut left = [LOG, SPANS];
            for (which, len) in pieces.into_iter().chain([(0, usize::MAX), (1, usize::MAX)]) {
                let (now, later) = left[which].split_at(len.min(left[which].len()));
                left[which] = later;
                let mut file = OpenOptions::new().append(true).open(&paths[which]).unwrap();
                file.write_all(now.as_bytes()).unwrap();
                followed.go_on().unwrap();
            }
            let session = followed.sessions().remove(0).1;
            let fresh = read_whole(&log, &ByLength, &Arc::default()).unwrap().remove(0).1;
            prop_assert_eq!(fresh.requests().len(), 2);
            prop_assert_eq!(&session.requests(), &fresh.requests());
            prop_assert_eq!(&session.items(), &fresh.items());
            prop_assert_eq!(session.context(), fresh.context());
        }
    }

    const ROWS_LOG: &str = include_str!("fixtures/copilot-cli/rows_have_prompts/log.jsonl");
    const ROWS: &str = include_str!("fixtures/copilot-cli/rows_have_prompts/store.sql");

    /// A session with its database, which has these first statements of the script, and the clock by which that is
    /// looked at again.
    fn home_with_rows(log: &str, script: &[&str]) -> (tempfile::TempDir, PathBuf, LogFile, Clock) {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("session-state");
        let folder = state.join("5e000000-0000-4000-8000-000000000012");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("events.jsonl"), log).unwrap();
        let database = home.path().join("session-store.db");
        execute(&database, script);
        let root = SearchRoot::Usual(&COPILOT_CLI, state);
        let clock = Clock::stopped();
        let mut scanner = Scanner::new(vec![root], vec![], |_| None).with_clock(&clock);
        let log = scanner.look().files.remove(0);
        (home, database, log, clock)
    }

    fn execute(database: &Path, script: &[&str]) {
        let writer = rusqlite::Connection::open(database).unwrap();
        writer.execute_batch(&script.join(";\n")).unwrap();
        drop(writer);
    }

    fn statements() -> Vec<&'static str> {
        ROWS.split(";\n").filter(|sql| !sql.is_empty()).collect()
    }

    #[test]
    fn rows_of_a_database_have_the_numbers_of_each_conversation() {
        let (_home, database, log, clock) = home_with_rows(ROWS_LOG, &statements());
        assert_eq!(prompts(&log), [11_200, 11_900, 12_010, 12_130]);
        let followed = FollowedLog::begin(&log, &Arc::default());
        let of_agent = followed.sessions().remove(1).1;
        let of_agent = of_agent.requests();
        let of_agent = of_agent.iter().map(|r| r.prompt);
        assert_eq!(of_agent.collect::<Vec<_>>(), [8_100, 8_190]);
        assert!(!followed.cursor.has_sidecar_changes());

        // Another one in its place, and none.
        fs::remove_file(&database).unwrap();
        let mut other = statements();
        let first = other.iter().position(|sql| sql.contains("11200")).unwrap();
        other.remove(first);
        execute(&database, &other);
        assert!(
            !followed.cursor.has_sidecar_changes(),
            "it is looked at later"
        );
        clock.pass(LOOK_INTERVAL);
        assert!(followed.cursor.has_sidecar_changes());
        assert_eq!(prompts(&log), [11_900, 12_010, 12_130]);
        fs::remove_file(&database).unwrap();
        clock.pass(LOOK_INTERVAL);
        assert_eq!(prompts(&log), [0; 0]);
    }

    #[test]
    fn rows_that_come_late_or_early_end_in_the_same_state() {
        let lines: Vec<&str> = ROWS_LOG.split_inclusive('\n').collect();
        let all = statements();
        let tables = all
            .iter()
            .position(|sql| sql.contains("assistant_usage_events (session_id, turn"))
            .unwrap();
        // How many lines of the log are there at each row.
        for at in [
            [0, 0, 0, 0, 0],
            [2, 4, 7, 10, 14],
            [3, 6, 8, 11, 19],
            [19, 19, 19, 19, 19],
        ] {
            let (_home, database, log, clock) = home_with_rows("", &all[..tables]);
            let mut followed = FollowedLog::begin(&log, &Arc::default());
            let mut written = 0;
            let mut rows = all[tables..].chunks(2);
            for until in at.into_iter().chain([lines.len()]) {
                let mut file = OpenOptions::new()
                    .append(true)
                    .open(&*log.facts.path)
                    .unwrap();
                let until = until.min(lines.len());
                file.write_all(lines[written..until].concat().as_bytes())
                    .unwrap();
                written = until;
                execute(&database, rows.next().unwrap_or_default());
                clock.pass(LOOK_INTERVAL);
                followed.go_on().unwrap();
            }
            let session = followed.sessions().remove(0).1;
            let fresh = FollowedLog::begin(&log, &Arc::default());
            let fresh = fresh.sessions().remove(0).1;
            assert_eq!(fresh.requests().len(), 4);
            assert_eq!(session.requests(), fresh.requests(), "{at:?}");
            assert_eq!(session.items(), fresh.items(), "{at:?}");
        }
    }

    #[test]
    fn rows_beside_a_log_with_its_own_numbers_do_not_make_it_be_read_again() {
        let of_log =
            include_str!("fixtures/copilot-cli/usage_records_and_background_compaction/log.jsonl");
        let id = of_log
            .split("\"sessionId\":\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let all: Vec<String> = statements()
            .iter()
            .map(|sql| sql.replace("5e000000-0000-4000-8000-000000000012", id))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (home, database, ..) = home_with_rows("", &all[..all.len() - 1]);
        let folder = home.path().join("session-state").join(id);
        fs::create_dir_all(&folder).unwrap();
        // One response after that has none.
        let own = of_log.find("\"apiCallId\":\"c9\"").unwrap();
        let own = &of_log[..of_log[..own].rfind('\n').unwrap() + 1];
        fs::write(folder.join("events.jsonl"), own).unwrap();
        let root = SearchRoot::Usual(&COPILOT_CLI, folder);
        let clock = Clock::stopped();
        let mut scanner = Scanner::new(vec![root], vec![], |_| None).with_clock(&clock);
        let log = scanner.look().files.remove(0);
        let mut followed = FollowedLog::begin(&log, &Arc::default());
        execute(&database, &all[all.len() - 1..]);
        clock.pass(LOOK_INTERVAL);
        assert!(followed.cursor.has_sidecar_changes());
        followed.go_on().unwrap();
        assert_eq!(followed.restarts, 0);
        assert!(!followed.cursor.has_sidecar_changes());
    }

    #[test]
    fn a_file_that_is_replaced_is_read_anew_and_one_that_is_gone_has_no_records() {
        let (home, [_, spans], log) = home(LOG, SPANS);
        assert_eq!(prompts(&log), [22_799, 23_610]);
        let cursor = open(&log, &Arc::default()).1;
        assert!(!cursor.has_sidecar_changes());

        let other = home.path().join("other");
        fs::write(&other, SPANS.replace(":22799,", ":22899,")).unwrap();
        fs::rename(&other, &spans).unwrap();
        assert!(cursor.has_sidecar_changes());
        assert_eq!(prompts(&log), [22_899, 23_610]);

        fs::remove_file(&spans).unwrap();
        assert!(cursor.has_sidecar_changes());
        assert_eq!(prompts(&log), [0; 0]);
    }
}
