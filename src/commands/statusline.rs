//! `ctxgauge statusline`.
//!
//! An agent runs it again and again and shows what it prints. It therefore always prints a line and ends with 0; what is
//! wrong is a word in the line and a sentence on standard error.

use super::ended::remove_unfinished_on_exit;
use super::locale::{self, Terminals};
use super::options::Redact;
use super::setup::Setup;
use super::so_far::SoFar;
use super::wrapped_status_line::WrappedStatusLine;
use super::{Call, Run};
use anyhow::Result;
use clap::{Args, ValueEnum};
use files::paths::{Env, User};
use integrations::agent::Agent;
use integrations::line::{Input, margin, read};
use integrations::{LARGEST_INPUT, NoInput};
use model::values::threshold::OVERSIZED;
use report::client::line::template::Template;
use report::client::line::{self, Colours, Fill, LineProblem, LineSession, LineStyle};
use report::{Charset, ReportContext};
use std::io::Read;
use std::time::{Duration, Instant};

/// `ctxgauge statusline`.
#[derive(Debug, Args)]
pub struct StatusLine {
    /// Also run this status line of another tool, with the same input, and print its lines first.
    #[arg(long, value_name = "COMMAND")]
    pub chain: Option<String>,
    /// Says whose status line this is where the program has another name: `setup` writes it, and finds the line again
    /// by it.
    #[arg(long, hide = true)]
    pub ctxgauge: bool,
    /// The look of the line.
    #[command(flatten)]
    pub looks: LineOptions,
}

/// The look of a status line.
#[derive(Debug, Clone, Args)]
pub struct LineOptions {
    /// Content: normal, short, two-lines, or a format such as '{percent:colour}[ · {until}]'. Default: that of the
    /// configuration, else normal.
    #[arg(long, value_name = "NAME|FORMAT")]
    pub format: Option<String>,
    /// Use colours, even in a pipe.
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub color: Color,
    /// Print the line without the session if that takes longer than this many milliseconds.
    #[arg(long, value_name = "MS", hide = true, default_value_t = 4_000)]
    pub within: u64,
}

/// The use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// As `always`, unless NO_COLOR is set, TERM is dumb or the configuration says no_color.
    #[default]
    Auto,
    /// As escape sequences of terminals.
    Always,
    /// As tmux writes them in its status line.
    Tmux,
    /// Not at all.
    Never,
}

/// The longest time in Cursor, which ends a status line after 2 s. Qwen Code ends one after 5 s, and Claude Code starts it
/// again when anything changes, so a slow one is never seen.
const LONGEST_IN_CURSOR: Duration = Duration::from_millis(1_500);

impl Run for StatusLine {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let begun = Instant::now();
        let bytes = read_soon(call.take_input(), call.terminals);
        let input = bytes.as_deref().map_err(|no| *no).and_then(read);
        // It runs meanwhile.
        let agent = input.as_ref().ok().and_then(|input| input.agent);
        let chained = self.chain.as_deref();
        if chained.is_some() {
            // Without it there is a line all the same.
            let _ = remove_unfinished_on_exit();
        }
        let left = self.looks.longest(agent).saturating_sub(begun.elapsed());
        let chained = chained
            .map(|command| WrappedStatusLine::start(command, bytes.unwrap_or_default(), left));
        let (looks, passed) = (self.looks.clone(), input.clone());
        let printed = call.printed_within(left, move |call| looks.print(passed, call))?;
        match chained.map(|chained| chained?.finish()) {
            Some(Ok(lines)) => call.out.write_all(&lines)?,
            Some(Err(error)) => {
                writeln!(
                    call.err,
                    "ctxgauge: the chained status line is not shown: {error}"
                )?;
            }
            None => {}
        }
        match printed {
            Some(printed) => printed.print(call),
            None => self.looks.print_late(&input.unwrap_or_default(), call),
        }
    }
}

/// Reads what an agent passes.
pub(super) fn read_input(input: impl Read, terminals: Terminals) -> Result<Vec<u8>, NoInput> {
    // Nobody will pass anything.
    if terminals.stdin {
        return Err(NoInput::Empty);
    }
    let bytes = files::read_at_most(input, 0, LARGEST_INPUT);
    bytes.map_err(|_| NoInput::Other)
}

/// Reads what an agent passes until it ends or the time is up: an agent may leave its end open.
fn read_soon(input: impl Read + Send + 'static, terminals: Terminals) -> Result<Vec<u8>, NoInput> {
    if terminals.stdin {
        return Err(NoInput::Empty);
    }
    let passed = SoFar::read(input.take(LARGEST_INPUT + 1)).map_err(|_| NoInput::Other)?;
    let read = passed.end.recv_timeout(LONGEST_INPUT);
    let passed = passed.take();
    match read {
        Ok(Ok(_)) | Err(_) if passed.len() as u64 <= LARGEST_INPUT => Ok(passed),
        _ => Err(NoInput::Other),
    }
}

/// The longest time that an agent may take to pass its input.
const LONGEST_INPUT: Duration = Duration::from_secs(1);

/// Returns the configuration or, if it is wrong, the default one with the trouble.
pub(super) fn configuration(
    loaded: Result<Setup>,
    user: &User,
) -> Result<(Setup, Vec<LineProblem>)> {
    match loaded {
        Ok(setup) => Ok((setup, Vec::new())),
        Err(error) => {
            let trouble = LineProblem::new("configuration", format!("{error:#}"));
            Ok((Setup::usual(user)?, vec![trouble]))
        }
    }
}

/// Returns the context in which all logs of this machine are found and read.
pub(super) fn context(setup: &Setup) -> Result<ReportContext> {
    setup.context_of(&[], &Default::default(), Redact::OFF)
}

/// Prints a status line, and what is wrong.
pub(super) fn print(
    shown: &LineSession,
    input: &Input,
    troubles: &[LineProblem],
    look: &LineStyle,
    call: &mut Call<'_>,
) -> Result<()> {
    for trouble in troubles {
        writeln!(call.err, "ctxgauge: {}", trouble.sentence)?;
    }
    // The first says what led to the others; one without a word does not concern the line.
    let first = troubles.iter().find(|trouble| !trouble.word.is_empty());
    line::write(shown, input, first, look, call.out)?;
    Ok(())
}

impl LineOptions {
    /// Returns the longest time that the line of this agent may take.
    pub(super) fn longest(&self, agent: Option<Agent>) -> Duration {
        let longest = Duration::from_millis(self.within);
        match agent {
            Some(Agent::Cursor) => longest.min(LONGEST_IN_CURSOR),
            _ => longest,
        }
    }

    /// Prints the line for what an agent passes.
    fn print(&self, passed: Result<Input, NoInput>, call: &mut Call<'_>) -> Result<()> {
        let (setup, mut troubles) = configuration(call.setup(), call.user)?;
        let input = passed.clone().unwrap_or_default();
        let (look, wrong) = self.look_in(&setup, &call.user.env, &input);
        troubles.extend(wrong);
        let context = context(&setup)?;
        let shown = match passed {
            Ok(_) => {
                let (shown, wrong) = line::passed(&context, &input);
                troubles.extend(wrong);
                shown
            }
            Err(no) => {
                troubles.push(LineProblem::new(no.word(), no.to_string()));
                LineSession::nothing(&context)
            }
        };
        print(&shown, &input, &troubles, &look, call)
    }

    /// Prints the line of what an agent passes, once it is too late for more. Nothing is read or written.
    pub(super) fn print_late(&self, input: &Input, call: &mut Call<'_>) -> Result<()> {
        let setup = Setup::usual(call.user)?;
        let shown = LineSession::of_client(&setup.context_without_logs(setup.rules()?), input);
        let longest = self.longest(input.agent).as_secs_f64();
        let sentence =
            format!("the session could not be read within {longest} s: the disk may be slow");
        let trouble = LineProblem::new("too slow", sentence);
        let (look, _) = self.look_in(&setup, &call.user.env, input);
        print(&shown, input, &[trouble], &look, call)
    }

    /// Returns the look in the columns that the agent leaves for the line.
    fn look_in(&self, setup: &Setup, env: &Env, input: &Input) -> (LineStyle, Option<LineProblem>) {
        let (mut look, wrong) = self.look(setup, env);
        let margin = input.agent.map_or(0, margin);
        let inside = |columns: usize| columns.saturating_sub(margin).max(1);
        let passed = input.columns.filter(|columns| *columns > 0);
        look.columns = passed.or(look.columns.map(inside));
        (look, wrong)
    }

    /// Returns the look that the options and the configuration ask for. A wrong format is replaced by the usual one.
    pub(super) fn look(&self, setup: &Setup, env: &Env) -> (LineStyle, Option<LineProblem>) {
        let config = &setup.config;
        let named = self.format.as_ref().or(config.statusline.format.as_ref());
        let named = named
            .map(|named| Template::named_or_text(named))
            .transpose();
        let (template, wrong) = match named {
            Ok(template) => (template, None),
            Err(error) => (None, Some(LineProblem::new("format", error.to_string()))),
        };
        let is_plain = || locale::is_plain(env, config);
        let colours = match self.color {
            Color::Auto if is_plain() => Colours::None,
            Color::Auto | Color::Always => Colours::Ansi,
            Color::Tmux => Colours::Tmux,
            Color::Never => Colours::None,
        };
        let [high, full] = config.statusline.colours;
        let columns = locale::set_columns(env);
        let look = LineStyle {
            template: template.unwrap_or_else(Template::usual),
            colours,
            fill: Fill { high, full },
            columns: columns.filter(|columns| *columns > 0),
            charset: Charset::ascii_if(config.ascii || locale::is_ascii(env)),
            oversized: config.oversized.unwrap_or(OVERSIZED),
        };
        (look, wrong)
    }
}
