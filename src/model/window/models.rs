//! The rows of models: what is known of a model, and the window that an agent takes it to have.

use super::pattern::ModelId;
use super::{LimitInputs, ModelAt, Rules, Thinking, WindowSource, trigger};
use crate::values::version;
use serde::{Deserialize, Serialize};

/// The windows that a model without a row in the table may have.
const GUESSED_WINDOWS: [u64; 4] = [200_000, 272_000, 400_000, 1_000_000];

/// The facts about the models whose ids match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    /// Patterns of exact model ids; `*` matches any text. A row for `*` has the window that an agent takes for models
    /// that it does not know.
    pub ids: Vec<String>,
    /// The agents this row is for; none: all.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The agents that the window of a row for all agents is from. For the others, the generated table goes before it,
    /// unless it is `*`: then the lists differ, and it decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// The newest version of the agent that its window holds for; none: any.
    pub up_to: Option<String>,
    /// The window, in tokens; 0: that of the generated table.
    #[serde(default)]
    pub window: u64,
    /// A larger window the model may have been given; taken once the context has been seen above
    /// `window`.
    pub window_extended: Option<u64>,
    /// True if its numbers are those of the family, for a model that is not in the table.
    #[serde(default)]
    pub guess: bool,
    /// The tokenizer's name; none: the row says nothing but the window, and the next one that matches has the rest.
    pub tokenizer: Option<String>,
    /// The treatment of its thinking; a session's own reports can show otherwise.
    #[serde(default)]
    pub thinking: Thinking,
    /// The growth of thinking relative to the summary of it that a log shows; see
    /// [`Tokenizer::thinking_growth`](crate::sizes::calibration::Tokenizer::thinking_growth).
    #[serde(default)]
    pub thinking_growth: f64,
    /// The source of these numbers; optional in the user's own table.
    #[serde(default)]
    pub source: String,
    /// True if it is of the user's own table.
    #[serde(skip)]
    pub is_own: bool,
}

/// The sources of windows, the first of which goes before the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The user's own row, or one that was measured with the agent.
    Measured,
    /// The agent's own list.
    OwnList,
    /// A row that decides where the lists differ.
    Decided,
    /// The generated table.
    Listed,
    /// Any other row.
    Family,
}

/// A window that a model may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelSize {
    pub(super) window: u64,
    extended: Option<u64>,
    is_guess: bool,
    is_for_unknown: bool,
}

impl ModelRow {
    fn is_of(&self, agent: &str, id: ModelId<'_>) -> bool {
        (self.agents.is_empty() || self.agents.iter().any(|a| a == agent))
            && self.ids.iter().any(|pattern| id.matches(pattern))
    }

    fn rank(&self, agent: &str) -> Rank {
        let names = |name: &str| self.clients.iter().any(|client| client == name);
        match self {
            _ if self.is_own || names(agent) => Rank::Measured,
            _ if !self.agents.is_empty() && !self.guess => Rank::Measured,
            _ if names("*") => Rank::Decided,
            _ => Rank::Family,
        }
    }

    fn size(&self, agent: &str) -> ModelSize {
        ModelSize {
            window: self.window,
            extended: self.window_extended,
            is_guess: self.guess || (!self.clients.is_empty() && self.rank(agent) == Rank::Family),
            // The window is the one that the agent takes for models that it has no window for.
            is_for_unknown: self.ids.iter().any(|id| id == "*"),
        }
    }
}

impl Rules {
    /// Returns the row of a model, for an agent, that has its tokenizer.
    pub fn model(&self, agent: &str, id: &str) -> Option<&ModelRow> {
        let id = ModelId::new(id);
        let mut rows = self.model.iter().filter(|row| row.tokenizer.is_some());
        rows.find(|row| row.is_of(agent, id))
    }

    /// Returns the windows that a model may have with this version of an agent, the likeliest first: those that were
    /// measured with the agent, that of the generated table, and those of other rows.
    pub(super) fn windows<'r>(
        &'r self,
        agent: &'r str,
        version: Option<&'r str>,
        of: ModelAt<'r>,
    ) -> impl Iterator<Item = ModelSize> {
        let id = ModelId::new(of.model);
        let rows = self.model.iter().filter(move |row| row.window > 0);
        let rows = rows.filter(move |row| row.is_of(agent, id));
        let rows = rows.filter(move |row| version::is_up_to(version, row.up_to.as_deref()));
        let mut sizes: Vec<(Rank, ModelSize)> =
            rows.map(|row| (row.rank(agent), row.size(agent))).collect();
        if let Some(limits) = self.catalogue.limits(of) {
            let rank = if limits.clients.contains_key(agent) {
                Rank::OwnList
            } else {
                Rank::Listed
            };
            let size = ModelSize {
                window: limits.window_for(agent),
                extended: None,
                is_guess: false,
                is_for_unknown: false,
            };
            sizes.push((rank, size));
        }
        sizes.sort_by_key(|(rank, _)| *rank);
        sizes.into_iter().map(|(_, size)| size)
    }

    /// Returns another window than this one that a model may have been given; `None`: none is known.
    pub(crate) fn other_window(&self, agent: &str, model: ModelAt<'_>, window: u64) -> Option<u64> {
        let sizes = self.windows(agent, None, model);
        let windows = sizes.flat_map(|size| [Some(size.window), size.extended]);
        windows.flatten().find(|other| *other != window)
    }

    /// Returns true if the agent would have compacted in this window, and did not.
    fn is_too_small(&self, seen: &LimitInputs<'_>, window: u64) -> bool {
        let policy = self.policy.iter().find(|policy| policy.holds(seen, window));
        trigger::is_refuted(seen, policy, window)
    }

    /// Returns the window that an agent takes for a model where neither log nor settings say it. One that is smaller
    /// than what was in the context is not the one.
    pub(super) fn usual_window(&self, seen: &LimitInputs<'_>) -> (u64, WindowSource) {
        let mut is_guess = false;
        let provider = seen.provider;
        let rows = |model| self.windows(seen.agent, seen.version, ModelAt { model, provider });
        for row in seen.model.into_iter().flat_map(rows) {
            let set = seen.overrides.unknown_window;
            if let Some(set) = set.filter(|set| row.is_for_unknown && seen.largest <= *set) {
                return (set, WindowSource::Settings);
            }
            let extended = row.extended.filter(|_| !seen.says_window);
            if let Some(extended) = extended.filter(|_| self.is_too_small(seen, row.window)) {
                return (extended, WindowSource::Guessed);
            }
            if seen.largest <= row.window {
                let source = match row.extended {
                    _ if is_guess || row.is_guess => WindowSource::Guessed,
                    Some(_) if !seen.says_window => WindowSource::SmallerOfTwo,
                    _ => WindowSource::ModelTable,
                };
                return (row.window, source);
            }
            if let Some(extended) = row.extended.filter(|w| seen.largest <= *w) {
                return (extended, WindowSource::Guessed);
            }
            is_guess = true;
        }
        // An agent with a fixed trigger is used with models whose window is at least that large.
        let own = || self.policy.iter().filter(|p| p.agent == seen.agent);
        let budget = seen.overrides.budget;
        let budget = budget.or_else(|| own().filter_map(|policy| policy.budget).max());
        let least = seen.largest.max(budget.unwrap_or(0));
        let usual = own().filter_map(|policy| policy.window);
        let guess = usual.chain(GUESSED_WINDOWS).find(|w| least <= *w);
        (guess.unwrap_or(least), WindowSource::Guessed)
    }
}
