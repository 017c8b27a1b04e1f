//! What a decoder tells: the few things that can happen to a conversation, the same for every agent.
//!
//! A decoder keeps no tokens and draws no conclusions. It says that a [`Node`] was written, that a
//! [`Usage`] report came, that the context was [`Event::Reset`]; [`super::session`] draws the conclusions.

mod capture;
mod size;

use super::{Gone, Kind, Role, Source};
use capture::Capture;
use jiff::Timestamp;
pub use size::{ByLength, Measure, Size};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The identity of something that a log names: a record, a request, a tool call. A 64-bit hash of
/// the id's text, since a gigabyte of logs holds a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

impl Key {
    /// The key of an id as the log writes it.
    pub fn of(id: &str) -> Key {
        Key::of_parts(&[id])
    }

    /// The key of an id that is made of several parts.
    pub fn of_parts(parts: &[&str]) -> Key {
        let hash = |seed, part: &&str| xxh3_64_with_seed(part.as_bytes(), seed);
        Key(parts.iter().fold(0, hash))
    }

    /// The key of the n-th thing of its kind, for logs that give no ids.
    pub fn of_number(namespace: &str, n: u64) -> Key {
        Key(xxh3_64_with_seed(namespace.as_bytes(), n))
    }
}

/// Which conversation of a file an entry belongs to. Most files hold one; older Claude Code files
/// interleave their sub-agents' records with the main conversation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// The conversation the file is named for.
    Main,
    /// A sub-agent's, by its id.
    Side(Key),
}

/// The place of a record in its log, ordered as records are. Only the store that made it interprets
/// `offset` and `len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// For a file of lines: the first byte of the line.
    pub offset: u64,
    /// The number of the line, element or row, counted from 1; 0 if reading began in the middle of the
    /// log and the number is not known.
    pub line: u64,
    /// For a file of lines: the length of the line in bytes, without its newline.
    pub len: u64,
}

impl Place {
    /// A number that no other record of the log has, however much of the log was read.
    pub fn id(self) -> u64 {
        match self.len {
            0 => self.line << 40,
            _ => self.offset,
        }
    }
}

/// One event with where and when it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The conversation it belongs to.
    pub lane: Lane,
    /// Where it was read.
    pub place: Place,
    /// When, by the log's own clock.
    pub at: Option<Timestamp>,
    /// What happened.
    pub event: Event,
}

/// What can happen to a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Facts about the session; only the fields that are set change.
    Meta(Box<Meta>),
    /// A record of the conversation, with the items it holds (none for mere links of the chain).
    Node(Box<Node>),
    /// The provider's numbers for a request.
    Usage(Box<Usage>),
    /// Items leave the context, all of them but what is kept.
    Reset(Box<Reset>),
    /// The context now holds these nodes and no others, in this order (checkpoints, whole requests).
    /// Nodes that are not known are passed over.
    Retain {
        /// The nodes, oldest first.
        keys: Vec<Key>,
        /// Why the others left.
        cause: Gone,
    },
    /// The conversation goes on from this node, as far as the log tells.
    Leaf {
        /// The node.
        key: Key,
        /// Whether what stands after it on the same branch leaves too.
        rewound: bool,
    },
    /// This node and all that came after it leave. An unknown key: everything leaves.
    RewindTo(Key),
    /// The last user turns leave.
    Rollback {
        /// How many turns.
        turns: u64,
    },
    /// The turn is over: what lives only until then leaves.
    TurnEnded,
    /// The contents of these nodes or tool results leave, the conversation goes on.
    Cleared {
        /// The nodes.
        nodes: Vec<Key>,
        /// Tool results, by the id of their call.
        calls: Vec<Key>,
    },
    /// A record that is meant to be passed over, by its type.
    Skipped(Box<str>),
    /// A field of another type than expected was passed over: its name in the log.
    Lost(&'static str),
    /// A line that could not be read, and why.
    Unreadable(Box<str>),
}

/// Facts about a session. `None`: not said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta {
    /// The session's id as the agent gives it.
    pub id: Option<Box<str>>,
    /// A title that the agent or the user gave, or a sub-agent's type.
    pub title: Option<Box<str>>,
    /// The working directory.
    pub cwd: Option<Box<str>>,
    /// The exact model id.
    pub model: Option<Box<str>>,
    /// The agent's version.
    pub version: Option<Box<str>>,
    /// The id of the session that started this one.
    pub parent: Option<Box<str>>,
    /// The most tokens the agent says it can use: a window already, not a raw size.
    pub window: Option<u64>,
    /// The size at which the agent says it will compact.
    pub trigger: Option<u64>,
}

impl Meta {
    /// Only the facts that differ from `known`, which is updated.
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
            cwd: change(self.cwd, &mut known.cwd),
            model: change(self.model, &mut known.model),
            version: change(self.version, &mut known.version),
            parent: change(self.parent, &mut known.parent),
            window: change(self.window, &mut known.window),
            trigger: change(self.trigger, &mut known.trigger),
        }
    }
}

/// How a node hangs in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parent {
    /// After whatever came before: logs that are lists.
    #[default]
    Previous,
    /// Nothing stands before it.
    Root,
    /// After the record of this key.
    Key(Key),
}

/// What part of the exchange a node is; decides how it may hang beside the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// Of the conversation's chain, but not in the context.
    #[default]
    Link,
    /// Written by the model.
    Output,
    /// Results of tool calls: hangs beside the chain when calls ran in parallel.
    Result,
    /// Put in by the harness.
    Injected,
    /// Said by the user.
    Input,
}

/// A record of the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its id; a second node of the same id takes the first one's place.
    pub key: Option<Key>,
    /// Its parent.
    pub parent: Parent,
    /// What part of the exchange it is.
    pub part: Part,
    /// The request whose output it is; set on [`Part::Output`] only.
    pub request: Option<Key>,
    /// Whether it begins a new user turn.
    pub turn: bool,
    /// What it puts into the context.
    pub items: Vec<NewItem>,
}

/// One piece of context, measured where it was read; the text itself stays in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// Whose it is.
    pub role: Role,
    /// What it is.
    pub kind: Kind,
    /// The tool, for calls and results.
    pub tool: Option<Box<str>>,
    /// The tool call's id, for calls and results.
    pub call: Option<Key>,
    /// How large it is.
    pub size: Size,
    /// Its beginning, at most [`PREVIEW_BYTES`] long, white space folded, control characters gone.
    pub preview: Box<str>,
    /// A hash of its text, to find the same content twice.
    pub hash: u64,
    /// Whether it leaves at the end of its turn.
    pub ephemeral: bool,
    /// Which of its record's items it is, counted from 0, to find its text again.
    pub nth: u32,
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
    /// The output, thinking included; `None` where the log's number is a placeholder.
    pub output: Option<u64>,
    /// The part of `output` that was thinking, where the provider says it.
    pub reasoning: Option<u64>,
    /// [`Source::Reported`], or [`Source::Agent`] for an agent's own estimate.
    pub source: Source,
    /// The same response in the provider's own terms, for totals.
    pub billed: Billed,
}

/// A response's usage in the provider's own terms: whether `input` holds the cached part differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Billed {
    /// Input, with or without the cached part as the provider counts.
    pub input: u64,
    /// Input that was written to a cache.
    pub cache_creation: u64,
    /// Input that was read from a cache.
    pub cache_read: u64,
    /// Output.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

impl Billed {
    /// The larger of each number: lines of one response repeat their usage, rising as it streams.
    #[must_use]
    pub fn max(self, other: Billed) -> Billed {
        Billed {
            input: self.input.max(other.input),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_read: self.cache_read.max(other.cache_read),
            output: self.output.max(other.output),
            reasoning: self.reasoning.max(other.reasoning),
        }
    }
}

/// A compaction or clear.
#[derive(Debug, Clone, PartialEq)]
pub struct Reset {
    /// The id of the reset's own record; later records hang below it.
    pub key: Option<Key>,
    /// Why: [`Gone::Compaction`] or [`Gone::Clear`].
    pub gone: Gone,
    /// What caused it.
    pub cause: Cause,
    /// The size before, as the agent gives it.
    pub before: Option<u64>,
    /// The size after, as the agent gives it. Not always comparable with a prompt.
    pub after: Option<u64>,
    /// What stays, verbatim.
    pub kept: Kept,
}

/// What caused a compaction or clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The agent compacted by itself, at its trigger.
    Automatic,
    /// The user asked for it.
    Manual,
    /// Anything else, as the log or its decoder names it.
    Other(Box<str>),
}

impl Cause {
    /// The cause's name, as reports write it.
    pub fn name(&self) -> &str {
        match self {
            Cause::Automatic => "auto",
            Cause::Manual => "manual",
            Cause::Other(name) => name,
        }
    }
}

impl From<&str> for Cause {
    fn from(name: &str) -> Cause {
        match name {
            "auto" => Cause::Automatic,
            "manual" => Cause::Manual,
            other => Cause::Other(other.into()),
        }
    }
}

/// What a reset leaves in the context.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Kept {
    /// Nothing.
    #[default]
    Nothing,
    /// These nodes.
    Nodes(Vec<Key>),
    /// All from the first to the last of these on the live branch; no `last`: to its end.
    Range {
        /// The first node that stays.
        first: Key,
        /// The last node that stays.
        last: Option<Key>,
    },
}

/// The longest preview, in bytes.
pub const PREVIEW_BYTES: usize = 120;

/// Collects what a decoder emits. It holds the lane, the place and the time of the record that is
/// being read, so that a decoder sets them once.
pub struct Sink<'m> {
    measure: &'m dyn Measure,
    /// What has happened, in order.
    pub entries: Vec<Entry>,
    /// The text of one item, for whoever wants to read it.
    capture: Option<Capture>,
    lane: Lane,
    place: Place,
    at: Option<Timestamp>,
    /// The items of this record so far.
    items: u32,
}

impl<'m> Sink<'m> {
    /// A sink that measures items with `measure`.
    pub fn new(measure: &'m dyn Measure) -> Sink<'m> {
        Sink {
            measure,
            entries: Vec::new(),
            capture: None,
            lane: Lane::Main,
            place: Place::default(),
            at: None,
            items: 0,
        }
    }

    /// A sink that keeps the text of one item: the one of this hash in this place.
    pub fn capturing(measure: &'m dyn Measure, place: Place, hash: u64) -> Sink<'m> {
        Sink {
            capture: Some(Capture {
                place,
                hash,
                finished: Vec::new(),
                text: None,
            }),
            place,
            ..Sink::new(measure)
        }
    }

    /// The text that [`Sink::capturing`] asked for: its parts with a newline between them, and marks
    /// ([`ELIDED`]) where the reader cut them. `None`: there is no such item.
    pub fn captured(&mut self) -> Option<String> {
        self.capture.as_mut()?.text.take()
    }

    /// Begins a record: of the main lane and without a time, until the decoder sets others.
    pub fn begin(&mut self, place: Place) {
        if self.place != place {
            self.items = 0;
        }
        (self.lane, self.place, self.at) = (Lane::Main, place, None);
    }

    /// The place of the record that is being read.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The lane of the record that is being read.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// The time of the record that is being read.
    pub fn time(&self) -> Option<Timestamp> {
        self.at
    }

    /// Sets the lane of what is emitted until the next record begins.
    pub fn set_lane(&mut self, lane: Lane) {
        self.lane = lane;
    }

    /// Sets the time of what is emitted until the next record begins.
    pub fn set_time(&mut self, at: Option<Timestamp>) {
        self.at = at;
    }

    /// Emits an event of the record that is being read.
    pub fn emit(&mut self, mut event: Event) {
        if let Event::Node(node) = &mut event {
            for item in &mut node.items {
                item.nth = self.items;
                self.items += 1;
                if let Some(capture) = &mut self.capture {
                    capture.look_at(self.place, item);
                }
            }
            if let Some(capture) = &mut self.capture {
                capture.finished.clear();
            }
        }
        self.entries.push(Entry {
            lane: self.lane,
            place: self.place,
            at: self.at,
            event,
        });
    }

    /// Emits facts about the session, if there are any.
    pub fn meta(&mut self, meta: Meta) {
        if meta != Meta::default() {
            self.emit(Event::Meta(Box::new(meta)));
        }
    }

    /// Emits a record of the conversation.
    pub fn node(&mut self, node: Node) {
        self.emit(Event::Node(Box::new(node)));
    }

    /// Emits a usage report.
    pub fn usage(&mut self, usage: Usage) {
        self.emit(Event::Usage(Box::new(usage)));
    }

    /// Emits a reset.
    pub fn reset(&mut self, reset: Reset) {
        self.emit(Event::Reset(Box::new(reset)));
    }

    /// Counts a record that is passed over on purpose, by its type.
    pub fn skip(&mut self, kind: impl Into<Box<str>>) {
        self.emit(Event::Skipped(kind.into()));
    }

    /// Counts a record that could not be read.
    pub fn unreadable(&mut self, why: impl Into<Box<str>>) {
        self.emit(Event::Unreadable(why.into()));
    }

    /// Emits an event of any lane, place and time.
    pub fn push(&mut self, lane: Lane, place: Place, at: Option<Timestamp>, event: Event) {
        self.begin(place);
        (self.lane, self.at) = (lane, at);
        self.emit(event);
    }

    /// Begins an item.
    pub fn item(&mut self, role: Role, kind: Kind) -> ItemBuilder<'_, 'm> {
        ItemBuilder {
            text: self.capture.as_ref().map(|_| String::new()),
            item: NewItem {
                role,
                kind,
                tool: None,
                call: None,
                size: Size {
                    counted: true,
                    ..Size::default()
                },
                preview: Box::default(),
                hash: 0,
                ephemeral: false,
                nth: 0,
            },
            preview: String::new(),
            sink: self,
        }
    }
}

/// Builds one item from its parts; [`ItemBuilder::done`] finishes it.
pub struct ItemBuilder<'s, 'm> {
    sink: &'s mut Sink<'m>,
    item: NewItem,
    preview: String,
    text: Option<String>,
}

impl ItemBuilder<'_, '_> {
    /// Adds text that the model gets.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let (shown, cut) = split_elided(text);
        let mut size = self.sink.measure.text(shown);
        if cut > 0 {
            size += Size::unseen(cut);
        }
        self.item.size += size;
        self.fingerprint(shown, cut);
        fold_preview(&mut self.preview, shown);
        self.keep(text);
        self
    }

    /// Adds a part to the item's hash.
    fn fingerprint(&mut self, text: &str, number: u64) {
        let seed = self.item.hash.rotate_left(1) ^ number;
        self.item.hash = xxh3_64_with_seed(text.as_bytes(), seed);
    }

    /// Adds a line to the text that is kept for a reader, if it is.
    fn keep(&mut self, text: &str) {
        if let Some(kept) = &mut self.text {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(text);
        }
    }

    /// Adds the tokens of an image or document, by formula. Whoever reads the text sees its label.
    #[must_use]
    pub fn fixed(mut self, tokens: u64, label: &str) -> Self {
        self.item.size.fixed += tokens;
        self.fingerprint(label, 0);
        fold_preview(&mut self.preview, label);
        if !label.is_empty() {
            self.keep(label);
        }
        self
    }

    /// Adds text of which the log tells how many bytes it has, and `digest` what tells it apart. There
    /// is nothing to be read of it, so no bytes are counted.
    #[must_use]
    pub fn unseen(mut self, bytes: u64, digest: &str) -> Self {
        let bytes = bytes.min(MOST_UNSEEN);
        self.item.size += Size {
            bytes: 0,
            ..Size::unseen(bytes)
        };
        self.fingerprint(digest, bytes);
        let label = match bytes {
            0 => "(not in the log)".to_owned(),
            bytes => format!("({bytes} bytes, not in the log)"),
        };
        fold_preview(&mut self.preview, &label);
        self
    }

    /// Adds tokens that the provider reported for this item alone.
    #[must_use]
    pub fn reported(mut self, tokens: u64, label: &str) -> Self {
        self.item.size.reported += tokens;
        self.fingerprint(label, tokens);
        fold_preview(&mut self.preview, label);
        self
    }

    /// Adds hidden content of which only the size shows.
    #[must_use]
    pub fn opaque(mut self, bytes: u64) -> Self {
        self.item.size.opaque += bytes;
        self.fingerprint("", bytes);
        self
    }

    /// Names the tool.
    #[must_use]
    pub fn tool(mut self, name: Option<&str>) -> Self {
        self.item.tool = name.map(Into::into);
        self
    }

    /// Names the tool call.
    #[must_use]
    pub fn call(mut self, id: Option<&str>) -> Self {
        self.item.call = id.map(Key::of);
        self
    }

    /// Says that the item leaves at the end of its turn.
    #[must_use]
    pub fn ephemeral(mut self) -> Self {
        self.item.ephemeral = true;
        self
    }

    /// Puts words before the preview that are no part of the text, such as a file's name.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        let mut preview = String::new();
        fold_preview(&mut preview, label);
        fold_preview(&mut preview, &self.preview);
        self.preview = preview;
        self
    }

    /// The finished item.
    #[must_use]
    pub fn done(mut self) -> NewItem {
        if let (Some(capture), Some(text)) = (&mut self.sink.capture, self.text.take()) {
            capture.finished.push((self.item.hash, text));
        }
        self.item.preview = self.preview.into_boxed_str();
        self.item
    }
}

/// No text is a terabyte long: a larger number is forged.
const MOST_UNSEEN: u64 = 1 << 40;

/// Appends `text` to a preview: one line, white space folded, control and format characters gone,
/// so that no preview can drive a terminal.
fn fold_preview(preview: &mut String, text: &str) {
    let mut gap = !preview.is_empty();
    for c in text.chars().take(PREVIEW_BYTES * 4) {
        if preview.len() + c.len_utf8() + 1 > PREVIEW_BYTES {
            return;
        }
        if c.is_whitespace() {
            gap = !preview.is_empty();
        } else if !is_unsafe_to_show(c) {
            if gap {
                preview.push(' ');
                gap = false;
            }
            preview.push(c);
        }
    }
}

/// Whether a character could drive a terminal or reorder a line: controls, bidi marks, invisible
/// format characters.
pub fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{61c}')
}

/// What stands where a reader cut a very long string out of a very long line: the mark, the number of
/// bytes that are missing, the mark. A private-use character keeps it out of ordinary text; a log that
/// forges it lies about its own local counts alone, never about a known number.
pub const ELIDED: char = '\u{f8e1}';

/// A string's text and the bytes that a reader cut from its end.
pub fn split_elided(text: &str) -> (&str, u64) {
    let Some(body) = text.strip_suffix(ELIDED) else {
        return (text, 0);
    };
    match body.rsplit_once(ELIDED) {
        Some((shown, digits)) => match digits.parse::<u64>() {
            Ok(cut) if cut < MOST_UNSEEN => (shown, cut),
            _ => (text, 0),
        },
        None => (text, 0),
    }
}
