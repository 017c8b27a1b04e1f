//! The keys: one table that drives dispatch, the help overlay, the footer and `assets/docs/keys.md`. The
//! user may rebind them.

mod action;
mod custom;
mod group;
mod key;
mod table;

pub use action::Action;
pub use group::ActionGroup;
pub use key::{InvalidKey, KeyPress};
pub use table::BINDINGS;

use std::borrow::Cow;
use strum::{IntoStaticStr, VariantArray};

/// The screens on which a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Scope {
    /// On every screen.
    Anywhere,
    /// On the list of sessions.
    Overview,
    /// On one session's screen.
    Session,
    /// On the screen of an item's text.
    Text,
    /// On the results of a search over sessions.
    Results,
}

impl Scope {
    /// All scopes.
    pub const ALL: &'static [Scope] = Scope::VARIANTS;

    /// Returns the heading of the scope's keys.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Anywhere => "everywhere",
            Scope::Overview => "sessions",
            Scope::Session => "session",
            Scope::Text => "item text",
            Scope::Results => "search results",
        }
    }

    /// Returns the scope's name in a configuration, before an action's.
    pub fn id(self) -> &'static str {
        self.into()
    }

    /// Returns true if there is a screen on which bindings of both hold.
    fn meets(self, other: Scope) -> bool {
        self == other || self == Scope::Anywhere || other == Scope::Anywhere
    }
}

/// An action and its keys.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The screens on which it holds.
    pub scope: Scope,
    /// The action of the keys.
    pub action: Action,
    /// The keys; the first is the one that a footer shows.
    pub keys: Cow<'static, [KeyPress]>,
    /// A line of help.
    pub help: &'static str,
    /// A word for the footer. Neighbours with the same word share it.
    pub hint: Option<&'static str>,
}

impl Binding {
    /// Returns the binding's name in a configuration, in full: `session.back`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.scope.id(), self.action.name())
    }
}

const fn bind(
    scope: Scope,
    action: Action,
    keys: &'static [KeyPress],
    help: &'static str,
    hint: Option<&'static str>,
) -> Binding {
    Binding {
        scope,
        action,
        keys: Cow::Borrowed(keys),
        help,
        hint,
    }
}

/// A hint of a footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The keys.
    pub keys: String,
    /// The action of the keys in a word.
    pub word: &'static str,
    /// The action of a click on it; `None`: it is several keys.
    pub action: Option<Action>,
}

/// The active keys: those of the table, unless the user's own replace them.
#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        Keymap {
            bindings: BINDINGS.to_vec(),
        }
    }
}

impl Keymap {
    /// Returns the action of a key on a screen.
    pub fn action(&self, scope: Scope, key: KeyPress) -> Option<Action> {
        self.here(scope)
            .find(|binding| binding.keys.contains(&key))
            .map(|binding| binding.action)
    }

    /// Returns the key that a text may name for an action on a screen; `None`: it has none.
    pub fn key(&self, scope: Scope, action: Action) -> Option<KeyPress> {
        self.here(scope)
            .filter(|binding| binding.action == action)
            .find_map(|binding| binding.keys.first().copied())
    }

    /// Returns that key as text; empty if there is none.
    pub fn key_text(&self, scope: Scope, action: Action) -> String {
        let key = self.key(scope, action);
        key.map(|key| key.to_string()).unwrap_or_default()
    }

    /// Returns the bindings of one scope, in the order of the table.
    pub fn in_scope(&self, scope: Scope) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |binding| binding.scope == scope)
    }

    /// Returns the footer's hints on a screen, for those of its actions that are wanted.
    pub fn hints(&self, scope: Scope, is_wanted: impl Fn(Action) -> bool) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        for binding in self.here(scope).filter(|it| is_wanted(it.action)) {
            let (Some(word), Some(key)) = (binding.hint, binding.keys.first()) else {
                continue;
            };
            match hints.last_mut() {
                Some(hint) if hint.word == word => {
                    hint.keys.push_str(&key.to_string());
                    hint.action = None;
                }
                _ => hints.push(Hint {
                    keys: key.to_string(),
                    word,
                    action: Some(binding.action),
                }),
            }
        }
        hints
    }

    /// Returns the bindings that hold on a screen, in the order of the table.
    fn here(&self, scope: Scope) -> impl Iterator<Item = &Binding> {
        self.bindings
            .iter()
            .filter(move |binding| binding.scope == Scope::Anywhere || binding.scope == scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn no_key_means_two_things() {
        assert_eq!(Keymap::default().conflicts(), Vec::<String>::new());
    }

    #[test]
    fn every_binding_can_be_reached_and_explains_itself() {
        let keymap = Keymap::default();
        for binding in BINDINGS {
            assert!(!binding.help.is_empty());
            assert!(!binding.keys.is_empty());
            let scope = match binding.scope {
                Scope::Anywhere => Scope::Session,
                scope => scope,
            };
            for key in binding.keys.iter() {
                assert_eq!(keymap.action(scope, *key), Some(binding.action));
            }
        }
    }

    #[test]
    fn a_name_is_one_action_s() {
        let mut names: HashMap<&str, Action> = HashMap::new();
        for binding in BINDINGS {
            let name = binding.action.name();
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
            let known = names.insert(name, binding.action);
            assert!(known.is_none_or(|known| known == binding.action), "{name}");
        }
        let full: HashSet<String> = BINDINGS.iter().map(Binding::name).collect();
        assert_eq!(full.len(), BINDINGS.len(), "an action twice in one scope");
    }

    #[test]
    fn neighbours_share_a_hint() {
        let hints = Keymap::default().hints(Scope::Session, |_| true);
        let shared = hints.iter().find(|hint| hint.word == "step").unwrap();
        assert_eq!((&*shared.keys, shared.action), ("←→", None));
        assert!(hints.iter().any(|hint| hint.word == "open"));
        let hints = Keymap::default().hints(Scope::Session, |it| it != Action::Open);
        assert!(hints.iter().all(|hint| hint.word != "open"));
    }
}
