//! The ways to estimate the size of a prompt, by name. How each counts is in `held`.

use strum::{Display, EnumProperty, IntoStaticStr};

/// A way to estimate the size of a prompt.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, EnumProperty, IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Estimator {
    /// Reported outputs and nothing else.
    #[strum(props(rule = "reported outputs only, tools count 0", from = "HPD-Agent"))]
    Outputs,
    /// Characters of all text by 4.
    #[strum(props(rule = "characters of all text / 4", from = "MEW before a8c"))]
    Chars4,
    /// Characters of all text by 3.5.
    #[strum(props(rule = "characters of all text / 3.5", from = "ouro before RFC 010"))]
    Chars35,
    /// o200k tokens of all text.
    #[strum(props(
        rule = "o200k over all text, + 4 a message",
        from = "the universal tiktoken decision"
    ))]
    O200k,
    /// o200k tokens of all text, with tool schemas and images.
    #[strum(props(
        rule = "the same, images, + 16 + 8 a tool + logged schemas × 1.1",
        from = "ouro RFC 010, RFC 029"
    ))]
    O200kTools,
    /// The last report alone.
    #[strum(props(rule = "last prompt + output, nothing in between", from = "MEW a8c"))]
    LastTotal,
    /// The last report and o200k tokens of what is new.
    #[strum(props(
        rule = "last report + o200k of the new messages",
        from = "RFC 029, outputs as reported"
    ))]
    Delta,
    /// Learned from the session's own reports; see [`crate::sizes::calibration`].
    #[default]
    #[strum(props(
        rule = "last report + counts learned from the reports before",
        from = "ctxgauge"
    ))]
    Calibrated,
}

/// The number of estimators.
pub const ESTIMATORS: usize = 8;

impl Estimator {
    /// All of them, from the crudest to the best.
    pub const ALL: [Estimator; ESTIMATORS] = [
        Estimator::Outputs,
        Estimator::Chars4,
        Estimator::Chars35,
        Estimator::O200k,
        Estimator::O200kTools,
        Estimator::LastTotal,
        Estimator::Delta,
        Estimator::Calibrated,
    ];

    /// Returns its name, as flags and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns a description of its rule.
    pub fn rule(self) -> &'static str {
        self.get_str("rule").unwrap_or_default()
    }

    /// Returns the origin of the rule.
    pub fn from(self) -> &'static str {
        self.get_str("from").unwrap_or_default()
    }
}
