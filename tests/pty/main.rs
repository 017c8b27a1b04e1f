//! What needs a real terminal: how the program takes it and leaves it, however it ends. One test at a time: see
//! [`terminal::Terminal`]. Everything else about the screens is tested in `tests/it`, without a terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../it/hostile/bytes.rs"]
mod bytes;
#[cfg(target_os = "linux")]
mod confined;
mod copy;
mod hostile;
mod hosts;
mod life;
// Only tests on Linux start a process without a terminal.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
#[path = "../it/support/program.rs"]
mod program;
mod progress;
mod signals;
mod terminal;
