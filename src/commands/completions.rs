//! `ctxgauge completions`.

use super::{Call, Cli, Run};
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

/// `ctxgauge completions`. The configuration is not read: completions are needed even if it is wrong.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: Shell,
}

impl Run for Completions {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        // The script is written from memory: the generator panics where it cannot write.
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "ctxgauge", &mut script);
        Ok(call.out.write_all(&script)?)
    }
}
