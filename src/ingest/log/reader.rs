//! Logs that are read through, for reports.

use crate::bytes::lines::Progress;
use crate::bytes::source::{self, file_system::Location};
use crate::log::conversations::{Conversations, LogSessions};
use crate::log::reach::Reach;
use crate::log::{LogEnd, LogFile, OnEntry, Reading, Recent};
use model::event::{ByLength, Entry, Measure};
use model::session::{Coverage, Session};
use model::window::Rules;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Returns the first bytes of a file, decompressed if need be.
pub fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    source::beginning(&*source::file(&Location::here(path)), most)
}

/// Reads a log through, for reports: every record counts, an incomplete last one too.
pub fn read_whole(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<LogSessions> {
    read_through(|| Reading::whole(log, rules), measure)
}

/// Like [`read_whole`], but for reports that need no earlier state.
pub fn read_once(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
) -> io::Result<LogSessions> {
    read_through(|| Reading::once(log, rules), measure)
}

/// Reads the beginning of a log, until each session in it has enough.
///
/// # Errors
///
/// If the log cannot be read.
pub fn read_until(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
    is_enough: impl Fn(&Session) -> bool,
) -> io::Result<LogSessions> {
    let mut reading = Reading::once(log, rules);
    loop {
        let mut records = 0;
        let mut pause = || {
            records += 1;
            records >= RECORDS_AT_ONCE
        };
        match reading.step(measure, &mut pause)? {
            Progress::More if !reading.conversations.sessions().all(&is_enough) => {}
            _ => return Ok(reading.finish().0),
        }
    }
}

/// So many records are read before it is asked whether they are enough.
const RECORDS_AT_ONCE: usize = 64;

fn read_through(begin: impl Fn() -> Reading, measure: &dyn Measure) -> io::Result<LogSessions> {
    let mut tries = 0;
    loop {
        let mut reading = begin();
        match reading.step(measure, &mut || false)? {
            Progress::Restart if tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => {
                reading.settle_now(measure)?;
                return Ok(reading.finish().0);
            }
        }
    }
}

/// Reads of a whole log only what [concerns usage](model::event::Event::of_usage), and passes that on: for totals, which need none of
/// its texts.
pub fn each_usage(log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
    log.store.usage(log, give)
}

/// Reads a log once as [`read_once`] and [`each_usage`] do.
pub fn read_with_usage(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
    give: &mut OnEntry<'_>,
) -> io::Result<LogSessions> {
    let mut conversations = Conversations::new(&log.facts, rules, Coverage::Whole).finally();
    log.store.entries(log, measure, &mut |entries| {
        entries
            .iter()
            .filter_map(Entry::of_usage)
            .for_each(&mut *give);
        conversations.apply(entries);
        ControlFlow::Continue(())
    })?;
    conversations.check_records()?;
    Ok(conversations.into_sessions())
}

/// Returns the entries of the first `most` records of a log, to show how it is read.
pub fn first_records(log: &LogFile, measure: &dyn Measure, most: usize) -> io::Result<Vec<Entry>> {
    let most = most as u64;
    let mut first = Vec::new();
    log.store.entries(log, measure, &mut |entries| {
        let is_enough = entries
            .last()
            .is_some_and(|entry| entry.place.line() > most);
        first.extend(
            entries
                .into_iter()
                .filter(|entry| entry.place.line() <= most),
        );
        if is_enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(first)
}

/// Reads the part of a log that the screens read first: its beginning and its end, for its name.
pub fn glance(log: &LogFile, rules: &Arc<Rules>) -> io::Result<LogSessions> {
    let reading = log.store.tail(log, &ByLength, rules, Reach::SCREEN)?;
    Ok(reading.finish().0)
}

/// Returns the part of a log that a status line is made from: its last epochs, or all of a small one; the end alone
/// where the newest epoch is long.
pub fn recent(log: &LogFile, measure: &dyn Measure, rules: &Arc<Rules>) -> io::Result<LogSessions> {
    if let Some(mut reading) = log.store.epochs_within(log, rules, RECENT)?
        && reading.step(measure, &mut || false)? == Progress::Done
    {
        reading.settle(log, measure)?;
        return Ok(reading.finish().0);
    }
    // The newest epoch is long, or the log is replaced right now.
    tail(log, measure, rules, LogEnd::Open)
}

/// The part of a log's end that a status line reads. A record takes about 6 µs and a megabyte 1 ms besides; an epoch of
/// 200,000 tokens has up to 3 MB.
const RECENT: Recent = Recent {
    records: 1_500,
    bytes: 6 << 20,
};

/// Returns the end of a log, enough for its gauge: back to its newest usage report.
pub fn tail_only(log: &LogFile, rules: &Arc<Rules>) -> io::Result<LogSessions> {
    tail(log, &ByLength, rules, LogEnd::Open)
}

/// Like [`tail_only`], but with a last record that its agent may still be writing: it contains the call that the agent
/// carries out.
pub fn tail_to_end(log: &LogFile, rules: &Arc<Rules>) -> io::Result<LogSessions> {
    tail(log, &ByLength, rules, LogEnd::Complete)
}

fn tail(
    log: &LogFile,
    measure: &dyn Measure,
    rules: &Arc<Rules>,
    end: LogEnd,
) -> io::Result<LogSessions> {
    let mut reading = match log.store.tail(log, measure, rules, Reach::ALL) {
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
            return read_once(log, measure, rules);
        }
        reading => reading?,
    };
    match end {
        LogEnd::Open => reading.settle(log, measure)?,
        LogEnd::Complete => reading.settle_now(measure)?,
    }
    Ok(reading.finish().0)
}
