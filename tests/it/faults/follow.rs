//! What happens to the cache and the state while they are written.
#![cfg(unix)]

use crate::support::{in_a_shell, manifest_folder, process};
use rusqlite::Connection;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

fn some_log() -> PathBuf {
    let folder = manifest_folder().join("tests/fixtures/claude-code");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|case| case.path().join("log.jsonl"))
        .filter(|log| log.exists())
        .collect();
    cases.sort();
    cases.swap_remove(0)
}

/// A home with some sessions of Claude Code.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-shop");
    fs::create_dir_all(&project).unwrap();
    for n in 0..20 {
        let path = project.join(format!("5e550000-0000-4000-8000-0000000000{n:02}.jsonl"));
        fs::copy(some_log(), &path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = std::time::SystemTime::now() - Duration::from_secs(3600 + n);
        file.set_modified(time).unwrap();
    }
    home
}

fn ls(home: &Path) -> Command {
    let mut command = process(home);
    command.args(["ls", "--totals", "--format", "json"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn listed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What is listed where no cache can be made.
fn listed_without_cache(home: &Path) -> String {
    let mut list = ls(home);
    listed(
        &list
            .env("XDG_CACHE_HOME", "/dev/null/none")
            .output()
            .unwrap(),
    )
}

#[test]
fn the_cache_is_whole_after_a_write_that_fails_at_any_block() {
    let home = home();
    let expected = listed_without_cache(home.path());
    let cache = home.path().join(".cache");
    let mut failed = 0;
    for blocks in (0..).map(|n| n * n) {
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = in_a_shell(&script, &ls(home.path())).output().unwrap();
        assert_eq!(listed(&output), expected, "with {blocks} blocks");
        let has_failed = !output.stderr.is_empty();
        let output = ls(home.path()).output().unwrap();
        assert_eq!(listed(&output), expected, "after {blocks} blocks");
        assert_eq!(output.stderr, b"");
        fs::remove_dir_all(&cache).unwrap();
        if !has_failed {
            break;
        }
        failed += 1;
    }
    assert!(failed > 4, "{failed}");
}

#[test]
fn the_cache_is_whole_after_a_kill_at_any_moment() {
    let home = home();
    let expected = listed_without_cache(home.path());
    let cache = home.path().join(".cache");
    let mut killed = 0;
    // After so many changes of the cache's folder.
    for changes in 0..16 {
        let mut command = ls(home.path());
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (mut seen, mut last) = (0, Vec::new());
        while seen < changes && child.try_wait().unwrap().is_none() {
            let now = sizes(&cache);
            seen += usize::from(now != last);
            last = now;
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().signal().is_some());
        let output = ls(home.path()).output().unwrap();
        assert_eq!(listed(&output), expected, "after {changes} changes");
        assert_eq!(output.stderr, b"");
        fs::remove_dir_all(&cache).unwrap();
    }
    assert!(killed > 0);
}

/// The files below a folder, with their sizes.
fn sizes(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut sizes = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => sizes.extend(self::sizes(&entry.path())),
            Ok(meta) => sizes.push((entry.path(), meta.len())),
            Err(_) => {}
        }
    }
    sizes
}

#[test]
fn several_of_us_at_once_share_a_cache() {
    let home = home();
    let expected = listed_without_cache(home.path());
    for _ in 0..3 {
        let children: Vec<Child> = (0..4).map(|_| ls(home.path()).spawn().unwrap()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(listed(&output), expected);
            assert_eq!(output.stderr, b"");
        }
    }
}

#[test]
fn an_index_that_another_program_holds_costs_nothing_and_stays() {
    let home = home();
    let expected = listed(&ls(home.path()).output().unwrap());
    let index = home.path().join(".cache/ctxgauge/index.sqlite");
    let holder = Connection::open(index).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let output = ls(home.path()).output().unwrap();
    assert_eq!(listed(&output), expected);
    assert_eq!(output.stderr, b"");
    holder.execute_batch("ROLLBACK").unwrap();
    let count = "SELECT count(*) FROM responses";
    let kept: i64 = holder.query_row(count, (), |row| row.get(0)).unwrap();
    assert_eq!(kept, 20);
}

#[test]
fn a_cache_that_cannot_be_made_costs_nothing_but_a_line() {
    let home = home();
    let expected = listed(&ls(home.path()).output().unwrap());
    let output = ls(home.path())
        .env("XDG_CACHE_HOME", "/dev/null/none")
        .output()
        .unwrap();
    assert_eq!(listed(&output), expected);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("could not write the index"), "{said}");
}

#[test]
fn a_full_disk_costs_nothing_but_a_line() {
    let home = home();
    let expected = listed(&ls(home.path()).output().unwrap());
    let _ = fs::remove_dir_all(home.path().join(".cache"));
    let script = "ulimit -f 0; exec \"$0\" \"$@\"";
    let output = in_a_shell(script, &ls(home.path())).output().unwrap();
    assert_eq!(listed(&output), expected);
    let said = String::from_utf8(output.stderr).unwrap();
    let is_about_it = |line: &str| line.contains("could not write the index");
    assert!(said.lines().all(is_about_it), "{said}");
    assert!(!said.is_empty());
}

#[test]
fn a_list_that_writes_the_cache_names_sessions_as_the_next_one_does() {
    let home = tempfile::tempdir().unwrap();
    let case = "tests/fixtures/request-log/quota-leaves-and-title-is-apart/log.jsonl";
    let log = home.path().join("log.jsonl");
    fs::copy(manifest_folder().join(case), &log).unwrap();
    // Only what nobody writes to is kept.
    let file = fs::File::options().write(true).open(&log).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000))
        .unwrap();
    let list = || listed(&ls(home.path()).arg(&log).output().unwrap());
    let first = list();
    assert!(home.path().join(".cache/ctxgauge/index.sqlite").exists());
    assert_eq!(list(), first);
}
