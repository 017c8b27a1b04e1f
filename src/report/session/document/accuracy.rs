//! Shows how good the numbers of a session are, by an audit of its own log.

use super::AuditResult;
use crate::audit::{Errors, SessionAudit, share, signed_share};
use crate::output::document::{Block, Line, Row, Section, Table};
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
        .with(Line::own(how))
        .with(estimators(found));
    let note = "error: the difference between prediction and report, in % of the report; p50: half of the errors are \
                smaller, p95: 19 of 20 are. bias: the mean error; below 0 the predictions are too small.";
    forecast(found, section.with(Block::Note(note.into())))
}

fn verdict(own: &Errors, found: &SessionAudit) -> String {
    let [p50, p95] = [own.p50, own.p95].map(share);
    let covered = share(found.summary.covered);
    format!(
        "At most {p50} off in half of the prompts, at most {p95} in 19 of 20; {covered} of the reports are inside the 90 % interval"
    )
}

/// Returns the table of all estimators, the best first.
fn estimators(found: &SessionAudit) -> Table {
    let all = Estimator::ALL.into_iter();
    let mut all: Vec<(Estimator, &Errors)> = all
        .filter_map(|it| Some((it, found.summary.errors(it)?)))
        .collect();
    all.sort_by(|(_, a), (_, b)| a.p95.total_cmp(&b.p95));
    let rows = all.into_iter().map(|(estimator, errors)| {
        let name = Line::own(estimator.name());
        let name = if estimator == Estimator::Calibrated {
            name.and(" (this report)")
        } else {
            name
        };
        let [p50, p95, worst] = [errors.p50, errors.p95, errors.worst].map(share);
        Row::from([
            name,
            estimator.rule().into(),
            p50.into(),
            p95.into(),
            worst.into(),
            signed_share(errors.bias).into(),
        ])
    });
    Table::new("estimator | rule | #p50 | #p95 | #worst | #bias", rows)
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
