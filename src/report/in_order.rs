//! Works on many logs in several threads, and takes the results in the order of the logs, so that the same logs always
//! lead to the same output.

use std::collections::HashMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// How many threads work: the tokenizer keeps one busy, reading files the other.
const THREADS: usize = 2;

/// Which logs are begun.
struct Turns {
    /// The next one to begin.
    next: usize,
    /// How many may be begun so far.
    end: usize,
}

/// The logs that threads may begin. So no more results wait than fit into memory.
struct Gate {
    turns: Mutex<Turns>,
    moved: Condvar,
}

impl Gate {
    /// The next log to begin, as soon as it may be begun.
    fn next(&self) -> usize {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |turns: &mut Turns| turns.next >= turns.end;
        let mut turns = self
            .moved
            .wait_while(turns, wait)
            .unwrap_or_else(PoisonError::into_inner);
        turns.next += 1;
        turns.next - 1
    }

    /// Lets threads begin all before this one.
    fn open_until(&self, end: usize) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.end = turns.end.max(end);
        self.moved.notify_all();
    }
}

/// The end of a thread, also by a panic: nobody waits for its results.
struct End<'g>(&'g Gate);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.open_until(usize::MAX);
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
    let ahead = ahead.max(1);
    let gate = Gate {
        turns: Mutex::new(Turns {
            next: 0,
            end: ahead,
        }),
        moved: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let (sender, results) = sync_channel(THREADS);
        for _ in 0..THREADS {
            let (work, gate, sender) = (&work, &gate, sender.clone());
            scope.spawn(move || {
                let _end = End(gate);
                while let ix = gate.next()
                    && let Some(log) = logs.get(ix)
                {
                    if sender.send((ix, work(log))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early: HashMap<usize, T> = HashMap::new();
        let mut turn = 0;
        let mut take_all = || {
            for (ix, result) in &results {
                early.insert(ix, result);
                while let Some(result) = early.remove(&turn) {
                    take(&logs[turn], result)?;
                    turn += 1;
                    gate.open_until(turn + ahead);
                }
                if turn == logs.len() {
                    break;
                }
            }
            Ok(())
        };
        let taken = take_all();
        // Whoever waits goes on, finds no log or nobody who takes its result, and ends.
        drop(results);
        gate.open_until(usize::MAX);
        taken
    })
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
