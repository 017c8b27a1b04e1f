//! `ctxgauge config check`.

use super::file;
use crate::commands::Call;
use crate::commands::exit::Exit;
use crate::commands::setup::Setup;
use crate::config::values::{bindings, place};
use crate::config::{self, Config, Problem, UserThemes};
use anyhow::Result;
use files::paths::User;
use render::number::counted;
use render::text::inert;
use report::Page;
use report::client::line::template::Template;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;

/// Prints what is wrong in the configuration and the files beside it.
///
/// # Errors
///
/// [`Exit::No`] if something is; [`Exit::Trouble`] if a file cannot be read.
pub(super) fn run(call: &mut Call<'_>) -> Result<()> {
    match check(call).map_err(Exit::of)? {
        0 => Ok(()),
        _ => Err(Exit::No.into()),
    }
}

fn check(call: &mut Call<'_>) -> Result<usize> {
    let path = file(call)?;
    let default = call.user.folders.config_file();
    let text = config::text(call.config.as_deref(), default.as_deref())?;
    let columns = call.columns();
    let mut found = FoundProblems {
        path,
        text: text.unwrap_or_default(),
        page: Page::new(&mut *call.out, columns),
        problems: 0,
    };
    let (valid, problems) = config::valid_part(&found.text);
    for problem in &problems {
        found.in_file(problem)?;
    }
    // The other keys may be wrong as well.
    found.of_config(&valid)?;
    found.beside(valid, call.config.clone().or(default), call.user)?;
    let shown = call.user.folders.display(&found.path);
    let shown = inert(&shown).into_owned();
    let count = found.problems;
    let exists = found.path.symlink_metadata().is_ok();
    match (count, exists) {
        (0, true) => writeln!(call.out, "{shown}: nothing is wrong")?,
        (0, false) => writeln!(call.out, "{shown} does not exist: the defaults apply")?,
        (n, _) => writeln!(call.out, "{}", counted(n as u64, "problem"))?,
    }
    Ok(count)
}

/// The problems that were found so far.
struct FoundProblems<'a> {
    /// The configuration file.
    path: PathBuf,
    text: String,
    page: Page<'a>,
    problems: usize,
}

impl FoundProblems<'_> {
    /// Prints a problem in sentences, which may have several lines.
    fn print(&mut self, what: impl Display) -> io::Result<()> {
        self.problems += 1;
        for line in what.to_string().trim_end().lines() {
            writeln!(self.page, "{}", inert(line))?;
        }
        writeln!(self.page)
    }

    fn in_file(&mut self, problem: &Problem) -> io::Result<()> {
        self.problems += 1;
        let shown = problem.shown(&self.text);
        let (message, line) = shown.split_once('\n').unwrap_or((&shown, ""));
        let path = self.path.to_string_lossy();
        writeln!(self.page, "{}: {message}", inert(&path))?;
        self.page.row(line)?;
        writeln!(self.page)
    }

    /// Prints a problem with the value of a key, at the place where the key is set.
    fn of_key(&mut self, key: &str, message: String) -> io::Result<()> {
        self.in_file(&Problem {
            place: place(&self.text, key),
            message,
        })
    }

    /// Prints a problem with keys of the keyboard, at the place of the first action that the message names.
    fn of_keyboard(&mut self, message: &str) -> io::Result<()> {
        let is_named = |name: &str| {
            [format!("'{name}'"), format!("\"{name}\"")]
                .iter()
                .any(|quoted| message.contains(quoted.as_str()))
        };
        let mut bindings = bindings(&self.text).into_iter();
        let named = bindings.find(|(name, _)| is_named(name));
        self.in_file(&Problem {
            place: named
                .map(|(_, at)| at)
                .or_else(|| place(&self.text, "keys")),
            message: message.to_owned(),
        })
    }

    /// Prints the problems with values that are used later.
    fn of_config(&mut self, config: &Config) -> Result<()> {
        if let Err(error) = config.keymap() {
            // A line for each; the first says what they are about.
            for line in error.to_string().lines().skip(1) {
                self.of_keyboard(line.trim_start())?;
            }
        }
        let format = config.statusline.format.as_deref();
        if let Some(Err(error)) = format.map(Template::named_or_text) {
            self.of_key("statusline.format", error.to_string())?;
        }
        Ok(())
    }

    /// Prints the problems with the files beside the configuration, and with the keys that name them.
    fn beside(&mut self, config: Config, file: Option<PathBuf>, user: &User) -> Result<()> {
        let mut themes = config::themes(file.as_deref())?;
        if let Some(name) = config.theme.clone()
            && !is_left_out(&themes, &name)
            && let Err(error) = themes.choose(&name)
        {
            self.of_key("theme", error.to_string())?;
        }
        for (_, error) in &themes.left_out {
            self.print(format!("{error:#}"))?;
        }
        let setup = match Setup::of(config, file, user) {
            Ok(setup) => setup,
            Err(error) => return Ok(self.print(format!("{error:#}"))?),
        };
        for (_, error) in &setup.left_out {
            self.print(format!("{error:#}"))?;
        }
        for (path, what) in setup.problems() {
            self.print(format!("{}: {what}", path.display()))?;
        }
        if let Err(error) = setup.rules() {
            self.print(format!("{error:#}"))?;
        }
        Ok(())
    }
}

/// Returns true if a theme's file is among those that are not valid. The problem is then printed for the file.
fn is_left_out(themes: &UserThemes, name: &str) -> bool {
    let mut paths = themes.left_out.iter().map(|(path, _)| path);
    paths.any(|path| path.file_stem().is_some_and(|stem| stem == name))
}
