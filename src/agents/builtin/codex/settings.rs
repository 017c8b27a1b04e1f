//! Codex's `config.toml`, the user's: a project's counts only if it is trusted, which no log shows. And
//! `models_cache.json`, the windows that the server gave.
//!
//! A window in the configuration is cut to the model's largest (openai/codex, `model_info.rs`). With
//! `model_auto_compact_token_limit_scope = "body_after_prefix"` the limit is for what came after the first
//! prompt of the window (`session/context_window.rs`). A process that resumes a session counts from its own first
//! prompt; no log shows that. From `model_post_turn_compact_threshold_percent` of the window on, it also compacts
//! after the answer that ends a turn (measured with 0.169: of a window of 57,000 and 50, not at 27,349, at 29,785).

use formats::settings::{self, Layers, Settings, SettingsFile};
use model::window::{ModelWindow, OtherSettings, Overrides};
use serde_json::Value;

const CONFIG: &str = "config.toml";
const CACHE: &str = "models_cache.json";

pub(super) const SETTINGS: Settings = Settings::new(
    &[SettingsFile::Agent(CONFIG), SettingsFile::Agent(CACHE)],
    read,
);

/// The share of a raw window that Codex uses, in percent, unless the model has another. Logs contain the usable part.
const USED: u64 = 95;

fn read(files: &[&[u8]]) -> Overrides {
    let config = Layers::toml(files);
    let profile = config.find("/profile", Value::as_str);
    // A profile's settings go before those outside of all.
    let names = |name: &str| {
        let own = profile.map(|profile: &str| {
            let profile = profile.replace('~', "~0").replace('/', "~1");
            format!("/profiles/{profile}/{name}")
        });
        own.into_iter().chain([format!("/{name}")])
    };
    let tokens = |name: &str| names(name).find_map(|path| config.tokens(&path));
    let scope = names("model_auto_compact_token_limit_scope")
        .find_map(|path| config.find(&path, Value::as_str));
    let turn_end = names("model_post_turn_compact_threshold_percent")
        .find_map(|path| config.find(&path, Value::as_u64))
        .filter(|percent| (1..=100).contains(percent));
    let raw = tokens("model_context_window");
    let cache = Layers::json(files);
    let others = others(&config, names, &cache);
    let models = models(&cache, raw);
    let window = raw.filter(|_| models.is_empty());
    let limit = tokens("model_auto_compact_token_limit");
    Overrides {
        window: window.map(|raw| part(raw, USED)),
        limit,
        from_first_prompt: scope == Some("body_after_prefix"),
        turn_end_share: turn_end.map(|percent| percent as f64 / 100.0),
        others,
        models,
        window_from: window.map_or("", |_| CONFIG),
        trigger_from: limit.or(turn_end).map_or("", |_| CONFIG),
        ..Overrides::default()
    }
}

/// Compactions in the background. The percent is one of the raw window.
const BACKGROUND: &str = "/features/async_compaction";

/// Returns the settings of compactions for other reasons than the size: in the background from a share of the raw
/// window on, and before a turn whose model has another `comp_hash` than that of the turn before.
fn others<N: Iterator<Item = String>>(
    config: &Layers,
    names: impl Fn(&str) -> N,
    cache: &Layers,
) -> OtherSettings {
    let text = |path: &str| config.find(path, Value::as_str);
    let percent = format!("{BACKGROUND}/model_async_compact_threshold_percent");
    let percent = config.find(&percent, Value::as_u64);
    let percent = percent.filter(|percent| (1..=100).contains(percent));
    let is_on = config.find(BACKGROUND, |set| {
        set.as_bool().or_else(|| set.get("enabled")?.as_bool())
    });
    // Only a provider of this name compacts for its clients.
    let provider = names("model_provider").find_map(|path| text(&path));
    let is_remote = provider.is_none_or(|id| {
        let id = id.replace('~', "~0").replace('/', "~1");
        let name = text(&format!("/model_providers/{id}/name"));
        name.map_or(id == "openai", |name| name == "OpenAI")
    });
    let background = is_on.map(|is_on| is_on && is_remote);
    let listed = cache.find("/models", Value::as_array);
    let hash = |model: &Value| {
        let of = |name: &str| Some(model.get(name)?.as_str()?.to_owned());
        Some((of("slug")?.replace('*', ""), of("comp_hash")?))
    };
    OtherSettings {
        background,
        // A share of what is used of the raw window.
        background_share: percent.map(|percent| percent as f64 / USED as f64),
        model: names("model")
            .find_map(|path| text(&path))
            .map(str::to_owned),
        hashes: listed.into_iter().flatten().filter_map(hash).collect(),
        from: background.map_or("", |_| CONFIG),
        ..OtherSettings::default()
    }
}

/// Returns the windows of the models that the server named, `set` being the one in the configuration.
fn models(cache: &Layers, set: Option<u64>) -> Vec<ModelWindow> {
    let listed = cache.find("/models", Value::as_array);
    let listed = listed.into_iter().flatten();
    let mut models = Vec::from_iter(listed.filter_map(|model| model_of(model, set)));
    if !models.is_empty() {
        models.extend(set.map(|raw| ModelWindow {
            id: "*".to_owned(),
            window: Some(part(raw, USED)),
            from: CONFIG,
            ..ModelWindow::default()
        }));
    }
    models
}

fn model_of(model: &Value, set: Option<u64>) -> Option<ModelWindow> {
    let number = |name: &str| model.get(name).and_then(settings::tokens);
    let largest = number("max_context_window");
    let usual = number("context_window").or(largest);
    let raw = match set {
        Some(set) => Some(set.min(largest.unwrap_or(u64::MAX))),
        None => usual,
    };
    let used = number("effective_context_window_percent").filter(|percent| *percent <= 100);
    Some(ModelWindow {
        id: model.get("slug")?.as_str()?.replace('*', ""),
        window: raw.map(|raw| part(raw, used.unwrap_or(USED))),
        limit: number("auto_compact_token_limit"),
        from: match set {
            Some(_) => CONFIG,
            None => CACHE,
        },
        ..ModelWindow::default()
    })
}

/// Returns so many hundredths of a window.
fn part(raw: u64, percent: u64) -> u64 {
    raw.saturating_mul(percent) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(files: &[&str]) -> Overrides {
        let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
        read(&files)
    }

    /// The window and the limit of a model.
    fn of(set: &Overrides, id: &str) -> (Option<u64>, Option<u64>, &'static str) {
        let row = set.models.iter().find(|row| row.id == id || row.id == "*");
        let row = row.expect("a row");
        (row.window, row.limit, row.from)
    }

    const MODELS: &str = r#"{"client_version": "0.169.0", "models": [
        {"slug": "gpt-6-astra", "context_window": 272000, "max_context_window": 872000,
         "effective_context_window_percent": 95},
        {"slug": "gpt-5.5", "context_window": 272000, "auto_compact_token_limit": 200000},
        {"slug": 7}, "odd"]}"#;

    #[test]
    fn window_and_limit() {
        let text = "model = \"gpt-5.5\"\nmodel_context_window = 400000\nmodel_auto_compact_token_limit = 350_000\n[tui]\n";
        let set = read_all(&[text]);
        assert_eq!((set.window, set.limit), (Some(380_000), Some(350_000)));
        assert!(!set.from_first_prompt);
        assert!(read_all(&["model_context_window = -1\n"]).is_empty());
        assert!(read(&[b"model_context_window = \n", b"\xff", b"{\"models\":[{}]}"]).is_empty());
    }

    #[test]
    fn a_profile_goes_before_what_is_set_for_all() {
        let text = "profile = \"long/er\"\nmodel_context_window = 200000\nmodel_auto_compact_token_limit = 100000\n\
             [profiles.\"long/er\"]\nmodel_context_window = 400000\n[profiles.other]\nmodel_context_window = 1\n";
        let set = read_all(&[text]);
        assert_eq!((set.window, set.limit), (Some(380_000), Some(100_000)));
    }

    #[test]
    fn the_server_names_the_windows_of_its_models() {
        let set = read_all(&[MODELS]);
        assert_eq!(set.models.len(), 2);
        assert_eq!(of(&set, "gpt-6-astra"), (Some(258_400), None, CACHE));
        assert_eq!(of(&set, "gpt-5.5"), (Some(258_400), Some(200_000), CACHE));
        // What is configured is cut to the model's largest.
        let set = read_all(&["model_context_window = 1_050_000\n", MODELS]);
        assert_eq!(set.window, None);
        assert_eq!(of(&set, "gpt-6-astra"), (Some(828_400), None, CONFIG));
        assert_eq!(of(&set, "another"), (Some(997_500), None, CONFIG));
    }

    #[test]
    fn the_limit_may_be_for_what_follows_the_first_prompt() {
        let set = read_all(&[
            "model_auto_compact_token_limit = 90000\nmodel_auto_compact_token_limit_scope = \"body_after_prefix\"\n",
        ]);
        assert_eq!((set.limit, set.from_first_prompt), (Some(90_000), true));
    }

    #[test]
    fn it_may_compact_at_the_end_of_a_turn() {
        let of = |percent: &str| {
            let text = format!("model_post_turn_compact_threshold_percent = {percent}\n");
            read_all(&[&text]).turn_end_share
        };
        assert_eq!((of("50"), of("100")), (Some(0.5), Some(1.0)));
        // Off, or Codex does not start.
        for other in ["0", "101", "-1", "0.5", "\"50\""] {
            assert_eq!(of(other), None, "{other}");
        }
        let of_profile = "profile = \"small\"\nmodel_post_turn_compact_threshold_percent = 80\n\
             [profiles.small]\nmodel_post_turn_compact_threshold_percent = 40\n";
        let set = read_all(&[of_profile]);
        assert_eq!((set.turn_end_share, set.trigger_from), (Some(0.4), CONFIG));
    }
}
