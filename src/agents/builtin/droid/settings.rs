//! The settings of droid, `settings.json` in its folder.
//!
//! Seen in 0.215: before each step it compares the last prompt with its output with a limit. That is the one of the model
//! in `compactionTokenLimitPerModel`, else `compactionTokenLimit`, else 250,000 for a user's own model. A user's own model
//! is called `custom:`, its name with hyphens for blanks, and the number of those before it that have the same name.

use formats::settings::SettingsFile::Agent;
use formats::settings::{Layers, Settings, tokens};
use model::window::{ModelWindow, Overrides};
use serde_json::Value;

const FILE: &str = "settings.json";

pub(super) const SETTINGS: Settings = Settings::new(&[Agent(".factory/settings.json")], read);

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    let row = |id: &str| ModelWindow {
        id: id.to_owned(),
        from: FILE,
        ..ModelWindow::default()
    };
    let mut models = Vec::new();
    let limits = layers.fields("/compactionTokenLimitPerModel");
    models.extend(limits.map(|(id, limit)| ModelWindow {
        compact_window: tokens(limit),
        ..row(id)
    }));
    let own = layers.each("/customModels");
    models.extend(own.flat_map(|own| own_models(own, row)));
    models.push(ModelWindow {
        compact_window: layers.tokens("/compactionTokenLimit"),
        ..row("*")
    });
    models.retain(|row| row.window.or(row.compact_window).is_some());
    Overrides {
        compaction: layers.compaction("/compactionThresholdCheckEnabled"),
        models,
        ..Overrides::default()
    }
}

/// Returns the windows of the user's own models.
fn own_models(own: &Value, row: impl Fn(&str) -> ModelWindow) -> Vec<ModelWindow> {
    let own = own.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |model: &Value, key| model.get(key).and_then(Value::as_str).map(hyphened);
    let name = |model: &Value| text(model, "displayName").or_else(|| text(model, "model"));
    let mut names: Vec<String> = Vec::new();
    let rows = own.iter().filter_map(|model| {
        let name = name(model)?;
        let before = names.iter().filter(|known| **known == name).count();
        let id = format!("custom:{name}-{before}");
        names.push(name);
        Some(ModelWindow {
            window: model.get("maxContextLimit").and_then(tokens),
            ..row(&id)
        })
    });
    rows.collect()
}

fn hyphened(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::Compaction;

    #[test]
    fn limits_are_a_models_own_or_that_of_all() {
        let set = read(&[br#"{"compactionTokenLimit":40000,"compactionThresholdCheckEnabled":false,
            "compactionTokenLimitPerModel":{"custom:Own-Model-1":30000,"odd":"x"},
            "customModels":[{"displayName":"Own  Model","maxContextLimit":200000},{"model":"Own Model","maxContextLimit":64000},
                {"displayName":"plain","model":"other"},7]}"#]);
        let rows = set.models.iter();
        let rows: Vec<_> = rows
            .map(|row| (&*row.id, row.window, row.compact_window))
            .collect();
        assert_eq!(
            rows,
            [
                ("custom:Own-Model-1", None, Some(30_000)),
                ("custom:Own-Model-0", Some(200_000), None),
                ("custom:Own-Model-1", Some(64_000), None),
                ("*", None, Some(40_000)),
            ]
        );
        assert_eq!(set.compaction, Compaction::Off);
        assert!(read(&[b"[]", b"{\"customModels\":{}}"]).is_empty());
    }
}
