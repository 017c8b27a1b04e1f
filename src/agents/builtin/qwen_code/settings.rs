//! Qwen Code's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use formats::settings::{Layers, Settings, SettingsFile, threshold};
use model::window::Overrides;

pub(super) const SETTINGS: Settings = Settings::new(
    &[
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
    |files| Overrides {
        window: Layers::json_with_comments(files)
            .tokens("/model/generationConfig/contextWindowSize"),
        ..threshold(files, "/context/autoCompactThreshold")
    },
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_by_its_newest_name() {
        let set = (SETTINGS.read)(&[br#"{"context":{"autoCompactThreshold":0.4}}"#]);
        assert_eq!(set.share, Some(0.4));
    }

    #[test]
    fn the_window_of_the_model() {
        let set = br#"{"model":{"generationConfig":{"contextWindowSize":100000}}}"#;
        assert_eq!((SETTINGS.read)(&[set]).window, Some(100_000));
    }
}
