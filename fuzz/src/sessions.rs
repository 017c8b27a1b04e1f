//! What must hold of a session, however it came about.

use ctxgauge::config;
use ctxgauge::decode::damage;
use ctxgauge::formats::{Decoder, Format};
use ctxgauge::ingest::store::document::decode;
use ctxgauge::model::cost::carried::CarriedCost;
use ctxgauge::model::cost::tools::tools;
use ctxgauge::model::event::{ByLength, Conversation, Entry, EventSink, Place};
use ctxgauge::model::outlook::forecast::{backtest, forecast};
use ctxgauge::model::outlook::whatif::what_if;
use ctxgauge::model::session::Session;
use ctxgauge::model::session::replay::Timeline;
use ctxgauge::model::window::Rules;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The built-in models table.
pub static RULES: LazyLock<Arc<Rules>> =
    LazyLock::new(|| Arc::new(config::rules().expect("a test checks it")));

/// The sessions of one log.
pub type Sessions = BTreeMap<Conversation, Session>;

/// The sessions of these entries.
pub fn fold(format: &Format, rules: &Arc<Rules>, entries: Vec<Entry>) -> Sessions {
    let mut sessions = Sessions::new();
    for entry in entries {
        let session = sessions.entry(entry.conversation);
        let session = session.or_insert_with(|| Session::new(format.id, Arc::clone(rules)));
        session.apply(entry);
    }
    sessions
}

/// The entries of a log of lines.
pub fn read_lines(decoder: &mut dyn Decoder, log: &[u8]) -> Vec<Entry> {
    let mut out = EventSink::new(&ByLength);
    let mut offset = 0;
    for (number, line) in (1..).zip(log.split(|byte| *byte == b'\n')) {
        let len = line.len() as u64;
        out.begin(Place::new(number, offset, len));
        if !line.trim_ascii().is_empty() {
            decoder.read_line(&damage::line(line).0, &mut out);
        }
        offset += len + 1;
    }
    decoder.read_end(&mut out);
    out.entries
}

/// The entries of a document.
pub fn read_document(format: &Format, document: &[u8]) -> Vec<Entry> {
    let mut out = EventSink::new(&ByLength);
    decode(format, document, &mut out);
    out.entries
}

/// Checks each of them.
pub fn check(sessions: &Sessions) {
    sessions.values().for_each(holds);
}

fn holds(session: &Session) {
    let context = session.context();
    let roles: u64 = context.roles.iter().map(|share| share.tokens).sum();
    assert_eq!(roles, context.used, "the roles sum to the total");
    let known: u64 = context.roles.iter().map(|share| share.known).sum();
    assert_eq!(known, context.known, "their known parts sum to the known");
    let sum = context.known + context.estimated;
    assert_eq!(sum, context.used, "known and estimated sum to the total");
    assert!(context.low <= context.used && context.used <= context.high);
    if session.anchor().is_none() {
        assert_eq!(context.known, 0, "nothing is known without a report");
    }
    let state = session.snapshot();
    assert_eq!(
        state.context, context,
        "the newest state is the present one"
    );
    // What only must not fail.
    let requests = session.requests().len();
    let _ = CarriedCost::by(session, requests);
    let _ = tools(session, session.in_context(), requests);
    let _ = what_if(session, requests);
    let _ = forecast(session, None);
    let _ = backtest(session);
    let timeline = Timeline::of(session);
    for moment in [0, timeline.len() / 2, timeline.end()] {
        if let Some(moment) = timeline.moment(moment) {
            let _ = session.snapshot_at(moment);
        }
    }
}

/// What a session says: its context, its items, its requests. Where an item is and the order of the items differ if
/// what is beside the log was read several times.
pub type Said = (String, Vec<String>, Vec<(u64, Option<u64>)>);

/// What this one says.
pub fn said(session: &Session) -> Said {
    let items = session.items().iter().map(|item| {
        let left = item.left.map(|left| (left.request, left.why));
        let what = (item.role, item.kind, item.size, &*item.preview);
        format!("{what:?} {:?} {:?} {left:?}", item.attributed, item.entered)
    });
    let mut items: Vec<String> = items.collect();
    items.sort();
    let requests = session.requests().iter();
    let requests = requests.map(|request| (request.prompt, request.output));
    let counts = (&session.skipped, &session.unknown);
    let context = format!("{:?} {counts:?}", session.context());
    (context, items, requests.collect())
}
