//! The documents about metrics: their tables, the rules, and the dashboard.

use crate::support::{documentation, manifest_folder};
use ctxgauge::metrics::catalogue::FAMILIES;
use ctxgauge::metrics::own::{OWN, OwnMetric};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

fn text(name: &str) -> String {
    fs::read_to_string(manifest_folder().join("assets/prometheus").join(name)).unwrap()
}

#[test]
fn the_tables_of_metrics_are_those_of_the_program() {
    let mut table = "| metric | kind | label | what |\n|---|---|---|---|\n".to_owned();
    for family in FAMILIES {
        let kind = family.kind.as_str();
        let label = match family.by {
            "" => String::new(),
            by => format!("`{by}`"),
        };
        let name = family.whole_name();
        writeln!(table, "| `{name}` | {kind} | {label} | {} |", family.help).unwrap();
    }
    let mut own = "| metric | kind | what |\n|---|---|---|\n".to_owned();
    for metric in OWN {
        let (name, kind) = (metric.whole_name(), metric.kind.as_str());
        writeln!(own, "| `{name}` | {kind} | {} |", metric.help).unwrap();
    }
    for (name, table) in [("metrics", table), ("own-metrics", own)] {
        assert!(
            documentation("assets/docs/metrics.md", name) == table,
            "the metrics have changed: put this between the markers in assets/docs/metrics.md:\n\n{table}"
        );
    }
}

/// The names of metrics in a text of queries.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
    let names = words.filter(|word| word.starts_with("ctxgauge_"));
    names
        .map(|name| name.strip_suffix("_bucket").unwrap_or(name))
        .collect()
}

#[test]
fn rules_and_the_dashboard_ask_for_metrics_that_there_are() {
    let families = FAMILIES.iter().map(|family| family.whole_name());
    let known: BTreeSet<String> = families
        .chain(OWN.iter().map(OwnMetric::whole_name))
        .collect();
    for file in ["ctxgauge.rules.yml", "ctxgauge.test.yml", "grafana.json"] {
        let text = text(file);
        let named = named(&text);
        assert!(named.len() > 5, "{named:?}");
        for name in named {
            assert!(known.contains(name), "{file}: {name}");
        }
    }
}

#[test]
fn each_panel_of_the_dashboard_has_its_place_and_its_queries() {
    let dashboard: Value = serde_json::from_str(&text("grafana.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut places = BTreeSet::new();
    for panel in panels {
        let place = &panel["gridPos"];
        let number = |key: &str| place[key].as_u64().unwrap();
        assert!(number("x") + number("w") <= 24, "{place}");
        assert!(places.insert((number("y"), number("x"))), "{place}");
        for target in panel["targets"].as_array().unwrap() {
            assert!(
                target["expr"].as_str().unwrap().contains("ctxgauge_"),
                "{target}"
            );
        }
    }
    assert!(panels.len() > 10);
}

#[test]
fn the_rules_are_valid_and_fire_when_they_are_meant_to() {
    for (what, file) in [
        ("check", "ctxgauge.rules.yml"),
        ("test", "ctxgauge.test.yml"),
    ] {
        let mut promtool = Command::new("promtool");
        promtool.current_dir(manifest_folder().join("assets/prometheus"));
        let output = match promtool.args([what, "rules", file]).output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                eprintln!("promtool is not installed: the rules for Prometheus are not tried");
                return;
            }
            Err(error) => panic!("promtool: {error}"),
        };
        let said = [output.stdout, output.stderr].concat();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&said)
        );
    }
}
