//! OpenClaw's `openclaw.json`.

use format::settings::{Layers, Settings, SettingsFile, kept_free};
use model::window::Overrides;

pub(super) const SETTINGS: Settings = Settings::new(&[SettingsFile::Agent("openclaw.json")], read);

/// The default of the reserve, and its minimum.
const RESERVE: u64 = 16_384;
const FLOOR: u64 = 20_000;

fn read(files: &[&[u8]]) -> Overrides {
    // Written as JSON5; files that need it are not read.
    let layers = Layers::json(files);
    let of = |path: &str| layers.find(path, kept_free);
    let reserve = of("/agents/defaults/compaction/reserveTokens");
    let floor = of("/agents/defaults/compaction/reserveTokensFloor");
    let set = reserve.is_some() || floor.is_some();
    Overrides {
        reserve: set.then(|| reserve.unwrap_or(RESERVE).max(floor.unwrap_or(FLOOR))),
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
        let capped = read(&[b"{\"agents\":{\"defaults\":{\"contextTokens\":100000}}}"]);
        assert_eq!(capped.window_at_most, Some(100_000));
        assert!(read(&[b"{agents:{}}"]).is_empty());
    }
}
