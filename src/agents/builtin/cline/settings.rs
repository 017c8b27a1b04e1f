//! The windows in Cline's `providers.json`, which has the chosen model of each provider.
//!
//! Seen in 3.0.65: `contextWindow` outranks what it knows of the model, and it compacts by it.

use formats::settings::SettingsFile::Agent;
use formats::settings::{Layers, Settings, tokens};
use model::window::{ModelWindow, Overrides};
use serde_json::Value;

const FILE: &str = "providers.json";

pub(super) const SETTINGS: Settings = Settings::new(&[Agent("settings/providers.json")], read);

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    let last = layers.find("/lastUsedProvider", |id| id.as_str().map(str::to_owned));
    let mut models = Vec::new();
    layers.each("/providers", |providers| {
        let providers = providers.as_object().into_iter().flatten();
        let (used, others): (Vec<_>, Vec<_>) =
            providers.partition(|(id, _)| last.as_ref() == Some(id));
        // Two providers may have a model of the same name.
        let rows = used.into_iter().chain(others);
        models.extend(rows.filter_map(|(_, provider)| row(provider.get("settings")?)));
    });
    Overrides {
        models,
        ..Overrides::default()
    }
}

fn row(settings: &Value) -> Option<ModelWindow> {
    Some(ModelWindow {
        id: settings.get("model")?.as_str()?.to_owned(),
        window: Some(tokens(settings.get("contextWindow")?)?),
        from: FILE,
        ..ModelWindow::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_has_the_window_of_its_model() {
        let set = read(&[br#"{"lastUsedProvider":"own","providers":{
            "hub":{"settings":{"model":"small","contextWindow":64000}},
            "own":{"settings":{"model":"small","contextWindow":24000}},
            "plain":{"settings":{"model":"large"}},"odd":7}}"#]);
        let rows: Vec<_> = set
            .models
            .iter()
            .map(|row| (&*row.id, row.window))
            .collect();
        assert_eq!(rows, [("small", Some(24_000)), ("small", Some(64_000))]);
        assert!(read(&[b"{\"providers\":[]}", b"7"]).is_empty());
    }
}
