//! Runs of the monitor on logs that grow, with the keys a newcomer would press.

use crate::monitor::Monitor;
use crate::support::manifest_folder;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A home with one Claude Code session, which does not stand at its end yet, and the rest of it.
fn home_with_a_session() -> (tempfile::TempDir, PathBuf, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("5e550000-0000-4000-8000-000000000001.jsonl");
    let source = manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines");
    let text = fs::read_to_string(source.join("log.jsonl")).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    let rest = lines.split_off(6);
    fs::write(&log, lines.concat()).unwrap();
    (home, log, rest)
}

fn append(log: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(log).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn the_number_on_screen_follows_a_growing_log() {
    let (home, log, rest) = home_with_a_session();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for("the session", |s| s.contains("shop") && s.contains("21.2k"));
    for line in rest {
        // A writer is not always done with a line at once.
        let (head, tail) = line.split_at(line.len() / 2);
        append(&log, head);
        append(&log, tail);
    }
    monitor.wait_for_text("21.6k");
}

/// A hand-written log, where its agent would write it, and what the screen shows of it: after the user's
/// first message, and at the end.
struct Play {
    fixture: &'static str,
    path: &'static str,
    first: &'static str,
    last: &'static str,
}

const PLAYS: [Play; 11] = [
    Play {
        fixture: "qwen-code/same_uuid_in_several_lines",
        path: ".qwen/projects/-shop/chats/5e550000-0000-4000-8000-000000000001.jsonl",
        first: "15.0k",
        last: "15.2k",
    },
    Play {
        fixture: "openclaw/shown_answers_are_not_sent",
        path: ".openclaw/agents/main/sessions/5e550000-0000-4000-8000-000000000001.jsonl",
        first: "openclaw",
        last: "21.4k",
    },
    Play {
        fixture: "kimi/results_stand_before_the_report",
        path: ".kimi-code/sessions/wd_shop/session_5e55/agents/main/wire.jsonl",
        first: "10.0k",
        last: "12.1k",
    },
    Play {
        fixture: "kimi/cli_wire_sub_agents",
        path: ".kimi/sessions/73d3cf4d/5e55/wire.jsonl",
        first: "kimi",
        last: "12.0k",
    },
    Play {
        fixture: "copilot-cli/own_number_and_no_prompts",
        path: ".copilot/session-state/5e000000-0000-4000-8000-000000000001/events.jsonl",
        first: "20.1k",
        last: "21.6k",
    },
    Play {
        fixture: "droid/tools_and_reminders",
        path: ".factory/sessions/-shop/6f0c1d9e-3b7a-4a52-9d1e-2c8b5a7f4e31.jsonl",
        first: "empty",
        last: "~252",
    },
    Play {
        fixture: "cursor/query_in_tags",
        path: ".cursor/projects/shop/agent-transcripts/abc/abc.jsonl",
        first: "cursor",
        last: "~178",
    },
    Play {
        fixture: "otel-genai/otlp_lines_of_today",
        path: ".local/share/ctxgauge/spans/shop.jsonl",
        first: "982",
        last: "1.1k",
    },
    Play {
        fixture: "mew/near_limit_and_compaction",
        path: ".mew/logs/envelope-history.jsonl",
        first: "mew",
        last: "9.2k",
    },
    Play {
        fixture: "hpd-agent/containers_live_to_the_end_of_their_turn",
        path: ".hpd-data/sessions/s-1/threads/main/thread.events.jsonl",
        first: "hpd",
        last: "974",
    },
    Play {
        fixture: "vscode-gateway/captures_by_length_and_hash",
        path: ".vscode-ai-gateway/forensic-captures.jsonl",
        first: "4.1k",
        last: "4.4k",
    },
];

#[test]
fn the_gauge_moves_while_an_agent_writes() {
    std::thread::scope(|scope| {
        for plays in PLAYS.chunks(4) {
            scope.spawn(|| plays.iter().for_each(Play::run));
        }
    });
}

impl Play {
    /// Appends the log line by line, each in two pieces.
    fn run(&self) {
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join(self.path);
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        let fixtures = manifest_folder().join("tests/fixtures");
        let text = fs::read_to_string(fixtures.join(self.fixture).join("log.jsonl")).unwrap();
        let mut lines = text.split_inclusive('\n');
        let mut begun = String::new();
        let has_message = |begun: &str| {
            let begun = begun.to_lowercase();
            begun.contains("user") || begun.contains("human")
        };
        while !has_message(&begun) {
            begun.push_str(lines.next().expect("a message of the user"));
        }
        fs::write(&log, begun).unwrap();
        let mut monitor = Monitor::open(home.path(), &[], (160, 40));
        monitor.wait_for(&format!("{}: {}", self.fixture, self.first), |screen| {
            screen.contains("1 session") && screen.contains(self.first)
        });
        for line in lines {
            let (head, tail) = line.split_at(line.len() / 2);
            append(&log, head);
            append(&log, tail);
        }
        monitor.wait_for(&format!("{}: {}", self.fixture, self.last), |screen| {
            screen.contains(self.last)
        });
    }
}

#[test]
fn the_gauge_moves_while_ouro_rewrites() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".ouro/sessions/2026-05-11_3b1e77c4");
    fs::create_dir_all(&folder).unwrap();
    let text = include_str!("../fixtures/ouro/tools_and_parts/log.yaml");
    let messages: Vec<usize> = text
        .match_indices("\n- role:")
        .map(|(at, _)| at + 1)
        .collect();
    // As it does: aside, then in place of the old one.
    let write = |text: &str| {
        let aside = folder.join("session.yaml.tmp");
        fs::write(&aside, text).unwrap();
        fs::rename(aside, folder.join("session.yaml")).unwrap();
    };
    write(&text[..messages[2]]);
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for("its first messages", |screen| {
        screen.contains("1 session") && screen.contains("ouro") && screen.contains(" est ")
    });
    for end in &messages[3..] {
        write(&text[..*end]);
    }
    write(text);
    monitor.wait_for_text("~2.1k");
}

/// What an agent says of its own context, and warns of, stands on the screen once it says it.
#[test]
fn an_agents_own_word_is_shown_while_it_talks() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join(".mew/logs/envelope-history.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let case = "tests/fixtures/mew/near_limit_and_compaction/log.jsonl";
    let text = fs::read_to_string(manifest_folder().join(case)).unwrap();
    let (chat, rest) = text.split_at(text.find("{\"timestamp\":\"2026-08-01T10:00:07").unwrap());
    let (status, rest) = rest.split_at(rest.find("{\"timestamp\":\"2026-08-01T10:00:10").unwrap());
    fs::write(&log, chat).unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (80, 24));
    monitor.wait_for("the session", |s| s.contains("▌  mew") && s.contains('%'));
    monitor.press("⏎");
    let screen = monitor.wait_for_text("no usage in the log: all estimated");
    assert!(!screen.contains("agent's count"), "{screen}");
    append(&log, status);
    monitor.wait_for("its word and its warning", |s| {
        s.contains("agent 18.2k") && s.contains("near limit: 18200 of 20000 tokens")
    });
    append(&log, rest);
    monitor.wait_for("a compaction", |s| {
        s.contains("1 compaction") && !s.contains("near limit")
    });
}

#[test]
fn the_gauge_moves_while_openhands_streams() {
    let home = tempfile::tempdir().unwrap();
    let case = manifest_folder().join("tests/fixtures/openhands/sums_name_no_call/log.jsonl");
    let text = fs::read_to_string(case).unwrap();
    let log = home.path().join("events.jsonl");
    let (begun, rest) = text.split_at(text.find("call_1").unwrap());
    fs::write(&log, begun).unwrap();
    let path = log.to_str().unwrap();
    let mut monitor = Monitor::open(home.path(), &[path], (120, 40));
    monitor.wait_for_text("ohands");
    append(&log, rest);
    monitor.wait_for_text("9.8k");
}

#[test]
fn the_gauge_moves_while_openhands_writes_its_events() {
    let case = manifest_folder().join("tests/fixtures/openhands/state_tells_calls");
    let home = tempfile::tempdir().unwrap();
    let conversation = home.path().join(".openhands/conversations/5e55");
    let events = conversation.join("events");
    fs::create_dir_all(&events).unwrap();
    let mut names: Vec<_> = fs::read_dir(case.join("events"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    let later = names.split_off(2);
    for name in names {
        fs::copy(case.join("events").join(&name), events.join(&name)).unwrap();
    }
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("1 session");
    for name in later {
        let text = fs::read(case.join("events").join(&name)).unwrap();
        // Not all of it is there at once.
        fs::write(events.join(&name), &text[..text.len() / 2]).unwrap();
        fs::write(events.join(&name), &text).unwrap();
    }
    // No number is known before the state tells it.
    let state = fs::read(case.join("base_state.json")).unwrap();
    fs::write(conversation.join("base_state.json"), &state[..99]).unwrap();
    fs::write(conversation.join("base_state.json"), state).unwrap();
    monitor.wait_for("the numbers", |s| s.contains("shop") && s.contains("8.3k"));
}

#[test]
fn a_new_session_appears_while_it_runs() {
    let (home, log, _) = home_with_a_session();
    let mut monitor = Monitor::open(home.path(), &[], (80, 24));
    monitor.wait_for_text("1 session");
    let other = log.with_file_name("5e550000-0000-4000-8000-000000000002.jsonl");
    fs::copy(&log, other).unwrap();
    monitor.wait_for_text("2 sessions");
}

#[test]
fn a_session_opens_shows_its_items_and_closes() {
    let (home, ..) = home_with_a_session();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("21.2k");
    monitor.press("⏎");
    let screen = monitor.wait_for_text("I will read main.rs and db.rs.");
    for part in [
        "system",
        "assistant",
        "tool",
        "known",
        "1.0M",
        "model table",
    ] {
        assert!(screen.contains(part), "{part} is missing:\n{screen}");
    }
    monitor.press("?");
    monitor.wait_for_text("signs: session");
    monitor.press("?");
    monitor.wait_for_text("keys:");
    monitor.press("⎋");
    monitor.wait_for("the help to close", |s| !s.contains("keys:"));
    monitor.press("⎋");
    monitor.wait_for_text("1 session");
    monitor.press("q");
    monitor.end().unwrap();
}

#[test]
fn typing_a_filter_narrows_the_list() {
    let (home, log, _) = home_with_a_session();
    let folder = home.path().join(".codex/sessions/2026/09/20");
    fs::create_dir_all(&folder).unwrap();
    let rollout = "rollout-2026-09-20T10-00-00-00000000-0000-4000-8000-000000000009.jsonl";
    let source = manifest_folder().join("tests/fixtures/codex/repeated-count/log.jsonl");
    fs::copy(source, folder.join(rollout)).unwrap();
    assert!(log.exists());
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for("both agents", |s| {
        s.contains("claude") && s.contains("codex")
    });
    monitor.press("/codex");
    monitor.wait_for("only codex", |s| !s.contains("claude"));
    monitor.press("⎋");
    monitor.wait_for("both again", |s| s.contains("claude"));
}

#[test]
fn a_newcomer_without_logs_sees_the_demo() {
    let home = tempfile::tempdir().unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    let screen = monitor.wait_for("the demo", |s| {
        s.contains("demo") && s.contains("claude") && s.contains("codex")
    });
    assert!(screen.contains("no agent logs"), "{screen}");
}

#[test]
fn the_demo_makes_way_for_the_first_log() {
    let (other, log, _) = home_with_a_session();
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("this is a demo");
    fs::copy(&log, folder.join(log.file_name().unwrap())).unwrap();
    monitor.wait_for("the session alone", |s| {
        s.contains("21.2k") && !s.contains("demo") && !s.contains("teashop")
    });
    drop(other);
}

#[test]
fn nothing_is_drawn_while_nothing_changes() {
    let (home, log, _) = home_with_a_session();
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    let file = OpenOptions::new().append(true).open(&log).unwrap();
    file.set_modified(hour_ago).unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (80, 24));
    // The selected session is read whole and counted, after which no number of it may change. One sign stays: its agent
    // compacts when a prompt is refused, so the forecast is known about.
    monitor.play_until("the counted session", |s| {
        s.contains("21.2k") && s.matches('~').count() == 1
    });
    let before = monitor.drawn();
    monitor.pass(Duration::from_secs(600));
    assert_eq!(monitor.drawn(), before);
}
