//! Writes the numbers once, or keeps a file of them fresh, for a program that reads files: node_exporter's collector of
//! text files.

use crate::followed::Followed;
use crate::text::{Format, text};
use anyhow::{Context, Result};
use files::output::publish;
use report::print_problems;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest time for which the first numbers wait until the logs of all sessions were read whole. Counts of those that
/// were not are left out.
const FIRST_WAIT: Duration = Duration::from_secs(10);
/// The beginning of each such file.
const BEGIN: &[u8] = b"# HELP ctxgauge_";

/// Writes the numbers to a stream.
///
/// # Errors
///
/// If `out` or `err` cannot be written to.
pub fn write(
    followed: &Followed,
    format: Format,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    followed.wait_until_read(FIRST_WAIT);
    print_problems(&followed.problems(), err)?;
    Ok(out.write_all(text(followed.snapshot(), format)?.as_bytes())?)
}

/// Writes the numbers to a file, which is replaced whole and which all users may read; with `every`, again and again until
/// the end.
///
/// # Errors
///
/// If the file cannot be written the first time, or `err` cannot be written to. Later, that is printed and tried again: the
/// disk may be full for a while.
pub fn keep(
    followed: &Followed,
    format: Format,
    path: &Path,
    every: Option<Duration>,
    err: &mut dyn Write,
) -> Result<()> {
    followed.wait_until_read(FIRST_WAIT);
    let mut next = Instant::now();
    let (mut is_first, mut has_failed) = (true, false);
    while !followed.is_ended() {
        print_problems(&followed.problems(), err)?;
        let text = text(followed.snapshot(), format)?;
        let written = publish(path, text.as_bytes(), |old| old.starts_with(BEGIN))
            .with_context(|| format!("could not write {}", path.display()));
        match written {
            Ok(()) => has_failed = false,
            Err(error) if is_first => return Err(error),
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    writeln!(err, "ctxgauge: {error:#}")?;
                }
            }
        }
        let Some(every) = every else { break };
        is_first = false;
        next = (next + every).max(Instant::now());
        followed.wait(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
