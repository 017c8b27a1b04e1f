//! One run of an agent, written down twice: as the log that Claude Code keeps of it, and as the requests
//! and responses that a proxy records, in the words of several providers. Both tell the same.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, json_report, manifest_folder};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;

const MODEL: &str = "claude-opus-4-6";
const PROMPT: &str = "You are a coding agent. Use the tools you have. Answer briefly.";
/// The system prompt and what no log shows of it, in tokens.
const PREFIX: u64 = 9_000;

/// What a request is asked with, and what comes back.
enum Step {
    /// The user says something.
    Say(String),
    /// The model calls the tool, which gives this back.
    Call { argument: String, result: String },
    /// The model says something.
    Answer(String),
    /// The history becomes this summary.
    Compact(String),
}

/// So many plain words, never the same.
fn words(seed: u64, count: u64) -> String {
    const WORDS: [&str; 16] = [
        "table", "river", "green", "seven", "under", "paper", "light", "music", "water", "garden",
        "window", "simple", "reader", "moment", "number", "street",
    ];
    let word = |n: u64| WORDS[(seed.wrapping_mul(31).wrapping_add(n * n + 7 * n) % 16) as usize];
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// A run of three turns with a compaction in the second.
fn run() -> Vec<Step> {
    let mut steps = Vec::new();
    for turn in 0..3 {
        steps.push(Step::Say(words(turn, 30)));
        for n in 1..6 {
            if (turn, n) == (1, 3) {
                steps.push(Step::Compact(format!(
                    "This session is being continued from a previous conversation. {}",
                    words(77, 150)
                )));
            }
            steps.push(Step::Call {
                argument: words(turn * 10 + n, 6),
                result: words(turn * 100 + n, 90 * n),
            });
        }
        steps.push(Step::Answer(words(turn + 50, 40)));
    }
    steps
}

/// What a text costs here: about as the tokenizer of the model counts.
fn cost(text: &str) -> u64 {
    text.split(' ').count() as u64 * 118 / 100 + 15
}

/// What an output is reported as: no more than its words and the call around them.
fn output(text: &str) -> u64 {
    text.split(' ').count() as u64 * 118 / 100 + 5
}

/// One message of the history, whatever the dialect.
#[derive(Clone)]
enum Message {
    User(String),
    Assistant(String),
    Call(usize, String),
    Result(usize, String),
}

/// A provider's way to write messages, and to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Anthropic,
    Chat,
    Responses,
}

impl Dialect {
    fn message(self, message: &Message, mark: Option<&Value>) -> Value {
        let call = |id: &usize| format!("call_{id:08}");
        match (self, message) {
            (Dialect::Anthropic, Message::User(text)) => {
                let mut block = json!({"type": "text", "text": text});
                if let Some(mark) = mark {
                    block["cache_control"] = mark.clone();
                }
                json!({"role": "user", "content": [block]})
            }
            (Dialect::Anthropic, Message::Call(id, argument)) => {
                json!({"role": "assistant", "content": [self.call(&call(id), argument)]})
            }
            (Dialect::Anthropic, Message::Result(id, text)) => {
                json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": call(id), "content": text},
                ]})
            }
            (Dialect::Responses, Message::Call(id, argument)) => self.call(&call(id), argument),
            (Dialect::Responses, Message::Result(id, text)) => {
                json!({"type": "function_call_output", "call_id": call(id), "output": text})
            }
            (Dialect::Chat, Message::Call(id, argument)) => {
                json!({"role": "assistant", "content": null, "tool_calls": [self.call(&call(id), argument)]})
            }
            (Dialect::Chat, Message::Result(id, text)) => {
                json!({"role": "tool", "tool_call_id": call(id), "content": text})
            }
            (_, Message::User(text)) => json!({"role": "user", "content": text}),
            (_, Message::Assistant(text)) => json!({"role": "assistant", "content": text}),
        }
    }

    fn call(self, id: &str, argument: &str) -> Value {
        let arguments = json!({"query": argument});
        match self {
            Dialect::Anthropic => {
                json!({"type": "tool_use", "id": id, "name": "Search", "input": arguments})
            }
            Dialect::Chat => {
                json!({"id": id, "type": "function", "function": {"name": "Search", "arguments": arguments.to_string()}})
            }
            Dialect::Responses => {
                json!({"type": "function_call", "call_id": id, "name": "Search", "arguments": arguments.to_string()})
            }
        }
    }

    fn request(self, history: &[Message]) -> Value {
        let mark = json!({"type": "ephemeral"});
        let last = history.len() - 1;
        let messages = history
            .iter()
            .enumerate()
            .map(|(n, message)| self.message(message, (n == last).then_some(&mark)));
        let mut messages: Vec<Value> = messages.collect();
        match self {
            Dialect::Anthropic => json!({"model": MODEL, "system": PROMPT, "messages": messages}),
            Dialect::Responses => {
                json!({"model": MODEL, "instructions": PROMPT, "input": messages})
            }
            Dialect::Chat => {
                messages.insert(0, json!({"role": "system", "content": PROMPT}));
                json!({"model": MODEL, "messages": messages})
            }
        }
    }

    fn response(self, n: usize, said: &Message, prompt: u64, output: u64) -> Value {
        let id = format!("response-{n:012}");
        let message = self.message(said, None);
        match self {
            Dialect::Anthropic => {
                let content = match message["content"].as_str() {
                    Some(text) => json!([{"type": "text", "text": text}]),
                    None => message["content"].clone(),
                };
                json!({"id": id, "type": "message", "role": "assistant", "model": MODEL,
                    "content": content, "stop_reason": "end_turn",
                    "usage": {"input_tokens": 3, "cache_creation_input_tokens": 97,
                        "cache_read_input_tokens": prompt - 100, "output_tokens": output}})
            }
            Dialect::Chat => {
                json!({"id": id, "object": "chat.completion", "model": MODEL,
                    "choices": [{"index": 0, "message": message}],
                    "usage": {"prompt_tokens": prompt, "completion_tokens": output}})
            }
            Dialect::Responses => {
                json!({"id": id, "object": "response", "model": MODEL, "output": [message],
                    "usage": {"input_tokens": prompt, "output_tokens": output,
                        "input_tokens_details": {"cached_tokens": 0}}})
            }
        }
    }
}

/// A run as it is written down, line by line.
#[derive(Default)]
struct Writing {
    history: Vec<Message>,
    /// What the history costs.
    size: u64,
    requests: usize,
    claude: Vec<Value>,
    proxy: Vec<Value>,
}

impl Writing {
    fn new(dialect: Dialect) -> Writing {
        let mut writing = Writing::default();
        for step in run() {
            writing.step(step, dialect);
        }
        writing
    }

    fn step(&mut self, step: Step, dialect: Dialect) {
        match step {
            Step::Say(text) => self.input(Message::User(text)),
            Step::Call { argument, result } => {
                let id = self.requests;
                self.exchange(Message::Call(id, argument), dialect);
                self.input(Message::Result(id, result));
            }
            Step::Answer(text) => self.exchange(Message::Assistant(text), dialect),
            Step::Compact(text) => {
                self.size = 0;
                self.history.clear();
                let before = self.claude.len();
                self.claude_line(json!({"type": "system", "subtype": "compact_boundary",
                    "content": "Conversation compacted", "logicalParentUuid": format!("u{before}"),
                    "parentUuid": null, "compactMetadata": {"trigger": "auto", "preTokens": 1}}));
                self.size += cost(&text);
                self.history.push(Message::User(text.clone()));
                self.claude_line(json!({"type": "user", "isCompactSummary": true,
                    "message": {"role": "user", "content": text}}));
            }
        }
    }

    fn input(&mut self, message: Message) {
        let content = match &message {
            Message::User(text) => json!(text),
            other => Dialect::Anthropic.message(other, None)["content"].clone(),
        };
        self.size += match &message {
            Message::User(text) | Message::Result(_, text) => cost(text),
            _ => 0,
        };
        self.history.push(message);
        self.claude_line(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn exchange(&mut self, said: Message, dialect: Dialect) {
        let prompt = PREFIX + self.size;
        let output = match &said {
            Message::Call(_, text) => output(text) + 30,
            Message::Assistant(text) => output(text),
            _ => 0,
        };
        let n = self.requests;
        self.proxy.push(json!({"timestamp": self.time(),
            "request": dialect.request(&self.history),
            "response": dialect.response(n, &said, prompt, output)}));
        let response = Dialect::Anthropic.response(n, &said, prompt, output);
        let request = format!("req_{n}");
        self.claude_line(json!({"type": "assistant", "requestId": request, "message": response}));
        self.history.push(said);
        self.size += output;
        self.requests += 1;
    }

    fn time(&self) -> String {
        format!(
            "2026-10-01T09:{:02}:{:02}Z",
            self.claude.len() / 60,
            self.claude.len() % 60
        )
    }

    fn claude_line(&mut self, mut line: Value) {
        let n = self.claude.len();
        if n > 0 && line.get("parentUuid").is_none() {
            line["parentUuid"] = format!("u{n}").into();
        }
        line["uuid"] = format!("u{}", n + 1).into();
        line["timestamp"] = self.time().into();
        line["sessionId"] = "5e55".into();
        line["version"] = "2.1.219".into();
        line["isSidechain"] = false.into();
        self.claude.push(line);
    }
}

fn report(lines: &[Value]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    json_report(&path)
}

/// Fields of a list's elements, in order.
fn fields(list: &Value, names: &[&str]) -> Vec<Vec<Value>> {
    let list = list.as_array().unwrap().iter();
    list.map(|element| names.iter().map(|name| element[*name].clone()).collect())
        .collect()
}

/// The tokens of each item that both logs show, with what it is: requests show what was sent.
fn items(report: &Value) -> Vec<(String, f64)> {
    let items = report["messages"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] != "prompt")
        .filter(|item| item["in_context"] == true || !item["entered"].is_null())
        .map(|item| {
            let what = format!(
                "{} {} {} {} {}",
                item["role"], item["kind"], item["tool"], item["in_context"], item["left"]
            );
            (what, item["tokens"].as_f64().unwrap())
        })
        .collect()
}

#[test]
fn a_run_told_by_its_requests_is_the_run_told_by_its_agent() {
    for dialect in [Dialect::Anthropic, Dialect::Chat, Dialect::Responses] {
        let run = Writing::new(dialect);
        let (agent, proxy) = (report(&run.claude), report(&run.proxy));
        assert_eq!(agent["session"]["agent"], "claude-code");
        assert_eq!(proxy["session"]["agent"], "request-log");
        assert_eq!(proxy["session"]["unreadable"], 0);
        let calls = |report: &Value| fields(&report["calls"], &["input", "output", "context"]);
        assert_eq!(calls(&agent), calls(&proxy), "{dialect:?}");
        // Claude Code takes the model for one of 200,000 tokens, its provider for one of a million.
        let windows = [&agent, &proxy].map(|report| report["context"]["window"].as_u64());
        assert_eq!(windows, [200_000, 1_000_000].map(Some));
        for number in ["used", "known", "estimated"] {
            assert_eq!(
                agent["context"][number], proxy["context"][number],
                "{dialect:?}"
            );
        }
        let past = |report: &Value| fields(&report["compaction"]["past"], &["cause", "after"]);
        assert_eq!(past(&agent), past(&proxy), "{dialect:?}");
        assert_eq!(past(&proxy).len(), 1);
        // Items cost the same within the error of what is estimated; the same stand for the same.
        let (ours, theirs) = (items(&agent), items(&proxy));
        let what = |items: &[(String, f64)]| {
            items
                .iter()
                .map(|(what, _)| what.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(what(&ours), what(&theirs), "{dialect:?}");
        for ((what, ours), (_, theirs)) in ours.iter().zip(&theirs) {
            assert!(
                (ours - theirs).abs() <= 5.0 + 0.05 * ours,
                "{dialect:?}, {what}: {ours} by the agent, {theirs} by requests"
            );
        }
        let system = |report: &Value| {
            let of = |role: &str| report["roles"][role]["tokens"].as_f64().unwrap();
            of("system") + of("container")
        };
        let (ours, theirs) = (system(&agent), system(&proxy));
        assert!(
            (ours - theirs).abs() <= 0.05 * ours,
            "{dialect:?}: {ours}, {theirs}"
        );
    }
}

#[test]
fn the_gauge_follows_requests_as_they_are_recorded() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".local/share/ctxgauge/requests");
    fs::create_dir_all(&folder).unwrap();
    let fixture = "tests/fixtures/request-log/compaction-keeps-a-tail/log.jsonl";
    let text = fs::read_to_string(manifest_folder().join(fixture)).unwrap();
    let mut lines = text.split_inclusive('\n');
    let log = folder.join("proxy.jsonl");
    fs::write(&log, lines.next().unwrap()).unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("642");
    for line in lines {
        let (head, tail) = line.split_at(line.len() / 2);
        for part in [head, tail] {
            let mut file = OpenOptions::new().append(true).open(&log).unwrap();
            file.write_all(part.as_bytes()).unwrap();
        }
    }
    monitor.wait_for("the size after the compaction", |screen| {
        screen.contains("304") && !screen.contains("642")
    });
}

#[test]
fn each_session_of_a_file_can_be_reported_on() {
    let home = tempfile::tempdir().unwrap();
    let log = manifest_folder().join("tests/fixtures/otel-genai/each_turn_a_trace/log.jsonl");
    let report = |more: &[&str]| {
        let mut command = ctxgauge(home.path());
        command.arg("report").arg(&log).args(more);
        let output = command.output();
        let told = String::from_utf8(output.stdout).unwrap();
        (told, String::from_utf8(output.stderr).unwrap())
    };
    let (first, _) = report(&[]);
    assert!(first.contains("129 known"), "{first}");
    assert!(first.contains("the file holds 3 more"), "{first}");
    let (on_duty, _) = report(&["--session", "who is on DUTY"]);
    assert!(on_duty.contains("78 known"), "{on_duty}");
    let id = "7b1f0000000000000000000000000003";
    assert!(report(&["--session", id]).0.contains("72 known"));
    let (_, error) = report(&["--session", "a question"]);
    assert!(error.contains("2 sessions of the file match"), "{error}");
    let (_, error) = report(&["--session", "nobody"]);
    assert!(error.contains("no session 'nobody'"), "{error}");
}

/// A list reads the end of a long log, where the conversation that began in one trace is in another.
#[test]
fn a_session_is_found_by_the_id_that_the_list_has_of_it() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("spans.jsonl");
    let call = |trace: &str, input: &[&str], output: &str, prompt: u64| {
        let message = |(n, text): (usize, &&str)| {
            let role = ["user", "assistant"][n % 2];
            json!({"role": role, "parts": [{"type": "text", "content": text}]})
        };
        let input: Vec<Value> = input.iter().enumerate().map(message).collect();
        let output = [message((1, &output))];
        span(
            trace,
            prompt,
            &json!({
                "gen_ai.operation.name": "chat",
                "gen_ai.usage.input_tokens": prompt,
                "gen_ai.usage.output_tokens": 9,
                "gen_ai.input.messages": json!(input).to_string(),
                "gen_ai.output.messages": json!(output).to_string(),
            }),
        )
    };
    let other = json!({"gen_ai.operation.name": "execute_tool", "output": "x".repeat(1 << 20)});
    let mut lines = vec![call(
        "t1",
        &["Is there rope?"],
        "Yes, forty coils of it.",
        50,
    )];
    lines.extend((0..18).map(|n| span("t1", 1_000 + n, &other)));
    let talk = ["Is there rope?", "Yes, forty coils of it.", "And nets?"];
    lines.push(call("t2", &talk, "Seven of them.", 77));
    fs::write(&log, lines.concat()).unwrap();
    let json = |args: &[&str]| -> Value {
        let output = ctxgauge(home.path()).args(args).arg("--json").output();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let path = log.to_str().unwrap();
    let list = json(&["ls", path]);
    let listed = list["sessions"][0]["id"].as_str().unwrap();
    for id in ["t1", listed] {
        let report = json(&["report", path, "--session", id]);
        assert_eq!(report["session"]["id"], "t1");
        assert_eq!(report["context"]["known"], 77 + 9);
    }
    assert_eq!(listed, "t2");
}

/// A span as Python's exporters write it. Its number is its id and its time.
fn span(trace: &str, number: u64, attributes: &Value) -> String {
    let time = format!("2026-11-03T09:{:02}:{:02}Z", number / 60 % 60, number % 60);
    let span = json!({
        "name": "span", "context": {"trace_id": trace, "span_id": number.to_string()},
        "start_time": time, "end_time": time, "attributes": attributes,
    });
    format!("{span}\n")
}
