//! Drafts a mapping for the log of an unknown agent, by the names and the values of its fields.

mod message;
mod places;
mod usage;

use decode::lenient::{LostFields, Raw};
use decode::time::Time;
use message::{Roles, Tools};
use places::{Places, Records, cover, is_named, records, table};
use serde::Serialize;
use std::cmp::Reverse;
use usage::Usage;

/// A mapping to begin with.
#[derive(Default)]
pub struct Draft {
    /// Its TOML. Comments say why a field was chosen.
    pub mapping: String,
    /// The things that were not found, in words.
    pub missing: Vec<&'static str>,
}

impl Draft {
    /// Drafts a mapping for a log whose lines are JSON objects; `None`: none has a value.
    pub fn of(log: &str) -> Option<Draft> {
        let places = Places::of(log);
        let mut draft = Draft::default();
        (!places.leaves.is_empty()).then(|| draft.write(&places))?;
        Some(draft)
    }

    fn write(&mut self, places: &Places<'_>) {
        let comment =
            "# Add `roots`, the folders of such logs, and `names`, if these are not *.jsonl.\n";
        self.mapping.push_str(comment);
        let usage = Usage::find(places);
        let numbers = usage.as_ref().map(Usage::records).unwrap_or_default();
        let roles = Roles::find(places, &numbers);
        self.marks(places, &roles, &numbers);
        self.facts(places);
        self.messages(places, &roles);
        usage.iter().for_each(|usage| self.usage(usage));
        for (key, why) in table("missing") {
            let is_there = self.mapping.lines().any(|line| line.starts_with(key));
            let why = why.iter().filter(|_| !is_there);
            self.missing.extend(why.map(String::as_str));
        }
        if roles.places.is_empty() {
            self.line("message.role", "\"/role\"", "nothing found");
        }
    }

    /// Writes places or words, if there are any. A list of JSON is one of TOML, except for one character.
    fn add(&mut self, key: &str, texts: &[impl Serialize], why: &str) {
        let list = serde_json::to_string(texts).unwrap_or_default();
        let list = list.replace('\u{7f}', "\\u007f");
        match texts.len() {
            0 => {}
            1 if !key.starts_with("roles") => self.line(key, list.trim_matches(['[', ']']), why),
            _ => self.line(key, &list, why),
        }
    }

    fn line(&mut self, key: &str, value: &str, why: &str) {
        let comment = if why.is_empty() { "" } else { "  # " };
        self.mapping.extend([key, " = ", value, comment, why, "\n"]);
    }

    /// Writes places of the first message that show such a log: its word for the author, and what is in most records.
    fn marks(&mut self, places: &Places<'_>, roles: &Roles<'_>, numbers: &Records) {
        let mut authors = roles.authors.iter();
        let message = authors.find(|(_, author)| ["user", "assistant"].contains(author));
        let first = message.map(|(record, _)| record).or(numbers.first());
        // A log is recognised by its first lines.
        let first = first.filter(|record| **record < super::LINES);
        let is_held = |path: &str| records(&places.leaves[path]).contains(first.unwrap_or(&0));
        let held = places.single().filter(|(path, _)| is_held(path));
        let mut held: Vec<_> = held.map(|(path, of)| (of.len(), path)).collect();
        held.sort_by_key(|(count, path)| (!roles.places.contains(path), Reverse(*count)));
        let marks: Vec<&str> = held.iter().map(|(_, path)| *path).take(4).collect();
        let marks = if marks.is_empty() { vec![""] } else { marks };
        self.add("has", &marks, "keep what no other agent's records have");
    }

    fn facts(&mut self, places: &Places<'_>) {
        for key in table("facts").keys().rev() {
            let named = places.leaves.iter().filter(|(path, _)| {
                let is_single = key == "message.thinking" || !path.contains("/*");
                is_single && is_named(path, &format!("facts.{key}"))
            });
            let found = named.filter(|(_, leaves)| {
                let fitting = leaves.iter().filter(|(_, json)| fits(key, json));
                fitting.count() * 2 > leaves.len()
            });
            let found = found.map(|(path, leaves)| (&**path, records(leaves)));
            self.add(key, &cover(found), "");
        }
    }

    fn messages(&mut self, places: &Places<'_>, roles: &Roles<'_>) {
        let [user, model] = ["user", "assistant"].map(|author| roles.count(author));
        let why = format!("records of the user: {user}, of the model: {model}");
        self.add("message.role", &roles.places, &why);
        let mut of: Records = roles.authors.keys().copied().collect();
        if let Some(tools) = Tools::find(places) {
            for part in self.tools(&tools, places, roles) {
                let parts = records(places.leaves.get(&part).unwrap_or(&Vec::new()));
                of.retain(|record| !parts.contains(record));
            }
        }
        self.add("message.text", &roles.texts(places, &of), "");
        for (author, words) in &roles.words {
            let words: Vec<_> = words.iter().collect();
            self.add(&format!("roles.{author}"), &words, "");
        }
    }

    /// Writes where calls and results are. Returns the ids of those that are parts of messages.
    fn tools(&mut self, tools: &Tools<'_>, places: &Places<'_>, roles: &Roles<'_>) -> Vec<String> {
        let (call, [id, name, arguments]) = tools.call;
        let (result, [by, text]) = tools.result;
        let why = format!("ids at calls and at results: {}", tools.shared);
        let is_record = |object: &str, author| !object.contains("/*") && roles.count(author) > 0;
        let (mut ids, mut parts) = (Vec::new(), Vec::new());
        if is_record(call, "call") {
            ids.push(format!("{call}/{id}"));
            self.add("message.tool", &[format!("{call}/{name}")], "");
            self.add("message.arguments", &[format!("{call}/{arguments}")], "");
        } else {
            parts.push(format!("{call}/{id}"));
            self.add("message.calls", &[call], &why);
            self.add("calls.name", &[format!("/{name}")], "");
            self.add("calls.id", &[format!("/{id}")], "");
            self.add("calls.arguments", &[format!("/{arguments}")], "");
        }
        if is_record(result, "tool") {
            ids.push(format!("{result}/{by}"));
        } else {
            parts.push(format!("{result}/{by}"));
            let is_text = |end| places.leaves.contains_key(&format!("{result}/{text}{end}"));
            let is_text = ["", "/text", "/*", "/*/text"].into_iter().any(is_text);
            let end = if is_text { "" } else { "/**" };
            self.add("message.results", &[result], "");
            self.add("results.call", &[format!("/{by}")], "");
            self.add("results.text", &[format!("/{text}{end}")], "");
        }
        ids.dedup();
        self.add("message.call", &ids, &why);
        parts
    }

    fn usage(&mut self, usage: &Usage<'_>) {
        let place = |part| usage.place(part).into_iter().collect::<Vec<&str>>();
        let records = usage.records().len();
        if usage.is_beside {
            let why = format!("without what was cached; records: {records}");
            self.add("usage.input", &place("input"), &why);
            self.add("usage.written", &place("written"), "");
        } else {
            let why = format!("with what was cached; records: {records}");
            self.add("usage.prompt", &place("input"), &why);
        }
        self.add("usage.cached", &place("cached"), "");
        let apart = if usage.is_apart {
            place("reasoning")
        } else {
            Vec::new()
        };
        self.add("usage.output", &[place("output"), apart].concat(), "");
        self.add("usage.reasoning", &place("reasoning"), "");
        if usage.is_repeated() {
            self.line(
                "message.joined",
                "true",
                "records repeat the numbers of the one before",
            );
        }
    }
}

/// Returns true if a value can be that of such a fact.
fn fits(fact: &str, json: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| json.starts_with(start));
    let time = |raw| LostFields::default().at("time").read::<Time>(raw);
    match fact {
        "session.cwd" => begins(&["\"/", "\"~", "\"file:"]) || json.get(2..3) == Some(":"),
        "record.time" => Raw::of(json).and_then(time).is_some(),
        "record.window" => json.parse().is_ok_and(|tokens: u64| tokens >= 4_000),
        _ => json.len() > 2 && json.starts_with('"'),
    }
}
