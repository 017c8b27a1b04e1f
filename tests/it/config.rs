//! The list of keys is the configuration: the code reads each of them and no other, and what describes them agrees.

use crate::support::{ctxgauge, documentation, manifest_folder, schema};
use ctxgauge::config::keys::{ALL, Key, Kind, Unset};
use ctxgauge::config::{Config, problems};
use ctxgauge::config::{schema::schema, template::template};
use ctxgauge::model::values::threshold::OVERSIZED;
use ctxgauge::report::client::line::template::NAMED;
use ctxgauge::tui::theme::Themes;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Output;

fn parse(text: &str) -> Config {
    let mut config: Config = toml::from_str(text).unwrap_or_else(|why| panic!("{text}\n{why}"));
    // What the program takes where these are not set.
    let themes = Themes::default();
    config.theme.get_or_insert_with(|| themes.name().to_owned());
    config.oversized.get_or_insert(OVERSIZED);
    let format = &mut config.statusline.format;
    format.get_or_insert_with(|| NAMED[0].0.to_owned());
    config
}

/// What a key is in: its section or rows, and what these need.
fn within(section: Option<&Key>) -> String {
    match section.map(|section| (section.kind, section.name)) {
        None => String::new(),
        Some((Kind::Rows(_), name)) => format!("[[{name}]]\n"),
        Some((_, name)) => format!("[{name}]\n"),
    }
}

/// All keys, each with its section or rows.
fn all() -> impl Iterator<Item = (Option<&'static Key>, &'static Key)> {
    let below = |key: &'static Key| key.below().iter().map(move |below| (Some(key), below));
    let has_value = |key: &&Key| !matches!(key.kind, Kind::Section(_));
    ALL.iter().flat_map(move |key| {
        let own = Some(key).filter(has_value).map(|key| (None, key));
        own.into_iter().chain(below(key))
    })
}

/// The least that a section or row has besides the key.
fn needed(section: Option<&Key>, key: &Key) -> &'static str {
    match (section.map(|section| section.name), key.name) {
        (Some("alerts"), "requests_left") => "",
        (Some("alerts"), _) => "requests_left = 5\n",
        (Some("window"), "tokens") => "",
        (Some("window"), _) => "tokens = \"1M\"\n",
        (Some("policy"), "share" | "tokens" | "messages") => "",
        (Some("policy"), _) => "share = 0.5\n",
        _ => "",
    }
}

#[test]
fn every_key_is_read_and_its_default_is_that_of_the_program() {
    for (section, key) in all() {
        let head = within(section) + needed(section, key);
        let with = |value: &str| format!("{head}{} = {value}\n", key.name);
        assert!(!key.example.is_empty(), "{}", key.name);
        parse(&with(key.example));
        if let Unset::Default(value) = key.unset {
            assert_eq!(parse(&with(value)), parse(&head), "{}", key.name);
        }
        if let Kind::Choice(words) | Kind::Choices(words) = key.kind {
            for word in words {
                let value = match key.kind {
                    Kind::Choice(_) => format!("{word:?}"),
                    _ => format!("[{word:?}]"),
                };
                parse(&with(&value));
            }
            let other = toml::from_str::<Config>(&with("\"zzz\""));
            assert!(other.is_err(), "{}", key.name);
        }
    }
}

/// The keys that the code says it reads in a section or row, by the error for one that it does not.
fn read_by_code(head: &str) -> BTreeSet<String> {
    let error = toml::from_str::<Config>(&format!("{head}zzz = 1\n")).unwrap_err();
    let (_, expected) = error.message().split_once("expected ").unwrap();
    let names = expected.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

#[test]
fn the_code_reads_no_other_key() {
    let names = |keys: &'static [Key]| -> BTreeSet<String> {
        let names = keys.iter().flat_map(|key| [Some(key.name), key.alias]);
        names.flatten().map(str::to_owned).collect()
    };
    // The code names no other spellings.
    let own = |keys: &'static [Key]| -> BTreeSet<String> {
        keys.iter().map(|key| key.name.to_owned()).collect()
    };
    assert_eq!(read_by_code(""), own(ALL));
    for key in ALL.iter().filter(|key| !key.below().is_empty()) {
        let read = read_by_code(&within(Some(key)));
        assert!(read.is_superset(&own(key.below())), "{}", key.name);
        // One type reads both kinds of rows; which keys a window cannot have is checked after it.
        let known = if let Kind::Rows(_) = key.kind {
            names(ALL.iter().find(|key| key.name == "policy").unwrap().below())
        } else {
            names(key.below())
        };
        assert!(read.is_subset(&known), "{}", key.name);
    }
    let messages = "policy = [{ messages = { zzz = 1 } }]\n";
    let error = toml::from_str::<Config>(messages).unwrap_err().to_string();
    assert!(
        error.contains("`keep`") && error.contains("`over`"),
        "{error}"
    );
}

#[test]
fn the_schema_in_the_assets_is_that_of_the_keys() {
    let path = manifest_folder().join("assets/schemas/config.json");
    let there = std::fs::read_to_string(path).unwrap_or_default();
    let schema = format!("{:#}\n", schema());
    assert!(
        there == schema,
        "the keys have changed: `ctxgauge config schema > assets/schemas/config.json`"
    );
}

/// A configuration is valid by the schema and by the program.
fn check(text: &str) {
    let table: toml::Table = text.parse().unwrap_or_else(|why| panic!("{text}\n{why}"));
    schema::check("config.json", &serde_json::to_value(table).unwrap());
    let shown = problems(text);
    assert!(shown.is_empty(), "{text}\n{shown:?}");
}

#[test]
fn every_example_is_valid_by_the_schema() {
    let text = std::fs::read_to_string(manifest_folder().join("assets/docs/configuration.md"));
    let text = text.unwrap();
    let examples: Vec<&str> = text.split("```toml\n").skip(1).collect();
    assert!(!examples.is_empty());
    for example in examples {
        check(example.split("```").next().unwrap());
    }
    for (section, key) in all() {
        let head = within(section) + needed(section, key);
        check(&format!("{head}{} = {}\n", key.name, key.example));
    }
}

#[test]
fn what_the_program_refuses_by_type_the_schema_refuses_too() {
    for (section, key) in all() {
        let head = within(section) + needed(section, key);
        let text = format!("{head}{} = [[true]]\n", key.name);
        let table: toml::Table = text.parse().unwrap();
        let value = serde_json::to_value(table).unwrap();
        assert!(!schema::fits("config.json", &value), "{text}");
        assert!(!problems(&text).is_empty(), "{text}");
    }
}

/// The file of `config init` with every key set.
fn all_set() -> String {
    let is_key = |line: &&str| !line.starts_with("# ");
    let lines = template();
    let lines = lines.lines().filter(is_key);
    let set: Vec<&str> = lines.map(|line| line.trim_start_matches('#')).collect();
    set.join("\n") + "\n"
}

#[test]
fn the_file_of_init_sets_nothing_and_all_of_it_can_be_set() {
    check(&template());
    assert_eq!(
        toml::from_str::<Config>(&template()).unwrap(),
        Config::default()
    );
    let all_set = all_set();
    // A policy has one rule, so the row with all of them is invalid, and so is nothing else.
    let shown = problems(&all_set);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].message.contains("one rule"), "{shown:?}");
    let table: toml::Table = all_set.parse().unwrap();
    schema::check("config.json", &serde_json::to_value(&table).unwrap());
    for (section, key) in all() {
        let mut place = table.get(section.map_or(key.name, |section| section.name));
        if section.is_some_and(|section| matches!(section.kind, Kind::Rows(_))) {
            place = place.and_then(|rows| rows.get(0));
        }
        let place = match section {
            None => place,
            Some(_) => place.and_then(|section| section.get(key.name)),
        };
        assert!(place.is_some(), "{}", key.name);
    }
}

/// The table of keys, as the list has them.
fn table() -> String {
    let mut table = "| key | values | default | what |\n|---|---|---|---|\n".to_owned();
    let rows = all().filter(|(section, _)| {
        section.is_none_or(|section| matches!(section.kind, Kind::Section(_)))
    });
    for (section, key) in rows {
        let section = section.map(|section| format!("{}.", section.name));
        let default = match key.unset {
            Unset::Default(value) => format!("`{value}`"),
            Unset::Means(what) => what.to_owned(),
            Unset::Required => "required".to_owned(),
        };
        let section = section.unwrap_or_default();
        let kind = key.kind.words();
        writeln!(
            table,
            "| `{section}{}` | {kind} | {default} | {} |",
            key.name,
            key.about.replace('*', "\\*")
        )
        .unwrap();
    }
    table
}

#[test]
fn the_table_of_keys_is_that_of_the_program() {
    let table = table();
    assert!(
        documentation("assets/docs/configuration.md", "configuration") == table,
        "the keys have changed: put this between the markers in assets/docs/configuration.md:\n\n{table}"
    );
}

/// Runs a command with this configuration.
fn run(home: &Path, text: &str, arguments: &[&str]) -> Output {
    let folder = home.join(".config/ctxgauge");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
    let mut command = ctxgauge(home);
    command.args(arguments).output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn show_names_where_each_value_came_from() {
    let home = tempfile::tempdir().unwrap();
    let set = "theme = \"dark\"\n[hooks]\nshare = 0.7\n";
    let arguments = ["config", "show", "--json", "--ascii", "--root", "/srv"];
    let output = run(home.path(), set, &arguments);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    schema::check("config-1.json", &value);
    let keys = value["keys"].as_array().unwrap();
    let of = |name: &str| {
        let mut found = keys.iter().filter(|key| key["name"] == name);
        found.next_back().unwrap()
    };
    assert_eq!(of("theme")["line"], 1);
    assert_eq!(of("theme")["default"], "\"terminal\"");
    assert_eq!(of("hooks.share")["line"], 3);
    assert_eq!(of("hooks.share")["value"], 0.7);
    assert_eq!(of("ascii")["option"], "--ascii");
    assert_eq!(of("roots")["from"], "command line");
    assert_eq!(of("fills")["from"], "default");
    assert_eq!(of("fills")["value"], Value::Null);

    let output = run(home.path(), set, &["config", "show", "--set"]);
    let shown = text(&output.stdout);
    let theme = shown
        .lines()
        .find(|line| line.starts_with("theme"))
        .unwrap();
    assert!(
        theme.contains("\"dark\"") && theme.contains("line 1"),
        "{shown}"
    );
    assert!(!shown.contains("oversized"), "{shown}");

    // A key of the monitor chose others.
    let state = home.path().join(".local/state/ctxgauge/state.toml");
    std::fs::create_dir_all(state.parent().unwrap()).unwrap();
    std::fs::write(
        &state,
        "theme = \"light\"\n[screens.items]\noversized = 5000\n",
    )
    .unwrap();
    let output = run(home.path(), set, &["config", "show", "--set"]);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text(&output.stdout).lines().map(words).collect();
    for line in [
        "theme \"light\" screens \"terminal\"",
        "oversized \"5000\" screens \"4%\"",
    ] {
        let is_there = lines.iter().any(|other| other.starts_with(line));
        assert!(is_there, "{line}: {lines:?}");
    }
}

#[test]
fn check_lists_every_problem_and_ends_with_1() {
    let home = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let output = run(home.path(), text, &["config", "check"]);
        let shown = self::text(&output.stdout) + &self::text(&output.stderr);
        (output.status.code().unwrap(), shown)
    };
    let (code, shown) = check("theme = \"dark\"\n");
    assert_eq!(code, 0, "{shown}");
    let (code, shown) = check("themes = \"dark\"\noversized = \"x\"\n");
    assert_eq!(code, 1, "{shown}");
    for part in [
        "line 1: unknown key 'themes'; did you mean 'theme'?",
        "\n1 | themes = \"dark\"\n  | ^^^^^^\n",
        "line 2:",
        "2 problems",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (code, shown) =
        check("theme = \"dusk\"\n[statusline]\nformat = \"{\"\n[keys]\nsrot = \"x\"\n");
    assert_eq!(code, 1, "{shown}");
    for part in [
        "line 1: unknown theme 'dusk'",
        "line 3:",
        "line 5: unknown action 'srot'",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let missing = ["config", "check", "--config", "/nonexistent/c.toml"];
    let output = run(home.path(), "", &missing);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn init_writes_a_file_once() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = ctxgauge(home.path()).args(arguments).output();
        (
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let path = run(&["config", "path"]);
    assert!(path.2.contains("config init"), "{path:?}");
    assert_eq!(run(&["config", "init", "-"]).1, template());
    assert_eq!(run(&["config", "init"]).0, 0);
    let path = path.1.trim_end();
    assert_eq!(std::fs::read_to_string(path).unwrap(), template());
    assert_eq!(run(&["config", "path"]).2, "");
    std::fs::write(path, "ascii = true\n").unwrap();
    let (code, _, err) = run(&["config", "init"]);
    assert_eq!(code, 1);
    assert!(err.contains("--force"), "{err}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "ascii = true\n");
    assert_eq!(run(&["config", "init", "--force"]).0, 0);
    assert_eq!(std::fs::read_to_string(path).unwrap(), template());
}
