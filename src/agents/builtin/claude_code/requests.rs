//! Claude Code's own record of its requests, since 2.1.296: what each one really held.
//!
//! | record | content |
//! |---|---|
//! | `api-request-shape` | the system prompt and the tools; once, and again when they change |
//! | `api-request-blob` | a message that is not a run of lines of the log |
//! | `api-request` | the first `keep` messages of request `base`, then `tail`: hashes of messages |
//!
//! A hash without a blob is a run of lines: `user` lines that follow each other, or `assistant` lines of
//! one response; every beginning of a run counts. A compaction empties all of it. The records of the
//! conversation give the items; a request that holds others, or not all of them, corrects that.
//!
//! Of a message, only what identifies its items is kept.

use super::canonical::{self, GrowingHash};
use super::wire::{Params, Record};
use decode::lenient::{Raw, Text};
use model::event::{Event, EventSink, ItemKey, Key, NewItem, Node, Part, RetainedItems};
use model::{Kind, Role};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// An item of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PromptItem {
    item: ItemKey,
    /// A hash that is the same for the same item in another message.
    print: u64,
}

impl PromptItem {
    fn new(node: Key, item: &NewItem) -> PromptItem {
        let print = match (item.kind, item.call) {
            // One call may be written in more than one way.
            (Kind::ToolCall, Some(call)) => call.get(),
            (_, Some(call)) => item.hash ^ call.get(),
            _ => item.hash,
        };
        let item = ItemKey {
            node,
            hash: item.hash,
        };
        PromptItem { item, print }
    }
}

/// A message of a request.
#[derive(Debug, Clone)]
enum Message {
    /// A run of lines: these of [`Requests::lines`].
    Run(Range<usize>),
    /// Written as a blob: its items, but for those that [`UnplacedItem`] has.
    Blob(Vec<PromptItem>),
}

/// An item of a blob that is either one of the last request's or a new one.
#[derive(Debug, Clone)]
struct UnplacedItem {
    message: Key,
    /// The node that it would have of its own.
    node: Key,
    item: NewItem,
}

/// A run of lines that may grow.
#[derive(Clone)]
struct Run {
    /// Its response, for lines of an assistant.
    response: Option<Key>,
    hash: GrowingHash,
    start: usize,
}

/// A message of the newest request, with its items in the conversation.
type HeldMessage = (Key, Vec<PromptItem>);

/// Items by their print.
#[derive(Debug, Clone, Default)]
struct Pool(BTreeMap<u64, Vec<PromptItem>>);

impl Pool {
    fn add(&mut self, known: PromptItem) {
        self.0.entry(known.print).or_default().push(known);
    }

    /// Takes the oldest item of this print.
    fn take(&mut self, print: u64) -> Option<PromptItem> {
        let same = self.0.get_mut(&print).filter(|same| !same.is_empty())?;
        Some(same.remove(0))
    }

    /// Takes this very item.
    fn take_item(&mut self, known: &PromptItem) -> Option<PromptItem> {
        let same = self.0.get_mut(&known.print)?;
        let at = same.iter().position(|other| other.item == known.item)?;
        Some(same.remove(at))
    }

    fn retain(&mut self, mut stays: impl FnMut(&PromptItem) -> bool) {
        self.0.retain(|_, same| {
            same.retain(&mut stays);
            !same.is_empty()
        });
    }

    /// Takes all.
    fn drain(&mut self) -> impl Iterator<Item = PromptItem> {
        std::mem::take(&mut self.0).into_values().flatten()
    }
}

/// The requests of one conversation, as far as its log records them.
#[derive(Default)]
pub(super) struct Requests {
    /// True if the log may contain requests.
    is_on: bool,
    messages: HashMap<Key, Message>,
    /// The items of the conversation's lines since the last compaction.
    lines: Vec<PromptItem>,
    run: Option<Run>,
    /// Items that no request has held yet.
    waiting: Pool,
    /// Items that a request has held, or has gone without, and the newest one does not hold.
    loose: Pool,
    unplaced: Vec<UnplacedItem>,
    /// Items of its messages that no record of the conversation shows.
    new: Vec<ItemKey>,
    /// The items of the newest request and those since: in a terminal, the records of some are written after them.
    shown: Pool,
    /// Items that the messages of the next request hold again.
    back: Vec<ItemKey>,
    /// The newest request that could be followed.
    held: Vec<HeldMessage>,
    /// The newest request and the hashes of its messages.
    newest: Option<(Key, Vec<Key>)>,
    shapes: HashMap<Key, Vec<ItemKey>>,
    /// The system prompt and the tools of the newest request.
    pub(super) shape: Option<Key>,
    /// The newest request, if the log contains all of it.
    whole: Option<Key>,
    /// The newest request, if its window is one of a million tokens.
    long: Option<Key>,
}

/// The first version whose logs contain requests.
const FIRST_VERSION: [u32; 3] = [2, 1, 296];

/// Returns the key of the node of the system prompt and the tools.
pub(super) fn front_key() -> Key {
    Key::of("claude-code front")
}

/// Returns the node of the system prompt and the tools.
pub(super) fn front(items: Vec<NewItem>) -> Node {
    Node::new(Some(front_key()), Part::Front, items)
}

impl Requests {
    /// Returns true if the log contains the whole content of this request.
    pub(super) fn is_whole(&self, request: &Text<'_>) -> bool {
        self.whole.is_some() && self.whole == request.key()
    }

    /// Returns true if the window of this request is one of a million tokens.
    pub(super) fn is_long(&self, request: &Text<'_>) -> bool {
        self.long.is_some() && self.long == request.key()
    }

    /// Notes the version that wrote the records that follow.
    pub(super) fn version(&mut self, version: &str) {
        if self.is_on {
            return;
        }
        let mut parts = version
            .split('.')
            .map_while(|part| part.parse::<u32>().ok());
        let parts: [u32; 3] = std::array::from_fn(|_| parts.next().unwrap_or(0));
        self.is_on = parts >= FIRST_VERSION;
    }

    /// Takes in the items of a record of the conversation. Those that a message showed before it are removed.
    pub(super) fn add_record(&mut self, record: &Record<'_>, node: &mut Node) {
        let Some(key) = node.key.filter(|_| self.is_on) else {
            return;
        };
        if record.attachment.is_some() {
            let mut is_shown =
                |item: &NewItem| self.shown.take(PromptItem::new(key, item).print).is_some();
            node.items.retain(|item| !is_shown(item));
        }
        let known = node.items.iter().map(|item| PromptItem::new(key, item));
        let known: Vec<PromptItem> = known.collect();
        for known in &known {
            self.waiting.add(*known);
        }
        match record.kind.or_empty() {
            "user" => self.grow("user", None, record.message.content.raw, &known),
            "assistant" => {
                let response = record.message.id.key();
                self.grow("assistant", response, record.message.content.raw, &known);
            }
            _ => {}
        }
    }

    /// Adds a line to the run before it, or begins another one.
    fn grow(
        &mut self,
        role: &'static str,
        response: Option<Key>,
        content: Option<Raw<'_>>,
        items: &[PromptItem],
    ) {
        let start = self.lines.len();
        self.lines.extend(items);
        let Some(blocks) = content.and_then(canonical::blocks) else {
            self.run = None;
            return;
        };
        let continues = |run: &Run| run.hash.role == role && run.response == response;
        let run = self.run.take().filter(continues);
        let mut run = run.unwrap_or_else(|| Run {
            response,
            hash: GrowingHash::new(role),
            start,
        });
        for block in blocks {
            run.hash.push(&block);
        }
        let message = Message::Run(run.start..self.lines.len());
        self.messages.entry(run.hash.key()).or_insert(message);
        self.run = Some(run);
    }

    /// Takes in the system prompt and the tools of the requests that follow.
    pub(super) fn add_shape(
        &mut self,
        record: &Record<'_>,
        items: Vec<NewItem>,
        out: &mut EventSink<'_>,
    ) {
        self.is_on = true;
        if items.is_empty() {
            return;
        }
        let node = front_key();
        let keys = items.iter().map(|item| ItemKey {
            node,
            hash: item.hash,
        });
        let key = record.shape_hash.key().unwrap_or(node);
        self.shapes.insert(key, keys.collect());
        let is_first = self.shape.replace(key).is_none();
        if is_first {
            out.emit(Event::PromptsLogged);
        }
        out.node(front(items));
    }

    /// Takes in a message of the next request. What no record of the conversation shows is emitted.
    pub(super) fn add_message(&mut self, hash: Key, items: Vec<NewItem>, out: &mut EventSink<'_>) {
        self.is_on = true;
        if self.messages.contains_key(&hash) {
            return;
        }
        let (mut known, mut new) = (Vec::new(), Vec::new());
        let node = Key::of_number("claude-code blob", hash.get());
        for (n, item) in (0..).zip(items) {
            let own = PromptItem::new(node, &item);
            if let Some(there) = self.waiting.take(own.print) {
                known.push(there);
            } else if let Some(there) = self.loose.take(own.print) {
                self.back.push(there.item);
                known.push(there);
            } else if self.is_held(own.print) {
                self.unplaced.push(UnplacedItem {
                    message: hash,
                    node: Key::of_number("claude-code block", hash.get().wrapping_add(n)),
                    item,
                });
            } else {
                known.push(own);
                self.new.push(own.item);
                self.shown.add(own);
                new.push(item);
            }
        }
        if !new.is_empty() {
            emit_beside(node, new, out);
        }
        self.messages.insert(hash, Message::Blob(known));
    }

    fn is_held(&self, print: u64) -> bool {
        let mut held = self.held.iter().flat_map(|(_, items)| items);
        held.any(|known| known.print == print)
    }

    /// Notes whether the window of a request is one of a million tokens.
    pub(super) fn note_window(&mut self, id: Option<Key>, params: &Params<'_>) {
        if id.is_some() {
            self.long = id.filter(|_| params.is_long());
        }
    }

    /// Takes in a request: what the conversation's records show otherwise is corrected.
    pub(super) fn add_request(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        self.is_on = true;
        let Some(id) = record.id.key() else {
            return;
        };
        self.whole = None;
        self.note_window(Some(id), &record.params);
        // A field that the record leaves out may be part of what the model reads.
        let mut withheld = record.withheld.iter().filter_map(Text::get);
        let is_cut = record.cut.is_some()
            || withheld.any(|field| matches!(field, "system" | "tools" | "messages"));
        let new = std::mem::take(&mut self.new);
        self.shown.retain(|known| new.contains(&known.item));
        let messages = self.messages_of(record);
        let messages = messages.filter(|messages| !messages.is_empty());
        self.newest = messages.clone().map(|messages| (id, messages));
        let Some(messages) = messages else {
            return;
        };
        if is_cut {
            return self.pass_over(&messages, new, out);
        }
        let (mut added, mut missing) = (std::mem::take(&mut self.back), Vec::new());
        let has_shape = self.use_shape(record.shape_hash.key(), &mut added, &mut missing);
        let has_all = self.follow(messages, &mut added, &mut missing, out);
        if !added.is_empty() || !missing.is_empty() {
            out.emit(Event::Sent { added, missing });
        }
        self.whole = Some(id).filter(|_| has_shape && has_all);
    }

    /// A request was recorded with other content than it held: its messages are not known.
    fn pass_over(&mut self, messages: &[Key], new: Vec<ItemKey>, out: &mut EventSink<'_>) {
        let held: HashSet<Key> = self.held.iter().map(|(hash, _)| *hash).collect();
        for hash in messages.iter().filter(|hash| !held.contains(hash)) {
            if let Some(Message::Blob(known)) = self.messages.remove(hash) {
                let known = known.into_iter().filter(|known| !new.contains(&known.item));
                known.for_each(|known| self.waiting.add(known));
            }
        }
        self.unplaced.clear();
        if !new.is_empty() {
            let (added, missing) = (Vec::new(), new);
            out.emit(Event::Sent { added, missing });
        }
    }

    /// Returns the hashes of a request's messages. `None`: it builds on a request that is not known.
    fn messages_of(&self, record: &Record<'_>) -> Option<Vec<Key>> {
        let tail = record.tail.iter().filter_map(Text::key);
        let Some(base) = record.base.key() else {
            return Some(tail.collect());
        };
        let (_, known) = self.newest.as_ref().filter(|(id, _)| *id == base)?;
        let keep = usize::try_from(record.keep.or_zero()).unwrap_or(usize::MAX);
        let kept = known.iter().copied().take(keep);
        (keep <= known.len()).then(|| kept.chain(tail).collect())
    }

    /// Makes the system prompt and the tools those of this shape: the newest one, if it is not known. Returns
    /// whether there is one.
    fn use_shape(
        &mut self,
        shape: Option<Key>,
        added: &mut Vec<ItemKey>,
        missing: &mut Vec<ItemKey>,
    ) -> bool {
        let known = |shape: Option<Key>| self.shapes.get(&shape?);
        let (old, new) = (known(self.shape), known(shape));
        if let (Some(old), Some(new)) = (old, new)
            && shape != self.shape
        {
            missing.extend(old.iter().filter(|item| !new.contains(item)));
            added.extend(new.iter().filter(|item| !old.contains(item)));
            self.shape = shape;
        }
        self.shape.is_some()
    }

    /// Makes the newest request one of these messages. Returns whether all of them are known.
    fn follow(
        &mut self,
        messages: Vec<Key>,
        added: &mut Vec<ItemKey>,
        missing: &mut Vec<ItemKey>,
        out: &mut EventSink<'_>,
    ) -> bool {
        let old = self.held.iter().map(|(hash, _)| hash);
        let same = old.zip(&messages).take_while(|(a, b)| a == b).count();
        let mut left = Pool::default();
        for (_, items) in self.held.drain(same..) {
            items.into_iter().for_each(|known| left.add(known));
        }
        let mut unplaced = std::mem::take(&mut self.unplaced);
        let mut unknown = None;
        for hash in messages.into_iter().skip(same) {
            let mut items = match self.messages.get(&hash) {
                Some(Message::Run(lines)) => self.lines[lines.clone()].to_vec(),
                Some(Message::Blob(known)) => known.clone(),
                None => {
                    unknown.get_or_insert(self.held.len());
                    Vec::new()
                }
            };
            for known in &items {
                let is_sent = self.waiting.take_item(known).is_none()
                    && left.take_item(known).is_none()
                    && self.loose.take_item(known).is_some();
                if is_sent {
                    added.push(known.item);
                }
            }
            for open in unplaced.extract_if(.., |open| open.message == hash) {
                let UnplacedItem { node, item, .. } = open;
                let new = PromptItem::new(node, &item);
                items.push(left.take(new.print).unwrap_or_else(|| {
                    emit_beside(node, vec![item], out);
                    new
                }));
            }
            if let Some(Message::Blob(known)) = self.messages.get_mut(&hash) {
                known.clone_from(&items);
            }
            self.held.push((hash, items));
        }
        // Records whose message is not known may be what it contains.
        let waiting: Vec<PromptItem> = self.waiting.drain().collect();
        if let Some((_, claims)) = unknown.and_then(|at| self.held.get_mut(at)) {
            claims.extend(waiting);
            left.drain().for_each(|known| self.loose.add(known));
            return false;
        }
        let unsent: Vec<PromptItem> = left.drain().chain(waiting).collect();
        if !unsent.is_empty() {
            let held = self.held.iter().flat_map(|(_, items)| items);
            let held: HashSet<ItemKey> = held.map(|known| known.item).collect();
            for known in unsent {
                if !held.contains(&known.item) {
                    missing.push(known.item);
                    self.loose.add(known);
                }
            }
        }
        true
    }

    /// Takes in a compaction: only what it keeps stays, and nothing that was recorded holds any more.
    pub(super) fn compact(&mut self, kept: &RetainedItems) {
        let kept: HashSet<Key> = match kept {
            RetainedItems::Nodes(keys) => keys.iter().copied().collect(),
            RetainedItems::Nothing | RetainedItems::Range { .. } => HashSet::new(),
        };
        let held = self.held.drain(..).flat_map(|(_, items)| items);
        let all = held.chain(self.waiting.drain()).chain(self.loose.drain());
        let stays: Vec<PromptItem> = all
            .filter(|known| kept.contains(&known.item.node))
            .collect();
        *self = Requests {
            is_on: self.is_on,
            shape: self.shape.take(),
            shapes: std::mem::take(&mut self.shapes),
            long: self.long,
            ..Requests::default()
        };
        stays.into_iter().for_each(|known| self.loose.add(known));
    }
}

/// Emits the node of items that no record of the conversation shows. The user's words have records, so what has none
/// is the harness's, unless the log was not read from its beginning. The harness writes text: a picture is one that the
/// user attached.
fn emit_beside(node: Key, mut items: Vec<NewItem>, out: &mut EventSink<'_>) {
    if out.place().line() > 0 {
        let is_written = |item: &&mut NewItem| item.role == Role::User && item.size.fixed == 0;
        for item in items.iter_mut().filter(is_written) {
            (item.role, item.kind) = (Role::Container, Kind::Reminder);
        }
    }
    out.node(Node::new(Some(node), Part::Beside, items));
}
