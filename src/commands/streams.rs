//! Standard output and standard error: they remember or drop what cannot be written, and keep escape sequences from the
//! terminal.

use super::locale;
use files::paths;
use render::ascii::Charset;
use render::inert::Inert;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{self, BufWriter, LineWriter, Stderr, StdoutLock, Write};

/// Standard output of a command, buffered. Remembers why it could not be written to.
pub struct Output<W: Write> {
    out: BufWriter<W>,
    failed: Option<io::Error>,
}

/// Opens standard output.
pub fn stdout() -> Output<Stdout> {
    Output::new(Stdout(io::stdout().lock()))
}

/// Standard output that checks for its reader when it is flushed: without a write nobody would notice that the reader
/// has gone.
pub struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        files::check_reader(&self.0)
    }
}

impl<W: Write> Output<W> {
    /// Puts a buffer before this writer.
    pub fn new(out: W) -> Output<W> {
        Output {
            out: BufWriter::new(out),
            failed: None,
        }
    }

    /// Returns the error of a failed write; `None`: all writes succeeded.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// Remembers a failure, and returns one of the same kind.
    fn keep<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let same = io::Error::from(error.kind());
            self.failed.get_or_insert(error);
            same
        })
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        match done {
            // The caller tries again.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            done => self.keep(done),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.keep(done)
    }
}

/// Standard error of a command. All text is made safe to print: messages contain arguments, paths and lines of
/// files. What cannot be written is dropped: a report does not end because nobody reads its warnings.
pub struct Messages<W: Write>(LineWriter<Inert<W>>);

/// Opens standard error.
pub fn stderr() -> Messages<Stderr> {
    Messages::new(io::stderr(), &paths::Env::from(paths::env))
}

impl<W: Write> Messages<W> {
    /// Messages that are printed by this writer, in the characters of this environment's locale.
    pub fn new(err: W, env: &paths::Env) -> Messages<W> {
        let charset = Charset::ascii_if(locale::is_ascii(env));
        Messages(LineWriter::new(Inert::of(err, charset)))
    }
}

impl<W: Write> Write for Messages<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// Reports panics on standard error, as the standard library does, with their text made safe to print.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        write_panic(name, info, &Backtrace::capture(), &mut stderr());
        // Without unwinding, the program would end by a signal, with a core dump of a user's logs.
        if cfg!(panic = "abort") {
            std::process::exit(101);
        }
    }));
}

fn write_panic(thread: &str, info: &dyn Display, trace: &Backtrace, err: &mut dyn Write) {
    // There is nowhere else to report an error.
    let _ = writeln!(err, "thread '{thread}' {info}");
    if trace.status() == BacktraceStatus::Captured {
        let _ = writeln!(err, "{trace}");
    }
    let _ = err.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that is full.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failure_is_remembered_whoever_wraps_it() {
        let mut out = Output::new(Full);
        assert!(serde_json::to_writer(&mut out, &"x".repeat(100_000)).is_err());
        let failed = out.failure().map(io::Error::kind);
        assert_eq!(failed, Some(io::ErrorKind::StorageFull));
    }

    #[test]
    fn escapes_in_a_panics_message_are_made_visible() {
        let mut out = Inert::new(Vec::new());
        let trace = Backtrace::disabled();
        write_panic(
            "ma\u{1b}in",
            &"panicked at a.rs:1:\n\u{9b}31m\u{7}",
            &trace,
            &mut out,
        );
        let out = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(out, "thread 'ma␛in' panicked at a.rs:1:\n\u{fffd}31m␇\n");
    }
}
