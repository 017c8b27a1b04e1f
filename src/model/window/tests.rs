mod agents;
mod passed;
mod sources;

use super::custom::{CustomPolicy, CustomWindow, RowSelector, Rule};
use super::*;
use crate::history::CompactionCounts;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let rules: Rules = toml::from_str(assets::MODELS).unwrap();
    rules.listing(assets::CATALOGUE)
});
static USUAL: LazyLock<Overrides> = LazyLock::new(Overrides::default);

fn seen<'a>(agent: &'a str, model: &'a str) -> LimitInputs<'a> {
    LimitInputs::new(agent, Some(model), &USUAL)
}

/// The trigger of an agent whose log gives this window.
fn at(agent: &str, model: &str, window: u64) -> Option<u64> {
    let logged_window = Some(window);
    RULES
        .limits(&LimitInputs {
            logged_window,
            ..seen(agent, model)
        })
        .trigger
}

fn claude(model: &str, overrides: &Overrides) -> Limits {
    RULES.limits(&LimitInputs {
        overrides,
        ..seen("claude-code", model)
    })
}

#[test]
fn patterns() {
    assert!(matches("claude-opus-4-5*", "claude-opus-4-5-20251101"));
    assert!(matches("*[1m]", "claude-sonnet-4-5[1m]"));
    assert!(matches("gpt-5.4", "GPT-5.4"));
    assert!(matches("*", "anything"));
    assert!(!matches("gpt-5.4", "gpt-5.4-mini"));
    assert!(!matches("claude-opus-4*", "anthropic"));
}

#[test]
fn an_agent_without_models_has_its_own_usual_window() {
    let mew = |largest| {
        let model = None;
        let limits = RULES.limits(&LimitInputs {
            model,
            largest,
            ..seen("mew", "")
        });
        (limits.window, limits.window_source)
    };
    assert_eq!(mew(100), (20_000, WindowSource::Guessed));
    assert_eq!(mew(20_001), (200_000, WindowSource::Guessed));
}

#[test]
fn an_unknown_model_of_a_known_maker_has_its_familys_window_as_a_guess() {
    let of = |agent, model| {
        let limits = RULES.limits(&seen(agent, model));
        (limits.window, limits.window_source)
    };
    let table = WindowSource::ModelTable;
    assert_eq!(of("claude-code", "claude-haiku-5-5"), (1_000_000, table));
    assert_eq!(of("codex", "gpt-6.1-sol"), (475_000, table));
    assert_eq!(of("request-log", "openai/gpt-4o"), (128_000, table));
    assert_eq!(
        of("pi", "us.anthropic.claude-opus-4-8-v1:0"),
        (1_000_000, table)
    );
    let guess = WindowSource::Guessed;
    assert_eq!(of("claude-code", "claude-nova-7"), (1_000_000, guess));
    assert_eq!(of("codex", "gpt-7-astra"), (258_400, guess));
    assert_eq!(of("qwen-code", "gemini_ultra"), (1_048_576, guess));
    assert_eq!(of("codex", "of nobody"), (258_400, table));
    assert_eq!(of("goose", "of nobody"), (128_000, guess));
    assert_eq!(of("opencode", "of nobody"), (200_000, guess));
}

#[test]
fn the_smaller_window_of_two_is_said_to_be_that_unless_the_log_says_which() {
    let after = |past: &[PastSize], model, says_window, largest| {
        let limits = RULES.limits(&LimitInputs {
            says_window,
            largest,
            past,
            ..seen("claude-code", model)
        });
        (limits.window, limits.window_source)
    };
    let of = |model, says_window, largest| after(&[], model, says_window, largest);
    let (small, large) = (200_000, 1_000_000);
    let (smaller, table) = (WindowSource::SmallerOfTwo, WindowSource::ModelTable);
    assert_eq!(of("claude-opus-4-6", false, 0), (small, smaller));
    assert_eq!(of("claude-opus-4-6", true, 0), (small, table));
    assert_eq!(of("claude-opus-4-6[1m]", true, 0), (large, table));
    assert_eq!(
        of("claude-opus-4-6", false, 200_001),
        (large, WindowSource::Guessed)
    );
    assert_eq!(of("claude-opus-5", false, 0), (large, table));
    // It compacted as it does with this window, and as a setting may make it do with either.
    for (at, source) in [(167_700, table), (120_000, smaller)] {
        let past = &[PastSize::Context(at)];
        let limits = after(past, "claude-opus-4-6", false, 167_700);
        assert_eq!(limits, (small, source), "{at}");
    }
}

#[test]
fn a_budget_that_is_set_takes_the_place_of_the_rules() {
    let limits = |budget| {
        let overrides = &Overrides {
            budget,
            ..Overrides::default()
        };
        let seen = LimitInputs {
            model: None,
            overrides,
            ..seen("ouro", "")
        };
        let limits = RULES.limits(&seen);
        (limits.trigger, limits.trigger_source, limits.window)
    };
    assert_eq!(
        limits(None),
        (Some(256_000), TriggerSource::Policy, 272_000)
    );
    // It can be more, too: the model is then one that can take it.
    let set = TriggerSource::Settings;
    assert_eq!(limits(Some(60_000)), (Some(60_000), set, 200_000));
    assert_eq!(limits(Some(500_000)), (Some(500_000), set, 1_000_000));
}

#[test]
fn what_the_user_sets_stands_before_all_else() {
    let which = |agent: &str, session: Option<&str>| RowSelector {
        agent: Some(agent.into()),
        session: session.map(Into::into),
        ..RowSelector::default()
    };
    let mut rules = RULES.clone();
    rules.custom.windows = vec![CustomWindow {
        which: which("claude-code", None),
        tokens: 500_000,
    }];
    rules.custom.policies = vec![
        CustomPolicy {
            which: which("claude-code", Some("3f2a*")),
            rule: Rule::Messages { keep: 20, over: 5 },
        },
        CustomPolicy {
            which: which("claude-code", None),
            rule: Rule::Share(0.95),
        },
    ];
    let of = |session| {
        rules.limits(&LimitInputs {
            session,
            past: &[PastSize::Context(168_000)],
            logged_window: Some(200_000),
            ..seen("claude-code", "claude-opus-4-6")
        })
    };
    let limits = of(Some("77"));
    assert_eq!((limits.window, limits.trigger), (500_000, Some(475_000)));
    assert_eq!(limits.window_source, WindowSource::Config);
    assert_eq!(limits.trigger_source, TriggerSource::Config);
    assert_eq!(limits.policy, "0.95 of the window");
    let limits = of(Some("3f2a-11"));
    assert_eq!(limits.trigger, None);
    assert_eq!(
        limits.no_trigger().as_deref(),
        Some("compacts at more than 25 messages, keeps 20 (config)")
    );
    let codex = rules.limits(&seen("codex", "gpt-5.5"));
    assert_eq!(codex.trigger_source, TriggerSource::Policy);

    let rule = |rule: Rule| rule.trigger(200_000);
    assert_eq!(rule(Rule::Budget(150_000)), Some(150_000));
    assert_eq!(rule(Rule::Budget(900_000)), Some(200_000));
    assert_eq!(rule(Rule::DropOldest(None)), Some(200_000));
    assert_eq!(rule(Rule::DropOldest(Some(64_000))), Some(64_000));
    assert_eq!(rule(Rule::Never), None);
}

#[test]
fn no_number_is_too_large() {
    let set = Overrides {
        compact_window: Some(u64::MAX),
        percent: Some(100.0),
        output: Some(u64::MAX),
        reserve: Some(u64::MAX),
        ..Overrides::default()
    };
    for agent in ["claude-code", "codex", "pi", "qwen-code"] {
        for window in [0, 1, u64::MAX] {
            let limits = RULES.limits(&LimitInputs {
                overrides: &set,
                set_window: Some(window),
                ..seen(agent, "claude-opus-4-8")
            });
            assert!(
                limits.trigger.is_none_or(|t| t <= window),
                "{agent} {window}"
            );
        }
    }
    assert_eq!(
        Rule::Messages {
            keep: u64::MAX,
            over: 9
        }
        .trigger(1),
        None
    );
}

#[test]
fn a_prefix_counts_once_what_the_log_shows_of_it() {
    let whole = RULES.usual_prefix("copilot-cli", None, 0);
    assert!(whole > 9_000);
    assert_eq!(
        RULES.usual_prefix("copilot-cli", None, 9_000),
        whole - 9_000
    );
    assert_eq!(RULES.usual_prefix("copilot-cli", None, u64::MAX), 0);
    let unlogged = RULES.usual_prefix("gemini-cli", None, 0);
    assert_eq!(RULES.usual_prefix("gemini-cli", None, 9_000), unlogged);
    assert_eq!(RULES.usual_prefix("nobody", None, 0), 0);
    let claude = |model| RULES.usual_prefix("claude-code", Some(model), 0);
    assert!(claude("claude-opus-5-20260701") > claude("claude-opus-4-5-20251101"));
}

#[test]
fn a_client_is_believed_up_to_what_was_seen() {
    let set = Overrides {
        said: Some(ClientStatus::window(
            1_000_000,
            Some("claude-opus-4-6".to_owned()),
        )),
        window: Some(300_000),
        ..Overrides::default()
    };
    let window = |model, logged_window, largest| {
        let limits = RULES.limits(&LimitInputs {
            logged_window,
            largest,
            ..LimitInputs::new("claude-code", Some(model), &set)
        });
        (limits.window, limits.window_source)
    };
    let said = (1_000_000, WindowSource::Client);
    assert_eq!(window("claude-opus-4-6", None, 0), said);
    assert_eq!(window("claude-opus-4-6", None, 1_000_000), said);
    assert_ne!(
        window("claude-opus-4-6", None, 1_000_001).1,
        WindowSource::Client
    );
    assert_eq!(
        window("claude-opus-4-6", Some(400_000), 0).1,
        WindowSource::Log
    );
    assert_eq!(
        window("claude-haiku-4-5", None, 0).1,
        WindowSource::Settings
    );
}

#[test]
fn a_larger_context_does_not_refute_a_set_window_by_which_the_agent_compacts() {
    let set = Overrides {
        models: vec![ModelWindow {
            id: "own".to_owned(),
            window: Some(60_000),
            output: Some(4_000),
            ..ModelWindow::default()
        }],
        ..Overrides::default()
    };
    let of = |largest, past: &[(u64, u64)]| {
        let past = past.iter().map(|&(at, not_at)| {
            let ours = Some(at);
            PastSize::Counted(CompactionCounts { at, not_at, ours })
        });
        let limits = RULES.limits(&LimitInputs {
            largest,
            past: &past.collect::<Vec<_>>(),
            overrides: &set,
            ..seen("kilo", "own")
        });
        (limits.window, limits.window_source, limits.trigger)
    };
    let by_settings = (60_000, WindowSource::Settings, Some(56_000));
    assert_eq!(of(60_000, &[]), by_settings);
    assert_eq!(of(60_552, &[(60_578, 50_900)]), by_settings);
    // It went on above that trigger, or nothing shows that it did not.
    assert_eq!(of(130_000, &[(130_000, 120_000)]).1, WindowSource::Guessed);
    assert_eq!(of(60_552, &[]).1, WindowSource::Guessed);
}

#[test]
fn a_client_says_when_it_compacts_unless_the_session_refutes_it() {
    let limits = |compaction, past: &[PastSize], logged_trigger| {
        let said = ClientStatus {
            compaction,
            ..ClientStatus::window(200_000, Some("claude-opus-4-6".to_owned()))
        };
        let set = Overrides {
            said: Some(said),
            ..Overrides::default()
        };
        let limits = RULES.limits(&LimitInputs {
            past,
            logged_trigger,
            ..LimitInputs::new("claude-code", Some("claude-opus-4-6"), &set)
        });
        (limits.trigger, limits.trigger_source, limits.no_trigger())
    };
    let at = ClientCompaction::At(67_000);
    assert_eq!(
        limits(at, &[], None),
        (Some(67_000), TriggerSource::Client, None)
    );
    assert_eq!(limits(at, &[], Some(90_000)).1, TriggerSource::Log);
    assert_ne!(
        limits(at, &[PastSize::Context(167_500)], None).1,
        TriggerSource::Client
    );
    let off = limits(ClientCompaction::Off, &[], None);
    assert_eq!(
        off,
        (
            None,
            TriggerSource::Client,
            Some("compaction is off (client)".to_owned())
        )
    );
    assert_eq!(
        limits(ClientCompaction::Refused, &[], None).1,
        TriggerSource::Refused
    );
    assert_eq!(
        limits(ClientCompaction::Unsaid, &[], None).1,
        TriggerSource::Policy
    );
}
