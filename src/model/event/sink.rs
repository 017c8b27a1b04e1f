//! Collects the output of decoders: events, and items built from their parts.

use super::capture::CapturedTexts;
use super::preview::{MOST_UNSEEN, append_call, append_preview, split_elided};
use super::{
    BilledUsage, Conversation, CostOf, Entry, Event, Key, Measure, Meta, NewItem, Node, Place,
    Reset, Size, Unmeasured, Usage, count, name,
};
use crate::{Kind, Role};
use jiff::Timestamp;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Collects what a decoder emits. It holds the conversation, the place and the time of the record that is
/// being read, so that a decoder sets them once.
pub struct EventSink<'m> {
    measure: &'m dyn Measure,
    /// The events, in order.
    pub entries: Vec<Entry>,
    wanted: EntryKinds,
    /// True if `measure` takes the texts of all items.
    takes_texts: bool,
    /// The texts of items that are not emitted yet, if they are wanted.
    finished: CapturedTexts,
    conversation: Conversation,
    place: Place,
    at: Option<Timestamp>,
    /// The items of this record so far.
    items: u32,
    /// True if the usage in this record has no prompt.
    lacks_prompt: bool,
    /// The preview of the item that is being built; kept, since each item needs one.
    preview: String,
}

/// The kinds of entries that a sink collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKinds {
    /// Everything.
    All,
    /// Facts and prompts.
    Names,
    /// Entries about usage.
    Usage,
}

impl<'m> EventSink<'m> {
    /// Returns a sink that measures items with `measure`.
    pub fn new(measure: &'m dyn Measure) -> EventSink<'m> {
        EventSink {
            measure,
            entries: Vec::new(),
            wanted: EntryKinds::All,
            takes_texts: measure.takes_texts(),
            finished: CapturedTexts::default(),
            conversation: Conversation::Main,
            place: Place::default(),
            at: None,
            items: 0,
            lacks_prompt: false,
            preview: String::new(),
        }
    }

    /// Returns a sink that keeps of what is emitted only what [concerns usage](Event::of_usage).
    pub fn for_usage() -> EventSink<'static> {
        EventSink {
            wanted: EntryKinds::Usage,
            ..EventSink::new(&Unmeasured)
        }
    }

    /// Returns a sink for what a session is called and what is known of it: of items only the user's have content.
    pub fn for_names() -> EventSink<'static> {
        EventSink {
            wanted: EntryKinds::Names,
            ..EventSink::new(&Unmeasured)
        }
    }

    /// Begins a record: of the main conversation and without a time, until the decoder sets others.
    pub fn begin(&mut self, place: Place) {
        if self.place != place {
            self.items = 0;
            self.finished.next();
        }
        (self.conversation, self.place, self.at) = (Conversation::Main, place, None);
        self.lacks_prompt = false;
    }

    /// Returns the place of the record that is being read.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the conversation of the record that is being read.
    pub fn conversation(&self) -> Conversation {
        self.conversation
    }

    /// Returns the time of the record that is being read.
    pub fn time(&self) -> Option<Timestamp> {
        self.at
    }

    /// Sets the conversation of what is emitted until the next record begins.
    pub fn set_conversation(&mut self, conversation: Conversation) {
        self.conversation = conversation;
    }

    /// Sets the time of what is emitted until the next record begins.
    pub fn set_time(&mut self, at: Option<Timestamp>) {
        self.at = at;
    }

    /// Emits an event of the record that is being read.
    pub fn emit(&mut self, mut event: Event) {
        if self.wanted == EntryKinds::Usage {
            let Some(of_usage) = event.of_usage() else {
                return;
            };
            event = of_usage;
        }
        name::cut_all(&mut event);
        if let Event::Node(node) = &mut event {
            for item in &mut node.items {
                item.nth = self.items;
                self.items += 1;
                if self.takes_texts
                    && let Some(text) = self.finished.of(item)
                {
                    self.measure.item(self.conversation, self.place, item, text);
                }
            }
        }
        self.measure.prepare(&mut event);
        self.entries.push(Entry {
            conversation: self.conversation,
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

    /// Notes that a number is missing of the usage in this record, so that the others do not add up to the prompt.
    pub fn without_prompt(&mut self) {
        self.lacks_prompt = true;
    }

    /// Emits a usage report, if there is one; only the cost, where [the prompt is not known](EventSink::without_prompt).
    pub fn usage(&mut self, usage: impl Into<Option<Usage>>) {
        let Some(usage) = usage.into() else {
            return;
        };
        self.emit(if self.lacks_prompt {
            Event::Billed {
                request: usage.request,
                billed: usage.billed,
                of: CostOf::Response,
                model: usage.model,
            }
        } else {
            Event::Usage(Box::new(usage))
        });
    }

    /// Emits the cost of a response outside the conversation.
    pub fn billed(&mut self, request: Key, billed: BilledUsage) {
        self.cost(request, billed, CostOf::Response);
    }

    /// Emits the cost of several requests as one.
    pub fn billed_sum(&mut self, request: Key, billed: BilledUsage) {
        self.cost(request, billed, CostOf::Several);
    }

    /// Emits what the cost of all requests so far has beside the costs that were emitted.
    pub fn billed_rest(&mut self, request: Key, billed: BilledUsage) {
        self.cost(request, billed, CostOf::AllSoFar);
    }

    fn cost(&mut self, request: Key, billed: BilledUsage, of: CostOf) {
        self.emit(Event::Billed {
            request,
            billed,
            of,
            model: None,
        });
    }

    /// Emits what the agent itself says a response cost, or all of the session so far, if it says so.
    pub fn own_cost(&mut self, of: Option<Key>, nanodollars: Option<u64>) {
        if let Some(nanodollars) = nanodollars {
            self.emit(Event::OwnCost { of, nanodollars });
        }
    }

    /// Emits a reset.
    pub fn reset(&mut self, reset: Reset) {
        self.emit(Event::Reset(Box::new(reset)));
    }

    /// Counts a record that is passed over on purpose, by its type.
    pub fn skip(&mut self, kind: impl Into<Cow<'static, str>>) {
        self.emit(Event::Skipped(kind.into()));
    }

    /// Passes a record over that its conversation's chain includes.
    pub fn skip_node(&mut self, kind: &'static str, node: Node) {
        self.skip(kind);
        self.node(node);
    }

    /// Counts a record of a type that the decoder does not know. It may concern the context.
    pub fn unknown(&mut self, kind: impl Into<Box<str>>) {
        self.emit(Event::Unknown(kind.into()));
    }

    /// Counts a record that could not be read.
    pub fn unreadable(&mut self, why: impl Into<Box<str>>) {
        self.emit(Event::Unreadable(why.into()));
    }

    /// Emits an event of any conversation, place and time.
    pub fn push(
        &mut self,
        conversation: Conversation,
        place: Place,
        at: Option<Timestamp>,
        event: Event,
    ) {
        self.begin(place);
        (self.conversation, self.at) = (conversation, at);
        self.emit(event);
    }

    /// Returns an item that is one text.
    pub fn text(&mut self, role: Role, kind: Kind, text: &str) -> NewItem {
        self.item(role, kind).text(text).done()
    }

    /// Begins the item of a call of a tool, with the tool's name and the call's id.
    pub fn tool_call(&mut self, tool: Option<&str>, call: Option<&str>) -> ItemBuilder<'_, 'm> {
        let item = self.item(Role::Assistant, Kind::ToolCall);
        item.tool(tool).call(call)
    }

    /// Begins the item of a tool's result, with the tool's name and the call's id.
    pub fn tool_result(&mut self, tool: Option<&str>, call: Option<&str>) -> ItemBuilder<'_, 'm> {
        let item = self.item(Role::Tool, Kind::ToolResult);
        item.tool(tool).call(call)
    }

    /// Begins an item.
    pub fn item(&mut self, role: Role, kind: Kind) -> ItemBuilder<'_, 'm> {
        self.preview.clear();
        ItemBuilder {
            text: self.takes_texts.then(String::new),
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
                nth: 0,
                is_failed: false,
            },
            sink: self,
        }
    }
}

/// Builds one item from its parts; [`ItemBuilder::done`] finishes it.
#[must_use]
pub struct ItemBuilder<'s, 'm> {
    sink: &'s mut EventSink<'m>,
    item: NewItem,
    text: Option<String>,
}

impl ItemBuilder<'_, '_> {
    /// Adds text that is sent to the model.
    pub fn text(mut self, text: &str) -> Self {
        let wanted = self.sink.wanted;
        if wanted == EntryKinds::Names && self.item.role != Role::User {
            return self;
        }
        let (shown, cut) = split_elided(text);
        let mut size = self.sink.measure.text(shown);
        if cut > 0 {
            size += Size::unseen(cut);
        }
        self.item.size += size;
        let said = shown.trim();
        // White space makes no other text of it, so that it is found again where it is quoted.
        if !said.is_empty() || self.item.hash == 0 {
            self.fingerprint(said, cut);
        }
        if wanted != EntryKinds::Usage {
            let preview = &mut self.sink.preview;
            match self.item.kind {
                Kind::ToolCall => append_call(preview, self.item.tool.as_deref(), shown),
                _ => append_preview(preview, shown),
            }
        }
        self.keep(text);
        self
    }

    /// Adds a part to the item's hash.
    fn fingerprint(&mut self, text: &str, number: u64) {
        let seed = self.item.hash.rotate_left(1) ^ number;
        self.item.hash = xxh3_64_with_seed(text.as_bytes(), seed);
    }

    /// Adds a line to the text that is being captured, if any is.
    fn keep(&mut self, text: &str) {
        if let Some(kept) = &mut self.text {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(text);
        }
    }

    /// Adds the tokens of an image or document, by formula. Its label takes its place in the text.
    pub fn fixed(mut self, tokens: u64, label: &str) -> Self {
        add(&mut self.item.size.fixed, tokens);
        self.fingerprint(label, 0);
        append_preview(&mut self.sink.preview, label);
        if !label.is_empty() {
            self.keep(label);
        }
        self
    }

    /// Adds the tokens of a document of an agent that may send images and no documents, by formula. Its label takes its
    /// place in the text.
    pub fn document(mut self, tokens: u64, label: &str) -> Self {
        add(&mut self.item.size.documents, tokens);
        self.fixed(tokens, label)
    }

    /// Adds text that the log does not contain, only its length in bytes. `digest` distinguishes it from
    /// others. It cannot be read, so no bytes are counted.
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
        append_preview(&mut self.sink.preview, &label);
        self
    }

    /// Marks the item as logged in part: the next report attributes it with what nothing else explains.
    pub fn partial(mut self) -> Self {
        self.item.size.partial = true;
        self
    }

    /// Adds tokens that the provider reported for this item alone.
    pub fn reported(mut self, tokens: u64, label: &str) -> Self {
        add(&mut self.item.size.reported, tokens);
        self.fingerprint(label, tokens);
        append_preview(&mut self.sink.preview, label);
        self
    }

    /// Adds hidden content of which only the size is logged.
    pub fn opaque(mut self, bytes: u64) -> Self {
        add(&mut self.item.size.opaque, bytes);
        self.fingerprint("", bytes);
        self
    }

    /// Sets the bytes that the agent itself counts for this item, where they are not those of its text.
    pub fn own_bytes(mut self, bytes: u64) -> Self {
        self.item.size.own_bytes = Some(count(bytes));
        self
    }

    /// Sets how many tools it defines.
    pub fn tools(mut self, tools: usize) -> Self {
        self.item.size.tools = count(tools as u64);
        self
    }

    /// Names the tool.
    pub fn tool(mut self, name: Option<&str>) -> Self {
        self.item.tool = name.map(|name| name::cut(name).into());
        self
    }

    /// Names the tool call.
    pub fn call(mut self, id: Option<&str>) -> Self {
        self.item.call = id.map(Key::of);
        self
    }

    /// Notes that the call failed whose result it is.
    pub fn failed(mut self) -> Self {
        self.item.is_failed = true;
        self
    }

    /// Notes that the agent cuts so many bytes out of the text before it sends it. They are of no other concern: the text
    /// says so.
    pub fn cut(mut self, bytes: u64) -> Self {
        self.keep(&format!("…{bytes} characters truncated…"));
        self
    }

    /// Puts a label before the preview that is not part of the text, such as a file's name.
    pub fn label(self, label: &str) -> Self {
        let mut preview = String::new();
        append_preview(&mut preview, label);
        append_preview(&mut preview, &self.sink.preview);
        self.sink.preview = preview;
        self
    }

    /// Returns the finished item.
    #[must_use]
    pub fn done(mut self) -> NewItem {
        if let Some(text) = self.text.take() {
            self.sink.finished.add(self.item.hash, text);
        }
        self.item.preview = self.sink.preview.as_str().into();
        self.item
    }
}

/// Adds a number to one of the numbers of a size.
fn add(to: &mut u32, number: u64) {
    *to = to.saturating_add(count(number));
}
