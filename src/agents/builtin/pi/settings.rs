//! pi's `settings.json`: the project's before the user's. And `models.json`, the windows of models that the
//! user added (`packages/coding-agent/src/core/model-config.ts`, `provider-composer.ts`).

use formats::settings::{Layers, Settings, SettingsFile, tokens};
use model::window::{ModelWindow, Overrides};
use serde_json::Value;
use std::path::PathBuf;

const FILES: [SettingsFile; 3] = [
    SettingsFile::Project(".pi/settings.json"),
    SettingsFile::Agent("settings.json"),
    SettingsFile::Agent(MODELS),
];
/// The file with the user's models.
const MODELS: &str = "models.json";
/// The window of a model there that names none.
const DEFAULT_WINDOW: u64 = 128_000;

pub(super) const SETTINGS: Settings = Settings::new(&FILES, read);

/// Returns the folder that the settings name for sessions.
pub(super) fn session_folder(settings: &[u8]) -> Vec<PathBuf> {
    let layers = Layers::json(&[settings]);
    let folder = layers.find("/sessionDir", Value::as_str);
    folder.into_iter().map(PathBuf::from).collect()
}

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    Overrides {
        reserve: layers.tokens("/compaction/reserveTokens"),
        compaction: layers.compaction("/compaction/enabled"),
        models: [
            reserves(&layers),
            models(&layers, &Layers::json_with_comments(files)),
        ]
        .concat(),
        ..Overrides::default()
    }
}

/// Returns the reserves of single models, which are set by `provider/model` (`core/settings-manager.js` in 1.6.0).
fn reserves(settings: &Layers) -> Vec<ModelWindow> {
    let models = settings.fields("/compaction/modelOverrides");
    let rows = models.filter_map(|(name, model)| {
        Some(ModelWindow {
            id: name.split_once('/')?.1.replace('*', ""),
            reserve: Some(model.get("reserveTokens").and_then(tokens)?),
            from: "settings.json",
            ..ModelWindow::default()
        })
    });
    rows.collect()
}

/// Returns the windows of `models.json`, in which there may be comments, other than in the settings.
fn models(settings: &Layers, files: &Layers) -> Vec<ModelWindow> {
    let default = settings.find("/defaultProvider", Value::as_str);
    let rows = files.find("/providers", |providers| {
        let window = Some(DEFAULT_WINDOW);
        Some(of_providers(providers, default, MODELS, window))
    });
    rows.unwrap_or_default()
}

/// Returns the windows of the models of providers, in a file `from`. Those of the default provider come first, for
/// logs that name models without their provider. `usual` is the window of a listed model that names none.
pub(in super::super) fn of_providers(
    providers: &Value,
    default: Option<&str>,
    from: &'static str,
    usual: Option<u64>,
) -> Vec<ModelWindow> {
    let mut rows = Vec::new();
    let providers = providers.as_object().into_iter().flatten();
    let (first, others): (Vec<_>, Vec<_>) =
        providers.partition(|(name, _)| Some(name.as_str()) == default);
    let row = |provider: &str, id: &str, model: &Value, usual: Option<u64>| {
        let set = model.get("contextTokens").and_then(tokens);
        let set = set.or_else(|| model.get("contextWindow").and_then(tokens));
        Some(ModelWindow {
            id: id.to_owned(),
            provider: provider.to_owned(),
            window: Some(set.or(usual)?),
            from,
            ..ModelWindow::default()
        })
    };
    for (name, provider) in first.into_iter().chain(others) {
        let overrides = provider.get("modelOverrides").and_then(Value::as_object);
        for (id, model) in overrides.into_iter().flatten() {
            rows.extend(row(name, id, model, None));
        }
        let models = provider.get("models").and_then(Value::as_array);
        for model in models.into_iter().flatten() {
            let id = model.get("id").and_then(Value::as_str);
            rows.extend(id.and_then(|id| row(name, id, model, usual)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::Compaction;

    #[test]
    fn the_reserve_and_the_switch_each_from_the_first_that_says_it() {
        let project = br#"{"compaction":{"reserveTokens":50000}}"#;
        let user = br#"{"compaction":{"enabled":false,"reserveTokens":9000}}"#;
        let set = read(&[project, user]);
        assert_eq!(set.reserve, Some(50_000));
        assert_eq!(set.compaction, Compaction::Off);
        let with_comment = br#"{"compaction":{"reserveTokens":50000}} // pi does not read this"#;
        assert_eq!(read(&[with_comment, user]).reserve, Some(9_000));
        assert!(read(&[br#"{"compaction":[]}"#]).is_empty());
    }

    #[test]
    fn a_model_may_have_a_reserve_of_its_own() {
        let user = br#"{"compaction":{"reserveTokens":9000,"modelOverrides":{
            "hub/maker/large":{"reserveTokens":800000},"hub/plain":{"keepRecentTokens":1},"odd":3}}}"#;
        let set = read(&[user]);
        let rows: Vec<_> = set.models.iter().map(|m| (&*m.id, m.reserve)).collect();
        assert_eq!(rows, [("maker/large", Some(800_000))]);
        assert_eq!(set.reserve, Some(9_000));
    }

    #[test]
    fn the_windows_of_models_json_the_default_providers_first() {
        let settings = br#"{"defaultProvider":"mine"}"#;
        let models = br#"{"providers":{ // my own
            "hub":{"models":[{"id":"small","contextWindow":8000},{"id":7}],
                "modelOverrides":{"large":{"contextWindow":500000},"other":{}}},
            "mine":{"models":[{"id":"small","contextWindow":60000},{"id":"plain"}]},
            "odd":3}}"#;
        let set = read(&[settings, models]);
        let rows: Vec<_> = set.models.iter().map(|m| (&*m.id, m.window)).collect();
        assert_eq!(
            rows,
            [
                ("small", Some(60_000)),
                ("plain", Some(128_000)),
                ("large", Some(500_000)),
                ("small", Some(8_000))
            ]
        );
        assert!(set.models.iter().all(|row| row.from == "models.json"));
    }
}
