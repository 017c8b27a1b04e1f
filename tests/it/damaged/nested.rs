//! Values in values without end, in every field of every hand-written log: nothing is looked into so deep that
//! the stack ends.

use super::logs::{Log, logs};
use crate::fuzzed::targets::damage::fields::fields;
use crate::fuzzed::targets::damage::values::type_of;
use std::collections::HashSet;
use std::thread;

/// What opens a value in another one, and what closes it.
const NESTS: [(&str, &str); 2] = [("[", "]"), (r#"{"type":"text","content":["#, "]}")];

fn nested((open, close): (&str, &str), depth: usize) -> String {
    [open.repeat(depth), "7".to_owned(), close.repeat(depth)].concat()
}

/// Reads with a stack of this many KiB.
fn with_stack(kib: usize, read: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(kib << 10).spawn(read);
    thread.unwrap().join().unwrap();
}

/// Each field of an agent's records, once for its name, as such a value.
fn each_field(log: &Log, seen: &mut HashSet<(&'static str, String)>, depth: usize) {
    for (nth, part) in log.parts.iter().enumerate() {
        for field in fields(part) {
            let name = field.name().to_owned();
            let is_number = type_of(&part[field.value.clone()]) == '7';
            if is_number || !seen.insert((log.format.id, name.clone())) {
                continue;
            }
            let own = format!("{{{name:?}:[");
            for nest in NESTS.into_iter().chain([(own.as_str(), "]}")]) {
                let (before, after) = (&part[..field.value.start], &part[field.value.end..]);
                let text = [before, &nested(nest, depth), after].concat();
                log.entries(nth, &text);
            }
        }
    }
}

#[test]
fn a_value_nested_in_any_field_does_not_end_the_stack() {
    with_stack(1024, || {
        let mut seen = HashSet::new();
        for log in &logs() {
            each_field(log, &mut seen, 1_000);
        }
    });
}

#[test]
fn json_nested_100_000_deep_does_not_end_the_stack() {
    with_stack(2048, || {
        let mut seen = HashSet::new();
        for log in logs() {
            let Some(part) = log.parts.first().filter(|_| seen.insert(log.format.id)) else {
                continue;
            };
            let found = fields(part);
            let Some(last) = found.last() else { continue };
            for nest in NESTS {
                let (before, after) = (&part[..last.value.start], &part[last.value.end..]);
                log.entries(0, &[before, &nested(nest, 100_000), after].concat());
            }
        }
    });
}
