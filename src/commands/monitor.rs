//! The monitor: its options, and the screens with the threads that feed them.

mod hand_out;
mod logs;
mod search;

use super::options::{MonitorOptions, Redact, check_paths};
use super::setup::Setup;
use super::{Call, locale};
use crate::config::{self, UserThemes};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use hosts::Host;
use hosts::host::SCHEME;
use ingest::store::pipe::{self, STDIN};
use logs::{Demo, FollowedLogs};
use model::values::threshold::OVERSIZED;
use report::follow::PlainLines;
use report::session::place_of;
use report::{Charset, ReportContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tui::runtime::state::StateFile;
use tui::theme::{ColourDepth, Themes};
use tui::{self, Logs, OpenedFirst, Start};

/// The most updates that wait for the screens. With more, the reading of logs waits.
const WAITING_UPDATES: usize = 256;

/// Options of the monitor.
#[derive(Debug, Default, PartialEq, Args)]
pub struct Monitor {
    /// Log files or folders to watch; `-` reads standard input; `ssh://HOST` adds the sessions of another machine.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Open this session, by its id, the beginning or end of it, its name or a part of its title; `ctxgauge ls` lists
    /// them.
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["demo", "plain"])]
    pub session: Option<String>,
    /// The options that commands have as well.
    #[command(flatten)]
    pub shared: MonitorOptions,
    /// Use this theme: terminal, dark, light, colour-blind, monochrome, or one of your own.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Play the built-in demo instead of reading logs.
    #[arg(long)]
    pub demo: bool,
    /// Print a line for each important change instead of drawing screens: for screen readers, slow lines and pipes.
    #[arg(long, conflicts_with = "demo")]
    pub plain: bool,
}

impl Monitor {
    /// Returns the first path or option that is given, as it is written.
    pub(super) fn first_set(&self) -> Option<String> {
        let path = self
            .paths
            .first()
            .map(|path| format!("'{}'", path.display()));
        let options = [
            ("--root", !self.shared.logs.root.is_empty()),
            ("--agent", self.shared.logs.only.agent.is_some()),
            ("--ascii", self.shared.ascii),
            ("--theme", self.theme.is_some()),
            ("--session", self.session.is_some()),
            ("--fresh", self.shared.fresh),
            ("--demo", self.demo),
            ("--plain", self.plain),
        ];
        let option = options.into_iter().find(|(_, is_set)| *is_set);
        path.or(option.map(|(name, _)| name.to_owned()))
    }
}

/// Opens the screens on the given paths or on all logs; if there are none, on the demo.
pub(super) fn run(setup: &Setup, options: Monitor) -> Result<()> {
    tui::prepare_for_signals();
    tui::run(start(setup, options, tui::check_output)?)
}

/// Prints the changes of all sessions as lines for people.
pub(super) fn in_words(setup: &Setup, mut options: Monitor, call: &mut Call<'_>) -> Result<()> {
    let hosts = hosts(setup, &mut options)?;
    check_paths(&options.paths)?;
    let context = setup.context_of(&options.paths, &options.shared.logs, Redact::OFF)?;
    let config = &setup.config;
    let is_ascii = options.shared.ascii || config.ascii || locale::is_ascii(&setup.user.env);
    let lines = PlainLines::new(
        context.zone.clone(),
        Charset::ascii_if(is_ascii),
        config.oversized.unwrap_or(OVERSIZED),
    );
    super::follow::in_words(call, context, lines, hosts)
}

/// Reads what is saved, checks options, configuration and terminal, and starts the threads that read logs or play the demo.
pub(super) fn start(
    setup: &Setup,
    mut options: Monitor,
    check_output: fn() -> Result<()>,
) -> Result<Start> {
    let hosts = hosts(setup, &mut options)?;
    let is_piped = |path: &PathBuf| path == Path::new(STDIN) || files::is_pipe(path);
    let (mut pipes, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        options.paths.iter().cloned().partition(is_piped);
    pipes.dedup();
    check_paths(&paths)?;
    if pipes.len() > 1 {
        bail!("only one log can come through a pipe; save the others to files");
    }
    let keymap = setup.config.keymap()?;
    let path = setup.user.folders.state_file();
    let (state_file, broken) = path
        .filter(|_| !options.shared.fresh && !options.demo)
        .map(StateFile::open)
        .unzip();
    let chosen = state_file.as_ref().and_then(|f| f.loaded.theme.as_deref());
    let UserThemes { themes, left_out } = themes(setup, &options, chosen)?;
    let mut context = setup.context_of(&paths, &options.shared.logs, Redact::OFF)?;
    context.rules.earlier.count_at_once();
    if !pipes.is_empty() && paths.is_empty() {
        context.roots.clear();
    }
    let open = opened_first(&context, &options)?;
    let state_path = state_file.as_ref().map(|file| file.path.clone());
    let mut problems: Vec<_> = state_path.zip(broken.flatten()).into_iter().collect();
    let left_out = setup.left_out.iter().chain(&left_out);
    problems
        .extend(left_out.map(|(path, error)| (path.clone(), format!("it is left out: {error:#}"))));
    problems.extend(setup.problems());
    check_output()?;
    locale::check_terminal(&setup.user.env)?;
    let looked_in = context.roots.iter();
    let looked_in = looked_in.map(|root| setup.user.folders.display(root.path()));
    let looked_in = looked_in.collect();
    let rules = Arc::clone(&context.rules);
    let (sender, updates) = tokio::sync::mpsc::channel(WAITING_UPDATES);
    let demo = Demo::new(Arc::clone(&rules), sender);
    let or_demo = options.paths.is_empty() && hosts.is_empty();
    let (banner, logs): (String, Box<dyn Logs>) = if options.demo {
        demo.play()?;
        (Demo::banner(""), Box::new(demo))
    } else {
        let piped = pipes.pop().map(|path| {
            let piped = pipe::named(&path, context.forced);
            piped.with_context(|| format!("cannot read '{}'", path.display()))
        });
        let piped = piped.transpose()?.flatten();
        let followed = FollowedLogs::start(context, piped, demo, or_demo, hosts)?;
        (String::new(), Box::new(followed))
    };
    Ok(Start {
        rules,
        themes,
        keymap,
        oversized: setup.config.oversized,
        alerts: setup.config.alerts.clone(),
        state_file,
        open,
        looked_in,
        banner,
        env: setup.user.env.clone(),
        problems,
        now: Box::new(jiff::Timestamp::now),
        zone: locale::zone(&setup.user.env),
        updates,
        logs,
    })
}

/// Takes the machines out of the paths. Without paths, those of the configuration are there too; paths are all that the
/// user wants to see.
fn hosts(setup: &Setup, options: &mut Monitor) -> Result<Vec<Host>> {
    let is_host = |path: &PathBuf| path.to_str().is_some_and(|path| path.starts_with(SCHEME));
    let paths = std::mem::take(&mut options.paths);
    let (named, paths): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_host);
    options.paths = paths;
    let configured = setup.config.hosts.iter().map(String::as_str);
    let configured = configured.filter(|_| options.paths.is_empty() && !options.demo);
    let named = named.iter().filter_map(|path| path.to_str());
    let mut hosts = Vec::new();
    for name in named.chain(configured) {
        let host = Host::read(name);
        let host = host.map_err(|why| anyhow!("'{name}' is no other machine: {why}"))?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Returns the session that opens at once: the one that the user named, or that of the only path, if it is a file.
fn opened_first(context: &ReportContext, options: &Monitor) -> Result<Option<OpenedFirst>> {
    let (log, id) = match (&options.session, &options.paths[..]) {
        (Some(wanted), _) => place_of(context, wanted)?,
        (None, [path]) if path.is_file() => (path.clone(), None),
        _ => return Ok(None),
    };
    Ok(Some(OpenedFirst { log, id }))
}

/// Returns the themes, one of them selected. The first that names a theme decides: the option, the choice on screen,
/// the configuration.
fn themes(setup: &Setup, options: &Monitor, chosen: Option<&str>) -> Result<UserThemes> {
    let config = &setup.config;
    // The convention of no-color.org: set and not empty.
    let plain = config.no_color || setup.user.env.get("NO_COLOR").is_some();
    let mut themes = if plain && options.theme.is_none() {
        UserThemes {
            themes: Themes::monochrome(),
            left_out: Vec::new(),
        }
    } else {
        config::themes(setup.file.as_deref())?
    };
    if let Some(name) = options.theme.as_deref() {
        themes.choose(name)?;
    } else if !plain {
        if let Some(name) = config.theme.as_deref() {
            let chosen = themes.choose(name);
            chosen.context("`theme` in the configuration")?;
        }
        if let Some(name) = chosen {
            // The theme may have been removed since.
            let _ = themes.choose(name);
        }
    }
    let is_ascii = options.shared.ascii || config.ascii || locale::is_ascii(&setup.user.env);
    let all = &mut themes.themes;
    all.adapt(
        ColourDepth::of(&|name| setup.user.env.get(name)),
        Charset::ascii_if(is_ascii),
        config.fills,
    );
    Ok(themes)
}
