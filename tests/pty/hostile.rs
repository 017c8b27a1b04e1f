//! The whole program in a terminal, on a hostile log: its screens, alerts, clipboard, pager and editor.

use crate::bytes::{HOSTILE, NAME, wrong_in_text, wrong_on_screen};
use crate::terminal::{ESCAPE, Terminal};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ctxgauge::files::waiting;
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

const CONFIG: &str = r#"
[[window]]
tokens = 200_000
[[policy]]
tokens = 100_000
[alerts]
share = [0.8]
notify = ["screen", "osc9", "osc777", "osc99"]
command = ["sh", "-c", "env | grep ^CTXGAUGE > \"$HOME/facts.new\"; mv \"$HOME/facts.new\" \"$HOME/facts\""]
"#;

/// Appends a question and its answer, of so many tokens.
fn answer(log: &Path, n: usize, tokens: u64) {
    let (question, reply) = (format!("u{n}{HOSTILE}"), format!("a{n}{HOSTILE}"));
    let before = (n > 1).then(|| format!("a{}{HOSTILE}", n - 1));
    let shell = format!("$(touch pwned)`touch pwned`;touch pwned {HOSTILE}");
    let lines = [
        json!({"type": "user", "uuid": question, "parentUuid": before, "isSidechain": false, "cwd": shell,
            "sessionId": shell, "version": HOSTILE, "timestamp": format!("2026-03-14T15:0{n}:00Z"),
            "message": {"role": "user", "content": format!("{NAME} asks\n{HOSTILE}")}}),
        json!({"type": "assistant", "uuid": reply, "parentUuid": question, "isSidechain": false, "cwd": shell,
            "sessionId": shell, "requestId": format!("r{n}"), "timestamp": format!("2026-03-14T15:0{n}:05Z"),
            "message": {"id": format!("m{n}"), "role": "assistant", "model": shell, "stop_reason": "end_turn",
            "content": [{"type": "tool_use", "id": "t", "name": HOSTILE, "input": {HOSTILE: HOSTILE}}],
            "usage": {"input_tokens": tokens, "output_tokens": 5}}}),
    ];
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    file.write_all(format!("{}\n{}\n", lines[0], lines[1]).as_bytes())
        .unwrap();
}

/// Takes the sequences that begin so out of what was written. Returns their insides.
fn take(bytes: &mut Vec<u8>, begin: &str, end: &str) -> Vec<String> {
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    let mut parts = text.split(begin);
    let mut rest = parts.next().unwrap().to_owned();
    let mut insides = Vec::new();
    for part in parts {
        let (inside, after) = part.split_once(end).unwrap();
        insides.push(inside.to_owned());
        rest.push_str(after);
    }
    *bytes = rest.into_bytes();
    insides
}

#[test]
fn a_hostile_log_reaches_terminal_clipboard_alerts_and_pager_made_visible() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), CONFIG).unwrap();
    let folder = home.path().join(".claude/projects").join(HOSTILE);
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{HOSTILE}.jsonl"));
    answer(&log, 1, 10_000);
    let path = std::env::var("PATH").unwrap_or_default();
    let pager = "sh -c 'cat \"$1\" > \"$HOME/paged\"' pager";
    let environment = [("PATH", path.as_str()), ("PAGER", pager)];
    let mut terminal = Terminal::open_with(home.path(), &[], (120, 36), &environment);
    terminal.wait_for("the session", |text| {
        text.contains(NAME) && text.contains("10.0k")
    });
    answer(&log, 2, 95_000);
    terminal.wait_for_text("95.0k");
    let facts = contents(&home.path().join("facts"));
    for key in ["f", "a", "s", "k", "s", "\r"] {
        terminal.press(key);
    }
    terminal.wait_for_text("searched 1 of 1 session");
    for key in ["\r", ESCAPE, ESCAPE] {
        terminal.press(key);
    }
    terminal.wait_for_text("95.0k");
    terminal.press("!");
    terminal.wait_for_text("notices");
    for key in [ESCAPE, "\r", "2", "3", "4", "5", "6", "1", "s", "\r"] {
        terminal.press(key);
    }
    // Only a text has pictures.
    terminal.wait_for_text("␛");
    terminal.press("y");
    terminal.wait_for_notice("copied", |screen| screen.contains("sent to the terminal"));
    terminal.press("o");
    let paged = contents(&home.path().join("paged"));
    terminal.wait_for_text("copy");
    terminal.wait_until_taken();
    terminal.write("q");
    assert!(terminal.wait_for_end().success());

    let mut bytes = terminal.bytes();
    take(&mut bytes, "\x1b]7777;", "\x07");
    let copied = take(&mut bytes, "\x1b]52;c;", "\x07");
    let copied = STANDARD.decode(&copied[0]).unwrap();
    let mut sent = take(&mut bytes, "\x1b]9;", "\x07");
    sent.extend(take(&mut bytes, "\x1b]777;notify;", "\x07"));
    sent.extend(take(&mut bytes, "\x1b]99;;", "\x1b\\"));
    assert!(sent.len() >= 3, "{sent:?}");
    for text in [&copied[..], facts.as_bytes(), paged.as_bytes()] {
        let text = String::from_utf8_lossy(text);
        assert!(text.contains(NAME), "{text:?}");
    }
    // A long name is cut.
    assert!(
        sent.iter().all(|text| text.contains("]0,title")),
        "{sent:?}"
    );
    for text in [&copied[..], paged.as_bytes(), sent.concat().as_bytes()] {
        assert_eq!(wrong_in_text(text), None);
    }
    // The log's path is exact: a command may open it.
    let (path, others): (Vec<&str>, Vec<&str>) = facts
        .split("\nCTXGAUGE")
        .partition(|fact| fact.starts_with("_LOG="));
    assert_eq!(path[0].strip_prefix("_LOG="), log.to_str());
    assert_eq!(wrong_in_text(others.join("\n").as_bytes()), None);
    assert_eq!(wrong_on_screen(&bytes), None);
    let everywhere = [home.path(), &folder, Path::new(".")];
    assert!(
        everywhere
            .iter()
            .all(|folder| !folder.join("pwned").exists())
    );
}

/// A file's contents, as soon as it has some.
fn contents(path: &Path) -> String {
    waiting::wait_for("file that is written", || match fs::read_to_string(path) {
        Ok(text) if !text.is_empty() => Ok(text),
        other => Err(format!("{}: {other:?}", path.display())),
    })
}
