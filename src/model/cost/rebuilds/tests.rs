use super::*;
use crate::LeaveReason;
use crate::event::{
    BilledUsage, Cause, Conversation, Entry, Event, Key, Meta, Place, Reset, RetainedItems, Usage,
};
use crate::testing::timed::{Log, at, five};
use crate::window::{ClientMiss, ClientStatus};

/// A log whose newest request wrote 100,000 tokens for five minutes.
fn warm() -> Log {
    Log::of("five").asks(0, 5, 100_000, five(0, 100_000))
}

fn miss(cause: &str, tokens: Option<u64>) -> Option<Box<CacheMiss>> {
    let cause = MissCause::named(cause);
    Some(Box::new(CacheMiss { cause, tokens }))
}

/// Adds a request with what the provider logged of its cache.
fn diagnosed(log: Log, prompt: u64, billed: BilledUsage, miss: Option<Box<CacheMiss>>) -> Log {
    let usage = Usage {
        cached: billed.cache_read,
        billed,
        miss,
        ..Usage::reported(Key::of("diagnosed"), prompt)
    };
    log.event(20, Event::Usage(Box::new(usage)))
}

fn compacted(log: Log) -> Log {
    let (gone, kept) = (LeaveReason::Compaction, RetainedItems::Nothing);
    let reset = Reset::new(gone, Cause::Manual, kept);
    log.event(10, Event::Reset(Box::new(reset)))
}

/// Returns the request, tokens and cause of each rebuild.
fn found(log: &Log) -> Vec<(RequestIx, u64, RebuildCause)> {
    let all = rebuilds(&log.0).into_iter();
    all.map(|it| (it.request, it.tokens, it.cause)).collect()
}

#[test]
fn a_prompt_that_is_read_anew_is_a_rebuild() {
    let log = |cached| warm().asks(20, 5, 101_000, five(cached, 101_000 - cached));
    let none_stated = |tokens| vec![(1, tokens, RebuildCause::NotStated)];
    assert_eq!(found(&log(0)), none_stated(100_000));
    assert_eq!(found(&log(59_999)), none_stated(40_001));
    assert_eq!(found(&log(60_000)), []);
    // Fewer than 30,000 tokens.
    let small = Log::of("five").asks(0, 5, 29_999, five(0, 29_999));
    assert_eq!(found(&small.asks(20, 5, 40_000, five(0, 40_000))), []);
    // Only the beginning of the prompt before was sent again.
    let rewound = warm().asks(20, 5, 60_000, five(50_000, 10_000));
    assert_eq!(found(&rewound), []);
}

#[test]
fn a_rebuild_after_a_pause_or_by_another_model_has_that_cause() {
    let late = warm().asks(300, 5, 100_100, five(10_000, 90_100));
    let [rebuild] = &rebuilds(&late.0)[..] else {
        panic!("one rebuild");
    };
    assert_eq!(rebuild.cause, RebuildCause::Expired);
    assert_eq!((rebuild.pause, rebuild.is_expired), (Some(300), true));
    assert_eq!(rebuild.tokens, 90_000);
    let more = 90_000.0 * (6.25 - 0.5) / 1e6;
    assert!(rebuild.usd.is_some_and(|usd| (usd - more).abs() < 1e-9));
    let early = warm().asks(299, 5, 100_100, five(0, 100_100));
    assert_eq!(found(&early), [(1, 100_000, RebuildCause::NotStated)]);
    let another = Meta::of_model(Some("another".into()));
    let switched = warm().event(10, Event::Meta(Box::new(another)));
    let switched = switched.asks(400, 5, 100_100, five(0, 100_100));
    let [rebuild] = &rebuilds(&switched.0)[..] else {
        panic!("one rebuild");
    };
    assert_eq!(rebuild.cause, RebuildCause::ModelSwitched);
    // It has no price.
    assert_eq!(rebuild.usd, None);
}

#[test]
fn the_first_request_after_a_compaction_is_none_unless_the_provider_says_so() {
    let log = compacted(warm()).asks(20, 5, 80_000, five(0, 80_000));
    assert_eq!(found(&log), []);
    // The next one is.
    let next = log.asks(30, 5, 80_100, five(0, 80_100));
    assert_eq!(found(&next), [(2, 80_000, RebuildCause::NotStated)]);
    let said = miss("messages_changed", Some(25_000));
    let log = diagnosed(compacted(warm()), 80_000, five(0, 80_000), said);
    let cause = RebuildCause::Logged(MissCause::Messages);
    assert_eq!(found(&log), [(1, 25_000, cause)]);
}

#[test]
fn a_logged_cause_counts_with_its_own_number() {
    let of = |cause, tokens, cached: u64| {
        let billed = five(cached, 100_500 - cached);
        found(&diagnosed(warm(), 100_500, billed, miss(cause, tokens)))
    };
    let cause = |name: &str| RebuildCause::Logged(MissCause::named(name));
    let tools = of("tools_changed", Some(82_000), 0);
    assert_eq!(tools, [(1, 82_000, cause("tools_changed"))]);
    // No more than was read anew.
    let most = of("tools_changed", Some(u64::MAX), 90_000);
    assert_eq!(most, [(1, 10_500, cause("tools_changed"))]);
    let lost = of("previous_message_not_found", None, 20_000);
    assert_eq!(lost, [(1, 80_000, cause("previous_message_not_found"))]);
    // Nothing but the end of the prompt was read anew.
    assert_eq!(of("unavailable", None, 99_900), []);
    // A cause that nobody knows stays as it is, but for its length.
    let [(_, _, RebuildCause::Logged(MissCause::Other(name)))] =
        &of(&"x\u{1b}".repeat(9_000), None, 0)[..]
    else {
        panic!("another cause");
    };
    assert!(name.chars().count() < 300, "{}", name.len());
    // It is the first request: the provider has the one before.
    let first = Log::of("five");
    let said = miss("system_changed", Some(50_000));
    let first = diagnosed(first, 90_000, five(0, 90_000), said);
    assert_eq!(found(&first), [(0, 50_000, cause("system_changed"))]);
    let said = miss("system_changed", None);
    let unknown = diagnosed(Log::of("five"), 90_000, five(0, 90_000), said);
    assert_eq!(found(&unknown), []);
}

#[test]
fn a_cause_that_a_later_line_of_the_response_brings_is_kept() {
    let log = diagnosed(warm(), 100_500, five(0, 100_500), None);
    let said = miss("tools_changed", Some(70_000));
    let log = diagnosed(log, 100_500, five(0, 100_500), said);
    let log = diagnosed(log, 100_500, five(0, 100_500), None);
    let cause = RebuildCause::Logged(MissCause::Tools);
    assert_eq!(found(&log), [(1, 70_000, cause)]);
}

#[test]
fn the_price_is_that_of_what_was_written() {
    let hour = five(0, 100_100).with_hour(100_100);
    let log = warm().asks(20, 5, 100_100, hour);
    let more = 100_000.0 * (10.0 - 0.5) / 1e6;
    let usd = rebuilds(&log.0)[0].usd.unwrap();
    assert!((usd - more).abs() < 1e-9, "{usd}");
    // It was not written to the cache.
    let log = warm().asks(20, 5, 100_100, BilledUsage::new(100_100, 10));
    let more = 100_000.0 * (5.0 - 0.5) / 1e6;
    let usd = rebuilds(&log.0)[0].usd.unwrap();
    assert!((usd - more).abs() < 1e-9, "{usd}");
}

#[test]
fn a_provider_without_a_cache_rebuilds_nothing() {
    let uncached = || BilledUsage::new(100_000, 10);
    let log = Log::of("five").asks(0, 5, 100_000, uncached());
    assert_eq!(found(&log.asks(20, 5, 100_000, uncached())), []);
}

#[test]
fn a_clock_that_jumps_and_records_without_times_show_no_expiry() {
    let back = warm().asks(-5_000, 5, 100_100, five(0, 100_100));
    let [rebuild] = &rebuilds(&back.0)[..] else {
        panic!("one rebuild");
    };
    assert_eq!((rebuild.pause, rebuild.is_expired), (None, false));
    let mut log = warm();
    log.0.apply(Entry {
        conversation: Conversation::Main,
        place: Place::of_line(99),
        at: None,
        event: Event::Usage(Box::new(Usage::billed(
            Key::of("untimed"),
            100_100,
            five(0, 100_100),
        ))),
    });
    assert_eq!(found(&log), [(1, 100_000, RebuildCause::NotStated)]);
}

#[test]
fn responses_of_another_session_are_counted_there() {
    let inherited = Usage {
        is_inherited: true,
        ..Usage::billed(Key::of("inherited"), 100_100, five(0, 100_100))
    };
    let log = warm().event(20, Event::Usage(Box::new(inherited)));
    assert_eq!(found(&log), []);
}

#[test]
fn the_client_names_the_cause_of_the_newest_rebuild() {
    let said = |at_seconds: i64, log: Log| {
        let mut log = log;
        let miss = ClientMiss {
            misses: 1,
            at: Some(at(at_seconds)),
            causes: vec!["tools_changed".to_owned()],
            tools_added: 3,
            ..ClientMiss::default()
        };
        log.0.set_said(ClientStatus {
            miss: Some(miss),
            ..ClientStatus::window(200_000, None)
        });
        newest(&log.0).map(|it| (it.cause, it.tokens, it.tools))
    };
    let tools = RebuildCause::Logged(MissCause::Tools);
    let rebuilt = || warm().asks(20, 5, 100_100, five(0, 100_100));
    assert_eq!(said(21, rebuilt()), Some((tools.clone(), 100_000, [3, 0])));
    // It is about an earlier request.
    let not_stated = Some((RebuildCause::NotStated, 100_000, [0; 2]));
    assert_eq!(said(19, rebuilt()), not_stated);
    // The request before it was not read.
    let alone = || Log::of("five").asks(20, 5, 100_100, five(0, 100_100));
    assert_eq!(said(21, alone()), Some((tools, 100_100, [3, 0])));
    assert_eq!(said(19, alone()), None);
    // The newest request found its cache.
    assert_eq!(
        newest(&rebuilt().asks(30, 5, 100_200, five(100_100, 100)).0),
        None
    );
}
