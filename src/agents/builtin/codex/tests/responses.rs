//! What is one response: its identity in all files that have it, whose it is, and what changes its price.

use super::*;
use model::event::Usage;

fn usages(name: &str) -> Vec<Usage> {
    let entries = decode(&fixture(name)).into_iter();
    let usages = entries.filter_map(|entry| match entry.event {
        Event::Usage(usage) => Some(*usage),
        _ => None,
    });
    usages.collect()
}

/// The requests of a file that are its own.
fn own(name: &str) -> Vec<Key> {
    let usages = usages(name).into_iter();
    let own = usages.filter(|usage| !usage.is_inherited);
    let mut keys: Vec<Key> = own.map(|usage| usage.request).collect();
    keys.dedup();
    keys
}

#[test]
fn a_sub_agent_has_its_own_response_alone() {
    for child in [
        "sub-agent",
        "sub-agent-own-times",
        "sub-agent-own-times-sibling",
        "sub-agent-copied-at-once",
        "sub-agent-ordinals",
    ] {
        assert_eq!(own(child).len(), 1, "{child}");
    }
    assert_eq!(own("sub-agent-parent").len(), 2);
}

#[test]
fn siblings_that_answer_the_same_are_two() {
    let [first, second] = ["sub-agent-own-times", "sub-agent-own-times-sibling"].map(own);
    assert_ne!(first, second);
}

#[test]
fn inherited_requests_are_named_as_in_the_parents_file() {
    let keys = |name| -> Vec<Key> {
        usages(name)
            .into_iter()
            .map(|usage| usage.request)
            .collect()
    };
    let parent = keys("sub-agent-parent");
    for child in ["sub-agent-own-times", "sub-agent-copied-at-once"] {
        assert_eq!(keys(child)[..2], parent[..], "{child}");
    }
}

#[test]
fn a_copy_without_what_was_encrypted_has_the_same_responses() {
    let [whole, redacted] = ["encrypted", "encrypted-redacted"].map(own);
    assert_eq!((whole.len(), &whole), (2, &redacted));
}

#[test]
fn items_may_follow_the_count_of_theirs() {
    let story = story("count-before-items");
    let lines = story.lines().filter(|line| !line.contains(" skipped "));
    assert_eq!(
        lines.skip(3).take(6).collect::<Vec<_>>(),
        [
            "4 meta window=258400",
            "4 usage r1 reported 100+5900 out 50 (0) billed 6000 5900 50 0",
            "5 node r1 assistant/tool_call [exec_command] 'cat 0'",
            "6 node tool/tool_result [exec_command] 'paid: january february march'",
            "9 usage r2 reported 180+5900 out 51 (0) billed 6080 5900 51 0",
            "10 node r2 assistant/tool_call [exec_command] 'cat 1'",
        ]
    );
    // No output is taken twice: each result is what its delta leaves.
    let session = session("count-before-items");
    let results = session
        .items()
        .iter()
        .filter(|item| item.role == Role::Tool);
    let sizes: Vec<u64> = results.map(|item| item.attributed.unwrap().0).collect();
    assert_eq!(sizes, [30, 1270, 22, 510]);
}

#[test]
fn a_tier_is_that_of_the_turn_or_of_the_report() {
    let surcharges: Vec<_> = usages("service-tier")
        .iter()
        .map(|usage| usage.billed.surcharges.names())
        .collect();
    let (none, priority, flex) = (vec![], vec!["priority"], vec!["flex"]);
    // The settings name no tier any more, but only after the third response's turn.
    let searched = vec!["priority", "web_search"];
    assert_eq!(surcharges, [none, priority, searched, flex.clone(), flex]);
    assert_eq!(usages("service-tier")[1].billed.cache_creation, 1000);
}
