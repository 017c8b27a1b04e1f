//! Ways to estimate the size of a prompt, side by side: the rules of other monitors, and this one's.
//!
//! Each predicts a request's prompt from what was known before its report was read. All but
//! [`Estimator::Calibrated`], whose prediction the session keeps, are computed afterwards: an item has
//! the requests whose prompts held it, so sums over all prompts take one walk through the items.

use crate::history::{ItemIx, RequestIx};
use crate::session::Session;

mod contents;
mod decisions;
mod estimator;
mod measure;
mod prediction;
#[cfg(test)]
mod tests;

use contents::PromptContents;
pub use decisions::Decision;
pub use estimator::{ESTIMATORS, Estimator};
pub use prediction::Prediction;

/// The predictions and decisions of each estimator for a session that was read whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trial {
    /// The predictions of those requests that [`Estimator::Calibrated`] predicted, so that all compare.
    pub predictions: Vec<Prediction>,
    /// The decisions that they would have made at these requests, and where the agent compacted by itself.
    pub decisions: Vec<Decision>,
}

/// Returns [`Trial::predictions`] alone.
pub fn predictions(session: &Session) -> Vec<Prediction> {
    trial(session).predictions
}

/// Tries each estimator on a session that was read whole.
pub fn trial(session: &Session) -> Trial {
    let held = PromptContents::of(session);
    let predictions = held.predictions(session);
    let decisions = decisions::decisions(session, &held, &predictions);
    Trial {
        predictions,
        decisions,
    }
}

/// Returns the items that came between a request and the report it was attributed against, the output of that one
/// included, and the items that left.
pub fn between(session: &Session, request: RequestIx) -> (Vec<ItemIx>, Vec<ItemIx>) {
    let previous = session.requests().get(request).and_then(|r| r.previous);
    let (mut came, mut went) = (Vec::new(), Vec::new());
    for (ix, item) in session.items().iter().enumerate() {
        let was_there = previous.is_some_and(|previous| item.held_by(previous));
        match (was_there, item.held_by(request)) {
            (false, true) => came.push(ix),
            (true, false) => went.push(ix),
            _ => {}
        }
    }
    (came, went)
}
