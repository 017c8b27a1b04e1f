//! Reads Claude Code's settings of compactions for other reasons than the size, and the flags of its server, which it
//! keeps in its state (`.claude.json`). Source: the bundle of 2.1.332, and runs of it.

use super::switch;
use formats::settings::{Layers, ReadyFile, tokens};
use jiff::Timestamp;
use model::window::{OtherSettings, ReadySummary};
use serde_json::Value;

pub(super) const IDLE_SIZE_ENV: &str = "CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS";

/// With one of these it asks its server for nothing, and the flags that it keeps do not hold.
pub(super) const WITHOUT_FLAGS_ENV: [&str; 2] = [
    "DISABLE_TELEMETRY",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
];

/// The flags, by the newest and the older name of where they are kept.
const FLAGS: [&str; 2] = ["/cachedGrowthBookFeatures", "/cachedFeatureFlags"];

/// Summaries are made beforehand.
const BACKGROUND: &str = "tengu_sepia_moth";
/// The share of the usable window that is left when they are.
const BACKGROUND_LEFT: &str = "tengu_amber_rokovoko";
/// Tool results are left out after a pause, by the API or by the client: if it is "on", and nothing else.
const CLEARING: &str = "tengu_jiggly_blossom";

/// The summary that was made beforehand, beside the log of its session.
pub(in super::super) const READY: ReadyFile = ReadyFile {
    path: |log| Some(log.with_extension("").join("precompact.json")),
    read: ready,
};

fn ready(file: &[u8]) -> Option<ReadySummary> {
    let file: Value = serde_json::from_slice(file).ok()?;
    let at = file.get("createdAt").and_then(Value::as_str);
    Some(ReadySummary {
        at: at.and_then(|at| at.parse::<Timestamp>().ok()),
        before: file.get("preCompactTokens").and_then(tokens)?,
    })
}

pub(super) fn read(layers: &Layers) -> OtherSettings {
    let env = |name: &str| format!("/env/{name}");
    let is_on = |name: &str| layers.find(&env(name), switch) == Some(true);
    let has_flags = !WITHOUT_FLAGS_ENV.iter().any(|name| is_on(name));
    let flag = |name: &str| {
        let mut places = FLAGS.iter().map(|place| format!("{place}/{name}"));
        places
            .find_map(|place| layers.find(&place, Some))
            .filter(|_| has_flags)
    };
    let idle_size = layers.tokens(&env(IDLE_SIZE_ENV));
    let is_wanted = layers.find("/precomputeCompactionEnabled", Value::as_bool) != Some(false);
    let background = flag(BACKGROUND).map(|value| value == true && is_wanted);
    let left = flag(BACKGROUND_LEFT).and_then(|value| value.as_f64());
    let left = left.filter(|left| *left > 0.0 && *left < 1.0);
    let clearing = flag(CLEARING).map(|value| *value == "on");
    OtherSettings {
        idle: layers.find("/idleCompaction", Value::as_bool),
        idle_size,
        background,
        background_share: left.map(|left| 1.0 - left),
        clearing,
        idle_from: idle_size.map_or("", |_| IDLE_SIZE_ENV),
        from: background.or(clearing).map_or("", |_| ".claude.json"),
        ..OtherSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(files: &[&str]) -> OtherSettings {
        let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
        read(&Layers::json(&files))
    }

    #[test]
    fn idle_compaction_has_a_switch_and_a_size() {
        let set = of(&[r#"{"idleCompaction":false}"#]);
        assert_eq!(set.idle, Some(false));
        let set = of(&[r#"{"env":{"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS":"150000"}}"#]);
        assert_eq!((set.idle, set.idle_size), (None, Some(150_000)));
        assert_eq!(set.idle_from, IDLE_SIZE_ENV);
        // What is no size is not used.
        let zero = of(&[r#"{"env":{"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS":"0"}}"#]);
        assert_eq!(zero.idle_size, None);
    }

    #[test]
    fn the_flags_of_the_server_hold_unless_it_is_not_asked() {
        let state = r#"{"cachedGrowthBookFeatures":{"tengu_sepia_moth":true,"tengu_amber_rokovoko":0.3,
            "tengu_jiggly_blossom":"on"}}"#;
        let set = of(&[state]);
        assert_eq!((set.background, set.clearing), (Some(true), Some(true)));
        assert_eq!(set.background_share, Some(0.7));
        let older = of(&[r#"{"cachedFeatureFlags":{"tengu_jiggly_blossom":"off"}}"#]);
        assert_eq!((older.background, older.clearing), (None, Some(false)));
        for other in [r#""shadow""#, "true", "{}", "7"] {
            let state = format!("{{\"cachedFeatureFlags\":{{\"tengu_jiggly_blossom\":{other}}}}}");
            assert_eq!(of(&[&state]).clearing, Some(false), "{other}");
        }
        let unasked = of(&[r#"{"env":{"DISABLE_TELEMETRY":"1"}}"#, state]);
        assert_eq!((unasked.background, unasked.clearing), (None, None));
        for name in WITHOUT_FLAGS_ENV {
            let settings = super::super::SETTINGS;
            assert!(settings.env.contains(&name), "{name}");
        }
        let unwanted = of(&[r#"{"precomputeCompactionEnabled":false}"#, state]);
        assert_eq!(unwanted.background, Some(false));
    }

    #[test]
    fn a_summary_that_was_made_beforehand_has_a_size() {
        let of = |text: &str| ready(text.as_bytes());
        let made = of(
            r#"{"version":7,"createdAt":"2026-11-20T10:00:00Z","preCompactTokens":148908,"summaryText":"…"}"#,
        );
        let made = made.expect("a summary");
        assert_eq!(made.before, 148_908);
        assert_eq!(made.at.map(|at| at.as_second()), Some(1_795_168_800));
        for other in ["", "[]", r#"{"preCompactTokens":-3}"#, r#"{"createdAt":7}"#] {
            assert_eq!(of(other), None, "{other}");
        }
        let log = Path::new("/h/.claude/projects/-shop/5e55.jsonl");
        let beside = (READY.path)(log);
        assert_eq!(
            beside.as_deref(),
            Some(Path::new("/h/.claude/projects/-shop/5e55/precompact.json"))
        );
    }
}
