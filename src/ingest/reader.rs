//! One log, from bytes to sessions: readings that can be interrupted, then cursors as it grows.

use super::discover::LogFile;
use super::lines::Line;
use super::store::{Cursor, End, News};
use crate::agents::format::Decoder;
use crate::agents::kit::damage;
use crate::model::event::{ByLength, Entry, Event, Lane, Measure, Place, Sink, Size};
use crate::model::session::{Coverage, Session};
use crate::model::window::Rules;
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The sessions of one log.
pub type Sessions = Vec<(Lane, Session)>;

/// An incomplete record at the end of a log is not written any more if nothing was written for so long.
pub const SETTLED: Duration = Duration::from_secs(2);
/// Bytes of records in one batch of what was appended.
pub(super) const BATCH: u64 = 1 << 20;

/// The main session among them.
pub fn main_session(sessions: &Sessions) -> Option<&Session> {
    let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
    main.map(|(_, session)| session)
}

/// The sessions of one log, by lane.
#[derive(Clone)]
pub struct Lanes {
    agent: &'static str,
    rules: Arc<Rules>,
    coverage: Coverage,
    /// Whether nothing is read after this: neither earlier states are kept nor where to go on.
    is_final: bool,
    /// The id of the main session, if the log's path contains it.
    id: Option<Box<str>>,
    lanes: BTreeMap<Lane, Session>,
}

impl Lanes {
    /// The main session alone, with the facts in the log's path.
    pub fn new(log: &LogFile, rules: &Arc<Rules>, coverage: Coverage) -> Lanes {
        let mut lanes = Lanes {
            agent: log.format.id,
            rules: Arc::clone(rules),
            coverage,
            is_final: false,
            id: log.facts.id.as_deref().map(Into::into),
            lanes: BTreeMap::new(),
        };
        let id = lanes.id.clone();
        let main = lanes.lane(Lane::Main);
        main.meta.id = id;
        main.meta.parent = log.facts.parent.as_deref().map(Into::into);
        lanes
    }

    /// The same, to be read once: neither earlier states are kept nor where to go on.
    #[must_use]
    pub fn finally(mut self) -> Lanes {
        self.is_final = true;
        self.lanes.values_mut().for_each(Session::forget_past);
        self
    }

    pub(super) fn is_final(&self) -> bool {
        self.is_final
    }

    pub(super) fn lane(&mut self, lane: Lane) -> &mut Session {
        self.lanes.entry(lane).or_insert_with(|| {
            let mut session = Session::new(self.agent, Arc::clone(&self.rules));
            session.coverage = self.coverage;
            if self.is_final {
                session.forget_past();
            }
            if lane != Lane::Main {
                session.meta.parent = self.id.clone();
            }
            session
        })
    }

    /// Folds entries into the sessions.
    pub fn apply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.lane(entry.lane).take_in(entry);
        }
    }

    /// Whether there is enough for a gauge: the newest report of the main session, its own output, and what has left
    /// since. `size` is how much of the log's end was read.
    pub(super) fn suffice(&mut self, size: u64, limits: &Searched) -> bool {
        let main = self.lane(Lane::Main);
        let has_gauge = match main.anchor() {
            // After a reset, no report holds.
            None => {
                size >= limits.before && !main.resets().is_empty() && !main.requests().is_empty()
            }
            Some(_) => {
                main.has_all_that_left()
                    && (size >= limits.output || main.has_output_of_report())
                    && (size >= limits.before || main.has_report_before())
            }
        };
        size >= limits.report || has_gauge
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

    /// The sessions, the main one first.
    pub fn into_sessions(mut self) -> Sessions {
        self.lanes.values_mut().for_each(Session::settle);
        self.lanes.into_iter().collect()
    }
}

/// How much of a log's end is searched for what a gauge needs, at most.
#[derive(Debug, Clone, Copy)]
pub struct Searched {
    /// For the newest report.
    pub report: u64,
    /// For its output.
    pub output: u64,
    /// For the report before it, and for one before a reset.
    pub before: u64,
}

/// Decodes a line, or records why that is not possible.
pub(super) fn decode(decoder: &mut dyn Decoder, place: Place, line: Line<'_>, out: &mut Sink<'_>) {
    let why = match line {
        Line::Bytes(bytes) => {
            out.begin(place);
            let (line, is_damaged) = damage::line(bytes);
            decoder.read_line(&line, out);
            if is_damaged {
                out.emit(Event::Damaged);
            }
            return;
        }
        Line::TooLarge => format!("line too large: {} bytes", place.len),
        Line::Unfinished => "the file ends inside this line".to_owned(),
    };
    out.push(Lane::Main, place, None, Event::Unreadable(why.into()));
}

/// Measures nothing, if only usage reports are wanted.
pub(super) struct Unmeasured;

impl Measure for Unmeasured {
    fn text(&self, text: &str) -> Size {
        Size {
            bytes: text.len() as u64,
            ..Size::default()
        }
    }
}

/// A reading of a log, in steps, from some place to its end.
pub struct Reading {
    lanes: Lanes,
    cursor: Box<dyn Cursor>,
}

/// The result of reading on, in a [`Reading`] or a file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to read.
    More,
    /// The end is reached, or the last newline; [`Reading::finish`] returns the sessions.
    Done,
    /// The log was truncated, replaced or rewritten, or is being rewritten: read it again from its beginning.
    Restart,
}

impl Reading {
    /// A reading that continues at a cursor; the sessions contain everything before it.
    pub fn new(lanes: Lanes, cursor: Box<dyn Cursor>) -> Reading {
        Reading { lanes, cursor }
    }

    /// A reading from the beginning.
    pub fn whole(log: &LogFile, rules: &Arc<Rules>) -> Reading {
        Reading {
            lanes: Lanes::new(log, rules, Coverage::Whole),
            cursor: log.store.cursor(log, rules),
        }
    }

    /// The same, for a report on what there is now: neither earlier states are kept nor where to go on.
    pub fn once(log: &LogFile, rules: &Arc<Rules>) -> Reading {
        let Reading { lanes, mut cursor } = Reading::whole(log, rules);
        cursor.read_once();
        let lanes = lanes.finally();
        Reading { lanes, cursor }
    }

    /// How much of the log this reading covers.
    pub fn coverage(&self) -> Coverage {
        self.lanes.coverage
    }

    /// Reads on until `pause`, asked after each record, returns true.
    pub fn step(
        &mut self,
        measure: &dyn Measure,
        pause: &mut dyn FnMut() -> bool,
    ) -> io::Result<Progress> {
        loop {
            let (mut paused, mut bytes) = (false, 0);
            // Entries are folded in small batches, so that only a megabyte of them is held.
            let news = self.cursor.read_patiently(measure, End::Open, &mut |len| {
                bytes += len;
                paused = pause();
                paused || bytes > BATCH
            });
            match news {
                Ok(News::Batch(entries)) => {
                    self.lanes.apply(entries);
                    if paused {
                        return Ok(Progress::More);
                    }
                }
                Ok(News::Entries(entries)) => {
                    self.lanes.apply(entries);
                    return Ok(Progress::Done);
                }
                Ok(News::Rewritten(lanes)) => {
                    self.lanes = lanes;
                    return Ok(Progress::Done);
                }
                Ok(News::Restart) => return Ok(Progress::Restart),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(match self.cursor.keeps_place() {
                        true => Progress::More,
                        false => Progress::Restart,
                    });
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads it to the end.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] if the log is being rewritten.
    pub fn to_end(mut self, measure: &dyn Measure) -> io::Result<Reading> {
        match self.step(measure, &mut || false)? {
            Progress::Done => Ok(self),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Reads an incomplete last record, if nobody has written to the log lately.
    pub fn settle(&mut self, log: &LogFile, measure: &dyn Measure) -> io::Result<()> {
        if self.cursor.is_incomplete() && log.store.stamp()?.age() >= SETTLED {
            self.settle_now(measure)?;
        }
        Ok(())
    }

    fn settle_now(&mut self, measure: &dyn Measure) -> io::Result<()> {
        loop {
            let news = self
                .cursor
                .read_patiently(measure, End::Settled, &mut |_| false)?;
            match news {
                News::Batch(entries) => self.lanes.apply(entries),
                News::Entries(entries) => {
                    self.lanes.apply(entries);
                    return Ok(());
                }
                News::Rewritten(_) | News::Restart => return Ok(()),
            }
        }
    }

    /// The sessions, and a cursor where reading continues.
    pub fn finish(self) -> (Sessions, Box<dyn Cursor>) {
        (self.lanes.into_sessions(), self.cursor)
    }
}

/// Reads a log through, for reports: every record counts, an incomplete last one too.
pub fn read_whole(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<Sessions> {
    read_through(|| Reading::whole(log, rules), measure)
}

/// The same, for reports that ask for no earlier state.
pub fn read_once(log: &LogFile, measure: &dyn Measure, rules: &Arc<Rules>) -> io::Result<Sessions> {
    read_through(|| Reading::once(log, rules), measure)
}

fn read_through(begin: impl Fn() -> Reading, measure: &dyn Measure) -> io::Result<Sessions> {
    let mut tries = 0;
    loop {
        let mut reading = begin();
        match reading.step(measure, &mut || false)? {
            Progress::Restart if tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                reading.settle_now(measure)?;
                return Ok(reading.finish().0);
            }
        }
    }
}

/// Reads a whole log and passes on its usage reports, keeping nothing.
pub fn each_usage(log: &LogFile, give: &mut dyn FnMut(Entry)) -> io::Result<()> {
    log.store.entries(log, &Unmeasured, &mut |entries| {
        let entries = entries.into_iter();
        entries
            .filter(|entry| matches!(entry.event, Event::Usage(_) | Event::Billed { .. }))
            .for_each(&mut *give);
        ControlFlow::Continue(())
    })
}

/// The entries of the first `most` records of a log, to show how it is read.
pub fn first_records(log: &LogFile, measure: &dyn Measure, most: usize) -> io::Result<Vec<Entry>> {
    let most = most as u64;
    let mut first = Vec::new();
    log.store.entries(log, measure, &mut |entries| {
        let is_enough = entries.last().is_some_and(|entry| entry.place.line > most);
        first.extend(entries.into_iter().filter(|entry| entry.place.line <= most));
        match is_enough {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(first)
}

/// The end of a log, enough for its gauge: back to its newest usage report.
pub fn tail_only(log: &LogFile, rules: &Arc<Rules>) -> io::Result<Sessions> {
    let mut reading = match log.store.tail_to_report(log, &ByLength, rules) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
            return read_once(log, &ByLength, rules);
        }
        reading => reading?,
    };
    reading.settle(log, &ByLength)?;
    Ok(reading.finish().0)
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::toy_log;
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
            let mut lanes = Lanes::new(&log, &rules, Coverage::Whole);
            let mut cursor = Reading::whole(&log, &rules).cursor;
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
                        true => cursor.finish(&ByLength),
                        false => cursor.more(&ByLength),
                    };
                    match more.unwrap() {
                        News::Entries(entries) => {
                            lanes.apply(entries);
                            break;
                        }
                        News::Batch(entries) => lanes.apply(entries),
                        News::Restart => {
                            let reading = log.store.tail(&log, &ByLength, &rules).unwrap();
                            (lanes, cursor) = (reading.lanes, reading.cursor);
                        }
                        News::Rewritten(_) => unreachable!("no document"),
                    }
                }
            }
            let fresh = read_whole(&log, &ByLength, &rules).unwrap();
            let followed = lanes.into_sessions();
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
        let mut cursor = Reading::whole(&log, &rules).cursor;
        let mut batches = 0;
        while let News::Batch(entries) = cursor.more(&ByLength).unwrap() {
            assert!(!entries.is_empty());
            batches += 1;
        }
        assert_eq!(batches, 2);
        let mut reading = Reading::whole(&log, &rules);
        let (mut turns, mut lines) = (0, 0);
        while reading
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
        assert_eq!(reading.finish().0[0].1.items().len(), 3000);
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
