//! Kills at any moment: the cache that others share stays whole, and lists stay the same.

use crate::common::plain::found;
use crate::place::{LIST, Place};
use crate::tally::{Random, Tally};
use ctxgauge::config;
use ctxgauge::ingest::cache::{Cache, LogKey, Part};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{File, FileTimes};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime};

const LOGS: usize = 24;
/// A round has so many kills.
const KILLS: usize = 5;
const SIGNALS: [Signal; 2] = [Signal::SIGKILL, Signal::SIGTERM];
/// A list takes about so long, in milliseconds.
const LIST_TAKES: u64 = 60;
/// The monitor has read all and written the cache after so long.
const MONITOR_TAKES: u64 = 600;

/// Kills lists, two at a time.
pub fn list(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(LOGS);
    for _ in 0..KILLS {
        let killed = |_| {
            let mut command = place.command(&LIST);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let begun = [(); 2].map(killed);
        thread::sleep(Duration::from_millis(random.below(LIST_TAKES)));
        for mut child in begun {
            send(random.of(&SIGNALS), child.id());
            child.wait().unwrap();
        }
        tally.check(is_whole(&place, Part::Ends));
        write(&place, random);
    }
}

/// Kills monitors.
pub fn monitor(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(LOGS);
    for _ in 0..KILLS {
        let mut monitor = place.monitor();
        monitor.settle_for(Duration::from_millis(random.below(MONITOR_TAKES)));
        send(random.of(&SIGNALS), monitor.process().parse().unwrap());
        drop(monitor);
        tally.check(is_whole(&place, Part::Sessions));
        write(&place, random);
    }
}

/// Sends a signal to a program that this one has started.
pub fn send(signal: Signal, id: u32) {
    // It may have ended by itself.
    let _ = kill(Pid::from_raw(id.cast_signed()), signal);
}

/// Whether the cache is none or one that the program takes as its own, and lists by it are as without it.
fn is_whole(place: &Place, part: Part) -> Result<(), String> {
    let rules = config::rules().unwrap();
    let cache = Cache::open(&place.caches(), part, &rules);
    let logs = found(place.home());
    let is_kept = |log| {
        let key = LogKey::of(log, log.store.stamp().ok()?)?;
        cache.get(&key)
    };
    if cache.path().exists() && !logs.iter().any(|log| is_kept(log).is_some()) {
        return Err(format!("{} is damaged", cache.path().display()));
    }
    place.lists(&place.rows()?)
}

/// Appends to one of the logs, so that the cache must be written anew.
fn write(place: &Place, random: &mut Random) {
    let logs = place.logs();
    let path: &Path = &logs[random.below(logs.len() as u64) as usize];
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(b"{\"type\":\"progress\"}\n").unwrap();
    let then = SystemTime::now() - Duration::from_secs(3600);
    file.set_times(FileTimes::new().set_modified(then)).unwrap();
}
