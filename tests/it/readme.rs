//! The tables of the README and of `assets/docs/` are those of the program.

use crate::support::{documentation, manifest_folder};
use ctxgauge::agents::{self, facts};
use ctxgauge::config;
use ctxgauge::tui::keymap::{Keymap, Scope};
use ctxgauge::tui::theme::Themes;
use std::fmt::Write;

/// The table of keys, as the bindings have it.
fn keys() -> String {
    let mut table = "| where | keys | name | what |\n|---|---|---|---|\n".to_owned();
    let keymap = Keymap::default();
    for scope in Scope::ALL.iter().copied() {
        for binding in keymap.in_scope(scope) {
            let keys: Vec<String> = binding.keys.iter().map(|p| format!("`{p}`")).collect();
            let keys = keys.join(" ");
            let (scope, name, help) = (scope.name(), binding.name(), binding.help);
            writeln!(table, "| {scope} | {keys} | `{name}` | {help} |").unwrap();
        }
    }
    table
}

#[test]
fn the_keys_are_those_of_the_program() {
    let keys = keys();
    assert!(
        documentation("assets/docs/keys.md", "keys") == keys,
        "the bindings have changed: put this between the markers in assets/docs/keys.md:\n\n{keys}"
    );
}

#[test]
fn every_theme_has_a_row() {
    let text = text("assets/docs/configuration.md");
    for name in Themes::default().names() {
        let named = format!("`{name}`");
        let row = |line: &str| line.starts_with('|') && line.contains(&named);
        assert!(text.lines().any(row), "no row for the theme {name}");
    }
}

fn text(path: &str) -> String {
    std::fs::read_to_string(manifest_folder().join(path)).unwrap()
}

/// The table of agents, as the formats and the models table have it.
fn agents() -> String {
    let mut table =
        "| agent | logs in | updated | known numbers | sub-agents | compactions | compacts at |\n\
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
            true => "name the file".to_owned(),
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
    let agents = agents();
    assert!(
        documentation("README.md", "agents") == agents,
        "the facts have changed: put this between the README's `<!-- agents -->` markers:\n\n{agents}"
    );
}

/// The newest versions that were compared with known counts.
fn proven() -> String {
    let mut formats: Vec<&agents::Format> = agents::ALL.to_vec();
    formats.retain(|format| !format.proven.is_empty());
    formats.sort_by_key(|format| format.id);
    let versions = formats.iter();
    let versions = versions.map(|format| format!("`{}` {}", format.id, format.proven));
    format!("{}.\n", versions.collect::<Vec<_>>().join(", "))
}

#[test]
fn the_proven_versions_are_those_of_the_program() {
    let proven = proven();
    assert!(
        documentation("README.md", "proven") == proven,
        "put this between the README's `<!-- proven -->` markers:\n\n{proven}"
    );
}

#[test]
fn a_newcomer_first_builds_and_a_developer_tests() {
    let readme = text("README.md");
    let (_, first) = readme.split_once("```sh\n").unwrap();
    assert!(first.starts_with("cargo build --release\n```"));
    assert!(readme.contains("```sh\ncargo test\n```"));
}

#[test]
fn the_configurations_that_are_shown_are_valid() {
    for path in ["README.md", "assets/docs/configuration.md"] {
        let text = text(path);
        let (_, rest) = text.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let config: ctxgauge::config::Config = toml::from_str(example).unwrap();
        assert_eq!((config.window.len(), config.policy.len()), (1, 1), "{path}");
        assert!(config.alerts.are_on() && config.oversized.is_some());
        config.keymap().unwrap();
        Themes::default().choose(&config.theme.unwrap()).unwrap();
    }
}

#[test]
fn links_lead_somewhere() {
    for path in [
        "README.md",
        "assets/docs/configuration.md",
        "assets/docs/custom-formats.md",
        "assets/docs/json.md",
        "assets/docs/keys.md",
    ] {
        let folder = manifest_folder().join(path);
        for link in text(path).split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            let exists = folder.parent().unwrap().join(target).exists();
            assert!(exists || target.starts_with("http"), "{path}: {target}");
        }
    }
}
