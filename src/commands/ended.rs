//! Long work: how much of it is done is shown on a terminal, and a signal ends it at once, with nothing half written and
//! nothing left running.

use super::{Call, locale, streams, wrapped_status_line};
use anyhow::{Context, Result};
use files::output::{OutputState, remove_unfinished};
use ingest::bytes::sync::lock;
use render::text::inert;
use report::reading::progress::Progress;
use report::{Charset, ReportContext};
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;
use tui::EndedBy;

/// The longest wait for a terminal that takes no output when a signal ends the program.
const LAST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait for what is being written or answered when a signal ends work that goes on until then.
const LONGEST_END: Duration = Duration::from_millis(500);

/// The work that a signal ends: what was begun last.
static WORK: Mutex<Option<(Progress, PrintTime)>> = Mutex::new(None);

/// The time at which a command writes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrintTime {
    /// At the end of its work, or never.
    AtTheEnd,
    /// While it works.
    Meanwhile,
}

/// Has a signal end the program with nothing half written and nothing left running, from now on.
pub(super) fn remove_unfinished_on_exit() -> Result<()> {
    static LISTENING: Mutex<bool> = Mutex::new(false);
    let mut is_listening = lock(&LISTENING);
    // One thread listens, however much work is done in this process.
    if !std::mem::replace(&mut *is_listening, true) {
        tui::when_ended(end).context("could not listen for signals")?;
    }
    Ok(())
}

/// The signal that ended work without an end of its own.
pub(super) struct EndSignal(Arc<OnceLock<EndedBy>>);

impl EndSignal {
    /// Calls `end` on a signal. If the work has not ended after [`LONGEST_END`], the program ends.
    pub(super) fn for_work(end: impl FnOnce() + Send + 'static) -> Result<EndSignal> {
        let ended = Arc::<OnceLock<EndedBy>>::default();
        let by = Arc::clone(&ended);
        tui::when_ended(move |signal| {
            let _ = by.set(signal);
            end();
            thread::sleep(LONGEST_END);
            remove_unfinished();
            std::process::exit(signal.exit_code().into());
        })
        .context("could not listen for signals")?;
        Ok(EndSignal(ended))
    }

    /// Returns the result of the work, or the signal that has ended it.
    pub(super) fn or(&self, done: Result<()>) -> Result<()> {
        self.0.get().map_or(done, |signal| Err((*signal).into()))
    }
}

impl Call<'_> {
    /// Prepares for work that may take long, with these signs.
    pub(super) fn long_work(
        &self,
        context: &mut ReportContext,
        printed: PrintTime,
        charset: Charset,
    ) -> Result<()> {
        let env = &self.user.env;
        let is_free = printed == PrintTime::AtTheEnd || !self.terminals.stdout;
        if is_free && self.terminals.stderr && locale::has_cursor(env) {
            let is_ascii = charset == Charset::Ascii || locale::is_ascii(env);
            context.progress = Progress::on_terminal(Charset::ascii_if(is_ascii));
        }
        let work = (context.progress.clone(), printed);
        *lock(&WORK) = Some(work);
        remove_unfinished_on_exit()
    }
}

/// Ends the program, and says what was done.
fn end(by: EndedBy) {
    wrapped_status_line::end_running();
    // This takes as long as it takes: what stays of an export would be taken for one.
    let written = remove_unfinished();
    let code = by.exit_code().into();
    let end_soon = move || {
        thread::sleep(LAST_WAIT);
        std::process::exit(code);
    };
    drop(thread::Builder::new().spawn(end_soon));
    let work = lock(&WORK).take();
    let done = work.map_or_else(String::new, |(progress, printed)| {
        progress.clear();
        done(&progress.to_string(), &written, printed)
    });
    let mut err = streams::stderr();
    let _ = writeln!(err, "ctxgauge: ended by {}{done}", by.name());
    by.end_program();
}

/// Returns a sentence on the work that was done before the end.
fn done(read: &str, written: &OutputState, printed: PrintTime) -> String {
    let mut done: Vec<String> = Vec::new();
    if !read.is_empty() {
        done.push(read.to_owned());
    }
    let complete = written.complete.iter();
    let complete: Vec<String> = complete
        .map(|path| format!("'{}'", inert(&path.to_string_lossy())))
        .collect();
    if !complete.is_empty() {
        done.push(format!("{} written", complete.join(", ")));
    } else if written.removed > 0 {
        done.push("nothing was written".to_owned());
    } else if printed == PrintTime::Meanwhile {
        done.push("the output is not complete".to_owned());
    }
    if done.is_empty() {
        String::new()
    } else {
        format!(": {}", done.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_what_was_read_and_written() {
        let said = |read, complete: &[&str], removed, printed| {
            let complete = complete.iter().map(Into::into).collect();
            done(read, &OutputState { complete, removed }, printed)
        };
        let read = "3 of 9 logs read";
        assert_eq!(said("", &[], 0, PrintTime::AtTheEnd), "");
        assert_eq!(
            said(read, &[], 0, PrintTime::AtTheEnd),
            ": 3 of 9 logs read"
        );
        assert_eq!(
            said(read, &[], 0, PrintTime::Meanwhile),
            ": 3 of 9 logs read, the output is not complete"
        );
        assert_eq!(
            said(read, &[], 2, PrintTime::Meanwhile),
            ": 3 of 9 logs read, nothing was written"
        );
        assert_eq!(
            said(read, &["a\nb", "c"], 2, PrintTime::Meanwhile),
            ": 3 of 9 logs read, 'a\u{fffd}b', 'c' written"
        );
    }
}
