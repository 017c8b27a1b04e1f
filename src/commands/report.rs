//! `ctxgauge report`.

use super::ended::PrintTime;
use super::exit::Exit;
use super::options::{
    Logs, MonitorOptions, Plain, Redact, file_end, file_of, format_name, one_of, unknown_end,
};
use super::{Call, Run};
use anyhow::{Result, bail};
use clap::Args;
use files::output::{Existing, is_same};
use report::session::{self, SessionRequest};
use report::{DOCUMENT_FORMATS, JSON, OutputFormat, to_file};
use std::path::PathBuf;

/// `ctxgauge report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A log file, a folder (its newest session), or `-` for standard input. Default: the newest session of the
    /// project in the working directory.
    pub path: Option<PathBuf>,
    /// Print the report again, as a line of JSON, whenever the session changes. `ctxgauge follow` says more.
    #[arg(long, hide = true, requires = "path", conflicts_with_all = ["session", "redact", "format", "output"])]
    pub follow: bool,
    /// Select a session by its id, the beginning or end of it, its name or a part of its title; `ctxgauge ls` lists them.
    /// A name selects the session itself, not its sub-agents. Without PATH, any session of this machine.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// The texts to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// Include texts, names and paths of the log in html and markdown, which otherwise leave them out, as `--redact` does.
    #[arg(long, conflicts_with = "redact")]
    pub texts: bool,
    /// Output format. Default: by the extension of FILE, else text.
    #[arg(long, value_parser = one_of(&DOCUMENT_FORMATS, format_name))]
    pub format: Option<&'static OutputFormat>,
    /// Write to this file. Default, and `-`: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The format of the output.
    #[command(flatten)]
    pub plain: Plain,
}

impl Run for Report {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
        self.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let format = self.format()?;
        let setup = call.setup()?;
        if self.follow {
            return super::follow::reports(call, self.path.as_slice(), &self.logs);
        }
        let redact = Redact {
            redact: self.redact.redact || (format.to_hand_on && !self.texts),
        };
        let mut context = match &self.path {
            Some(_) => setup.context(&self.logs.only, redact)?,
            None => setup.context_of(&[], &self.logs, redact)?,
        };
        call.long_work(&mut context, PrintTime::AtTheEnd, self.plain.charset())?;
        let asked = SessionRequest {
            path: self.path.as_deref(),
            session: self.session.as_deref(),
            here: &setup.user.working_folder(),
            window: None,
        };
        let mut style = self.plain.style(format, call);
        let Some(path) = file_of(self.output.as_deref()) else {
            return session::run(&context, &asked, style, call.out);
        };
        if self.path.as_ref().is_some_and(|log| is_same(log, path)) {
            bail!(Exit::WrongUsage(
                "-o names the log itself, which is never written to".to_owned()
            ));
        }
        style.columns = None;
        to_file(path, Existing::replaced_if(self.force), |out| {
            session::run(&context, &asked, style, out)
        })
    }
}

impl Report {
    /// Returns the format: the named one, or the one for the file's end.
    fn format(&self) -> Result<&'static OutputFormat> {
        let named = if self.plain.json {
            Some(&JSON)
        } else {
            self.format
        };
        let end = file_end(self.output.as_deref());
        let by_name = end.and_then(|end| {
            let is_its = |format: &&OutputFormat| format.end == end || format.name == end;
            DOCUMENT_FORMATS.iter().find(is_its)
        });
        match (named.or(by_name), end) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(&DOCUMENT_FORMATS[0]),
            (None, Some(end)) => {
                let known = DOCUMENT_FORMATS.each_ref().map(|format| format.end);
                bail!(unknown_end(end, &known))
            }
        }
    }
}
