//! What is worked out of the session on screen, as of the moment on screen.

use super::facts::Facts;
use super::items::{Choice, ItemFilter, ListedItem, list};
use super::{App, ItemId, Panel};
use crate::model::calls::Calls;
use crate::model::children::{Child, children};
use crate::model::fleet::{Fleet, SessionKey};
use crate::model::forecast::{Forecast, NoForecast, forecast_at};
use crate::model::repeats::{Repeats, repeats};
use crate::model::replay::{State, Step, Timeline};
use crate::model::session::SizedItem;
use crate::model::session::{Item, ItemIx, Session};
use crate::model::tools::{Tool, tools};
use crate::model::whatif::{WhatIf, what_if, without};
use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The session on screen.
#[derive(Debug)]
pub struct Page {
    /// Which.
    pub key: SessionKey,
    /// Its moments.
    pub timeline: Timeline,
    /// What its course goes by, and a step to the left or right.
    pub pace: Pace,
    /// The size of its context after each step, in tokens.
    pub sizes: Vec<u64>,
    /// The steps before which compactions took place.
    pub resets: Vec<usize>,
    /// It as of the moment on screen.
    pub state: State,
    /// When it will compact, as could be told at that moment.
    pub forecast: Result<Forecast, NoForecast>,
    /// What the context then held more than once.
    pub repeats: Repeats,
    /// How many items of the context then are oversized.
    pub oversized: usize,
    /// Tokens of the marked items in the context then.
    pub marked: u64,
    /// What the context would hold without them.
    pub without_marked: u64,
    /// The tool calls, to tell what results are about.
    pub calls: Calls,
    /// The items that are listed.
    pub items: Vec<ListedItem>,
    pub(super) item_ids: Vec<ItemId>,
    /// What compactions did, the newest first.
    pub facts: Facts,
    /// The tools, by what their results cost.
    pub tools: Vec<Tool>,
    pub(super) tool_ids: Vec<u64>,
    /// What other policies would have done.
    pub policies: Vec<WhatIf>,
    pub(super) policy_ids: Vec<usize>,
    /// The sub-agents, the one that was started last first.
    pub agents: Vec<Child>,
    pub(super) agent_ids: Vec<SessionKey>,
    /// User turns in the whole session.
    pub turns: u32,
}

/// What a session goes on by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The requests that were reported.
    Requests,
    /// The records that changed the context: no request was reported.
    Records,
}

impl Pace {
    fn of(session: &Session) -> Pace {
        match session.requests().is_empty() {
            true => Pace::Records,
            false => Pace::Requests,
        }
    }

    /// What a step leads to.
    pub const fn step(self) -> Step {
        match self {
            Pace::Requests => Step::Request,
            Pace::Records => Step::Record,
        }
    }
}

impl Page {
    /// The moment at which a step of the course was taken, counted from 0.
    pub(super) fn of_step(&self, step: usize) -> Option<usize> {
        match self.pace {
            Pace::Requests => self.timeline.of_request(step),
            Pace::Records => Some(step.min(self.timeline.end())),
        }
    }
}

impl App {
    /// Works out the session on screen.
    pub(super) fn prepare_page(&mut self, key: SessionKey) {
        let known = self.shown.page.take().filter(|page| page.key == key);
        let fresh = known.is_none();
        let Some(session) = self.fleet.get(key) else {
            return;
        };
        self.shown.page = Some(known.unwrap_or_else(|| Page::of(&self.fleet, key, session)));
        self.play_on();
        if fresh || std::mem::take(&mut self.stale.page) {
            self.fill_page(key);
        }
        let rows = usize::from(self.session_layout().list.count);
        if let Some(page) = &self.shown.page {
            self.ui.items.fit(&page.item_ids, rows);
            self.ui.facts.fit(&page.facts.ids, rows);
            self.ui.tools.fit(&page.tool_ids, rows);
            self.ui.policies.fit(&page.policy_ids, rows);
            self.ui.agents.fit(&page.agent_ids, rows);
        }
    }

    fn fill_page(&mut self, key: SessionKey) {
        let (Some(mut page), Some(session)) = (self.shown.page.take(), self.fleet.get(key)) else {
            return;
        };
        let replay = &self.ui.replay;
        let moment = page.timeline.moment(replay.moment(&page.timeline));
        let moment = moment.copied().filter(|_| replay.is_on());
        page.state = match &moment {
            Some(moment) => session.state_at(moment),
            None => session.state(),
        };
        page.forecast = forecast_at(session, &page.state);
        page.repeats = repeats(session, page.state.items.iter().copied());
        let window = page.state.limits.window;
        let is_large = |item: &&SizedItem| self.ui.oversized.is_reached(item.1, window);
        page.oversized = page.state.items.iter().filter(is_large).count();
        let any = !self.ui.marked.is_empty();
        let is_marked = |item: &Item| any && self.ui.marked.contains(&(key, id(item)));
        let marked = page.state.items.iter().map(|(ix, ..)| *ix);
        let marked = marked.filter(|ix| session.items().get(*ix).is_some_and(is_marked));
        let (items, used) = (&page.state.items, page.state.context.used);
        (page.marked, page.without_marked) =
            without(items.iter().copied(), &marked.collect(), used);
        match self.ui.panel {
            Panel::Items => {
                let filter = ItemFilter::parse(&self.ui.item_filter);
                let choice = Choice {
                    shown: self.ui.listed,
                    filter: &filter,
                    sort: self.ui.item_sort,
                    direction: self.ui.item_direction,
                    oversized: self.ui.oversized,
                    window,
                    repeats: &page.repeats,
                    calls: &page.calls,
                    is_marked: &is_marked,
                };
                let last = page.timeline.moment(page.timeline.end());
                let gone = moment
                    .as_ref()
                    .or(last)
                    .map(|moment| session.gone_at(moment));
                let gone = gone.into_iter().flatten().map(|ix| {
                    let (tokens, source) = session.tokens(ix);
                    ((ix, tokens, source), false)
                });
                let here = page.state.items.iter().map(|item| (*item, true));
                let all = here.chain(gone);
                page.items = list(session, page.state.requests, all, &choice);
                page.item_ids = page
                    .items
                    .iter()
                    .filter_map(|listed| session.items().get(listed.ix))
                    .map(id)
                    .collect();
            }
            Panel::Compactions => page.facts = Facts::of(session, page.state.resets),
            Panel::Tools => {
                let state = &page.state;
                page.tools = tools(session, state.items.iter().copied(), state.requests);
                page.tool_ids = page.tools.iter().map(|tool| id_of(&tool.name)).collect();
            }
            Panel::WhatIf => {
                // Policies are tried on reported requests.
                page.policies = match page.state.requests {
                    0 => Vec::new(),
                    requests => what_if(session, requests),
                };
                page.policy_ids = (0..page.policies.len()).collect();
            }
            Panel::Agents | Panel::Course => {}
        }
        self.shown.page = Some(page);
    }

    /// The item that is selected on a session's screen.
    pub fn selected_item(&self) -> Option<(SessionKey, ItemIx, &Item)> {
        let page = self.shown.page.as_ref()?;
        let listed = page.items.get(self.ui.items.index())?;
        let item = self.fleet.get(page.key)?.items().get(listed.ix)?;
        Some((page.key, listed.ix, item))
    }

    /// Whether the user has marked an item.
    pub fn is_marked(&self, key: SessionKey, item: &Item) -> bool {
        self.ui.marked.contains(&(key, id(item)))
    }
}

impl Page {
    fn of(fleet: &Fleet, key: SessionKey, session: &Session) -> Page {
        let mut agents = children(fleet, key);
        agents.sort_by_key(|child| {
            let started = fleet.get(child.key).and_then(|child| child.started_at);
            (Reverse(started), child.key)
        });
        let agent_ids = agents.iter().map(|child| child.key).collect();
        let timeline = Timeline::of(session);
        let pace = Pace::of(session);
        let size = |prompt: u64, output: Option<u64>| prompt.saturating_add(output.unwrap_or(0));
        let (sizes, resets) = match pace {
            Pace::Requests => (
                session
                    .requests()
                    .iter()
                    .map(|r| size(r.prompt, r.output))
                    .collect(),
                session.resets().iter().map(|reset| reset.request).collect(),
            ),
            Pace::Records => (
                timeline.sizes(session),
                (0..session.resets().len())
                    .filter_map(|ix| timeline.of_reset(ix))
                    .collect(),
            ),
        };
        Page {
            key,
            timeline,
            pace,
            sizes,
            resets,
            state: session.state(),
            turns: session.turns,
            agents,
            agent_ids,
            tools: Vec::new(),
            tool_ids: Vec::new(),
            policies: Vec::new(),
            policy_ids: Vec::new(),
            forecast: Err(NoForecast::NoRequest),
            repeats: Repeats::default(),
            oversized: 0,
            marked: 0,
            without_marked: 0,
            calls: Calls::of(session),
            items: Vec::new(),
            item_ids: Vec::new(),
            facts: Facts::default(),
        }
    }
}

/// An item's identity, across rereads of its log.
pub(super) fn id(item: &Item) -> ItemId {
    (item.place.offset, item.nth, item.kind)
}

/// A tool's identity in a list.
fn id_of(tool: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    tool.hash(&mut hasher);
    hasher.finish()
}
