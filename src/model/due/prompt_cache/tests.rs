use super::*;
use crate::Role;
use crate::cost::cache_history::backtest;
use crate::cost::rebuilds::rebuilds;
use crate::event::{
    BilledUsage, Cause, Conversation, Entry, Event, Key, Meta, Place, Reset, RetainedItems, Usage,
};
use crate::testing::timed::{Log, at, five};
use crate::window::{ClientStatus, Overrides};
use proptest::prelude::*;
use std::sync::Arc;

trait HasCache {
    fn state(&self, seconds: i64) -> Option<CacheState>;
}

impl HasCache for Log {
    fn state(&self, seconds: i64) -> Option<CacheState> {
        Some(self.0.gauge().prompt_cache()?.state(at(seconds)))
    }
}

#[test]
fn the_time_counts_from_when_the_request_was_sent() {
    let log = Log::of("five").asks(10, 40, 50_000, five(0, 50_000));
    assert_eq!(log.state(309), Some(CacheState::Warm(at(310))));
    let cold = CacheState::Cold(at(310), MissReason::Expired);
    assert_eq!(log.state(310), Some(cold));
    // A clock that was set back.
    assert_eq!(log.state(-5), Some(CacheState::Warm(at(310))));
    // The next request renews it.
    let log = log.asks(300, 5, 50_200, five(50_000, 200));
    assert_eq!(log.state(599), Some(CacheState::Warm(at(600))));
}

#[test]
fn what_is_written_for_an_hour_is_kept_for_one() {
    let hour = five(0, 50_000).with_hour(50_000);
    let log = Log::of("five").asks(0, 10, 50_000, hour);
    assert_eq!(log.state(3_599), Some(CacheState::Warm(at(3_600))));
    assert_eq!(
        log.0.gauge().prompt_cache().map(|it| it.life.source),
        Some(LifeSource::Log)
    );
    // One that only reads keeps what was written for an hour.
    let log = log.asks(100, 10, 50_000, five(50_000, 0));
    assert_eq!(log.state(3_699), Some(CacheState::Warm(at(3_700))));
    // The record of a request goes before what was paid for.
    let requested = Event::Requested {
        cache_minutes: Some(60),
    };
    let log = Log::of("five").event(7, requested);
    let log = log.answers(20, 50_000, five(0, 50_000));
    assert_eq!(log.state(8), Some(CacheState::Warm(at(3_607))));
}

#[test]
fn nothing_is_known_where_nothing_was_ever_cached_or_promised() {
    let log = Log::of("five").asks(0, 5, 9_000, BilledUsage::new(9_000, 10));
    assert_eq!(log.state(1), None);
    let log = Log::of("other").asks(0, 5, 9_000, five(8_000, 0));
    assert_eq!(log.state(1), None);
    let log = Log::of("loose").asks(0, 5, 9_000, five(8_000, 0));
    assert_eq!(log.state(400), Some(CacheState::Open(at(3_600))));
    let gone = CacheState::Cold(at(3_600), MissReason::Expired);
    assert_eq!(log.state(3_600), Some(gone));
}

#[test]
fn records_without_times_show_no_clock() {
    let mut log = Log::of("five");
    log.0.apply(Entry {
        conversation: Conversation::Main,
        place: Place::of_line(9),
        at: None,
        event: Event::Usage(Box::new(Usage {
            cached: 10,
            ..Usage::reported(Key::of("r"), 50)
        })),
    });
    assert_eq!(log.state(1), None);
}

#[test]
fn a_compaction_and_another_model_are_cold() {
    let log = || Log::of("five").asks(0, 5, 50_000, five(0, 50_000));
    let reset = Reset::compaction(Cause::Manual, RetainedItems::Nothing);
    let compacted = log().event(60, Event::Reset(Box::new(reset)));
    let cold = CacheState::Cold(at(60), MissReason::Compacted);
    assert_eq!(compacted.state(61), Some(cold));
    // The prefix is there as long as the prompt was.
    let prefix = compacted.0.context().role(Role::System).tokens;
    let written = |seconds| compacted.0.gauge().next_prompt(at(seconds)).cold.written;
    let used = compacted.0.context().used;
    assert!(prefix > 0 && prefix <= used, "{prefix}");
    assert_eq!((written(299), written(300)), (used - prefix, used));
    let answered = compacted.asks(70, 5, 9_000, five(4_000, 5_000));
    assert_eq!(answered.state(80), Some(CacheState::Warm(at(370))));
    let mut switched = log();
    let said = ClientStatus {
        since: Some(at(90)),
        ..ClientStatus::window(200_000, Some("another".to_owned()))
    };
    switched.0.set_overrides(Arc::new(Overrides {
        said: Some(said),
        ..Overrides::default()
    }));
    let cold = CacheState::Cold(at(90), MissReason::ModelChange);
    assert_eq!(switched.state(100), Some(cold));
}

#[test]
fn the_client_may_know_better() {
    let mut log = Log::of("five").asks(0, 5, 50_000, five(0, 50_000));
    let said = |until| ClientStatus {
        cache_until: Some(at(until)),
        ..ClientStatus::window(200_000, None)
    };
    log.0.set_said(said(3_600));
    assert_eq!(log.state(400), Some(CacheState::Warm(at(3_600))));
    // It said that before the newest request.
    log.0.set_said(said(200));
    assert_eq!(log.state(250), Some(CacheState::Warm(at(300))));
}

#[test]
fn the_next_prompt_has_two_prices() {
    let near = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9);
    let log = Log::of("five").asks(0, 5, 100_000, five(0, 100_000));
    let used = log.0.context().used;
    let next = log.0.gauge().next_prompt(at(10));
    let new = used - 100_000;
    assert_eq!((next.warm.written, next.cold.written), (new, used));
    let warm = (100_000.0 * 0.5 + new as f64 * 6.25) / 1e6;
    assert!(near(next.warm.usd, warm), "{next:?}");
    assert!(near(next.cold.usd, used as f64 * 6.25 / 1e6), "{next:?}");
    let hour = five(0, 100_000).with_hour(100_000);
    let log = Log::of("five").asks(0, 5, 100_000, hour);
    assert!(near(
        log.0.gauge().next_prompt(at(10)).cold.usd,
        used as f64 * 10.0 / 1e6
    ));
    let unpriced = Log::of("loose").asks(0, 5, 100_000, five(0, 100_000));
    assert_eq!(unpriced.0.gauge().next_prompt(at(10)).cold.usd, None);
}

#[test]
fn returns_after_a_pause_are_predicted() {
    let log = Log::of("five")
        .asks(0, 5, 50_000, five(0, 50_000))
        .asks(100, 5, 50_200, five(50_000, 200))
        .asks(900, 5, 50_400, five(10_000, 40_400))
        // It was there all the same.
        .asks(1_900, 5, 50_600, five(50_400, 200));
    let points = backtest(&log.0);
    let right = points.iter().map(|it| (it.predicted, it.was_warm));
    assert_eq!(
        right.collect::<Vec<_>>(),
        [
            (Some(true), true),
            (Some(false), false),
            (Some(false), true)
        ]
    );
}

#[test]
fn the_first_requests_after_compactions_and_switches_are_predicted() {
    let model = |name: &str| Event::Meta(Box::new(Meta::of_model(Some(name.into()))));
    let log = Log::of("five")
        .asks(0, 5, 20_000, five(0, 20_000))
        .asks(10, 5, 50_000, five(20_000, 30_000))
        .event(60, compacts())
        .asks(70, 5, 24_000, five(12_000, 12_000))
        .event(80, compacts())
        // Nothing but what sessions share.
        .asks(900, 5, 24_000, five(3_000, 21_000))
        .event(910, model("other"))
        .asks(920, 5, 24_000, five(0, 24_000));
    let points = backtest(&log.0);
    let right = points.iter().map(|it| (it.predicted, it.was_warm));
    assert_eq!(
        right.collect::<Vec<_>>(),
        [
            (Some(true), true),
            (Some(true), true),
            (Some(false), false),
            (Some(false), false)
        ]
    );
}

fn compacts() -> Event {
    Event::Reset(Box::new(Reset::compaction(
        Cause::Manual,
        RetainedItems::Nothing,
    )))
}

#[test]
fn wrong_predictions_of_warm_are_counted() {
    let log = Log::of("five")
        .asks(0, 5, 50_000, five(0, 50_000))
        .asks(60, 5, 50_100, five(50_000, 100))
        .asks(120, 5, 50_200, five(0, 50_200))
        // This one was to be cold.
        .asks(900, 5, 50_300, five(0, 50_300));
    let cache = log.0.gauge().prompt_cache().expect("a cache");
    let counts = |it: CacheMisses| (it.predicted, it.lost);
    assert_eq!(counts(cache.here), (2, 1));
    assert_eq!(cache.elsewhere.map(counts), Some((200, 3)));
}

#[test]
fn what_is_read_after_a_compaction_is_measured() {
    let read = |log: &Log, seconds| {
        let used = log.0.context().used;
        used.saturating_sub(log.0.gauge().next_prompt(at(seconds)).cold.written)
    };
    // Between what the first request read and its whole prompt.
    let log = Log::of("five")
        .asks(0, 5, 20_000, five(8_000, 12_000))
        .asks(10, 5, 50_000, five(20_000, 30_000))
        .event(60, compacts());
    assert_eq!(read(&log, 70), 14_000.min(log.0.context().used));
    // As much as after the compaction before.
    let log = log
        .asks(70, 5, 24_000, five(11_000, 13_000))
        .asks(80, 5, 60_000, five(24_000, 36_000))
        .event(90, compacts());
    assert_eq!(read(&log, 100), 11_000);
    assert_eq!(read(&log, 400), 0);
}

#[test]
fn a_renewal_shortens_the_pause() {
    let log = |renewed: bool| {
        let log = Log::of("five").asks(0, 5, 50_000, five(0, 50_000));
        let log = if renewed {
            log.event(250, Event::CacheRenewed)
        } else {
            log
        };
        log.asks(500, 5, 50_100, five(0, 50_100))
    };
    let predicted = |log: &Log| backtest(&log.0).first().and_then(|it| it.predicted);
    // Nothing was ever read: the log shows no cache.
    assert_eq!(predicted(&log(true)), None);
    let read = |renewed| log(renewed).asks(510, 5, 50_200, five(50_100, 100));
    assert_eq!(predicted(&read(true)), Some(true));
    assert_eq!(predicted(&read(false)), Some(false));
    let is_expired = |log: &Log| rebuilds(&log.0).first().map(|it| it.is_expired);
    assert_eq!(is_expired(&read(true)), Some(false));
    assert_eq!(is_expired(&read(false)), Some(true));
}

#[test]
fn a_provider_that_drops_prompts_is_not_relied_on() {
    let mut log = Log::of("five").asks(0, 1, 50_000, five(0, 50_000));
    let mut seconds = 0;
    for lost in [true, true, false, true] {
        seconds += 10;
        let billed = if lost {
            five(0, 50_000)
        } else {
            five(50_000, 0)
        };
        log = log.asks(seconds, 1, 50_000, billed);
    }
    assert!(matches!(log.state(seconds + 1), Some(CacheState::Open(_))));
    for _ in 0..20 {
        seconds += 10;
        log = log.asks(seconds, 1, 50_000, five(50_000, 0));
    }
    assert!(matches!(log.state(seconds + 1), Some(CacheState::Warm(_))));
}

#[test]
fn times_that_are_all_the_same_are_one_moment() {
    let log =
        Log::of("five")
            .asks(0, 0, 50_000, five(0, 50_000))
            .asks(0, 0, 50_100, five(50_000, 100));
    assert_eq!(log.state(0), Some(CacheState::Warm(at(300))));
}

proptest! {
    #[test]
    fn no_times_and_numbers_break_it(
        requests in prop::collection::vec((any::<i32>(), 0u64..1 << 40, 0u64..1 << 40, any::<bool>()), 0..12),
        now in any::<i64>(),
    ) {
        let mut log = Log::of("five");
        for (seconds, prompt, cached, for_an_hour) in requests {
            let billed = five(cached, prompt);
            let billed = if for_an_hour { billed.with_hour(prompt) } else { billed };
            log = log.asks(seconds.into(), 0, prompt, billed);
        }
        let now = Timestamp::from_second(now % 200_000_000_000).unwrap_or(Timestamp::MAX);
        let state = log.0.gauge().prompt_cache().map(|cache| cache.state(now));
        prop_assert!(state.is_none_or(|state| !state.word().is_empty()));
        let next = log.0.gauge().next_prompt(now);
        prop_assert!(next.warm.written <= next.cold.written);
        prop_assert_eq!(backtest(&log.0).len() < 12, true);
        let rebuilds = crate::cost::rebuilds::rebuilds(&log.0);
        prop_assert!(rebuilds.iter().all(|it| it.usd.is_none_or(|usd| usd >= 0.0)));
        crate::due::triggers::next(&log.0.gauge(), &Err(crate::outlook::forecast::NoForecast::NoGrowth), now);
    }
}
