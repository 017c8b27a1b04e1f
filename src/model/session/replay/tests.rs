use super::*;
use crate::event::{
    ByLength, Cause, Conversation, Entry, Event, EventSink, Key, Meta, Node, Part, Reset,
    RetainedItems, Usage,
};
use crate::outlook::forecast::{Forecast, NoForecast, forecast, forecast_at};
use crate::session::Session;
use crate::testing::Log;
use crate::testing::properties::{events, session};
use crate::{Kind, LeaveReason, Role};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// Each two events are of one record.
fn entries(events: Vec<Event>) -> Vec<Entry> {
    let entry = |(n, event)| Entry {
        conversation: Conversation::Main,
        place: Place::of_line(1 + n as u64 / 2),
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

/// Right before a compaction the next report is about another context.
#[test]
fn hindsight_does_not_look_past_a_compaction() {
    let log = Log::new()
        .report(20_000)
        .result("a", "Read", 5_000)
        .report(25_000)
        .result("b", "Read", 5_000)
        .compact(30_000)
        .result("c", "Read", 1_000)
        .report(9_000);
    let timeline = Timeline::of(&log.session);
    let reset = timeline.of_reset(0).unwrap();
    let about = |moment| {
        let moment = timeline.moment(moment).unwrap();
        let hindsight = log.session.snapshot_at(moment).hindsight;
        hindsight.map(|hindsight| hindsight.request)
    };
    assert_eq!(about(reset - 1), Some(1));
    assert_ne!(about(reset), Some(1));
}

/// A state without what only hindsight tells.
fn then(state: Snapshot) -> Snapshot {
    Snapshot {
        hindsight: None,
        at: None,
        ..state
    }
}

/// Returns true if a request is reported twice: its numbers may rise then, and the items that its prompt held may
/// change. A replay shows both as they turned out.
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

/// The answers that a session gave at one record while it grew.
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
            told.insert(session.attribution().items().record, now);
        }
        Lived { session, told }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_moment_is_the_session_as_it_was_then(events in events()) {
        let repeated = repeats_a_request(&events);
        let Lived { session, told } = Lived::of(session(), &entries(events));
        let timeline = Timeline::of(&session);
        ends_as_it_is(&session, &timeline);
        for moment in &timeline.moments {
            let replayed = session.snapshot_at(moment);
            sums_hold(&replayed);
            let told = &told[&moment.record];
            let left = forecast_at(&session, &replayed);
            let (replayed, live) = (then(replayed), then(told.state.clone()));
            if repeated {
                prop_assert_eq!(replayed.context.used, live.context.used);
                prop_assert_eq!(replayed.items, live.items);
            } else {
                prop_assert_eq!(replayed, live);
                prop_assert_eq!(&left, &told.forecast);
            }
        }
    }

    #[test]
    fn a_timeline_only_grows(events in events()) {
        let Lived { session, told } = Lived::of(session(), &entries(events));
        let whole = Timeline::of(&session);
        for told in told.values() {
            let so_far = &told.timeline.moments;
            prop_assert_eq!(so_far, &whole.moments[..so_far.len()]);
        }
    }

    #[test]
    fn steps_lead_there_and_back(events in events(), from in any::<prop::sample::Index>()) {
        let Lived { session, .. } = Lived::of(session(), &entries(events));
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
        let mut session = session();
        let events = events.into_iter().filter(told).collect();
        entries(events).into_iter().for_each(|entry| session.apply(entry));
        let timeline = Timeline::of(&session);
        let used = timeline.moments.iter().map(|m| session.snapshot_at(m).context.used);
        prop_assert_eq!(timeline.sizes(&session), used.collect::<Vec<_>>());
    }

    #[test]
    fn an_item_was_held_by_as_many_requests_as_held_it(events in events()) {
        let Lived { session, .. } = Lived::of(session(), &entries(events));
        for item in session.items() {
            for so_far in 0..=session.requests().len() {
                let held = (0..so_far).filter(|request| item.held_by(*request)).count();
                prop_assert_eq!(item.requests_held(so_far), held);
            }
        }
    }
}

/// A session in which the agent says what it makes of its context: each event is a record.
fn says(events: Vec<Event>) -> (Session, Timeline) {
    let mut session = session();
    for (line, event) in (1..).zip(events) {
        session.apply(Entry {
            conversation: Conversation::Main,
            place: Place::of_line(line),
            at: None,
            event,
        });
    }
    let timeline = Timeline::of(&session);
    (session, timeline)
}

fn usage(request: u64, prompt: u64, source: Source) -> Event {
    Event::Usage(Box::new(Usage {
        source,
        ..Usage::reported(Key::new(request), prompt)
    }))
}

fn reset() -> Event {
    Event::Reset(Box::new(Reset {
        key: None,
        gone: LeaveReason::Compaction,
        cause: Cause::Automatic,
        before: None,
        after: None,
        kept: RetainedItems::Nothing,
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
    let mut out = EventSink::new(&ByLength);
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
            Event::cleared_node(Key::new(key)),
        ]
    };
    let mut session = session();
    let records = [
        notice(1),
        vec![usage(2, 950, Source::Agent)],
        notice(3),
        vec![reset()],
    ];
    for (line, events) in (1..).zip(records) {
        for event in events {
            session.apply(Entry {
                conversation: Conversation::Main,
                place: Place::of_line(line),
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
    assert!(session.items().iter().all(|item| item.is_notice()));
}
