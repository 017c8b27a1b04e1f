//! `ctxgauge status`.

use super::statusline::{LineOptions, configuration, context, print};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use files::Processes;
use integrations::line::Input;
use report::client::line::LineSession;
use report::client::line::pane::{Pane, find_pane};
use std::path::PathBuf;

/// `ctxgauge status`.
#[derive(Debug, Clone, Args)]
pub struct Status {
    /// The session with this id, the beginning or end of it, this name or a part of its title; `ctxgauge ls` lists them.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// The session of the agent that is this process or that it has started: in tmux, #{pane_pid}. Default: the shell that
    /// runs this command.
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Without such a process, the newest session of this folder that was at work during the last hour. Default: the
    /// working directory.
    #[arg(long, value_name = "FOLDER")]
    pub cwd: Option<PathBuf>,
    /// Print on standard error which session was chosen, and why.
    #[arg(short, long)]
    pub verbose: bool,
    /// The look of the line.
    #[command(flatten)]
    pub looks: LineOptions,
}

impl Run for Status {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let status = self.clone();
        let printed =
            call.printed_within(self.looks.longest(None), move |call| status.print(call))?;
        match printed {
            Some(printed) => printed.print(call),
            None => self.looks.print_late(&Input::default(), call),
        }
    }
}

impl Status {
    /// Finds the session and prints its line.
    fn print(&self, call: &mut Call<'_>) -> Result<()> {
        let (setup, mut troubles) = configuration(call.setup(), call.user)?;
        let (look, wrong) = self.looks.look(&setup, &call.user.env);
        troubles.extend(wrong);
        let context = context(&setup)?;
        let folders = match (&self.cwd, self.pid) {
            (Some(folder), _) => by_its_paths(folder),
            // The folder of that process counts.
            (None, Some(_)) => Vec::new(),
            (None, None) => call.user.working_folder(),
        };
        let pane = Pane {
            session: self.session.clone(),
            pid: self.pid.or_else(files::parent_process),
            is_pid_named: self.pid.is_some(),
            folders,
        };
        let (log, how) = find_pane(&context, &pane, &Processes::default());
        let is_missing = log.is_none() && self.session.is_some();
        if self.verbose || is_missing {
            writeln!(call.err, "ctxgauge: {how}")?;
        }
        let Some(log) = log else {
            // A bar shows nothing where nothing is at work.
            writeln!(call.out)?;
            return Ok(());
        };
        let shown = LineSession::of_log(&context, &log).unwrap_or_else(|trouble| {
            troubles.push(trouble);
            LineSession::nothing(&context)
        });
        print(&shown, &Input::default(), &troubles, &look, call)
    }
}

/// Returns a folder by the path that is given, and by its real path.
fn by_its_paths(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_path_buf()];
    paths.extend(std::fs::canonicalize(folder));
    paths.dedup();
    paths
}
