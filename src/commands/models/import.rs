//! `ctxgauge models import`.

use super::Call;
use crate::commands::setup::Setup;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use files::output::Existing;
use model::window::catalogue::{Addition, Numbers};
use render::number::counted;
use render::text::inert;
use report::to_file;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The largest list that is read, in bytes. That of models.dev has 3 MB.
const MOST_BYTES: u64 = 64 << 20;

/// `ctxgauge models import`.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The file: `api.json` of models.dev, `model_prices_and_context_window.json` of LiteLLM, or a file of
    /// `dist/providers/data` of pi-ai.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

impl Import {
    pub(super) fn run(&self, setup: &Setup, call: &mut Call<'_>) -> Result<()> {
        let name = inert(&self.path.to_string_lossy()).into_owned();
        let text = files::read_named(&self.path, MOST_BYTES);
        let text = text.with_context(|| format!("cannot read {name}"))?;
        let (title, rows) = read(&text).with_context(|| name.clone())?;
        let to = setup.catalogue_file()?;
        let models = rows.len() as u64;
        let made = setup.rules()?.catalogue.with(title, rows);
        if let Some(folder) = to.parent() {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("cannot write '{}'", to.display()))?;
        }
        to_file(&to, Existing::Replace, |out| {
            Ok(out.write_all(made.as_bytes())?)
        })?;
        let to = call.user.folders.display(&to);
        let models = counted(models, "model");
        writeln!(
            call.out,
            "{models} of {title} are in {}, which is read from now on in the place of the built-in table; remove it to \
             have that again",
            inert(&to)
        )?;
        Ok(())
    }
}

/// Returns the name of a list, and its models.
fn read(text: &str) -> Result<(&'static str, Vec<Addition>)> {
    let list: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| anyhow!("this is no JSON object: {error}"))?;
    let has = |field: &str| list.values().any(|value| value.get(field).is_some());
    let (title, mut rows): (_, Vec<Addition>) = if has("models") {
        ("models.dev", models_dev(&list))
    } else if has("litellm_provider") {
        ("litellm", litellm(&list))
    } else {
        ("pi-ai", pi(&list))
    };
    rows.retain(Addition::is_usable);
    if rows.is_empty() {
        bail!(
            "no model with a window is in it: it is none of the lists of models.dev, LiteLLM and pi"
        );
    }
    Ok((title, rows))
}

/// Reads `{provider: {models: {id: {limit, cost}}}}`.
fn models_dev(list: &Map<String, Value>) -> Vec<Addition> {
    const NAMES: [&str; 5] = ["input", "output", "cache_read", "cache_write", ""];
    let prices = |cost: &Value| prices(cost, NAMES, 1.0);
    let tier = |tier: &Value| Some((tokens(tier.pointer("/tier/size")?)?, prices(tier)));
    let model = |(provider, id): (&String, &String), model: &Value| {
        let limit = |name: &str| model.get("limit")?.get(name).and_then(tokens);
        let cost = model.get("cost").unwrap_or(&Value::Null);
        let tiers = cost.get("tiers").and_then(Value::as_array);
        Some(Addition {
            provider: provider.clone(),
            model: id.clone(),
            limits: [limit("context"), limit("input"), limit("output")],
            prices: prices(cost),
            long: match (tiers, cost.get("context_over_200k")) {
                (None, Some(long)) => vec![(200_000, prices(long))],
                (tiers, _) => tiers.into_iter().flatten().filter_map(tier).collect(),
            },
            chosen_by: None,
        })
    };
    let all = list.iter().filter_map(|(name, provider)| {
        let models = provider.get("models")?.as_object()?;
        Some(models.iter().map(move |(id, of)| ((name, id), of)))
    });
    let rows = all.flatten().filter_map(|(names, of)| model(names, of));
    rows.collect()
}

/// Reads `{[provider/]id: {litellm_provider, max_input_tokens, input_cost_per_token}}`.
fn litellm(list: &Map<String, Value>) -> Vec<Addition> {
    const NAMES: [&str; 5] = [
        "input_cost_per_token",
        "output_cost_per_token",
        "cache_read_input_token_cost",
        "cache_creation_input_token_cost",
        "cache_creation_input_token_cost_above_1hr",
    ];
    let model = |(name, model): (&String, &Value)| {
        let group = model.get("litellm_provider")?.as_str()?;
        let provider = group
            .split("-")
            .next()
            .filter(|_| group.starts_with("vertex_ai"));
        let provider = provider.unwrap_or(group);
        let limit = |name: &str| model.get(name).and_then(tokens);
        let above = |key: &String| {
            let size = key.strip_prefix("input_cost_per_token_above_")?;
            let thousands: u64 = size.strip_suffix("k_tokens")?.parse().ok()?;
            let named = NAMES.map(|name| format!("{name}_above_{thousands}k_tokens"));
            let prices = prices(model, named.each_ref().map(String::as_str), 1e6);
            Some((thousands.checked_mul(1_000)?, prices))
        };
        Some(Addition {
            provider: provider.to_owned(),
            model: name
                .strip_prefix(&format!("{provider}/"))
                .unwrap_or(name)
                .to_owned(),
            limits: [limit("max_input_tokens"), None, limit("max_output_tokens")],
            prices: prices(model, NAMES, 1e6),
            long: model.as_object()?.keys().filter_map(above).collect(),
            chosen_by: None,
        })
    };
    list.iter().filter_map(model).collect()
}

/// Reads `{name: {id: {provider, contextWindow, maxTokens, cost}}}`.
fn pi(list: &Map<String, Value>) -> Vec<Addition> {
    const NAMES: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", ""];
    let prices = |cost: &Value| prices(cost, NAMES, 1.0);
    let tier = |tier: &Value| Some((tokens(tier.get("inputTokensAbove")?)?, prices(tier)));
    let model = |(name, model): (&String, &Value)| {
        let limit = |name: &str| model.get(name).and_then(tokens);
        let provider = model.get("provider").and_then(Value::as_str);
        let id = model.get("id").and_then(Value::as_str);
        let cost = model.get("cost").unwrap_or(&Value::Null);
        let tiers = cost.get("tiers").and_then(Value::as_array);
        // It has 0 for prices that it does not know.
        let is_known = cost.get("input").and_then(Value::as_f64) > Some(0.0);
        Some(Addition {
            provider: provider?.to_owned(),
            model: id.unwrap_or(name).to_owned(),
            limits: [limit("contextWindow"), None, limit("maxTokens")],
            prices: if is_known {
                prices(cost)
            } else {
                Numbers::default()
            },
            long: tiers.into_iter().flatten().filter_map(tier).collect(),
            chosen_by: Some("pi"),
        })
    };
    let all = list.values().filter_map(Value::as_object).flatten();
    all.filter_map(model).collect()
}

fn prices(of: &Value, names: [&str; 5], per: f64) -> Numbers {
    names.map(|name| Some(of.get(name)?.as_f64()? * per))
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::{Catalogue, ModelAt};

    fn imported(text: &str) -> Catalogue {
        let (title, rows) = read(text).unwrap();
        Catalogue::new(Catalogue::new(assets::CATALOGUE).with(title, rows))
    }

    fn seen(all: &Catalogue, provider: &str, model: &str) -> (u64, u64, Option<f64>, Option<f64>) {
        let provider = Some(provider);
        let of = ModelAt { model, provider };
        let limits = all.limits(of).unwrap();
        let price = all.price(of).unwrap();
        let input = |tokens| price.prices(tokens).input;
        (
            limits.window_for("zed"),
            limits.window_for("pi"),
            input(1),
            input(300_000),
        )
    }

    #[test]
    fn each_list_goes_before_the_built_in_table_which_stays() {
        let models_dev = imported(
            r#"{"openai":{"id":"openai","models":{
                "gpt-9":{"limit":{"context":500000,"input":400000},"cost":{"input":3,"output":9,
                    "tiers":[{"tier":{"size":200000},"input":6,"output":18}]}},
                "odd":{"limit":7}, "gpt-5.6-sol":{"limit":{"context":900000},"cost":{"input":1}}}}}"#,
        );
        // pi goes by the window, whatever the largest prompt is.
        let new = (400_000, 500_000, Some(3.0), Some(6.0));
        assert_eq!(seen(&models_dev, "openai", "gpt-9"), new);
        // pi's own window stays, and so does what the list does not have.
        let known = seen(&models_dev, "openai", "gpt-5.6-sol");
        assert_eq!(known, (900_000, 272_000, Some(1.0), Some(1.0)));
        let other = seen(&models_dev, "anthropic", "claude-opus-5");
        assert_eq!(other, (1_000_000, 1_000_000, Some(5.0), Some(5.0)));
        assert!(models_dev.sources("i").starts_with("models.dev"));

        let litellm = imported(
            r#"{"sample_spec":{"max_tokens":"a text"},
                "xai/grok-9":{"litellm_provider":"xai","max_input_tokens":64000,"input_cost_per_token":1e-6,
                    "input_cost_per_token_above_200k_tokens":2e-6,"output_cost_per_token":3e-6}}"#,
        );
        let grok = seen(&litellm, "xai", "grok-9");
        assert_eq!(grok, (64_000, 64_000, Some(1.0), Some(2.0)));

        let pi = imported(
            r#"{"x":{"gpt-5.6-sol":{"id":"gpt-5.6-sol","provider":"openai","contextWindow":300000,
                "cost":{"input":5,"output":6,"cacheRead":1}}}}"#,
        );
        let own = seen(&pi, "openai", "gpt-5.6-sol");
        assert_eq!(own, (922_000, 300_000, Some(5.0), Some(5.0)));
    }

    #[test]
    fn names_from_a_list_cannot_make_rows_of_their_own() {
        let hostile = imported(
            r#"{"a\tb\n@maker\tevil\tclaude":{"models":{"d":{"limit":{"context":7}}}},
                "x":{"models":{"c\nopenai\tgpt-9":{"limit":{"context":5}},"d":{"limit":{"context":7}}}}}"#,
        );
        assert_eq!(hostile.limits("gpt-9".into()), None);
        assert!(hostile.price("claude-opus-5".into()).is_some());
        assert!(!hostile.text().contains("evil\t"));
    }

    #[test]
    fn a_file_that_is_no_list_is_an_error_that_says_so() {
        let error = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(error("").contains("no JSON object"), "{}", error(""));
        assert!(error("[1]").contains("no JSON object"));
        assert!(error("{\"a\":{\"models\":").contains("line 1"));
        for other in ["{}", "{\"a\":1}", "{\"openai\":{\"models\":[]}}"] {
            assert!(error(other).contains("no model with a window"), "{other}");
        }
    }
}
