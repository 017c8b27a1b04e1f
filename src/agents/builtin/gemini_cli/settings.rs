//! Gemini CLI's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use format::settings::{Settings, SettingsFile, threshold};

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
    read: |files| threshold(files, "/model/compressionThreshold"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_by_its_newest_name() {
        let set = (SETTINGS.read)(&[br#"{"model":{"compressionThreshold":0.3}}"#]);
        assert_eq!(set.share, Some(0.3));
    }
}
