//! Byte strings by which lines are found.

use memchr::memmem::Finder;

/// Marks of lines, and where they are in the bytes that are searched. By default there are none: any line will do.
#[derive(Debug, Default)]
pub struct Marks(Vec<Mark>);

#[derive(Debug)]
struct Mark {
    finder: Finder<'static>,
    /// Where it was found; `None`: it was not looked for yet.
    found: Option<usize>,
}

impl Marks {
    /// These marks.
    pub fn new(marks: &[&'static str]) -> Marks {
        let marks = marks.iter().map(|mark| Mark {
            finder: Finder::new(*mark),
            found: None,
        });
        Marks(marks.collect())
    }

    /// Whether one of them is in these bytes. Any bytes will do where there are no marks.
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        let is_in = |mark: &Mark| mark.finder.find(bytes).is_some();
        self.0.is_empty() || self.0.iter().any(is_in)
    }

    /// Other bytes are searched from here on.
    pub(super) fn begin(&mut self) {
        self.0.iter_mut().for_each(|mark| mark.found = None);
    }

    /// How many bytes from this place on no mark begins in; 0 where there are no marks. The places must not fall. Each mark
    /// is looked for once in each byte.
    pub(super) fn unmarked(&mut self, bytes: &[u8], from: usize) -> usize {
        let found = self.0.iter_mut().map(|mark| {
            if mark.found.is_none_or(|found| found < from) {
                let next = mark.finder.find(&bytes[from..]);
                mark.found = Some(next.map_or(bytes.len(), |next| from + next));
            }
            mark.found.unwrap_or(bytes.len())
        });
        found.min().map_or(0, |found| found - from)
    }
}
