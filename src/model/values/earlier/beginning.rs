//! Keeps the sizes at which the user's sessions began: system prompt, tools and all else of a first prompt that is not
//! part of the conversation. The next session of the agent is expected to begin with as much.

use super::{EarlierSessions, Fact, Origin};
use serde::{Deserialize, Serialize};

/// The size at which one session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    pub(crate) origin: Origin,
    /// True if it is a sub-agent's.
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

impl EarlierSessions {
    /// Notes what a session has shown.
    pub(crate) fn note_beginning(&self, beginning: &Beginning) {
        self.add(|facts| &mut facts.beginnings, beginning);
    }

    /// Returns the size at which this session began, in tokens, if that was noted.
    pub(crate) fn beginning_of(&self, session: &Origin) -> Option<u64> {
        let known = self.known()?;
        let mut noted = known.facts.beginnings.iter();
        let own = noted.find(|known| known.origin.is_same_session(session));
        own.map(|own| own.tokens)
    }

    /// Returns the size at which a session is expected to begin, in tokens: the size of the newest session before it
    /// among those that are most like it.
    pub(crate) fn beginning_like(&self, asked: &Beginning) -> Option<u64> {
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
