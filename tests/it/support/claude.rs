//! A home with a session of Claude Code, for what the agent runs.

use super::command_line::{CommandLine, at_leisure, ctxgauge};
use super::process;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const ID: &str = "3f2a1b00-0000-4000-8000-000000000001";

const LOCALE: [(&str, &str); 2] = [("NO_COLOR", "1"), ("LANG", "C.UTF-8")];

/// A home with a session of Claude Code.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".claude/projects/-shop")).unwrap();
        Home { dir }
    }

    pub fn with_log(prompt: u64) -> Home {
        let home = Home::new();
        fs::write(home.log(), log(prompt)).unwrap();
        home
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn log(&self) -> PathBuf {
        let folder = self.path().join(".claude/projects/-shop");
        folder.join(format!("{ID}.jsonl"))
    }

    /// The program in this process, with these arguments.
    pub fn program(&self, arguments: &[&str]) -> CommandLine {
        let mut command = ctxgauge(self.path());
        command.args(arguments).envs(LOCALE);
        command
    }

    /// The program as a process, with these arguments.
    pub fn process(&self, arguments: &[&str]) -> Command {
        let mut command = process(self.path());
        command
            .args(arguments)
            .args(at_leisure(arguments))
            .envs(LOCALE);
        command
    }

    /// What Claude Code passes to its status line.
    pub fn input(&self, prompt: Value) -> Value {
        let usage = prompt.as_u64().map(|prompt| {
            json!({"input_tokens": 3, "output_tokens": 40, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": prompt - 3})
        });
        json!({
            "session_id": ID, "transcript_path": self.log(), "cwd": "/shop",
            "model": {"id": "claude-opus-4-6", "display_name": "Opus"}, "version": "2.1.330",
            "context_window": {"context_window_size": 200_000, "used_percentage": 3, "current_usage": usage},
        })
    }

    /// What is kept of its sessions.
    pub fn kept(&self) -> Vec<Value> {
        self.kept_in("clients")
    }

    /// What is kept of its sessions in a folder of the state folder.
    pub fn kept_in(&self, folder: &str) -> Vec<Value> {
        let state = self.path().join(".local/state/ctxgauge");
        let files = fs::read_dir(state.join(folder));
        let files = files.into_iter().flatten().flatten();
        files
            .map(|file| serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap())
            .collect()
    }
}

/// A log with one answered request of this prompt.
pub fn log(prompt: u64) -> String {
    let line = |kind: &str, uuid: &str, parent: Value, message: Value| {
        let line = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "cwd": "/shop",
            "version": "2.1.330", "timestamp": "2026-05-01T10:00:00Z", "requestId": "r1", "message": message});
        format!("{line}\n")
    };
    line(
        "user",
        "u1",
        Value::Null,
        json!({"role": "user", "content": "hello there"}),
    ) + &line(
        "assistant",
        "u2",
        json!("u1"),
        json!({"role": "assistant", "id": "m1", "model": "claude-opus-4-6", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "hello"}],
                "usage": {"input_tokens": 3, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": prompt - 3, "output_tokens": 40}}),
    )
}

/// Runs a process with this on its standard input.
pub fn pass(command: &mut Command, input: &[u8]) -> Output {
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
