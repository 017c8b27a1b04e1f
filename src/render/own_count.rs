//! The agent's own count in words, where it differs from the size of the context.

use super::number;
use super::text::capitalised;
use model::session::context::Context;
use std::fmt;

/// The largest difference between the agent's count and the context that is not mentioned, as a share of the context.
const IGNORED_SHARE: f64 = 0.01;

/// The agent's count and its difference from the context, in words. Displayed, it is a sentence such as `Codex counts
/// 231k of 245k: 14k are old reasoning that is no longer sent`.
#[derive(Debug)]
pub struct OwnCountWords {
    /// The count: `Codex counts 231k`.
    pub counted: String,
    /// The tokens in it.
    tokens: String,
    /// The trigger that the count is compared with: ` of 245k`; empty: none is known.
    of_trigger: String,
    /// The reason for the difference; empty: none is known.
    why: String,
}

impl OwnCountWords {
    /// Returns the count and the trigger.
    pub fn of_trigger(&self) -> String {
        format!("{}{}", self.counted, self.of_trigger)
    }

    /// Returns true if these tokens are shown as the same count.
    pub fn counts(&self, tokens: u64) -> bool {
        self.tokens == number::short(tokens)
    }

    /// Returns true if the reason for the difference is known.
    pub fn has_reason(&self) -> bool {
        !self.why.is_empty()
    }
}

impl fmt::Display for OwnCountWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.has_reason() { ": " } else { "" };
        write!(f, "{}{}{colon}{}", self.counted, self.of_trigger, self.why)
    }
}

/// Returns the agent's count in words; `None`: it differs from the context by 1 % or less. `label` is the agent's name on
/// screens.
pub fn own_count(label: &str, context: &Context, trigger: Option<u64>) -> Option<OwnCountWords> {
    let own = context.own?;
    let difference = own.tokens.abs_diff(context.used) as f64;
    if context.used == 0 || difference <= context.used as f64 * IGNORED_SHARE {
        return None;
    }
    let of_trigger = trigger.map_or_else(String::new, |trigger| {
        format!(" of {}", number::short(trigger))
    });
    let reasoning = number::short(own.earlier_reasoning);
    let why = match (own.earlier_reasoning, own.not_sent) {
        (0, _) => String::new(),
        (all, not_sent) if not_sent * 2 > all => {
            format!("{reasoning} are old reasoning that is no longer sent")
        }
        _ => format!("{reasoning} are old reasoning that it counts a second time"),
    };
    let (agent, counted) = (capitalised(label), number::short(own.tokens));
    Some(OwnCountWords {
        counted: format!("{agent} counts {counted}"),
        tokens: counted,
        of_trigger,
        why,
    })
}
