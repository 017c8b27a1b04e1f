//! `ctxgauge why` through the whole program.

use crate::support::{ctxgauge, manifest_folder, schema};
use serde_json::Value;
use std::path::Path;

/// A log with a cause that the provider logged, and one that nobody knows, which tries to control the terminal.
const LOG: &str = "tests/fixtures/claude-code/rebuilt_cache_has_a_cause/log.jsonl";

fn why(home: &Path, arguments: &[&str]) -> String {
    let log = manifest_folder().join(LOG);
    let mut command = ctxgauge(home);
    let output = command.arg("why").arg(log).args(arguments).output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn rebuilt_caches_are_listed_by_the_providers_cause_with_what_to_change() {
    let home = tempfile::tempdir().unwrap();
    let text = why(home.path(), &[]);
    assert!(
        text.contains("the cache was rebuilt: tools changed"),
        "{text}"
    );
    assert!(
        text.contains("connect servers and plugins before"),
        "{text}"
    );
    // An unknown cause is shown as it is, and is inert.
    assert!(
        text.contains("new_reason") && !text.contains('\x1b'),
        "{text}"
    );
    // What was kept of the log gives the same.
    assert_eq!(why(home.path(), &[]), text);
}

#[test]
fn findings_are_in_order_and_have_no_sum() {
    let home = tempfile::tempdir().unwrap();
    let found: Value = serde_json::from_str(&why(home.path(), &["--json"])).unwrap();
    schema::check("why-1.json", &found);
    let findings = found["findings"].as_array().unwrap();
    let costs: Vec<f64> = findings
        .iter()
        .filter_map(|finding| finding["cost_usd"].as_f64())
        .collect();
    assert!(
        costs.len() > 1 && costs.is_sorted_by(|a, b| a >= b),
        "{costs:?}"
    );
    let keys = found.as_object().unwrap().keys();
    let of_sums = keys.filter(|key| key.contains("saving") || key.contains("grade"));
    assert_eq!(of_sums.count(), 0, "{found}");
    let agents = findings.iter().map(|finding| &finding["agent"]);
    assert!(agents.into_iter().all(|agent| agent == "claude-code"));
}

#[test]
fn a_report_has_the_findings_of_its_session_in_the_same_words() {
    let home = tempfile::tempdir().unwrap();
    let report = |arguments: &[&str]| {
        let mut command = ctxgauge(home.path());
        let log = manifest_folder().join(LOG);
        let output = command.arg("report").arg(log).args(arguments).output();
        String::from_utf8(output.stdout).unwrap()
    };
    let listed: Value = serde_json::from_str(&why(home.path(), &["--json"])).unwrap();
    let reported: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    let (listed, reported) = (&listed["findings"], &reported["findings"]);
    let rebuilds = listed.as_array().unwrap().iter();
    let rebuilds: Vec<&Value> = rebuilds.filter(|it| it["kind"] == "rebuild").collect();
    assert!(rebuilds.len() > 1, "{listed}");
    for (of_all, of_one) in rebuilds.iter().zip(reported.as_array().unwrap()) {
        for key in [
            "kind", "about", "what", "count", "tokens", "cost_usd", "act",
        ] {
            assert_eq!(of_all[key], of_one[key], "{key}");
        }
    }
    let text = report(&[]);
    for part in ["1. the cache was rebuilt: ", "connect servers and plugins"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A redacted report names no cause that nobody knows.
    let page = report(&["--format", "markdown"]);
    assert!(
        page.contains("the cache was rebuilt: tools changed"),
        "{page}"
    );
    assert!(
        !page.contains("new reason") && !page.contains('\x1b'),
        "{page}"
    );
}
