//! Threads that read whole logs while nobody waits for them.
//!
//! As many as there are cores, each with one log at a time, so that the memory for what is being read stays small.

use super::inbox::Wake;
use super::whole::{Job, JobResult, ReadResult};
use crate::bytes::lines::Progress;
use crate::bytes::sync::{lock, spawn, threads};
use crate::log::Reading;
use model::event::{ByLength, Measure};
use model::lists::sessions::FileId;
use model::window::Rules;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex};
use tokens::Counter;

/// The number of logs that wait for each thread, so that no thread waits for the worker.
const LOGS_PER_THREAD: usize = 2;

pub(crate) struct Pool {
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    threads: usize,
    jobs: Option<Sender<Job>>,
    /// The flags that cancel the jobs under way, by file.
    under_way: HashMap<FileId, Arc<AtomicBool>>,
}

impl Pool {
    pub(crate) fn new(rules: &Arc<Rules>, counter: &Arc<Counter>) -> Pool {
        Pool {
            rules: Arc::clone(rules),
            counter: Arc::clone(counter),
            threads: threads(),
            jobs: None,
            under_way: HashMap::new(),
        }
    }

    /// Returns true if no job is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns true if another job can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.under_way.len() < self.threads * LOGS_PER_THREAD
    }

    /// Returns true if this file is being read.
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
        let cancelled = Arc::clone(&job.is_cancelled);
        self.under_way.insert(job.log.facts.file, cancelled);
        // The threads end when this side does.
        let _ = jobs.send(job);
        Ok(())
    }

    /// Cancels the job of this file. Its result is of no use any more.
    pub(crate) fn cancel(&mut self, file: FileId) {
        if let Some(cancelled) = self.under_way.remove(&file) {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if this is the result of the file's newest job.
    pub(crate) fn is_current(&mut self, done: &JobResult) -> bool {
        let file = done.job.log.facts.file;
        let current = self.under_way.get(&file);
        let is_current = current.is_some_and(|job| Arc::ptr_eq(job, &done.job.is_cancelled));
        if is_current {
            self.under_way.remove(&file);
        }
        is_current
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for cancelled in self.under_way.values() {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
}

fn work(
    jobs: &Mutex<Receiver<Job>>,
    rules: &Arc<Rules>,
    counter: &Counter,
    inbox: &SyncSender<Wake>,
) {
    loop {
        let next = lock(jobs).recv();
        let Ok(mut job) = next else { return };
        let read = read(&mut job, rules, counter);
        let done = JobResult { job, read };
        if inbox.send(Wake::Whole(Box::new(done))).is_err() {
            return;
        }
    }
}

/// Returns exact counts, or estimates by length.
pub(crate) fn measure(counter: &Counter, exact: bool) -> &dyn Measure {
    if exact { counter } else { &ByLength }
}

/// Reads a log whole; `None`: it was cancelled, or must be read again.
fn read(job: &mut Job, rules: &Arc<Rules>, counter: &Counter) -> io::Result<Option<ReadResult>> {
    let measure = measure(counter, job.exact);
    let is_cancelled = || job.is_cancelled.load(Ordering::Relaxed);
    if is_cancelled() {
        return Ok(None);
    }
    let mut reading = if job.summarise {
        Reading::once(&job.log, rules)
    } else {
        Reading::whole(&job.log, rules)
    };
    if reading.step(measure, &mut || is_cancelled())? != Progress::Done {
        return Ok(None);
    }
    let (key, summarise) = (job.key.take(), job.summarise);
    let read = ReadResult::of(reading, &job.log, measure, summarise, key, &job.overrides);
    Ok(Some(read))
}
