//! `ctxgauge check`.

use super::exit::Exit;
use super::options::{Logs, MonitorOptions, Plain, Redact, format_name, one_of};
use super::since::SinceTime;
use super::{Call, Run, examples};
use anyhow::Result;
use clap::{ArgGroup, Args};
use model::due::bounds::{BoundScope, Bounds};
use model::values::threshold::{Threshold, Tokens};
use report::OutputFormat;
use report::check::{self, FORMATS, SessionChoice, Verdict};
use report::session::SessionRequest;
use std::path::PathBuf;

/// `ctxgauge check`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("bounds").required(true).multiple(true))]
pub struct Check {
    /// Files or folders: all sessions in them. Default: the newest session of the project in the working directory.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Check this session, by its id, the beginning or end of it, its name or a part of its title.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// With PATH: check only sessions whose log was written to since then, such as 2h, 7d or 2026-11-01.
    #[arg(
        long,
        value_name = "WHEN",
        requires = "paths",
        conflicts_with = "session"
    )]
    pub since: Option<SinceTime>,
    /// At most this percentage of the trigger or, if none is known, of the window.
    #[arg(long, value_name = "PERCENT", group = "bounds", value_parser = percent)]
    pub max_percent: Option<f64>,
    /// At most this many tokens in the context: 150k.
    #[arg(long, value_name = "TOKENS", group = "bounds")]
    pub max_tokens: Option<Tokens>,
    /// No item in the context above this size: 20k, or a share of the window: 10%.
    #[arg(long, value_name = "SIZE", group = "bounds")]
    pub max_item: Option<Threshold>,
    /// At least this many requests left before the compaction, by the median of the forecast.
    #[arg(long, value_name = "N", group = "bounds")]
    pub min_requests_left: Option<u64>,
    /// At least this many minutes left before the session compacts because nobody types.
    #[arg(long, value_name = "N", group = "bounds")]
    pub min_minutes_left: Option<u64>,
    /// At most this many compactions.
    #[arg(long, value_name = "N", group = "bounds")]
    pub max_compactions: Option<u64>,
    /// At most this many rebuilds of the prompt cache.
    #[arg(long, value_name = "N", group = "bounds")]
    pub max_rebuilds: Option<u64>,
    /// At most this many tokens rebuilt in the prompt cache: 300k.
    #[arg(long, value_name = "TOKENS", group = "bounds")]
    pub max_rebuilt_tokens: Option<Tokens>,
    /// Compare the largest context and all items of the whole log, not the present context.
    #[arg(long)]
    pub ever: bool,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
    /// Output format.
    #[arg(long, default_value = FORMATS[0].name, value_parser = one_of(&FORMATS, format_name))]
    pub format: &'static OutputFormat,
    /// The format of the output.
    #[command(flatten)]
    pub plain: Plain,
}

/// Returns the exit codes and the examples for the end of the help.
pub(super) fn after_help() -> String {
    let codes = "Exit status:\n  0  no limit was passed\n  1  a limit was passed\n  2  the options are wrong\n  3  there \
        was nothing to read, or a file that you named could not be read";
    format!("{codes}\n\n{}", examples::of("check"))
}

impl Run for Check {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
        self.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        match self.check(call).map_err(Exit::of)? {
            Verdict::Fine => Ok(()),
            Verdict::Passed => Err(Exit::No.into()),
        }
    }
}

impl Check {
    fn check(&self, call: &mut Call<'_>) -> Result<Verdict> {
        let setup = call.setup()?;
        let context = setup.context_of(&self.paths, &self.logs, Redact::OFF)?;
        let here = setup.user.working_folder();
        let which = if self.paths.is_empty() || self.session.is_some() {
            SessionChoice::One(SessionRequest {
                session: self.session.as_deref(),
                here: &here,
                ..SessionRequest::default()
            })
        } else {
            SessionChoice::All(self.since.map(|since| since.moment(&context.clock())))
        };
        let style = self.plain.style(self.format, call);
        check::run(&context, &self.bounds(), which, style, call.out, call.err)
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            percent: self.max_percent,
            tokens: self.max_tokens.map(|tokens| tokens.0),
            item: self.max_item,
            requests_left: self.min_requests_left,
            minutes_left: self.min_minutes_left,
            compactions: self.max_compactions,
            rebuilds: self.max_rebuilds,
            rebuilt_tokens: self.max_rebuilt_tokens.map(|tokens| tokens.0),
            moment: if self.ever {
                BoundScope::Ever
            } else {
                BoundScope::Now
            },
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.parse() {
        Ok(percent) if (0.0..=1_000.0).contains(&percent) => Ok(percent),
        _ => Err("a number of percent, such as 80".to_owned()),
    }
}
