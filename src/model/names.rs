//! Names that many items share.

use std::collections::HashSet;
use std::sync::Arc;

/// Names of which each is in memory once.
#[derive(Debug, Clone, Default)]
pub struct Names(HashSet<Arc<str>>);

impl Names {
    /// A name, shared with all who asked for the same one.
    pub fn share(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
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
}
