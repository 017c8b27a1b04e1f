//! Requests and responses that loggers keep in databases, a row each. Their lines are those that the same
//! loggers write to files.
//!
//! AutoGen 0.2 and its successor AG2: `runtime_logging.start(logger_type="sqlite")` makes `logs.db`
//! (`autogen/logger/sqlite_logger.py`). `wrapper_id` is the client of one agent, which has a conversation of
//! its own; `agents` has its name.

use formats::database::{DatabaseSpec, Schema, object};

pub(super) static REQUESTS: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT session_id, NULL, CAST(strftime('%s', max(end_time)) AS INTEGER) * 1000, max(id) \
                   FROM chat_completions GROUP BY session_id",
        // The name of a session is that of its first request's conversation.
        header: "SELECT NULL WHERE ?1 IS NULL",
        from: "chat_completions WHERE session_id = ?1",
        order: "id",
        line: object!(
            text agent_id = "coalesce((SELECT name FROM agents AS a \
                WHERE a.wrapper_id = r.wrapper_id AND a.session_id = r.session_id), r.wrapper_id, '')",
            json request = "CAST(r.request AS TEXT)", json response = "CAST(r.response AS TEXT)",
            text start_time = "replace(CAST(coalesce(r.start_time, '') AS TEXT), ' ', 'T') || 'Z'",
        ),
        ..Schema::DEFAULT
    }],
};
