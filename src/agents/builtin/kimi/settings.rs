//! The `config.toml` of Kimi Code and of kimi-cli, which name these settings alike.
//!
//! A model's window is `max_context_size`, in `[models.<alias>]` or in the `overrides` below it; the trigger
//! goes by `max_input_size` where that is smaller (`llm-adapter/model`, `fullCompaction` of Kimi Code 2.1).
//! `KIMI_MODEL_NAME` adds a model from the environment. The environment of a running agent cannot be
//! seen; ours is taken for it.

use formats::settings::{Layers, Settings, SettingsFile, reserved_tokens, tokens};
use model::window::{ModelWindow, Overrides};
use serde_json::Value;

const CONFIG: &str = "config.toml";
/// The variables that add a model.
const NAME_ENV: &str = "KIMI_MODEL_NAME";
const WINDOW_ENV: &str = "KIMI_MODEL_MAX_CONTEXT_SIZE";
/// The window of that model where none is set.
const DEFAULT_WINDOW: u64 = 262_144;

pub(super) const SETTINGS: Settings =
    Settings::new(&[SettingsFile::Agent(CONFIG)], read).env(&[NAME_ENV, WINDOW_ENV]);

fn read(files: &[&[u8]]) -> Overrides {
    let config = Layers::toml(files);
    let mut models: Vec<ModelWindow> = from_env(&Layers::json(files)).into_iter().collect();
    models.extend(from_config(&config));
    Overrides {
        // 0 switches the reserve off.
        reserve: config.find("/loop_control/reserved_context_size", reserved_tokens),
        share: config.share("/loop_control/compaction_trigger_ratio"),
        models,
        ..Overrides::default()
    }
}

/// Returns the model that the environment adds.
fn from_env(env: &Layers) -> Option<ModelWindow> {
    let name = env.find("/env/KIMI_MODEL_NAME", Value::as_str)?;
    let window = env.tokens("/env/KIMI_MODEL_MAX_CONTEXT_SIZE");
    Some(ModelWindow {
        id: plain(name.trim())?,
        window: Some(window.unwrap_or(DEFAULT_WINDOW)),
        from: window.map_or(NAME_ENV, |_| WINDOW_ENV),
        ..ModelWindow::default()
    })
}

/// Returns the windows of the configuration, that of the default model first: several aliases can be one model, whose
/// id is what requests name. The alias itself is named before the first request.
fn from_config(config: &Layers) -> Vec<ModelWindow> {
    let default = config.find("/default_model", Value::as_str);
    let mut models: Vec<_> = config.fields("/models").collect();
    models.sort_by_key(|(alias, _)| Some(alias.as_str()) != default);
    let models = models.into_iter();
    models
        .flat_map(|(alias, model)| rows(alias, model))
        .collect()
}

/// Returns the windows of a model, by its id and by its alias.
fn rows(alias: &str, model: &Value) -> Vec<ModelWindow> {
    let size = |name: &str| {
        let set = model.get("overrides").and_then(|set| set.get(name));
        set.and_then(tokens)
            .or_else(|| model.get(name).and_then(tokens))
    };
    let Some(window) = size("max_context_size") else {
        return Vec::new();
    };
    let input = size("max_input_size").filter(|input| *input < window);
    let id = model.get("model").and_then(Value::as_str);
    let ids = id.into_iter().chain([alias]).filter_map(plain);
    ids.map(|id| ModelWindow {
        id,
        window: Some(window),
        compact_window: input,
        from: CONFIG,
        ..ModelWindow::default()
    })
    .collect()
}

/// Returns an id without what would match others; `None`: nothing is left.
fn plain(id: &str) -> Option<String> {
    let id = id.replace('*', "");
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_and_the_share() {
        let text = b"default_model = \"k2\"\n[loop_control]\nreserved_context_size = 20_000\n\
            compaction_trigger_ratio = 0.7\n";
        let set = read(&[text]);
        assert_eq!((set.reserve, set.share), (Some(20_000), Some(0.7)));
        let off = read(&[b"[loop_control]\nreserved_context_size = 0\n"]);
        assert_eq!(off.reserve, Some(0));
        assert!(read(&[b"[loop_control]\ncompaction_trigger_ratio = 85\n"]).is_empty());
        assert!(read(&[b"loop_control = 1\n"]).is_empty());
        assert!(read(&[b"models = 1\n"]).is_empty());
    }

    #[test]
    fn the_windows_of_models_the_default_first() {
        let text = br#"
            default_model = "mine"
            [models.hub]
            provider = "hub"
            model = "small-1"
            max_context_size = 64000
            [models.hub.overrides]
            max_context_size = 48000
            [models."maker/large"]
            model = "large"
            max_context_size = 500000
            max_input_size = 400000
            [models.mine]
            model = "small-1"
            max_context_size = 60000
            max_input_size = 90000
            [models.none]
            model = "other"
            [models."*"]
            model = "*"
            max_context_size = 1
        "#;
        let env = br#"{"env":{"KIMI_MODEL_NAME":" spare ","KIMI_MODEL_MAX_CONTEXT_SIZE":"32000"}}"#;
        let set = read(&[text, env]);
        let rows: Vec<_> = set
            .models
            .iter()
            .map(|row| (&*row.id, row.window, row.compact_window, row.from))
            .collect();
        assert_eq!(
            rows,
            [
                ("spare", Some(32_000), None, WINDOW_ENV),
                ("small-1", Some(60_000), None, CONFIG),
                ("mine", Some(60_000), None, CONFIG),
                ("small-1", Some(48_000), None, CONFIG),
                ("hub", Some(48_000), None, CONFIG),
                ("large", Some(500_000), Some(400_000), CONFIG),
                ("maker/large", Some(500_000), Some(400_000), CONFIG),
            ]
        );
        let bare = read(&[br#"{"env":{"KIMI_MODEL_NAME":"spare"}}"#]);
        assert_eq!(bare.models[0].window, Some(DEFAULT_WINDOW));
        assert_eq!(bare.models[0].from, NAME_ENV);
    }
}
