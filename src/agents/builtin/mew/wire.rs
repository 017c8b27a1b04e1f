//! The fields of the history's lines that are read.

use decode::lenient::{Count, Raw, ReportedCount, Text, Texts, Window, record};
use decode::openai::Content;

record! {
    /// A line.
    pub(super) struct Line<'a> {
        pub(super) timestamp: Text<'a>,
        pub(super) event: Text<'a>,
        pub(super) id: Text<'a>,
        pub(super) space_id: Text<'a>,
        pub(super) participant: Text<'a>,
        pub(super) envelope: Option<Envelope<'a>>,
    }

    /// An envelope.
    pub(super) struct Envelope<'a> {
        pub(super) id: Text<'a>,
        pub(super) ts: Text<'a>,
        pub(super) from: Text<'a>,
        pub(super) to: Texts<'a>,
        pub(super) kind: Text<'a>,
        correlation_id: Vec<Text<'a>>,
        pub(super) payload: Payload<'a>,
    }
}

impl Envelope<'_> {
    /// Returns the id of the envelope that this one answers.
    pub(super) fn correlation_id(&self) -> Option<&str> {
        self.correlation_id.first().and_then(Text::get)
    }
}

record! {
    /// The content of an envelope. Which of the fields are there depends on its kind.
    pub(super) struct Payload<'a> {
        pub(super) text: Text<'a>,
        pub(super) reasoning: Text<'a>,
        pub(super) message: Text<'a>,
        pub(super) params: Params<'a>,
        pub(super) result: Option<Raw<'a>> = "result" | "error",
        pub(super) tokens: ReportedCount,
        pub(super) max_tokens: Window,
        pub(super) status: Text<'a>,
        pub(super) freed_messages: Count,
        pub(super) freed_tokens: Count,
        pub(super) skipped: Option<bool>,
        pub(super) direction: Text<'a>,
        pub(super) entries: Count,
    }

    /// The parameters of a tool's call.
    pub(super) struct Params<'a> {
        pub(super) name: Text<'a>,
        pub(super) arguments: Option<Raw<'a>>,
    }

    /// The result of a tool, or a piece of it.
    pub(super) struct ToolResult<'a> {
        pub(super) content: Content<'a>,
    }
}
