//! The session on screen, as of the moment on screen.

use super::App;
use super::items::item_id;
use super::tabs::{ITEMS, TabList, View};
use super::timeline::{JumpMark, ResetMark};
use jiff::Timestamp;
use model::cost::calls::Calls;
use model::cost::rebuilds::rebuilds;
use model::due::prompt_cache::CacheState;
use model::lists::children::{Child, children};
use model::lists::sessions::{SessionKey, Sessions};
use model::outlook::forecast::{Forecast, NoForecast, forecast_at, forecast_without};
use model::outlook::jumps::{Jump, jumps};
use model::outlook::whatif::now::Cache;
use model::outlook::whatif::without;
use model::session::SizedItem;
use model::session::replay::role_sizes::{RoleSizes, of_requests};
use model::session::replay::{Snapshot, Step, Timeline};
use model::session::{Item, ItemIx, Session};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most jumps that are listed.
const MOST_JUMPS: usize = 30;
/// The number of growths that the timeline marks.
const MARKED_JUMPS: usize = 3;

/// The session on screen.
#[derive(Debug)]
pub struct Page {
    /// The session.
    pub key: SessionKey,
    /// Its moments.
    pub timeline: Timeline,
    /// Its steps.
    pub steps: Steps,
    /// Its state at the moment on screen.
    pub state: Snapshot,
    /// The forecast at that moment.
    pub forecast: Result<Forecast, NoForecast>,
    /// Shows whether the provider's cache has the newest prompt. In a replay it was another time.
    pub cache: Cache,
    /// The number of items in the context then that are oversized.
    pub oversized: usize,
    /// The marked items in the context then.
    pub marked_items: BTreeSet<ItemIx>,
    /// The tokens of `marked_items`.
    pub marked: u64,
    /// The number of marked items that are not in the context then.
    pub marked_gone: usize,
    /// The size of the context without them, in tokens.
    pub without_marked: u64,
    /// The forecast without them.
    pub forecast_without_marked: Result<Forecast, NoForecast>,
    /// The tool calls, which name their results.
    pub calls: Calls,
    /// The largest growths of the whole session, the largest first.
    pub jumps: Vec<Jump>,
    /// The sub-agents, the one that was started last first.
    pub agents: Vec<Child>,
    /// The list of the active tab; `None`: it has none.
    pub list: Option<Box<dyn TabList>>,
    /// User turns in the whole session.
    pub turns: u32,
}

/// The meaning of one step of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A reported request.
    Requests,
    /// A record that changed the context: no request was reported.
    Records,
}

impl Pace {
    fn of(session: &Session) -> Pace {
        if session.requests().is_empty() {
            Pace::Records
        } else {
            Pace::Requests
        }
    }

    /// Returns the step of a replay.
    pub const fn step(self) -> Step {
        match self {
            Pace::Requests => Step::Request,
            Pace::Records => Step::Record,
        }
    }
}

/// The steps of a session.
#[derive(Debug, Clone)]
pub struct Steps {
    /// The meaning of one step to the left or right.
    pub pace: Pace,
    /// The size of the context after each step by role, in tokens.
    pub roles: Vec<RoleSizes>,
    /// The time of each step, as far as the log has it.
    pub times: Vec<Option<Timestamp>>,
    /// The compactions and clears.
    pub resets: Vec<ResetMark>,
    /// The largest growths that the timeline marks.
    pub jumps: Vec<JumpMark>,
    /// The steps that found a prompt cache that had to be rebuilt.
    pub rebuilt: Vec<usize>,
}

impl Steps {
    fn of(session: &Session, timeline: &Timeline, jumps: &[Jump]) -> Steps {
        let pace = Pace::of(session);
        let requests = session.requests().iter();
        let moments = (0..timeline.len()).map(|ix| timeline.moment(ix));
        let (roles, times, rebuilt) = match pace {
            Pace::Requests => (
                of_requests(session),
                requests.map(|request| request.at).collect(),
                rebuilds(session).iter().map(|it| it.request).collect(),
            ),
            Pace::Records => (
                timeline.role_sizes(session),
                moments.map(|moment| moment?.at).collect(),
                Vec::new(),
            ),
        };
        let jumps = jumps.iter().take(MARKED_JUMPS).filter_map(|jump| {
            let step = match pace {
                Pace::Requests => jump.request,
                Pace::Records => jump.moment(timeline),
            };
            Some(JumpMark {
                step: step?,
                tokens: jump.tokens,
            })
        });
        let resets = session.resets().iter().enumerate();
        let resets = resets.filter_map(|(ix, reset)| {
            let step = match pace {
                Pace::Requests => Some(reset.request),
                Pace::Records => timeline.of_reset(ix),
            };
            Some(ResetMark {
                step: step?,
                before: reset.before,
                after: reset.after,
            })
        });
        Steps {
            pace,
            roles,
            times,
            resets: resets.collect(),
            jumps: jumps.collect(),
            rebuilt,
        }
    }
}

impl Page {
    /// Returns the moment of a step, counted from 0.
    pub(super) fn moment_of(&self, step: usize) -> Option<usize> {
        match self.steps.pace {
            Pace::Requests => self.timeline.of_request(step),
            Pace::Records => Some(step.min(self.timeline.end())),
        }
    }

    fn of(sessions: &Sessions, key: SessionKey, session: &Session) -> Page {
        let mut agents = children(sessions, key);
        agents.sort_by_key(|child| {
            let started = sessions.gauge(child.key).and_then(|child| child.started_at);
            (Reverse(started), child.key)
        });
        let timeline = Timeline::of(session);
        let jumps = jumps(session, MOST_JUMPS);
        Page {
            key,
            steps: Steps::of(session, &timeline, &jumps),
            timeline,
            state: session.snapshot(),
            turns: session.turns,
            agents,
            list: None,
            forecast: Err(NoForecast::NoRequest),
            cache: Cache::Cold,
            oversized: 0,
            marked_items: BTreeSet::new(),
            marked: 0,
            marked_gone: 0,
            without_marked: 0,
            forecast_without_marked: Err(NoForecast::NoRequest),
            calls: Calls::of(session),
            jumps,
        }
    }
}

impl App {
    /// Computes what the screen of a session shows.
    pub(super) fn prepare_page(&mut self, key: SessionKey) {
        self.prepare_findings(key);
        let known = self.shown.page.take().filter(|page| page.key == key);
        let fresh = known.is_none();
        let Some(session) = self.sessions.get(key) else {
            return;
        };
        self.shown.page = Some(known.unwrap_or_else(|| Page::of(&self.sessions, key, session)));
        self.play_on();
        if fresh || std::mem::take(&mut self.stale.page) {
            self.fill_page();
        }
        // The tab of the session before may have nothing in this one.
        let is_empty = self.list_ids().is_some_and(<[u64]>::is_empty);
        if std::mem::take(&mut self.is_opening) && is_empty && self.ui.tab != ITEMS {
            self.show(ITEMS);
            self.fill_page();
        }
        self.select_sought();
        let rows = usize::from(self.session_layout().list.height);
        if let Some(list) = self.list_ids() {
            let mut cursor = self.ui.cursor();
            cursor.fit(list, rows);
            self.ui.set_cursor(cursor);
        }
    }

    fn fill_page(&mut self) {
        let Some(mut page) = self.shown.page.take() else {
            return;
        };
        if let Some(session) = self.sessions.get(page.key) {
            self.fill(&mut page, session);
        }
        self.shown.page = Some(page);
    }

    fn fill(&self, page: &mut Page, session: &Session) {
        // Lists of a million items are held once, not beside the next ones.
        (page.list, page.state.items) = (None, Vec::new());
        let replay = &self.ui.replay;
        let moment = page
            .timeline
            .moment(replay.moment(&page.timeline))
            .copied()
            .filter(|_| replay.is_on());
        page.state = match &moment {
            Some(moment) => session.snapshot_at(moment),
            None => session.snapshot(),
        };
        page.forecast = forecast_at(session, &page.state);
        page.cache = self.cache_of(page.key, moment.is_some());
        let window = page.state.limits.window;
        let is_large = |item: &&SizedItem| self.oversized().is_reached(item.1, window);
        page.oversized = page.state.items.iter().filter(is_large).count();
        let marked = page.state.items.iter().map(|(ix, ..)| *ix).filter(|ix| {
            let item = session.items().get(*ix);
            item.is_some_and(|item| self.is_marked(page.key, item))
        });
        page.marked_items = marked.collect();
        let all = self.ui.marked.iter().filter(|(key, _)| *key == page.key);
        page.marked_gone = all.count() - page.marked_items.len();
        let (items, used) = (&page.state.items, page.state.context.used);
        (page.marked, page.without_marked) =
            without(items.iter().copied(), &page.marked_items, used);
        page.forecast_without_marked = match page.marked {
            0 => page.forecast,
            freed => forecast_without(session, &page.state, freed),
        };
        let app = self;
        let list = self.ui.tab.list;
        page.list = list.map(|list| list(&View { app, page, session }));
    }

    /// Returns whether the cache has the newest prompt of a session. In a replay it has: the next request followed at once,
    /// most often.
    fn cache_of(&self, key: SessionKey, is_replayed: bool) -> Cache {
        let gauge = self.sessions.gauge(key);
        let cache = gauge.and_then(|gauge| gauge.prompt_cache());
        match cache.map(|cache| cache.state(self.now)) {
            _ if is_replayed => Cache::Warm,
            Some(CacheState::Warm(_)) => Cache::Warm,
            _ => Cache::Cold,
        }
    }

    /// Returns the list of the active tab, and what its cells are made of.
    pub fn list(&self) -> Option<(&dyn TabList, View<'_>)> {
        let page = self.shown.page.as_ref()?;
        let view = View {
            app: self,
            page,
            session: self.sessions.get(page.key)?,
        };
        Some((page.list.as_deref()?, view))
    }

    /// Returns the rows of the active tab.
    pub(super) fn list_ids(&self) -> Option<&[u64]> {
        Some(self.shown.page.as_ref()?.list.as_deref()?.ids())
    }

    /// Returns the item that is selected among the items.
    pub fn selected_item(&self) -> Option<(SessionKey, ItemIx, &Item)> {
        let page = self.shown.page.as_ref()?;
        let list = page.list.as_deref().filter(|_| self.ui.tab == ITEMS)?;
        let (ix, ..) = list.item(self.ui.cursor().index())?;
        Some((page.key, ix, self.sessions.get(page.key)?.items().get(ix)?))
    }

    /// Returns true if the user has marked an item.
    pub fn is_marked(&self, key: SessionKey, item: &Item) -> bool {
        self.ui.marked.contains(&(key, item_id(item)))
    }
}
