//! What must hold for any input. Each module is a target of the fuzzer and checks one input; the test
//! `tests/it/fuzzed.rs` checks the seeds and everything that the fuzzer has found.
//!
//! ```sh
//! cargo run --manifest-path fuzz/Cargo.toml --bin seeds
//! cargo +nightly fuzz run decoders -- -max_total_time=600 -timeout=10 -max_len=65536
//! ```
//!
//! An input that fails goes to `fuzz/findings/TARGET/`, with a name that says what it is, once it is mended.

pub mod cases;
pub mod configuration;
pub mod damage;
pub mod database;
pub mod decoders;
pub mod folder;
pub mod hosts;
pub mod json;
pub mod lines;
pub mod mappings;
pub mod models;
pub mod seeds;
pub mod sessions;
pub mod summaries;
pub mod tail;

/// A target: its name, and what checks an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 11] = [
    ("configuration", configuration::check),
    ("database", database::check),
    ("decoders", decoders::check),
    ("folder", folder::check),
    ("hosts", hosts::check),
    ("json", json::check),
    ("lines", lines::check),
    ("mappings", mappings::check),
    ("models", models::check),
    ("summaries", summaries::check),
    ("tail", tail::check),
];

/// The first line, and what follows it.
fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[]),
    }
}
