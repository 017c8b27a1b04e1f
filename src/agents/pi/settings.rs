//! pi's `settings.json`: the project's before the user's.

use crate::agents::settings::{Layers, Settings, SettingsFile};
use crate::model::window::Overrides;

const FILES: [SettingsFile; 2] = [
    SettingsFile::Project(".pi/settings.json"),
    SettingsFile::Agent("settings.json"),
];

pub(super) const SETTINGS: Settings = Settings::new(&FILES, read);

fn read(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    Overrides {
        reserve: layers.tokens("/compaction/reserveTokens"),
        compaction: layers.compaction("/compaction/enabled"),
        ..Overrides::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::window::Compaction;

    #[test]
    fn the_reserve_and_the_switch_each_from_the_first_that_says_it() {
        let project = br#"{"compaction":{"reserveTokens":50000}}"#;
        let user = br#"{"compaction":{"enabled":false,"reserveTokens":9000}}"#;
        let set = read(&[project, user]);
        assert_eq!(set.reserve, Some(50_000));
        assert_eq!(set.compaction, Compaction::Off);
        assert!(read(&[br#"{"compaction":[]}"#]).is_empty());
    }
}
