//! How long it takes from an append, or a rewrite, to its entries, and from an append to its frame.
//!
//! `cargo bench --bench ingest`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::monitor::Monitor;
use common::rows::{row, time};
use ctxgauge::agents;
use ctxgauge::files::paths::User;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::file_id;
use ctxgauge::ingest::{IngestEvent, Options, start};
use ctxgauge::model::lists::sessions::Update;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

const APPENDS: usize = 600;
const FRAMES: usize = 100;

fn main() {
    latency(300, 1);
    latency(3_000, 1);
    latency(60_000, 1);
    latency(3_000, 50);
    frames(1);
    frames(50);
    rewritten(
        50_000_000,
        "chats/session-2026-01-02T03-04-s.json",
        message,
        json,
    );
    rewritten(50_000_000, "one/session.yaml", yaml_message, yaml);
}

/// A response of about `bytes` bytes, as Claude Code writes it.
fn line(n: usize, bytes: usize) -> String {
    let text = "some text, as it may be ".repeat(bytes / 24);
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u{n}\",\"parentUuid\":\"u{}\",\"sessionId\":\"s\",\
         \"timestamp\":\"2026-01-02T03:04:05.678Z\",\"cwd\":\"/home/p/project\",\"message\":{{\
         \"id\":\"m{n}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5-20250929\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"usage\":{{\"input_tokens\":5,\
         \"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":{},\"output_tokens\":50}}}}}}\n",
        n.saturating_sub(1),
        10_000 + n
    )
}

/// From the end of a write to the arrival of its entries, while so many sessions grow.
fn latency(bytes: usize, growing: usize) {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..growing)
        .map(|n| {
            dir.path()
                .join(format!("0a1b2c3d-0000-4000-8000-{n:012}.jsonl"))
        })
        .collect();
    for path in &paths {
        fs::write(path, line(0, 300)).unwrap();
    }
    let watched = file_id(&paths[0]);
    let updates = follow(vec![SearchRoot::Given(dir.path().to_path_buf())]);
    wait_for(&updates, |update| {
        matches!(update, IngestEvent::Update(Update::CaughtUp))
    });
    // The system's watch begins a moment later.
    std::thread::sleep(Duration::from_millis(300));
    let append = |path: &Path, n: usize| {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(line(n, bytes).as_bytes()).unwrap();
    };
    let mut took: Vec<Duration> = (1..=APPENDS)
        .map(|n| {
            // Each of the others grows five times a second.
            if let Some(other) = paths.get(1 + n % growing) {
                append(other, n);
            }
            let line = line(n, bytes);
            let mut file = OpenOptions::new().append(true).open(&paths[0]).unwrap();
            let written = Instant::now();
            file.write_all(line.as_bytes()).unwrap();
            wait_for(
                &updates,
                |update| matches!(update, IngestEvent::Update(Update::Appended { file, .. }) if *file == watched),
            );
            let took = written.elapsed();
            std::thread::sleep(Duration::from_millis(4));
            took
        })
        .collect();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "append of {bytes:>6} B to entries, {growing} growing: p50 {:?}, p99 {:?}, most {:?}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    if bytes == 3_000 {
        row(
            &format!("an append to its entries, {growing} growing: p50 and p99"),
            "≤ 1 and 10 ms",
            format!("{} and {}", time(at(0.5)), time(at(0.99))),
            "–",
            "–",
        );
    }
}

/// From the end of a write to the end of the frame that shows it, while so many sessions grow.
fn frames(growing: usize) {
    let home = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..growing)
        .map(|n| {
            let name =
                format!(".claude/projects/-home-p-project/0a1b2c3d-0000-4000-8000-{n:012}.jsonl");
            home.path().join(name)
        })
        .collect();
    fs::create_dir_all(paths[0].parent().unwrap()).unwrap();
    for path in &paths {
        fs::write(path, line(0, 300)).unwrap();
    }
    let append = |path: &Path, n: usize, bytes: usize| {
        // Each makes another number on the screen.
        let line = line(100 * n, bytes);
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    };
    let mut monitor = Monitor::open(home.path(), &home.path().join("own"));
    monitor.settle();
    let mut took: Vec<Duration> = (1..=FRAMES)
        .map(|n| {
            for other in paths.iter().skip(1) {
                append(other, 300 + n, 300);
            }
            // Never in step with the frames.
            std::thread::sleep(Duration::from_millis(60 + (n as u64 * 7) % 37));
            let shown = format!("{:.1}k", (10_105 + 100 * n) as f64 / 1e3);
            append(&paths[0], n, 300);
            let written = Instant::now();
            monitor.wait_for(|screen| screen.contains(&shown)) - written
        })
        .collect();
    monitor.quit();
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    row(
        &format!("an append to its frame, {growing} growing: p50 and p99"),
        "≤ 50 ms at p99",
        format!("{} and {}", time(at(0.5)), time(at(0.99))),
        "–",
        "–",
    );
}

/// A message of a conversation, about 20 kB with its answer.
fn message(n: usize) -> String {
    let text = "some text, as it may be\\n".repeat(400);
    format!(
        "{{\"id\":\"q{n}\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"type\":\"user\",\
         \"content\":\"{text}\"}},\n{{\"id\":\"a{n}\",\"timestamp\":\"2026-01-02T03:04:06.678Z\",\
         \"type\":\"gemini\",\"content\":\"{text}\",\"model\":\"gemini-2.5-pro\",\"tokens\":{{\
         \"input\":{},\"output\":2000,\"cached\":0,\"thoughts\":0,\"tool\":0,\"total\":0}}}}",
        10_000 + 4_500 * n
    )
}

/// A session of these messages, as Gemini CLI wrote it before its version 0.39.
fn json(messages: &[String]) -> String {
    format!(
        "{{\n\"sessionId\":\"s\",\"projectHash\":\"h\",\"lastUpdated\":\"2026-01-02T03:04:{:02}Z\",\
         \"messages\":[{}]}}",
        messages.len() % 60,
        messages.join(",\n")
    )
}

/// A message as ouro writes it, with its answer.
fn yaml_message(n: usize) -> String {
    let text = "some text, as it may be\n    ".repeat(400);
    format!(
        "- role: user\n  content: |\n    {n}{text}\n- role: assistant\n  content: |\n    {text}\n"
    )
}

fn yaml(messages: &[String]) -> String {
    format!(
        "id: s\ncreated_at: '2026-05-11T09:00:00.1'\nupdated_at: '2026-05-11T09:00:{:02}.1'\n\
         system_messages: []\nmessages:\n{}",
        messages.len() % 60,
        messages.concat()
    )
}

/// From the end of a document's rewriting to its sessions: where messages came, and where an old one
/// changed so that all is read anew.
fn rewritten(
    bytes: usize,
    name: &str,
    message: fn(usize) -> String,
    write: fn(&[String]) -> String,
) {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join(name), dir.path().join("other"));
    fs::create_dir(path.parent().unwrap()).unwrap();
    let mut messages: Vec<String> = (0..bytes / message(0).len()).map(message).collect();
    fs::write(&path, write(&messages)).unwrap();
    let updates = follow(vec![SearchRoot::Given(
        path.parent().unwrap().to_path_buf(),
    )]);
    wait_for(&updates, |update| {
        matches!(update, IngestEvent::Update(Update::CaughtUp))
    });
    std::thread::sleep(Duration::from_millis(300));
    let change = |messages: &[String]| {
        fs::write(&other, write(messages)).unwrap();
        let written = Instant::now();
        fs::rename(&other, &path).unwrap();
        wait_for(&updates, |update| {
            matches!(update, IngestEvent::Update(Update::Rebuilt { .. }))
        });
        let took = written.elapsed();
        std::thread::sleep(Duration::from_millis(100));
        took
    };
    let mut took: Vec<Duration> = (0..20)
        .map(|_| {
            messages.push(message(messages.len()));
            change(&messages)
        })
        .collect();
    took.sort_unstable();
    messages[0] = message(1);
    println!(
        "rewrite of {} MB, {name}, to its session: p50 {:?}, most {:?}; all anew {:?}",
        bytes / 1_000_000,
        took[took.len() / 2],
        took[took.len() - 1],
        change(&messages)
    );
}

fn follow(roots: Vec<SearchRoot>) -> Receiver<IngestEvent> {
    let (sender, updates) = sync_channel(64);
    let options = Options {
        formats: agents::ALL.to_vec(),
        roots,
        user: User::default(),
        rules: Arc::default(),
        counter: Arc::default(),
        cache: None,
        poll: false,
    };
    let sink = move |update| match sender.send(update) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    // Runs for as long as the program does.
    std::mem::forget(start(options, None, sink).unwrap());
    updates
}

fn wait_for(updates: &Receiver<IngestEvent>, holds: impl Fn(&IngestEvent) -> bool) {
    while !holds(&updates.recv_timeout(Duration::from_secs(10)).unwrap()) {}
}
