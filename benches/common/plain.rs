//! What is compared with: reading without understanding.

use ctxgauge::agents;
use ctxgauge::files::paths::{Folders, User};
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::{SearchRoot, usual};
use ctxgauge::ingest::log::LogFile;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the logs of a home are, or of another folder.
pub fn roots(home: impl AsRef<Path>) -> Vec<SearchRoot> {
    let home: PathBuf = home.as_ref().into();
    if !home.join(".claude").exists() && !home.join(".codex").exists() {
        return vec![SearchRoot::Given(home)];
    }
    let folders = Folders {
        home: Some(home),
        ..Folders::default()
    };
    usual(
        &agents::ALL,
        &User {
            folders,
            ..User::default()
        },
    )
}

/// The logs there.
pub fn found(home: impl AsRef<Path>) -> Vec<LogFile> {
    Scanner::new(roots(home), agents::ALL.to_vec(), |_| None)
        .look()
        .files
}

/// All bytes.
pub fn bytes(log: &LogFile) -> u64 {
    let mut n = 0;
    blocks(log, 128 << 10, |block| n += block.len() as u64);
    n
}

/// Newlines, found with memchr.
pub fn newlines(log: &LogFile) -> u64 {
    let mut n = 0;
    blocks(log, 256 << 10, |block| {
        n += memchr::memchr_iter(b'\n', block).count() as u64;
    });
    n
}

fn blocks(log: &LogFile, size: usize, mut give: impl FnMut(&[u8])) {
    let mut file = File::open(&*log.facts.path).unwrap();
    let mut buffer = vec![0; size];
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return,
            read => give(&buffer[..read]),
        }
    }
}

/// Each line as JSON of which nothing is kept.
pub fn ignored(log: &LogFile) -> u64 {
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
            let line = &buffer[from..held + at];
            n += u64::from(serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
            from = held + at + 1;
        }
        buffer.copy_within(from..end, 0);
        held = end - from;
    }
}
