//! Byte strings by which lines are found.

use memchr::memmem::Finder;

/// Marks of lines. By default there are none: any line will do.
#[derive(Debug, Default)]
pub struct Marks(Vec<Finder<'static>>);

impl Marks {
    /// These marks, the most frequent first.
    pub fn new(marks: &[&'static str]) -> Marks {
        Marks(marks.iter().map(|mark| Finder::new(*mark)).collect())
    }

    /// Whether one of them is in these bytes. Any bytes will do where there are no marks.
    #[inline]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_in = |mark: &Finder<'_>| mark.find(bytes).is_some();
        self.0.is_empty() || self.0.iter().any(is_in)
    }
}
