//! Logs with lines out of order, missing, repeated and torn.

use crate::support::manifest_folder;
use ctxgauge::agents;
use ctxgauge::config;
use ctxgauge::formats::Format;
use ctxgauge::model::Source;
use ctxgauge::model::event::{ByLength, Conversation, Event, EventSink, Key, Place};
use ctxgauge::model::session::Session;
use ctxgauge::model::window::Rules;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::{Arc, LazyLock};

/// A format and the lines of a log.
type Log = (&'static Format, Vec<Vec<u8>>);

static LOGS: LazyLock<Vec<Log>> = LazyLock::new(logs);
static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(config::rules().unwrap()));

/// The lines of every hand-written log that is read line by line.
fn logs() -> Vec<Log> {
    let mut logs = Vec::new();
    for format in agents::ALL.iter().copied() {
        let folder = manifest_folder().join("tests/fixtures").join(format.id);
        let mut cases: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
        cases.sort_by_key(|case| case.file_name());
        for case in cases {
            if let Ok(text) = fs::read(case.path().join("log.jsonl")) {
                let lines = text.split(|b| *b == b'\n').map(<[u8]>::to_vec);
                logs.push((format, lines.collect()));
            }
        }
    }
    logs
}

/// Which lines are read, in which order, and how much of each, in percent.
fn disorder() -> impl Strategy<Value = Vec<(prop::sample::Index, usize)>> {
    let cut = prop_oneof![9 => Just(100_usize), 1 => 0_usize..100];
    prop::collection::vec((any::<prop::sample::Index>(), cut), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn disorder_makes_no_known_tokens(log in any::<prop::sample::Index>(), order in disorder()) {
        let (format, lines) = log.get(&LOGS);
        let mut decoder = format.decoder();
        let mut sessions: BTreeMap<Conversation, Session> = BTreeMap::new();
        // What was reported of each request, at most: lines of a response may differ.
        let mut reported: HashMap<Key, (u64, u64)> = HashMap::new();
        for (n, (index, share)) in order.iter().enumerate() {
            let line = &lines[index.index(lines.len())];
            let line = &line[..line.len() * share / 100];
            let place = Place::new(n as u64 + 1, n as u64, line.len() as u64);
            let mut sink = EventSink::new(&ByLength);
            sink.begin(place);
            decoder.read_line(&String::from_utf8_lossy(line), &mut sink);
            for entry in sink.entries {
                if let Event::Usage(usage) = &entry.event && usage.source == Source::Reported {
                    let (prompt, output) = reported.entry(usage.request).or_default();
                    *prompt = usage.prompt.max(*prompt);
                    *output = usage.output.unwrap_or(0).max(*output);
                }
                let session = sessions
                    .entry(entry.conversation)
                    .or_insert_with(|| Session::new(format.id, Arc::clone(&RULES)));
                session.apply(entry);
            }
            for session in sessions.values() {
                let context = session.context();
                let most = session.anchor().map_or(0, |anchor| {
                    let (prompt, output) = reported[&anchor.key()];
                    prompt + output
                });
                prop_assert!(context.known <= most, "{} known, {most} reported", context.known);
                prop_assert_eq!(context.known + context.estimated, context.used);
            }
        }
    }
}
