//! Codex's `config.toml`, the user's: a project's counts only if it is trusted, which no log shows.

use crate::agents::settings::{Layers, Settings, SettingsFile};
use crate::model::window::Overrides;

pub(super) const SETTINGS: Settings = Settings::new(&[SettingsFile::Agent("config.toml")], read);

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::toml(files);
    let raw = layers.tokens("/model_context_window");
    Overrides {
        // 95 % of the raw window is usable; logs contain the usable part.
        window: raw.map(|raw| raw * 95 / 100),
        limit: layers.tokens("/model_auto_compact_token_limit"),
        ..Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_and_limit() {
        let text = "model = \"gpt-5.5\"\nmodel_context_window = 400000\nmodel_auto_compact_token_limit = 350_000\n[tui]\n";
        let set = read(&[text.as_bytes()]);
        assert_eq!((set.window, set.limit), (Some(380_000), Some(350_000)));
        assert!(read(&[b"model_context_window = -1\n"]).is_empty());
        assert!(read(&[b"model_context_window = \n", b"\xff"]).is_empty());
    }
}
