//! The agent's own count in words, where it differs from the size of the context.

use super::number;
use super::text::capitalised;
use model::context::Context;

/// The largest difference between the agent's count and the context that is not mentioned, as a share of the context.
const IGNORED_SHARE: f64 = 0.01;

/// Returns a sentence on the agent's count and its difference from the context, such as `Codex counts 231k of 245k: 14k
/// are old reasoning that is no longer sent`; `None`: it differs by 1 % or less. `label` is the agent's name on
/// screens.
pub fn own_count(label: &str, context: &Context, trigger: Option<u64>) -> Option<String> {
    let own = context.own?;
    let difference = own.tokens.abs_diff(context.used) as f64;
    if context.used == 0 || difference <= context.used as f64 * IGNORED_SHARE {
        return None;
    }
    let of = trigger.map_or_else(String::new, |trigger| {
        format!(" of {}", number::short(trigger))
    });
    let reasoning = number::short(own.earlier_reasoning);
    let why = match (own.earlier_reasoning, own.not_sent) {
        (0, _) => String::new(),
        (all, not_sent) if not_sent * 2 > all => {
            format!(": {reasoning} are old reasoning that is no longer sent")
        }
        _ => format!(": {reasoning} are old reasoning that it counts a second time"),
    };
    let (agent, counted) = (capitalised(label), number::short(own.tokens));
    Some(format!("{agent} counts {counted}{of}{why}"))
}
