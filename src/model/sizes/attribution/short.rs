//! Prompts that lack items which the log has of them: what is logged is not what is sent, where a plugin leaves content out of
//! what it sends and leaves it in the log.

use super::Attribution;
use crate::history::RequestIx;

/// So many prompts that lack items show that it is items that leave, not a part of the prefix.
const AGAIN_AND_AGAIN: usize = 3;
/// One of at most so many prompts lacks items then. Real logs of Codex, which leaves old reasoning out, have one of 65 or
/// more.
const MOST_PROMPTS_EACH: usize = 20;

impl Attribution {
    /// Returns the number of prompts that lacked items which the log has of them, where that happened again and again.
    pub(crate) fn short_prompts(&self) -> Option<usize> {
        let is_often = self.short.len().saturating_mul(MOST_PROMPTS_EACH) >= self.requests.len();
        Some(self.short.len()).filter(|short| *short >= AGAIN_AND_AGAIN && is_often)
    }

    /// Notes whether a prompt lacks items. `system` is what the items would leave of it: less than the prefix, they do not
    /// fit. Returns whether that happened again and again: it is items then that leave, not the prefix.
    pub(super) fn is_short_again(&mut self, ix: RequestIx, system: u64, lacks_items: bool) -> bool {
        let is_short = lacks_items && self.prefix.is_some_and(|prefix| system < prefix);
        if is_short {
            self.short.insert(ix);
        } else {
            self.short.remove(&ix);
        }
        is_short && self.short_prompts().is_some()
    }
}
