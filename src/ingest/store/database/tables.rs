//! The statements of a schema, and what they return.

use crate::agents::database::{DatabaseSpec, Schema};
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, Statement};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The columns of [`Schema::sessions`].
const ID: usize = 0;
const PARENT: usize = 1;
const UPDATED: usize = 2;

/// A schema whose statements a database accepts.
#[derive(Clone, Copy)]
pub struct Tables {
    schema: &'static Schema,
    /// Whether it is the first, and has sessions.
    is_final: bool,
}

/// A session of a database.
pub struct Listed {
    pub id: String,
    pub parent: Option<String>,
    /// When it was last written to.
    pub updated: Option<SystemTime>,
    /// A hash of its row.
    pub version: u64,
}

/// What shows that rows were changed in place: how many there are, the largest of their marks, and the sum.
pub type Marks = (i64, Option<i64>, Option<i64>);

/// A row of a session.
pub struct Line {
    /// `None`: the database has no text for it.
    pub text: Option<String>,
    pub is_settled: bool,
}

impl Line {
    /// A hash of its text.
    pub fn hash(&self) -> u64 {
        xxh3_64(self.text.as_deref().unwrap_or_default().as_bytes())
    }
}

impl Tables {
    /// The first schema that fits and has sessions; the first that fits if none has; otherwise why the first
    /// does not. A newer version may have made its tables before it uses them.
    pub fn of(connection: &Connection, spec: &DatabaseSpec) -> Result<Tables, rusqlite::Error> {
        let (mut error, mut empty) = (None, None);
        for schema in spec.schemas {
            let tables = Tables {
                schema,
                is_final: empty.is_none() && error.is_none(),
            };
            match tables.check(connection) {
                // What is wrong with them shows when they are listed.
                Ok(()) if tables.has_sessions(connection).unwrap_or(true) => return Ok(tables),
                Ok(()) => {
                    empty.get_or_insert(Tables {
                        is_final: false,
                        ..tables
                    });
                }
                Err(e) => {
                    error.get_or_insert(e);
                }
            }
        }
        empty.ok_or_else(|| error.unwrap_or(rusqlite::Error::InvalidQuery))
    }

    /// Whether no other schema can come to be the one to use.
    pub fn is_final(self) -> bool {
        self.is_final
    }

    fn has_sessions(self, connection: &Connection) -> rusqlite::Result<bool> {
        connection.prepare(self.schema.sessions)?.exists(())
    }

    fn check(self, connection: &Connection) -> rusqlite::Result<()> {
        let statements = [
            self.schema.sessions.to_owned(),
            self.schema.header.to_owned(),
            self.rows_sql(),
            self.marks_sql(),
            self.count_sql(),
        ];
        statements
            .iter()
            .try_for_each(|sql| connection.prepare(sql).map(|_| ()))
    }

    fn select(self, what: &str) -> String {
        let Schema { from, order, .. } = self.schema;
        format!(
            "SELECT {what} FROM (SELECT * FROM {from} ORDER BY {order} LIMIT ?2 OFFSET ?3) AS r"
        )
    }

    fn rows_sql(self) -> String {
        self.select(&format!("{}, {}", self.schema.line, self.schema.settled))
    }

    fn marks_sql(self) -> String {
        let marked = self.select(&format!("({}) AS mark", self.schema.changed));
        format!("SELECT count(*), max(mark), sum(mark & 4294967295) FROM ({marked})")
    }

    fn count_sql(self) -> String {
        format!("SELECT count(*) FROM {}", self.schema.from)
    }

    /// All sessions.
    pub fn sessions(self, connection: &Connection) -> rusqlite::Result<Vec<Listed>> {
        let mut statement = connection.prepare_cached(self.schema.sessions)?;
        let columns = statement.column_count();
        let mut rows = statement.query(())?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.extend(listed(row, columns)?);
        }
        Ok(sessions)
    }

    /// One session.
    pub fn session(self, connection: &Connection, id: &str) -> rusqlite::Result<Option<Listed>> {
        let all = self.schema.sessions;
        // SQLite applies the condition where the sessions are selected.
        let named = connection
            .prepare_cached(all)?
            .column_name(ID)?
            .replace('"', "\"\"");
        let one = format!("SELECT * FROM ({all}) WHERE \"{named}\" = ?1");
        let mut statement = connection.prepare_cached(&one)?;
        let columns = statement.column_count();
        let mut rows = statement.query([id])?;
        match rows.next()? {
            Some(row) => listed(row, columns),
            None => Ok(None),
        }
    }

    /// The line about a session.
    pub fn header(self, connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
        let mut statement = connection.prepare_cached(self.schema.header)?;
        let header = statement.query_row([id], |row| text(row, 0));
        Ok(header.optional()?.flatten())
    }

    /// How many rows a session has.
    pub fn count(self, connection: &Connection, id: &str) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.count_sql())?;
        let count = statement.query_row([id], |row| row.get::<_, i64>(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The marks of `most` rows after the first `skip`.
    pub fn marks(
        self,
        connection: &Connection,
        id: &str,
        most: u64,
        skip: u64,
    ) -> rusqlite::Result<Marks> {
        let mut statement = connection.prepare_cached(&self.marks_sql())?;
        let bounds = (id, to_sql(most), to_sql(skip));
        statement.query_row(bounds, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// Whether rows are never changed in place.
    pub fn only_grows(self) -> bool {
        self.schema.changed == "0"
    }

    /// The statement that selects rows; see [`Lines`].
    pub fn rows(self, connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
        connection.prepare_cached(&self.rows_sql())
    }
}

/// Runs a statement of [`Tables::rows`]: the rows after the first `skip`. `give` is called with each and
/// returns whether to go on.
///
/// # Errors
///
/// One row that cannot be read ends it: those before it were given.
pub fn each_line(
    statement: &mut Statement<'_>,
    id: &str,
    skip: u64,
    give: &mut dyn FnMut(Line) -> bool,
) -> rusqlite::Result<()> {
    let mut rows = statement.query((id, i64::MAX, to_sql(skip)))?;
    while let Some(row) = rows.next()? {
        let line = Line {
            text: text(row, 0)?,
            is_settled: !matches!(row.get_ref(1)?, ValueRef::Integer(0)),
        };
        if !give(line) {
            break;
        }
    }
    Ok(())
}

fn to_sql(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(_) | ValueRef::Null => None,
    })
}

fn listed(row: &Row<'_>, columns: usize) -> rusqlite::Result<Option<Listed>> {
    let Some(id) = text(row, ID)? else {
        return Ok(None);
    };
    let mut version = Xxh3::new();
    for column in 0..columns {
        match row.get_ref(column)? {
            ValueRef::Null => version.update(b"null"),
            ValueRef::Integer(n) => version.update(&n.to_le_bytes()),
            ValueRef::Real(x) => version.update(&x.to_le_bytes()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => version.update(bytes),
        }
        version.update(b"\0");
    }
    let updated = match row.get_ref(UPDATED)? {
        ValueRef::Integer(ms) => u64::try_from(ms).ok(),
        ValueRef::Real(ms) if ms >= 0.0 => Some(ms as u64),
        _ => None,
    };
    Ok(Some(Listed {
        id,
        parent: text(row, PARENT)?,
        updated: updated
            .and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms))),
        version: version.digest(),
    }))
}
