//! Conversations whose log shows each request with all that it carries: what of it is new, what has
//! left, what the model answered.
//!
//! A piece of a request is known again by what it says, and among pieces that say the same by which of
//! them it is; so the model's answer is the same piece when the next request carries it. What a request
//! no longer carries leaves: as a rewind where only the end is missing, as a compaction where the rest
//! is smaller than before, as cleared where it is not.

use crate::model::event::{Event, Key, Lane, NewItem, Node, Parent, Part, Place, Sink, Usage};
use crate::model::{Gone, Kind, Role};
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One piece of a request or of an answer, not measured yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit<'u> {
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) tool: Option<Cow<'u, str>>,
    pub(super) call: Option<Cow<'u, str>>,
    pub(super) text: Cow<'u, str>,
    /// Bytes of text that the log tells of and does not hold.
    pub(super) unseen: u64,
    /// Tokens of an image, by formula.
    pub(super) fixed: u64,
    /// What the log gives to tell texts apart that it does not hold.
    pub(super) digest: Cow<'u, str>,
}

impl<'u> Unit<'u> {
    pub(super) fn new(role: Role, kind: Kind, text: impl Into<Cow<'u, str>>) -> Unit<'u> {
        Unit {
            role,
            kind,
            tool: None,
            call: None,
            text: text.into(),
            unseen: 0,
            fixed: 0,
            digest: Cow::Borrowed(""),
        }
    }

    fn says_nothing(&self) -> bool {
        let hidden = self.unseen > 0 || self.fixed > 0 || !self.digest.is_empty();
        self.text.is_empty() && !hidden && self.call.is_none()
    }

    /// What it is known again by. A call is its id: clients write arguments in more than one way.
    fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.role, self.kind.name(), &self.call).hash(&mut hasher);
        if self.kind != Kind::ToolCall || self.call.is_none() {
            (&self.text, self.unseen, self.fixed, &self.digest).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn bytes(&self) -> u64 {
        self.text.len() as u64 + self.unseen
    }

    fn item(&self, tool: Option<&str>, out: &mut Sink<'_>) -> NewItem {
        let mut item = out
            .item(self.role, self.kind)
            .tool(self.tool.as_deref().or(tool))
            .call(self.call.as_deref());
        if !self.text.is_empty() {
            item = item.text(&self.text);
        }
        if self.unseen > 0 || !self.digest.is_empty() {
            item = item.unseen(self.unseen, &self.digest);
        }
        if self.fixed > 0 {
            item = item.fixed(self.fixed, "[image]");
        }
        item.done()
    }

    fn part(&self) -> Part {
        match self.role {
            Role::User => Part::Input,
            Role::Assistant => Part::Output,
            Role::Tool => Part::Result,
            Role::System | Role::Container => Part::Injected,
        }
    }
}

/// Writes what one record says to one conversation.
pub(super) struct Writer<'w, 'm> {
    pub(super) lane: Lane,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    pub(super) fn push(&mut self, event: Event) {
        self.out.push(self.lane, self.place, self.at, event);
    }

    fn unit(&mut self, key: Key, unit: &Unit<'_>, item: NewItem, told: Told) {
        self.push(Event::Node(Box::new(Node {
            key: Some(key),
            part: unit.part(),
            request: told.request,
            turn: told.turn,
            items: vec![item],
            ..Node::default()
        })));
    }

    fn start(&mut self, key: Key, parent: Parent, request: Key) {
        self.push(Event::Node(Box::new(Node {
            key: Some(key),
            parent,
            part: Part::Output,
            request: Some(request),
            ..Node::default()
        })));
    }
}

/// A unit among those that say the same: what it is known by, and which of them it is.
type Name = (u64, u32);

/// What a unit is part of.
#[derive(Clone, Copy, Default)]
struct Told {
    request: Option<Key>,
    turn: bool,
}

/// What the context holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    key: Key,
    name: Name,
    sort: Sort,
    bytes: u64,
    /// Whether the log showed it as an answer.
    answered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Where an answer begins.
    Start(Answer),
    /// The system prompt, the tools on offer.
    Front,
    Thinking,
    User,
    Other,
}

/// Whether a line has shown what was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Shown,
    /// To this request.
    Hidden(Key),
}

impl Sort {
    fn is_start(self) -> bool {
        matches!(self, Sort::Start(_))
    }
}

/// A conversation, request after request.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    held: Vec<Held>,
    /// The tools, by the calls of them.
    tools: HashMap<String, String>,
    /// How often something has left: what is carried again after that is told anew.
    epoch: u64,
}

impl Conversation {
    /// Whether it holds nothing yet, or something that these units say as well.
    pub(super) fn shares(&self, units: &[Unit<'_>]) -> bool {
        let names: HashSet<Name> = names(units.iter()).collect();
        let mut said = self.held.iter().filter(|held| !held.sort.is_start());
        said.clone().next().is_none() || said.any(|held| names.contains(&held.name))
    }

    /// How much of what it holds these units say as well, if they repeat something that was answered
    /// here: `None` where they do not, since examples in a prompt look like answers.
    pub(super) fn repeats(&self, units: &[Unit<'_>]) -> Option<usize> {
        let names: HashSet<Name> = names(units.iter()).collect();
        let repeated = self.held.iter().filter(|held| names.contains(&held.name));
        let is_answered = repeated.clone().any(|held| held.answered);
        is_answered.then(|| repeated.count())
    }

    /// Takes in a request that carries these units and nothing else.
    pub(super) fn ask(&mut self, units: &[Unit<'_>], writer: &mut Writer<'_, '_>) {
        let bytes = units.iter().map(Unit::bytes).sum();
        self.drop_missing(&names(units.iter()).collect(), bytes, writer);
        self.hear(units, writer);
    }

    /// Takes in the first units of a request of which more may come.
    pub(super) fn hear(&mut self, units: &[Unit<'_>], writer: &mut Writer<'_, '_>) {
        let known: HashSet<Name> = self.held.iter().map(|held| held.name).collect();
        let mut owner = None;
        let mut hidden = self.hidden_answer();
        let telling = units.iter().filter(|unit| !unit.says_nothing());
        for (name, unit) in names(units.iter()).zip(telling) {
            if known.contains(&name) {
                continue;
            }
            // What the model said where no line has shown its answer.
            let shown = hidden.take().filter(|_| unit.role == Role::Assistant);
            owner = owner.or(shown.map(|(_, request)| request));
            owner = owner.filter(|_| unit.role == Role::Assistant);
            self.tell(name, unit, owner, writer);
            if let Some((start, request)) = shown {
                // What stood in its place goes.
                writer.start(start, Parent::Previous, request);
                let at = self.held.iter_mut().find(|held| held.key == start);
                at.into_iter()
                    .for_each(|held| held.sort = Sort::Start(Answer::Shown));
            }
        }
    }

    /// Where the newest answer begins, and its request, if no line has shown what it was.
    fn hidden_answer(&self) -> Option<(Key, Key)> {
        let last = self.held.last()?;
        match last.sort {
            Sort::Start(Answer::Hidden(request)) => Some((last.key, request)),
            _ => None,
        }
    }

    /// Takes in what the model answered, and the numbers of the request.
    pub(super) fn answer(
        &mut self,
        request: Key,
        units: &[Unit<'_>],
        usage: Vec<Usage>,
        writer: &mut Writer<'_, '_>,
    ) {
        let key = Key::of_number("start", request.0);
        if self.held.iter().all(|held| held.key != key) {
            writer.start(key, Parent::Previous, request);
            self.held.push(Held {
                key,
                name: (request.0, u32::MAX),
                sort: Sort::Start(match units.iter().all(Unit::says_nothing) {
                    true => Answer::Hidden(request),
                    false => Answer::Shown,
                }),
                bytes: 0,
                answered: false,
            });
            let mut counts: HashMap<u64, u32> = HashMap::new();
            for held in &self.held {
                *counts.entry(held.name.0).or_default() += 1;
            }
            for unit in units.iter().filter(|unit| !unit.says_nothing()) {
                let count = counts.entry(unit.print()).or_default();
                let name = (unit.print(), *count);
                *count += 1;
                self.tell(name, unit, Some(request), writer);
            }
        }
        for usage in usage {
            writer.push(Event::Usage(Box::new(usage)));
        }
    }

    /// Takes in the numbers of a request that is older than the newest one: they count, and the
    /// context stays as it is.
    pub(super) fn late(&mut self, request: Key, usage: Vec<Usage>, writer: &mut Writer<'_, '_>) {
        writer.start(Key::of_number("late", request.0), Parent::Root, request);
        for usage in usage {
            writer.push(Event::Usage(Box::new(usage)));
        }
        let keys = self.held.iter().map(|held| held.key).collect();
        let cause = Gone::Rewind;
        writer.push(Event::Retain { keys, cause });
    }

    fn tell(
        &mut self,
        name: Name,
        unit: &Unit<'_>,
        request: Option<Key>,
        writer: &mut Writer<'_, '_>,
    ) {
        let sort = match (unit.role, unit.kind) {
            (_, Kind::Thinking) => Sort::Thinking,
            (Role::User, _) => Sort::User,
            (Role::Container, _) => Sort::Front,
            _ => Sort::Other,
        };
        let before = self.held.last().map(|held| held.sort);
        let turn = sort == Sort::User && before != Some(Sort::User);
        let mut tool = None;
        if let Some(call) = unit.call.as_deref() {
            if let Some(name) = unit.tool.as_deref() {
                self.tools.insert(call.to_owned(), name.to_owned());
            }
            tool = self.tools.get(call).map(String::as_str);
        }
        let item = unit.item(tool, writer.out);
        let mut hasher = DefaultHasher::new();
        (name, self.epoch).hash(&mut hasher);
        let key = Key::of_number("unit", hasher.finish());
        writer.unit(key, unit, item, Told { request, turn });
        let bytes = unit.bytes();
        self.held.push(Held {
            key,
            name,
            sort,
            bytes,
            answered: request.is_some(),
        });
    }

    fn drop_missing(&mut self, carried: &HashSet<Name>, bytes: u64, writer: &mut Writer<'_, '_>) {
        let missing = |held: &Held| !held.sort.is_start() && !carried.contains(&held.name);
        let Some(first) = self.held.iter().position(missing) else {
            return;
        };
        let last_kept = self
            .held
            .iter()
            .rposition(|held| carried.contains(&held.name));
        let lost = self.held.iter().filter(|held| missing(held));
        let spoken = lost.clone().any(|held| held.sort != Sort::Thinking);
        let before: u64 = self.held.iter().map(|held| held.bytes).sum();
        let talk = last_kept.map(|kept| self.held[kept].sort);
        let cause = match last_kept {
            _ if !spoken => Gone::Stripped,
            Some(kept) if kept < first && talk != Some(Sort::Front) => Gone::Rewind,
            _ if bytes < before => Gone::Compaction,
            _ => Gone::Cleared,
        };
        let mut ix = 0;
        self.held.retain(|held| {
            ix += 1;
            match held.sort {
                // An answer of which nothing is carried on was taken back.
                Sort::Start(_) => !spoken || last_kept.is_some_and(|kept| ix <= kept),
                _ => carried.contains(&held.name),
            }
        });
        self.epoch += 1;
        let keys = self.held.iter().map(|held| held.key).collect();
        writer.push(Event::Retain { keys, cause });
    }
}

/// The names of what a request carries, in its order.
fn names<'u>(units: impl Iterator<Item = &'u Unit<'u>>) -> impl Iterator<Item = Name> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    units.filter(|unit| !unit.says_nothing()).map(move |unit| {
        let print = unit.print();
        let count = counts.entry(print).or_default();
        *count += 1;
        (print, *count - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Source;
    use crate::model::event::{Billed, ByLength};
    use crate::model::session::Session;
    use crate::model::window::Rules;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn said(letter: char) -> Unit<'static> {
        let role = match letter {
            'a'..='c' => Role::User,
            'd'..='f' => Role::Assistant,
            'g' => Role::Container,
            _ => Role::Tool,
        };
        Unit::new(role, Kind::Text, letter.to_string())
    }

    fn usage(request: Key, prompt: u64) -> Usage {
        Usage {
            request,
            model: None,
            prompt,
            cached: 0,
            output: Some(5),
            reasoning: None,
            source: Source::Reported,
            billed: Billed::default(),
        }
    }

    /// What a session holds after these requests: letters carried, letters answered.
    fn session(talk: &[(String, String, bool)]) -> Session {
        let mut conversation = Conversation::default();
        let mut out = Sink::new(&ByLength);
        for (n, (carried, answered, is_late)) in (1..).zip(talk) {
            let mut writer = Writer {
                lane: Lane::Main,
                place: Place {
                    line: n,
                    ..Place::default()
                },
                at: None,
                out: &mut out,
            };
            let request = Key(n);
            let usage = vec![usage(request, 100 * n)];
            if *is_late {
                conversation.late(request, usage, &mut writer);
                continue;
            }
            let units: Vec<Unit<'_>> = carried.chars().map(said).collect();
            let answer: Vec<Unit<'_>> = answered.chars().map(said).collect();
            conversation.ask(&units, &mut writer);
            conversation.answer(request, &answer, usage, &mut writer);
        }
        let mut session = Session::new("otel-genai", Arc::new(Rules::default()));
        out.entries
            .into_iter()
            .for_each(|entry| session.apply(entry));
        session
    }

    fn letters(session: &Session) -> String {
        let alive = session.alive();
        let shown = alive.iter().map(|ix| &session.items()[*ix]);
        let mut letters: Vec<&str> = shown
            .filter(|item| item.kind != Kind::Unlogged)
            .map(|item| &*item.preview)
            .collect();
        letters.sort_unstable();
        letters.concat()
    }

    proptest! {
        #[test]
        fn the_context_is_what_was_carried_and_answered(
            talk in prop::collection::vec(("[a-h]{1,6}", "[df]{0,2}", prop::bool::weighted(0.1)), 1..8),
        ) {
            let session = session(&talk);
            let newest = talk.iter().rev().find(|(.., is_late)| !is_late);
            let mut expected: Vec<char> = newest
                .map(|(carried, answered, _)| carried.chars().chain(answered.chars()).collect())
                .unwrap_or_default();
            expected.sort_unstable();
            prop_assert_eq!(letters(&session), expected.into_iter().collect::<String>());
            prop_assert_eq!(session.requests().len(), talk.len());
        }
    }

    #[test]
    fn what_leaves_says_why() {
        let why = |talk: &[(&str, &str)]| {
            let talk: Vec<_> = talk
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned(), false))
                .collect();
            let session = session(&talk);
            let mut why: Vec<&str> = session
                .items()
                .iter()
                .filter_map(|item| Some(item.left?.why.name()))
                .collect();
            why.dedup();
            why.concat()
        };
        assert_eq!(why(&[("ga", "d"), ("gadb", "e")]), "");
        assert_eq!(why(&[("ga", "d"), ("gadb", "e"), ("gac", "d")]), "rewind");
        assert_eq!(why(&[("gab", "d"), ("gc", "e")]), "compaction");
        assert_eq!(why(&[("gah", "d"), ("gadbc", "e")]), "cleared");
    }
}
