//! The monitor: its options, and the screens with the threads that feed them.

mod hand_out;
mod logs;
mod search;

use super::options::{MonitorOptions, Redact, check_paths};
use super::setup::{RejectedMapping, Setup};
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
use tui::keymap::Keymap;
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
    let plan = Plan::new(setup, options)?;
    tui::check_output()?;
    tui::run(plan.start()?)
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

/// The settings of the screens. Nothing runs yet.
pub(super) struct Plan<'s> {
    setup: &'s Setup,
    options: Monitor,
    /// The named pipe, or standard input, that is read.
    pipe: Option<PathBuf>,
    /// The other machines.
    hosts: Vec<Host>,
    context: ReportContext,
    /// The session that opens at once.
    open: Option<OpenedFirst>,
    keymap: Keymap,
    themes: Themes,
    state_file: Option<StateFile>,
    problems: Vec<(PathBuf, String)>,
}

impl Plan<'_> {
    /// Reads what is saved, and checks options and configuration.
    pub(super) fn new(setup: &Setup, mut options: Monitor) -> Result<Plan<'_>> {
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
        let open = match &options.session {
            Some(wanted) => {
                let (log, id) = place_of(&context, wanted)?;
                Some(OpenedFirst { log, id })
            }
            None => named_log(&options.paths).map(|log| OpenedFirst { log, id: None }),
        };
        let mut problems = Vec::new();
        if let (Some(file), Some(what)) = (&state_file, broken.flatten()) {
            problems.push((file.path.clone(), what));
        }
        let left_out = left_out.iter().map(|(path, error)| (path, error));
        for (path, error) in setup
            .left_out
            .iter()
            .map(RejectedMapping::reason)
            .chain(left_out)
        {
            problems.push((path.clone(), format!("it is left out: {error:#}")));
        }
        problems.extend(setup.problems());
        Ok(Plan {
            setup,
            pipe: pipes.pop(),
            hosts,
            options,
            context,
            open,
            keymap,
            themes,
            state_file,
            problems,
        })
    }

    /// Starts the threads that read logs or play the demo.
    pub(super) fn start(self) -> Result<Start> {
        let setup = self.setup;
        locale::check_terminal(&setup.user.env)?;
        let looked_in = self
            .context
            .roots
            .iter()
            .map(|root| setup.user.folders.display(root.path()))
            .collect();
        let rules = Arc::clone(&self.context.rules);
        let (sender, updates) = tokio::sync::mpsc::channel(WAITING_UPDATES);
        let demo = Demo::new(Arc::clone(&rules), sender);
        let (banner, logs): (String, Box<dyn Logs>) = if self.options.demo {
            demo.play()?;
            (Demo::banner(""), Box::new(demo))
        } else {
            let piped = match &self.pipe {
                Some(path) => pipe::named(path, self.context.forced)
                    .with_context(|| format!("cannot read '{}'", path.display()))?,
                None => None,
            };
            let or_demo = self.options.paths.is_empty() && self.hosts.is_empty();
            let followed = FollowedLogs::start(self.context, piped, demo, or_demo, self.hosts)?;
            (String::new(), Box::new(followed))
        };
        Ok(Start {
            rules,
            themes: self.themes,
            keymap: self.keymap,
            oversized: setup.config.oversized,
            alerts: setup.config.alerts.clone(),
            state_file: self.state_file,
            open: self.open,
            looked_in,
            banner,
            env: setup.user.env.clone(),
            problems: self.problems,
            now: Box::new(jiff::Timestamp::now),
            zone: locale::zone(&setup.user.env),
            updates,
            logs,
        })
    }
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

/// Returns the log whose session opens at once: the path that the user named, if it is one file.
fn named_log(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [path] if path.is_file() => Some(path.clone()),
        _ => None,
    }
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
