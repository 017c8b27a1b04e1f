//! The summary of a session, stored and read again between the pieces of its log, shows what the session does.

use super::decoders::named;
use super::first_line;
use super::sessions::RULES;
use super::tail::{append_share, log_file};
use ctxgauge::ingest::bytes::lines::Progress;
use ctxgauge::ingest::index::{restore, value};
use ctxgauge::ingest::log::conversations::{LogSessions, summaries_of};
use ctxgauge::ingest::log::reader::tail_only;
use ctxgauge::ingest::log::{LogFile, Reading};
use ctxgauge::model::event::ByLength;
use ctxgauge::model::lists::gauge::SessionGauge;
use ctxgauge::model::outlook::forecast::forecast;
use ctxgauge::model::window::Overrides;
use std::fs;
use std::sync::Arc;

/// The most pieces that a log comes in.
const PIECES: usize = 16;
/// A window that the user sets.
const WINDOW: u64 = 50_000;

/// The first line of an input is how large the pieces of its log are. The rest is as in [`crate::decoders`]; the log is of
/// lines.
pub fn check(input: &[u8]) {
    let (pieces, log) = first_line(input);
    let (format, log) = named(log);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("log");
    fs::write(&path, "").expect("a file");
    let file = log_file(format, &path);
    let mut written = 0;
    let letters = pieces.iter().filter(|piece| piece.is_ascii_lowercase());
    for piece in letters.take(PIECES) {
        written = append_share(&path, log, written, *piece);
        shows_the_same(&file, read(&file));
        if let Ok(sessions) = tail_only(&file, &RULES) {
            shows_the_same(&file, sessions);
        }
    }
}

/// Reads a log from its beginning, as far as it is complete.
fn read(log: &LogFile) -> LogSessions {
    let mut reading = Reading::whole(log, &RULES);
    let progress = reading.step(&ByLength, &mut || false);
    assert_eq!(progress.expect("a file"), Progress::Done);
    reading.finish().0
}

fn shows_the_same(log: &LogFile, mut sessions: LogSessions) {
    let stored = value(&summaries_of(&sessions));
    let read = restore(&stored, log.format.id).expect("what was stored");
    assert_eq!(read.len(), sessions.len());
    for ((conversation, session), (of, summary)) in sessions.iter_mut().zip(read) {
        assert_eq!(*conversation, of);
        let mut gauge = SessionGauge::new(summary, Arc::clone(&RULES), Overrides::none());
        assert_eq!(gauge.context, session.context());
        assert_eq!(*gauge.limits(), session.limits());
        assert_eq!(gauge.forecast_then(), forecast(session, None));
        gauge.set_window(Some(WINDOW));
        session.set_window(Some(WINDOW));
        assert_eq!(*gauge.limits(), session.limits());
    }
}
