//! The audit: how good the numbers are, on one's own logs. Replays each log, predicts every request's
//! prompt before its report by each estimator, and sets the errors side by side.

mod summary;
mod text;
mod worst;

use super::{Ground, Style, all_named_were_read, names, text::clean};
use crate::ingest::discover::{LogFile, Scanner};
use crate::ingest::reader::read_whole;
use crate::model::estimators::{Estimator, Prediction, predictions};
use crate::model::event::{Key, Lane};
use crate::model::forecast::{BacktestSummary, Point, backtest};
use crate::model::window::Rules;
use crate::paths;
use crate::tokens::Counter;
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};
use summary::{Summary, Tally};
use worst::Miss;

/// Logs are read by so many threads: the tokenizer keeps one busy, the reading of files the other.
const THREADS: usize = 2;
/// How often the line of progress changes.
const TICK: Duration = Duration::from_millis(100);

/// Whether a line on standard error tells how far the audit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nobody looks.
    Silent,
    /// Standard error is a terminal.
    Shown,
}

/// What an audit found: the schema `ctxgauge.audit/1`.
struct Audit {
    logs: usize,
    all: Summary,
    /// Sessions that no other one started.
    main: Summary,
    /// By agent and model.
    groups: BTreeMap<(&'static str, String), Summary>,
    agents: BTreeMap<&'static str, Summary>,
    models: BTreeMap<String, Summary>,
    /// The forecast against the logs' own compactions; none took place: `None`.
    forecast: Option<BacktestSummary>,
    by: Estimator,
    worst: Vec<Miss>,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    logs: usize,
    #[serde(flatten)]
    all: &'a Summary,
    main: &'a Summary,
    agents: &'a BTreeMap<&'static str, Summary>,
    models: &'a BTreeMap<String, Summary>,
    forecast: Option<&'a BacktestSummary>,
    worst: &'a [Miss],
}

/// Replays all logs and tells how well each estimator did; with `worst`, which requests the chosen one
/// got most wrong. What could not be read is told on `err`.
pub fn run(
    ground: &Ground,
    style: Style,
    worst: usize,
    progress: Progress,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let found = Scanner::new(ground.roots.clone(), ground.formats.clone(), paths::env).look();
    for (path, what) in &found.problems {
        writeln!(err, "{}: {what}", clean(&path.display().to_string()))?;
    }
    if found.files.is_empty() {
        bail!(
            "there is no log to replay; name files or folders. Known are: {}",
            names(&ground.formats)
        );
    }
    let by = ground.rules.estimator;
    let mut ledger = Ledger::new(by, worst);
    let mut shown = Line::new(progress, found.files.len());
    replay(&found.files, &ground.rules, by, worst, |log, replayed| {
        match replayed {
            Ok(sessions) => ledger.add(log, sessions),
            Err(error) => {
                shown.clear(err)?;
                writeln!(
                    err,
                    "{}: {error}",
                    clean(&log.facts.path.display().to_string())
                )?;
            }
        }
        shown.step(err, ledger.seen.len())
    })?;
    shown.clear(err)?;
    let audit = ledger.close(found.files.len());
    match style {
        Style::Text => text::write(out, &audit)?,
        Style::Json => {
            serde_json::to_writer(&mut *out, &audit.json())?;
            writeln!(out)?;
        }
    }
    all_named_were_read(ground, &found.problems)
}

/// What is kept of a session once it was replayed.
struct Replayed {
    is_main: bool,
    requests: Vec<(Key, String, Prediction)>,
    points: Vec<Point>,
    worst: Vec<Miss>,
}

type Outcome = io::Result<Vec<Replayed>>;

/// Replays logs on some threads and gives what they show in the order of the logs, so that the same
/// logs always give the same numbers.
fn replay(
    logs: &[LogFile],
    rules: &Arc<Rules>,
    by: Estimator,
    worst: usize,
    mut take: impl FnMut(&LogFile, Outcome) -> io::Result<()>,
) -> io::Result<()> {
    let counter = Counter::new();
    let next = AtomicUsize::new(0);
    let work = |sender: SyncSender<(usize, Outcome)>| {
        while let ix = next.fetch_add(1, Ordering::Relaxed)
            && let Some(log) = logs.get(ix)
        {
            let outcome = replay_one(log, &counter, rules, by, worst);
            if sender.send((ix, outcome)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let (sender, outcomes) = sync_channel(THREADS);
        for _ in 0..THREADS {
            let (work, sender) = (&work, sender.clone());
            scope.spawn(move || work(sender));
        }
        drop(sender);
        let mut early: HashMap<usize, Outcome> = HashMap::new();
        let mut turn = 0;
        for (ix, outcome) in outcomes {
            early.insert(ix, outcome);
            while let Some(outcome) = early.remove(&turn) {
                take(&logs[turn], outcome)?;
                turn += 1;
            }
        }
        Ok(())
    })
}

fn replay_one(
    log: &LogFile,
    counter: &Counter,
    rules: &Arc<Rules>,
    by: Estimator,
    worst: usize,
) -> Outcome {
    let sessions = read_whole(log, counter, rules)?;
    let replayed = sessions.iter().map(|(lane, session)| {
        let predictions = predictions(session);
        let worst = Miss::worst(log, session, &predictions, by, worst);
        let named = |prediction: Prediction| {
            let request = &session.requests[prediction.request];
            let model = request.model.as_deref().unwrap_or("unknown");
            (request.key, model.to_owned(), prediction)
        };
        Replayed {
            is_main: session.meta.parent.is_none()
                && (*lane == Lane::Main || log.format.holds_several),
            requests: predictions.into_iter().map(named).collect(),
            points: backtest(session),
            worst,
        }
    });
    Ok(replayed.collect())
}

/// What has been replayed so far.
struct Ledger {
    by: Estimator,
    most: usize,
    /// Every request counts once: forks and resumed sessions repeat the log they began with.
    seen: HashSet<(&'static str, Key)>,
    tallies: BTreeMap<(&'static str, String, bool), Tally>,
    points: Vec<Point>,
    worst: Vec<Miss>,
}

impl Ledger {
    fn new(by: Estimator, most: usize) -> Ledger {
        Ledger {
            by,
            most,
            seen: HashSet::new(),
            tallies: BTreeMap::new(),
            points: Vec::new(),
            worst: Vec::new(),
        }
    }

    fn add(&mut self, log: &LogFile, sessions: Vec<Replayed>) {
        let agent = log.format.id;
        for session in sessions {
            let mut new: HashSet<Key> = HashSet::new();
            for (key, model, prediction) in session.requests {
                if self.seen.insert((agent, key)) {
                    new.insert(key);
                    let group = (agent, model, session.is_main);
                    self.tallies.entry(group).or_default().add(&prediction);
                }
            }
            for point in session.points {
                // A compaction that a fork repeats is forecast the same to the last digit.
                if !self.points.contains(&point) {
                    self.points.push(point);
                }
            }
            let worst = session.worst.into_iter();
            self.worst
                .extend(worst.filter(|miss| new.contains(&miss.request)));
        }
        self.worst
            .sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
        self.worst.truncate(self.most);
    }

    fn close(self, logs: usize) -> Audit {
        let tallies = &self.tallies;
        type Group = (&'static str, String, bool);
        let of = |test: &dyn Fn(&Group) -> bool| {
            let chosen: Vec<&Tally> = tallies
                .iter()
                .filter(|(group, _)| test(group))
                .map(|(_, tally)| tally)
                .collect();
            Summary::of(chosen.iter().copied())
        };
        let groups = tallies
            .keys()
            .map(|(agent, model, _)| (*agent, model.clone()));
        let agents = tallies.keys().map(|(agent, ..)| *agent);
        let models = tallies.keys().map(|(_, model, _)| model.clone());
        Audit {
            logs,
            all: of(&|_| true),
            main: of(&|(_, _, is_main)| *is_main),
            groups: groups
                .map(|name| {
                    let summary = of(&|(agent, model, _)| (*agent, model) == (name.0, &name.1));
                    (name, summary)
                })
                .collect(),
            agents: agents
                .map(|name| (name, of(&|(agent, ..)| *agent == name)))
                .collect(),
            models: models
                .map(|name| {
                    let summary = of(&|(_, model, _)| *model == name);
                    (name, summary)
                })
                .collect(),
            forecast: (!self.points.is_empty()).then(|| BacktestSummary::of(&self.points)),
            by: self.by,
            worst: self.worst,
        }
    }
}

impl Audit {
    fn json(&self) -> Json<'_> {
        Json {
            schema: "ctxgauge.audit/1",
            logs: self.logs,
            all: &self.all,
            main: &self.main,
            agents: &self.agents,
            models: &self.models,
            forecast: self.forecast.as_ref(),
            worst: &self.worst,
        }
    }
}

/// The line on standard error that tells how far the audit is.
struct Line {
    progress: Progress,
    logs: usize,
    done: usize,
    drawn: Option<Instant>,
}

impl Line {
    fn new(progress: Progress, logs: usize) -> Line {
        Line {
            progress,
            logs,
            done: 0,
            drawn: None,
        }
    }

    fn step(&mut self, err: &mut dyn Write, requests: usize) -> io::Result<()> {
        self.done += 1;
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK);
        if self.progress == Progress::Silent || !is_due {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        write!(
            err,
            "\r{} of {} logs, {requests} requests",
            self.done, self.logs
        )?;
        err.flush()
    }

    fn clear(&mut self, err: &mut dyn Write) -> io::Result<()> {
        match self.drawn.take() {
            Some(_) => write!(err, "\r\x1b[K"),
            None => Ok(()),
        }
    }
}
