//! Computes the values that the list shows of a session and that its gauge does not have.

use super::Stage;
use crate::paint::Tone;
use jiff::Timestamp;
use model::lists::gauge::SessionGauge;
use model::lists::summary::LastReset;
use model::outlook::forecast::Forecast;
use model::session::context::Context;
use model::window::Limits;
use render::number;

/// The number of requests that the growth bars show.
pub const GROWTH_BARS: usize = 8;

/// The time for which a compaction is shown as new, in seconds.
const NEWS_SECONDS: i64 = 120;

/// The texts that name a session, cut to their columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RowNames {
    /// Its project or, for a sub-agent, its type; without a column for the title, whatever names it.
    pub project: String,
    /// Its title.
    pub title: String,
}

/// The nearness of a context to its trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// Far enough.
    Calm,
    /// Less than an eighth of the way is left.
    Near,
    /// The next requests reach it: less than twice the mean growth is left, or less than a fiftieth.
    Next,
}

impl From<Nearness> for Tone {
    fn from(nearness: Nearness) -> Tone {
        match nearness {
            Nearness::Calm => Tone::Plain,
            Nearness::Near => Tone::Near,
            Nearness::Next => Tone::Next,
        }
    }
}

/// Returns whether the size of the context may still change.
pub fn size_stage(gauge: &SessionGauge) -> Stage {
    Stage::settled_if(gauge.is_final)
}

/// Returns the size of the context in whole percent, rounded: of its trigger or, where none is known, of its window.
/// `None`: it is empty.
pub fn percent(gauge: &SessionGauge) -> Option<u64> {
    let (counted, end) = gauge.context.filled(gauge.limits());
    number::percent(counted, end).filter(|_| gauge.context.used > 0)
}

/// Returns the requests that are left, the median, as they are shown.
pub fn requests_left(forecast: &Forecast) -> u64 {
    forecast.requests.rounded()[1]
}

/// Returns the nearness of the context to its trigger or, where none is known, to the window's end.
pub fn nearness(gauge: &SessionGauge) -> Nearness {
    nearness_of(&gauge.context, gauge.limits(), &gauge.growth())
}

/// Returns the last compaction, if it is recent or no usage report followed it.
pub fn just_compacted(gauge: &SessionGauge, now: Timestamp) -> Option<LastReset> {
    let compaction = gauge.newest_reset.filter(|reset| reset.is_compaction);
    compaction.filter(|reset| {
        let is_recent = |at| seconds_since(at, now) <= NEWS_SECONDS;
        reset.at.is_some_and(is_recent) || !reset.is_reported
    })
}

/// Returns the sizes before and after a compaction; that of `context` replaces an unknown size after.
pub fn sizes(reset: &LastReset, context: &Context) -> String {
    let after = reset.after.unwrap_or(context.used);
    format!("{} → {}", number::short(reset.before), number::short(after))
}

/// Returns the nearness of a context to its trigger or, where none is known, to its window's end, if it grows as
/// before.
pub fn nearness_of(context: &Context, limits: &Limits, growth: &[u64]) -> Nearness {
    if context.used == 0 {
        return Nearness::Calm;
    }
    let end = limits.end();
    let left = context.left(limits);
    let grows = match growth.len() as u64 {
        0 => 0,
        n => growth.iter().fold(0u64, |a, b| a.saturating_add(*b)) / n,
    };
    let near = left < end / 8;
    if left == 0 || left < end / 50 || (near && left < grows.saturating_mul(2)) {
        Nearness::Next
    } else if near {
        Nearness::Near
    } else {
        Nearness::Calm
    }
}

/// Returns whole seconds from then to now; 0 for a time in the future, since clocks differ.
pub fn seconds_since(then: Timestamp, now: Timestamp) -> i64 {
    now.as_second().saturating_sub(then.as_second()).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::testing::{app, logs, now, rules};
    use model::event::Conversation;
    use model::lists::sessions::{FileId, SessionKey};
    use model::window::Overrides;

    fn gauge(file: u64) -> SessionGauge {
        let app = app(logs(), 80, 24);
        let key = SessionKey {
            file: FileId(file),
            conversation: Conversation::Main,
        };
        app.sessions.gauge(key).expect("a session").clone()
    }

    #[test]
    fn growth_is_between_neighbours() {
        assert_eq!(gauge(1).growth(), [14_700, 22_500, 13_800]);
    }

    #[test]
    fn minutes_are_for_sessions_at_work() {
        let gauge = gauge(1);
        let soon = gauge.forecast(now()).unwrap();
        assert!(soon.minutes.is_some());
        let later = now() + jiff::SignedDuration::from_hours(1);
        let idle = gauge.forecast(later).unwrap();
        assert_eq!(idle.minutes, None);
        assert_eq!(idle.requests, soon.requests);
    }

    #[test]
    fn nearness_follows_what_is_left() {
        let gauge = gauge(1);
        let (context, mut limits) = (gauge.context, gauge.limits().clone());
        let nearness = |limits: &Limits, growth| nearness_of(&context, limits, growth);
        limits.trigger = Some(1_000_000);
        assert_eq!(nearness(&limits, &[14_700]), Nearness::Calm);
        limits.trigger = Some(context.used + 30_000);
        assert_eq!(nearness(&limits, &[100]), Nearness::Near);
        assert_eq!(nearness(&limits, &[20_000]), Nearness::Next);
        limits.trigger = Some(1);
        assert_eq!(nearness(&limits, &[20_000]), Nearness::Next);
        limits.ends = true;
        assert_eq!(nearness(&limits, &[20_000]), Nearness::Calm);
        assert_eq!(context.left(&limits), u64::MAX);
    }

    #[test]
    fn a_compaction_is_new_until_a_report_and_a_while() {
        let compacted = gauge(5);
        let later = now() + jiff::SignedDuration::from_secs(NEWS_SECONDS * 2);
        assert!(just_compacted(&compacted, now()).is_some());
        assert!(just_compacted(&compacted, later).is_some());
        let mut summary = compacted.summary().clone();
        let reset = summary.newest_reset.as_mut().expect("compacted");
        reset.is_reported = true;
        let reported = SessionGauge::new(summary, rules(), Overrides::none());
        assert!(just_compacted(&reported, now()).is_some());
        assert_eq!(just_compacted(&reported, later), None);
    }

    #[test]
    fn a_future_time_is_now() {
        let later = now() + jiff::SignedDuration::from_secs(60);
        assert_eq!(seconds_since(later, now()), 0);
    }
}
