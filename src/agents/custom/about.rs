//! Texts about agents: their labels, and what `ctxgauge agents` says about their logs.

use formats::{Facts, Format, Tier};
use model::lists::sessions::Commands;
use serde::Deserialize;

/// The texts about an agent that has a decoder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    label: String,
    facts: FactsKeys,
}

impl About {
    /// Returns the format with these texts.
    pub(crate) fn of(&'static self, format: &Format) -> Format {
        Format {
            label: &self.label,
            facts: self.facts.facts(Facts::NONE),
            tier: self.facts.tier(),
            ..*format
        }
    }
}

/// The texts of [`Facts`] that are written for an agent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FactsKeys {
    /// True if it was tried with real logs.
    real: bool,
    places: Vec<String>,
    mark: Option<String>,
    live: Option<String>,
    known: Option<String>,
    estimated: Option<String>,
    sub_agents: Option<String>,
    compactions: Option<String>,
    tried: Option<String>,
    resume: Option<String>,
    compact: Option<String>,
}

impl FactsKeys {
    /// Returns the facts, with the usual ones where none are written.
    pub(crate) fn facts(&'static self, usual: Facts) -> Facts {
        let text = |own: &'static Option<String>, usual| own.as_deref().unwrap_or(usual);
        Facts {
            places: &self.places,
            mark: text(&self.mark, usual.mark),
            live: text(&self.live, usual.live),
            known: text(&self.known, usual.known),
            estimated: text(&self.estimated, usual.estimated),
            sub_agents: text(&self.sub_agents, usual.sub_agents),
            compactions: text(&self.compactions, usual.compactions),
            tried: text(&self.tried, usual.tried),
            commands: Commands {
                resume: self.resume.as_deref().or(usual.commands.resume),
                compact: self.compact.as_deref().or(usual.commands.compact),
            },
        }
    }

    /// Returns how far its numbers can be trusted.
    pub(crate) fn tier(&self) -> Tier {
        if self.real { Tier::Read } else { Tier::Sources }
    }
}
