//! The tokens that an item adds to a prompt, by each rule.

use crate::history::Item;
use derive_more::{AddAssign, SubAssign};

/// The framing of a message, of all schemas, and of each: the numbers of RFC 029.
const PER_MESSAGE: i128 = 4;
const PER_SCHEMAS: i128 = 16;
const PER_SCHEMA: i128 = 8;

/// The quantities of a prompt that the rules measure.
#[derive(Debug, Clone, Copy, Default, AddAssign, SubAssign)]
pub(super) struct PromptMeasures {
    pub(super) chars: i128,
    /// o200k tokens with framing.
    pub(super) o200k: i128,
    /// Images and documents, by formula.
    pub(super) fixed: i128,
    /// The tokens that definitions of tools add to their o200k tokens: a tenth, less the framing of a message, which
    /// they do not have.
    pub(super) schemas: i128,
    /// Definitions of tools.
    pub(super) tools: i128,
    /// Reported outputs.
    pub(super) outputs: i128,
    /// The tokens that [`super::Estimator::Delta`] counts: reported outputs, and the o200k tokens of all else.
    pub(super) fresh: i128,
}

impl PromptMeasures {
    /// Measures all text in an item.
    pub(super) fn of(item: &Item) -> PromptMeasures {
        let size = item.size;
        let (local, fixed) = (i128::from(size.local), i128::from(size.fixed));
        let framing = if local > 0 || fixed > 0 {
            PER_MESSAGE
        } else {
            0
        };
        PromptMeasures {
            chars: i128::from(size.chars),
            o200k: local + framing,
            fixed,
            schemas: match size.tools {
                0 => 0,
                _ => local / 10 - PER_MESSAGE,
            },
            tools: i128::from(size.tools),
            outputs: 0,
            fresh: local + framing + fixed,
        }
    }

    /// Returns these measures with a reported output of this many tokens in place of its text. 0: another item of the
    /// same output already counts for all of it.
    pub(super) fn reported(self, output: u64) -> PromptMeasures {
        let outputs = i128::from(output);
        PromptMeasures {
            outputs,
            fresh: outputs,
            ..self
        }
    }

    /// Returns the size by [`super::Estimator::O200kTools`], without the framing of schemas.
    pub(super) fn with_schemas(&self) -> i128 {
        self.o200k + self.fixed + self.schemas
    }
}

/// Returns the tokens of tool schemas without their text. Where the log lacks the tools on offer, those that were
/// `called` are the fewest that can have been on offer.
pub(super) fn schema_framing(offered: i128, called: i128) -> i128 {
    PER_SCHEMAS + PER_SCHEMA * offered.max(called)
}
