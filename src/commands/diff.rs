//! `ctxgauge diff`.

use super::ended::PrintTime;
use super::exit::Exit;
use super::options::{Logs, MonitorOptions, Plain, Redact, format_name, one_of};
use super::{Call, Run};
use anyhow::{Result, bail};
use clap::Args;
use report::OutputFormat;
use report::diff::{self, FORMATS, SessionMoment};
use report::session::SessionRequest;
use std::path::{Path, PathBuf};

/// `ctxgauge diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The session to compare with: a log file, a folder (its newest session), or a session's id, the beginning or end
    /// of it, or a part of its title.
    #[arg(value_name = "BEFORE")]
    pub before: String,
    /// The other session. Default: the same one, at another moment.
    #[arg(value_name = "AFTER", required_unless_present_any = ["from", "to"])]
    pub after: Option<String>,
    /// BEFORE as of its Nth request, counted from 1. Default: as it is now.
    #[arg(long, value_name = "N")]
    pub from: Option<usize>,
    /// AFTER as of its Nth request. Default: as it is now.
    #[arg(long, value_name = "N")]
    pub to: Option<usize>,
    /// The most items to name of those that are new, gone, larger and smaller; JSON has all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub items: usize,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// The texts to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// Output format.
    #[arg(long, default_value = FORMATS[0].name, value_parser = one_of(&FORMATS, format_name))]
    pub format: &'static OutputFormat,
    /// The format of the output.
    #[command(flatten)]
    pub plain: Plain,
}

impl Run for Diff {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
        self.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let after = self.after.as_deref().unwrap_or(&self.before);
        if self.before == after && self.from == self.to {
            let why = "both are the same; name two requests of it with --from and --to";
            bail!(Exit::WrongUsage(why.to_owned()));
        }
        let setup = call.setup()?;
        let mut context = setup.context_of(&[], &self.logs)?;
        setup.leave_out(self.redact.redact, &mut context)?;
        call.long_work(&mut context, PrintTime::AtTheEnd, self.plain.charset())?;
        let paths = [self.before.as_str(), after].map(PathBuf::from);
        let moments = [
            moment(&self.before, &paths[0], self.from),
            moment(after, &paths[1], self.to),
        ];
        let style = self.plain.style(self.format, call);
        diff::run(&context, moments, self.items, style, call.out)
    }
}

/// Returns the session at a path or, if nothing is there, the one with this id or title.
fn moment<'a>(word: &'a str, path: &'a Path, request: Option<usize>) -> SessionMoment<'a> {
    let is_path = path.symlink_metadata().is_ok();
    SessionMoment {
        asked: SessionRequest {
            path: is_path.then_some(path),
            session: (!is_path).then_some(word),
            ..SessionRequest::default()
        },
        request,
    }
}
