//! Byte strings by which lines are found.

use memchr::memmem::Finder;

/// Marks of lines. By default there are none: any line will do.
#[derive(Debug, Default)]
pub struct Marks {
    anywhere: Vec<Finder<'static>>,
    /// Those with which a line begins: looking for them in all of it takes longer.
    first: Vec<&'static [u8]>,
}

impl Marks {
    /// Returns these marks, the most frequent first. One that begins with a brace is looked for where the line begins.
    pub fn new(marks: &[&'static str]) -> Marks {
        let is_first = |mark: &&&str| mark.starts_with('{');
        let first = marks.iter().filter(is_first).map(|mark| mark.as_bytes());
        let anywhere = marks.iter().filter(|mark| !is_first(mark));
        Marks {
            anywhere: anywhere.map(|mark| Finder::new(*mark)).collect(),
            first: first.collect(),
        }
    }

    /// Returns true if one of them is in these bytes. Where there are no marks, any bytes will do.
    #[inline]
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_in = |mark: &Finder<'_>| mark.find(bytes).is_some();
        self.anywhere.is_empty() && self.first.is_empty()
            || self.first.iter().any(|mark| bytes.starts_with(mark))
            || self.anywhere.iter().any(is_in)
    }
}
