//! What reading costs beside its limits: a newline scan, `serde_json`'s `IgnoredAny`, a walk over the folders.
//!
//! `cargo bench --bench limits`. Makes the logs that it reads, once, below `target/tmp`; `CTXGAUGE_BENCH_MB` is
//! their size, `CTXGAUGE_BENCH_HOME` names a home to read instead. Everything is measured in a process of its own,
//! in turn with what it is compared with. `-- PART FOLDER` runs one part alone, for a profiler.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::corpus;
use common::measure::{ROUNDS, Task, ctxgauge, in_turn, part, serve};
use common::monitor::Monitor;
use common::plain::{bytes, found, ignored, newlines, roots};
use common::rows::{self, megabytes, row, time, times};
use ctxgauge::agents;
use ctxgauge::files::paths::User;
use ctxgauge::ingest::bytes::lines::Progress;
use ctxgauge::ingest::log::LogFile;
use ctxgauge::ingest::log::reader::{each_usage, read_whole};
use ctxgauge::ingest::{IngestEvent, Options, start};
use ctxgauge::model::event::ByLength;
use ctxgauge::model::lists::sessions::Update;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a monitor is watched while nothing happens: it looks at all files every 10 s or more.
const IDLE: Duration = Duration::from_secs(30);
const WATCHED: u64 = 2_000;

fn main() {
    serve(&[
        ("walk", |args| drop(found(&args[0]))),
        ("bytes", |args| each(args, bytes)),
        ("newlines", |args| each(args, newlines)),
        ("ignored", |args| each(args, ignored)),
        ("epoch", |args| each(args, epoch)),
        ("totals", |args| each(args, totals)),
        ("whole", |args| each(args, whole)),
        ("background", background),
        ("background-on-one", |args| {
            let mut one = CpuSet::new();
            one.set(0).unwrap();
            sched_setaffinity(Pid::from_raw(0), &one).unwrap();
            background(args);
        }),
    ]);
    let home = corpus::home();
    let size: u64 = found(home.as_os_str())
        .iter()
        .map(|log| log.facts.len)
        .sum();
    println!("{} in {}", megabytes(size), home.display());
    gauges(&home, size);
    index(&home);
    memory(&home);
    one_epoch();
    report();
    restart(&home);
    idle();
    growth();
}

/// Every gauge, beside reading all bytes.
fn gauges(home: &Path, size: u64) {
    let (gauges, bytes) = (ctxgauge(home, &["ls", "--json"]), part("bytes", &[home]));
    let [gauges, bytes] = in_turn(ROUNDS, [&gauges, &bytes]);
    row(
        "CPU until every session has its gauge, beside reading all bytes",
        "≤ 0.6×",
        time(gauges.cpu),
        time(bytes.cpu),
        times(gauges.cpu, bytes.cpu),
    );
    row(
        "bytes read for it",
        "≤ 10 %",
        megabytes(gauges.read),
        megabytes(size),
        format!("{:.1} %", 100.0 * gauges.read as f64 / size as f64),
    );
}

/// Everything that is in all logs.
fn index(home: &Path) {
    let tasks = [
        "whole",
        "newlines",
        "ignored",
        "background",
        "background-on-one",
    ];
    let tasks = tasks.map(|name| part(name, &[home]));
    let [whole, newlines, ignored, on_all, on_one] = in_turn(ROUNDS, tasks.each_ref());
    let ours = time(whole.cpu);
    row(
        "CPU of a full index, beside a newline scan",
        "≤ 3.5×",
        &ours,
        time(newlines.cpu),
        times(whole.cpu, newlines.cpu),
    );
    row(
        "the same, beside serde_json's `IgnoredAny`",
        "≤ 1×",
        &ours,
        time(ignored.cpu),
        times(whole.cpu, ignored.cpu),
    );
    row(
        "time of it in the monitor, on all processors beside one",
        "≥ 1.7× faster on two",
        time(on_all.wall),
        time(on_one.wall),
        times(on_one.wall, on_all.wall),
    );
}

/// What the monitor holds when it has read everything.
fn memory(home: &Path) {
    let peak = peak(home);
    let logs = found(home.as_os_str());
    let records: u64 = logs.iter().map(newlines).sum();
    within("peak memory of the monitor after it", peak, records);
    let tasks = [corpus::long_line(64), corpus::session(2)]
        .map(|path| part("whole", &[path.parent().unwrap()]));
    let [long, short] = in_turn(1, tasks.each_ref());
    row(
        "peak memory while a line of 64 MB is read, beside short lines",
        "≤ 4 lines more",
        megabytes(long.peak),
        megabytes(short.peak),
        format!(
            "{:.2} lines more",
            (long.peak as f64 - short.peak as f64) / 64e6
        ),
    );
}

fn within(what: &str, peak: u64, records: u64) {
    let bound = 40_000_000 + 64 * records;
    row(
        what,
        "≤ 40 MB + 64 B a record",
        megabytes(peak),
        megabytes(bound),
        format!("{:.2}×", peak as f64 / bound as f64),
    );
}

/// The most memory of a monitor that reads everything in a home.
fn peak(home: &Path) -> u64 {
    let own = tempfile::tempdir().unwrap();
    let mut monitor = Monitor::open(home, own.path());
    let peak = monitor.settle().peak;
    monitor.quit();
    peak
}

/// The exact state of a session's newest epoch, in a long session and in a short one.
fn one_epoch() {
    let tasks = [100, 2].map(|size| part("epoch", &[corpus::session(size).parent().unwrap()]));
    let [long, short] = in_turn(ROUNDS, tasks.each_ref());
    row(
        "CPU of the newest epoch of a session of 100 MB, beside one of 2 MB",
        "≤ 2×",
        time(long.cpu),
        time(short.cpu),
        times(long.cpu, short.cpu),
    );
}

fn report() {
    let path = corpus::session(100);
    let folder = path.parent().unwrap();
    let report = ctxgauge(folder, &["report", "--json", path.to_str().unwrap()]);
    let [report, ignored] = in_turn(ROUNDS, [&report, &part("ignored", &[folder])]);
    row(
        "CPU of `report` on a session of 100 MB, beside `IgnoredAny`",
        "≤ 2.5×",
        time(report.cpu),
        time(ignored.cpu),
        times(report.cpu, ignored.cpu),
    );
}

/// A start of the monitor that finds what it has saved, less a start with one small log, beside a walk over the logs.
fn restart(home: &Path) {
    let own = tempfile::tempdir().unwrap();
    let one = corpus::small_files(1);
    let start = |home: &Path| {
        let mut monitor = Monitor::open(home, own.path());
        let used = monitor.settle();
        monitor.quit();
        used
    };
    start(home);
    let least = |home: &Path| {
        let starts = [start(home), start(home), start(home)];
        let cpu = starts.iter().map(|used| used.cpu).min().unwrap();
        (cpu, starts.iter().map(|used| used.read).min().unwrap())
    };
    let (again, one) = (least(home), least(&one));
    let [walk] = in_turn(ROUNDS, [&part("walk", &[home])]);
    let ours = again.0.saturating_sub(one.0);
    row(
        "CPU of a restart, beside a walk over the logs",
        "≤ 2×",
        time(ours),
        time(walk.cpu),
        times(ours, walk.cpu),
    );
    row(
        "bytes read at a restart",
        "0 of unchanged logs",
        megabytes(again.1.saturating_sub(one.1)),
        format!("{} index", megabytes(size_of(&own.path().join("cache")))),
        "–",
    );
}

/// Bytes of all files in a folder.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let sizes = entries.map(|entry| {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            size_of(&entry.path())
        } else {
            entry.metadata().unwrap().len()
        }
    });
    sizes.sum()
}

/// A monitor while nothing happens.
fn idle() {
    let own = tempfile::tempdir().unwrap();
    let mut monitor = Monitor::open(&corpus::small_files(WATCHED), own.path());
    monitor.settle();
    let before = monitor.used();
    assert!(before.drawn > 2_000, "nothing is shown");
    std::thread::sleep(IDLE);
    let after = monitor.used();
    monitor.quit();
    let cpu = after.cpu - before.cpu;
    row(
        "CPU of the monitor while 2,000 files rest",
        "≤ 0.1 %",
        format!("{} in {} s", time(cpu), IDLE.as_secs()),
        "–",
        format!("{:.3} %", 100.0 * cpu.as_secs_f64() / IDLE.as_secs_f64()),
    );
    row(
        "bytes that it reads and draws meanwhile",
        "0",
        format!(
            "{} and {}",
            after.read - before.read,
            after.drawn - before.drawn
        ),
        "–",
        "–",
    );
}

/// How costs grow: three sizes, each four times the one before.
fn growth() {
    let size = corpus::megabytes();
    let sizes = [size / 16, size / 4, size];
    let of = format!("{}, {} and {} MB of logs", sizes[0], sizes[1], sizes[2]);
    let homes = sizes.map(corpus::home_of);
    let index = homes.each_ref().map(|home| part("whole", &[home]));
    grown("CPU of a full index", &of, index);
    let peaks = homes.each_ref().map(|home| peak(home) as f64);
    rows::growth("peak memory of the monitor", &of, peaks, |bytes| {
        megabytes(bytes as u64)
    });
    let files = [625, 2_500, 10_000];
    let gauges = files.map(|files| ctxgauge(&corpus::small_files(files), &["ls", "--json"]));
    let most = corpus::small_files(files[2]);
    let records: u64 = found(&most).iter().map(newlines).sum();
    within(
        "peak memory of the monitor with 10,000 sessions",
        peak(&most),
        records,
    );
    grown(
        "CPU until every session has its gauge",
        "625, 2,500 and 10,000 files",
        gauges,
    );
    let sessions = [6, 25, 100].map(|size| {
        let path = corpus::session(size);
        let home = path.parent().unwrap();
        ctxgauge(home, &["report", "--json", path.to_str().unwrap()])
    });
    grown("CPU of `report`", "a session of 6, 25 and 100 MB", sessions);
}

fn grown(what: &str, sizes: &str, tasks: [Task; 3]) {
    let cpu = in_turn(3, tasks.each_ref()).map(|cost| cost.cpu.as_secs_f64());
    rows::growth(what, sizes, cpu, |cpu| time(Duration::from_secs_f64(cpu)));
}

fn each(args: &[OsString], mode: fn(&LogFile) -> u64) {
    black_box(found(&args[0]).iter().map(mode).sum::<u64>());
}

/// As the monitor reads everything, on as many threads as it takes.
fn background(args: &[OsString]) {
    let (sender, caught_up) = sync_channel(1);
    let options = Options {
        formats: agents::ALL.to_vec(),
        roots: roots(&args[0]),
        user: User::default(),
        rules: Arc::default(),
        counter: Arc::default(),
        cache: None,
        poll: false,
    };
    let handle = start(options, None, move |delivery| {
        if matches!(delivery, IngestEvent::Update(Update::CaughtUp)) {
            sender.send(()).unwrap();
        }
        ControlFlow::Continue(())
    });
    caught_up.recv().unwrap();
    drop(handle);
}

fn totals(log: &LogFile) -> u64 {
    let mut reports = 0;
    each_usage(log, &mut |_| reports += 1).unwrap();
    reports
}

fn whole(log: &LogFile) -> u64 {
    let sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
    sessions.iter().map(|(_, session)| session.records).sum()
}

/// Back to the last compaction, and on from there.
fn epoch(log: &LogFile) -> u64 {
    let mut reading = log.store.epoch(log, &Arc::default()).unwrap();
    while reading.step(&ByLength, &mut || false).unwrap() == Progress::More {}
    let (sessions, _) = reading.finish();
    sessions.iter().map(|(_, session)| session.records).sum()
}
