//! What something costs in a process of its own: processor time, time, peak memory, bytes read.
//!
//! A benchmark that measures so calls [`serve`] first in its `main`: the same program runs the parts.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Times each thing is measured, in turn with what it is compared with.
pub const ROUNDS: usize = 5;
/// The first argument of a process that measures.
const COMMAND: &str = "measure-command";
const PART: &str = "measure-part";

/// What something cost. Of several rounds, the least of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of all threads, in the program and in the system.
    pub cpu: Duration,
    pub wall: Duration,
    /// Most bytes of memory that were resident.
    pub peak: u64,
    /// Bytes of all `read` calls.
    pub read: u64,
}

impl Cost {
    /// The least of each.
    pub fn min(self, other: Cost) -> Cost {
        Cost {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
            peak: self.peak.min(other.peak),
            read: self.read.min(other.read),
        }
    }
}

/// A part of a benchmark, run with its arguments.
pub type Part = fn(&[OsString]);

/// Something that can be measured.
pub enum Task {
    /// A command in a home; what it prints is thrown away.
    Command(Vec<OsString>, OsString),
    /// The same, with an empty folder for its caches each time.
    Anew(Vec<OsString>, OsString),
    /// A part of the benchmark, by name, with its arguments.
    Part(&'static str, Vec<OsString>),
}

/// The program with these arguments, in this home. It finds nothing that it has saved before, and saves nothing there.
pub fn ctxgauge(home: &Path, arguments: &[&str]) -> Task {
    let mut command = vec![env!("CARGO_BIN_EXE_ctxgauge").into()];
    command.extend(arguments.iter().map(Into::into));
    Task::Anew(command, home.into())
}

/// A part of the benchmark.
pub fn part(name: &'static str, arguments: &[&Path]) -> Task {
    Task::Part(name, arguments.iter().map(Into::into).collect())
}

/// Measures tasks in turn; of each, the least of all rounds. The first round, which warms the caches, does not
/// count.
pub fn in_turn<const N: usize>(rounds: usize, tasks: [&Task; N]) -> [Cost; N] {
    let _ = tasks.map(once);
    let mut least = tasks.map(once);
    for _ in 1..rounds {
        for (least, task) in least.iter_mut().zip(tasks) {
            let cost = once(task);
            *least = least.min(cost);
        }
    }
    least
}

/// Measures a task once.
pub fn once(task: &Task) -> Cost {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let saved = tempfile::tempdir().unwrap();
    match task {
        Task::Command(line, home) | Task::Anew(line, home) => {
            environment(&mut command, Path::new(home));
            if matches!(task, Task::Anew(..)) {
                command.env("XDG_CACHE_HOME", saved.path().join("cache"));
                command.env("XDG_STATE_HOME", saved.path().join("state"));
            }
            command.arg(COMMAND).args(line)
        }
        Task::Part(name, arguments) => command.arg(PART).arg(name).args(arguments),
    };
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}: {text}");
    let numbers: Vec<u64> = text
        .split_whitespace()
        .filter_map(|word| word.split_once('=')?.1.parse().ok())
        .collect();
    Cost {
        cpu: Duration::from_micros(numbers[0]),
        wall: Duration::from_micros(numbers[1]),
        peak: numbers[2],
        read: numbers[3],
    }
}

/// The environment of a command: its home, and nothing of ours but the path. Other monitors send no reports on
/// their use, look for no updates, and find the logs wherever they look for a home.
pub fn environment(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("CLAUDE_CONFIG_DIR", home.join(".claude"));
    command.env("CODEX_HOME", home.join(".codex"));
    command.env("DO_NOT_TRACK", "1").env("CCTOP_TELEMETRY", "0");
    command.env("CCTOP_ALL_USERS", "0");
    command.env("AGENT_TOP_NO_UPDATE_CHECK", "1");
}

/// Runs what this process was started for, if it was started by [`in_turn`], and ends it. For a profiler, a part
/// can be named without more: `cargo bench --bench NAME -- PART`.
pub fn serve(parts: &[(&str, Part)]) {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some(name) = arguments.first() else {
        return;
    };
    if name == COMMAND {
        let mut command = Command::new(&arguments[1]);
        command.args(&arguments[2..]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        measured(UsageWho::RUSAGE_CHILDREN, || {
            let status = command.status().unwrap();
            assert!(status.success(), "{command:?}: {status}");
        });
        std::process::exit(0);
    }
    let (name, arguments) = if name == PART {
        (&arguments[1], &arguments[2..])
    } else {
        (name, &arguments[1..])
    };
    if let Some((_, part)) = parts.iter().find(|(part, _)| *name == **part) {
        measured(UsageWho::RUSAGE_SELF, || part(arguments));
        std::process::exit(0);
    }
}

fn measured(who: UsageWho, work: impl FnOnce()) {
    let cpu = || {
        let usage = getrusage(who).unwrap();
        micros(usage.user_time()) + micros(usage.system_time())
    };
    let (cpu_before, read_before, begun) = (cpu(), bytes_read("self"), Instant::now());
    work();
    let wall = begun.elapsed().as_micros();
    let (cpu, read) = (cpu() - cpu_before, bytes_read("self") - read_before);
    // The system counts to our own peak what the parent had, so that is read elsewhere.
    let peak = match who {
        UsageWho::RUSAGE_SELF => peak_memory("self"),
        _ => getrusage(who).unwrap().max_rss() as u64 * 1024,
    };
    println!("cpu_us={cpu} wall_us={wall} peak={peak} read={read}");
}

fn micros(time: TimeVal) -> i64 {
    time.tv_sec() * 1_000_000 + time.tv_usec()
}

/// Time on processors of a process until now; zero where the system does not count.
pub fn processor_time(process: &str) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let nanos = tasks.into_iter().flatten().filter_map(|task| {
        // The first number is the time on a processor, in nanoseconds.
        let schedule = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        schedule.split_whitespace().next()?.parse::<u64>().ok()
    });
    // Threads that have ended count only in the time of the process, which has a resolution of 10 ms.
    Duration::from_nanos(nanos.sum()).max(ticks(process))
}

/// The same by the system's clock ticks, of which there are 100 a second.
fn ticks(process: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in parentheses may have spaces; user and system time are the 12th and 13th after it.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// Bytes that a process has read, with those of its children that have ended; 0 where the system does not count.
pub fn bytes_read(process: &str) -> u64 {
    number(&format!("/proc/{process}/io"), "rchar:").unwrap_or_default()
}

/// Most bytes of memory that a process has had resident; 0 where the system does not count.
pub fn peak_memory(process: &str) -> u64 {
    1024 * number(&format!("/proc/{process}/status"), "VmHWM:").unwrap_or_default()
}

/// Bytes of memory that a process has resident now; 0 where the system does not count.
pub fn resident(process: &str) -> u64 {
    1024 * number(&format!("/proc/{process}/status"), "VmRSS:").unwrap_or_default()
}

/// Threads of a process; 0 where the system does not count.
pub fn threads(process: &str) -> u64 {
    number(&format!("/proc/{process}/status"), "Threads:").unwrap_or_default()
}

/// Descriptors that a process has open; 0 where the system does not count.
pub fn descriptors(process: &str) -> u64 {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    open.map_or(0, |open| open.count() as u64)
}

/// The number after a word in a file.
fn number(path: &str, word: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse().ok()
}
