//! The process: its arguments, environment and streams.

use ctxgauge::commands::locale::Terminals;
use ctxgauge::commands::program::{self, Streams};
use ctxgauge::commands::streams;
use ctxgauge::files;
use ctxgauge::files::paths::User;
use std::ffi::OsString;
use std::process::ExitCode;

/// The allocator of musl is slow where several threads use it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    streams::report_panics();
    files::ignore_file_size_limit();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let streams = Streams {
        input: Box::new(std::io::stdin()),
        out: &mut streams::stdout(),
        err: &mut streams::stderr(),
        terminals: Terminals::of_process(),
    };
    let code = program::run(&arguments, &User::of_process(), streams).into();
    // The screens may have ended while a report was written, and a hook while it kept what it said.
    files::output::remove_unfinished();
    code
}
