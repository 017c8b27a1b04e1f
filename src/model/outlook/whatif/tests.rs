use super::bill::CoursePrices;
use super::course::CourseStep;
use super::*;
use crate::testing::Log;
use proptest::prelude::*;

/// A session of an agent that compacts at half of its window of 100,000 tokens: a prompt of 3,000
/// more each time, and 12,000 after a compaction.
fn simulated(requests: usize) -> Log {
    let (mut log, mut prompt) = (Log::new().model("dear"), 10_000);
    for n in 0..requests {
        if prompt >= 50_000 {
            log = log.compact(prompt);
            prompt = 12_000;
        }
        log = log.result(&format!("r{n}"), "Read", 3_000).report(prompt);
        prompt += 3_000;
    }
    log
}

fn row<'r>(rows: &'r [WhatIf], whose: &str) -> &'r WhatIf {
    rows.iter().find(|row| row.whose.name() == whose).unwrap()
}

fn generic_row<'r>(rows: &'r [WhatIf], policy: &str) -> &'r WhatIf {
    rows.iter().find(|row| row.policy == policy).unwrap()
}

#[test]
fn the_own_policy_finds_the_compactions_that_took_place() {
    let log = simulated(100);
    let rows = what_if(&log.session, 100);
    let (real, own) = (row(&rows, "real"), row(&rows, "own"));
    assert_eq!(real.compactions.len(), 7);
    assert_eq!(own.compactions, real.compactions);
    assert_eq!((own.prompts, own.largest), (real.prompts, real.largest));
    assert_eq!((own.trigger, own.over), (Some(50_000), None));
    assert_eq!(own.policy, "half of the window");
}

#[test]
fn without_past_compactions_the_table_says_what_stays() {
    // 20,000 of prefix, then 3,000 a request up to 53,000.
    let mut log = Log::new().model("dear").report(20_000);
    for n in 1..=11 {
        log = log
            .result(&format!("r{n}"), "Read", 3_000)
            .report(20_000 + n * 3_000);
    }
    let rows = what_if(&log.session, 12);
    let done = |before, after| RuleCompaction {
        request: 10,
        before,
        after,
    };
    // A summary of 1,000.
    assert_eq!(row(&rows, "own").compactions, [done(50_000, 21_000)]);
    assert_eq!(row(&rows, "own").dropped(), 29_000);
    assert_eq!(row(&rows, "keeper").compactions, []);
}

#[test]
fn what_a_policy_keeps_stays() {
    let mut log = Log::new().model("dear").report(20_000);
    for n in 1..=25 {
        log = log
            .result(&format!("r{n}"), "Read", 3_000)
            .report(20_000 + n * 3_000);
    }
    let rows = what_if(&log.session, 26);
    // Prefix, the newest 10,000, a summary of 1,000.
    let done = RuleCompaction {
        request: 20,
        before: 80_000,
        after: 31_000,
    };
    assert_eq!(row(&rows, "keeper").compactions, [done]);
}

#[test]
fn messages_are_counted_and_the_newest_stay() {
    let mut log = Log::new().report(5_000);
    for n in 1..=30 {
        log = log
            .result(&format!("r{n}"), "Read", 100)
            .report(5_000 + n * 100);
    }
    let rows = what_if(&log.session, 31);
    let row = generic_row(&rows, "at more than 25 messages, keeps 20");
    // The 26th is one too many; 20 of 100 tokens stay, with a summary of 1,000.
    let done = RuleCompaction {
        request: 26,
        before: 7_600,
        after: 8_000,
    };
    assert_eq!(row.compactions, [], "{done:?} would have made it larger");
    assert_eq!(row.trigger, None);

    let mut log = Log::new().report(5_000);
    for n in 1..=30 {
        log = log
            .result(&format!("r{n}"), "Read", 1_000)
            .report(5_000 + n * 1_000);
    }
    let rows = what_if(&log.session, 31);
    let row = generic_row(&rows, "at more than 25 messages, keeps 20");
    let done = RuleCompaction {
        request: 26,
        before: 31_000,
        after: 26_000,
    };
    assert_eq!(row.compactions, [done]);
}

#[test]
fn never_grows_through_real_compactions_and_over_the_window() {
    let log = simulated(40);
    let rows = what_if(&log.session, 40);
    let never = generic_row(&rows, "never by itself");
    assert_eq!(never.compactions, []);
    assert!(never.largest > 100_000);
    let over = never.over.unwrap();
    assert!((30..40).contains(&over), "{over}");
    let limit = generic_row(&rows, "at the limit");
    assert_eq!((limit.compactions.len(), limit.over), (1, None));
}

#[test]
fn what_the_user_did_takes_place_under_every_rule() {
    for (gone, cause) in [
        (LeaveReason::Clear, "clear"),
        (LeaveReason::Compaction, "manual"),
    ] {
        let log = Log::new()
            .report(30_000)
            .report(45_000)
            .reset(gone, cause, 45_100)
            .report(20_000)
            .report(30_000);
        for row in &what_if(&log.session, 4)[1..] {
            assert_eq!(
                (row.compactions.len(), row.prompts),
                (0, 125_000),
                "{row:?}"
            );
        }
    }
}

#[test]
fn without_an_item_the_requests_that_held_it_are_smaller() {
    let log = Log::new()
        .model("dear")
        .report(20_000)
        .result("a", "Read", 5_000)
        .report(25_000)
        .report(26_000);
    let without = |items: &[ItemIx]| {
        let items = items.iter().copied().collect();
        what_if_without(&log.session, 3, &items)
    };
    let (all, less) = (without(&[]), without(&[0]));
    let (tokens, _) = log.session.tokens(0);
    assert_eq!((all.prompts, all.largest), (71_000, 26_000));
    assert_eq!(
        (less.prompts, less.largest),
        (71_000 - 2 * tokens, 26_000 - tokens)
    );
    assert_eq!(less.policy, "without 1 marked");
}

/// Two large results: without one of them the first compaction comes later.
#[test]
fn without_an_item_a_compaction_comes_later() {
    let log = simulated(30);
    let without = |items: &[ItemIx]| {
        let items = items.iter().copied().collect();
        what_if_without(&log.session, 30, &items).compactions[0].request
    };
    assert!(without(&[2, 3]) > without(&[]));
}

#[test]
fn as_of_a_moment_nothing_of_later_is_told() {
    let log = simulated(100);
    for requests in [0, 1, 14, 15, 50, 99] {
        let then = what_if(&log.session, requests);
        let short = simulated(requests);
        let live = what_if(&short.session, requests);
        for (then, live) in then.iter().zip(&live).skip(2) {
            assert_eq!(
                then.compactions, live.compactions,
                "{requests} {}",
                then.policy
            );
            assert_eq!(then.prompts, live.prompts, "{requests} {}", then.policy);
        }
        assert_eq!(then[0], live[0]);
        assert!(
            then.iter()
                .flat_map(|row| &row.compactions)
                .all(|c| c.request < requests)
        );
    }
    assert_eq!(
        what_if(&log.session, 100),
        what_if(&log.session, usize::MAX)
    );
}

#[test]
fn a_compaction_without_a_request_since_is_found() {
    let log = Log::new().report(20_000).report(49_000).compact(51_000);
    let rows = what_if(&log.session, 2);
    let own = row(&rows, "own");
    assert_eq!(own.compactions.len(), 1);
    assert_eq!(
        (own.compactions[0].request, own.compactions[0].before),
        (2, 51_000)
    );
    assert_eq!(own.prompts, 69_000);
}

#[test]
fn items_that_are_marked_are_left_out() {
    let context = [(3, 400, Source::Shared), (5, 1_000, Source::Shared)];
    let marked = BTreeSet::from([5, 9]);
    assert_eq!(without(context, &marked, 2_000), (1_000, 1_000));
    assert_eq!(without(context, &marked, 500), (1_000, 0));
}

/// A course of which the context only grows.
fn course(grown: &[u32]) -> GrowthHistory<'static> {
    let step = |grown: &u32| CourseStep {
        change: Change::By(i64::from(*grown)),
        ..CourseStep::default()
    };
    GrowthHistory {
        prices: CoursePrices::default(),
        steps: grown.iter().map(step).collect(),
        messages: Vec::new(),
        requests: grown.len(),
        prefix: 0,
    }
}

fn run(course: &GrowthHistory<'_>, fires: FiringRule, keeps: RetentionRule<'_>) -> WhatIf {
    course.run(
        u64::MAX,
        RuleOwner::Generic,
        String::new(),
        ReplayedRule { fires, keeps },
    )
}

proptest! {
    #[test]
    fn a_lower_trigger_never_compacts_less_often(
        grown in prop::collection::vec(0_u32..60_000, 0..200),
        low in 1_u64..300_000,
        more in 0_u64..300_000,
        after in 0_u64..100_000,
    ) {
        let course = course(&grown);
        let at = |trigger| run(&course, FiringRule::At(trigger), RetentionRule::Learned(after));
        let (lower, higher) = (at(low), at(low + more));
        prop_assert!(lower.compactions.len() >= higher.compactions.len());
    }

    #[test]
    fn no_rule_carries_more_than_none(
        grown in prop::collection::vec(0_u32..60_000, 0..200),
        trigger in 1_u64..300_000,
        summary in 0_u64..10_000,
    ) {
        let course = course(&grown);
        let never = run(&course, FiringRule::Never, RetentionRule::Summary(0));
        let row = run(&course, FiringRule::At(trigger), RetentionRule::Summary(summary));
        prop_assert!(row.prompts <= never.prompts);
        prop_assert!(row.largest <= never.largest);
        prop_assert!(row.compactions.iter().all(|c| c.after < c.before && c.before >= trigger));
        prop_assert!(row.compactions.windows(2).all(|two| two[0].request < two[1].request));
    }
}
