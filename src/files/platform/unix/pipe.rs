//! Pipes that the user names as the log: `<(zcat log)`, `/dev/stdin`, one that was made with `mkfifo`.

use super::reading;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::retry_on_intr;
use std::io::{self, Read, StdoutLock};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The time for which a writer is awaited, in seconds.
const WAIT: i64 = 2;

/// Returns true if there is a pipe at a path, or standard input is meant and it is not a file.
pub fn is_pipe(path: &Path) -> bool {
    let kind = std::fs::metadata(path).map(|meta| meta.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || (is_stdin(path) && !kind.is_file()))
}

/// Returns true if a path is a name of standard input.
fn is_stdin(path: &Path) -> bool {
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Checks that somebody may still read what is written here.
///
/// # Errors
///
/// [`io::ErrorKind::BrokenPipe`] if the other end is closed.
pub fn check_reader(out: &StdoutLock<'_>) -> io::Result<()> {
    let mut polled = [PollFd::new(out, PollFlags::empty())];
    let at_once = Timespec::default();
    retry_on_intr(|| poll(&mut polled, Some(&at_once)))?;
    if polled[0].revents().contains(PollFlags::ERR) {
        Err(io::ErrorKind::BrokenPipe.into())
    } else {
        Ok(())
    }
}

/// Opens the pipe at a path. If nobody has it open for writing, waits two seconds for a writer. Once there is one,
/// waits for its bytes as long as it takes.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`] if nobody writes to it.
pub fn open_pipe(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin()));
    }
    let mut file = reading().open(path)?;
    if !file.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other("it was a pipe, and is none any more"));
    }
    let wait = Timespec {
        tv_sec: WAIT,
        tv_nsec: 0,
    };
    let ready = {
        let mut polled = [PollFd::new(&file, PollFlags::IN)];
        retry_on_intr(|| poll(&mut polled, Some(&wait)))?
    };
    let mut first = [0; 1];
    // Without a writer, a read returns nothing at once; with one, it would wait.
    let begin = match file.read(&mut first) {
        Ok(0) if ready == 0 => {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "nobody writes to this pipe: start what writes to it first, or save the log to a file",
            ));
        }
        Ok(read) => read,
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock) => 0,
        Err(e) => return Err(e),
    };
    let blocking = fcntl_getfl(&file)? - OFlags::NONBLOCK;
    fcntl_setfl(&file, blocking)?;
    let begin = io::Cursor::new(first).take(begin as u64);
    Ok(Box::new(begin.chain(file)))
}
