//! The tables in which Goose keeps sessions, by schema.

use formats::database::{DatabaseSpec, Schema};

/// The facts of a session before schema 15, whose row is read as the newest of a ledger: what a schema has beside the
/// others of the session, of its newest request and of the sums.
macro_rules! before_the_ledger {
    ($session:literal, $newest:literal, $sums:literal) => {
        concat!(
            "SELECT json_object('id', CAST(id AS TEXT), 'title', CAST(name AS TEXT),
            'cwd', CAST(working_dir AS TEXT), ",
            $session,
            "'ledger', json_array(json_object(
                'id', CAST(accumulated_total_tokens AS INTEGER), 'at', NULL,
                'input', iif(typeof(input_tokens) = 'blob', '', input_tokens),
                'output', iif(typeof(output_tokens) = 'blob', '', output_tokens)",
            $newest,
            ")), 'sums', json_object(
                'input', iif(typeof(accumulated_input_tokens) = 'blob', '', accumulated_input_tokens),
                'output', iif(typeof(accumulated_output_tokens) = 'blob', '', accumulated_output_tokens)",
            $sums,
            ")) FROM sessions WHERE id = ?1"
        )
    };
}

pub(super) static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[
        Schema {
            sessions: "SELECT id, parent_session_id, unixepoch(updated_at) * 1000, name, total_tokens,
                (SELECT max(id) FROM messages WHERE session_id = s.id),
                (SELECT max(id) FROM usage_ledger WHERE session_id = s.id)
                FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
            header: "SELECT json_object('id', CAST(id AS TEXT), 'title', CAST(name AS TEXT),
                'cwd', CAST(working_dir AS TEXT), 'parent', CAST(parent_session_id AS TEXT),
                'config', CAST(model_config_json AS TEXT), 'ledger', json((SELECT json_group_array(json_object(
                    'id', id, 'at', CAST(created_timestamp AS INTEGER),
                    'input', iif(typeof(input_tokens) = 'blob', '', input_tokens),
                    'output', iif(typeof(output_tokens) = 'blob', '', output_tokens),
                    'cache_read', iif(typeof(cache_read_tokens) = 'blob', '', cache_read_tokens),
                    'cache_write', iif(typeof(cache_write_tokens) = 'blob', '', cache_write_tokens),
                    'compaction', CAST(is_compaction AS INTEGER)) ORDER BY id)
                FROM usage_ledger WHERE session_id = ?1))) FROM sessions WHERE id = ?1",
            ..BEFORE_THE_LEDGER
        },
        // Schema 14.
        Schema {
            header: before_the_ledger!(
                "'config', CAST(model_config_json AS TEXT),",
                ", 'cache_read', iif(typeof(cache_read_input_tokens) = 'blob', '', cache_read_input_tokens),
                'cache_write', iif(typeof(cache_write_input_tokens) = 'blob', '', cache_write_input_tokens)",
                ", 'cache_read', iif(typeof(accumulated_cache_read_input_tokens) = 'blob', '',
                    accumulated_cache_read_input_tokens),
                'cache_write', iif(typeof(accumulated_cache_write_input_tokens) = 'blob', '',
                    accumulated_cache_write_input_tokens)"
            ),
            ..BEFORE_THE_LEDGER
        },
        BEFORE_THE_LEDGER,
        // Schema 5.
        Schema {
            header: before_the_ledger!("", "", ""),
            ..BEFORE_THE_LEDGER
        },
    ],
};

/// Before schema 14.
const BEFORE_THE_LEDGER: Schema = Schema {
    sessions: "SELECT id, NULL, unixepoch(updated_at) * 1000, name, total_tokens, accumulated_total_tokens,
        (SELECT max(id) FROM messages WHERE session_id = s.id)
        FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
    header: before_the_ledger!("'config', CAST(model_config_json AS TEXT),", "", ""),
    from: "messages WHERE session_id = ?1",
    order: "id",
    line: r#"'{"id":' || r.id || ',"role":' || json_quote(CAST(r.role AS TEXT))
        || ',"at":' || coalesce(CAST(r.created_timestamp AS INTEGER), 'null')
        || ',"metadata":' || coalesce(r.metadata_json, 'null') || ',"content":' || r.content_json || '}'"#,
    settled: "1",
    changed: r#"r.id * 2 + coalesce(instr(r.metadata_json, '"agentVisible":false') > 0, 0)"#,
};
