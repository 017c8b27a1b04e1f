//! `ctxgauge config`.

mod check;
mod show;

use super::examples;
use super::options::MonitorOptions;
use super::{Call, Run};
use crate::config::{schema, template};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use files::output::Existing;
use render::text::inert;
use report::to_file;
use show::Show;
use std::path::{Path, PathBuf};

/// `ctxgauge config`.
#[derive(Debug, Args)]
pub struct Config {
    /// The command of `config`.
    #[command(subcommand)]
    what: ConfigCommand,
}

/// The commands of `config`.
#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show each key with its value, its default, and the source of the value.
    #[command(after_help = examples::of("config show"))]
    Show(Show),
    /// Find mistakes in the configuration and the files beside it: ends with 1 if there is one.
    #[command(after_help = examples::of("config check"))]
    Check,
    /// Print the path of the file that is read.
    #[command(after_help = examples::of("config path"))]
    Path,
    /// Write a file with all keys, commented out, with their purposes and defaults.
    #[command(after_help = examples::of("config init"))]
    Init(Init),
    /// Print the JSON schema of the file.
    #[command(after_help = examples::of("config schema"))]
    Schema,
}

/// `ctxgauge config init`.
#[derive(Debug, Args)]
struct Init {
    /// Where to write it; `-` prints it. Default: the file that is read.
    #[arg(value_name = "FILE")]
    path: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
}

impl Run for Config {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        if let ConfigCommand::Show(show) = &mut self.what {
            show.add_options(before);
        }
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        match &self.what {
            ConfigCommand::Show(show) => show.run(call),
            ConfigCommand::Check => check::run(call),
            ConfigCommand::Path => {
                let path = file(call)?;
                if call.terminals.stdout {
                    writeln!(call.out, "{}", inert(&path.to_string_lossy()))?;
                } else {
                    // For scripts: exact.
                    call.out.write_all(path.as_os_str().as_encoded_bytes())?;
                    writeln!(call.out)?;
                }
                if call.config.is_none() && path.symlink_metadata().is_err() {
                    writeln!(
                        call.err,
                        "it does not exist; `ctxgauge config init` writes it"
                    )?;
                }
                Ok(())
            }
            ConfigCommand::Init(init) => init.run(call),
            ConfigCommand::Schema => Ok(writeln!(call.out, "{:#}", schema::schema())?),
        }
    }
}

impl Init {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let text = template::template();
        if self.path.as_deref() == Some(Path::new("-")) {
            return Ok(call.out.write_all(text.as_bytes())?);
        }
        let path = match &self.path {
            Some(path) => path.clone(),
            None => file(call)?,
        };
        if let Some(folder) = path.parent() {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("cannot write '{}'", path.display()))?;
        }
        to_file(&path, Existing::replaced_if(self.force), |out| {
            Ok(out.write_all(text.as_bytes())?)
        })?;
        writeln!(call.out, "{}", inert(&call.user.folders.display(&path)))?;
        Ok(())
    }
}

/// Returns the path of the configuration file: the named one, or the user's, whether it exists or not.
fn file(call: &Call<'_>) -> Result<PathBuf> {
    match call.config.clone().or(call.user.folders.config_file()) {
        Some(path) => Ok(path),
        None => bail!("there is no home folder; name a file with --config"),
    }
}
