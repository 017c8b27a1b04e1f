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

mod about;
mod draft;
mod mapping;
mod message;
mod pointer;
mod reader;

pub(crate) use about::About;
use decode::lenient::Raw;
pub use draft::Draft;
use formats::{
    ANTHROPIC, ArrayName, CachePlacement, Claim, Decoder, Facts, Format, Recognition, StoreKind,
    Term, Tier, Totals, facts, head,
};
pub use mapping::Mapping;
use mapping::{Author, Condition, LogForm};
use model::window::matches;
use pointer::{Pointer, Pointers};
use reader::CustomDecoder;
use serde_json::Value;
use std::path::Path;

/// Lines in which a log is recognised.
const LINES: usize = 50;

impl Mapping {
    /// The format that this describes, for a user's own agent. It is kept for as long as the program runs, as built-in
    /// ones are.
    pub fn into_format(self) -> &'static Format {
        let mapping: &'static Mapping = Box::leak(Box::new(self));
        Box::leak(Box::new(Format {
            tier: Tier::Mapping,
            ..mapping.format()
        }))
    }

    /// The format of an agent whose mapping is built in.
    pub(crate) fn into_built_in(self) -> &'static Format {
        let mapping: &'static Mapping = Box::leak(Box::new(self));
        Box::leak(Box::new(mapping.format()))
    }

    fn format(&'static self) -> Format {
        let store = match self.shape {
            LogForm::Lines => StoreKind::Lines,
            LogForm::Document => StoreKind::Document,
        };
        // A line contains the role of a summary as JSON writes it.
        let resets = [Author::Summary, Author::Clear];
        let resets = resets
            .into_iter()
            .flat_map(|author| self.roles.words(author));
        let marks = resets.map(|word| keep(Value::from(word.as_str()).to_string()));
        Format {
            id: &self.id,
            label: self.label.as_deref().unwrap_or(&self.id),
            facts: self.facts(),
            tier: self.facts.tier(),
            roots: &self.places,
            claims: Box::leak(Box::new(move |path: &Path| {
                let id = self.claim(path.file_name()?.to_str()?)?;
                Some(Claim {
                    id,
                    store,
                    ..Claim::LINES
                })
            })),
            recognition: Recognition {
                recognise: Box::leak(Box::new(move |head: &[u8]| self.recognises(head))),
                store: Box::leak(Box::new(move |_: &[u8]| Some(store))),
                list: self.list(),
                holds_several: self.holds_several(),
                ..Recognition::DEFAULT
            },
            decoder: Box::leak(Box::new(move || {
                Box::new(CustomDecoder::new(self)) as Box<dyn Decoder>
            })),
            reset_marks: Box::leak(marks.collect()),
            totals: Totals {
                cached: if self.usage.input.is_empty() {
                    CachePlacement::Within
                } else {
                    CachePlacement::Beside
                },
                ..Totals::new(self.terms())
            },
            ..Format::DEFAULT
        }
    }

    /// Returns true if one file may be several sessions: lines name them, and the file's name does not.
    fn holds_several(&self) -> bool {
        let is_lines = self.shape == LogForm::Lines;
        is_lines && !self.session.id.is_empty() && self.names().all(|name| !name.contains('{'))
    }

    /// The id of the session that a file of this name contains, if its name has it; `None`: it is no such log.
    fn claim(&self, name: &str) -> Option<Option<String>> {
        self.names().find_map(|pattern| {
            let (before, rest) = pattern.split_once('{').unwrap_or((pattern, ""));
            let (id, after) = rest.split_once('}').unwrap_or_default();
            let is_such = matches(&[before, id, after].concat(), name);
            let id = name.get(before.len()..name.len().saturating_sub(after.len()));
            is_such.then(|| id.filter(|_| !rest.is_empty()).map(str::to_owned))
        })
    }

    /// Returns the array that holds the records of a document, if no fact about the session is inside of it.
    fn list(&self) -> Option<ArrayName> {
        let key = self.messages.as_ref().and_then(Pointer::key)?;
        let keys = &self.session;
        let facts = [
            &keys.id,
            &keys.parent,
            &keys.cwd,
            &keys.title,
            &keys.model,
            &keys.version,
            &keys.window,
        ];
        let mut facts = facts.into_iter().flat_map(Pointers::iter);
        let apart = facts.all(|pointer| pointer.first().is_some_and(|first| first != key));
        let is_document = self.shape == LogForm::Document;
        (is_document && apart).then(|| ArrayName::Json(keep(key.to_owned())))
    }

    fn recognises(&self, head: &[u8]) -> bool {
        if !self.can_be(head) {
            return false;
        }
        // A line that is cut off is judged by its keys alone.
        let has = |json: &[u8]| {
            let text = std::str::from_utf8(json).ok();
            match text.and_then(Raw::of) {
                Some(value) => self.has.iter().all(|condition| condition.holds(value)),
                None => json.trim_ascii_start().starts_with(b"{") && self.can_be(json),
            }
        };
        match self.shape {
            LogForm::Lines => head.split(|byte| *byte == b'\n').take(LINES).any(has),
            LogForm::Document => has(head),
        }
    }

    /// Returns true if a text has the keys and the words of such a log.
    fn can_be(&self, head: &[u8]) -> bool {
        let has = |condition: &Condition| {
            let json = |key: &str| Value::from(key).to_string();
            let name = json(condition.at.name());
            let begins = |word: &String| {
                let start = word.split('*').next().unwrap_or_default();
                let solid = head::solid(head, head.len());
                head::has(
                    &solid,
                    format!("{name}:{}", json(start)).trim_end_matches('"'),
                )
            };
            let mut keys = condition.at.keys();
            keys.all(|key| head::has(head, &json(key)))
                && (condition.is.is_empty() || condition.is.iter().any(begins))
        };
        self.has.iter().all(has)
    }

    /// The names of the numbers that its usage has.
    fn terms(&self) -> &'static [Term] {
        let usage = &self.usage;
        let has = [
            true,
            !usage.cached.is_empty(),
            true,
            !usage.reasoning.is_empty(),
        ];
        let all = Totals::DEFAULT.terms.iter().zip(has);
        let known = all.filter(|(_, has)| *has || !usage.report.is_empty());
        match usage.is_reported() {
            _ if !usage.written.is_empty() => ANTHROPIC,
            true => Box::leak(known.map(|(term, _)| *term).collect()),
            false => &[],
        }
    }

    fn facts(&'static self) -> Facts {
        let has = self.has.iter().flat_map(|condition| condition.at.keys());
        let has: Vec<String> = has.map(|key| format!("`{key}`")).collect();
        let compacts =
            self.roles.words(Author::Summary).next().is_some() || self.messages.is_some();
        self.facts.facts(Facts {
            mark: keep(has.join(" with ")),
            live: match self.shape {
                LogForm::Lines => facts::EACH_LINE,
                LogForm::Document => facts::EACH_REWRITE,
            },
            known: if self.usage.is_reported() {
                "prompts, outputs"
            } else {
                ""
            },
            sub_agents: if self.session.parent.is_empty() {
                "none mapped"
            } else {
                "by `session.parent`"
            },
            compactions: if compacts { "yes" } else { "none mapped" },
            tried: "by you: a mapping of your own",
            ..Facts::NONE
        })
    }
}

fn keep(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests;
