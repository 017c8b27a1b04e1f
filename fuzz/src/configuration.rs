//! Any configuration and theme is read, or refused with a message.

use ctxgauge::config::{Config, problems};
use ctxgauge::tui::theme::Theme;

/// An input is a configuration, or a theme.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match toml::from_str::<Config>(text) {
        Ok(config) => {
            let _ = config.custom();
            if let Err(error) = config.keymap() {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(_) => {
            let problems = problems(text);
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.shown(text).is_empty());
            }
        }
    }
    if let Err(error) = Theme::read(text) {
        assert!(!error.to_string().is_empty());
    }
}
