//! Messages on standard error: arguments, paths and lines of files in them are made visible.

use super::bytes::{HOSTILE, NAME, wrong_in_text};
use crate::support::{ctxgauge, manifest_folder, process};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

fn log() -> PathBuf {
    manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl")
}

/// Runs the program, which fails, and checks that what it prints is safe. Returns it.
fn fail(home: &Path, arguments: &[&OsStr]) -> String {
    let output = ctxgauge(home).args(arguments).output();
    assert!(!output.status.success(), "{arguments:?}");
    for printed in [&output.stdout, &output.stderr] {
        if let Some(wrong) = wrong_in_text(printed) {
            panic!("{arguments:?} printed {wrong}");
        }
    }
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn words<'a>(words: &'a [&'a str]) -> Vec<&'a OsStr> {
    words.iter().map(OsStr::new).collect()
}

#[test]
fn escapes_in_arguments_are_made_visible() {
    let home = tempfile::tempdir().unwrap();
    let log = log();
    let log = log.to_str().unwrap();
    let option = format!("--HOSTILE{HOSTILE}");
    for arguments in [
        &["report", HOSTILE][..],
        &["report", log, "--agent", HOSTILE],
        &["report", log, "--session", HOSTILE],
        &["report", log, "--format", HOSTILE],
        &["audit", log, "--estimator", HOSTILE],
        &["report", log, &option],
        &["report", log, HOSTILE],
        &["--config", HOSTILE, "ls"],
        &["ls", HOSTILE],
        &["ls", "--root", HOSTILE, "--agent", HOSTILE],
        &["audit", HOSTILE],
        &["agents", "check", HOSTILE],
        &["agents", "check", log, "--mapping", HOSTILE],
        &["agents", "check", log, "--records", HOSTILE],
        &["completions", HOSTILE],
        &["--theme", HOSTILE],
        &[&option],
    ] {
        let message = fail(home.path(), &words(arguments));
        assert!(message.contains(NAME), "{arguments:?}: {message}");
    }
}

#[test]
fn a_newline_in_a_path_forges_no_message() {
    let home = tempfile::tempdir().unwrap();
    let message = fail(home.path(), &words(&["report", "a\nctxgauge: all is well"]));
    let forged = message
        .lines()
        .skip(1)
        .find(|line| line.starts_with("ctxgauge"));
    assert_eq!(forged, None, "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn invalid_bytes_of_paths_are_made_visible() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let home = tempfile::tempdir().unwrap();
    let name = OsString::from_vec(b"HOSTILE\xff\x9b6n\xc3\x1b]0;t\x07".to_vec());
    let path = home.path().join(&name);
    fs::write(&path, "nothing that an agent writes\n").unwrap();
    let path = path.as_os_str();
    for arguments in [
        &[OsStr::new("report"), path][..],
        &[OsStr::new("report"), &name],
        &[OsStr::new("--config"), path, OsStr::new("ls")],
        &[OsStr::new("agents"), OsStr::new("check"), path],
        &[OsStr::new("ls"), &name],
        &[OsStr::new("audit"), path],
        &[&name],
    ] {
        fail(home.path(), arguments);
    }
    // An argument that must be text.
    fail(
        home.path(),
        &[OsStr::new("ls"), OsStr::new("--agent"), &name],
    );
}

#[test]
fn escapes_in_lines_of_configuration_are_made_visible() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/ctxgauge");
    fs::create_dir_all(folder.join("agents")).unwrap();
    let config = folder.join("config.toml");
    let string: String = HOSTILE.chars().flat_map(escaped).collect();
    for text in [
        format!("theme = {HOSTILE}\n"),
        format!("{HOSTILE} = 1\n"),
        format!("theme = \"{string}\"\n"),
        format!("\"{string}\" = 1\n"),
        format!("roots = {{ \"{string}\" = 1 }}\n"),
        format!("[[window]]\n\"{string}\" = \"{string}\"\n"),
        format!("[keys]\nquit = \"{string}\"\n"),
        format!("[alerts]\nnotify = [\"{string}\"]\n"),
        format!("oversized = \"{string}\"\n"),
    ] {
        fs::write(&config, &text).unwrap();
        let message = fail(home.path(), &[]);
        assert!(message.contains(NAME), "{text:?}: {message}");
    }
    fs::remove_file(&config).unwrap();
    for text in [
        format!("agent = {HOSTILE}\n"),
        format!("\"{string}\" = \"{string}\"\n"),
        format!("agent = \"{string}\"\n"),
    ] {
        let mapping = folder.join("mine.toml");
        fs::write(&mapping, &text).unwrap();
        let log = log();
        let arguments = ["agents", "check"].map(OsStr::new);
        let rest = [
            log.as_os_str(),
            OsStr::new("--mapping"),
            mapping.as_os_str(),
        ];
        fail(home.path(), &[&arguments[..], &rest].concat());
    }
}

/// A character in a TOML string.
fn escaped(c: char) -> Vec<char> {
    if c.is_ascii_alphanumeric() {
        return vec![c];
    }
    format!("\\U{:08X}", u32::from(c)).chars().collect()
}

#[test]
fn a_report_ends_well_where_nobody_reads_its_warnings() {
    let home = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = process(home.path());
    command
        .args(["ls", "--json"])
        .arg(log())
        .arg("no such log")
        .stderr(writer);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
}
