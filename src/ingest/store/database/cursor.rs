//! A place among the rows of a session: reads those that have come, and notices changes of the others.

use super::Database;
use super::tables::{Line, Marks, Tables, each_line};
use crate::agents::StateUpdate;
use crate::ingest::discover::LogFile;
use crate::ingest::lines;
use crate::ingest::reader::{Lanes, Reading, Searched, decode};
use crate::ingest::sidecar::DecoderWithSidecar;
use crate::ingest::store::{Cursor, End, News, Stamp};
use crate::model::event::{Measure, Place, Sink};
use crate::model::session::Coverage;
use crate::model::window::Rules;
use rusqlite::{Connection, ErrorCode};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows are looked at for changes in blocks of so many: those of the last, unfinished block whenever there is
/// something new, those of the others in turn, for so long at once.
const BLOCK: u64 = 512;
const LOOK: Duration = Duration::from_millis(5);
/// A last row that is not complete is read as it is when nothing was written for so long: what runs in it may take
/// minutes.
const UNFINISHED: Duration = Duration::from_secs(60);
/// Rows that are read first for a gauge, and how many times more if they are not enough.
const FIRST: u64 = 16;
const GROWTH: u64 = 8;
/// What is searched, in rows.
const SEARCHED: Searched = Searched {
    report: 8192,
    output: 1024,
    before: FIRST,
};

/// Reads the rows of a session.
pub struct RowCursor {
    database: Arc<Database>,
    id: Arc<str>,
    decoder: DecoderWithSidecar,
    /// The line about the session that the decoder was given.
    header: Option<String>,
    has_begun: bool,
    /// Rows that were read, or passed over at the beginning.
    read: u64,
    /// A hash of the last row of these, to notice another database in the place of this one.
    last: Option<u64>,
    marks: MarksRead,
    /// The session when all of it was read.
    seen: Option<Stamp>,
    /// Whether there is a last row that is not complete.
    is_waiting: bool,
    /// Whether rows were decoded whose entries were lost with an error.
    is_broken: bool,
}

/// The marks of the rows that were read.
struct MarksRead {
    /// Rows before the first of these.
    skip: u64,
    blocks: Vec<Marks>,
    /// The marks of the rows after the blocks.
    last: Marks,
    /// How many blocks are to be looked at since the session has changed.
    due: usize,
    /// The last block that was.
    looked_at: usize,
}

/// How reading ended.
enum Ended {
    /// There are no more rows.
    All,
    Paused,
    Changed,
}

impl RowCursor {
    /// A cursor after the first rows.
    pub fn new(database: &Arc<Database>, id: &Arc<str>, log: &LogFile, skip: u64) -> RowCursor {
        RowCursor {
            database: Arc::clone(database),
            id: Arc::clone(id),
            decoder: DecoderWithSidecar::new(log),
            header: None,
            has_begun: false,
            read: skip,
            last: None,
            marks: MarksRead {
                skip,
                blocks: Vec::new(),
                last: (0, None, None),
                due: 0,
                looked_at: 0,
            },
            seen: None,
            is_waiting: false,
            is_broken: false,
        }
    }

    /// Reads what is new, in one transaction.
    fn read_rows(
        &mut self,
        (connection, tables): (&Connection, Tables),
        end: End,
        out: &mut Sink<'_>,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> rusqlite::Result<Ended> {
        if self.has_begun && self.has_changed(connection, tables)? {
            return Ok(Ended::Changed);
        }
        let mut last = self.last;
        let id = Arc::clone(&self.id);
        let header = tables.header(connection, &id)?;
        let mut statement = tables.rows(connection)?;
        // What is decoded from here on is lost if there is an error.
        self.is_broken = true;
        self.has_begun = true;
        if let Some(line) = header.as_deref().filter(|_| header != self.header) {
            self.decode(Place::default(), line, out);
        }
        self.header = header;
        // A row is decoded when the next one is there, or is known not to be.
        let mut held: Option<Line> = None;
        let (mut is_paused, mut is_other) = (false, false);
        loop {
            let skip = self.read - u64::from(last.is_some());
            let given = each_line(&mut statement, &id, skip, &mut |line| {
                if let Some(hash) = last.take() {
                    is_other = hash != line.hash();
                    return !is_other;
                }
                if let Some(line) = held.replace(line) {
                    is_paused = self.decode_row(&line, out, pause);
                }
                !is_paused
            });
            let Err(e) = given else { break };
            if !is_of_one_row(&e) || last.is_some() {
                return Err(e);
            }
            if let Some(line) = held.take() {
                self.decode_row(&line, out, pause);
            }
            self.read += 1;
            self.last = None;
            out.begin(place(self.read));
            out.unreadable(e.to_string());
        }
        if is_other {
            return Ok(Ended::Changed);
        }
        let last = held.filter(|_| !is_paused);
        self.is_waiting = last.as_ref().is_some_and(|line| !line.is_settled) && end == End::Open;
        if let Some(line) = last.filter(|_| !self.is_waiting) {
            self.decode_row(&line, out, pause);
        }
        self.mark(connection, tables)?;
        self.is_broken = false;
        Ok(if is_paused { Ended::Paused } else { Ended::All })
    }

    /// Decodes a row and returns whether to pause.
    fn decode_row(
        &mut self,
        line: &Line,
        out: &mut Sink<'_>,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        self.read += 1;
        self.last = Some(line.hash());
        let place = place(self.read);
        match &line.text {
            Some(text) => self.decode(place, text, out),
            None => {
                out.begin(place);
                out.unreadable("the row has no text");
            }
        }
        pause(line.text.as_ref().map_or(0, String::len) as u64)
    }

    fn decode(&mut self, place: Place, line: &str, out: &mut Sink<'_>) {
        let line = lines::Line::Bytes(line.as_bytes());
        decode(self.decoder.decoder.as_mut(), place, line, out);
    }

    /// Whether rows that were read have changed since.
    fn has_changed(&mut self, connection: &Connection, tables: Tables) -> rusqlite::Result<bool> {
        let begun = Instant::now();
        if self.last_marks(connection, tables)? != self.marks.last {
            return Ok(true);
        }
        while self.marks.due > 0 {
            self.marks.due -= 1;
            let at = (self.marks.looked_at + 1) % self.marks.blocks.len();
            self.marks.looked_at = at;
            let skip = self.marks.skip + at as u64 * BLOCK;
            if tables.marks(connection, &self.id, BLOCK, skip)? != self.marks.blocks[at] {
                return Ok(true);
            }
            // However slow the machine is, one of them is looked at.
            if begun.elapsed() >= LOOK {
                break;
            }
        }
        Ok(false)
    }

    /// Takes the marks of the rows that were read since.
    fn mark(&mut self, connection: &Connection, tables: Tables) -> rusqlite::Result<()> {
        while let skip = self.marks.end()
            && self.read - skip >= BLOCK
            && !tables.only_grows()
        {
            let block = tables.marks(connection, &self.id, BLOCK, skip)?;
            self.marks.blocks.push(block);
        }
        self.marks.last = self.last_marks(connection, tables)?;
        Ok(())
    }

    /// The marks of the rows after the blocks, now; of the last block's number of them if there are no blocks.
    fn last_marks(&self, connection: &Connection, tables: Tables) -> rusqlite::Result<Marks> {
        let skip = self.marks.end().max(self.read.saturating_sub(BLOCK));
        tables.marks(connection, &self.id, self.read - skip, skip)
    }
}

impl MarksRead {
    /// Rows up to the end of the last block.
    fn end(&self) -> u64 {
        self.skip + self.blocks.len() as u64 * BLOCK
    }
}

impl Cursor for RowCursor {
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: End,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<News> {
        let mut out = Sink::new(measure);
        if self.is_broken || self.decoder.read_beside(&mut out) == StateUpdate::RereadLog {
            return Ok(News::Restart);
        }
        let stamp = self.database.stamp(&self.id)?;
        if self.seen != Some(stamp) {
            self.marks.due = self.marks.blocks.len();
        } else if end == End::Open && self.marks.due == 0 {
            return Ok(News::Entries(out.entries));
        }
        let database = Arc::clone(&self.database);
        let ended = database.read(|connection, tables| {
            self.read_rows((connection, tables), end, &mut out, pause)
        })?;
        Ok(match ended {
            Ended::Changed => News::Restart,
            Ended::Paused => News::Batch(out.entries),
            Ended::All => {
                self.seen = Some(stamp);
                if !self.is_waiting {
                    self.decoder.decoder.read_end(&mut out);
                }
                News::Entries(out.entries)
            }
        })
    }

    fn is_incomplete(&self) -> bool {
        self.is_waiting && self.seen.is_some_and(|stamp| stamp.age() >= UNFINISHED)
    }

    fn has_news_beside(&self) -> bool {
        self.marks.due > 0 || self.decoder.has_news()
    }
}

/// Reads the last rows, as many as a first gauge needs.
pub fn tail(
    database: &Arc<Database>,
    id: &Arc<str>,
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<Reading> {
    let count = database.read(|connection, tables| tables.count(connection, id))?;
    let mut size = FIRST;
    loop {
        let skip = count.saturating_sub(size);
        let coverage = match skip {
            0 => Coverage::Whole,
            _ => Coverage::Tail,
        };
        let mut lanes = Lanes::new(log, rules, coverage);
        let mut cursor = RowCursor::new(database, id, log, skip);
        match cursor.read(measure, End::Open, &mut |_| false)? {
            News::Entries(entries) => lanes.apply(entries),
            _ => return Err(io::ErrorKind::WouldBlock.into()),
        }
        if skip == 0 || lanes.suffice(size, &SEARCHED) {
            return Ok(Reading::new(lanes, Box::new(cursor)));
        }
        size *= GROWTH;
    }
}

/// The place of a row, by its number.
fn place(row: u64) -> Place {
    Place {
        line: row,
        ..Place::default()
    }
}

/// Whether it is a row that cannot be read, and not the database: the row is too long, or the SQL that makes
/// its line fails on what it holds.
fn is_of_one_row(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            failure.code == ErrorCode::TooBig
                || failure.extended_code == rusqlite::ffi::SQLITE_ERROR
        }
        _ => false,
    }
}
