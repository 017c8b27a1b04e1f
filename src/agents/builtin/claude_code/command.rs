//! Reads the commands that a user types. The log has them in tags, with the name twice before the arguments:
//! `<command-message>plan</command-message> <command-name>/plan</command-name> <command-args>the cart</command-args>`.

/// The most characters of a command that are kept: enough for a title.
const MOST_CHARS: usize = 300;

/// Returns a command as it was typed: `/plan the cart`; `None`: the text is none.
pub(super) fn typed(text: &str) -> Option<String> {
    if !text.trim_start().starts_with("<command-") {
        return None;
    }
    let name = between(text, "<command-name>", "</command-name>")?.trim();
    let arguments = between(text, "<command-args>", "</command-args>").unwrap_or_default();
    let words = name.split_whitespace().chain(arguments.split_whitespace());
    let words: Vec<&str> = words.take(MOST_CHARS).collect();
    let command: String = words.join(" ").chars().take(MOST_CHARS).collect();
    // It may have been cut behind a word.
    let command = command.trim_end();
    (!command.is_empty()).then(|| command.to_owned())
}

/// Returns the text between two tags, or after the first one if the text was cut.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(begin)?;
    Some(rest.split_once(end).map_or(rest, |(inner, _)| inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_as_it_was_typed() {
        let logged = |arguments: &str| {
            let message = "<command-message>sp:plan</command-message>\n";
            format!(
                "{message}<command-name>/sp:plan</command-name>\n<command-args>{arguments}</command-args>"
            )
        };
        assert_eq!(
            typed(&logged("how do  I\nlay out the shop")).unwrap(),
            "/sp:plan how do I lay out the shop"
        );
        assert_eq!(typed(&logged("")).unwrap(), "/sp:plan");
        let long = typed(&logged(&"日本 ".repeat(500))).unwrap();
        assert!(long.chars().count() <= MOST_CHARS, "{long}");
        assert_eq!(typed("<command-message>cut"), None);
        assert_eq!(typed("<task>x</task>"), None);
        assert_eq!(typed("go on"), None);
    }
}
