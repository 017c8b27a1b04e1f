//! Exported sessions: one a line, with its messages.

use super::{HermesDecoder, Row, Session, time};
use decode::lenient::{self, ReportedCount};
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

impl HermesDecoder {
    /// Reads an exported session. Those after the first one are conversations of their own.
    pub(super) fn exported(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(mut session) = lenient::object::<Session<'_>>(line, out) else {
            return;
        };
        let is_other = self.meta.id.is_some() && self.meta.id.as_deref() != session.id.get();
        if is_other || self.is_side {
            *self = HermesDecoder {
                is_side: true,
                ..HermesDecoder::default()
            };
            let own = session.id.key().map(Conversation::Side);
            out.set_conversation(own.unwrap_or(Conversation::Main));
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
        if session.calls == ReportedCount::Absent {
            let is_answer = |row: &&Row<'_>| row.role.or_empty() == "assistant";
            let answers = session.rows.iter().filter(is_answer).count() as u64;
            session.calls = ReportedCount::Tokens(answers);
        }
        self.header(&session, out);
        for row in &session.rows {
            self.row(row, out);
        }
    }
}
