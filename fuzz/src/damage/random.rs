//! Damage at random: bytes flipped, lines swapped, repeated, cut and spliced with another log's, values changed in type
//! and size, ids given twice, parents in circles.

use super::values::ODD;
use ctxgauge::decode::text;
use serde_json::value::RawValue;
use std::ops::Range;

/// Numbers that are the same in each run (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end.max(1) as u64) as usize
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// A way to damage a log. The second log is another one, to splice in.
pub type Damage = fn(&mut Random, &mut Vec<u8>, &[u8]);

pub const DAMAGES: [Damage; 5] = [flip, disorder, splice, change_values, copy_ids];

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
    let _: &RawValue = values.next()?.ok()?;
    let name = log[..start - 2].rsplit('"').next()?.to_ascii_lowercase();
    let is_id = name.ends_with("id") || name.contains("parent");
    Some((start..start + values.byte_offset(), is_id))
}

fn change_values(random: &mut Random, log: &mut Vec<u8>, _: &[u8]) {
    for _ in 0..=random.below(3) {
        let text = text(log).into_owned();
        let place = random.below(text.len());
        if let Some((range, _)) = value(&text, place) {
            let odd = random.of(&ODD).expect("odd values");
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
