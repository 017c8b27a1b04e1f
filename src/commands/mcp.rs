//! `ctxgauge mcp`.

use super::options::{Logs, MonitorOptions};
use super::{Call, Run};
use ::mcp::Texts;
use anyhow::Result;
use clap::Args;
use files::Processes;

/// `ctxgauge mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Answer for this session only, by its id, or the beginning or the end of it. Default: the session that the client
    /// names, else the newest of the working directory.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Offer the tool `item_text` too, which gives out texts of the log.
    #[arg(long)]
    pub texts: bool,
    /// Says whose server this is where the program has another name: `setup` writes it, and finds the server again by it.
    #[arg(long, hide = true)]
    pub ctxgauge: bool,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
}

impl Run for Mcp {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.setup()?;
        let mut context = setup.context_of(&[], &self.logs)?;
        // Nothing is written.
        context.cache = None;
        if call.terminals.stdin {
            writeln!(
                call.err,
                "this is a server for an agent, which starts it by itself: see assets/docs/mcp.md. It reads requests \
                 from standard input; Ctrl-D ends it."
            )?;
        }
        let server = ::mcp::Setup {
            context,
            session: self.session.clone(),
            here: setup.user.working_folder(),
            parents: Processes::default().parents(),
            texts: if self.texts { Texts::On } else { Texts::Off },
        };
        ::mcp::serve(server, call.take_input(), call.out)
    }
}
