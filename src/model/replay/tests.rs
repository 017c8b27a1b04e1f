use super::*;
use crate::model::estimators::Estimator;
use crate::model::event::{Entry, Event, Lane, Meta};
use crate::model::forecast::{Forecast, NoForecast, forecast, forecast_at};
use crate::model::properties::{any_estimator, events, session};
use proptest::prelude::*;
use std::collections::HashSet;

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

fn sums_hold(state: &State) {
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
        assert!(session.items.is_empty() && session.requests.is_empty());
        return;
    };
    let (then, now) = (session.state_at(last), session.state());
    assert_eq!(State { at: now.at, ..then }, now);
}

/// A state without what only hindsight tells.
fn then(state: State) -> State {
    State {
        hindsight: None,
        at: None,
        ..state
    }
}

/// Whether a request is reported twice: its numbers rise then, and are told as they became.
fn repeats_a_request(events: &[Event]) -> bool {
    let mut seen = HashSet::new();
    events.iter().any(|event| match event {
        Event::Usage(usage) => usage.source == Source::Reported && !seen.insert(usage.request),
        _ => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_moment_is_the_session_as_it_was_then(events in events(), estimator in any_estimator()) {
        let repeated = repeats_a_request(&events);
        for estimator in [Estimator::Calibrated, estimator] {
            let entries = entries(events.clone());
            let mut growing = session(estimator);
            let mut lived: Vec<(State, Result<Forecast, NoForecast>)> = Vec::new();
            for record in records(&entries) {
                record.iter().for_each(|entry| growing.apply(entry.clone()));
                lived.push((growing.state(), forecast(&growing, None)));
            }
            let timeline = Timeline::of(&growing);
            ends_as_it_is(&growing, &timeline);
            for moment in timeline.moments() {
                let replayed = growing.state_at(moment);
                sums_hold(&replayed);
                let (live, left) = &lived[moment.record as usize - 1];
                let left_then = forecast_at(&growing, &replayed);
                let (replayed, live) = (then(replayed), then(live.clone()));
                if !repeated {
                    prop_assert_eq!(replayed, live);
                    prop_assert_eq!(&left_then, left);
                } else if estimator == Estimator::Calibrated {
                    prop_assert_eq!((replayed.context, replayed.items), (live.context, live.items));
                }
            }
        }
    }
}
