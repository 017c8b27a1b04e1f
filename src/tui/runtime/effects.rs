//! Carries out the requests of the screens.

use super::{
    Console, ConsoleEvent, Next, Opening, Screens, Signal, clipboard, program, signals, tmux,
};
use crate::app::pager::Program;
use crate::app::{Effect, Msg};
use crate::keymap::Action;
use anyhow::Context;
use ingest::TextJob;
use model::lists::text::TextRequest;
use render::inert::Inert;
use render::text;
use std::env;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
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
                if self.app.is_in_tmux {
                    self.copying.wait(async move {
                        let tmux = tmux::load(&["tmux"], &text).await;
                        Some(copied(&text, sent, Some(tmux)))
                    });
                } else {
                    self.app.notify(copied(&text, sent, None));
                }
            }
            Effect::OpenPath(path) => {
                // An editor would make a file of this name.
                if path.is_absolute() && path.exists() {
                    self.open_with(self.words(Program::Editor), Some(path.to_path_buf()));
                } else {
                    self.app.notify(not_here(&path));
                }
            }
            Effect::Run {
                folder: Some(folder),
                ..
            } if !folder.exists() => {
                let copies = self.app.keymap.key_text(self.app.scope(), Action::Copy);
                let why = format!("{copies} copies the command; {}", not_here(&folder));
                self.app.notify(why);
            }
            Effect::Run { command, .. } => {
                let shell = files::of_system(["sh", "-c"], ["sh", "-c"], ["cmd", "/C"]);
                let words = shell.into_iter().map(OsString::from);
                self.open_with(words.chain([command.into()]).collect(), None);
            }
            Effect::OpenPane { log, id } => {
                let own = env::current_exe().unwrap_or_else(|_| "ctxgauge".into());
                let [place, side] = pane(self.app.ui.size);
                let mut words = ["tmux", place, side, "--"].map(OsString::from).to_vec();
                words.extend([own.into(), log.as_os_str().to_owned()]);
                words.extend(id.map(|id| format!("--session={id}").into()));
                self.open_with(words, None);
            }
            Effect::OpenThere { host, log, id } => {
                match self.logs.there(&host, &log, id.as_deref()) {
                    Some(command) => self.open_with(command, None),
                    None => {
                        let why = format!("the path of the log on {host} cannot be passed to ssh");
                        self.app.notify(why);
                    }
                }
            }
            Effect::Open(request, program) => {
                if let Err(e) = self.write_out(request, program) {
                    let why = format!("could not create a temporary file: {e}; check TMPDIR");
                    self.app.notify(why);
                }
            }
            Effect::HandOn(request) => {
                if self.writing.is_some() {
                    let why = "another report or table is still being written";
                    self.app.notify(why.to_owned());
                } else if self.logs.is_invented(request.file) {
                    let why = "nothing is written of the demo: its sessions are invented";
                    self.app.notify(why.to_owned());
                } else {
                    self.logs.hand_out(request, self.writing.begin());
                }
            }
            Effect::Suspend => signals::ask_to_stop(),
            Effect::Quit => return Ok(Next::End),
        }
        Ok(Next::Go)
    }

    /// Has a program take over the terminal, which opens what is at a path if there is one.
    fn open_with(&mut self, words: Vec<OsString>, path: Option<PathBuf>) {
        let opening = Opening {
            words,
            path,
            _temporary: None,
        };
        self.opening.wait(std::future::ready(Some(Ok(opening))));
    }

    /// Returns the user's program and its arguments.
    fn words(&self, program: Program) -> Vec<OsString> {
        program::words(program, &|name| self.env.get(name))
    }

    /// Writes a text to a file for a program. An earlier one that is still being written is dropped.
    fn write_out(&mut self, request: TextRequest, program: Program) -> io::Result<()> {
        let file = tempfile::Builder::new()
            .prefix("ctxgauge-")
            .suffix(".txt")
            .tempfile()?;
        let out = BufWriter::new(file.reopen()?);
        let out: Box<dyn Write + Send> = match program {
            Program::Pager => Box::new(Inert::new(out)),
            Program::Editor => Box::new(out),
        };
        let opening = Opening {
            words: self.words(program),
            path: Some(file.path().to_path_buf()),
            _temporary: Some(file),
        };
        let (sender, written) = oneshot::channel::<Result<u64, String>>();
        // The screens own the file: it is removed with them, and with a newer request.
        self.opening
            .wait(async move { Some(written.await.ok()?.map(|_| opening)) });
        let done = Box::new(move |written| drop(sender.send(written)));
        self.logs.read_text(TextJob::WriteAll(request, out, done));
        Ok(())
    }

    /// Leaves the terminal to a program until it ends. Its failure is reported.
    pub(super) async fn run_program(&mut self, opening: Opening) -> anyhow::Result<Next> {
        self.console.leave().await;
        let started = program::start(&opening.words, opening.path.as_deref());
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
            self.app.notify(why);
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

/// Returns the sentence about a text of which so many bytes were sent to the terminal's clipboard: with `tmux`, what became
/// of its buffer.
fn copied(text: &str, sent: usize, tmux: Option<Result<(), String>>) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = text::cut(line.unwrap_or_default().trim(), LONGEST_LINE);
    let all = text.len();
    let sent = if sent == all {
        "sent to the terminal's clipboard".to_owned()
    } else {
        format!("sent the first {sent} of {all} bytes to the terminal's clipboard (its limit)")
    };
    match tmux {
        None => format!("{sent}: {line}"),
        Some(Ok(())) => format!("copied to tmux's buffer: {line}"),
        Some(Err(why)) => format!("{why}; {sent}: {line}"),
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
        assert_eq!(
            copied("\n cd /a && run\nmore", 19, None),
            "sent to the terminal's clipboard: cd /a && run"
        );
        assert_eq!(
            copied("a\nb", 3, Some(Ok(()))),
            "copied to tmux's buffer: a"
        );
        assert_eq!(
            copied("a\nb", 1, Some(Err("no tmux".to_owned()))),
            "no tmux; sent the first 1 of 3 bytes to the terminal's clipboard (its limit): a"
        );
        let long = copied(&"word ".repeat(1_000), 5_000, None);
        assert!(
            long.len() < 2 * LONGEST_LINE && long.ends_with('…'),
            "{long}"
        );
    }
}
