//! The state of a session as of any record, over hand-written logs.

use crate::support::manifest_folder;
use ctxgauge::formats::Format;
use ctxgauge::model::event::{ByLength, Conversation, Entry, EventSink, Place};
use ctxgauge::model::outlook::forecast::{Forecast, NoForecast, forecast, forecast_at};
use ctxgauge::model::outlook::jumps::jumps;
use ctxgauge::model::session::Session;
use ctxgauge::model::session::replay::{ChangeKind, Moment, Snapshot, Step, Timeline};
use ctxgauge::model::{Kind, Source};
use ctxgauge::{agents, config};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was shown of a session after a record.
struct Shown {
    state: Snapshot,
    forecast: Result<Forecast, NoForecast>,
}

/// A session that was followed, and what was shown when each moment of its timeline was the newest.
fn followed(mut session: Session, entries: &[Entry]) -> (Session, BTreeMap<usize, Shown>) {
    let mut shown = BTreeMap::new();
    for record in entries.chunk_by(|a, b| a.place == b.place) {
        for entry in record {
            session.apply(entry.clone());
        }
        let timeline = Timeline::of(&session);
        if !timeline.is_empty() {
            shown.entry(timeline.end()).or_insert_with(|| Shown {
                state: session.snapshot(),
                forecast: forecast(&session, None),
            });
        }
    }
    (session, shown)
}

/// A state without what only hindsight shows.
fn then(state: Snapshot) -> Snapshot {
    Snapshot {
        hindsight: None,
        at: None,
        ..state
    }
}

fn moments(timeline: &Timeline) -> impl Iterator<Item = &Moment> {
    (0..timeline.len()).filter_map(|ix| timeline.moment(ix))
}

/// A log's entries, by conversation.
fn read(format: &Format, path: &Path) -> BTreeMap<Conversation, Vec<Entry>> {
    let bytes = fs::read(path).unwrap();
    let mut out = EventSink::new(&ByLength);
    let mut decoder = format.decoder();
    if path.extension().is_some_and(|it| it == "json") {
        decoder.read_document(&String::from_utf8_lossy(&bytes), &mut out);
    } else {
        for (line, bytes) in (1..).zip(bytes.split(|b| *b == b'\n')) {
            let place = Place::of_line(line);
            out.begin(place);
            decoder.read_line(&String::from_utf8_lossy(bytes), &mut out);
        }
    }
    let mut conversations: BTreeMap<Conversation, Vec<Entry>> = BTreeMap::new();
    for entry in out.entries {
        conversations
            .entry(entry.conversation)
            .or_default()
            .push(entry);
    }
    conversations
}

/// Every hand-written log, with its format.
fn fixtures() -> Vec<(&'static Format, PathBuf)> {
    let mut found = Vec::new();
    for format in agents::ALL.iter().copied() {
        let folder = manifest_folder().join("tests/fixtures").join(format.id);
        for case in fs::read_dir(folder).unwrap().flatten() {
            // A document beside a log of lines can have its name.
            let logs = ["log.jsonl", "log.json"].map(|name| case.path().join(name));
            let log = logs.into_iter().find(|log| log.exists());
            found.extend(log.map(|log| (format, log)));
        }
    }
    found
}

#[test]
fn the_replayed_state_is_the_one_that_was_shown() {
    let rules = Arc::new(config::rules().unwrap());
    let mut moments = 0;
    for (format, path) in fixtures() {
        for entries in read(format, &path).values() {
            let empty = Session::new(format.id, Arc::clone(&rules));
            let (session, shown) = followed(empty, entries);
            let timeline = Timeline::of(&session);
            moments += timeline.len();
            for (ix, shown) in shown {
                let moment = timeline.moment(ix).unwrap();
                let replayed = session.snapshot_at(moment);
                let at = format!("{}, line {}", path.display(), moment.place.line());
                assert_eq!(forecast_at(&session, &replayed), shown.forecast, "{at}");
                assert_eq!(then(replayed), then(shown.state), "{at}");
            }
        }
    }
    assert!(moments > 100, "{moments} moments");
}

/// A session of one line each: a word of the user's, a response with its report, a result, a compaction.
fn session() -> Session {
    let log = [
        r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"hello there"}}"#,
        r#"{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":20000,"output_tokens":30}}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"b","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"what the file says, and some more"}]}}"#,
        r#"{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{"type":"text","text":"so it is"}],"stop_reason":"end_turn","usage":{"input_tokens":20100,"output_tokens":20}}}"#,
        r#"{"type":"user","uuid":"e","parentUuid":"d","message":{"role":"user","content":"and now"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"f","parentUuid":null,"logicalParentUuid":"e","compactMetadata":{"trigger":"auto","preTokens":20130}}"#,
    ];
    let format = agents::by_id("claude-code").unwrap();
    let mut decoder = format.decoder();
    let mut out = EventSink::new(&ByLength);
    for (line, text) in (1..).zip(log) {
        let place = Place::of_line(line);
        out.begin(place);
        decoder.read_line(text, &mut out);
    }
    let rules = Arc::new(config::rules().unwrap());
    let mut session = Session::new(format.id, rules);
    for (n, entry) in out.entries.into_iter().enumerate() {
        let at = Timestamp::from_second(entry.place.line() as i64 * 10 - n as i64 % 2).ok();
        session.apply(Entry { at, ..entry });
    }
    session
}

#[test]
fn what_was_known_then_and_what_was_learned_later_are_apart() {
    let session = session();
    let timeline = Timeline::of(&session);
    let result = session
        .items()
        .iter()
        .position(|item| item.kind == Kind::ToolResult)
        .unwrap();
    let came = timeline.of_item(&session.items()[result]).unwrap();
    let then = session.snapshot_at(timeline.moment(came).unwrap());
    let &(_, guessed, source) = then.items.iter().find(|(ix, ..)| *ix == result).unwrap();
    let (learned, source_now) = session.tokens(result);
    assert_eq!((source, source_now), (Source::Estimated, Source::Derived));
    assert_eq!(learned, 70);
    assert_ne!(guessed, learned);
    assert_eq!(then.context.known, 20_030);
    assert_eq!(then.context.used, 20_030 + guessed);
    let hindsight = then.hindsight.unwrap();
    assert_eq!((hindsight.request, hindsight.came), (1, 20_100));
    assert_eq!(hindsight.expected.tokens, then.context.used);

    let settled = session.snapshot_at(timeline.moment(came + 1).unwrap());
    assert!(settled.items.contains(&(result, 70, Source::Derived)));
    assert_eq!(
        (settled.context.known, settled.context.estimated),
        (20_120, 0)
    );
}

#[test]
fn a_timeline_has_a_moment_for_every_record() {
    let session = session();
    let timeline = Timeline::of(&session);
    let all: Vec<(u64, ChangeKind)> = moments(&timeline)
        .map(|m| (m.place.line(), m.what))
        .collect();
    let expected = [
        (1, ChangeKind::Item(0)),
        (2, ChangeKind::Report(0)),
        (3, ChangeKind::Item(2)),
        (4, ChangeKind::Report(1)),
        (5, ChangeKind::Item(4)),
        (6, ChangeKind::Reset(0)),
    ];
    assert_eq!(all, expected);
    assert_eq!(timeline.end(), 5);

    let steps = |step| {
        let forwards = std::iter::successors(timeline.next(step, 0), |at| timeline.next(step, *at));
        let backwards = std::iter::successors(timeline.previous(step, 5), |at| {
            timeline.previous(step, *at)
        });
        (forwards.collect(), backwards.collect())
    };
    let pair = |there: &[usize], back: &[usize]| (there.to_vec(), back.to_vec());
    assert_eq!(
        steps(Step::Record),
        pair(&[1, 2, 3, 4, 5], &[4, 3, 2, 1, 0])
    );
    assert_eq!(steps(Step::Request), pair(&[1, 3], &[3, 1]));
    assert_eq!(steps(Step::Turn), pair(&[4], &[4, 0]));
    assert_eq!(steps(Step::Reset), pair(&[5], &[]));

    let largest = jumps(&session, 1).remove(0);
    assert_eq!(largest.moment(&timeline), Some(3));
    assert_eq!(timeline.of_reset(0), Some(5));
    assert_eq!(timeline.of_reset(1), None);
    assert_eq!(timeline.of_leaving(&session.items()[0]), Some(5));
}

#[test]
fn without_reports_the_sizes_of_all_moments_are_those_of_their_states() {
    let rules = Arc::new(config::rules().unwrap());
    let mut moments = 0;
    for (format, path) in fixtures() {
        for entries in read(format, &path).values() {
            let mut session = Session::new(format.id, Arc::clone(&rules));
            entries
                .iter()
                .for_each(|entry| session.apply(entry.clone()));
            if !session.requests().is_empty() {
                continue;
            }
            let timeline = Timeline::of(&session);
            let states: Vec<Snapshot> = self::moments(&timeline)
                .map(|m| session.snapshot_at(m))
                .collect();
            // Sizes that changed since are shown as they are today.
            let mut items = states.iter().flat_map(|state| &state.items);
            if items.any(|&(ix, tokens, _)| session.tokens(ix).0 != tokens) {
                continue;
            }
            let states: Vec<u64> = states.iter().map(|state| state.context.used).collect();
            moments += states.len();
            assert_eq!(timeline.sizes(&session), states, "{}", path.display());
        }
    }
    assert!(moments > 50, "{moments} moments");
}
