//! The limits of a plan in words.

use jiff::Timestamp;
use model::event::{PlanLimit, PlanLimits};
use model::lists::gauge::SessionGauge;

/// Returns the limits that hold, with the part that the session used if that is known: `5h 42% (this session 3%), week
/// 12% (1%)`; `None`: there are none.
pub fn limits(gauge: &SessionGauge, now: Timestamp) -> Option<String> {
    if !gauge.is_plan_use_known() {
        return in_short(gauge, now);
    }
    let mut words = "this session ";
    joined(gauge.plan_limits()?, now, |limit| {
        let words = std::mem::take(&mut words);
        let by = share(limit.percent_by_session());
        format!("{} ({words}{by}%)", one(limit))
    })
}

/// Returns the limits that hold: `5h 42%, week 12%`; `None`: there are none.
pub fn in_short(gauge: &SessionGauge, now: Timestamp) -> Option<String> {
    joined(gauge.plan_limits()?, now, one)
}

/// Returns one limit: `5h 42%`.
pub fn one(limit: &PlanLimit) -> String {
    format!("{} {}%", window(limit), share(limit.percent()))
}

fn joined(
    limits: &PlanLimits,
    now: Timestamp,
    text: impl FnMut(&PlanLimit) -> String,
) -> Option<String> {
    let held = limits.all().iter().filter(|limit| limit.holds(now));
    let texts: Vec<String> = held.map(text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Returns the name of a limit by the length of its window: `5h`, `week`.
fn window(limit: &PlanLimit) -> String {
    match limit.minutes {
        10_080 => "week".to_owned(),
        minutes if minutes % 1_440 == 0 => format!("{}d", minutes / 1_440),
        minutes if minutes % 60 == 0 => format!("{}h", minutes / 60),
        minutes => format!("{minutes}m"),
    }
}

/// Returns a percentage; below ten with a decimal, if it is no whole number.
fn share(percent: f64) -> String {
    let tenths = (percent * 10.0).round() / 10.0;
    if tenths < 10.0 && tenths.fract() != 0.0 {
        format!("{tenths:.1}")
    } else {
        format!("{percent:.0}")
    }
}
