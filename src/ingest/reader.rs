//! One log, from bytes to sessions: in passes that can be interrupted, then as it grows.

use super::beside::DecoderWithSidecar;
use super::bytes::Open;
use super::discover::LogFile;
use super::document::{self, Document};
use super::lines::{CHUNK, Line, Lines, OnLine, Step};
use super::tail::{Cursor, Outcome};
use crate::agents::{Decoder, Input, StateUpdate, StoreKind};
use crate::model::event::{ByLength, Entry, Event, Lane, Measure, Place, Sink, Size};
use crate::model::session::{Coverage, Session};
use crate::model::window::Rules;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The sessions of one file.
pub type Sessions = Vec<(Lane, Session)>;

/// A file that was not written to for so long has no line that is still being written.
pub const SETTLED: Duration = Duration::from_secs(2);
/// Bytes of lines in one batch of what was appended.
const BATCH: u64 = 1 << 20;

/// Entries folded into sessions by lane.
#[derive(Clone)]
pub(super) struct Fold {
    agent: &'static str,
    rules: Arc<Rules>,
    coverage: Coverage,
    /// The id of the session that the file is named for.
    id: Option<Box<str>>,
    lanes: BTreeMap<Lane, Session>,
}

impl Fold {
    pub(super) fn new(log: &LogFile, rules: &Arc<Rules>, coverage: Coverage) -> Fold {
        let mut fold = Fold {
            agent: log.format.id,
            rules: Arc::clone(rules),
            coverage,
            id: log.facts.id.as_deref().map(Into::into),
            lanes: BTreeMap::new(),
        };
        let id = fold.id.clone();
        let main = fold.lane(Lane::Main);
        main.meta.id = id;
        main.meta.parent = log.facts.parent.as_deref().map(Into::into);
        fold
    }

    pub(super) fn lane(&mut self, lane: Lane) -> &mut Session {
        self.lanes.entry(lane).or_insert_with(|| {
            let mut session = Session::new(self.agent, Arc::clone(&self.rules));
            session.coverage = self.coverage;
            if lane != Lane::Main {
                session.meta.parent = self.id.clone();
            }
            session
        })
    }

    pub(super) fn apply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.lane(entry.lane).apply(entry);
        }
    }

    pub(super) fn has_unreadable(&self) -> bool {
        self.lanes.values().any(|session| session.unreadable > 0)
    }

    pub(super) fn cover(&mut self, coverage: Coverage) {
        self.coverage = coverage;
        for session in self.lanes.values_mut() {
            session.coverage = coverage;
        }
    }

    pub(super) fn into_sessions(self) -> Sessions {
        self.lanes.into_iter().collect()
    }
}

/// Gives a line to a decoder, or tells why it cannot be given.
pub(super) fn decode(decoder: &mut dyn Decoder, place: Place, line: Line<'_>, out: &mut Sink<'_>) {
    let why = match line {
        Line::Bytes(bytes) => {
            out.begin(place);
            return decoder.read(Input::Line(place, bytes), out);
        }
        Line::TooLarge => format!("line too large: {} bytes", place.len),
        Line::Unfinished => "the file ends inside this line".to_owned(),
    };
    out.push(Lane::Main, place, None, Event::Unreadable(why.into()));
}

/// Measures nothing, for whoever wants usage reports only.
pub(super) struct Unmeasured;

impl Measure for Unmeasured {
    fn text(&self, text: &str) -> Size {
        Size {
            bytes: text.len() as u64,
            ..Size::default()
        }
    }
}

/// A log that is being followed: where reading goes on.
pub struct Follower {
    log: LogFile,
    state: State,
}

enum State {
    Lines(Cursor, DecoderWithSidecar),
    Document(Box<Document>),
}

/// What has come since a log was last read.
#[derive(Debug)]
pub enum More {
    /// These entries, perhaps none; all there is for now.
    Entries(Vec<Entry>),
    /// These entries, and there is more.
    Batch(Vec<Entry>),
    /// A document was rewritten: these are its sessions now.
    Anew(Sessions),
    /// It must be read afresh: it was truncated, replaced or rewritten.
    Restart,
}

impl Follower {
    pub(super) fn lines(log: &LogFile, cursor: Cursor, decoder: DecoderWithSidecar) -> Follower {
        Follower {
            log: log.clone(),
            state: State::Lines(cursor, decoder),
        }
    }

    pub(super) fn document(log: &LogFile, rules: &Arc<Rules>) -> Follower {
        Follower {
            log: log.clone(),
            state: State::Document(Box::new(Document::new(log, rules))),
        }
    }

    /// Lets go of what only makes the next reading quicker.
    pub fn shed(&mut self) {
        if let State::Document(document) = &mut self.state {
            document.shed();
        }
    }

    /// Whether the file ends in a line without its newline, to be looked at when it has settled.
    pub fn is_inside_line(&self) -> bool {
        match &self.state {
            State::Lines(cursor, _) => cursor.is_inside_line(),
            State::Document(_) => false,
        }
    }

    /// Whether what stands beside the log has changed, so that it must be read afresh.
    pub fn is_outdated(&self) -> bool {
        match &self.state {
            State::Lines(_, informed) => self.log.has_more_beside(informed),
            State::Document(_) => false,
        }
    }

    /// Whether the document beside the log has changed, of which the decoder is told as it reads on.
    pub fn has_new_state(&self) -> bool {
        match &self.state {
            State::Lines(_, informed) => informed.has_new_state(),
            State::Document(_) => false,
        }
    }

    /// Reads what was appended, about a megabyte at most.
    pub fn more(&mut self, measure: &dyn Measure) -> io::Result<More> {
        if let State::Document(document) = &mut self.state {
            return document.more(measure);
        }
        let mut out = Sink::new(measure);
        let mut left = BATCH;
        let outcome = self.read(&mut out, End::Open, &mut |bytes| {
            left = left.saturating_sub(bytes);
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(match outcome {
            Outcome::Drained => More::Entries(out.entries),
            Outcome::More => More::Batch(out.entries),
            Outcome::Restart => More::Restart,
        })
    }

    /// Reads all there is, a last line without its newline too: nobody is writing to the file.
    pub fn finish(&mut self, measure: &dyn Measure) -> io::Result<More> {
        if let State::Document(document) = &mut self.state {
            return document.more(measure);
        }
        let mut out = Sink::new(measure);
        let outcome = self.read(&mut out, End::Settled, &mut |_| ControlFlow::Continue(()))?;
        Ok(match outcome {
            Outcome::Restart => More::Restart,
            _ => More::Entries(out.entries),
        })
    }

    /// `pause` is asked after each line, with its bytes, whether to stop there.
    fn read(
        &mut self,
        out: &mut Sink<'_>,
        end: End,
        pause: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> io::Result<Outcome> {
        if self.is_outdated() {
            return Ok(Outcome::Restart);
        }
        let State::Lines(cursor, informed) = &mut self.state else {
            return Ok(Outcome::Drained);
        };
        if informed.tell_state(out) == StateUpdate::RereadLog {
            return Ok(Outcome::Restart);
        }
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(informed.decoder.as_mut(), place, line, out);
            pause(place.len)
        };
        match end {
            End::Open => cursor.read_more(&self.log, deliver),
            End::Settled => cursor.finish(&self.log, deliver),
        }
    }
}

/// How the end of a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// A line without its newline is still being written.
    Open,
    /// It is not.
    Settled,
}

/// A reading of a log from some place to its end, in steps.
pub struct Pass {
    fold: Fold,
    follower: Follower,
}

/// What a step of a [`Pass`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to read.
    More,
    /// The end is reached; [`Pass::finish`] gives the sessions.
    Done,
    /// The file changed under the reading, or a document is only half written: begin again.
    Restart,
}

impl Pass {
    pub(super) fn new(fold: Fold, follower: Follower) -> Pass {
        Pass { fold, follower }
    }

    /// From the beginning.
    pub fn whole(log: &LogFile, rules: &Arc<Rules>) -> Pass {
        let fold = Fold::new(log, rules, Coverage::Whole);
        let follower = match log.store {
            StoreKind::Lines | StoreKind::Folder(_) => {
                Follower::lines(log, Cursor::start(), log.informed())
            }
            StoreKind::Document => Follower::document(log, rules),
        };
        Pass { fold, follower }
    }

    /// How much of the log this reading covers.
    pub fn coverage(&self) -> Coverage {
        self.fold.coverage
    }

    /// Reads on until `pause`, asked after each line, says to stop there. A document is read at once.
    pub fn step(
        &mut self,
        measure: &dyn Measure,
        pause: &mut dyn FnMut() -> bool,
    ) -> io::Result<Progress> {
        if let State::Document(document) = &mut self.follower.state {
            match document.read(measure) {
                Ok(Some(fold)) => self.fold = fold,
                Ok(None) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(Progress::Restart),
                Err(e) => return Err(e),
            }
            return Ok(Progress::Done);
        }
        let mut out = Sink::new(measure);
        let fold = &mut self.fold;
        loop {
            let mut paused = false;
            let mut bytes = 0;
            // Entries are folded in small batches: none of them outlives its megabyte.
            let outcome = self.follower.read(&mut out, End::Open, &mut |len| {
                bytes += len;
                paused = pause();
                if paused || bytes > BATCH {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            fold.apply(out.entries.drain(..));
            match outcome {
                Outcome::More if !paused => {}
                Outcome::More => return Ok(Progress::More),
                Outcome::Drained => break,
                Outcome::Restart => return Ok(Progress::Restart),
            }
        }
        Ok(Progress::Done)
    }

    /// Takes in a last line without its newline, if nobody has written to the file lately.
    pub fn settle(&mut self, measure: &dyn Measure) -> io::Result<()> {
        if self.follower.is_inside_line() && self.follower.log.stamp()?.age() >= SETTLED {
            self.settle_now(measure)?;
        }
        Ok(())
    }

    fn settle_now(&mut self, measure: &dyn Measure) -> io::Result<()> {
        if let More::Entries(entries) = self.follower.finish(measure)? {
            self.fold.apply(entries);
        }
        Ok(())
    }

    /// The sessions, and where reading goes on.
    pub fn finish(self) -> (Sessions, Follower) {
        (self.fold.into_sessions(), self.follower)
    }
}

/// Reads a log through, for reports: every line counts, the last one too.
pub fn read_whole(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<Sessions> {
    let mut tries = 0;
    loop {
        let mut pass = Pass::whole(log, rules);
        match pass.step(measure, &mut || false)? {
            Progress::Restart if tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                if pass.follower.is_inside_line() {
                    pass.settle_now(measure)?;
                }
                return Ok(pass.finish().0);
            }
        }
    }
}

/// Reads a log through and gives its usage reports, keeping nothing.
pub fn each_usage(log: &LogFile, give: &mut dyn FnMut(Entry)) -> io::Result<()> {
    let is_usage = |entry: &Entry| matches!(entry.event, Event::Usage(_));
    if log.store == StoreKind::Document {
        let entries = document::entries(log, &Unmeasured)?;
        entries.into_iter().filter(is_usage).for_each(give);
        return Ok(());
    }
    let mut follower = Pass::whole(log, &Arc::default()).follower;
    loop {
        let (entries, end) = match follower.more(&Unmeasured)? {
            More::Batch(entries) => (entries, false),
            More::Entries(entries) => (entries, true),
            More::Anew(_) | More::Restart => return Ok(()),
        };
        entries.into_iter().filter(is_usage).for_each(&mut *give);
        if end {
            break;
        }
    }
    if let More::Entries(entries) = follower.finish(&Unmeasured)? {
        entries.into_iter().filter(is_usage).for_each(give);
    }
    Ok(())
}

/// What the first `most` records of a log tell, for whoever wants to see how it is read.
pub fn first_records(log: &LogFile, measure: &dyn Measure, most: usize) -> io::Result<Vec<Entry>> {
    let mut out = Sink::new(measure);
    if log.store == StoreKind::Document {
        out.entries = document::entries(log, measure)?;
    } else {
        let (mut bytes, _) = log.open()?;
        let mut decoder = log.format.decoder();
        let mut lines = Lines::at(0, 1, CHUNK as u64);
        let mut left = most;
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(decoder.as_mut(), place, line, &mut out);
            left = left.saturating_sub(1);
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        loop {
            match lines.step(&mut bytes, deliver)? {
                Step::Read(_) => {}
                Step::Stopped => break,
                Step::End => {
                    let _ = lines.finish(deliver);
                    break;
                }
            }
        }
    }
    let most = most as u64;
    out.entries.retain(|entry| entry.place.line <= most);
    Ok(out.entries)
}

/// Reads a stream to its end, for reports. `log` says what it is.
pub fn read_stream(
    source: &mut dyn Read,
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<Sessions> {
    let mut fold = Fold::new(log, rules, Coverage::Whole);
    if log.store == StoreKind::Document {
        let mut out = Sink::new(measure);
        document::decode(log.format, &document::bytes(source, 0)?, &mut out);
        fold.apply(out.entries);
        return Ok(fold.into_sessions());
    }
    let decoder = log.format.decoder();
    super::spool::each_batch(source, decoder, measure, &mut |entries| {
        fold.apply(entries);
        ControlFlow::Continue(())
    })?;
    Ok(fold.into_sessions())
}

/// The end of a log, enough for its gauge.
pub fn tail_only(log: &LogFile, rules: &Arc<Rules>) -> io::Result<Sessions> {
    if log.store == StoreKind::Document {
        return read_whole(log, &ByLength, rules);
    }
    let mut pass = super::backwards::tail(log, &ByLength, rules)?;
    pass.settle(&ByLength)?;
    Ok(pass.finish().0)
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests {
    use super::super::backwards;
    use super::super::testing::toy_log;
    use super::*;
    use proptest::prelude::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    /// What may happen to a log.
    #[derive(Debug, Clone)]
    enum Act {
        /// These bytes are appended: lines, or pieces of them.
        Append(String),
        /// It is cut to a share of its length, in percent.
        Truncate(u64),
        /// It is written anew in place.
        Rewrite(String),
        /// Another file takes its place.
        Replace(String),
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            4 => (1_u64..99).prop_map(|n| format!("{{\"toy\":{n}}}")),
            3 => "[a-z ]{0,12}".prop_map(|text| format!("{{\"say\":\"{text}\"}}")),
            1 => Just("{\"reset\":1}".to_owned()),
            1 => Just("{\"side\":\"x\"}".to_owned()),
            1 => Just("junk".to_owned()),
            1 => Just(String::new()),
        ];
        let end = prop_oneof![5 => Just("\n"), 1 => Just("\r\n"), 2 => Just("")];
        let lines = prop::collection::vec((line, end, 0_usize..40), 0..5);
        // Lines whole or torn somewhere.
        lines.prop_map(|lines| {
            let piece = |(line, end, tear): &(String, &str, usize)| match tear {
                0..10 => line
                    .get(..tear % (line.len() + 1))
                    .unwrap_or_default()
                    .to_owned(),
                _ => format!("{line}{end}"),
            };
            lines.iter().map(piece).collect()
        })
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            6 => text().prop_map(Act::Append),
            1 => (0_u64..100).prop_map(Act::Truncate),
            1 => text().prop_map(Act::Rewrite),
            1 => text().prop_map(Act::Replace),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn following_ends_where_a_fresh_reading_does(acts in prop::collection::vec(act(), 1..12)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log.toy");
            fs::write(&path, "").unwrap();
            let log = toy_log(&path);
            let rules = Arc::default();
            let mut fold = Fold::new(&log, &rules, Coverage::Whole);
            let mut follower = Pass::whole(&log, &rules).follower;
            let finish = acts.len();
            for n in 0..=finish {
                match acts.get(n) {
                    Some(Act::Append(text)) => {
                        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                        file.write_all(text.as_bytes()).unwrap();
                    }
                    Some(Act::Truncate(share)) => {
                        let file = OpenOptions::new().write(true).open(&path).unwrap();
                        file.set_len(file.metadata().unwrap().len() * share / 100).unwrap();
                    }
                    Some(Act::Rewrite(text)) => fs::write(&path, text).unwrap(),
                    Some(Act::Replace(text)) => {
                        let other = dir.path().join("other");
                        fs::write(&other, text).unwrap();
                        fs::rename(&other, &path).unwrap();
                    }
                    None => {}
                }
                loop {
                    let more = match n == finish {
                        true => follower.finish(&ByLength),
                        false => follower.more(&ByLength),
                    };
                    match more.unwrap() {
                        More::Entries(entries) => {
                            fold.apply(entries);
                            break;
                        }
                        More::Batch(entries) => fold.apply(entries),
                        More::Restart => {
                            let pass = backwards::tail(&log, &ByLength, &rules).unwrap();
                            (fold, follower) = (pass.fold, pass.follower);
                        }
                        More::Anew(_) => unreachable!("no document"),
                    }
                }
            }
            let fresh = read_whole(&log, &ByLength, &rules).unwrap();
            let followed = fold.into_sessions();
            prop_assert_eq!(followed.len(), fresh.len());
            for ((lane, a), (other, b)) in followed.iter().zip(&fresh) {
                prop_assert_eq!(lane, other);
                prop_assert_eq!(a.context(), b.context());
                prop_assert_eq!(&a.items(), &b.items());
                prop_assert_eq!(&a.requests(), &b.requests());
                prop_assert_eq!(a.unreadable, b.unreadable);
            }
        }
    }

    #[test]
    fn a_long_log_comes_in_batches_and_in_turns() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.toy");
        let line = format!("{{\"say\":\"{}\"}}\n", "x".repeat(1000));
        fs::write(&path, line.repeat(3000)).unwrap();
        let log = toy_log(&path);
        let rules = Arc::default();
        let mut follower = Pass::whole(&log, &rules).follower;
        let mut batches = 0;
        while let More::Batch(entries) = follower.more(&ByLength).unwrap() {
            assert!(!entries.is_empty());
            batches += 1;
        }
        assert_eq!(batches, 2);
        let mut pass = Pass::whole(&log, &rules);
        let (mut turns, mut lines) = (0, 0);
        while pass
            .step(&ByLength, &mut || {
                lines += 1;
                lines % 100 == 0
            })
            .unwrap()
            == Progress::More
        {
            turns += 1;
        }
        assert_eq!((turns, lines), (30, 3000));
        assert_eq!(pass.finish().0[0].1.items().len(), 3000);
    }

    #[test]
    fn each_usage_gives_the_reports_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.toy");
        fs::write(&path, "{\"toy\":1}\n{\"say\":\"x\"}\njunk\n{\"toy\":2}").unwrap();
        let mut prompts = Vec::new();
        each_usage(&toy_log(&path), &mut |entry| match entry.event {
            Event::Usage(usage) => prompts.push(usage.prompt),
            other => panic!("{other:?}"),
        })
        .unwrap();
        assert_eq!(prompts, [1, 2]);
    }
}
