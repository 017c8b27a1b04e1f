//! Codex CLI: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! A rollout is a list of lines `{timestamp, type, payload}`. The history is its `response_item`s,
//! replaced as a whole by `compacted`; `event_msg`s repeat it for the screen and are passed over, but
//! for `token_count`.
//!
//! A `token_count` is written after the tools of its response have run, yet does not count their
//! outputs. So what the model wrote since the count before is one request's output, and outputs that
//! precede its count follow it in the context. Newer versions write a `token_usage_record` as well, before
//! the tools run.
//!
//! A fork or a reverted thread continues another rollout, of which its own file holds nothing (`base`).

mod base;
mod fragment;
mod history;
mod item;
mod opening;
mod order;
mod own;
mod price;
mod reader;
mod request;
mod session;
mod settings;
mod spend;
mod thread;
mod turn;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

use formats::{Claim, Format, Recognition, Root, SameId, StoreKind, decoder};
use reader::CodexDecoder;
use std::path::Path;

/// The format.
pub static CODEX: Format = Format {
    id: "codex",
    roots: &[
        Root::home(".codex", "sessions").env("CODEX_HOME"),
        Root::home(".codex", "archived_sessions").env("CODEX_HOME"),
    ],
    claims: &claims,
    same_id: SameId::Segments,
    recognition: Recognition::new(&recognise).kept_in(&|_| Some(StoreKind::Chain(&base::CHAIN))),
    decoder: &decoder::<CodexDecoder>,
    reset_marks: &["\"type\":\"compacted\"", "\"type\": \"compacted\""],
    harmless: "session_meta turn_context world_state retained_context security_risk_score realtime_item \
        token_usage_record inter_agent_communication_metadata record_type/state \
        response_item/ghost_snapshot response_item/configuration_update event_msg/agent_message \
        event_msg/agent_reasoning event_msg/agent_reasoning_raw_content event_msg/user_message \
        event_msg/token_count event_msg/task_started event_msg/turn_started event_msg/task_complete \
        event_msg/turn.completed event_msg/turn_aborted event_msg/context_compacted \
        event_msg/thread_rolled_back event_msg/thread_goal_updated event_msg/thread_name_updated \
        event_msg/thread_settings_applied event_msg/item_started event_msg/item_completed \
        event_msg/exec_command_begin event_msg/exec_command_end event_msg/patch_apply_begin \
        event_msg/patch_apply_end event_msg/mcp_tool_call_begin event_msg/mcp_tool_call_end \
        event_msg/web_search_begin event_msg/web_search_end event_msg/image_generation_begin \
        event_msg/image_generation_end event_msg/view_image_tool_call \
        event_msg/dynamic_tool_call_request event_msg/dynamic_tool_call_response \
        event_msg/entered_review_mode event_msg/exited_review_mode event_msg/sub_agent_activity \
        event_msg/collab_agent_spawn_begin event_msg/collab_agent_spawn_end \
        event_msg/collab_agent_interaction_begin event_msg/collab_agent_interaction_end \
        event_msg/collab_waiting_begin event_msg/collab_waiting_end event_msg/collab_close_begin \
        event_msg/collab_close_end event_msg/collab_resume_begin event_msg/collab_resume_end \
        event_msg/guardian_assessment event_msg/undo_completed event_msg/skill_started \
        event_msg/account/rateLimits/updated event_msg/codex/event/raw_item event_msg/error \
        event_msg/warning event_msg/stream_error event_msg/deprecation_notice \
        event_msg/background_event event_msg/plan_update event_msg/turn_diff \
        event_msg/shutdown_complete",
    turn_over: "event_msg/task_complete event_msg/turn.completed event_msg/turn_aborted",
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

/// Claims `rollout-2026-08-01T10-00-00-<thread>.jsonl`; a reverted thread's name has `_<rollout>` behind the thread.
fn claims(path: &Path) -> Option<Claim> {
    let rest = rollout(path.file_name()?.to_str()?)?;
    let thread = rest
        .get("2026-08-01T10-00-00-".len()..)
        .and_then(|ids| ids.split('_').next())
        .filter(|thread| !thread.is_empty());
    Some(Claim {
        id: thread.map(Into::into),
        ..Claim::LINES.kept_in(StoreKind::Chain(&base::CHAIN))
    })
}

/// Returns the name of a rollout's file without what all have. One that was idle for a week may be compressed.
fn rollout(file: &str) -> Option<&str> {
    let file = file.strip_suffix(".zst").unwrap_or(file);
    file.strip_prefix("rollout-")?.strip_suffix(".jsonl")
}

fn recognise(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n')
        .take(3)
        .any(begins_a_rollout)
}

/// Returns true if a line, of which the end may be missing, is a rollout's. Within a string of another log the quotes
/// would be escaped.
fn begins_a_rollout(line: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&line[..line.len().min(400)]);
    let has = |key: &str, value: &str| {
        head.split_once(key)
            .is_some_and(|(_, rest)| rest.trim_start_matches([':', ' ']).starts_with(value))
    };
    let typed = ["session_meta", "response_item", "event_msg", "turn_context"]
        .iter()
        .any(|kind| has("\"type\"", &format!("\"{kind}\"")));
    let bare =
        head.starts_with("{\"id\"") && has("\"timestamp\"", "\"") && has("\"instructions\"", "");
    typed || bare
}
