//! Finds the numbers of tokens in a log.

use super::places::{Places, Records, part_of, split, table};
use decode::lenient::Count;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An object with the numbers of a request: the place of each, and its values by their records.
#[derive(Default)]
pub(super) struct Usage<'p> {
    parts: BTreeMap<&'static str, (&'p str, BTreeMap<usize, u64>)>,
    /// True if what was cached is no part of the input.
    pub(super) is_beside: bool,
    /// True if reasoning is no part of the output.
    pub(super) is_apart: bool,
}

/// The number that a name is of.
fn part(name: &str) -> Option<&'static str> {
    let parts = table("numbers")
        .keys()
        .map(|part| (part_of(name, &format!("numbers.{part}")), part));
    let (length, part) = parts.max()?;
    (length > 0 && part_of(name, "parts.other") == 0).then_some(part)
}

impl<'p> Usage<'p> {
    /// Returns the numbers of requests; `None`: no object has an input and an output, or all are 0.
    pub(super) fn find(places: &'p Places<'_>) -> Option<Usage<'p>> {
        let mut objects: BTreeMap<&str, Usage<'p>> = BTreeMap::new();
        for (path, leaves) in places.single() {
            let (object, name) = split(path);
            let number = |(record, json): &(usize, &str)| Some((*record, Count::of(json).0?));
            let numbers: BTreeMap<_, _> = leaves.iter().filter_map(number).collect();
            if let Some(part) = part(name).filter(|_| !numbers.is_empty()) {
                let parts = &mut objects.entry(object).or_default().parts;
                parts.entry(part).or_insert((path, numbers));
            }
        }
        objects.retain(|_, usage| usage.place("input").and(usage.place("output")).is_some());
        objects.retain(|object, usage| {
            part_of(object, "parts.sums") == 0 && !usage.records().is_empty()
        });
        let best = objects.into_values().max_by_key(|usage| {
            let records = usage.records();
            let most = records.iter().map(|record| usage.sum(*record)).max();
            let has_cached = usage.place("cached").is_some();
            (has_cached, records.len(), Reverse(most))
        });
        best.map(Usage::placed)
    }

    /// The place of a number.
    pub(super) fn place(&self, part: &str) -> Option<&'p str> {
        self.parts.get(part).map(|(path, _)| *path)
    }

    /// The number in a record.
    fn number(&self, part: &str, record: usize) -> u64 {
        let part = self.parts.get(part);
        let number = part.and_then(|(_, numbers)| numbers.get(&record));
        number.copied().unwrap_or(0)
    }

    fn cached(&self, record: usize) -> u64 {
        self.number("cached", record) + self.number("written", record)
    }

    fn sum(&self, record: usize) -> u64 {
        self.number("input", record) + self.cached(record)
    }

    /// The records that have an input.
    pub(super) fn records(&self) -> Records {
        let inputs = self.parts.get("input").into_iter();
        let records = inputs.flat_map(|(_, numbers)| numbers.keys().copied());
        records.filter(|record| self.sum(*record) > 0).collect()
    }

    /// Returns true if records repeat the numbers of the one before.
    pub(super) fn is_repeated(&self) -> bool {
        let numbers = |record| ["input", "cached", "output"].map(|part| self.number(part, record));
        let all: Vec<_> = self.records().into_iter().map(numbers).collect();
        all.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Decides by the totals whether what was cached is beside the input, and reasoning beside the output. Where these do
    /// not say it, what was cached is beside if it is ever more than the input.
    fn placed(self) -> Usage<'p> {
        let records = self.records();
        let fitting = |is_beside: bool, is_apart: bool| {
            let is_total = |record: &&usize| {
                let number = |part| self.number(part, **record);
                let cached = if is_beside { self.cached(**record) } else { 0 };
                let reasoning = if is_apart { number("reasoning") } else { 0 };
                number("total") == number("input") + cached + number("output") + reasoning
            };
            records.iter().filter(is_total).count()
        };
        let [within, beside] = [false, true].map(|is| fitting(is, false).max(fitting(is, true)));
        let exceeds = |record: &usize| self.cached(*record) > self.number("input", *record);
        let input = self.place("input").unwrap_or_default();
        let is_beside = if beside != within {
            beside > within
        } else if records.iter().any(|record| self.cached(*record) > 0) {
            records.iter().any(exceeds)
        } else {
            self.place("written").is_some() || part_of(split(input).1, "parts.beside") > 0
        };
        let is_apart = fitting(is_beside, true) > fitting(is_beside, false);
        Usage {
            is_beside,
            is_apart,
            ..self
        }
    }
}
