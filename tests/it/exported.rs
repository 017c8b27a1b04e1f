//! `ctxgauge export` of logs that change meanwhile, of many logs, and to places that take nothing.

use crate::support::{ctxgauge, in_a_shell, manifest_folder, process};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most messages that a log grows by.
const MESSAGES: usize = 6_000;

fn log() -> Vec<u8> {
    let log = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    fs::read(manifest_folder().join(log)).unwrap()
}

fn export(home: &Path, arguments: &[&str], logs: &Path) -> Output {
    let mut export = ctxgauge(home);
    export.arg("export").args(arguments).arg(logs);
    export.output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_log_that_grows_is_exported_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    fs::write(&path, log()).unwrap();
    let items = || {
        let output = export(dir.path(), &["--what", "items", "--by-length"], &path);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let is_over = AtomicBool::new(false);
    let read = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            // Messages, in pieces that end anywhere.
            // Not for ever: a writer that is faster than the reader would never let it end.
            for ix in (0..MESSAGES).take_while(|_| !is_over.load(Ordering::SeqCst)) {
                let line = format!(
                    "{{\"type\":\"user\",\"uuid\":\"u{ix}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\
                    \"content\":\"message {ix}\"}}}}\n"
                );
                let (one, other) = line.split_at(ix % line.len());
                file.write_all(one.as_bytes()).unwrap();
                file.write_all(other.as_bytes()).unwrap();
                std::thread::yield_now();
            }
        });
        let read: Vec<String> = (0..5).map(|_| items()).collect();
        is_over.store(true, Ordering::SeqCst);
        read
    });
    let places = |rows: &str| -> Vec<u64> {
        let line = |row| serde_json::from_str::<serde_json::Value>(row).unwrap()["line"].as_u64();
        rows.lines().map(|row| line(row).unwrap()).collect()
    };
    let at_last = places(&items());
    for read in read {
        let read = places(&read);
        assert_eq!(read, at_last[..read.len()]);
    }
}

#[test]
fn many_sessions_are_exported_with_few_open_files() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let log = text(&log());
    let sessions = 600;
    for ix in 0..sessions {
        // Another day each, for more parts than files may be open.
        let day = jiff::civil::date(2020, 1, 1) + jiff::Span::new().days(ix % 200);
        let log = log.replace("2026-09-20", &day.to_string());
        fs::write(logs.join(format!("{ix}.jsonl")), log).unwrap();
    }
    let out = dir.path().join("out");
    let mut export = process(dir.path());
    export
        .args(["export", "--what", "sessions", "--partition", "date", "-o"])
        .args([&out, &logs]);
    let mut limited = in_a_shell("ulimit -n 96; exec \"$0\" \"$@\"", &export);
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(out.join("sessions")).unwrap().count(), 200);
    let said = text(&output.stderr);
    assert!(
        said.contains(&format!(
            "{sessions} rows of ctxgauge.sessions/1 of {sessions} logs"
        )),
        "{said}"
    );
}
