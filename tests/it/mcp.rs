//! `ctxgauge mcp`: the program as a server, and the server in this process.

use crate::fuzzed::targets::sessions::RULES;
use crate::support::{ctxgauge, is_beside_a_log, json_report, manifest_folder, process};
use ctxgauge::agents;
use ctxgauge::files::paths::{Folders, User};
use ctxgauge::files::waiting;
use ctxgauge::mcp::{self, Texts};
use ctxgauge::report::output::redact::Redaction;
use ctxgauge::report::reading::patience::Patience;
use ctxgauge::report::reading::progress::Progress;
use ctxgauge::report::{CacheUse, ReportContext};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The calls that need no argument but `ids`.
const TOOLS: [&str; 5] = [
    "context_now",
    "largest_items",
    "what_if_without",
    "compaction_forecast",
    "why",
];

fn initialize(version: &str, client: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": client, "version": "1"},
    }})
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}})
}

fn arguments_of(tool: &str) -> Value {
    match tool {
        "what_if_without" => json!({"ids": [0]}),
        "largest_items" => json!({"n": 50}),
        "item_text" => json!({"id": 0}),
        _ => json!({}),
    }
}

/// The server as a process, and the client's ends of its pipes.
pub(crate) struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    pub(crate) fn start(command: &mut Command, name: &str) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client {
            child,
            requests,
            answers,
            last: 0,
        };
        client.send(&initialize("2025-11-25", name).to_string());
        assert_eq!(client.next()["result"]["protocolVersion"], "2025-11-25");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.requests.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        self.last += 1;
        let mut request = call(self.last, tool, arguments);
        request["params"]["_meta"] = meta;
        self.send(&request.to_string());
        let answer = self.next();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(tool, arguments, json!({}))
    }

    /// The structured answer of a tool.
    pub(crate) fn ask(&mut self, tool: &str) -> Value {
        let answer = self.call(tool, arguments_of(tool));
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        result["structuredContent"].clone()
    }

    /// What the model reads of a call that fails.
    fn complaint(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = &answer["result"]["content"][0]["text"];
        text.as_str().unwrap().to_owned()
    }

    /// Ends the input, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        self.requests = None;
        self.child.wait().unwrap().code()
    }
}

/// Whether a value is as a schema says, of the words that the server uses.
fn check(schema: &Value, value: &Value, place: &str) {
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("{other}: no type that this test has heard of"),
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    assert!(
        kinds.iter().any(|kind| is_of(kind.as_str().unwrap())),
        "{place}: {value}"
    );
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(
            value.get(name.as_str().unwrap()).is_some(),
            "{place} lacks {name}"
        );
    }
    for (name, part) in value.as_object().into_iter().flatten() {
        let named = schema["properties"].get(name);
        if let Some(schema) = named.or(schema.get("additionalProperties")) {
            check(schema, part, &format!("{place}.{name}"));
        }
    }
    for part in value.as_array().into_iter().flatten() {
        if let Some(schema) = schema.get("items") {
            check(schema, part, place);
        }
    }
}

const FIXTURE: &str = "tests/fixtures/claude-code/compact_keeps_preserved_messages/log.jsonl";
const ID: &str = "5e550000-0000-4000-8000-000000000001";

/// A home with one session of Claude Code, and its log.
fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{ID}.jsonl"));
    fs::copy(manifest_folder().join(FIXTURE), &log).unwrap();
    (home, log)
}

pub(crate) fn server(home: &Path, arguments: &[&str]) -> Command {
    let mut command = process(home);
    command.arg("mcp").args(arguments).current_dir(home);
    command
}

#[test]
fn each_revision_of_the_protocol_is_spoken_and_answers_are_as_their_schemas_say() {
    let (home, _log) = home();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let is_newest = version == "2026-07-28";
        let mut requests = if is_newest {
            vec![json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {}})]
        } else {
            vec![
                initialize(version, "test"),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            ]
        };
        requests.push(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
        let tools = TOOLS.into_iter().chain(["item_text"]);
        requests.extend(
            (2..)
                .zip(tools)
                .map(|(id, tool)| call(id, tool, arguments_of(tool))),
        );
        let mut input = String::new();
        for mut request in requests {
            if is_newest {
                request["params"]["_meta"] = meta.clone();
            }
            input += &format!("{request}\n");
        }
        let mut served = ctxgauge(home.path());
        served.args(["mcp", "--texts", "--session", ID]);
        let output = served.input(input).output();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let result = |id: u64| {
            let answer = answers.iter().find(|answer| answer["id"] == id);
            answer.expect("an answer")["result"].clone()
        };
        if is_newest {
            let versions = &result(0)["supportedVersions"];
            assert!(
                versions.as_array().unwrap().contains(&json!(version)),
                "{versions}"
            );
        } else {
            assert_eq!(result(0)["protocolVersion"], version);
        }
        let tools = result(1)["tools"].as_array().unwrap().clone();
        assert_eq!(tools.len(), TOOLS.len() + 1);
        for (id, tool) in (2..).zip(&tools) {
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            let answer = result(id);
            let structured = &answer["structuredContent"];
            check(
                &tool["outputSchema"],
                structured,
                tool["name"].as_str().unwrap(),
            );
            let text = answer["content"][0]["text"].as_str().unwrap();
            assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), structured);
        }
    }
}

/// The setup of a server in this process for a session of a log.
fn setup_for(log: &Path, session: &str) -> mcp::Setup {
    let context = ReportContext {
        formats: agents::ALL.to_vec(),
        forced: None,
        roots: Vec::new(),
        rules: Arc::clone(&RULES),
        user: User {
            folders: Folders::default(),
            ..User::default()
        },
        cache: None,
        cache_use: CacheUse::Kept,
        poll: false,
        now: jiff::Timestamp::now,
        zone: jiff::tz::TimeZone::UTC,
        patience: Patience::default(),
        progress: Progress::default(),
        redaction: Redaction::Off,
        only: None,
    };
    let roots = vec![context.given(log.to_owned())];
    mcp::Setup {
        context: ReportContext { roots, ..context },
        session: Some(session.to_owned()),
        here: Vec::new(),
        parents: Vec::new(),
        texts: Texts::On,
        longest: Duration::from_secs(600),
    }
}

/// Asks a server in this process for a session of a log.
fn asked(log: &Path, session: &str, tools: &[(&str, Value)]) -> Vec<Value> {
    let calls = (1..)
        .zip(tools)
        .map(|(id, (tool, arguments))| call(id, tool, arguments.clone()));
    let lines = [initialize("2025-11-25", "test")].into_iter().chain(calls);
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    let mut out = Vec::new();
    mcp::serve(
        setup_for(log, session),
        std::io::Cursor::new(lines),
        &mut out,
    )
    .unwrap();
    let out = String::from_utf8(out).unwrap();
    let mut answers: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
        .drain(1..)
        .map(|answer| answer["result"].clone())
        .collect()
}

#[test]
fn a_call_ends_though_the_logs_are_not_read() {
    static IS_STALLED: AtomicBool = AtomicBool::new(true);
    let log =
        manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl");
    let mut setup = setup_for(&log, "5e55");
    setup.longest = Duration::from_millis(100);
    setup.context.now = || {
        while IS_STALLED.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        jiff::Timestamp::now()
    };
    let (input, mut requests) = std::io::pipe().unwrap();
    let (answers, mut out) = std::io::pipe().unwrap();
    let serving = std::thread::spawn(move || mcp::serve(setup, input, &mut out));
    let mut answers = BufReader::new(answers).lines();
    let mut ask = move |request: Value| -> Value {
        writeln!(requests, "{request}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    let asking = std::thread::spawn(move || {
        ask(initialize("2025-11-25", "test"));
        for _ in 0..2 {
            let late = ask(call(1, "context_now", json!({})));
            let why = late["result"]["content"][0]["text"].as_str().unwrap();
            assert!(why.contains("within 0.1 s"), "{late}");
        }
        let tools = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        assert!(ask(tools)["result"]["tools"].is_array());
        IS_STALLED.store(false, Ordering::SeqCst);
        waiting::wait_for("an answer", || {
            let answer = ask(call(3, "context_now", json!({})));
            let is_answered = answer["result"]["isError"] == false;
            is_answered.then_some(()).ok_or(answer)
        });
    });
    waiting::wait_for("answers", || {
        let has_ended = asking.is_finished().then_some(());
        has_ended.ok_or("it waits")
    });
    asking.join().unwrap();
    serving.join().unwrap().unwrap();
}

fn is_log(path: &Path) -> bool {
    path.ends_with("log.jsonl") || path.ends_with("log.json")
}

/// Every log of the fixtures that is a file of text.
fn logs(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            logs(&path, into);
        } else if is_log(&path) && !is_beside_a_log(&path) {
            into.push(path);
        }
    }
}

#[test]
fn the_numbers_are_those_of_the_report() {
    let mut all = Vec::new();
    logs(&manifest_folder().join("tests/fixtures"), &mut all);
    all.sort();
    let mut compared = 0;
    for log in all {
        let report = json_report(&log);
        let Some(id) = report["session"]["id"].as_str() else {
            continue;
        };
        let tools = [
            ("context_now", json!({})),
            ("largest_items", json!({"n": 50})),
            ("what_if_without", json!({"ids": []})),
            ("compaction_forecast", json!({})),
        ];
        let answers = asked(&log, id, &tools);
        let [now, largest, without, forecast] = &answers[..] else {
            panic!("{answers:?}");
        };
        let place = log.display();
        let of = |result: &Value| result["structuredContent"].clone();
        let now = of(now);
        if now["session"]["id"] != id {
            // The file holds several, and an id is a part of another's.
            continue;
        }
        compared += 1;
        assert_eq!(now["context"], report["context"], "{place}");
        assert_eq!(now["roles"], report["roles"], "{place}");
        let mut next = of(forecast)["next"].clone();
        let no_forecast = next.as_object_mut().unwrap().remove("no_forecast");
        assert_eq!(
            no_forecast.is_none(),
            !next["requests_left"].is_null(),
            "{place}"
        );
        for (key, value) in next.as_object().unwrap() {
            assert_eq!(value, &report["compaction"][key], "{place}: {key}");
            if let Some(now) = now["compaction"].get(key) {
                assert_eq!(value, now, "{place}: {key}");
            }
        }
        let past = report["compaction"]["past"].as_array().unwrap();
        let named = of(forecast)["past"].as_array().unwrap().clone();
        for (named, past) in named.iter().rev().zip(past.iter().rev()) {
            for (key, value) in named.as_object().unwrap() {
                assert_eq!(value, &past[key], "{place}: {key}");
            }
        }
        let own = report["what_if"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["whose"] == "own");
        let (own, without) = (own.unwrap(), of(without));
        assert_eq!(without["now"]["prompts_so_far"], own["prompts"], "{place}");
        assert_eq!(without["now"]["largest_so_far"], own["largest"], "{place}");
        assert_eq!(
            without["now"]["requests_left"],
            report["compaction"]["requests_left"]
        );
        assert_eq!(without["now"]["used"], report["context"]["used"], "{place}");
        assert_eq!(
            without["without"]["used"], report["context"]["used"],
            "{place}"
        );
        for item in of(largest)["items"].as_array().unwrap() {
            let message = &report["messages"][item["id"].as_u64().unwrap() as usize];
            for key in ["id", "line", "role", "kind", "tokens", "source", "carried"] {
                assert_eq!(item[key], message[key], "{place}: {key}");
            }
            assert_eq!(message["in_context"], true, "{place}");
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn answers_contain_no_text_and_texts_and_names_are_inert() {
    let fixture = "tests/fixtures/claude-code/hostile_text_is_inert/log.jsonl";
    let log = manifest_folder().join(fixture);
    let report = json_report(&log);
    let id = report["session"]["id"].as_str().unwrap();
    let tools = TOOLS.map(|tool| (tool, arguments_of(tool)));
    let answers = asked(&log, id, &tools);
    assert_eq!(answers.len(), TOOLS.len());
    let messages = report["messages"].as_array().unwrap();
    let previews = messages
        .iter()
        .filter_map(|message| message["preview"].as_str());
    let previews: Vec<&str> = previews.filter(|preview| preview.len() > 12).collect();
    assert!(!previews.is_empty());
    let is_hostile =
        |c: char| c != '\n' && c != '\t' && ctxgauge::model::event::is_unsafe_to_show(c);
    for answer in &answers {
        let text = strings(answer);
        assert!(!text.contains(is_hostile), "{text:?}");
        let told = previews.iter().find(|preview| text.contains(**preview));
        assert_eq!(told, None, "{text}");
    }
    let items = (0..messages.len()).map(|id| ("item_text", json!({"id": id})));
    let texts = asked(&log, id, &items.collect::<Vec<_>>());
    assert!(
        texts.iter().any(|text| strings(text).contains('␛')),
        "{texts:?}"
    );
    for text in &texts {
        assert!(!strings(text).contains(is_hostile), "{text}");
    }
}

#[test]
fn findings_are_of_the_session_or_of_all_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    let fixture = "tests/fixtures/claude-code/rebuilt_cache_has_a_cause/log.jsonl";
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(manifest_folder().join(fixture), folder.join("4eb1.jsonl")).unwrap();
    let files = || fs::read_dir(home.path()).unwrap().count();
    let before = files();
    let asked = |options: &[&str], arguments: Value| {
        let mut client = Client::start(&mut server(home.path(), options), "claude-code");
        let answer = client.call("why", arguments);
        assert_eq!(client.end(), Some(0));
        answer["result"]["structuredContent"].clone()
    };
    let of_one = asked(&["--session", "4eb1"], json!({}));
    let of_all = asked(&[], json!({"all": true}));
    let causes = |answer: &Value| {
        let findings = answer["findings"].as_array().unwrap().iter();
        let rebuilds = findings.filter(|finding| finding["kind"] == "rebuild");
        rebuilds
            .map(|finding| (finding["about"].clone(), finding["tokens"].clone()))
            .collect::<Vec<_>>()
    };
    assert!(causes(&of_one).len() > 1, "{of_one}");
    assert_eq!(causes(&of_one), causes(&of_all));
    assert_eq!(of_one["session"]["id"], "4eb1");
    assert_eq!(of_all["sessions"], 1);
    let of = &of_all["findings"][0]["session"];
    assert_eq!(of, &json!({"id": "4eb1"}));
    let none = asked(&[], json!({"project": "nobody"}));
    assert_eq!(none["findings"], json!([]));
    let texts = asked(&["--texts"], json!({"days": 100_000}));
    assert_eq!(texts["findings"][0]["session"]["name"], "shop");
    assert_eq!(files(), before);
}

/// All strings of a value, those in JSON in a string too.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) if inner.is_object() => strings(&inner),
            _ => format!("{text}\n"),
        },
        Value::Array(values) => values.iter().map(strings).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}\n{}", strings(value)))
            .collect(),
        _ => String::new(),
    }
}

#[test]
fn a_text_is_given_out_in_parts() {
    let log = manifest_folder().join(FIXTURE);
    let report = json_report(&log);
    let id = report["session"]["id"].as_str().unwrap();
    let item = report["messages"]
        .as_array()
        .unwrap()
        .iter()
        .position(|m| m["role"] == "user")
        .unwrap();
    let part = |from: u64, bytes: u64| {
        let arguments = json!({"id": item, "from": from, "bytes": bytes});
        let answers = asked(&log, id, &[("item_text", arguments)]);
        answers[0]["structuredContent"].clone()
    };
    let whole = part(0, 20_000);
    assert_eq!(whole["next"], Value::Null);
    let text = whole["text"].as_str().unwrap();
    let (mut joined, mut from) = (String::new(), Some(0));
    while let Some(at) = from {
        let next = part(at, 7);
        joined += next["text"].as_str().unwrap();
        from = next["next"].as_u64();
    }
    assert_eq!(joined, text);
    let beyond = part(1 << 50, 7);
    assert_eq!(
        (&beyond["text"], &beyond["next"]),
        (&json!(""), &Value::Null)
    );
}

#[test]
fn bad_requests_are_answered_and_do_not_end_the_server() {
    let (home, _log) = home();
    let mut client = Client::start(&mut server(home.path(), &["--session", ID]), "test");
    let unknown = client.call("nothing", json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let unknown = client.call("item_text", json!({"id": 0}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (tool, arguments, expected) in [
        ("context_now", json!({"all": 1}), "unknown field `all`"),
        ("largest_items", json!({"n": "ten"}), "invalid type"),
        ("largest_items", json!({"n": -1}), "invalid value"),
        (
            "largest_items",
            json!({"role": "boss"}),
            "the role is none of",
        ),
        ("what_if_without", json!({}), "missing field `ids`"),
        (
            "what_if_without",
            json!({"ids": [0, 1_000_000, u64::MAX]}),
            "no item has the id 1000000, 1844",
        ),
    ] {
        let complaint = client.complaint(tool, arguments);
        assert!(complaint.contains(expected), "{tool}: {complaint}");
    }
    let items = client.call("largest_items", json!({"n": u64::MAX}));
    assert_eq!(items["result"]["isError"], false, "{items}");
    // Lines that are no requests.
    let request = call(7, "context_now", json!({})).to_string();
    for end in 0..request.len() {
        client.send(&request[..end]);
    }
    for line in [
        "",
        "null",
        "[1]",
        "\u{1b}[31m",
        "{\"jsonrpc\":\"2.0\"}",
        "[[[[[[[[[[[[",
    ] {
        client.send(line);
    }
    client.send(&format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{{"a":"{}"}}}}"#,
        "x".repeat(1 << 20)
    ));
    client.send(r#"{"jsonrpc":"1.0","id":10,"method":"tools/list"}"#);
    assert_eq!(client.next()["error"]["code"], -32600);
    client.send(r#"{"jsonrpc":"2.0","id":11,"method":"of/nobody"}"#);
    assert_eq!(client.next()["error"]["code"], -32601);
    client.send(r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"arguments":{}}}"#);
    assert_eq!(client.next()["error"]["code"], -32602);
    assert!(client.ask("context_now")["context"]["used"].as_u64() > Some(0));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_client_of_another_version_is_answered_and_can_begin_anew() {
    let (home, _log) = home();
    let discover = |version: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
    };
    let requests = [
        discover(json!("2099-01-01")),
        discover(json!(7)),
        json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        initialize("1999-01-01", "test"),
    ];
    let requests: String = requests.iter().map(|it| format!("{it}\n")).collect();
    let mut child = server(home.path(), &["--session", ID])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(requests.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let answers: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    let [future, number, pong, past] = &answers[..] else {
        panic!("{answers:?}");
    };
    let versions = future["error"]["data"]["supported"].to_string();
    assert!(versions.contains("2026-07-28"), "{future}");
    assert_eq!(number["error"]["code"], -32602, "{number}");
    assert_eq!(pong["result"], json!({}), "{pong}");
    assert_eq!(past["result"]["protocolVersion"], "2025-11-25", "{past}");
}

#[test]
fn without_requests_the_server_ends() {
    let (home, _log) = home();
    for input in [
        "",
        "\n\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        "{",
    ] {
        let mut child = server(home.path(), &[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), output.stdout),
            (Some(0), Vec::new()),
            "{input:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_log_and_no_id_is_no_session() {
    let (home, log) = home();
    fs::remove_file(&log).unwrap();
    fs::write(
        home.path().join("elsewhere.jsonl"),
        fs::read(manifest_folder().join(FIXTURE)).unwrap(),
    )
    .unwrap();
    nix::unistd::mkfifo(&log, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for name in ["../../../elsewhere", "\u{1b}[2J"] {
        let output = server(home.path(), &["--session", name]).output().unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{name:?}");
        assert!(complaint.contains("has no session"), "{complaint}");
        assert!(!complaint.contains('\u{1b}'), "{complaint:?}");
    }
    // A whole id may be that of a session whose log the agent has yet to write.
    for arguments in [&["--session", ID][..], &[]] {
        let mut client = Client::start(&mut server(home.path(), arguments), "test");
        let complaint = client.complaint("context_now", json!({}));
        assert!(
            complaint.contains("no session") || complaint.contains("no log"),
            "{complaint}"
        );
        assert!(!complaint.contains('\u{1b}'), "{complaint:?}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn what_comes_while_it_serves_is_read_and_a_log_may_be_replaced_or_removed() {
    let (home, log) = home();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut client = Client::start(&mut server(home.path(), &["--session", ID]), "test");
    let used = |client: &mut Client| client.ask("context_now")["context"].clone();
    for count in [lines.len() / 3, lines.len() / 2, lines.len(), 4] {
        fs::write(&log, lines[..count].concat()).unwrap();
        assert_eq!(
            used(&mut client),
            json_report(&log)["context"],
            "{count} lines"
        );
    }
    let mut appended = fs::OpenOptions::new().append(true).open(&log).unwrap();
    for line in &lines[4..] {
        appended.write_all(line.as_bytes()).unwrap();
        assert_eq!(used(&mut client), json_report(&log)["context"], "{line}");
    }
    // Another file in its place.
    let other = log.with_extension("new");
    fs::write(&other, lines[..6].concat()).unwrap();
    fs::rename(&other, &log).unwrap();
    assert_eq!(used(&mut client), json_report(&log)["context"]);
    fs::remove_file(&log).unwrap();
    let complaint = client.complaint("context_now", json!({}));
    assert!(complaint.contains("no session"), "{complaint}");
    fs::write(&log, &text).unwrap();
    assert_eq!(used(&mut client), json_report(&log)["context"]);
    assert_eq!(client.end(), Some(0));
}

/// A log of Claude Code beside another one, with another id; `written` seconds after 2026-11-01.
fn beside(log: &Path, name: &str, written: u64) -> PathBuf {
    let path = log.with_file_name(format!("{name}.jsonl"));
    let text = fs::read_to_string(manifest_folder().join(FIXTURE)).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    set_time(&path, written);
    path
}

pub(crate) fn set_time(path: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_793_491_200 + seconds);
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn the_session_is_the_one_that_its_client_names() {
    let (home, log) = home();
    set_time(&log, 100);
    let other = "5e550000-0000-4000-8000-000000000002";
    let path = beside(&log, other, 200);
    let claude = |command: &mut Command| {
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", ID);
        Client::start(command, "claude-code")
    };
    let session = |client: &mut Client| client.ask("context_now")["session"].clone();
    let mut client = claude(&mut server(home.path(), &[]));
    let found = session(&mut client);
    assert_eq!(
        (&found["id"], &found["found_by"]),
        (&json!(ID), &json!("CLAUDE_CODE_SESSION_ID"))
    );
    let note = found["note"].as_str().unwrap();
    assert!(note.contains(other) && note.contains("/clear"), "{note}");
    // The other one is older.
    set_time(&path, 50);
    assert_eq!(session(&mut client)["note"], Value::Null);
    // The registry of running sessions has another one for the process that started the server.
    let registry = home.path().join(".claude/sessions");
    fs::create_dir_all(&registry).unwrap();
    let entry = registry.join(format!("{}.json", std::process::id()));
    fs::write(&entry, json!({"sessionId": other}).to_string()).unwrap();
    let found = session(&mut client);
    assert_eq!(found["id"], other);
    assert!(
        found["found_by"].as_str().unwrap().contains("registry"),
        "{found}"
    );
    // The variable has a session that was never begun.
    let mut command = server(home.path(), &[]);
    command.env("CLAUDECODE", "1");
    command.env(
        "CLAUDE_CODE_SESSION_ID",
        "5e550000-0000-4000-8000-00000000000f",
    );
    let found = session(&mut Client::start(&mut command, "claude-code"));
    assert_eq!(found["id"], other, "{found}");
    fs::remove_file(&entry).unwrap();
    // The variables do not count without the other one, or for another client.
    for (variable, name) in [("0", "claude-code"), ("1", "gemini-cli-mcp-client")] {
        let mut command = server(home.path(), &[]);
        command
            .env("CLAUDECODE", variable)
            .env("CLAUDE_CODE_SESSION_ID", ID);
        let mut client = Client::start(&mut command, name);
        let complaint = client.complaint("context_now", json!({}));
        assert!(complaint.contains("working directory"), "{complaint}");
    }
}

/// A log of an agent in a home: the newer, the later its number.
type WriteLog = fn(home: &Path, id: &str) -> PathBuf;

fn qwen_code(home: &Path, id: &str) -> PathBuf {
    let record = json!({"uuid": "u1", "parentUuid": null, "sessionId": id, "timestamp": "2026-11-01T10:00:00.000Z",
        "type": "user", "cwd": "/shop", "version": "0.24.4", "message": {"role": "user", "parts": [{"text": "hi"}]}});
    let path = home.join(format!(".qwen/projects/-shop/chats/{id}.jsonl"));
    write_record(&path, &record);
    path
}

fn copilot(home: &Path, id: &str) -> PathBuf {
    let record = json!({"type": "session.start", "id": "e1", "parentId": null, "timestamp": "2026-11-01T10:00:00.000Z",
        "data": {"sessionId": id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102",
            "startTime": "2026-11-01T10:00:00.000Z", "context": {"cwd": "/shop"}}});
    let path = home.join(format!(".copilot/session-state/{id}/events.jsonl"));
    write_record(&path, &record);
    path
}

fn write_record(path: &Path, record: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{record}\n")).unwrap();
}

/// Of two in one folder, each client gets its own.
#[test]
fn other_agents_name_their_session_by_a_variable() {
    let agents: [(&str, &str, WriteLog); 2] = [
        (
            "QWEN_CODE_SESSION_ID",
            "qwen-cli-mcp-client-ctxgauge",
            qwen_code,
        ),
        ("COPILOT_AGENT_SESSION_ID", "copilot-cli", copilot),
    ];
    for (variable, name, write) in agents {
        let home = tempfile::tempdir().unwrap();
        let ids = [1, 2].map(|n| format!("5e551001-0000-4000-8000-00000000000{n}"));
        for (n, id) in (1..).zip(&ids) {
            set_time(&write(home.path(), id), n);
        }
        for id in &ids {
            let mut command = server(home.path(), &[]);
            command.env(variable, id);
            let mut client = Client::start(&mut command, name);
            let found = client.ask("context_now")["session"].clone();
            assert_eq!(
                (&found["id"], &found["found_by"]),
                (&json!(id), &json!(variable))
            );
            // The other one may have taken its place by /clear.
            let is_newest = *id == ids[1];
            assert_eq!(found["note"].is_null(), is_newest, "{found}");
        }
        let mut command = server(home.path(), &[]);
        command.env(variable, &ids[0]);
        let mut client = Client::start(&mut command, "codex-mcp-client");
        let complaint = client.complaint("context_now", json!({}));
        assert!(complaint.contains("no log of codex"), "{complaint}");
    }
}

#[test]
fn the_session_is_the_one_whose_log_has_the_call() {
    let (home, log) = home();
    set_time(&log, 100);
    let child = log.with_extension("").join("subagents/agent-a1.jsonl");
    fs::create_dir_all(child.parent().unwrap()).unwrap();
    let record = |kind: &str, uuid: &str, message: Value| {
        let record = json!({"type": kind, "uuid": uuid, "parentUuid": null, "isSidechain": true, "agentId": "a1",
            "sessionId": ID, "timestamp": "2026-11-01T10:00:00.000Z", "version": "2.1.330", "cwd": "/home/dev/shop",
            "message": message});
        format!("{record}\n")
    };
    let asks = record(
        "user",
        "u1",
        json!({"role": "user", "content": "How full are you?"}),
    );
    let calls = json!({"id": "msg_1", "role": "assistant", "model": "claude-opus-4-6", "content": [
        {"type": "tool_use", "id": "toolu_child", "name": "mcp__ctxgauge__context_now", "input": {}}],
        "usage": {"input_tokens": 900, "output_tokens": 20}});
    fs::write(&child, asks + &record("assistant", "a1", calls)).unwrap();
    let mut command = server(home.path(), &[]);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", ID);
    let mut client = Client::start(&mut command, "claude-code");
    let mut used = |call: &str| {
        let meta = json!({"claudecode/toolUseId": call});
        let answer = client.call_with("context_now", json!({}), meta);
        let answer = &answer["result"]["structuredContent"];
        (
            answer["context"]["known"].clone(),
            answer["session"]["found_by"].clone(),
        )
    };
    assert_eq!(
        used("toolu_child"),
        (json!(900), json!("the call is in its log"))
    );
    assert_eq!(used("toolu_nowhere").1, "CLAUDE_CODE_SESSION_ID");
}

#[test]
fn codex_names_its_thread_and_others_get_the_newest_of_their_folder() {
    let home = tempfile::tempdir().unwrap();
    let project = fs::canonicalize(home.path()).unwrap().join("shop");
    fs::create_dir_all(&project).unwrap();
    let folder = home.path().join(".codex/sessions/2026/11/01");
    fs::create_dir_all(&folder).unwrap();
    let fixture = manifest_folder().join("tests/fixtures/codex/usage-record/log.jsonl");
    let text = fs::read_to_string(fixture).unwrap();
    let meta: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let (id, cwd) = (&meta["payload"]["id"], &meta["payload"]["cwd"]);
    let mut threads = Vec::new();
    for n in 1..=3_u64 {
        let thread = format!("01a20b9c-1fd7-7ea0-a55b-40000000000{n}");
        let here = if n == 3 {
            "/elsewhere".into()
        } else {
            project.display().to_string()
        };
        let text = text
            .replace(id.as_str().unwrap(), &thread)
            .replace(&cwd.to_string(), &json!(here).to_string());
        let path = folder.join(format!("rollout-2026-11-01T10-00-0{n}-{thread}.jsonl"));
        fs::write(&path, text).unwrap();
        set_time(&path, n);
        threads.push(thread);
    }
    let mut command = server(home.path(), &[]);
    let mut client = Client::start(command.current_dir(&project), "codex-mcp-client");
    let mut session = |meta: Value| {
        let answer = client.call_with("context_now", json!({}), meta);
        answer["result"]["structuredContent"]["session"].clone()
    };
    let named = session(json!({"threadId": threads[0]}));
    assert_eq!(
        (&named["id"], &named["found_by"]),
        (
            &json!(threads[0]),
            &json!("the client names it in the call")
        )
    );
    let newest = session(json!({"threadId": "of nobody"}));
    assert_eq!(
        (&newest["id"], &newest["found_by"]),
        (
            &json!(threads[1]),
            &json!("newest log of the working directory")
        )
    );
    let note = newest["note"].as_str().unwrap();
    assert!(threads[..2].iter().all(|id| note.contains(&**id)), "{note}");
    set_time(
        &folder.join(format!("rollout-2026-11-01T10-00-02-{}.jsonl", threads[1])),
        10_000,
    );
    let newest = session(json!({"threadId": "of nobody"}));
    assert_eq!(
        (&newest["id"], &newest["note"]),
        (&json!(threads[1]), &Value::Null)
    );
    // An agent that has no log here.
    let mut client = Client::start(command.current_dir(&project), "opencode");
    let complaint = client.complaint("context_now", json!({}));
    assert!(complaint.contains("opencode"), "{complaint}");
    // A client that is no agent, in a folder of the project.
    let below = project.join("src");
    fs::create_dir_all(&below).unwrap();
    let mut client = Client::start(command.current_dir(&below), "mcp");
    let found = client.ask("context_now")["session"].clone();
    assert_eq!(found["id"], threads[1]);
}

/// The lab finds answers in what clients send to a provider. It once looked for a part that was no longer the first.
#[test]
fn the_lab_expects_the_parts_of_a_real_answer() {
    let (home, _log) = home();
    let mut command = server(home.path(), &[]);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", ID);
    let answer = Client::start(&mut command, "claude-code").ask("context_now");
    let expected = manifest_folder().join("tests/lab/tests/answer.json");
    let expected: Value = serde_json::from_slice(&fs::read(expected).unwrap()).unwrap();
    let parts = |of: &Value| -> Vec<String> { of.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(parts(&answer), parts(&expected));
    assert!(answer["context"]["known"].is_u64(), "{answer}");
    assert!(answer["session"]["found_by"].is_string(), "{answer}");
}
