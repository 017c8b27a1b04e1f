//! Logs by what they hold: recognised, forced, refused, and told by a mapping of the user's own.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, documentation, json_report, manifest_folder};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

fn run(home: &Path, arguments: &[&str], path: &Path) -> Output {
    let mut command = ctxgauge(home);
    command.args(arguments).arg(path).output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A hand-written log under another name. It is an hour old: the end of a document that was just written is waited for.
fn renamed(folder: &Path, fixture: &str, name: &str) -> PathBuf {
    let path = folder.join(name);
    let fixture = manifest_folder().join("tests/fixtures").join(fixture);
    fs::copy(fixture, &path).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let hour = Duration::from_secs(3600);
    file.set_modified(SystemTime::now() - hour).unwrap();
    path
}

#[test]
fn a_log_is_told_by_what_it_holds() {
    let home = tempfile::tempdir().unwrap();
    for (fixture, agent) in [
        (
            "claude-code/response_in_several_lines/log.jsonl",
            "claude-code",
        ),
        ("codex/repeated-count/log.jsonl", "codex"),
        ("gemini-cli/thoughts/log.jsonl", "gemini-cli"),
        ("gemini-cli/document/log.json", "gemini-cli"),
        ("pi/usage/log.jsonl", "pi"),
    ] {
        let usual = manifest_folder().join("tests/fixtures").join(fixture);
        let usual = json_report(&usual);
        for name in ["notes", "notes.txt", "notes.json", "notes.jsonl"] {
            let path = renamed(home.path(), fixture, name);
            let report = json_report(&path);
            assert_eq!(report["session"]["agent"], agent, "{fixture} as {name}");
            assert_eq!(report["context"], usual["context"], "{fixture} as {name}");
            assert_eq!(
                report["session"]["unreadable"],
                usual["session"]["unreadable"]
            );
        }
    }
}

#[test]
fn what_is_no_log_is_refused_and_can_be_forced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("notes.txt");
    fs::write(&path, "hello\n").unwrap();
    for command in ["report", "ls", "audit"] {
        let refused = run(home.path(), &[command], &path);
        let error = text(&refused.stderr);
        assert!(!refused.status.success(), "{command}");
        assert!(error.contains("its first line is not JSON"), "{error}");
        assert!(error.contains("`ctxgauge agents`"), "{error}");
    }
    let forced = ["report", "--json", "--agent", "pi"];
    let report = json(&run(home.path(), &forced, &path));
    assert_eq!(report["session"]["agent"], "pi");
    assert_eq!(report["session"]["unreadable"], 1);
    let mut monitor = Monitor::open(home.path(), &[path.to_str().unwrap()], (120, 40));
    monitor.wait_for_text("its first line is not JSON");
}

#[test]
fn agents_are_listed_with_what_is_found() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&folder).unwrap();
    let name = "2026-05-12T01-02-27-657Z_5e55.jsonl";
    renamed(&folder, "pi/usage/log.jsonl", name);
    let mut command = ctxgauge(home.path());
    let list = json(&command.args(["agents", "--json"]).output());
    assert_eq!(list["schema"], "ctxgauge.agents/1");
    let agents = list["agents"].as_array().unwrap();
    let pi = agents.iter().find(|agent| agent["id"] == "pi").unwrap();
    assert_eq!(pi["sessions"], 1);
    assert_eq!(pi["roots"][0]["exists"], true);
    assert_eq!(pi["known"], "prompts, outputs");
    assert_eq!(pi["compacts_at"], "window - 16,384");
    let codex = agents.iter().find(|agent| agent["id"] == "codex").unwrap();
    assert_eq!(codex["sessions"], 0);
    assert_eq!(codex["roots"][0]["exists"], false);
    let told = ctxgauge(home.path()).arg("agents").output();
    let told = text(&told.stdout);
    assert!(told.starts_with("pi · 1 session, 2"), "{told}");
    assert!(told.contains("~/.pi/agent/sessions (1)\n"), "{told}");
    let codex = told.lines().find(|line| line.starts_with("  codex "));
    assert!(codex.is_some_and(|line| line.contains("  ~/.codex/sessions, ")));
    let mut command = ctxgauge(home.path());
    let told = command.args(["agents", "--agent", "codex"]).output();
    let told = text(&told.stdout);
    assert!(told.starts_with("codex · no sessions\n"), "{told}");
    assert!(told.contains("logs         ~/.codex/sessions, "), "{told}");
}

/// The code in a block of the documentation.
fn shown(name: &str) -> String {
    let block = documentation("assets/docs/custom-formats.md", name);
    let (_, rest) = block.split_once('\n').unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// A home with the documented mapping and its log, up to a line.
fn home_with_the_example(lines: usize) -> (tempfile::TempDir, PathBuf, String) {
    let home = tempfile::tempdir().unwrap();
    let mappings = home.path().join(".config/ctxgauge/agents");
    fs::create_dir_all(&mappings).unwrap();
    fs::write(mappings.join("my-agent.toml"), shown("mapping")).unwrap();
    let folder = home.path().join(".my-agent/logs");
    fs::create_dir_all(&folder).unwrap();
    let (log, text) = (folder.join("s1.jsonl"), shown("mapped"));
    let end = text.match_indices('\n').nth(lines - 1).unwrap().0 + 1;
    fs::write(&log, &text[..end]).unwrap();
    (home, log, text[end..].to_owned())
}

#[test]
fn a_mapping_has_another_name_than_a_built_in_agent() {
    let (home, _, _) = home_with_the_example(5);
    let mappings = home.path().join(".config/ctxgauge/agents");
    fs::rename(mappings.join("my-agent.toml"), mappings.join("pi.toml")).unwrap();
    let output = ctxgauge(home.path()).arg("ls").output();
    let said = String::from_utf8(output.stderr).unwrap();
    let why = "'pi' is the name of a built-in agent: rename the file";
    assert!(said.contains(why), "{said}");
}

#[test]
fn the_mapping_that_is_shown_reads_the_log_that_is_shown() {
    let (home, log, rest) = home_with_the_example(5);
    assert_eq!(rest, "");
    let report = json(&run(home.path(), &["report", "--json"], &log));
    assert_eq!(report["session"]["agent"], "my-agent");
    assert_eq!(report["session"]["id"], "s1");
    assert_eq!(report["session"]["skipped"]["ping"], 1);
    assert_eq!(report["session"]["unreadable"], 0);
    assert_eq!(report["context"]["known"], 2_052);
    let items = report["messages"].as_array().unwrap().iter();
    let items: Vec<String> = items
        .map(|item| format!("{} {} {}", item["role"], item["kind"], item["tool"]).replace('"', ""))
        .collect();
    assert_eq!(
        items,
        [
            "container prompt null",
            "user text null",
            "assistant tool_call ls",
            "tool tool_result ls",
        ]
    );
    let list = json(&ctxgauge(home.path()).args(["ls", "--json"]).output());
    assert_eq!(list["sessions"][0]["agent"], "my-agent");
    let mut command = ctxgauge(home.path());
    let agents = json(&command.args(["agents", "--json"]).output());
    assert_eq!(agents["agents"][0]["id"], "my-agent");
    assert_eq!(agents["agents"][0]["sessions"], 1);
}

#[test]
fn a_log_by_a_mapping_is_live_and_its_texts_can_be_read() {
    let (home, log, rest) = home_with_the_example(3);
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("shop");
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(rest.as_bytes()).unwrap();
    monitor.wait_for_text("2.1k");
    monitor.press("⏎");
    monitor.wait_for_text("a.rs b.rs");
}

#[test]
fn a_list_of_nothing_says_where_to_look() {
    let home = tempfile::tempdir().unwrap();
    let told = run(home.path(), &["ls"], home.path());
    assert!(told.status.success() && told.stdout.is_empty());
    assert!(text(&told.stderr).contains("no sessions found; `ctxgauge agents` lists"));
}

#[test]
fn a_mapping_is_tried_by_check() {
    let (home, log, _) = home_with_the_example(5);
    let check = |mapping: &str| {
        run(
            home.path(),
            &["agents", "check", "--mapping", mapping],
            &log,
        )
    };
    let told = check("my-agent.toml");
    assert!(told.status.success(), "{}", text(&told.stderr));
    let told = text(&told.stdout);
    for part in [
        "my-agent · ",
        "1  session: id s1, cwd /w/shop, model gpt-5",
        "container prompt",
        "2  skipped: ping",
        "assistant tool_call   ls",
        "usage: prompt 2040, cached 2000, output 12",
        "4 items, 1 usage report, 1 record skipped, 0 unknown, 0 unreadable",
    ] {
        assert!(told.contains(part), "{part} is missing:\n{told}");
    }
    let other = home.path().join("other.toml");
    let blind = shown("mapping").replace("role = \"/message/role\"", "role = \"/role\"");
    fs::write(&other, blind).unwrap();
    let told = text(&check(other.to_str().unwrap()).stdout);
    assert!(told.contains("unreadable: no role"), "{told}");
    assert!(told.contains("no items matched"), "{told}");
    let blind = shown("mapping").replace("/message/content", "/message/body");
    assert_ne!(blind, shown("mapping"));
    fs::write(&other, blind).unwrap();
    let told = text(&check(other.to_str().unwrap()).stdout);
    for warning in ["human message without text", "result message without text"] {
        assert!(told.contains(&format!("unknown type: {warning}")), "{told}");
    }
    assert!(!told.contains("bot message without text"), "{told}");
    let broken = shown("mapping").replace("text = [", "texts = [");
    fs::write(&other, broken).unwrap();
    let error = text(&check(other.to_str().unwrap()).stderr);
    assert!(
        error.contains("other.toml") && error.contains("texts"),
        "{error}"
    );
}

#[test]
fn a_broken_mapping_is_left_out_with_a_message_and_a_row_for_one_is_no_error() {
    let (home, ..) = home_with_the_example(5);
    let config = home.path().join(".config/ctxgauge/config.toml");
    let row = "[[window]]\nagent = \"my-agent\"\ntokens = 50_000\n";
    fs::write(config, row).unwrap();
    let list = json(&ctxgauge(home.path()).args(["ls", "--json"]).output());
    assert_eq!(list["sessions"][0]["context"]["window"], 50_000);
    let path = home.path().join(".config/ctxgauge/agents/pi.toml");
    fs::write(path, shown("mapping")).unwrap();
    let log = list["sessions"][0]["path"].as_str().unwrap();
    for (command, is_checked) in [(&["ls"][..], false), (&["agents", "check", log], true)] {
        let output = ctxgauge(home.path()).args(command).output();
        let error = text(&output.stderr);
        assert_eq!(output.status.success(), !is_checked, "{error}");
        assert!(
            error.contains("pi.toml") && error.contains("rename the file"),
            "{error}"
        );
    }
}

#[test]
fn a_mistyped_command_gets_the_nearest_one_and_an_agent_goes_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, meant) in [
        (
            &["lss"][..],
            "no file and no command 'lss'; did you mean `ls`?",
        ),
        (&["reprot", "x", "--json"], "did you mean `report`?"),
        (&["ls", "--agent", "clade"], "did you mean 'claude'?"),
    ] {
        let output = ctxgauge(home.path()).args(arguments).output();
        let error = text(&output.stderr);
        assert!(!output.status.success() && error.contains(meant), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let mut command = ctxgauge(home.path());
    let named = command.args(["agents", "Claude"]).output();
    assert!(text(&named.stdout).starts_with("claude-code · no sessions"));
}

#[test]
fn a_file_that_is_like_no_log_is_refused_whatever_it_is_called() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/cli");
    fs::create_dir_all(&folder).unwrap();
    for (content, why) in [
        ("{\"a\":1}\n", "no agent's format fits"),
        ("", "it is empty"),
    ] {
        let path = folder.join("c4a1.jsonl");
        fs::write(&path, content).unwrap();
        let refused = run(home.path(), &["report"], &path);
        let error = text(&refused.stderr);
        assert!(!refused.status.success() && error.contains(why), "{error}");
    }
}

#[test]
fn a_draft_is_written_to_a_file_and_checked() {
    let (home, log, _) = home_with_the_example(5);
    let draft = |options: &[&str]| {
        let mut command = ctxgauge(home.path());
        command
            .args(["agents", "draft"])
            .args(options)
            .arg(&log)
            .output()
    };
    let printed = draft(&[]);
    let (mapping, checked) = (text(&printed.stdout), text(&printed.stderr));
    assert!(
        mapping.contains("message.role = \"/message/role\""),
        "{mapping}"
    );
    assert!(
        checked.contains("usage: prompt 2040, cached 2000, output 12"),
        "{checked}"
    );
    let file = home.path().join("drafted.toml");
    let file = ["-o", file.to_str().unwrap()];
    let written = draft(&file);
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(fs::read_to_string(file[1]).unwrap(), mapping);
    assert!(text(&written.stderr).starts_with("drafted · "));
    assert!(text(&draft(&file).stderr).contains("exists"));
    assert!(draft(&["--force", file[0], file[1]]).status.success());
    let before = fs::read(&log).unwrap();
    let onto_itself = draft(&["--force", "-o", log.to_str().unwrap()]);
    assert!(text(&onto_itself.stderr).contains("never written to"));
    assert_eq!(fs::read(&log).unwrap(), before);
    fs::write(&log, "no JSON\n").unwrap();
    assert!(text(&draft(&[]).stderr).contains("no line at its beginning is a JSON object"));
}
