//! The tables of the README and of `assets/docs/` are those of the program.

use crate::support::{documentation, manifest_folder};
use assets::PAGES;
use clap::Parser;
use ctxgauge::agents;
use ctxgauge::commands::Cli;
use ctxgauge::config;
use ctxgauge::formats::{Format, Tier, facts};
use ctxgauge::model::window::Rules;
use ctxgauge::report::about::agents::trigger_rule;
use ctxgauge::tui::keymap::{Keymap, Scope};
use ctxgauge::tui::theme::Themes;
use std::fmt::Write;
#[cfg(unix)]
use std::process::Command;

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

/// All formats, by name.
fn formats() -> Vec<&'static Format> {
    let mut formats = agents::ALL.to_vec();
    formats.sort_by_key(|format| format.id);
    formats
}

/// The table of agents, as the formats have it.
fn agents_table(rules: &Rules) -> String {
    let mut table = "| agent | trust | updated | known numbers | sub-agents | compactions |\n\
        |---|---|---|---|---|---|\n"
        .to_owned();
    for format in formats() {
        let facts = format.facts;
        let cells = [
            format!("`{}`", format.id),
            rules
                .proven(format.id)
                .unwrap_or(format.tier.name())
                .to_owned(),
            facts.live.to_owned(),
            facts.knowledge(),
            facts.sub_agents.to_owned(),
            facts.compactions.to_owned(),
        ];
        writeln!(table, "| {} |", cells.join(" | ")).unwrap();
    }
    table
}

/// A list of agents with a fact on each.
fn agents_facts(fact: impl Fn(&Format) -> String) -> String {
    let items = formats().into_iter();
    let items = items.map(|format| format!("* `{}`: {}", format.id, fact(format)));
    items.map(|item: String| item_of_list(&item)).collect()
}

/// The folders of an agent's logs.
fn places(format: &Format) -> String {
    let places = facts::places(format);
    let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
    match &places[..] {
        [] => "name the file".to_owned(),
        _ => places.join(", "),
    }
}

#[test]
fn the_facts_about_agents_are_those_of_the_program() {
    let rules = config::rules().unwrap();
    for (name, facts) in [
        ("agents", agents_table(&rules)),
        ("agent-places", agents_facts(places)),
        (
            "agent-rules",
            agents_facts(|format| trigger_rule(&rules, format.id)),
        ),
    ] {
        // A pattern's asterisk is no emphasis.
        let facts = facts.replace('*', "\\*").replace("\n\\* ", "\n* ");
        let facts = facts.strip_prefix('\\').unwrap_or(&facts);
        assert!(
            documentation("assets/docs/agents.md", name) == facts,
            "the facts have changed: put this between the markers `{name}` in assets/docs/agents.md:\n\n{facts}"
        );
    }
}

/// Whether an agent's logs contain the provider's numbers.
fn knowledge(format: &Format) -> &'static str {
    match (format.facts.known, format.facts.estimated) {
        ("", _) => "Estimated",
        (_, "") => "Known",
        _ => "Partly known",
    }
}

/// The name of a format, with the newest version that was compared with known counts, or else why it was not.
fn with_tier(format: &Format, rules: &Rules) -> String {
    match (rules.proven(format.id), format.tier) {
        (Some(version), _) => format!("`{}` {version}", format.id),
        (None, Tier::Read) => format!("`{}`", format.id),
        (None, Tier::Sources | Tier::Mapping) => format!("`{}` (sources)", format.id),
    }
}

/// The names of the agents by what is known of their sizes, each with the newest version that was compared with
/// known counts.
fn agents_list() -> String {
    let rules = config::rules().unwrap();
    let mut list = String::new();
    for heading in ["Known", "Partly known", "Estimated"] {
        let of_group = formats().into_iter().filter(|it| knowledge(it) == heading);
        let names: Vec<String> = of_group.map(|it| with_tier(it, &rules)).collect();
        list += &item_of_list(&format!("* **{heading}**: {}.", names.join(", ")));
    }
    list
}

/// An item of a list, in lines.
fn item_of_list(text: &str) -> String {
    let layout = textwrap::Options::new(118)
        .subsequent_indent("  ")
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::fill(text, layout) + "\n"
}

#[test]
fn the_list_of_agents_is_that_of_the_program() {
    let list = agents_list();
    assert!(
        documentation("README.md", "agents") == list,
        "the facts have changed: put this between the README's `<!-- agents -->` markers:\n\n{list}"
    );
}

#[cfg(feature = "mcp")]
#[test]
fn the_prices_of_the_server_are_of_its_definitions() {
    use ctxgauge::mcp::{Texts, definitions};
    use ctxgauge::tokens::Counter;
    let definitions = serde_json::to_string(&definitions(Texts::Off)).unwrap();
    let tokens = Counter::new().count(&definitions);
    let prices = documentation("assets/docs/mcp.md", "prices");
    assert!(
        prices.contains(&format!("have {} tokens", tokens)),
        "the definitions have {tokens:?} tokens now: `tests/lab/prices.py --write` measures their prices again"
    );
}

#[cfg(unix)]
#[test]
fn the_readme_has_the_figures_of_the_table_of_speed() {
    let table = Command::new("benches/table")
        .arg("--readme")
        .current_dir(manifest_folder())
        .output()
        .unwrap();
    assert!(table.status.success(), "{table:?}");
    let rows = String::from_utf8(table.stdout).unwrap();
    assert!(
        documentation("README.md", "speed") == rows,
        "put this between the README's `<!-- speed -->` markers:\n\n{rows}"
    );
}

/// The commands that a document shows, without their comments.
fn commands(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1);
    let blocks = blocks.map(|rest| rest.split_once("```").unwrap().0);
    let lines = blocks.flat_map(str::lines);
    lines
        .map(|line| line.split('#').next().unwrap().trim())
        .collect()
}

#[test]
fn a_newcomer_starts_the_program_then_tests_and_then_installs() {
    let readme = text("README.md");
    for block in [
        "cargo run --release",
        "cargo test --all-features",
        "cargo install --locked --path .",
    ] {
        assert!(readme.contains(&format!("```sh\n{block}\n```")), "{block}");
    }
    let commands = commands(&readme);
    let at = |command: &str| commands.iter().position(|it| *it == command).unwrap();
    assert_eq!(at("cargo run --release"), 0);
    let installed = at("cargo install --locked --path .");
    assert!(at("cargo test --all-features") < installed);
    // Nothing else is in the path before.
    let mut before = commands[..installed].iter();
    assert!(before.all(|it| it.starts_with("cargo ")), "{commands:?}");
}

#[test]
fn the_commands_that_are_shown_exist() {
    let mut tried = 0;
    for path in documents() {
        let text = text(&path);
        for command in commands(&text) {
            let words = command.rsplit("| ").next().unwrap();
            let words = words.strip_prefix("cargo run --release -- ").map_or_else(
                || words.to_owned(),
                |arguments| format!("ctxgauge {arguments}"),
            );
            let words: Vec<&str> = words.split_whitespace().collect();
            if words.first() == Some(&"ctxgauge") {
                if let Err(why) = Cli::try_parse_from(words) {
                    panic!(
                        "{path}: {command}\n{why}\nSome commands exist only with --all-features."
                    );
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 0);
}

#[test]
fn the_configuration_that_is_shown_is_valid() {
    let text = text("assets/docs/configuration.md");
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let config: config::Config = toml::from_str(example).unwrap();
    assert_eq!((config.window.len(), config.policy.len()), (1, 1));
    assert!(config.alerts.are_on() && config.oversized.is_some());
    config.keymap().unwrap();
    Themes::default().choose(&config.theme.unwrap()).unwrap();
}

/// The README and all that is in `assets/docs/`.
fn documents() -> Vec<String> {
    let files = std::fs::read_dir(manifest_folder().join("assets/docs")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut paths: Vec<String> = names.map(|name| format!("assets/docs/{name}")).collect();
    paths.push("README.md".to_owned());
    paths.sort();
    paths
}

/// The targets of a document's links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1);
    links.map(|rest| rest.split(')').next().unwrap())
}

/// The names by which links lead to the headings of a document.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let names = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let anchor = |name: String| name.replace(' ', "-").replace(['`', ',', '\'', '.'], "");
    names.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    for path in documents() {
        let folder = manifest_folder().join(&path);
        for link in links(&text(&path)).filter(|link| !link.starts_with("http")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = folder.parent().unwrap().join(file);
            assert!(target.exists(), "{path}: {link}");
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(target).unwrap();
                let has = anchors(&there).iter().any(|it| it == anchor);
                assert!(has, "{path}: {link}");
            }
        }
    }
}

#[test]
fn the_readme_leads_to_every_document() {
    let readme = text("README.md");
    for path in documents().iter().filter(|path| *path != "README.md") {
        assert!(links(&readme).any(|link| link == path), "{path}");
    }
}

#[test]
fn every_page_is_a_topic_of_the_help() {
    let mut pages: Vec<String> = PAGES
        .iter()
        .map(|page| format!("assets/docs/{}.md", page.name))
        .chain(["README.md".to_owned()])
        .collect();
    pages.sort();
    assert_eq!(pages, documents(), "`PAGES` in assets/lib.rs");
}
