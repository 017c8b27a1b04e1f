//! Alerts: what the user wants to be told when it happens, once each time it does.
//!
//! A session is looked at when it has changed. What was so already while it was not live is taken note
//! of and never told; what a live session shows at first sight is told once.

use super::page::id;
use super::{App, Brief, ItemId, Notice, Weight};
use crate::model::Kind;
use crate::model::alerts::{Alerts, Channel};
use crate::model::fleet::{FileId, SessionKey};
use crate::model::forecast::Forecast;
use crate::model::session::{Item, Session};
use crate::model::threshold::Threshold;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// So far below a share a context has to fall before growing past it is news again, as a share of the
/// trigger; half of a share that is smaller than twice this.
const CLEARLY: f64 = 0.05;

/// Something the user wanted to be told. Texts are as the log has them: whoever passes them on makes
/// them inert.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// The session.
    pub session: SessionKey,
    /// What happened.
    pub cause: Cause,
    /// What happened, as a line: the session and what is the matter with it.
    pub message: String,
    /// The agent's id.
    pub agent: &'static str,
    /// The project's name.
    pub project: Option<String>,
    /// The model's id.
    pub model: Option<String>,
    /// The session's id.
    pub id: Option<String>,
    /// Where its log is.
    pub log: Option<Arc<PathBuf>>,
    /// Tokens in its context.
    pub used: u64,
    /// Those that were reported.
    pub known: u64,
    /// The trigger, in tokens; `None`: the agent is not known to compact.
    pub trigger: Option<u64>,
    /// The window, in tokens.
    pub window: u64,
    /// The context in whole percent of the trigger or, where none is known, of the window; rounded down.
    pub percent: u64,
    /// Requests that are left before the agent compacts, the forecast's median.
    pub requests_left: Option<u64>,
}

/// Why the user is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The context has grown past a share of its trigger or, where none is known, of its window.
    Share,
    /// Few requests are left.
    RequestsLeft,
    /// An item is large.
    Item {
        /// Its tokens.
        tokens: u64,
        /// The tool that it is of.
        tool: Option<String>,
    },
}

/// What the user wants to be told, and what he was told.
#[derive(Debug, Default)]
pub(super) struct Watch {
    wanted: Alerts,
    /// The files that changed since they were looked at.
    changed: BTreeSet<FileId>,
    /// Kept for files that are gone, too: they may come back.
    told: HashMap<SessionKey, Told>,
    /// What nobody has taken yet.
    raised: Vec<Alert>,
}

impl Cause {
    /// The word for it, as a command of the user's gets it.
    pub const fn name(&self) -> &'static str {
        match self {
            Cause::Share => "share",
            Cause::RequestsLeft => "requests",
            Cause::Item { .. } => "item",
        }
    }
}

impl Watch {
    /// A file's sessions are others now.
    pub(super) fn note(&mut self, file: FileId) {
        if self.wanted.are_on() {
            self.changed.insert(file);
        }
    }
}

/// What of a session is no news any more.
#[derive(Debug, Default)]
struct Told {
    /// How many of the shares, from the smallest, it grew past and did not clearly fall below.
    shares: usize,
    /// Whether few requests were left, and clearly more have not been since.
    few_left: bool,
    /// Its large items, each for as long as it lives.
    items: HashSet<ItemId>,
}

impl Told {
    /// What is news of a session, with what makes it a line.
    fn news(&mut self, wanted: &Alerts, session: &Session, brief: &Brief) -> Vec<(Cause, String)> {
        // The most urgent last: the line on screen shows the newest.
        let size = wanted.item;
        let large = size.and_then(|size| self.finds_large(size, session, brief));
        let mut news: Vec<(Cause, String)> = large.into_iter().collect();
        if let (Some(few), Ok(forecast)) = (wanted.requests_left, brief.forecast_then(session))
            && self.runs_short(few, requests_left(&forecast))
        {
            news.push((Cause::RequestsLeft, forecast.to_string()));
        }
        if self.grows_past(&wanted.shares, share(brief)) {
            let of = match brief.limits.trigger {
                Some(_) => "trigger",
                None => "window",
            };
            let line = format!("at {}% of its {of}", percent(brief));
            news.push((Cause::Share, line));
        }
        news
    }

    /// Whether the context has grown past one share more.
    fn grows_past(&mut self, shares: &[f64], now: f64) -> bool {
        let past = shares.partition_point(|share| now >= *share);
        let held = shares.partition_point(|share| now >= (share - CLEARLY).max(share / 2.0));
        let is_news = past > self.shares;
        self.shares = self.shares.min(held).max(past);
        is_news
    }

    /// Whether only few requests are left of a sudden. Clearly more are half as many again and one.
    fn runs_short(&mut self, few: u64, left: u64) -> bool {
        let is_news = left <= few && !self.few_left;
        let clearly_more = left.saturating_mul(2) > few.saturating_mul(3).saturating_add(2);
        self.few_left = left <= few || (self.few_left && !clearly_more);
        is_news
    }

    /// The largest of the items that are large and were not told of.
    fn finds_large(
        &mut self,
        size: Threshold,
        session: &Session,
        brief: &Brief,
    ) -> Option<(Cause, String)> {
        let sized = session
            .alive()
            .into_iter()
            .map(|ix| (session.tokens(ix).0, &session.items()[ix]));
        let new: Vec<(u64, &Item)> = sized
            .filter(|(tokens, _)| size.is_reached(*tokens, brief.limits.window))
            .filter(|(_, item)| self.items.insert(id(item)))
            .collect();
        let (tokens, item) = *new.iter().max_by_key(|(tokens, _)| *tokens)?;
        let more = match new.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        let tool = item.tool.as_deref().map(str::to_owned);
        let what = match (&tool, item.kind) {
            (Some(tool), Kind::ToolResult) => format!("{tool} result"),
            _ => format!("{} {}", item.role.name(), item.kind.name()).replace('_', " "),
        };
        let line = format!("{what} of {:.1}k tokens{more}", tokens as f64 / 1e3);
        Some((Cause::Item { tokens, tool }, line))
    }
}

/// Where the context ends: at its trigger or, where none is known, with its window.
fn end(brief: &Brief) -> u64 {
    brief.limits.trigger.unwrap_or(brief.limits.window)
}

/// How much of the way to its end a context has gone.
fn share(brief: &Brief) -> f64 {
    match end(brief) {
        0 => 0.0,
        end => brief.context.used as f64 / end as f64,
    }
}

fn percent(brief: &Brief) -> u64 {
    let percent = u128::from(brief.context.used) * 100 / u128::from(end(brief).max(1));
    u64::try_from(percent).unwrap_or(u64::MAX)
}

fn requests_left(forecast: &Forecast) -> u64 {
    let [_, median, _] = forecast.requests.rounded();
    median
}

impl App {
    /// Sets what the user wants to be told from now on.
    pub fn set_alerts(&mut self, wanted: Alerts) {
        self.watch.wanted = wanted;
    }

    /// What is to be told by other means than the screen, since this was asked last.
    pub fn take_alerts(&mut self) -> Vec<Alert> {
        std::mem::take(&mut self.watch.raised)
    }

    /// Looks at the sessions that have changed.
    pub(super) fn raise_alerts(&mut self) {
        for file in std::mem::take(&mut self.watch.changed) {
            let keys: Vec<SessionKey> = self.fleet.of_file(file).map(|(key, _)| key).collect();
            for key in keys {
                self.look_for_news(key);
            }
        }
    }

    fn look_for_news(&mut self, key: SessionKey) {
        let Some(session) = self.fleet.get(key) else {
            return;
        };
        let briefs = &mut self.shown.briefs;
        let brief = briefs.entry(key).or_insert_with(|| Brief::of(session));
        let watch = &mut self.watch;
        let told = watch.told.entry(key).or_default();
        let news = told.news(&watch.wanted, session, brief);
        if news.is_empty() || !self.is_live(key) {
            return;
        }
        let about = self.fleet.name(key);
        for (cause, line) in news {
            let message = format!("{about}: {line}");
            let alert = self.alert(key, cause, message);
            self.watch.raised.extend(alert);
            if self.watch.wanted.notify.contains(&Channel::Screen) {
                self.notices.add(Notice {
                    at: self.now,
                    weight: Weight::Alert,
                    about: about.clone(),
                    text: line,
                });
            }
        }
    }

    /// An alert, with all that is known of its session.
    fn alert(&self, key: SessionKey, cause: Cause, message: String) -> Option<Alert> {
        let session = self.fleet.get(key)?;
        let brief = self.brief(key)?;
        let project = session.project();
        let forecast = brief.forecast_then(session).ok();
        Some(Alert {
            session: key,
            cause,
            message,
            agent: session.agent,
            project: (!project.is_empty()).then(|| project.to_owned()),
            model: session.model().map(str::to_owned),
            id: session.meta.id.as_deref().map(str::to_owned),
            log: self.fleet.facts(key).map(|facts| Arc::clone(&facts.path)),
            used: brief.context.used,
            known: brief.context.known,
            trigger: brief.limits.trigger,
            window: brief.limits.window,
            percent: percent(brief),
            requests_left: forecast.as_ref().map(requests_left),
        })
    }
}

#[cfg(test)]
mod tests;
