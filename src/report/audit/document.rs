//! The audit for people: a table of estimators for each group of sessions.

use super::caches;
use super::{Audit, ChangedItem, Decisions, Miss, Summary};
use crate::output::document::{Document, Facts, Line, Row, Section, Table};
use model::outlook::estimators::Estimator;
use model::outlook::forecast::{BacktestSummary, Fit};
use render::number::{grouped, tokens};
use render::{NONE, or_none};

/// The meanings of the columns.
const LEGEND: [&str; 4] = [
    "error: |predicted - reported| in % of the reported prompt",
    "false: would have compacted below the agent's trigger; missed: not at it",
    "decisions: at each request, and where the agent compacted by itself",
    "compared: its own count in sessions in which it did, else the reported prompt",
];
/// The most items of one request that are listed, the largest first.
const LISTED_ITEMS: usize = 20;

/// Puts the audit together.
pub(super) fn document(audit: &Audit) -> Document {
    let (logs, requests) = (audit.logs, audit.all.requests);
    if requests == 0 {
        let why = "nothing to compare: no usage report follows another one";
        return Document {
            title: format!("{why} ({logs} logs read)").into(),
            sections: Vec::new(),
        };
    }
    let of = |n: u64, noun| match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", grouped(n)),
    };
    let read = format!(
        "{}, {}",
        of(requests as u64, "request"),
        of(logs as u64, "log")
    );
    let main = (audit.main.requests != requests).then(|| group("without sub-agents", &audit.main));
    let groups = audit.groups.iter();
    let groups = groups.map(|((agent, model), summary)| {
        group(Line::own(format!("{agent} · ")).and_log(model), summary)
    });
    let (verdict, other) = verdict(audit).unwrap_or_default();
    let head = Section::default()
        .with_all(other)
        .with(read)
        .with_all(LEGEND);
    let sections = [head]
        .into_iter()
        .chain([group("all", &audit.all)])
        .chain(main)
        .chain(groups)
        .chain(audit.forecast.as_ref().map(forecast))
        .chain(caches::section(&audit.caches))
        .chain(worst(audit))
        .chain([estimators()]);
    Document {
        title: verdict,
        sections: sections.collect(),
    }
}

/// Returns how good the estimator is, and whether another one is better; `None`: nothing was predicted.
fn verdict(audit: &Audit) -> Option<(Line, Option<Line>)> {
    let used = audit.estimator;
    let others = Estimator::ALL.into_iter().filter(|other| *other != used);
    let others = others.filter_map(|other| Some((other, audit.all.errors(other)?)));
    let best = others.min_by(|(_, a), (_, b)| a.p95.total_cmp(&b.p95));
    let (own, (best, other)) = (audit.all.errors(used)?, best?);
    let [p50, p95, others] = [own.p50, own.p95, other.p95].map(share);
    let inside = if used == Estimator::default() {
        let covered = share(audit.all.covered);
        format!("; {covered} of the reports are inside its 90 % interval")
    } else {
        String::new()
    };
    let verdict = format!(
        "verdict: `{used}` is at most {p50} off in half of the requests and at most {p95} in 19 of 20{inside}."
    );
    let other = if other.p95 < own.p95 {
        format!("`{best}` is better on these logs, at most {others} off in 19 of 20.")
    } else {
        format!(
            "No other estimator is better on these logs: the next one, `{best}`, is at most {others} off in 19 of 20."
        )
    };
    Some((verdict.into(), Some(other.into())))
}

fn group(name: impl Into<Line>, summary: &Summary) -> Section {
    let requests = format!(": {} requests", summary.requests);
    let section = Section::new(name.into().and(requests));
    if summary.requests == 0 {
        return section;
    }
    let Decisions { due, not_due } = summary.decisions;
    let rows = Estimator::ALL.into_iter().filter_map(|estimator| {
        let errors = summary.errors(estimator)?;
        let [p50, p90, p95, p99, worst] =
            [errors.p50, errors.p90, errors.p95, errors.p99, errors.worst].map(digits);
        let bias = signed(errors.bias);
        let wrong = counted_share(errors.false_alarms, errors.false_alarm_rate);
        let missed = counted_share(errors.missed, errors.missed_rate);
        let name = estimator.name().to_owned();
        let cells = [name, p50, p90, p95, p99, bias, worst, wrong, missed];
        Some(Row::from(cells.map(Line::from)))
    });
    let headings = "estimator | #p50 | #p90 | #p95 | #p99 | #bias | #worst | #false | #missed";
    let (width, p95) = (share(summary.width.p50), share(summary.width.p95));
    let (covered, unexplained) = (share(summary.covered), share(summary.unexplained));
    section
        .with(format!(
            "decisions: {due} at the trigger, {not_due} below it"
        ))
        .with(Table::new(headings, rows))
        .with(format!(
            "{covered} of the reports are inside the 90 % interval of ±{width} (p95 ±{p95})"
        ))
        .with(format!("{unexplained} of all growth is unexplained"))
}

fn forecast(backtest: &BacktestSummary) -> Section {
    let row = |name: String, fit: &Fit| {
        let shares = [
            fit.coverage,
            fit.median_error,
            fit.straight_line_median_error,
        ];
        let [covered, median, line] = shares.map(|number| or_none(number.map(share)).into());
        Row::from([
            name.into(),
            fit.points.to_string().into(),
            covered,
            median,
            line,
        ])
    };
    let rows = backtest.at.iter();
    let rows = rows.map(|(before, fit)| row(format!("{before} before"), fit));
    let rows = rows.chain([row("all".to_owned(), &backtest.all)]);
    let headings = "made at | #forecasts | #in 80 % band | #median | #straight line";
    Section::new("forecast of compactions: |requests forecast - actual ones| in % of the latter")
        .with(Table::new(headings, rows))
}

/// Returns the requests that were predicted worst.
fn worst(audit: &Audit) -> Option<Section> {
    let by = audit.estimator;
    let heading = format!("worst predictions by {by}, with the items added (+) and removed (-)");
    let section = audit.worst.iter().fold(Section::new(heading), miss);
    (!audit.worst.is_empty()).then_some(section)
}

/// Adds a request that was predicted badly.
fn miss(section: Section, miss: &Miss) -> Section {
    let difference = i128::from(miss.expected) - i128::from(miss.reported);
    let (share, reported) = (share(miss.error), tokens(miss.reported));
    let what = Line::own(format!(
        "{difference:+} tokens, {share} of {reported} reported · "
    ))
    .and_line(Line::log(miss.model.as_deref().unwrap_or(NONE)))
    .and(format!(" · line {} of ", miss.line))
    .and_log(&miss.path);
    let (mut rows, mut more) = (Vec::new(), Vec::new());
    for (sign, items) in [('+', &miss.came), ('-', &miss.went)] {
        let mut largest: Vec<&ChangedItem> = items.iter().collect();
        largest.sort_by_key(|item| std::cmp::Reverse(item.tokens));
        let others = largest.split_off(largest.len().min(LISTED_ITEMS)).len();
        rows.extend(largest.into_iter().map(|item| changed(sign, item)));
        more.extend((others > 0).then(|| format!("{sign} and {others} more")));
    }
    let headings = "item | name | #tokens | source | #counted | #line | beginning";
    section
        .with(what)
        .with_all((!rows.is_empty()).then(|| Table::new(headings, rows)))
        .with_all(more)
}

fn changed(sign: char, item: &ChangedItem) -> Row {
    let name = match &item.tool {
        Some(tool) => Line::log(tool),
        None => item.kind.into(),
    };
    Row::from([
        format!("{sign} {}", item.role.name()).into(),
        name,
        tokens(item.tokens).into(),
        item.source.name().into(),
        tokens(item.counted).into(),
        item.line.to_string().into(),
        Line::log(&item.preview),
    ])
}

fn estimators() -> Section {
    let all = Estimator::ALL.into_iter();
    let all = all.map(|it| (it.name(), format!("{} ({})", it.rule(), it.from()).into()));
    Section::new("the estimators").with(all.collect::<Facts>())
}

/// Returns a share in percent, with three significant digits but no fewer than whole percents.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", digits(share))
}

/// Returns the number of [`share`], without `%`.
fn digits(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent.abs() {
        1_000_000.0.. => return format!("{percent:.0e}"),
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        0.09995.. => 3,
        0.0 => 0,
        _ => 4,
    };
    format!("{percent:.decimals$}")
}

fn signed(share_of: f64) -> String {
    let sign = if share_of > 0.0 { "+" } else { "" };
    format!("{sign}{}", digits(share_of))
}

/// Returns a number and the share that it is, to a tenth of a percent; [`NONE`]: there was nothing to count.
fn counted_share(n: usize, share: f64) -> String {
    match share {
        _ if share.is_nan() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        0.9995.. => format!("{n} 100%"),
        _ => format!("{n} {:.1}%", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_digits() {
        let written = [
            0.0, 0.00012345, 0.0012345, 0.012345, 0.12345, -1.2345, 123.45,
        ]
        .map(share);
        let percent = [
            "0 %", "0.0123 %", "0.123 %", "1.23 %", "12.3 %", "-123 %", "12345 %",
        ];
        assert_eq!(written, percent);
        assert_eq!([signed(0.5), signed(-0.5)], ["+50.0", "-50.0"]);
        assert_eq!(
            [(0, 0.0), (1, 0.0123), (9, 0.9994), (9, 1.0)]
                .map(|(n, share)| counted_share(n, share)),
            ["0", "1 1.2%", "9 99.9%", "9 100%"]
        );
        assert_eq!(counted_share(0, f64::NAN), NONE);
    }
}
