//! The audit for people: a table of estimators for each kind of session.

use super::Audit;
use super::summary::Summary;
use crate::model::estimators::Estimator;
use crate::model::forecast::{BacktestSummary, Fit};
use crate::report::text::clean;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    if audit.all.requests == 0 {
        return writeln!(
            out,
            "nothing to compare: no usage report follows another one (logs read: {})",
            audit.logs
        );
    }
    writeln!(
        out,
        "|expected - reported| as a share of the prompt: {} requests, {} logs",
        audit.all.requests, audit.logs
    )?;
    group(out, "all", &audit.all)?;
    if audit.main.requests != audit.all.requests {
        group(out, "without sub-agents", &audit.main)?;
    }
    for ((agent, model), summary) in &audit.groups {
        group(out, &format!("{agent} · {}", clean(model)), summary)?;
    }
    if let Some(backtest) = &audit.forecast {
        forecast(out, backtest)?;
    }
    if !audit.worst.is_empty() {
        writeln!(
            out,
            "\nworst by {}, with what came (+) and left (-)",
            audit.by
        )?;
    }
    for miss in &audit.worst {
        miss.write(out)?;
    }
    writeln!(out, "\nthe estimators")?;
    for estimator in Estimator::ALL {
        writeln!(
            out,
            "  {:<12} {} ({})",
            estimator.name(),
            estimator.rule(),
            estimator.from()
        )?;
    }
    Ok(())
}

fn group(out: &mut dyn Write, name: &str, summary: &Summary) -> io::Result<()> {
    writeln!(out, "\n{name}: {} requests", summary.requests)?;
    if summary.requests == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "  {:<12} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "estimator", "p50", "p90", "p95", "p99", "bias", "worst"
    )?;
    for estimator in Estimator::ALL {
        let Some(errors) = summary.errors(estimator) else {
            continue;
        };
        let [p50, p90, p95, p99, worst] =
            [errors.p50, errors.p90, errors.p95, errors.p99, errors.worst].map(share);
        writeln!(
            out,
            "  {:<12} {p50:>8} {p90:>8} {p95:>8} {p99:>8} {:>9} {worst:>8}",
            estimator.name(),
            signed(errors.bias)
        )?;
    }
    writeln!(
        out,
        "  of the reports {} inside the 90 % interval of ±{} (p95 ±{}); {} of all growth unexplained",
        share(summary.covered),
        share(summary.width.p50),
        share(summary.width.p95),
        share(summary.unexplained)
    )
}

/// The forecast against what happened.
fn forecast(out: &mut dyn Write, backtest: &BacktestSummary) -> io::Result<()> {
    writeln!(
        out,
        "\nforecast of compactions: |requests forecast - requests to come| as a share of those to come"
    )?;
    writeln!(
        out,
        "  {:<12} {:>9} {:>12} {:>8} {:>14}",
        "made at", "forecasts", "in 80 % band", "median", "straight line"
    )?;
    let known = |number: Option<f64>| number.map_or_else(|| "—".to_owned(), share);
    let mut row = |name: &str, fit: &Fit| {
        writeln!(
            out,
            "  {name:<12} {:>9} {:>12} {:>8} {:>14}",
            fit.points,
            known(fit.coverage),
            known(fit.median_error),
            known(fit.straight_line_median_error)
        )
    };
    for (before, fit) in &backtest.at {
        row(&format!("{before} before"), fit)?;
    }
    row("all", &backtest.all)
}

/// A share in percent, to three digits and to whole percents.
pub(super) fn share(share: f64) -> String {
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
