//! A store of another kind: rows in memory that are changed in place and have no byte offsets.

use super::*;
use crate::bytes::source::Stamp;
use crate::bytes::source::file_system::Local;
use crate::bytes::text;
use crate::log::event::IngestEvent;
use crate::log::reader::read_whole;
use crate::log::{Cursor, LogEnd, LogFile, NewEntries};
use crate::testing::TOY;
use crate::testing::followed::tail;
use crate::worker::job::{Origin, TextJob, do_job};
use formats::Claim;
use model::event::{ByLength, EventSink, Measure, Place};
use model::lists::sessions::{Commands, FileFacts, FileId};
use model::lists::text::TextRequest;
use model::session::replay::Timeline;
use model::session::{Coverage, Session};
use model::window::Rules;
use proptest::prelude::*;
use std::io;
use std::sync::Mutex;

#[derive(Default)]
struct Table {
    rows: Vec<String>,
    version: u64,
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Table>>);

impl Memory {
    fn write(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut table = self.0.lock().unwrap();
        change(&mut table.rows);
        table.version += 1;
    }

    fn log(&self) -> LogFile {
        LogFile {
            facts: FileFacts {
                file: FileId(7),
                agent: TOY.id,
                label: TOY.label,
                commands: Commands::NONE,
                path: Arc::default(),
                id: Some("rows".to_owned()),
                parent: Claim::LINES.parent,
                len: 0,
                modified: None,
                host: None,
            },
            system: Arc::new(Local),
            format: &TOY,
            store: Arc::new(self.clone()),
            sidecar: None,
        }
    }
}

fn place(row: usize) -> Place {
    Place::of_line(row as u64 + 1)
}

impl Store for Memory {
    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::exact((self.0.lock().unwrap().version, 0)))
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        let table = self.0.lock().unwrap();
        Ok(table.rows.concat().into_bytes())
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        Box::new(Rows {
            memory: self.clone(),
            seen: Vec::new(),
            decoder: log.format.decoder(),
        })
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<String> {
        let table = self.0.lock().unwrap();
        let row = (wanted.place.line() - 1) as usize;
        let row = table.rows.get(row).map_or("", String::as_str);
        text::in_record(log.format, wanted, row.as_bytes())
    }
}

struct Rows {
    memory: Memory,
    /// The rows as they were read.
    seen: Vec<String>,
    decoder: Box<dyn formats::Decoder>,
}

impl Cursor for Rows {
    fn read(
        &mut self,
        measure: &dyn Measure,
        _: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let table = self.memory.0.lock().unwrap();
        if !table.rows.starts_with(&self.seen) {
            return Ok(NewEntries::Restart);
        }
        let mut out = EventSink::new(measure);
        for row in &table.rows[self.seen.len()..] {
            let place = place(self.seen.len());
            out.begin(place);
            self.decoder.read_line(row, &mut out);
            self.seen.push(row.clone());
            if pause(row.len() as u64) {
                return Ok(NewEntries::Batch(out.entries));
            }
        }
        Ok(NewEntries::Entries(out.entries))
    }
}

fn row() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1_u64..99).prop_map(|n| format!("{{\"toy\":{n}}}")),
        3 => "[a-z ]{1,12}".prop_map(|text| format!("{{\"say\":\"x{text}\"}}")),
        1 => Just("{\"reset\":1}".to_owned()),
        1 => Just("junk".to_owned()),
    ]
}

fn main(mut sessions: crate::log::conversations::LogSessions) -> Session {
    sessions.remove(0).1
}

/// A session that is followed.
struct Followed {
    log: LogFile,
    session: Session,
    cursor: Box<dyn Cursor>,
    stamp: Stamp,
}

impl Followed {
    fn new(log: LogFile) -> Followed {
        let stamp = log.store.stamp().unwrap();
        let reading = tail(&log);
        let (sessions, cursor) = reading.finish();
        Followed {
            log,
            session: main(sessions),
            cursor,
            stamp,
        }
    }

    fn read_on(&mut self) {
        let stamp = self.log.store.stamp().unwrap();
        if stamp == self.stamp && self.stamp.is_sure() {
            return;
        }
        self.stamp = stamp;
        loop {
            let (entries, is_last) = match self.cursor.more(&ByLength).unwrap() {
                NewEntries::Entries(entries) => (entries, true),
                NewEntries::Batch(entries) => (entries, false),
                NewEntries::Restart => return *self = Followed::new(self.log.clone()),
                NewEntries::Rewritten(_) => unreachable!("rows are no document"),
            };
            entries.into_iter().for_each(|e| self.session.apply(e));
            if is_last {
                return;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn rows_that_are_changed_in_place_are_followed_replayed_and_shown(
        changes in prop::collection::vec((row(), prop::option::weighted(0.3, 0_usize..20)), 1..20),
    ) {
        let memory = Memory::default();
        let mut followed = Followed::new(memory.log());
        for (row, at) in changes {
            memory.write(|rows| match at.and_then(|at| rows.get_mut(at)) {
                Some(old) => *old = row,
                None => rows.push(row),
            });
            followed.read_on();
        }
        let log = memory.log();
        let session = main(read_whole(&log, &ByLength, &Arc::default()).unwrap());
        prop_assert_eq!(&followed.session.items(), &session.items());
        prop_assert_eq!(&followed.session.requests(), &session.requests());
        prop_assert_eq!(&followed.session.resets(), &session.resets());
        prop_assert_eq!(followed.session.context(), session.context());

        let timeline = Timeline::of(&session);
        for ix in 0..timeline.len() {
            let moment = timeline.moment(ix).unwrap();
            let up_to = memory.0.lock().unwrap().rows[..moment.place.line() as usize].to_vec();
            prop_assert!(timeline.at_place(moment.place) >= ix);
            let earlier = Memory::default();
            earlier.write(|rows| *rows = up_to);
            let then = main(read_whole(&earlier.log(), &ByLength, &Arc::default()).unwrap());
            if timeline.at_place(moment.place) == ix {
                prop_assert_eq!(session.snapshot_at(moment).context, then.snapshot().context);
            }
        }

        for item in session.items() {
            let wanted = TextRequest::of(log.facts.file, item).unwrap();
            let Some(IngestEvent::Text(page)) = do_job(TextJob::Page(wanted), Origin::Log(log.clone()))
            else {
                panic!("no text of {item:?}");
            };
            let text = page.text.unwrap().text;
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(words.join(" "), &*item.preview);
        }
    }
}

#[test]
fn rows_are_read_by_every_way_into_a_log() {
    let memory = Memory::default();
    memory.write(|rows| {
        *rows = ["{\"toy\":1}", "{\"say\":\"hello\"}", "{\"toy\":2}"]
            .map(str::to_owned)
            .into();
    });
    let log = memory.log();
    let mut prompts = Vec::new();
    crate::log::reader::each_usage(&log, &mut |entry| {
        if let model::event::Event::Usage(usage) = entry.event {
            prompts.push(usage.prompt);
        }
    })
    .unwrap();
    assert_eq!(prompts, [1, 2]);
    let first = crate::log::reader::first_records(&log, &ByLength, 2).unwrap();
    assert_eq!(first.last().unwrap().place, place(1));
    let epoch = log.store.epoch(&log, &Arc::default()).unwrap();
    assert_eq!(epoch.conversations.coverage, Coverage::Whole);
    assert!(TOY.recognise(&log.store.head().unwrap()));

    // The text of a row that was changed is no longer there.
    let session = main(read_whole(&log, &ByLength, &Arc::default()).unwrap());
    let wanted = TextRequest::of(log.facts.file, &session.items()[1]).unwrap();
    memory.write(|rows| rows[1] = "{\"say\":\"bye\"}".to_owned());
    let error = log.store.text(&log, wanted).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
