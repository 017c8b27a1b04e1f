//! Decides what the worker reads, and in which order.

use super::pending::{PendingCheck, QueuedFile, Retry};
use super::{
    InProgress, LIVE_INTERVAL, PIECES_TIME, SLICE_TIME, TrackedFile, WALK_INTERVAL, Worker, is_live,
};
use crate::bytes::lines::Progress;
use crate::index::LogKey;
use crate::log::conversations::LogSessions;
use crate::log::reach::Reach;
use crate::log::{NewEntries, Reading};
use crate::worker::inbox::Wake;
use crate::worker::pool::measure;
use crate::worker::state::State;
use crate::worker::whole::{Job, JobResult, LogContent, ReadResult};
use crate::{COUNTED, log::problem};
use model::event::{Conversation, Event};
use model::lists::sessions::{FileId, Update};
use model::session::Coverage;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

impl Worker {
    pub(super) fn read_appended(&mut self, file: FileId, finish: bool) -> ControlFlow<()> {
        let measure = self.counter.as_ref();
        let mut moved = false;
        while let Some(known) = self.tracked.get_mut(&file) {
            let State::Followed(cursor) = &mut known.state else {
                return self.read_end(file);
            };
            let more = if finish {
                cursor.finish(measure)
            } else {
                cursor.more(measure)
            };
            let (entries, more) = match more {
                Ok(NewEntries::Entries(entries)) => (entries, false),
                Ok(NewEntries::Batch(entries)) => (entries, true),
                Ok(NewEntries::Rewritten(conversations)) => {
                    return self.rewritten(file, conversations.into_sessions());
                }
                Ok(NewEntries::Restart) => return self.read_end(file),
                Err(e) => return self.failed(file, &e),
            };
            for entry in entries
                .iter()
                .filter(|entry| entry.conversation == Conversation::Main)
            {
                if let Event::Meta(meta) = &entry.event {
                    moved |= known.settings_owner.add(meta);
                }
            }
            // The system tells of each piece of a line: several are read at once.
            if entries.is_empty() && !more && !finish && cursor.is_incomplete() {
                self.postpone(file, PIECES_TIME);
                break;
            }
            if !entries.is_empty() {
                self.reporter.send(Update::Appended { file, entries })?;
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
        if self.foreground.as_ref().is_some_and(|f| f.file == file) {
            self.foreground = None;
        }
        self.pool.cancel(file);
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        let viewed = self.viewed == Some(file);
        let measure = measure(&self.counter, viewed);
        let key = known
            .stamp
            .filter(|_| self.kept.is_some() && !viewed)
            .and_then(|stamp| LogKey::of(&known.log, stamp));
        match known
            .log
            .store
            .tail(&known.log, measure, &self.rules, Reach::SCREEN)
        {
            Ok(reading) => self.rebuilt(file, reading, viewed, key),
            Err(e) => self.failed(file, &e),
        }
    }

    /// Takes in a document's present sessions. The unchanged parts were counted as before.
    fn rewritten(&mut self, file: FileId, mut sessions: LogSessions) -> ControlFlow<()> {
        // A thread that counts it has its earlier content, which would take the place of this.
        self.pool.cancel(file);
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        mark_counted(&mut sessions, known.counted == Coverage::Whole);
        let shown = LogContent::Sessions(sessions);
        known.note(&shown);
        known.not_before = None;
        self.send_settings(file)?;
        self.reporter.send(shown.update(file))
    }

    /// Takes in the sessions of a file that was read again.
    fn rebuilt(
        &mut self,
        file: FileId,
        reading: Reading,
        exact: bool,
        key: Option<LogKey>,
    ) -> ControlFlow<()> {
        let measure = measure(&self.counter, exact);
        let Some(known) = self.tracked.get(&file) else {
            return ControlFlow::Continue(());
        };
        let summarise = !exact && !is_live(known);
        let overrides = &known.overrides;
        let whole = ReadResult::of(reading, &known.log, measure, summarise, key, overrides);
        self.install(file, whole, exact)
    }

    /// Shows what was read of a file.
    fn install(&mut self, file: FileId, whole: ReadResult, exact: bool) -> ControlFlow<()> {
        let ReadResult {
            mut shown,
            state,
            stored,
            end,
        } = whole;
        if let LogContent::Sessions(sessions) = &mut shown {
            mark_counted(sessions, exact);
        }
        if let Some(known) = self.tracked.get_mut(&file) {
            known.note(&shown);
            known.counted = if exact { known.read } else { Coverage::Unread };
            known.state = state;
            known.not_before = None;
        }
        if let (Some(kept), Some((key, value))) = (&mut self.kept, stored) {
            kept.put(key, value);
        }
        self.send_settings(file)?;
        self.reporter.send(shown.update(file))?;
        match end {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => self.failed(file, &e),
        }
    }

    /// Takes in what a thread has read.
    pub(super) fn take_done(&mut self, done: JobResult) -> ControlFlow<()> {
        if !self.pool.is_current(&done) {
            return ControlFlow::Continue(());
        }
        let JobResult { job, read } = done;
        let file = job.log.facts.file;
        let Some(known) = self.tracked.get(&file) else {
            return ControlFlow::Continue(());
        };
        let needs = if job.exact { to_count } else { to_read };
        let has_changed = known.stamp != Some(job.stamp);
        // It was counted exactly meanwhile, or is written to again: a summary cannot continue.
        if !needs(known) || (job.summarise && has_changed) {
            return ControlFlow::Continue(());
        }
        match read {
            Ok(Some(whole)) => {
                self.install(file, whole, job.exact)?;
                // Records that came while it was read were added to the data that this replaces.
                if job.summarise {
                    ControlFlow::Continue(())
                } else {
                    self.read_appended(file, false)
                }
            }
            Ok(None) => {
                self.postpone(file, LIVE_INTERVAL);
                ControlFlow::Continue(())
            }
            Err(e) => self.failed(file, &e),
        }
    }

    /// Reads on for one turn what is looked at, and lets other threads read all else. Returns whether there is more
    /// to do in the next turn.
    pub(super) fn read_on(&mut self, inbox: &SyncSender<Wake>) -> ControlFlow<(), bool> {
        let mut busy = false;
        if let Some(file) = self.viewed
            && let Some(known) = self.tracked.get(&file).filter(|known| may_read(known))
            && known.counted < Coverage::Whole
        {
            // A log that was already read whole is not reduced for the sake of a quicker count, unless only a summary
            // is held and reading it again takes long.
            let is_whole = known.read == Coverage::Whole;
            let is_at_hand = !known.is_summarised() || known.log.facts.len < LARGE_LOG;
            let epoch_first = known.counted < Coverage::Epoch && !(is_whole && is_at_hand);
            self.reporter.enter(&known.log.facts.path);
            let begun = self.foreground.take().filter(|begun| begun.file == file);
            let reading = match begun {
                Some(begun) => Ok(begun.reading),
                None if epoch_first => known.log.store.epoch(&known.log, &self.rules),
                None => {
                    self.pool.cancel(file);
                    Ok(Reading::whole(&known.log, &self.rules))
                }
            };
            self.read_slice(file, reading)?;
            busy = true;
        } else {
            self.foreground = None;
        }
        // The log that the user looks at has the processor for itself.
        while !busy
            && self.pool.has_room()
            && let Some(QueuedFile { file, exact }) = self.next_whole()
        {
            let Some(known) = self.tracked.get(&file) else {
                break;
            };
            let Some(stamp) = known.stamp else { break };
            let is_kept = self.kept.is_some() && !exact;
            let job = Job {
                log: known.log.clone(),
                stamp,
                exact,
                summarise: !exact && !is_live(known),
                overrides: Arc::clone(&known.overrides),
                key: LogKey::of(&known.log, stamp).filter(|_| is_kept),
                is_cancelled: Arc::default(),
            };
            if let Err(e) = self.pool.begin(job, inbox) {
                self.failed(file, &e)?;
                break;
            }
        }
        if !self.caught_up && !busy && self.pool.is_idle() {
            self.caught_up = true;
            self.next_save = Instant::now();
            self.reporter.send(Update::CaughtUp)?;
        }
        ControlFlow::Continue(busy)
    }

    /// Returns the file to read whole next, and whether with exact counts.
    fn next_whole(&mut self) -> Option<QueuedFile> {
        loop {
            while let Some(QueuedFile { file, exact }) = self.queue.pop_front() {
                let needs = if exact { to_count } else { to_read };
                let known = self.tracked.get(&file).filter(|known| needs(known));
                if known.is_some_and(|known| may_read(known)) && !self.pool.reads(file) {
                    return Some(QueuedFile { file, exact });
                }
            }
            self.fill_queue();
            if self.queue.is_empty() {
                return None;
            }
        }
    }

    /// Finds the files to read whole next: in turn the newest and the largest, so that a large one is not begun when all others are done. With thousands of files it is not
    /// repeated for each.
    fn fill_queue(&mut self) {
        for (needs, exact) in [
            (to_read as fn(&TrackedFile) -> bool, false),
            (to_count, true),
        ] {
            let files = self.tracked.iter().filter(|(file, known)| {
                needs(known) && may_read(known) && !self.pool.reads(**file)
            });
            let mut newest: Vec<(FileId, &TrackedFile)> =
                files.map(|(file, known)| (*file, &**known)).collect();
            newest.sort_by_key(|(_, known)| Reverse(known.log.facts.modified));
            let mut largest = newest.clone();
            largest.sort_by_key(|(_, known)| Reverse(known.log.facts.len));
            let mut seen = HashSet::new();
            let both = newest
                .iter()
                .zip(&largest)
                .flat_map(|(newest, largest)| [newest.0, largest.0])
                .filter(|file| seen.insert(*file))
                .take(MOST_QUEUED);
            self.queue = both.map(|file| QueuedFile { file, exact }).collect();
            if !self.queue.is_empty() {
                return;
            }
        }
    }

    /// Reads on what is looked at.
    fn read_slice(&mut self, file: FileId, reading: io::Result<Reading>) -> ControlFlow<()> {
        let until = Instant::now() + SLICE_TIME;
        let step = reading.and_then(|mut reading| {
            let progress = reading.step(&*self.counter, &mut || Instant::now() >= until)?;
            Ok((reading, progress))
        });
        match step {
            Ok((reading, Progress::More)) => {
                self.foreground = Some(InProgress { file, reading });
                ControlFlow::Continue(())
            }
            Ok((reading, Progress::Done)) => {
                let known = self.tracked.get(&file);
                let known = known.filter(|known| !known.is_summarised());
                // Another thread was faster.
                if known.is_some_and(|known| reading.conversations.coverage < known.read) {
                    return ControlFlow::Continue(());
                }
                self.rebuilt(file, reading, true, None)
            }
            Ok((_, Progress::Restart)) => {
                self.postpone(file, LIVE_INTERVAL);
                ControlFlow::Continue(())
            }
            Err(e) => self.failed(file, &e),
        }
    }

    /// Leaves a file alone for a while.
    fn postpone(&mut self, file: FileId, time: Duration) {
        let at = Instant::now() + time;
        if let Some(known) = self.tracked.get_mut(&file) {
            known.not_before = Some(at);
            let what = PendingCheck::File(file);
            self.retries.push(Retry { at, what });
        }
    }

    fn failed(&mut self, file: FileId, error: &io::Error) -> ControlFlow<()> {
        // Gone, or half written, is not a problem: the next look at it will see.
        if error.kind() == io::ErrorKind::WouldBlock {
            self.postpone(file, LIVE_INTERVAL);
            return ControlFlow::Continue(());
        }
        self.postpone(file, WALK_INTERVAL);
        let Some(known) = self.tracked.get_mut(&file) else {
            return ControlFlow::Continue(());
        };
        let stays = known.is_stamp_sure && !known.log.is_one_of_several() && lasts(error);
        known.state = if stays { State::Refused } else { State::Found };
        if error.kind() == io::ErrorKind::NotFound {
            return ControlFlow::Continue(());
        }
        let path = known.log.facts.path.to_path_buf();
        self.report(path, problem::unreadable(error, "read it"))
    }
}

/// Returns true if an error stays as long as the log does.
fn lasts(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidData, Other, OutOfMemory};
    matches!(
        error.kind(),
        InvalidData | FileTooLarge | OutOfMemory | Other
    ) && error.raw_os_error().is_none()
}

/// The most files that are chosen at once.
const MOST_QUEUED: usize = 256;

/// The size from which on a log takes tens of milliseconds to read, in bytes.
const LARGE_LOG: u64 = 8 << 20;

/// Notes whether the texts of these sessions were counted.
fn mark_counted(sessions: &mut LogSessions, are_counted: bool) {
    for (_, session) in sessions {
        session.is_counted = are_counted;
    }
}

/// Returns true if not all of it was read.
fn to_read(known: &TrackedFile) -> bool {
    known.read < Coverage::Whole
}

/// Returns true if its size is a guess by length that alerts may depend on.
fn to_count(known: &TrackedFile) -> bool {
    let is_small = known.log.facts.len <= COUNTED;
    known.unreported && known.counted < Coverage::Whole && is_small && is_live(known)
}

fn may_read(known: &TrackedFile) -> bool {
    let is_there = known.missing_since.is_none() && !matches!(known.state, State::Refused);
    is_there && known.not_before.is_none_or(|at| at <= Instant::now())
}
