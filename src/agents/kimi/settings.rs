//! The `config.toml` of Kimi Code and of kimi-cli, which name these settings alike.

use crate::agents::settings::{Layers, Settings, SettingsFile};
use crate::model::window::Overrides;

pub(super) const SETTINGS: Settings = Settings::new(&[SettingsFile::Agent("config.toml")], read);

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::toml(files);
    Overrides {
        reserve: layers.tokens("/loop_control/reserved_context_size"),
        share: layers.share("/loop_control/compaction_trigger_ratio"),
        ..Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_and_the_share() {
        let text = b"default_model = \"k2\"\n[loop_control]\nreserved_context_size = 20_000\n\
            compaction_trigger_ratio = 0.7\n";
        let set = read(&[text]);
        assert_eq!((set.reserve, set.share), (Some(20_000), Some(0.7)));
        assert!(read(&[b"[loop_control]\ncompaction_trigger_ratio = 85\n"]).is_empty());
        assert!(read(&[b"loop_control = 1\n"]).is_empty());
    }
}
