//! OpenClaw's `openclaw.json`, and the `models.json` of each of its agents, which has the models that it found itself as
//! well (openclaw/openclaw, `src/agents/context-window-guard.ts`: the first before the second; `contextTokens` is the most
//! of either).

use super::super::pi::of_providers;
use formats::settings::{Layers, Settings, SettingsFile, reserved_tokens};
use model::window::Overrides;
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
    let name = |value: &Value| value.as_str().map(str::to_owned);
    let Some(store) = Layers::jsonc(&[settings]).find("/session/store", name) else {
        return Vec::new();
    };
    let folder = match store.split_once("{agentId}") {
        Some((agents, _)) => Some(Path::new(agents)),
        None => Path::new(&store).parent(),
    };
    folder.map(Path::to_path_buf).into_iter().collect()
}

fn read(files: &[&[u8]]) -> Overrides {
    // Written as JSON5; files that need it are not read.
    let layers = Layers::jsonc(files);
    let of = |path: &str| layers.find(path, reserved_tokens);
    let reserve = of("/agents/defaults/compaction/reserveTokens");
    let floor = of("/agents/defaults/compaction/reserveTokensFloor");
    let set = reserve.is_some() || floor.is_some();
    // `provider/model`, or an object with it.
    let primary = |path| layers.find(path, |value: &Value| value.as_str().map(str::to_owned));
    let primary =
        primary("/agents/defaults/model/primary").or_else(|| primary("/agents/defaults/model"));
    let provider = primary.as_deref().and_then(|name| name.split_once('/'));
    let provider = provider.map(|(provider, _)| provider);
    let mut models = Vec::new();
    layers.each("/models/providers", |all| {
        models.extend(of_providers(all, provider, CONFIG, None));
    });
    layers.each("/providers", |all| {
        models.extend(of_providers(all, provider, "models.json", None));
    });
    Overrides {
        reserve: set.then(|| reserve.unwrap_or(RESERVE).max(floor.unwrap_or(FLOOR))),
        models,
        window_at_most: layers.tokens("/agents/defaults/contextTokens"),
        compaction: layers.compaction("/agents/defaults/compaction/enabled"),
        ..Overrides::default()
    }
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
}
