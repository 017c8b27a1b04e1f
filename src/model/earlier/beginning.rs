//! What the user's sessions began with: system prompt, tools and whatever else of a first prompt is not part of the
//! conversation. The next session of the agent is expected to begin with as much.

use super::{Earlier, Fact, Origin, hash};
use crate::model::session::Session;
use serde::{Deserialize, Serialize};

/// What one session began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    pub(super) origin: Origin,
    /// Whether it is a sub-agent's.
    pub is_child: bool,
    /// A hash of its working directory.
    pub cwd: Option<u64>,
    /// The agent's version.
    pub version: Option<Box<str>>,
    /// The model of its first request.
    pub model: Option<Box<str>>,
    /// Tokens of the first prompt that are not part of the conversation.
    pub tokens: u64,
}

impl Fact for Beginning {
    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn replaces(&self, other: &Beginning) -> bool {
        self.origin.is_same_session(&other.origin)
    }

    fn is_like(&self, other: &Beginning) -> bool {
        (&self.origin.agent, self.is_child, self.cwd, &self.model)
            == (&other.origin.agent, other.is_child, other.cwd, &other.model)
    }
}

impl Earlier {
    /// What a session is expected to begin with, in tokens: as the newest of those before it that are most like it.
    pub(super) fn beginning_like(&self, asked: &Beginning) -> Option<u64> {
        let known = self.known()?;
        let others = known.facts.beginnings.iter().filter(|known| {
            known.is_child == asked.is_child && known.origin.is_before(&asked.origin)
        });
        // Models differ in their tokenizers, projects in their tools.
        let likeness = |known: &&Beginning| {
            let model = asked.model.is_none() || known.model == asked.model;
            let cwd = known.cwd == asked.cwd;
            (model, cwd, known.version == asked.version, known.origin.at)
        };
        others.max_by_key(likeness).map(|known| known.tokens)
    }
}

impl Session {
    /// Notes what it began with, if its only request so far shows that: its log was read from its beginning, and
    /// nothing was said before.
    pub(in crate::model) fn note_beginning(&self) {
        let (earlier, items) = (&self.rules().earlier, self.items());
        let [first] = self.requests() else { return };
        if !earlier.is_kept() || !self.is_read_from_its_beginning() {
            return;
        }
        let held = items.iter().enumerate();
        let held = held.filter(|(_, item)| self.ledger().in_prompt(item, 0));
        let (mut said, mut is_first) = (0_u64, true);
        for (ix, item) in held {
            is_first &= item.output_of.is_none();
            if !item.is_prefix() {
                said = said.saturating_add(self.tokens(ix).0);
            }
        }
        if let Some(tokens) = first.prompt.checked_sub(said).filter(|_| is_first) {
            let beginning = self.like_its_beginning();
            let beginning = Beginning {
                tokens,
                model: first.model.as_deref().map(Into::into),
                ..beginning
            };
            earlier.add(|facts| &mut facts.beginnings, &beginning);
        }
    }

    /// What it is expected to begin with, in tokens, as the user's sessions before it.
    pub(in crate::model) fn expected_beginning(&self) -> Option<u64> {
        let earlier = &self.rules().earlier;
        if !earlier.is_kept() {
            return None;
        }
        earlier.beginning_like(&self.like_its_beginning())
    }

    fn like_its_beginning(&self) -> Beginning {
        Beginning {
            origin: self.origin(),
            is_child: self.meta.parent.is_some(),
            cwd: self.meta.cwd.as_deref().map(hash),
            version: self.meta.version.as_deref().map(Into::into),
            model: self.model().map(Into::into),
            tokens: 0,
        }
    }
}
