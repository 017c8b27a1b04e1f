//! Codex CLI: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! A rollout is a list of lines `{timestamp, type, payload}`. The history is its `response_item`s,
//! replaced as a whole by `compacted`; `event_msg`s repeat it for the screen and are passed over, but
//! for `token_count`.
//!
//! A `token_count` is written after the tools of its response have run, yet does not count their
//! outputs. So what the model wrote since the count before is one request's output, and outputs that
//! stand before its count come after it in the context.

mod fragment;
mod history;
mod item;
mod reader;
mod settings;
mod thread;
mod turn;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

use super::{Base, Claim, Decoder, Facts, Format, Root, Settings, Shape, Term, facts};
use reader::Reader;
use std::path::Path;

/// The format.
pub struct Codex;

impl Format for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn label(&self) -> &'static str {
        "codex"
    }

    fn roots(&self) -> &'static [Root] {
        &[
            Root {
                env: Some("CODEX_HOME"),
                base: Base::Home(".codex"),
                logs: "sessions",
            },
            Root {
                env: Some("CODEX_HOME"),
                base: Base::Home(".codex"),
                logs: "archived_sessions",
            },
        ]
    }

    fn settings(&self) -> Option<&'static Settings> {
        Some(&settings::SETTINGS)
    }

    /// `rollout-2026-08-01T10-00-00-<thread>.jsonl`; a reverted thread's name has `_<rollout>` behind
    /// the thread.
    fn claims(&self, path: &Path) -> Option<Claim> {
        let name = path.file_name()?.to_str()?;
        let rest = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        let thread = rest
            .get("2026-08-01T10-00-00-".len()..)
            .and_then(|ids| ids.split('_').next())
            .filter(|thread| !thread.is_empty());
        Some(Claim {
            shape: Shape::Lines,
            id: thread.map(Into::into),
            parent: None,
        })
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.split(|byte| *byte == b'\n')
            .take(3)
            .any(begins_a_rollout)
    }

    fn facts(&self) -> Facts {
        Facts {
            mark: "line of type `session_meta` or `response_item`",
            live: facts::EACH_LINE,
            known: "prompts, outputs, reasoning",
            estimated: "",
            sub_agents: "in files of their own",
            compactions: "yes",
            tried: "0.125 to 0.147",
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Reader>::default()
    }

    fn reset_marks(&self) -> &'static [&'static str] {
        &["\"type\":\"compacted\"", "\"type\": \"compacted\""]
    }

    fn terms(&self) -> &'static [Term] {
        &[
            ("input", |billed| billed.input),
            ("cached", |billed| billed.cache_read),
            ("output", |billed| billed.output),
            ("reasoning", |billed| billed.reasoning),
        ]
    }
}

/// Whether a line, of which the end may be missing, is a rollout's. Within a string of another log the
/// quotes would be escaped.
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
