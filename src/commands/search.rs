//! `ctxgauge search`.

use super::ended::PrintTime;
use super::exit::Exit;
use super::locale;
use super::options::{ManySessions, MonitorOptions, Print, Redact, check_paths, one_of};
use super::since::SinceTime;
use super::{Call, Run};
use anyhow::Result;
use clap::{Args, ValueEnum};
use ingest::search::{Case, Matcher, Syntax};
use model::Role;
use report::search::{self, Colours, Verdict};
use std::num::NonZeroUsize;

/// The items that `--largest` lists.
const LARGEST: usize = 20;

/// `ctxgauge search`.
#[derive(Debug, Args)]
pub struct Search {
    /// The text to search for: a regular expression.
    #[arg(value_name = "PATTERN", required_unless_present = "largest")]
    pub pattern: Option<String>,
    /// List the largest items of all sessions, or the largest that match: 20, or as many as --limit says. Before a PATH,
    /// '' is the pattern of all.
    #[arg(long)]
    pub largest: bool,
    /// Treat the pattern as plain text, not as a regular expression.
    #[arg(short = 'F', long)]
    pub fixed_strings: bool,
    /// Ignore case. By default, case is ignored unless the pattern has capitals.
    #[arg(short, long, conflicts_with = "case_sensitive")]
    pub ignore_case: bool,
    /// Match case exactly.
    #[arg(short = 's', long)]
    pub case_sensitive: bool,
    /// Only logs that were written to since then, such as 2h, 7d or 2026-11-01.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<SinceTime>,
    /// Only sessions with this in the name of their project; with a /, in the path of its folder.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only items of this role.
    #[arg(long, value_name = "ROLE", value_parser = one_of(Role::ALL, Role::name))]
    pub role: Option<Role>,
    /// Only calls and results of tools with this in their name.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// At most this many items.
    #[arg(long, value_name = "N")]
    pub limit: Option<NonZeroUsize>,
    /// At most this many matching lines per item; the others are counted. JSON has all.
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    pub lines: NonZeroUsize,
    /// Mark the matches with colours.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Color,
    /// The sessions to search.
    #[command(flatten)]
    pub all: ManySessions,
    /// The format of the output.
    #[command(flatten)]
    pub print: Print,
}

/// The use of colours.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set, TERM is dumb or the configuration says no_color.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Run for Search {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.all.logs.add(&mut before.logs);
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        match self.search(call).map_err(Exit::of)? {
            Verdict::Found => Ok(()),
            Verdict::Nothing => Err(Exit::No.into()),
        }
    }
}

impl Search {
    fn search(&self, call: &mut Call<'_>) -> Result<Verdict> {
        let matcher = self.matcher()?;
        check_paths(&self.all.paths)?;
        let setup = call.setup()?;
        let mut context = setup.context_of_all(&self.all, Redact::OFF)?;
        let charset = self.print.plain.charset();
        call.long_work(&mut context, PrintTime::Meanwhile, charset)?;
        let style = self.print.style(call);
        let is_plain = || locale::is_plain(&call.user.env, &setup.config);
        let colours = match self.color {
            Color::Auto if call.terminals.stdout && !is_plain() => Colours::On,
            Color::Always => Colours::On,
            _ => Colours::Off,
        };
        let limit = self.limit.map(NonZeroUsize::get);
        let wanted = search::Search {
            matcher: &matcher,
            since: self.since.map(|since| since.moment(&context.clock())),
            project: self.project.as_deref(),
            role: self.role,
            tool: self.tool.as_deref(),
            by_size: self.largest,
            limit: limit.or(self.largest.then_some(LARGEST)),
            lines: self.lines.get(),
        };
        search::run(&context, &wanted, (style, colours), call.out, call.err)
    }

    fn matcher(&self) -> Result<Matcher> {
        let pattern = self.pattern.as_deref().unwrap_or_default();
        if self.largest && pattern.is_empty() {
            return Ok(Matcher::any());
        }
        let syntax = if self.fixed_strings {
            Syntax::Fixed
        } else {
            Syntax::Regex
        };
        let case = if self.ignore_case {
            Case::Insensitive
        } else if self.case_sensitive {
            Case::Sensitive
        } else {
            Case::Smart
        };
        let matcher = Matcher::new(pattern, syntax, case);
        let advice = "-F searches for the text as it is";
        let wrong = |why| Exit::WrongUsage(format!("the pattern is wrong: {why}; {advice}"));
        Ok(matcher.map_err(wrong)?)
    }
}
