//! Gemini CLI's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use formats::settings::{BYTE_ORDER_MARK, Settings, SettingsFile, threshold};

pub(super) const SETTINGS: Settings = Settings::new(
    &[
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
    |files| {
        // Version 0.61.0 does not read a file with a byte order mark.
        let is_read = |file: &&[u8]| !file.starts_with(BYTE_ORDER_MARK);
        let read: Vec<&[u8]> = files.iter().copied().filter(is_read).collect();
        threshold(&read, "/model/compressionThreshold")
    },
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_by_its_newest_name() {
        let set = (SETTINGS.read)(&[br#"{"model":{"compressionThreshold":0.3}}"#]);
        assert_eq!(set.share, Some(0.3));
        let marked = "\u{feff}{\"model\":{\"compressionThreshold\":0.3}}";
        assert_eq!((SETTINGS.read)(&[marked.as_bytes()]).share, None);
    }
}
