//! `ctxgauge mcp`.

use super::options::{Logs, MonitorOptions, Redact};
use super::{Call, Run};
use ::mcp::Texts;
use anyhow::{Result, bail};
use clap::Args;
use files::Processes;
use report::session::id_of;
use report::{CacheUse, ReportContext};
use std::time::Duration;

/// `ctxgauge mcp`.
#[derive(Debug, Clone, Args)]
pub struct Mcp {
    /// Answer for this session only, by its id, the beginning or end of it, its name or a part of its title. A whole id
    /// may be that of a session that has no log yet. Default: the session that the client names, else the newest of the
    /// working directory.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Offer the tool `item_text` too, which returns texts of the log.
    #[arg(long)]
    pub texts: bool,
    /// Says whose server this is where the program has another name: `setup` writes it, and finds the server again by it.
    #[arg(long, hide = true)]
    pub ctxgauge: bool,
    /// The longest time for the settings, and for each call, in milliseconds. Clients wait for a minute or longer.
    #[arg(long, value_name = "MS", default_value_t = 30_000, hide = true)]
    pub within: u64,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
}

impl Run for Mcp {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let (longest, options) = (Duration::from_millis(self.within), self.clone());
        let server = call.printed_within(longest, move |call| options.server(call))?;
        let Some(server) = server else {
            let longest = longest.as_secs_f64();
            bail!("the settings could not be read within {longest} s: the disk may be slow");
        };
        let server = server.print(call)?;
        if call.terminals.stdin {
            writeln!(
                call.err,
                "this is a server for an agent, which starts it by itself: see assets/docs/mcp.md. It reads requests \
                 from standard input; Ctrl-D ends it."
            )?;
        }
        ::mcp::serve(server, call.take_input(), call.out)
    }
}

impl Mcp {
    /// Reads the settings of the server.
    fn server(&self, call: &mut Call<'_>) -> Result<::mcp::Setup> {
        let setup = call.setup()?;
        let mut context = setup.context_of(&[], &self.logs, Redact::OFF)?;
        context.cache_use = CacheUse::ReadOnly;
        let session = self.session.as_deref().map(|name| known(&context, name));
        Ok(::mcp::Setup {
            session: session.transpose()?,
            context,
            here: setup.user.working_folder(),
            parents: Processes::default().parents(),
            longest: Duration::from_millis(self.within),
            texts: if self.texts { Texts::On } else { Texts::Off },
        })
    }
}

/// The shortest id that may be that of a session without a log: the agent starts the server before it writes one.
const WHOLE_ID: usize = 32;

/// Returns the id of the session with this id, name or title.
///
/// # Errors
///
/// If there is none, or more than one: the client would learn it only when it calls a tool.
fn known(context: &ReportContext, name: &str) -> Result<String> {
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.len() >= WHOLE_ID && name.chars().all(is_id) {
        return Ok(name.to_owned());
    }
    Ok(id_of(context, name)?.unwrap_or_else(|| name.to_owned()))
}
