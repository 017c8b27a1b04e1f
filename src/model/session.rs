//! One conversation: the state that its log is folded into, the answers that are kept, and the driver that takes in
//! events. A reset and an agent's own number are noted with what the context was by then, which the driver asks for
//! before it folds them.

mod answers;
pub(crate) mod cleared;
pub mod context;
pub(crate) mod growth;
pub(crate) mod like_earlier;
pub(crate) mod limits;
pub mod own_count;
pub mod replay;
mod resets;
mod rewritten;

use crate::event::{
    Cause, CauseSource, Entry, Event, Key, Meta, Place, Reset, RetainedItems, Usage,
};
pub use crate::history::{
    Absence, CompactionCounts, Coverage, Departure, Item, ItemIx, PastReset, Request, RequestIx,
    SizedItem,
};
use crate::state::State;
use crate::state::past::UnloggedSource;
use crate::window::{ClientStatus, Overrides, Rules};
use crate::{LeaveReason, Source};
use derive_more::{Deref, DerefMut};
use jiff::Timestamp;
use std::sync::Arc;

/// A conversation and all that is known of its context.
#[derive(Debug, Clone, Default, Deref, DerefMut)]
pub struct Session {
    #[deref]
    #[deref_mut]
    state: State,
}

impl Session {
    /// Returns an empty session.
    pub fn new(agent: &'static str, rules: Arc<Rules>) -> Session {
        Session {
            state: State::new(agent, rules),
        }
    }

    /// Sets the windows and triggers of the agent's settings.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.state.overrides = overrides;
        self.state.note_settings();
        self.state.note_hooked();
    }

    /// Returns what the agent's client said of the session.
    pub fn said(&self) -> Option<&ClientStatus> {
        self.state.overrides().said.as_ref()
    }

    /// Sets the window that the agent's client says.
    pub fn set_said(&mut self, said: ClientStatus) {
        let said = Some(said);
        let set = self.state.overrides().clone();
        self.set_overrides(Arc::new(Overrides { said, ..set }));
    }

    /// Takes in one entry of the log. A record or a report that continues the live branch costs what is
    /// new in it; another branch, a reset, a correction of an older number and another tokenizer may
    /// cost a walk through the context.
    pub fn apply(&mut self, entry: Entry) {
        self.take_in(entry);
        self.catch_up();
    }

    /// Takes in one entry of several: [`State::catch_up`] is due after the last, before anything is asked of
    /// the session. What a log makes necessary again and again is done only once then.
    pub fn take_in(&mut self, entry: Entry) {
        let state = &mut self.state;
        state.begin(&entry);
        let (place, at) = (entry.place, entry.at);
        match entry.event {
            Event::Meta(meta) => self.set_meta(*meta, place),
            Event::Node(node) => state.add_node(*node, place, at),
            Event::Usage(usage) => self.report(usage.limited(), place, at),
            Event::Billed {
                request,
                billed,
                of,
                model,
            } => state.note_cost((request, of), billed, model.as_deref(), at),
            Event::OwnCost { .. } => {}
            Event::PlanLimits(limits) => state.plan.report(&limits),
            Event::Reset(reset) => self.reset(&reset, place, at),
            Event::Retain { keys, cause } => self.retain(&keys, cause, place, at),
            Event::Leaf { key, rewound } => state.set_leaf(key, rewound),
            Event::Rollback { turns } => state.roll_back(turns),
            Event::BeginningMissing => state.note_missing_beginning(),
            Event::ResetPostponed => state.postpone_reset(),
            Event::ResetCause(cause) => state.set_reset_cause(cause),
            Event::LeftOut(tokens) => state.leave_out(tokens),
            Event::Requested { cache_minutes } => {
                state.cache_clock.note_requested(at, cache_minutes);
            }
            Event::TurnOver => state.turn_over = true,
            Event::CacheRenewed => state.cache_clock.renew(at),
            Event::PromptsLogged => state.note_logged_prompts(),
            Event::Cleared {
                nodes,
                calls,
                cause,
            } => state.clear_items(&nodes, &calls, cause),
            Event::Sent { added, missing } => state.follow_request(&added, &missing),
            Event::Skipped(kind) => *state.skipped.entry(kind.into()).or_default() += 1,
            Event::Unknown(kind) => *state.unknown.entry(kind).or_default() += 1,
            Event::Lost(name) => *state.lost_fields.entry(name).or_default() += 1,
            Event::UnreadableUsage => state.unreadable_usage += 1,
            Event::Damaged => state.damaged += 1,
            Event::Unreadable(why) => {
                state.unreadable += 1;
                state.first_unreadable.get_or_insert((place, why));
            }
        }
        self.state.mark(place, at);
    }

    fn set_meta(&mut self, meta: Meta, place: Place) {
        let model = meta.model.clone();
        self.state.set_meta(meta, place);
        // The price of a model's tokens is taken from other sessions; the id identifies this one.
        if let Some(model) = model {
            self.use_model(&model);
        }
        self.state.note_facts();
    }

    /// Notes that the log names the model of the next or of this response.
    fn use_model(&mut self, id: &str) {
        self.state.name_model(id);
        if self.state.model() != Some(id) {
            let scale = self.expected_scale(id);
            self.state.use_model(id, scale);
        }
    }

    /// Takes in a usage report, or the agent's own number for its context.
    fn report(&mut self, mut usage: Usage, place: Place, at: Option<Timestamp>) {
        if usage.source != Source::Reported {
            return self.note_agent_estimate(&usage);
        }
        if let Some(model) = usage.model.take() {
            self.use_model(&model);
        }
        self.leave_cleared(&usage, at);
        if self.state.report(usage, place, at) {
            self.note_beginning();
            self.note_price();
        }
    }

    fn note_agent_estimate(&mut self, usage: &Usage) {
        self.state.undo_own_count();
        let inputs = self.inputs();
        // Only the usual prefix depends on the part that is shown. Sizes are worked out by a walk through all items.
        if inputs.unlogged == UnloggedSource::Usual {
            self.state.apply_rescale();
        }
        let (logged, shown) = self.state.tokens_in_context();
        let (unlogged, _) = self.expected_prefix(&inputs, logged, shown);
        let used = logged.saturating_add(unlogged);
        self.state.note_agent_estimate(usage, used, logged);
    }

    /// Notes that a compaction or clear took place.
    fn reset(&mut self, reset: &Reset, place: Place, at: Option<Timestamp>) {
        if !self.state.has_boundary(reset) {
            self.state.apply_rescale();
            let before = self.before_reset(reset, place, at);
            self.state.reset(reset, before);
        }
    }

    /// Notes that only these records are in the context any more.
    fn retain(&mut self, keys: &[Key], why: LeaveReason, place: Place, at: Option<Timestamp>) {
        self.state.apply_rescale();
        let reset = Reset::new(why, Cause::Automatic, RetainedItems::Nothing);
        let before = PastReset {
            // The log has only what is left.
            cause_source: CauseSource::Inferred,
            ..self.before_reset(&reset, place, at)
        };
        self.state.retain(keys, before);
    }
}
