//! The rules of each agent.

use super::*;

#[test]
fn claude_code_by_version_and_model() {
    let of = |model, version, logged_window| {
        let version = Some(version);
        RULES.limits(&LimitInputs {
            version,
            logged_window,
            ..seen("claude-code", model)
        })
    };
    let trigger = |model, version| of(model, version, None).trigger;
    assert_eq!(trigger("claude-opus-4-5", "2.1.20"), Some(155_000));
    assert_eq!(trigger("claude-opus-4-5", "2.1.25"), Some(167_000));
    assert_eq!(trigger("claude-opus-4-6", "2.1.330"), Some(167_000));
    assert_eq!(trigger("claude-sonnet-5", "2.1.240"), Some(934_000));
    assert_eq!(trigger("claude-sonnet-5", "2.1.250"), Some(967_000));
    assert_eq!(trigger("claude-opus-5-5", "2.1.260"), Some(967_000));
    assert_eq!(RULES.limits(&seen("droid", "x")).no_trigger(), None);
    // It compacts where the provider refuses a prompt, and at no size before.
    let (small, large) = (Some(200_000), Some(1_000_000));
    for (model, version, window) in [
        ("claude-opus-4-6", "2.1.156", small),
        ("claude-opus-4-8", "2.1.219", large),
        ("claude-opus-4-6", "2.1.330", large),
        ("claude-opus-4-6[1m]", "2.1.330", large),
        ("claude-haiku-4-5-20251001", "2.1.330", small),
    ] {
        let limits = of(model, version, window);
        let seen = (Some(limits.window), limits.trigger, limits.trigger_source);
        assert_eq!(seen, (window, None, TriggerSource::Refused), "{model}");
        assert_eq!(limits.end(), limits.window);
        assert_eq!(
            limits.no_trigger().as_deref(),
            Some("compacts when a prompt is refused")
        );
    }
}

#[test]
fn the_writer_of_a_summary_does_not_compact() {
    let of = |session| {
        RULES.limits(&LimitInputs {
            session: Some(session),
            version: Some("2.1.39"),
            ..seen("claude-code", "claude-opus-4-6")
        })
    };
    let writer = of("agent-acompact-946d2b");
    assert_eq!((writer.trigger, writer.end()), (None, writer.window));
    assert!(writer.ends);
    assert_eq!(
        writer.no_trigger().as_deref(),
        Some("never compacts: it writes a summary, and ends")
    );
    assert_eq!(of("agent-ac57f5").trigger, Some(167_000));
}

#[test]
fn a_prompt_is_refused_for_the_window_and_not_far_below_it() {
    let of = |past: &[PastSize]| {
        let limits = RULES.limits(&LimitInputs {
            past,
            ..seen("claude-code", "claude-haiku-4-5")
        });
        (limits.trigger, limits.trigger_source)
    };
    let refused = (None, TriggerSource::Refused);
    assert_eq!(of(&[PastSize::Context(193_000)]), refused);
    assert_eq!(of(&[PastSize::Context(201_000)]), refused);
    // Something else made it compact: a window that the server sent.
    let past = (Some(168_000), TriggerSource::Past);
    assert_eq!(of(&[PastSize::Context(168_000)]), past);
    let counted = CompactionCounts {
        at: 168_000,
        not_at: 150_000,
        ours: None,
    };
    assert_eq!(of(&[PastSize::Counted(counted)]), past);
    // The newest says what holds.
    let both = [PastSize::Context(168_000), PastSize::Context(201_000)];
    assert_eq!(of(&both), refused);
}

#[test]
fn claude_code_takes_a_model_that_it_does_not_know_for_one_of_200k() {
    let of = |model, version, largest| {
        let limits = RULES.limits(&LimitInputs {
            version: Some(version),
            largest,
            ..seen("claude-code", model)
        });
        (limits.window, limits.trigger)
    };
    let (at, refused) = (Some(167_000), None);
    for model in ["gpt-5.6-sol", "deepseek-v4-flash", "glm-5.2", "of-nobody"] {
        assert_eq!(of(model, "2.1.310", 0), (200_000, at), "{model}");
        // Nothing compacted such a model at a size.
        assert_eq!(of(model, "2.1.222", 0), (200_000, refused), "{model}");
    }
    assert_eq!(of("gpt-5.6-sol[1m]", "2.1.310", 0), (1_000_000, refused));
    // What was seen refutes it: it is the model's own.
    let (window, _) = of("deepseek-v4-flash", "2.1.310", 210_000);
    assert_eq!(window, 1_000_000);
    // Elsewhere it is the model's own at once, and its tokenizer is its own everywhere.
    assert_eq!(RULES.limits(&seen("pi", "glm-5.2")).window, 1_000_000);
    let tokenizer = |model| RULES.model("claude-code", model)?.tokenizer.as_deref();
    assert_eq!(tokenizer("gpt-5.6-sol"), Some("o200k"));
    assert_eq!(tokenizer("claude-opus-5[1m]"), Some("claude-4.7"));
    // A setting for unknown models is for no others.
    let set = Overrides {
        unknown_window: Some(64_000),
        window_from: "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
        ..Overrides::default()
    };
    let limits = claude("glm-5.2", &set);
    assert_eq!((limits.window, limits.trigger), (64_000, Some(31_000)));
    let from = "settings, CLAUDE_CODE_MAX_CONTEXT_TOKENS";
    assert_eq!(limits.window_from(), from);
    for known in ["claude-opus-5", "glm-5.2[1m]"] {
        assert_eq!(claude(known, &set).window, 1_000_000, "{known}");
    }
}

#[test]
fn claude_code_by_the_names_of_other_providers() {
    let window = |model, version| {
        let version = Some(version);
        let limits = RULES.limits(&LimitInputs {
            version,
            ..seen("claude-code", model)
        });
        limits.window
    };
    for model in [
        "us.anthropic.claude-opus-5",
        "eu.anthropic.claude-opus-4-8-v1:0",
        "claude-opus-4-8@20260520",
    ] {
        assert_eq!(window(model, "2.1.286"), 200_000, "{model}");
        assert_eq!(window(model, "2.1.287"), 1_000_000, "{model}");
    }
    for model in [
        "us.anthropic.claude-sonnet-5",
        "us.anthropic.claude-opus-5[1m]",
        "claude-opus-5",
    ] {
        assert_eq!(window(model, "2.1.219"), 1_000_000, "{model}");
    }
    let profile = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/4jqt";
    assert_eq!(window(profile, "2.1.219"), 200_000);
    // Other agents take them for what they are.
    let pis = RULES.limits(&seen("pi", "us.anthropic.claude-opus-5"));
    assert_eq!(pis.window, 1_000_000);
}

#[test]
fn claude_code_with_settings() {
    let window = |tokens| Overrides {
        compact_window: Some(tokens),
        ..Overrides::default()
    };
    // Also where it is not proactive by itself.
    for model in ["claude-sonnet-5", "claude-opus-4-8", "claude-opus-4-6[1m]"] {
        let limits = claude(model, &window(460_000));
        assert_eq!(limits.trigger, Some(427_000), "{model}");
        assert_eq!(limits.trigger_source, TriggerSource::Settings);
        assert_eq!(limits.window, 1_000_000);
    }
    let limits = claude("claude-haiku-4-5", &window(150_000));
    assert_eq!(limits.trigger, Some(117_000));
    // A configured window above the model's changes nothing.
    let limits = claude("claude-opus-4-6", &window(460_000));
    assert_eq!(limits.trigger, Some(167_000));
    assert_eq!(limits.trigger_source, TriggerSource::Policy);

    let percent = |percent| Overrides {
        percent: Some(percent),
        ..Overrides::default()
    };
    // Of what the output leaves, 180,000; it can only lower.
    let of = |p| claude("claude-opus-4-6", &percent(p)).trigger;
    assert_eq!((of(50.0), of(100.0)), (Some(90_000), Some(167_000)));
    // Nothing that does not fire is lowered.
    assert_eq!(claude("claude-haiku-4-5", &percent(50.0)).trigger, None);

    let output = Overrides {
        output: Some(8_000),
        ..Overrides::default()
    };
    assert_eq!(claude("claude-opus-4-6", &output).trigger, Some(179_000));
    let held = Overrides {
        window_at_most: Some(200_000),
        ..Overrides::default()
    };
    let limits = claude("claude-opus-4-8", &held);
    assert_eq!((limits.window, limits.trigger), (200_000, Some(167_000)));
    assert_eq!(limits.window_source, WindowSource::Settings);
    // What was seen refutes the setting.
    let limits = RULES.limits(&LimitInputs {
        overrides: &held,
        largest: 300_000,
        ..seen("claude-code", "claude-opus-4-8")
    });
    assert_eq!(limits.window, 1_000_000);
}

#[test]
fn switched_off_it_does_not_compact_whatever_it_did_before() {
    let off = Overrides {
        compaction: Compaction::Off,
        ..Overrides::default()
    };
    let limits = RULES.limits(&LimitInputs {
        overrides: &off,
        past: &[PastSize::Context(168_000)],
        ..seen("claude-code", "claude-opus-4-6")
    });
    assert_eq!(limits.trigger, None);
    assert_eq!(limits.trigger_source, TriggerSource::Settings);
    assert!(limits.no_trigger().is_some_and(|why| why.contains("off")));
}

#[test]
fn past_compactions_stand_before_the_rule() {
    let of = |past| {
        let limits = RULES.limits(&LimitInputs {
            past,
            ..seen("claude-code", "claude-opus-4-6")
        });
        (limits.trigger, limits.trigger_source)
    };
    assert_eq!(
        of(&[PastSize::Context(120_000)]),
        (Some(120_000), TriggerSource::Past)
    );
    assert_eq!(
        of(&[PastSize::Context(174_000), PastSize::Context(168_000)]),
        (Some(167_000), TriggerSource::Policy)
    );
    let limit = RULES.limits(&LimitInputs {
        past: &[PastSize::Context(900_000)],
        ..seen("claude-code", "claude-opus-4-8")
    });
    assert_eq!(limit.trigger, Some(900_000));
}

#[test]
fn codex_by_the_raw_window() {
    assert_eq!(at("codex", "gpt-5.5", 258_400), Some(244_800));
    let lower = Overrides {
        limit: Some(200_000),
        window: Some(380_000),
        ..Overrides::default()
    };
    let limits = RULES.limits(&LimitInputs {
        overrides: &lower,
        ..seen("codex", "gpt-5.5")
    });
    assert_eq!((limits.window, limits.trigger), (380_000, Some(200_000)));
    // The log knows the window better.
    let limits = RULES.limits(&LimitInputs {
        overrides: &lower,
        logged_window: Some(258_400),
        ..seen("codex", "gpt-5.5")
    });
    assert_eq!(limits.window_source, WindowSource::Log);
    assert_eq!(limits.trigger_source, TriggerSource::Settings);
}

#[test]
fn codex_may_count_from_the_first_prompt() {
    let trigger = |limit: Option<u64>, first: Option<u64>| {
        let overrides = Overrides {
            limit,
            from_first_prompt: true,
            ..Overrides::default()
        };
        let limits = RULES.limits(&LimitInputs {
            overrides: &overrides,
            logged_window: Some(258_400),
            first,
            ..seen("codex", "gpt-5.5")
        });
        limits.trigger
    };
    assert_eq!(trigger(Some(90_000), Some(20_000)), Some(110_000));
    assert_eq!(trigger(Some(90_000), None), Some(90_000));
    // Not cut to 0.9 of the window, but the window is the end.
    assert_eq!(trigger(Some(240_000), Some(10_000)), Some(250_000));
    assert_eq!(trigger(None, Some(20_000)), Some(258_400));
}

#[test]
fn codex_may_compact_at_the_end_of_a_turn() {
    let of = |set: Overrides, past: &[PastSize]| {
        let limits = RULES.limits(&LimitInputs {
            overrides: &set,
            logged_window: Some(57_000),
            first: Some(8_000),
            past,
            ..seen("codex", "gpt-5.5")
        });
        (limits.trigger, limits.turn_end, limits.trigger_source)
    };
    let at = |share| Overrides {
        turn_end_share: Some(share),
        ..Overrides::default()
    };
    let usual = TriggerSource::Policy;
    let half = Some(28_500);
    assert_eq!(of(at(0.5), &[]), (Some(54_000), half, usual));
    // In the middle of a turn it compacts at its usual size.
    let above = [PastSize::Context(54_100)];
    assert_eq!(of(at(0.5), &above), (Some(54_000), half, usual));
    // The usual rule comes first.
    assert_eq!(of(at(0.98), &[]), (Some(54_000), None, usual));
    let limited = Overrides {
        limit: Some(20_000),
        ..at(0.5)
    };
    let set = TriggerSource::Settings;
    assert_eq!(of(limited, &[]), (Some(20_000), None, set));
    let from_first = Overrides {
        limit: Some(30_000),
        from_first_prompt: true,
        ..at(0.5)
    };
    assert_eq!(of(from_first, &[]), (Some(38_000), half, set));
}

#[test]
fn gemini_by_the_day() {
    let on = |day: &str| {
        let at = Some(day.parse().unwrap());
        RULES
            .limits(&LimitInputs {
                at,
                ..seen("gemini-cli", "gemini-3-pro-preview")
            })
            .trigger
    };
    assert_eq!(on("2026-08-01T10:00:00Z"), Some(524_288));
    assert_eq!(on("2025-10-01T10:00:00Z"), Some(734_003));
    assert_eq!(at("gemini-cli", "gemini-2.5-pro", 1_048_576), Some(524_288));
}

#[test]
fn qwen_code_by_version() {
    let qwen = |window| at("qwen-code", "qwen3-max", window);
    assert_eq!(qwen(1_000_000), Some(850_000));
    assert_eq!(qwen(262_144), Some(222_822));
    assert_eq!(qwen(200_000), Some(167_000));
    assert_eq!(qwen(131_072), Some(98_072));
    // A window no larger than the reserve.
    assert_eq!(qwen(32_000), Some(27_200));
    let old = RULES.limits(&LimitInputs {
        version: Some("0.15.6"),
        logged_window: Some(131_072),
        ..seen("qwen-code", "qwen3-max")
    });
    assert_eq!(old.trigger, Some(91_750));
    let on = |day: &str, window| {
        let day: Timestamp = day.parse().unwrap();
        let seen = LimitInputs {
            version: Some("0.18.0"),
            at: Some(day),
            logged_window: Some(window),
            ..seen("qwen-code", "qwen3-max")
        };
        RULES.limits(&seen).trigger
    };
    assert_eq!(on("2026-05-20T10:00:00Z", 1_000_000), Some(700_000));
    assert_eq!(on("2026-06-20T10:00:00Z", 1_000_000), Some(967_000));
    assert_eq!(on("2026-06-20T10:00:00Z", 200_000), Some(170_000));
    assert_eq!(on("2026-08-20T10:00:00Z", 1_000_000), Some(850_000));
    assert_eq!(
        RULES.limits(&seen("qwen-code", "qwen3-max")).window,
        262_144
    );
}

#[test]
fn the_other_agents() {
    assert_eq!(at("pi", "claude-opus-4-6", 200_000), Some(183_616));
    assert_eq!(at("openclaw", "claude-opus-4-6", 200_000), Some(180_000));
    assert_eq!(at("copilot-cli", "gpt-5", 128_000), Some(102_400));
    assert_eq!(at("kimi", "kimi-k2", 262_144), Some(212_144));
    assert_eq!(at("kimi", "kimi-k3", 1_000_000), Some(850_000));
    assert_eq!(at("opencode", "claude-opus-4-6", 200_000), Some(168_000));
    assert_eq!(
        RULES.limits(&seen("opencode", "gpt-5.5")).trigger,
        Some(902_000)
    );
    assert_eq!(at("goose", "any", 128_000), Some(102_400));
    assert_eq!(at("crush", "any", 200_000), Some(160_000));
    assert_eq!(at("crush", "any", 400_000), Some(380_000));
    assert_eq!(at("cline", "any", 200_000), Some(162_000));
    assert_eq!(at("ouro", "any", 1_000_000), Some(256_000));
    assert_eq!(at("ouro", "any", 128_000), Some(128_000));
    assert_eq!(at("openhands", "any", 200_000), None);
}

/// The trigger in a log of this window, with settings.
fn with(agent: &str, model: &str, window: u64, overrides: &Overrides) -> Option<u64> {
    let logged_window = Some(window);
    RULES
        .limits(&LimitInputs {
            logged_window,
            overrides,
            ..seen(agent, model)
        })
        .trigger
}

#[test]
fn hermes_by_window_threshold_and_output() {
    let hermes = |window, share, output| {
        let set = Overrides {
            share,
            output,
            ..Overrides::default()
        };
        with("hermes", "any", window, &set)
    };
    assert_eq!(hermes(1_000_000, None, None), Some(500_000));
    assert_eq!(hermes(1_000_000, Some(0.3), None), Some(300_000));
    assert_eq!(hermes(512_000, Some(0.1), None), Some(64_000));
    assert_eq!(hermes(200_000, None, None), Some(150_000));
    assert_eq!(hermes(200_000, Some(0.3), None), Some(150_000));
    assert_eq!(hermes(200_000, Some(0.9), None), Some(180_000));
    assert_eq!(hermes(200_000, None, Some(8_000)), Some(144_000));
    assert_eq!(hermes(80_000, None, None), Some(64_000));
    assert_eq!(hermes(64_000, None, None), Some(54_400));
}

#[test]
fn a_reserve_is_no_more_than_a_share_of_a_small_window() {
    assert_eq!(at("openclaw", "any", 32_000), Some(24_000));
    assert_eq!(at("openclaw", "any", 80_000), Some(60_000));
    let before = LimitInputs {
        at: Some("2026-08-31T00:00:00Z".parse().unwrap()),
        logged_window: Some(64_000),
        ..seen("openclaw", "any")
    };
    assert_eq!(RULES.limits(&before).trigger, Some(44_000));
}

#[test]
fn roo_and_kilo_code_by_the_window() {
    for agent in ["roo-code", "kilo-code"] {
        assert_eq!(at(agent, "any", 1_000_000), Some(891_808));
        assert_eq!(at(agent, "any", 200_000), Some(171_808));
    }
}

#[test]
fn mistral_vibe_between_its_bounds() {
    let vibe = |window| at("mistral-vibe", "any", window);
    assert_eq!(vibe(1_000_000), Some(256_000));
    assert_eq!(vibe(262_144), Some(202_144));
    assert_eq!(vibe(105_000), Some(50_000));
    assert_eq!(vibe(80_000), Some(40_000));
    assert_eq!(vibe(16_000), Some(10_000));
    let limits = RULES.limits(&seen("mistral-vibe", "of-nobody"));
    assert_eq!((limits.window, limits.trigger), (262_144, Some(202_144)));
}

#[test]
fn zed_leaves_the_output_out() {
    assert_eq!(at("zed", "deepseek-v4-pro", 1_000_000), Some(554_400));
    assert_eq!(at("zed", "gpt-5.6-sol", 272_000), Some(244_800));
    assert_eq!(at("zed", "any", 79_999), None);
    let set = |share, budget, reserve| Overrides {
        share,
        budget,
        reserve,
        ..Overrides::default()
    };
    let zed = |set| with("zed", "deepseek-v4-pro", 1_000_000, &set);
    assert_eq!(zed(set(Some(0.5), None, None)), Some(308_000));
    assert_eq!(zed(set(Some(1.0), Some(600_000), None)), Some(600_000));
    assert_eq!(zed(set(Some(1.0), None, Some(15_999))), Some(600_001));
}

#[test]
fn grok_by_its_list_and_the_day() {
    assert_eq!(at("grok", "grok-4.5", 500_000), Some(400_000));
    assert_eq!(at("grok", "grok-5", 500_000), Some(425_000));
    let before = LimitInputs {
        at: Some("2026-09-07T00:00:00Z".parse().unwrap()),
        logged_window: Some(500_000),
        ..seen("grok", "grok-4.5")
    };
    assert_eq!(RULES.limits(&before).trigger, Some(425_000));
}

#[test]
fn droid_by_the_largest_input() {
    let droid = |model| RULES.limits(&seen("droid", model)).trigger;
    assert_eq!(droid("gpt-5.5"), Some(250_000));
    assert_eq!(droid("claude-opus-5"), Some(250_000));
    assert_eq!(droid("grok-4.5"), Some(200_000));
    assert_eq!(droid("kimi-k2.7-code"), Some(196_600));
    assert_eq!(droid("glm-5"), Some(190_000));
    assert_eq!(droid("glm-5.1"), Some(134_464));
    assert_eq!(droid("custom:mine-0"), Some(250_000));
}

#[test]
fn kilo_may_compact_at_a_share_of_the_window() {
    let set = Overrides {
        share: Some(0.5),
        ..Overrides::default()
    };
    assert_eq!(with("kilo", "any", 200_000, &set), Some(100_000));
    assert_eq!(with("kilo", "any", 200_000, &USUAL), Some(168_000));
}

#[test]
fn what_is_set_for_a_model_comes_before_what_is_set_for_all() {
    let set = Overrides {
        reserve: Some(50_000),
        models: vec![ModelWindow {
            id: "large".to_owned(),
            reserve: Some(800_000),
            ..ModelWindow::default()
        }],
        ..Overrides::default()
    };
    assert_eq!(with("pi", "large", 1_000_000, &set), Some(200_000));
    assert_eq!(with("pi", "other", 1_000_000, &set), Some(950_000));
}

#[test]
fn pi_and_gemini_settings_take_the_place_of_the_rule() {
    let set = Overrides {
        reserve: Some(50_000),
        share: Some(0.25),
        ..Overrides::default()
    };
    let trigger = |agent, model| {
        RULES
            .limits(&LimitInputs {
                overrides: &set,
                logged_window: Some(1_000_000),
                ..seen(agent, model)
            })
            .trigger
    };
    assert_eq!(trigger("gemini-cli", "gemini-2.5-pro"), Some(250_000));
    let reserve = Overrides {
        reserve: Some(50_000),
        ..Overrides::default()
    };
    let limits = RULES.limits(&LimitInputs {
        overrides: &reserve,
        logged_window: Some(200_000),
        ..seen("pi", "any")
    });
    assert_eq!(limits.trigger, Some(150_000));
}
