use super::*;
use crate::outlook::forecast::forecast;
use crate::testing::timed::{self, five};
use crate::testing::{Log, time_of};

fn found(bounds: &Bounds, log: &Log) -> Vec<Violation> {
    passed(
        bounds,
        &log.session,
        &forecast(&log.session, None),
        Timestamp::UNIX_EPOCH,
    )
}

/// The only bound that is passed: what it bounds, its value, and the line since which it is beyond.
fn one(bounds: &Bounds, log: &Log) -> (BoundedQuantity, f64, Option<u64>) {
    let found = found(bounds, log);
    assert_eq!(found.len(), 1, "{found:?}");
    let line = (0..100).find(|line| time_of(*line) == found[0].since);
    (found[0].what, found[0].value, line)
}

/// A window of 100,000 tokens and a trigger of half of it. Lines 3, 5 and 7 are reports.
fn growing() -> Log {
    Log::new()
        .model("dear")
        .timed()
        .result("a", "Read", 4_000)
        .report(20_000)
        .result("b", "Read", 20_000)
        .report(40_000)
        .result("c", "Bash", 5_000)
        .report(45_000)
}

#[test]
fn percent_is_of_the_trigger_and_since_the_first_request_beyond() {
    let most = |percent| Bounds {
        percent: Some(percent),
        ..Bounds::default()
    };
    let log = growing();
    let (what, value, line) = one(&most(60.0), &log);
    assert_eq!(
        (what, value, line),
        (BoundedQuantity::PercentOfTrigger, 90.0, Some(5))
    );
    assert_eq!(one(&most(85.0), &log).2, Some(7));
    assert_eq!(found(&most(90.0), &log), []);
    assert!((found(&most(60.0), &log)[0].by() - 30.0).abs() < 1e-9);
}

#[test]
fn without_a_trigger_percent_is_of_the_window() {
    let bounds = Bounds {
        percent: Some(40.0),
        ..Bounds::default()
    };
    let log = Log::of("nobody").model("dear").timed().report(45_000);
    let (what, value, line) = one(&bounds, &log);
    assert_eq!(
        (what, value, line),
        (BoundedQuantity::PercentOfWindow, 45.0, Some(2))
    );
}

#[test]
fn what_is_beyond_before_a_compaction_counts_only_if_that_is_asked_for() {
    let now = Bounds {
        tokens: Some(30_000),
        ..Bounds::default()
    };
    let ever = Bounds {
        moment: BoundScope::Ever,
        ..now
    };
    let log = growing().compact(45_000).report(8_000);
    assert_eq!(found(&now, &log), []);
    assert_eq!(
        one(&ever, &log),
        (BoundedQuantity::Tokens, 45_000.0, Some(5))
    );
    // Not since the time before the compaction.
    let log = log.result("d", "Read", 30_000).report(39_000);
    assert_eq!(
        one(&now, &log),
        (BoundedQuantity::Tokens, 39_000.0, Some(11))
    );
}

#[test]
fn what_no_request_has_sent_yet_is_beyond_since_it_was_written() {
    let bounds = Bounds {
        tokens: Some(45_000),
        ..Bounds::default()
    };
    let log = growing().result("d", "Read", 1_000);
    assert_eq!(one(&bounds, &log).2, Some(8));
}

#[test]
fn items_are_those_in_the_context_or_all_that_there_were() {
    let now = Bounds {
        item: Some(Threshold::Tokens(4_500)),
        ..Bounds::default()
    };
    let ever = Bounds {
        moment: BoundScope::Ever,
        ..now
    };
    let log = growing();
    let passed = &found(&now, &log)[0];
    assert_eq!((passed.item, passed.items), (Some(1), 2));
    assert_eq!(passed.since, time_of(4));
    let log = log.compact(45_000).report(8_000);
    assert_eq!(found(&now, &log), []);
    assert_eq!(found(&ever, &log)[0].items, 2);
    // A share is of the window.
    let share = Bounds {
        item: Some(Threshold::Share(0.15)),
        ..ever
    };
    assert_eq!(found(&share, &log)[0].items, 1);
}

#[test]
fn few_requests_left_and_many_compactions() {
    let log = growing();
    let left = forecast(&log.session, None).unwrap().requests.rounded()[1];
    let least = |least| Bounds {
        requests_left: Some(least),
        ..Bounds::default()
    };
    assert_eq!(found(&least(left), &log), []);
    let (what, value, _) = one(&least(left + 1), &log);
    assert_eq!((what, value), (BoundedQuantity::RequestsLeft, left as f64));

    let most = |most| Bounds {
        compactions: Some(most),
        ..Bounds::default()
    };
    let log = log.compact(45_000).report(8_000).compact(46_000);
    assert_eq!(found(&most(2), &log), []);
    assert_eq!(
        one(&most(1), &log),
        (BoundedQuantity::Compactions, 2.0, Some(10))
    );
    // A clear is none.
    let log = log.reset(LeaveReason::Clear, "user", 8_000);
    assert_eq!(
        one(&most(1), &log),
        (BoundedQuantity::Compactions, 2.0, Some(10))
    );
}

#[test]
fn rebuilds_are_counted_and_their_tokens_added() {
    let log = timed::Log::of("five").asks(0, 5, 100_000, five(0, 100_000));
    let log = log.asks(20, 5, 101_000, five(0, 101_000));
    let log = log.asks(40, 5, 102_000, five(0, 102_000));
    let found = |bounds| -> Vec<_> {
        let none = Err(NoForecast::NoRequest);
        let found = passed(&bounds, &log.0, &none, Timestamp::UNIX_EPOCH);
        found
            .into_iter()
            .map(|passed| (passed.what, passed.value, passed.since))
            .collect()
    };
    let [most, least] = [2, 1].map(|most| Bounds {
        rebuilds: Some(most),
        rebuilt_tokens: Some(most * 100_500),
        ..Bounds::default()
    });
    assert_eq!(found(most), []);
    let since = log.0.requests()[2].at;
    assert!(since.is_some());
    assert_eq!(
        found(least),
        [
            (BoundedQuantity::Rebuilds, 2.0, since),
            (BoundedQuantity::RebuiltTokens, 201_000.0, since)
        ]
    );
}

#[test]
fn an_empty_session_has_passed_nothing() {
    let all = Bounds {
        percent: Some(0.5),
        tokens: Some(1),
        item: Some(Threshold::Tokens(1)),
        requests_left: Some(1_000_000),
        minutes_left: None,
        compactions: Some(0),
        rebuilds: Some(0),
        rebuilt_tokens: Some(0),
        moment: BoundScope::Ever,
    };
    let log = Log::of("nobody");
    let whats: Vec<BoundedQuantity> = found(&all, &log).iter().map(|p| p.what).collect();
    // The unlogged prefix is usual.
    assert!(whats.iter().all(|what| matches!(
        what,
        BoundedQuantity::PercentOfWindow | BoundedQuantity::Tokens
    )));
}
