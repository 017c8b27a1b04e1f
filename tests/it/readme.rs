//! The README's tables say what the program does.

use crate::support::manifest_folder;
use ctxgauge::agents;
use ctxgauge::tui::keymap::{Keymap, Scope};
use ctxgauge::tui::theme::Themes;
use std::fmt::Write;

fn readme() -> String {
    std::fs::read_to_string(manifest_folder().join("README.md")).unwrap()
}

/// What stands between a pair of markers.
fn between<'a>(readme: &'a str, name: &str) -> &'a str {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (_, rest) = readme.split_once(&open).expect("an opening marker");
    rest.split_once(&close).expect("a closing marker").0
}

/// The table of keys, as the bindings have it.
fn keys() -> String {
    let mut table = "| where | keys | name | what |\n|---|---|---|---|\n".to_owned();
    let keymap = Keymap::default();
    for scope in Scope::ALL {
        for binding in keymap.in_scope(scope) {
            let keys: Vec<String> = binding.presses.iter().map(|p| format!("`{p}`")).collect();
            let keys = keys.join(" ");
            let (scope, name, help) = (scope.name(), binding.name(), binding.help);
            writeln!(table, "| {scope} | {keys} | `{name}` | {help} |").unwrap();
        }
    }
    table
}

#[test]
fn the_keys_are_those_of_the_program() {
    let (readme, keys) = (readme(), keys());
    assert!(
        between(&readme, "keys") == keys,
        "the bindings have changed: put this between the README's `<!-- keys -->` markers:\n\n{keys}"
    );
}

#[test]
fn every_theme_has_a_row() {
    let readme = readme();
    for name in Themes::default().names() {
        let named = format!("`{name}`");
        let row = |line: &str| line.starts_with('|') && line.contains(&named);
        assert!(readme.lines().any(row), "no row for the theme {name}");
    }
}

#[test]
fn every_agent_has_a_row_and_every_row_an_agent() {
    let readme = readme();
    let table = between(&readme, "agents");
    let mut rows = table.lines();
    let columns = rows.next().expect("a heading").matches('|').count();
    let mut ids: Vec<&str> = Vec::new();
    for row in rows.skip(1) {
        assert_eq!(row.matches('|').count(), columns, "the columns of: {row}");
        ids.push(row.split('`').nth(1).expect("an agent's id in backticks"));
    }
    for format in agents::ALL {
        let rows = ids.iter().filter(|id| **id == format.id()).count();
        assert_eq!(
            rows,
            1,
            "rows of '{}' between the README's `<!-- agents -->` markers; there must be one",
            format.id()
        );
    }
    let stray = ids.iter().find(|id| agents::by_id(id).is_none());
    assert_eq!(
        stray, None,
        "a row in the README of an agent that cannot be read"
    );
}

#[test]
fn the_first_commands_run_and_test() {
    let readme = readme();
    let blocks: Vec<&str> = readme
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks[..2], ["cargo run --release\n", "cargo test\n"]);
}

#[test]
fn the_configuration_that_is_shown_is_one() {
    let readme = readme();
    let (_, rest) = readme.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let config: ctxgauge::config::Config = toml::from_str(example).unwrap();
    assert_eq!((config.window.len(), config.policy.len()), (1, 1));
    assert!(config.alerts.are_on() && config.oversized.is_some());
    config.keymap().unwrap();
    Themes::default().choose(&config.theme.unwrap()).unwrap();
}
