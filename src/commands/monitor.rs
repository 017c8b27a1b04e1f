//! Opens the screens, with the threads that feed them.

use super::locale;
use super::setup::{LeftOut, Setup};
use crate::cli::Monitor;
use crate::config::{self, UserThemes};
use crate::files;
use crate::ingest::store::pipe::{self, Piped, STDIN};
use crate::ingest::{self, Handle, demo};
use crate::model::estimators::Estimator;
use crate::model::fleet::Update;
use crate::report::ReportContext;
use crate::tokens::Counter;
use crate::tui::keymap::Keymap;
use crate::tui::runtime::state::StateFile;
use crate::tui::theme::{ColourDepth, Glyphs, Themes};
use crate::tui::{self, Start};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tokio::sync::mpsc::Sender;

/// Updates that may wait for the screens; beyond, the reading of logs waits.
const UPDATES: usize = 256;

/// Opens the screens on the given paths or on all logs; if there are none, on the demo.
pub(super) fn run(setup: &Setup, options: Monitor) -> Result<()> {
    tui::prepare_for_signals();
    let plan = Plan::new(setup, options)?;
    tui::check_output()?;
    tui::run(plan.start()?)
}

/// What the screens are opened with. Nothing runs yet.
pub(super) struct Plan<'s> {
    setup: &'s Setup,
    options: Monitor,
    /// The named pipe, or standard input, that is read.
    pipe: Option<PathBuf>,
    context: ReportContext,
    keymap: Keymap,
    themes: Themes,
    state_file: Option<StateFile>,
    problems: Vec<(PathBuf, String)>,
}

impl Plan<'_> {
    /// Reads what is saved, and checks options and configuration.
    pub(super) fn new(setup: &Setup, options: Monitor) -> Result<Plan<'_>> {
        let is_piped = |path: &PathBuf| path == Path::new(STDIN) || files::is_pipe(path);
        let (mut pipes, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            options.paths.iter().cloned().partition(is_piped);
        pipes.dedup();
        if pipes.len() > 1 {
            bail!("only one log can come through a pipe; save the others to files");
        }
        let keymap = setup.config.keymap()?;
        let path = setup.user.folders.state_file();
        let (state_file, broken) = path
            .filter(|_| !options.fresh && !options.demo)
            .map(StateFile::open)
            .unzip();
        let chosen = state_file
            .as_ref()
            .and_then(|f| f.loaded().theme.as_deref());
        let UserThemes { themes, left_out } = themes(setup, &options, chosen)?;
        let mut context = setup.context_of(&paths, &options.logs, &options.estimate)?;
        context.rules.earlier.count_at_once();
        if !pipes.is_empty() && paths.is_empty() {
            context.roots.clear();
        }
        let broken = broken.flatten().into_iter();
        let broken = broken.zip(state_file.as_ref().map(|file| file.path().to_owned()));
        let mut problems: Vec<(PathBuf, String)> =
            broken.map(|(what, path)| (path, what)).collect();
        let mappings = setup.left_out.iter();
        let mappings = mappings.map(|LeftOut { path, error, .. }| (path, error));
        let left_out = mappings.chain(left_out.iter().map(|(path, error)| (path, error)));
        problems.extend(
            left_out.map(|(path, error)| (path.clone(), format!("it is left out: {error:#}"))),
        );
        problems.extend(setup.problems());
        Ok(Plan {
            setup,
            pipe: pipes.pop(),
            options,
            context,
            keymap,
            themes,
            state_file,
            problems,
        })
    }

    /// Starts the threads that read logs or play the demo.
    pub(super) fn start(self) -> Result<Start> {
        let Plan {
            setup,
            options,
            context,
            ..
        } = self;
        locale::check_terminal(&setup.user.env)?;
        let roots = context.roots.iter();
        let looked_in = roots.map(|root| setup.user.folders.display(root.path()));
        let looked_in: Vec<String> = looked_in.collect();
        let rules = Arc::clone(&context.rules);
        let counter = Arc::new(Counter::for_estimator(rules.estimator));
        let (sender, updates) = tokio::sync::mpsc::channel(UPDATES);
        let estimator = estimator_note(options.estimate.estimator.unwrap_or_default());
        let found = Arc::new(AtomicBool::new(false));
        let banner = match options.demo {
            true => demo_banner(options.demo, &estimator),
            false => estimator.clone(),
        };
        let show_demo = {
            let sink = until_found(
                Arc::clone(&found),
                estimator.clone(),
                to_screens(sender.clone()),
            );
            let (rules, counter) = (Arc::clone(&rules), Arc::clone(&counter));
            move || demo::start(rules, counter, sink)
        };
        let vocabulary = Arc::clone(&counter);
        let handle = if options.demo {
            show_demo()?;
            None
        } else {
            let piped = match &self.pipe {
                Some(path) => pipe::named(path, context.forced)
                    .with_context(|| format!("cannot read '{}'", path.display()))?,
                None => None,
            };
            let sink = to_screens(sender.clone());
            let tell = sink.clone();
            let nothing_found = move || {
                tell(Update::Banner(demo_banner(false, &estimator)))?;
                // If no thread can be started, there is no demo.
                drop(show_demo());
                ControlFlow::Continue(())
            };
            let nothing_found = options.paths.is_empty().then_some(nothing_found);
            let handle = read_logs(context, piped, counter, found, nothing_found, sink)?;
            Some(Arc::new(handle))
        };
        let (reader, reader_of_texts) = (handle.clone(), handle.clone());
        Ok(Start {
            rules,
            themes: self.themes,
            keymap: self.keymap,
            oversized: setup.config.oversized,
            alerts: setup.config.alerts.clone(),
            state_file: self.state_file,
            looked_in,
            banner,
            env: setup.user.env.clone(),
            problems: self.problems,
            now: Box::new(jiff::Timestamp::now),
            updates,
            // The demo's sessions are complete from the start.
            look_at: Box::new(move |file| {
                if let Some(handle) = &handle {
                    handle.look_at(file);
                }
            }),
            read_text: Box::new(move |job| match &reader {
                Some(reader) if !demo::holds(job.request().file) => reader.read_text(job),
                // If no thread can be started, the text stays unread.
                _ => drop(demo::read_text(job, to_screens(sender.clone()))),
            }),
            need_texts: Box::new(move |files| {
                if let Some(handle) = &reader_of_texts {
                    handle.need_texts(files);
                }
            }),
            // An idle monitor needs no vocabulary; a user who opens a session does not wait for it.
            prepare_to_count: Box::new(move || {
                let load = move || vocabulary.warm_up();
                // If no thread can be started, the first count loads it.
                drop(thread::Builder::new().name("vocabulary".into()).spawn(load));
            }),
            is_invented: demo::holds,
        })
    }
}

/// Passes updates on to the screens, as long as they are open.
fn to_screens(
    sender: Sender<Update>,
) -> impl Fn(Update) -> ControlFlow<()> + Clone + Send + Sync + 'static {
    move |update| match sender.blocking_send(update) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Starts to read and follow logs. `found` is set once there is one. `nothing_found` is called if there is none
/// after the first look.
fn read_logs(
    context: ReportContext,
    piped: Option<Piped>,
    counter: Arc<Counter>,
    found: Arc<AtomicBool>,
    mut nothing_found: Option<impl FnOnce() -> ControlFlow<()> + Send + 'static>,
    sink: impl Fn(Update) -> ControlFlow<()> + Clone + Send + Sync + 'static,
) -> std::io::Result<Handle> {
    let options = ingest::Options {
        formats: context.formats,
        roots: context.roots,
        user: context.user,
        stdin: piped,
        rules: context.rules,
        counter,
        cache: context.cache,
    };
    ingest::start(options, move |update| {
        if matches!(update, Update::Found(_)) {
            found.store(true, Ordering::Relaxed);
        }
        let all_found = matches!(update, Update::InitialScanDone);
        sink(update)?;
        let nothing_found = nothing_found.take_if(|_| all_found);
        match nothing_found.filter(|_| !found.load(Ordering::Relaxed)) {
            Some(nothing_found) => nothing_found(),
            None => ControlFlow::Continue(()),
        }
    })
}

/// Says so if the numbers are not those of the default estimator.
fn estimator_note(estimator: Estimator) -> String {
    match estimator == Estimator::default() {
        true => String::new(),
        false => format!("by {estimator}: {}", estimator.rule()),
    }
}

fn demo_banner(wanted: bool, note: &str) -> String {
    let why = if wanted { "" } else { "no agent logs found: " };
    let separator = if note.is_empty() { "" } else { " · " };
    format!("{why}this is a demo{separator}{note}")
}

/// Passes the demo's updates on until a log is found; then removes the demo's sessions and ends.
fn until_found(
    found: Arc<AtomicBool>,
    banner: String,
    sink: impl Fn(Update) -> ControlFlow<()>,
) -> impl FnMut(Update) -> ControlFlow<()> {
    let mut files = BTreeSet::new();
    move |update| {
        if found.load(Ordering::Relaxed) {
            for file in std::mem::take(&mut files) {
                sink(Update::Vanished(file))?;
            }
            sink(Update::Banner(banner.clone()))?;
            return ControlFlow::Break(());
        }
        if let Update::Found(facts) = &update {
            files.insert(facts.file);
        }
        sink(update)
    }
}

/// The themes, one of them selected: by option, else by the environment, else as chosen on screen, else by
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
            // It may have been removed since.
            let _ = themes.choose(name);
        }
    }
    let glyphs = match options.ascii || config.ascii || locale::is_ascii(&setup.user.env) {
        true => Glyphs::Ascii,
        false => Glyphs::Unicode,
    };
    let all = &mut themes.themes;
    all.adapt(
        ColourDepth::of(&|name| setup.user.env.get(name)),
        glyphs,
        config.fills,
    );
    Ok(themes)
}
