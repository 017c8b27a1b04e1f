//! The provider's numbers in a conversation's database: messages of Protocol Buffers.
//!
//! The schema is not published. Public readers found the same fields in real databases (ccusage,
//! ryandemelo/token-monitor #10, gke-labs/devops-bench #211: checked with replies of known length on 1.1.3,
//! mag123c/toktrack #192: after the descriptors in the program), of `gen_metadata.data`:
//!
//! | field | what |
//! |---|---|
//! | 1.4.2, .4, .5 | tokens of the prompt that were not cached, that were written to a cache, that were read from it |
//! | 1.4.3 | tokens of the output: 1.4.9 of thinking and 1.4.10 of the rest |
//! | 1.4.11 | the response's id |
//! | 1.9.4 | when it ended: 1 seconds, 2 nanoseconds |
//! | 1.19, 1.21 | the model's id, its name on the screen |
//! | 2 | the steps of the conversation that it is |
//!
//! 1.4.1 is the model as a number, though some take it for tokens. Of `trajectory_metadata_blob.data`, 7 or
//! 1.1 is the folder as a URI.

use super::LOGS;
use decode::lenient::{self, Text, record};
use decode::protobuf::{Message, from_hex};
use formats::database::{DatabaseSpec, Schema};
use formats::names;
use formats::{SidecarDatabase, SidecarRecord};
use jiff::Timestamp;
use model::event::{BilledUsage, ByLength, EventSink, Key, Meta, Usage};
use std::path::{Path, PathBuf};

pub(super) static DATABASE: SidecarDatabase = SidecarDatabase {
    path: beside,
    holds_one: true,
    spec: DatabaseSpec {
        schemas: &[
            Schema {
                sessions: "SELECT CAST(cascade_id AS TEXT), NULL, NULL, \
                           (SELECT max(idx) FROM gen_metadata), \
                           (SELECT length(data) FROM gen_metadata ORDER BY idx DESC LIMIT 1) \
                           FROM trajectory_meta LIMIT 1",
                ..UNNAMED
            },
            UNNAMED,
        ],
    },
    read: |line| {
        let line = decode::text(line);
        let row: Row<'_> = lenient::object(&line, &mut EventSink::new(&ByLength))?;
        let (usage, keys, _) = self::read(row.generation.get()?)??;
        Some(SidecarRecord {
            session: "".into(),
            keys,
            at: None,
            window: None,
            about: row.trajectory.get().map(about),
            usage,
        })
    },
};

/// A database that does not name its conversation.
const UNNAMED: Schema = Schema {
    sessions: "SELECT 'conversation', NULL, NULL, max(idx), \
               (SELECT length(data) FROM gen_metadata ORDER BY idx DESC LIMIT 1) FROM gen_metadata \
               HAVING count(*) > 0",
    header: "SELECT json_object('trajectory', hex((SELECT data FROM trajectory_metadata_blob LIMIT 1))) \
             WHERE ?1 <> ''",
    from: "gen_metadata WHERE ?1 <> ''",
    order: "idx",
    line: "json_object('generation', hex(data), \
           'trajectory', hex((SELECT data FROM trajectory_metadata_blob LIMIT 1)))",
    changed: "length(data)",
    ..Schema::DEFAULT
};

record! {
    struct Row<'a> {
        generation: Text<'a>,
        trajectory: Text<'a>,
    }
}

/// Returns the database of the conversation of these lines.
pub(super) fn beside(log: &Path) -> Option<PathBuf> {
    let mut names = names(log);
    names.next();
    let is_there = [names.next()?, names.next()?] == LOGS;
    let id = names.next().filter(|_| is_there)?;
    let brain = log.ancestors().nth(4)?;
    Some(
        brain
            .with_file_name("conversations")
            .join(format!("{id}.db")),
    )
}

/// Returns the key of a step.
pub(super) fn step(index: u64) -> Key {
    Key::of_number("antigravity step", index)
}

/// A generation: its usage, its steps and when it ended.
pub(super) type Generation = (Usage, Vec<Key>, Option<Timestamp>);

/// Returns a generation; `None`: it cannot be read; `Some(None)`: it has no numbers.
pub(super) fn read(hex: &str) -> Option<Option<Generation>> {
    let bytes = from_hex(hex)?;
    let row = Message(&bytes);
    let chat = row.message(1);
    let numbers = chat.message(4);
    // A message that is cut has fewer numbers than it had.
    if !(row.is_whole() && chat.is_whole() && numbers.is_whole()) {
        return None;
    }
    // Of a report with an unreadable number nothing is used.
    let tokens = |field| {
        if numbers.has(field) {
            numbers.number(field).filter(|n| lenient::is_plausible(*n))
        } else {
            Some(0)
        }
    };
    let (read, written) = (tokens(5)?, tokens(4)?);
    let prompt = tokens(2)? + written + read;
    let (output, thinking, rest) = (tokens(3)?, tokens(9)?, tokens(10)?);
    let visible = if numbers.has(10) {
        rest
    } else {
        output.saturating_sub(thinking)
    };
    let response = Key::of_parts(&["antigravity", numbers.text(11).unwrap_or(hex)]);
    let ended = chat.message(9).message(4);
    let seconds = ended
        .number(1)
        .and_then(|seconds| i64::try_from(seconds).ok());
    let nanos = i32::try_from(ended.number(2).unwrap_or(0)).unwrap_or(0);
    let at = seconds.and_then(|seconds| Timestamp::new(seconds, nanos).ok());
    let billed = BilledUsage::new(prompt, visible)
        .with_cache(read, written)
        .with_reasoning(thinking);
    let usage = Usage {
        model: chat.text(19).or(chat.text(21)).map(Into::into),
        output: Some(visible),
        ..Usage::billed(response, prompt, billed)
    };
    let steps = row.numbers(2).map(step).collect();
    Some((prompt > 0).then_some((usage, steps, at)))
}

/// Returns the facts that are known of a conversation: its folder.
pub(super) fn about(hex: &str) -> Meta {
    let bytes = from_hex(hex).unwrap_or_default();
    let trajectory = Message(&bytes);
    let uri = trajectory.text(7).or(trajectory.message(1).text(1));
    let path = uri.and_then(|uri| uri.strip_prefix("file://"));
    Meta {
        cwd: path.map(Into::into),
        ..Meta::default()
    }
}
