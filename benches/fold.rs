//! How the time to fold a session grows with its requests.
//!
//! `cargo bench --bench fold`. The sessions are made up and never compact: with usage reports, without
//! any, with parallel tool calls, and with sub-agents in the same file. Linear is a ratio of 4.
#![allow(clippy::print_stdout)]

use ctxgauge::model::event::{
    Billed, Entry, Event, Key, Lane, NewItem, Node, Parent, Part, Place, Size, Usage,
};
use ctxgauge::model::session::Session;
use ctxgauge::model::{Kind, Role, Source};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [u64; 3] = [1_000, 5_000, 20_000];
const ROUNDS: usize = 7;
/// The output of a request, in tokens.
const OUTPUT: u64 = 180;

/// What the requests of a log are like.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Reported,
    Unreported,
    Parallel,
    Sidechains,
}

fn main() {
    for (name, shape) in [
        ("usage reports", Shape::Reported),
        ("no usage", Shape::Unreported),
        ("parallel calls", Shape::Parallel),
        ("sidechains", Shape::Sidechains),
    ] {
        let times = SIZES.map(|requests| best(shape, requests));
        let ratio = times[2].as_secs_f64() / times[1].as_secs_f64();
        let each = SIZES.iter().zip(times).map(|(requests, time)| {
            let micros = time.as_secs_f64() * 1e6 / *requests as f64;
            format!("{requests}: {micros:.1} µs a request")
        });
        let each: Vec<String> = each.collect();
        println!("{name:<15} {}; 20k/5k {ratio:.2}", each.join(", "));
    }
}

/// The shortest time of some rounds.
fn best(shape: Shape, requests: u64) -> Duration {
    let entries = log(shape, requests);
    let times = (0..ROUNDS).map(|_| {
        let mut sessions: BTreeMap<Lane, Session> = BTreeMap::new();
        let entries = entries.clone();
        let begun = Instant::now();
        for entry in entries {
            let new = || Session::new("claude-code", Arc::default());
            sessions.entry(entry.lane).or_insert_with(new).apply(entry);
        }
        let time = begun.elapsed();
        black_box(sessions);
        time
    });
    times.min().unwrap_or_default()
}

/// The entries of a made-up log.
fn log(shape: Shape, requests: u64) -> Vec<Entry> {
    let mut log = Log::default();
    let mut prompts: BTreeMap<Lane, u64> = BTreeMap::new();
    for request in 0..requests {
        let lane = match shape {
            Shape::Sidechains if request % 2 == 1 => Lane::Side(Key(request / 2 % 4)),
            _ => Lane::Main,
        };
        let calls = if shape == Shape::Parallel { 3 } else { 1 };
        if request % 10 == 0 {
            log.node(lane, Part::Input, None, Parent::Previous, Role::User, 40);
        }
        let key = Key::of_number("request", request);
        let prompt = prompts.entry(lane).or_insert(20_000_u64);
        let outputs: Vec<Key> = (0..calls)
            .map(|_| {
                let output = log.node(
                    lane,
                    Part::Output,
                    Some(key),
                    Parent::Previous,
                    Role::Assistant,
                    60,
                );
                if shape != Shape::Unreported {
                    log.usage(lane, key, *prompt);
                }
                output
            })
            .collect();
        *prompt += OUTPUT;
        for output in outputs {
            let size = 20 + request * 37 % 200;
            *prompt += size + 20;
            log.node(
                lane,
                Part::Result,
                None,
                Parent::Key(output),
                Role::Tool,
                size,
            );
        }
    }
    log.entries
}

#[derive(Default)]
struct Log {
    entries: Vec<Entry>,
}

impl Log {
    fn push(&mut self, lane: Lane, event: Event) {
        let line = self.entries.len() as u64 + 1;
        let place = Place {
            line,
            offset: line * 100,
            len: 99,
        };
        self.entries.push(Entry {
            lane,
            place,
            at: None,
            event,
        });
    }

    /// A record with one item of so many tokens. Returns its key.
    fn node(
        &mut self,
        lane: Lane,
        part: Part,
        request: Option<Key>,
        parent: Parent,
        role: Role,
        tokens: u64,
    ) -> Key {
        let key = Key::of_number("node", self.entries.len() as u64);
        let kind = match role {
            Role::Assistant => Kind::ToolCall,
            Role::Tool => Kind::ToolResult,
            _ => Kind::Text,
        };
        let item = NewItem {
            role,
            kind,
            tool: Some("Read".into()),
            call: None,
            size: Size {
                bytes: tokens * 4,
                chars: tokens * 4,
                local: tokens,
                counted: true,
                ..Size::default()
            },
            preview: Box::default(),
            hash: key.0,
            ephemeral: false,
            nth: 0,
        };
        let node = Node {
            key: Some(key),
            parent,
            part,
            request,
            turn: part == Part::Input,
            items: vec![item],
        };
        self.push(lane, Event::Node(Box::new(node)));
        key
    }

    fn usage(&mut self, lane: Lane, request: Key, prompt: u64) {
        let usage = Usage {
            request,
            model: None,
            prompt,
            cached: 0,
            output: Some(OUTPUT),
            reasoning: None,
            source: Source::Reported,
            billed: Billed::default(),
            is_whole: false,
        };
        self.push(lane, Event::Usage(Box::new(usage)));
    }
}
