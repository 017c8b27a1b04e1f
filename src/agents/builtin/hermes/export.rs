//! Exported sessions: one a line, with its messages.

use super::{Call, Header, HermesDecoder, Row, time};
use decode::lenient::{self, Count, ReportedCount, Text, record};
use formats::head;
use memchr::memmem;
use model::event::{Conversation, EventSink, Meta};

/// Returns true if a file begins with an exported session. Its prompt may be longer than `head`.
pub(super) fn recognise(head: &[u8]) -> bool {
    let has = |mark: &str| head::has(head, mark);
    head::is_object(head)
        && has("\"source\"")
        && has("\"model_config\"")
        && has("\"system_prompt\"")
}

/// Returns true if a line is an exported session, not a row of a database, which begins with its number and role.
pub(super) fn is_session(line: &str, out: &EventSink<'_>) -> bool {
    let beginning = &line.as_bytes()[..line.len().min(48)];
    out.place().line() > 0 && memmem::find(beginning, b"\"role\":").is_none()
}

record! {
    struct Session<'a> {
        id: Text<'a>,
        title: Text<'a>,
        cwd: Text<'a>,
        model: Text<'a>,
        provider: Text<'a> = "billing_provider",
        parent: Text<'a> = "parent_session_id",
        started_at: Option<f64>,
        prompt: Text<'a> = "system_prompt",
        calls: ReportedCount = "api_call_count",
        input: ReportedCount = "input_tokens",
        output: ReportedCount = "output_tokens",
        read: ReportedCount = "cache_read_tokens",
        written: ReportedCount = "cache_write_tokens",
        reasoning: ReportedCount = "reasoning_tokens",
        messages: Vec<Message<'a>>,
    }

    struct Message<'a> {
        id: Count,
        role: Text<'a>,
        timestamp: Option<f64>,
        active: Count,
        compacted: Count,
        content: Text<'a>,
        sent: Text<'a> = "api_content",
        reasoning: Text<'a>,
        reasoning_content: Text<'a>,
        call: Text<'a> = "tool_call_id",
        tool: Text<'a> = "tool_name",
        calls: Vec<Call<'a>> = "tool_calls",
    }
}

impl HermesDecoder {
    /// Reads an exported session. Those after the first one are conversations of their own.
    pub(super) fn exported(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(session) = lenient::object::<Session<'_>>(line, out) else {
            return;
        };
        let is_other = self.meta.id.is_some() && self.meta.id.as_deref() != session.id.get();
        if is_other || self.is_side {
            *self = HermesDecoder {
                is_side: true,
                ..HermesDecoder::default()
            };
            out.set_conversation(
                session
                    .id
                    .key()
                    .map_or(Conversation::Main, Conversation::Side),
            );
        }
        out.set_time(session.started_at.and_then(time));
        let meta = Meta {
            id: session.id.boxed(),
            title: session.title.boxed(),
            cwd: session.cwd.boxed(),
            parent: session.parent.boxed(),
            ..Meta::of_model_at(session.model.boxed(), session.provider.boxed())
        };
        out.meta(meta.changes(&mut self.meta));
        let is_answer = |message: &&Message<'_>| message.role.or_empty() == "assistant";
        let answers = session.messages.iter().filter(is_answer).count() as u64;
        let header = Header {
            prompt: session.prompt,
            calls: match session.calls {
                ReportedCount::Absent => ReportedCount::Tokens(answers),
                calls => calls,
            },
            input: session.input,
            output: session.output,
            read: session.read,
            written: session.written,
            reasoning: session.reasoning,
        };
        self.header(&header, out);
        for message in session.messages {
            let is = |flag: Count| flag.0.unwrap_or(1) == 1;
            let is_rewound = !is(message.active) && message.compacted.or_zero() == 0;
            self.row(
                &Row {
                    id: message.id,
                    role: message.role,
                    at: message.timestamp,
                    rewound: Some(is_rewound),
                    content: first_of(message.sent, message.content),
                    reasoning: first_of(message.reasoning_content, message.reasoning),
                    call: message.call,
                    tool: message.tool,
                    calls: message.calls,
                },
                out,
            );
        }
    }
}

fn first_of<'a>(first: Text<'a>, second: Text<'a>) -> Text<'a> {
    match first.get() {
        Some(_) => first,
        None => second,
    }
}
