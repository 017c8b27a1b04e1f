//! How fast a session goes back in time: its timeline, and its state and forecast as of any moment.
//!
//! `cargo bench --bench replay`. The sessions are made up: 30,000 requests, 120,000 items, one with a
//! compaction every 200 requests and one with none; and one whose log has 100 MB.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

mod common;

use common::corpus;
use common::plain::found;
use common::rows::{row, time};
use ctxgauge::config;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::model::event::{
    BilledUsage, ByLength, Cause, Conversation, Entry, Event, Key, Meta, NewItem, Node, Part,
    Place, Reset, RetainedItems, Size, Usage, count,
};
use ctxgauge::model::outlook::forecast::forecast_at;
use ctxgauge::model::session::Session;
use ctxgauge::model::session::replay::{Step, Timeline};
use ctxgauge::model::{Kind, LeaveReason, Role, Source};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const REQUESTS: u64 = 30_000;
const MOMENTS: usize = 1_000;

fn main() {
    go_back(200);
    go_back(u64::MAX);
    long_log();
}

/// The replay of a session of 100 MB: from opening its log.
fn long_log() {
    let path = corpus::session(100);
    let log = &found(path.parent().unwrap())[0];
    let rules = Arc::new(config::rules().unwrap());
    let begun = Instant::now();
    let sessions = read_whole(log, &ByLength, &rules).unwrap();
    let session = &sessions[0].1;
    let timeline = Timeline::of(session);
    let opened = begun.elapsed();
    row(
        "opening a session of 100 MB for replay",
        "≤ 1 s",
        time(opened),
        "–",
        "–",
    );
    let requests = session.requests().len();
    let go = |to: Option<usize>| {
        let state = session.snapshot_at(timeline.moment(to.unwrap()).unwrap());
        black_box(forecast_at(session, &state).ok());
    };
    let mut at = timeline.of_request(requests / 2).unwrap();
    let step = tell("a step", MOMENTS, |_| {
        at = timeline.next(Step::Request, at).unwrap();
        go(Some(at));
    });
    let jump = tell("a jump by 1,000 requests", MOMENTS, |n| {
        go(timeline.of_request(1_000 * (n % 4) + n / 4));
    });
    for (what, goal, took) in [
        ("a step in it, at p99", "≤ 5 ms", step),
        ("a jump by 1,000 requests in it, at p99", "≤ 20 ms", jump),
    ] {
        row(what, goal, time(took), "–", "–");
    }
}

/// With a compaction every so many requests.
fn go_back(epoch: u64) {
    let begun = Instant::now();
    let session = made_up(epoch);
    println!(
        "{} requests, {} items, {} compactions, folded in {:?}",
        session.requests().len(),
        session.items().len(),
        session.resets().len(),
        begun.elapsed()
    );
    tell("timeline", 100, |_| {
        black_box(Timeline::of(&session));
    });
    let timeline = Timeline::of(&session);
    let mut random = 1_u64;
    let moments: Vec<usize> = (0..MOMENTS)
        .map(|_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as usize % timeline.len()
        })
        .collect();
    println!("{} moments", timeline.len());
    tell("state", MOMENTS, |n| {
        black_box(session.snapshot_at(timeline.moment(moments[n]).unwrap()));
    });
    tell("state and forecast", MOMENTS, |n| {
        let state = session.snapshot_at(timeline.moment(moments[n]).unwrap());
        black_box(forecast_at(&session, &state).ok());
    });
    tell("step", MOMENTS, |n| {
        black_box(timeline.next(Step::Request, moments[n]));
        black_box(timeline.previous(Step::Reset, moments[n]));
    });
    tell("live state", MOMENTS, |_| {
        black_box(session.snapshot());
    });
}

/// Runs something so often, prints how long it took, and returns the 99th percentile.
fn tell(what: &str, times: usize, mut run: impl FnMut(usize)) -> Duration {
    let mut took: Vec<Duration> = (0..times)
        .map(|n| {
            let begun = Instant::now();
            run(n);
            begun.elapsed()
        })
        .collect();
    took.sort_unstable();
    let at = |share: f64| took[((times - 1) as f64 * share) as usize];
    println!(
        "{what}: p50 {:?}, p99 {:?}, most {:?}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    at(0.99)
}

/// A session as a coding agent leaves it: each request says something and calls a tool, twice in ten
/// requests a user or the harness speaks.
fn made_up(epoch: u64) -> Session {
    let mut session = Session::new("claude-code", Arc::new(config::rules().unwrap()));
    let mut line = 0;
    let mut tell = |event| {
        line += 1;
        session.apply(Entry {
            conversation: Conversation::Main,
            place: Place::new(line, line * 1_000, 999),
            at: None,
            event,
        });
    };
    tell(Event::Meta(Box::new(Meta {
        model: Some("claude-sonnet-4-5-20250929".into()),
        ..Meta::default()
    })));
    let mut used = 20_000;
    for n in 0..REQUESTS {
        if n % epoch == epoch - 1 {
            tell(Event::Reset(Box::new(Reset {
                key: Some(Key::of_number("reset", n)),
                gone: LeaveReason::Compaction,
                cause: Cause::Automatic,
                before: None,
                after: None,
                kept: RetainedItems::Nothing,
            })));
            used = 22_000;
        }
        let request = Key::of_number("request", n);
        if n % 10 == 0 {
            tell(node(n, Part::Input, None, &[(Role::User, Kind::Text, 50)]));
        }
        let said = [
            (Role::Assistant, Kind::Thinking, 80),
            (Role::Assistant, Kind::Text, 40),
            (Role::Assistant, Kind::ToolCall, 60),
        ];
        let result = 100 + n * 37 % 900;
        tell(node(n, Part::Output, Some(request), &said));
        tell(Event::Usage(Box::new(Usage {
            request,
            model: Some("claude-sonnet-4-5-20250929".into()),
            prompt: used,
            cached: used / 2,
            miss: None,
            output: Some(200),
            reasoning: None,
            source: Source::Reported,
            billed: BilledUsage::default(),
            is_whole: false,
            is_inherited: false,
        })));
        used += 230 + result * 6 / 5;
        let result = [(Role::Tool, Kind::ToolResult, result)];
        tell(node(n, Part::Result, None, &result));
    }
    session
}

fn node(n: u64, part: Part, request: Option<Key>, items: &[(Role, Kind, u64)]) -> Event {
    let item = |(role, kind, local): &(Role, Kind, u64)| NewItem {
        role: *role,
        kind: *kind,
        tool: None,
        call: None,
        size: Size {
            bytes: count(local * 4),
            chars: count(local * 4),
            local: count(*local),
            counted: true,
            ..Size::default()
        },
        preview: "".into(),
        hash: n,
        nth: 0,
    };
    Event::Node(Box::new(Node {
        part,
        request,
        turn: part == Part::Input,
        items: items.iter().map(item).collect(),
        ..Node::default()
    }))
}
