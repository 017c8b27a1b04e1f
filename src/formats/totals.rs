//! Defines what the numbers of a format's usage reports mean.

use model::event::BilledUsage;
use model::values::token_usage::CachePlacement;

/// One number of a provider's usage: its name in reports and where it is in [`BilledUsage`].
pub type Term = (&'static str, fn(&BilledUsage) -> u64);

/// The numbers of agents that log what was cached beside the input.
pub const WITH_CACHE: &[Term] = &[
    ("input", |b| b.input),
    ("cache_read", |b| b.cache_read),
    ("cache_write", |b| b.cache_creation),
    ("output", |b| b.output),
];

/// The numbers of [`WITH_CACHE`], and the part of the output that was reasoning.
pub const WITH_CACHE_AND_REASONING: &[Term] = &[
    WITH_CACHE[0],
    WITH_CACHE[1],
    WITH_CACHE[2],
    WITH_CACHE[3],
    ("reasoning", |b| b.reasoning),
];

/// The numbers in Anthropic's words.
pub const ANTHROPIC: &[Term] = &[
    ("input", |b| b.input),
    ("cache_creation", |b| b.cache_creation),
    ("cache_read", |b| b.cache_read),
    ("output", |b| b.output),
];

/// The numbers of Google's agents, which call reasoning thoughts.
pub const THOUGHTS: &[Term] = &[
    ("input", |b| b.input),
    ("cached", |b| b.cache_read),
    ("output", |b| b.output),
    ("thoughts", |b| b.reasoning),
];

/// The meaning of the numbers of usage reports, for totals.
#[must_use]
#[derive(Clone, Copy)]
pub struct Totals {
    /// The names of [`BilledUsage`]'s numbers in the provider's own terms. Empty where no usage is logged.
    pub terms: &'static [Term],
    /// Shows whether the input includes the cached part.
    pub cached: CachePlacement,
    /// True if the output is without reasoning, which is counted beside it.
    pub reasoning_beside_output: bool,
    /// True if the requests that compact are not in the log.
    pub hides_compactions: bool,
}

impl Totals {
    /// The numbers in OpenAI's words.
    pub const DEFAULT: Totals = Totals::new(&[
        ("input", |b| b.input),
        ("cached", |b| b.cache_read),
        ("output", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ]);

    /// Returns the totals of reports whose input includes the cached part, and whose output includes reasoning.
    pub const fn new(terms: &'static [Term]) -> Totals {
        Totals {
            terms,
            cached: CachePlacement::Within,
            reasoning_beside_output: false,
            hides_compactions: false,
        }
    }

    /// Returns the totals of reports whose input is without the cached part.
    pub const fn cached_beside(mut self) -> Totals {
        self.cached = CachePlacement::Beside;
        self
    }

    /// Returns the totals of reports whose output is without reasoning.
    pub const fn reasoning_beside(mut self) -> Totals {
        self.reasoning_beside_output = true;
        self
    }

    /// Returns the totals of a log without the requests that compact.
    pub const fn without_compactions(mut self) -> Totals {
        self.hides_compactions = true;
        self
    }
}
