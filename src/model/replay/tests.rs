use super::*;
use crate::agents;
use crate::agents::format::Format;
use crate::model::estimators::Estimator;
use crate::model::event::{
    Billed, ByLength, Cause, Entry, Event, Kept, Key, Lane, Meta, Node, Part, Reset, Sink, Usage,
};
use crate::model::forecast::{Forecast, NoForecast, forecast, forecast_at};
use crate::model::properties::{any_estimator, events, session};
use crate::model::session::Session;
use crate::model::{Gone, Kind, Role};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Each two events are of one record.
fn entries(events: Vec<Event>) -> Vec<Entry> {
    let entry = |(n, event)| Entry {
        lane: Lane::Main,
        place: Place {
            line: 1 + n as u64 / 2,
            ..Place::default()
        },
        at: Timestamp::from_second(n as i64).ok(),
        event,
    };
    let facts = Event::Meta(Box::new(Meta {
        trigger: Some(150_000),
        ..Meta::default()
    }));
    let events = std::iter::once(facts).chain(events);
    events.enumerate().map(entry).collect()
}

/// The entries of one record.
fn records(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|a, b| a.place == b.place)
}

fn sums_hold(state: &Snapshot) {
    let context = &state.context;
    let roles: u64 = context.roles.iter().map(|share| share.tokens).sum();
    assert_eq!(roles, context.used, "roles sum to the total");
    assert_eq!(context.known + context.estimated, context.used);
    assert!(context.low <= context.used && context.used <= context.high);
    let items: usize = context.roles.iter().map(|share| share.items).sum();
    assert_eq!(items, state.items.len(), "the roles' items are the items");
}

/// The last moment is the session as it is.
fn ends_as_it_is(session: &Session, timeline: &Timeline) {
    let Some(last) = timeline.moment(timeline.end()) else {
        assert!(session.items().is_empty() && session.requests().is_empty());
        return;
    };
    let (then, now) = (session.snapshot_at(last), session.snapshot());
    assert_eq!(Snapshot { at: now.at, ..then }, now);
}

/// A state without what only hindsight tells.
fn then(state: Snapshot) -> Snapshot {
    Snapshot {
        hindsight: None,
        at: None,
        ..state
    }
}

/// Whether a request is reported twice: its numbers may rise then, and which items its prompt held may
/// change. Both are told as they became.
fn repeats_a_request(events: &[Event]) -> bool {
    let mut seen = HashSet::new();
    events.iter().any(|event| match event {
        Event::Usage(usage) => usage.source == Source::Reported && !seen.insert(usage.request),
        _ => false,
    })
}

/// A session that grew, with what was told of it after each record.
struct Lived {
    session: Session,
    told: BTreeMap<u32, Told>,
}

/// What a session told while it grew.
struct Told {
    state: Snapshot,
    forecast: Result<Forecast, NoForecast>,
    timeline: Timeline,
}

impl Lived {
    fn of(mut session: Session, entries: &[Entry]) -> Lived {
        let mut told = BTreeMap::new();
        for record in records(entries) {
            for entry in record {
                session.apply(entry.clone());
            }
            let now = Told {
                state: session.snapshot(),
                forecast: forecast(&session, None),
                timeline: Timeline::of(&session),
            };
            told.insert(session.ledger().items().record(), now);
        }
        Lived { session, told }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_moment_is_the_session_as_it_was_then(events in events(), estimator in any_estimator()) {
        let repeated = repeats_a_request(&events);
        let entries = entries(events);
        for estimator in [Estimator::Calibrated, estimator] {
            let Lived { session, told } = Lived::of(session(estimator), &entries);
            let timeline = Timeline::of(&session);
            ends_as_it_is(&session, &timeline);
            for moment in &timeline.moments {
                let replayed = session.snapshot_at(moment);
                sums_hold(&replayed);
                let told = &told[&moment.record];
                let left = forecast_at(&session, &replayed);
                let (replayed, live) = (then(replayed), then(told.state.clone()));
                if !repeated {
                    prop_assert_eq!(replayed, live);
                    prop_assert_eq!(&left, &told.forecast);
                } else if estimator == Estimator::Calibrated {
                    prop_assert_eq!(replayed.context.used, live.context.used);
                    prop_assert_eq!(replayed.items, live.items);
                }
            }
        }
    }

    #[test]
    fn a_timeline_only_grows(events in events()) {
        let Lived { session, told } = Lived::of(session(Estimator::Calibrated), &entries(events));
        let whole = Timeline::of(&session);
        for told in told.values() {
            let so_far = &told.timeline.moments;
            prop_assert_eq!(so_far, &whole.moments[..so_far.len()]);
        }
    }

    #[test]
    fn steps_lead_there_and_back(events in events(), from in any::<prop::sample::Index>()) {
        let Lived { session, .. } = Lived::of(session(Estimator::Calibrated), &entries(events));
        let timeline = Timeline::of(&session);
        prop_assume!(!timeline.is_empty());
        let from = from.index(timeline.len());
        for step in [Step::Record, Step::Request, Step::Turn, Step::Reset] {
            if let Some(next) = timeline.next(step, from) {
                prop_assert!(from < next && next < timeline.len());
                let back = timeline.previous(step, next);
                prop_assert!(back.is_none_or(|back| back <= from));
                prop_assert!(back.is_none_or(|back| timeline.next(step, back) == Some(next)));
            }
            if let Some(previous) = timeline.previous(step, from) {
                prop_assert!(previous < from);
                let there = timeline.next(step, previous);
                prop_assert!(there.is_none_or(|there| there >= from));
            }
        }
        for ix in 0..session.requests().len() {
            let moment = timeline.of_request(ix).and_then(|at| timeline.moment(at)).unwrap();
            prop_assert!(moment.requests > ix);
        }
        for item in session.items() {
            let came = timeline.of_item(item).unwrap();
            prop_assert!(timeline.of_leaving(item).is_none_or(|left| came <= left));
        }
    }

    #[test]
    fn sizes_are_those_of_the_states_where_nothing_was_reported(events in events()) {
        let told = |event: &Event| match event {
            Event::Usage(usage) => usage.source != Source::Reported,
            // Another model counts otherwise, and today's counts are asked for.
            Event::Meta(_) => false,
            _ => true,
        };
        let mut session = session(Estimator::Calibrated);
        let events = events.into_iter().filter(told).collect();
        entries(events).into_iter().for_each(|entry| session.apply(entry));
        let timeline = Timeline::of(&session);
        let used = timeline.moments.iter().map(|m| session.snapshot_at(m).context.used);
        prop_assert_eq!(timeline.sizes(&session), used.collect::<Vec<_>>());
    }

    #[test]
    fn an_item_was_held_by_as_many_requests_as_held_it(events in events()) {
        let Lived { session, .. } = Lived::of(session(Estimator::Calibrated), &entries(events));
        for item in session.items() {
            for so_far in 0..=session.requests().len() {
                let held = (0..so_far).filter(|request| item.held_by(*request)).count();
                prop_assert_eq!(item.requests_held(so_far), held);
            }
        }
    }
}

/// A log's entries, by conversation.
fn read(format: &Format, path: &Path) -> BTreeMap<Lane, Vec<Entry>> {
    let bytes = fs::read(path).unwrap();
    let mut out = Sink::new(&ByLength);
    let mut decoder = format.decoder();
    if path.extension().is_some_and(|it| it == "json") {
        decoder.read_document(&String::from_utf8_lossy(&bytes), &mut out);
    } else {
        for (line, bytes) in (1..).zip(bytes.split(|b| *b == b'\n')) {
            let place = Place {
                line,
                ..Place::default()
            };
            out.begin(place);
            decoder.read_line(&String::from_utf8_lossy(bytes), &mut out);
        }
    }
    let mut lanes: BTreeMap<Lane, Vec<Entry>> = BTreeMap::new();
    for entry in out.entries {
        lanes.entry(entry.lane).or_default().push(entry);
    }
    lanes
}

/// Every hand-written log, with its format.
fn fixtures() -> Vec<(&'static Format, PathBuf)> {
    let mut found = Vec::new();
    for format in agents::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(format.id);
        for case in fs::read_dir(folder).unwrap().flatten() {
            // A document beside a log of lines can have its name.
            let logs = ["log.jsonl", "log.json"].map(|name| case.path().join(name));
            let log = logs.into_iter().find(|log| log.exists());
            found.extend(log.map(|log| (*format, log)));
        }
    }
    found
}

#[test]
fn hand_written_logs_are_told_as_they_were_then() {
    let rules = Arc::new(crate::config::rules().unwrap());
    let mut moments = 0;
    for (format, path) in fixtures() {
        for entries in read(format, &path).values() {
            let empty = Session::new(format.id, Arc::clone(&rules));
            let Lived { session, told } = Lived::of(empty, entries);
            let timeline = Timeline::of(&session);
            ends_as_it_is(&session, &timeline);
            moments += timeline.len();
            for moment in &timeline.moments {
                let (replayed, told) = (session.snapshot_at(moment), &told[&moment.record]);
                sums_hold(&replayed);
                assert_eq!(forecast_at(&session, &replayed), told.forecast);
                let at = format!("{}, line {}", path.display(), moment.place.line);
                assert_eq!(then(replayed), then(told.state.clone()), "{at}");
            }
        }
    }
    assert!(moments > 100, "{moments} moments");
}

/// A session of one line each: a word of the user's, a response with its report, a result, a compaction.
fn told() -> Session {
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
    let mut out = Sink::new(&ByLength);
    for (line, text) in (1..).zip(log) {
        let place = Place {
            line,
            ..Place::default()
        };
        out.begin(place);
        decoder.read_line(text, &mut out);
    }
    let rules = Arc::new(crate::config::rules().unwrap());
    let mut session = Session::new(format.id, rules);
    for (n, entry) in out.entries.into_iter().enumerate() {
        let at = Timestamp::from_second(entry.place.line as i64 * 10 - n as i64 % 2).ok();
        session.apply(Entry { at, ..entry });
    }
    session
}

#[test]
fn what_stood_then_and_what_was_learned_later_are_told_apart() {
    let session = told();
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
    let session = told();
    let timeline = Timeline::of(&session);
    let all: Vec<(u64, What)> = timeline
        .moments
        .iter()
        .map(|m| (m.place.line, m.what))
        .collect();
    let expected = [
        (1, What::Item(0)),
        (2, What::Report(0)),
        (3, What::Item(2)),
        (4, What::Report(1)),
        (5, What::Item(4)),
        (6, What::Reset(0)),
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

    assert_eq!(timeline.largest_growth(&session), Some(3));
    assert_eq!(timeline.of_reset(0), Some(5));
    assert_eq!(timeline.of_reset(1), None);
    assert_eq!(timeline.of_leaving(&session.items()[0]), Some(5));
}

#[test]
fn without_reports_the_sizes_of_all_moments_are_those_of_their_states() {
    let rules = Arc::new(crate::config::rules().unwrap());
    let mut moments = 0;
    for (format, path) in fixtures() {
        for entries in read(format, &path).values() {
            let mut session = Session::new(format.id, Arc::clone(&rules));
            entries
                .iter()
                .for_each(|entry| session.apply(entry.clone()));
            // Numbers that became others are told as they are today.
            let changed = session.items().iter().any(|item| item.previous.is_some());
            if !session.requests().is_empty() || changed {
                continue;
            }
            let timeline = Timeline::of(&session);
            let states = timeline.moments.iter().map(|m| session.snapshot_at(m));
            let states: Vec<u64> = states.map(|state| state.context.used).collect();
            moments += states.len();
            assert_eq!(timeline.sizes(&session), states, "{}", path.display());
        }
    }
    assert!(moments > 50, "{moments} moments");
}

/// A session in which the agent says what it makes of its context: each event is a record.
fn says(events: Vec<Event>) -> (Session, Timeline) {
    let mut session = session(Estimator::Calibrated);
    for (line, event) in (1..).zip(events) {
        session.apply(Entry {
            lane: Lane::Main,
            place: Place {
                line,
                ..Place::default()
            },
            at: None,
            event,
        });
    }
    let timeline = Timeline::of(&session);
    (session, timeline)
}

fn usage(request: u64, prompt: u64, source: Source) -> Event {
    Event::Usage(Box::new(Usage {
        request: Key::new(request),
        model: None,
        prompt,
        cached: 0,
        output: None,
        reasoning: None,
        source,
        billed: Billed::default(),
        is_whole: false,
    }))
}

fn reset() -> Event {
    Event::Reset(Box::new(Reset {
        key: None,
        gone: Gone::Compaction,
        cause: Cause::Automatic,
        before: None,
        after: None,
        kept: Kept::Nothing,
    }))
}

#[test]
fn the_agent_s_number_stands_beside_ours_while_it_holds() {
    let (session, timeline) = says(vec![
        node(1, Part::Input),
        usage(1, 900, Source::Agent),
        usage(1, 1_000, Source::Reported),
        usage(2, 1_500, Source::Reported),
        usage(3, 1_700, Source::Agent),
        reset(),
    ]);
    let said = timeline
        .moments
        .iter()
        .map(|m| session.snapshot_at(m).agent_estimate);
    let said: Vec<_> = said
        .map(|said| said.map(|it| (it.tokens, it.ours, it.difference())))
        .collect();
    let expected = [
        None,
        Some((900, 12, 888)),     // nothing was known here
        Some((900, 1_000, -100)), // the same request, reported
        None,                     // of another request
        Some((1_700, 1_500, 200)),
        None, // it tells of what was before the compaction
    ];
    assert_eq!(said, expected);
    assert_eq!(session.requests()[0].agent_estimate, Some(900));
    assert_eq!(session.requests()[1].agent_estimate, None);
}

/// A reminder that comes as such a part.
fn node(key: u64, part: Part) -> Event {
    let mut out = Sink::new(&ByLength);
    let item = out.item(Role::Container, Kind::Reminder);
    Event::Node(Box::new(Node {
        key: Some(Key::new(key)),
        part,
        items: vec![item.label("near limit").done()],
        ..Node::default()
    }))
}

#[test]
fn a_notice_holds_until_the_agent_says_more_or_compacts() {
    let notice = |key| {
        vec![
            usage(key, 900, Source::Agent),
            node(key, Part::Injected),
            Event::Cleared {
                nodes: vec![Key::new(key)],
                calls: Vec::new(),
            },
        ]
    };
    let mut session = session(Estimator::Calibrated);
    let records = [
        notice(1),
        vec![usage(2, 950, Source::Agent)],
        notice(3),
        vec![reset()],
    ];
    for (line, events) in (1..).zip(records) {
        for event in events {
            session.apply(Entry {
                lane: Lane::Main,
                place: Place {
                    line,
                    ..Place::default()
                },
                at: None,
                event,
            });
        }
    }
    let timeline = Timeline::of(&session);
    let told = timeline
        .moments
        .iter()
        .map(|m| session.snapshot_at(m).notice);
    assert_eq!(told.collect::<Vec<_>>(), [Some(0), None, Some(1), None]);
    assert!(session.items().iter().all(Item::is_notice));
}
