//! Limits of the system: what does not fit is said, nothing ends by a panic.

use crate::place::{LIST, PROGRAM, Place, ended};
use crate::tally::{Random, Tally};
use nix::sys::signal::Signal;
use std::process::Command;

const LOGS: usize = 12;
/// A round has so many tries.
const TRIES: usize = 6;

/// A limit of the size of files, in blocks of 512 bytes: it concerns the cache alone.
pub fn size(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(LOGS);
    let rows = place.rows();
    for _ in 0..TRIES {
        let list = ended(limited(&place, &LIST, 'f', random.below(40)));
        let is_told = |line: &str| line.contains("could not write the cache");
        tally.count("without a cache", u64::from(!list.err.is_empty()));
        tally.check(if list.rows() == rows && list.err.lines().all(is_told) {
            Ok(())
        } else {
            Err(format!("{list:?}"))
        });
    }
}

/// A limit of open files.
pub fn descriptors(random: &mut Random, tally: &mut Tally) {
    under(random, tally, |random| ('n', 4 + random.below(30)));
}

/// A limit of memory, in kilobytes.
pub fn memory(random: &mut Random, tally: &mut Tally) {
    under(random, tally, |random| {
        ('v', 20_000 + random.below(200_000))
    });
}

/// Runs commands under limits.
fn under(random: &mut Random, tally: &mut Tally, limit: fn(&mut Random) -> (char, u64)) {
    let place = Place::new(LOGS);
    let rows = place.rows();
    let log = place.logs()[0].to_str().unwrap();
    let commands = [&LIST[..], &["report", "--json", log]];
    for arguments in commands.repeat(TRIES / 2) {
        let (what, most) = limit(random);
        if ended(limited(&place, &["--version"], what, most)).code() != Some(0) {
            tally.count("too low to start", 1);
            continue;
        }
        let ended = ended(limited(&place, arguments, what, most));
        // Where no memory is left, the system's own library gives up.
        let is_abort = ended.signal() == Some(Signal::SIGABRT as i32);
        let is_out_of_memory = is_abort && ended.err.contains("memory allocation");
        tally.count("refused", u64::from(ended.code() != Some(0)));
        tally.count("out of memory", u64::from(is_out_of_memory));
        let is_list = arguments == LIST && ended.code() == Some(0);
        tally.check(match ended.in_order() {
            Err(_) if is_out_of_memory => Ok(()),
            Ok(()) if is_list && ended.err.is_empty() && ended.rows() != rows => {
                Err(format!("other rows: {ended:?}"))
            }
            in_order => in_order.map_err(|why| format!("-{what} {most}: {why}")),
        });
    }
}

/// The program under a limit of its shell.
fn limited(place: &Place, arguments: &[&str], what: char, most: u64) -> Command {
    let program = place.command(arguments);
    let mut shell = Command::new("sh");
    let script = format!("ulimit -{what} {most} && exec \"$0\" \"$@\"");
    shell.args(["-c", &script, PROGRAM]).args(arguments);
    shell.env_clear();
    shell.envs(
        program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell
}
