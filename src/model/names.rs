//! Names that many items or requests share; words in names.

use std::collections::HashMap;
use std::sync::Arc;

/// Names of which each is in memory once, with a number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<Arc<str>, u32>,
    list: Vec<Arc<str>>,
}

impl Names {
    /// A name, shared with all who asked for the same one.
    pub fn share(&mut self, name: &str) -> Arc<str> {
        let number = self.number(name);
        match self.get(number) {
            Some(name) => Arc::clone(name),
            None => name.into(),
        }
    }

    /// The number of a name, counted from 0.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let new: Arc<str> = name.into();
        self.numbers.insert(Arc::clone(&new), number);
        self.list.push(new);
        number
    }

    /// The name of a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Arc<str>> {
        self.list.get(number as usize)
    }
}

/// Whether a text contains a word, which is in lower case, in any case.
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
        assert_eq!((names.number("Bash"), names.number("Grep")), (1, 2));
        assert_eq!(names.get(2).map(|name| &**name), Some("Grep"));
    }
}
