//! The values of a log by their places, and the names that places often have.

use decode::lenient::{Raw, raw_object};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Places beyond these are left out: the keys of some objects are ids.
const MOST_PLACES: usize = 4_000;
/// Values that are nested deeper than this are left out.
const MOST_DEPTH: usize = 12;
/// The most places of one kind in a mapping.
const MOST_CHOSEN: usize = 4;

type Names = BTreeMap<String, Vec<String>>;

static NAMES: LazyLock<BTreeMap<String, Names>> =
    LazyLock::new(|| toml::from_str(assets::FIELDS).unwrap_or_default());
static NOTHING: Names = Names::new();

/// Numbers of records.
pub(super) type Records = BTreeSet<usize>;
/// Values that are neither lists nor objects, each with the number of its record.
pub(super) type Leaves<'a> = Vec<(usize, &'a str)>;

/// The values of a log by their places, in which `*` stands for each element of a list.
#[derive(Default)]
pub(super) struct Places<'a> {
    pub(super) leaves: BTreeMap<String, Leaves<'a>>,
    /// The number of records.
    pub(super) records: usize,
}

impl<'a> Places<'a> {
    /// Reads the lines that are JSON objects.
    pub(super) fn of(log: &'a str) -> Places<'a> {
        let mut places = Places::default();
        for record in log.lines().filter_map(|line| raw_object(line).ok()) {
            places.add("", record, 0);
            places.records += 1;
        }
        places
    }

    fn add(&mut self, path: &str, value: Raw<'a>, depth: usize) {
        let json = value.get();
        // The value was checked as a part of its record.
        let _ = match json.as_bytes().first() {
            Some(b'{') if depth < MOST_DEPTH => json::each_field(json, &mut |name, value| {
                let name = name.replace('~', "~0").replace('/', "~1");
                self.add(&format!("{path}/{name}"), value, depth + 1);
            }),
            Some(b'[') if depth < MOST_DEPTH => json::each_element(json, &mut |value| {
                self.add(&format!("{path}/*"), value, depth + 1);
            }),
            Some(b'{' | b'[' | b'n') | None => return,
            Some(_) if self.leaves.len() < MOST_PLACES || self.leaves.contains_key(path) => {
                let leaves = self.leaves.entry(path.to_owned()).or_default();
                return leaves.push((self.records, json));
            }
            Some(_) => return,
        };
    }

    /// Places that are no elements of lists.
    pub(super) fn single(&self) -> impl Iterator<Item = (&str, &Leaves<'a>)> {
        let leaves = self.leaves.iter().map(|(path, leaves)| (&**path, leaves));
        leaves.filter(|(path, _)| !path.contains("/*"))
    }

    /// The name of this key that an object has, with values in one of these records.
    pub(super) fn below(&self, object: &str, key: &str, of: &Records) -> Option<&'static str> {
        let mut names = names(key).iter().map(String::as_str);
        names.find(|name| {
            let place = format!("{object}/{name}");
            let after = self.leaves.range(place.clone()..);
            let mut inside = after.take_while(|(path, _)| path.starts_with(&place));
            inside.any(|(path, leaves)| {
                let is_there = leaves.iter().any(|(record, _)| of.contains(record));
                is_there && matches!(path.as_bytes().get(place.len()), None | Some(b'/'))
            })
        })
    }
}

/// The names by the keys of this table.
pub(super) fn table(name: &str) -> &'static Names {
    NAMES.get(name).unwrap_or(&NOTHING)
}

/// The names that fields of a key often have.
fn names(key: &str) -> &'static [String] {
    let (name, key) = key.split_once('.').unwrap_or_default();
    table(name).get(key).map_or(&[], |names| names)
}

/// Returns true if a word, or the last step of a place, is a name of this key.
pub(super) fn is_named(path: &str, key: &str) -> bool {
    names(key).contains(&letters(split(path).1))
}

/// Returns the length of the longest name of this key that is a part of a name; 0: none is.
pub(super) fn part_of(name: &str, key: &str) -> usize {
    let name = letters(name);
    let parts = names(key).iter().filter(|part| name.contains(&***part));
    parts.map(String::len).max().unwrap_or(0)
}

/// A place without its last step, and that step.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The letters of a name, in lower case.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The records in which there are values.
pub(super) fn records(leaves: &Leaves<'_>) -> Records {
    leaves.iter().map(|(record, _)| *record).collect()
}

/// The different values.
pub(super) fn values<'a>(leaves: &Leaves<'a>) -> BTreeSet<&'a str> {
    leaves.iter().map(|(_, json)| *json).collect()
}

/// Chooses places: that in the most records, then that in most of those without it, and so on.
pub(super) fn cover<'p>(found: impl Iterator<Item = (&'p str, Records)>) -> Vec<&'p str> {
    let (mut found, mut chosen): (Vec<_>, Vec<_>) = (found.collect(), Vec::new());
    while chosen.len() < MOST_CHOSEN {
        let best = found
            .iter()
            .max_by_key(|(path, of)| (of.len(), !path.len()));
        let Some((path, taken)) = best.cloned().filter(|(_, of)| !of.is_empty()) else {
            break;
        };
        chosen.push(path);
        let rest = found.iter_mut().map(|(_, of)| of);
        rest.for_each(|of| of.retain(|record| !taken.contains(record)));
    }
    chosen
}
