//! Names that many items or requests share; words in names.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A name that many items share, in half the memory of an `Arc<str>`: a pointer without a length.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Name(Arc<Arc<str>>);

impl Name {
    pub(crate) fn shared(&self) -> &Arc<str> {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Name {
        Name(Arc::new(name.into()))
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

thread_local! {
    static LAST: RefCell<Option<Name>> = const { RefCell::new(None) };
}

/// A name that follows itself is shared again.
impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        let name = <&str>::deserialize(from)?;
        Ok(LAST.with_borrow_mut(|last| match last {
            Some(last) if **last == *name => last.clone(),
            _ => last.insert(name.into()).clone(),
        }))
    }
}

/// Names of which each is in memory once, with a number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<Arc<str>, u32>,
    list: Vec<Name>,
}

impl Names {
    /// A name, shared with all who asked for the same one.
    pub fn share(&mut self, name: &str) -> Arc<str> {
        let number = self.number(name);
        match self.get(number) {
            Some(name) => Arc::clone(name.shared()),
            None => name.into(),
        }
    }

    /// The same in less memory.
    pub(crate) fn name(&mut self, name: &str) -> Name {
        let number = self.number(name);
        self.get(number).cloned().unwrap_or_else(|| name.into())
    }

    /// The number of a name, counted from 0.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let new: Name = name.into();
        self.numbers.insert(Arc::clone(new.shared()), number);
        self.list.push(new);
        number
    }

    /// The name of a number.
    pub(crate) fn get(&self, number: u32) -> Option<&Name> {
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
