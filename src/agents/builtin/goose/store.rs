//! The tables in which Goose keeps sessions, by schema.

use formats::database::{DatabaseSpec, Schema, object};

pub(super) static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[
        Schema {
            sessions:
                "SELECT id, parent_session_id, unixepoch(updated_at) * 1000, name, total_tokens,
                (SELECT max(id) FROM messages WHERE session_id = s.id),
                (SELECT max(id) FROM usage_ledger WHERE session_id = s.id)
                FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
            header: object!(
                from "sessions AS r WHERE id = ?1";
                text id, text title = "r.name", text cwd = "r.working_dir", text parent = "r.parent_session_id",
                text provider = "r.provider_name", text config = "r.model_config_json",
                json ledger = object!(
                    each "usage_ledger AS r WHERE session_id = ?1" by "r.id";
                    integer id, integer at = "r.created_timestamp", count input = "r.input_tokens",
                    count output = "r.output_tokens", count cache_read = "r.cache_read_tokens",
                    count cache_write = "r.cache_write_tokens", integer compaction = "r.is_compaction",
                ),
            ),
            ..BEFORE_THE_LEDGER
        },
        BEFORE_THE_LEDGER,
    ],
};

/// Before schema 15. The session's row is read as the newest of a ledger.
const BEFORE_THE_LEDGER: Schema = Schema {
    sessions: "SELECT id, NULL, unixepoch(updated_at) * 1000, name, total_tokens, accumulated_total_tokens,
        (SELECT max(id) FROM messages WHERE session_id = s.id)
        FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
    header: object!(
        from "sessions AS r WHERE id = ?1";
        text id, text title = "r.name", text cwd = "r.working_dir",
        text provider = "r.provider_name", text config = "r.model_config_json",
        json ledger = concat!("'[' || ", object!(
            integer id = "r.accumulated_total_tokens",
            count input = "r.input_tokens", count output = "r.output_tokens",
            count cache_read = "r.cache_read_input_tokens", count cache_write = "r.cache_write_input_tokens",
        ), " || ']'"),
        json sums = object!(
            count input = "r.accumulated_input_tokens", count output = "r.accumulated_output_tokens",
            count cache_read = "r.accumulated_cache_read_input_tokens",
            count cache_write = "r.accumulated_cache_write_input_tokens",
        )
    ),
    from: "messages WHERE session_id = ?1",
    order: "id",
    line: object!(
        json id, text role, integer at = "r.created_timestamp", json metadata = "r.metadata_json",
        json content = "r.content_json",
    ),
    settled: "1",
    changed: r#"r.id * 2 + coalesce(instr(r.metadata_json, '"agentVisible":false') > 0, 0)"#,
    // Schema 5 has none of them, and schemas 6 to 13 have the first.
    optional: &[
        "r.model_config_json",
        "r.provider_name",
        "r.cache_read_input_tokens",
        "r.cache_write_input_tokens",
        "r.accumulated_cache_read_input_tokens",
        "r.accumulated_cache_write_input_tokens",
    ],
};
