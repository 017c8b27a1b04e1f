//! What a full index costs beside its limits: a newline scan and `serde_json`'s `IgnoredAny` over the same bytes.
//!
//! `cargo bench --bench index`; `CTXGAUGE_BENCH_HOME` names the home to read. `-- MODE` runs one of them alone, for a
//! profiler: `newlines`, `ignored`, `totals` or `whole`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

use ctxgauge::agents;
use ctxgauge::ingest::discover::{LogFile, Scanner};
use ctxgauge::ingest::reader::{each_usage, read_whole};
use ctxgauge::ingest::roots::usual;
use ctxgauge::model::event::ByLength;
use ctxgauge::paths::Folders;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What is done with each log.
type Mode = fn(&LogFile) -> u64;

fn main() {
    let home = std::env::var_os("CTXGAUGE_BENCH_HOME").unwrap();
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let logs = logs(Path::new(&home));
    let bytes: u64 = logs.iter().map(|log| log.facts.len).sum();
    println!("{} logs, {} MB", logs.len(), bytes / 1_000_000);
    let modes: [(&str, Mode); 4] = [
        ("newlines", |log| lines(log, &mut |_| {})),
        ("ignored", |log| {
            lines(log, &mut |line| {
                let _ = serde_json::from_slice::<serde::de::IgnoredAny>(line);
            })
        }),
        ("totals", |log| {
            let mut n = 0;
            each_usage(log, &mut |_| n += 1).unwrap();
            n
        }),
        ("whole", |log| {
            let sessions = read_whole(log, &ByLength, &Arc::default()).unwrap();
            sessions.iter().map(|(_, s)| s.records).sum()
        }),
    ];
    for (name, mode) in modes {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let begun = Instant::now();
        let n: u64 = logs.iter().map(mode).sum();
        println!("{name}: {n} in {:.3} s", begun.elapsed().as_secs_f64());
    }
}

fn logs(home: &Path) -> Vec<LogFile> {
    let folders = Folders {
        home: Some(home.into()),
        ..Folders::default()
    };
    let roots = usual(agents::ALL, &folders, &|_| None);
    Scanner::new(roots, agents::ALL.to_vec(), |_| None)
        .look()
        .files
}

/// Passes on each line of a file.
fn lines(log: &LogFile, give: &mut dyn FnMut(&[u8])) -> u64 {
    let mut file = File::open(&*log.facts.path).unwrap();
    let mut buffer = vec![0; 256 << 10];
    let (mut held, mut n) = (0, 0);
    loop {
        if held == buffer.len() {
            buffer.resize(2 * held, 0);
        }
        let read = file.read(&mut buffer[held..]).unwrap();
        if read == 0 {
            return n;
        }
        let (end, mut from) = (held + read, 0);
        for at in memchr::memchr_iter(b'\n', &buffer[held..end]) {
            give(&buffer[from..held + at]);
            from = held + at + 1;
            n += 1;
        }
        buffer.copy_within(from..end, 0);
        held = end - from;
    }
}
