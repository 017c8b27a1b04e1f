//! `serve --otlp` and a receiver of OTLP: one of these tests, which can be made to fail, and one of the official definitions.

mod official;
mod receiver;

use super::{LOGS, Numbers, Server, as_of_now, home, listed};
use crate::support::{ctxgauge, process};
use ctxgauge::files::waiting::wait_for;
use receiver::{Receiver, Reply};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;

/// So often that no test waits long, and as JSON, which these tests can read.
const SOON: [(&str, &str); 3] = [
    ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
    ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ("OTEL_EXPORTER_OTLP_TIMEOUT", "1000"),
];

fn serve(home: &Path, receiver: &Receiver) -> Server {
    let address = receiver.address();
    Server::start_in(home, &["--session-ids", "--otlp", &address], &SOON)
}

/// The last line of this kind in the log of Codex, as of now.
fn line(home: &Path, kind: &str) -> String {
    let text = fs::read_to_string(home.join(LOGS[1].0)).unwrap();
    let kind = format!("\"type\":\"{kind}\"");
    let mut lines = text.lines().rev();
    as_of_now(lines.find(|line| line.contains(&kind)).unwrap())
}

fn append(home: &Path, lines: &str) {
    let log = home.join(LOGS[1].0);
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    writeln!(log, "{lines}").unwrap();
}

/// Appends a compaction to the log of Codex, and the report of the request after it.
fn compact(home: &Path, nth: u64) {
    let compacted = line(home, "compacted");
    let mut report: Value = serde_json::from_str(&line(home, "token_count")).unwrap();
    let info = &mut report["payload"]["info"];
    let prompt = 9_000 + 1_000 * nth;
    for (usage, keys) in [
        ("last_token_usage", ["input_tokens", "total_tokens"]),
        ("total_token_usage", ["input_tokens", "total_tokens"]),
    ] {
        for key in keys {
            let before = info[usage][key].as_u64().unwrap();
            info[usage][key] = match usage {
                "last_token_usage" => json!(prompt),
                _ => json!(before + prompt),
            };
        }
    }
    append(home, &format!("{compacted}\n{report}"));
}

/// An attribute of a data point or log record.
fn attribute<'v>(of: &'v Value, name: &str) -> &'v Value {
    let all = of["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name);
    let found = found.and_then(|one| one["value"].as_object()?.values().next());
    found.unwrap_or(&Value::Null)
}

/// The parts of requests in lists within lists.
fn parts<'v>(requests: &'v [Value], names: &[&str]) -> Vec<&'v Value> {
    let mut all: Vec<&Value> = requests.iter().collect();
    for name in names {
        let lists = all.into_iter().filter_map(|part| part[name].as_array());
        all = lists.flatten().collect();
    }
    all
}

/// The log records of requests.
fn records(requests: &[Value]) -> Vec<&Value> {
    parts(requests, &["resourceLogs", "scopeLogs", "logRecords"])
}

/// The data points of a metric, the newest last.
fn points<'v>(requests: &'v [Value], name: &str) -> Vec<&'v Value> {
    let metrics = parts(requests, &["resourceMetrics", "scopeMetrics", "metrics"]);
    let of = metrics.into_iter().filter(|metric| metric["name"] == name);
    let of = of.flat_map(|metric| {
        let kinds = ["gauge", "sum", "histogram"].into_iter();
        kinds.filter_map(|kind| metric[kind]["dataPoints"].as_array())
    });
    of.flatten().collect()
}

/// Waits until one of the program's own counts has a value.
fn wait_for_count(server: &Server, name: &str, is_it: impl Fn(f64) -> bool) -> f64 {
    wait_for(name, || {
        let (_, body) = server.get("/metrics", "text/plain");
        let count = Numbers::read(&body).0.get(name).copied();
        let found = count.filter(|count| is_it(*count));
        found.ok_or_else(|| format!("{count:?}"))
    })
}

/// Waits until all sessions were read, so that what is appended now is new.
fn wait_until_read(server: &Server) {
    server.numbers();
}

/// Each number of `ls --json` that a receiver must have got of these sessions, by its metric.
const NUMBERS: [(&str, &str); 9] = [
    ("context_tokens", "/context/used"),
    ("context_known_tokens", "/context/known"),
    ("context_estimated_tokens", "/context/estimated"),
    ("context_low_tokens", "/context/low"),
    ("context_high_tokens", "/context/high"),
    ("window_tokens", "/context/window"),
    ("own_count_tokens", "/context/own_count"),
    ("trigger_tokens", "/trigger"),
    ("headroom_tokens", "/headroom"),
];

/// Waits until the newest numbers that were received are those of `ls --json`.
fn wait_for_the_numbers_of_ls(home: &Path, received: impl Fn() -> Vec<Value>) {
    for session in listed(home) {
        for (name, key) in NUMBERS {
            let name = format!("ctxgauge_{name}");
            let expected = session.pointer(key).and_then(Value::as_u64);
            wait_for(&name, || {
                let requests = received();
                let all = points(&requests, &name);
                let mut of = all.into_iter().rev();
                let is_of = |point: &&Value| {
                    *attribute(point, "gen_ai.conversation.id") == session["id"]
                        && *attribute(point, "gen_ai.agent.name") == session["agent"]
                        && *attribute(point, "gen_ai.response.model") == session["model"]
                };
                let found = of.find(is_of).map(|point| point["asInt"].clone());
                let number = found.as_ref().and_then(|of| of.as_str()?.parse().ok());
                // What is not known is not sent, so there is nothing to wait for.
                let is_read = !points(&requests, "ctxgauge_requests_total").is_empty();
                if number == expected && is_read {
                    Ok(())
                } else {
                    Err(format!("{found:?}, not {expected:?}"))
                }
            });
        }
    }
}

#[test]
fn a_receiver_gets_the_numbers_of_ls_and_each_compaction_once() {
    let home = home();
    let receiver = Receiver::start();
    let server = serve(home.path(), &receiver);
    wait_for_the_numbers_of_ls(home.path(), || receiver.taken("/v1/metrics"));
    // Those that the logs have already are not sent.
    compact(home.path(), 1);
    let record = |count: usize| {
        wait_for("compactions", || {
            let requests = receiver.taken("/v1/logs");
            let records = records(&requests);
            let last = records.last().copied().cloned();
            last.filter(|_| records.len() == count).ok_or(records.len())
        })
    };
    let first = record(1);
    assert_eq!(first["eventName"], "ctxgauge.compaction");
    for (name, expected) in [
        ("gen_ai.agent.name", json!("codex")),
        (
            "gen_ai.conversation.id",
            json!("11111111-1111-7111-8111-111111111111"),
        ),
        ("ctxgauge.compaction.after", json!("10000")),
        ("ctxgauge.compaction.after_source", json!("reported")),
        ("gen_ai.context.window_size", json!("258400")),
    ] {
        assert_eq!(*attribute(&first, name), expected, "{name}: {first:#}");
    }
    compact(home.path(), 2);
    let second = record(2);
    let ids = [&first, &second].map(|record| attribute(record, "log.record.uid"));
    assert_ne!(ids[0], ids[1]);
    wait_for_count(&server, "ctxgauge_otlp_sent_total", |sent| sent >= 3.0);
    wait_for_count(&server, "ctxgauge_otlp_waiting", |waiting| waiting == 0.0);
    // The counter counts on from its log's beginning.
    let requests = receiver.taken("/v1/metrics");
    let starts: BTreeSet<&str> = points(&requests, "ctxgauge_requests_total")
        .into_iter()
        .filter(|point| *attribute(point, "gen_ai.agent.name") == "codex")
        .map(|point| point["startTimeUnixNano"].as_str().unwrap())
        .collect();
    assert_eq!(starts.len(), 1, "{starts:?}");
}

/// What a receiver does with the first log records, and what is counted then.
const TROUBLES: [(Reply, &str); 6] = [
    (
        Reply::Status("429 Too Many Requests\r\nRetry-After: 1"),
        "failed",
    ),
    (Reply::Status("503 Service Unavailable"), "failed"),
    (
        Reply::Status("504 Gateway Timeout\r\nRetry-After: nonsense"),
        "failed",
    ),
    (Reply::Nonsense, "malformed"),
    (Reply::Close, "failed"),
    (Reply::Hang, "failed"),
];

#[test]
fn what_a_receiver_in_trouble_did_not_take_it_gets_once_more() {
    let try_one = |(trouble, count): (Reply, &str)| {
        let home = home();
        let receiver = Receiver::start();
        receiver.next("/v1/logs", trouble);
        let server = serve(home.path(), &receiver);
        wait_until_read(&server);
        compact(home.path(), 1);
        let count = format!("ctxgauge_otlp_{count}_total");
        wait_for_count(&server, &count, |count| count >= 1.0);
        wait_for("the compaction", || {
            let requests = receiver.taken("/v1/logs");
            match records(&requests).len() {
                1 => Ok(()),
                other => Err(other),
            }
        });
        wait_for_count(&server, "ctxgauge_otlp_waiting", |waiting| waiting == 0.0);
        // Another one comes alone: nothing of the first is left.
        compact(home.path(), 2);
        wait_for("the next compaction", || {
            let requests = receiver.taken("/v1/logs");
            match records(&requests).len() {
                2 => Ok(()),
                other => Err(other),
            }
        });
    };
    thread::scope(|scope| {
        for trouble in TROUBLES {
            scope.spawn(move || try_one(trouble));
        }
    });
}

#[test]
fn what_a_receiver_refuses_is_not_sent_again() {
    let home = home();
    let receiver = Receiver::start();
    receiver.next("/v1/logs", Reply::Status("400 Bad Request"));
    let partial = r#"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}"#;
    receiver.next("/v1/logs", Reply::Ok(partial));
    receiver.next("/v1/logs", Reply::Ok("<h1>It works!</h1>"));
    let server = serve(home.path(), &receiver);
    wait_until_read(&server);
    for (nth, rejected, malformed) in [(1, 1.0, 0.0), (2, 2.0, 0.0), (3, 2.0, 1.0)] {
        compact(home.path(), nth);
        wait_for("the request", || {
            match receiver.asked("/v1/logs").len() as u64 {
                asked if asked == nth => Ok(()),
                other => Err(other),
            }
        });
        for (name, expected) in [("rejected", rejected), ("malformed", malformed)] {
            let name = format!("ctxgauge_otlp_{name}_total");
            wait_for_count(&server, &name, |count| count == expected);
        }
    }
    // Each request has one compaction: none was sent again with the next.
    let asked = receiver.asked("/v1/logs");
    let ids: BTreeSet<String> = records(&asked)
        .into_iter()
        .map(|record| attribute(record, "log.record.uid").to_string())
        .collect();
    assert_eq!((records(&asked).len(), ids.len()), (3, 3));
}

#[test]
fn a_receiver_that_is_gone_for_a_while_gets_what_it_missed_once() {
    let home = home();
    let mut receiver = Receiver::start();
    let server = serve(home.path(), &receiver);
    wait_until_read(&server);
    compact(home.path(), 1);
    let taken = |receiver: &Receiver, count: usize| {
        wait_for("compactions", || {
            let requests = receiver.taken("/v1/logs");
            let found = records(&requests).len();
            if found == count { Ok(()) } else { Err(found) }
        });
    };
    taken(&receiver, 1);
    receiver.stop();
    compact(home.path(), 2);
    wait_for_count(&server, "ctxgauge_otlp_failed_total", |failed| {
        failed >= 2.0
    });
    wait_for_count(&server, "ctxgauge_otlp_waiting", |waiting| waiting == 1.0);
    // The numbers are answered meanwhile.
    assert_eq!(server.numbers().0["ctxgauge_files"], 2.0);
    receiver.restart();
    taken(&receiver, 2);
    wait_for_the_numbers_of_ls(home.path(), || receiver.taken("/v1/metrics"));
}

#[test]
fn a_compaction_that_still_waits_for_its_size_is_sent_at_the_end() {
    let home = home();
    let receiver = Receiver::start();
    let mut server = serve(home.path(), &receiver);
    wait_until_read(&server);
    append(home.path(), &line(home.path(), "compacted"));
    wait_for_count(&server, "ctxgauge_otlp_waiting", |waiting| waiting == 1.0);
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    server.child.wait().unwrap();
    let requests = receiver.taken("/v1/logs");
    let sent = records(&requests);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        *attribute(sent[0], "ctxgauge.compaction.after_source"),
        "estimated"
    );
}

#[test]
fn variables_that_are_meant_for_an_agent_do_not_end_the_server() {
    let home = home();
    for (variables, said) in [
        (
            [
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ],
            "http/protobuf and http/json",
        ),
        (
            [
                (
                    "OTEL_EXPORTER_OTLP_ENDPOINT",
                    "https://collector.example:4318",
                ),
                ("OTEL_METRIC_EXPORT_INTERVAL", "soon"),
            ],
            "no TLS",
        ),
    ] {
        let mut command = process(home.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        let child = command
            .envs(variables)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let (mut line, mut err) = (String::new(), String::new());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at "), "{line}");
        child.kill().unwrap();
        child.wait().unwrap();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn an_address_that_cannot_be_sent_to_is_wrong_usage() {
    let home = home();
    for (address, why) in [
        ("https://collector:4318", "no TLS"),
        ("localhost:4318", "http://127.0.0.1:4318"),
    ] {
        let output = ctxgauge(home.path())
            .args(["serve", "--otlp", address])
            .output();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
