//! The gauge and the chart of a page. Shapes are stretched to its width; texts stand beside them in their own size.

use crate::output::document::chart::{Chart, Gauge, Steps, Trigger};
use maud::{Markup, html};
use model::Role;
use model::session::replay::role_sizes::total;
use render::number::{counted, error, tokens};
use std::fmt::Write;

/// The width and height of a chart, in units that the page stretches.
const SIDE: f64 = 1000.0;
/// The most columns of a chart.
const MOST_COLUMNS: usize = 500;

/// Returns a style with this share of the width.
pub(super) fn width(share: f64) -> String {
    format!("width:{}", percent(share))
}

fn left(share: f64) -> String {
    format!("left:{}", percent(share))
}

/// Returns the class of a label, which puts it on the side of its mark where there is room.
fn side(share: f64) -> &'static str {
    if share > 0.5 { "mark before" } else { "mark" }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

pub(super) fn gauge(gauge: &Gauge) -> Markup {
    let [from, to] = [gauge.low, gauge.high].map(|end| gauge.share(end));
    let described = format!(
        "{} known and {} estimated of a window of {}",
        tokens(gauge.known),
        tokens(gauge.estimated),
        tokens(gauge.window)
    );
    html! {
        div.gauge role="img" aria-label=(described) {
            @if let Some(Trigger { size, here }) = gauge.trigger {
                @let at = gauge.share(here);
                div.scale.above {
                    span class=(side(at)) style=(left(at)) { "trigger " (tokens(size)) }
                }
            }
            div.track {
                span.known style=(width(gauge.share(gauge.known))) {}
                span.estimated style=(width(gauge.share(gauge.estimated))) {}
                @if gauge.estimated > 0 {
                    span.interval style=(format!("{};{}", left(from), width(to - from))) {}
                }
                @if let Some(trigger) = gauge.trigger {
                    span.trigger style=(left(gauge.share(trigger.here))) {}
                }
            }
            div.scale {
                span.end { "window " (tokens(gauge.window)) }
            }
        }
        p.legend {
            span { i.known {} "known " (tokens(gauge.known)) }
            @if gauge.estimated > 0 {
                span { i.estimated {} "estimated " (tokens(gauge.estimated)) " ±" (error(half(gauge), gauge.estimated)) }
            }
            @if gauge.trigger.is_some() { span { i.trigger {} "trigger" } }
        }
    }
}

/// Returns half the width of the interval.
fn half(gauge: &Gauge) -> u64 {
    let used = gauge.known.saturating_add(gauge.estimated);
    gauge
        .high
        .saturating_sub(used)
        .max(used.saturating_sub(gauge.low))
}

pub(super) fn chart(chart: &Chart) -> Markup {
    let columns = chart.columns(MOST_COLUMNS);
    let is_known = chart.steps == Steps::Requests;
    let shape = if is_known { "known" } else { "estimated" };
    let (past, parts) = (chart.past(), parts(chart, &columns));
    let mark = |step: usize| chart.at(step) * SIDE;
    let trigger = chart.trigger.map(|it| ("trigger", it.size, it.here));
    let lines = [trigger, Some(("window", chart.window, chart.window))];
    let lines: Vec<(&str, u64, f64)> = lines
        .into_iter()
        .flatten()
        .filter_map(|(name, size, here)| Some((name, size, chart.height(here)?)))
        .collect();
    let largest = chart.all().max().unwrap_or(0);
    let name = chart.steps.name();
    let described = format!(
        "size after each of {}, at most {}",
        counted(chart.sizes.len() as u64, name),
        tokens(largest)
    );
    html! {
        div.chart role="img" aria-label=(described) {
            div.plot {
                svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true" {
                    @for (role, part) in &parts {
                        path class=(format!("part {shape} {}", role.name())) d=(part) {}
                    }
                    path class=(format!("line {shape}")) d=(outline(chart, tops(&columns))) {}
                    @if let Some(ahead) = forecast(chart) { path.ahead d=(ahead) {} }
                    @for step in chart.resets.iter().take(MOST_COLUMNS) {
                        path.reset d=(format!("M{:.1} 0V1000", mark(*step))) {}
                    }
                    @for (name, _, height) in &lines {
                        path class=(name) d=(format!("M0 {0:.1}H1000", y(*height))) {}
                    }
                }
                @for (name, size, height) in &lines {
                    span class=(format!("label {name}")) style=(format!("bottom:{}", percent(*height))) {
                        (name) " " (tokens(*size))
                    }
                }
            }
            div.scale {
                span.begin { (name) " 1" }
                span class=(side(past)) style=(left(past)) { (chart.last()) }
            }
        }
        p.legend {
            @for (role, _) in &parts {
                span { i class=(format!("part {}", role.name())) {} (role.name()) }
            }
            span { "size after each " (name) ", at most " (tokens(largest)) }
            @if !chart.resets.is_empty() {
                span { i.reset {} "compactions and clears: " (chart.resets.len()) }
            }
            @if forecast(chart).is_some() { span { i.ahead {} "forecast, 80 % band" } }
        }
    }
}

fn y(height: f64) -> f64 {
    (1.0 - height) * SIDE
}

/// Returns the size of each column.
fn tops(columns: &[[u64; 5]]) -> impl ExactSizeIterator<Item = u64> {
    columns.iter().map(|edges| edges[4])
}

/// Returns the path of an upper edge of the columns, as steps.
fn outline(chart: &Chart, sizes: impl ExactSizeIterator<Item = u64>) -> String {
    let mut path = String::new();
    let width = chart.past() * SIDE / sizes.len().max(1) as f64;
    for (ix, size) in sizes.enumerate() {
        let (x, top) = (ix as f64 * width, y(chart.height(size).unwrap_or(1.0)));
        let begin = if ix == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{begin}{x:.1} {top:.1}H{:.1}", x + width);
    }
    path
}

/// Returns the shape of each role that has a part, the lowest first: between the upper edge of the roles below it and
/// its own.
fn parts(chart: &Chart, columns: &[[u64; 5]]) -> Vec<(Role, String)> {
    let width = chart.past() * SIDE / columns.len().max(1) as f64;
    let roles = Role::ALL.into_iter().enumerate().filter_map(|(ix, role)| {
        let below = |edges: &[u64; 5]| ix.checked_sub(1).map_or(0, |ix| edges[ix]);
        if !columns.iter().any(|edges| edges[ix] > below(edges)) {
            return None;
        }
        let mut path = outline(chart, columns.iter().map(|edges| edges[ix]));
        for (column, edges) in columns.iter().enumerate().rev() {
            let height = y(chart.height(below(edges)).unwrap_or(1.0));
            let (end, x) = ((column + 1) as f64 * width, column as f64 * width);
            let _ = write!(path, "L{end:.1} {height:.1}H{x:.1}");
        }
        path.push('Z');
        Some((role, path))
    });
    roles.collect()
}

/// Returns the shape of the forecast, from the size now to the trigger; `None`: there is nothing to draw.
fn forecast(chart: &Chart) -> Option<String> {
    let [early, _, late] = chart.ahead?;
    let trigger = y(chart.height(chart.trigger?.here)?);
    let now = y(chart.height(total(&chart.now))?);
    let from = chart.past() * SIDE;
    let at = |requests: f64| chart.ahead_at(requests) * SIDE;
    let (early, late) = (at(early), at(late));
    (late > from).then(|| format!("M{from:.1} {now:.1}L{early:.1} {trigger:.1}H{late:.1}Z"))
}
