//! A receiver in Python that reads requests by the official definitions of OTLP.

use super::{
    Server, attribute, compact, home, points, records, wait_for_count, wait_for_the_numbers_of_ls,
    wait_until_read,
};
use crate::support::manifest_folder;
use ctxgauge::files::waiting::wait_for;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

struct Receiver(Child);

impl Receiver {
    /// Starts it; `None`: there is no Python that can run it. Returns its port too.
    fn start(port: u16, file: &Path) -> Option<(Receiver, u16)> {
        let mut python = python()?;
        python.arg(manifest_folder().join("tests/otlp_receiver.py"));
        python.arg(port.to_string()).arg(file);
        let mut child = python
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let receiver = Receiver(child);
        Some((receiver, line.trim().parse().unwrap()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that can run the receiver of the official definitions; `None`: there is none.
fn python() -> Option<Command> {
    let own = manifest_folder().join("target/ci/otlp/bin/python");
    let needs = "import opentelemetry.proto.collector.logs.v1.logs_service_pb2";
    let is_able = |python: &Path| {
        let mut command = Command::new(python);
        command.args(["-c", needs]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let all = [own, "python3".into()];
    all.iter().find(|python| is_able(python)).map(Command::new)
}

/// The requests that it has written. The last one may not be written to its end.
fn received(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.collect()
}

#[test]
fn a_receiver_of_the_official_definitions_gets_each_compaction_once_over_its_restart() {
    let home = home();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("received");
    let Some((receiver, port)) = Receiver::start(0, &file) else {
        eprintln!(
            "Python or opentelemetry-proto is not installed: no receiver of the official definitions is tried"
        );
        return;
    };
    let address = format!("http://127.0.0.1:{port}");
    let server = Server::start_in(
        home.path(),
        &["--session-ids"],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
            ("OTEL_RESOURCE_ATTRIBUTES", "host.name=build-1"),
        ],
    );
    wait_for_the_numbers_of_ls(home.path(), || received(&file));
    wait_until_read(&server);
    let compactions = |count: usize| {
        wait_for("compactions", || {
            let requests = received(&file);
            let found = records(&requests).len();
            if found == count { Ok(()) } else { Err(found) }
        });
    };
    compact(home.path(), 1);
    compactions(1);
    drop(receiver);
    compact(home.path(), 2);
    wait_for_count(&server, "ctxgauge_otlp_failed_total", |failed| {
        failed >= 2.0
    });
    let (_receiver, _) = Receiver::start(port, &file).unwrap();
    compactions(2);
    wait_for_the_numbers_of_ls(home.path(), || received(&file));
    compact(home.path(), 3);
    compactions(3);

    let requests = received(&file);
    let ids: BTreeSet<String> = records(&requests)
        .into_iter()
        .map(|record| attribute(record, "log.record.uid").to_string())
        .collect();
    assert_eq!(ids.len(), 3);
    let resource = &requests[0]["resourceMetrics"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), "ctxgauge");
    assert_eq!(attribute(resource, "host.name"), "build-1");
    // No number came twice, and none of the counters began anew.
    for name in ["ctxgauge_context_tokens", "ctxgauge_requests_total"] {
        let all = points(&requests, name);
        let times: BTreeSet<String> = all
            .iter()
            .map(|point| format!("{} {}", point["timeUnixNano"], point["attributes"]))
            .collect();
        assert_eq!(times.len(), all.len(), "{name}");
        // Those before and after the restart.
        assert!(all.len() >= 3, "{name}: {all:#?}");
    }
    let starts: BTreeSet<String> = points(&requests, "ctxgauge_requests_total")
        .iter()
        .map(|point| format!("{} {}", point["startTimeUnixNano"], point["attributes"]))
        .collect();
    assert_eq!(starts.len(), 2, "{starts:?}");
}
