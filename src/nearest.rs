//! Finds the name that a mistyped word was meant to be.

/// The least likeness of two names, from 0 to 1, for a suggestion: that of clap for options.
const LEAST_ALIKE: f64 = 0.7;

/// Returns the name that is most like a word; `None`: none is like it.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let word = word.to_lowercase();
    let alike = names.map(|name| (strsim::jaro(&word, name), name));
    let alike = alike.filter(|(alike, _)| *alike > LEAST_ALIKE);
    let nearest = alike.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map(|(_, name)| name)
}
