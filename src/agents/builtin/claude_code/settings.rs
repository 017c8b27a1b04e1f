//! Claude Code's settings: managed, the project's own and shared ones, the user's, each with an `env`
//! block that overrides the environment. That of a running agent cannot be seen; ours is taken for
//! it, since both come from the same profile more often than not.

pub(super) mod others;
mod windows;

use formats::settings::{Layers, Settings, SettingsFile};
use model::window::{Compaction, Overrides};
use serde_json::Value;
use std::ops::RangeInclusive;

pub(super) const SETTINGS: Settings = Settings {
    files: &[
        SettingsFile::Machine {
            unix: "/etc/claude-code/managed-settings.json",
            macos: "/Library/Application Support/ClaudeCode/managed-settings.json",
            windows: r"C:\Program Files\ClaudeCode\managed-settings.json",
        },
        SettingsFile::Project(".claude/settings.local.json"),
        SettingsFile::Project(".claude/settings.json"),
        SettingsFile::Agent("settings.json"),
        // Its state, in which it keeps what the server sent: in its folder if that was set.
        SettingsFile::Agent(".claude.json"),
        SettingsFile::Beside(".claude.json"),
    ],
    env: &[
        WINDOW_ENV,
        COMPACT_WINDOW_ENV,
        PERCENT_ENV,
        OUTPUT_ENV,
        WITHOUT_1M_ENV,
        OFF_ENV[0],
        OFF_ENV[1],
        others::IDLE_SIZE_ENV,
        others::WITHOUT_FLAGS_ENV[0],
        others::WITHOUT_FLAGS_ENV[1],
    ],
    read,
    ready: Some(&others::READY),
};

const WINDOW_ENV: &str = "CLAUDE_CODE_MAX_CONTEXT_TOKENS";
const COMPACT_WINDOW_ENV: &str = "CLAUDE_CODE_AUTO_COMPACT_WINDOW";
const PERCENT_ENV: &str = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE";
const OUTPUT_ENV: &str = "CLAUDE_CODE_MAX_OUTPUT_TOKENS";
const WITHOUT_1M_ENV: &str = "CLAUDE_CODE_DISABLE_1M_CONTEXT";
/// The second also lets the window of any model be set.
const OFF_ENV: [&str; 2] = ["DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"];

/// Windows for compaction are taken to this range.
const COMPACT_WINDOW: RangeInclusive<u64> = 100_000..=1_000_000;
/// The window that remains where 1M windows are switched off.
const WITHOUT_1M: u64 = 200_000;

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    let env = |name: &str| format!("/env/{name}");
    let is_on = |name| layers.find(&env(name), switch) == Some(true);
    let from_env = layers.find(&env(COMPACT_WINDOW_ENV), compact_window_env);
    let set = layers.find("/autoCompactWindow", |value| match value.as_str() {
        Some("auto") => Some(None),
        _ => compact_window(value).map(Some),
    });
    let (set, mut models) = (set.flatten(), windows::of_settings(&layers));
    // A window for one model outranks the one for all.
    let for_all = if models.is_empty() {
        set
    } else {
        models.extend(set.map(|tokens| windows::row("*", tokens, "settings.json")));
        None
    };
    models.extend(windows::of_state(&layers));
    let window = layers.tokens(&env(WINDOW_ENV));
    Overrides {
        window: window.filter(|_| is_on(OFF_ENV[1])),
        unknown_window: window,
        window_from: window.map_or("", |_| WINDOW_ENV),
        window_at_most: is_on(WITHOUT_1M_ENV).then_some(WITHOUT_1M),
        compact_window: from_env.or(for_all),
        trigger_from: from_env.map_or("", |_| COMPACT_WINDOW_ENV),
        others: others::read(&layers),
        models,
        output: layers.tokens(&env(OUTPUT_ENV)),
        percent: layers.find(&env(PERCENT_ENV), percent),
        compaction: if OFF_ENV.into_iter().any(is_on) {
            Compaction::Off
        } else {
            layers.compaction("/autoCompactEnabled")
        },
        ..Overrides::default()
    }
}

/// Returns a switch in the environment, as a string, a number or a truth value.
fn switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => Some(matches!(
            text.trim().to_ascii_lowercase().as_str(),
            "1" | "true" | "yes" | "on"
        )),
        _ => None,
    }
}

/// Returns a window in the settings, in tokens: a whole number, and no smaller one than the least. Claude Code ignores
/// anything else (seen with 2.1.178 to 2.1.330).
fn compact_window(value: &Value) -> Option<u64> {
    let tokens = value.as_u64().filter(|n| n >= COMPACT_WINDOW.start())?;
    Some(tokens.min(*COMPACT_WINDOW.end()))
}

/// Returns a window in the environment: `500k`, `1M` or tokens, taken to the range.
fn compact_window_env(value: &Value) -> Option<u64> {
    let text = match value {
        Value::String(text) => text.trim().to_ascii_lowercase(),
        other => other.as_u64()?.to_string(),
    };
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1e3),
        b'm' => (&text[..text.len() - 1], 1e6),
        _ => (text.as_str(), 1.0),
    };
    let number: f64 = digits.trim().parse().ok()?;
    let tokens = number * unit;
    // `as` saturates.
    let (least, most) = (*COMPACT_WINDOW.start(), *COMPACT_WINDOW.end());
    (tokens >= 1.0).then(|| (tokens as u64).clamp(least, most))
}

fn percent(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    (1.0..=100.0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Overrides {
        read(&[text.as_bytes()])
    }

    #[test]
    fn a_window_in_the_settings_is_a_whole_number() {
        let of = |written: &str| one(&format!("{{\"autoCompactWindow\":{written}}}"));
        for (written, tokens) in [
            ("460000", 460_000),
            ("100000", 100_000),
            ("99000000000", 1_000_000),
        ] {
            assert_eq!(of(written).compact_window, Some(tokens), "{written}");
        }
        for ignored in [
            "5", "400", "99999", "460000.5", "-4", "\"400\"", "\"500k\"", "\"1M\"", "\"\"", "null",
            "[]",
        ] {
            assert_eq!(of(ignored), Overrides::default(), "{ignored}");
        }
    }

    #[test]
    fn a_window_in_the_environment_in_all_its_forms() {
        let of = |written: &str| {
            one(&format!(
                "{{\"env\":{{\"{COMPACT_WINDOW_ENV}\":{written}}}}}"
            ))
        };
        for (written, tokens) in [
            ("\"460000\"", 460_000),
            ("460000", 460_000),
            ("\"500k\"", 500_000),
            ("\"0.5m\"", 500_000),
            ("\"1M\"", 1_000_000),
            ("\"150000\"", 150_000),
            ("\"50000\"", 100_000),
            ("\"400\"", 100_000),
            ("\"99000000000\"", 1_000_000),
        ] {
            assert_eq!(of(written).compact_window, Some(tokens), "{written}");
        }
        for broken in [
            "\"\"", "\"k\"", "-4", "\"-4\"", "\"NaN\"", "\"auto\"", "null", "[]", "\"é\"",
        ] {
            assert_eq!(of(broken), Overrides::default(), "{broken}");
        }
    }

    #[test]
    fn the_environment_stands_before_the_setting_whichever_file_it_is_in() {
        let managed = br#"{"autoCompactWindow":300000}"#;
        let user = br#"{"env":{"CLAUDE_CODE_AUTO_COMPACT_WINDOW":"460000"}}"#;
        assert_eq!(read(&[managed, user]).compact_window, Some(460_000));
        let project = br#"{"env":{"CLAUDE_CODE_AUTO_COMPACT_WINDOW":"400000"}}"#;
        assert_eq!(read(&[project, user]).compact_window, Some(400_000));
    }

    #[test]
    fn switches() {
        for off in [
            r#"{"autoCompactEnabled":false}"#,
            r#"{"env":{"DISABLE_AUTO_COMPACT":"1"}}"#,
            r#"{"env":{"DISABLE_COMPACT":true}}"#,
        ] {
            assert_eq!(one(off).compaction, Compaction::Off, "{off}");
        }
        let on = r#"{"autoCompactEnabled":true,"env":{"DISABLE_COMPACT":"0"}}"#;
        assert!(one(on).is_empty());
        // The first file wins.
        let files: [&[u8]; 2] = [
            br#"{"autoCompactEnabled":true}"#,
            br#"{"autoCompactEnabled":false}"#,
        ];
        assert_eq!(read(&files).compaction, Compaction::Usual);
        let small = one(
            r#"{"env":{"CLAUDE_CODE_DISABLE_1M_CONTEXT":1,"CLAUDE_CODE_MAX_OUTPUT_TOKENS":"8000"}}"#,
        );
        assert_eq!(small.window_at_most, Some(200_000));
        assert_eq!(small.output, Some(8_000));
    }

    #[test]
    fn a_window_for_unknown_models_is_for_all_where_nothing_compacts() {
        let of = |more: &str| {
            one(&format!(
                "{{\"env\":{{\"CLAUDE_CODE_MAX_CONTEXT_TOKENS\":\"64000\"{more}}}}}"
            ))
        };
        let usual = of("");
        assert_eq!((usual.window, usual.unknown_window), (None, Some(64_000)));
        let off = of(",\"DISABLE_COMPACT\":\"1\"");
        assert_eq!(off.window, Some(64_000));
        assert_eq!(off.window_from, "CLAUDE_CODE_MAX_CONTEXT_TOKENS");
        let ignored = one(r#"{"env":{"CLAUDE_CODE_MAX_CONTEXT_TOKENS":"0"}}"#);
        assert!(ignored.is_empty());
    }

    #[test]
    fn percents() {
        let of = |text: &str| {
            one(&format!(
                "{{\"env\":{{\"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE\":{text}}}}}"
            ))
            .percent
        };
        assert_eq!((of("\"50\""), of("70")), (Some(50.0), Some(70.0)));
        assert_eq!((of("0"), of("101"), of("\"inf\"")), (None, None, None));
    }
}
