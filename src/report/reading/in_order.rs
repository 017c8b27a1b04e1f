//! Works on many logs in several threads, and takes the results in the order of the logs, so that the same logs always
//! lead to the same output.

use crate::ReportContext;
use anyhow::Result;
use ingest::bytes::sync::lock;
use ingest::log::LogFile;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, channel, sync_channel};

/// The number of threads: the tokenizer keeps one busy, reading files the other.
const THREADS: usize = 2;

impl ReportContext {
    /// Reads each log, and takes what was read in the order of the logs, as [`in_order`]. The logs that cannot be read
    /// are added to the problems, and the progress is shown.
    ///
    /// # Errors
    ///
    /// The first error of `take`, which ends the work.
    pub(crate) fn read_each<T: Send>(
        &self,
        logs: &[LogFile],
        ahead: usize,
        problems: &mut Vec<(PathBuf, String)>,
        read: impl Fn(&LogFile) -> io::Result<T> + Sync,
        mut take: impl FnMut(&LogFile, T) -> Result<()>,
    ) -> Result<()> {
        let reading = self.progress.begin(logs);
        let read = |log: &LogFile| reading.log(log, || read(log));
        in_order(logs, ahead, read, |log, read| {
            match read {
                Ok(read) => take(log, read)?,
                Err(error) => problems.push((log.facts.path.to_path_buf(), error.to_string())),
            }
            Ok(())
        })
    }
}

/// Works on each log, and takes the results in the order of the logs. At most `ahead` logs are begun before the one whose
/// result is taken next, and at least one thread works while another result is taken.
///
/// # Errors
///
/// The first error of `take`, which ends the work.
pub(crate) fn in_order<L: Sync, T: Send, E>(
    logs: &[L],
    ahead: usize,
    work: impl Fn(&L) -> T + Sync,
    mut take: impl FnMut(&L, T) -> Result<(), E>,
) -> Result<(), E> {
    // A result is taken before the log that has its place next is begun.
    let places = ahead.clamp(1, logs.len().max(1));
    let results: Vec<Mutex<Option<T>>> = (0..places).map(|_| Mutex::default()).collect();
    let result = |ix: usize| lock(&results[ix % places]);
    let mut taken = Ok(());
    each_in_order(
        logs.len(),
        ahead,
        &|ix| *result(ix) = Some(work(&logs[ix])),
        &mut |ix| {
            let result = result(ix).take();
            taken = result.map_or(Ok(()), |result| take(&logs[ix], result));
            taken.is_ok()
        },
    );
    taken
}

/// Does work on each of so many logs in several threads, and says in the order of the logs that it is done, until `done`
/// returns false. It is the same code for all kinds of work: compiled for each, it would be a tenth of this crate.
fn each_in_order(
    logs: usize,
    ahead: usize,
    work: &(dyn Fn(usize) + Sync),
    done: &mut dyn FnMut(usize) -> bool,
) {
    let (jobs, queue) = channel::<(usize, SyncSender<()>)>();
    let (queue, is_over) = (Mutex::new(queue), AtomicBool::new(false));
    let next = || lock(&queue).recv();
    let work_on = || {
        while let Ok((log, worked)) = next()
            && !is_over.load(Ordering::Relaxed)
        {
            work(log);
            let _ = worked.send(());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work_on);
        }
        let (mut rest, mut begun) = (0..logs, VecDeque::new());
        loop {
            for log in rest.by_ref().take(ahead.max(1) - begun.len()) {
                let (sender, worked) = sync_channel(1);
                let _ = jobs.send((log, sender));
                begun.push_back((log, worked));
            }
            // A thread that panics has done nothing. Its panic goes on when all threads have ended.
            match begun.pop_front() {
                Some((log, worked)) if worked.recv().is_ok() && done(log) => {}
                _ => break,
            }
        }
        is_over.store(true, Ordering::Relaxed);
        drop(jobs);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_few_are_begun_ahead() {
        let logs: Vec<usize> = (0..500).collect();
        for ahead in [0, 1, 3, 1_000] {
            let (begun, mut taken) = (AtomicUsize::new(0), Vec::new());
            let work = |log: &usize| {
                begun.fetch_add(1, Ordering::SeqCst);
                // The order in which threads are done is another one.
                (0..log % 7).for_each(|_| std::thread::yield_now());
                log * 2
            };
            let done = in_order(&logs, ahead, work, |log, result| {
                assert_eq!(result, log * 2);
                assert!(begun.load(Ordering::SeqCst) <= taken.len() + ahead.max(1));
                taken.push(*log);
                Ok::<(), ()>(())
            });
            assert_eq!((done, taken), (Ok(()), logs.clone()));
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let logs: Vec<usize> = (0..500).collect();
        let begun = AtomicUsize::new(0);
        let work = |_: &usize| begun.fetch_add(1, Ordering::SeqCst);
        let done = in_order(&logs, 4, work, |log, _| match log {
            9 => Err("enough"),
            _ => Ok(()),
        });
        assert_eq!(done, Err("enough"));
        assert!(begun.load(Ordering::SeqCst) < 100);
        assert_eq!(in_order(&[], 4, work, |_, _| Err("none")), Ok(()));
    }
}
