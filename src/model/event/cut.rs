//! Cuts texts between characters.

/// Returns the largest position up to `most` at which a text can be cut.
pub fn floor_char(text: &str, most: usize) -> usize {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the beginning of a text, at most so many bytes of it.
pub fn beginning(text: &str, most: usize) -> &str {
    &text[..floor_char(text, most)]
}

/// Returns a text of at most so many characters, with `…` where it was cut.
pub fn at_most(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => {
            let kept = text.chars().take(chars.saturating_sub(1));
            kept.chain(['…']).collect()
        }
    }
}
