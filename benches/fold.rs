//! How the time to fold a session grows with its requests, for many shapes of sessions, and what one more record costs
//! in a long one.
//!
//! `cargo bench --bench fold`; `-- NAME` folds the shapes whose name contains it. The sessions are made up. Linear is a
//! ratio of 4 from each size to the next.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "fold/shapes.rs"]
mod shapes;

mod common;

use common::rows::{self, row, time};

use ctxgauge::config;
use ctxgauge::model::event::{Conversation, Entry};
use ctxgauge::model::outlook::forecast::forecast;
use ctxgauge::model::session::Session;
use ctxgauge::model::window::Rules;
use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const SIZES: [u64; 3] = [5_000, 20_000, 80_000];
/// The records of one more request are applied to a session of so many.
const LONG: u64 = 80_000;
/// No further size or round is tried once one takes so long.
const PATIENCE: Duration = Duration::from_secs(1);

fn main() {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    let rules = Arc::new(config::rules().unwrap());
    let mut steps = Vec::new();
    for (name, make) in shapes::ALL {
        if is_wanted(name) {
            let step = growth(name, *make, &rules);
            steps.push((step, *name));
        }
    }
    if let Some((worst, name)) = steps.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)) {
        row(
            "CPU a request, in the largest session that was tried (to 80,000) beside one of 5,000, without a compaction: the worst shape",
            "≤ 1.1×",
            name,
            format!("{} shapes", steps.len()),
            format!("{worst:.2}×"),
        );
    }
    for (name, make) in shapes::LIVE {
        if is_wanted("one more record") {
            one_more(name, *make, &rules);
        }
    }
}

/// How many times a request of the largest size that was tried costs one of the smallest.
fn growth(name: &str, make: fn(u64) -> Vec<Entry>, rules: &Arc<Rules>) -> f64 {
    let mut all = Vec::new();
    let mut line = format!("{name:<22}");
    let mut last: Option<Duration> = None;
    for size in SIZES {
        let entries = make(size);
        let rounds = 2 * LONG / size;
        let mut time = fold(&entries, rules);
        for _ in 1..rounds {
            if time > PATIENCE {
                break;
            }
            time = time.min(fold(&entries, rules));
        }
        let each = time.as_secs_f64() * 1e6 / size as f64;
        line += &format!(" {size}: {each:.2} µs");
        if let Some(last) = last {
            line += &format!(" (x{:.2})", time.as_secs_f64() / last.as_secs_f64());
        }
        last = Some(time);
        all.push(time.as_secs_f64());
        if time > PATIENCE {
            line += " …";
            break;
        }
    }
    println!("{line}");
    let slowdown = |cost: f64, size: u64| cost / all[0] * SIZES[0] as f64 / size as f64;
    let worst = slowdown(all[all.len() - 1], SIZES[all.len() - 1]);
    if name == "reports"
        && let Ok(costs) = <[f64; 3]>::try_from(all)
    {
        let sizes = "5,000, 20,000 and 80,000 requests";
        rows::growth(
            "CPU of a session that never compacts",
            sizes,
            costs,
            |cost| time(Duration::from_secs_f64(cost)),
        );
    }
    worst
}

/// Folds a log. It comes in pieces, as logs are read.
fn fold(log: &[Entry], rules: &Arc<Rules>) -> Duration {
    let mut sessions: BTreeMap<Conversation, Session> = BTreeMap::new();
    let mut took = Duration::ZERO;
    for piece in log.chunks(1_000) {
        let piece = piece.to_vec();
        let begun = clock();
        for entry in piece {
            let new = || Session::new("claude-code", Arc::clone(rules));
            sessions
                .entry(entry.conversation)
                .or_insert_with(new)
                .take_in(entry);
        }
        took += clock() - begun;
    }
    let begun = clock();
    for session in sessions.values_mut() {
        session.catch_up();
        black_box(session.context());
    }
    took + clock() - begun
}

/// The last 2,000 records of a long session, one by one, each with what a screen asks for after it.
fn one_more(name: &str, make: fn(u64) -> Vec<Entry>, rules: &Arc<Rules>) {
    let mut entries = make(LONG);
    let newest = entries.split_off(entries.len() - 2_000);
    let mut session = Session::new("claude-code", Arc::clone(rules));
    for entry in entries {
        session.apply(entry);
    }
    let ask = |session: &Session| {
        black_box(session.context());
        black_box(session.limits());
        black_box(forecast(session, None).ok());
    };
    ask(&session);
    let times = newest.into_iter().map(|entry| {
        let begun = clock();
        session.apply(entry);
        let applied = clock() - begun;
        ask(&session);
        (applied, clock() - begun)
    });
    let (mut applied, mut all): (Vec<Duration>, Vec<Duration>) = times.unzip();
    for (what, times) in [("apply", &mut applied), ("apply and ask", &mut all)] {
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "one more record, {name}: {what}: p50 {:?}, p99 {:?}, most {:?}",
            at(0.5),
            at(0.99),
            at(1.0)
        );
        if name == "reports" && what == "apply and ask" {
            row(
                "one more record in a session of 80,000 requests: p50 and p99",
                "≤ 1 ms at p99",
                format!("{} and {}", time(at(0.5)), time(at(0.99))),
                "–",
                "–",
            );
        }
    }
}

/// The processor's time of this thread so far: on a machine with other work, the only one that compares.
fn clock() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .unwrap()
        .into()
}
