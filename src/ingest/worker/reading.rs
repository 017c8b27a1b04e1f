//! What the worker reads, and in which order.

use super::{Again, Known, LIVE_LOOK, Reading, TURN, WALK, Worker, is_live};
use crate::ingest::reader::{Follower, More, Pass, Progress, Sessions};
use crate::ingest::{backwards, problem};
use crate::model::event::{ByLength, Entry, Event, Lane, Measure};
use crate::model::fleet::{FileId, Update};
use crate::model::session::Coverage;
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

impl Worker {
    pub(super) fn read_appended(&mut self, file: FileId, finish: bool) -> ControlFlow<()> {
        let measure: &dyn Measure = if self.counter.is_warm() {
            self.counter.as_ref()
        } else {
            &ByLength
        };
        let mut moved = false;
        while let Some(known) = self.known.get_mut(&file) {
            let Some(follower) = known.follower.as_mut().filter(|_| !known.shed) else {
                return self.read_end(file);
            };
            let more = if finish {
                follower.finish(measure)
            } else {
                follower.more(measure)
            };
            let (entries, more) = match more {
                Ok(More::Entries(entries)) => (entries, false),
                Ok(More::Batch(entries)) => (entries, true),
                Ok(More::Anew(sessions)) => return self.rewritten(file, sessions),
                Ok(More::Restart) => return self.read_end(file),
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
            self.tell_settings(file)?;
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
        let measure: &dyn Measure = if looked_at {
            self.counter.as_ref()
        } else {
            &ByLength
        };
        match backwards::tail(&known.log, measure, &self.rules) {
            Ok(pass) => self.rebuilt(file, pass, looked_at),
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
        self.tell_settings(file)?;
        (self.sink)(Update::Rebuilt { file, sessions })
    }

    /// The sessions of a file, read anew.
    fn rebuilt(&mut self, file: FileId, mut pass: Pass, exact: bool) -> ControlFlow<()> {
        let measure: &dyn Measure = if exact {
            self.counter.as_ref()
        } else {
            &ByLength
        };
        let settled = pass.settle(measure);
        let (mut sessions, follower) = pass.finish();
        let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
        if let Some(known) = self.known.get_mut(&file) {
            known.read = main.map_or(Coverage::Unread, |(_, session)| session.coverage);
            known.counted = if exact { known.read } else { Coverage::Unread };
            known.follower = Some(follower);
            known.not_before = None;
            known.cwd = main.and_then(|(_, session)| session.meta.cwd.clone());
            known.shed = !exact && known.read == Coverage::Whole && !is_live(known);
            if known.shed {
                sessions.iter_mut().for_each(|(_, session)| session.trim());
                known.follower.iter_mut().for_each(Follower::shed);
            }
        }
        self.tell_settings(file)?;
        (self.sink)(Update::Rebuilt { file, sessions })?;
        match settled {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => self.failed(file, &e),
        }
    }

    /// Reads on for one turn, what somebody waits for first. Whether there was anything to read.
    pub(super) fn read_on(&mut self) -> ControlFlow<(), bool> {
        if let Some(file) = self.looked_at
            && let Some(known) = self.known.get(&file).filter(|known| may_read(known))
            && known.counted < Coverage::Whole
        {
            // What was read through already is not taken back for the sake of a quicker count.
            let epoch_first = known.counted < Coverage::Epoch && known.read < Coverage::Whole;
            let under_way = self
                .foreground
                .take()
                .filter(|reading| reading.file == file);
            let reading = match under_way {
                Some(reading) => Ok(reading),
                None if epoch_first => {
                    backwards::epoch(&known.log, &self.rules).map(|pass| Reading { file, pass })
                }
                None => Ok(Reading {
                    file,
                    pass: Pass::whole(&known.log, &self.rules),
                }),
            };
            return self.turn(file, reading, true);
        }
        self.foreground = None;
        let under_way = self.background.take().filter(|reading| {
            let known = self.known.get(&reading.file);
            known.is_some_and(|known| known.read < Coverage::Whole && may_read(known))
        });
        if let Some(reading) = under_way {
            return self.turn(reading.file, Ok(reading), false);
        }
        let unread = self
            .known
            .values()
            .filter(|known| known.read < Coverage::Whole);
        let next = unread
            .filter(|known| may_read(known))
            .max_by_key(|known| known.log.facts.modified);
        if let Some(known) = next {
            let file = known.log.facts.file;
            let pass = Pass::whole(&known.log, &self.rules);
            return self.turn(file, Ok(Reading { file, pass }), false);
        }
        if !self.caught_up {
            self.caught_up = true;
            (self.sink)(Update::CaughtUp)?;
        }
        ControlFlow::Continue(false)
    }

    fn turn(
        &mut self,
        file: FileId,
        reading: io::Result<Reading>,
        exact: bool,
    ) -> ControlFlow<(), bool> {
        let until = Instant::now() + TURN;
        let measure: &dyn Measure = if exact {
            self.counter.as_ref()
        } else {
            &ByLength
        };
        let step = reading.and_then(|mut reading| {
            let progress = reading
                .pass
                .step(measure, &mut || Instant::now() >= until)?;
            Ok((reading, progress))
        });
        match step {
            Ok((reading, Progress::More)) => {
                let slot = if exact {
                    &mut self.foreground
                } else {
                    &mut self.background
                };
                *slot = Some(reading);
            }
            Ok((reading, Progress::Done)) => self.rebuilt(file, reading.pass, exact)?,
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
        known.follower = None;
        if error.kind() == io::ErrorKind::NotFound {
            return ControlFlow::Continue(());
        }
        let path = known.log.facts.path.to_path_buf();
        self.tell(path, problem::unreadable(error, "read it"))
    }
}

/// The folder in which the session works, where these entries tell it.
fn newest_cwd(entries: &[Entry]) -> Option<Box<str>> {
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Meta(meta) if entry.lane == Lane::Main => meta.cwd.clone(),
        _ => None,
    })
}

fn may_read(known: &Known) -> bool {
    known.missing_since.is_none() && known.not_before.is_none_or(|at| at <= Instant::now())
}
