//! A status line on a session of 100 MB, beside `true` and beside other status lines, in one run.
//!
//! `cargo bench --bench statusline`. It installs nothing: of the others it measures those that are in the path
//! (`npm install ccusage ccstatusline`). Each is passed the same JSON, as Claude Code passes it.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::corpus;
use common::measure::{Cost, Task, in_turn, once, serve};
use common::rows::{megabytes, row, time, times};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;
/// So many agents run a status line at once, for so many seconds.
const AGENTS: usize = 9;
const SECONDS: u64 = 10;
const ID: &str = "3f2a1b00-0000-4000-8000-000000000001";

fn main() {
    serve(&[]);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let session = corpus::session(100);
    let folder = home.path().join(".claude/projects/-srv-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join(format!("{ID}.jsonl"));
    fs::hard_link(&session, &log).unwrap();
    let input = home.path().join("input.json");
    fs::write(&input, passed(&log)).unwrap();
    let ours = reading(
        &input,
        home.path(),
        &[env!("CARGO_BIN_EXE_ctxgauge"), "statusline"],
    );
    let nothing = reading(&input, home.path(), &["true"]);
    let [line, least] = in_turn(ROUNDS, [&ours, &nothing]);
    let beside = time(least.cpu);
    row(
        "CPU of a status line on a session of 100 MB, beside `true`",
        "≤ 20 ms",
        time(line.cpu),
        beside,
        times(line.cpu, least.cpu),
    );
    row(
        "time of it",
        "≤ 30 ms",
        time(line.wall),
        time(least.wall),
        times(line.wall, least.wall),
    );
    let cold = (0..ROUNDS).filter(|_| forget(&log)).map(|_| once(&ours));
    match cold.reduce(Cost::min) {
        Some(cold) => row(
            "time of it, the log not in memory",
            "≤ 60 ms",
            time(cold.wall),
            "–",
            "–",
        ),
        None => println!("the log could not be dropped from memory"),
    }
    row(
        "peak memory of it",
        "≤ 25 MB",
        megabytes(line.peak),
        megabytes(least.peak),
        format!("{:.2}×", line.peak as f64 / least.peak as f64),
    );
    let [agents, idle] = [&ours, &nothing].map(share_of_agents);
    row(
        &format!("{AGENTS} agents that run one each second, together"),
        "≤ 20 % of a processor",
        percent(agents),
        percent(idle),
        format!("{:.1}×", agents / idle),
    );
    for rival in [
        &["ccusage", "statusline", "--offline"][..],
        &["ccstatusline"],
    ] {
        let name = rival.join(" ");
        if !is_installed(rival[0]) {
            println!("{name} is not installed");
            continue;
        }
        let theirs = reading(&input, home.path(), rival);
        let [ours, theirs] = in_turn(3, [&ours, &theirs]);
        row(
            &format!("CPU of it, beside `{name}`"),
            "< 1×",
            time(ours.cpu),
            time(theirs.cpu),
            times(ours.cpu, theirs.cpu),
        );
    }
}

/// What agents cost together that each run it once a second, as a share of one processor.
fn share_of_agents(task: &Task) -> f64 {
    let each_second = || -> Duration {
        let begun = Instant::now();
        let seconds = (0..SECONDS).map(|second| {
            let next = begun + Duration::from_secs(second);
            thread::sleep(next.saturating_duration_since(Instant::now()));
            once(task).cpu
        });
        seconds.sum()
    };
    let cpu: Duration = thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS).map(|_| scope.spawn(each_second)).collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).sum()
    });
    cpu.as_secs_f64() / SECONDS as f64
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A command that is passed a file.
fn reading(input: &Path, home: &Path, command: &[&str]) -> Task {
    let script = format!("exec \"$0\" \"$@\" < '{}'", input.display());
    let mut line: Vec<OsString> = ["sh", "-c", &script].map(OsString::from).into();
    line.extend(command.iter().map(OsString::from));
    Task::Command(line, home.into())
}

/// What Claude Code passes.
fn passed(log: &Path) -> String {
    json!({
        "session_id": ID, "transcript_path": log, "cwd": "/srv/shop", "version": "2.1.330",
        "model": {"id": "claude-opus-4-6", "display_name": "Opus"},
        "workspace": {"current_dir": "/srv/shop", "project_dir": "/srv/shop"},
        "cost": {"total_cost_usd": 1.0, "total_duration_ms": 1, "total_api_duration_ms": 1,
            "total_lines_added": 0, "total_lines_removed": 0},
        "context_window": {"context_window_size": 200_000, "total_input_tokens": 36_300, "total_output_tokens": 40,
            "used_percentage": 18, "remaining_percentage": 82, "current_usage": null},
    })
    .to_string()
}

/// Drops a file from the system's memory.
fn forget(path: &Path) -> bool {
    let mut command = Command::new("dd");
    let input = format!("if={}", path.display());
    command.args([&input, "iflag=nocache", "count=0", "status=none"]);
    command.status().is_ok_and(|status| status.success())
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok()
}
