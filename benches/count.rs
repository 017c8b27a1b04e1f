//! How fast tokens are counted, beside tiktoken-rs on the same text, which has to load a vocabulary.
//!
//! `cargo bench --bench count`. The texts are this repository's own: its source, its logs, its prose; then Chinese
//! and base64. `CTXGAUGE_BENCH_TEXT` names a file to count besides. "Anew" is a first count, while no word
//! is remembered; "then" is a count of as much text of the same words. Both counts are compared.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod common;

use common::corpus;
use common::plain::found;
use common::rows::{row, time};
use ctxgauge::ingest::bytes::lines::Progress;
use ctxgauge::tokens::Counter;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiktoken_rs::{CoreBPE, o200k_base_singleton};

const ROUNDS: usize = 5;

fn main() {
    let (took, _) = timed(o200k_base_singleton);
    println!(
        "o200k of tiktoken-rs loaded in {:.0} ms",
        took.as_secs_f64() * 1e3
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![
        ("code", text_below(&root.join("src"), "rs")),
        ("JSON", text_below(&root.join("tests/fixtures"), "jsonl")),
        ("prose", text_below(root, "md").repeat(4)),
        (
            "Chinese",
            "上下文窗口有多满，谁填满了它，以及代理何时压缩。\n".repeat(20_000),
        ),
        ("base64", base64(2_000_000)),
    ];
    if let Some(path) = std::env::var_os("CTXGAUGE_BENCH_TEXT") {
        let bytes = fs::read(path).unwrap();
        texts.push(("given", String::from_utf8_lossy(&bytes).into_owned()));
    }
    for (name, text) in texts {
        measure(name, &text);
    }
    context(200_000, "≤ 60 ms");
    context(1_000_000, "≤ 300 ms");
}

/// Reads a session whose context has so many tokens, and counts all of it for the first time.
fn context(tokens: u64, goal: &str) {
    let path = corpus::context(tokens);
    let log = &found(path.parent().unwrap())[0];
    let took = (0..ROUNDS).map(|_| {
        let counter = Counter::new();
        let read = || {
            let mut reading = log.store.epoch(log, &Arc::default()).unwrap();
            while reading.step(&counter, &mut || false).unwrap() == Progress::More {}
            black_box(reading.finish());
        };
        timed(read).0
    });
    let what = format!("a context of {tokens} tokens read and counted with o200k");
    row(&what, goal, time(took.min().unwrap()), "–", "–");
}

fn measure(name: &str, text: &str) {
    let speed = |took: Duration| text.len() as f64 / 1e6 / took.as_secs_f64();
    let (theirs, expected) = best(|| tiktoken(o200k_base_singleton(), text));
    let (anew, count) = best(|| {
        let counter = Counter::new();
        counter.count(text)
    });
    // The end of a piece of 64 KiB may cut a word.
    assert!(
        count.abs_diff(expected) <= text.len() as u64 / 30_000,
        "{name}"
    );
    // A longer text each time: the count of a text that was counted is remembered.
    let counter = Counter::new();
    let mut text_then = text.to_owned();
    let (then, _) = best(|| {
        text_then.push('\n');
        counter.count(&text_then)
    });
    println!(
        "{name:<8} {:5.1} MB: tiktoken-rs {:4.0} MB/s, anew {:4.0} MB/s, then {:4.0} MB/s, {:.1} times as fast",
        text.len() as f64 / 1e6,
        speed(theirs),
        speed(anew),
        speed(then),
        theirs.as_secs_f64() / then.as_secs_f64(),
    );
}

/// The tokens of a text.
fn tiktoken(bpe: &CoreBPE, text: &str) -> u64 {
    black_box(bpe.encode_ordinary(text)).len() as u64
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let result = run();
    (begun.elapsed(), result)
}

/// The shortest time of some rounds.
fn best(mut run: impl FnMut() -> u64) -> (Duration, u64) {
    let rounds = (0..ROUNDS).map(|_| timed(&mut run));
    rounds.min_by_key(|(took, _)| *took).unwrap()
}

fn text_below(folder: &Path, extension: &str) -> String {
    let (mut text, mut open) = (String::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let hidden = |name: &str| name.starts_with('.') || name == "target";
            if path.is_dir() && !entry.file_name().to_str().is_none_or(hidden) {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                text += &fs::read_to_string(path).unwrap_or_default();
            }
        }
    }
    text
}

fn base64(len: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut seed = 1_u64;
    let next = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(ALPHABET[(seed >> 58) as usize])
    };
    (0..len).map(next).collect()
}
