//! Sessions hold with any models table that is accepted.

use super::sessions::{RULES, check as check_sessions, fold, read_lines};
use ctxgauge::agents::builtin::claude_code::CLAUDE_CODE;
use ctxgauge::model::window::{LimitInputs, Overrides, Rules};
use std::sync::Arc;

/// A log with reports of a size as they are, and of one that is beyond any window.
const LOG: &str =
    include_str!("../../tests/fixtures/claude-code/compact_boundary_keeps_nothing/log.jsonl");

/// An input is a models table.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let own: Rules = match toml::from_str(text) {
        Ok(own) => own,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let Ok(rules) = Rules::clone(&RULES).with_custom(own) else {
        return;
    };
    let overrides = Overrides::default();
    for (agent, model) in [
        ("claude-code", Some("claude-opus-4-6")),
        ("codex", Some("gpt-5.6-sol")),
        ("aider", None),
    ] {
        let limits = rules.limits(&LimitInputs::new(agent, model, &overrides));
        assert!(limits.window > 0, "a window holds something");
        assert!(limits.trigger.is_none_or(|trigger| trigger > 0));
    }
    let rules = Arc::new(rules);
    let mut decoder = CLAUDE_CODE.decoder();
    let entries = read_lines(decoder.as_mut(), LOG.as_bytes());
    check_sessions(&fold(&CLAUDE_CODE, &rules, entries));
}
