//! The page on threats names tests that exist.

use crate::support::manifest_folder;
use std::fs;
use std::path::Path;

/// All sources below a folder.
fn sources(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_tests_that_the_threats_name_exist() {
    let page = fs::read_to_string(manifest_folder().join("src/trust.md")).unwrap();
    let mut code = String::new();
    for folder in ["src", "tests"] {
        sources(&manifest_folder().join(folder), &mut code);
    }
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut named = 0;
    for row in rows {
        let tests = row
            .trim_end_matches([' ', '|'])
            .rsplit(" | ")
            .next()
            .unwrap();
        for name in tests.split(", ") {
            let name = name.trim_matches('`');
            assert!(
                code.contains(&format!("fn {name}(")),
                "there is no test {name}"
            );
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}
