//! Computes Codex's own count of an item: the number of bytes that it divides by four and adds to the last reported
//! total.
//!
//! The bytes are those that the model sees of the item, without its JSON (openai/codex,
//! `core/src/context_manager/history.rs` at 86be5320). With 0.169 the limit lay between this count at a
//! compaction and at the check before it, 32 times of 32.

use super::wire::{ContentPart, Item, string_or_json};
use decode::lenient::{Raw, full_length};

/// The bytes of an image, whatever its size.
const IMAGE: u64 = 7_373;
/// The bytes of an image in its own resolution of which the log holds only the name: 10,000 patches.
const LARGEST_IMAGE: u64 = 40_000;

/// Returns the bytes that Codex counts for an item of its history, and at most `budget` bytes of a tool's output.
/// `None`: those of its text, or what is encrypted was replaced by something shorter than any reasoning.
pub(super) fn bytes(item: &Item<'_>, budget: u64) -> Option<u64> {
    let encrypted = full_length(item.encrypted_content.or_empty());
    Some(match item.kind.or_empty() {
        "message" => return None,
        "reasoning" if reasoning(encrypted) == 0 && item.content.0.is_empty() => return None,
        "agent_message" | "inter_agent_communication" => {
            let names =
                full_length(item.author.or_empty()) + full_length(item.recipient.or_empty());
            names + sum(&item.content.0) + encrypted_part(encrypted)
        }
        "function_call" | "custom_tool_call" => {
            let namespace = full_length(item.namespace.get().unwrap_or("functions"));
            full_length(item.name.or_empty()) + namespace + json(item.arguments.or(item.input))
        }
        "function_call_output" | "custom_tool_call_output" => {
            let body = sum(&item.output.0).min(budget);
            body + full_length(item.call_id.or_empty())
                + full_length(item.name.or_empty())
                + full_length(item.namespace.or_empty())
        }
        "reasoning" => reasoning(encrypted),
        _ if item.is_summary() => reasoning(encrypted),
        "image_generation_call" => full_length(item.revised_prompt.or_empty()) + IMAGE,
        _ => {
            let values = [item.arguments, item.input, item.action, item.tools];
            values.into_iter().map(json).sum()
        }
    })
}

/// Returns the bytes that Codex counts for parts of a message.
pub(super) fn sum<'p>(parts: impl IntoIterator<Item = &'p ContentPart<'p>>) -> u64 {
    parts.into_iter().map(part).sum()
}

fn part(part: &ContentPart<'_>) -> u64 {
    let text = part.text.get().or(part.content.get());
    if let Some(text) = text {
        return full_length(text);
    }
    if part.is_image() {
        return match (part.image_url.get(), part.detail.or_empty()) {
            (None, "original") => LARGEST_IMAGE,
            _ => IMAGE,
        };
    }
    encrypted_part(full_length(part.encrypted_content.or_empty()))
}

/// Returns the count of reasoning or a summary of this many encrypted bytes.
fn reasoning(encrypted: u64) -> u64 {
    (encrypted * 3 / 4).saturating_sub(650)
}

/// Returns the count of an encrypted part of an output or of another agent's message.
fn encrypted_part(encrypted: u64) -> u64 {
    (encrypted * 9).div_ceil(16)
}

fn json(value: Option<Raw<'_>>) -> u64 {
    full_length(&string_or_json(value))
}
