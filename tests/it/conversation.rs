//! Invented sessions, written as agents write them, and homes full of them.

use crate::support::manifest_folder;
use ctxgauge::tokens::Counter;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

static COUNTER: LazyLock<Counter> = LazyLock::new(Counter::new);

/// Between two lines of a log.
const PACE: SignedDuration = SignedDuration::from_secs(3);

/// Whose log it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Pi,
}

/// A session in the writing.
pub struct Conversation {
    writer: Agent,
    model: &'static str,
    folder: String,
    id: String,
    /// The session that this one is a sub-agent of.
    parent: Option<String>,
    at: Timestamp,
    lines: Vec<String>,
    /// What the next request sends, and how much of it was sent before, in tokens.
    context: u64,
    cached: u64,
    requests: u64,
    sent: u64,
}

impl Conversation {
    /// A session that begins at this time.
    pub fn begin(writer: Agent, model: &'static str, project: &str, at: Timestamp) -> Conversation {
        let mut talk = Conversation {
            writer,
            model,
            folder: format!("/home/ada/{project}"),
            id: format!("5e550000-0000-4000-8000-{:012}", at.as_second()),
            parent: None,
            at,
            lines: Vec::new(),
            context: 14_000,
            cached: 0,
            requests: 0,
            sent: 0,
        };
        let (id, folder, at) = (talk.id.clone(), talk.folder.clone(), talk.at.to_string());
        match writer {
            Agent::Claude => {}
            Agent::Codex => {
                talk.record(
                    "session_meta",
                    json!({"id": id, "timestamp": at, "cwd": folder, "originator": "codex_cli_rs",
                        "cli_version": "0.145.0", "source": "cli", "model_provider": "openai"}),
                );
            }
            Agent::Pi => {
                let first = json!({"type": "session", "version": 3, "id": id, "timestamp": at,
                    "cwd": folder});
                talk.lines.push(first.to_string());
            }
        }
        talk
    }

    /// A sub-agent of Claude Code's, on behalf of this session.
    pub fn agent(&self, model: &'static str, at: Timestamp) -> Conversation {
        Conversation {
            id: "agent-a1".to_owned(),
            folder: self.folder.clone(),
            parent: Some(self.id.clone()),
            ..Conversation::begin(Agent::Claude, model, "", at)
        }
    }

    /// A session that ended so long ago, in seconds, with all that it says.
    pub fn ended(ago: i64, talk: impl Fn(Timestamp) -> Conversation) -> Conversation {
        let end = Timestamp::now() - SignedDuration::from_secs(ago);
        let took = talk(end).at.duration_since(end);
        talk(end - took)
    }

    /// Nothing is written for some minutes.
    pub fn rest(&mut self, minutes: i64) -> &mut Conversation {
        self.at += SignedDuration::from_mins(minutes);
        self
    }

    /// A person says something.
    pub fn user(&mut self, text: &str) -> &mut Conversation {
        self.grow(text);
        match self.writer {
            Agent::Claude => self.message("user", json!({"role": "user", "content": text})),
            Agent::Codex => {
                let (folder, model) = (self.folder.clone(), self.model);
                self.record(
                    "event_msg",
                    json!({"type": "task_started", "turn_id": "t", "model_context_window": 258_400}),
                );
                self.record(
                    "turn_context",
                    json!({"turn_id": "t", "cwd": folder, "model": model, "effort": "medium",
                        "summary": "auto"}),
                );
                self.record(
                    "response_item",
                    json!({"type": "message", "role": "user",
                        "content": [{"type": "input_text", "text": text}]}),
                );
            }
            Agent::Pi => self.pi(json!({"role": "user",
                "content": [{"type": "text", "text": text}]})),
        }
        self
    }

    /// The model says something, which ends its turn.
    pub fn say(&mut self, text: &str) -> &mut Conversation {
        match self.writer {
            Agent::Claude => self.claude(json!({"type": "text", "text": text}), text),
            Agent::Codex => {
                self.record(
                    "response_item",
                    json!({"type": "message", "role": "assistant",
                        "content": [{"type": "output_text", "text": text}]}),
                );
                self.count(text);
            }
            Agent::Pi => self.pi_request(json!({"type": "text", "text": text}), text),
        }
        self
    }

    /// The model calls a tool, and the tool answers.
    pub fn call(&mut self, tool: &str, input: Value, result: &str) -> &mut Conversation {
        let call = format!("call_{}", self.requests);
        let said = input.to_string();
        match self.writer {
            Agent::Claude => {
                self.claude(
                    json!({"type": "tool_use", "id": call, "name": tool, "input": input}),
                    &said,
                );
                self.message(
                    "user",
                    json!({"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": call, "content": result}]}),
                );
            }
            Agent::Codex => {
                self.record(
                    "response_item",
                    json!({"type": "function_call", "name": tool, "arguments": said,
                        "call_id": call}),
                );
                self.count(&said);
                self.record(
                    "response_item",
                    json!({"type": "function_call_output", "call_id": call, "output": result}),
                );
            }
            Agent::Pi => {
                self.pi_request(
                    json!({"type": "toolCall", "id": call, "name": tool, "arguments": input}),
                    &said,
                );
                self.pi(
                    json!({"role": "toolResult", "toolCallId": call, "toolName": tool,
                    "content": [{"type": "text", "text": result}], "isError": false}),
                );
            }
        }
        self.grow(result);
        self
    }

    /// The model reads one file after the other until its context has so many tokens.
    pub fn look_around(&mut self, until: u64) -> &mut Conversation {
        let tool = match self.writer {
            Agent::Claude => "Read",
            Agent::Codex => "exec_command",
            Agent::Pi => "read",
        };
        while self.context < until {
            let (n, size) = (self.requests, 80 + self.requests * 97 % 350);
            let row = format!("    part_{n}.push(#, Cents(#));");
            let result = rows(usize::try_from(size).unwrap(), &row);
            self.call(
                tool,
                json!({"file_path": format!("src/part_{n}.rs")}),
                &result,
            );
        }
        self
    }

    /// Claude Code compacts, unasked: this summary takes the place of all.
    pub fn compact(&mut self, summary: &str) -> &mut Conversation {
        let before = self.context;
        self.line(
            json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null,
            "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": before}}),
        );
        (self.context, self.cached) = (14_000, 0);
        self.grow(summary);
        self.line(json!({"type": "user", "isCompactSummary": true,
            "message": {"role": "user", "content": summary}}));
        self
    }

    /// Writes the log where its agent would, last written to at this time.
    pub fn write(&self, home: &Path, modified: SystemTime) -> PathBuf {
        let (id, project) = (&self.id, self.folder.replace('/', "-"));
        let log = home.join(match self.writer {
            Agent::Claude => match &self.parent {
                None => format!(".claude/projects/{project}/{id}.jsonl"),
                Some(parent) => format!(".claude/projects/{project}/{parent}/subagents/{id}.jsonl"),
            },
            Agent::Codex => {
                format!(".codex/sessions/2026/05/04/rollout-2026-05-04T09-00-00-{id}.jsonl")
            }
            Agent::Pi => {
                format!(".pi/agent/sessions/{project}/2026-05-04T09-00-00-000Z_{id}.jsonl")
            }
        });
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        place(&log, text.as_bytes(), modified);
        log
    }

    /// A text enters the context: what it is to the model's own tokenizer, about.
    fn grow(&mut self, text: &str) {
        let counted = COUNTER.count(text);
        self.context += match self.writer {
            Agent::Codex => counted + 8,
            Agent::Claude | Agent::Pi => counted * 118 / 100 + 15,
        };
    }

    /// A request is sent. Returns its prompt, how much of it was cached, and its output.
    fn request(&mut self, output: &str) -> (u64, u64, u64) {
        let (prompt, cached) = (self.context, self.cached);
        self.grow(output);
        self.requests += 1;
        self.sent += prompt;
        self.cached = prompt;
        (prompt, cached, self.context - prompt)
    }

    fn claude(&mut self, block: Value, output: &str) {
        let (prompt, cached, output) = self.request(output);
        let (id, model) = (format!("msg_{}", self.requests), self.model);
        self.message(
            "assistant",
            json!({"role": "assistant", "type": "message", "id": id, "model": model,
                "content": [block], "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "cache_creation_input_tokens": prompt - cached - 3,
                    "cache_read_input_tokens": cached, "output_tokens": output}}),
        );
    }

    fn message(&mut self, kind: &str, message: Value) {
        self.line(json!({"type": kind, "message": message}));
    }

    /// A line of Claude Code's, whose parent is the line before where it names no other.
    fn line(&mut self, mut record: Value) {
        let (here, before) = (self.lines.len(), self.lines.len().checked_sub(1));
        let at = self.tick();
        let session = self.parent.as_ref().unwrap_or(&self.id);
        let of_all = json!({"uuid": format!("u{here}"), "timestamp": at, "cwd": self.folder,
            "sessionId": session, "version": "2.1.44", "isSidechain": self.parent.is_some(),
            "agentId": self.parent.as_ref().map(|_| "a1")});
        let record_fields = record.as_object_mut().unwrap();
        record_fields.extend(of_all.as_object().unwrap().clone());
        record_fields
            .entry("parentUuid")
            .or_insert_with(|| before.map(|before| format!("u{before}")).into());
        self.lines.push(record.to_string());
    }

    /// A line of Codex's.
    fn record(&mut self, kind: &str, payload: Value) {
        let record = json!({"timestamp": self.tick(), "type": kind, "payload": payload});
        self.lines.push(record.to_string());
    }

    fn count(&mut self, output: &str) {
        let (prompt, cached, output) = self.request(output);
        let usage = |input: u64| {
            json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
                "reasoning_output_tokens": 0, "total_tokens": input + output})
        };
        let (total, last) = (usage(self.sent), usage(prompt));
        self.record(
            "event_msg",
            json!({"type": "token_count", "rate_limits": null, "info": {
                "total_token_usage": total, "last_token_usage": last,
                "model_context_window": 258_400}}),
        );
    }

    fn pi_request(&mut self, block: Value, output: &str) {
        let (prompt, cached, output) = self.request(output);
        let model = self.model;
        self.pi(
            json!({"role": "assistant", "api": "anthropic-messages", "provider": "anthropic",
            "model": model, "stopReason": "stop", "content": [block],
            "usage": {"input": 3, "cacheWrite": prompt - cached - 3, "cacheRead": cached,
                "output": output, "totalTokens": prompt + output}}),
        );
    }

    fn pi(&mut self, message: Value) {
        let here = self.lines.len();
        let parent = (here > 1).then(|| format!("e{}", here - 1));
        let at = self.tick();
        let record = json!({"type": "message", "id": format!("e{here}"), "parentId": parent,
            "timestamp": at, "message": message});
        self.lines.push(record.to_string());
    }

    fn tick(&mut self) -> String {
        let now = self.at.to_string();
        self.at += PACE;
        now
    }
}

/// Writes a file, last written to at this time.
fn place(path: &Path, bytes: &[u8], modified: SystemTime) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_modified(modified))
        .unwrap();
}

/// So many rows, each `#` the row's number.
pub fn rows(count: usize, row: &str) -> String {
    let rows = (1..=count).map(|n| format!("{}\n", row.replace('#', &n.to_string())));
    rows.collect()
}

/// What the largest tool result in the ledger's context holds.
pub fn failing_tests() -> String {
    rows(900, "test import::case_# ... ok (0.04 s)") + "test result: FAILED. 899 passed; 1 failed\n"
}

/// A session of Claude Code with two compactions: the largest result of all is gone, the largest in the
/// context is [`failing_tests`], and a file was read twice.
pub fn ledger(began: Timestamp) -> Conversation {
    let path = |path: &str| json!({"file_path": path});
    let parse = rows(240, "    let entry_# = Entry::parse(line(#))?;");
    let mut talk = Conversation::begin(Agent::Claude, "claude-opus-4-5-20251101", "ledger", began);
    talk.user("The nightly import takes four hours. Find out why, and make it fast.")
        .rest(15)
        .call("Read", path("src/parse.rs"), &parse)
        .call(
            "Grep",
            json!({"pattern": "fn parse", "path": "src"}),
            &rows(60, "src/parse_#.rs:#:pub fn parse_#(line: &str) -> Entry {"),
        )
        .call(
            "Bash",
            json!({"command": "cargo bench -p import"}),
            &rows(1_500, "import/rows_#: 412 ns per row, 18 % of it in parse"),
        )
        .look_around(167_000)
        .compact("The import parses each row twice. Look at src/parse.rs first.")
        .user("Go on.")
        .call(
            "Read",
            path("src/rows.rs"),
            &rows(300, "pub struct Row#(u64);"),
        )
        .call(
            "Bash",
            json!({"command": "git log -p src/parse.rs"}),
            &rows(1_800, "+    rows.push(Row::from(field_#));"),
        )
        .say("The second pass is of no use.")
        .user("Who else calls it?")
        .look_around(167_000)
        .compact("The second pass in src/rows.rs can go: nobody else needs it. Tests first.")
        .user("Then take it out, and run the tests.")
        .call("Read", path("src/parse.rs"), &parse)
        .call(
            "Edit",
            json!({"file_path": "src/rows.rs", "old_string": "parse(parse(line))",
                "new_string": "parse(line)"}),
            "The file src/rows.rs has been updated.",
        )
        .look_around(50_000)
        .call(
            "Bash",
            json!({"command": "cargo test -p import"}),
            &failing_tests(),
        )
        .call(
            "Grep",
            json!({"pattern": "case_7", "path": "tests"}),
            &rows(90, "tests/case_#.rs:#:    assert_eq!(import(#), Ok(#));"),
        )
        .call("Read", path("src/parse.rs"), &parse)
        .look_around(85_000)
        .call(
            "Bash",
            json!({"command": "cargo test -p import case_7"}),
            "test import::case_7 ... FAILED\n",
        );
    talk
}

/// A home with sessions of four agents. Three are live, the one of the ledger the last of them.
pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let here = home.path();
    let minutes_ago = |n: i64| Timestamp::now() - SignedDuration::from_mins(n);
    // Clocks may differ by two minutes: what is dated ahead by less is live for as long as a test may take.
    const AHEAD: i64 = 110;
    let live = SystemTime::now() + Duration::from_secs(AHEAD.unsigned_abs());
    let hours_ago = |n: u64| SystemTime::now() - Duration::from_secs(n * 3600);

    Conversation::ended(-AHEAD, ledger).write(here, live);
    let gateway = |at| {
        let mut talk = Conversation::begin(Agent::Codex, "gpt-5.5", "gateway", at);
        talk.user("Why does the gateway drop connections?")
            .rest(5)
            .call(
                "exec_command",
                json!({"cmd": "rg -n timeout"}),
                &rows(400, "src/pool_#.rs: timeout after # ms"),
            )
            .look_around(232_000);
        talk
    };
    Conversation::ended(-AHEAD, gateway).write(here, live);
    let notes = |at| {
        let mut talk = Conversation::begin(Agent::Pi, "claude-sonnet-4-5", "notes", at);
        talk.user("Sort my notes.")
            .call("read", json!({"path": "notes.md"}), &rows(200, "- note #"))
            .look_around(40_000)
            .say("Sorted by date.");
        talk
    };
    Conversation::ended(-AHEAD, notes).write(here, live);
    Conversation::begin(
        Agent::Claude,
        "claude-opus-4-5-20251101",
        "ledger",
        minutes_ago(240),
    )
    .user("Add a column for the currency.")
    .look_around(60_000)
    .say("Added.")
    .write(here, hours_ago(3));
    let gemini = manifest_folder().join("tests/fixtures/gemini-cli/thoughts/log.jsonl");
    let log = here.join(".gemini/tmp/docs/chats/session-2026-05-02T10-00-5e55.jsonl");
    place(&log, &fs::read(gemini).unwrap(), hours_ago(5));
    home
}
