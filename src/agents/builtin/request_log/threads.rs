//! Determines the conversation that a request belongs to.
//!
//! By the id it carries, and within an id, or without one, by its history: a request continues the
//! conversation that it repeats furthest, a response included (*exact* where it repeats all of it,
//! *prefix* where it went another way from there). Where the beginning has changed, by a call, a result
//! or a long text that it shares with one; where nothing is shared, by a summary: that of the
//! conversation whose last response it quotes, else of the one with the newest request.
//!
//! A request that shares nothing, carries no history and offers no tools may be the first of a
//! conversation or a side call (a title, a classification): it is not known yet which. The first of an id
//! has the id's conversation until a conversation comes for it; later ones share a conversation, the newest replacing the
//! one before, so that they are counted and are never taken for the conversation's context.

use super::thread::{Thread, fingerprint};
use decode::bodies::{Request, Response, request::Base};
use decode::prompts::{Block, BlockIdentity, Step, hash};
use model::event::{Conversation, EventSink, Key, Meta, Usage};
use model::{Kind, Role};
use std::collections::HashMap;

/// A request that offers at least this many tools is an agent's. A single tool is often the schema of a response.
const MIN_AGENT_TOOLS: usize = 2;
/// A summary is among this many first blocks of a history.
const SUMMARY_BLOCKS: usize = 3;
/// Output identifies a conversation from this many bytes on; shorter ones are in many. Within an id there
/// are few.
const MIN_WEIGHT: u64 = 64;
const MIN_WEIGHT_IN_SESSION: u64 = 16;

type ThreadIx = usize;

/// The conversations of one id, or of none.
struct Scope {
    /// The one that has the id's conversation.
    own: ThreadIx,
    certainty: Certainty,
    /// Calls without a history, while no conversation continues one.
    side: Option<ThreadIx>,
    /// The conversation with the newest request.
    newest: ThreadIx,
}

/// Shows whether a thread is known to be a conversation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// It may be a side call.
    Unsure,
    /// It had tools or a history.
    Sure,
}

impl Certainty {
    fn of(request: &Request<'_>) -> Certainty {
        let is_output = |block: &Block<'_>| block.role == Role::Assistant;
        let has_history = request.blocks.iter().any(is_output);
        if has_history || request.tools >= MIN_AGENT_TOOLS {
            Certainty::Sure
        } else {
            Certainty::Unsure
        }
    }
}

/// The thread in which a history was seen, and how.
#[derive(Clone, Copy)]
enum HistoryOwner {
    /// The history contains output of the model.
    Answered(ThreadIx),
    /// The history is a whole first request.
    Requested(ThreadIx),
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
    by_history: HashMap<u64, HistoryOwner>,
    by_block: HashMap<u64, ThreadIx>,
    by_response: HashMap<Key, State>,
    /// Requests without a response so far, by their id.
    open: HashMap<Key, ThreadIx>,
    newest_request: Option<ThreadIx>,
}

/// The ids of a line.
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
    pub(super) fn add_request(
        &mut self,
        request: &Request<'_>,
        names: Names<'_>,
        out: &mut EventSink<'_>,
    ) {
        let (ix, kept, step) = self.find(request, names, out);
        self.threads[ix].add_request(request, kept, step, out);
        if let Some(scope) = self.scopes.get_mut(&names.scope())
            && scope.side != Some(ix)
        {
            scope.newest = ix;
        }
        self.index(ix, names);
        if let Some(id) = names.id {
            self.open.insert(Key::of(id), ix);
        }
        self.newest_request = Some(ix);
    }

    /// Takes in a response to the request of the same id, or to the newest. Where no line has shown one,
    /// the response begins a conversation.
    pub(super) fn add_response(
        &mut self,
        response: &Response<'_>,
        usage: Option<Usage>,
        request: Key,
        names: Names<'_>,
        out: &mut EventSink<'_>,
    ) {
        let by_id = names.id.and_then(|id| self.open.remove(&Key::of(id)));
        let ix = match by_id.or(self.newest_request) {
            Some(ix) => ix,
            None => self.own_of(names, Certainty::Sure, out),
        };
        let thread = &mut self.threads[ix];
        thread.add_response(response, usage, request, out);
        if let Some(id) = &response.id {
            let state = State {
                thread: ix,
                len: thread.prompt_history.held(),
                epoch: thread.prompt_history.loss_count,
            };
            self.by_response.insert(Key::of(id), state);
        }
        self.index(ix, names);
    }

    /// Returns the conversation of a request, how much of what it holds the request builds on, and whether it continues
    /// there.
    fn find(
        &mut self,
        request: &Request<'_>,
        names: Names<'_>,
        out: &mut EventSink<'_>,
    ) -> (ThreadIx, usize, Step) {
        if let Some((ix, kept)) = self.base_of(request, names) {
            self.confirm(ix, names);
            return (ix, kept, Step::Continue);
        }
        let certainty = Certainty::of(request);
        let Some(scope) = self.scopes.get(&names.scope()) else {
            return (self.own_of(names, certainty, out), 0, Step::Continue);
        };
        let (own, own_certainty, side) = (scope.own, scope.certainty, scope.side);
        let front = fingerprint(&request.front);
        let continued = self.with_history(request, front, names);
        match continued.or_else(|| self.with_summary(request, front, names)) {
            Some(ix) if side != Some(ix) => {
                if ix != own || certainty == Certainty::Sure {
                    self.confirm(ix, names);
                }
                (ix, 0, Step::Continue)
            }
            // A call that a conversation continues is its beginning.
            Some(ix) if own_certainty == Certainty::Sure && self.threads[ix].responses == 1 => {
                self.confirm(ix, names);
                (ix, 0, Step::Continue)
            }
            _ if certainty == Certainty::Unsure => {
                let ix = side.unwrap_or_else(|| self.open_side(names, out));
                (ix, 0, Step::Replace)
            }
            _ if own_certainty == Certainty::Unsure => {
                self.confirm(own, names);
                (own, 0, Step::Replace)
            }
            _ => (self.begin(names, None, out), 0, Step::Continue),
        }
    }

    /// Returns the thread and the length of its history on which a request builds that does not carry its history;
    /// `None`: it is not known.
    fn base_of(&self, request: &Request<'_>, names: Names<'_>) -> Option<(ThreadIx, usize)> {
        match &request.base {
            Base::Nothing => None,
            Base::Response(id) => {
                let state = self.by_response.get(&Key::of(id))?;
                let prompt_history = &self.threads[state.thread].prompt_history;
                let kept = if prompt_history.loss_count == state.epoch {
                    state.len
                } else {
                    prompt_history.held()
                };
                Some((state.thread, kept))
            }
            Base::Conversation => {
                let own = self.scopes.get(&names.scope())?.own;
                Some((own, self.threads[own].prompt_history.held()))
            }
        }
    }

    /// Returns the conversation that this history continues.
    fn with_history(
        &self,
        request: &Request<'_>,
        front: u64,
        names: Names<'_>,
    ) -> Option<ThreadIx> {
        // It is the same request once more. A title is requested in the same words, but with another prompt.
        let again = |ix: ThreadIx| {
            let thread = &self.threads[ix];
            thread.responses <= 1 && thread.front == front
        };
        let blocks = request.blocks.iter();
        let blocks = blocks.filter(|block| block.kind != Kind::Thinking);
        for trace in names.trace.into_iter().map(Some).chain([None]) {
            let mut history = seed(names.scope(), trace);
            let mut seen = None;
            for block in blocks.clone() {
                history = roll(history, block.fingerprint());
                seen = match self.by_history.get(&history) {
                    Some(HistoryOwner::Answered(ix)) if self.holds(*ix, names, history, trace) => {
                        Some(*ix)
                    }
                    // Another trace is another run, which may well begin alike.
                    Some(HistoryOwner::Requested(ix)) if trace == names.trace && again(*ix) => {
                        Some(*ix)
                    }
                    _ => seen,
                };
            }
            if seen.is_some() {
                return seen;
            }
        }
        let fingerprints = blocks.rev().map(Block::fingerprint);
        fingerprints
            .filter_map(|block| self.by_block.get(&hash(&(names.scope(), block))))
            .copied()
            .find(|ix| !self.is_side(*ix, names))
    }

    /// Returns true if a thread still has this history. A conversation may go back to any it had; of calls nothing
    /// stays.
    fn holds(&self, ix: ThreadIx, names: Names<'_>, history: u64, trace: Option<&str>) -> bool {
        !self.is_side(ix, names) || {
            let mut own = seed(names.scope(), trace);
            self.threads[ix].prompt_history.marks().any(|mark| {
                own = roll(own, mark.fingerprint);
                own == history
            })
        }
    }

    fn is_side(&self, ix: ThreadIx, names: Names<'_>) -> bool {
        let scope = self.scopes.get(&names.scope());
        scope.is_some_and(|scope| scope.side == Some(ix))
    }

    /// Returns the conversation whose summary this history begins with.
    fn with_summary(
        &self,
        request: &Request<'_>,
        front: u64,
        names: Names<'_>,
    ) -> Option<ThreadIx> {
        let newest = self.scopes.get(&names.scope())?.newest;
        let first = request.blocks.iter().take(SUMMARY_BLOCKS);
        let mut summaries = first.filter(|block| block.is_like_a_summary()).peekable();
        summaries.peek()?;
        // The request for the summary carried the conversation's history.
        let quoted =
            |thread: &Thread| thread.scope == names.scope() && thread.is_quoted(summaries.clone());
        let has_summarised =
            names.session.is_some() || self.threads[newest].fronts.contains(&front);
        let quoted = self.threads.iter().position(quoted);
        quoted.or(has_summarised.then_some(newest))
    }

    /// Notes that a thread is a conversation.
    fn confirm(&mut self, ix: ThreadIx, names: Names<'_>) {
        if let Some(scope) = self.scopes.get_mut(&names.scope()) {
            if scope.own == ix {
                scope.certainty = Certainty::Sure;
            }
            scope.side = scope.side.filter(|side| *side != ix);
        }
    }

    /// Returns the conversation that has an id's conversation; it begins where there is none.
    fn own_of(
        &mut self,
        names: Names<'_>,
        certainty: Certainty,
        out: &mut EventSink<'_>,
    ) -> ThreadIx {
        if let Some(scope) = self.scopes.get(&names.scope()) {
            return scope.own;
        }
        let own = self.threads.len();
        let conversation = match names.session {
            _ if own == 0 => Conversation::Main,
            Some(id) => Conversation::Side(Key::of_parts(&["session", id])),
            None => Conversation::Side(Key::of("session")),
        };
        self.threads.push(Thread::new(conversation, names.scope()));
        out.set_conversation(conversation);
        out.meta(Meta {
            id: names.session.map(Into::into),
            ..Meta::default()
        });
        let scope = Scope {
            own,
            certainty,
            side: None,
            newest: own,
        };
        self.scopes.insert(names.scope(), scope);
        own
    }

    fn open_side(&mut self, names: Names<'_>, out: &mut EventSink<'_>) -> ThreadIx {
        let ix = self.begin(names, Some("calls without a history"), out);
        if let Some(scope) = self.scopes.get_mut(&names.scope()) {
            scope.side = Some(ix);
        }
        ix
    }

    /// Returns a conversation beside the one that has the id's conversation.
    fn begin(
        &mut self,
        names: Names<'_>,
        title: Option<&str>,
        out: &mut EventSink<'_>,
    ) -> ThreadIx {
        let ix = self.threads.len();
        let conversation = Conversation::Side(Key::of_number("conversation", ix as u64));
        self.threads.push(Thread::new(conversation, names.scope()));
        out.set_conversation(conversation);
        out.meta(Meta {
            parent: names.session.map(Into::into),
            title: title.map(Into::into),
            ..Meta::default()
        });
        ix
    }

    /// Indexes what identifies the conversation's next request.
    fn index(&mut self, ix: ThreadIx, names: Names<'_>) {
        let prompt_history = &self.threads[ix].prompt_history;
        for trace in [None].into_iter().chain(names.trace.map(Some)) {
            let mut history = seed(names.scope(), trace);
            let mut is_answered = false;
            for mark in prompt_history.marks() {
                history = roll(history, mark.fingerprint);
                is_answered |= mark.role == Role::Assistant;
                if is_answered {
                    self.by_history.insert(history, HistoryOwner::Answered(ix));
                }
            }
            if !is_answered {
                let seen = HistoryOwner::Requested(ix);
                self.by_history.entry(history).or_insert(seen);
            }
        }
        let least = match names.session {
            Some(_) => MIN_WEIGHT_IN_SESSION,
            None => MIN_WEIGHT,
        };
        let is_distinct = |mark: &BlockIdentity| mark.weight >= least;
        for mark in prompt_history.marks().filter(is_distinct) {
            let block = hash(&(names.scope(), mark.fingerprint));
            self.by_block.insert(block, ix);
        }
    }
}

/// Histories of different ids are never the same.
fn seed(scope: Option<Key>, trace: Option<&str>) -> u64 {
    hash(&(scope, trace))
}

fn roll(history: u64, block: u64) -> u64 {
    hash(&(history, block))
}
