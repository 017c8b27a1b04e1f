//! Texts of user and developer messages that the harness wrote, recognised by the marks around them.

use model::Kind;
use model::event::split_elided;

/// The opening tags of texts that the harness puts into user messages, as Codex itself recognises them:
/// the closing tag must be there too, letter case aside.
const TAGS: &[(&str, Kind)] = &[
    ("<user_instructions>", Kind::Memory),
    ("<environment_context>", Kind::Reminder),
    ("<skill>", Kind::Skill),
    ("<skills_instructions>", Kind::ToolList),
    ("<apps_instructions>", Kind::ToolList),
    ("<plugins_instructions>", Kind::ToolList),
    ("<recommended_plugins>", Kind::ToolList),
    ("<user_shell_command>", Kind::Reminder),
    ("<user_action>", Kind::Reminder),
    ("<turn_aborted>", Kind::Reminder),
    ("<subagent_notification>", Kind::Reminder),
    ("<codex_internal_context", Kind::Reminder),
    ("<goal_context>", Kind::Reminder),
    ("<hook_prompt", Kind::Reminder),
    ("<collaboration_mode>", Kind::Reminder),
    ("<multi_agent_mode>", Kind::Reminder),
    ("<realtime_conversation>", Kind::Reminder),
];

/// The beginnings, ends and kinds of texts that are not between tags of one name.
const OTHERS: &[(&str, &str, Kind)] = &[
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", Kind::Memory),
    ("<external_", ">", Kind::Reminder),
    (EXEC_WARNING, "", Kind::Reminder),
    (PATCH_WARNING, "", Kind::Reminder),
];

const EXEC_WARNING: &str = "Warning: The maximum number of unified exec process";
const PATCH_WARNING: &str = "Warning: apply_patch was requested via exec_command";

/// The beginning of a compaction's summary in a user message.
const SUMMARY: &str = "Another language model started to solve this problem";

/// Returns the kind of a text of a user message that the harness wrote; `None`: the user wrote it. `named` is what the
/// log names it, newer logs alone do.
pub(super) fn of_user(text: &str, named: Option<&str>) -> Option<Kind> {
    let (shown, cut) = split_elided(text);
    let shown = shown.trim();
    let named = named.map(kind_of_name);
    if named == Some(None) {
        return None;
    }
    kind(shown, |close| cut > 0 || ends(shown, close)).or(named.flatten())
}

/// Returns the kind of a text of a developer message.
pub(super) fn of_developer(text: &str, named: Option<&str>) -> Kind {
    let marked = kind(text.trim_start(), |_| true);
    let kind = marked.or(named.and_then(kind_of_name));
    kind.unwrap_or(Kind::Reminder)
}

/// Returns the kind of a text that the harness wrote, by a name such as `user.text` or `environments.environment_context`
/// that the log gives it (openai/codex, `core/src/context_manager/history.rs`; the kinds are those of the names in logs of
/// 0.169). `None`: the user wrote it.
fn kind_of_name(name: &str) -> Option<Kind> {
    let (area, what) = name.split_once('.').unwrap_or((name, ""));
    match (area, what) {
        ("user" | "images" | "unknown" | "", _) | ("audio", "unsupported") => None,
        ("compaction", "summary") => Some(Kind::Summary),
        ("agents_md" | "memories", _) => Some(Kind::Memory),
        ("tools" | "host_skills" | "plugins" | "apps", _) => Some(Kind::ToolList),
        _ => Some(Kind::Reminder),
    }
}

/// Returns the kind of a text by its beginning, if `is_end` holds for the end that belongs to it.
fn kind(text: &str, is_end: impl Fn(&str) -> bool) -> Option<Kind> {
    let tags = TAGS.iter().filter(|(open, _)| starts(text, open));
    let tagged = tags.map(|(open, kind)| (format!("</{}>", open.trim_matches(['<', '>'])), *kind));
    let others = OTHERS.iter().filter(|(open, ..)| starts(text, open));
    let others = others.map(|(_, close, kind)| ((*close).to_owned(), *kind));
    let mut found = tagged.chain(others);
    found.find_map(|(close, kind)| is_end(&close).then_some(kind))
}

/// Returns true if a text of a user message is a compaction's summary.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with(SUMMARY)
}

fn starts(text: &str, mark: &str) -> bool {
    text.get(..mark.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(mark))
}

fn ends(text: &str, mark: &str) -> bool {
    text.len()
        .checked_sub(mark.len())
        .and_then(|from| text.get(from..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(mark))
}
