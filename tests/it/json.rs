//! `assets/docs/json.md` names exactly the keys that reports have.

use crate::support::{
    ctxgauge, documentation, is_beside_a_log, json_report, manifest_folder, schema,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Keys by the place that has them: `messages[]` has `id`.
type Keys = BTreeMap<String, BTreeSet<String>>;

/// The keys that the documentation names for a schema. A place that ends in `*` is a map.
fn documented(schema: &str) -> Keys {
    let text = documentation("assets/docs/json.md", schema);
    let mut keys = Keys::new();
    for row in text.lines().filter(|line| !line.starts_with("```")) {
        let (place, names) = row.split_once(": ").unwrap_or((row, ""));
        let place = place.trim_matches('.').to_owned();
        let names = names.split_whitespace().map(str::to_owned);
        keys.entry(place).or_default().extend(names);
    }
    keys
}

/// Collects the keys of a document. `known` names the maps.
fn collect(value: &Value, place: &str, known: &Keys, found: &mut Keys) {
    let map = format!("{place}.*");
    match value {
        Value::Object(object) if known.contains_key(map.trim_start_matches('.')) => {
            found.entry(map.clone()).or_default();
            object
                .values()
                .for_each(|value| collect(value, &map, known, found));
        }
        Value::Object(object) => {
            for (key, value) in object {
                found
                    .entry(place.to_owned())
                    .or_default()
                    .insert(key.clone());
                let below = format!("{place}.{key}");
                collect(value, below.trim_start_matches('.'), known, found);
            }
        }
        Value::Array(elements) => {
            let below = format!("{place}[]");
            elements
                .iter()
                .for_each(|value| collect(value, &below, known, found));
        }
        _ => {}
    }
}

/// Compares the documents of a schema with what is documented of it. `rare` keys need not be in them.
fn check(schema: &str, documents: &[Value], rare: &[&str]) {
    let mut known = documented(schema);
    let mut found = Keys::new();
    for document in documents {
        assert_eq!(document["schema"], schema);
        collect(document, "", &known, &mut found);
    }
    for (place, keys) in &mut known {
        keys.retain(|key| !rare.contains(&&*format!("{place}.{key}")));
    }
    known.retain(|place, _| !rare.contains(&place.as_str()));
    for place in rare {
        found.remove(*place);
        if let Some((place, key)) = place.rsplit_once('.')
            && let Some(keys) = found.get_mut(place)
        {
            keys.remove(key);
        }
    }
    let (places, found_places): (Vec<_>, Vec<_>) = (known.keys().collect(), found.keys().collect());
    assert_eq!(places, found_places, "places of {schema}");
    for (place, keys) in &known {
        assert_eq!(keys, &found[place], "keys of {place} in {schema}");
    }
}

/// What the program prints.
fn output(arguments: &[&str]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    let output = command.args(arguments).arg("--json").output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn reports_of_sessions_have_the_documented_keys() {
    let mut reports = Vec::new();
    insta::glob!("../fixtures", "*/*/log.{json,jsonl,yaml}", |path| {
        if !is_beside_a_log(path) {
            reports.push(json_report(path));
        }
    });
    // Known only while a session is active, and only from settings or hooks.
    let rare = [
        ".client",
        "client",
        "client.parts[]",
        "compaction.at_turn_end",
        "compaction.unlogged",
        "compaction.unlogged[]",
        "compaction.minutes_left",
        "compaction.trigger_setting",
        "context.window_setting",
        "session.proven",
        "session.damaged",
        // Of a jump with more parts than are listed.
        "jumps[].more",
        // Of a session that filled a window of a million tokens.
        "findings[].window",
        "findings[].cost_low_usd",
        "findings[].cost_high_usd",
        // Of an item that was polled.
        "findings[].places[].item",
        ".left_out",
        "left_out",
    ];
    check("ctxgauge.report/1", &reports, &rare);
}

#[test]
fn other_reports_have_the_documented_keys() {
    let fixtures = manifest_folder().join("tests/fixtures");
    let claude = fixtures.join("claude-code");
    let claude = claude.to_str().unwrap();
    let copilot = fixtures.join("copilot-cli");
    let copilot = copilot.to_str().unwrap();
    let log = fixtures.join("claude-code/response_in_several_lines/log.jsonl");
    let log = log.to_str().unwrap();
    let rare = [
        "sessions[].context.said",
        "sessions[].context.window_setting",
        "sessions[].context.own_count",
        "sessions[].context.earlier_reasoning",
    ];
    let list = output(&["ls", "--totals", "--by", "day", claude, copilot]);
    schema::check("ls-1.json", &list);
    schema::check("ls-1.json", &output(&["ls", claude]));
    let codex = fixtures.join("codex/plan-limits");
    let codex = codex.to_str().unwrap();
    let by_project = output(&["ls", "--totals", "--by", "project", claude, codex]);
    schema::check("ls-1.json", &by_project);
    let by_tool = output(&["ls", "--totals", "--by", "tool", claude]);
    schema::check("ls-1.json", &by_tool);
    check("ctxgauge.ls/1", &[list, by_project, by_tool], &rare);
    let found = output(&["search", "main", "--limit", "1", claude]);
    let result = output(&["search", "GET", "--tool", "Read", "--limit", "1", claude]);
    schema::check("search-1.json", &result);
    check("ctxgauge.search/1", &[found, result], &[".more"]);
    let rare = [
        "findings[].cost_high_usd",
        "findings[].cost_low_usd",
        "findings[].folder",
        "findings[].listed",
        "findings[].places[].item",
        "findings[].places[].request",
        "findings[].window",
        "measured[]",
    ];
    check("ctxgauge.why/1", &[output(&["why", claude])], &rare);
    let audit = output(&["audit", "--worst", "3", claude]);
    let rare = ["worst[].went[]"];
    check("ctxgauge.audit/1", &[audit], &rare);
    let audit = output(&["audit", "--why", claude]);
    check("ctxgauge.audit-why/1", &[audit], &["kinds.*", "windows[]"]);
    // Places are polled where the user wants it, or on some file systems.
    check("ctxgauge.agents/1", &[output(&["agents"])], &["polled[]"]);
    check(
        "ctxgauge.check/1",
        &[output(&["agents", "check", log])],
        &[],
    );
    check(
        "ctxgauge.models/1",
        &[
            output(&["models"]),
            output(&["models", "gpt-5.6"]),
            output(&["models", "claude-haiku-5-5"]),
            output(&["models", "qwen3-coder"]),
        ],
        &[],
    );
    let log_of = |case: &str| fixtures.join(format!("claude-code/{case}/log.jsonl"));
    let before = log_of("requests_say_what_they_hold");
    let after = log_of("prompt_snapshot_after_the_first_response");
    let both = [before, after].map(|path| path.to_str().unwrap().to_owned());
    let diff = output(&["diff", "--redact", &both[0], &both[1]]);
    check("ctxgauge.diff/1", &[diff], &["tools[].server"]);
    check("ctxgauge.config/1", &[output(&["config", "show"])], &[]);
}
