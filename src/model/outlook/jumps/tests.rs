use super::*;
use crate::event::{Key, NewItem};
use crate::testing::properties::{entry, events, session as empty};
use crate::testing::{Log, new_item};
use crate::{Kind, Role};
use proptest::prelude::*;

fn text(log: Log, key: &str, role: Role, tokens: u64) -> Log {
    log.item(key, role, Kind::Text, tokens)
}

/// Returns the request, the growth and the sizes of the parts of each jump.
fn sizes(session: &Session) -> Vec<(Option<RequestIx>, u64, Vec<u64>)> {
    let sizes = |jump: Jump| {
        let parts = jump.parts.iter().map(|part| part.tokens);
        (jump.request, jump.tokens, parts.collect())
    };
    jumps(session, 9).into_iter().map(sizes).collect()
}

#[test]
fn a_jump_is_the_growth_between_two_reports_and_what_came_with_it() {
    let log = Log::new()
        .result("a", "Read", 1_000)
        .report(9_000)
        .result("b", "Read", 400)
        .report(9_400)
        .result("c", "Bash", 5_000)
        .result("d", "Bash", 1_000)
        .report(15_400);
    let found = sizes(&log.session);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (found[0].0, found[0].1, found[0].2.iter().sum()),
        (Some(2), 6_000, 6_000_u64)
    );
    assert_eq!(
        (found[1].0, found[1].1, &*found[1].2),
        (Some(1), 400, &[400_u64][..])
    );
    assert_eq!(jumps(&log.session, 1).len(), 1);
    assert!(
        jumps(&log.session, 9)
            .iter()
            .all(|jump| jump.error == 0 && jump.unlogged == 0)
    );
}

#[test]
fn a_call_and_its_result_are_one_part() {
    let piece = |kind, tokens| NewItem {
        call: Some(Key::of("call")),
        ..new_item(Role::Tool, kind, tokens)
    };
    let log = Log::new()
        .turn("a", 100)
        .report(9_000)
        .node("b", vec![piece(Kind::ToolCall, 100)])
        .node("c", vec![piece(Kind::ToolResult, 900)])
        .report(10_000);
    let jump = jumps(&log.session, 1).remove(0);
    let [part] = jump.parts[..] else {
        panic!("{:?}", jump.parts)
    };
    assert_eq!((part.item, part.tokens), (2, 1_000));
}

#[test]
fn text_that_no_log_shows_is_no_part() {
    let mut log = Log::new().turn("0", 100).report(9_000);
    for (n, key) in (1..).zip(["a", "b", "c", "d", "e", "f"]) {
        log = log.result(key, "Read", 1_000).report(9_000 + n * 1_000);
    }
    let log = log.result("g", "Read", 1_000).report(36_000);
    let jump = jumps(&log.session, 1).remove(0);
    assert_eq!((jump.tokens, jump.parts.len()), (21_000, 1));
    let part = jump.parts[0].tokens;
    assert_eq!(jump.unlogged, 21_000 - part as i64);
    assert!(part < 3_000, "{part}");
}

#[test]
fn the_first_report_of_an_epoch_is_no_jump() {
    let log = Log::new()
        .turn("a", 100)
        .report(9_000)
        .result("b", "Read", 1_000)
        .report(10_000)
        .compact(10_100)
        .turn("c", 50_000)
        .report(60_000);
    let found = sizes(&log.session);
    assert_eq!(found, [(Some(1), 1_000, vec![1_000])]);
}

#[test]
fn a_log_without_reports_grows_from_answer_to_answer() {
    let log = text(Log::new().turn("a", 20_000), "b", Role::Assistant, 10);
    let log = text(log.result("c", "Read", 30_000), "d", Role::Assistant, 500);
    let found = jumps(&log.session, 9);
    assert_eq!(found.len(), 2, "{found:?}");
    let largest = &found[0];
    assert_eq!((largest.request, largest.source), (None, Source::Estimated));
    assert_eq!(
        largest
            .parts
            .iter()
            .map(|part| part.item)
            .collect::<Vec<_>>(),
        [2, 1]
    );
    assert!(largest.tokens >= 30_000 && largest.error > 0, "{largest:?}");
    assert_eq!(found[1].parts[0].item, 3);
    assert_eq!(
        (largest.line, found[1].line),
        (3, 0),
        "the newest one goes with the next request"
    );
    let timeline = Timeline::of(&log.session);
    assert_eq!(largest.moment(&timeline), Some(2));
}

#[test]
fn growth_since_the_newest_report_is_estimated() {
    let log = Log::new()
        .turn("a", 100)
        .report(9_000)
        .result("b", "Read", 7_000);
    let found = jumps(&log.session, 9);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].request, found[0].source),
        (None, Source::Estimated)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_parts_add_up_to_the_growth(events in events()) {
        let mut session = empty();
        for event in events {
            session.apply(entry(event));
        }
        let all = jumps(&session, usize::MAX);
        prop_assert!(all.is_sorted_by_key(|jump| Reverse(jump.tokens)));
        for jump in &all {
            let came: u64 = jump.parts.iter().map(|part| part.tokens).sum();
            let sum = i128::from(came) - i128::from(jump.left) + i128::from(jump.unlogged);
            prop_assert_eq!(sum, i128::from(jump.tokens));
            prop_assert!(jump.tokens > 0);
            prop_assert!(jump.parts.is_sorted_by_key(|part| Reverse(part.tokens)));
            prop_assert_eq!(jump.error == 0, jump.source.is_known());
            let Some(request) = jump.request else { continue };
            let requests = session.requests();
            let (now, before) = (&requests[request], requests[request].previous.unwrap());
            let before = &requests[before];
            // Numbers of an older generation were replaced since, and add up no more.
            let newest = session.attribution().generation();
            if [now.generation, before.generation] == [newest; 2] {
                let system = now.system as i64 - before.system as i64;
                prop_assert_eq!(jump.unlogged, system);
            }
        }
        for most in [0, 1, 3] {
            prop_assert_eq!(&jumps(&session, most)[..], &all[..most.min(all.len())]);
        }
    }
}
