//! Alerts: each event that the user has asked for is reported once.
//!
//! A session is checked after each change. What is true while it is not live is recorded and never reported;
//! what is true of a live session when it is first seen is reported once, but for items that came long before. A compaction removes the session's alerts
//! from the screen, and so does another window.

use super::items::item_id;
use super::listed::{percent, requests_left};
use super::{App, ItemId, Notice, Severity, seconds_since};
use jiff::Timestamp;
use model::Kind;
use model::cost::calls::Calls;
use model::cost::rebuilds::{newest, rebuilds};
use model::due::alerts::{Alerts, Channel, grows_past};
use model::due::triggers::idle_at;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{FileId, LIVE_SECONDS, SessionKey};
use model::session::{ItemIx, RequestIx, Session};
use model::values::threshold::Threshold;
use render::item::words;
use render::{number, rebuild};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use strum::IntoStaticStr;

/// An alert. Its texts are those of the log: not safe to print.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// The session.
    pub session: SessionKey,
    /// The cause of the alert.
    pub cause: Cause,
    /// The session and what happened, as a line.
    pub message: String,
    /// The agent's id.
    pub agent: &'static str,
    /// The project's name.
    pub project: Option<String>,
    /// The model's id.
    pub model: Option<String>,
    /// The session's id.
    pub id: Option<String>,
    /// The path of its log.
    pub log: Option<Arc<PathBuf>>,
    /// Tokens in its context.
    pub used: u64,
    /// Those that the provider reported.
    pub known: u64,
    /// The trigger, in tokens; `None`: none is known.
    pub trigger: Option<u64>,
    /// The window, in tokens.
    pub window: u64,
    /// The context in whole percent of the trigger or, where none is known, of the window; rounded.
    pub percent: u64,
    /// Requests left before the trigger, the forecast's median.
    pub requests_left: Option<u64>,
    /// Minutes until it compacts if nobody types.
    pub minutes_left: Option<u64>,
}

/// The cause of an alert. Its name for the user's command is the variant's in lower case.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// The context has grown past a share of its trigger or, where none is known, of its window.
    Share,
    /// Few requests are left.
    Requests,
    /// Nobody types, and few minutes are left.
    Idle,
    /// The cache was rebuilt, and much was read anew.
    Rebuild,
    /// An item is large.
    Item {
        /// Its tokens.
        tokens: u64,
        /// Its tool.
        tool: Option<String>,
    },
}

/// The alerts that the user wants, and those that were reported.
#[derive(Debug, Default)]
pub(super) struct AlertMonitor {
    wanted: Alerts,
    /// The files that changed since the last check.
    changed: BTreeSet<FileId>,
    /// The reports by session. They are kept for files that are gone: these may come back.
    reported: HashMap<SessionKey, AlertState>,
    /// Alerts that were not taken yet.
    raised: Vec<Alert>,
}

impl AlertMonitor {
    /// Records that a file's sessions have changed.
    pub(super) fn note(&mut self, file: FileId) {
        if self.wanted.are_on() {
            self.changed.insert(file);
        }
    }
}

/// The state of a session's reports.
#[derive(Debug, Default)]
struct AlertState {
    /// The shares that it grew past and did not fall clearly below.
    shares: Vec<f64>,
    /// True if few requests were left, and not clearly more since.
    few_left: bool,
    /// The time at which it compacts if nobody types, as it was reported.
    idle: Option<Timestamp>,
    /// The newest large rebuild that was reported.
    rebuild: Option<RequestIx>,
    /// Its large items that were reported.
    items: HashSet<ItemId>,
    /// The record of its last compaction or clear, by [`model::event::Place::id`].
    reset: Option<u64>,
    /// The time of its newest record.
    until: Option<Timestamp>,
    /// Its window.
    window: Option<u64>,
}

impl AlertState {
    /// Returns true if the context was compacted or cleared since the last check. A compaction that was found only now,
    /// since more of the log was read, is older.
    fn compacts(&mut self, gauge: &SessionGauge) -> bool {
        let until = std::mem::replace(&mut self.until, gauge.updated_at);
        let Some(newest) = gauge.newest_reset else {
            return false;
        };
        let is_other = self.reset.replace(newest.id) != Some(newest.id);
        is_other && newest.at >= until
    }

    /// Returns true if the window is another one than at the last check: the shares were those of a guess.
    fn changes_window(&mut self, gauge: &SessionGauge) -> bool {
        let now = gauge.limits().window;
        self.window.replace(now).is_some_and(|before| before != now)
    }

    /// Returns the new alerts of a session, each with a line of text.
    fn news(
        &mut self,
        wanted: &Alerts,
        session: Option<&Session>,
        gauge: &SessionGauge,
        now: Timestamp,
    ) -> Vec<(Cause, String)> {
        // The most urgent last: the line on screen shows the newest.
        let size = wanted.item;
        let large = size.and_then(|size| self.finds_large(size, session?, gauge));
        let mut news: Vec<(Cause, String)> = large.into_iter().collect();
        let rebuild = wanted.rebuild.zip(session);
        let rebuild = rebuild.and_then(|(size, session)| self.finds_rebuild(size, session, gauge));
        news.extend(rebuild.map(|line| (Cause::Rebuild, line)));
        if let (Some(few), Ok(forecast)) = (wanted.requests_left, gauge.forecast_then())
            && self.runs_short(few, requests_left(&forecast))
        {
            news.push((Cause::Requests, forecast.to_string()));
        }
        if let (Some(few), Some(at)) = (wanted.minutes_left, idle_at(gauge, now))
            && minutes(at, now) <= few
            && self.idle.replace(at) != Some(at)
        {
            let left = number::counted(minutes(at, now), "minute");
            news.push((Cause::Idle, format!("compacts in {left} if nobody types")));
        }
        if grows_past(&wanted.shares, share(gauge), &mut self.shares) {
            let of = gauge.limits().end_name();
            let percent = percent(gauge).unwrap_or_default();
            let line = format!("at {percent}% of its {of}");
            news.push((Cause::Share, line));
        }
        news
    }

    /// Returns true if few requests are left, and were not before. Clearly more means half as many again and one.
    fn runs_short(&mut self, few: u64, left: u64) -> bool {
        let is_news = left <= few && !self.few_left;
        let clearly_more = left.saturating_mul(2) > few.saturating_mul(3).saturating_add(2);
        self.few_left = left <= few || (self.few_left && !clearly_more);
        is_news
    }

    /// Returns the newest large rebuild, if it was not reported yet. One that came long before is no news.
    fn finds_rebuild(
        &mut self,
        size: Threshold,
        session: &Session,
        gauge: &SessionGauge,
    ) -> Option<String> {
        // The agent's client may have the cause of the newest.
        let mut all = newest(session)
            .into_iter()
            .chain(rebuilds(session).into_iter().rev());
        let window = gauge.limits().window;
        let large = all.find(|rebuild| size.is_reached(rebuild.tokens, window))?;
        if self.rebuild >= Some(large.request) {
            return None;
        }
        self.rebuild = Some(large.request);
        let at = session.requests()[large.request].at;
        (!is_old(gauge, at)).then(|| rebuild::one(&large))
    }

    /// Returns the largest of the large items that were not reported yet.
    fn finds_large(
        &mut self,
        size: Threshold,
        session: &Session,
        gauge: &SessionGauge,
    ) -> Option<(Cause, String)> {
        let sized = session.alive().into_iter();
        let sized = sized.map(|ix| (session.tokens(ix).0, ix));
        // A result that came long before is no news when its session is first seen, or read whole.
        let is_old = |ix: ItemIx| is_old(gauge, session.items()[ix].at);
        let new: Vec<(u64, ItemIx)> = sized
            .filter(|(tokens, _)| size.is_reached(*tokens, gauge.limits().window))
            .filter(|(_, ix)| self.items.insert(item_id(&session.items()[*ix])) && !is_old(*ix))
            .collect();
        let (tokens, ix) = new.iter().max_by_key(|(tokens, _)| *tokens)?;
        let item = &session.items()[*ix];
        let more = match new.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        let tool = item.tool.as_deref().map(str::to_owned);
        let what = match (&tool, item.kind) {
            (Some(tool), Kind::ToolResult) => {
                match Calls::of_item(session, *ix).subject(session, item) {
                    Some(subject) => format!("{tool} {subject}"),
                    None => format!("{tool} result"),
                }
            }
            _ => words(&format!("{} {}", item.role.name(), item.kind.name())),
        };
        let line = format!("{what} of {} tokens{more}", number::tokens(*tokens));
        let tokens = *tokens;
        Some((Cause::Item { tokens, tool }, line))
    }
}

/// Returns true if this time is long before the session's newest record.
fn is_old(gauge: &SessionGauge, at: Option<Timestamp>) -> bool {
    let times = gauge.updated_at.zip(at);
    times.is_some_and(|(newest, at)| seconds_since(at, newest) > LIVE_SECONDS)
}

/// Returns the context as a share of its end. Until the log was read whole and counted, this is the lower end of the
/// estimate: a later number must not take an alert back.
fn share(gauge: &SessionGauge) -> f64 {
    let (counted, end) = gauge.context.filled(gauge.limits());
    let counted = if gauge.is_final {
        counted
    } else {
        counted.min(gauge.context.low)
    };
    match end {
        1.. if !gauge.limits().ends => counted as f64 / end as f64,
        _ => 0.0,
    }
}

/// Returns whole minutes until then, rounded up.
fn minutes(until: Timestamp, now: Timestamp) -> u64 {
    let seconds = until.as_second().saturating_sub(now.as_second());
    seconds.max(0).unsigned_abs().div_ceil(60)
}

impl App {
    /// Sets what is reported from now on.
    pub fn set_alerts(&mut self, wanted: Alerts) {
        self.watch.wanted = wanted;
    }

    /// Returns true if any alerts are wanted.
    pub fn has_alerts(&self) -> bool {
        self.watch.wanted.are_on()
    }

    /// Takes the alerts that were raised since the last call, for other channels than the screen.
    pub fn take_alerts(&mut self) -> Vec<Alert> {
        std::mem::take(&mut self.watch.raised)
    }

    /// Checks the sessions that have changed.
    pub(super) fn raise_alerts(&mut self) {
        for file in std::mem::take(&mut self.watch.changed) {
            let keys: Vec<SessionKey> = self.sessions.of_file(file).collect();
            for key in keys {
                self.check(key);
            }
        }
        // Idle sessions do not change.
        if self.watch.wanted.minutes_left.is_some() {
            let active: Vec<SessionKey> = self.shown.active.iter().map(|(key, _)| *key).collect();
            active.into_iter().for_each(|key| self.check(key));
        }
    }

    fn check(&mut self, key: SessionKey) {
        let Some(gauge) = self.sessions.gauge(key) else {
            return;
        };
        let watch = &mut self.watch;
        let reported = watch.reported.entry(key).or_default();
        let is_changed = reported.changes_window(gauge);
        if reported.compacts(gauge) || is_changed {
            self.notices.remove_alerts(key);
        }
        let session = self.sessions.get(key);
        let news = reported.news(&watch.wanted, session, gauge, self.now);
        if news.is_empty() || !self.is_live(key) || self.ui.muted.contains(&key) {
            return;
        }
        let about = self.sessions.name(key);
        for (cause, line) in news {
            let message = format!("{about}: {line}");
            let alert = self.alert(key, cause, message);
            self.watch.raised.extend(alert);
            if self.watch.wanted.notify.contains(&Channel::Screen) {
                self.notices.add(Notice {
                    at: self.now,
                    severity: Severity::Alert,
                    about: about.clone(),
                    text: line,
                    session: Some(key),
                });
            }
        }
    }

    /// Returns an alert, with the facts of its session.
    fn alert(&self, key: SessionKey, cause: Cause, message: String) -> Option<Alert> {
        let gauge = self.sessions.gauge(key)?;
        let project = self.sessions.project_of(gauge);
        let forecast = gauge.forecast_then().ok();
        Some(Alert {
            session: key,
            cause,
            message,
            agent: gauge.agent,
            project: (!project.is_empty()).then(|| project.to_owned()),
            model: gauge.model().map(str::to_owned),
            id: gauge.meta.id.as_deref().map(str::to_owned),
            log: self
                .sessions
                .facts(key)
                .map(|facts| Arc::clone(&facts.path)),
            used: gauge.context.used,
            known: gauge.context.known,
            trigger: gauge.limits().trigger,
            window: gauge.limits().window,
            percent: percent(gauge).unwrap_or_default(),
            requests_left: forecast.as_ref().map(requests_left),
            minutes_left: idle_at(gauge, self.now).map(|at| minutes(at, self.now)),
        })
    }
}

#[cfg(test)]
mod tests;
