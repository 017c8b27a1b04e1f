//! Work for an agent or a prompt that waits. What it reads or writes may be on a disk that does not answer, so it is done on
//! a thread of its own, and the thread that ends the program touches no disk. Work that is late ends with the program.

use super::Call;
use anyhow::Result;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Does this work, and waits for it no longer than that. `None`: it is late.
pub(super) fn done_within<T: Send + 'static>(
    longest: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (send, done) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || send.send(work()))?;
    let done = done.recv_timeout(longest).ok();
    if done.is_none() {
        files::own::leave_unfinished();
    }
    Ok(done)
}

/// The output of a command or a part of one, and its result.
pub(super) struct Printed<T> {
    out: Vec<u8>,
    err: Vec<u8>,
    ended: Result<T>,
}

impl<T> Printed<T> {
    /// Prints the output, and returns the result.
    pub(super) fn print(self, call: &mut Call<'_>) -> Result<T> {
        call.err.write_all(&self.err)?;
        call.out.write_all(&self.out)?;
        self.ended
    }
}

impl Call<'_> {
    /// Does work that prints, and keeps what it prints. `None`: it is late.
    pub(super) fn printed_within<T: Send + 'static>(
        &self,
        longest: Duration,
        work: impl FnOnce(&mut Call<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Option<Printed<T>>> {
        let (config, user, terminals) = (self.config.clone(), self.user.clone(), self.terminals);
        let print = move || {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let ended = work(&mut Call {
                config,
                user: &user,
                input: Box::new(io::empty()),
                terminals,
                out: &mut out,
                err: &mut err,
            });
            Printed { out, err, ended }
        };
        Ok(done_within(longest, print)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use files::waiting::wait_for;

    #[test]
    fn work_that_never_ends_keeps_nobody_waiting() {
        let never = || -> () {
            loop {
                thread::park();
            }
        };
        let waits = thread::spawn(move || done_within(Duration::from_millis(1), never));
        wait_for("end of the wait", || {
            let has_ended = waits.is_finished().then_some(());
            has_ended.ok_or("it waits")
        });
        assert_eq!(waits.join().unwrap().unwrap(), None);
    }
}
