//! The audit for people: a table of estimators for each group of sessions.

use super::caches;
use super::{Audit, ChangedItem, Decisions, FirstErrors, Miss, Pair, Summary};
use crate::text::page::Page;
use model::estimators::Estimator;
use model::forecast::{BacktestSummary, Fit};
use render::number::{grouped, tokens};
use render::text::inert;
use render::{NONE, or_none};
use std::{io, iter};

/// Explains the columns of the tables.
const LEGEND: &str = "\
error: |predicted - reported| in % of the reported prompt
false: would have compacted below the agent's trigger; missed: not at it.
Decided at each request and where the agent compacted by itself: by its own
count in sessions in which it did, else by the reported prompt";
/// The columns of a line.
const LINE_COLUMNS: usize = 80;
/// The most items of one request that are listed, the largest first.
const LISTED_ITEMS: usize = 20;

pub(super) fn write(out: &mut Page<'_>, audit: &Audit) -> io::Result<()> {
    let (logs, requests) = (audit.logs, audit.all.requests);
    if requests == 0 {
        return writeln!(
            out,
            "nothing to compare: no usage report follows another one ({logs} logs read)"
        );
    }
    write_verdict(out, audit)?;
    let of = |n: u64, noun| match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", grouped(n)),
    };
    writeln!(
        out,
        "{}, {}\n",
        of(requests as u64, "request"),
        of(logs as u64, "log")
    )?;
    writeln!(out, "{}", LEGEND)?;
    write_group(out, "all", &audit.all)?;
    if audit.main.requests != requests {
        write_group(out, "without sub-agents", &audit.main)?;
    }
    for ((agent, model), summary) in &audit.groups {
        write_group(out, &format!("{agent} · {}", inert(model)), summary)?;
    }
    write_first(out, &audit.first)?;
    if let Some(backtest) = &audit.forecast {
        write_forecast(out, backtest)?;
    }
    caches::write(out, &audit.caches)?;
    if !audit.worst.is_empty() {
        writeln!(
            out,
            "\nworst predictions by {}, with the items added (+) and removed (-)",
            audit.estimator
        )?;
    }
    for miss in &audit.worst {
        write_miss(out, miss)?;
    }
    writeln!(out, "\nthe estimators")?;
    for estimator in Estimator::ALL {
        let (name, rule, from) = (estimator.name(), estimator.rule(), estimator.from());
        let line = format!("  {name:<13} {rule}");
        let room = LINE_COLUMNS.saturating_sub(line.chars().count() + 3);
        if from.chars().count() <= room {
            writeln!(out, "{line} ({from})")?
        } else {
            writeln!(out, "{line}\n  {:<13} ({from})", "")?
        }
    }
    Ok(())
}

/// Writes how good the estimator is, and whether another one is better.
fn write_verdict(out: &mut Page<'_>, audit: &Audit) -> io::Result<()> {
    let used = audit.estimator;
    let others = Estimator::ALL.into_iter().filter(|other| *other != used);
    let others = others.filter_map(|other| Some((other, audit.all.errors(other)?)));
    let best = others.min_by(|(_, a), (_, b)| a.p95.total_cmp(&b.p95));
    let (Some(own), Some((best, other))) = (audit.all.errors(used), best) else {
        return Ok(());
    };
    let [p50, p95, others] = [own.p50, own.p95, other.p95].map(share);
    let inside = if used == Estimator::default() {
        let covered = share(audit.all.covered);
        format!("; {covered} of the reports are inside its 90 % interval")
    } else {
        String::new()
    };
    writeln!(
        out,
        "verdict: `{used}` is at most {p50} off in half of the requests and at most {p95} in 19 of 20{inside}."
    )?;
    if other.p95 < own.p95 {
        writeln!(
            out,
            "`{best}` is better on these logs, at most {others} off in 19 of 20."
        )
    } else {
        writeln!(
            out,
            "No other estimator is better on these logs: the next one, `{best}`, is at most {others} off in 19 of 20."
        )
    }
}

fn write_group(out: &mut Page<'_>, name: &str, summary: &Summary) -> io::Result<()> {
    writeln!(out, "\n{name}: {} requests", summary.requests)?;
    if summary.requests == 0 {
        return Ok(());
    }
    let Decisions { due, not_due } = summary.decisions;
    out.row(format_args!(
        "  decisions: {due} at the trigger, {not_due} below it\n\
         {:<15}{:^43}{:>12}{:>10}\n  \
         estimator        p50    p90    p95    p99    bias  worst     n     %    n    %",
        "", "error, %", "false", "missed"
    ))?;
    for estimator in Estimator::ALL {
        let Some(errors) = summary.errors(estimator) else {
            continue;
        };
        let (name, bias) = (estimator.name(), signed(errors.bias));
        let [p50, p90, p95, p99, worst] =
            [errors.p50, errors.p90, errors.p95, errors.p99, errors.worst].map(digits);
        let [false_rate, missed_rate] = [errors.false_alarm_rate, errors.missed_rate].map(rate);
        let (false_alarms, missed) = (errors.false_alarms, errors.missed);
        out.row(format_args!(
            "  {name:<13} {p50:>6} {p90:>6} {p95:>6} {p99:>6} {bias:>7} {worst:>6} \
             {false_alarms:>5} {false_rate:>5} {missed:>4} {missed_rate:>4}"
        ))?;
    }
    let (width, p95) = (share(summary.width.p50), share(summary.width.p95));
    let (covered, unexplained) = (share(summary.covered), share(summary.unexplained));
    writeln!(
        out,
        "  {covered} of the reports are inside the 90 % interval of ±{width}\n  \
         (p95 ±{p95}); {unexplained} of all growth is unexplained"
    )
}

/// Writes the first predictions of each session. A model has a row if earlier sessions have changed some of them.
fn write_first(out: &mut Page<'_>, first: &FirstErrors) -> io::Result<()> {
    if first.all.requests == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "\nthe first ten predictions of each session, alone and with what a token cost in\nearlier sessions: error, %"
    )?;
    out.row(format_args!(
        "  {:<27} {:>6} {:>13}{:>22}\n  {:<27} {:>6} {:>7}{:>7}{:>7} {:>7}{:>7}{:>7}",
        "", "", "alone", "taught", "", "n", "mean", "p50", "p90", "mean", "p50", "p90"
    ))?;
    let changed = first.models.iter().filter(|(_, pair)| pair.differs());
    let models = changed.map(|(model, pair)| (inert(model), pair));
    for (
        name,
        Pair {
            requests,
            alone,
            taught,
        },
    ) in iter::once(("all".into(), &first.all)).chain(models)
    {
        let [a, b, c] = [alone.mean, alone.p50, alone.p90].map(digits);
        let [d, e, f] = [taught.mean, taught.p50, taught.p90].map(digits);
        out.row(format_args!(
            "  {name:<27} {requests:>6} {a:>7}{b:>7}{c:>7} {d:>7}{e:>7}{f:>7}"
        ))?;
    }
    Ok(())
}

fn write_forecast(out: &mut Page<'_>, backtest: &BacktestSummary) -> io::Result<()> {
    writeln!(
        out,
        "\nforecast of compactions: |requests forecast - actual ones| in % of the latter"
    )?;
    out.row("  made at      forecasts in 80 % band   median  straight line")?;
    let mut row = |name: &str, fit: &Fit| {
        let shares = [
            fit.coverage,
            fit.median_error,
            fit.straight_line_median_error,
        ];
        let [covered, median, line] = shares.map(|number| or_none(number.map(share)));
        let points = fit.points;
        out.row(format_args!(
            "  {name:<12} {points:>9} {covered:>12} {median:>8} {line:>14}"
        ))
    };
    for (before, fit) in &backtest.at {
        row(&format!("{before} before"), fit)?;
    }
    row("all", &backtest.all)
}

fn write_miss(out: &mut Page<'_>, miss: &Miss) -> io::Result<()> {
    let difference = i128::from(miss.expected) - i128::from(miss.reported);
    let (share, reported) = (share(miss.error), tokens(miss.reported));
    let model = inert(miss.model.as_deref().unwrap_or(NONE));
    let (line, path) = (miss.line, inert(&miss.path));
    writeln!(
        out,
        "\n{difference:+} tokens, {share} of {reported} reported · {model} · line {line} of {path}"
    )?;
    for (sign, pieces) in [('+', &miss.came), ('-', &miss.went)] {
        let mut largest: Vec<&ChangedItem> = pieces.iter().collect();
        largest.sort_by_key(|piece| std::cmp::Reverse(piece.tokens));
        for piece in largest.iter().take(LISTED_ITEMS) {
            write_piece(out, sign, piece)?;
        }
        if pieces.len() > LISTED_ITEMS {
            writeln!(out, "  {sign} and {} more", pieces.len() - LISTED_ITEMS)?;
        }
    }
    Ok(())
}

fn write_piece(out: &mut Page<'_>, sign: char, piece: &ChangedItem) -> io::Result<()> {
    let (role, source, line) = (piece.role.name(), piece.source.name(), piece.line);
    let [size, counted] = [piece.tokens, piece.counted].map(tokens);
    let label = inert(piece.tool.as_deref().unwrap_or(piece.kind));
    let preview = inert(&piece.preview);
    out.row(format_args!(
        "  {sign} {role:<9} {label:<14} {size:>7} {source:<9} ({counted:>7} counted) line {line:<6} {preview}"
    ))
}

/// Returns a share in percent, with three significant digits but no fewer than whole percents.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", digits(share))
}

/// Like [`share`], with a sign.
pub(crate) fn signed_share(share: f64) -> String {
    format!("{} %", signed(share))
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

/// Returns a share in percent: to a tenth, `100` for all, [`NONE`] for no number.
fn rate(share: f64) -> String {
    match share {
        _ if share.is_nan() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        0.9995.. => "100".to_owned(),
        _ => format!("{:.1}", share * 100.0),
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
            [0.0, 0.0123, 0.9994, 1.0].map(rate),
            ["0", "1.2", "99.9", "100"]
        );
        assert_eq!(rate(f64::NAN), NONE);
    }
}
