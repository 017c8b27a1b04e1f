//! The audit: how good the numbers are, on the user's own logs. Replays each log, predicts every request's
//! prompt before its report with each estimator, and compares the errors.

mod caches;
mod document;
pub mod findings;
mod summary;
mod worst;

pub use caches::CacheTally;
pub(crate) use document::share;
pub use summary::{Decisions, Errors, Summary, Width};
pub use worst::{ChangedItem, Miss};

use crate::output::json::document;
use crate::{Document, Output, ReportContext, Style, print_problems};
use anyhow::{Result, bail};
use ingest::discover::ScanResult;
use ingest::log::LogFile;
use ingest::log::reader::read_whole;
use model::cost::cache_history::{self, CachePoint};
use model::event::{Conversation, Key};
use model::outlook::estimators::{self, Decision, Estimator, Prediction};
use model::outlook::forecast::{BacktestSummary, Point, backtest};
use model::session::RequestIx;
use model::values::earlier::EarlierSessions;
use model::window::Rules;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use summary::Tally;
use tokens::Counter;

/// The number of logs that are replayed ahead of the one whose turn it is. A replayed log takes little memory.
const AHEAD: usize = 256;

/// The result of an audit: the schema `ctxgauge.audit/1`.
#[derive(Serialize)]
pub struct Audit {
    /// The number of logs that were found, including those that could not be read.
    pub logs: usize,
    /// All requests.
    #[serde(flatten)]
    pub all: Summary,
    /// Sessions that are not sub-agents.
    pub main: Summary,
    /// By agent and model.
    #[serde(skip)]
    pub groups: BTreeMap<(&'static str, String), Summary>,
    /// By agent.
    pub agents: BTreeMap<&'static str, Summary>,
    /// By model.
    pub models: BTreeMap<String, Summary>,
    /// The forecast compared with the logs' own compactions; `None`: there were none.
    pub forecast: Option<BacktestSummary>,
    /// The predicted state of prompt caches compared with what was read from them, by agent.
    pub caches: BTreeMap<&'static str, CacheTally>,
    /// The estimator that `worst` is about.
    #[serde(skip)]
    pub estimator: Estimator,
    /// The requests that were predicted worst.
    pub worst: Vec<Miss>,
}

impl Output for Audit {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.audit/1", self)
    }
}

/// The choice of the worst predictions that are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorstChoice {
    /// The estimator whose predictions are listed. The verdict is about it too.
    pub by: Estimator,
    /// At most so many.
    pub most: usize,
}

/// Replays all logs and compares the estimators. Lists the requests that the selected estimator predicted worst. Prints
/// the logs that could not be read on `err`.
///
/// # Errors
///
/// If there is no log, a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    style: Style,
    worst: WorstChoice,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut results = Results {
        wanted: worst,
        ..Results::default()
    };
    let rules = unbiased(&context.rules);
    let counter = Counter::new();
    let replay = |log: &LogFile| replay_one(context, log, &counter, &rules, worst);
    let add = |log: &LogFile, sessions| results.add(log, sessions);
    let found = each_log(context, err, replay, add)?;
    let audit = results.into_audit(found.files.len());
    style.print(&audit, out)?;
    context.check(&found.problems)
}

/// Replays all logs, and takes the results in order. Returns the logs. Prints those that could not be read on `err`.
fn each_log<T: Send>(
    context: &ReportContext,
    err: &mut dyn Write,
    replay: impl Fn(&LogFile) -> io::Result<T> + Sync,
    mut take: impl FnMut(&LogFile, T),
) -> Result<ScanResult> {
    let found = context.find();
    print_problems(&found.problems, err)?;
    if found.files.is_empty() && !found.problems.is_empty() {
        context.check(&found.problems)?;
    }
    if found.files.is_empty() {
        bail!(
            "no log found to replay; name files or folders. `ctxgauge agents` lists the folders that are searched"
        );
    }
    let mut unread = Vec::new();
    context.read_each(&found.files, AHEAD, &mut unread, replay, |log, replayed| {
        take(log, replayed);
        Ok(())
    })?;
    print_problems(&unread, err)?;
    Ok(found)
}

/// The audit of one session.
pub(crate) struct SessionAudit {
    /// The errors of the predictions of its prompts.
    pub(crate) summary: Summary,
    /// The forecast compared with its own compactions; `None`: there were none.
    pub(crate) forecast: Option<BacktestSummary>,
}

/// Replays one session of a log; `None`: the log has no such session.
///
/// # Errors
///
/// If the log cannot be read.
pub(crate) fn of_session(
    context: &ReportContext,
    log: &LogFile,
    conversation: Conversation,
) -> io::Result<Option<SessionAudit>> {
    let rules = unbiased(&context.rules);
    let counter = Counter::new();
    let sessions = context.patience.read(log, || {
        replay_one(context, log, &counter, &rules, WorstChoice::default())
    })?;
    let session = sessions
        .into_iter()
        .find(|session| session.conversation == conversation);
    Ok(session.map(|session| {
        let mut tally = Tally::default();
        for (_, _, prediction) in &session.requests {
            tally.add(prediction);
        }
        for (_, _, decision) in &session.decisions {
            tally.decide(decision);
        }
        let points = session.points;
        SessionAudit {
            summary: Summary::of(&[&tally]),
            forecast: (!points.is_empty()).then(|| BacktestSummary::of(&points)),
        }
    }))
}

/// Returns these rules without the facts that later sessions have shown, which a replay must not use.
fn unbiased(rules: &Rules) -> Arc<Rules> {
    Arc::new(Rules {
        earlier: EarlierSessions::default(),
        ..rules.clone()
    })
}

/// The result of replaying one session.
struct ReplayResult {
    conversation: Conversation,
    is_main: bool,
    requests: Vec<(Key, String, Prediction)>,
    decisions: Vec<(Key, String, Decision)>,
    points: Vec<Point>,
    caches: Vec<(Key, CachePoint)>,
    worst: Vec<Miss>,
}

fn replay_one(
    context: &ReportContext,
    log: &LogFile,
    counter: &Counter,
    rules: &Arc<Rules>,
    wanted: WorstChoice,
) -> io::Result<Vec<ReplayResult>> {
    let mut sessions = read_whole(log, counter, rules)?;
    context.retain_wanted(&mut sessions);
    let replayed = sessions.iter().map(|(conversation, session)| {
        let trial = estimators::trial(session);
        let worst = Miss::worst(log, session, &trial.predictions, wanted);
        let name = |request: RequestIx| {
            let request = &session.requests()[request];
            let model = request.model.as_ref().map_or("unknown", |id| id);
            (request.key(), model.to_owned())
        };
        let predicted = trial.predictions.into_iter().map(|prediction| {
            let (key, model) = name(prediction.request);
            (key, model, prediction)
        });
        let decided = trial.decisions.into_iter().map(|decision| {
            let (key, model) = name(decision.request);
            (key, model, decision)
        });
        let caches = cache_history::backtest(session).into_iter();
        let caches = caches.map(|point| (session.requests()[point.request].key(), point));
        ReplayResult {
            caches: caches.collect(),
            conversation: *conversation,
            is_main: session.meta.parent.is_none()
                && (*conversation == Conversation::Main || log.format.recognition.holds_several),
            requests: predicted.collect(),
            decisions: decided.collect(),
            points: backtest(session),
            worst,
        }
    });
    Ok(replayed.collect())
}

/// Agent, model, and whether it is a main session.
type Group = (&'static str, String, bool);

/// The results so far.
#[derive(Default)]
struct Results {
    wanted: WorstChoice,
    /// Every request counts once: forks and resumed sessions repeat the log that they continue.
    seen: HashSet<(&'static str, Key)>,
    /// Every decision counts once too: by its request, and whether it is about the compaction after that.
    decided: HashSet<(&'static str, Key, bool)>,
    /// Every prediction of a cache, by its request.
    cached: HashSet<(&'static str, Key)>,
    tallies: BTreeMap<Group, Tally>,
    points: Vec<Point>,
    caches: BTreeMap<&'static str, CacheTally>,
    worst: Vec<Miss>,
}

impl Results {
    fn add(&mut self, log: &LogFile, sessions: Vec<ReplayResult>) {
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
            for (key, model, decision) in session.decisions {
                if self.decided.insert((agent, key, decision.is_compaction)) {
                    let group = (agent, model, session.is_main);
                    self.tallies.entry(group).or_default().decide(&decision);
                }
            }
            for (key, point) in session.caches {
                if self.cached.insert((agent, key)) {
                    self.caches.entry(agent).or_default().add(&point);
                }
            }
            for point in session.points {
                // A fork repeats compactions, with exactly the same forecasts.
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
        self.worst.truncate(self.wanted.most);
    }

    fn into_audit(mut self, logs: usize) -> Audit {
        // A fork may compact after a request that another log had first.
        self.tallies.retain(|_, tally| tally.requests() > 0);
        let groups = self.tallies.keys();
        let agents = groups.clone().map(|(agent, ..)| *agent);
        let models = groups.clone().map(|(_, model, _)| model.clone());
        let both = groups.map(|(agent, model, _)| (*agent, model.clone()));
        Audit {
            logs,
            all: self.summary(&|_| true),
            main: self.summary(&|(.., is_main)| *is_main),
            groups: self.summaries(both, |(agent, model, _), name| {
                (*agent, model) == (name.0, &name.1)
            }),
            agents: self.summaries(agents, |(agent, ..), name| agent == name),
            models: self.summaries(models, |(_, model, _), name| model == name),
            forecast: (!self.points.is_empty()).then(|| BacktestSummary::of(&self.points)),
            caches: self.caches,
            estimator: self.wanted.by,
            worst: self.worst,
        }
    }

    /// The summary of the groups that pass the test.
    fn summary(&self, test: &dyn Fn(&Group) -> bool) -> Summary {
        let tallies = self.tallies.iter().filter(|(group, _)| test(group));
        Summary::of(&tallies.map(|(_, tally)| tally).collect::<Vec<_>>())
    }

    /// Returns, for each of these names, the summary of the groups that pass the test with it.
    fn summaries<N: Ord>(
        &self,
        names: impl Iterator<Item = N>,
        test: impl Fn(&Group, &N) -> bool,
    ) -> BTreeMap<N, Summary> {
        let names: BTreeSet<N> = names.collect();
        let summarised = |name| {
            let summary = self.summary(&|group| test(group, &name));
            (name, summary)
        };
        names.into_iter().map(summarised).collect()
    }
}
