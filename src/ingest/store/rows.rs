//! A place among the rows of a session: reads those that have come, and notices changes of the others.

use crate::bytes::lines;
use crate::bytes::patience::retry_while_busy;
use crate::bytes::source::Stamp;
use crate::bytes::text;
use crate::database::Database;
use crate::database::tables::{Limits, Line, Marks, Rows, Tables, and_one};
use crate::log::conversations::{Conversations, SearchLimits, decode};
use crate::log::reach::Reach;
use crate::log::{Cursor, LogEnd, LogFile, NewEntries, Reading, Store};
use crate::sidecar::DecoderWithSidecar;
use formats::StateUpdate;
use model::event::{EventSink, Measure, Place};
use model::lists::text::TextRequest;
use model::session::Coverage;
use model::window::Rules;
use rusqlite::Connection;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rows in a block. Changes are looked for block by block: in the last, unfinished one whenever there is
/// something new, in the others in turn, for at most [`LOOK_TIME`] at once.
const BLOCK_ROWS: u64 = 512;
const LOOK_TIME: Duration = Duration::from_millis(5);
/// The time without a write after which a last row that is not complete is read all the same: what runs in it may
/// take minutes.
const UNFINISHED_AGE: Duration = Duration::from_secs(60);
/// The number of rows that are read first for a gauge, and the factor if they are not enough.
const FIRST_ROWS: u64 = 16;
const ROWS_GROWTH: u64 = 8;
/// The marks of no rows.
const NO_MARKS: Marks = (0, None, None);
/// The rows that are searched.
const SEARCHED_ROWS: SearchLimits = SearchLimits {
    report: 8192,
    output: 1024,
    before: FIRST_ROWS,
};

/// Reads the rows of a session.
pub struct RowCursor {
    database: Arc<Database>,
    id: Arc<str>,
    decoder: DecoderWithSidecar,
    /// The line about the session that the decoder was given.
    header: Option<String>,
    /// Rows that were decoded, or passed over at the beginning.
    decoded: u64,
    /// Rows that were read after these, and are not decoded yet.
    read: VecDeque<Line>,
    /// A hash of the last row that was read, to notice another database in the place of this one.
    last: Option<u64>,
    marks: MarksRead,
    /// The session before the last rows were read, if there were no more.
    ended: Option<Stamp>,
    /// The session when all of it was decoded.
    seen: Option<Stamp>,
    /// The progress of reading.
    at: RowPosition,
    /// True if there is a last row that is not complete.
    is_waiting: bool,
}

/// The progress of a cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowPosition {
    Beginning,
    /// There are more rows.
    Middle,
    /// There are no more, but rows that were read before the last ones may have changed since.
    Unchecked,
    End,
}

/// The marks of the rows that were read.
struct MarksRead {
    /// Rows before the first of these.
    skip: u64,
    blocks: Vec<Marks>,
    /// The marks of the rows after the blocks.
    last: Marks,
    /// The number of blocks that are to be checked since the session has changed.
    due: usize,
    /// The last block that was.
    looked_at: usize,
}

/// The result of one read, as the database was at one moment.
enum Piece {
    /// Rows that were read before have changed.
    Changed,
    /// The line about the session, if it was read; rows; and of the marks how many blocks are still due, and which was
    /// looked at last.
    Rows(Option<Option<String>>, Rows, (usize, usize)),
}

impl RowCursor {
    /// Returns a cursor after the first rows.
    pub fn new(database: &Arc<Database>, id: &Arc<str>, log: &LogFile, skip: u64) -> RowCursor {
        RowCursor {
            database: Arc::clone(database),
            id: Arc::clone(id),
            decoder: log.decoder(),
            header: None,
            decoded: skip,
            read: VecDeque::new(),
            last: None,
            marks: MarksRead {
                skip,
                blocks: Vec::new(),
                last: NO_MARKS,
                due: 0,
                looked_at: 0,
            },
            ended: None,
            seen: None,
            at: RowPosition::Beginning,
            is_waiting: false,
        }
    }

    /// Returns the number of rows up to the last that was read.
    fn end(&self) -> u64 {
        self.decoded + self.read.len() as u64
    }

    /// Reads the next rows. Nothing is decoded before it is known that they count.
    fn read_piece(&self) -> io::Result<Piece> {
        self.database.read_piece(|connection, tables, limits| {
            let mut looked = (self.marks.due, self.marks.looked_at);
            let is_at_end = matches!(self.at, RowPosition::Unchecked | RowPosition::End);
            if is_at_end && self.has_changed((connection, tables), &mut looked)? {
                return Ok(Piece::Changed);
            }
            let header = match self.at {
                RowPosition::Middle => None,
                _ => Some(tables.header(connection, &self.id)?),
            };
            if let (Some(old), Some(new)) = (&self.header, &header)
                && concerns_what_was_read(old, new.as_deref())
            {
                return Ok(Piece::Changed);
            }
            let rows = self.rows((connection, tables), limits)?;
            Ok(rows.map_or(Piece::Changed, |rows| Piece::Rows(header, rows, looked)))
        })
    }

    /// Returns the rows after the last one; `None`: that is another one now.
    fn rows(
        &self,
        (connection, tables): (&Connection, Tables),
        limits: Limits,
    ) -> rusqlite::Result<Option<Rows>> {
        let Some(last) = self.last else {
            let rows = tables.rows(connection, &self.id, self.end(), limits)?;
            return Ok(Some(rows));
        };
        // That one and another.
        let limits = Limits { least: 2, ..limits };
        let mut rows = tables.rows(connection, &self.id, self.end() - 1, limits)?;
        let first = rows.lines.pop_front().and_then(|line| line.hash());
        Ok((first == Some(last)).then_some(rows))
    }

    /// Takes what was read: from here on it is only decoded.
    fn take(
        &mut self,
        header: Option<Option<String>>,
        mut rows: Rows,
        end: LogEnd,
        out: &mut EventSink<'_>,
    ) {
        if let Some(header) = header {
            if let Some(line) = header.as_deref().filter(|_| header != self.header) {
                self.decode(Place::default(), line, out);
            }
            self.header = header;
        }
        let is_unfinished = rows.lines.back().is_some_and(|line| !line.is_settled);
        self.is_waiting = is_unfinished && rows.is_all && end == LogEnd::Open;
        if self.is_waiting {
            rows.lines.pop_back();
        }
        for line in &rows.lines {
            self.last = line.hash();
            self.marks.add(line.mark);
        }
        self.read.append(&mut rows.lines);
    }

    /// Decodes rows that were read, and returns whether to pause.
    fn decode_rows(&mut self, out: &mut EventSink<'_>, pause: &mut dyn FnMut(u64) -> bool) -> bool {
        while let Some(line) = self.read.pop_front() {
            self.decoded += 1;
            let place = Place::of_line(self.decoded);
            match &line.text {
                Ok(Some(text)) => self.decode(place, text, out),
                Ok(None) => {
                    out.begin(place);
                    out.unreadable("the row has no text");
                }
                Err(why) => {
                    out.begin(place);
                    out.unreadable(why.clone());
                }
            }
            if pause(line.bytes() as u64) {
                return true;
            }
        }
        false
    }

    fn decode(&mut self, place: Place, line: &str, out: &mut EventSink<'_>) {
        let line = lines::Line::Bytes(line.as_bytes());
        decode(self.decoder.decoder.as_mut(), place, line, out);
    }

    /// Returns true if rows that were read have changed since.
    fn has_changed(
        &self,
        (connection, tables): (&Connection, Tables),
        (due, looked_at): &mut (usize, usize),
    ) -> rusqlite::Result<bool> {
        let begun = Instant::now();
        let marks = |most, skip| tables.marks(connection, &self.id, most, skip);
        let skip = self.marks.end();
        if marks(self.end() - skip, skip)? != self.marks.last {
            return Ok(true);
        }
        if tables.only_grows() {
            *due = 0;
        }
        while *due > 0 {
            *due -= 1;
            *looked_at = (*looked_at + 1) % self.marks.blocks.len();
            let skip = self.marks.skip + *looked_at as u64 * BLOCK_ROWS;
            if marks(BLOCK_ROWS, skip)? != self.marks.blocks[*looked_at] {
                return Ok(true);
            }
            // However slow the machine is, one of them is looked at.
            if begun.elapsed() >= LOOK_TIME {
                break;
            }
        }
        Ok(false)
    }
}

impl MarksRead {
    /// Returns the rows up to the end of the last block.
    fn end(&self) -> u64 {
        self.skip + self.blocks.len() as u64 * BLOCK_ROWS
    }

    fn add(&mut self, mark: Option<i64>) {
        self.last = and_one(self.last, mark);
        if self.last.0 == BLOCK_ROWS as i64 {
            self.blocks
                .push(std::mem::replace(&mut self.last, NO_MARKS));
        }
    }
}

impl Cursor for RowCursor {
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let mut out = EventSink::new(measure);
        if self.decoder.read_beside(&mut out) == StateUpdate::RereadLog {
            return Ok(NewEntries::Restart);
        }
        loop {
            if self.decode_rows(&mut out, pause) {
                return Ok(NewEntries::Batch(out.entries));
            }
            if let Some(stamp) = self.ended.take() {
                self.seen = Some(stamp);
                if !self.is_waiting {
                    self.decoder.decoder.read_end(&mut out);
                    if self.decoder.decoder.is_wrong() {
                        return Ok(NewEntries::Restart);
                    }
                }
                return Ok(NewEntries::Entries(out.entries));
            }
            let read = self.database.stamp(&self.id).and_then(|stamp| {
                if self.seen != Some(stamp) || self.at == RowPosition::Unchecked {
                    self.marks.due = self.marks.blocks.len();
                } else if end == LogEnd::Open && self.marks.due == 0 {
                    return Ok(None);
                }
                Ok(Some((stamp, self.read_piece()?)))
            });
            match read {
                // The entries that were decoded count.
                Err(_) if !out.entries.is_empty() => return Ok(NewEntries::Batch(out.entries)),
                Err(e) => return Err(e),
                Ok(None) => return Ok(NewEntries::Entries(out.entries)),
                Ok(Some((_, Piece::Changed))) => return Ok(NewEntries::Restart),
                Ok(Some((stamp, Piece::Rows(header, rows, looked)))) => {
                    (self.marks.due, self.marks.looked_at) = looked;
                    self.ended = rows.is_all.then_some(stamp);
                    self.at = match (rows.is_all, self.at) {
                        (false, _) => RowPosition::Middle,
                        (true, RowPosition::Middle) => RowPosition::Unchecked,
                        (true, _) => RowPosition::End,
                    };
                    self.take(header, rows, end, &mut out);
                }
            }
        }
    }

    fn keeps_place(&self) -> bool {
        true
    }

    fn is_incomplete(&self) -> bool {
        self.is_waiting && self.seen.is_some_and(|stamp| stamp.age() >= UNFINISHED_AGE)
    }

    fn has_sidecar_changes(&self) -> bool {
        self.marks.due > 0 || self.at == RowPosition::Unchecked || self.decoder.has_news()
    }
}

/// Returns true if the newer line about a session concerns rows that were read before: a fact is gone, which a decoder
/// cannot take back, or the line has a first list or object with content that was in the prompts from the beginning.
/// The session is then read again.
fn concerns_what_was_read(old: &str, new: Option<&str>) -> bool {
    if new == Some(old) {
        return false;
    }
    let facts = |line: &str| -> Map<String, Value> {
        let facts = serde_json::from_str(line).unwrap_or_default();
        Map::into_iter(facts)
            .filter(|(_, fact)| !fact.is_null())
            .collect()
    };
    let (old, new) = (facts(old), new.map(facts).unwrap_or_default());
    let has_lost = old.keys().any(|name| !new.contains_key(name));
    let has_more = |(name, fact): (&String, &Value)| {
        (fact.is_object() || fact.is_array()) && !old.contains_key(name)
    };
    has_lost || new.iter().any(has_more)
}

/// One session of a database.
pub struct SessionRows {
    database: Arc<Database>,
    id: Arc<str>,
}

impl SessionRows {
    /// Returns the session with this id.
    pub fn new(database: &Arc<Database>, id: &Arc<str>) -> SessionRows {
        SessionRows {
            database: Arc::clone(database),
            id: Arc::clone(id),
        }
    }
}

impl Store for SessionRows {
    fn stamp(&self) -> io::Result<Stamp> {
        self.database.stamp(&self.id)
    }

    fn listed(&self) -> Option<Stamp> {
        self.database.listed(&self.id)
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        self.database.head()
    }

    fn is_one_of_several(&self) -> bool {
        true
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        Box::new(RowCursor::new(&self.database, &self.id, log, 0))
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<String> {
        let line = self.database.line(&self.id, wanted.place.line())?;
        text::in_record(log.format, wanted, line.as_bytes())
    }

    /// Reads the last rows, as many as a first gauge needs.
    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
        _: Reach,
    ) -> io::Result<Reading> {
        let count = retry_while_busy(|| {
            self.database
                .read(|connection, tables| tables.count(connection, &self.id))
        })?;
        let mut size = FIRST_ROWS;
        loop {
            let skip = count.saturating_sub(size);
            let coverage = match skip {
                0 => Coverage::Whole,
                _ => Coverage::Tail,
            };
            let conversations = Conversations::new(&log.facts, rules, coverage);
            let cursor = Box::new(RowCursor::new(&self.database, &self.id, log, skip));
            let mut reading = Reading::new(conversations, cursor).to_end(measure)?;
            if skip == 0 || reading.conversations.suffice(size, &SEARCHED_ROWS) {
                return Ok(reading);
            }
            size *= ROWS_GROWTH;
        }
    }
}
