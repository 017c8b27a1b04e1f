//! What packages contain and name.

use crate::support::{ctxgauge, manifest_folder};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(path: &str) -> Value {
    let text = fs::read_to_string(manifest_folder().join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn npm_has_the_version_of_the_program_and_a_package_for_each_platform() {
    let main = json("assets/packages/npm/package.json");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(main["version"], version);
    let platforms = main["optionalDependencies"].as_object().unwrap();
    assert!(platforms.values().all(|of_one| of_one == version));
    let names: Vec<&str> = platforms
        .keys()
        .filter_map(|name| name.strip_prefix("@ctxgauge/"))
        .collect();
    assert_eq!(
        names,
        [
            "darwin-arm64",
            "darwin-x64",
            "linux-arm64",
            "linux-x64",
            "win32-x64"
        ]
    );
}

#[test]
fn releases_are_built_for_the_platforms_of_npm() {
    let text = fs::read_to_string(manifest_folder().join("dist-workspace.toml")).unwrap();
    let dist: toml::Table = text.parse().unwrap();
    let targets = dist["dist"]["targets"].as_array().unwrap();
    let platform = |target: &str| {
        let (processor, system) = target.split_once('-').unwrap();
        let processor = match processor {
            "aarch64" => "arm64",
            _ => "x64",
        };
        let system = match system {
            "apple-darwin" => "darwin",
            "pc-windows-msvc" => "win32",
            _ => "linux",
        };
        format!("@ctxgauge/{system}-{processor}")
    };
    let mut built: Vec<String> = targets
        .iter()
        .map(|target| platform(target.as_str().unwrap()))
        .collect();
    built.sort();
    let main = json("assets/packages/npm/package.json");
    let packed = main["optionalDependencies"].as_object().unwrap().keys();
    assert!(packed.eq(&built), "{built:?}");
}

#[test]
fn binstall_takes_the_archives_of_releases() {
    let read = |name: &str| {
        let text = fs::read_to_string(manifest_folder().join(name)).unwrap();
        text.parse::<toml::Table>().unwrap()
    };
    let rules = &read("Cargo.toml")["package"]["metadata"]["binstall"];
    let dist = &read("dist-workspace.toml")["dist"]["targets"];
    let built: Vec<&str> = dist
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|it| it.as_str())
        .collect();
    let others = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
    for target in built.iter().chain(&others) {
        let own = rules["overrides"].get(*target);
        let rule = |key: &str| {
            let rule = own.and_then(|own| own.get(key)).unwrap_or(&rules[key]);
            let rule = rule.as_str().unwrap().replace("{ name }", "ctxgauge");
            rule.replace("{ target }", target)
                .replace("{ bin }", "ctxgauge")
        };
        // A static program is for each Linux.
        let made = target.replace("-gnu", "-musl");
        assert!(built.contains(&&*made), "{target}");
        let archive = format!("ctxgauge-{made}");
        let (end, format, program) = if made.contains("windows") {
            (".zip", "zip", "ctxgauge{ binary-ext }".to_owned())
        } else {
            (
                ".tar.xz",
                "txz",
                format!("{archive}/ctxgauge{{ binary-ext }}"),
            )
        };
        let url = format!("{{ repo }}/releases/download/v{{ version }}/{archive}{end}");
        assert_eq!(rule("pkg-url"), url);
        assert_eq!((&*rule("pkg-fmt"), rule("bin-dir")), (format, program));
    }
    let build = fs::read_to_string(manifest_folder().join("assets/packages/build")).unwrap();
    assert!(
        build.contains("archive=ctxgauge-$target\n")
            && build.contains("\"target/packages/$archive.tar.xz\" \"$archive\"")
    );
}

#[test]
fn the_marketplace_offers_the_plugin_that_is_there() {
    let offered = &json(".claude-plugin/marketplace.json")["plugins"][0];
    let source = offered["source"].as_str().unwrap();
    let plugin = json(&format!("{source}/.claude-plugin/plugin.json"));
    for key in ["name", "description", "license"] {
        assert_eq!(offered[key], plugin[key], "{key}");
    }
}

#[test]
fn a_folder_has_the_manual_pages_and_the_scripts_of_all_shells() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("share");
    let write = |folder: &Path| {
        let mut command = ctxgauge(home.path());
        command
            .args(["completions", "--folder"])
            .arg(folder)
            .output()
    };
    // An earlier one is replaced.
    for _ in 0..2 {
        let output = write(&folder);
        assert!(output.status.success(), "{output:?}");
    }
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    for script in ["ctxgauge.bash", "_ctxgauge", "ctxgauge.fish"] {
        assert!(read(script).contains("audit"), "{script}");
    }
    let page = read("ctxgauge.1");
    assert!(page.contains("ctxgauge\\-ls(1)"));
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES"] {
        assert!(
            page.contains(&format!(".SH \"{section}\"\n"))
                || page.contains(&format!(".SH {section}\n")),
            "{page}"
        );
    }
    assert!(read("ctxgauge-check.1").contains("a limit was passed"));
    let page = read("ctxgauge-agents-check.1");
    assert!(
        page.contains(".SH NAME\n") && page.contains(".SH EXAMPLES\n.nf\n"),
        "{page}"
    );
    // A folder with other files is not.
    fs::write(home.path().join("letter"), "").unwrap();
    assert!(!write(home.path()).status.success());
    assert!(home.path().join("letter").exists());
}
