//! `ctxgauge search` through the whole program, and that it misses no text of any format.

mod screen;

use crate::support::{ctxgauge, manifest_folder, schema};
use ctxgauge::agents;
use ctxgauge::config;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::read_once;
use ctxgauge::ingest::search::{Case, Matcher, Syntax, each_match, may_match};
use ctxgauge::model::event::ByLength;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

fn fixture(name: &str) -> PathBuf {
    manifest_folder().join("tests/fixtures").join(name)
}

fn search(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    command.arg("search").args(arguments).output()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A home for logs, with one of Claude Code whose texts are escaped, and a database of OpenCode.
fn logs() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let log = fixture("claude-code/response_in_several_lines/log.jsonl");
    let log = fs::read_to_string(log).unwrap();
    // A prompt over several lines, with quotes and a letter as an escape.
    let said = log.replace(
        "where is the pool made?",
        r#"say \"hi\"\nwhere is\nthe p\u006fol m\u0061de?\u001b[31m"#,
    );
    // And the arguments of a tool.
    let said = said.replace("src/db.rs", r#"a \"quoted\"\nname"#);
    assert_ne!(said, log);
    fs::write(home.path().join("escaped.jsonl"), said).unwrap();
    let database = rusqlite::Connection::open(home.path().join("opencode.db")).unwrap();
    let sql = fixture("opencode/rows_of_2_hold_whole_messages/log.sql");
    database
        .execute_batch(&fs::read_to_string(sql).unwrap())
        .unwrap();
    home
}

#[test]
fn the_largest_items_of_all_logs_come_first() {
    let logs = logs();
    let folder = logs.path().to_str().unwrap();
    let largest = |more: &[&str]| {
        let arguments = [&["--largest", "--json"], more].concat();
        let output = search(&arguments);
        assert!(output.status.success(), "{output:?}");
        let hits = text(&output);
        let hits = hits.lines().map(|line| serde_json::from_str(line).unwrap());
        hits.collect::<Vec<Value>>()
    };
    let tokens = |hits: &[Value]| -> Vec<u64> {
        hits.iter()
            .map(|hit| hit["tokens"].as_u64().unwrap())
            .collect()
    };
    let all = largest(&["--limit", "1000", "", folder]);
    let sizes = tokens(&all);
    assert!(
        sizes.is_sorted_by(|a, b| a >= b) && sizes.len() > 4,
        "{sizes:?}"
    );
    let agents: BTreeSet<&str> = all
        .iter()
        .map(|hit| hit["agent"].as_str().unwrap())
        .collect();
    assert_eq!(agents.len(), 2);
    assert_eq!(tokens(&largest(&["--limit", "3", "", folder])), sizes[..3]);
    let tools = largest(&["--role", "tool", "", folder]);
    assert!(tools.iter().all(|hit| hit["role"] == "tool") && !tools.is_empty());
    // Those that match are listed in the same order.
    let matching = largest(&["--limit", "1000", "-F", "pool", folder]);
    assert!(matching.len() < all.len() && tokens(&matching).is_sorted_by(|a, b| a >= b));
}

#[test]
fn what_no_search_of_bytes_finds_is_found() {
    let logs = logs();
    let folder = logs.path().to_str().unwrap();
    for pattern in [r"where is\s+the pool made", "say \"hi\"", "^the pool"] {
        let raw = fs::read_to_string(logs.path().join("escaped.jsonl")).unwrap();
        assert!(!raw.contains("the pool made"));
        let output = search(&[pattern, folder]);
        assert_eq!(output.status.code(), Some(0), "{pattern}");
        let text = text(&output);
        assert_eq!(text.lines().count(), 1, "{text}");
        let cells: Vec<&str> = text.trim_end().split('\t').collect();
        assert!(cells[0].ends_with("escaped.jsonl"), "{text}");
        assert_eq!(cells[1..5], ["#1", "0", "user", "text"], "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    // The arguments of a call, as the tool gets them and as they are in the log.
    for pattern in ["a \"quoted\"\\nname", r#"a \\"quoted\\"\\nname"#] {
        let output = search(&[pattern, folder, "--role", "assistant", "--tool", "read"]);
        assert_eq!(text(&output).lines().count(), 1, "{pattern}");
    }
    // A row of a database.
    let output = search(&["where are", folder, "--agent", "opencode", "--json"]);
    let found: Value = serde_json::from_str(text(&output).lines().next().unwrap()).unwrap();
    assert_eq!(found["agent"], "opencode");
}

#[test]
fn documents_have_the_schema_and_the_places_of_the_matches() {
    let logs = logs();
    let folder = logs.path().to_str().unwrap();
    let output = search(&["(?i)main|pool", folder, "--json"]);
    let text = text(&output);
    let mut roles = BTreeSet::new();
    for line in text.lines() {
        let found: Value = serde_json::from_str(line).unwrap();
        schema::check("search-1.json", &found);
        roles.insert(found["role"].as_str().unwrap().to_owned());
        for line in found["lines"].as_array().unwrap() {
            let text = line["text"].as_str().unwrap();
            for place in line["matches"].as_array().unwrap() {
                let [from, to] = [0, 1].map(|at: usize| place[at].as_u64().unwrap() as usize);
                let word = text[from..to].to_lowercase();
                assert!(word == "main" || word == "pool", "{line}");
            }
        }
    }
    assert!(roles.len() > 1, "{text}");
    let count = text.lines().count();
    let limited = search(&["(?i)main|pool", folder, "--json", "--limit", "2"]);
    assert!(count > 2);
    assert_eq!(
        self::text(&limited),
        text.lines()
            .take(2)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    );
    // The same item has the same number in a report.
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let path = first["path"].as_str().unwrap();
    let report = ctxgauge(home.path())
        .args(["report", "--json", path])
        .output();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let item = &report["messages"][first["item"].as_u64().unwrap() as usize];
    for key in ["line", "role", "kind", "tool", "in_context", "entered"] {
        assert_eq!(item[key], first[key], "{key}");
    }
}

#[test]
fn filters_and_exit_codes() {
    let logs = logs();
    let folder = logs.path().to_str().unwrap();
    let code = |arguments: &[&str]| search(arguments).status.code();
    assert_eq!(code(&["pool", folder]), Some(0));
    assert_eq!(code(&["POOL", folder]), Some(1), "capitals count");
    assert_eq!(code(&["POOL", "-i", folder]), Some(0));
    assert_eq!(code(&["POol", "-s", folder]), Some(1));
    assert_eq!(code(&["po.l", "-F", folder]), Some(1));
    assert_eq!(code(&["pool", folder, "--role", "user"]), Some(0));
    assert_eq!(code(&["pool", folder, "--role", "system"]), Some(1));
    assert_eq!(code(&["pool", folder, "--project", "shop"]), Some(0));
    assert_eq!(code(&["pool", folder, "--project", "elsewhere"]), Some(1));
    assert_eq!(
        code(&["pool", folder, "--agent", "codex"]),
        Some(3),
        "no log of its"
    );
    assert_eq!(code(&["pool", folder, "--tool", "no such tool"]), Some(1));
    assert_eq!(code(&["(", folder]), Some(2));
    assert_eq!(code(&["", folder]), Some(2));
    assert_eq!(code(&["pool", "/no/such/folder"]), Some(3));
    let nothing = search(&["no such text", folder]);
    assert_eq!(
        (text(&nothing), nothing.stderr),
        (String::new(), b"nothing was found in 2 logs\n".to_vec())
    );
    // What follows the match of a word that is searched for is not cut in a pipe, and marked if that is asked for.
    let coloured = text(&search(&["pool", folder, "--color", "always"]));
    assert!(
        coloured.contains("the \u{1b}[1;31mpool\u{1b}[0m made?"),
        "{coloured:?}"
    );
}

/// The logs of all fixtures: files, and databases that are made in `folder`.
fn all_fixtures(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let agents = fs::read_dir(fixture("")).unwrap().flatten();
    let cases = agents.flat_map(|agent| fs::read_dir(agent.path()).unwrap().flatten());
    for (nth, case) in cases.enumerate() {
        let sql = case.path().join("log.sql");
        if sql.exists() {
            let path = folder.join(format!("{nth}.db"));
            let database = rusqlite::Connection::open(&path).unwrap();
            database
                .execute_batch(&fs::read_to_string(sql).unwrap())
                .unwrap();
            found.push(path);
        } else {
            found.push(case.path());
        }
    }
    found
}

#[test]
fn every_item_that_has_a_text_is_found_in_every_format() {
    let databases = tempfile::tempdir().unwrap();
    let roots = all_fixtures(databases.path())
        .into_iter()
        .map(SearchRoot::Given);
    let found = Scanner::new(roots.collect(), agents::ALL.to_vec(), |_| None).look();
    let rules = Arc::new(config::rules().unwrap());
    let anything = Matcher::new(r"\S", Syntax::Regex, Case::Smart).unwrap();
    let (mut items, mut agents) = (0, BTreeSet::new());
    for log in &found.files {
        let sessions = read_once(log, &ByLength, &rules).unwrap();
        let mut missing: BTreeSet<_> = sessions
            .iter()
            .flat_map(|(conversation, session)| {
                let items = session.items().iter().enumerate();
                // What is counted is in the log, unless all of it is white space.
                let has_text =
                    items.filter(|(_, item)| item.size.bytes > 0 && !item.preview.is_empty());
                has_text
                    .map(|(ix, _)| (*conversation, ix))
                    .collect::<Vec<_>>()
            })
            .collect();
        if !missing.is_empty() {
            assert!(
                may_match(log, &anything, &|| true).unwrap(),
                "{}",
                log.facts.path.display()
            );
            agents.insert(log.format.id);
        }
        items += missing.len();
        let all = sessions
            .iter()
            .map(|(conversation, session)| (*conversation, session));
        each_match(log, all, &anything, &|| true, &mut |hit| {
            missing.remove(&(hit.conversation, hit.item));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(
            missing.is_empty(),
            "{}: {missing:?}",
            log.facts.path.display()
        );
    }
    assert!(items > 1_000 && agents.len() > 25, "{items} of {agents:?}");
}
