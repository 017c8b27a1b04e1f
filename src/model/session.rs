//! One conversation, folded from events: its records as a tree, the branch that is live, the items on
//! it, the requests, the resets.
//!
//! The fold never looks back at a log. A [`Session`] passes each event to the parts that keep its state:
//! `chain` (the tree), `ledger` (items, requests and what reports settled), `past` (earlier states).

mod earlier;
mod facts;
mod folded;
mod notice;
mod resets;
mod restored;
mod rewritten;
mod trim;
mod unread;

use super::agent_estimate::{AgentEstimate, Logged};
use super::calibrations::Calibrations;
use super::chain::{BranchChange, Chain};
use super::event::{Entry, Event, ItemKey, Key, Meta, NewItem, Node, Parent, Part, Place, Usage};
use super::forecast::Grown;
pub use super::history::{
    Away, Counted, Coverage, Item, ItemIx, Left, PastReset, Request, RequestIx, SizedItem,
};
use super::items::Items;
use super::lazy::Lazy;
use super::ledger::{Ledger, alive};
use super::past::{Inputs, Mark, Past};
use super::recurring::RecurringPart;
use super::sums::{Memo, Sums};
use super::window::{Overrides, Rules};
use super::{Gone, Source, version};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, TryReserveError};
use std::sync::Arc;

/// A conversation and all that is known of its context.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Session {
    /// The agent's id.
    #[serde(skip)]
    pub agent: &'static str,
    /// Facts about the session, the newest of each.
    pub meta: Meta,
    /// How much of the log it was rebuilt from.
    pub coverage: Coverage,
    /// Records read.
    pub records: u64,
    /// Records that are skipped on purpose, by type.
    #[serde(skip)]
    pub skipped: BTreeMap<Box<str>, u64>,
    /// Records of types that the decoder does not know, by type. They may concern the context.
    #[serde(skip)]
    pub unknown: BTreeMap<Box<str>, u64>,
    /// Fields of another type than expected, by name: each cost its own value and nothing else.
    #[serde(skip)]
    pub lost_fields: BTreeMap<&'static str, u64>,
    /// Usage reports that were not used, since one of their numbers cannot be read.
    pub unreadable_usage: u64,
    /// Lines that were read without some bytes that are no text.
    pub damaged: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// The first of them, and why.
    #[serde(skip)]
    pub first_unreadable: Option<(Place, Box<str>)>,
    /// The log's first time stamp.
    #[serde(with = "crate::model::stored::time")]
    pub started_at: Option<Timestamp>,
    /// The log's newest time stamp.
    #[serde(with = "crate::model::stored::time")]
    pub updated_at: Option<Timestamp>,
    /// User turns so far.
    pub turns: u32,
    #[serde(skip)]
    rules: Arc<Rules>,
    #[serde(skip)]
    overrides: Arc<Overrides>,
    #[serde(skip)]
    set_window: Option<u64>,
    chain: Lazy<Chain>,
    ledger: Lazy<Ledger>,
    past: Lazy<Past>,
    agent_estimate: Option<Logged>,
    /// The requests there were when the agent last wrote its history anew.
    written_anew: Option<usize>,
    /// Whether the next system prompt is the first that the log shows as it was sent.
    prompts_logged: bool,
    /// Whether its first record follows one that is not in the log.
    begins_midway: bool,
    /// Whether a record since the newest report refers to one that was not read.
    #[serde(skip)]
    refers_back: bool,
    /// The summary that the log has in the place of earlier records.
    summary: Option<rewritten::Summary>,
    last_place: Option<Place>,
    /// Set if it was read from the cache or put away.
    stored: Option<Box<restored::Stored>>,
    /// What stands for items that were forgotten, if only its size will be asked for.
    #[serde(skip)]
    folded: Option<Box<folded::Folded>>,
    #[serde(skip)]
    sums: Memo<Sums>,
    #[serde(skip)]
    grown: Memo<Grown>,
}

impl Session {
    /// An empty session.
    pub fn new(agent: &'static str, rules: Arc<Rules>) -> Session {
        let calibrations = Calibrations::new(rules.tokenizer(agent, None));
        Session {
            agent,
            rules,
            ledger: Ledger::new(Items::new(calibrations)).into(),
            ..Session::default()
        }
    }

    /// Every item that was ever in the context, in the order of the log.
    pub fn items(&self) -> &[Item] {
        self.ledger.items().all()
    }

    /// Every request that was reported, each once, in the order of the log.
    pub fn requests(&self) -> &[Request] {
        self.ledger.requests()
    }

    /// Unlogged text that comes and goes, as the tools of a server that connects and disconnects, in the order in which
    /// it was first seen.
    pub fn recurring(&self) -> impl Iterator<Item = &RecurringPart> {
        self.ledger.recurring()
    }

    /// Every compaction and clear.
    pub fn resets(&self) -> &[PastReset] {
        self.ledger.resets()
    }

    /// The model of the newest response, or the one the log names for the next.
    pub fn model(&self) -> Option<&str> {
        self.model_shared().map(|id| &**id)
    }

    pub(super) fn model_shared(&self) -> Option<&Arc<str>> {
        match &self.stored {
            Some(stored) => stored.model.as_ref(),
            None => self.ledger.items().calibrations().model(),
        }
    }

    /// What lists show of it, if it was read from the cache or put away.
    pub(super) fn stored(&self) -> Option<&restored::Stored> {
        self.stored.as_deref()
    }

    /// The newest usable usage report on the live branch since the last reset.
    pub fn anchor(&self) -> Option<&Request> {
        self.ledger.anchor().map(|ix| &self.requests()[ix])
    }

    /// The agent's own number for its context, if it is about the present one.
    pub fn agent_estimate(&self) -> Option<AgentEstimate> {
        self.agent_estimate?.current(&self.ledger)
    }

    /// Sets the window by hand, or takes that back.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.set_window = window;
    }

    /// The window the user set.
    pub fn set_window_tokens(&self) -> Option<u64> {
        self.set_window
    }

    /// Sets the windows and triggers of the agent's settings.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.overrides = overrides;
        self.note_settings();
    }

    pub(super) fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The ledger, to be changed behind the session's back.
    #[cfg(test)]
    pub(super) fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    pub(super) fn sums_memo(&self) -> &Memo<Sums> {
        &self.sums
    }

    pub(super) fn grown_memo(&self) -> &Memo<Grown> {
        &self.grown
    }

    /// The number of records on the live branch.
    pub(super) fn live_nodes(&self) -> usize {
        self.chain.live().len()
    }

    /// The items of a request's output, in the context or not.
    pub(super) fn outputs_of(&self, request: RequestIx) -> impl Iterator<Item = ItemIx> {
        let key = self.requests()[request].key;
        let nodes = self.chain.outputs_of(key);
        nodes.flat_map(|node| self.chain.items(node))
    }

    pub(super) fn past(&self) -> &Past {
        &self.past
    }

    /// The project's name: the last part of the working directory.
    pub fn project(&self) -> &str {
        let cwd = self.meta.cwd.as_deref().unwrap_or_default();
        cwd.trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
    }

    /// The newest version of the agent whose logs were compared with known counts, if this session's is
    /// newer.
    pub fn newer_than_proven(&self) -> Option<&'static str> {
        let proven = self.rules.proven.get(self.agent).copied()?;
        let version = self.meta.version.as_deref()?;
        version::is_newer(version, proven).then_some(proven)
    }

    /// Whether the session has its earlier states from the beginning of its log on.
    pub fn has_beginning(&self) -> bool {
        self.coverage == Coverage::Whole && !self.past.is_forgotten()
    }

    /// The items in the context now, in the order of the log.
    pub fn alive(&self) -> Vec<ItemIx> {
        alive(&self.chain, self.ledger.items()).collect()
    }

    /// What a context is computed from now, beside the items in it.
    pub(super) fn inputs(&self) -> Inputs {
        let unexplained = self.agent_estimate.map(|logged| logged.unexplained);
        let mut inputs = self.past.inputs(&self.ledger, self.turns, unexplained);
        inputs.is_anew = self.written_anew == Some(self.requests().len());
        inputs
    }

    /// Takes in one entry of the log. A record or a report that continues the live branch costs what is
    /// new in it; another branch, a reset, a correction of an older number and another tokenizer may
    /// cost a walk through the context.
    pub fn apply(&mut self, entry: Entry) {
        self.take_in(entry);
        self.settle();
    }

    /// Takes in one entry of several: [`Session::settle`] is due after the last, before anything is asked of
    /// the session. What a log makes necessary again and again is done only once then.
    pub fn take_in(&mut self, entry: Entry) {
        self.stored = None;
        if self.ledger.is_late() && !self.ledger.goes_on(&entry.event) {
            self.ledger.catch_up(&mut self.chain, self.coverage);
        }
        if let Some(at) = entry.at {
            self.started_at = Some(self.started_at.map_or(at, |t| t.min(at)));
            self.updated_at = Some(self.updated_at.map_or(at, |t| t.max(at)));
        }
        let (place, at) = (entry.place, entry.at);
        // One record may bring several events, all of the same place. What is known of a session from outside
        // of its records has none, and may come again.
        let is_of_record = place != Place::default() || self.records == 0;
        if is_of_record && self.last_place.replace(place) != Some(place) {
            self.records += 1;
            let record = u32::try_from(self.records).unwrap_or(u32::MAX);
            self.ledger.items_mut().begin_record(record);
        }
        self.note_unread(&entry.event);
        self.check_folded(&entry.event);
        match entry.event {
            Event::Meta(meta) => {
                // What is beside a log says more than its path.
                if place == Place::default() && meta.parent.is_some() {
                    self.meta.parent = None;
                }
                self.set_meta(*meta);
            }
            Event::Node(node) => self.add_node(*node, place, at),
            Event::Usage(usage) => self.report(*usage, place, at),
            Event::Billed { .. } => {}
            Event::Reset(reset) => self.reset(*reset, place, at),
            Event::Retain { keys, cause } => self.retain(&keys, cause, place, at),
            Event::Leaf { key, rewound } => {
                if let Some(change) = self.chain.set_leaf(key, rewound) {
                    self.change_branch(&change, Gone::Rewind);
                }
            }
            Event::RewindTo(key) => self.cut_from(self.chain.position(key).unwrap_or(0)),
            Event::Rollback { turns } => self.cut_from(self.chain.turn_from_end(turns)),
            Event::Summarised => self.note_summary(),
            Event::BeginningMissing => self.ledger.lacks_beginning(),
            Event::PromptsLogged => {
                self.prompts_logged = true;
                self.ledger.logs_prompts();
            }
            Event::TurnEnded => self.drop_ephemeral(),
            Event::Cleared { nodes, calls } => self.clear_items(&nodes, &calls),
            Event::Sent { added, missing } => self.follow_request(&added, &missing),
            Event::Skipped(kind) => *self.skipped.entry(kind).or_default() += 1,
            Event::Unknown(kind) => *self.unknown.entry(kind).or_default() += 1,
            Event::Lost(name) => *self.lost_fields.entry(name).or_default() += 1,
            Event::UnreadableUsage => self.unreadable_usage += 1,
            Event::Damaged => self.damaged += 1,
            Event::Unreadable(why) => {
                self.unreadable += 1;
                self.first_unreadable.get_or_insert((place, why));
            }
        }
        self.check_branch();
        self.mark(place, at);
    }

    /// Makes room for so many records more, in the lists that take the most memory.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn try_reserve(&mut self, records: usize) -> Result<(), TryReserveError> {
        self.chain.try_reserve(records)?;
        self.ledger.try_reserve(records)
    }

    /// Works out what [`Session::take_in`] has put off. Costs nothing where that is nothing.
    pub fn settle(&mut self) {
        if !self.ledger.is_late() {
            return;
        }
        self.ledger.catch_up_all(&mut self.chain, self.coverage);
        if let Some(place) = self.last_place {
            self.mark(place, self.updated_at);
        }
    }

    /// Sets a mark where a context would be computed otherwise than at the last one.
    fn mark(&mut self, place: Place, at: Option<Timestamp>) {
        let record = self.agent_estimate.map_or(0, |logged| logged.record);
        let estimate = self.agent_estimate();
        self.past.note_estimate(estimate, record);
        let mark = Mark {
            record: self.ledger.items().record(),
            place,
            at,
            inputs: self.inputs(),
        };
        self.past.mark(mark);
    }

    /// Takes in a usage report, or the agent's own number for its context.
    fn report(&mut self, usage: Usage, place: Place, at: Option<Timestamp>) {
        if usage.source != Source::Reported {
            return self.record_agent_estimate(&usage);
        }
        if let Some(model) = &usage.model {
            self.use_model(model);
        }
        if self.begins_midway {
            let usual = self.rules.usual_prefix(self.agent, self.model(), 0);
            let most = usual.max(LEAST_USUAL_PREFIX) / 5 * 8;
            self.ledger.limit_prefix(most);
        }
        let (chain, coverage) = (&mut self.chain, self.coverage);
        if let Some(ix) = self.ledger.request_of(usage.request) {
            return self.ledger.merge_report(ix, &usage, place, chain, coverage);
        }
        let agent_estimate = self.agent_estimate;
        let report = Request {
            key: usage.request,
            place,
            at,
            model: self.ledger.items().calibrations().model().cloned(),
            prompt: usage.prompt,
            cached: usage.cached,
            output: usage.output,
            reasoning: usage.reasoning,
            billed: usage.billed,
            predicted: None,
            agent_estimate: agent_estimate.and_then(|logged| logged.prompt_of(usage.request)),
            is_whole: usage.is_whole,
            system: 0,
            turn: self.turns,
            start: 0,
            generation: None,
            previous: None,
        };
        self.ledger.add_report(report, chain, coverage);
        if self
            .anchor()
            .is_some_and(|anchor| anchor.key == usage.request)
        {
            self.refers_back = false;
        }
        self.note_beginning();
        self.note_price();
    }

    /// Takes in the agent's own number for its context.
    fn record_agent_estimate(&mut self, usage: &Usage) {
        self.ledger.take_back_agents();
        self.ledger.items_mut().work_out();
        let (logged, prefix) = self.ledger.items_mut().tokens_in_context();
        let (unlogged, _) = self.expected_prefix(&self.inputs(), logged, prefix);
        let used = logged.saturating_add(unlogged);
        self.agent_estimate = Some(Logged::new(usage, used, logged, &self.ledger));
        self.ledger.set_size_after_reset(usage.prompt);
        self.ledger.share_agents(usage.prompt, &self.chain);
    }

    fn add_node(&mut self, node: Node, place: Place, at: Option<Timestamp>) {
        let Node {
            key,
            parent,
            part,
            request,
            turn,
            items,
        } = node;
        let is_corrected = part == Part::Front && std::mem::take(&mut self.prompts_logged);
        if let Some(ix) = key.and_then(|key| self.chain.find(key)) {
            self.chain.relink(ix, parent);
            let known = self.items().len();
            let replaced = self.replace_items(ix, items, place, at);
            if part == Part::Front {
                let new: Vec<ItemIx> = (known..self.items().len()).collect();
                // What shows all of a prompt corrects what showed it before; anything else is a change.
                let corrected = if is_corrected { &replaced[..] } else { &[] };
                self.ledger.reveal(&new, corrected);
            }
            return;
        }
        self.begins_midway |= self.chain.is_empty() && matches!(parent, Parent::Key(_));
        if let Some(change) = self.chain.push(key, parent, part, request, turn) {
            self.change_branch(&change, Gone::Rewind);
        }
        if turn {
            self.turns += 1;
            self.drop_ephemeral();
        }
        if part != Part::Output && (turn || !items.is_empty()) {
            self.ledger.begin_input(turn, &self.chain);
        }
        self.add_items(self.chain.last(), items, place, at, request);
        if turn {
            self.fold_turn();
        }
    }

    fn add_items(
        &mut self,
        node: usize,
        items: Vec<NewItem>,
        place: Place,
        at: Option<Timestamp>,
        output_of: Option<Key>,
    ) {
        for item in items {
            let ledger = self.ledger.items_mut();
            let ix = ledger.add(item, node, place, at, output_of);
            self.chain.hold(node, ix);
        }
        if let Some(request) = output_of {
            self.ledger.output_grew(request, &mut self.chain);
        }
    }

    /// A later record of the same id: what is the same stays, what is new is added, the rest leaves and is
    /// returned.
    fn replace_items(
        &mut self,
        node: usize,
        new: Vec<NewItem>,
        place: Place,
        at: Option<Timestamp>,
    ) -> Vec<ItemIx> {
        if !self.chain.is_live(node) {
            return Vec::new();
        }
        let mut old: Vec<ItemIx> = self.chain.items(node).collect();
        old.retain(|ix| self.items()[*ix].in_context());
        let mut fresh = new;
        fresh.retain(|item| {
            let same = old.iter().position(|ix| {
                let held = &self.items()[*ix];
                held.hash == item.hash && held.kind == item.kind && held.call == item.call
            });
            same.map(|at| old.remove(at)).is_none()
        });
        for ix in &old {
            self.leave(*ix, Gone::Replaced);
        }
        self.add_items(node, fresh, place, at, self.chain.request_of(node));
        old
    }

    fn leave(&mut self, ix: ItemIx, why: Gone) {
        let next = self.requests().len();
        self.ledger.items_mut().leave(ix, why, next);
    }

    fn drop_ephemeral(&mut self) {
        let next = self.requests().len();
        self.ledger.items_mut().drop_ephemeral(next);
    }

    fn change_branch(&mut self, change: &BranchChange, why: Gone) {
        self.ledger.change_branch(change, why, &mut self.chain);
    }

    fn cut_from(&mut self, position: usize) {
        let change = self.chain.cut(position);
        self.change_branch(&change, Gone::Rewind);
    }

    fn clear_items(&mut self, nodes: &[Key], calls: &[Key]) {
        let of_nodes = nodes.iter().filter_map(|key| self.chain.find(*key));
        let mut hits: BTreeSet<ItemIx> = of_nodes.flat_map(|node| self.chain.items(node)).collect();
        for call in calls {
            hits.extend(self.ledger.items_mut().results_of(*call));
        }
        for ix in hits {
            if self.chain.is_live(self.items()[ix].node as usize) {
                self.leave(ix, Gone::Cleared);
            }
        }
    }

    /// Brings back what a recorded request holds, and takes out what it does not.
    fn follow_request(&mut self, added: &[ItemKey], missing: &[ItemKey]) {
        let next = self.requests().len();
        for ix in self.items_of(added) {
            self.ledger.items_mut().restore(ix, next);
        }
        for ix in self.items_of(missing) {
            self.leave(ix, Gone::Cleared);
        }
    }

    /// The items of these keys on the live branch.
    fn items_of(&self, keys: &[ItemKey]) -> Vec<ItemIx> {
        let live = |key: &ItemKey| {
            let node = self.chain.find(key.node)?;
            self.chain.is_live(node).then_some((node, key.hash))
        };
        let nodes = keys.iter().filter_map(live);
        let items = nodes.flat_map(|(node, hash)| {
            let items = self.chain.items(node);
            items.filter(move |ix| self.items()[*ix].hash == hash)
        });
        items.collect()
    }
}

/// A prefix is believed to be up to 8/5 of the usual one, and that to be at least so many tokens.
const LEAST_USUAL_PREFIX: u64 = 20_000;
