//! `assets/docs/fleets.md`: the names in its examples are those of the program and its rules.

use crate::support::manifest_folder;
use ctxgauge::metrics::catalogue::FAMILIES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

fn text(path: &str) -> String {
    fs::read_to_string(manifest_folder().join(path)).unwrap()
}

/// The words of a text that begin with this.
fn words<'t>(text: &'t str, begin: &str) -> BTreeSet<&'t str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let words = text.split(|c: char| !is_part(c));
    words.filter(|word| word.starts_with(begin)).collect()
}

/// The text of the block of this language.
fn block<'t>(page: &'t str, language: &str) -> Vec<&'t str> {
    let begin = format!("```{language}\n");
    let blocks = page.split(begin.as_str()).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

#[test]
fn the_metrics_and_rules_of_the_page_exist_and_the_readme_leads_to_it() {
    let page = text("assets/docs/fleets.md");
    assert!(text("README.md").contains("(assets/docs/fleets.md)"));
    let rules = text("assets/prometheus/ctxgauge.rules.yml");
    let known: BTreeSet<&str> = words(&rules, "job:ctxgauge_");
    let named = words(&page, "job:ctxgauge_");
    let named: BTreeSet<&str> = named
        .into_iter()
        .filter(|name| !name.ends_with('_'))
        .collect();
    assert_eq!(named, known);

    // What it drops are metrics that no rule reads.
    let dropped = block(&page, "yaml").concat();
    let pattern = dropped
        .lines()
        .find_map(|line| line.trim().strip_prefix("regex: ctxgauge_("))
        .unwrap();
    let pattern: Vec<&str> = pattern.trim_end_matches(')').split('|').collect();
    let names: Vec<String> = FAMILIES.iter().map(|family| family.whole_name()).collect();
    let parts = words(&rules, "ctxgauge_");
    for part in pattern {
        let name = format!("ctxgauge_{part}");
        assert!(names.contains(&name), "there is no metric {name}");
        assert!(!parts.contains(name.as_str()), "a rule reads {name}");
    }
}

#[test]
fn the_examples_can_be_read_and_their_columns_exist() {
    let page = text("assets/docs/fleets.md");
    let machines: Value = serde_json::from_str(block(&page, "json")[0]).unwrap();
    assert!(machines[0]["targets"].is_array());
    let query = block(&page, "sql")[0];
    let schema: Value = serde_json::from_str(&text("assets/schemas/requests-1.json")).unwrap();
    let columns = schema["properties"].as_object().unwrap();
    for column in [
        "agent",
        "input",
        "cache_read",
        "cache_write",
        "output",
        "cost_usd",
        "repeated",
        "time",
    ] {
        assert!(
            query.contains(column) && columns.contains_key(column),
            "{column}"
        );
    }
    for part in block(&page, "sh") {
        for line in part.lines().filter(|line| line.starts_with("ctxgauge ")) {
            let known = ["export", "serve", "metrics"];
            assert!(known.contains(&line.split(' ').nth(1).unwrap()), "{line}");
        }
    }
}
