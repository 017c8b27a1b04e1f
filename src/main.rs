//! Parses the command line, chooses a face, and says what went wrong.

use anyhow::{Context, Result, bail};
use clap::{CommandFactory, Parser};
use ctxgauge::agents::{self, Format, custom::Mapping};
use ctxgauge::cli::{AgentsCommand, Cli, Command, Common};
use ctxgauge::config::state::Memory;
use ctxgauge::config::{self, Beside, Config};
use ctxgauge::ingest::spool::{Piped, STDIN};
use ctxgauge::ingest::{
    self,
    discover::Scanner,
    roots::{SearchRoot, usual},
};
use ctxgauge::model::estimators::Estimator;
use ctxgauge::model::fleet::Update;
use ctxgauge::model::window::Rules;
use ctxgauge::paths::{self, Folders};
use ctxgauge::report::audit::Progress;
use ctxgauge::report::{self, Ground, Style, Sums};
use ctxgauge::tokens::Counter;
use ctxgauge::tui::theme::{Depth, Glyphs, Themes};
use ctxgauge::tui::{self, Start};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    if let (Some(_), Some(path)) = (&cli.command, cli.paths.first()) {
        bail!(
            "'{}' stands before the command; put paths after it",
            path.display()
        );
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match cli.command {
        Some(Command::Report {
            path,
            json,
            follow,
            session,
        }) => {
            let ground = ground(&cli.common, &configuration(&cli.common)?, &[])?;
            let report = if follow {
                report::follow
            } else {
                report::session
            };
            report(&ground, &path, session.as_deref(), style(json), &mut out)?;
        }
        Some(Command::Ls {
            paths,
            json,
            totals,
        }) => {
            let ground = ground(&cli.common, &configuration(&cli.common)?, &paths)?;
            let sums = if totals { Sums::Totals } else { Sums::None };
            report::list(&ground, style(json), sums, &mut out, &mut io::stderr())?;
        }
        Some(Command::Audit { paths, json, worst }) => {
            let ground = ground(&cli.common, &configuration(&cli.common)?, &paths)?;
            let err = &mut io::stderr();
            let progress = match err.is_terminal() {
                true => Progress::Shown,
                false => Progress::Silent,
            };
            report::audit::run(&ground, style(json), worst, progress, &mut out, err)?;
        }
        Some(Command::Models { json }) => {
            let formats = all_formats(&cli.common)?;
            let rules = rules(&cli.common, &configuration(&cli.common)?, &formats)?;
            report::models::write(&mut out, &rules, style(json))?;
        }
        Some(Command::Agents {
            command: None,
            json,
        }) => {
            let ground = ground(&cli.common, &configuration(&cli.common)?, &[])?;
            let folders = Folders::of_user();
            let shown = |path: &Path| folders.display(path);
            report::agents::list(&ground, style(json), &shown, &mut out)?;
        }
        Some(Command::Agents {
            command: Some(command),
            ..
        }) => {
            let AgentsCommand::Check {
                file,
                mapping,
                records,
            } = command;
            let config = configuration(&cli.common)?;
            let mut ground = ground(&cli.common, &config, &[])?;
            if let Some(path) = mapping {
                let format = named_mapping(&cli.common, path)?.into_format();
                (ground.forced, ground.formats) = (Some(format), vec![format]);
            }
            report::check::run(&ground, &file, records, &mut out)?;
        }
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "ctxgauge", &mut out);
        }
        None => monitor(&cli)?,
    }
    out.flush()?;
    Ok(())
}

/// Opens the screens on what was asked for; where there are no logs at all, on the demo.
fn monitor(cli: &Cli) -> Result<()> {
    let (stdin, paths): (Vec<PathBuf>, Vec<PathBuf>) = cli
        .paths
        .iter()
        .cloned()
        .partition(|path| path == Path::new(STDIN));
    let config = configuration(&cli.common)?;
    let keymap = config.keymap()?;
    let remembers = !cli.common.fresh && !cli.common.demo;
    let folders = Folders::of_user();
    let (memory, forgotten) = folders
        .state_file()
        .filter(|_| remembers)
        .map(Memory::open)
        .unzip();
    let chosen = memory.as_ref().and_then(|m| m.recalled().theme.as_deref());
    let themes = themes(&cli.common, &config, chosen)?;
    let mut ground = ground(&cli.common, &config, &paths)?;
    if !stdin.is_empty() && paths.is_empty() {
        ground.roots.clear();
    }
    let looked_in: Vec<String> = ground
        .roots
        .iter()
        .map(|root| folders.display(root.path()))
        .collect();
    let nothing = || {
        let mut scanner = Scanner::new(ground.roots.clone(), ground.formats.clone(), paths::env);
        cli.paths.is_empty() && scanner.look().files.is_empty()
    };
    let demo = cli.common.demo || nothing();
    let counter = Arc::new(Counter::new());
    let (sender, updates) = tokio::sync::mpsc::channel(UPDATES);
    if let (Some(memory), Some(Some(what))) = (&memory, forgotten) {
        let path = memory.path().to_owned();
        sender.blocking_send(Update::Problem { path, what })?;
    }
    let sink = move |update| match sender.blocking_send(update) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    // Numbers by another rule than the usual one do not go unnamed.
    let by = cli.common.estimator;
    let usual = by == Estimator::default();
    let lasting = if usual {
        String::new()
    } else {
        format!("by {by}: {}", by.rule())
    };
    let found = Arc::new(AtomicBool::new(false));
    let mut banner = lasting.clone();
    if demo {
        let why = if cli.common.demo {
            ""
        } else {
            "no agent logs found: "
        };
        let rule = if usual { "" } else { " · " };
        banner = format!("{why}this is a demo{rule}{lasting}");
        let sink = until(Arc::clone(&found), lasting, sink.clone());
        ingest::demo::start(Arc::clone(&ground.rules), Arc::clone(&counter), sink)?;
    }
    let handle = if cli.common.demo {
        None
    } else {
        let options = ingest::Options {
            formats: ground.formats,
            roots: ground.roots,
            stdin: (!stdin.is_empty()).then(|| Piped {
                source: Box::new(io::stdin()),
                format: ground.forced,
            }),
            rules: Arc::clone(&ground.rules),
            counter,
        };
        let sink = sink.clone();
        let handle = ingest::start(options, move |update| {
            if matches!(update, Update::Found(_)) {
                found.store(true, Ordering::Relaxed);
            }
            sink(update)
        })?;
        Some(Arc::new(handle))
    };
    let reader = handle.clone();
    tui::run(Start {
        rules: ground.rules,
        themes,
        keymap,
        oversized: config.oversized,
        alerts: config.alerts,
        memory,
        looked_in,
        banner,
        now: Box::new(jiff::Timestamp::now),
        updates,
        // The demo's sessions are whole from the start.
        look_at: Box::new(move |file| {
            if let Some(handle) = &handle {
                handle.look_at(file);
            }
        }),
        read_text: Box::new(move |job| match &reader {
            Some(reader) if !ingest::demo::holds(job.request().file) => reader.read_text(job),
            // Where no thread can be had the text stays unread.
            _ => drop(ingest::demo::read_text(job, sink.clone())),
        }),
    })
}

/// A demo's way to the screens: once a log was found it takes its sessions back, and ends.
fn until(
    found: Arc<AtomicBool>,
    lasting: String,
    sink: impl Fn(Update) -> ControlFlow<()>,
) -> impl FnMut(Update) -> ControlFlow<()> {
    let mut files = BTreeSet::new();
    move |update| {
        if found.load(Ordering::Relaxed) {
            for file in std::mem::take(&mut files) {
                sink(Update::Vanished(file))?;
            }
            sink(Update::Banner(lasting.clone()))?;
            return ControlFlow::Break(());
        }
        if let Update::Found(facts) = &update {
            files.insert(facts.file);
        }
        sink(update)
    }
}

/// Updates that may wait for the screens; beyond, the reading waits.
const UPDATES: usize = 256;

/// How things look: as a flag says, else as the environment does, else as it was chosen on screen, else
/// as the configuration has it.
fn themes(common: &Common, config: &Config, chosen: Option<&str>) -> Result<Themes> {
    // The convention of no-color.org: set and not empty.
    let plain = config.no_color || env("NO_COLOR").is_some_and(|value| !value.is_empty());
    let mut themes = if plain && common.theme.is_none() {
        Themes::monochrome()
    } else {
        config::themes(config_path(common).as_deref())?
    };
    if let Some(name) = common.theme.as_deref() {
        themes.choose(name)?;
    } else if !plain {
        if let Some(name) = config.theme.as_deref() {
            themes
                .choose(name)
                .context("`theme` in the configuration")?;
        }
        if let Some(name) = chosen {
            // One that is gone since then is no error.
            let _ = themes.choose(name);
        }
    }
    let glyphs = if common.ascii || config.ascii {
        Glyphs::Ascii
    } else {
        Glyphs::Unicode
    };
    themes.adapt(Depth::of(&env), glyphs, config.fills);
    Ok(themes)
}

/// The configuration's path, whether there is a file or not.
fn config_path(common: &Common) -> Option<PathBuf> {
    let named = common.config.clone();
    named.or_else(|| Folders::of_user().config_file())
}

fn style(json: bool) -> Style {
    if json { Style::Json } else { Style::Text }
}

fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn configuration(common: &Common) -> Result<Config> {
    config::load(
        common.config.as_deref(),
        Folders::of_user().config_file().as_deref(),
    )
}

/// Where to look and for what: the paths given, or the agents' own folders and those of flags and
/// configuration.
fn ground(common: &Common, config: &Config, paths: &[PathBuf]) -> Result<Ground> {
    let all = all_formats(common)?;
    let rules = rules(common, config, &all)?;
    let forced = forced(common, &all)?;
    let mut ground = Ground {
        forced,
        formats: forced.map_or(all, |format| vec![format]),
        roots: Vec::new(),
        rules: Arc::new(rules),
        now: jiff::Timestamp::now,
    };
    if paths.is_empty() {
        ground.roots = usual(&ground.formats, &Folders::of_user(), &env);
        let roots = config.roots.iter().chain(&common.root);
        ground.roots.extend(roots.cloned().map(SearchRoot::Given));
    } else {
        ground.roots = paths
            .iter()
            .map(|path| ground.given(path.clone()))
            .collect();
    }
    Ok(ground)
}

/// What is known of models, by the tables, and the estimator that was asked for.
fn rules(common: &Common, config: &Config, formats: &[&'static Format]) -> Result<Rules> {
    let own = config::own_rules(config, config_path(common).as_deref())?;
    let mut rules = config::rules()?;
    if let Some(own) = own {
        rules = rules.with_own(own).map_err(anyhow::Error::msg)?;
    }
    rules.estimator = common.estimator;
    rules.own = config.own();
    for agent in rules.own.agents() {
        if !formats.iter().any(|format| format.id == agent) {
            bail!(
                "the configuration has a row for the agent '{agent}', which is none; known are: {}",
                report::names(formats)
            );
        }
    }
    Ok(rules)
}

/// All formats, the user's own first: he wrote them for logs that he knows.
fn all_formats(common: &Common) -> Result<Vec<&'static Format>> {
    let mut formats: Vec<&'static Format> = Vec::new();
    for beside in config::mappings(config_path(common).as_deref())? {
        formats.push(read_mapping(&beside)?.into_format());
    }
    formats.extend(agents::ALL);
    Ok(formats)
}

/// The format that the user said everything is of, if he did.
fn forced(common: &Common, formats: &[&'static Format]) -> Result<Option<&'static Format>> {
    let Some(id) = &common.agent else {
        return Ok(None);
    };
    match formats.iter().find(|format| format.id == id) {
        Some(format) => Ok(Some(*format)),
        None => bail!(
            "there is no agent '{id}'; known are: {}",
            report::names(formats)
        ),
    }
}

fn read_mapping(beside: &Beside) -> Result<Mapping> {
    Mapping::read(&beside.name, &beside.text)
        .map_err(anyhow::Error::msg)
        .with_context(|| {
            format!(
                "'{}' is no mapping of a format; mend what it names, and try it by \
                 `ctxgauge agents check LOG --mapping FILE`",
                beside.path.display()
            )
        })
}

/// The mapping of this path, or of this name beside the configuration.
fn named_mapping(common: &Common, path: PathBuf) -> Result<Mapping> {
    let folder = config_path(common).and_then(|file| Some(file.parent()?.join("agents")));
    let beside = folder.map(|folder| folder.join(&path).with_extension("toml"));
    let path = match beside {
        Some(beside) if !path.exists() && beside.exists() => beside,
        _ => path,
    };
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!(
            "cannot read the mapping '{}'; check the path and its permissions",
            path.display()
        )
    })?;
    let name = path.file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    read_mapping(&Beside { path, name, text })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
