//! Faults of the world around the program, one round after another: writers, kills, limits, stalled terminals, logs
//! that change, a full disk.
//!
//! `cargo bench --bench faults [-- --minutes 30] [--seed 7]`; one minute without the option. Every fault is tried on
//! the built program. A table says how often each was tried and how often something did not hold; then this ends with
//! an error.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "faults/databases.rs"]
mod databases;
#[path = "faults/disk.rs"]
mod disk;
#[path = "faults/kills.rs"]
mod kills;
#[path = "faults/limits.rs"]
mod limits;
#[path = "faults/logs.rs"]
mod logs;
#[path = "faults/place.rs"]
mod place;
#[path = "faults/tally.rs"]
mod tally;
#[path = "faults/terminals.rs"]
mod terminals;
#[path = "load/writers.rs"]
mod writers;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use tally::{Random, Tally};

/// A fault: its name, and a round of tries.
type Fault = (&'static str, fn(&mut Random, &mut Tally));

const FAULTS: [Fault; 11] = [
    ("a database written without pause", databases::written),
    (
        "a writer's commits, alone and beside the monitor",
        databases::timed,
    ),
    ("ls killed", kills::list),
    ("the monitor killed", kills::monitor),
    ("a limit of files' size", limits::size),
    ("a limit of open files", limits::descriptors),
    ("a limit of memory", limits::memory),
    ("a terminal that takes no output", terminals::stalled),
    ("logs written by all agents", logs::written),
    ("logs replaced, cut and deleted", logs::replaced),
    ("a full disk", disk::full),
];

fn main() -> ExitCode {
    let minutes = argument("--minutes").unwrap_or(1);
    let mut random = Random::new(argument("--seed").unwrap_or(1));
    let length = Duration::from_secs(60 * minutes);
    let mut faults: Vec<(Fault, Tally)> = FAULTS.map(|fault| (fault, Tally::default())).into();
    let begun = Instant::now();
    while begun.elapsed() < length {
        for ((_, round), tally) in &mut faults {
            round(&mut random, tally);
        }
    }
    println!("| fault | tries | failures | beside |\n|---|---|---|---|");
    for ((name, _), tally) in &faults {
        println!("| {name} | {tally} |");
    }
    if faults.iter().all(|(_, tally)| tally.failures == 0) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The number after a word on the command line.
fn argument(name: &str) -> Option<u64> {
    let arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.skip(1).find_map(|number| number.parse().ok())
}
