//! Every hand-written log of every agent, damaged at random: bytes flipped, lines swapped, repeated, cut and
//! spliced with another log's, values changed in type and size, ids given twice, parents in circles. Whatever
//! comes of it, the sums hold and the work has a bound. `PROPTEST_CASES` sets how often each log is damaged.

use crate::fuzzed::targets::decoders::named;
use crate::fuzzed::targets::sessions::{self, RULES};
use crate::fuzzed::targets::{lines, seeds};
use ctxgauge::format::Format;
use ctxgauge::kit::text;
use ctxgauge::model::event::{ByLength, Entry, Event, Sink};
use serde::de::IgnoredAny;
use std::env;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};

/// Logs beyond this length add time and no kinds of records.
const LARGE: usize = 30_000;

/// Values of other types and sizes than any that is written.
const ODD: [&str; 14] = [
    "null",
    "true",
    "-1",
    "0",
    "0.5",
    "1e30",
    "9223372036854775807",
    "18446744073709551615",
    "\"7\"",
    "\"\"",
    "\"\\u0000\\ud800\"",
    "[]",
    "[[{}]]",
    "{\"type\":\"text\",\"text\":7}",
];

/// Numbers that are the same in each run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// A way to damage a log. The second log is another one, to splice in.
type Damage = fn(&mut Random, &mut Vec<u8>, &[u8]);

const DAMAGES: [Damage; 5] = [flip, disorder, splice, change_values, copy_ids];

fn flip(random: &mut Random, log: &mut Vec<u8>, _: &[u8]) {
    for _ in 0..=random.below(4) {
        let (at, bits) = (random.below(log.len()), random.below(256) as u8);
        match (log.get_mut(at), random.below(4)) {
            (Some(_), 0) => drop(log.remove(at)),
            (Some(_), 1) => log.insert(at, bits),
            (Some(byte), _) => *byte ^= bits,
            (None, _) => {}
        }
    }
}

fn disorder(random: &mut Random, log: &mut Vec<u8>, _: &[u8]) {
    let mut lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
    for _ in 0..=random.below(4) {
        let (one, other) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(4) {
            0 => lines.swap(one, other),
            1 => lines.insert(one, lines[other]),
            2 => lines[one] = &lines[one][..random.below(lines[one].len())],
            _ => lines[one] = &lines[one][random.below(lines[one].len())..],
        }
    }
    *log = lines.join(&b'\n');
}

fn splice(random: &mut Random, log: &mut Vec<u8>, other: &[u8]) {
    let at = random.below(log.len());
    let from = random.below(other.len());
    let to = from + random.below(other.len() - from);
    let piece = match random.below(2) {
        // Bytes, or the lines that they are in.
        0 => &other[from..to],
        _ => {
            let from = other[..from].iter().rposition(|byte| *byte == b'\n');
            &other[from.unwrap_or(0)..to]
        }
    };
    log.splice(at..at, piece.iter().copied());
}

/// The value of the field after some place, and whether the field's name is that of an id.
fn value(log: &str, place: usize) -> Option<(Range<usize>, bool)> {
    let place = (place..=log.len()).find(|at| log.is_char_boundary(*at))?;
    let start = place + log.get(place..)?.find("\":")? + 2;
    let mut values = serde_json::Deserializer::from_str(log.get(start..)?).into_iter();
    let _: IgnoredAny = values.next()?.ok()?;
    let name = log[..start - 2].rsplit('"').next()?.to_ascii_lowercase();
    let is_id = name.ends_with("id") || name.contains("parent");
    Some((start..start + values.byte_offset(), is_id))
}

fn change_values(random: &mut Random, log: &mut Vec<u8>, _: &[u8]) {
    for _ in 0..=random.below(3) {
        let text = text(log).into_owned();
        let place = random.below(text.len());
        if let Some((range, _)) = value(&text, place) {
            let odd = random.of(&ODD).unwrap();
            *log = [&text[..range.start], odd, &text[range.end..]]
                .concat()
                .into();
        }
    }
}

/// Ids that several records have, and records that are their own or each other's parents.
fn copy_ids(random: &mut Random, log: &mut Vec<u8>, _: &[u8]) {
    for _ in 0..=random.below(6) {
        let text = text(log).into_owned();
        let mut ids = (0..20).filter_map(|_| {
            let (range, is_id) = value(&text, random.below(text.len()))?;
            is_id.then_some(range)
        });
        if let (Some(from), Some(to)) = (ids.next(), ids.next()) {
            *log = [&text[..to.start], &text[from], &text[to.end..]]
                .concat()
                .into();
        }
    }
}

/// All that one entry brings: the work of a session grows with it.
fn work(entries: &[Entry]) -> usize {
    let of = |entry: &Entry| match &entry.event {
        Event::Node(node) => 1 + node.items.len(),
        _ => 1,
    };
    entries.iter().map(of).sum()
}

fn decoded(format: &Format, log: &[u8]) {
    let lines = sessions::read_lines(format.decoder().as_mut(), log);
    let mut document = Sink::new(&ByLength);
    let mut decoder = format.decoder();
    decoder.read_document(&text(log), &mut document);
    decoder.read_end(&mut document);
    for entries in [lines, document.entries] {
        let work = work(&entries);
        assert!(work <= log.len() + 100, "{work} of {} bytes", log.len());
        sessions::check(&sessions::fold(format, &RULES, entries));
    }
}

#[test]
fn damaged_logs_break_no_sums_and_make_no_more_work_than_they_are_long() {
    let rounds = env::var("PROPTEST_CASES").ok();
    let rounds = rounds.and_then(|n| n.parse().ok()).unwrap_or(4);
    let mut logs = seeds::of("decoders");
    logs.retain(|(_, log)| log.len() < LARGE);
    for round in 0..rounds {
        for (nth, (name, seed)) in logs.iter().enumerate() {
            let mut random = Random((round * logs.len() + nth) as u64);
            let (format, log) = named(seed);
            let mut log = log.to_vec();
            let other = random.of(&logs).unwrap();
            // Each kind in turn, and another one on top of it.
            DAMAGES[(round + nth) % DAMAGES.len()](&mut random, &mut log, named(&other.1).1);
            if let Some(damage) = random.of(&DAMAGES).filter(|_| nth % 2 == 0) {
                damage(&mut random, &mut log, named(&other.1).1);
            }
            let pieces = [&[random.below(256) as u8][..], &log].concat();
            let holds = || {
                decoded(format, &log);
                lines::check(&pieces);
            };
            if panic::catch_unwind(AssertUnwindSafe(holds)).is_err() {
                panic!("{name}, damaged, round {round}:\n{}", text(&log));
            }
        }
    }
}
