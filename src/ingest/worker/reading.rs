//! What the worker reads, and in which order.

use super::{Again, InProgress, Known, LIVE_LOOK, TURN, WALK, Worker, is_live};
use crate::ingest::COUNTED;
use crate::ingest::problem;
use crate::ingest::reader::{Progress, Reading, Sessions};
use crate::ingest::store::News;
use crate::model::event::{ByLength, Entry, Event, Lane, Measure};
use crate::model::fleet::{FileId, Update};
use crate::model::session::Coverage;
use crate::tokens::Counter;
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

impl Worker {
    pub(super) fn read_appended(&mut self, file: FileId, finish: bool) -> ControlFlow<()> {
        let measure = measure(&self.counter, self.counter.is_warm());
        let mut moved = false;
        while let Some(known) = self.known.get_mut(&file) {
            let Some(cursor) = known.cursor.as_mut().filter(|_| !known.trimmed) else {
                return self.read_end(file);
            };
            let more = if finish {
                cursor.finish(measure)
            } else {
                cursor.more(measure)
            };
            let (entries, more) = match more {
                Ok(News::Entries(entries)) => (entries, false),
                Ok(News::Batch(entries)) => (entries, true),
                Ok(News::Rewritten(lanes)) => {
                    return self.rewritten(file, lanes.into_sessions());
                }
                Ok(News::Restart) => return self.read_end(file),
                Err(e) => return self.failed(file, &e),
            };
            if let Some(cwd) = newest_cwd(&entries) {
                known.cwd = Some(cwd);
                moved = true;
            }
            if !entries.is_empty() {
                (self.sink)(Update::Appended { file, entries })?;
            }
            if !more {
                break;
            }
        }
        if moved {
            self.send_settings(file)?;
        }
        ControlFlow::Continue(())
    }

    /// Reads the end of a file afresh; whatever was read of it no longer holds.
    fn read_end(&mut self, file: FileId) -> ControlFlow<()> {
        for reading in [&mut self.foreground, &mut self.background] {
            if reading.as_ref().is_some_and(|reading| reading.file == file) {
                *reading = None;
            }
        }
        let Some(known) = self.known.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        let looked_at = self.looked_at == Some(file) && self.counter.is_warm();
        let measure = measure(&self.counter, looked_at);
        match known.log.store.tail(&known.log, measure, &self.rules) {
            Ok(reading) => self.rebuilt(file, reading, looked_at),
            Err(e) => self.failed(file, &e),
        }
    }

    /// A document's sessions as they are now. What did not change was counted as before.
    fn rewritten(&mut self, file: FileId, sessions: Sessions) -> ControlFlow<()> {
        let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
        if let (Some(known), Some((_, session))) = (self.known.get_mut(&file), main) {
            known.not_before = None;
            known.cwd = session.meta.cwd.clone();
        }
        self.send_settings(file)?;
        (self.sink)(Update::Rebuilt { file, sessions })
    }

    /// The sessions of a file, read anew.
    fn rebuilt(&mut self, file: FileId, mut reading: Reading, exact: bool) -> ControlFlow<()> {
        let measure = measure(&self.counter, exact);
        let settled = self
            .known
            .get(&file)
            .map_or(Ok(()), |known| reading.settle(&known.log, measure));
        let (mut sessions, cursor) = reading.finish();
        let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
        if let Some(known) = self.known.get_mut(&file) {
            known.read = main.map_or(Coverage::Unread, |(_, session)| session.coverage);
            known.counted = if exact { known.read } else { Coverage::Unread };
            known.cursor = Some(cursor);
            known.not_before = None;
            known.cwd = main.and_then(|(_, session)| session.meta.cwd.clone());
            known.unreported = sessions.iter().any(|(_, session)| session.is_unreported());
            known.trimmed = !exact && known.read == Coverage::Whole && !is_live(known);
            if known.trimmed {
                sessions.iter_mut().for_each(|(_, session)| session.trim());
                known.cursor.iter_mut().for_each(|cursor| cursor.trim());
            }
        }
        self.send_settings(file)?;
        (self.sink)(Update::Rebuilt { file, sessions })?;
        match settled {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => self.failed(file, &e),
        }
    }

    /// Reads on for one turn, first what is looked at. Returns whether there was anything to read.
    pub(super) fn read_on(&mut self) -> ControlFlow<(), bool> {
        if let Some(file) = self.looked_at
            && let Some(known) = self.known.get(&file).filter(|known| may_read(known))
            && known.counted < Coverage::Whole
        {
            // What was read through already is not taken back for the sake of a quicker count.
            let epoch_first = known.counted < Coverage::Epoch && known.read < Coverage::Whole;
            let begun = self.foreground.take().filter(|begun| begun.file == file);
            let reading = match begun {
                Some(begun) => Ok(begun.reading),
                None if epoch_first => known.log.store.epoch(&known.log, &self.rules),
                None => Ok(Reading::whole(&known.log, &self.rules)),
            };
            let begun = (file, reading, true);
            return self.turn(begun, Slot::Foreground);
        }
        self.foreground = None;
        let begun = self.background.take().filter(|begun| {
            let known = self.known.get(&begun.file);
            known.is_some_and(|known| {
                let needs = if begun.exact { to_count } else { to_read };
                needs(known) && may_read(known)
            })
        });
        if let Some(begun) = begun {
            let InProgress {
                file,
                reading,
                exact,
            } = begun;
            return self.turn((file, Ok(reading), exact), Slot::Background);
        }
        for (needs, exact) in [(to_read as fn(&Known) -> bool, false), (to_count, true)] {
            let next = self.known.values().filter(|known| needs(known));
            let next = next
                .filter(|known| may_read(known))
                .max_by_key(|known| known.log.facts.modified);
            if let Some(known) = next {
                let reading = Reading::whole(&known.log, &self.rules);
                let begun = (known.log.facts.file, Ok(reading), exact);
                return self.turn(begun, Slot::Background);
            }
        }
        if !self.caught_up {
            self.caught_up = true;
            (self.sink)(Update::CaughtUp)?;
        }
        ControlFlow::Continue(false)
    }

    fn turn(
        &mut self,
        (file, reading, exact): (FileId, io::Result<Reading>, bool),
        slot: Slot,
    ) -> ControlFlow<(), bool> {
        let until = Instant::now() + TURN;
        let measure = measure(&self.counter, exact);
        let step = reading.and_then(|mut reading| {
            let progress = reading.step(measure, &mut || Instant::now() >= until)?;
            Ok((reading, progress))
        });
        match step {
            Ok((reading, Progress::More)) => {
                let slot = match slot {
                    Slot::Foreground => &mut self.foreground,
                    Slot::Background => &mut self.background,
                };
                *slot = Some(InProgress {
                    file,
                    reading,
                    exact,
                });
            }
            Ok((reading, Progress::Done)) => self.rebuilt(file, reading, exact)?,
            Ok((_, Progress::Restart)) => self.rest(file, LIVE_LOOK),
            Err(e) => self.failed(file, &e)?,
        }
        ControlFlow::Continue(true)
    }

    /// Leaves a file alone for a while.
    fn rest(&mut self, file: FileId, time: Duration) {
        let at = Instant::now() + time;
        if let Some(known) = self.known.get_mut(&file) {
            known.not_before = Some(at);
            self.again.push((at, Again::File(file)));
        }
    }

    fn failed(&mut self, file: FileId, error: &io::Error) -> ControlFlow<()> {
        // Gone, or half written, is not a problem: the next look at it will see.
        if error.kind() == io::ErrorKind::WouldBlock {
            self.rest(file, LIVE_LOOK);
            return ControlFlow::Continue(());
        }
        self.rest(file, WALK);
        let Some(known) = self.known.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        known.cursor = None;
        if error.kind() == io::ErrorKind::NotFound {
            return ControlFlow::Continue(());
        }
        let path = known.log.facts.path.to_path_buf();
        self.report(path, problem::unreadable(error, "read it"))
    }
}

/// Exact counts, or estimates by length.
fn measure(counter: &Counter, exact: bool) -> &dyn Measure {
    match exact {
        true => counter,
        false => &ByLength,
    }
}

/// The folder in which the session works, if these entries contain it.
fn newest_cwd(entries: &[Entry]) -> Option<Box<str>> {
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Meta(meta) if entry.lane == Lane::Main => meta.cwd.clone(),
        _ => None,
    })
}

/// Where a reading is kept that is not finished.
#[derive(Clone, Copy)]
enum Slot {
    Foreground,
    Background,
}

/// Whether not all of it was read.
fn to_read(known: &Known) -> bool {
    known.read < Coverage::Whole
}

/// Whether its size is a guess by length that alerts may depend on.
fn to_count(known: &Known) -> bool {
    let is_small = known.log.facts.len <= COUNTED;
    known.unreported && known.counted < Coverage::Whole && is_small && is_live(known)
}

fn may_read(known: &Known) -> bool {
    known.missing_since.is_none() && known.not_before.is_none_or(|at| at <= Instant::now())
}
