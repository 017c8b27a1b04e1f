//! Other monitors of agents, measured over the same logs in one run.
//!
//! `cargo bench --bench rivals`. It installs nothing: of the commands below it measures those that are in the path
//! (`npm install ccusage codeburn`; `cargo install agent-top`; `cargo install cctop`). Of each it is the quickest command
//! that prints the same as ours, as far as it has one. The logs are those of the benchmark
//! `limits`. Each program has a home of its own, whose logs are links to these, and no network where the system
//! can take it away: some write into their home or send reports.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::corpus;
use common::measure::{Cost, Task, environment, in_turn, once, part, serve};
use common::plain::{found, newlines};
use common::rows::{megabytes, program, time};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const ROUNDS: usize = 3;

/// All tokens, those of outputs, and all of Claude Code and of Codex, as far as they are printed.
type Sums = [Option<u64>; 4];

/// A command and where its sums are in what it prints.
struct Program {
    line: &'static [&'static str],
    prints: &'static str,
    sums: fn(&Value) -> Sums,
}

const PROGRAMS: [Program; 6] = [
    Program {
        line: &[env!("CARGO_BIN_EXE_ctxgauge"), "ls", "--json"],
        prints: "all gauges",
        sums: |_| [None; 4],
    },
    Program {
        line: &[env!("CARGO_BIN_EXE_ctxgauge"), "ls", "--totals", "--json"],
        prints: "all gauges and totals",
        sums: |json| usage(&json["totals"]),
    },
    Program {
        line: &["ccusage", "session", "--offline", "--json"],
        prints: "totals",
        sums: |json| {
            let totals = &json["totals"];
            let of = |agent: &str| {
                let rows = json["session"].as_array()?.iter();
                let rows = rows.filter(|row| row["agent"] == agent);
                Some(rows.filter_map(|row| row["totalTokens"].as_u64()).sum())
            };
            [
                totals["totalTokens"].as_u64(),
                totals["outputTokens"].as_u64(),
                of("claude"),
                of("codex"),
            ]
        },
    },
    Program {
        line: &["codeburn", "audit", "--period", "all", "--format", "json"],
        prints: "totals by model",
        sums: |json| {
            let of = |names: &[&str], agents: &[&str]| {
                let rows = json.as_array()?.iter();
                let rows = rows.filter(|row| agents.iter().any(|agent| row["provider"] == *agent));
                let tokens = rows.flat_map(|row| {
                    let raw = &row["raw"];
                    names.iter().filter_map(|name| raw[name].as_u64())
                });
                Some(tokens.sum())
            };
            let all = [
                "inputTokens",
                "cacheCreationInputTokens",
                "cacheReadInputTokens",
                "outputTokens",
            ];
            [
                of(&all, &["claude", "codex"]),
                of(&["outputTokens"], &["claude", "codex"]),
                of(&all, &["claude"]),
                of(&all, &["codex"]),
            ]
        },
    },
    Program {
        line: &["agent-top", "report", "--since", "all", "--json"],
        prints: "totals",
        sums: |json| [json["total"]["tokens"].as_u64(), None, None, None],
    },
    Program {
        line: &["cctop", "--json"],
        prints: "totals and gauges",
        sums: |json| {
            let [tokens, outputs] = ["total", "output"].map(|name| {
                let sessions = json.as_array()?.iter();
                let tokens = sessions.filter_map(|it| it["tokens"]["detail"][name].as_u64());
                Some(tokens.sum())
            });
            [tokens, outputs, None, None]
        },
    },
];

fn main() {
    serve(&[("newlines", |args| {
        let logs = found(&args[0]);
        std::hint::black_box(logs.iter().map(newlines).sum::<u64>());
    })]);
    let home = corpus::home();
    let truth = truth(&home);
    let offline = offline();
    let measured = PROGRAMS.iter();
    let measured = measured.filter_map(|program| Measured::new(program, &home, offline));
    let mut measured: Vec<Measured> = measured.collect();
    for _ in 0..ROUNDS {
        measured.iter_mut().for_each(Measured::round);
    }
    let [scan] = in_turn(ROUNDS, [&part("newlines", &[&home])]);
    program(&[
        "newline scan".into(),
        "–".into(),
        time(scan.cpu),
        "1".into(),
        time(scan.cpu),
        time(scan.wall),
        megabytes(scan.peak),
        megabytes(scan.read),
        "–".into(),
        "–".into(),
        "–".into(),
        "–".into(),
    ]);
    for it in measured {
        let (first, again) = (it.first.unwrap(), it.again.unwrap());
        let [tokens, outputs, claude, codex] = [0, 1, 2, 3].map(|n| match (it.sums[n], truth[n]) {
            (Some(sum), Some(truth)) => format!("{:.3}", sum as f64 / truth as f64),
            _ => "–".to_owned(),
        });
        program(&[
            it.name,
            it.program.prints.into(),
            time(first.cpu),
            format!("{:.1}", first.cpu.as_secs_f64() / scan.cpu.as_secs_f64()),
            time(again.cpu),
            time(first.wall),
            megabytes(first.peak),
            megabytes(first.read),
            tokens,
            outputs,
            claude,
            codex,
        ]);
    }
}

/// A program that is installed, and its home.
struct Measured {
    program: &'static Program,
    name: String,
    home: TempDir,
    task: Task,
    sums: Sums,
    first: Option<Cost>,
    again: Option<Cost>,
}

impl Measured {
    fn new(program: &'static Program, logs: &Path, offline: &[&str]) -> Option<Measured> {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let version = run(&[program.line[0], "--version"], home.path());
        let Some(version) = version else {
            println!("{} is not installed", program.line[0]);
            return None;
        };
        for folder in [".claude", ".codex"] {
            link(&logs.join(folder), &home.path().join(folder));
        }
        let name = Path::new(program.line[0]).file_name()?.to_str()?;
        let number = version.split_whitespace().last().unwrap_or_default();
        let line: Vec<&str> = offline.iter().chain(program.line).copied().collect();
        let printed = run(&line, home.path()).unwrap_or_default();
        let printed: Value = serde_json::from_str(&printed).unwrap_or_default();
        let arguments = program.line[1..].join(" ");
        let line: Vec<OsString> = line.iter().map(Into::into).collect();
        Some(Measured {
            program,
            name: format!("{name} {number} `{arguments}`"),
            task: Task::Command(line, home.path().into()),
            home,
            sums: (program.sums)(&printed),
            first: None,
            again: None,
        })
    }

    /// Runs it as if for the first time, and once more.
    fn round(&mut self) {
        for entry in fs::read_dir(self.home.path()).unwrap() {
            let path = entry.unwrap().path();
            if !path.ends_with(".claude") && !path.ends_with(".codex") {
                fs::remove_dir_all(&path).unwrap_or_else(|_| fs::remove_file(&path).unwrap());
            }
        }
        for least in [&mut self.first, &mut self.again] {
            let cost = once(&self.task);
            *least = Some(least.map_or(cost, |least| least.min(cost)));
        }
    }
}

/// What a command prints, if it succeeds.
fn run(line: &[&str], home: &Path) -> Option<String> {
    let mut command = Command::new(line[0]);
    environment(&mut command, home);
    command.args(&line[1..]).stderr(Stdio::null());
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// The prefix of a command that may not use the network.
fn offline() -> &'static [&'static str] {
    let ways: [&[&str]; 2] = [&["unshare", "-n"], &["unshare", "-rn"]];
    let works = |way: &&&[&str]| {
        let line: Vec<&str> = way.iter().chain(&["true"]).copied().collect();
        run(&line, Path::new("/")).is_some()
    };
    ways.iter().find(works).copied().unwrap_or_default()
}

/// Links all files of a folder, or copies them to another file system.
fn link(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else {
        return;
    };
    fs::create_dir_all(to).unwrap();
    for from in entries.map(|entry| entry.unwrap().path()) {
        let to: PathBuf = to.join(from.file_name().unwrap());
        if from.is_dir() {
            link(&from, &to);
        } else if fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// The tokens that are in the logs, if they were made up here.
fn truth(home: &Path) -> Sums {
    let text = fs::read_to_string(home.join("truth.json")).unwrap_or_default();
    usage(&serde_json::from_str(&text).unwrap_or_default())
}

/// The sums of usage by agent.
fn usage(agents: &Value) -> Sums {
    let all = &["input", "cache_creation", "cache_read", "output"][..];
    let sum = |names: &[&str], agent: &Value| {
        let tokens = names.iter().filter_map(|name| agent[name].as_u64());
        tokens.sum::<u64>()
    };
    let of_all = |names: &[&str]| {
        let agents = agents.as_object()?.values();
        Some(agents.map(|agent| sum(names, agent)).sum())
    };
    let of = |agent: &str| Some(sum(all, agents.get(agent)?));
    [
        of_all(all),
        of_all(&["output"]),
        of("claude-code"),
        of("codex"),
    ]
}
