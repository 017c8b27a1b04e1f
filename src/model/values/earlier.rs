//! Keeps what the user's earlier sessions have shown: the size at which a session of an agent begins, and the price of
//! a model's tokens. The next session is expected to be like them until its own reports are there.

mod beginning;
mod price;
#[cfg(test)]
mod tests;

use crate::event::Key;
pub(crate) use beginning::Beginning;
pub(crate) use price::Price;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The facts that earlier sessions have shown, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    beginnings: Vec<Beginning>,
    prices: Vec<Price>,
}

/// The facts that the user's earlier sessions have shown, shared by all that read them. By default there are none, and
/// none are added: a result depends on what was read before only where that is wanted.
#[derive(Clone, Default)]
pub struct EarlierSessions(Option<Arc<Mutex<EarlierFacts>>>);

#[derive(Default)]
struct EarlierFacts {
    /// The facts by which the next sessions are expected to go.
    facts: Facts,
    /// The facts that were noted since, if they do not count yet.
    noted: Facts,
    /// True if noted facts count at once.
    is_live: bool,
    /// True if some facts are new since they were last taken.
    has_new: bool,
}

impl EarlierFacts {
    fn notes(&mut self) -> &mut Facts {
        if self.is_live {
            &mut self.facts
        } else {
            &mut self.noted
        }
    }
}

/// The most facts of the same kind that are kept, and the most of all kinds.
const FACTS_PER_KIND: usize = 3;
const MOST_FACTS: usize = 256;

impl EarlierSessions {
    /// Holds these facts. Those of sessions that are read from now on are noted for later: what a report says does not
    /// depend on the order in which it reads logs.
    pub fn new(facts: Facts) -> EarlierSessions {
        EarlierSessions(Some(Arc::new(Mutex::new(EarlierFacts {
            facts,
            ..EarlierFacts::default()
        }))))
    }

    /// Makes what is noted from now on count at once: sessions begin while others go on.
    pub fn count_at_once(&self) {
        if let Some(mut known) = self.known() {
            known.is_live = true;
        }
    }

    /// Returns true if there are new facts since they were last taken.
    pub fn has_new(&self) -> bool {
        self.known().is_some_and(|known| known.has_new)
    }

    /// Returns all of them with those that are known elsewhere.
    pub fn take_new(&self, elsewhere: Facts) -> Facts {
        let mut all = elsewhere;
        if let Some(mut known) = self.known() {
            known.has_new = false;
            for facts in [&known.facts, &known.noted] {
                for fact in &facts.beginnings {
                    add(&mut all.beginnings, fact);
                }
                for fact in &facts.prices {
                    add(&mut all.prices, fact);
                }
            }
        }
        all
    }

    /// Returns true if facts are noted at all.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    fn known(&self) -> Option<MutexGuard<'_, EarlierFacts>> {
        let known = self.0.as_ref()?;
        Some(known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a fact to those of its kind.
    fn add<F: Fact>(&self, of: impl Fn(&mut Facts) -> &mut Vec<F>, fact: &F) {
        if let Some(mut known) = self.known()
            && !of(&mut known.facts).contains(fact)
        {
            let is_new = add(of(known.notes()), fact);
            known.has_new |= is_new;
        }
    }
}

/// The session that has shown a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The agent's id.
    pub(crate) agent: Box<str>,
    /// A hash of the session's id.
    pub(crate) session: u64,
    /// The time at which the session began, in seconds since 1970.
    pub(crate) at: i64,
}

impl Origin {
    fn is_same_session(&self, other: &Origin) -> bool {
        (&self.agent, self.session) == (&other.agent, other.session)
    }

    /// Returns true if the other session can be expected to be like this one: both are of the same agent, and this one
    /// began before it. So the numbers of old sessions do not change with new ones.
    fn is_before(&self, other: &Origin) -> bool {
        self.agent == other.agent && self.session != other.session && self.at < other.at
    }
}

/// A fact that one session has shown.
trait Fact: Clone + PartialEq {
    fn origin(&self) -> &Origin;

    /// Returns true if this fact replaces another one: the same session has shown both.
    fn replaces(&self, other: &Self) -> bool;

    /// Returns true if this fact is from more of the same session than another one. So it does not matter which of two
    /// logs is read first.
    fn is_of_more_than(&self, _other: &Self) -> bool {
        false
    }

    /// Returns true if both facts are of the same kind, of which the newest are kept.
    fn is_like(&self, other: &Self) -> bool;
}

/// Adds a fact; older ones make room, if there are too many like it. Returns whether it is new.
fn add<F: Fact>(all: &mut Vec<F>, new: &F) -> bool {
    let is_better = |known: &F| known == new || new.replaces(known) && known.is_of_more_than(new);
    if all.iter().any(is_better) {
        return false;
    }
    all.retain(|other| !new.replaces(other));
    all.push(new.clone());
    all.sort_by_key(|fact| (fact.origin().at, fact.origin().session));
    let mut alike = all.iter().filter(|other| other.is_like(new)).count();
    all.retain(|other| {
        let leaves = alike > FACTS_PER_KIND && other.is_like(new);
        alike -= usize::from(leaves);
        !leaves
    });
    all.drain(..all.len().saturating_sub(MOST_FACTS));
    all.contains(new)
}

/// Returns a hash that names a session or a folder without holding its text.
pub(crate) fn hash(text: &str) -> u64 {
    Key::of_parts(&["beginning", text]).get()
}

impl fmt::Debug for EarlierSessions {
    /// Shows none of its contents: they change while a program runs, and nothing that is kept depends on them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Earlier").finish_non_exhaustive()
    }
}
