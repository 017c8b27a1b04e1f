//! OpenClaw's `openclaw.json`, and the `models.json` of each of its agents, which has the models that it found itself as
//! well (openclaw/openclaw, `src/agents/context-window-guard.ts`: the first before the second; `contextTokens` is the most
//! of either).

use super::super::pi::of_providers;
use formats::settings::{Layers, Settings, SettingsFile, reserved_tokens};
use model::window::{OtherSettings, Overrides};
use serde_json::Value;
use std::path::{Path, PathBuf};

const FILES: [SettingsFile; 2] = [
    SettingsFile::Agent(CONFIG),
    SettingsFile::NearLog("agent/models.json"),
];
const CONFIG: &str = "openclaw.json";

pub(super) const SETTINGS: Settings = Settings::new(&FILES, read);

/// The default of the reserve, and its minimum.
const RESERVE: u64 = 16_384;
const FLOOR: u64 = 20_000;

/// Returns the folder of the sessions of all agents, from the path of their registry, which has `{agentId}` in the
/// place of an agent.
pub(super) fn session_folder(settings: &[u8]) -> Vec<PathBuf> {
    let layers = Layers::jsonc(&[settings]);
    let store = layers.find("/session/store", Value::as_str);
    let folder = store.and_then(|store| match store.split_once("{agentId}") {
        Some((agents, _)) => Some(Path::new(agents)),
        None => Path::new(store).parent(),
    });
    folder.map(Path::to_path_buf).into_iter().collect()
}

fn read(files: &[&[u8]]) -> Overrides {
    // Written as JSON5; files that need it are not read.
    let layers = Layers::jsonc(files);
    let reserved = |path: &str| layers.find(path, reserved_tokens);
    let reserve = reserved("/agents/defaults/compaction/reserveTokens");
    let floor = reserved("/agents/defaults/compaction/reserveTokensFloor");
    let set = reserve.is_some() || floor.is_some();
    // `provider/model`, or an object with it.
    let places = ["/agents/defaults/model/primary", "/agents/defaults/model"];
    let mut primary = places
        .iter()
        .filter_map(|path| layers.find(path, Value::as_str));
    let provider = primary.next().and_then(|name| name.split_once('/'));
    let provider = provider.map(|(provider, _)| provider);
    let of = |path, from| {
        let all = layers.each(path);
        all.flat_map(move |all| of_providers(all, provider, from, None))
    };
    let models = of("/models/providers", CONFIG).chain(of("/providers", "models.json"));
    Overrides {
        reserve: set.then(|| reserve.unwrap_or(RESERVE).max(floor.unwrap_or(FLOOR))),
        models: models.collect(),
        window_at_most: layers.tokens("/agents/defaults/contextTokens"),
        compaction: layers.compaction("/agents/defaults/compaction/enabled"),
        others: pruning(&layers),
        ..Overrides::default()
    }
}

/// Returns the settings about old results that are cut after a pause. Without a setting they are cut after an hour where the
/// user signs in at Anthropic, by a profile without an API key.
fn pruning(layers: &Layers) -> OtherSettings {
    let text = |name: &str| {
        let path = format!("/agents/defaults/contextPruning/{name}");
        layers.find(&path, Value::as_str)
    };
    let of_mode = text("mode").map(|mode| mode == "cache-ttl");
    let signs_in = layers.fields("/auth/profiles").any(|(_, profile)| {
        let is = |key: &str, values: &[&str]| {
            let value = profile.get(key).and_then(Value::as_str);
            value.is_some_and(|value| values.contains(&value))
        };
        is("provider", &["claude-cli"])
            || is("provider", &["anthropic"]) && is("mode", &["oauth", "token"])
    });
    let pause = match (text("ttl"), of_mode) {
        (Some(ttl), _) => seconds(ttl),
        (None, Some(true)) => Some(UNSET_PAUSE),
        (None, _) => None,
    };
    let clearing = of_mode.or(signs_in.then_some(true));
    OtherSettings {
        clearing,
        clearing_pause: pause.filter(|_| clearing == Some(true)),
        from: clearing.map_or("", |_| CONFIG),
        ..OtherSettings::default()
    }
}

/// The pause where the mode is set, and no time, in seconds.
const UNSET_PAUSE: u32 = 300;

/// Returns the seconds of a time such as `1h`; without a unit it is in minutes.
fn seconds(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..)? {
        "s" => 1.0,
        "" | "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = digits.trim().parse().ok()?;
    (number > 0.0).then_some((number * unit) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::Compaction;

    #[test]
    fn sessions_are_beside_their_registry() {
        let folder = |store: &str| {
            let file = format!("{{\"session\":{{\"store\":\"{store}\"}}}}");
            session_folder(file.as_bytes())
        };
        assert_eq!(
            folder("~/claw/{agentId}/sessions/sessions.json"),
            [Path::new("~/claw/")]
        );
        assert_eq!(
            folder("/claw/sessions/sessions.json"),
            [Path::new("/claw/sessions")]
        );
        assert!(session_folder(b"{}").is_empty());
    }

    #[test]
    fn the_reserve_is_never_below_its_floor() {
        let compaction = |text: &str| {
            let file = format!("{{\"agents\":{{\"defaults\":{{\"compaction\":{{{text}}}}}}}}}");
            read(&[file.as_bytes()])
        };
        assert_eq!(compaction("\"reserveTokens\":9000").reserve, Some(20_000));
        assert_eq!(compaction("\"reserveTokens\":50000").reserve, Some(50_000));
        assert_eq!(compaction("\"reserveTokensFloor\":0").reserve, Some(16_384));
        assert_eq!(compaction("\"enabled\":false").compaction, Compaction::Off);
        assert!(compaction("\"mode\":\"safeguard\"").is_empty());
        let files: [&[u8]; 2] = [
            br#"{"agents":{"defaults":{"model":{"primary":"local/small"}}},
                "models":{"providers":{"hub":{"models":[{"id":"small","contextWindow":9000}]},
                    "local":{"models":[{"id":"small","contextWindow":64000,"contextTokens":60000},{"id":"plain"}]}}}}"#,
            br#"{"providers":{"local":{"models":[{"id":"small","contextWindow":200000},{"id":"found","contextWindow":32000}]}}}"#,
        ];
        let set = read(&files);
        let rows: Vec<_> = set
            .models
            .iter()
            .map(|m| (&*m.id, m.window, m.from))
            .collect();
        assert_eq!(
            rows,
            [
                ("small", Some(60_000), "openclaw.json"),
                ("small", Some(9_000), "openclaw.json"),
                ("small", Some(200_000), "models.json"),
                ("found", Some(32_000), "models.json"),
            ]
        );
        let capped = read(&[b"{\"agents\":{\"defaults\":{\"contextTokens\":100000}}}"]);
        assert_eq!(capped.window_at_most, Some(100_000));
        assert!(read(&[b"{agents:{}}"]).is_empty());
    }

    #[test]
    fn old_results_are_cut_after_a_pause_with_a_sign_in_at_anthropic() {
        let of = |text: &str| {
            let set = read(&[text.as_bytes()]).others;
            (set.clearing, set.clearing_pause)
        };
        let profile = |provider: &str, mode: &str| {
            format!(
                r#"{{"auth":{{"profiles":{{"a":{{"provider":"{provider}","mode":"{mode}"}}}}}}}}"#
            )
        };
        assert_eq!(of(&profile("anthropic", "oauth")), (Some(true), None));
        assert_eq!(of(&profile("claude-cli", "oauth")), (Some(true), None));
        // The server does it with an API key, by a rule of its own.
        assert_eq!(of(&profile("anthropic", "api_key")), (None, None));
        assert_eq!(of(&profile("openai", "oauth")), (None, None));
        let set = |text: &str| {
            of(&format!(
                r#"{{"agents":{{"defaults":{{"contextPruning":{{{text}}}}}}}}}"#
            ))
        };
        assert_eq!(set(r#""mode":"off","ttl":"1h""#), (Some(false), None));
        assert_eq!(set(r#""mode":"cache-ttl""#), (Some(true), Some(300)));
        for (ttl, seconds) in [("90s", 90), ("30", 1_800), ("1.5h", 5_400)] {
            let text = format!(r#""mode":"cache-ttl","ttl":"{ttl}""#);
            assert_eq!(set(&text), (Some(true), Some(seconds)), "{ttl}");
        }
        assert_eq!(
            set(r#""mode":"cache-ttl","ttl":"soon""#),
            (Some(true), None)
        );
    }
}
