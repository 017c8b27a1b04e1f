//! Formats that a user adds without code: a mapping names the places of things in a record.
//!
//! A [`Mapping`] is read from a small file of TOML, whose keys are JSON pointers ([RFC 6901], with `*`
//! for every element of a list); `assets/docs/custom-formats.md` has a whole one. Three kinds of logs can be described:
//!
//! * lines that are a record each;
//! * lines that are a whole request each, the history in a list: what two lines have in common is the
//!   same piece of context, and what is no longer in the list has left;
//! * a document with a list of records.
//!
//! A document is one session. Lines are as many as `session.id` points at in them; one that names none
//! continues the session of the line before.
//!
//! [RFC 6901]: https://www.rfc-editor.org/rfc/rfc6901

mod history;
mod mapping;
mod message;
mod pointer;
mod reader;

use format::{Claim, Decoder, Facts, Format, List, StoreKind, Tier, facts, head};
pub use mapping::Mapping;
use mapping::Written;
use model::window::matches;
use pointer::{Pointer, Pointers};
use reader::CustomDecoder;
use serde_json::Value;
use std::path::Path;

/// Lines in which a log is recognised.
const LINES: usize = 50;

impl Mapping {
    /// Returns the format that this describes. It is kept for as long as the program runs, as built-in ones are.
    pub fn into_format(self) -> &'static Format {
        let mapping: &'static Mapping = Box::leak(Box::new(self));
        let store = match mapping.shape {
            Written::Lines => StoreKind::Lines,
            Written::Document => StoreKind::Document,
        };
        // A line contains the role of a summary as JSON writes it.
        let summaries = mapping.roles.summary.iter();
        let marks = summaries.map(|word| keep(Value::from(word.as_str()).to_string()));
        Box::leak(Box::new(Format {
            id: &mapping.id,
            label: mapping.label.as_deref().unwrap_or(&mapping.id),
            roots: &mapping.places,
            facts: mapping.facts(),
            tier: Tier::Mapping,
            claims: Box::leak(Box::new(move |path: &Path| {
                let name = path.file_name()?.to_str()?;
                matches(&mapping.names, name).then_some(Claim::LINES.kept_in(store))
            })),
            recognise: Box::leak(Box::new(move |head: &[u8]| mapping.recognises(head))),
            decoder: Box::leak(Box::new(move || {
                Box::new(CustomDecoder::new(mapping)) as Box<dyn Decoder>
            })),
            store: Box::leak(Box::new(move |_: &[u8]| Some(store))),
            list: mapping.list(),
            reset_marks: Box::leak(marks.collect()),
            holds_several: store == StoreKind::Lines && !mapping.session.id.is_empty(),
            ..Format::DEFAULT
        }))
    }

    /// Returns the array that holds the records of a document, if no fact about the session is inside of it.
    fn list(&self) -> Option<List> {
        let key = self.messages.as_ref().and_then(Pointer::key)?;
        let keys = &self.session;
        let facts = [
            &keys.id,
            &keys.parent,
            &keys.cwd,
            &keys.title,
            &keys.model,
            &keys.version,
        ];
        let mut facts = facts.into_iter().flat_map(Pointers::iter);
        let apart = facts.all(|pointer| pointer.first().is_some_and(|first| first != key));
        let is_document = self.shape == Written::Document;
        (is_document && apart).then(|| List::Json(keep(key.to_owned())))
    }

    fn recognises(&self, head: &[u8]) -> bool {
        let has = |value: &Value| self.has.iter().all(|p| p.find(value).is_some());
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        match (self.shape, read(head)) {
            (Written::Lines, _) => head
                .split(|byte| *byte == b'\n')
                .take(LINES)
                .filter_map(read)
                .any(|value| has(&value)),
            (Written::Document, Some(value)) => has(&value),
            // Only the beginning of it is there.
            (Written::Document, None) => {
                let mut keys = self.has.iter().flat_map(Pointer::keys).peekable();
                matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
                    && keys.peek().is_some()
                    && keys.all(|key| head::has(head, &Value::from(key).to_string()))
            }
        }
    }

    fn facts(&self) -> Facts {
        let has = self.has.iter().flat_map(Pointer::keys);
        let has: Vec<String> = has.map(|key| format!("`{key}`")).collect();
        let usage = !self.usage.prompt.is_empty();
        let compacts = !self.roles.summary.is_empty() || self.messages.is_some();
        Facts {
            mark: keep(has.join(" with ")),
            live: match self.shape {
                Written::Lines => facts::EACH_LINE,
                Written::Document => facts::EACH_REWRITE,
            },
            known: if usage { "prompts, outputs" } else { "" },
            estimated: "",
            sub_agents: if self.session.parent.is_empty() {
                "none mapped"
            } else {
                "by `session.parent`"
            },
            compactions: if compacts { "yes" } else { "none mapped" },
            tried: "by you: a mapping of your own",
        }
    }
}

fn keep(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests;
