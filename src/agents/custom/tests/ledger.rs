//! Tests of documents with a list of numbers beside their messages.

use super::*;
use model::event::Key;

#[test]
fn a_ledger_has_the_costs_of_messages_without_numbers() {
    let format = format(
        r#"
shape = "document"
messages = "/all"
has = "/all"
[record]
id = "/id"
[message]
role = "/role"
text = "/text"
[usage]
prompt = "/in"
output = "/out"
[ledger]
list = "/ledger"
message = "/of"
[ledger.usage]
prompt = "/sent"
output = "/got"
"#,
    );
    let records = r#"{"id":1,"role":"assistant","text":"a"},{"id":2,"role":"assistant","text":"b","in":90,"out":7}"#;
    let ledger =
        r#"{"of":1,"sent":50,"got":3},{"of":2,"sent":40,"got":4},{"of":3,"sent":-1,"got":5}"#;
    let log = format!(r#"{{"all":[{records}],"ledger":[{ledger}]}}"#);
    let mut out = EventSink::new(&ByLength);
    format.decoder().read_document(&log, &mut out);
    let entries = out.entries;
    let has_own = |of: Key| {
        entries
            .iter()
            .any(|entry| matches!(&entry.event, Event::Usage(usage) if usage.request == of))
    };
    let costs = entries.iter().filter_map(|entry| match &entry.event {
        Event::Billed {
            request, billed, ..
        } => Some((billed.input, billed.output, has_own(*request))),
        _ => None,
    });
    assert_eq!(costs.collect::<Vec<_>>(), [(50, 3, false), (40, 4, true)]);
}
