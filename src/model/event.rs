//! The events that decoders emit: what can happen to a conversation, the same for every agent.
//!
//! A decoder keeps no tokens and draws no conclusions. It emits that a [`Node`] was written, that a
//! [`Usage`] report came, that there was an [`Event::Reset`]; [`crate::session`] draws the conclusions.

mod billed;
mod cache_miss;
mod call;
mod capture;
pub mod cut;
mod name;
mod place;
mod plan;
mod preview;
mod reset;
mod sink;
mod size;
mod surcharge;

use crate::{Kind, LeaveReason, Role, Source};
pub use billed::BilledUsage;
pub use cache_miss::{CacheMiss, MissCause};
use jiff::Timestamp;
pub use place::Place;
pub use plan::{PlanLimit, PlanLimits};
pub use preview::{ELIDED, PREVIEW_BYTES, is_unsafe_to_show, split_elided};
pub use reset::{Cause, CauseSource, MOST_KEPT, Reset, RetainedItems};
use serde::{Deserialize, Serialize};
pub use sink::{EventSink, ItemBuilder};
pub use size::{ByLength, Measure, Size, Unmeasured, count};
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
pub use surcharge::{Surcharge, Surcharges};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The identity of something in a log: a record, a request, a tool call. A 64-bit hash of
/// the id's text, since a gigabyte of logs holds a million of them. Never 0, so that an `Option` of it takes no more
/// memory. Its lowest bit says whether other logs may have the same key for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(NonZeroU64);

/// The bit of keys that are unique within their log only.
const LOCAL: u64 = 1;

impl Key {
    /// Returns the key of a number. The two largest have the same.
    pub fn new(number: u64) -> Key {
        Key(NonZeroU64::MIN.saturating_add(number))
    }

    /// Returns the number.
    pub fn get(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the key of an id as the log writes it.
    pub fn of(id: &str) -> Key {
        Key::of_parts(&[id])
    }

    /// Returns the key of an id that is made of several parts.
    pub fn of_parts<P: AsRef<[u8]>>(parts: &[P]) -> Key {
        let hash = |seed, part: &P| xxh3_64_with_seed(part.as_ref(), seed);
        Key::new(parts.iter().fold(0, hash) & !LOCAL)
    }

    /// Returns the key of the n-th thing of its kind, for logs without ids. Other logs have the same keys.
    pub fn of_number(namespace: &str, n: u64) -> Key {
        Key::new(xxh3_64_with_seed(namespace.as_bytes(), n) | LOCAL)
    }

    /// Returns the key of what belongs to the thing of this key.
    #[must_use]
    pub fn under(self, namespace: &str) -> Key {
        let hash = xxh3_64_with_seed(namespace.as_bytes(), self.get());
        Key::new((hash & !LOCAL) | (self.get() & LOCAL))
    }

    /// Returns true if the key is unique within its log only.
    pub fn is_local(self) -> bool {
        self.get() & LOCAL != 0
    }
}

/// The conversation of a file that an entry belongs to. Most files hold one; older Claude Code files interleave their
/// sub-agents' records with the main conversation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Conversation {
    /// The conversation the file is named for.
    Main,
    /// A sub-agent's, by its id.
    Side(Key),
}

/// One event, with its place and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The conversation it belongs to.
    pub conversation: Conversation,
    /// The place at which it was read.
    pub place: Place,
    /// When, by the log's own clock.
    pub at: Option<Timestamp>,
    /// The event.
    pub event: Event,
}

impl Entry {
    /// Returns the entry with its [`Event::of_usage`] in place of the event; `None`: it has none.
    pub fn of_usage(&self) -> Option<Entry> {
        let event = self.event.of_usage()?;
        Some(Entry { event, ..*self })
    }
}

/// The requests whose cost a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostOf {
    /// One response's.
    Response,
    /// That of several requests, of which the log has no others' numbers.
    Several,
    /// That of all requests so far, as far as the log does not have it before.
    AllSoFar,
}

impl CostOf {
    /// Returns true if it may be the cost of more than one request.
    pub fn is_sum(self) -> bool {
        self != CostOf::Response
    }
}

/// Something that can happen to a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Facts about the session; only the fields that are set change.
    Meta(Box<Meta>),
    /// A record of the conversation, with the items it holds (none for mere links of the chain).
    Node(Box<Node>),
    /// The provider's numbers for a request.
    Usage(Box<Usage>),
    /// The cost of a response that is no part of the conversation, such as one that wrote a summary: for totals alone.
    /// A [`Usage`] of the same key takes its place.
    Billed {
        /// The response.
        request: Key,
        /// Its cost.
        billed: BilledUsage,
        /// The requests whose cost it is.
        of: CostOf,
        /// The model that answered; `None`: that of the conversation.
        model: Option<Box<str>>,
    },
    /// The price that the agent itself says was paid. It is shown beside the list price and used for nothing else.
    OwnCost {
        /// The response; `None`: all of the session so far, with its helpers and sub-agents.
        of: Option<Key>,
        /// In billionths of a US dollar.
        nanodollars: u64,
    },
    /// The limits of the user's plan, as the provider reports them.
    PlanLimits(Box<[PlanLimit]>),
    /// Items leave the context, all of them but what is kept.
    Reset(Box<Reset>),
    /// The context now holds these nodes and no others, in this order (checkpoints, whole requests).
    /// Nodes that are not known are passed over.
    Retain {
        /// The nodes, oldest first.
        keys: Vec<Key>,
        /// The cause for which the others left.
        cause: LeaveReason,
    },
    /// The conversation continues from this node, according to the log.
    Leaf {
        /// The node.
        key: Key,
        /// True if later nodes of the same branch leave too.
        rewound: bool,
    },
    /// The last user turns leave.
    Rollback {
        /// The number of turns.
        turns: u64,
    },
    /// The log lacks the beginning of its conversation: what its first prompt holds besides the items that
    /// are logged is history, which a compaction takes away.
    BeginningMissing,
    /// From here on the log contains all that its prompts hold, the system prompt and the tools too: the node of
    /// these follows, and replaces what was known of them.
    PromptsLogged,
    /// The newest reset takes effect after the next request, which was under way when it was written.
    ResetPostponed,
    /// The cause of the newest reset, as a record after it shows. Nothing was answered since.
    ResetCause(Cause),
    /// The contents of these nodes or tool results leave, the conversation goes on.
    Cleared {
        /// The nodes.
        nodes: Vec<Key>,
        /// Tool results, by the id of their call.
        calls: Vec<Key>,
        /// The cause for which they left.
        cause: LeaveReason,
    },
    /// A request of the conversation is sent, and the provider keeps its prompt in a cache.
    Requested {
        /// The minutes for which it keeps the prompt, from now on; `None`: the log does not have it.
        cache_minutes: Option<u8>,
    },
    /// The agent has finished its turn, or was interrupted: it waits for the user.
    TurnOver,
    /// A request outside the conversation has read its newest prompt, which the provider keeps in its cache anew.
    CacheRenewed,
    /// From here on until a reset the provider leaves so many tokens out of each prompt, which the agent counts all the same
    /// when it compares its context with its trigger.
    LeftOut(u64),
    /// A request that the log contains holds some items and not others, whatever the conversation's
    /// records show.
    Sent {
        /// Items that it holds although they had left.
        added: Vec<ItemKey>,
        /// Items that it does not hold.
        missing: Vec<ItemKey>,
    },
    /// A record that is skipped on purpose, by its type: in words of the decoder, or owned and as the log has it.
    Skipped(Cow<'static, str>),
    /// A record of a type that the decoder does not know.
    Unknown(Box<str>),
    /// A field of another type than expected was passed over: its name in the log.
    Lost(&'static str),
    /// A usage report that has a number that cannot be read. The others are used where they mean something without it.
    UnreadableUsage,
    /// The line of this place has bytes that are no text, and was read without them.
    Damaged,
    /// A line that could not be read, and why.
    Unreadable(Box<str>),
}

impl Event {
    /// Returns the part of the event that is about usage, in as few words as possible; `None`: there is none. That part
    /// is the cost of a response ([`Event::Usage`], [`Event::Billed`], [`Event::OwnCost`]), that a response was written
    /// ([`Event::Node`]), that the context was compacted ([`Event::Reset`]), the model that answers from there on
    /// ([`Event::Meta`]), and that a record could not be read ([`Event::Unreadable`]), which may have held any of
    /// these.
    pub fn of_usage(&self) -> Option<Event> {
        match self {
            Event::Billed { .. } | Event::OwnCost { .. } | Event::Unreadable(_) => {
                Some(self.clone())
            }
            Event::Meta(meta) => {
                let (model, provider) = (&meta.model, &meta.provider);
                (model.is_some() || provider.is_some()).then(|| {
                    Event::Meta(Box::new(Meta::of_model_at(model.clone(), provider.clone())))
                })
            }
            Event::Usage(usage) if usage.source.is_known() => Some(self.clone()),
            Event::Node(node) if node.part == Part::Output => {
                let node = Node::output(None, Some(node.request?), Vec::new());
                Some(Event::Node(Box::new(node)))
            }
            Event::Reset(reset) if reset.gone == LeaveReason::Compaction => {
                Some(Event::Reset(Box::new(Reset {
                    key: reset.key,
                    ..Reset::compaction(Cause::Unlogged, RetainedItems::Nothing)
                })))
            }
            _ => None,
        }
    }

    /// Returns the event that the content of a node leaves.
    pub fn cleared_node(key: Key) -> Event {
        Event::cleared(vec![key], Vec::new())
    }

    /// Returns the event that the results of these calls leave.
    pub fn cleared_calls(calls: Vec<Key>) -> Event {
        Event::cleared(Vec::new(), calls)
    }

    /// Returns the event that the contents of these nodes, and the results of these calls, are cleared.
    pub fn cleared(nodes: Vec<Key>, calls: Vec<Key>) -> Event {
        Event::Cleared {
            nodes,
            calls,
            cause: LeaveReason::Cleared,
        }
    }
}

/// The identity of an item of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemKey {
    /// Its node.
    pub node: Key,
    /// Its [`NewItem::hash`].
    pub hash: u64,
}

/// Facts about a session. `None`: not in this record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// The session's id, as the agent writes it.
    pub id: Option<Box<str>>,
    /// A title that the agent or the user chose, or a sub-agent's type.
    pub title: Option<Box<str>>,
    /// The beginning of the first prompt.
    pub prompt: Option<Box<str>>,
    /// The working directory.
    pub cwd: Option<Box<str>>,
    /// The exact model id.
    pub model: Option<Box<str>>,
    /// The provider that serves the models named from here on, as the agent names it.
    pub provider: Option<Box<str>>,
    /// The agent's version.
    pub version: Option<Box<str>>,
    /// The id of the session that started this one.
    pub parent: Option<Box<str>>,
    /// The most tokens the agent can use, according to its log: a window, not a raw size. 0: the log no longer has one.
    pub window: Option<u64>,
    /// The size at which the agent compacts, according to its log. 0: the log no longer has one.
    pub trigger: Option<u64>,
    /// True if the log names which of its windows a model is used with.
    pub says_window: Option<bool>,
    /// True if a user who may type is at the client: not in a run of a script.
    pub attended: Option<bool>,
    /// The hash that the agent compares with the hash of the next turn's model. Where the two differ, it compacts
    /// before that turn.
    pub model_hash: Option<Box<str>>,
}

impl Meta {
    /// Returns the model alone.
    pub fn of_model(model: Option<Box<str>>) -> Meta {
        Meta {
            model,
            ..Meta::default()
        }
    }

    /// Returns the model and its provider alone.
    pub fn of_model_at(model: Option<Box<str>>, provider: Option<Box<str>>) -> Meta {
        Meta {
            provider,
            ..Meta::of_model(model)
        }
    }

    /// Returns the title alone.
    pub fn of_title(title: Option<Box<str>>) -> Meta {
        Meta {
            title,
            ..Meta::default()
        }
    }

    /// Returns the window alone, unless it is 0.
    pub fn of_window(window: Option<u64>) -> Meta {
        Meta {
            window: window.filter(|window| *window > 0),
            ..Meta::default()
        }
    }

    /// Takes over what an earlier reading of the same session showed of its beginning, which may not have been read again.
    pub(crate) fn inherit_names(&mut self, former: &Meta) {
        if self.id == former.id {
            self.title = self.title.take().or_else(|| former.title.clone());
            self.prompt = self.prompt.take().or_else(|| former.prompt.clone());
        }
    }

    /// Returns only the facts that differ from `known`, which is updated.
    #[must_use]
    pub fn changes(self, known: &mut Meta) -> Meta {
        fn change<T: Clone + PartialEq>(new: Option<T>, known: &mut Option<T>) -> Option<T> {
            let changed = new.filter(|new| known.as_ref() != Some(new))?;
            *known = Some(changed.clone());
            Some(changed)
        }
        Meta {
            id: change(self.id, &mut known.id),
            title: change(self.title, &mut known.title),
            prompt: change(self.prompt, &mut known.prompt),
            cwd: change(self.cwd, &mut known.cwd),
            model: change(self.model, &mut known.model),
            provider: change(self.provider, &mut known.provider),
            version: change(self.version, &mut known.version),
            parent: change(self.parent, &mut known.parent),
            window: change(self.window, &mut known.window),
            trigger: change(self.trigger, &mut known.trigger),
            says_window: change(self.says_window, &mut known.says_window),
            attended: change(self.attended, &mut known.attended),
            model_hash: change(self.model_hash, &mut known.model_hash),
        }
    }
}

/// The parent of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parent {
    /// The record before it: logs that are lists.
    #[default]
    Previous,
    /// None: it is the first.
    Root,
    /// The record with this key.
    Key(Key),
}

/// The part of the exchange that a node is. It decides which nodes belong to a branch beside its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Part {
    /// A link of the conversation's chain, not in the context.
    #[default]
    Link,
    /// Written by the model.
    Output,
    /// Results of tool calls: beside the chain where calls ran in parallel.
    Result,
    /// Added by the harness.
    Injected,
    /// Written by the user.
    Input,
    /// The system prompt and the tools: beside the chain, and in the context until a record removes it,
    /// through resets and changes of the branch.
    Front,
    /// Held by a request that the log contains, and in no record of the chain: beside it, and in the
    /// context until a record removes it or a reset comes.
    Beside,
}

/// A record of the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its id; a second node of the same id takes the first one's place.
    pub key: Option<Key>,
    /// Its parent.
    pub parent: Parent,
    /// The part of the exchange that it is.
    pub part: Part,
    /// The request whose output it is; set on [`Part::Output`] only.
    pub request: Option<Key>,
    /// True if it begins a new user turn.
    pub turn: bool,
    /// The items that it adds to the context.
    pub items: Vec<NewItem>,
}

impl Node {
    /// Returns an output of the model's, of this request.
    pub fn output(key: Option<Key>, request: Option<Key>, items: Vec<NewItem>) -> Node {
        Node {
            request,
            ..Node::new(key, Part::Output, items)
        }
    }

    /// Returns a node after the one before it. [`Part::Input`] begins a turn.
    pub fn new(key: Option<Key>, part: Part, items: Vec<NewItem>) -> Node {
        Node {
            key,
            part,
            turn: part == Part::Input,
            items,
            ..Node::default()
        }
    }
}

/// One piece of context, measured where it was read; the text itself stays in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// The role that added it.
    pub role: Role,
    /// The kind of its content.
    pub kind: Kind,
    /// The tool, for calls and results.
    pub tool: Option<Arc<str>>,
    /// The tool call's id, for calls and results.
    pub call: Option<Key>,
    /// Its size.
    pub size: Size,
    /// Its beginning, at most [`PREVIEW_BYTES`] long, white space collapsed, without control characters.
    pub preview: Box<str>,
    /// A hash of its text, to find the same content twice.
    pub hash: u64,
    /// Its index among the items of its record, to find its text again.
    pub nth: u32,
    /// True for the result of a call that failed, as far as the log shows that.
    pub is_failed: bool,
}

impl NewItem {
    /// Returns the item with so many of its characters, and without its pictures.
    pub(crate) fn cut(self, chars: u64) -> NewItem {
        NewItem {
            size: self.size.cut(chars),
            // It is another text.
            hash: self.hash.wrapping_add(1),
            ..self
        }
    }
}

/// A provider's numbers for one request, or an agent's own estimate of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// The request: several lines of one response carry the same key.
    pub request: Key,
    /// The model that answered.
    pub model: Option<Box<str>>,
    /// All input of the request, cached or not: what the context held.
    pub prompt: u64,
    /// The part of `prompt` that was read from a cache.
    pub cached: u64,
    /// The provider's own reason for which `cached` is not more.
    pub miss: Option<Box<CacheMiss>>,
    /// The output, thinking included; `None` where the log's number is a placeholder.
    pub output: Option<u64>,
    /// The part of `output` that was thinking, where the provider reports it.
    pub reasoning: Option<u64>,
    /// [`Source::Reported`], or [`Source::Agent`] for an agent's own estimate.
    pub source: Source,
    /// The usage of the response in the provider's own terms, for totals.
    pub billed: BilledUsage,
    /// True if the log contains the whole prompt: then no part of it is unlogged.
    pub is_whole: bool,
    /// True if the response belongs to another session, whose history this one continues. It is counted there.
    pub is_inherited: bool,
}

impl Usage {
    /// Returns a prompt of this size, as the provider reports it, and nothing more.
    pub fn reported(request: Key, prompt: u64) -> Usage {
        Usage {
            request,
            model: None,
            prompt,
            cached: 0,
            miss: None,
            output: None,
            reasoning: None,
            source: Source::Reported,
            billed: BilledUsage::default(),
            is_whole: false,
            is_inherited: false,
        }
    }

    /// Returns a report of a prompt with the cost of the response.
    pub fn billed(request: Key, prompt: u64, billed: BilledUsage) -> Usage {
        Usage {
            cached: billed.cache_read,
            billed,
            ..Usage::reported(request, prompt)
        }
    }

    /// Returns the usage with numbers that no sum overflows: none has more than 32 bits, whatever a log claims.
    pub(crate) fn limited(self) -> Usage {
        let limited = |tokens: u64| tokens.min(u32::MAX.into());
        let billed = self.billed.counts().map(limited);
        Usage {
            prompt: limited(self.prompt),
            cached: limited(self.cached),
            output: self.output.map(limited),
            reasoning: self.reasoning.map(limited),
            billed: BilledUsage::of_counts(billed, self.billed.surcharges),
            ..self
        }
    }

    /// Returns a prompt of this size, as the agent estimates it, and nothing more.
    pub fn estimated(request: Key, prompt: u64) -> Usage {
        Usage {
            source: Source::Agent,
            ..Usage::reported(request, prompt)
        }
    }
}
