//! Folds a log into a state: its records as a tree, the live branch, the items on it, the requests, the resets.
//!
//! The fold never looks back at a log. A [`State`] passes each event to the parts that keep it: `tree` (the tree),
//! `attribution` (items, requests and what reports attributed), `past` (earlier states). It answers nothing: the content of a
//! context, its limits and the agent's count are computed from it elsewhere, and the fold uses none of that.

pub mod agent_estimate;
pub(crate) mod content;
mod facts;
mod fold;
mod forgotten;
pub(crate) mod notice;
pub(crate) mod past;
mod refers_back;
mod report;
mod resets;
mod side_responses;
pub(crate) mod unread;

use crate::event::PlanLimits;
use crate::event::{Key, Meta, Place};
use crate::history::record_tree::RecordTree;
use crate::history::{Coverage, Item, ItemIx, PastReset, Request};
use crate::sizes::attribution::{Attribution, alive};
use crate::sizes::calibrations::Calibrations;
use crate::sizes::items::Items;
use crate::sizes::recurring::RecurringPart;
use crate::state::agent_estimate::{AgentEstimate, LoggedEstimate};
use crate::state::past::{Inputs, Past};
use crate::values::cache_clock::CacheClock;
use crate::values::project::last_part;
use crate::window::{Overrides, Rules};
use facts::NamedFacts;
use jiff::Timestamp;
pub(super) use resets::Summary;
use side_responses::SideResponse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The state of a conversation's context, as its log was read so far.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The agent's id.
    pub agent: &'static str,
    /// Facts about the session, the newest of each.
    pub meta: Meta,
    /// The part of the log from which it was rebuilt.
    pub coverage: Coverage,
    /// True if its texts were counted, not guessed from their length.
    pub is_counted: bool,
    /// Records read.
    pub records: u64,
    /// Records that are skipped on purpose, by type.
    pub skipped: BTreeMap<Box<str>, u64>,
    /// Records of types that the decoder does not know, by type. They may concern the context.
    pub unknown: BTreeMap<Box<str>, u64>,
    /// Fields of another type than expected, by name: each cost its own value and nothing else.
    pub lost_fields: BTreeMap<&'static str, u64>,
    /// Usage reports that were not used, since one of their numbers cannot be read.
    pub unreadable_usage: u64,
    /// Lines that were read without some bytes that are no text.
    pub damaged: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// The first of them, and why.
    pub first_unreadable: Option<(Place, Box<str>)>,
    /// The log's first time stamp.
    pub started_at: Option<Timestamp>,
    /// The log's newest time stamp.
    pub updated_at: Option<Timestamp>,
    /// User turns so far.
    pub turns: u32,
    /// The limits of the user's plan, as the log has them.
    pub plan: PlanLimits,
    pub(crate) rules: Arc<Rules>,
    pub(crate) overrides: Arc<Overrides>,
    /// The window that the user has set, in tokens.
    pub set_window: Option<u64>,
    tree: RecordTree,
    attribution: Attribution,
    past: Past,
    agent_estimate: Option<LoggedEstimate>,
    /// The number of requests when the agent last rewrote its history.
    rewritten_at: Option<usize>,
    /// The tokens that the provider leaves out of each prompt, though the agent counts them.
    left_out: u64,
    /// The responses that are no part of its conversation, such as those that wrote summaries.
    side_responses: BTreeMap<Key, SideResponse>,
    pub(crate) cache_clock: CacheClock,
    /// True if the log says that the agent's turn is over, and nothing was said since.
    pub(crate) turn_over: bool,
    /// True if the next system prompt is the first that the log shows in full.
    prompts_logged: bool,
    /// True if its first record follows one that is not in the log.
    pub(crate) begins_midway: bool,
    /// True if a record since the newest report refers to one that was not read.
    refers_back: bool,
    /// True if a record since the last reset is the first of a conversation, though others are before it.
    begins_again: bool,
    /// True if a record after its beginning named its parent: it is a branch of it, not a sub-agent.
    is_branch: bool,
    /// The provider that served each model last, where the log names it.
    providers: BTreeMap<Box<str>, Box<str>>,
    /// The facts that were named after the part of the log that was not read.
    named: NamedFacts,
    /// Tokens of its first prompt that are not part of the conversation, where its log was not read from there on.
    pub(crate) began_with: Option<u64>,
    last_place: Option<Place>,
    /// Records that the last reset keeps though no record shows them before it, and the requests that they are the output
    /// of: those were sent before the reset.
    awaited: HashSet<Key>,
}

impl State {
    /// Returns the state before anything was read.
    pub(super) fn new(agent: &'static str, rules: Arc<Rules>) -> State {
        let calibrations = Calibrations::new(rules.tokenizer(agent, None));
        State {
            agent,
            rules,
            overrides: Overrides::none(),
            attribution: Attribution::new(Items::new(calibrations)),
            ..State::default()
        }
    }

    /// Returns every item that was ever in the context, in the order of the log.
    pub fn items(&self) -> &[Item] {
        self.attribution.items().all()
    }

    /// Returns every request that was reported, each once, in the order of the log.
    pub fn requests(&self) -> &[Request] {
        self.attribution.requests()
    }

    /// Returns true if a fork has the item from the session that it continues: the request that it entered with was made
    /// there.
    pub fn is_inherited(&self, item: &Item) -> bool {
        let request = item.entered.and_then(|ix| self.requests().get(ix));
        request.is_some_and(|request| request.is_inherited)
    }

    /// Returns unlogged text that comes and goes, as the tools of a server that connects and disconnects, in the order
    /// in which it was first seen.
    pub fn recurring(&self) -> impl Iterator<Item = &RecurringPart> {
        self.attribution.recurring()
    }

    /// Returns every compaction and clear.
    pub fn resets(&self) -> &[PastReset] {
        self.attribution.resets()
    }

    /// Returns the model of the newest response, or the one the log names for the next.
    pub fn model(&self) -> Option<&str> {
        self.model_shared().map(|id| &**id)
    }

    pub(super) fn model_shared(&self) -> Option<&Arc<str>> {
        self.attribution.items().calibrations().model()
    }

    /// Returns the newest usable usage report on the live branch since the last reset.
    pub fn anchor(&self) -> Option<&Request> {
        self.attribution.anchor().map(|ix| &self.requests()[ix])
    }

    /// Returns the number of prompts that lacked items which the log has of them, where that happened again and again:
    /// the log is not what is sent. A plugin may leave content out of what it sends, and leave it in the log. The items
    /// share what the prefix leaves of the prompt then.
    pub fn short_prompts(&self) -> Option<usize> {
        self.attribution.short_prompts()
    }

    /// Returns the agent's own number for its context, if it is about the present one.
    pub fn agent_estimate(&self) -> Option<AgentEstimate> {
        self.agent_estimate?.current(&self.attribution)
    }

    pub(super) fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn attribution(&self) -> &Attribution {
        &self.attribution
    }

    /// Returns the attribution, to be changed behind the state's back.
    #[cfg(test)]
    pub(super) fn attribution_mut(&mut self) -> &mut Attribution {
        &mut self.attribution
    }

    pub(super) fn chain(&self) -> &RecordTree {
        &self.tree
    }

    pub(super) fn past(&self) -> &Past {
        &self.past
    }

    /// Returns the folder of its project: the working directory, or the one that this [belongs to](Overrides::project).
    /// Empty: not known.
    pub fn folder(&self) -> &str {
        self.overrides.folder(self.meta.cwd.as_deref())
    }

    /// Returns the name of its project among no others: the last part of [its folder](Self::folder).
    pub fn project(&self) -> &str {
        last_part(self.folder())
    }

    /// Returns true if the session has its earlier states from the beginning of its log on.
    pub fn has_beginning(&self) -> bool {
        self.coverage == Coverage::Whole && !self.past.forgotten
    }

    /// Returns true if its log was read whole and counted: the sizes of its items are not provisional.
    pub fn is_settled(&self) -> bool {
        self.coverage == Coverage::Whole && self.is_counted
    }

    /// Returns the items in the context now, in the order of the log.
    pub fn alive(&self) -> Vec<ItemIx> {
        self.alive_items().collect()
    }

    pub(super) fn alive_items(&self) -> impl Iterator<Item = ItemIx> + Clone {
        alive(&self.tree, self.attribution.items())
    }

    /// Returns the inputs from which the present context is computed, besides the items in it.
    pub(super) fn inputs(&self) -> Inputs {
        // A report before the reset shows the prefix, though it was not read.
        let is_elsewhere = self.lacks_prefix();
        let logged = self.agent_estimate.filter(|_| !is_elsewhere);
        let unexplained = logged.map(|logged| logged.unexplained);
        let mut inputs = self.past.inputs(&self.attribution, self.turns, unexplained);
        inputs.is_rewritten = self.rewritten_at == Some(self.requests().len());
        inputs
    }
}
