//! A real Prometheus that scrapes the server, evaluates the rules and answers the queries of the dashboard.

use super::{LOGS, Server, ask, home, listed};
use crate::support::manifest_folder;
use ctxgauge::files::waiting::wait_for;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A Prometheus on a loopback address, with its data in a folder of its own.
struct Prometheus {
    child: Child,
    address: SocketAddr,
    _data: tempfile::TempDir,
}

impl Prometheus {
    /// Starts it; `None`: it is not installed.
    fn start(target: SocketAddr) -> Option<Prometheus> {
        let data = tempfile::tempdir().unwrap();
        let rules = manifest_folder().join("assets/prometheus/ctxgauge.rules.yml");
        let config = format!(
            "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s\n\
             rule_files: [{}]\nscrape_configs:\n  - job_name: ctxgauge\n    static_configs:\n      \
             - targets: [\"{target}\"]\n",
            rules.display()
        );
        fs::write(data.path().join("prometheus.yml"), config).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut command = Command::new("prometheus");
        command.current_dir(data.path());
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.arg(format!("--web.listen-address={address}"));
        match command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(child) => Some(Prometheus {
                child,
                address,
                _data: data,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => panic!("prometheus: {error}"),
        }
    }

    /// The answer to a question; `None`: it does not answer yet.
    fn api(&self, question: &str) -> Option<Value> {
        TcpStream::connect(self.address).ok()?;
        let (_, body) = ask(
            self.address,
            &format!("GET /api/v1/{question} HTTP/1.0\r\n\r\n"),
        );
        serde_json::from_str(&body).ok()
    }

    /// The samples of a query.
    fn query(&self, query: &str) -> Vec<Value> {
        let encoded = query.bytes().fold(String::new(), |mut encoded, byte| {
            let _ = write!(encoded, "%{byte:02X}");
            encoded
        });
        let answer = self
            .api(&format!("query?query={encoded}"))
            .unwrap_or_default();
        assert_ne!(answer["status"], "error", "{query}: {answer}");
        answer["data"]["result"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// The number that a query has for a session.
    fn of(&self, query: &str, session: &Value) -> Option<f64> {
        let id = session["id"].as_str().unwrap();
        let samples = self.query(query);
        let sample = samples
            .iter()
            .find(|sample| sample["metric"]["session"] == id)?;
        sample["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append(log: &Path, text: &str) {
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    log.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_real_prometheus_has_the_numbers_of_ls_and_a_rule_fires() {
    let home = home();
    let server = Server::start(home.path(), &["--session-ids"]);
    server.numbers();
    let Some(prometheus) = Prometheus::start(server.address) else {
        eprintln!("prometheus is not installed: scrapes, rules and the dashboard are not tried");
        return;
    };
    let sessions = listed(home.path());
    for session in &sessions {
        let context = &session["context"];
        for (name, expected) in [
            ("context", &context["used"]),
            ("context_known", &context["known"]),
            ("context_estimated", &context["estimated"]),
            ("context_low", &context["low"]),
            ("context_high", &context["high"]),
            ("window", &context["window"]),
            ("own_count", &context["own_count"]),
            ("trigger", &session["trigger"]),
            ("headroom", &session["headroom"]),
        ] {
            let name = format!("ctxgauge_{name}_tokens");
            wait_for(&name, || {
                let found = prometheus.of(&name, session);
                if found == expected.as_f64() {
                    Ok(())
                } else {
                    Err(format!("{found:?}, not {expected}"))
                }
            });
        }
    }
    // A recorded rule, and one that fires.
    for session in sessions
        .iter()
        .filter(|session| !session["trigger"].is_null())
    {
        wait_for("the recorded share of the trigger", || {
            let percent = prometheus.of("ctxgauge:trigger:ratio * 100", session);
            let expected = session["trigger_percent"].as_f64().unwrap();
            let is_it = percent.is_some_and(|percent| (percent - expected).abs() < 0.06);
            if is_it {
                Ok(())
            } else {
                Err(format!("{percent:?}, not {expected}"))
            }
        });
    }
    append(&home.path().join(LOGS[0].0), "{\"type\":\"user\",\"mess\n");
    wait_for("an alert", || {
        let alerts = prometheus.api("alerts").unwrap_or_default();
        let all = alerts["data"]["alerts"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_it = |alert: &Value| {
            alert["labels"]["alertname"] == "CtxgaugeUnreadable" && alert["state"] == "firing"
        };
        if all.iter().any(is_it) {
            Ok(())
        } else {
            Err(alerts)
        }
    });
    // Each query of the dashboard has an answer.
    let dashboard = manifest_folder().join("assets/prometheus/grafana.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(dashboard).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    for target in panels.flat_map(|panel| panel["targets"].as_array().unwrap()) {
        let query = target["expr"].as_str().unwrap();
        let query = query.replace("$__rate_interval", "1m");
        let query = ["$agent", "$model", "$instance"]
            .iter()
            .fold(query, |query, name| query.replace(name, ".*"));
        wait_for(&query, || {
            let samples = prometheus.query(&query);
            if samples.is_empty() {
                Err("nothing")
            } else {
                Ok(())
            }
        });
    }
}
