//! The agent's own count in words, where it differs from what is in the context.

use super::number;
use model::context::Context;

/// How far the agent's count may differ from the context without a word, as a share of the context.
const DIFFERENCE: f64 = 0.01;

/// A sentence on what the agent counts and why it differs from the context, such as `Codex counts 231k of
/// 245k: 14k are old reasoning that is no longer sent`; `None`: it differs by 1 % or less. `label` is the
/// agent's name on screens.
pub fn own_count(label: &str, context: &Context, trigger: Option<u64>) -> Option<String> {
    let own = context.own?;
    let difference = own.tokens.abs_diff(context.used) as f64;
    if context.used == 0 || difference <= context.used as f64 * DIFFERENCE {
        return None;
    }
    let of = trigger.map(|trigger| format!(" of {}", number::short(trigger)));
    let reasoning = number::short(own.earlier_reasoning);
    let why = match (own.earlier_reasoning, own.not_sent) {
        (0, _) => String::new(),
        (all, not_sent) if not_sent * 2 > all => {
            format!(": {reasoning} are old reasoning that is no longer sent")
        }
        _ => format!(": {reasoning} are old reasoning, counted twice"),
    };
    let (agent, counted) = (capitalised(label), number::short(own.tokens));
    let of = of.unwrap_or_default();
    Some(format!("{agent} counts {counted}{of}{why}"))
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
