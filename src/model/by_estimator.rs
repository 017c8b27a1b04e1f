//! How full a context is by another rule than this program's own, as the user may choose.

use super::content::Content;
use super::context::{Basis, Context, Share};
use super::estimator::Estimator;
use super::history::{ItemRef, RequestIx};
use super::past::Unlogged;
use super::state::State;
use super::{Kind, Role};
use std::collections::HashSet;

mod measure;
mod rfc029;

pub(super) use measure::{Measured, schema_framing};

/// The request whose reported output an item is part of.
pub(super) fn reported_output(state: &State, item: &ItemRef<'_>) -> Option<RequestIx> {
    let request = state.ledger().request_of(item.output_of()?)?;
    state.requests().at(request).output().map(|_| request)
}

pub(super) fn has_reported_output(state: &State, item: &ItemRef<'_>) -> bool {
    reported_output(state, item).is_some()
}

pub(super) fn capped(tokens: i128) -> u64 {
    u64::try_from(tokens.max(0)).unwrap_or(u64::MAX)
}

impl State {
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
        let anchor = content
            .inputs
            .anchor()
            .filter(|_| estimator.builds_on_report());
        let facts = self.past().facts_at(&content.inputs);
        let mut roles = [Share::default(); 5];
        let mut before: Option<ItemRef<'_>> = None;
        for (ix, tokens, source) in &content.items {
            let item = self.items().at(*ix);
            let share = &mut roles[item.role().index()];
            share.items += 1;
            let is_known = source.is_known() && self.holds(estimator, &item, anchor);
            if is_known && self.is_anchored(&item, anchor) {
                share.known += tokens;
            } else {
                let reported = reported_output(self, &item).filter(|request| {
                    source.is_known() && *request < content.inputs.requests as usize
                });
                let measured = Measured::of(&item, before.as_ref(), facts.model.as_deref());
                share.estimated += price(estimator, &measured, anchor, reported.map(|_| *tokens));
            }
            before = Some(item);
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

    /// Whether an estimator takes an item's tokens from the anchor's report.
    fn holds(&self, estimator: Estimator, item: &ItemRef<'_>, anchor: Option<RequestIx>) -> bool {
        estimator.takes_outputs()
            || anchor.is_some_and(|anchor| self.ledger().was_sent(item, anchor))
    }

    /// What an estimator adds to the items where it has no report to build on.
    fn unlogged_by(&self, estimator: Estimator, content: &Content) -> u64 {
        match estimator {
            Estimator::O200kTools | Estimator::Delta => {
                let so_far = self.items().to(content.so_far);
                let calls = so_far.filter(|item| item.kind() == Kind::ToolCall);
                let called: HashSet<&str> = calls.filter_map(|item| item.tool()).collect();
                let here = content.items.iter();
                let here = here.map(|(ix, ..)| self.items().at(*ix).size());
                let offered = here.map(|size| i128::from(size.tools)).sum();
                capped(schema_framing(offered, called.len() as i128))
            }
            Estimator::LastTotal => {
                let mut so_far = self.requests().to(content.inputs.requests as usize);
                so_far
                    .next_back()
                    .map_or(0, |last| last.total().min(LARGEST_ITEM))
            }
            Estimator::Cumulative => {
                let reset = (content.inputs.resets as usize).checked_sub(1);
                let start = reset.map_or(0, |ix| self.resets()[ix].request);
                let end = content.inputs.requests as usize;
                let requests = self.requests().between(start, end);
                let totals = requests.map(|request| request.total());
                totals.fold(0, u64::saturating_add).min(LARGEST_ITEM)
            }
            _ => 0,
        }
    }
}

/// What an item that is not part of the anchor's report costs by an estimator's rule. `output` is its
/// part of a reported output.
fn price(
    estimator: Estimator,
    measured: &Measured,
    anchor: Option<RequestIx>,
    output: Option<u64>,
) -> u64 {
    let reported = output.map_or(0, i128::from);
    let tokens = match estimator {
        Estimator::Outputs => reported,
        Estimator::OutputsTools => reported + measured.results * 2 / 7,
        Estimator::Chars4 => measured.chars / 4,
        Estimator::Chars35 => measured.chars * 2 / 7,
        Estimator::Json4 => measured.json / 4,
        Estimator::Cl100k => measured.cl100k,
        Estimator::O200k => measured.o200k,
        Estimator::O200kTools | Estimator::Delta => measured.with_schemas(),
        Estimator::Rfc029 => match anchor {
            Some(_) => measured.rfc029.messages,
            None => measured.rfc029.all(),
        },
        Estimator::Cumulative | Estimator::LastTotal | Estimator::Calibrated => 0,
    };
    capped(tokens).min(LARGEST_ITEM)
}

/// The largest size of an item, whatever a log has: sums of them must not overflow.
const LARGEST_ITEM: u64 = 1_000_000_000_000;
