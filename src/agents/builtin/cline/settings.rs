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
    let last = layers.find("/lastUsedProvider", Value::as_str);
    let mut providers: Vec<_> = layers.fields("/providers").collect();
    // Two providers may have a model of the same name.
    providers.sort_by_key(|(id, _)| Some(id.as_str()) != last);
    let providers = providers.into_iter();
    let models = providers.filter_map(|(_, provider)| row(provider.get("settings")?));
    Overrides {
        models: models.collect(),
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
