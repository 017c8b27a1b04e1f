//! The event loop: keys, updates and frames, and the effects that they request.

mod clipboard;
mod console;
mod effects;
mod events;
mod input;
mod logs;
mod notify;
mod pacer;
pub mod painter;
mod pending;
mod program;
mod running_search;
mod signals;
pub mod state;
mod terminal;
mod tmux;

use crate::app::{App, Effect, FindingsResult, HandOutResult, Msg};
use crate::keymap::Keymap;
use crate::paint::HitMap;
use crate::theme::Themes;
use crate::views;
use anyhow::Context;
use console::Tty;
pub use console::{Console, ConsoleEvent};
use events::message;
use files::paths::Env;
use ingest::IngestEvent;
use jiff::Timestamp;
use jiff::tz::TimeZone;
pub use logs::Logs;
use model::due::alerts::Alerts;
use model::lists::sessions::Sessions;
use model::values::threshold::Threshold;
use model::window::Rules;
use notify::{Notifier, Route};
use pacer::Pacer;
use painter::Painter;
use pending::Pending;
use program::Opening;
pub use program::pager;
pub use running_search::Finder;
use running_search::RunningSearch;
use signals::Signals;
pub use signals::{EndedBy, Signal, when_ended};
use state::{State, StateFile};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terminal::Output;
use tokio::sync::mpsc::Receiver;
use tokio::time;

/// If this variable is set, each frame ends with the number of keys that it has consumed, as an OSC that terminals
/// ignore. Tests of the whole program wait for it.
const SYNC_VARIABLE: &str = "CTXGAUGE_SYNC";

/// The time for which queued updates are handled before keys are checked.
const UPDATE_TIME: Duration = Duration::from_millis(4);

/// The session that is shown first.
#[derive(Debug)]
pub struct OpenedFirst {
    /// Its log.
    pub log: PathBuf,
    /// Its id, if its log has several sessions; `None`: it is the only one, or the main one.
    pub id: Option<String>,
}

/// Everything that the screens are started with.
pub struct Start {
    /// The models table.
    pub rules: Arc<Rules>,
    /// The themes.
    pub themes: Themes,
    /// The keys.
    pub keymap: Keymap,
    /// The size from which an item is oversized; none: the default.
    pub oversized: Option<Threshold>,
    /// The alerts that the user has configured.
    pub alerts: Alerts,
    /// The saved state; none: nothing is loaded or saved.
    pub state_file: Option<StateFile>,
    /// The session that is shown as soon as it is found; none: the list of sessions.
    pub open: Option<OpenedFirst>,
    /// The folders that are searched for logs, for the empty list.
    pub looked_in: Vec<String>,
    /// A line above everything, for a demo; may be empty.
    pub banner: String,
    /// The user's environment.
    pub env: Env,
    /// The problems of the configuration and the saved state: a path and a sentence each.
    pub problems: Vec<(PathBuf, String)>,
    /// The time.
    pub now: Box<dyn Fn() -> Timestamp + Send>,
    /// The zone of the user's clock.
    pub zone: TimeZone,
    /// The events of the readers of the logs. The channel is bounded, so that the ingest waits for the screens.
    pub updates: Receiver<IngestEvent>,
    /// The logs that the updates are about.
    pub logs: Box<dyn Logs>,
}

/// Prepares for the signals of job control. Call it before any thread is started.
pub fn prepare_for_signals() {
    signals::block_stops();
}

/// Checks that there is a terminal to show screens on.
///
/// # Errors
///
/// If standard output is no terminal.
pub fn check_output() -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        return Ok(());
    }
    anyhow::bail!("the monitor needs a terminal; use `ctxgauge ls` or `ctxgauge report` instead")
}

/// Runs the screens until the user or the system ends them.
///
/// # Errors
///
/// [`EndedBy`] if a signal ended them; if standard output is no terminal, or the terminal fails.
pub fn run(start: Start) -> anyhow::Result<()> {
    check_output()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("could not start the event loop")?;
    runtime.block_on(async {
        let signals = Signals::listen().context("could not listen for signals")?;
        terminal::exit_when_blocked().context("could not watch for signals")?;
        run_on(start, Tty::new(signals), BufWriter::new(Output)).await
    })
}

/// Runs the screens on a console. `out` gets what is written to its terminal.
///
/// # Errors
///
/// [`EndedBy`] if a signal ended them; if the terminal fails.
pub async fn run_on<C: Console, W: Write>(start: Start, console: C, out: W) -> anyhow::Result<()> {
    Screens::open(start, console, out)?.run().await
}

struct Screens<C, W: Write> {
    app: App,
    themes: Themes,
    first: FirstTheme,
    state_file: Option<StateFile>,
    now: Box<dyn Fn() -> Timestamp + Send>,
    updates: Receiver<IngestEvent>,
    logs: Box<dyn Logs>,
    env: Env,
    console: C,
    painter: Painter<W>,
    keys: Keys,
    pacer: Pacer,
    notifier: Notifier,
    /// The program that takes over the terminal once its file is written, or why that failed.
    opening: Pending<Result<Opening, String>>,
    writing: Pending<HandOutResult>,
    finding: Pending<FindingsResult>,
    /// The copy that tmux takes, and what is said of it then.
    copying: Pending<String>,
    searching: RunningSearch,
    /// The search for the words of the list's filter.
    filtering: RunningSearch,
}

/// The keys that were handled, counted for [`SYNC_VARIABLE`].
#[derive(Debug, Default)]
struct Keys {
    handled: u64,
    /// The number of keys that the last mark named; `None`: no marks are wanted.
    marked: Option<u64>,
}

/// The theme that the screens were started with.
#[derive(Debug)]
struct FirstTheme {
    name: String,
    remembered: Option<String>,
}

impl FirstTheme {
    /// Returns the theme to save while this one is active: one from a flag or the environment is for this run only, one
    /// chosen by key is for the next runs too.
    fn after(&self, name: &str) -> Option<String> {
        if self.name == name {
            self.remembered.clone()
        } else {
            Some(name.to_owned())
        }
    }
}

/// Shows whether the loop continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    End,
    EndBy(EndedBy),
}

impl<C: Console, W: Write> Screens<C, W> {
    fn open(start: Start, console: C, out: W) -> anyhow::Result<Screens<C, W>> {
        let mut app = App::new(Sessions::new(start.rules), (start.now)());
        app.looked_in = start.looked_in;
        app.banner = start.banner;
        app.zone = start.zone;
        app.keymap = start.keymap;
        app.usual_oversized = start.oversized.unwrap_or(app.usual_oversized);
        let route = Route::of(&|name| start.env.get(name));
        app.is_in_tmux = route == Route::Tmux;
        let notifier = Notifier::new(&start.alerts, route);
        app.set_alerts(start.alerts);
        if let Some(file) = &start.state_file {
            app.recall(&file.loaded.screens);
            app.is_first_start = file.is_new;
        }
        if let Some(OpenedFirst { log, id }) = start.open {
            app.open_once_found(&log, id.as_deref());
        }
        for (path, what) in start.problems {
            app.update(Msg::Problem { path, what });
        }
        let (columns, rows) = console.size().context("the terminal has no size")?;
        app.update(Msg::Resize(columns, rows));
        let mut screens = Screens {
            app,
            first: FirstTheme {
                name: start.themes.name().to_owned(),
                remembered: start
                    .state_file
                    .as_ref()
                    .and_then(|file| file.loaded.theme.clone()),
            },
            themes: start.themes,
            state_file: start.state_file,
            now: start.now,
            updates: start.updates,
            logs: start.logs,
            keys: Keys {
                handled: 0,
                marked: start.env.get(SYNC_VARIABLE).map(|_| 0),
            },
            env: start.env,
            console,
            painter: Painter::new(out),
            pacer: Pacer::default(),
            notifier,
            opening: Pending::default(),
            writing: Pending::default(),
            finding: Pending::default(),
            copying: Pending::default(),
            searching: RunningSearch::default(),
            filtering: RunningSearch::default(),
        };
        let state = screens.state();
        if let Some(file) = &mut screens.state_file {
            file.set_saved(state);
        }
        Ok(screens)
    }

    async fn run(mut self) -> anyhow::Result<()> {
        let end = self.follow().await;
        let state = self.state();
        if let Some(file) = &mut self.state_file {
            // There is no screen to report an error on, and little is lost.
            let _ = file.save(state);
        }
        end
    }

    async fn follow(&mut self) -> anyhow::Result<()> {
        let entered = self.console.enter().await;
        if let Some(by) = entered.context("could not set up the terminal")? {
            return Err(by.into());
        }
        self.draw()?;
        // This frame is empty; the first sessions come within milliseconds.
        self.pacer.expect(now());
        let mut dirty = false;
        let mut has_updates = true;
        loop {
            // Sleep until a frame is due, or until an age on screen changes.
            let wake = if dirty {
                Some(self.pacer.due(now()))
            } else {
                self.app.next_change().map(|wait| now() + wait)
            };
            let next = tokio::select! {
                biased;
                happening = self.console.next() => match happening {
                    ConsoleEvent::Signal(signal) => self.handle_signal(signal).await?,
                    ConsoleEvent::Event(event) => match message(event) {
                        Some(msg) => self.handle_input(msg)?,
                        None => continue,
                    },
                    ConsoleEvent::Gone => Next::EndBy(EndedBy::HANGUP),
                },
                opening = self.opening.made() => {
                    let ended = || Err("could not read the text: the log no longer exists".to_owned());
                    match opening.unwrap_or_else(ended) {
                        Ok(opening) => self.run_program(opening).await?,
                        Err(why) => self.say(why),
                    }
                }
                made = self.writing.made() => match made {
                    Some(HandOutResult::Copy(text)) => self.perform(Effect::Copy(text))?,
                    Some(HandOutResult::Said(said)) => self.say(said),
                    None => self.say("nothing was written: no thread could be started".to_owned()),
                },
                made = self.finding.made() => {
                    let failed = || Err("no thread could be started".to_owned());
                    self.app.update(Msg::Findings(made.unwrap_or_else(failed)));
                    Next::Go
                }
                said = self.copying.made() => self.say(said.unwrap_or_default()),
                news = self.searching.news() => {
                    let next = self.handle_all(Msg::Search(news), |screens| {
                        screens.searching.next_news().map(Msg::Search)
                    })?;
                    // The task that reads keys runs in between.
                    tokio::task::yield_now().await;
                    next
                }
                news = self.filtering.news() => {
                    self.app.take_filter_news(&news);
                    tokio::task::yield_now().await;
                    Next::Go
                }
                problem = self.notifier.problem() => {
                    self.app.update(problem);
                    Next::Go
                }
                () = sleep_until(wake) => {
                    self.draw()?;
                    self.save();
                    dirty = false;
                    continue;
                }
                update = self.updates.recv()  , if has_updates => {
                    match update {
                        Some(update) => {
                            let next = self.handle_all(update.into(), |screens| {
                                screens.updates.try_recv().ok().map(Msg::from)
                            })?;
                            // The task that reads keys runs in between.
                            tokio::task::yield_now().await;
                            next
                        }
                        None => {
                            has_updates = false;
                            Next::Go
                        }
                    }
                }
            };
            match next {
                Next::Go => dirty = true,
                Next::End => return Ok(()),
                Next::EndBy(signal) => return Err(signal.into()),
            }
        }
    }

    /// Shows a message.
    fn say(&mut self, what: String) -> Next {
        self.app.notify(what);
        Next::Go
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        let begun = now();
        self.app.prepare((self.now)());
        if let Some(file) = self.app.take_rested() {
            self.logs.look_at(file);
        }
        if let Some(request) = self.app.take_filter_search() {
            self.filtering.begin(&*self.logs, request);
        } else if !self.app.filters_messages() {
            self.filtering.end();
        }
        if let Some(request) = self.app.take_findings_request() {
            self.logs.find(request, self.finding.begin());
        }
        let (app, theme) = (&self.app, self.themes.theme());
        let mut hits = HitMap::default();
        self.painter
            .paint(app.ui.size, |buffer| hits = views::draw(app, theme, buffer))
            .context("could not write to the terminal")?;
        self.app.hits = hits;
        self.pacer.drawn(begun, now());
        self.mark_keys()?;
        self.send_alerts()
    }

    /// Sends the alerts of this frame to the other channels. A demo's alerts stay on screen.
    fn send_alerts(&mut self) -> anyhow::Result<()> {
        let mut alerts = self.app.take_alerts();
        alerts.retain(|alert| !self.logs.is_invented(alert.session.file));
        if alerts.is_empty() {
            return Ok(());
        }
        self.notifier
            .send(&alerts, &mut self.painter.backend)
            .context("could not write to the terminal")
    }

    /// Returns the state to save.
    fn state(&self) -> State {
        State {
            theme: self.first.after(self.themes.name()),
            screens: self.app.remember(),
        }
    }

    /// Saves the state from time to time. A failure is reported once.
    fn save(&mut self) {
        let state = self.state();
        let Some(file) = &mut self.state_file else {
            return;
        };
        if let Err(error) = file.save_at(state, now()) {
            let path = file.path.clone();
            let what = format!("could not save the screen settings: {error}");
            self.state_file = None;
            self.app.update(Msg::Problem { path, what });
        }
    }

    /// Handles a message and those queued behind it, for as long as keys can wait.
    fn handle_all(
        &mut self,
        first: Msg,
        next: impl Fn(&mut Self) -> Option<Msg>,
    ) -> anyhow::Result<Next> {
        let begun = now();
        let mut waiting = Some(first);
        while let Some(msg) = waiting {
            let effect = self.app.update(msg);
            match self.perform(effect)? {
                Next::Go => {}
                end => return Ok(end),
            }
            let has_time = now().duration_since(begun) < UPDATE_TIME;
            waiting = if has_time { next(self) } else { None };
        }
        Ok(Next::Go)
    }

    async fn handle_signal(&mut self, signal: Signal) -> anyhow::Result<Next> {
        let ended = match signal {
            Signal::End(by) | Signal::Interrupt(by) => Some(by),
            Signal::Stop => self.console.suspend().await?,
            Signal::Continued => self.console.enter().await?,
        };
        if let Some(by) = ended {
            return Ok(Next::EndBy(by));
        }
        self.reset_terminal();
        Ok(Next::Go)
    }

    /// Writes how many keys the last frame has consumed, if that is wanted and new.
    fn mark_keys(&mut self) -> anyhow::Result<()> {
        let Keys { handled, marked } = &mut self.keys;
        match marked {
            Some(last) if *last < *handled => *last = *handled,
            _ => return Ok(()),
        }
        let out = &mut self.painter.backend;
        write!(out, "\x1b]7777;{handled}\x07")
            .and_then(|()| out.flush())
            .context("could not write to the terminal")
    }

    /// Handles what the user does. Its frame is drawn as soon as no more input waits.
    fn handle_input(&mut self, msg: Msg) -> anyhow::Result<Next> {
        self.pacer.draw_soon();
        self.keys.handled += u64::from(matches!(msg, Msg::Key(_)));
        // Keys act on the current state, not on the last frame.
        self.app.catch_up((self.now)());
        let effect = self.app.update(msg);
        self.perform(effect)
    }
}

/// Returns the time of tokio's clock: tests can stop it.
fn now() -> Instant {
    time::Instant::now().into_std()
}

/// Waits until this time; without one, forever. It is ready at once if the time has come: a timer would wait up to a
/// millisecond for its next tick, in which updates would be handled before the frame.
async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) if wake <= now() => {}
        Some(wake) => time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_is_remembered_where_a_key_chose_it() {
        let first = |remembered: Option<&str>| FirstTheme {
            name: "dark".to_owned(),
            remembered: remembered.map(str::to_owned),
        };
        assert_eq!(first(None).after("dark"), None);
        assert_eq!(first(None).after("light"), Some("light".to_owned()));
        assert_eq!(first(Some("light")).after("dark"), Some("light".to_owned()));
    }
}
