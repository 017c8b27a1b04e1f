//! The first predictions of each session, with what earlier sessions have shown of its model's tokens and without.

use super::summary::quantile;
use ingest::log::LogFile;
use ingest::log::reader::read_until;
use model::event::{Conversation, Key};
use model::session::Session;
use model::values::earlier::Origin;
use model::window::Rules;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::Arc;
use tokens::Counter;

/// So many predictions of a session are its first ones.
const FIRST: usize = 10;

/// The first predictions of a session.
pub(super) struct FirstPredictions {
    conversation: Conversation,
    origin: Origin,
    predictions: Vec<Prediction>,
}

struct Prediction {
    request: Key,
    model: String,
    /// The error as a share of the reported prompt; negative: the prediction was too small.
    error: f64,
}

impl FirstPredictions {
    pub(super) fn of(conversation: Conversation, session: &Session) -> FirstPredictions {
        let requests = session.requests().iter();
        let predictions = requests.filter_map(|request| {
            let prompt = Some(request.prompt).filter(|prompt| *prompt > 0)? as f64;
            let expected = request.predicted?.tokens as f64;
            Some(Prediction {
                request: request.key(),
                model: request.model.as_ref().map_or("unknown", |id| id).to_owned(),
                error: (expected - prompt) / prompt,
            })
        });
        FirstPredictions {
            conversation,
            origin: session.origin(),
            predictions: predictions.take(FIRST).collect(),
        }
    }

    fn are_enough(session: &Session) -> bool {
        let requests = session.requests().iter();
        requests
            .filter(|r| r.predicted.is_some())
            .nth(FIRST)
            .is_some()
    }
}

/// The first predictions of all sessions.
#[derive(Default)]
pub(super) struct Firsts(Vec<(LogFile, FirstPredictions)>);

impl Firsts {
    pub(super) fn add(&mut self, log: &LogFile, first: FirstPredictions) {
        if !first.predictions.is_empty() {
            self.0.push((log.clone(), first));
        }
    }

    /// Compares them with those of a second reading, in the order of time. `rules` have what all sessions have shown: each
    /// uses what is from sessions before it.
    pub(super) fn compare(mut self, counter: &Counter, rules: &Arc<Rules>) -> FirstErrors {
        self.0.sort_by_key(|(_, first)| first.origin.began());
        let mut seen: HashSet<(&'static str, Key)> = HashSet::new();
        let mut pairs = Pairs::new();
        for (log, first) in &self.0 {
            let agent = log.format.id;
            let taught = if rules.earlier.has_price_before(&first.origin) {
                taught(log, first.conversation, counter, rules).unwrap_or_default()
            } else {
                HashMap::new()
            };
            for alone in &first.predictions {
                // Forks repeat the beginning of another session.
                if seen.insert((agent, alone.request)) {
                    let with = taught.get(&alone.request).unwrap_or(&alone.error);
                    let group = pairs.entry((agent, alone.model.clone()));
                    group.or_default().push([alone.error, *with]);
                }
            }
        }
        FirstErrors::of(&pairs)
    }
}

/// Errors by agent and model, each without and with what earlier sessions have shown.
type Pairs = BTreeMap<(&'static str, String), Vec<[f64; 2]>>;

/// Returns the errors of a session's first predictions by request, with the facts from other sessions. Only the
/// beginning of its log is read, as far as that is possible.
fn taught(
    log: &LogFile,
    conversation: Conversation,
    counter: &Counter,
    rules: &Arc<Rules>,
) -> io::Result<HashMap<Key, f64>> {
    let sessions = read_until(log, counter, rules, FirstPredictions::are_enough)?;
    let same = sessions.iter().find(|(other, _)| *other == conversation);
    let first = same.map(|(conversation, session)| FirstPredictions::of(*conversation, session));
    let predictions = first.into_iter().flat_map(|first| first.predictions);
    Ok(predictions.map(|it| (it.request, it.error)).collect())
}

/// The errors of the first predictions of each session.
#[derive(Debug, Serialize)]
pub struct FirstErrors {
    /// All of them.
    #[serde(flatten)]
    pub all: Pair,
    /// By agent.
    pub agents: BTreeMap<&'static str, Pair>,
    /// By model.
    pub models: BTreeMap<String, Pair>,
}

/// Errors without and with what earlier sessions have shown.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pair {
    /// The number of predictions, at most ten of each session.
    pub requests: usize,
    /// Without it.
    pub alone: ShareErrors,
    /// With it.
    pub taught: ShareErrors,
}

/// Errors as shares of the reported prompt.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ShareErrors {
    /// The mean of the errors' sizes.
    pub mean: f64,
    /// Percentiles of the errors' sizes.
    pub p50: f64,
    #[allow(missing_docs)]
    pub p90: f64,
    /// The mean error; negative: the predictions were too small.
    pub bias: f64,
}

impl FirstErrors {
    fn of(pairs: &Pairs) -> FirstErrors {
        let of = |test: &dyn Fn(&(&'static str, String)) -> bool| {
            let those = pairs.iter().filter(|(group, _)| test(group));
            Pair::of(those.flat_map(|(_, pairs)| pairs).copied().collect())
        };
        let agents = pairs
            .keys()
            .map(|(agent, _)| (*agent, of(&|(other, _)| other == agent)));
        let models = pairs
            .keys()
            .map(|(_, model)| (model.clone(), of(&|(_, other)| other == model)));
        FirstErrors {
            all: of(&|_| true),
            agents: agents.collect(),
            models: models.collect(),
        }
    }
}

impl Pair {
    /// Returns true if earlier sessions have changed any prediction.
    pub(super) fn differs(&self) -> bool {
        (self.alone.mean, self.alone.bias) != (self.taught.mean, self.taught.bias)
    }

    fn of(pairs: Vec<[f64; 2]>) -> Pair {
        let off = |which: usize| ShareErrors::of(pairs.iter().map(|pair| pair[which]).collect());
        Pair {
            requests: pairs.len(),
            alone: off(0),
            taught: off(1),
        }
    }
}

impl ShareErrors {
    fn of(errors: Vec<f64>) -> ShareErrors {
        let n = errors.len() as f64;
        let mut sizes: Vec<f32> = errors.iter().map(|error| error.abs() as f32).collect();
        sizes.sort_unstable_by(f32::total_cmp);
        ShareErrors {
            mean: errors.iter().map(|error| error.abs()).sum::<f64>() / n,
            p50: quantile(&sizes, 0.5),
            p90: quantile(&sizes, 0.9),
            bias: errors.iter().sum::<f64>() / n,
        }
    }
}
