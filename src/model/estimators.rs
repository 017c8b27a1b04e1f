//! Ways to estimate the size of a prompt, side by side: the rules of other monitors, and this one's.
//!
//! Each predicts a request's prompt from what was known before its report was read. All but
//! [`Estimator::Calibrated`], whose prediction the session keeps, are computed afterwards: an item has
//! the requests whose prompts held it, so sums over all prompts take one walk through the items.

use super::context::{Basis, Content, Context, Share};
use super::event::Size;
use super::past::Unlogged;
use super::session::{Item, RequestIx, Session};
use super::{Kind, Role};
use derive_more::{AddAssign, SubAssign};
use std::collections::HashSet;
use std::str::FromStr;
use strum::{Display, EnumProperty, IntoStaticStr};

mod replay;
#[cfg(test)]
mod tests;

pub use replay::{Prediction, between, predictions};

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
    #[strum(props(
        rule = "characters of all text / 4",
        from = "MEW before a8c, Gemini CLI"
    ))]
    Chars4,
    /// Characters of all text by 3.5.
    #[strum(props(rule = "characters of all text / 3.5", from = "HPD option B"))]
    Chars35,
    /// o200k tokens of all text.
    #[strum(props(
        rule = "o200k over all text, + 4 a message",
        from = "the universal tiktoken decision"
    ))]
    O200k,
    /// The same with tool schemas.
    #[strum(props(
        rule = "the same, images, + 16 + 8 a tool + logged schemas × 1.1",
        from = "ouro RFC 010, RFC 029"
    ))]
    O200kTools,
    /// The last report alone.
    #[strum(props(rule = "last prompt + output, nothing in between", from = "MEW a8c"))]
    LastTotal,
    /// The last report and o200k tokens of what is new.
    #[strum(props(rule = "last report + o200k of the new messages", from = "RFC 029"))]
    Delta,
    /// Learned from the session's own reports; see [`super::calibration`].
    #[default]
    #[strum(props(
        rule = "last report + counts learned from the reports before",
        from = "ctxgauge"
    ))]
    Calibrated,
}

/// How many estimators there are.
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

    /// Its name, as flags and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A description of its rule.
    pub fn rule(self) -> &'static str {
        self.get_str("rule").unwrap_or_default()
    }

    /// Whose rule it is.
    pub fn from(self) -> &'static str {
        self.get_str("from").unwrap_or_default()
    }

    /// Whether it builds on the last usage report. With the others no part of a context is known.
    pub const fn builds_on_report(self) -> bool {
        matches!(
            self,
            Estimator::LastTotal | Estimator::Delta | Estimator::Calibrated
        )
    }
}

impl FromStr for Estimator {
    type Err = String;

    fn from_str(name: &str) -> Result<Estimator, String> {
        let named = Estimator::ALL.into_iter().find(|e| e.name() == name);
        named.ok_or_else(|| {
            let names = Estimator::ALL.map(Estimator::name).join(", ");
            format!("there is no such estimator; known are: {names}")
        })
    }
}

/// What the rules measure of a prompt.
#[derive(Debug, Clone, Copy, Default, AddAssign, SubAssign)]
struct Sums {
    chars: i128,
    /// o200k tokens with framing.
    o200k: i128,
    /// Images and documents, by formula.
    fixed: i128,
    /// What definitions of tools add to their o200k tokens: a tenth, less the framing of a message, which
    /// they are not.
    schemas: i128,
    /// Definitions of tools.
    tools: i128,
    /// Reported outputs.
    outputs: i128,
    /// What [`Estimator::Delta`] counts: reported outputs, and the o200k tokens of all else.
    fresh: i128,
}

/// What an item adds to each measure.
fn measure(size: &Size) -> Sums {
    let (local, fixed) = (i128::from(size.local), i128::from(size.fixed));
    let is_shown = local > 0 || fixed > 0;
    let o200k = local + if is_shown { PER_MESSAGE } else { 0 };
    Sums {
        chars: i128::from(size.chars),
        o200k,
        fixed,
        schemas: match size.tools {
            0 => 0,
            _ => local / 10 - PER_MESSAGE,
        },
        tools: i128::from(size.tools),
        outputs: 0,
        fresh: o200k + fixed,
    }
}

/// The request whose reported output an item is part of.
fn reported_output(session: &Session, item: &Item) -> Option<RequestIx> {
    let request = session.ledger().request_of(item.output_of?)?;
    session.requests()[request].output.map(|_| request)
}

fn has_reported_output(session: &Session, item: &Item) -> bool {
    reported_output(session, item).is_some()
}

/// Tool schemas without their text. Where the log lacks the tools on offer, those that were `called` are
/// the least that was.
fn schema_framing(offered: i128, called: i128) -> i128 {
    PER_SCHEMAS + PER_SCHEMA * offered.max(called)
}

fn capped(tokens: i128) -> u64 {
    u64::try_from(tokens.max(0)).unwrap_or(u64::MAX)
}

/// The framing of a message, of all schemas, and of each: the numbers of RFC 029.
const PER_MESSAGE: i128 = 4;
const PER_SCHEMAS: i128 = 16;
const PER_SCHEMA: i128 = 8;

impl Session {
    /// The estimator of context sizes.
    pub fn estimator(&self) -> Estimator {
        self.rules().estimator
    }

    /// How full the context is, by the estimator that the user chose: what is known stays known where
    /// that estimator builds on reports. The interval remains the calibrated one, widened to hold the
    /// other number: no other rule has an error estimate.
    pub(super) fn context_by(
        &self,
        estimator: Estimator,
        content: &Content,
        calibrated: &Context,
    ) -> Context {
        let anchor = content.inputs.anchor();
        let anchor = anchor.filter(|_| estimator.builds_on_report());
        let mut roles = [Share::default(); 5];
        for (ix, tokens, source) in &content.items {
            let item = &self.items()[*ix];
            let share = &mut roles[item.role.index()];
            share.items += 1;
            let is_known = source.is_known();
            if is_known && self.is_anchored(item, anchor) {
                share.known += tokens;
            } else {
                let reported = reported_output(self, item)
                    .filter(|request| is_known && *request < content.inputs.requests as usize);
                share.estimated += price(estimator, item, reported.map(|_| *tokens));
            }
        }
        let system = &mut roles[Role::System.index()];
        match (anchor, content.inputs.unlogged) {
            (Some(_), Unlogged::Reported(tokens)) => system.known += tokens,
            _ => system.estimated += self.unlogged_by(estimator, content),
        }
        for share in &mut roles {
            share.tokens = share.known + share.estimated;
        }
        let sum = |part: fn(&Share) -> u64| roles.iter().map(part).sum::<u64>();
        let (known, estimated) = (sum(|share| share.known), sum(|share| share.estimated));
        let used = known + estimated;
        Context {
            used,
            known,
            estimated,
            low: calibrated.low.min(used),
            high: calibrated.high.max(used),
            basis: Basis::of(anchor, estimated),
            roles,
            own: None,
        }
    }

    /// What an estimator adds to the items where it has no report to build on.
    fn unlogged_by(&self, estimator: Estimator, content: &Content) -> u64 {
        match estimator {
            Estimator::O200kTools | Estimator::Delta => {
                let so_far = &self.items()[..content.so_far];
                let calls = so_far.iter().filter(|i| i.kind == Kind::ToolCall);
                let called: HashSet<&str> = calls.filter_map(|item| item.tool.as_deref()).collect();
                let here = content.items.iter().map(|(ix, ..)| &self.items()[*ix].size);
                let offered = here.map(|size| i128::from(size.tools)).sum();
                capped(schema_framing(offered, called.len() as i128))
            }
            Estimator::LastTotal => {
                let so_far = &self.requests()[..content.inputs.requests as usize];
                so_far.last().map_or(0, |last| {
                    last.prompt
                        .saturating_add(last.output_as_billed())
                        .min(MOST)
                })
            }
            _ => 0,
        }
    }
}

/// What an item that is not part of the anchor's report costs by an estimator's rule. `output` is its
/// part of a reported output.
fn price(estimator: Estimator, item: &Item, output: Option<u64>) -> u64 {
    let sums = measure(&item.size);
    let tokens = match estimator {
        Estimator::Outputs => output.map_or(0, i128::from),
        Estimator::Chars4 => sums.chars / 4,
        Estimator::Chars35 => sums.chars * 2 / 7,
        Estimator::O200k => sums.o200k,
        Estimator::O200kTools | Estimator::Delta => sums.o200k + sums.fixed + sums.schemas,
        Estimator::LastTotal | Estimator::Calibrated => 0,
    };
    capped(tokens).min(MOST)
}

/// The largest size of an item, whatever a log has: sums of them must not overflow.
const MOST: u64 = 1_000_000_000_000;
