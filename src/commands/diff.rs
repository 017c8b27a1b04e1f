//! `ctxgauge diff`.

use super::ended::PrintTime;
use super::exit::Exit;
use super::options::{Logs, MonitorOptions, PrintDocument, Redact};
use super::{Call, Run};
use anyhow::{Result, bail};
use clap::Args;
use report::diff::{self, SessionMoment};
use report::session::SessionRequest;
use std::path::Path;

/// `ctxgauge diff`.
#[derive(Debug, Args)]
#[command(override_usage = "ctxgauge diff [OPTIONS] <BEFORE|--session <SESSION>> [AFTER]")]
pub struct Diff {
    /// The session to compare with: a log file, a folder (its newest session), or a session's id, the beginning or end of
    /// it, its name or a part of its title.
    #[arg(value_name = "BEFORE", required_unless_present = "session")]
    pub before: Option<String>,
    /// The other session. Default: the same one, at another moment.
    #[arg(value_name = "AFTER")]
    pub after: Option<String>,
    /// BEFORE, by its id, name or title; the first argument is then AFTER.
    #[arg(long, value_name = "SESSION", conflicts_with = "after")]
    pub session: Option<String>,
    /// BEFORE as of its Nth request, counted from 1. Default: as it is now; without AFTER and --to, its first.
    #[arg(long, value_name = "N")]
    pub from: Option<usize>,
    /// AFTER as of its Nth request. Default: as it is now.
    #[arg(long, value_name = "N")]
    pub to: Option<usize>,
    /// At most this many items that are new, gone, larger or smaller; JSON has all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub items: usize,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// The texts to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
}

impl Run for Diff {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let (before, after) = match &self.session {
            Some(session) => (Some(session), self.before.as_deref()),
            None => (self.before.as_ref(), self.after.as_deref()),
        };
        let before = before.map_or("", String::as_str);
        // All that one session has become.
        let is_one_alone = after.is_none() && self.to.is_none();
        let after = after.unwrap_or(before);
        let from = self.from.or(is_one_alone.then_some(1));
        if before == after && from == self.to {
            let why = "both are the same; name two requests of it with --from and --to";
            bail!(Exit::WrongUsage(why.to_owned()));
        }
        let setup = call.setup()?;
        let mut context = setup.context_of(&[], &self.logs, self.redact)?;
        call.long_work(
            &mut context,
            PrintTime::AtTheEnd,
            self.print.plain.charset(),
        )?;
        // The session at a path or, if that is no path, the one with this id, name or title.
        let moment = |(word, request)| {
            let path = Some(Path::new(word)).filter(|path| path.symlink_metadata().is_ok());
            let path = path.filter(|_| self.session.as_deref() != Some(word));
            let asked = SessionRequest {
                path,
                session: path.is_none().then_some(word),
                ..SessionRequest::default()
            };
            SessionMoment { asked, request }
        };
        let moments = [(before, from), (after, self.to)].map(moment);
        let style = self.print.style(call);
        diff::run(&context, moments, self.items, style, call.out)
    }
}
