//! Findings of the first half of a session, compared with what came after it.

use super::{Finding, FindingDetail, FindingKind, ListedNames, SessionFindings, hardly_used};
use crate::outlook::whatif::{TRIED, smaller_windows};
use crate::session::Session;
use serde::Serialize;

/// How far findings held in the rest of their sessions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The number of findings: one, or the names that were listed and unused.
    pub found: u64,
    /// The part of it that came again or, of names, that stayed unused.
    pub held: u64,
}

/// The saving of a smaller window, as a share of the tokens of all prompts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WindowPromise {
    /// The window, in tokens.
    pub window: u64,
    /// The share that it would have saved of the first half.
    pub promised: f64,
    /// The share that it would have saved of the rest.
    pub rest: f64,
}

/// Compares the findings of the beginning of a session with those of the whole session.
pub fn backtest(half: &SessionFindings, whole: &SessionFindings) -> Vec<(FindingKind, Outcome)> {
    let listed = hardly_used([half]);
    let findings = half.findings.iter().chain(&listed);
    let outcomes = findings.map(|finding| (finding.kind, outcome(finding, whole)));
    outcomes.collect()
}

fn outcome(finding: &Finding, whole: &SessionFindings) -> Outcome {
    let (found, held) = match &finding.detail {
        FindingDetail::Listed(ListedNames { unused, .. }) => {
            let held = unused.iter().filter(|name| !whole.listings.is_used(name));
            (unused.len(), held.count())
        }
        _ => {
            let is_same = |of: &&Finding| (of.kind, &of.about) == (finding.kind, &finding.about);
            let later = whole.findings.iter().find(is_same);
            let holds = |later: &Finding| {
                finding.kind == FindingKind::Window || later.count > finding.count
            };
            (1, usize::from(later.is_some_and(holds)))
        }
    };
    Outcome {
        found: found as u64,
        held: held as u64,
    }
}

/// Returns what smaller windows would have saved of the beginning of a session, and of its rest.
pub fn window_promises(half: &Session, whole: &Session) -> Vec<WindowPromise> {
    let [begun, all] = [half, whole].map(|session| smaller_windows(session, &TRIED));
    let runs = begun.smaller.iter().filter_map(|half| {
        let whole = all.smaller.iter().find(|run| run.window == half.window)?;
        let saved = |was: u64, is: u64| (was > 0).then(|| 1.0 - is as f64 / was as f64);
        let rest = all.real.prompts.saturating_sub(begun.real.prompts);
        let left = whole.usual.prompts.saturating_sub(half.usual.prompts);
        Some(WindowPromise {
            window: half.window,
            promised: saved(begun.real.prompts, half.usual.prompts)?,
            rest: saved(rest, left)?,
        })
    });
    runs.collect()
}
