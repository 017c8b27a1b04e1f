//! What is left of a log where its texts are left out: its numbers, and none of its texts in any format.

use crate::support::{ctxgauge, manifest_folder};
use clap::{Command, CommandFactory};
use ctxgauge::commands::Cli;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Output;

/// Every command and format that leaves texts out, without the log.
fn outputs() -> Vec<Vec<&'static str>> {
    let mut all = vec![
        vec!["report", "--redact"],
        vec!["report", "--redact", "--json"],
        vec!["report", "--format", "html"],
        vec!["report", "--format", "markdown"],
    ];
    for format in ["text", "json", "markdown"] {
        all.push(vec![
            "diff", "--redact", "--items", "1000", "--format", format, "--from", "1",
        ]);
    }
    for table in ["sessions", "requests", "items", "compactions"] {
        all.push(vec!["export", "--redact", "--what", table]);
        all.push(vec![
            "export", "--redact", "--format", "csv", "--what", table,
        ]);
    }
    all
}

fn run(home: &Path, arguments: &[&str], log: &Path) -> Output {
    let mut command = ctxgauge(home);
    command.args(arguments).arg(log);
    let output = command.output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    output
}

/// Texts that no word of the program and no number contains.
fn secrets(count: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[G-Zg-zÄßé漢字]{4,40}", count..count + 1)
}

/// A log of Claude Code with a secret in each place that has text.
fn claude_code(secret: &mut dyn FnMut() -> String) -> String {
    let mut lines = Vec::new();
    let cwd = format!("/home/{}/{}", secret(), secret());
    let (session, branch, version) = (secret(), secret(), format!("2.1.330-{}", secret()));
    let model = format!("claude-{}", secret());
    let mut parent = Value::Null;
    let mut push = |mut line: Value| {
        let uuid = format!("u{}", lines.len());
        let common = json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": session, "cwd": cwd, "gitBranch": branch,
            "version": version, "timestamp": format!("2026-11-22T10:00:{:02}Z", lines.len()), "isSidechain": false,
        });
        for (key, value) in common.as_object().unwrap() {
            line.as_object_mut()
                .unwrap()
                .insert(key.clone(), value.clone());
        }
        parent = json!(uuid);
        lines.push(line.to_string());
    };
    push(json!({ "type": "user", "message": { "role": "user", "content": secret() } }));
    let tools = [
        "Read".to_owned(),
        secret(),
        format!("mcp__{}__{}", secret(), secret()),
        format!("mcp__{}", secret()),
    ];
    for (ix, tool) in tools.iter().enumerate() {
        let input = json!({ "file_path": format!("/{}", secret()), "command": secret(), secret(): secret() });
        let content = json!([
            { "type": "thinking", "thinking": secret(), "signature": "c2ln" },
            { "type": "text", "text": secret() },
            { "type": "tool_use", "id": format!("t{ix}"), "name": tool, "input": input },
        ]);
        let usage = json!({ "input_tokens": 10_000 + ix * 500, "output_tokens": 80 });
        push(json!({
            "type": "assistant", "requestId": format!("r{ix}"),
            "message": { "id": format!("m{ix}"), "role": "assistant", "model": model, "content": content, "usage": usage },
        }));
        let result = format!("{} {}", secret(), "some result of the tool ".repeat(40));
        let content =
            json!([{ "type": "tool_result", "tool_use_id": format!("t{ix}"), "content": result }]);
        push(json!({ "type": "user", "message": { "role": "user", "content": content } }));
    }
    push(json!({ "type": "summary", "summary": secret(), "leafUuid": "u1" }));
    push(json!({ "type": "custom-title", "customTitle": secret() }));
    push(json!({ "type": secret(), "subtype": secret(), "content": secret() }));
    push(json!({ "type": "system", "subtype": secret(), "content": secret() }));
    push(json!({ "type": "attachment", "attachment": { "type": secret(), "content": secret() } }));
    push(json!({
        "type": "system", "subtype": "compact_boundary", "content": secret(),
        "compactMetadata": { "trigger": secret(), "preTokens": 12_000 },
    }));
    push(
        json!({ "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": secret() } }),
    );
    lines.push(format!("{{\"type\": \"{}\", broken {}", secret(), secret()));
    lines.join("\n")
}

/// A log of Codex with a secret in each place that has text.
fn codex(secret: &mut dyn FnMut() -> String) -> String {
    let mut lines = Vec::new();
    let mut push = |kind: &str, payload: Value| {
        let at = format!("2026-11-22T10:00:{:02}Z", lines.len());
        lines.push(json!({ "timestamp": at, "type": kind, "payload": payload }).to_string());
    };
    push(
        "session_meta",
        json!({
            "id": secret(), "cwd": format!("/{}", secret()), "originator": secret(), "cli_version": "0.169.0",
            "instructions": secret(), "git": { "branch": secret(), "repository_url": secret() },
        }),
    );
    push(
        "turn_context",
        json!({ "cwd": format!("/{}", secret()), "model": secret() }),
    );
    let message = |role: &str, text: String| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    push("response_item", message("user", secret()));
    push(
        "event_msg",
        json!({ "type": "user_message", "message": secret() }),
    );
    for ix in 0..3 {
        let arguments = json!({ "cmd": secret() }).to_string();
        push(
            "response_item",
            json!({ "type": "function_call", "name": secret(), "arguments": arguments, "call_id": format!("c{ix}") }),
        );
        let output = format!("{} and more of the same output", secret());
        push(
            "response_item",
            json!({ "type": "function_call_output", "call_id": format!("c{ix}"), "output": output }),
        );
        let usage = json!({ "input_tokens": 9_000 + ix * 700, "cached_input_tokens": 100, "output_tokens": 50, "total_tokens": 9_050 + ix * 700 });
        push(
            "event_msg",
            json!({ "type": "token_count", "info": { "total_token_usage": usage, "last_token_usage": usage, "model_context_window": 272_000 } }),
        );
    }
    push("event_msg", json!({ "type": secret(), "text": secret() }));
    push("compacted", json!({ "message": secret() }));
    lines.join("\n")
}

/// All parts of four characters.
fn parts(text: &str) -> BTreeSet<Vec<char>> {
    let chars: Vec<char> = text.chars().collect();
    chars.windows(4).map(<[char]>::to_vec).collect()
}

/// Whether a part of four characters or more of a secret is in an output, and not in what the program writes of itself.
fn leak<'s>(output: &str, own: &str, secrets: &'s BTreeSet<String>) -> Option<&'s str> {
    let (mut seen, own) = (parts(output), parts(own));
    seen.retain(|part| !own.contains(part));
    secrets.iter().map(String::as_str).find(|secret| {
        let chars: Vec<char> = secret.chars().collect();
        chars.windows(4).any(|part| seen.contains(part))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn no_text_of_a_log_is_in_any_format(pool in secrets(60)) {
        let home = tempfile::tempdir().unwrap();
        for write in [claude_code, codex] {
            let mut used = BTreeSet::new();
            let mut pool = pool.iter().cycle();
            let mut secret = || {
                let secret = pool.next().unwrap().clone();
                used.insert(secret.clone());
                secret
            };
            let text = write(&mut secret);
            let log = home.path().join(format!("{}.jsonl", secret()));
            fs::write(&log, text).unwrap();
            let plain = run(home.path(), &["report", "--json"], &log);
            let plain = String::from_utf8(plain.stdout).unwrap();
            prop_assert!(leak(&plain, "", &used).is_some(), "the log is read");
            // The same log with one text everywhere, of which no letter is one of a secret.
            let other = home.path().join("other.jsonl");
            fs::write(&other, write(&mut || "Жщэю".to_owned())).unwrap();
            for arguments in outputs() {
                let [out, own] = [&log, &other].map(|log| {
                    let output = run(home.path(), &arguments, log);
                    String::from_utf8(output.stdout).unwrap()
                });
                prop_assert!(!own.contains("Жщэю"), "{:?}: {}", arguments, own);
                prop_assert_eq!(leak(&out, &own, &used), None, "{:?}: {}", arguments, out);
            }
        }
    }
}

/// Keys of a report that hold text, or numbers of something else than the session.
const TEXTS: [&str; 13] = [
    "id",
    "path",
    "cwd",
    "title",
    "parent",
    "version",
    "model",
    "tool",
    "preview",
    "first_unreadable",
    "cause",
    "about",
    "what",
];

/// Removes what may differ: texts, and the order of what is sorted by its name.
fn numbers(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for key in TEXTS {
                let is_text = |value: &Value| value.is_string() || value.is_null();
                if object.get(key).is_some_and(is_text) {
                    object.remove(key);
                }
            }
            for key in ["skipped", "unknown"] {
                if let Some(Value::Object(kinds)) = object.get(key) {
                    let sum: u64 = kinds.values().filter_map(Value::as_u64).sum();
                    object.insert(key.to_owned(), sum.into());
                }
            }
            for key in ["tools", "servers", "parts"] {
                if let Some(Value::Array(named)) = object.get_mut(key) {
                    for one in named.iter_mut() {
                        one.as_object_mut().unwrap().remove("name");
                    }
                    named.sort_by_key(Value::to_string);
                }
            }
            object.remove("left_out");
            object.values_mut().for_each(numbers);
        }
        Value::Array(values) => values.iter_mut().for_each(numbers),
        _ => {}
    }
}

#[test]
fn numbers_are_the_same_without_texts() {
    let home = tempfile::tempdir().unwrap();
    let fixtures = manifest_folder().join("tests/fixtures");
    let mut compared = 0;
    for agent in ["claude-code", "codex", "pi", "gemini-cli", "kimi"] {
        for case in fs::read_dir(fixtures.join(agent)).unwrap().flatten() {
            let log = case.path().join("log.jsonl");
            if !log.exists() {
                continue;
            }
            // What a report has shown of a model is used by the next one.
            let mut reports =
                [&["report", "--json"][..], &["report", "--json", "--redact"]].map(|arguments| {
                    let config = home.path().join("config.toml");
                    fs::write(&config, "cache = false\n").unwrap();
                    let arguments = [arguments, &["--config", config.to_str().unwrap()]].concat();
                    let output = run(home.path(), &arguments, &log);
                    serde_json::from_slice::<Value>(&output.stdout).unwrap()
                });
            let left_out = &reports[1]["left_out"];
            assert!(left_out["paths"].as_u64() > Some(0), "{left_out}");
            reports.iter_mut().for_each(numbers);
            let [plain, redacted] = reports;
            assert_eq!(plain, redacted, "{}", log.display());
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}

/// Types of records are words of a log, but those that a decoder passes over by name are words of the program.
#[test]
fn types_that_a_decoder_names_are_shown() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log.jsonl");
    let types = ["progress", "last-prompt", "mode", "private-type"];
    let lines = types.map(|kind| format!("{{\"type\":\"{kind}\",\"sessionId\":\"s\"}}\n"));
    let first =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hello"}}"#;
    fs::write(&log, format!("{first}\n{}", lines.concat())).unwrap();
    let output = run(home.path(), &["report", "--redact"], &log);
    let text = String::from_utf8(output.stdout).unwrap();
    for shown in ["progress 1", "last-prompt 1", "mode 1", "type-"] {
        assert!(text.contains(shown), "no {shown:?}: {text}");
    }
    assert!(!text.contains("private"), "{text}");
}

#[test]
fn names_are_the_same_in_every_export() {
    let home = tempfile::tempdir().unwrap();
    let fixtures = manifest_folder().join("tests/fixtures/claude-code");
    let rows = |arguments: &[&str]| -> Vec<Value> {
        let output = run(home.path(), arguments, &fixtures);
        let lines = String::from_utf8(output.stdout).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let plain = rows(&["export"]);
    let redacted = rows(&["export", "--redact"]);
    let joined = |rows: &[Value], key: &str| -> Vec<String> {
        rows.iter().map(|row| row[key].to_string()).collect()
    };
    assert_eq!(joined(&plain, "session"), joined(&redacted, "session"));
    // Whoever has the same id or parent before has the same after.
    for (a, b) in plain.iter().zip(&redacted) {
        for (other, same) in plain.iter().zip(&redacted) {
            for (one, two) in [("id", "id"), ("parent_id", "id"), ("project", "project")] {
                if !a[one].is_null() && one != "project" {
                    assert_eq!(a[one] == other[two], b[one] == same[two]);
                }
            }
        }
        assert!(b["title"].is_null() && !b["path"].as_str().unwrap().contains('/'));
    }
    let message = run(home.path(), &["export", "--redact"], &fixtures).stderr;
    let message = String::from_utf8(message).unwrap();
    assert!(
        message.contains("left out: ") && message.contains(" texts, "),
        "{message}"
    );
}

/// A letter that is in each text of a log, and in nothing that the program says.
const SECRET: &str = "Жщэю";

/// A command that leaves texts out, with its positional arguments and the number of lines after which its reader leaves.
const REDACTING: [(&str, usize, usize); 4] = [
    ("report", 1, usize::MAX),
    ("diff", 2, usize::MAX),
    ("export", 1, usize::MAX),
    ("follow", 1, 1),
];

/// The options of a command, each with a value that it takes.
fn options(command: &Command, home: &Path) -> Vec<Vec<String>> {
    let arguments = command.get_arguments();
    let named = arguments.filter(|argument| {
        !argument.is_positional() && !["redact", "help"].contains(&argument.get_id().as_str())
    });
    let mut all = Vec::new();
    for argument in named {
        let name = format!("--{}", argument.get_long().unwrap());
        if !argument.get_action().takes_values() {
            all.push(vec![name]);
            continue;
        }
        let possible = argument.get_possible_values();
        let mut values: Vec<String> = possible.iter().map(|it| it.get_name().into()).collect();
        if values.is_empty() {
            let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
            values.push(match argument.get_id().as_str() {
                "session" => SECRET.into(),
                "root" => path("none"),
                "agent" => "claude-code".into(),
                "config" => path("config.toml"),
                "output" => path("out"),
                "since" => "2020-01-01".into(),
                "every" | "heartbeat" => "1s".into(),
                "from" | "to" | "items" => "1".into(),
                id => panic!("give the option {id} a value here"),
            });
        }
        all.extend(values.into_iter().map(|value| vec![name.clone(), value]));
    }
    all
}

/// Takes some lines and one more write, which fails as a pipe without a reader does.
struct Lines {
    taken: Vec<u8>,
    most: usize,
}

impl Write for &mut Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = self.taken.iter().filter(|byte| **byte == b'\n').count();
        self.taken.extend(bytes);
        if lines >= self.most {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn redaction_does_not_depend_on_other_options() {
    let home = tempfile::tempdir().unwrap();
    let logs = ["one.jsonl", "two.jsonl"].map(|name| home.path().join(name));
    for log in &logs {
        fs::write(log, claude_code(&mut || SECRET.to_owned())).unwrap();
    }
    fs::write(home.path().join("config.toml"), "cache = false\n").unwrap();
    let plain = run(home.path(), &["report"], &logs[0]);
    assert!(String::from_utf8_lossy(&plain.stdout).contains(SECRET));
    let mut printed = 0;
    for (name, paths, most) in REDACTING {
        let all = Cli::command();
        let mut options = options(all.find_subcommand(name).unwrap(), home.path());
        options.push(Vec::new());
        for (first, one) in options.iter().enumerate() {
            for other in &options[first + 1..] {
                let mut command = ctxgauge(home.path());
                command
                    .args([name, "--redact"])
                    .args(one)
                    .args(other)
                    .args(&logs[..paths]);
                let mut lines = Lines {
                    taken: Vec::new(),
                    most,
                };
                let (_, err) = command.print_to(&mut lines);
                printed += usize::from(!lines.taken.is_empty());
                let mut said = [lines.taken, err].concat();
                let out = home.path().join("out");
                said.extend(fs::read(&out).unwrap_or_default());
                let _ = fs::remove_file(&out).or_else(|_| fs::remove_dir_all(&out));
                let said = String::from_utf8_lossy(&said);
                assert!(!said.contains(SECRET), "{name} {one:?} {other:?}: {said}");
            }
        }
    }
    assert!(printed > 100, "{printed} of them print something");
}

#[test]
fn every_command_that_leaves_texts_out_is_tested() {
    let all = Cli::command();
    let commands = all.get_subcommands();
    let redacting =
        commands.filter(|command| command.get_arguments().any(|it| it.get_id() == "redact"));
    let names: Vec<&str> = redacting.map(Command::get_name).collect();
    let mut tested = REDACTING.map(|(name, ..)| name);
    tested.sort_by_key(|name| names.iter().position(|it| it == name));
    assert_eq!(names, tested);
}
