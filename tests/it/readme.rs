//! The README's tables say what the program does.

use crate::support::manifest_folder;
use ctxgauge::agents::{self, facts};
use ctxgauge::config;
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

/// The table of agents, as the formats and the models table have it.
fn agents() -> String {
    let mut table =
        "| agent | found by itself in | live | known | sub-agents | compactions | compacts at |\n\
        |---|---|---|---|---|---|---|\n"
            .to_owned();
    let rules = config::rules().unwrap();
    let mut formats = agents::ALL.to_vec();
    formats.sort_by_key(|format| format.id);
    for format in formats {
        let told = format.facts;
        let places = facts::places(format);
        let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
        let places = match places.is_empty() {
            true => "no: name the file".to_owned(),
            false => places.join(", "),
        };
        let cells = [
            format!("`{}`", format.id),
            places,
            told.live.to_owned(),
            told.knowledge(),
            told.sub_agents.to_owned(),
            told.compactions.to_owned(),
            facts::trigger_rule(&rules, format.id),
        ];
        // A pattern's asterisk is no emphasis.
        let cells = cells.map(|cell| cell.replace('*', "\\*"));
        writeln!(table, "| {} |", cells.join(" | ")).unwrap();
    }
    table
}

#[test]
fn the_agents_are_those_of_the_program() {
    let (readme, agents) = (readme(), agents());
    assert!(
        between(&readme, "agents") == agents,
        "what formats say has changed: put this between the README's `<!-- agents -->` markers:\n\n{agents}"
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
