//! The requests that were predicted worst, with the items since the report before, so that the cause can be found.

use super::WorstChoice;
use ingest::log::LogFile;
use jiff::Timestamp;
use model::event::Key;
use model::outlook::estimators::{Prediction, between};
use model::session::{ItemIx, Session};
use model::{Role, Source};
use serde::Serialize;

/// A request that was predicted badly.
#[derive(Debug, Clone, Serialize)]
pub struct Miss {
    /// The predicted prompt minus the reported one, as a share of the reported one.
    pub error: f64,
    /// The agent's id.
    pub agent: &'static str,
    /// The model.
    pub model: Option<String>,
    /// The log's path.
    pub path: String,
    /// The last line that carries its usage report.
    pub line: u64,
    /// The time at which it was sent.
    pub at: Option<Timestamp>,
    /// The reported prompt, in tokens.
    pub reported: u64,
    /// The predicted prompt.
    pub expected: u64,
    /// The lower end of the prediction's interval.
    pub low: u64,
    /// The upper end of the prediction's interval.
    pub high: u64,
    /// Items added since the previous usage report.
    pub came: Vec<ChangedItem>,
    /// Items that left since then.
    pub went: Vec<ChangedItem>,
    #[serde(skip)]
    pub(super) request: Key,
}

/// An item that was added or left.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedItem {
    /// Its line in the log, 1-based.
    pub line: u64,
    /// Its role.
    pub role: Role,
    /// Its kind.
    pub kind: &'static str,
    /// Its tool.
    pub tool: Option<String>,
    /// Its size.
    pub tokens: u64,
    /// The source of the size.
    pub source: Source,
    /// Its size in o200k tokens.
    pub counted: u64,
    /// The reason why it left.
    pub left_because: Option<&'static str>,
    /// Its first words.
    pub preview: String,
}

impl Miss {
    /// Returns the requests of a session that one estimator predicted worst.
    pub(super) fn worst(
        log: &LogFile,
        session: &Session,
        predictions: &[Prediction],
        wanted: WorstChoice,
    ) -> Vec<Miss> {
        let WorstChoice { by, most } = wanted;
        let mut order: Vec<&Prediction> = predictions.iter().collect();
        order.sort_by(|a, b| b.error(by).abs().total_cmp(&a.error(by).abs()));
        order.truncate(most);
        let miss = |prediction: &Prediction| {
            let request = &session.requests()[prediction.request];
            let (came, went) = between(session, prediction.request);
            let pieces = |items: Vec<ItemIx>| {
                let pieces = items.into_iter().map(|ix| ChangedItem::new(session, ix));
                pieces.collect()
            };
            Miss {
                error: prediction.error(by),
                agent: log.format.id,
                model: request.model.as_ref().map(|id| id.to_string()),
                path: log.facts.path.display().to_string(),
                line: request.place.line(),
                at: request.at,
                reported: prediction.prompt,
                expected: prediction.expected[by as usize],
                low: prediction.interval.0,
                high: prediction.interval.1,
                came: pieces(came),
                went: pieces(went),
                request: request.key(),
            }
        };
        order.into_iter().map(miss).collect()
    }
}

impl ChangedItem {
    fn new(session: &Session, ix: ItemIx) -> ChangedItem {
        let item = &session.items()[ix];
        let (tokens, source) = session.tokens(ix);
        ChangedItem {
            line: item.place.line(),
            role: item.role,
            kind: item.kind.name(),
            tool: item.tool.as_deref().map(str::to_owned),
            tokens,
            source,
            counted: item.size.local.into(),
            left_because: item.left.map(|left| left.why.name()),
            preview: item.preview.to_string(),
        }
    }
}
