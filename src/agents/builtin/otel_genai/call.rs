//! A call of a model.

use decode::bodies::Numbers;
use decode::prompts::Block;
use jiff::Timestamp;
use model::event::{Event, EventSink, Key, Usage};

/// A record of a line.
pub(super) enum Record {
    /// A call of a model.
    Call(Box<Call>),
    /// The content of a call, beside its span.
    Content(Box<Call>),
    /// Something that is meant to be passed over.
    Other(String),
}

/// The part that is missing at the beginning of a call's input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum MissingPart {
    #[default]
    Nothing,
    /// Perhaps the system prompt or the tools.
    Front,
    /// That, and messages.
    Messages,
}

/// A call of a model.
#[derive(Default)]
pub(super) struct Call {
    pub(super) key: Option<Key>,
    pub(super) conversation: Option<String>,
    pub(super) trace: Option<String>,
    pub(super) agent: Option<String>,
    /// The program that was watched.
    pub(super) service: Option<String>,
    pub(super) model: Option<String>,
    pub(super) begun: Option<Timestamp>,
    pub(super) at: Option<Timestamp>,
    pub(super) input: Vec<Block<'static>>,
    pub(super) output: Vec<Block<'static>>,
    /// True if its span says that it is a call.
    pub(super) is_named: bool,
    /// True if `input` contains only what is new since the call before.
    pub(super) is_increment: bool,
    /// The part of the beginning of `input` that is missing because the span had too many attributes.
    pub(super) cut: MissingPart,
    pub(super) numbers: Numbers,
    /// The name of its instrumentation.
    pub(super) instrumentation: Option<String>,
    /// True if the input of its instrumentation lacks what was cached.
    pub(super) is_cached_beside: bool,
}

impl Call {
    /// Returns true if more was cached than the input, which lacks it then.
    pub(super) fn shows_cached_beside(&self) -> bool {
        self.numbers
            .whole
            .is_some_and(|whole| whole < self.cached())
    }

    /// Adds what was cached to the input.
    pub(super) fn add_cached(&mut self) {
        let cached = self.cached();
        self.numbers.whole = self.numbers.whole.map(|whole| whole.saturating_add(cached));
    }

    fn cached(&self) -> u64 {
        let [read, written] = [self.numbers.cache_read, self.numbers.cache_write];
        read.unwrap_or(0).saturating_add(written.unwrap_or(0))
    }

    /// Returns the conversation's id, or else the trace's.
    pub(super) fn id(&self) -> Option<&str> {
        self.conversation.as_deref().or(self.trace.as_deref())
    }

    /// Returns the numbers, where there are any.
    pub(super) fn usage(&self, request: Key, out: &mut EventSink<'_>) -> Option<Usage> {
        if self.numbers.is_unreadable {
            out.emit(Event::UnreadableUsage);
        }
        self.numbers.usage(request, self.model.as_deref())
    }
}
