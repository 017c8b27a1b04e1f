//! The user's own keys, which replace those of the table.

use super::{Action, BINDINGS, Binding, Keymap, Scope};
use std::borrow::Cow;
use std::collections::BTreeMap;

impl Keymap {
    /// Returns the table's keys, replaced by the user's own where there are any. The name of a row is an action
    /// (`sort`), or a scope and an action (`session.back`), which overrides the action alone. A row without keys leaves
    /// the action without a key.
    ///
    /// # Errors
    ///
    /// A line for each unknown action or key, for each key with two meanings on one screen, and if no key
    /// is left to quit with. Each line includes what to do.
    pub fn with_custom(custom: &BTreeMap<String, Vec<String>>) -> Result<Keymap, Vec<String>> {
        let mut keymap = Keymap::default();
        let mut wrong = Vec::new();
        let mut rows: Vec<_> = custom.iter().collect();
        // Stable: those with a scope come last and so go before the others.
        rows.sort_by_key(|(name, _)| name.contains('.'));
        for (name, keys) in rows {
            let mut parsed = Vec::new();
            for key in keys {
                match key.parse() {
                    Ok(key) => parsed.push(key),
                    Err(why) => wrong.push(format!("\"{}\": {why}", name.escape_debug())),
                }
            }
            let mut found = false;
            for binding in &mut keymap.bindings {
                if binding.is_called(name) {
                    found = true;
                    binding.keys = Cow::Owned(parsed.clone());
                }
            }
            if !found {
                wrong.push(unknown(name));
            }
        }
        wrong.extend(keymap.conflicts());
        if keymap.key(Scope::Overview, Action::Quit).is_none() {
            wrong.push("'quit' has no key; bind it to one".to_owned());
        }
        if wrong.is_empty() {
            Ok(keymap)
        } else {
            Err(wrong)
        }
    }

    /// Returns a line for each key that has two meanings on one screen.
    pub(super) fn conflicts(&self) -> Vec<String> {
        let mut conflicts = Vec::new();
        for (at, one) in self.bindings.iter().enumerate() {
            for other in &self.bindings[at + 1..] {
                if one.action == other.action || !one.scope.meets(other.scope) {
                    continue;
                }
                for key in one.keys.iter().filter(|p| other.keys.contains(p)) {
                    let (one, other) = (one.name(), other.name());
                    conflicts.push(format!(
                        "the key '{key}' is bound to both '{one}' and '{other}'; bind one of them to \
                         another key, or to none: \"{other}\" = []"
                    ));
                }
            }
        }
        conflicts
    }
}

impl Binding {
    /// Returns true if a name, with or without a scope, is this binding's.
    fn is_called(&self, name: &str) -> bool {
        let (scope, action) = match name.split_once('.') {
            Some((scope, action)) => (Some(scope), action),
            None => (None, name),
        };
        scope.is_none_or(|scope| self.scope.id() == scope) && action.parse() == Ok(self.action)
    }
}

fn unknown(name: &str) -> String {
    let action = name.rsplit_once('.').map_or(name, |(_, action)| action);
    let full: Vec<String> = BINDINGS
        .iter()
        .filter(|binding| binding.action.name() == action)
        .map(Binding::name)
        .collect();
    let name = name.escape_debug();
    if full.is_empty() {
        let mut known: Vec<&str> = BINDINGS.iter().map(|b| b.action.name()).collect();
        known.sort_unstable();
        known.dedup();
        format!(
            "unknown action '{name}'; choose one of: {}",
            known.join(", ")
        )
    } else {
        format!("unknown action '{name}'; use {}", full.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::KeyPress;
    use proptest::prelude::*;

    fn custom(rows: &[(&str, &[&str])]) -> Result<Keymap, Vec<String>> {
        let row = |(name, keys): &(&str, &[&str])| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            ((*name).to_owned(), keys)
        };
        Keymap::with_custom(&rows.iter().map(row).collect())
    }

    #[test]
    fn a_key_of_ones_own_takes_the_place_of_the_table_s() {
        let keymap = custom(&[("sort", &["f4", "f5"])]).unwrap();
        let asks = |key: &str| keymap.action(Scope::Overview, key.parse().unwrap());
        assert_eq!(asks("f4"), Some(Action::Sort));
        assert_eq!(asks("f5"), Some(Action::Sort));
        assert_eq!(asks("s"), None);
        let hints = keymap.hints(Scope::Overview, |_| true);
        assert!(hints.iter().any(|h| h.word == "sort" && h.keys == "F4"));
    }

    #[test]
    fn a_scope_goes_before_none() {
        let keymap = custom(&[("back", &["b"]), ("session.back", &["v"])]).unwrap();
        let of = |scope| keymap.key(scope, Action::Back);
        assert_eq!(of(Scope::Overview), Some(KeyPress::Char('b')));
        assert_eq!(of(Scope::Session), Some(KeyPress::Char('v')));
    }

    #[test]
    fn an_action_without_a_key_has_no_hint() {
        let keymap = custom(&[("sort", &[])]).unwrap();
        assert_eq!(keymap.action(Scope::Overview, KeyPress::Char('s')), None);
        assert!(
            keymap
                .hints(Scope::Overview, |_| true)
                .iter()
                .all(|hint| hint.word != "sort")
        );
    }

    #[test]
    fn two_keys_may_change_places() {
        let keymap = custom(&[("sort", &["/"]), ("filter", &["s"])]).unwrap();
        assert_eq!(
            keymap.key(Scope::Overview, Action::Filter),
            Some(KeyPress::Char('s'))
        );
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let wrong = custom(&[
            ("srot", &["x"]),
            ("text.sort", &["x"]),
            ("window", &["super-w"]),
            ("overview.sort", &["?"]),
            ("quit", &[]),
        ])
        .unwrap_err();
        let text = wrong.join("\n");
        for part in [
            "unknown action 'srot'; choose one of: ",
            "unknown action 'text.sort'; use overview.sort",
            "\"window\": unknown key 'super-w'",
            "'?' is bound to both 'overview.sort' and 'anywhere.help'",
            "'quit' has no key",
        ] {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
        assert_eq!(wrong.len(), 5, "{text}");
    }

    proptest! {
        #[test]
        fn a_keymap_that_is_taken_has_no_key_with_two_meanings(
            rows in proptest::collection::btree_map(
                proptest::sample::select(BINDINGS).prop_map(|b| b.name()),
                proptest::collection::vec("[a-z]|f[1-9]|ctrl-[a-z]", 0..3),
                0..5,
            )
        ) {
            if let Ok(keymap) = Keymap::with_custom(&rows) {
                for (name, keys) in rows {
                    let binding = BINDINGS.iter().find(|b| b.name() == name).unwrap();
                    let scope = match binding.scope {
                        Scope::Anywhere => Scope::Overview,
                        scope => scope,
                    };
                    for key in keys {
                        let key: KeyPress = key.parse().unwrap();
                        prop_assert_eq!(keymap.action(scope, key), Some(binding.action));
                    }
                }
            }
        }
    }
}
