//! Gemini CLI's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use crate::agents::settings::{Layers, Settings, SettingsFile};
use crate::model::window::Overrides;
use serde_json::Value;

pub(super) const SETTINGS: Settings = Settings {
    files: &[
        SettingsFile::Machine {
            unix: "/etc/gemini-cli/settings.json",
            macos: "/Library/Application Support/GeminiCli/settings.json",
            windows: r"C:\ProgramData\gemini-cli\settings.json",
        },
        SettingsFile::Project(".gemini/settings.json"),
        SettingsFile::Agent(".gemini/settings.json"),
        SettingsFile::Machine {
            unix: "/etc/gemini-cli/system-defaults.json",
            macos: "/Library/Application Support/GeminiCli/system-defaults.json",
            windows: r"C:\ProgramData\gemini-cli\system-defaults.json",
        },
    ],
    env: &[],
    read,
};

/// The setting's names, the newest first.
const THRESHOLD: [&[&str]; 3] = [
    &["model", "compressionThreshold"],
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
        let new = br#"{"model":{"compressionThreshold":0.3 /* early */}}"#;
        let old = br#"{"chatCompression":{"contextPercentageThreshold":0.6}}"#;
        assert_eq!(read(&[new]).share, Some(0.3));
        assert_eq!(read(&[old]).share, Some(0.6));
        assert_eq!(
            read(&[br#"{"model":{"compressionThreshold":30}}"#]).share,
            None
        );
        assert!(read(&[br#"{"model":"gemini"}"#]).is_empty());
    }
}
