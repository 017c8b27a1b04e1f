//! What the list of sessions shows of a session, computed once for each change of it.

use super::Stage;
use crate::paint::Tone;
use jiff::Timestamp;
use model::Gone;
use model::context::Context;
use model::forecast::{Forecast, NoForecast, forecast, is_idle};
use model::session::{Session, SizedItem};
use model::window::Limits;
use render::number;
use std::cell::OnceCell;

/// How many requests the growth bars show.
pub const GROWTH_BARS: usize = 8;

/// How long a compaction is shown as new, in seconds.
const NEWS_SECONDS: i64 = 120;

/// The summary of a session.
#[derive(Debug, Clone)]
pub struct Summary {
    /// How full it is.
    pub context: Context,
    /// Its window and trigger.
    pub limits: Limits,
    /// Whether `context` is what a report on the whole log would show.
    pub is_final: bool,
    /// Whether the sizes of its roles and items may still change.
    pub stage: Stage,
    /// What the prompt grew by with each of the last requests, oldest first; 0 where it shrank.
    pub growth: Vec<u64>,
    /// Its last compaction.
    pub compacted: Option<Compacted>,
    /// How many compactions the part of the log that was read has.
    pub compactions: usize,
    /// As of the newest record; computed on demand.
    forecast: OnceCell<Result<Forecast, NoForecast>>,
}

/// A past compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Tokens before.
    pub before: u64,
    /// Tokens after, if known.
    pub after: Option<u64>,
    /// When.
    pub at: Option<Timestamp>,
    /// Whether a usage report followed.
    pub is_reported: bool,
}

/// How near a context is to its trigger.
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

impl Compacted {
    /// The sizes before and after; `context` replaces an unknown size after.
    pub fn sizes(&self, context: &Context) -> String {
        let after = self.after.unwrap_or(context.used);
        format!("{} → {}", number::short(self.before), number::short(after))
    }
}

impl Summary {
    /// The summary of a session.
    pub fn of(session: &Session) -> Summary {
        let context = session.context();
        Summary {
            context,
            is_final: session.is_final(&context),
            stage: Stage::of(session),
            limits: session.limits(),
            growth: growth(session),
            compacted: last_compaction(session),
            compactions: session.compactions(),
            forecast: OnceCell::new(),
        }
    }

    /// When the session will compact; it must be the one that this is the summary of.
    pub fn forecast(&self, session: &Session, now: Timestamp) -> Result<Forecast, NoForecast> {
        let mut forecast = self.forecast_then(session)?;
        // Nothing else of it depends on the time.
        if is_idle(session, Some(now)) {
            forecast.minutes = None;
        }
        Ok(forecast)
    }

    /// The same as of the session's newest record.
    pub fn forecast_then(&self, session: &Session) -> Result<Forecast, NoForecast> {
        *self.forecast.get_or_init(|| forecast(session, None))
    }

    /// Whether the size of the context may still change.
    pub fn size_stage(&self) -> Stage {
        Stage::settled_if(self.is_final)
    }

    /// The same of how much of its trigger or window that is.
    pub fn share_stage(&self) -> Stage {
        self.size_stage().of_share(&self.limits)
    }

    /// How full it is in whole percent, rounded: of its trigger or, where none is known, of its window. `None`: it is
    /// empty.
    pub fn percent(&self) -> Option<u64> {
        let (counted, end) = self.context.filled(&self.limits);
        number::percent(counted, end).filter(|_| self.context.used > 0)
    }

    /// Tokens left before the trigger; `None`: none is known.
    pub fn headroom(&self) -> Option<u64> {
        Some(self.context.headroom(self.limits.trigger?))
    }

    /// Tokens left before the trigger or, where none is known, before the window is full.
    pub fn left(&self) -> u64 {
        left(&self.context, &self.limits)
    }

    /// How near the trigger or, where none is known, the window's end is.
    pub fn nearness(&self) -> Nearness {
        nearness(&self.context, &self.limits, &self.growth)
    }

    /// The last compaction, if it is recent or no usage report followed it.
    pub fn just_compacted(&self, now: Timestamp) -> Option<Compacted> {
        self.compacted.filter(|c| {
            let recent =
                c.at.is_some_and(|at| seconds_since(at, now) <= NEWS_SECONDS);
            recent || !c.is_reported
        })
    }
}

/// How near a context is to its trigger or, where none is known, to its window's end, if it grows as
/// before.
pub fn nearness(context: &Context, limits: &Limits, growth: &[u64]) -> Nearness {
    if context.used == 0 {
        return Nearness::Calm;
    }
    let end = limits.end();
    let left = left(context, limits);
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

/// Tokens left before the trigger or, where none is known, before the window is full.
fn left(context: &Context, limits: &Limits) -> u64 {
    match limits.trigger {
        _ if limits.ends => u64::MAX,
        Some(trigger) => context.headroom(trigger),
        None => limits.window.saturating_sub(context.used),
    }
}

fn growth(session: &Session) -> Vec<u64> {
    let last = session.newest_prompts(GROWTH_BARS + 1);
    last.windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect()
}

fn last_compaction(session: &Session) -> Option<Compacted> {
    let (reset, is_reported) = session.newest_reset()?;
    if reset.gone != Gone::Compaction {
        return None;
    }
    Some(Compacted {
        before: reset.before,
        after: reset.after,
        at: reset.at,
        is_reported,
    })
}

/// The largest item in the context.
pub fn largest_item(session: &Session) -> Option<SizedItem> {
    session
        .alive()
        .into_iter()
        .map(|ix| {
            let (tokens, source) = session.tokens(ix);
            (ix, tokens, source)
        })
        .max_by_key(|(_, tokens, _)| *tokens)
        .filter(|(_, tokens, _)| *tokens > 0)
}

/// Whole seconds from then to now; 0 for a time in the future, since clocks differ.
pub fn seconds_since(then: Timestamp, now: Timestamp) -> i64 {
    now.as_second().saturating_sub(then.as_second()).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::testing::{app, logs, now};
    use model::event::Lane;
    use model::fleet::{FileId, SessionKey};

    fn summary(file: u64) -> Summary {
        let app = app(logs(), 80, 24);
        let key = SessionKey {
            file: FileId(file),
            lane: Lane::Main,
        };
        app.summary(key).expect("a row on screen").clone()
    }

    #[test]
    fn growth_is_between_neighbours() {
        assert_eq!(summary(1).growth, [14_700, 22_500, 13_800]);
    }

    #[test]
    fn minutes_are_for_sessions_at_work() {
        let app = app(logs(), 80, 24);
        let key = SessionKey {
            file: FileId(1),
            lane: Lane::Main,
        };
        let (summary, session) = (app.summary(key).unwrap(), app.fleet.get(key).unwrap());
        let soon = summary.forecast(session, now()).unwrap();
        assert!(soon.minutes.is_some());
        let later = now() + jiff::SignedDuration::from_hours(1);
        let idle = summary.forecast(session, later).unwrap();
        assert_eq!(idle.minutes, None);
        assert_eq!(idle.requests, soon.requests);
    }

    #[test]
    fn nearness_follows_what_is_left() {
        let mut summary = summary(1);
        summary.limits.trigger = Some(1_000_000);
        assert_eq!(summary.nearness(), Nearness::Calm);
        summary.limits.trigger = Some(summary.context.used + 30_000);
        summary.growth = vec![100];
        assert_eq!(summary.nearness(), Nearness::Near);
        summary.growth = vec![20_000];
        assert_eq!(summary.nearness(), Nearness::Next);
        summary.limits.trigger = Some(1);
        assert_eq!(summary.nearness(), Nearness::Next);
        summary.limits.ends = true;
        assert_eq!(summary.nearness(), Nearness::Calm);
        assert_eq!(summary.left(), u64::MAX);
    }

    #[test]
    fn a_compaction_is_new_until_a_report_and_a_while() {
        let compacted = summary(5);
        assert!(compacted.just_compacted(now()).is_some());
        let mut reported = compacted.clone();
        reported.compacted.as_mut().expect("compacted").is_reported = true;
        assert!(reported.just_compacted(now()).is_some());
        let later = now() + jiff::SignedDuration::from_secs(NEWS_SECONDS * 2);
        assert_eq!(reported.just_compacted(later), None);
        assert!(compacted.just_compacted(later).is_some());
    }

    #[test]
    fn a_future_time_is_now() {
        let later = now() + jiff::SignedDuration::from_secs(60);
        assert_eq!(seconds_since(later, now()), 0);
    }
}
