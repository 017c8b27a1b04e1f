//! Shows how good the numbers of a session are, by an audit of its own log.

use super::AuditResult;
use crate::audit::{Errors, SessionAudit, share};
use crate::output::document::{Block, Line, Section};
use model::outlook::estimators::Estimator;
use render::number::counted;
use render::or_none;

pub(super) fn section(checked: &AuditResult) -> Section {
    let section = Section::new("How good the estimates are");
    let none = |why: &'static str| Section::new("How good the estimates are").with(Line::own(why));
    let found = match checked {
        AuditResult::Audited(found) => found,
        AuditResult::Piped => {
            return none("Not checked: the log came through a pipe and cannot be read again.");
        }
        AuditResult::Unread => return none("Not checked: the log could not be read again."),
    };
    let requests = found.summary.requests;
    let Some(own) = found
        .summary
        .errors(Estimator::Calibrated)
        .filter(|_| requests > 0)
    else {
        return none("Nothing to check: no usage report follows another one.");
    };
    let how = format!(
        "The size of each prompt was predicted before its report was read: {}.",
        counted(requests as u64, "prompt")
    );
    let section = section
        .with(Block::Headline(verdict(own, found).into()))
        .with(Line::own(how));
    forecast(found, section)
}

fn verdict(own: &Errors, found: &SessionAudit) -> String {
    let [p50, p95] = [own.p50, own.p95].map(share);
    let covered = share(found.summary.covered);
    format!(
        "At most {p50} off in half of the prompts, at most {p95} in 19 of 20; {covered} of the reports are inside the 90 % interval"
    )
}

/// Adds the comparison of the forecast with the session's own compactions to the section.
fn forecast(found: &SessionAudit, section: Section) -> Section {
    let Some(backtest) = &found.forecast else {
        return section.with(Line::own(
            "The forecast cannot be checked: the session has no automatic compaction that it could have foreseen.",
        ));
    };
    let fit = &backtest.all;
    let points = counted(fit.points as u64, "forecast");
    let [covered, error] = [fit.coverage, fit.median_error].map(|it| or_none(it.map(share)));
    section.with(Line::own(format!(
        "{points} of past compactions, made in hindsight from 5 to 40 requests before them: {covered} had the compaction \
         in their 80 % band; half of them were at most {error} off."
    )))
}
