use super::*;
use crate::event::Surcharges;
use std::sync::LazyLock;

static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new(assets::CATALOGUE));

fn at<'a>(provider: &'a str, model: &'a str) -> ModelAt<'a> {
    ModelAt {
        model,
        provider: Some(provider).filter(|name| !name.is_empty()),
    }
}

fn window(provider: &str, model: &str, agent: &str) -> Option<u64> {
    let limits = BUILT_IN.limits(at(provider, model))?;
    Some(limits.window_for(agent))
}

fn input(provider: &str, model: &str, prompt: u64) -> Option<f64> {
    let row = BUILT_IN.price(at(provider, model))?;
    row.prices(prompt).input
}

#[test]
fn the_built_in_table_is_sorted_and_every_row_is_read() {
    let is_row = |line: &&str| !line.starts_with(['#', '@']);
    let lines: Vec<&str> = assets::CATALOGUE.lines().filter(is_row).collect();
    let names = lines.iter().map(|line| {
        let mut cells = line.split('\t');
        (cells.next(), cells.next())
    });
    assert!(names.is_sorted(), "catalogue.py writes it in order");
    let rows: Vec<ListedRow<'_>> = BUILT_IN.all().collect();
    assert_eq!(rows.len(), lines.len());
    for row in rows {
        assert!(row.limits().is_some(), "{row:?}");
        assert!(
            row.price(String::new()).is_some() || !row.has_price(),
            "{row:?}"
        );
        assert!(!BUILT_IN.sources(row.marks).is_empty(), "{row:?}");
    }
}

#[test]
fn a_provider_has_windows_of_its_own_and_the_makers_otherwise() {
    assert_eq!(window("openai", "gpt-5.6-sol", "pi"), Some(272_000));
    assert_eq!(window("openai", "gpt-5.6-sol", "zed"), Some(922_000));
    assert_eq!(window("openai-codex", "gpt-6.2-sol", "pi"), Some(500_000));
    assert_eq!(window("chatgpt", "gpt-6.2-sol", "pi"), Some(500_000));
    assert_eq!(
        window("github-copilot", "claude-opus-4.8", "zed"),
        Some(168_000)
    );
    assert_eq!(
        window("github-copilot", "gpt-5.6-sol", "pi"),
        Some(1_050_000)
    );
    assert_eq!(window("", "claude-opus-4.8", "zed"), Some(1_000_000));
    assert_eq!(
        window("somebody", "claude-opus-4.8", "zed"),
        Some(1_000_000)
    );
    assert_eq!(window("", "claude-opus-4-6", "claude-code"), Some(200_000));
    assert_eq!(window("somebody", "our-own", "zed"), None);
}

#[test]
fn one_model_has_many_names() {
    for id in [
        "claude-opus-4-5",
        "claude-opus-4.5",
        "Claude-Opus-4-5-20251101",
        "claude-opus-4-5-2025-11-01",
        "anthropic/claude-opus-4-5",
        "claude-opus-4-5[1m]",
    ] {
        assert_eq!(input("", id, 1), Some(5.0), "{id}");
    }
    // Bedrock's regions have prices of their own.
    assert_eq!(input("", "us.anthropic.claude-opus-5", 1), Some(5.5));
    assert_eq!(input("bedrock", "claude-opus-5", 1), Some(5.0));
    assert_eq!(
        input("", "anthropic.claude-opus-4-5-20251101-v1:0", 1),
        Some(5.5)
    );
    let long = |id| input("", id, 300_000);
    assert_eq!(long("claude-opus-4-7@default"), Some(10.0));
    assert_eq!(input("", "vertex/claude-opus-4-7@default", 1), Some(5.0));
    assert_eq!(key("a-20251301-x"), "a-20251301-x");
    assert_eq!(key("a-v2"), "a");
    assert_eq!(key("deepseek-v"), "deepseek-v");
}

#[test]
fn long_prompts_have_steps_and_modes_have_factors() {
    let steps =
        [32_000, 32_001, 128_001, 256_001].map(|n| input("alibaba-cn", "qwen3-coder-plus", n));
    assert_eq!(steps, [0.574, 0.861, 1.435, 2.87].map(Some));
    let row = BUILT_IN.price("claude-opus-5-5".into()).unwrap();
    assert!(row.lacking(Surcharges::of_tier("fast")).is_empty());
    assert_eq!(row.usual.cache_write_hour, Some(8.0));
    // Without a price of its own, reading from a cache costs what input does.
    let row = BUILT_IN.price(at("openai", "gpt-4-0613")).unwrap();
    assert_eq!(row.usual.cached_read, 30.0);
}

#[test]
fn a_subscription_has_the_price_of_the_maker() {
    assert_eq!(
        input("alibaba-coding-plan", "glm-5", 1),
        input("zai", "glm-5", 1)
    );
    assert!(input("alibaba-coding-plan", "glm-5", 1) > Some(0.0));
    assert_eq!(input("google", "gemma-4-31b-it", 1), Some(0.0));
}

#[test]
fn hostile_names_find_nothing_and_break_nothing() {
    let long = "a/".repeat(100_000);
    for name in [
        "",
        "\t",
        "@",
        "é",
        "-20251101",
        "/",
        "[",
        "openai\tgpt-5",
        "@maker",
        "🦀-v1:0",
        &long,
    ] {
        assert_eq!(
            BUILT_IN.price(at("openai", name)).map(|row| &row.ids),
            None,
            "{name:.20}"
        );
        assert_eq!(BUILT_IN.limits(at(name, name)), None, "{name:.20}");
        let known = BUILT_IN.limits(at(name, "claude-opus-5"));
        assert_eq!(
            known.map(|limits| limits.window),
            Some(1_000_000),
            "{name:.20}"
        );
    }
    let broken = Catalogue::new(
        "x\na\tb\na\tb\t-1\t\t\t1e99/nan\t\t\t\tz\n@maker\n@provider\n\t\t\t\t\t\t\t\t\t\n",
    );
    assert_eq!(broken.limits(at("a", "b")), None);
    assert_eq!(broken.price(at("a", "b")), None);
    assert_eq!(broken.all().count(), 2);
}

#[test]
fn a_model_and_its_provider_are_one_name_and_two_again() {
    for of in [at("", "m"), at("p", "m"), at("p", "")] {
        assert_eq!(ModelAt::parted(&of.joined()), of);
    }
    let hostile = at("p\tq", "m\tn").joined();
    assert_eq!(ModelAt::parted(&hostile), at("p q", "m n"));
}
