//! Carries out the requests of the screens.

use super::{
    Console, ConsoleEvent, Next, OpenedFile, Screens, Signal, TextExport, clipboard, program,
    signals,
};
use crate::app::pager::Program;
use crate::app::{Effect, Msg};
use anyhow::Context;
use ingest::TextJob;
use model::lists::text::TextRequest;
use render::inert::Inert;
use render::text;
use std::env;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tokio::sync::oneshot;

/// The most columns of a copied text in the notice about it.
const LONGEST_LINE: usize = 200;

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
                let sent = clipboard::copy(&text, &mut self.painter.backend)
                    .context("could not write to the terminal")?;
                self.copied = Copied::of(&text, sent);
                if self.app.is_in_tmux {
                    self.copying.begin(text);
                } else {
                    self.say_what_was_copied(None);
                }
            }
            Effect::OpenPath(path) => {
                // An editor would make a file of this name.
                if path.is_absolute() && path.exists() {
                    self.opening = Some(TextExport::of_path(path));
                } else {
                    self.app.update(Msg::Done(not_here(&path)));
                }
            }
            Effect::Run {
                folder: Some(folder),
                ..
            } if !folder.exists() => {
                let copies = self.app.copy_key();
                let why = format!("{copies} copies the command; {}", not_here(&folder));
                self.app.update(Msg::Done(why));
            }
            Effect::Run { command, .. } => {
                let shell = files::of_system(["sh", "-c"], ["sh", "-c"], ["cmd", "/C"]);
                let words = shell.into_iter().map(OsString::from);
                self.opening = Some(TextExport::there(words.chain([command.into()]).collect()));
            }
            Effect::OpenPane { log, id } => {
                let own = env::current_exe().unwrap_or_else(|_| "ctxgauge".into());
                let [place, side] = pane(self.app.ui.size);
                let mut words = ["tmux", place, side, "--"].map(OsString::from).to_vec();
                words.extend([own.into(), log.as_os_str().to_owned()]);
                words.extend(id.map(|id| format!("--session={id}").into()));
                self.opening = Some(TextExport::there(words));
            }
            Effect::OpenThere { host, log, id } => {
                match self.logs.there(&host, &log, id.as_deref()) {
                    Some(command) => self.opening = Some(TextExport::there(command)),
                    None => {
                        let why = format!("the path of the log on {host} cannot be passed to ssh");
                        self.app.update(Msg::Done(why));
                    }
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
                if self.writing.is_some() {
                    let why = "another report or table is still being written";
                    self.app.update(Msg::Done(why.to_owned()));
                } else if self.logs.is_invented(request.file) {
                    let why = "nothing is written of the demo: its sessions are invented";
                    self.app.update(Msg::Done(why.to_owned()));
                } else {
                    self.logs.hand_out(request, self.writing.begin());
                }
            }
            Effect::Suspend => signals::ask_to_stop(),
            Effect::Quit => return Ok(Next::End),
        }
        Ok(Next::Go)
    }

    /// Says what was copied, and where it is: with `tmux`, what became of its buffer.
    pub(super) fn say_what_was_copied(&mut self, tmux: Option<Result<(), String>>) {
        let said = self.copied.said(tmux);
        self.app.update(Msg::Done(said));
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
        let words = match &opening.file {
            OpenedFile::There(command) => command.clone(),
            _ => program::words(opening.program, &|name| self.env.get(name)),
        };
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

/// Returns the sentence about a path that does not exist here. Its end may be cut: the reason comes first.
fn not_here(path: &Path) -> String {
    format!("not on this machine: {}", path.display())
}

/// Returns the words that make a place of tmux beside a screen of this size in which another one fits: a pane beside
/// or below it, or a window.
fn pane((columns, rows): (u16, u16)) -> [&'static str; 2] {
    match (columns, rows) {
        (100.., _) => ["split-window", "-h"],
        (_, 25..) => ["split-window", "-v"],
        _ => ["new-window", "-a"],
    }
}

/// The text that was sent to the terminal's clipboard.
#[derive(Debug, Default)]
pub(super) struct Copied {
    first_line: String,
    /// The bytes that were sent, and those of the text.
    bytes: (usize, usize),
}

impl Copied {
    fn of(text: &str, sent: usize) -> Copied {
        let line = text.lines().find(|line| !line.trim().is_empty());
        Copied {
            first_line: text::cut(line.unwrap_or_default().trim(), LONGEST_LINE),
            bytes: (sent, text.len()),
        }
    }

    fn said(&self, tmux: Option<Result<(), String>>) -> String {
        let Copied { first_line, bytes } = self;
        let sent = match *bytes {
            (sent, all) if sent == all => "sent to the terminal's clipboard".to_owned(),
            (sent, all) => format!(
                "sent the first {sent} of {all} bytes to the terminal's clipboard (its limit)"
            ),
        };
        match tmux {
            None => format!("{sent}: {first_line}"),
            Some(Ok(())) => format!("copied to tmux's buffer: {first_line}"),
            Some(Err(why)) => format!("{why}; {sent}: {first_line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two panes side by side, each has half of the columns but one.
    #[test]
    fn a_pane_is_made_where_another_screen_fits() {
        let (least_columns, least_rows) = crate::app::layout::SMALLEST;
        for columns in 40..200 {
            for rows in 12..80 {
                let [place, side] = pane((columns, rows));
                let fits = match side {
                    "-h" => (columns - 1) / 2 >= least_columns,
                    "-v" => (rows - 1) / 2 >= least_rows,
                    _ => place == "new-window",
                };
                assert!(fits, "{columns} {rows}");
            }
        }
        assert_eq!(pane((80, 50)), ["split-window", "-v"]);
    }

    #[test]
    fn a_copy_is_described_by_its_place_and_its_first_line() {
        let said = |text: &str, sent, tmux| Copied::of(text, sent).said(tmux);
        assert_eq!(
            said("\n cd /a && run\nmore", 19, None),
            "sent to the terminal's clipboard: cd /a && run"
        );
        assert_eq!(said("a\nb", 3, Some(Ok(()))), "copied to tmux's buffer: a");
        assert_eq!(
            said("a\nb", 1, Some(Err("no tmux".to_owned()))),
            "no tmux; sent the first 1 of 3 bytes to the terminal's clipboard (its limit): a"
        );
        let long = said(&"word ".repeat(1_000), 5_000, None);
        assert!(
            long.len() < 2 * LONGEST_LINE && long.ends_with('…'),
            "{long}"
        );
    }
}
