//! Windows and triggers where the session was larger than they allow.

use super::*;

#[test]
fn a_prompt_that_was_passed_shows_the_larger_window_of_two() {
    let of = |says_window, passed| {
        let limits = RULES.limits(&LimitInputs {
            says_window,
            largest: passed,
            passed,
            ..seen("claude-code", "claude-opus-4-6")
        });
        (limits.window, limits.trigger)
    };
    // The last step's results may come on top.
    assert_eq!(of(false, 175_000), (200_000, Some(167_000)));
    assert_eq!(of(false, 178_000).0, 1_000_000);
    assert_eq!(of(true, 178_000), (200_000, None), "it did not compact");
}

#[test]
fn a_window_that_is_set_below_the_context_has_its_own_rule() {
    let large = 400_000;
    let set = |set_window, past: &[PastSize]| {
        let limits = RULES.limits(&LimitInputs {
            set_window,
            largest: large,
            passed: large,
            past,
            ..seen("claude-code", "claude-opus-4-6")
        });
        (limits.window, limits.trigger, limits.trigger_source)
    };
    let past = [PastSize::Context(large)];
    let rule = (200_000, Some(167_000), TriggerSource::Policy);
    assert_eq!(set(Some(200_000), &[]), rule);
    assert_eq!(set(Some(200_000), &past), rule);
    let here = (500_000, Some(large), TriggerSource::Past);
    assert_eq!(set(Some(500_000), &past), here);
}

#[test]
fn a_larger_prompt_without_a_compaction_refutes_a_rule() {
    let of = |agent, passed| {
        let limits = RULES.limits(&LimitInputs {
            logged_window: Some(200_000),
            largest: passed,
            passed,
            ..seen(agent, "any")
        });
        (limits.trigger, limits.trigger_source, limits.no_trigger())
    };
    let rule = (Some(183_616), TriggerSource::Policy, None);
    assert_eq!(of("pi", 0), rule);
    assert_eq!(of("pi", 190_000), rule, "a step's results came on top");
    let why = "sent larger prompts than its rule allows (window - 16,384)".to_owned();
    let refuted = (None, TriggerSource::Contradicted, Some(why));
    assert_eq!(of("pi", 195_000), refuted);
    // One that may go on above it, and one that counts something else.
    assert_eq!(of("gemini-cli", 195_000).0, Some(100_000));
    assert_eq!(of("ouro", 300_000).0, Some(200_000));
}

#[test]
fn the_distance_to_the_window_is_what_is_left_where_a_prompt_is_refused() {
    let near = |version, past: &[PastSize]| {
        let limits = RULES.limits(&LimitInputs {
            version: Some(version),
            past,
            ..seen("claude-code", "claude-opus-4-8")
        });
        limits.refused_near()
    };
    assert_eq!(near("2.1.219", &[]), Some(1_000_000));
    assert_eq!(near("2.1.330", &[]), None);
    // Where one was refused before.
    let past = [998_700, 997_200].map(PastSize::Context);
    assert_eq!(near("2.1.219", &past), Some(997_200));
    let past = [1_004_000].map(PastSize::Context);
    assert_eq!(near("2.1.219", &past), Some(1_000_000));
}
