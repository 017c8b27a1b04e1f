//! A full disk under the cache: a file system in memory, in a name space of its own.

use crate::place::{LIST, PROGRAM, Place, ended};
use crate::tally::{Random, Tally};
use std::process::Command;

const LOGS: usize = 24;
/// A round has so many tries.
const TRIES: usize = 4;

/// Lists twice on a disk of some kilobytes.
pub fn full(random: &mut Random, tally: &mut Tally) {
    if !can_mount() {
        return tally.count("rounds left out: no file system can be mounted", 1);
    }
    let place = Place::new(LOGS);
    let rows = place.rows();
    for _ in 0..TRIES {
        let list = ended(on_a_disk_of(4 + 4 * random.below(12), &place));
        let is_told = |line: &str| line.contains("could not write the index");
        tally.count("without a cache", u64::from(!list.err.is_empty()));
        tally.check(if list.rows() == rows && list.err.lines().all(is_told) {
            Ok(())
        } else {
            Err(format!("{list:?}"))
        });
    }
}

fn can_mount() -> bool {
    let mount = "mount -t tmpfs none /mnt";
    let tried = Command::new("unshare")
        .args(["-rm", "sh", "-c", mount])
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// The list, the second time; its cache is on a disk of so many kilobytes.
fn on_a_disk_of(kilobytes: u64, place: &Place) -> Command {
    let program = place.command(&LIST);
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k none /mnt && \"$0\" \"$@\" > /dev/null 2>&1; exec \"$0\" \"$@\""
    );
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", &script, PROGRAM]).args(LIST);
    shell.env_clear();
    shell.envs(
        program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    shell.env("XDG_CACHE_HOME", "/mnt");
    shell
}
