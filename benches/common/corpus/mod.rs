//! Made-up logs: a home of Claude Code and Codex sessions, and single sessions of one size.
//!
//! Their shape follows real logs: a log-normal spread of file and result sizes, sub-agents in files of their
//! own, sessions that begin with a copy of another, responses on several lines with placeholder outputs on all
//! but the last, results that are logged twice, snapshots, images, reasoning that is encrypted, repeated
//! `token_count` records, compactions. The texts are this repository's own sources.

mod claude_code;
mod codex;
mod random;

use claude_code::Until;
use random::Random;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Logs made by another version of this file are not used.
const VERSION: u32 = 2;
/// The size of the home in megabytes, unless `CTXGAUGE_BENCH_MB` has another.
const MEGABYTES: u64 = 100;
/// Bytes that the home has for each of its files.
const A_FILE: u64 = 2_500_000;

/// The home that is measured: `CTXGAUGE_BENCH_HOME`, or one that is made up.
pub fn home() -> PathBuf {
    if let Some(home) = std::env::var_os("CTXGAUGE_BENCH_HOME") {
        return home.into();
    }
    home_of(megabytes())
}

/// The size of a home that is made up.
pub fn megabytes() -> u64 {
    let megabytes = std::env::var("CTXGAUGE_BENCH_MB");
    megabytes.map_or(MEGABYTES, |megabytes| megabytes.parse().unwrap())
}

/// A home of so many megabytes.
pub fn home_of(megabytes: u64) -> PathBuf {
    let bytes = megabytes * 1_000_000;
    made(&format!("home-{megabytes}"), |home| {
        let files = (bytes / A_FILE).max(8) as usize;
        let truth = write_home(home, bytes, files);
        fs::write(home.join("truth.json"), truth.to_string()).unwrap();
    })
}

/// One Claude Code session of so many megabytes, which compacts when it is full.
pub fn session(megabytes: u64) -> PathBuf {
    let folder = made(&format!("session-{megabytes}"), |folder| {
        let path = folder.join("made-up.jsonl");
        let seed = 77 + megabytes;
        claude_code::write(
            &path,
            Until::Bytes(megabytes * 1_000_000),
            seed,
            None,
            &mut [0; 4],
        );
    });
    folder.join("made-up.jsonl")
}

/// A session whose prompt has so many tokens.
pub fn context(tokens: u64) -> PathBuf {
    let folder = made(&format!("context-{tokens}"), |folder| {
        let path = folder.join("made-up.jsonl");
        claude_code::write(&path, Until::Prompt(tokens), tokens, None, &mut [0; 4]);
    });
    folder.join("made-up.jsonl")
}

/// A session with one tool result of so many megabytes.
pub fn long_line(megabytes: usize) -> PathBuf {
    let folder = made(&format!("long-line-{megabytes}"), |folder| {
        let path = folder.join("made-up.jsonl");
        claude_code::write(&path, Until::Bytes(1_000_000), 99, None, &mut [0; 4]);
        let text = fs::read_to_string(&path).unwrap();
        let found = text
            .find("\"type\":\"tool_result\",\"content\":\"")
            .unwrap();
        let at = found + "\"type\":\"tool_result\",\"content\":\"".len();
        let long = "a line that is longer than others. ".repeat(megabytes * 1_000_000 / 35);
        fs::write(&path, [&text[..at], &long, &text[at..]].concat()).unwrap();
    });
    folder.join("made-up.jsonl")
}

/// A home of so many small sessions.
pub fn small_files(files: u64) -> PathBuf {
    made(&format!("files-{files}"), |home| {
        for n in 0..files {
            let path = claude_path(home, n as usize, &mut Random(n));
            claude_code::write(&path, Until::Bytes(12_000), n, None, &mut [0; 4]);
        }
    })
}

/// A folder that is made once and kept.
fn made(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{VERSION}"));
    let folder = root.join(name);
    if !folder.exists() {
        fs::create_dir_all(&root).unwrap();
        let unfinished = tempfile::tempdir_in(&root).unwrap();
        make(unfinished.path());
        fs::rename(unfinished.keep(), &folder).unwrap();
    }
    folder
}

/// Writes the logs; returns the usage in them, each response counted once.
fn write_home(home: &Path, bytes: u64, files: usize) -> serde_json::Value {
    let mut random = Random(1);
    let largest = bytes * 15 / 100;
    let spread: Vec<f64> = (1..files)
        .map(|_| random.log_normal(3e5, 1.8).min(5e7))
        .collect();
    let scale = (bytes - largest) as f64 / spread.iter().sum::<f64>();
    let size = |n: usize| (spread[n] * scale).max(4_000.0) as u64;
    let (mut claude, mut codex) = ([0; 4], [0; 4]);
    let first = claude_path(home, 0, &mut random);
    claude_code::write(&first, Until::Bytes(largest), 1_000, None, &mut claude);
    let mut mains = vec![first];
    let (forks, agents) = (
        spread.len() - files / 20,
        spread.len() - files / 20 - files / 8,
    );
    for n in 0..spread.len() {
        let seed = 2_000 + n as u64;
        if n < files / 4 {
            codex::write(home, size(n), seed, &mut codex);
            continue;
        }
        let path = claude_path(home, n, &mut random);
        let other = mains[random.below(mains.len() as u64) as usize].clone();
        if n < agents {
            claude_code::write(&path, Until::Bytes(size(n)), seed, None, &mut claude);
            mains.push(path);
        } else if n < forks {
            let agent = format!("subagents/agent-{}.jsonl", random.hex(8));
            let path = other.with_extension("").join(agent);
            claude_code::write(&path, Until::Bytes(size(n)), seed, None, &mut claude);
        } else {
            let path = other.with_file_name(path.file_name().unwrap());
            let bytes = fs::metadata(&other).unwrap().len() as f64;
            let share = random.unit() * (8e6 / bytes).min(1.0);
            let size = size(n).min(5_000_000);
            claude_code::write(
                &path,
                Until::Bytes(size),
                seed,
                Some((&other, share)),
                &mut claude,
            );
        }
    }
    json!({
        "claude-code": {
            "input": claude[0], "cache_creation": claude[1],
            "cache_read": claude[2], "output": claude[3],
        },
        "codex": {
            "input": codex[0], "cached": codex[1], "output": codex[2], "reasoning": codex[3],
        },
    })
}

fn claude_path(home: &Path, n: usize, random: &mut Random) -> PathBuf {
    let name = format!("{}.jsonl", random.uuid());
    let folder = format!(".claude/projects/-home-dev-proj{:02}", n % 40);
    home.join(folder).join(name)
}

/// A log that is being written.
struct Log {
    file: BufWriter<File>,
    path: PathBuf,
    bytes: u64,
    /// Of its newest record, in milliseconds.
    at: i64,
}

impl Log {
    fn new(path: &Path, at: i64) -> Log {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Log {
            file: BufWriter::new(File::create(path).unwrap()),
            path: path.to_owned(),
            bytes: 0,
            at,
        }
    }

    fn put(&mut self, record: &str) {
        writeln!(self.file, "{record}").unwrap();
        self.bytes += record.len() as u64 + 1;
    }

    /// As agents write it.
    fn timestamp(&self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.at).unwrap();
        at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }

    fn close(mut self) {
        self.file.flush().unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(self.at as u64);
        let file = File::options().write(true).open(&self.path).unwrap();
        file.set_modified(at).unwrap();
    }
}

/// Some time in the last 45 days.
fn begin(random: &mut Random) -> i64 {
    let now = jiff::Timestamp::now().as_millisecond();
    now - 3_600_000 * (24 + random.below(44 * 24) as i64)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// So many bytes of a text, or fewer: whole characters.
fn cut(text: &str, from: usize, bytes: usize) -> &str {
    let whole = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = whole(from.min(text.len()));
    &text[from..whole((from + bytes).min(text.len()))]
}
