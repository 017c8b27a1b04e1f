//! Terminals that take no output any more: a program on one still ends when it is told to.

use crate::kills::send;
use crate::place::PROGRAM;
use crate::tally::{Random, Tally};
use nix::sys::signal::Signal;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

/// The longest that it may take to end.
const LONGEST: Duration = Duration::from_secs(1);
/// Then it does not end.
const NEVER: Duration = Duration::from_secs(5);
/// A round has so many tries.
const TRIES: usize = 3;
/// Sizes that a window has in turn: each has all of it drawn again.
const SIZES: u16 = 40;
/// The exit code of a program that a TERM has ended.
const TERMINATED: u32 = 128 + Signal::SIGTERM as u32;

/// Reads what the demo draws, for a while; then ends it.
pub fn stalled(random: &mut Random, tally: &mut Tally) {
    for _ in 0..TRIES {
        tally.check(stall(random));
    }
}

fn stall(random: &mut Random) -> Result<(), String> {
    let home = tempfile::tempdir().unwrap();
    let size = |columns| PtySize {
        rows: 50,
        cols: columns,
        ..PtySize::default()
    };
    let pair = native_pty_system().openpty(size(160)).unwrap();
    let mut command = CommandBuilder::new(PROGRAM);
    command.arg("--demo");
    command.env_clear();
    command.env("HOME", home.path());
    command.env("TERM", "xterm-256color");
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (mut seen, mut chunk) = (0, [0; 4096]);
    // The screens are there.
    while seen < 8_000 {
        seen += reader.read(&mut chunk).unwrap();
    }
    let mut keys = pair.master.take_writer().unwrap();
    for columns in 0..SIZES {
        pair.master.resize(size(120 + columns)).unwrap();
        let _ = keys.write_all(random.of(&["j", "?", "s", "G"]).as_bytes());
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(random.below(400)));
    let told = Instant::now();
    send(Signal::SIGTERM, child.process_id().unwrap());
    while told.elapsed() < NEVER {
        if let Some(status) = child.try_wait().unwrap() {
            let took = told.elapsed();
            return if status.exit_code() == TERMINATED && took <= LONGEST {
                Ok(())
            } else {
                Err(format!("{status:?} after {took:?}"))
            };
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Err(format!("it does not end within {NEVER:?}"))
}
