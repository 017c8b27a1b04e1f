//! The requests in Copilot CLI's own database, `session-store.db` beside `session-state`.
//!
//! Between the builds that log no prompt and 1.0.102, which logs each, this is where the provider's numbers
//! are: `assistant_usage_events`, one row a request, inserted when its response has ended. Checked on whole
//! runs of 1.0.102 (schema version 8), whose log has the same numbers:
//!
//! * `input_tokens` is the whole prompt, what was read from a cache and written to it included.
//! * No row names its response. Those of one conversation are in the order of its messages; `agent_id` and
//!   `parent_tool_call_id` are a sub-agent's, as its events have them. Each was inserted 2 to 85 ms before its
//!   message, whose `outputTokens` it has.
//! * A row without a prompt is kept, as its message would otherwise be given the row of another.
//! * Rows whose `initiator` is `compaction` have the numbers of `session.compaction_complete`.

use super::events::Numbers;
use decode::lenient::{self, Count, Text, record};
use decode::time::time_or_civil;
use formats::database::{DatabaseSpec, Schema, object};
use formats::{SidecarDatabase, SidecarRecord};
use jiff::{SignedDuration, Timestamp};
use model::event::{ByLength, Conversation, EventSink, Key, Usage};
use std::collections::HashMap;
use std::path::Path;

pub(super) static DATABASE: SidecarDatabase = SidecarDatabase {
    path: |log: &Path| {
        let state = log.ancestors().find(|dir| dir.ends_with("session-state"))?;
        Some(state.parent()?.join("session-store.db"))
    },
    holds_one: false,
    spec: DatabaseSpec {
        schemas: &[Schema {
            sessions: "SELECT id, NULL, NULL, \
                       (SELECT max(id) FROM assistant_usage_events WHERE session_id = sessions.id) FROM sessions",
            header: "SELECT '{}' WHERE ?1 <> ''",
            from: "assistant_usage_events WHERE session_id = ?1",
            order: "id",
            line: object!(
                text id, text session = "r.session_id", text agent = "r.agent_id",
                text call = "r.parent_tool_call_id", text initiator, text at = "r.created_at",
                json usage = object!(
                    text model, integer inputTokens = "r.input_tokens", integer outputTokens = "r.output_tokens",
                    integer cacheReadTokens = "r.cache_read_tokens",
                    integer cacheWriteTokens = "r.cache_write_tokens",
                    integer reasoningTokens = "r.reasoning_tokens",
                ),
            ),
            ..Schema::DEFAULT
        }],
    },
    read,
};

record! {
    struct Row<'a> {
        id: Text<'a>,
        session: Text<'a>,
        agent: Text<'a>,
        call: Text<'a>,
        initiator: Text<'a>,
        at: Text<'a>,
        usage: Numbers<'a>,
    }
}

/// Reads a row; `None`: it is of no message.
fn read(line: &[u8]) -> Option<SidecarRecord> {
    let line = decode::text(line);
    let row: Row<'_> = lenient::object(&line, &mut EventSink::new(&ByLength))?;
    let session = row.session.boxed()?;
    let is_compaction = row.initiator.get() == Some("compaction");
    // Of its writer, or of SQLite's `datetime('now')`.
    let at = time_or_civil(row.at.get()?).filter(|_| !is_compaction)?;
    let request = Key::of_parts(&["copilot row", &session, row.id.or_empty()]);
    let of_agent = [row.agent, row.call].into_iter();
    let mut keys: Vec<Key> = of_agent
        .filter_map(|id| id.boxed())
        .map(|id| conversation(Conversation::Side(Key::of(&id))))
        .collect();
    if keys.is_empty() {
        keys.push(conversation(Conversation::Main));
    }
    Some(SidecarRecord {
        session,
        keys,
        at: Some(at),
        window: None,
        about: None,
        usage: row.usage.usage(request).unwrap_or_else(|| Usage {
            output: row.usage.output_tokens.0,
            ..Usage::reported(request, 0)
        }),
    })
}

/// Returns the key of a conversation in rows.
fn conversation(conversation: Conversation) -> Key {
    match conversation {
        Conversation::Main => Key::of("copilot rows"),
        Conversation::Side(key) => key,
    }
}

/// A row and its message are no further apart.
const APART: SignedDuration = SignedDuration::from_secs(2);

/// The rows of a session, by conversation.
#[derive(Default)]
pub(super) struct Rows {
    by_conversation: HashMap<Key, Vec<RowOfMessage>>,
    /// The first row of each that no message so far is of.
    next: HashMap<Key, usize>,
}

#[derive(Clone, Copy)]
struct RowOfMessage {
    at: Timestamp,
    output: Option<u64>,
    /// Its number among the records.
    record: usize,
}

impl Rows {
    /// Takes the rows among these records, which begin with those of before.
    pub(super) fn take(&mut self, records: &[SidecarRecord]) {
        self.by_conversation.clear();
        for (record, row) in records.iter().enumerate() {
            let Some(at) = row.at else { continue };
            let output = row.usage.output;
            for key in &row.keys {
                let rows = self.by_conversation.entry(*key).or_default();
                rows.push(RowOfMessage { at, output, record });
            }
        }
    }

    /// Returns the record of a message that was written at this time and has this output.
    pub(super) fn find(
        &mut self,
        lane: Conversation,
        at: Option<Timestamp>,
        output: Count,
    ) -> Option<usize> {
        let at = at?;
        let key = conversation(lane);
        let rows = self.by_conversation.get(&key)?;
        let begun = self.next.get(&key).copied();
        let is_it = |row: &RowOfMessage| {
            let same = output.0.is_none() || output.0 == row.output;
            same && row.at.duration_since(at).abs() <= APART
        };
        let rest = rows.iter().enumerate().skip(begun.unwrap_or(0));
        let mut rest = rest.filter(|(_, row)| is_it(row));
        let (found, row) = match begun {
            Some(_) => rest.next(),
            // The log may be read from its middle.
            None => rest.min_by_key(|(_, row)| row.at.duration_since(at).abs()),
        }?;
        self.next.insert(key, found + 1);
        Some(row.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Option<SidecarRecord> {
        read(text.as_bytes())
    }

    #[test]
    fn rows_of_messages_are_taken() {
        let main = row(r#"{"id":"7","session":"s","agent":null,"call":null,"initiator":"user","at":"2026-08-03T10:00:04.000Z","usage":{"model":"m","inputTokens":900,"outputTokens":40,"cacheReadTokens":800,"cacheWriteTokens":90,"reasoningTokens":0}}"#).unwrap();
        assert_eq!((&*main.session, main.usage.prompt), ("s", 900));
        assert_eq!(main.keys, [conversation(Conversation::Main)]);
        assert_eq!(
            (main.usage.cached, main.usage.billed.cache_creation),
            (800, 90)
        );
        let side = row(r#"{"id":"8","session":"s","agent":"a","call":"c","at":"2026-08-03 10:00:05","usage":{"inputTokens":70}}"#).unwrap();
        assert_eq!(side.keys, [Key::of("a"), Key::of("c")]);
        let seconds = side.at.unwrap().duration_since(main.at.unwrap());
        assert_eq!(seconds, SignedDuration::from_secs(1));
        for other in [
            r#"{"session":"s","initiator":"compaction","at":"2026-08-03T10:00:04Z","usage":{"inputTokens":9}}"#,
            r#"{"session":"s","at":"yesterday","usage":{"inputTokens":9}}"#,
            r#"{"at":"2026-08-03T10:00:04Z","usage":{"inputTokens":9}}"#,
            "[]",
            "{",
        ] {
            assert_eq!(row(other), None, "{other}");
        }
    }

    #[test]
    fn a_row_without_a_prompt_is_kept() {
        let empty = row(r#"{"id":"1","session":"s","at":"2026-08-03T10:00:00Z","usage":{"inputTokens":null,"outputTokens":0}}"#).unwrap();
        assert_eq!((empty.usage.prompt, empty.usage.output), (0, Some(0)));
        let next = row(r#"{"id":"2","session":"s","at":"2026-08-03T10:00:01Z","usage":{"inputTokens":9,"outputTokens":4}}"#).unwrap();
        let mut rows = Rows::default();
        rows.take(&[empty, next]);
        let messages = [(50, None), (1_050, None)];
        assert_eq!(found(&mut rows, &messages), [Some(0), Some(1)]);
    }

    /// Rows a second apart, with these outputs.
    fn rows(outputs: &[u64]) -> Rows {
        let records = outputs.iter().zip(0_u64..).map(|(output, n)| {
            row(&format!(
                r#"{{"id":"{n}","session":"s","at":"2026-08-03T10:00:{n:02}Z","usage":{{"inputTokens":{},"outputTokens":{output}}}}}"#,
                n + 1
            ))
            .unwrap()
        });
        let mut rows = Rows::default();
        rows.take(&records.collect::<Vec<_>>());
        rows
    }

    /// The rows found for messages at these milliseconds, with these outputs.
    fn found(rows: &mut Rows, messages: &[(i64, Option<u64>)]) -> Vec<Option<usize>> {
        let start: Timestamp = "2026-08-03T10:00:00Z".parse().unwrap();
        let messages = messages.iter().map(|(millis, output)| {
            let at = start + SignedDuration::from_millis(*millis);
            rows.find(Conversation::Main, Some(at), Count(*output))
        });
        messages.collect()
    }

    #[test]
    fn messages_take_rows_in_order_if_the_outputs_agree() {
        let outputs = [30, 30, 40, 30];
        let in_order = [(50, Some(30)), (1_050, Some(30)), (2_050, Some(40))];
        assert_eq!(
            found(&mut rows(&outputs), &in_order),
            [Some(0), Some(1), Some(2)]
        );
        // A message whose row is missing takes none of another output.
        let missing = [(50, Some(30)), (1_050, Some(35)), (1_060, Some(30))];
        assert_eq!(
            found(&mut rows(&outputs), &missing),
            [Some(0), None, Some(1)]
        );
        // Reading that begins in the middle begins with the nearest.
        let middle = [(3_050, Some(30))];
        assert_eq!(found(&mut rows(&outputs), &middle), [Some(3)]);
        assert_eq!(found(&mut rows(&outputs), &[(2_900, None)]), [Some(3)]);
        // Rows that were written much later are of other messages.
        assert_eq!(found(&mut rows(&outputs), &[(-2_500, Some(30))]), [None]);
    }
}
