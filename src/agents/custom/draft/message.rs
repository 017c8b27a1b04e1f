//! Finds the authors and texts of messages, and the calls of tools.

use super::places::{Leaves, Places, Records, cover, is_named, records, split, table, values};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The longest word for an author, in bytes.
const LONGEST_WORD: usize = 64;
/// The most places that are tried as that of calls.
const MOST_CALLS: usize = 10;

type Words<'p> = Vec<(usize, Cow<'p, str>)>;

/// The authors of records, the words for them, and the places of the words.
#[derive(Default)]
pub(super) struct Roles<'p> {
    pub(super) places: Vec<&'p str>,
    pub(super) words: BTreeMap<&'static str, BTreeSet<Cow<'p, str>>>,
    pub(super) authors: BTreeMap<usize, &'static str>,
}

/// The author that a word often means.
fn author(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let who = word.strip_suffix("message").unwrap_or(&word);
    let mut authors = table("roles").keys().map(String::as_str);
    authors.find(|author| is_named(who, &format!("roles.{author}")))
}

impl<'p> Roles<'p> {
    /// Finds them. Where no word often means the model, it is the one in most records with `numbers`.
    pub(super) fn find(places: &'p Places<'_>, numbers: &Records) -> Roles<'p> {
        let words = |(path, leaves): (&'p str, &'p Leaves<'_>)| {
            let short = leaves.iter().filter(|(_, json)| json.len() <= LONGEST_WORD);
            let words = short.filter_map(|(record, json)| Some((*record, json::string(json)?)));
            (path, words.collect::<Words<'_>>())
        };
        let mut found: Vec<_> = places.single().map(words).collect();
        found.sort_by_cached_key(|(path, words)| {
            let authors: Vec<_> = words.iter().filter_map(|(_, word)| author(word)).collect();
            let is_of_two = authors.windows(2).any(|pair| pair[0] != pair[1]);
            let is_role = path.ends_with("/role");
            Reverse((authors.contains(&"user"), is_of_two, is_role, authors.len()))
        });
        let mut roles = Roles::default();
        for (path, words) in found {
            // Calls, results and summaries may have another word than the messages.
            if roles.places.is_empty() {
                roles.add(path, &words, most_frequent(&words, numbers));
            } else if is_named(path, "message.role") {
                roles.add(path, &words, None);
            }
        }
        roles
    }

    /// Adds the words for authors without one, in records without one.
    fn add(&mut self, path: &'p str, words: &Words<'p>, model: Option<&str>) {
        let known: BTreeSet<&str> = self.words.keys().copied().collect();
        let has_model = words
            .iter()
            .any(|(_, word)| author(word) == Some("assistant"));
        for (record, word) in words {
            let is_model = !has_model && Some(&**word) == model;
            let author = author(word).or(is_model.then_some("assistant"));
            let author = author.filter(|author| !known.contains(author));
            if let Some(author) = author.filter(|_| !self.authors.contains_key(record)) {
                self.authors.insert(*record, author);
                self.words.entry(author).or_default().insert(word.clone());
                self.places.push(path);
                self.places.dedup();
            }
        }
    }

    /// The number of records of an author.
    pub(super) fn count(&self, author: &str) -> usize {
        self.authors.values().filter(|is| **is == author).count()
    }

    /// Finds the texts in these records, beside the words for authors.
    pub(super) fn texts<'t>(&self, places: &'t Places<'_>, of: &Records) -> Vec<&'t str> {
        let mut found: BTreeMap<&str, Records> = BTreeMap::new();
        let objects: Vec<&str> = self.places.iter().map(|path| split(path).0).collect();
        for (path, leaves) in &places.leaves {
            // A list of objects with a `text` is a text.
            let base = path.strip_suffix("/text").unwrap_or(path);
            let base = base.strip_suffix("/*").unwrap_or(base);
            let base = if base.is_empty() { path } else { base };
            let is_beside = objects.iter().any(|object| base.starts_with(object));
            if is_beside && is_named(base, "message.text") && !base.contains("/*") {
                let texts = leaves.iter().filter(|(_, json)| json.starts_with('"'));
                let records = texts.map(|(record, _)| *record);
                let records = records.filter(|record| of.contains(record));
                found.entry(base).or_default().extend(records);
            }
        }
        cover(found.into_iter())
    }
}

/// The word in most of these records.
fn most_frequent<'w>(words: &'w Words<'_>, of: &Records) -> Option<&'w str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, word) in words.iter().filter(|(record, _)| of.contains(record)) {
        *counts.entry(word).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(word, _)| word)
}

/// The places of calls and of their results.
pub(super) struct Tools<'p> {
    /// The object of a call, and the names in it of the id, the tool and the arguments.
    pub(super) call: (&'p str, [&'p str; 3]),
    /// The object of a result, and the names in it of the id and of what the tool returned.
    pub(super) result: (&'p str, [&'p str; 2]),
    /// The number of ids that are at both.
    pub(super) shared: usize,
}

impl<'p> Tools<'p> {
    /// Finds an id beside a name and arguments, and the same id somewhere else.
    pub(super) fn find(places: &'p Places<'_>) -> Option<Tools<'p>> {
        let named = |key| {
            places
                .leaves
                .iter()
                .filter(move |(path, _)| is_named(path, key))
        };
        let calls = named("calls.id").filter_map(|(path, leaves)| {
            let (object, id) = split(path);
            let below = |key| places.below(object, key, &records(leaves));
            let call = (
                object,
                [id, below("calls.name")?, below("calls.arguments")?],
            );
            Some((path, values(leaves), call))
        });
        let pairs = calls.take(MOST_CALLS).flat_map(|(path, ids, call)| {
            named("results.call").filter_map(move |(at, leaves)| {
                let found = leaves.iter().filter(|(_, json)| ids.contains(json)).count();
                // An id that is at one place twice is that of a call and of its result.
                let shared = found.saturating_sub(if path == at { ids.len() } else { 0 });
                let (object, id) = split(at);
                let text = places.below(object, "results.text", &records(leaves))?;
                let result = (object, [id, text]);
                (shared > 0).then_some(Tools {
                    call,
                    result,
                    shared,
                })
            })
        });
        pairs.max_by_key(|tools| tools.shared)
    }
}
