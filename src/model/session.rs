//! One conversation, folded from events: its records as a tree, the branch that is live, the items on
//! it, the requests, the resets.
//!
//! The fold never looks back at a log. What an event does to the branch is in `chain`, what a
//! usage report settles in [`super::ledger`].

use super::calibration::Calibration;
use super::chain::Chain;
use super::event::{Entry, Event, Kept, Key, Meta, NewItem, Node, Place, Reset};
pub use super::history::{Away, Item, ItemIx, Left, PastReset, Request, RequestIx};
use super::past::Past;
use super::said::Word;
use super::window::{Overrides, Rules, Thinking};
use super::{Gone, Kind, Source};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How much of its log a session was rebuilt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Coverage {
    /// Nothing was read yet.
    #[default]
    Unread,
    /// The end, enough for the last usage report.
    Tail,
    /// All since the last reset.
    Epoch,
    /// All of it.
    Whole,
}

/// A conversation and all that is known of its context.
#[derive(Debug, Clone)]
pub struct Session {
    /// The agent's id.
    pub agent: &'static str,
    /// The session's facts, as last said.
    pub meta: Meta,
    /// How much of the log it was rebuilt from.
    pub coverage: Coverage,
    /// Every item that was ever in the context, in the order of the log.
    pub items: Vec<Item>,
    /// Every request that was reported, each once, in the order of the log.
    pub requests: Vec<Request>,
    /// Every compaction and clear.
    pub resets: Vec<PastReset>,
    /// Records read.
    pub records: u64,
    /// Records that are meant to be passed over, by type.
    pub skipped: BTreeMap<Box<str>, u64>,
    /// Fields of another type than expected, by name: each cost its own value and nothing else.
    pub lost_fields: BTreeMap<&'static str, u64>,
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
    pub(super) chain: Chain,
    pub(super) rules: Arc<Rules>,
    pub(super) by_request: HashMap<Key, RequestIx>,
    pub(super) anchor: Option<RequestIx>,
    /// The newest record at which a request was settled.
    pub(super) newest_start: usize,
    /// Counts how often settled numbers were given anew; older reports do not add up any more.
    pub(super) generation: u32,
    /// The unlogged prefix as the first report after the last reset showed it.
    pub(super) prefix: Option<u64>,
    /// What the agent's own number left unexplained when it was last said; counts while no report has
    /// come.
    pub(super) agent_says: Option<u64>,
    /// The agent's newest number.
    pub(super) word: Option<Word>,
    /// How the model now counts.
    pub(super) calibration: Calibration,
    /// How the models before it counted.
    calibrations: HashMap<Arc<str>, Calibration>,
    last_place: Option<Place>,
    model: Option<Arc<str>>,
    pub(super) set_window: Option<u64>,
    pub(super) overrides: Arc<Overrides>,
    /// What it knew before.
    pub(super) past: Past,
}

impl Session {
    /// An empty session.
    pub fn new(agent: &'static str, rules: Arc<Rules>) -> Session {
        Session {
            agent,
            meta: Meta::default(),
            coverage: Coverage::Unread,
            items: Vec::new(),
            requests: Vec::new(),
            resets: Vec::new(),
            records: 0,
            skipped: BTreeMap::new(),
            lost_fields: BTreeMap::new(),
            unreadable: 0,
            first_unreadable: None,
            started_at: None,
            updated_at: None,
            turns: 0,
            chain: Chain::default(),
            by_request: HashMap::new(),
            anchor: None,
            newest_start: 0,
            generation: 0,
            prefix: None,
            agent_says: None,
            word: None,
            calibration: Calibration::new(rules.tokenizer(agent, None)),
            calibrations: HashMap::new(),
            rules,
            last_place: None,
            model: None,
            set_window: None,
            overrides: Arc::default(),
            past: Past::default(),
        }
    }

    /// The model of the newest response, or the one the log names for the next.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The newest usable usage report on the live branch since the last reset.
    pub fn anchor(&self) -> Option<&Request> {
        self.anchor.map(|ix| &self.requests[ix])
    }

    /// Sets the window by hand, or takes that back.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.set_window = window;
    }

    /// The window the user set.
    pub fn set_window_tokens(&self) -> Option<u64> {
        self.set_window
    }

    /// What the agent's settings say of its windows and triggers.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.overrides = overrides;
    }

    /// The project's name: the last part of the working directory.
    pub fn project(&self) -> &str {
        let cwd = self.meta.cwd.as_deref().unwrap_or_default();
        cwd.trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
    }

    /// Whether the log, read whole, has no usage report: all of its context is estimated.
    pub fn is_unreported(&self) -> bool {
        self.coverage == Coverage::Whole && self.requests.is_empty()
    }

    /// Takes in one entry of the log.
    pub fn apply(&mut self, entry: Entry) {
        if let Some(at) = entry.at {
            self.started_at = Some(self.started_at.map_or(at, |t| t.min(at)));
            self.updated_at = Some(self.updated_at.map_or(at, |t| t.max(at)));
        }
        let (place, at) = (entry.place, entry.at);
        // One record tells several things, all of the same place.
        if self.last_place.replace(place) != Some(place) {
            self.records += 1;
        }
        match entry.event {
            Event::Meta(meta) => self.learn(*meta),
            Event::Node(node) => self.add_node(*node, place, at),
            Event::Usage(usage) => self.report(*usage, place, at),
            Event::Reset(reset) => self.reset(*reset, place, at),
            Event::Retain { keys, cause } => self.retain(&keys, cause, place, at),
            Event::Leaf { key, rewound } => {
                let before = self.chain.live().to_vec();
                if self.chain.set_leaf(key, rewound) {
                    self.branch_changed(&before, Gone::Rewind);
                }
            }
            Event::RewindTo(key) => {
                let from = self.chain.position(key).unwrap_or(0);
                self.cut_from(from);
            }
            Event::Rollback { turns } => {
                let from = self.chain.turn_from_end(turns);
                self.cut_from(from);
            }
            Event::TurnEnded => self.drop_ephemeral(),
            Event::Cleared { nodes, calls } => self.clear_items(&nodes, &calls),
            Event::Skipped(kind) => *self.skipped.entry(kind).or_default() += 1,
            Event::Lost(name) => *self.lost_fields.entry(name).or_default() += 1,
            Event::Unreadable(why) => {
                self.unreadable += 1;
                self.first_unreadable.get_or_insert((place, why));
            }
        }
        self.mark(place, at);
    }

    fn learn(&mut self, meta: Meta) {
        let Meta {
            id,
            title,
            cwd,
            model,
            version,
            parent,
            window,
            trigger,
        } = meta;
        // A session keeps the id it began with: forks and resumed files repeat others'.
        if self.meta.id.is_none() {
            self.meta.id = id;
        }
        if self.meta.parent.is_none() {
            self.meta.parent = parent;
        }
        if let Some(model) = model {
            self.use_model(&model);
            self.meta.model = Some(model);
        }
        let set = |slot: &mut Option<Box<str>>, value: Option<Box<str>>| {
            if value.is_some() {
                *slot = value;
            }
        };
        set(&mut self.meta.title, title);
        set(&mut self.meta.cwd, cwd);
        set(&mut self.meta.version, version);
        self.meta.window = window.or(self.meta.window);
        self.meta.trigger = trigger.or(self.meta.trigger);
        self.note_facts();
    }

    /// The log names the model of the next or of this response. Where the new one counts differently,
    /// the old anchor no longer holds.
    pub(super) fn use_model(&mut self, id: &str) {
        if self.model() == Some(id) {
            return;
        }
        let alike = self
            .model()
            .is_none_or(|old| self.rules.count_alike(self.agent, old, id));
        // No item has been told yet by the new one's counts.
        self.keep_former_from(0, &[]);
        let id: Arc<str> = id.into();
        let known = self.calibrations.remove(&id);
        let learned = std::mem::replace(
            &mut self.calibration,
            known.unwrap_or_else(|| Calibration::new(self.rules.tokenizer(self.agent, Some(&id)))),
        );
        if let Some(old) = self.model.replace(id) {
            self.calibrations.insert(old, learned);
        }
        if !alike {
            self.forget_settled();
        }
        self.note_facts();
    }

    pub(super) fn model_shared(&self) -> Option<Arc<str>> {
        self.model.clone()
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
        if let Some(ix) = key.and_then(|key| self.chain.find(key)) {
            self.chain.relink(ix, parent);
            self.replace_items(ix, items, place, at);
            return;
        }
        let branch = self.chain.push(key, parent, part, request, turn);
        if let Some(old) = branch {
            self.branch_changed(&old, Gone::Rewind);
        }
        if turn {
            self.turns += 1;
            self.end_turn();
        }
        let node = self.chain.last();
        for item in items {
            self.add_item(node, item, place, at, request);
        }
        if let Some(request) = request {
            self.output_grew(request);
        }
    }

    pub(super) fn add_item(
        &mut self,
        node: usize,
        item: NewItem,
        place: Place,
        at: Option<Timestamp>,
        output_of: Option<Key>,
    ) {
        let ix = self.items.len();
        self.items.push(Item {
            place,
            at,
            told: item,
            settled: None,
            output_of,
            entered: None,
            left: None,
            away: Vec::new(),
            former: None,
            record: self.record(),
            node: u32::try_from(node).unwrap_or(u32::MAX),
        });
        self.chain.hold(node, ix);
    }

    /// A later record of the same id: what is the same stays, what is new is added, the rest leaves.
    fn replace_items(
        &mut self,
        node: usize,
        new: Vec<NewItem>,
        place: Place,
        at: Option<Timestamp>,
    ) {
        let request = self.chain.request_of(node);
        let mut old: Vec<ItemIx> = self
            .chain
            .items(node)
            .iter()
            .copied()
            .filter(|ix| self.items[*ix].in_context() || !self.chain.is_live(node))
            .collect();
        let fresh: Vec<NewItem> = new
            .into_iter()
            .filter(|item| {
                let same = old.iter().position(|ix| {
                    let held = &self.items[*ix];
                    held.hash == item.hash && held.kind == item.kind && held.call == item.call
                });
                same.is_none_or(|at| {
                    old.remove(at);
                    false
                })
            })
            .collect();
        if !self.chain.is_live(node) {
            return;
        }
        for ix in old {
            self.leave(ix, Gone::Replaced);
        }
        for item in fresh {
            self.add_item(node, item, place, at, request);
        }
        if let Some(request) = request {
            self.output_grew(request);
        }
    }

    /// What leaves when a new user turn begins.
    fn end_turn(&mut self) {
        let strips = self.model().is_some_and(|id| {
            self.rules
                .model(self.agent, id)
                .is_some_and(|row| row.thinking == Thinking::Leaves)
        });
        self.drop_ephemeral();
        for ix in self.alive() {
            if strips && self.items[ix].kind == Kind::Thinking {
                self.leave(ix, Gone::Stripped);
            }
        }
    }

    fn drop_ephemeral(&mut self) {
        for ix in self.alive() {
            if self.items[ix].ephemeral {
                self.leave(ix, Gone::TurnEnd);
            }
        }
    }

    /// The items in the context now, in the order of the log.
    pub fn alive(&self) -> Vec<ItemIx> {
        self.chain
            .live()
            .iter()
            .flat_map(|node| self.chain.items(*node))
            .copied()
            .filter(|ix| self.items[*ix].in_context())
            .collect()
    }

    /// The live branch is another one: what is no longer on it leaves, what is on it again returns.
    fn branch_changed(&mut self, before: &[usize], why: Gone) {
        for node in before {
            if !self.chain.is_live(*node) {
                for ix in self.chain.items(*node).to_vec() {
                    self.leave(ix, why);
                }
            }
        }
        for node in self.chain.live().to_vec() {
            for ix in self.chain.items(node).to_vec() {
                let why = self.items[ix].left.map(|left| left.why);
                if let Some(Gone::Rewind | Gone::Compaction | Gone::Clear) = why {
                    self.come_back(ix);
                }
            }
        }
        self.find_anchor();
    }

    fn cut_from(&mut self, position: usize) {
        let before = self.chain.live().to_vec();
        self.chain.cut(position);
        self.branch_changed(&before, Gone::Rewind);
    }

    fn clear_items(&mut self, nodes: &[Key], calls: &[Key]) {
        let nodes: Vec<usize> = nodes
            .iter()
            .filter_map(|key| self.chain.find(*key))
            .collect();
        for node in self.chain.live().to_vec() {
            for ix in self.chain.items(node).to_vec() {
                let item = &self.items[ix];
                let hit = nodes.contains(&node)
                    || (item.kind == Kind::ToolResult
                        && item.call.is_some_and(|call| calls.contains(&call)));
                if hit && item.in_context() {
                    self.leave(ix, Gone::Cleared);
                }
            }
        }
    }

    fn retain(&mut self, keys: &[Key], why: Gone, place: Place, at: Option<Timestamp>) {
        let used = self.calibrated_context();
        let before = self.chain.live().to_vec();
        self.chain.retain(keys);
        let lost = before
            .iter()
            .any(|node| !self.chain.is_live(*node) && !self.chain.items(*node).is_empty());
        if why == Gone::Compaction && lost {
            let reset = Reset {
                key: None,
                gone: why,
                cause: "auto".into(),
                before: None,
                after: None,
                kept: Kept::Nothing,
            };
            self.note_reset(&reset, &used, &before, place, at);
        }
        self.branch_changed(&before, why);
        if why == Gone::Compaction && lost {
            self.anchor = None;
        }
    }

    fn reset(&mut self, reset: Reset, place: Place, at: Option<Timestamp>) {
        if reset.key.is_some_and(|key| self.chain.find(key).is_some()) {
            return; // an old boundary, written again
        }
        let used = self.calibrated_context();
        let before = self.chain.live().to_vec();
        self.chain.reset(reset.key, &reset.kept);
        self.note_reset(&reset, &used, &before, place, at);
        self.branch_changed(&before, reset.gone);
        self.anchor = None;
    }

    fn note_reset(
        &mut self,
        reset: &Reset,
        used: &super::context::Context,
        before: &[usize],
        place: Place,
        at: Option<Timestamp>,
    ) {
        let mut dropped = [0; 5];
        for node in before.iter().filter(|node| !self.chain.is_live(**node)) {
            for ix in self.chain.items(*node) {
                if self.items[*ix].in_context() {
                    dropped[self.items[*ix].role.index()] += self.tokens(*ix).0;
                }
            }
        }
        let (size, size_source) = match reset.before {
            Some(size) => (size, Source::Agent),
            None if used.estimated == 0 => (used.used, Source::Reported),
            None => (used.used, Source::Estimated),
        };
        self.resets.push(PastReset {
            place,
            at,
            gone: reset.gone,
            cause: reset.cause.clone(),
            model: self.model_shared(),
            before: size,
            before_source: size_source,
            ours: used.used,
            after: reset.after,
            after_source: Source::Agent,
            request: self.requests.len(),
            record: self.record(),
            dropped,
        });
    }
}
