//! The order of the sources of windows and prices.

use super::*;
use crate::event::Surcharges;

fn window(rules: &Rules, seen: &LimitInputs<'_>) -> (u64, WindowSource) {
    let limits = rules.limits(seen);
    (limits.window, limits.window_source)
}

/// pi with a model of OpenAI's, and these settings.
fn pi<'a>(provider: &'a str, overrides: &'a Overrides) -> LimitInputs<'a> {
    LimitInputs {
        provider: Some(provider),
        overrides,
        ..seen("pi", "gpt-5.6-sol")
    }
}

#[test]
fn the_log_comes_before_settings_these_before_the_table_and_it_before_a_guess() {
    let row = |provider: &str, window| ModelWindow {
        id: "gpt-5.6-sol".to_owned(),
        provider: provider.to_owned(),
        window: Some(window),
        ..ModelWindow::default()
    };
    let set = Overrides {
        models: vec![row("hub", 60_000), row("openai", 90_000)],
        ..Overrides::default()
    };
    let seen = pi("openai", &set);
    let logged = LimitInputs {
        logged_window: Some(50_000),
        ..seen
    };
    assert_eq!(window(&RULES, &logged), (50_000, WindowSource::Log));
    assert_eq!(window(&RULES, &seen), (90_000, WindowSource::Settings));
    let table = WindowSource::ModelTable;
    assert_eq!(
        window(&RULES, &pi("github-copilot", &set)),
        (1_050_000, table)
    );
    assert_eq!(window(&RULES, &pi("openai", &USUAL)), (272_000, table));
    let unknown = LimitInputs {
        model: Some("our-own"),
        ..pi("our-gateway", &USUAL)
    };
    assert_eq!(window(&RULES, &unknown), (128_000, WindowSource::Guessed));
    // Of OpenAI's family, but in no list.
    let new = LimitInputs {
        model: Some("gpt-7-nova"),
        ..pi("openai", &USUAL)
    };
    assert_eq!(window(&RULES, &new).1, WindowSource::Guessed);
}

#[test]
fn a_provider_of_the_settings_holds_where_the_log_has_none() {
    let set = Overrides {
        provider: "openai-codex".to_owned(),
        ..Overrides::default()
    };
    let hermes = |provider| LimitInputs {
        provider,
        overrides: &set,
        ..seen("hermes", "gpt-5.6-sol")
    };
    assert_eq!(window(&RULES, &hermes(None)).0, 272_000);
    assert_eq!(window(&RULES, &hermes(Some("openai"))).0, 922_000);
}

#[test]
fn the_users_rows_come_before_the_table_and_the_built_in_ones_after_it() {
    let own = "[[model]]\nids = [\"gpt-5.6-sol\"]\nwindow = 77_000\n[[price]]\nids = [\"gpt-5.6-sol\"]\ncached_read = 9.0";
    let own: Rules = toml::from_str(own).unwrap();
    let rules = RULES.clone().with_custom(own).unwrap();
    assert_eq!(window(&rules, &pi("openai", &USUAL)).0, 77_000);
    let read = |rules: &Rules| {
        rules
            .price_of("gpt-5.6-sol")
            .map(|row| row.usual.cached_read)
    };
    assert_eq!((read(&rules), read(&RULES)), (Some(9.0), Some(0.4)));
    // Codex has its own part of the window, which no list has.
    let codex = |model| window(&RULES, &seen("codex", model)).0;
    assert_eq!(codex("gpt-5.6-sol"), 258_400);
    assert_eq!(codex("gpt-6.2-sol"), 475_000);
    // A tier that the table lacks.
    let row = RULES.price_of("gpt-5.2-codex").unwrap();
    assert!(row.lacking(Surcharges::of_tier("flex")).is_empty());
}

#[test]
fn claude_code_takes_a_model_that_it_does_not_know_for_a_million_since_2_1_323() {
    let set = |at_most, unknown| Overrides {
        window_at_most: at_most,
        unknown_window: unknown,
        ..Overrides::default()
    };
    let window = |version, overrides: &Overrides| {
        let limits = RULES.limits(&LimitInputs {
            version,
            overrides,
            ..seen("claude-code", "glm-5.2")
        });
        (limits.window, limits.trigger)
    };
    let usual = set(None, None);
    assert_eq!(window(Some("2.1.322"), &usual), (200_000, Some(167_000)));
    assert_eq!(window(Some("2.1.323"), &usual), (1_000_000, Some(967_000)));
    assert_eq!(window(None, &usual).0, 1_000_000);
    let without = set(Some(200_000), None);
    assert_eq!(window(Some("2.1.332"), &without).0, 200_000);
    let own = set(None, Some(64_000));
    assert_eq!(window(Some("2.1.332"), &own).0, 64_000);
}
