//! Qwen Code's `settings.json`: the machine's, the project's, the user's, the machine's defaults.

use formats::settings::{Layers, Settings, SettingsFile, threshold};
use model::window::{OtherSettings, Overrides};
use serde_json::Value;

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
    |files| {
        let layers = Layers::json_with_comments(files);
        Overrides {
            window: layers.tokens("/model/generationConfig/contextWindowSize"),
            others: clearing(&layers),
            ..threshold(files, "/context/autoCompactThreshold")
        }
    },
)
.env(&["QWEN_MC_KEEP_RECENT"]);

/// Returns the settings about results that are left out of a prompt. A pause below 0 is none, and then there is no usual
/// size either.
fn clearing(layers: &Layers) -> OtherSettings {
    let number = |name: &str| {
        let path = format!("/context/clearContextOnIdle/{name}");
        layers.find(&path, Value::as_f64)
    };
    let minutes = number("toolResultsThresholdMinutes");
    let is_off = minutes.is_some_and(|minutes| minutes < 0.0);
    let characters = number("toolResultsTotalCharsThreshold").map(|most| most as u64);
    let by_env = |value: &Value| value.as_str()?.trim().parse().ok();
    let kept = layers.find("/env/QWEN_MC_KEEP_RECENT", by_env);
    let kept = kept.or(number("toolResultsNumToKeep").map(|kept| kept as usize));
    OtherSettings {
        clearing: is_off.then_some(false),
        clearing_pause: minutes
            .filter(|_| !is_off)
            .map(|minutes| (minutes * 60.0) as u32),
        clearing_kept: kept.map(|kept: usize| kept.max(1)),
        clearing_characters: characters.or(is_off.then_some(0)),
        from: minutes.map_or("", |_| "settings.json"),
        ..OtherSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_by_its_newest_name() {
        let set = (SETTINGS.read)(&[br#"{"context":{"autoCompactThreshold":0.4}}"#]);
        assert_eq!(set.share, Some(0.4));
    }

    #[test]
    fn results_are_left_out_as_the_settings_say() {
        let of = |files: &[&[u8]]| {
            let set = (SETTINGS.read)(files).others;
            let characters = set.clearing_characters;
            (
                set.clearing,
                set.clearing_pause,
                set.clearing_kept,
                characters,
            )
        };
        let idle = |text: &str| {
            let file = format!("{{\"context\":{{\"clearContextOnIdle\":{{{text}}}}}}}");
            of(&[file.as_bytes()])
        };
        assert_eq!(idle(""), (None, None, None, None));
        let pause = "\"toolResultsThresholdMinutes\":";
        assert_eq!(idle(&format!("{pause}30")), (None, Some(1_800), None, None));
        let off = format!("{pause}-1");
        assert_eq!(idle(&off), (Some(false), None, None, Some(0)));
        let size = "\"toolResultsTotalCharsThreshold\":9000,\"toolResultsNumToKeep\":0";
        let both = format!("{off},{size}");
        assert_eq!(idle(&both), (Some(false), None, Some(1), Some(9_000)));
        assert_eq!(
            of(&[b"{\"env\":{\"QWEN_MC_KEEP_RECENT\":\"9\"}}"]).2,
            Some(9)
        );
    }

    #[test]
    fn the_window_of_the_model() {
        let set = br#"{"model":{"generationConfig":{"contextWindowSize":100000}}}"#;
        assert_eq!((SETTINGS.read)(&[set]).window, Some(100_000));
    }
}
