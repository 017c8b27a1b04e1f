//! Options that several commands have.

use super::exit::Exit;
use super::{Call, locale};
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use report::{Charset, DOCUMENT_FORMATS, FORMATS, JSON, OutputFormat, Style};
use std::path::{Path, PathBuf};
use strum::EnumMessage;

/// The logs to find.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct Logs {
    /// Search this folder too; can be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub root: Vec<PathBuf>,
    /// The agent whose logs are read.
    #[command(flatten)]
    pub only: AgentOption,
}

/// The agent whose logs are read.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct AgentOption {
    /// Read only the logs of this agent, by its id or its name on the screens; files you name are read as its
    /// logs, whatever they contain.
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
}

/// The options of the monitor that commands have as well, and that may come before a command.
#[derive(Debug, Default, PartialEq, Args)]
pub struct MonitorOptions {
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// Use ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Ignore and do not save the screen's state.
    #[arg(long)]
    pub fresh: bool,
}

impl AgentOption {
    /// Takes the options given before the command; those after it win.
    pub(super) fn add(&mut self, before: &mut AgentOption) {
        self.agent = self.agent.take().or(before.agent.take());
    }
}

impl Logs {
    /// Takes the options given before the command; those after it win.
    pub(super) fn add(&mut self, before: &mut Logs) {
        self.root.append(&mut before.root);
        self.only.add(&mut before.only);
    }
}

/// The format of a report.
#[derive(Debug, Args)]
pub struct Print {
    /// Output format.
    #[arg(long, default_value = FORMATS[0].name, value_parser = one_of(&FORMATS, format_name))]
    pub format: &'static OutputFormat,
    /// The characters of the output.
    #[command(flatten)]
    pub plain: Plain,
}

/// The format of a report that is a document.
#[derive(Debug, Args)]
pub struct PrintDocument {
    /// Output format.
    #[arg(long, default_value = FORMATS[0].name, value_parser = one_of(&DOCUMENT_FORMATS, format_name))]
    pub format: &'static OutputFormat,
    /// The characters of the output.
    #[command(flatten)]
    pub plain: Plain,
}

/// The options of all commands that print a report, in any formats.
#[derive(Debug, Args)]
pub struct Plain {
    /// Same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Use ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Accepted because scripts pass it: reports have no state to ignore.
    #[arg(long, hide = true)]
    pub fresh: bool,
}

/// Returns a parser of values by their names.
pub(super) fn one_of<T, N>(
    values: impl IntoIterator<Item = T>,
    name: fn(T) -> N,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
    N: Into<PossibleValue>,
{
    let values = values.into_iter().map(|value| (name(value).into(), value));
    let (names, values): (Vec<PossibleValue>, Vec<T>) = values.unzip();
    PossibleValuesParser::new(names.clone()).map(move |chosen| {
        let at = names.iter().position(|name| name.get_name() == chosen);
        values[at.unwrap_or(0)]
    })
}

/// Returns a value with its name and a sentence about it for the program's help.
pub(super) fn with_help<T: EnumMessage + Into<&'static str>>(value: T) -> PossibleValue {
    let about = value.get_documentation();
    PossibleValue::new(value.into()).help(about.map(|about| about.trim_end_matches('.')))
}

pub(super) fn format_name(format: &OutputFormat) -> PossibleValue {
    PossibleValue::new(format.name).help(format.help)
}

impl Print {
    /// Returns the style that was asked for.
    pub(super) fn style(&self, call: &Call<'_>) -> Style {
        self.plain.style(self.format, call)
    }
}

impl PrintDocument {
    /// Returns the style that was asked for.
    pub(super) fn style(&self, call: &Call<'_>) -> Style {
        self.plain.style(self.format, call)
    }
}

impl Plain {
    /// Takes the options given before the command.
    pub(super) fn add(&mut self, before: &mut MonitorOptions) {
        self.ascii |= std::mem::take(&mut before.ascii);
        self.fresh |= std::mem::take(&mut before.fresh);
    }

    /// Returns the characters of a report that is not for this terminal.
    pub(super) fn charset(&self) -> Charset {
        Charset::ascii_if(self.ascii)
    }

    /// Returns the style that was asked for. A report for people has the characters of their locale and fits their
    /// terminal.
    pub(super) fn style(&self, format: &'static OutputFormat, call: &Call<'_>) -> Style {
        let format = if self.json { &JSON } else { format };
        let is_ascii = self.ascii || (format.for_people && locale::is_ascii(&call.user.env));
        Style {
            format,
            charset: Charset::ascii_if(is_ascii),
            columns: call.columns().filter(|_| format.for_people),
        }
    }
}

/// The texts to leave out.
#[derive(Debug, Clone, Copy, Args)]
pub struct Redact {
    /// Leave out texts, titles, paths and the arguments of tool calls, and replace ids and names of your own by
    /// pseudonyms; numbers, roles and times stay. The output says how much was left out.
    #[arg(long)]
    pub redact: bool,
}

impl Redact {
    /// The choice of a command whose output stays with the user.
    pub(super) const OFF: Redact = Redact { redact: false };
}

/// Fails if nothing is at a path that the user named.
pub(super) fn check_paths<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    for path in paths {
        if path.symlink_metadata().is_err_and(|e| files::is_absent(&e)) {
            bail!(report::session::no_such_path(path));
        }
    }
    Ok(())
}

/// Arguments of the commands on many sessions.
#[derive(Debug, Args)]
pub struct ManySessions {
    /// Files or folders; default: all logs of this machine.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only this session, by its id, the beginning or end of it, its name or a part of its title; `ctxgauge ls` lists
    /// them. Its sub-agents are sessions of their own.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
}

/// Returns the end of a file's name, without its period.
pub(super) fn file_end(path: Option<&Path>) -> Option<&str> {
    file_of(path)?.extension()?.to_str()
}

/// The error for a file whose end is that of no format.
pub(super) fn unknown_end(end: &str, known: &[&str]) -> Exit {
    let known: Vec<String> = known.iter().map(|end| format!(".{end}")).collect();
    Exit::WrongUsage(format!(
        "no format ends in '.{end}'; the known ends are {}; --format writes one of them into a file of any name",
        known.join(", ")
    ))
}

/// Returns the file that an option names; `None`: standard output, which `-` names too.
pub(super) fn file_of(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}
