//! Words of a command line that a user gives to a shell.

use std::borrow::Cow;

/// Returns a text as one word of a shell, which expands nothing in it: in single quotes, unless it has only letters,
/// digits and signs that mean nothing.
///
/// Quotes and backslashes stand outside of the quotes, since fish treats them as escapes within. So the word is the same
/// in POSIX shells, bash, zsh and fish, where a user types as well: bash replaces `!` and `{a,b}` outside of quotes.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.=:@%+-".contains(c);
    if !text.is_empty() && !text.starts_with(['=', '%']) && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut word = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => word.push_str(r"'\''"),
            '\\' => word.push_str(r"'\\'"),
            c => word.push(c),
        }
    }
    word.push('\'');
    Cow::Owned(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_expand_is_quoted() {
        for (text, word) in [
            ("/my/shop-1.2_a", "/my/shop-1.2_a"),
            ("--session=ab@c:d%e+f", "--session=ab@c:d%e+f"),
            ("", "''"),
            ("/w/!touch", "'/w/!touch'"),
            ("/w/{a,b}", "'/w/{a,b}'"),
            ("~/x", "'~/x'"),
            ("=ls", "'=ls'"),
            ("%1", "'%1'"),
            ("a b$(c)`d`;e", "'a b$(c)`d`;e'"),
            ("it's", r"'it'\''s'"),
            (r"a\", r"'a'\\''"),
            ("é", "'é'"),
        ] {
            assert_eq!(shell_word(text), word, "{text}");
        }
    }
}
