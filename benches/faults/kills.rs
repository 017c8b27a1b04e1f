//! Kills at any moment: the cache that others share stays whole, and lists stay the same.

use crate::place::{LIST, Place};
use crate::tally::{Random, Tally};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File, FileTimes};
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
/// No monitor takes longer until it shows all sessions.
const LONGEST: Duration = Duration::from_secs(20);

/// Kills lists, two at a time.
pub fn list(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(LOGS);
    let cache = place.caches().join("index.sqlite");
    for _ in 0..KILLS {
        let before = fs::read(&cache).ok();
        let begin = |()| {
            let mut command = place.command(&LIST);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let begun = [(); 2].map(begin);
        thread::sleep(Duration::from_millis(random.below(LIST_TAKES)));
        for mut child in begun {
            send(random.of(&SIGNALS), child.id());
            child.wait().unwrap();
        }
        let left = fs::read(&cache).ok();
        tally.check(place.rows().and_then(|rows| place.lists(&rows)));
        // It is as it was, or as a list that is not killed writes it.
        let whole = fs::read(&cache).ok();
        tally.check(if left == before || left == whole {
            Ok(())
        } else {
            Err(format!("{} is damaged", cache.display()))
        });
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
        tally.check(place.rows().and_then(|rows| place.lists(&rows)));
        let mut next = place.monitor();
        let all = format!("{LOGS} sessions");
        let shows_all = |screen: &vt100::Screen| screen.contents().contains(&all);
        tally.check(match next.wait_at_most(LONGEST, shows_all) {
            Some(_) => next.end(),
            None => Err(next.parser.screen().contents()),
        });
        write(&place, random);
    }
}

/// Sends a signal to a program that this one has started.
pub fn send(signal: Signal, id: u32) {
    // It may have ended by itself.
    let _ = kill(Pid::from_raw(id.cast_signed()), signal);
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
