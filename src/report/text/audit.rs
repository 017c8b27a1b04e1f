//! The audit for people: a table of estimators for each group of sessions.

use crate::model::estimators::Estimator;
use crate::model::forecast::{BacktestSummary, Fit};
use crate::render::number::tokens;
use crate::render::text::inert;
use crate::render::{NONE, or_none};
use crate::report::audit::{Audit, Miss, Piece, Summary};
use std::io::{self, Write};

/// How many items of one request are listed, the largest first.
const SHOWN: usize = 20;

pub(super) fn write(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let (logs, requests) = (audit.logs, audit.all.requests);
    if requests == 0 {
        return writeln!(
            out,
            "nothing to compare: no usage report follows another one ({logs} logs read)"
        );
    }
    writeln!(
        out,
        "|predicted - reported| as a share of the reported prompt: {requests} requests, {logs} logs"
    )?;
    write_group(out, "all", &audit.all)?;
    if audit.main.requests != requests {
        write_group(out, "without sub-agents", &audit.main)?;
    }
    for ((agent, model), summary) in &audit.groups {
        write_group(out, &format!("{agent} · {}", inert(model)), summary)?;
    }
    if let Some(backtest) = &audit.forecast {
        write_forecast(out, backtest)?;
    }
    if !audit.worst.is_empty() {
        writeln!(
            out,
            "\nworst predictions by {}, with the items added (+) and removed (-)",
            audit.by
        )?;
    }
    for miss in &audit.worst {
        write_miss(out, miss)?;
    }
    writeln!(out, "\nthe estimators")?;
    for estimator in Estimator::ALL {
        let (name, rule, from) = (estimator.name(), estimator.rule(), estimator.from());
        writeln!(out, "  {name:<12} {rule} ({from})")?;
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, name: &str, summary: &Summary) -> io::Result<()> {
    writeln!(out, "\n{name}: {} requests", summary.requests)?;
    if summary.requests == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  estimator         p50      p90      p95      p99      bias    worst"
    )?;
    for estimator in Estimator::ALL {
        let Some(errors) = summary.errors(estimator) else {
            continue;
        };
        let (name, bias) = (estimator.name(), signed(errors.bias));
        let [p50, p90, p95, p99, worst] =
            [errors.p50, errors.p90, errors.p95, errors.p99, errors.worst].map(share);
        writeln!(
            out,
            "  {name:<12} {p50:>8} {p90:>8} {p95:>8} {p99:>8} {bias:>9} {worst:>8}"
        )?;
    }
    let (width, p95) = (share(summary.width.p50), share(summary.width.p95));
    let (covered, unexplained) = (share(summary.covered), share(summary.unexplained));
    writeln!(
        out,
        "  {covered} of the reports are inside the 90 % interval of ±{width} (p95 ±{p95}); {unexplained} of all growth is unexplained"
    )
}

fn write_forecast(out: &mut dyn Write, backtest: &BacktestSummary) -> io::Result<()> {
    writeln!(
        out,
        "\nforecast of compactions: |requests forecast - actual requests| as a share of the actual ones"
    )?;
    writeln!(
        out,
        "  made at      forecasts in 80 % band   median  straight line"
    )?;
    let mut row = |name: &str, fit: &Fit| {
        let shares = [
            fit.coverage,
            fit.median_error,
            fit.straight_line_median_error,
        ];
        let [covered, median, line] = shares.map(|number| or_none(number.map(share)));
        let points = fit.points;
        writeln!(
            out,
            "  {name:<12} {points:>9} {covered:>12} {median:>8} {line:>14}"
        )
    };
    for (before, fit) in &backtest.at {
        row(&format!("{before} before"), fit)?;
    }
    row("all", &backtest.all)
}

fn write_miss(out: &mut dyn Write, miss: &Miss) -> io::Result<()> {
    let difference = i128::from(miss.expected) - i128::from(miss.reported);
    let (share, reported) = (share(miss.error), tokens(miss.reported));
    let model = inert(miss.model.as_deref().unwrap_or(NONE));
    let (line, path) = (miss.line, inert(&miss.path));
    writeln!(
        out,
        "\n{difference:+} tokens, {share} of {reported} reported · {model} · line {line} of {path}"
    )?;
    for (sign, pieces) in [('+', &miss.came), ('-', &miss.went)] {
        let mut largest: Vec<&Piece> = pieces.iter().collect();
        largest.sort_by_key(|piece| std::cmp::Reverse(piece.tokens));
        for piece in largest.iter().take(SHOWN) {
            write_piece(out, sign, piece)?;
        }
        if pieces.len() > SHOWN {
            writeln!(out, "  {sign} and {} more", pieces.len() - SHOWN)?;
        }
    }
    Ok(())
}

fn write_piece(out: &mut dyn Write, sign: char, piece: &Piece) -> io::Result<()> {
    let (role, source, line) = (piece.role.name(), piece.source.name(), piece.line);
    let [size, counted] = [piece.tokens, piece.counted].map(tokens);
    let label = inert(piece.tool.as_deref().unwrap_or(piece.kind));
    let preview = inert(&piece.preview);
    writeln!(
        out,
        "  {sign} {role:<9} {label:<14} {size:>7} {source:<9} ({counted:>7} counted) line {line:<6} {preview}"
    )
}

/// A share in percent, to three digits and to whole percents.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match percent.abs() {
        1_000_000.0.. => return format!("{percent:.0e} %"),
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        0.09995.. => 3,
        0.0 => 0,
        _ => 4,
    };
    format!("{percent:.decimals$} %")
}

fn signed(share_of: f64) -> String {
    let sign = if share_of > 0.0 { "+" } else { "" };
    format!("{sign}{}", share(share_of))
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
        assert_eq!([signed(0.5), signed(-0.5)], ["+50.0 %", "-50.0 %"]);
    }
}
