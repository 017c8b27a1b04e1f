//! Formats of the user's own, without code: a mapping says where in a record things stand.
//!
//! A [`Mapping`] is read from a small file of TOML, whose keys are JSON pointers ([RFC 6901], with `*`
//! for every element of a list); the README has a whole one. Three kinds of logs can be told:
//!
//! * lines that are a record each;
//! * lines that are a whole request each, the history in a list: what two lines have in common is the
//!   same piece of context, and what is no longer in the list has left;
//! * a document with a list of records.
//!
//! A document is one session. Lines are as many as `session.id` points at in them; one that names none
//! goes on with the session of the line before.
//!
//! [RFC 6901]: https://www.rfc-editor.org/rfc/rfc6901

mod history;
mod mapping;
mod message;
mod pointer;
mod reader;

use super::{Claim, Decoder, Facts, Format, List, Root, Shape, facts};
use crate::model::window::matches;
pub use mapping::Mapping;
use mapping::Written;
use pointer::{Pointer, Pointers};
use reader::Reader;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Lines in which a log is recognised.
const LINES: usize = 50;

/// The format that a mapping tells.
struct Own {
    id: &'static str,
    label: &'static str,
    roots: &'static [Root],
    marks: &'static [&'static str],
    mark: &'static str,
    list: Option<List>,
    mapping: Arc<Mapping>,
}

impl Mapping {
    /// The format that this tells. It stays for as long as the program runs, as built-in ones do.
    pub fn into_format(self) -> &'static dyn Format {
        let label = self.label.as_deref().unwrap_or(&self.id);
        // What resets stands in the line as JSON writes it.
        let marks = self.roles.summary.iter();
        let marks = marks.map(|word| keep(Value::from(word.as_str()).to_string()));
        let has = self.has.iter().flat_map(Pointer::keys);
        let has: Vec<String> = has.map(|key| format!("`{key}`")).collect();
        Box::leak(Box::new(Own {
            id: keep(self.id.clone()),
            label: keep(label.to_owned()),
            roots: Box::leak(self.places.clone().into_boxed_slice()),
            marks: Box::leak(marks.collect()),
            mark: keep(has.join(" with ")),
            list: self.list(),
            mapping: Arc::new(self),
        }))
    }
}

impl Mapping {
    /// The list that a document mostly is, where no fact about the session stands inside of it.
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
}

fn keep(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl Format for Own {
    fn id(&self) -> &'static str {
        self.id
    }

    fn label(&self) -> &'static str {
        self.label
    }

    fn roots(&self) -> &'static [Root] {
        self.roots
    }

    fn claims(&self, path: &Path) -> Option<Claim> {
        let name = path.file_name()?.to_str()?;
        matches(&self.mapping.names, name).then_some(Claim {
            shape: self.written(),
            ..Claim::LINES
        })
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let has = |value: &Value| self.mapping.has.iter().all(|p| p.find(value).is_some());
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        match (self.written(), read(head)) {
            (Shape::Lines | Shape::Folder, _) => head
                .split(|byte| *byte == b'\n')
                .take(LINES)
                .filter_map(read)
                .any(|value| has(&value)),
            (Shape::Document, Some(value)) => has(&value),
            // Only the beginning of it is there.
            (Shape::Document, None) => {
                let there = |key: &str| {
                    let key = Value::from(key).to_string();
                    memchr::memmem::find(head, key.as_bytes()).is_some()
                };
                let mut keys = self.mapping.has.iter().flat_map(Pointer::keys).peekable();
                matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
                    && keys.peek().is_some()
                    && keys.all(there)
            }
        }
    }

    fn shape(&self, _: &[u8]) -> Option<Shape> {
        Some(self.written())
    }

    fn list(&self) -> Option<List> {
        self.list
    }

    fn facts(&self) -> Facts {
        let usage = !self.mapping.usage.prompt.is_empty();
        let compacts = !self.mapping.roles.summary.is_empty() || self.mapping.messages.is_some();
        Facts {
            mark: self.mark,
            live: match self.written() {
                Shape::Lines | Shape::Folder => facts::EACH_LINE,
                Shape::Document => facts::EACH_REWRITE,
            },
            known: if usage { "prompts, outputs" } else { "" },
            estimated: "",
            sub_agents: match self.mapping.session.parent.is_empty() {
                true => "none mapped",
                false => "by `session.parent`",
            },
            compactions: if compacts { "yes" } else { "none mapped" },
            tried: "by you: a mapping of your own",
        }
    }

    fn holds_several(&self) -> bool {
        self.written() == Shape::Lines && !self.mapping.session.id.is_empty()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Reader::new(Arc::clone(&self.mapping)))
    }

    fn reset_marks(&self) -> &'static [&'static str] {
        self.marks
    }
}

impl Own {
    fn written(&self) -> Shape {
        match self.mapping.shape {
            Written::Lines => Shape::Lines,
            Written::Document => Shape::Document,
        }
    }
}

#[cfg(test)]
mod tests;
