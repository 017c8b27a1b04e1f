//! Threads that read whole logs while nobody waits for them.
//!
//! As many as there are cores, each with one log at a time, so that the memory for what is being read stays small.

use crate::cache::{self, LogKey};
use crate::lanes::Sessions;
use crate::lines::Progress;
use crate::log::{Cursor, LogFile, Reading};
use crate::source::Stamp;
use crate::sync::{lock, spawn, threads};
use crate::worker::inbox::Wake;
use model::event::{ByLength, Measure};
use model::fleet::FileId;
use model::session::Coverage;
use model::window::Rules;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex};
use tokens::Counter;

/// Logs that wait for each thread, so that none of them waits for the worker.
const AHEAD: usize = 2;

/// A log to be read whole.
pub(crate) struct Job {
    pub(crate) log: LogFile,
    /// Its stamp when it was last looked at.
    pub(crate) stamp: Stamp,
    /// With exact counts rather than estimates by length.
    pub(crate) exact: bool,
    /// Whether its past is let go, since nobody writes to it.
    pub(crate) trim: bool,
    /// The key under which it is kept, if it is.
    pub(crate) key: Option<LogKey>,
}

/// What became of a job.
pub(crate) struct Done {
    pub(crate) job: Job,
    ticket: u64,
    pub(crate) read: io::Result<Option<Whole>>,
}

/// What was read of a log: all of it, or enough of its end for a gauge.
pub(crate) struct Whole {
    pub(crate) sessions: Sessions,
    pub(crate) cursor: Box<dyn Cursor>,
    /// What the cache keeps of it.
    pub(crate) stored: Option<Vec<u8>>,
    /// Why its end could not be read.
    pub(crate) end: io::Result<()>,
}

impl Whole {
    /// What a reading has read that is at its end. It is trimmed, or what the cache keeps of it is made, or both.
    /// Only a log that was read to its end from its beginning is kept.
    pub(crate) fn of(
        mut reading: Reading,
        log: &LogFile,
        measure: &dyn Measure,
        trim: bool,
        store: bool,
    ) -> Whole {
        let end = reading.settle(log, measure);
        let store = store && log.store.is_one_file() && reading.coverage() == Coverage::Whole;
        let (sessions, cursor) = reading.finish();
        let mut whole = Whole {
            sessions,
            cursor,
            stored: None,
            end,
        };
        whole.keep(trim, store);
        whole
    }

    fn keep(&mut self, trim: bool, store: bool) {
        let store = store && self.end.is_ok() && !self.cursor.is_incomplete();
        self.stored = match (store, trim) {
            (_, true) => cache::put_away(&mut self.sessions, store),
            (true, false) => cache::store(&mut self.sessions.clone()),
            (false, false) => None,
        };
        if trim {
            self.cursor.trim();
            self.settle_down();
        }
    }

    /// Moves what stays into the memory that trimming has freed. It was allocated while all of the log was held, and
    /// an allocator gives back only what lies above all that is in use.
    fn settle_down(&mut self) {
        self.sessions = self.sessions.clone();
        self.stored = self.stored.as_deref().map(<[u8]>::to_vec);
    }
}

/// A job on its way.
struct Ticket {
    job: Job,
    number: u64,
    cancelled: Arc<AtomicBool>,
}

pub(crate) struct Pool {
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    threads: usize,
    jobs: Option<Sender<Ticket>>,
    /// Jobs under way, by file.
    under_way: HashMap<FileId, (u64, Arc<AtomicBool>)>,
    tickets: u64,
}

impl Pool {
    pub(crate) fn new(rules: &Arc<Rules>, counter: &Arc<Counter>) -> Pool {
        Pool {
            rules: Arc::clone(rules),
            counter: Arc::clone(counter),
            threads: threads(),
            jobs: None,
            under_way: HashMap::new(),
            tickets: 0,
        }
    }

    /// Whether no job is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether another job can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.under_way.len() < self.threads * AHEAD
    }

    /// Whether this file is being read.
    pub(crate) fn reads(&self, file: FileId) -> bool {
        self.under_way.contains_key(&file)
    }

    /// Begins a job. `inbox` takes what becomes of it.
    pub(crate) fn begin(&mut self, job: Job, inbox: &SyncSender<Wake>) -> io::Result<()> {
        let jobs = match &self.jobs {
            Some(jobs) => jobs,
            None => {
                let (jobs, taken) = channel();
                let taken = Arc::new(Mutex::new(taken));
                for _ in 0..self.threads {
                    let (rules, counter) = (Arc::clone(&self.rules), Arc::clone(&self.counter));
                    let (taken, inbox) = (Arc::clone(&taken), inbox.clone());
                    spawn("read", move || work(&taken, &rules, &counter, &inbox))?;
                }
                self.jobs.insert(jobs)
            }
        };
        self.tickets += 1;
        let (number, cancelled) = (self.tickets, Arc::<AtomicBool>::default());
        let file = job.log.facts.file;
        self.under_way
            .insert(file, (number, Arc::clone(&cancelled)));
        // The threads end when this side does.
        let _ = jobs.send(Ticket {
            job,
            number,
            cancelled,
        });
        Ok(())
    }

    /// What is read of this file is of no use any more.
    pub(crate) fn cancel(&mut self, file: FileId) {
        if let Some((_, cancelled)) = self.under_way.remove(&file) {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Whether this is what became of the file's newest job.
    pub(crate) fn is_current(&mut self, done: &Done) -> bool {
        let file = done.job.log.facts.file;
        let current = self.under_way.get(&file).map(|(number, _)| *number);
        let is_current = current == Some(done.ticket);
        if is_current {
            self.under_way.remove(&file);
        }
        is_current
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (_, cancelled) in self.under_way.values() {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
}

fn work(
    jobs: &Mutex<Receiver<Ticket>>,
    rules: &Arc<Rules>,
    counter: &Counter,
    inbox: &SyncSender<Wake>,
) {
    loop {
        let next = lock(jobs).recv();
        let Ok(ticket) = next else { return };
        let read = read(&ticket, rules, counter);
        let done = Done {
            job: ticket.job,
            ticket: ticket.number,
            read,
        };
        if inbox.send(Wake::Whole(Box::new(done))).is_err() {
            return;
        }
    }
}

/// Exact counts, or estimates by length.
pub(crate) fn measure(counter: &Counter, exact: bool) -> &dyn Measure {
    match exact {
        true => counter,
        false => &ByLength,
    }
}

/// Reads a log whole; `None`: it was cancelled, or must be read again.
fn read(ticket: &Ticket, rules: &Arc<Rules>, counter: &Counter) -> io::Result<Option<Whole>> {
    let job = &ticket.job;
    let measure = measure(counter, job.exact);
    let is_cancelled = || ticket.cancelled.load(Ordering::Relaxed);
    if is_cancelled() {
        return Ok(None);
    }
    let mut reading = Reading::whole(&job.log, rules);
    if reading.step(measure, &mut || is_cancelled())? != Progress::Done {
        return Ok(None);
    }
    let whole = Whole::of(reading, &job.log, measure, job.trim, job.key.is_some());
    Ok(Some(whole))
}
