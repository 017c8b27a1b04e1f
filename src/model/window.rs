//! Determines the size of a window and the size at which the agent compacts, from the models table and from what the
//! session itself has shown. The table (`assets/models.toml`) holds the numbers of models and agents. Code has only the
//! fallbacks for models that no table has: `models::GUESSED_WINDOWS` and [`Tokenizer::default`].

mod cache;
pub mod catalogue;
mod client_status;
pub mod count_rule;
pub mod custom;
mod limits;
mod models;
pub mod other;
mod overrides;
mod pattern;
mod policy;
mod price;
mod proven;
pub mod set;
#[cfg(test)]
mod tests;
mod trigger;
mod unread;

use crate::sizes::pictures::Pictures;
pub use crate::sizes::thinking::Thinking;
pub use cache::{CacheMisses, CacheRow};
pub use catalogue::{Catalogue, ModelAt};
pub use client_status::{Breakdown, ClientCompaction, ClientMiss, ClientStatus, without_window};
pub use count_rule::{Base, CountRule};
pub use limits::{Limits, TriggerSource, WindowSource};
pub use models::ModelRow;
pub use other::{OtherSettings, OtherTrigger, ReadySummary, TriggerKind};
pub use overrides::{Compaction, ModelWindow, Overrides};
pub use pattern::{matches, matches_model};
pub use policy::Policy;
pub use price::{LongPrices, PriceRow, Prices};
pub use proven::ProvenVersion;
pub use trigger::PastSize;
pub use unread::UnreadFacts;

use crate::sizes::calibration::Tokenizer;
use crate::values::earlier::EarlierSessions;
use crate::values::token_usage::Billing;
use custom::Custom;
use jiff::Timestamp;
use serde::Deserialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The models table: windows, tokenizers, policies.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Models; the first row that matches holds.
    #[serde(default)]
    pub model: Vec<ModelRow>,
    /// Tokenizers by name.
    #[serde(default)]
    pub tokenizer: BTreeMap<String, Tokenizer>,
    /// Policies; the first row that matches holds.
    #[serde(default)]
    pub policy: Vec<Policy>,
    /// The triggers of agents other than the size; of each kind the first row that matches holds.
    #[serde(default)]
    pub trigger: Vec<OtherTrigger>,
    /// Prices; the first row that matches holds.
    #[serde(default)]
    pub price: Vec<PriceRow>,
    /// The times for which prompts are kept in caches; the first row that matches holds.
    #[serde(default)]
    pub cache: Vec<CacheRow>,
    /// How often the cache of an agent's prompts was predicted wrongly, by the agent's id.
    #[serde(default)]
    pub misses: BTreeMap<String, CacheMisses>,
    /// The usual size of a compaction's summary, in tokens; 0: not known.
    #[serde(default)]
    pub summary: u64,
    /// Agents that send some models a note in the place of a picture that they log.
    #[serde(default)]
    pub replace_pictures: Vec<String>,
    /// The newest version of each agent whose logs were compared with known counts, by the agent's id.
    #[serde(default)]
    pub proven: BTreeMap<String, ProvenVersion>,
    /// Rows of the user's table that are not used, since their numbers cannot be true: where, and why.
    #[serde(skip)]
    pub refused: Vec<String>,
    /// The user's windows and policies.
    #[serde(skip)]
    pub custom: Custom,
    /// The facts that the user's earlier sessions have shown.
    #[serde(skip)]
    pub earlier: EarlierSessions,
    /// The generated table of models by provider.
    #[serde(skip)]
    pub catalogue: Catalogue,
    /// The way in which each agent's logs count what a response used, by the agent's id, where it is not the usual one.
    #[serde(skip)]
    pub billing: BTreeMap<&'static str, Billing>,
}

/// The data from which the limits of a session are computed.
#[derive(Debug, Clone, Copy)]
pub struct LimitInputs<'a> {
    /// The agent's id.
    pub agent: &'a str,
    /// The agent's version.
    pub version: Option<&'a str>,
    /// The exact model id.
    pub model: Option<&'a str>,
    /// The provider of the model, as the agent names it.
    pub provider: Option<&'a str>,
    /// The session's id.
    pub session: Option<&'a str>,
    /// The time at which it was last at work.
    pub at: Option<Timestamp>,
    /// The window in the log.
    pub logged_window: Option<u64>,
    /// True if the log names which of its windows a model is used with.
    pub says_window: bool,
    /// The trigger in the log.
    pub logged_trigger: Option<u64>,
    /// The largest prompt that was reported for this model.
    pub largest: u64,
    /// The first prompt that was reported after the last compaction.
    pub first: Option<u64>,
    /// The largest prompt since the last compaction that the agent made by itself after which it sent another.
    pub passed: u64,
    /// The tokens that the provider leaves out of each prompt, though the agent counts them.
    pub left_out: u64,
    /// The compactions that the agent made by itself with this model, in order, with what was left out then.
    pub past: &'a [PastSize],
    /// The fields that a report on the whole log may show otherwise.
    pub unread: UnreadFacts,
    /// The window the user set on screen.
    pub set_window: Option<u64>,
    /// The agent's settings.
    pub overrides: &'a Overrides,
}

impl<'a> LimitInputs<'a> {
    /// Returns an agent with a model, of which nothing else is known.
    pub fn new(
        agent: &'a str,
        model: Option<&'a str>,
        overrides: &'a Overrides,
    ) -> LimitInputs<'a> {
        LimitInputs {
            agent,
            version: None,
            model,
            provider: None,
            session: None,
            at: None,
            logged_window: None,
            says_window: false,
            logged_trigger: None,
            largest: 0,
            first: None,
            passed: 0,
            left_out: 0,
            past: &[],
            unread: UnreadFacts::default(),
            set_window: None,
            overrides,
        }
    }
}

/// The name of a policy whose trigger is not documented.
const NOT_KNOWN: &str = "not known";

impl Rules {
    /// Sets the source of all rows that have none.
    pub fn sign(&mut self, source: &str) {
        let models = self.model.iter_mut().map(|row| &mut row.source);
        let policies = self.policy.iter_mut().map(|row| &mut row.source);
        let tokenizers = self.tokenizer.values_mut().map(|row| &mut row.source);
        let prices = self.price.iter_mut().map(|row| &mut row.source);
        let caches = self.cache.iter_mut().map(|row| &mut row.source);
        let all = models.chain(policies).chain(tokenizers).chain(prices);
        let others = self.trigger.iter_mut().map(|row| &mut row.source);
        for slot in all.chain(caches).chain(others) {
            if slot.is_empty() {
                source.clone_into(slot);
            }
        }
    }

    /// Returns these rules with a generated table of models by provider.
    #[must_use]
    pub fn listing(self, catalogue: impl Into<Cow<'static, str>>) -> Rules {
        Rules {
            catalogue: Catalogue::new(catalogue),
            ..self
        }
    }

    /// Returns these rules with another table's rows before them. An error names what does not fit.
    pub fn with_custom(mut self, own: Rules) -> Result<Rules, String> {
        let models = own.model.into_iter().map(|row| ModelRow {
            is_own: true,
            ..row
        });
        self.model.splice(0..0, models);
        self.policy.splice(0..0, own.policy);
        self.price.splice(0..0, own.price);
        self.cache.splice(0..0, own.cache);
        self.trigger.splice(0..0, own.trigger);
        if own.summary > 0 {
            self.summary = own.summary;
        }
        self.tokenizer.extend(own.tokenizer);
        self.replace_pictures.extend(own.replace_pictures);
        self.misses.extend(own.misses);
        self.proven.extend(own.proven);
        self.refused.extend(own.refused);
        let named = self
            .model
            .iter()
            .filter_map(|row| Some((row, row.tokenizer.as_ref()?)));
        for (row, name) in named {
            if !self.tokenizer.contains_key(name) {
                let known: Vec<&str> = self.tokenizer.keys().map(String::as_str).collect();
                return Err(format!(
                    "the model {} names a tokenizer '{name}' that no table has; known are: {}",
                    row.ids.join(", "),
                    known.join(", ")
                ));
            }
        }
        Ok(self)
    }

    /// Returns the way in which an agent's logs count what a response used.
    pub fn billing(&self, agent: &str) -> Billing {
        self.billing.get(agent).copied().unwrap_or_default()
    }

    /// Returns the newest version of an agent whose logs were compared with known counts.
    pub fn proven(&self, agent: &str) -> Option<&str> {
        self.proven.get(agent).map(|proven| &*proven.version)
    }

    /// Returns the tokenizer of a model.
    pub fn tokenizer(&self, agent: &str, model: Option<&str>) -> Tokenizer {
        let row = model.and_then(|id| self.model(agent, id));
        let named = row.and_then(|row| self.tokenizer.get(row.tokenizer.as_ref()?));
        let tokenizer = named.or_else(|| self.tokenizer.get(agent)).cloned();
        let tokenizer = tokenizer.unwrap_or_default();
        let replaces = self.replace_pictures.iter().any(|a| a == agent);
        let sent_or = |pictures| if replaces { pictures } else { Pictures::Sent };
        Tokenizer {
            thinking_growth: row.map_or(0.0, |row| row.thinking_growth),
            thinking: row.map_or(Thinking::default(), |row| row.thinking),
            pictures: sent_or(tokenizer.pictures),
            documents: sent_or(Pictures::Unknown),
            ..tokenizer
        }
    }

    /// Returns the unlogged prefix that is usual with an agent and a model, where the log shows `shown` tokens of
    /// system prompt and tools, in tokens; 0: not known. Of an agent's rows that have one, the row for the largest
    /// windows holds that are no larger than the model's.
    pub fn usual_prefix(&self, agent: &str, model: Option<&str>, shown: u64) -> u64 {
        let usual = |id| self.windows(agent, None, ModelAt::from(id)).next();
        let window = model.and_then(usual).map_or(0, |usual| usual.window);
        let own = self.policy.iter().filter(|p| p.agent == agent);
        let own = own.filter(|p| p.prefix > 0 && p.window_from <= window);
        let first = own.min_by_key(|p| Reverse(p.window_from));
        first.map_or(0, |p| {
            if p.prefix_whole {
                p.prefix.saturating_sub(shown)
            } else {
                p.prefix
            }
        })
    }

    /// Returns true if two models count alike, so that a number reported for one still holds for the other.
    pub fn count_alike(&self, agent: &str, a: &str, b: &str) -> bool {
        a == b
            || match (self.model(agent, a), self.model(agent, b)) {
                (Some(a), Some(b)) => a.tokenizer == b.tokenizer,
                _ => false,
            }
    }

    /// Returns the rule of each agent, one row for each, as it would hold for such a session with this window.
    pub(super) fn policies_today<'r>(
        &'r self,
        seen: &'r LimitInputs<'_>,
        window: u64,
    ) -> impl Iterator<Item = &'r Policy> {
        let mut done: Vec<&str> = Vec::new();
        self.policy.iter().filter(move |policy| {
            let agent = policy.agent.as_str();
            let seen = LimitInputs { agent, ..*seen };
            let holds = !done.contains(&agent) && policy.holds(&seen, window);
            if holds {
                done.push(agent);
            }
            holds
        })
    }

    /// Returns the size of the summary that a policy leaves, in tokens.
    pub(super) fn summary_of(&self, policy: &Policy) -> u64 {
        policy.summary.unwrap_or(self.summary)
    }

    /// Returns the window and trigger of a session.
    pub fn limits(&self, seen: &LimitInputs<'_>) -> Limits {
        let usual = Some(&*seen.overrides.provider).filter(|name| !name.is_empty());
        let provider = seen.provider.or(usual);
        let set = seen.overrides.of_model(seen.model, provider);
        let seen = &LimitInputs {
            provider,
            overrides: &set,
            ..*seen
        };
        let (window, window_source) = self.window(seen);
        let is_window_provisional = seen.unread.concerns_window(window_source);
        let window_setting = match window_source {
            WindowSource::Settings => set.window_from,
            _ => "",
        };
        let policy = self.policy.iter().find(|p| p.holds(seen, window));
        let window_source = match window_source {
            // With the larger window it would have compacted later.
            WindowSource::SmallerOfTwo if trigger::is_confirmed(seen, policy, window) => {
                WindowSource::ModelTable
            }
            source => source,
        };
        let ends = policy.is_some_and(|policy| policy.ends);
        if let Some(rule) = self.custom.rule(seen) {
            return Limits {
                window,
                window_source,
                window_setting,
                trigger: rule.trigger(window),
                turn_end: None,
                refused_at: None,
                trigger_source: TriggerSource::Config,
                trigger_setting: "",
                policy: rule.name(),
                ends,
                is_window_provisional,
                is_trigger_provisional: is_window_provisional,
            };
        }
        let (trigger, trigger_source) = trigger::of(seen, policy, window);
        Limits {
            window,
            window_source,
            window_setting,
            trigger,
            turn_end: trigger::at_turn_end(seen, policy, window),
            refused_at: (trigger_source == TriggerSource::Refused)
                .then(|| trigger::refused_at(seen, window))
                .flatten(),
            trigger_source,
            trigger_setting: match trigger_source {
                TriggerSource::Settings => set.trigger_from,
                _ => "",
            },
            policy: policy.map_or_else(String::new, |p| p.name.clone()),
            ends,
            is_window_provisional,
            is_trigger_provisional: seen.unread.concerns_trigger(trigger_source)
                || (is_window_provisional && trigger_source != TriggerSource::Log),
        }
    }

    /// Returns the rule by which the agent of a session counts its context. It does not depend on the window.
    pub(super) fn count_rule(&self, seen: &LimitInputs<'_>) -> Option<CountRule> {
        if self.custom.rule(seen).is_some() {
            return None;
        }
        let policy = self.policy.iter().find(|p| p.holds(seen, u64::MAX));
        let rule = policy?.count?;
        let own = if rule.by_model {
            self.tokenizer(seen.agent, seen.model).agent_bytes
        } else {
            0
        };
        Some(match own {
            0 => rule,
            bytes_per_token => CountRule {
                bytes_per_token,
                ..rule
            },
        })
    }

    fn window(&self, seen: &LimitInputs<'_>) -> (u64, WindowSource) {
        if let Some(set) = seen.set_window {
            return (set, WindowSource::Here);
        }
        if let Some(set) = self.custom.window(seen) {
            return (set, WindowSource::Config);
        }
        if let Some(logged) = seen.logged_window {
            return (logged, WindowSource::Log);
        }
        // Settings and what the client said may be newer or older than the log: a larger context refutes them.
        let fits = |w: &u64| *w > 0 && seen.largest <= *w;
        let said = seen.overrides.said.as_ref();
        let said = said
            .filter(|said| said.is_of(seen.model))
            .map(|said| said.window);
        if let Some(said) = said.filter(fits) {
            return (said, WindowSource::Client);
        }
        // The agent goes by its own settings, whatever the provider takes: a step's results come on top of a size at which
        // it did not compact yet.
        let holds = |w: &u64| {
            let policy = self.policy.iter().find(|p| p.holds(seen, *w));
            fits(w) || (*w > 0 && trigger::is_confirmed(seen, policy, *w))
        };
        if let Some(set) = seen.overrides.window.filter(holds) {
            return (set, WindowSource::Settings);
        }
        let (window, source) = self.usual_window(seen);
        match seen.overrides.window_at_most.filter(fits) {
            Some(most) if most < window && source != WindowSource::Settings => {
                (most, WindowSource::Settings)
            }
            _ => (window, source),
        }
    }
}
