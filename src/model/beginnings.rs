//! What the user's sessions began with: system prompt, tools and whatever else of a first prompt is not part of the
//! conversation. The next session of the agent is expected to begin with as much.

use super::event::Key;
use super::session::Session;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What one session began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// The agent's id.
    pub agent: Box<str>,
    /// Whether it is a sub-agent's.
    pub is_child: bool,
    /// A hash of the session's id.
    pub session: u64,
    /// A hash of its working directory.
    pub cwd: Option<u64>,
    /// The agent's version.
    pub version: Option<Box<str>>,
    /// The model of its first request.
    pub model: Option<Box<str>>,
    /// When it began, in seconds since 1970.
    pub at: i64,
    /// Tokens of the first prompt that are not part of the conversation.
    pub tokens: u64,
}

/// The beginnings of the user's sessions, shared by all that read them. By default there are none, and none are
/// added: a result depends on what was read before only where that is wanted.
#[derive(Clone, Default)]
pub struct Beginnings(Option<Arc<Mutex<Known>>>);

#[derive(Default)]
struct Known {
    all: Vec<Beginning>,
    /// Whether some are new since they were last taken.
    has_new: bool,
}

/// So many of the same agent, project and model are kept, and so many of all.
const ALIKE: usize = 3;
const MOST: usize = 256;

impl Beginnings {
    /// These, and those of sessions that are read from now on.
    pub fn new(all: Vec<Beginning>) -> Beginnings {
        Beginnings(Some(Arc::new(Mutex::new(Known {
            all,
            has_new: false,
        }))))
    }

    /// Whether there are new ones since they were last taken.
    pub fn has_new(&self) -> bool {
        self.known().is_some_and(|known| known.has_new)
    }

    /// All of them with those that are known elsewhere, oldest first.
    pub fn take_new(&self, elsewhere: Vec<Beginning>) -> Vec<Beginning> {
        let mut all = elsewhere;
        if let Some(mut known) = self.known() {
            known.has_new = false;
            for beginning in &known.all {
                add(&mut all, beginning);
            }
        }
        all
    }

    fn known(&self) -> Option<MutexGuard<'_, Known>> {
        let known = self.0.as_ref()?;
        Some(known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, beginning: Beginning) {
        let Some(mut known) = self.known() else {
            return;
        };
        known.has_new |= add(&mut known.all, &beginning);
    }

    /// What a session is expected to begin with, in tokens: as the newest of those that are most like it. It does
    /// not depend on the session itself.
    fn expected(&self, asked: &Beginning) -> Option<u64> {
        let known = self.known()?;
        let others = known.all.iter().filter(|known| {
            known.agent == asked.agent
                && known.is_child == asked.is_child
                && known.session != asked.session
        });
        // Models differ in their tokenizers, projects in their tools.
        let likeness = |known: &&Beginning| {
            let model = asked.model.is_none() || known.model == asked.model;
            let cwd = known.cwd == asked.cwd;
            (model, cwd, known.version == asked.version, known.at)
        };
        others.max_by_key(likeness).map(|known| known.tokens)
    }
}

/// Adds a beginning; older ones of the same kind make room. Returns whether it is new.
fn add(all: &mut Vec<Beginning>, new: &Beginning) -> bool {
    if all.contains(new) {
        return false;
    }
    all.retain(|other| (&other.agent, other.session) != (&new.agent, new.session));
    all.push(new.clone());
    all.sort_by_key(|beginning| beginning.at);
    let kind = |of: &Beginning| (of.agent.clone(), of.is_child, of.cwd, of.model.clone());
    let is_alike = |other: &Beginning| kind(other) == kind(new);
    let mut alike = all.iter().filter(|other| is_alike(other)).count();
    all.retain(|other| {
        let leaves = alike > ALIKE && is_alike(other);
        alike -= usize::from(leaves);
        !leaves
    });
    all.drain(..all.len().saturating_sub(MOST));
    all.contains(new)
}

impl fmt::Debug for Beginnings {
    /// Without its contents: they change while a program runs, and nothing that is kept depends on them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beginnings").finish_non_exhaustive()
    }
}

impl Session {
    /// Notes what it began with, if its only request so far shows that: its log was read from its beginning, and
    /// nothing was said before.
    pub(super) fn note_beginning(&self) {
        let (beginnings, items) = (&self.rules().beginnings, self.items());
        let [first] = self.requests() else { return };
        if beginnings.0.is_none() || !self.is_read_from_its_beginning() {
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
            beginnings.add(Beginning {
                tokens,
                model: first.model.as_deref().map(Into::into),
                ..beginning
            });
        }
    }

    /// What it is expected to begin with, in tokens, as the user's sessions before it.
    pub(super) fn expected_beginning(&self) -> Option<u64> {
        let beginnings = &self.rules().beginnings;
        beginnings.0.as_ref()?;
        beginnings.expected(&self.like_its_beginning())
    }

    fn like_its_beginning(&self) -> Beginning {
        let hash = |text: &str| Key::of_parts(&["beginning", text]).0;
        Beginning {
            agent: self.agent.into(),
            is_child: self.meta.parent.is_some(),
            session: self.meta.id.as_deref().map_or(0, hash),
            cwd: self.meta.cwd.as_deref().map(hash),
            version: self.meta.version.as_deref().map(Into::into),
            model: self.model().map(Into::into),
            at: self.started_at.map_or(0, |at| at.as_second()),
            tokens: 0,
        }
    }
}

#[cfg(test)]
mod tests;
