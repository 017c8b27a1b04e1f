//! Finds the name that a mistyped word was meant to be.

/// How alike two names are at least, from 0 to 1, to be taken for each other.
const LEAST_ALIKE: f32 = 0.6;

/// Returns the name that is most like a word; `None`: none is like it.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (word, names) = (word.to_lowercase(), names.collect::<Vec<_>>());
    similar::get_close_matches(&*word, &names, 1, LEAST_ALIKE).pop()
}
