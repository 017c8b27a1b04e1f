//! Names that many items or requests share; words in names; ids that are names.

pub use crate::event::cut::at_most;
use std::collections::HashSet;
use std::sync::Arc;

/// The names that were given so far.
#[derive(Debug, Clone, Default)]
pub struct Names(HashSet<Arc<str>>);

impl Names {
    /// Returns a name, shared with all who asked for the same one.
    pub fn share(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// The longest id that somebody may have chosen, in bytes.
const CHOSEN_ID_BYTES: usize = 16;

/// Returns true if somebody may have chosen this id.
pub(crate) fn is_chosen_id(id: &str) -> bool {
    !id.is_empty() && random_part(id).is_none() && id.len() <= CHOSEN_ID_BYTES
}

/// Returns the random part of an id, whose first digits suffice to recognise it; `None`: the id is not random. Some ids
/// have a word before it: `session_9b1f2c3d…`.
pub(crate) fn random_part(id: &str) -> Option<&str> {
    let is_random = |text: &&str| text.bytes().take(8).all(|b| b.is_ascii_hexdigit());
    let part = id
        .split_once('_')
        .map(|(_, part)| part)
        .filter(|part| part.len() >= 8);
    std::iter::once(id).chain(part).find(is_random)
}

/// Returns true if a text contains a word in any case. The word is in lower case.
pub fn contains(text: &str, word: &str) -> bool {
    if text.is_ascii() && !word.is_empty() {
        let mut parts = text.as_bytes().windows(word.len());
        parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    } else {
        text.to_lowercase().contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_the_same_memory() {
        let mut names = Names::default();
        let [read, bash, again] = ["Read", "Bash", "Read"].map(|name| names.share(name));
        assert!(Arc::ptr_eq(&read, &again));
        assert_eq!((&*read, &*bash), ("Read", "Bash"));
    }

    #[test]
    fn a_cut_has_a_sign() {
        assert_eq!(at_most("héllo", 5), "héllo");
        assert_eq!(at_most("héllo!", 5), "héll…");
        assert_eq!(at_most("", 0), "");
    }
}
