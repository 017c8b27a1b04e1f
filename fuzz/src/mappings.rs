//! Any mapping reads any log, and the draft for any log is a mapping that recognises it.

use super::sessions::{RULES, check as check_sessions, fold, read_lines};
use ctxgauge::agents::custom::{Draft, Mapping};
use ctxgauge::formats::Format;
use ctxgauge::model::event::{ByLength, EventSink};
use std::sync::{Mutex, PoisonError};

/// Between a mapping and its log.
pub const THEN: &[u8] = b"\n# log\n";

static KEPT: Mutex<Vec<&Format>> = Mutex::new(Vec::new());

/// An input is a mapping, [`THEN`], and a log.
pub fn check(input: &[u8]) {
    let at = input.windows(THEN.len()).position(|bytes| bytes == THEN);
    let (mapping, log) = match at {
        Some(at) => (&input[..at], &input[at + THEN.len()..]),
        None => (input, &[][..]),
    };
    if let Some(draft) = Draft::of(&String::from_utf8_lossy(log)) {
        let drafted = Mapping::read("draft", &draft.mapping).expect("a mapping");
        read(drafted.into_format(), log);
    }
    let Ok(mapping) = std::str::from_utf8(mapping) else {
        return;
    };
    let mapping: Mapping = match toml::from_str(mapping) {
        Ok(mapping) => mapping,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    read(mapping.into_format(), log);
}

fn read(format: &'static Format, log: &[u8]) {
    // Formats are kept for as long as the program runs, which is no leak.
    KEPT.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(format);
    let _ = format.recognise(log);
    let lines = read_lines(format.decoder().as_mut(), log);
    check_sessions(&fold(format, &RULES, lines));
    let mut out = EventSink::new(&ByLength);
    format
        .decoder()
        .read_document(&String::from_utf8_lossy(log), &mut out);
    check_sessions(&fold(format, &RULES, out.entries));
}
