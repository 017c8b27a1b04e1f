//! Describes an agent's database before it is opened: plain SQL, as data.
//!
//! A decoder is given text, as of any other log: a line about the session, then a line for each row. The
//! SQL makes the lines, mostly by `json_object`. The connection is read-only, and has one more function:
//! `unzstd(x)`, the text of a zstd frame; a text is returned as it is.

/// Returns the SQL of a JSON object, as a literal, from a list of columns: of each its type, its name in the object, and
/// the expression of its value, which is the row's column of that name (`r.name`) if there is none. The text is put
/// together without a parser, so that a broken document in a row is the decoder's to report.
///
/// | type | value |
/// |---|---|
/// | `text` | a string, whatever the column holds |
/// | `integer`, `real` | a number, 0 for what is none |
/// | `count` | the value itself; an empty string for bytes, so that it is unreadable and not 0 |
/// | `flag` | true or false |
/// | `json` | JSON as it is |
///
/// After `from`, it is the whole query of a header; after `each`, a list of objects, one of each row of a query.
///
/// ```text
/// header: object!(from "sessions AS r WHERE id = ?1"; text id, text title),
/// line: object!(text id, integer at = "r.created_at", json parts),
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! sql_object {
    (each $from:literal by $order:literal; $($columns:tt)*) => {
        concat!(
            "(SELECT '[' || coalesce(group_concat(", $crate::sql_object!($($columns)*), ", ',' ORDER BY ", $order,
            "), '') || ']' FROM ", $from, ")"
        )
    };
    (from $from:literal; $($columns:tt)*) => { concat!("SELECT ", $crate::sql_object!($($columns)*), " FROM ", $from) };
    ($type:ident $name:ident $(= $value:expr)? $(, $types:ident $names:ident $(= $values:expr)?)* $(,)?) => {
        concat!(
            "'{\"", stringify!($name), "\":' || ", $crate::sql_object!(@ $type $name $($value)?),
            $(" || ',\"", stringify!($names), "\":' || ", $crate::sql_object!(@ $types $names $($values)?),)*
            " || '}'"
        )
    };
    (@ $type:ident $name:ident) => { $crate::sql_object!(@ $type $name concat!("r.", stringify!($name))) };
    (@ text $name:ident $value:expr) => { concat!("json_quote(CAST(", $value, " AS TEXT))") };
    (@ integer $name:ident $value:expr) => { concat!("json_quote(CAST(", $value, " AS INTEGER))") };
    (@ real $name:ident $value:expr) => { concat!("coalesce(CAST(", $value, " AS REAL), 'null')") };
    (@ count $name:ident $value:expr) => { concat!("json_quote(iif(typeof(", $value, ") = 'blob', '', ", $value, "))") };
    (@ flag $name:ident $value:expr) => { concat!("iif(", $value, ", 'true', 'false')") };
    (@ json $name:ident $value:expr) => { concat!("coalesce(", $value, ", 'null')") };
}
pub use crate::sql_object as object;

/// The first bytes of every SQLite database. An encrypted one has others.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// A database that contains the sessions of an agent.
#[derive(Debug, PartialEq, Eq)]
pub struct DatabaseSpec {
    /// The tables as the agent's versions have had them. The first schema whose statements the database
    /// accepts is used, if there are sessions in its tables.
    pub schemas: &'static [Schema],
}

/// The SQL that finds sessions and their rows in the tables of a database. In every piece but the first, `?1` is the id
/// of a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// `SELECT id, parent, updated, …`: one row for each session, by look-ups in indexes alone.
    ///
    /// `id` is text. `parent` is the id of the session that started it, or NULL. `updated` is the time of
    /// the last write in milliseconds since 1970, or NULL. Any columns may follow: if one of the row's
    /// values changes, the session is read on.
    pub sessions: &'static str,
    /// `SELECT line`: one line about the session. The decoder is given it first, and again whenever it has
    /// changed, at [`Place::line`](model::event::Place::line) 0.
    pub header: &'static str,
    /// The text after `FROM` that selects the session's rows: `message WHERE session = ?1`. The other pieces can use
    /// its columns. Of a table, the numbers of rows (`rowid`) are sorted, and each row is fetched by its own; a query
    /// in brackets is sorted with all its columns.
    pub from: &'static str,
    /// The order of the rows, as after `ORDER BY`. New rows come last.
    pub order: &'static str,
    /// The text of a row. Here and in the pieces that follow, `r` is the row: `r.id`.
    pub line: &'static str,
    /// An expression that is 1 if a row is complete, else 0. Reading waits at the last row for as long as it is
    /// incomplete and is written to.
    pub settled: &'static str,
    /// An integer that differs after a row was updated in place: the session is then read again. `0`: rows
    /// are never updated.
    pub changed: &'static str,
    /// Columns that some versions do not have, as they are written in the SQL: `r.model`. There, they are NULL.
    pub optional: &'static [&'static str],
}

impl Schema {
    /// A schema without SQL, in which all columns are needed.
    pub const DEFAULT: Schema = Schema {
        sessions: "",
        header: "",
        from: "",
        order: "",
        line: "",
        settled: "1",
        changed: "0",
        optional: &[],
    };
}
