//! Carries out the requests of the screens.

use super::{
    Console, ConsoleEvent, Next, OpenedFile, Screens, Signal, TextExport, clipboard, program,
    signals,
};
use crate::app::pager::Program;
use crate::app::{Effect, Msg};
use anyhow::Context;
use ingest::TextJob;
use model::text::TextRequest;
use render::inert::Inert;
use std::io::{self, BufWriter, Write};
use tokio::sync::oneshot;

impl<C: Console, W: Write> Screens<C, W> {
    pub(super) fn perform(&mut self, effect: Effect) -> anyhow::Result<Next> {
        match effect {
            Effect::None => {}
            Effect::LookAt(file) => self.logs.look_at(file),
            Effect::Theme => {
                self.themes.next();
                self.app.notify(format!("theme: {}", self.themes.name()));
            }
            Effect::LookAndRead(request) => {
                self.logs.look_at(request.file);
                self.logs.read_text(TextJob::Page(request));
            }
            Effect::Search(request) => {
                let news = self.searching.begin(&*self.logs, request);
                self.app.update(Msg::Search(news));
            }
            Effect::EndSearch => self.searching.end(),
            Effect::ReadText(request) => self.logs.read_text(TextJob::Page(request)),
            Effect::Copy(text) => {
                let copied = clipboard::copy(&text, self.painter.out())
                    .context("could not write to the terminal")?;
                self.app
                    .update(Msg::Done(what_was_copied(copied, text.len())));
            }
            Effect::OpenPath(path) => {
                // An editor would make a file of this name.
                if path.is_absolute() && path.exists() {
                    self.opening = Some(TextExport::of_path(path));
                } else {
                    let why = format!("{} is not on this machine", path.display());
                    self.app.update(Msg::Done(why));
                }
            }
            Effect::Open(request, program) => match self.write_out(request, program) {
                Ok(opening) => self.opening = Some(opening),
                Err(e) => {
                    let why = format!("could not create a temporary file: {e}; check TMPDIR");
                    self.app.update(Msg::Done(why));
                }
            },
            Effect::HandOn(request) => {
                if let Some(why) = self.writing.begin(&*self.logs, request) {
                    self.app.update(Msg::Done(why.to_owned()));
                }
            }
            Effect::Suspend => signals::ask_to_stop(),
            Effect::Quit => return Ok(Next::End),
        }
        Ok(Next::Go)
    }

    /// Writes a text to a file for a program. An earlier one that is still being written is dropped.
    fn write_out(&self, request: TextRequest, program: Program) -> io::Result<TextExport> {
        let file = tempfile::Builder::new()
            .prefix("ctxgauge-")
            .suffix(".txt")
            .tempfile()?;
        let out = BufWriter::new(file.reopen()?);
        let out: Box<dyn Write + Send> = match program {
            Program::Pager => Box::new(Inert::new(out)),
            Program::Editor => Box::new(out),
        };
        let (sender, written) = oneshot::channel();
        let done = Box::new(move |result| {
            // It may have been dropped.
            let _ = sender.send(result);
        });
        self.logs.read_text(TextJob::WriteAll(request, out, done));
        Ok(TextExport {
            file: OpenedFile::Temporary(file),
            program,
            written,
        })
    }

    /// Leaves the terminal to a program until it ends. Its failure is reported.
    pub(super) async fn run_program(&mut self, opening: TextExport) -> anyhow::Result<Next> {
        let words = program::words(opening.program, &|name| self.env.get(name));
        self.console.leave().await;
        let started = program::start(&words, opening.file.path());
        let id = started.as_ref().map_or(0, program::RunningProgram::id);
        let mut child =
            tokio::task::spawn_blocking(|| started.and_then(program::RunningProgram::wait));
        let mut next = Next::Go;
        let done = loop {
            tokio::select! {
                done = &mut child => break done.context("could not wait for the program")?,
                happening = self.console.next() => match happening {
                    // The program that has the terminal must end too. It is waited for: it may save what was written.
                    ConsoleEvent::Signal(Signal::End(by)) => {
                        signals::pass_on(by, id);
                        next = Next::EndBy(by);
                    }
                    ConsoleEvent::Signal(Signal::Stop) => signals::stop(),
                    // Everything else is for the program that has the terminal.
                    _ => {}
                },
            }
        };
        if let Some(by) = self.console.enter().await? {
            return Ok(Next::EndBy(by));
        }
        self.reset_terminal();
        if let Err(why) = done {
            self.app.update(Msg::Done(why));
        }
        Ok(next)
    }

    /// Measures and clears the terminal, after another program used it.
    pub(super) fn reset_terminal(&mut self) {
        if let Ok((columns, rows)) = self.console.size() {
            self.app.update(Msg::Resize(columns, rows));
        }
        self.painter.forget();
    }
}

fn what_was_copied(copied: usize, all: usize) -> String {
    if copied == all {
        return format!("copied {copied} bytes");
    }
    format!("copied the first {copied} of {all} bytes (the terminal's limit)")
}
