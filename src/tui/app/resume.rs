//! The command that resumes a session in its agent.

use render::shell::shell_word;
use render::text;
use std::path::Path;

/// Returns the command that resumes a session in its agent, after a change to its folder, in which most agents look for
/// it: `command` with the id in place of `{id}`. `None`: a shell would not take the id for one word.
///
/// The id and the folder come from a log, and the user will give the command to a shell.
pub(super) fn resume_command(command: &str, id: &str, folder: Option<&str>) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.is_empty() || id.starts_with('-') || !id.chars().all(is_word) {
        return None;
    }
    let command = command.replace("{id}", id);
    // A terminal acts on none of its characters, and shows all.
    let is_plain = |folder: &&str| {
        let is_shown = !folder.contains(char::is_control) && text::inert(folder) == *folder;
        Path::new(folder).is_absolute() && is_shown
    };
    Some(match folder.filter(is_plain) {
        Some(folder) => format!("cd {} && {command}", shell_word(folder)),
        None => command,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_id_and_the_folder() {
        let resume = |id, folder| resume_command("claude --resume {id}", id, folder);
        assert_eq!(
            resume("ab-1", None).as_deref(),
            Some("claude --resume ab-1")
        );
        assert_eq!(
            resume("ab-1", Some("/my shop")).as_deref(),
            Some("cd '/my shop' && claude --resume ab-1")
        );
    }

    #[test]
    fn a_log_cannot_put_a_command_into_it() {
        for id in ["", "a b", "a;b", "$(b)", "-b", "a\nb", "a`b`", "é"] {
            assert_eq!(resume_command("codex resume {id}", id, None), None, "{id}");
        }
        for folder in ["relative", "/a\nb", "/a\u{1b}[2Jb", "/a\u{202e}b"] {
            let command = resume_command("codex resume {id}", "ab-1", Some(folder));
            assert_eq!(command.as_deref(), Some("codex resume ab-1"), "{folder:?}");
        }
        // An earlier command that begins so, in bash.
        let expanded = resume_command("codex resume {id}", "ab-1", Some("/w/!touch"));
        assert_eq!(
            expanded.as_deref(),
            Some("cd '/w/!touch' && codex resume ab-1")
        );
        let quoted = resume_command("codex resume {id}", "ab-1", Some("/a'; touch b; '")).unwrap();
        let words = shell_words::split(&quoted).unwrap();
        assert_eq!(words[..3], ["cd", "/a'; touch b; '", "&&"]);
    }
}
