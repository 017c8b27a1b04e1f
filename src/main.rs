//! Parses the command line, chooses a face, and says what went wrong.

use anyhow::{Result, bail};
use clap::Parser;
use ctxgauge::agents::{self, Format};
use ctxgauge::cli::{Cli, Command, Common};
use ctxgauge::config;
use ctxgauge::ingest::discover::{Spot, usual};
use ctxgauge::report::{self, Ground, Style, Sums};
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has had enough: no error of ours.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "ctxgauge: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match cli.command {
        Some(Command::Report { path, json }) => {
            let ground = ground(&cli.common, &[])?;
            report::session(&ground, &path, style(json), &mut out)?;
        }
        Some(Command::Ls {
            paths,
            json,
            totals,
        }) => {
            let ground = ground(&cli.common, &paths)?;
            let sums = if totals { Sums::Totals } else { Sums::None };
            report::list(&ground, style(json), sums, &mut out, &mut io::stderr())?;
        }
        None => bail!("the screens are not there yet"),
    }
    out.flush()?;
    Ok(())
}

fn style(json: bool) -> Style {
    if json { Style::Json } else { Style::Text }
}

fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Where to look and for what: the paths given, or the agents' own folders and those of flags and
/// configuration.
fn ground(common: &Common, paths: &[PathBuf]) -> Result<Ground> {
    let config = config::load(
        common.config.as_deref(),
        config::default_path(&env).as_deref(),
    )?;
    let formats = formats(common)?;
    let given =
        |paths: &[PathBuf]| -> Vec<Spot> { paths.iter().cloned().map(Spot::Given).collect() };
    let spots = if paths.is_empty() {
        let mut spots = usual(&formats, &env);
        spots.extend(given(&config.roots));
        spots.extend(given(&common.root));
        spots
    } else {
        given(paths)
    };
    Ok(Ground {
        formats,
        spots,
        rules: Arc::new(config::rules()?),
    })
}

fn formats(common: &Common) -> Result<Vec<&'static dyn Format>> {
    let Some(id) = &common.agent else {
        return Ok(agents::ALL.to_vec());
    };
    match agents::by_id(id) {
        Some(format) => Ok(vec![format]),
        None => {
            let known: Vec<&str> = agents::ALL.iter().map(|format| format.id()).collect();
            bail!("there is no agent '{id}'; known are: {}", known.join(", "))
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
