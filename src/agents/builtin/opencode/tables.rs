//! The tables of a database.
//!
//! `event_sequence` has a number for each session that grows with every write; before it was there, the newest
//! message and its newest part show most writes.

use formats::database::{DatabaseSpec, Schema, object};

/// The facts of a session: its table, and what its version has beside the others.
macro_rules! header {
    ($from:literal $(, $type:ident $name:ident)?) => {
        object!(from $from; json session = object!(
            text id, text title, text directory, text version, text parentID = "r.parent_id",
            $($type $name,)? json revert, json time = object!(integer created = "r.time_created"),
        ))
    };
}

/// The tables of all versions.
pub(super) static SPEC: DatabaseSpec = DatabaseSpec {
    schemas: &[V2, V1_EVENTS, V1],
};

/// Kilo's, by a table that only it has.
pub(super) static KILO: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT id, parent_id, time_updated, revert,
            (SELECT seq FROM event_sequence WHERE aggregate_id = session.id),
            (SELECT id || time_updated FROM message WHERE session_id = session.id
                ORDER BY time_created DESC, id DESC LIMIT 1),
            (SELECT count(*) FROM kilo_board WHERE root_session_id = session.id)
            FROM session",
        ..V1_EVENTS
    }],
};

/// 2.x. It leaves the tables of 1.x as they were, with messages that it has copied. `session_v2.time_updated` does
/// not change with messages; most writes are to the newest rows.
const V2: Schema = Schema {
    sessions: "SELECT id, parent_id,
        max(coalesce(time_updated, 0), coalesce((SELECT time_updated FROM session_message
            WHERE session_id = session_v2.id ORDER BY seq DESC LIMIT 1), 0)),
        revert,
        (SELECT group_concat(seq || '/' || time_updated) FROM (SELECT seq, time_updated FROM session_message
            WHERE session_id = session_v2.id ORDER BY seq DESC LIMIT 4))
        FROM session_v2",
    header: header!("session_v2 AS r WHERE id = ?1", json model),
    from: "session_message WHERE session_id = ?1",
    order: "seq",
    line: object!(text id, text type, json data),
    settled: "CASE
        WHEN r.type NOT IN ('assistant', 'compaction') OR NOT json_valid(r.data) THEN 1
        WHEN r.type = 'compaction' THEN coalesce(r.data ->> '$.status', 'completed') IN ('completed', 'failed')
        ELSE (r.data ->> '$.time.completed') IS NOT NULL OR (r.data ->> '$.error') IS NOT NULL END",
    changed: "CAST(r.time_updated + (SELECT revert IS NULL FROM session_v2 WHERE id = ?1) AS INTEGER)",
    ..Schema::DEFAULT
};

/// Since `event_sequence`, which 1.18 has.
const V1_EVENTS: Schema = Schema {
    sessions: "SELECT id, parent_id, time_updated, revert,
        (SELECT seq FROM event_sequence WHERE aggregate_id = session.id),
        (SELECT id || time_updated FROM message WHERE session_id = session.id
            ORDER BY time_created DESC, id DESC LIMIT 1)
        FROM session",
    header: header!("session AS r WHERE id = ?1", json model),
    ..V1
};

/// 1.2, the first with a database.
const V1: Schema = Schema {
    sessions: "SELECT id, parent_id, time_updated, revert,
        (SELECT id || time_updated || '/' || coalesce((SELECT max(time_updated) || count(*) FROM part
                WHERE message_id = message.id), '') FROM message
            WHERE session_id = session.id ORDER BY time_created DESC, id DESC LIMIT 1)
        FROM session",
    header: header!("session AS r WHERE id = ?1"),
    from: "message WHERE session_id = ?1",
    order: "time_created, id",
    line: object!(
        text id, json info = "r.data", json parts = "'[' || coalesce((SELECT group_concat(CASE substr(p.data, 1, 2)
                WHEN '{\"' THEN '{\"id\":' || json_quote(CAST(p.id AS TEXT)) || ',' || substr(p.data, 2)
                ELSE coalesce(p.data, 'null') END, ',' ORDER BY p.id)
            FROM part AS p WHERE p.message_id = r.id), '') || ']'",
    ),
    // A message of the user's is written before its parts.
    settled: "CASE
        WHEN NOT json_valid(r.data) THEN 1
        WHEN r.data ->> '$.role' = 'assistant'
            THEN (r.data ->> '$.time.completed') IS NOT NULL OR (r.data ->> '$.error') IS NOT NULL
        ELSE EXISTS (SELECT 1 FROM part WHERE message_id = r.id) END",
    // The row of a user's message is rewritten after every answer, with a list of files.
    changed: "CAST(coalesce((SELECT max(time_updated) + count(*) FROM part WHERE message_id = r.id), 0)
        + (SELECT revert IS NULL FROM session WHERE id = ?1)
        + CASE WHEN instr(r.data, '\"role\":\"assistant\"') THEN r.time_updated ELSE 0 END AS INTEGER)",
    ..Schema::DEFAULT
};
