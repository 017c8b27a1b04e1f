//! What agents write beside their logs: each file is read once for all sessions, and as it grows; each
//! session's decoder is told its part. Where that has changed, the log is read afresh: what was learned
//! late belongs to requests that were read before.
//!
//! The document beside a log ([`Format::state`]) is given to the decoder itself, again whenever it has
//! changed; the decoder says whether what it has read still holds.
//!
//! [`Format::state`]: crate::agents::Format::state

use super::discover::LogFile;
use super::document;
use super::lines::Line;
use super::tail::{Cursor, Outcome, Stamp};
use crate::agents::{Decoder, SidecarRecord, SidecarSpec, StateUpdate as State, StoreKind};
use crate::model::event::Sink;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files beside the logs of one folder.
pub struct SidecarStore {
    spec: &'static SidecarSpec,
    /// Where they are, beside the one that the environment names.
    folder: Option<PathBuf>,
    named: Option<PathBuf>,
    read: Mutex<BTreeMap<PathBuf, Read>>,
}

/// A file as far as it was read.
struct Read {
    cursor: Cursor,
    /// By session.
    asides: HashMap<Box<str>, Vec<SidecarRecord>>,
    /// How often it was begun.
    begun: u64,
}

/// A decoder that was told what stands beside its log.
pub(super) struct DecoderWithSidecar {
    pub(super) decoder: Box<dyn Decoder>,
    told: Told,
    /// The document beside the log, and as it was when the decoder was told of it.
    state: Option<(PathBuf, Option<Stamp>)>,
}

/// How much was told, to notice that there is more, or other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Told {
    asides: usize,
    begun: u64,
}

impl DecoderWithSidecar {
    /// Whether the document beside the log has changed.
    pub(super) fn has_new_state(&self) -> bool {
        let state = self.state.as_ref();
        state.is_some_and(|(path, seen)| Stamp::of(path).is_ok_and(|now| *seen != Some(now)))
    }

    /// Gives the document beside the log to the decoder, where it has changed. What cannot be read tells
    /// nothing: it is nobody's log.
    pub(super) fn tell_state(&mut self, out: &mut Sink<'_>) -> State {
        let Some((path, seen)) = &mut self.state else {
            return State::Accepted;
        };
        let Ok(now) = Stamp::of(path) else {
            return State::Accepted;
        };
        if *seen == Some(now) || now.len > document::LARGEST {
            return State::Accepted;
        }
        let Ok(document) = fs::read(path) else {
            return State::Accepted;
        };
        let told = self.decoder.read_state(&document, out);
        // What was written in the same tick does not show.
        *seen = Some(now).filter(|now| told != State::Incomplete || now.is_sure());
        told
    }
}

impl SidecarStore {
    /// What stands beside this log. `named` is the file that the environment names.
    pub fn new(spec: &'static SidecarSpec, log: &Path, named: Option<PathBuf>) -> SidecarStore {
        SidecarStore {
            spec,
            folder: (spec.folder)(log),
            named,
            read: Mutex::default(),
        }
    }

    fn paths(&self) -> Vec<PathBuf> {
        let entries = self.folder.iter().filter_map(|dir| fs::read_dir(dir).ok());
        let files = entries.flatten().flatten().map(|entry| entry.path());
        let lines = files.filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
        let mut paths: Vec<PathBuf> = lines.chain(self.named.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Gives what is told of a session now, file by file, and says how much that is. What cannot be read
    /// tells nothing: it is nobody's log.
    fn about(&self, session: &str, give: &mut dyn FnMut(&[SidecarRecord])) -> Told {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = Told::default();
        for path in self.paths() {
            let file = read.entry(path.clone()).or_insert_with(|| Read::begin(1));
            file.go_on(&path, self.spec);
            if let Some(own) = file.asides.get(session) {
                give(own);
                told.asides += own.len();
                told.begun += file.begun;
            }
        }
        told
    }
}

impl Read {
    fn begin(begun: u64) -> Read {
        Read {
            cursor: Cursor::start(),
            asides: HashMap::new(),
            begun,
        }
    }

    fn go_on(&mut self, path: &Path, spec: &SidecarSpec) {
        for _ in 0..2 {
            let asides = &mut self.asides;
            let outcome = self.cursor.read_more(path, &mut |_, line| {
                if let Line::Bytes(bytes) = line
                    && let Some(aside) = (spec.read)(bytes)
                {
                    asides.entry(aside.session.clone()).or_default().push(aside);
                }
                ControlFlow::Continue(())
            });
            match outcome {
                Ok(Outcome::Restart) => *self = Read::begin(self.begun + 1),
                _ => return,
            }
        }
    }
}

impl LogFile {
    fn beside(&self, give: &mut dyn FnMut(&[SidecarRecord])) -> Told {
        match (&self.neighbours, &self.facts.id) {
            (Some(neighbours), Some(session)) => neighbours.about(session, give),
            _ => Told::default(),
        }
    }

    /// A decoder that was told what stands beside the log.
    pub(super) fn informed(&self) -> DecoderWithSidecar {
        let mut decoder = self.format.decoder();
        let mut asides = Vec::new();
        let told = self.beside(&mut |more| asides.extend_from_slice(more));
        if !asides.is_empty() {
            decoder.read_sidecar(&asides);
        }
        let state = match self.store {
            StoreKind::Folder(spec) => (spec.state)(&self.facts.path),
            StoreKind::Lines | StoreKind::Document => None,
        };
        DecoderWithSidecar {
            decoder,
            told,
            state: state.map(|path| (path, None)),
        }
    }

    /// Whether something else stands beside the log now than what this decoder was told.
    pub(super) fn has_more_beside(&self, informed: &DecoderWithSidecar) -> bool {
        self.beside(&mut |_| {}) != informed.told
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover::Scanner;
    use super::super::reader::{Follower, More, Pass, Progress, read_whole};
    use super::super::roots::SearchRoot;
    use super::*;
    use crate::agents::copilot_cli::COPILOT_CLI;
    use crate::model::event::ByLength;
    use crate::model::session::Session;
    use proptest::prelude::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::sync::Arc;

    const LOG: &str =
        include_str!("../../tests/fixtures/copilot-cli/telemetry_tells_prompts/log.jsonl");
    const SPANS: &str =
        include_str!("../../tests/fixtures/copilot-cli/telemetry_tells_prompts/otel.jsonl");

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

    /// Reads a log from its beginning.
    fn begin(log: &LogFile) -> (Session, Follower) {
        let mut pass = Pass::whole(log, &Arc::default());
        let progress = pass.step(&ByLength, &mut || false).unwrap();
        assert_eq!(progress, Progress::Done);
        let (mut sessions, follower) = pass.finish();
        (sessions.remove(0).1, follower)
    }

    fn prompts(log: &LogFile) -> Vec<u64> {
        let (session, _) = begin(log);
        session.requests().iter().map(|r| r.prompt).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn whatever_comes_first_it_ends_in_the_same_state(
            pieces in prop::collection::vec((0_usize..2, 1_usize..900), 0..30),
        ) {
            let (_home, paths, log) = home("", "");
            let (mut session, mut follower) = begin(&log);
            let mut left = [LOG, SPANS];
            for (which, len) in pieces.into_iter().chain([(0, usize::MAX), (1, usize::MAX)]) {
                let (now, later) = left[which].split_at(len.min(left[which].len()));
                left[which] = later;
                let mut file = OpenOptions::new().append(true).open(&paths[which]).unwrap();
                file.write_all(now.as_bytes()).unwrap();
                loop {
                    match follower.more(&ByLength).unwrap() {
                        More::Restart => (session, follower) = begin(&log),
                        More::Entries(new) | More::Batch(new) if !new.is_empty() => {
                            new.into_iter().for_each(|entry| session.apply(entry));
                        }
                        _ => break,
                    }
                }
            }
            let fresh = read_whole(&log, &ByLength, &Arc::default()).unwrap().remove(0).1;
            prop_assert_eq!(fresh.requests().len(), 2);
            prop_assert_eq!(&session.requests(), &fresh.requests());
            prop_assert_eq!(&session.items(), &fresh.items());
            prop_assert_eq!(session.context(), fresh.context());
        }
    }

    #[test]
    fn a_file_that_is_replaced_is_read_anew_and_one_that_goes_tells_nothing() {
        let (home, [_, spans], log) = home(LOG, SPANS);
        assert_eq!(prompts(&log), [22_799, 23_610]);
        let (_, follower) = begin(&log);
        assert!(!follower.is_outdated());

        let other = home.path().join("other");
        fs::write(&other, SPANS.replace(":22799,", ":22899,")).unwrap();
        fs::rename(&other, &spans).unwrap();
        assert!(follower.is_outdated());
        assert_eq!(prompts(&log), [22_899, 23_610]);

        fs::remove_file(&spans).unwrap();
        assert!(follower.is_outdated());
        assert_eq!(prompts(&log), [0; 0]);
    }
}
