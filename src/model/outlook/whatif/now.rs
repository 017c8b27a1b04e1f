//! Studies the actions that are open to the user now, and what would follow: the size of the context, the requests until the next compaction,
//! and what both cost.
//!
//! The context goes on growing at the session's pace. Prices are those of the provider's list for the prompts and the
//! summary, without the answers.

use super::course::GrowthHistory;
use super::{RetentionRule, kept_by_own_rule, limits, seen};
use crate::cost::cache_history::CacheHistory;
use crate::cost::calls::Calls;
use crate::cost::tools::server_of;
use crate::event::Surcharges;
use crate::history::ItemIx;
use crate::outlook::forecast::{Forecast, NoForecast, forecast_as_if};
use crate::session::Session;
use crate::session::context::Context;
use crate::session::replay::Snapshot;
use crate::values::token_usage::TokenUsage;
use crate::window::{Overrides, PriceRow};
use crate::{Kind, LeaveReason, Role, Source};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most servers and the most skills that are listed.
const MOST_GROUPS: usize = 3;
/// The least tokens of a server or a skill that is listed.
const LEAST_TOKENS: u64 = 500;

/// An action of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// Nothing: to compare with.
    Nothing,
    /// A compaction by hand.
    Compact,
    /// A new start.
    Clear,
    /// The marked items, so many, had never come.
    WithoutMarked(usize),
    /// The tools of an MCP server and their results had never come.
    WithoutServer(String),
    /// A skill had never come.
    WithoutSkill(String),
    /// The model has another window, of so many tokens.
    Window(u64),
    /// The agent compacts at so many tokens, three quarters of its trigger.
    Trigger(u64),
    /// The agent does not compact before the window is full.
    NoTrigger,
}

/// The consequences of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The action.
    pub action: UserAction,
    /// The size of the context after it, in tokens.
    pub size: u64,
    /// The size at which the agent compacts then; `None`: not known.
    pub trigger: Option<u64>,
    /// The requests until then.
    pub forecast: Result<Forecast, NoForecast>,
    /// The cost of the action itself, in US dollars; `None`: not known.
    pub usd: Option<f64>,
    /// The cost of the next prompt, in US dollars; `None`: not known.
    pub next_usd: Option<f64>,
    /// The least and the most that the session's compactions left, of a compaction; `None`: fewer than two are known.
    pub left: Option<[u64; 2]>,
}

/// Shows whether the provider's cache has the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// It has the newest prompt.
    Warm,
    /// It has nothing of it, or may have lost it.
    Cold,
}

/// The data from which outlooks are computed.
struct Inputs<'a> {
    session: &'a Session,
    snapshot: &'a Snapshot,
    cache: Cache,
    model: Option<&'a str>,
    price: Option<&'a PriceRow>,
    /// The seconds for which a prompt is kept, by the log; 0: not known.
    kept_seconds: u32,
    /// The newest prompt, which a cache may have.
    cached: u64,
    /// The tokens that the cache has of a prompt after a compaction; 0 where nothing was ever cached.
    prefix: u64,
}

/// Returns what the user can do in this state, nothing first, and what would follow. `marked` are the marked items in
/// the context.
pub fn outlooks(
    session: &Session,
    snapshot: &Snapshot,
    marked: &BTreeSet<ItemIx>,
    cache: Cache,
) -> Vec<Outlook> {
    let newest = snapshot.requests.checked_sub(1);
    let newest = newest.and_then(|ix| session.requests().get(ix));
    let model = newest
        .and_then(|request| request.model.as_ref())
        .map(|model| &**model);
    let model = model.or(session.model());
    let minutes = newest.map_or(0, |request| request.cache_minutes);
    let of = Inputs {
        session,
        snapshot,
        cache,
        model,
        price: model.and_then(|id| session.rules().price_of(session.model_at(id))),
        kept_seconds: u32::from(minutes) * 60,
        cached: newest.map_or(0, |request| request.prompt),
        prefix: if session.cache_clock.has_cache {
            let seen = CacheHistory::of(session, snapshot.requests);
            let system = snapshot.context.role(Role::System).tokens;
            seen.prefix.unwrap_or(system)
        } else {
            0
        },
    };
    let context = snapshot.context;
    let mut all = vec![of.outlook(UserAction::Nothing, context, None, of.cached)];
    all.extend(of.resets());
    if !marked.is_empty() {
        let action = UserAction::WithoutMarked(marked.len());
        all.push(of.without(action, of.sum(|ix| marked.contains(&ix))));
    }
    all.extend(of.groups());
    all.extend(of.other_limits());
    all
}

impl Inputs<'_> {
    fn used(&self) -> u64 {
        self.snapshot.context.used
    }

    /// Returns what follows an action after which this is the context, and the cache has so many tokens of its prompt if it is
    /// warm. `trigger` is the size at which the agent compacts then; `None`: as now.
    fn outlook(
        &self,
        action: UserAction,
        context: Context,
        trigger: Option<u64>,
        cached: u64,
    ) -> Outlook {
        let limits = &self.snapshot.limits;
        let near = trigger.or_else(|| limits.compacts_near());
        Outlook {
            action,
            size: context.used,
            trigger: trigger.or(limits.trigger),
            forecast: forecast_as_if(self.session, self.snapshot, context, near),
            usd: Some(0.0),
            next_usd: self.next_usd(context.used, cached),
            left: None,
        }
    }

    /// Returns the compaction by hand and the new start. The agent's own count begins again with both.
    fn resets(&self) -> Vec<Outlook> {
        let requests = self.snapshot.requests;
        if requests == 0 {
            return Vec::new();
        }
        let course = GrowthHistory::of(self.session, requests, &BTreeSet::new());
        let usual = Overrides::default();
        let seen = seen(self.session, course.requests, &usual);
        let limits = limits(self.session, course.requests);
        let before = self.left_before();
        let keeps = match before.get(before.len() / 2) {
            Some(&after) => RetentionRule::Learned(after),
            None => kept_by_own_rule(self.session, &course, &limits, &seen),
        };
        let user = self.snapshot.context.role(Role::User).tokens;
        let after = course.after(&keeps, self.used(), user, &mut (0..0));
        let summary = match &keeps {
            RetentionRule::Policy(_, summary) | RetentionRule::Summary(summary) => *summary,
            _ => self.session.rules().summary.min(after),
        };
        let reset = |action, used| {
            let context = Context {
                used,
                own: None,
                ..self.snapshot.context
            };
            self.outlook(action, context, None, self.prefix)
        };
        let mut all = Vec::new();
        if after < self.used() {
            all.push(Outlook {
                usd: self.compaction_usd(summary),
                // The request that makes the summary renews the prefix.
                next_usd: self.prompt_usd(after, self.prefix.min(after)),
                left: match before[..] {
                    [least, .., most] => Some([least, most]),
                    _ => None,
                },
                ..reset(UserAction::Compact, after)
            });
        }
        all.push(reset(UserAction::Clear, course.prefix.min(self.used())));
        all
    }

    /// Returns what the session's compactions left so far, by hand or not, as reports show it, the least first.
    fn left_before(&self) -> Vec<u64> {
        let resets = self.session.resets().iter().take(self.snapshot.resets);
        let compactions = resets.filter(|reset| {
            reset.gone == LeaveReason::Compaction && reset.after_source == Source::Reported
        });
        let mut left: Vec<u64> = compactions.filter_map(|reset| reset.after).collect();
        left.sort_unstable();
        left
    }

    /// Returns the outlook if so many tokens had never come.
    fn without(&self, action: UserAction, freed: u64) -> Outlook {
        let context = self.snapshot.context.without(freed);
        self.outlook(action, context, None, self.cached.saturating_sub(freed))
    }

    /// Returns the outlooks without the largest MCP servers and skills in the context.
    fn groups(&self) -> Vec<Outlook> {
        let mut servers: BTreeMap<&str, u64> = BTreeMap::new();
        let mut skills: BTreeMap<String, u64> = BTreeMap::new();
        for (ix, tokens, _) in &self.snapshot.items {
            let Some(item) = self.session.items().get(*ix) else {
                continue;
            };
            let sum = match (item.kind, item.tool.as_deref().and_then(server_of)) {
                (Kind::Skill, _) => skills.entry(skill_name(self.session, *ix)).or_default(),
                (_, Some(server)) => servers.entry(server).or_default(),
                _ => continue,
            };
            *sum = sum.saturating_add(*tokens);
        }
        let servers = servers
            .into_iter()
            .map(|(name, tokens)| (UserAction::WithoutServer(name.to_owned()), tokens));
        let skills = skills
            .into_iter()
            .map(|(name, tokens)| (UserAction::WithoutSkill(name), tokens));
        let largest = largest(servers).into_iter().chain(largest(skills));
        largest
            .map(|(action, freed)| self.without(action, freed))
            .collect()
    }

    /// Returns the outlooks with the model's other windows, with an earlier compaction, and without one.
    fn other_limits(&self) -> Vec<Outlook> {
        let limits = &self.snapshot.limits;
        let context = self.snapshot.context;
        let with = |action, trigger| self.outlook(action, context, Some(trigger), self.cached);
        let mut all = Vec::new();
        let window = self.model.and_then(|model| {
            let rules = self.session.rules();
            rules.other_window(
                self.session.agent,
                self.session.model_at(model),
                limits.window,
            )
        });
        if let (Some(window), Some(trigger)) = (window, limits.trigger)
            && limits.window > 0
        {
            // The agent's rules are a share of the window, as far as they go by it.
            let share = u128::from(trigger) * u128::from(window) / u128::from(limits.window);
            let trigger = u64::try_from(share).unwrap_or(u64::MAX);
            all.push(with(UserAction::Window(window), trigger));
        }
        let earlier = limits.trigger.map(|trigger| trigger - trigger / 4);
        if let Some(earlier) = earlier.filter(|earlier| *earlier > context.counted()) {
            all.push(with(UserAction::Trigger(earlier), earlier));
        }
        if limits
            .trigger
            .is_some_and(|trigger| trigger < limits.window)
        {
            all.push(with(UserAction::NoTrigger, limits.window));
        }
        all
    }

    fn sum(&self, is_meant: impl Fn(ItemIx) -> bool) -> u64 {
        let items = self.snapshot.items.iter();
        let meant = items.filter(|(ix, ..)| is_meant(*ix));
        meant.fold(0, |sum, (_, tokens, _)| sum.saturating_add(*tokens))
    }

    /// Returns the cost of a prompt of which a warm cache has this many tokens.
    fn next_usd(&self, prompt: u64, cached: u64) -> Option<f64> {
        let read = match self.cache {
            Cache::Warm => cached.min(prompt),
            Cache::Cold => 0,
        };
        self.prompt_usd(prompt, read)
    }

    fn prompt_usd(&self, prompt: u64, read: u64) -> Option<f64> {
        self.price?.prompt_usd(prompt, read, self.kept_seconds)
    }

    /// Returns the cost of the request that makes a summary of the context.
    fn compaction_usd(&self, summary: u64) -> Option<f64> {
        let written = TokenUsage {
            output: summary,
            ..TokenUsage::default()
        };
        let prompt = self.next_usd(self.used(), self.cached)?;
        Some(prompt + self.price?.usd(&written, Surcharges::NONE)?)
    }
}

/// Returns the largest groups of tokens that are worth a row.
fn largest(groups: impl Iterator<Item = (UserAction, u64)>) -> Vec<(UserAction, u64)> {
    let mut groups: Vec<(UserAction, u64)> = groups
        .filter(|(_, tokens)| *tokens >= LEAST_TOKENS)
        .collect();
    groups.sort_by_key(|(_, tokens)| Reverse(*tokens));
    groups.truncate(MOST_GROUPS);
    groups
}

/// Returns the name of a skill. The texts of skills begin alike, so the call whose result is before it names it.
fn skill_name(session: &Session, ix: ItemIx) -> String {
    let items = session.items();
    if let Some(name) = items[ix].tool.as_deref() {
        return name.to_owned();
    }
    let result = items[..ix]
        .iter()
        .rposition(|item| item.kind == Kind::ToolResult);
    let named = result.and_then(|result| {
        let item = items
            .get(result)
            .filter(|item| item.tool.as_deref() == Some("Skill"))?;
        let words = Calls::of_item(session, result).subject(session, item)?;
        words.split_whitespace().next().map(str::to_owned)
    });
    let text = items[ix].preview.trim();
    named.unwrap_or_else(|| text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests;
