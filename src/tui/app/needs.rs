//! Determines which sessions need the user, and why.

use super::listed::nearness;
use super::{App, Nearness};
use jiff::Timestamp;
use model::due::prompt_cache::CacheState;
use model::due::triggers::idle_at;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Activity, SessionKey};

/// A prompt cache that ends within this part of its time is soon cold.
const SOON: i64 = 4;
/// No provider keeps a prompt longer, in seconds.
const LONGEST_LIFE: i64 = 86_400;
/// A session that compacts within so many seconds if nobody types is near its trigger.
const IDLE_SECONDS: i64 = 600;

/// The reason for which a session needs the user, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Its agent waits for the user.
    Waits,
    /// It will compact soon.
    Compacts,
    /// Its prompt cache is soon cold: the next prompt will cost more then.
    Cools,
}

impl Need {
    /// Returns the reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Need::Waits => "waits for you",
            Need::Compacts => "compacts soon",
            Need::Cools => "cache cold soon",
        }
    }
}

impl App {
    /// Returns a session other than the open one whose agent waits for the user, and the number of these sessions.
    pub(super) fn other_waiting(&self, open: SessionKey) -> Option<(SessionKey, usize)> {
        let others = self.shown.active.iter().filter(|(key, _)| *key != open);
        // Few wait: what else a session may need is not asked for.
        let waiting = others.filter(|(key, active)| {
            let waits =
                self.sessions.live_since(*key, *active, self.now) == Some(Activity::Waiting);
            let gauge = self.sessions.gauge(*key).filter(|_| waits);
            gauge.is_some_and(|gauge| gauge.meta.parent.is_none())
        });
        let first = waiting.clone().map(|(key, _)| *key).min()?;
        Some((first, waiting.count()))
    }

    /// Returns the most urgent reason for which a session needs the user; `None`: it does not.
    pub fn need(&self, key: SessionKey) -> Option<Need> {
        let gauge = self.sessions.gauge(key)?;
        self.need_of(key, gauge, self.sessions.activity_of(key))
    }

    /// Returns the most urgent reason for which a session with this last activity needs the user.
    pub(super) fn need_of(
        &self,
        key: SessionKey,
        gauge: &SessionGauge,
        active: Option<Timestamp>,
    ) -> Option<Need> {
        // Nobody knows what it does now, nor whether its cache was used meanwhile.
        if self.sessions.away(key).is_some() {
            return None;
        }
        let activity = self.sessions.live_since(key, active, self.now);
        if activity == Some(Activity::Waiting) {
            return Some(Need::Waits);
        }
        let left = |until: Timestamp| until.as_second() - self.now.as_second();
        let is_idle_soon = || idle_at(gauge, self.now).is_some_and(|at| left(at) <= IDLE_SECONDS);
        if activity.is_some() && (nearness(gauge) != Nearness::Calm || is_idle_soon()) {
            return Some(Need::Compacts);
        }
        // A sub-agent ends with its task: the user goes on with its parent. No cache is asked for that no provider keeps as
        // long, since thousands of sessions are old.
        let is_recent = left(active?) > -LONGEST_LIFE;
        if gauge.meta.parent.is_some() || !is_recent {
            return None;
        }
        let cache = gauge.prompt_cache()?;
        let life = i64::from(cache.life.seconds);
        match cache.state(self.now) {
            CacheState::Warm(until) if left(until) <= life / SOON => Some(Need::Cools),
            _ => None,
        }
    }
}
