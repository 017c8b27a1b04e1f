//! What the decoders' tests share.

use formats::Format;
use model::event::{ByLength, Conversation, Entry, Event, EventSink, Place};
use model::session::Session;
use model::window::Rules;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The text of a file below `tests/fixtures`.
macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/", $path))
    };
}
pub(crate) use fixture;

/// The entries of these lines of a log.
pub fn read<L: AsRef<str>>(format: &Format, lines: impl IntoIterator<Item = L>) -> Vec<Entry> {
    let mut decoder = format.decoder();
    let mut out = EventSink::new(&ByLength);
    let mut offset = 0;
    for (line, text) in (1..).zip(lines) {
        let bytes = text.as_ref().as_bytes();
        let len = bytes.len() as u64;
        let place = Place::new(line, offset, len);
        out.begin(place);
        if !bytes.trim_ascii().is_empty() {
            decoder.read_line(&String::from_utf8_lossy(bytes), &mut out);
        }
        offset += len + 1;
    }
    out.entries
}

/// The entries of rows of a database, each with its line: 0 is the session's header, which is read again at
/// every change.
pub fn read_rows(
    format: &Format,
    rows: impl IntoIterator<Item = (u64, String)>,
) -> (Vec<Entry>, Vec<Event>) {
    let mut decoder = format.decoder();
    let mut out = EventSink::new(&ByLength);
    for (line, text) in rows {
        out.begin(Place::of_line(line));
        decoder.read_line(&text, &mut out);
    }
    let entries = std::mem::take(&mut out.entries);
    decoder.read_end(&mut out);
    let at_end = out.entries.into_iter().map(|entry| entry.event);
    (entries, at_end.collect())
}

/// The sessions of these lines.
pub fn sessions<L: AsRef<str>>(
    format: &Format,
    lines: impl IntoIterator<Item = L>,
) -> BTreeMap<Conversation, Session> {
    let rules: Rules = toml::from_str(assets::MODELS).expect("the table");
    let rules = Arc::new(rules.listing(assets::CATALOGUE));
    let mut sessions: BTreeMap<Conversation, Session> = BTreeMap::new();
    for entry in read(format, lines) {
        let session = sessions.entry(entry.conversation);
        let session = session.or_insert_with(|| Session::new(format.id, Arc::clone(&rules)));
        session.apply(entry);
    }
    sessions
}

/// The previews of what is in a context.
pub fn previews(session: &Session) -> Vec<&str> {
    let alive = session.alive().into_iter();
    alive.map(|ix| &*session.items()[ix].preview).collect()
}

/// The session of a document.
pub fn document(format: &Format, text: &str) -> Session {
    let mut out = EventSink::new(&ByLength);
    format.decoder().read_document(text, &mut out);
    let mut session = Session::new(format.id, Arc::default());
    let entries = out.entries.into_iter();
    entries.for_each(|entry| session.apply(entry));
    session
}
