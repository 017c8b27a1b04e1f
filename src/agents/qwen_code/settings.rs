//! Qwen Code's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use crate::agents::settings::{Layers, Settings, SettingsFile};
use crate::model::window::Overrides;
use serde_json::Value;

pub(super) const SETTINGS: Settings = Settings {
    files: &[
        SettingsFile::Machine {
            unix: "/etc/qwen-code/settings.json",
            macos: "/Library/Application Support/QwenCode/settings.json",
            windows: r"C:\ProgramData\qwen-code\settings.json",
        },
        SettingsFile::Project(".qwen/settings.json"),
        SettingsFile::Agent("settings.json"),
        SettingsFile::Machine {
            unix: "/etc/qwen-code/system-defaults.json",
            macos: "/Library/Application Support/QwenCode/system-defaults.json",
            windows: r"C:\ProgramData\qwen-code\system-defaults.json",
        },
    ],
    env: &[],
    read,
};

/// The setting's names, the newest first; the others hold for old versions only.
const THRESHOLD: [&[&str]; 3] = [
    &["context", "autoCompactThreshold"],
    &["model", "chatCompression", "contextPercentageThreshold"],
    &["chatCompression", "contextPercentageThreshold"],
];

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    let share = |value: &Value| value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0);
    Overrides {
        share: THRESHOLD.iter().find_map(|path| layers.find(path, share)),
        ..Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_by_all_its_names() {
        let new = br#"{"context":{"autoCompactThreshold":0.4}, // early
            "chatCompression":{"contextPercentageThreshold":0.6}}"#;
        let old = br#"{"chatCompression":{"contextPercentageThreshold":0.6}}"#;
        assert_eq!(read(&[new]).share, Some(0.4));
        assert_eq!(read(&[old]).share, Some(0.6));
        assert!(read(&[br#"{"context":{"autoCompactThreshold":40}}"#]).is_empty());
        assert!(read(&[br#"{"context":[]}"#]).is_empty());
    }
}
