//! Ids that are given twice, parents in circles, and clocks that go backwards.

use crate::fuzzed::targets::sessions::{self, RULES, Sessions};
use crate::support::{ctxgauge, json_report};
use ctxgauge::agents;
use ctxgauge::model::event::Conversation;
use ctxgauge::model::session::Session;
use serde_json::{Value, json};
use std::fs;

/// Writes a record: its number, its id and its parent's, and when it was written.
type Write = fn(u64, &str, &str, &str) -> Value;

/// Agents whose records name their parents. The second record and each second one after it report their usage.
const AGENTS: [(&str, Write); 3] = [
    ("claude-code", claude_record),
    ("pi", pi_record),
    ("openhands", openhands_record),
];

/// What a record reports.
fn prompt(n: u64) -> u64 {
    41_000 + 1_000 * n
}

fn claude_record(n: u64, id: &str, parent: &str, at: &str) -> Value {
    let (kind, message) = match n % 2 {
        1 => (
            "user",
            json!({"role": "user", "content": format!("Lamp {n}?")}),
        ),
        _ => (
            "assistant",
            json!({"model": "claude-opus-4-6", "id": format!("m{n}"), "type": "message", "role": "assistant",
                "content": [{"type": "text", "text": "Lit."}], "stop_reason": "end_turn",
                "usage": {"input_tokens": prompt(n), "output_tokens": 20}}),
        ),
    };
    json!({"type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "timestamp": at,
        "sessionId": "5e550000-0000-4000-8000-000000000001", "version": "2.1.39", "cwd": "/home/dev/shop",
        "requestId": format!("r{n}"), "message": message})
}

fn pi_record(n: u64, id: &str, parent: &str, at: &str) -> Value {
    let message = match n % 2 {
        1 => json!({"role": "user", "content": [{"type": "text", "text": format!("Lamp {n}?")}]}),
        _ => json!({"role": "assistant", "content": [{"type": "text", "text": "Lit."}], "api": "a",
            "provider": "p", "model": "brook-1", "stopReason": "stop", "usage": {"input": prompt(n), "output": 20,
                "cacheRead": 0, "cacheWrite": 0, "totalTokens": prompt(n) + 20}}),
    };
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message})
}

fn openhands_record(n: u64, id: &str, parent: &str, at: &str) -> Value {
    let (source, role) = [("agent", "assistant"), ("user", "user")][usize::from(n % 2 == 1)];
    json!({"id": id, "timestamp": at.trim_end_matches('Z'), "source": source, "parent_id": parent,
        "kind": "MessageEvent", "activated_skills": [], "extended_content": [], "llm_message": {
            "role": role, "content": [{"type": "text", "text": format!("Lamp {n}")}], "thinking_blocks": []}})
}

/// The time of a record: seconds after some midday.
fn at(seconds: i64) -> String {
    let noon: jiff::Timestamp = "2026-09-20T12:00:00Z".parse().unwrap();
    (noon + jiff::SignedDuration::from_secs(seconds)).to_string()
}

/// A log of so many records; `parent` is the number of a record's parent.
fn log(write: Write, records: u64, parent: impl Fn(u64) -> u64) -> Vec<String> {
    let record = |n| {
        let (id, parent) = (format!("e{n}"), format!("e{}", parent(n)));
        format!("{}\n", write(n, &id, &parent, &at(n as i64)))
    };
    (1..=records).map(record).collect()
}

/// The sessions of a log, checked. A record makes a few entries at most.
fn read(agent: &str, log: &[String]) -> Sessions {
    let format = agents::by_id(agent).unwrap();
    let entries = sessions::read_lines(format.decoder().as_mut(), log.concat().as_bytes());
    assert!(entries.len() <= 8 * log.len() + 8, "{agent}");
    let sessions = sessions::fold(format, &RULES, entries);
    sessions::check(&sessions);
    sessions
}

fn main(sessions: &Sessions) -> &Session {
    &sessions[&Conversation::Main]
}

/// The number of items, and what is known.
fn contents(sessions: &Sessions) -> (usize, u64) {
    let session = main(sessions);
    (session.items().len(), session.context().known)
}

/// Reads logs whose parents are these.
fn circle(records: u64, parent: impl Fn(u64) -> u64) {
    for (agent, write) in AGENTS {
        let found = read(agent, &log(write, records, &parent));
        let straight = read(agent, &log(write, records, |n| n - 1));
        let ((items, known), (all, most)) = (contents(&found), contents(&straight));
        assert_eq!(items, all, "{agent}");
        assert!(known <= most, "{agent}: {known}");
    }
}

#[test]
fn a_record_that_is_its_own_parent_ends() {
    circle(6, |n| if n == 3 { 3 } else { n - 1 });
    circle(6, |n| n);
}

#[test]
fn two_records_that_are_each_others_parents_end() {
    circle(6, |n| if n == 2 { 3 } else { n - 1 });
    circle(2, |n| 3 - n);
}

#[test]
fn a_long_circle_of_parents_ends() {
    circle(1_000, |n| if n == 1 { 1_000 } else { n - 1 });
    circle(1_000, |n| if n == 500 { 900 } else { n - 1 });
    // Each record hangs at one that comes later.
    circle(300, |n| n % 300 + 1);
}

#[test]
fn records_that_are_written_twice_count_once() {
    // An entry of pi's that is written again is where a branch begins anew.
    for (agent, write) in [AGENTS[0], AGENTS[2]] {
        let once = log(write, 8, |n| n - 1);
        let each_twice: Vec<String> = once
            .iter()
            .flat_map(|line| [line.clone(), line.clone()])
            .collect();
        let all_twice = [once.clone(), once.clone()].concat();
        let expected = contents(&read(agent, &once));
        for twice in [each_twice, all_twice] {
            assert_eq!(contents(&read(agent, &twice)), expected, "{agent}");
        }
    }
}

#[test]
fn a_request_id_of_two_responses_makes_no_sum_of_them() {
    for (agent, write) in &AGENTS[..2] {
        let lines = log(*write, 8, |n| n - 1);
        let same: Vec<String> = lines
            .iter()
            .map(|line| {
                (2..9).fold(line.clone(), |line, n| {
                    line.replace(&format!("\"m{n}\""), "\"m\"")
                        .replace(&format!("\"r{n}\""), "\"r\"")
                })
            })
            .collect();
        let found = read(agent, &same);
        assert!(main(&found).context().known <= prompt(8) + 20, "{agent}");
    }
}

#[test]
fn a_tool_call_id_that_is_given_twice_breaks_no_sum() {
    let call =
        json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/lamp"}}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "A lamp. ".repeat(200)}]);
    let mut lines = Vec::new();
    for n in 1..=12 {
        let mut record = claude_record(n, &format!("e{n}"), &format!("e{}", n - 1), &at(n as i64));
        record["message"]["content"] = if n % 2 == 1 {
            result.clone()
        } else {
            call.clone()
        };
        lines.push(format!("{record}\n"));
    }
    let sessions = read("claude-code", &lines);
    assert_eq!(main(&sessions).requests().len(), 6);
    assert_eq!(main(&sessions).context().known, prompt(12) + 20);
}

#[test]
fn a_session_id_of_two_logs_shows_the_longer_copy_and_each_other_name() {
    let home = tempfile::tempdir().unwrap();
    // A copy has the same name. What the records call their session names no log.
    let logs = [("shop/5e55", 4), ("shed/5e55", 6), ("shed/5e56", 8)];
    for (name, records) in logs {
        let name = name.replace('/', "/0000");
        let path = format!(".claude/projects/-home-dev-{name}-0000-4000-8000-000000000001.jsonl");
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, log(claude_record, records, |n| n - 1).concat()).unwrap();
    }
    let output = ctxgauge(home.path()).args(["ls", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sessions = list["sessions"].as_array().unwrap().iter();
    let known = sessions.map(|session| session["context"]["known"].as_u64().unwrap());
    let mut known: Vec<u64> = known.collect();
    known.sort_unstable();
    assert_eq!(known, [prompt(6) + 20, prompt(8) + 20], "{list}");
}

/// The report of a session of 40 requests whose records were written at these times.
fn at_times(time: impl Fn(u64) -> String) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("5e550000-0000-4000-8000-000000000001.jsonl");
    let record = |n| claude_record(n, &format!("e{n}"), &format!("e{}", n - 1), &time(n));
    let lines = (1..=80).map(|n| format!("{}\n", record(n)));
    fs::write(&path, lines.collect::<String>()).unwrap();
    let report = json_report(&path);
    assert_eq!(report["context"]["known"], prompt(80) + 20);
    assert_eq!(report["session"]["unreadable"], 0);
    let (first, last) = (
        &report["session"]["started_at"],
        &report["session"]["updated_at"],
    );
    let time = |value: &Value| {
        value
            .as_str()
            .map(|text| text.parse::<jiff::Timestamp>().unwrap())
    };
    assert!(time(first) <= time(last), "{first} {last}");
    let left = &report["compaction"]["requests_left"];
    assert!(
        left["p50"]
            .as_f64()
            .is_some_and(|left| (10.0..200.0).contains(&left)),
        "{left}"
    );
    report
}

/// The minutes that are left, if any, are not below 0 nor beyond a month for so few requests.
fn minutes(report: &Value) {
    for part in ["p10", "p50", "p90"] {
        let minutes = &report["compaction"]["minutes_left"][part];
        let is_sane = |minutes: f64| (0.0..50_000.0).contains(&minutes);
        assert!(minutes.as_f64().is_none_or(is_sane), "{minutes}");
    }
}

#[test]
fn a_clock_that_goes_backwards_makes_no_time_below_zero() {
    let now = jiff::Timestamp::now();
    let before = |seconds: i64| (now - jiff::SignedDuration::from_secs(seconds)).to_string();
    // Always, once by a day, once by years, and to and fro.
    minutes(&at_times(|n| before(n as i64 * 20)));
    minutes(&at_times(|n| {
        before(if n < 40 { 0 } else { 86_400 } + 80 - n as i64)
    }));
    minutes(&at_times(|n| {
        before(if n == 40 {
            1_500_000_000
        } else {
            80 - n as i64
        })
    }));
    minutes(&at_times(|n| before(n as i64 * 37 % 80)));
}

#[test]
fn times_that_are_out_of_order_absurd_or_none_break_nothing() {
    const TIMES: [&str; 7] = [
        "0001-01-01T00:00:00Z",
        "9999-12-30T22:00:00Z",
        "1970-01-01T00:00:00Z",
        "-009999-01-02T01:59:59Z",
        "2026-13-77T99:99:99Z",
        "yesterday",
        "",
    ];
    for shift in 0..TIMES.len() as u64 {
        minutes(&at_times(|n| {
            TIMES[((n * 3 + shift) % 7) as usize].to_owned()
        }));
    }
    for time in TIMES {
        minutes(&at_times(|n| {
            if n == 40 {
                time.to_owned()
            } else {
                at(n as i64)
            }
        }));
    }
}

#[test]
fn a_list_of_sessions_of_the_far_past_and_future_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    for (n, time) in [
        "0001-01-01T00:00:00Z",
        "9999-12-30T22:00:00Z",
        "2026-09-20T10:00:00Z",
    ]
    .iter()
    .enumerate()
    {
        let lines = (1..=4).map(|n| format!("{}\n", claude_record(n, &format!("e{n}"), "", time)));
        let path = folder.join(format!("5e550000-0000-4000-8000-00000000000{n}.jsonl"));
        fs::write(path, lines.collect::<String>()).unwrap();
    }
    for arguments in [&["ls"][..], &["ls", "--json"], &["agents"]] {
        let output = ctxgauge(home.path()).args(arguments).output();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && error.is_empty(), "{error}");
    }
}
