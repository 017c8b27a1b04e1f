//! Fifty agents write at once: records, tears, rotations, documents, folders and a database.
//!
//! `cargo bench --bench load [-- --seconds 600]`; a minute without the option. The program runs in a
//! pseudo-terminal and its keys are pressed all the while; beside it, the same reader runs in this process. At the end
//! every session must equal a fresh reading, and memory and descriptors must not have grown: otherwise this ends with
//! an error.
//!
//! Before that, for a third of the time, the agents append lines alone and no key is pressed: what the program costs then,
//! and how long an append takes to its frame. After it, one log grows by 18 MB at once while keys are pressed.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "load/frames.rs"]
mod frames;
#[path = "load/growth.rs"]
mod growth;
#[path = "load/writers.rs"]
mod writers;

use common::measure::{descriptors, processor_time, resident, threads};
use common::rows::{row, time};
use common::screen::{Probe, Screen, probe, tab};
use ctxgauge::files::paths::{Folders, User};
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::{SearchRoot, usual};
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::ingest::{Handle, IngestEvent, Options, start};
use ctxgauge::model::event::ByLength;
use ctxgauge::model::lists::gauge::SessionGauge;
use ctxgauge::model::lists::sessions::{SessionKey, Sessions, Update};
use ctxgauge::model::session::context::Context;
use ctxgauge::model::window::Rules;
use ctxgauge::tokens::Counter;
use ctxgauge::{agents, config};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use writers::Writer;

const AGENTS: usize = 50;
/// Between two records of an agent.
const PAUSE: Duration = Duration::from_millis(200);
/// After so long without news, everything has been read.
const QUIET: Duration = Duration::from_secs(4);
/// After so long, a key has had no effect.
const UNANSWERED: Duration = Duration::from_secs(2);
/// Longer waits are failures.
const PATIENCE: Duration = Duration::from_secs(120);
/// What may be resident at the end, as a multiple of what was resident after a third of the time: the allocator
/// returns memory when it likes.
const FLAT: f64 = 1.25;

fn main() -> ExitCode {
    let seconds = std::env::args().skip_while(|argument| argument != "--seconds");
    let seconds = seconds.skip(1).find_map(|seconds| seconds.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(60));
    watch(length / 3);
    let home = tempfile::tempdir().unwrap();
    let agents = Agents::start(home.path(), Writer::new);
    let followed = Followed::start(home.path());
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    let samples = sampler(screen.process(), Arc::clone(&agents.stop));
    let took = press_keys(&mut screen, length);

    let records = agents.stop();
    let samples = samples.join().unwrap();
    println!("{records} records in {}", time(length));
    let is_alive = report_keys(took);
    let is_flat = report_samples(&samples);
    let is_equal = compare(&followed.settle(), home.path());
    screen.quit();
    growth::measure();
    if is_alive && is_flat && is_equal {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Agents at work, each on a thread of its own.
struct Agents {
    stop: Arc<AtomicBool>,
    records: Arc<AtomicU64>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Agents {
    /// Starts them. All have begun to write when this returns.
    fn start(home: &Path, writer: fn(&Path, usize) -> Writer) -> Agents {
        let stop = Arc::new(AtomicBool::new(false));
        let records = Arc::new(AtomicU64::new(0));
        let threads = (0..AGENTS).map(|n| {
            let mut writer = writer(home, n);
            let (stop, records) = (Arc::clone(&stop), Arc::clone(&records));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    writer.write();
                    records.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(PAUSE);
                }
            })
        });
        let threads = threads.collect();
        thread::sleep(Duration::from_secs(1));
        Agents {
            stop,
            records,
            threads,
        }
    }

    /// Stops them. Returns how many records they have written.
    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.records.load(Ordering::Relaxed)
    }
}

/// Prints what the program costs, and how long an append takes to its frame, while agents append lines and nobody
/// presses a key.
fn watch(length: Duration) {
    let home = tempfile::tempdir().unwrap();
    // Of the ways to write, the first and the sixth append whole lines.
    let agents = Agents::start(home.path(), |home, n| Writer::new(home, 5 * n));
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| screen.contents().lines().count() > 40);
    screen.settle_for(Duration::from_secs(2));
    let process = screen.process();
    let (begun, before) = (Instant::now(), processor_time(&process));
    // A number that no writer has.
    let appends = frames::appends(&mut screen, home.path(), 5 * AGENTS, length);
    let (took, of) = (processor_time(&process) - before, begun.elapsed());
    screen.quit();
    agents.stop();
    row(
        &format!("CPU of the monitor while {AGENTS} agents append five times a second each"),
        "≤ 15 % of a processor",
        format!("{} in {}", time(took), time(of)),
        "–",
        format!("{:.1} %", 100.0 * took.as_secs_f64() / of.as_secs_f64()),
    );
    row_of(
        "an append to its frame meanwhile",
        "≤ 36 ms at p99",
        appends,
    );
}

/// A row of how long something took, each time.
fn row_of(what: &str, goal: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let at = |share: f64| time(took[((took.len() - 1) as f64 * share) as usize]);
    row(
        &format!("{what}, {} times: p50, p99 and the longest", took.len()),
        goal,
        format!("{}, {} and {}", at(0.5), at(0.99), at(1.0)),
        "–",
        "–",
    );
}

/// Keys that change the screen whatever the logs do, and what of the screen they change.
const KEYS: [(&str, Probe); 19] = [
    ("G", probe),
    ("g", probe),
    ("S", probe),
    ("?", probe),
    ("\x1b", probe),
    ("/", probe),
    ("a", probe),
    ("\x7f", probe),
    ("\x1b", probe),
    ("\r", probe),
    ("\t", tab),
    ("\t", tab),
    ("\t", tab),
    ("?", probe),
    ("\x1b", probe),
    ("\x1b", probe),
    ("r", probe),
    ("\x1b", probe),
    ("\x1b", probe),
];

/// Presses keys on all screens until the time is over. Returns how long each took, and how many had no effect.
fn press_keys(screen: &mut Screen, length: Duration) -> (Vec<Duration>, usize) {
    let begun = Instant::now();
    screen.wait_for(|screen| screen.contents().lines().count() > 40);
    let (mut took, mut unanswered) = (Vec::new(), 0);
    for (n, (key, probe)) in KEYS.iter().cycle().enumerate() {
        if begun.elapsed() > length {
            break;
        }
        // A user's pause, never in step with the frames.
        screen.settle_for(Duration::from_millis(35 + (n as u64 * 7) % 23));
        match screen.try_key(key, UNANSWERED, *probe) {
            Some(time) => took.push(time),
            None => {
                unanswered += 1;
                let contents = screen.parser.screen().contents();
                let top = contents.lines().next().unwrap_or_default().trim();
                println!("{key:?} had no effect below '{top}'");
            }
        }
    }
    (took, unanswered)
}

/// Returns whether the program still answers: a session that vanishes at that moment takes its screen along.
fn report_keys((took, unanswered): (Vec<Duration>, usize)) -> bool {
    let is_alive = unanswered * 20 <= took.len();
    row_of(
        "a key to its frame while 50 agents write in all ways",
        "≤ 50 ms",
        took,
    );
    println!("{unanswered} keys without effect");
    is_alive
}

/// What the program has at one time.
struct Sample {
    resident: u64,
    descriptors: u64,
    threads: u64,
}

/// Takes a sample every half second.
fn sampler(process: String, stop: Arc<AtomicBool>) -> thread::JoinHandle<Vec<Sample>> {
    thread::spawn(move || {
        let mut samples = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            samples.push(Sample {
                resident: resident(&process),
                descriptors: descriptors(&process),
                threads: threads(&process),
            });
            thread::sleep(Duration::from_millis(500));
        }
        samples
    })
}

/// Prints the most of each third. Returns whether the last has no more than the second.
fn report_samples(samples: &[Sample]) -> bool {
    let thirds: Vec<&[Sample]> = samples.chunks(samples.len().div_ceil(3).max(1)).collect();
    let most = |of: fn(&Sample) -> u64| -> Vec<u64> {
        let all = thirds.iter();
        all.map(|third| third.iter().map(of).max().unwrap_or_default())
            .collect()
    };
    let resident = most(|sample| sample.resident);
    let megabytes: Vec<String> = resident
        .iter()
        .map(|n| format!("{:.1}", *n as f64 / 1e6))
        .collect();
    let descriptors = most(|sample| sample.descriptors);
    let threads = most(|sample| sample.threads);
    println!(
        "most of each third: memory {megabytes:?} MB, descriptors {descriptors:?}, threads {threads:?}"
    );
    let [_, second, third] = resident[..] else {
        return true;
    };
    let is_flat = third as f64 <= second as f64 * FLAT && descriptors[2] <= descriptors[1] + 4;
    if !is_flat {
        println!("memory or descriptors have grown");
    }
    is_flat
}

/// What is compared of a session.
#[derive(Debug)]
struct Seen {
    context: Context,
    requests: usize,
    compactions: usize,
    unreadable: u64,
}

/// The sessions of a home, followed in this process.
struct Followed {
    sessions: Arc<Mutex<(Sessions, Instant, bool)>>,
    _handle: Handle,
}

impl Followed {
    fn start(home: &Path) -> Followed {
        let rules: Arc<Rules> = Arc::new(config::rules().unwrap());
        let options = Options {
            formats: agents::ALL.to_vec(),
            roots: roots(home),
            user: User::default(),
            rules: Arc::clone(&rules),
            counter: Arc::default(),
            cache: None,
            poll: false,
        };
        let sessions = Arc::new(Mutex::new((Sessions::new(rules), Instant::now(), false)));
        let applied = Arc::clone(&sessions);
        let sink = move |delivery| {
            let IngestEvent::Update(update) = delivery else {
                return ControlFlow::Continue(());
            };
            let mut sessions = applied.lock().unwrap();
            sessions.2 |= matches!(update, Update::CaughtUp);
            if !matches!(update, Update::CaughtUp) {
                sessions.1 = Instant::now();
            }
            sessions.0.apply(update);
            ControlFlow::Continue(())
        };
        Followed {
            sessions,
            _handle: start(options, None, sink).unwrap(),
        }
    }

    /// The sessions when there is no more news.
    fn settle(&self) -> BTreeMap<SessionKey, Seen> {
        let begun = Instant::now();
        loop {
            let news = self.sessions.lock().unwrap();
            let (sessions, newest, is_caught_up) = &*news;
            if *is_caught_up && newest.elapsed() > QUIET {
                let gauges = sessions.gauges();
                return gauges.map(|(key, gauge)| (key, Seen::of(gauge))).collect();
            }
            drop(news);
            assert!(
                begun.elapsed() < PATIENCE,
                "the reader does not come to rest"
            );
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Seen {
    fn of(gauge: &SessionGauge) -> Seen {
        Seen {
            context: gauge.context,
            requests: gauge.requests,
            compactions: gauge.compactions,
            unreadable: gauge.unreadable,
        }
    }

    /// Whether it is the session of these two readings. They differ in how texts are sized, by their length or
    /// counted, and one that is followed may have both: what is appended is always counted.
    /// So what is known and all numbers of things are equal, and the interval of the total overlaps with theirs.
    fn equals(&self, fresh: &[Seen; 2]) -> bool {
        let exact = |seen: &Seen| {
            let items = seen.context.roles.map(|share| share.items);
            let of_session = (seen.requests, seen.compactions, seen.unreadable);
            (seen.context.known, items, of_session)
        };
        let Context { low, high, .. } = self.context;
        let is_near = |fresh: &Seen| fresh.context.low <= high && low <= fresh.context.high;
        fresh.iter().all(|fresh| exact(fresh) == exact(self)) && fresh.iter().any(is_near)
    }
}

/// Prints what differs from fresh readings. Returns whether nothing does.
fn compare(followed: &BTreeMap<SessionKey, Seen>, home: &Path) -> bool {
    let rules = Arc::new(config::rules().unwrap());
    let counter = Counter::new();
    let logs = Scanner::new(roots(home), agents::ALL.to_vec(), |_| None)
        .look()
        .files;
    let (mut all, mut wrong) = (0, 0);
    for log in &logs {
        let by_length = read_whole(log, &ByLength, &rules).unwrap();
        let by_count = read_whole(log, &counter, &rules).unwrap();
        for ((conversation, by_length), (_, by_count)) in by_length.iter().zip(&by_count) {
            let file = log.facts.file;
            let seen = followed.get(&SessionKey {
                file,
                conversation: *conversation,
            });
            let fresh = [Seen::of(&by_length.gauge()), Seen::of(&by_count.gauge())];
            all += 1;
            if !seen.is_some_and(|seen| seen.equals(&fresh)) {
                wrong += 1;
                println!(
                    "{}:\n  followed {seen:?}\n  fresh    {fresh:?}",
                    log.facts.path.display()
                );
            }
        }
    }
    if followed.len() != all {
        println!(
            "{} sessions when followed, {all} in a fresh reading",
            followed.len()
        );
    }
    println!("{all} sessions, {wrong} of them other than in a fresh reading");
    wrong == 0 && followed.len() == all
}

/// Where the agents write.
fn roots(home: &Path) -> Vec<SearchRoot> {
    let folders = Folders {
        home: Some(home.to_owned()),
        xdg_data: Some(home.join(".local/share")),
        ..Folders::default()
    };
    usual(
        &agents::ALL,
        &User {
            folders,
            ..User::default()
        },
    )
}
