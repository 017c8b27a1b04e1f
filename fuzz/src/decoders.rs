//! Every decoder reads any log, and what is beside it, and the sessions hold.

use super::first_line;
use super::sessions::{RULES, check as check_sessions, fold, read_document, read_lines};
use ctxgauge::formats::Format;
use ctxgauge::model::event::{ByLength, EventSink};
use ctxgauge::{agents, decode};

/// The first line of an input is the id of a format, the rest a log, a document, or a file beside one. Without
/// an id it is a log that is recognised, or else of the first format.
pub fn check(input: &[u8]) {
    let (format, log) = named(input);
    let lines = read_lines(format.decoder().as_mut(), log);
    check_sessions(&fold(format, &RULES, lines));

    check_sessions(&fold(format, &RULES, read_document(format, log)));

    beside(format, log);
}

/// The format that an input names, and the log in it.
pub fn named(input: &[u8]) -> (&'static Format, &[u8]) {
    let (id, log) = first_line(input);
    match std::str::from_utf8(id).ok().and_then(agents::by_id) {
        Some(format) => (format, log),
        None => (agents::recognise(input).unwrap_or(agents::ALL[0]), input),
    }
}

fn beside(format: &Format, file: &[u8]) {
    if let Some(settings) = format.settings {
        let _ = (settings.read)(&[file, file]);
    }
    if let Some(registry) = format.beside.registry {
        let _ = (registry.read)(file);
    }
    for root in format.roots {
        if let Some(listing) = root.listing {
            let _ = (listing.read)(file);
        }
    }
    let mut decoder = format.decoder();
    let mut out = EventSink::new(&ByLength);
    decoder.read_state(&decode::text(file), &mut out);
    if let Some(sidecar) = format.beside.sidecar {
        let lines = file.split(|byte| *byte == b'\n');
        let mut records: Vec<_> = lines.clone().filter_map(sidecar.read).collect();
        if let Some(database) = sidecar.database {
            records.extend(lines.filter_map(database.read));
        }
        decoder.read_sidecar(&records);
    }
    let mut entries = read_lines(decoder.as_mut(), file);
    entries.splice(0..0, out.entries);
    check_sessions(&fold(format, &RULES, entries));
}
