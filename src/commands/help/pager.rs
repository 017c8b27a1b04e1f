//! Shows a long text in the user's pager.

use files::paths::Env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Shows a text in the pager, if the terminal has fewer rows. Returns true if it was shown.
///
/// `less` ends by itself where the text fits, keeps the styles, and leaves the text on screen, unless `LESS` says
/// otherwise.
pub(super) fn show(text: &str, env: &Env) -> bool {
    let rows = crossterm::terminal::size().map_or(0, |(_, rows)| usize::from(rows));
    let is_long = text.lines().count() >= rows;
    if !is_long {
        return false;
    }
    let words = tui::pager(&|name| env.get(name));
    run(&words, text, env).is_ok()
}

fn run(words: &[OsString], text: &str, env: &Env) -> io::Result<()> {
    let (name, arguments) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(name);
    if env.get("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let mut pager = command.args(arguments).stdin(Stdio::piped()).spawn()?;
    if let Some(mut pipe) = pager.stdin.take() {
        // The user may leave before the end.
        let _ = pipe.write_all(text.as_bytes());
    }
    pager.wait()?;
    Ok(())
}
