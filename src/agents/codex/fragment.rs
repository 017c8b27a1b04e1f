//! Texts of user and developer messages that the harness wrote, recognised by the marks around them.

use crate::model::Kind;
use crate::model::event::split_elided;

/// The beginnings and ends of texts that the harness puts into user messages, as Codex itself recognises
/// them: both marks must be there, letter case aside.
const USER: &[(&str, &str, Kind)] = &[
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", Kind::Memory),
    ("<user_instructions>", "</user_instructions>", Kind::Memory),
    (
        "<environment_context>",
        "</environment_context>",
        Kind::Reminder,
    ),
    ("<skill>", "</skill>", Kind::Skill),
    (
        "<skills_instructions>",
        "</skills_instructions>",
        Kind::ToolList,
    ),
    (
        "<apps_instructions>",
        "</apps_instructions>",
        Kind::ToolList,
    ),
    (
        "<plugins_instructions>",
        "</plugins_instructions>",
        Kind::ToolList,
    ),
    (
        "<recommended_plugins>",
        "</recommended_plugins>",
        Kind::ToolList,
    ),
    (
        "<user_shell_command>",
        "</user_shell_command>",
        Kind::Reminder,
    ),
    ("<user_action>", "</user_action>", Kind::Reminder),
    ("<turn_aborted>", "</turn_aborted>", Kind::Reminder),
    (
        "<subagent_notification>",
        "</subagent_notification>",
        Kind::Reminder,
    ),
    (
        "<codex_internal_context",
        "</codex_internal_context>",
        Kind::Reminder,
    ),
    ("<goal_context>", "</goal_context>", Kind::Reminder),
    ("<hook_prompt", "</hook_prompt>", Kind::Reminder),
    (
        "<collaboration_mode>",
        "</collaboration_mode>",
        Kind::Reminder,
    ),
    ("<multi_agent_mode>", "</multi_agent_mode>", Kind::Reminder),
    (
        "<realtime_conversation>",
        "</realtime_conversation>",
        Kind::Reminder,
    ),
    ("<external_", ">", Kind::Reminder),
    (
        "Warning: The maximum number of unified exec process",
        "",
        Kind::Reminder,
    ),
    (
        "Warning: apply_patch was requested via exec_command",
        "",
        Kind::Reminder,
    ),
];

/// The beginning of a compaction's summary in a user message.
const SUMMARY: &str = "Another language model started to solve this problem";

/// The kind of a text of a user message that the harness wrote; `None`: the user wrote it.
pub(super) fn of_user(text: &str) -> Option<Kind> {
    let (shown, cut) = split_elided(text);
    let shown = shown.trim();
    USER.iter()
        .find(|(open, close, _)| starts(shown, open) && (cut > 0 || ends(shown, close)))
        .map(|(_, _, kind)| *kind)
}

/// The kind of a text of a developer message.
pub(super) fn of_developer(text: &str) -> Kind {
    USER.iter()
        .find(|(open, _, _)| starts(text.trim_start(), open))
        .map_or(Kind::Reminder, |(_, _, kind)| *kind)
}

/// Whether a text of a user message is a compaction's summary.
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
