//! The fuzzer's targets, on their seeds and on every input that has failed before. `fuzz/` searches for more.

#[path = "../../fuzz/src/lib.rs"]
pub mod targets;

use crate::support::manifest_folder;
use std::panic;
use targets::{TARGETS, Target, seeds};

fn check((target, check): Target) {
    let findings = seeds::files(&manifest_folder().join("fuzz/findings").join(target));
    let findings = findings.iter().map(|path| {
        let name = path.display().to_string();
        (name, std::fs::read(path).unwrap())
    });
    let mut seeds = seeds::of(target);
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds.extend(findings);
    for (name, input) in seeds {
        if panic::catch_unwind(|| check(&input)).is_err() {
            panic!("{target} fails on {name}");
        }
    }
}

#[test]
fn all_targets_hold_on_their_seeds_and_findings() {
    TARGETS.into_iter().for_each(check);
}
