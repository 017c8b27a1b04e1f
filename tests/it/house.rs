//! The rules of the house that no compiler checks: who may import whom, how large a file may grow, that
//! a log format is complete, that nothing of one machine is in the tree.

mod budget;
mod circles;
mod imports;
mod model;
mod platform;
mod source;
mod waiting;

use crate::support::manifest_folder;
use ctxgauge::agents;
use ctxgauge::formats::Tier;
use ctxgauge::model::{values::version, window::Rules};
use source::{Source, files, text};
use std::fs;

/// The most lines a file of the program may have, its unit tests aside.
const MOST_LINES: usize = 600;

#[test]
fn no_file_grows_too_large() {
    let sources = Source::all();
    let large: Vec<String> = sources
        .iter()
        .filter(|source| source.lines() > MOST_LINES)
        .map(|source| format!("{}: {} lines", source.path, source.lines()))
        .collect();
    assert!(large.is_empty(), "split: {large:#?}");
}

/// The most comments that begin with a clause instead of a sentence. The number is lowered whenever some are rewritten.
const MOST_CLAUSES: usize = 2;

#[test]
fn comments_are_sentences() {
    let is_clause = |line: &&str| {
        let text = line.trim_start().trim_start_matches("///");
        let text = text.trim_start_matches("//!").trim_start_matches("//");
        let beginnings = [" What ", " Whether ", " The same"];
        line.trim_start().starts_with("//") && beginnings.iter().any(|it| text.starts_with(it))
    };
    let sources = Source::all();
    let clauses = sources.iter();
    let clauses = clauses.map(|source| source.code.lines().filter(is_clause).count());
    let clauses: usize = clauses.sum();
    assert!(
        clauses <= MOST_CLAUSES,
        "{clauses} comments begin with \"What\", \"Whether\" or \"The same\""
    );
}

/// What opens a file, whatever is in its place.
const OPENS: [&str; 5] = [
    "File::open",
    "OpenOptions",
    "fs::read(",
    "fs::read_to_string",
    "fs::copy(",
];

#[test]
fn files_are_opened_in_one_place() {
    let mut wrong = Vec::new();
    for source in Source::all() {
        if source.module == "files" || source.module.starts_with("files::") {
            continue;
        }
        let code = source.code.replace("StateFile::open", "");
        let opens = OPENS.iter().filter(|open| code.contains(**open));
        wrong.extend(opens.map(|open| format!("{}: {open}", source.path)));
    }
    assert!(wrong.is_empty(), "use ctxgauge::files: {wrong:#?}");
}

#[test]
fn every_decoder_is_registered() {
    let registry = text("src/agents/builtin/mod.rs");
    for source in Source::all() {
        let Some((format, _)) = source.code.split_once(": Format = Format {") else {
            continue;
        };
        let format = format.rsplit(' ').next().unwrap();
        let Some(module) = source.path.strip_prefix("src/agents/builtin/") else {
            continue;
        };
        let entry = format!("&{}::{format}", module.trim_end_matches(".rs"));
        assert!(registry.contains(&entry), "put {entry} into DECODERS");
    }
}

#[test]
fn every_format_has_hand_written_logs_and_a_report_of_each() {
    for format in agents::ALL.iter().copied() {
        let folder = manifest_folder().join("tests/fixtures").join(format.id);
        let mut cases: Vec<_> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        cases.retain(|case| case.path().is_dir());
        assert!(
            cases.len() > 1,
            "{}: fewer than two cases in {}: see step 4 in src/agents/lib.rs",
            format.id,
            folder.display()
        );
        for case in cases.iter().map(|case| case.path()) {
            let names: Vec<String> = fs::read_dir(&case)
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            let has = |test: fn(&str) -> bool| names.iter().any(|name| test(name));
            let has_log = has(|name| {
                name.starts_with("log.")
                    || name == "base_state.json"
                    || name.ends_with(".messages.json")
                    || name == "api_conversation_history.json"
                    || name == "meta.json"
            });
            let has_report = has(|name| name == "report.snap");
            assert!(has_log && has_report, "{}: {names:?}", case.display());
        }
    }
}

#[test]
fn every_format_has_a_policy() {
    let rules: Rules = toml::from_str(&text("assets/models.toml")).unwrap();
    for format in agents::ALL.iter().copied() {
        let known = rules.policy.iter().any(|policy| policy.agent == format.id);
        assert!(known, "{}: no [[policy]] in assets/models.toml", format.id);
    }
}

#[test]
fn every_proven_version_is_of_a_format_that_was_read() {
    let rules: Rules = toml::from_str(&text("assets/proven.toml")).unwrap();
    assert!(!rules.proven.is_empty());
    for (agent, proven) in &rules.proven {
        let format = agents::by_id(agent).unwrap_or_else(|| panic!("{agent}: no such format"));
        assert_eq!(format.tier, Tier::Read, "{agent}");
        let numbers = version::numbers(&proven.version);
        assert!(numbers.len() > 1, "{agent}: {}", proven.version);
    }
}

#[test]
fn every_format_is_named_once() {
    let mut ids: Vec<&str> = agents::ALL.iter().map(|format| format.id).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
    for format in agents::ALL.iter().copied() {
        // Who reports no usage has no terms for it.
        let silent = format.facts.known.is_empty();
        assert_eq!(
            format.totals.terms.is_empty(),
            silent,
            "{}: terms",
            format.id
        );
        assert!(!format.roots.is_empty(), "{}: no roots", format.id);
        assert!(agents::by_id(format.id).is_some());
    }
}

/// Folders that hold something else on every machine, so that their names alone tell nothing.
const USUAL: [&str; 8] = ["home", "root", "Users", "tmp", "usr", "opt", "var", "mnt"];

#[test]
fn nothing_of_this_machine_is_in_the_tree() {
    let here = manifest_folder();
    let mut told: Vec<String> = here
        .ancestors()
        .filter(|folder| folder.components().count() > 2)
        .map(|folder| folder.display().to_string())
        .collect();
    let mut parts = here.components().skip(1);
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy());
    told.extend(
        first
            .filter(|first| !USUAL.contains(&&**first))
            .map(|first| format!("/{first}/")),
    );
    for path in files(&here) {
        let bytes = fs::read(&path).unwrap();
        let content = String::from_utf8_lossy(&bytes);
        for needle in &told {
            let found = content.match_indices(needle.as_str()).any(|(at, _)| {
                // The same name further down in some other path is no trace of this one.
                !content[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}".contains(c))
            });
            assert!(!found, "{}: {needle}", path.display());
        }
    }
}

#[test]
fn dependencies_come_from_the_public_registry() {
    let lock = text("Cargo.lock");
    let sources = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    for source in sources {
        assert_eq!(
            source,
            "\"registry+https://github.com/rust-lang/crates.io-index\""
        );
    }
    let settings: toml::Table = text(".cargo/config.toml").parse().unwrap();
    let names: Vec<&String> = settings.keys().collect();
    assert_eq!(names, ["env"], "settings of one machine");
}
