//! Logs that are written, replaced, cut and deleted beside lists and a monitor.

use crate::common::home::response;
use crate::common::screen::Screen;
use crate::place::Place;
use crate::tally::{Random, Tally};
use crate::writers::Writer;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

const AGENTS: usize = 20;
/// Between two records of an agent.
const PAUSE: Duration = Duration::from_millis(10);
/// Each agent writes so many records between two looks, and so often.
const RECORDS: u64 = 40;
const LOOKS: usize = 2;
/// What happens to the logs of a monitor.
const CHANGES: usize = 40;

/// Lists by the cache are as without it, whenever the agents pause.
pub fn written(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(0);
    let writers = (0..AGENTS).map(|n| Writer::new(place.home(), n));
    let mut writers: Vec<Writer> = writers.collect();
    let monitor = place.monitor();
    for _ in 0..LOOKS {
        let records = 1 + random.below(RECORDS);
        thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(|| {
                    for _ in 0..records {
                        writer.write();
                        thread::sleep(PAUSE);
                    }
                });
            }
        });
        tally.check(place.rows().and_then(|rows| place.lists(&rows)));
    }
    tally.check(monitor.end());
}

/// A monitor shows what is there in the end.
pub fn replaced(random: &mut Random, tally: &mut Tally) {
    let place = Place::new(6);
    let mut monitor = place.monitor();
    for n in 0..CHANGES {
        let logs = place.logs();
        let log = &logs[random.below(logs.len() as u64) as usize];
        change(log, n, random);
        monitor.settle_for(Duration::from_millis(random.below(30)));
    }
    for (n, log) in place.logs().iter().enumerate() {
        fs::write(log, said(n + 900)).unwrap();
    }
    let all = (0..place.logs().len()).map(|n| format!("project-{}", n + 900));
    let all: Vec<String> = all.collect();
    tally.check(shows(&mut monitor, &all));
    tally.check(place.rows().and_then(|rows| place.lists(&rows)));
    tally.check(monitor.end());
}

fn shows(monitor: &mut Screen, all: &[String]) -> Result<(), String> {
    const PATIENCE: Duration = Duration::from_secs(20);
    let has_all = |screen: &vt100::Screen| {
        let contents = screen.contents();
        all.iter().all(|text| contents.contains(text))
    };
    match monitor.wait_at_most(PATIENCE, has_all) {
        Some(_) => Ok(()),
        None => Err(monitor.parser.screen().contents()),
    }
}

/// A log in a project of this number.
fn said(n: usize) -> String {
    (0..3).map(|record| response(record, n, 300)).collect()
}

fn change(log: &Path, n: usize, random: &mut Random) {
    match random.below(5) {
        0 => {
            let _ = fs::remove_file(log);
        }
        1 => fs::write(log, said(n)).unwrap(),
        2 => {
            let new = log.with_extension("new");
            fs::write(&new, said(n)).unwrap();
            fs::rename(&new, log).unwrap();
        }
        3 => {
            let len = fs::metadata(log).map_or(0, |meta| meta.len());
            if let Ok(file) = File::options().write(true).open(log) {
                file.set_len(random.below(len + 1)).unwrap();
            }
        }
        _ => {
            let file = File::options().append(true).create(true).open(log);
            file.unwrap().write_all(said(n).as_bytes()).unwrap();
        }
    }
}
