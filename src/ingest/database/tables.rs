//! The statements of a schema, and what they return.

use formats::database::{DatabaseSpec, Schema};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The columns of [`Schema::sessions`].
const ID_COLUMN: usize = 0;
const PARENT_COLUMN: usize = 1;
const UPDATED_COLUMN: usize = 2;

/// The longest id, in bytes. A row with a longer one is no session: a view can make any number of such rows.
const LONGEST_ID: usize = 1024;
/// The most sessions that are listed, 160 MB of them.
const MOST_SESSIONS: usize = 1 << 20;

/// A schema whose statements a database accepts.
#[derive(Clone, Copy)]
pub struct Tables {
    schema: &'static Schema,
    /// Of each of its optional columns, by its place among them, a bit that is set if the database does not have it.
    missing: u64,
    /// True if it is the first, and has sessions.
    pub is_final: bool,
}

/// A session of a database.
pub struct SessionRow {
    pub id: String,
    pub parent: Option<String>,
    /// The time at which it was last written to.
    pub updated: Option<SystemTime>,
    /// A hash of its row.
    pub version: u64,
}

/// The marks that change when rows are changed in place: the number of rows, the largest of their marks, and the sum.
pub type Marks = (i64, Option<i64>, Option<i64>);

/// Returns the marks of these rows and one more.
pub fn and_one(marks: Marks, mark: Option<i64>) -> Marks {
    let (count, largest, sum) = marks;
    let sum = match mark {
        Some(mark) => Some(sum.unwrap_or(0) + (mark & 0xffff_ffff)),
        None => sum,
    };
    (count + 1, largest.max(mark), sum)
}

/// A row of a session.
pub struct Line {
    /// `None`: the database has no text for it. An error: why it cannot be read.
    pub text: Result<Option<String>, String>,
    pub is_settled: bool,
    pub mark: Option<i64>,
}

impl Line {
    /// Returns a hash of its text, if it has one.
    pub fn hash(&self) -> Option<u64> {
        let text = self.text.as_ref().ok()?.as_deref();
        Some(xxh3_64(text.unwrap_or_default().as_bytes()))
    }

    /// Returns the bytes of its text.
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().ok().and_then(Option::as_ref);
        text.map_or(0, String::len)
    }
}

/// Rows that follow each other.
#[derive(Default)]
pub struct Rows {
    pub lines: VecDeque<Line>,
    /// True if there are no more.
    pub is_all: bool,
}

/// The limits at which rows end though there are more.
#[derive(Clone, Copy)]
pub struct Limits {
    /// This many rows are read, however long they are.
    pub least: usize,
    pub rows: u64,
    pub bytes: usize,
    pub time: Duration,
}

impl Tables {
    /// Returns the first schema that fits and has sessions; the first that fits if none has; otherwise why the first
    /// does not. A newer version may have made its tables before it uses them.
    pub fn of(connection: &Connection, spec: &DatabaseSpec) -> Result<Tables, rusqlite::Error> {
        let (mut error, mut empty) = (None, None);
        for schema in spec.schemas {
            let mut tables = Tables {
                schema,
                missing: 0,
                is_final: empty.is_none() && error.is_none(),
            };
            match tables.check(connection) {
                // Their problems show when they are listed.
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

    fn has_sessions(self, connection: &Connection) -> rusqlite::Result<bool> {
        connection.prepare(&self.sessions_sql())?.exists(())
    }

    /// Prepares all statements, without the optional columns that the database does not have.
    fn check(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        loop {
            let statements = [
                self.sessions_sql(),
                self.header_sql(),
                self.rows_sql().into(),
                self.marks_sql().into(),
                self.count_sql().into(),
            ];
            let mut statements = statements.iter();
            let Err(error) = statements.try_for_each(|sql| connection.prepare(sql).map(|_| ()))
            else {
                return Ok(());
            };
            let missing = self.missing | self.optional_in(&error.to_string());
            if missing == self.missing {
                return Err(error);
            }
            self.missing = missing;
        }
    }

    /// Returns the bit of the optional column that an error says is missing; 0: it says something else.
    fn optional_in(self, error: &str) -> u64 {
        let Some((_, rest)) = error.split_once("no such column: ") else {
            return 0;
        };
        let column = rest.split(' ').next().unwrap_or_default();
        let place = self.schema.optional.iter().position(|name| *name == column);
        place.map_or(0, |place| 1 << place)
    }

    /// Returns SQL of the schema with NULL for the columns that are missing.
    fn fit(self, sql: &'static str) -> Cow<'static, str> {
        let columns = self.schema.optional.iter().enumerate();
        let missing = columns.filter(|(place, _)| self.missing >> place & 1 == 1);
        missing.fold(sql.into(), |sql, (_, column)| {
            sql.replace(column, "NULL").into()
        })
    }

    fn sessions_sql(self) -> Cow<'static, str> {
        self.fit(self.schema.sessions)
    }

    fn header_sql(self) -> Cow<'static, str> {
        self.fit(self.schema.header)
    }

    /// Selects this of the rows after the first `?3`, `?2` at most. What is sorted are the row's numbers: the rows may be
    /// too many for the memory.
    fn select(self, what: &str) -> String {
        let Schema { from, order, .. } = self.schema;
        let of = format!("FROM {from} ORDER BY {order} LIMIT ?2 OFFSET ?3");
        match self.table() {
            Some(table) => format!(
                "SELECT {what} FROM (SELECT rowid AS row_number {of}) AS n CROSS JOIN {table} AS r \
                 ON r.rowid = n.row_number"
            ),
            None => format!("SELECT {what} FROM (SELECT * {of}) AS r"),
        }
    }

    /// Returns the table that the rows are in, if it is one.
    fn table(self) -> Option<&'static str> {
        let (table, rest) = self.schema.from.split_once(' ')?;
        (rest.starts_with("WHERE ") && !table.starts_with('(')).then_some(table)
    }

    fn rows_sql(self) -> String {
        let [line, settled] = [self.schema.line, self.schema.settled].map(|sql| self.fit(sql));
        self.select(&format!("{line}, {settled}, {}", self.mark_sql()))
    }

    fn mark_sql(self) -> String {
        format!("CAST(({}) AS INTEGER)", self.fit(self.schema.changed))
    }

    fn marks_sql(self) -> String {
        let marked = self.select(&format!("{} AS mark", self.mark_sql()));
        format!("SELECT count(*), max(mark), sum(mark & 4294967295) FROM ({marked})")
    }

    fn count_sql(self) -> String {
        format!("SELECT count(*) FROM {}", self.schema.from)
    }

    /// Returns all sessions.
    pub fn sessions(self, connection: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
        let mut statement = connection.prepare_cached(&self.sessions_sql())?;
        let columns = statement.column_count();
        let mut rows = statement.query(())?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            if sessions.len() == MOST_SESSIONS {
                return Err(too_many());
            }
            sessions.extend(listed(row, columns)?);
        }
        Ok(sessions)
    }

    /// Returns one session.
    pub fn session(
        self,
        connection: &Connection,
        id: &str,
    ) -> rusqlite::Result<Option<SessionRow>> {
        let all = self.sessions_sql();
        // SQLite applies the condition where the sessions are selected.
        let named = connection
            .prepare_cached(&all)?
            .column_name(ID_COLUMN)?
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

    /// Returns the line about a session.
    pub fn header(self, connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
        let mut statement = connection.prepare_cached(&self.header_sql())?;
        let header = statement.query_row([id], |row| text(row, 0));
        Ok(header.optional()?.flatten())
    }

    /// Returns the number of a session's rows.
    pub fn count(self, connection: &Connection, id: &str) -> rusqlite::Result<u64> {
        let mut statement = connection.prepare_cached(&self.count_sql())?;
        let count = statement.query_row([id], |row| row.get::<_, i64>(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Returns the marks of `most` rows after the first `skip`.
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

    /// Returns true if rows are never changed in place.
    pub fn only_grows(self) -> bool {
        self.schema.changed == "0"
    }

    /// Returns the rows after the first `skip`. If there are more, the last one is followed by another: its writer has
    /// gone on.
    pub fn rows(
        self,
        connection: &Connection,
        id: &str,
        skip: u64,
        limits: Limits,
    ) -> rusqlite::Result<Rows> {
        let begun = Instant::now();
        let mut statement = connection.prepare_cached(&self.rows_sql())?;
        let (mut read, mut bytes) = (Rows::default(), 0);
        loop {
            let count = read.lines.len() as u64;
            let at = skip.saturating_add(count);
            let mut rows = statement.query((id, to_sql(limits.rows - count), to_sql(at)))?;
            let error = loop {
                match rows.next().and_then(|row| row.map(line).transpose()) {
                    Ok(None) => {
                        read.is_all = (read.lines.len() as u64) < limits.rows;
                        return Ok(read);
                    }
                    Ok(Some(_)) if is_enough(&read, bytes, begun, limits) => return Ok(read),
                    Ok(Some(line)) => {
                        bytes += line.bytes();
                        read.lines.push_back(line);
                    }
                    Err(e) => break e,
                }
            };
            drop(rows);
            let at = skip.saturating_add(read.lines.len() as u64);
            let (count, mark, _) = self.marks(connection, id, 1, at)?;
            if !is_of_one_row(&error) || count == 0 {
                return Err(error);
            }
            read.lines.push_back(Line {
                text: Err(error.to_string()),
                is_settled: true,
                mark,
            });
        }
    }
}

fn is_enough(read: &Rows, bytes: usize, begun: Instant, limits: Limits) -> bool {
    read.lines.len() >= limits.least && (bytes >= limits.bytes || begun.elapsed() >= limits.time)
}

fn line(row: &Row<'_>) -> rusqlite::Result<Line> {
    Ok(Line {
        text: Ok(text(row, 0)?),
        is_settled: !matches!(row.get_ref(1)?, ValueRef::Integer(0)),
        mark: row.get(2)?,
    })
}

/// Returns true if the error is of a row that cannot be read, and not of the database: the row is too long, or the SQL
/// that makes its line fails on its content.
fn is_of_one_row(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            failure.code == ErrorCode::TooBig
                || failure.extended_code == rusqlite::ffi::SQLITE_ERROR
        }
        _ => false,
    }
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

fn too_many() -> rusqlite::Error {
    let failure = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_TOOBIG);
    let why = format!("it has more than {MOST_SESSIONS} sessions");
    rusqlite::Error::SqliteFailure(failure, Some(why))
}

/// Returns an id; `None`: it is none.
fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) if text.len() > LONGEST_ID => Ok(None),
        _ => text(row, column),
    }
}

fn listed(row: &Row<'_>, columns: usize) -> rusqlite::Result<Option<SessionRow>> {
    let Some(id) = id(row, ID_COLUMN)? else {
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
    let updated = match row.get_ref(UPDATED_COLUMN)? {
        ValueRef::Integer(ms) => u64::try_from(ms).ok(),
        ValueRef::Real(ms) if ms >= 0.0 => Some(ms as u64),
        _ => None,
    };
    Ok(Some(SessionRow {
        id,
        parent: self::id(row, PARENT_COLUMN)?,
        updated: updated
            .and_then(|ms| SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms))),
        version: version.digest(),
    }))
}
