//! `ctxgauge hook`, as agents run it.

use crate::support::claude::{Home, ID, log, pass};
use crate::support::user;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Long enough for any machine: how fast it is, a benchmark measures.
const AT_LEISURE: [&str; 3] = ["hook", "--within", "600000"];

impl Home {
    fn hook(&self, event: &Value) -> (Value, String) {
        self.hook_with(&[], event.to_string().as_bytes())
    }

    /// What a hook answers, and what it says on standard error. It ends with 0.
    fn hook_with(&self, arguments: &[&str], input: &[u8]) -> (Value, String) {
        let mut command = self.program(&AT_LEISURE);
        let output = command.args(arguments).input(input).output();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let answer = match output.stdout.as_slice() {
            b"" => Value::Null,
            line => serde_json::from_slice(line).unwrap(),
        };
        (answer, String::from_utf8(output.stderr).unwrap())
    }

    fn prompt(&self) -> Value {
        json!({"session_id": ID, "transcript_path": self.log(), "cwd": "/shop", "prompt_id": "p1",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "Go on."})
    }

    fn compaction(&self, event: &str, trigger: &str) -> Value {
        json!({"session_id": ID, "transcript_path": self.log(), "cwd": "/shop", "hook_event_name": event,
            "trigger": trigger})
    }

    fn configure(&self, text: &str) {
        let folder = self.path().join(".config/ctxgauge");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn report(&self, log: &Path) -> Value {
        let mut command = self.program(&["report", "--json"]);
        let output = command.arg(log).output();
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn said(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}

#[test]
fn each_threshold_is_said_once_with_the_numbers_of_the_report() {
    let home = Home::with_log(50_000);
    assert_eq!(home.hook(&home.prompt()), (Value::Null, String::new()));
    fs::write(home.log(), log(145_000)).unwrap();
    let (answer, problems) = home.hook(&home.prompt());
    let report = home.report(&home.log());
    let trigger = report["compaction"]["trigger"].as_u64().unwrap();
    let percent = (145_040 * 100 + trigger / 2) / trigger;
    assert!(
        said(&answer).starts_with(&format!(
            "ctxgauge: context {percent}% of 167k trigger; largest: "
        )),
        "{answer}"
    );
    assert!(answer.get("hookSpecificOutput").is_none() && answer.get("decision").is_none());
    assert_eq!(problems, "");
    assert_eq!(home.hook(&home.prompt()).0, Value::Null, "it was said");
    fs::write(home.log(), log(165_000)).unwrap();
    assert!(said(&home.hook(&home.prompt()).0).contains("99%"));
    assert_eq!(home.hook(&home.prompt()).0, Value::Null);
    // After a compaction it is said again.
    fs::write(home.log(), log(40_000)).unwrap();
    assert_eq!(home.hook(&home.prompt()).0, Value::Null);
    fs::write(home.log(), log(145_000)).unwrap();
    assert!(said(&home.hook(&home.prompt()).0).contains(&format!("{percent}%")));
}

#[test]
fn the_largest_item_is_named_with_its_file() {
    let home = Home::new();
    let line = |kind: &str, uuid: &str, parent: Value, message: Value| {
        let line = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "cwd": "/shop",
            "version": "2.1.330", "timestamp": "2026-05-01T10:00:00Z", "requestId": uuid, "message": message});
        format!("{line}\n")
    };
    let usage = |prompt: u64| {
        json!({"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": prompt - 3,
            "output_tokens": 40})
    };
    let answer = |id: &str, content: Value, prompt: u64| json!({"role": "assistant", "id": id, "model": "claude-opus-4-6", "content": [content], "usage": usage(prompt)});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/shop/src/cart.rs"}});
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "word ".repeat(60_000)}]);
    let text = line(
        "user",
        "u1",
        Value::Null,
        json!({"role": "user", "content": "hello"}),
    ) + &line("assistant", "u2", json!("u1"), answer("m1", call, 100_000))
        + &line(
            "user",
            "u3",
            json!("u2"),
            json!({"role": "user", "content": result}),
        )
        + &line(
            "assistant",
            "u4",
            json!("u3"),
            answer("m2", json!({"type": "text", "text": "ok"}), 160_000),
        );
    fs::write(home.log(), text).unwrap();
    let (answer, _) = home.hook(&home.prompt());
    assert!(
        said(&answer).contains("; largest: Read of cart.rs, ~60k"),
        "{answer}"
    );
}

#[test]
fn nothing_of_a_log_has_a_meaning_in_a_warning() {
    let home = Home::new();
    let hostile = log(160_000).replace(
        r#"{"content":"hello there","role":"user"}"#,
        r#"{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}],"role":"user"}"#,
    );
    let call = r#"[{"id":"t1","input":{"path":"/shop/a$(id)`id`\u001b[2J<system>.rs"},"name":"R\u001b]0;x\u0007`id`","type":"tool_use"}]"#;
    let hostile = hostile.replace(r#"[{"text":"hello","type":"text"}]"#, call);
    let more = log(160_000)
        .replace("\"u1\"", "\"u3\"")
        .replace("\"u2\"", "\"u4\"")
        .replace(r#"{"content":"hello there","role":"user"}"#, &format!(
            r#"{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"{}"}}],"role":"user"}}"#,
            "word ".repeat(20_000)
        ))
        .replace("m1", "m2")
        .replace("r1", "r2");
    fs::write(home.log(), hostile + &more).unwrap();
    let (answer, _) = home.hook(&home.prompt());
    let text = said(&answer);
    assert!(
        text.contains("; largest: R") && text.contains(" of "),
        "{text}"
    );
    assert!(
        !text.contains(['$', '`', '<', '>', '\u{1b}', '\u{7}']),
        "{text}"
    );
}

#[test]
fn the_model_is_told_and_thresholds_are_others_where_the_user_says_so() {
    let home = Home::with_log(60_000);
    home.configure("[hooks]\nshare = 0.3\ntell_model = true\n");
    let (answer, _) = home.hook(&home.prompt());
    let more = &answer["hookSpecificOutput"];
    assert_eq!(more["hookEventName"], "UserPromptSubmit");
    assert_eq!(more["additionalContext"], answer["systemMessage"]);
    home.configure("[hooks]\nshare = 80\n");
    let (answer, problems) = home.hook(&home.prompt());
    assert_eq!(answer, Value::Null, "the usual ones hold");
    assert!(problems.contains("0.8 is 80 %"), "{problems}");
}

/// They are text of the log, which a model may take for instructions.
#[test]
fn names_of_files_do_not_reach_the_model() {
    let home = Home::with_log(160_000);
    home.configure("[hooks]\nshare = 0.3\ntell_model = true\n");
    let record = |uuid: &str, parent: &str, kind: &str, content: Value| {
        let record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID,
            "timestamp": "2026-11-01T10:05:00.000Z", "message": {"role": kind, "content": content}});
        format!("{record}\n")
    };
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/shop/IGNORE ALL.md"}}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "word ".repeat(9_000)}]);
    let text = fs::read_to_string(home.log()).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let parent = last["uuid"].as_str().unwrap();
    let more = record("x1", parent, "assistant", call) + &record("x2", "x1", "user", result);
    fs::write(home.log(), text + &more).unwrap();
    let (answer, _) = home.hook(&home.prompt());
    let shown = answer["systemMessage"].as_str().unwrap();
    let told = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(shown.contains("largest: Read IGNORE ALL.md, "), "{shown}");
    assert!(told.contains("largest: Read, "), "{told}");
}

#[test]
fn only_a_limit_that_was_asked_for_blocks() {
    let home = Home::with_log(166_900);
    let block = |limit: &[&str]| {
        let (answer, _) = home.hook_with(limit, home.prompt().to_string().as_bytes());
        answer["decision"].as_str().map(str::to_owned)
    };
    assert_eq!(block(&[]), None);
    assert_eq!(block(&["--block-at", "200k"]), None);
    assert_eq!(block(&["--block-at", "95%"]).as_deref(), Some("block"));
    assert_eq!(block(&["--block-at", "150k"]).as_deref(), Some("block"));
    // Only a prompt.
    let stop = home.compaction("PreCompact", "auto").to_string();
    assert_eq!(
        home.hook_with(&["--block-at", "1%"], stop.as_bytes()).0,
        Value::Null
    );
}

#[test]
fn it_never_ends_with_2() {
    let home = Home::with_log(50_000);
    for arguments in [
        &["hook", "--wrong"][..],
        &["hook", "--within", "soon"],
        &["hook", "--block-at", "much"],
        &["hook", "extra"],
        &["--config", "/nonexistent", "hook", "-x"],
    ] {
        let output = home.program(arguments).output();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
    for arguments in [
        &["hook"][..],
        &["--config", "/nonexistent", "hook", "--within", "600000"],
    ] {
        let output = pass(
            &mut home.process(arguments),
            home.prompt().to_string().as_bytes(),
        );
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]));
    }
}

#[test]
fn nothing_is_said_for_any_other_input() {
    let home = Home::with_log(166_000);
    let whole = home.prompt().to_string();
    for (input, why) in [
        ("", "is empty"),
        ("null", "not the JSON object"),
        ("[1]", "not the JSON object"),
        ("{}", "not that of a hook"),
        (&whole[..whole.len() / 2], "is cut"),
        ("\u{0}\u{1}", "not the JSON object"),
    ] {
        let (answer, problems) = home.hook_with(&[], input.as_bytes());
        assert_eq!(answer, Value::Null, "{input}");
        assert!(
            problems.contains(why) && problems.lines().count() == 1,
            "{input}: {problems}"
        );
    }
    let mut sub = home.prompt();
    sub["agent_id"] = json!("a1");
    assert_eq!(home.hook(&sub), (Value::Null, String::new()));
    let mut other = home.prompt();
    other["hook_event_name"] = json!("PreToolUse");
    assert_eq!(home.hook(&other), (Value::Null, String::new()));
    assert_eq!(home.kept_in("hooks").len(), 0, "nothing was noted");
}

#[test]
fn what_is_not_done_in_time_is_not_said_then() {
    let home = Home::with_log(166_000);
    let output = pass(
        &mut home.process(&["hook", "--within", "0"]),
        home.prompt().to_string().as_bytes(),
    );
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]));
}

#[test]
fn what_was_missed_is_said_at_the_next_prompt() {
    let home = Home::with_log(20_000);
    let event = ctxgauge::integrations::hook::read(home.prompt().to_string().as_bytes())
        .unwrap()
        .unwrap();
    let user = user(home.path(), Default::default());
    for _ in 0..2 {
        ctxgauge::report::client::hook::note_missed(&user, &event);
    }
    let (answer, _) = home.hook(&home.prompt());
    assert_eq!(
        answer["systemMessage"],
        "ctxgauge: 2 events missed, since the hook took too long"
    );
    assert_eq!(home.hook(&home.prompt()).0, Value::Null, "it was said");
}

/// A log of Qwen Code with one response to a prompt of this size.
fn qwen_log(home: &Home, prompt: u64) -> PathBuf {
    let folder = home.path().join(".qwen/projects/-shop/chats");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{ID}.jsonl"));
    let record = |id: &str, parent: Value, kind: &str, more: Value| {
        let mut record = json!({"uuid": id, "parentUuid": parent, "sessionId": ID, "timestamp": jiff::Timestamp::now(),
            "type": kind, "cwd": "/shop", "version": "0.24.4"});
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let usage = json!({"promptTokenCount": prompt, "candidatesTokenCount": 20, "totalTokenCount": prompt + 20});
    let lines = [
        record(
            "u1",
            Value::Null,
            "user",
            json!({"message": {"role": "user", "parts": [{"text": "Go on."}]}}),
        ),
        record(
            "a1",
            json!("u1"),
            "assistant",
            json!({"model": "qwen3-coder-plus", "usageMetadata": usage,
            "contextWindowSize": 200_000, "message": {"role": "model", "parts": [{"text": "Done."}]}}),
        ),
    ];
    fs::write(&log, lines.concat()).unwrap();
    log
}

#[test]
fn what_qwen_code_reports_at_the_end_of_a_turn_may_be_newer_than_its_log() {
    let home = Home::new();
    let log = qwen_log(&home, 20_000);
    let mut event = json!({"session_id": ID, "transcript_path": log, "cwd": "/shop", "hook_event_name": "Stop",
        "timestamp": jiff::Timestamp::now(), "permission_mode": "default", "input_tokens": 20_000});
    assert_eq!(home.hook(&event).0, Value::Null);
    event["input_tokens"] = json!(190_000);
    let (answer, problems) = home.hook(&event);
    assert!(said_to_user(&answer), "{answer} {problems}");
}

/// It shows nothing at a prompt.
#[test]
fn qwen_code_is_warned_at_the_end_of_a_turn() {
    let home = Home::new();
    let log = qwen_log(&home, 190_000);
    let event = |name: &str| {
        json!({"session_id": ID, "transcript_path": log, "cwd": "/shop", "hook_event_name": name,
            "timestamp": jiff::Timestamp::now(), "permission_mode": "default", "prompt": "Go on."})
    };
    assert_eq!(
        home.hook(&event("UserPromptSubmit")),
        (Value::Null, String::new())
    );
    let (answer, problems) = home.hook(&event("Stop"));
    let said = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(
        said.starts_with("ctxgauge: context "),
        "{answer} {problems}"
    );
    assert_eq!(home.hook(&event("Stop")).0, Value::Null, "it was said");
    // The model is told at the next prompt, though the user was warned before.
    home.configure("[hooks]\ntell_model = true\nshare = [0.5]\n");
    let (answer, _) = home.hook(&event("Stop"));
    assert!(said_to_user(&answer) && answer.get("hookSpecificOutput").is_none());
    let (answer, _) = home.hook(&event("UserPromptSubmit"));
    let told = &answer["hookSpecificOutput"]["additionalContext"];
    assert!(
        told.as_str()
            .is_some_and(|told| told.starts_with("ctxgauge: context ")),
        "{answer}"
    );
    assert_eq!(
        home.hook(&event("UserPromptSubmit")).0,
        Value::Null,
        "it was told"
    );
}

fn said_to_user(answer: &Value) -> bool {
    said(answer).starts_with("ctxgauge: context ")
}

#[test]
fn a_hook_reads_no_log_outside_the_agents_folders() {
    let home = Home::new();
    let outside = home.path().join("elsewhere.jsonl");
    fs::write(&outside, log(166_000)).unwrap();
    let around = home.path().join(".claude/projects/../../elsewhere.jsonl");
    for path in [
        outside,
        around,
        PathBuf::from("/etc/passwd"),
        PathBuf::from("log.jsonl"),
    ] {
        let mut prompt = home.prompt();
        prompt["transcript_path"] = json!(path);
        let (answer, problems) = home.hook(&prompt);
        assert_eq!(answer, Value::Null, "{path:?}");
        assert!(
            problems.contains("outside the folders of claude"),
            "{path:?}: {problems}"
        );
    }
    let mut by_path = home.prompt();
    by_path.as_object_mut().unwrap().remove("transcript_path");
    by_path["turn_id"] = json!("t1");
    by_path["session_id"] = json!("../../elsewhere");
    let (answer, problems) = home.hook(&by_path);
    assert_eq!(answer, Value::Null);
    assert!(
        problems.contains("neither a log nor a session's id"),
        "{problems}"
    );
}

#[cfg(unix)]
#[test]
fn a_hook_waits_for_no_pipe_and_needs_no_home() {
    let home = Home::new();
    nix::unistd::mkfifo(&home.log(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (answer, problems) = home.hook(&home.prompt());
    assert_eq!(answer, Value::Null);
    assert!(problems.contains("named pipe"), "{problems}");
    fs::remove_file(home.log()).unwrap();
    fs::write(home.log(), log(166_000)).unwrap();
    fs::write(home.path().join(".local"), "").unwrap();
    let (answer, problems) = home.hook(&home.prompt());
    assert!(said(&answer).contains("of 167k trigger"), "{answer}");
    assert!(problems.contains("nothing could be kept"), "{problems}");
}

/// A compaction in a log of Claude Code, now.
fn boundary() -> String {
    let line = json!({"type": "system", "subtype": "compact_boundary", "uuid": "u9", "parentUuid": null,
        "logicalParentUuid": "u2", "sessionId": ID, "timestamp": jiff::Timestamp::now(), "content": "Conversation compacted",
        "compactMetadata": {"trigger": "auto", "preTokens": 165_100}});
    let summary = json!({"type": "user", "uuid": "u10", "parentUuid": "u9", "sessionId": ID, "isCompactSummary": true,
        "timestamp": jiff::Timestamp::now(), "message": {"role": "user", "content": "This session is being continued."}});
    format!("{line}\n{summary}\n")
}

#[test]
fn a_compaction_is_noted_before_and_after_and_said() {
    let home = Home::with_log(165_000);
    assert_eq!(
        home.hook(&home.compaction("PreCompact", "auto")),
        (Value::Null, String::new())
    );
    let noted = &home.kept_in("hooks")[0]["compactions"][0];
    assert_eq!(noted["cause"], "auto");
    assert_eq!(noted["before"]["used"], 165_040);
    assert_eq!(noted["before"]["known"], 165_040);
    assert_eq!(noted["ended"], Value::Null);
    fs::write(home.log(), log(165_000) + &boundary()).unwrap();
    let (answer, _) = home.hook(&home.compaction("PostCompact", "auto"));
    assert!(
        said(&answer).starts_with("ctxgauge: compacted (auto): from ~165.1k to ~"),
        "{answer}"
    );
    let noted = home.kept_in("hooks");
    let noted = noted[0]["compactions"].as_array().unwrap();
    assert_eq!(noted.len(), 1);
    assert!(noted[0]["ended"].is_string() && noted[0]["after"]["used"].is_u64());
    let past = &home.report(&home.log())["compaction"]["past"][0];
    assert_eq!(
        (&past["cause"], &past["cause_source"]),
        (&json!("auto"), &json!("log"))
    );
    let (again, _) = home.hook(&home.prompt());
    assert!(!said(&again).contains("compacted"), "it was said: {again}");
    home.configure("[hooks]\ncompactions = false\n");
    assert_eq!(
        home.hook(&home.compaction("PostCompact", "auto")).0,
        Value::Null
    );
}

#[test]
fn a_compaction_that_is_logged_late_is_said_at_the_next_prompt() {
    let home = Home::with_log(165_000);
    home.hook(&home.compaction("PreCompact", "manual"));
    assert_eq!(
        home.hook(&home.compaction("PostCompact", "manual")).0,
        Value::Null
    );
    fs::write(home.log(), log(165_000) + &boundary()).unwrap();
    let (answer, _) = home.hook(&home.prompt());
    let lines: Vec<&str> = said(&answer).lines().collect();
    assert!(
        lines[0].starts_with("ctxgauge: compacted (manual): from ~165.1k to ~"),
        "{answer}"
    );
    assert!(
        lines
            .iter()
            .skip(1)
            .all(|line| line.starts_with("ctxgauge: context ")),
        "{answer}"
    );
    assert_eq!(home.hook(&home.prompt()).0, Value::Null, "it was said");
}

#[test]
fn a_cause_that_no_log_has_is_that_of_the_hook() {
    let home = Home::new();
    let folder = home.path().join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("session-2026-08-01T10-00-5e551001.jsonl");
    let id = "5e551001-0000-4000-8000-000000000001";
    let now = jiff::Timestamp::now();
    let start = json!({"sessionId": id, "projectHash": "9f86d081", "startTime": now, "lastUpdated": now, "kind": "main"});
    let message = |id: &str, kind: &str, content: &str, tokens: Value| {
        json!({"id": id, "timestamp": jiff::Timestamp::now(), "type": kind, "content": [{"text": content}],
            "thoughts": [], "tokens": tokens, "model": "gemini-3-pro-preview"})
    };
    let tokens = |input: u64| json!({"input": input, "output": 50, "cached": 0, "thoughts": 0, "tool": 0, "total": input + 50});
    let before = [
        start,
        message("u1", "user", "gone", Value::Null),
        message("g1", "gemini", "Gone.", tokens(12_000)),
        message("u2", "user", "kept", Value::Null),
        message("g2", "gemini", "Kept.", tokens(12_115)),
    ];
    let lines = |records: &[Value]| {
        records
            .iter()
            .map(|record| format!("{record}\n"))
            .collect::<String>()
    };
    fs::write(&log, lines(&before)).unwrap();
    let event = |trigger: &str| {
        json!({"session_id": id, "transcript_path": log, "cwd": "/shop", "hook_event_name": "PreCompress",
            "timestamp": jiff::Timestamp::now(), "trigger": trigger})
    };
    // It is run at requests too.
    for trigger in ["auto", "auto", "auto", "manual"] {
        assert_eq!(home.hook(&event(trigger)), (Value::Null, String::new()));
    }
    assert_eq!(
        home.kept_in("hooks")[0]["compactions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let after = json!({"$set": {"messages": [
        message("n1", "user", "<state_snapshot>All that was.", Value::Null),
        message("n2", "gemini", "Got it.", Value::Null),
        before[3], before[4],
    ], "lastUpdated": jiff::Timestamp::now()}});
    fs::write(&log, lines(&before) + &format!("{after}\n")).unwrap();
    let prompt = json!({"session_id": id, "transcript_path": log, "cwd": "/shop", "hook_event_name": "BeforeAgent",
        "timestamp": jiff::Timestamp::now(), "prompt": "Go on."});
    let (answer, _) = home.hook(&prompt);
    let said = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(
        said.starts_with("ctxgauge: compacted (manual): from "),
        "{answer}"
    );
    assert_eq!(home.hook(&event("auto")), (Value::Null, String::new()));
    assert_eq!(home.hook(&prompt).0, Value::Null, "nothing was compacted");
    let noted = home.kept_in("hooks")[0]["compactions"].clone();
    assert_eq!(noted.as_array().map(Vec::len), Some(1), "{noted}");
    let past = home.report(&log)["compaction"]["past"].clone();
    assert_eq!(past.as_array().map(Vec::len), Some(1), "{past}");
    assert_eq!(
        (&past[0]["cause"], &past[0]["cause_source"]),
        (&json!("manual"), &json!("hook"))
    );
    let text = home.program(&["report"]).arg(&log).output();
    assert!(String::from_utf8_lossy(&text.stdout).contains("compaction (manual, hook) at line 6"));
    // Without the hook it can only be inferred.
    fs::remove_dir_all(home.path().join(".local")).unwrap();
    let past = home.report(&log)["compaction"]["past"].clone();
    assert_eq!(
        (&past[0]["cause"], &past[0]["cause_source"]),
        (&json!("auto"), &json!("inferred"))
    );
}

#[test]
fn sizes_and_windows_that_no_log_has_are_those_of_the_hook() {
    let home = Home::new();
    let id = "5e551001-0000-4000-8000-000000000002";
    let folder = home
        .path()
        .join(".cursor/projects/shop/agent-transcripts")
        .join(id);
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{id}.jsonl"));
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>hi</user_query>"}]}}"#;
    fs::write(&log, format!("{line}\n")).unwrap();
    let event = json!({"conversation_id": id, "generation_id": "g1", "hook_event_name": "preCompact",
        "cursor_version": "2026.09", "workspace_roots": ["/shop"], "transcript_path": log, "model": "composer-2",
        "trigger": "auto", "context_usage_percent": 85, "context_tokens": 234_000, "context_window_size": 275_000});
    assert_eq!(home.hook(&event), (Value::Null, String::new()));
    let report = home.report(&log);
    assert_eq!(
        (
            &report["context"]["window"],
            &report["context"]["window_source"]
        ),
        (&json!(275_000), &json!("client"))
    );
    let unlogged = &report["compaction"]["unlogged"][0];
    assert_eq!(
        (&unlogged["cause"], &unlogged["before"], &unlogged["source"]),
        (&json!("auto"), &json!(234_000), &json!("hook"))
    );
    let text = home.program(&["report"]).arg(&log).output();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.contains("compaction (auto) that only a hook noted: 234.0k agent"),
        "{text}"
    );
    // No log shows that the first one took place, but the agent says so.
    home.hook(&event);
    let unlogged = home.report(&log)["compaction"]["unlogged"].clone();
    assert_eq!(unlogged.as_array().map(Vec::len), Some(2), "{unlogged}");
}

#[test]
fn what_hooks_and_clients_name_is_left_out_with_the_texts() {
    let home = Home::with_log(50_000);
    let mut said = context(500_000, Some(123_000), true);
    said["breakdown"]["categories"][1]["name"] = json!("Grönland");
    home.hook(&said);
    for event in ["PreCompact", "PostCompact"] {
        home.hook(&home.compaction(event, "Überlauf"));
    }
    let report = |arguments: &[&str]| {
        let output = home.program(arguments).arg(home.log()).output();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = report(&["report", "--json"]);
    assert!(
        all.contains("Grönland") && all.contains("Überlauf"),
        "{all}"
    );
    for redacted in [
        &["report", "--redact"][..],
        &["report", "--redact", "--json"],
        &["report", "--format", "html"],
        &["report", "--format", "markdown"],
    ] {
        let left = report(redacted);
        assert!(
            !left.contains("Grönland") && !left.contains("Überlauf"),
            "{left}"
        );
    }
    assert!(report(&["report", "--redact"]).contains("System prompt 7.1k"));
}

/// What the plugin passes.
fn context(window: u64, threshold: Option<u64>, is_enabled: bool) -> Value {
    json!({"hook_event_name": "CtxgaugeContext", "session_id": ID, "model": "claude-opus-4-6", "version": "2.1.331",
        "window": window, "breakdown": {"categories": [
            {"name": "System prompt", "tokens": 7_064, "kind": "used"},
            {"name": "Mess\u{1b}[2Jages", "tokens": 42_000, "kind": "used"},
            {"name": "Autocompact buffer", "tokens": 33_000, "kind": "buffer"},
            {"name": "Free space", "tokens": 100, "kind": "free"}],
        "totalTokens": 49_064, "autoCompactThreshold": threshold, "isAutoCompactEnabled": is_enabled}})
}

#[test]
fn what_claude_code_says_of_its_context_is_shown_beside_ours() {
    let home = Home::with_log(50_000);
    assert_eq!(
        home.hook(&context(500_000, Some(123_000), true)),
        (Value::Null, String::new())
    );
    let report = home.report(&home.log());
    let of = |report: &Value, part: &str, key: &str| report[part][key].clone();
    assert_eq!(of(&report, "context", "window"), 500_000);
    assert_eq!(of(&report, "compaction", "trigger"), 123_000);
    assert_eq!(of(&report, "compaction", "trigger_source"), "client");
    assert_eq!(of(&report, "client", "tokens"), 49_064);
    assert_eq!(
        report["client"]["parts"][0],
        json!({"name": "System prompt", "tokens": 7_064})
    );
    let text = home.program(&["report"]).arg(home.log()).output();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("compacts at 123.0k (client)"), "{text}");
    assert!(
        text.contains("the agent's client estimated 49.1k at ") && !text.contains('\u{1b}'),
        "{text}"
    );
    // A status line of the same session keeps it.
    let mut input = home.input(json!(50_000));
    input["context_window"]["context_window_size"] = json!(500_000);
    let mut command = home.program(&["statusline"]);
    let line = command.input(input.to_string()).output();
    let line = String::from_utf8_lossy(&line.stdout).into_owned();
    assert!(line.contains("of 123k trigger"), "{line}");
    assert_eq!(
        of(&home.report(&home.log()), "compaction", "trigger"),
        123_000
    );
    // Switched off.
    home.hook(&context(500_000, None, false));
    let report = home.report(&home.log());
    assert_eq!(of(&report, "compaction", "trigger"), Value::Null);
    assert_eq!(of(&report, "compaction", "trigger_source"), "client");
    // What does not look as expected says nothing.
    let before = home.kept();
    for (window, threshold) in [(10, Some(9)), (500_000, Some(500_001)), (500_000, None)] {
        assert_eq!(
            home.hook(&context(window, threshold, true)),
            (Value::Null, String::new())
        );
    }
    assert_eq!(home.kept(), before);
}
