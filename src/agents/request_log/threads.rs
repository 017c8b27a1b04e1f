//! Which conversation a request belongs to.
//!
//! By the id it carries, and inside of an id, or without one, by its history: a request goes on with the
//! conversation that it repeats furthest, an answer of the model included (*exact* where it repeats all
//! of it, *prefix* where it went another way from there). Where the beginning has changed, by a call, a
//! result or a long text that it shares with one; where nothing is shared, by a summary: that of the
//! conversation whose last answer it quotes, else of the one that was asked for last.
//!
//! What shares nothing, carries no history and offers no tools may be a first request or a side call (a
//! title, a classification): nobody can tell yet. The first of an id has the id's lane until a
//! conversation comes for it; later ones share a lane, the newest taking the place of the one before, so
//! that they are counted and are never taken for the conversation's context.

use super::answer::Answer;
use super::ask::{Ask, Base};
use super::held::Print;
use super::thread::{Front, Step, Thread, Writer};
use super::unit::Unit;
use crate::model::event::{Event, Key, Lane, Meta, Usage};
use crate::model::{Kind, Role};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// So many tools on offer make an agent. One alone often stands for the shape of an answer.
const TOOLS_OF_AN_AGENT: usize = 2;
/// A summary stands among so many of a history's first units.
const WHERE_SUMMARIES_STAND: usize = 3;
/// What the model said tells a conversation from this many bytes on; less is said in many. Inside of an
/// id there are few.
const TELLING: u64 = 64;
const TELLING_INSIDE: u64 = 16;

type ThreadIx = usize;

/// The conversations of one id, or of none.
struct Scope {
    /// The one that the id is of.
    own: ThreadIx,
    own_is: Standing,
    /// Calls without a history, while no conversation goes on with one.
    side: Option<ThreadIx>,
    /// The conversation that was asked for last.
    newest: ThreadIx,
}

/// Whether a thread is a conversation for sure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It may be a side call.
    Doubtful,
    /// It had tools or a history.
    Sure,
}

impl Standing {
    fn of(ask: &Ask<'_>) -> Standing {
        let has_history = ask.units.iter().any(|unit| unit.role == Role::Assistant);
        match has_history || ask.tools_on_offer() >= TOOLS_OF_AN_AGENT {
            true => Standing::Sure,
            false => Standing::Doubtful,
        }
    }
}

/// Where a history was seen.
#[derive(Clone, Copy)]
enum Seen {
    /// With something that the model said in it.
    Said(ThreadIx),
    /// A first request, to its end.
    Asked(ThreadIx),
}

/// A state of a conversation on which requests may build.
#[derive(Clone, Copy)]
struct State {
    thread: ThreadIx,
    len: usize,
    epoch: u64,
}

/// All conversations of a file.
#[derive(Default)]
pub(super) struct Threads {
    threads: Vec<Thread>,
    scopes: HashMap<Option<Key>, Scope>,
    by_history: HashMap<u64, Seen>,
    by_unit: HashMap<u64, ThreadIx>,
    by_response: HashMap<Key, State>,
    /// Requests whose answer has not come, by their id.
    open: HashMap<Key, ThreadIx>,
    asked_last: Option<ThreadIx>,
}

/// The ids that a line came with.
#[derive(Clone, Copy)]
pub(super) struct Names<'n> {
    pub(super) session: Option<&'n str>,
    pub(super) trace: Option<&'n str>,
    pub(super) id: Option<&'n str>,
}

impl Names<'_> {
    fn scope(self) -> Option<Key> {
        self.session.map(Key::of)
    }
}

impl Threads {
    /// Takes in a request.
    pub(super) fn ask(&mut self, ask: &Ask<'_>, names: Names<'_>, writer: &mut Writer<'_, '_>) {
        let front = Front {
            prompts: &ask.prompts,
            tools: ask.tools,
        };
        let (ix, kept, step) = self.find(ask, front, names, writer);
        let thread = &mut self.threads[ix];
        thread.asks_of(ask.model.as_deref(), writer);
        thread.ask(front, kept, &ask.units, step, writer);
        if let Some(scope) = self.scopes.get_mut(&names.scope())
            && scope.side != Some(ix)
        {
            scope.newest = ix;
        }
        self.note(ix, names);
        if let Some(id) = names.id {
            self.open.insert(Key::of(id), ix);
        }
        self.asked_last = Some(ix);
    }

    /// Takes in an answer to the request of the same id, or to the newest. Where no line has shown one,
    /// the answer begins a conversation.
    pub(super) fn answer(
        &mut self,
        answer: &Answer<'_>,
        usage: Option<Usage>,
        request: Key,
        names: Names<'_>,
        writer: &mut Writer<'_, '_>,
    ) {
        let by_id = names.id.and_then(|id| self.open.remove(&Key::of(id)));
        let ix = match by_id.or(self.asked_last) {
            Some(ix) => ix,
            None => self.own_of(names, Standing::Sure, writer),
        };
        let thread = &mut self.threads[ix];
        thread.answer(answer, usage, request, writer);
        if let Some(id) = &answer.id {
            let state = State {
                thread: ix,
                len: thread.len(),
                epoch: thread.epoch,
            };
            self.by_response.insert(Key::of(id), state);
        }
        self.note(ix, names);
    }

    /// The conversation of a request, how much of what it holds the request builds on, and whether it
    /// goes on there.
    fn find(
        &mut self,
        ask: &Ask<'_>,
        front: Front<'_, '_>,
        names: Names<'_>,
        writer: &mut Writer<'_, '_>,
    ) -> (ThreadIx, usize, Step) {
        if let Some((ix, kept)) = self.base_of(ask, names) {
            self.is_sure(ix, names);
            return (ix, kept, Step::GoesOn);
        }
        let standing = Standing::of(ask);
        let Some(scope) = self.scopes.get(&names.scope()) else {
            return (self.own_of(names, standing, writer), 0, Step::GoesOn);
        };
        let (own, own_is, side) = (scope.own, scope.own_is, scope.side);
        let goes_on = self.with_history(ask, front, names);
        let goes_on = goes_on.or_else(|| self.with_summary(ask, front, names));
        match goes_on {
            Some(ix) if side != Some(ix) => {
                if ix != own || standing == Standing::Sure {
                    self.is_sure(ix, names);
                }
                (ix, 0, Step::GoesOn)
            }
            // A call that a conversation goes on with is its beginning.
            Some(ix) if own_is == Standing::Sure && self.threads[ix].answers == 1 => {
                self.is_sure(ix, names);
                (ix, 0, Step::GoesOn)
            }
            _ if standing == Standing::Doubtful => {
                let ix = side.unwrap_or_else(|| self.open_side(names, writer));
                (ix, 0, Step::Anew)
            }
            _ if own_is == Standing::Doubtful => {
                self.is_sure(own, names);
                (own, 0, Step::Anew)
            }
            _ => (self.begin(names, None, writer), 0, Step::GoesOn),
        }
    }

    /// What a request builds on that does not carry its history.
    fn base_of(&self, ask: &Ask<'_>, names: Names<'_>) -> Option<(ThreadIx, usize)> {
        match &ask.base {
            Base::Nothing => None,
            Base::Response(id) => {
                let state = self.by_response.get(&Key::of(id))?;
                let thread = &self.threads[state.thread];
                let kept = match thread.epoch == state.epoch {
                    true => state.len,
                    false => thread.len(),
                };
                Some((state.thread, kept))
            }
            Base::Conversation => {
                let scope = self.scopes.get(&names.scope())?;
                Some((scope.own, self.threads[scope.own].len()))
            }
        }
    }

    /// The conversation that this history goes on with.
    fn with_history(
        &self,
        ask: &Ask<'_>,
        front: Front<'_, '_>,
        names: Names<'_>,
    ) -> Option<ThreadIx> {
        let front = front.print();
        // Asked once more. A title is asked for in the same words, but by another prompt.
        let again = |ix: ThreadIx| {
            let thread = &self.threads[ix];
            thread.answers <= 1 && thread.front == front
        };
        let units = || ask.units.iter().filter(|unit| unit.kind != Kind::Thinking);
        let traces = [names.trace, None];
        for trace in &traces[usize::from(names.trace.is_none())..] {
            let mut history = seed(names.scope(), *trace);
            let mut seen = None;
            for unit in units() {
                history = roll(history, unit.print());
                seen = match self.by_history.get(&history) {
                    Some(Seen::Said(ix)) if self.holds(*ix, names, history, *trace) => Some(*ix),
                    // Another trace is another run, which may well begin alike.
                    Some(Seen::Asked(ix)) if *trace == names.trace && again(*ix) => Some(*ix),
                    _ => seen,
                };
            }
            if seen.is_some() {
                return seen;
            }
        }
        let telling = units().rev().map(Unit::print);
        telling
            .filter_map(|print| self.by_unit.get(&hash(&(names.scope(), print))))
            .copied()
            .find(|ix| !self.is_side(*ix, names))
    }

    /// Whether a thread still has this history. A conversation may go back to any it had; of calls
    /// nothing stays.
    fn holds(&self, ix: ThreadIx, names: Names<'_>, history: u64, trace: Option<&str>) -> bool {
        !self.is_side(ix, names) || {
            let mut own = seed(names.scope(), trace);
            self.threads[ix].prints().any(|print| {
                own = roll(own, print.print);
                own == history
            })
        }
    }

    fn is_side(&self, ix: ThreadIx, names: Names<'_>) -> bool {
        let scope = self.scopes.get(&names.scope());
        scope.is_some_and(|scope| scope.side == Some(ix))
    }

    /// The conversation whose summary this history begins with.
    fn with_summary(
        &self,
        ask: &Ask<'_>,
        front: Front<'_, '_>,
        names: Names<'_>,
    ) -> Option<ThreadIx> {
        let newest = self.scopes.get(&names.scope())?.newest;
        let first = ask.units.iter().take(WHERE_SUMMARIES_STAND);
        let mut summaries = first.filter(|unit| unit.is_like_a_summary()).peekable();
        summaries.peek()?;
        // Who made the summary was asked with the conversation's history.
        let quoted =
            |thread: &Thread| thread.scope == names.scope() && thread.is_quoted(summaries.clone());
        let is_its_maker = names.session.is_some() || self.threads[newest].had(front.print());
        let quoted = self.threads.iter().position(quoted);
        quoted.or(is_its_maker.then_some(newest))
    }

    /// From now on this is a conversation.
    fn is_sure(&mut self, ix: ThreadIx, names: Names<'_>) {
        if let Some(scope) = self.scopes.get_mut(&names.scope()) {
            if scope.own == ix {
                scope.own_is = Standing::Sure;
            }
            if scope.side == Some(ix) {
                scope.side = None;
            }
        }
    }

    /// The conversation that an id is of; it begins where there is none.
    fn own_of(
        &mut self,
        names: Names<'_>,
        own_is: Standing,
        writer: &mut Writer<'_, '_>,
    ) -> ThreadIx {
        if let Some(scope) = self.scopes.get(&names.scope()) {
            return scope.own;
        }
        let own = self.threads.len();
        let lane = match names.session {
            _ if own == 0 => Lane::Main,
            Some(id) => Lane::Side(Key::of_parts(&["session", id])),
            None => Lane::Side(Key::of("session")),
        };
        self.threads.push(Thread::new(lane, names.scope()));
        if let Some(id) = names.session {
            let meta = Meta {
                id: Some(id.into()),
                ..Meta::default()
            };
            writer.push(lane, Event::Meta(Box::new(meta)));
        }
        let scope = Scope {
            own,
            own_is,
            side: None,
            newest: own,
        };
        self.scopes.insert(names.scope(), scope);
        own
    }

    fn open_side(&mut self, names: Names<'_>, writer: &mut Writer<'_, '_>) -> ThreadIx {
        let ix = self.begin(names, Some("calls without a history"), writer);
        if let Some(scope) = self.scopes.get_mut(&names.scope()) {
            scope.side = Some(ix);
        }
        ix
    }

    /// A conversation beside the one that the id is of.
    fn begin(
        &mut self,
        names: Names<'_>,
        title: Option<&str>,
        writer: &mut Writer<'_, '_>,
    ) -> ThreadIx {
        let ix = self.threads.len();
        let lane = Lane::Side(Key::of_number("conversation", ix as u64));
        self.threads.push(Thread::new(lane, names.scope()));
        let meta = Meta {
            parent: names.session.map(Into::into),
            title: title.map(Into::into),
            ..Meta::default()
        };
        if meta != Meta::default() {
            writer.push(lane, Event::Meta(Box::new(meta)));
        }
        ix
    }

    /// Remembers by what the conversation's next request will be known.
    fn note(&mut self, ix: ThreadIx, names: Names<'_>) {
        let thread = &self.threads[ix];
        let traces = [None, names.trace];
        for trace in &traces[..1 + usize::from(names.trace.is_some())] {
            let mut history = seed(names.scope(), *trace);
            let mut is_said = false;
            for Print { print, role, .. } in thread.prints() {
                history = roll(history, print);
                is_said |= role == Role::Assistant;
                if is_said {
                    self.by_history.insert(history, Seen::Said(ix));
                }
            }
            if !is_said {
                self.by_history.entry(history).or_insert(Seen::Asked(ix));
            }
        }
        let least = match names.session {
            Some(_) => TELLING_INSIDE,
            None => TELLING,
        };
        for print in thread.prints().filter(|print| print.tells >= least) {
            self.by_unit.insert(hash(&(names.scope(), print.print)), ix);
        }
    }
}

/// Histories of different ids are never the same.
fn seed(scope: Option<Key>, trace: Option<&str>) -> u64 {
    hash(&(scope, trace))
}

fn roll(history: u64, print: u64) -> u64 {
    hash(&(history, print))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
