//! One conversation: what its context holds now, and what a new request changes about it. Every
//! request tells its whole history, so what is no longer told has left.

use super::answer::Answer;
use super::held::{Held, Print, Sort};
use super::unit::{Matter, Turn, Unit, passages};
use crate::model::event::{Event, Key, Lane, Meta, Node, Part, Place, Sink, Usage};
use crate::model::{Gone, Kind, Role};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// An answer of so many bytes is known again where it is quoted.
const TO_BE_QUOTED: usize = 400;

/// Where and when what is told stands.
pub(super) struct Writer<'w, 'm> {
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    pub(super) fn push(&mut self, lane: Lane, event: Event) {
        self.out.push(lane, self.place, self.at, event);
    }
}

/// What stands before the conversation: the system prompt and the tools.
#[derive(Clone, Copy)]
pub(super) struct Front<'f, 'a> {
    pub(super) prompts: &'f [Unit<'a>],
    pub(super) tools: Option<&'a RawValue>,
}

impl Front<'_, '_> {
    /// A hash by which requests of the same maker are told.
    pub(super) fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for prompt in self.prompts {
            prompt.print().hash(&mut hasher);
        }
        self.tools.map(RawValue::get).hash(&mut hasher);
        hasher.finish()
    }
}

/// The n-th unit of this hash among all that the context holds.
type Name = (u64, u32);

/// A conversation.
pub(super) struct Thread {
    pub(super) lane: Lane,
    /// The id that it is known by, with others perhaps.
    pub(super) scope: Option<Key>,
    /// Passages of what was answered last, where it is long.
    passages: Vec<Box<str>>,
    /// System prompts and tools so far, as hashes.
    fronts: HashSet<u64>,
    /// Responses so far.
    pub(super) answers: u64,
    /// The newest request's system prompt and tools, as one hash.
    pub(super) front: u64,
    /// Grows whenever something leaves: lengths noted before no longer hold.
    pub(super) epoch: u64,
    fixed: Vec<(Key, u64)>,
    live: Vec<Held>,
    /// Nodes by what they hold.
    names: HashMap<Name, Key>,
    /// Nodes that were told.
    told: HashSet<Key>,
    /// Of them, those whose items have left for good: they must be told again.
    emptied: HashSet<Key>,
    /// The names of tools, by the call.
    tools: HashMap<Key, Box<str>>,
    model: Option<Box<str>>,
}

/// Why a new request's history differs from what was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The same conversation, perhaps rewound or compacted.
    GoesOn,
    /// Another one takes its place.
    Anew,
}

impl Thread {
    pub(super) fn new(lane: Lane, scope: Option<Key>) -> Thread {
        Thread {
            lane,
            scope,
            passages: Vec::new(),
            fronts: HashSet::new(),
            answers: 0,
            front: 0,
            epoch: 0,
            fixed: Vec::new(),
            live: Vec::new(),
            names: HashMap::new(),
            told: HashSet::new(),
            emptied: HashSet::new(),
            tools: HashMap::new(),
            model: None,
        }
    }

    /// How many things the context holds, for requests that build on it as it is now.
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    /// Hashes of the conversation so far, thoughts aside, since clients leave them out; each with whose
    /// it is.
    pub(super) fn prints(&self) -> impl Iterator<Item = Print> {
        self.live.iter().filter_map(|held| match held.sort {
            Sort::Unit {
                kind: Kind::Thinking,
                ..
            }
            | Sort::Start { .. } => None,
            Sort::Unit {
                print, role, call, ..
            } => Some(Print {
                print,
                role,
                tells: match call {
                    Some(_) => u64::MAX,
                    None if role == Role::Assistant => held.bytes,
                    None => 0,
                },
            }),
        })
    }

    /// Takes in a request that holds these units after the first `kept` things held.
    pub(super) fn ask(
        &mut self,
        front: Front<'_, '_>,
        kept: usize,
        units: &[Unit<'_>],
        step: Step,
        writer: &mut Writer<'_, '_>,
    ) {
        let kept = kept.min(self.live.len());
        let (new, names) = self.match_units(kept, units);
        let mut starts = self.starts_that_stay(kept, &new);
        let fixed = fixed_of(front);
        let summary = self.summary_at(kept, &new, units);
        let why = match step {
            Step::Anew => Gone::Clear,
            Step::GoesOn if summary.is_some() => Gone::Compaction,
            Step::GoesOn if self.lost_its_beginning(kept, &new) => Gone::Cleared,
            Step::GoesOn => Gone::Rewind,
        };
        let stays = self.live[..kept].iter().chain(&new);
        let stays = stays.chain(starts.iter().map(|(_, start)| start));
        let stays = stays.map(|held| held.key);
        let stays: HashSet<Key> = stays.chain(fixed.iter().map(|(key, _)| *key)).collect();
        self.tell_what_left(&stays, &new, why, writer);
        self.tell_front(front, &fixed, writer);
        self.fixed = fixed;
        self.front = front.print();
        self.fronts.insert(self.front);

        let mut live: Vec<Held> = self.live.drain(..kept).collect();
        // What the model said where no line showed it, or in other words than shown.
        let mut owner = None;
        for (n, (mut held, unit)) in new.into_iter().zip(units).enumerate() {
            let is_new = !self.told.contains(&held.key) || self.emptied.contains(&held.key);
            let starting = starts.iter().position(|(at, _)| *at == n);
            if let Some((_, start)) = starting.map(|ix| starts.remove(ix)) {
                owner = start.request;
                live.push(start);
            }
            if held.is_said() && is_new {
                held.request = held.request.or(owner);
            } else if !held.is_said() {
                owner = None;
            }
            if is_new {
                match summary {
                    Some(at) if at == n => self.tell_unit(&held, &as_summary(unit), writer),
                    _ => self.tell_unit(&held, unit, writer),
                }
            }
            live.push(held);
        }
        live.extend(starts.into_iter().map(|(_, start)| start));
        self.live = live;
        self.names.extend(names);
        self.settle_unshown(writer);
    }

    /// Takes in what the model answered.
    pub(super) fn answer(
        &mut self,
        answer: &Answer<'_>,
        usage: Option<Usage>,
        request: Key,
        writer: &mut Writer<'_, '_>,
    ) {
        self.answers += 1;
        let start = Held {
            key: Key::of_number("start", request.0),
            sort: Sort::Start {
                shown: !answer.units.is_empty(),
            },
            bytes: 0,
            request: Some(request),
        };
        let mut counts = self.counts(self.live.len());
        let mut said = vec![start];
        for (n, unit) in (0..).zip(&answer.units) {
            let key = Key::of_number("said", hash(&(request, n)));
            let print = unit.print();
            self.names.insert((print, next(&mut counts, print)), key);
            said.push(Held::of(unit, key, Some(request)));
        }
        if said.iter().any(|held| self.told.contains(&held.key)) {
            // The same response again: a line that was written twice.
            let keys = self.keys_with(&said);
            let cause = Gone::Rewind;
            writer.push(self.lane, Event::Retain { keys, cause });
        }
        let (start, outputs) = said.split_at(1);
        let mut built_in = None;
        if !self.told.contains(&start[0].key) {
            built_in = self.tell_built_in(answer, request, writer);
            self.tell_start(&start[0], writer);
        }
        for (held, unit) in outputs.iter().zip(&answer.units) {
            if !self.told.contains(&held.key) {
                self.tell_unit(held, unit, writer);
            }
        }
        self.live.extend(said);
        let texts = answer.units.iter().flat_map(|unit| &unit.matter);
        let texts = texts.filter_map(|matter| match matter {
            Matter::Text(text) if text.len() >= TO_BE_QUOTED => Some(&**text),
            _ => None,
        });
        let longest = texts.max_by_key(|text| text.len());
        self.passages = longest.map(passages).into_iter().flatten().collect();
        if let Some(usage) = usage {
            self.model = usage.model.clone().or(self.model.take());
            writer.push(self.lane, Event::Usage(Box::new(usage)));
        }
        if let Some(key) = built_in {
            let nodes = vec![key];
            let calls = Vec::new();
            writer.push(self.lane, Event::Cleared { nodes, calls });
        }
    }

    /// Tells what the provider's own tools put into this one prompt. Returns what is to leave again.
    fn tell_built_in(
        &self,
        answer: &Answer<'_>,
        request: Key,
        writer: &mut Writer<'_, '_>,
    ) -> Option<Key> {
        let tokens = answer.numbers.tools.filter(|tokens| *tokens > 0)?;
        let key = Key::of_number("built-in", request.0);
        let item = writer.out.item(Role::Tool, Kind::ToolResult);
        let item = item.tool(Some("built-in"));
        let node = Node {
            key: Some(key),
            items: vec![item.reported(tokens, "(not in the log)").done()],
            ..Node::default()
        };
        writer.push(self.lane, Event::Node(Box::new(node)));
        Some(key)
    }

    /// Whether this was asked by the same maker: once with this system prompt and these tools.
    pub(super) fn had(&self, front: u64) -> bool {
        self.fronts.contains(&front)
    }

    /// Whether these quote what was answered last, as a summary is.
    pub(super) fn is_quoted<'u, 'a: 'u>(&self, mut by: impl Iterator<Item = &'u Unit<'a>>) -> bool {
        by.any(|unit| self.passages.iter().any(|passage| unit.quotes(passage)))
    }

    /// The model that a request names, where no answer has named one yet.
    pub(super) fn asks_of(&mut self, model: Option<&str>, writer: &mut Writer<'_, '_>) {
        if self.model.is_none() && model.is_some() {
            self.model = model.map(Into::into);
            let meta = Meta {
                model: self.model.clone(),
                ..Meta::default()
            };
            writer.push(self.lane, Event::Meta(Box::new(meta)));
        }
    }

    /// How often each unit is held among the first `upto`.
    fn counts(&self, upto: usize) -> HashMap<u64, u32> {
        let mut counts = HashMap::new();
        for held in &self.live[..upto] {
            if let Sort::Unit { print, .. } = held.sort {
                next(&mut counts, print);
            }
        }
        counts
    }

    /// The units as they will be held, those that are known under the keys they have.
    fn match_units(&self, kept: usize, units: &[Unit<'_>]) -> (Vec<Held>, Vec<(Name, Key)>) {
        let mut counts = self.counts(kept);
        let mut names = Vec::new();
        let by_key: HashMap<Key, &Held> = self.live.iter().map(|held| (held.key, held)).collect();
        let held = units.iter().map(|unit| {
            let print = unit.print();
            let name = (print, next(&mut counts, print));
            let key = self.names.get(&name).copied().unwrap_or_else(|| {
                let key = Key::of_number("unit", hash(&name));
                names.push((name, key));
                key
            });
            let request = by_key.get(&key).and_then(|held| held.request);
            Held::of(unit, key, request)
        });
        (held.collect(), names)
    }

    /// Which of the responses' starts stay, and before which unit. One does where something that was
    /// said stays, or where in its place something is said that no line has shown.
    fn starts_that_stay(&self, kept: usize, new: &[Held]) -> Vec<(usize, Held)> {
        let at: HashMap<Key, usize> = (0..).zip(new).map(|(n, held)| (held.key, n)).collect();
        let mut stay = Vec::new();
        let mut before = Some(0);
        for (ix, held) in self.live.iter().enumerate().skip(kept) {
            if !held.is_start() {
                before = at.get(&held.key).map(|n| n + 1);
                continue;
            }
            let own = |other: &&Held| !other.is_start() && other.request == held.request;
            let first_said = self.live[ix + 1..]
                .iter()
                .filter(own)
                .find_map(|held| at.get(&held.key).copied());
            let is_said_anew = |n: &usize| {
                new.get(*n)
                    .is_some_and(|held| held.is_said() && !self.told.contains(&held.key))
            };
            if let Some(n) = first_said.or(before.filter(is_said_anew)) {
                stay.push((n, held.clone()));
            }
        }
        stay
    }

    /// Tells what is no longer in the context, and why: thoughts that are not sent again and results
    /// that were cleared leave for good, whatever happens to the rest.
    fn tell_what_left(
        &mut self,
        stays: &HashSet<Key>,
        new: &[Held],
        why: Gone,
        writer: &mut Writer<'_, '_>,
    ) {
        let results: HashSet<Key> = new.iter().filter_map(Held::result_of).collect();
        let gone = |held: &&Held| !stays.contains(&held.key);
        let is_whole = matches!(why, Gone::Compaction | Gone::Clear);
        let cause = |held: &Held| match held.result_of() {
            _ if is_whole => why,
            _ if held.is_thinking() => Gone::Stripped,
            Some(call) if results.contains(&call) => Gone::Cleared,
            _ => why,
        };
        let fixed = self.fixed.iter().map(|(key, _)| *key);
        let replaced = fixed.filter(|key| !stays.contains(key));
        let mut left: Vec<(Key, Gone)> = replaced.map(|key| (key, Gone::Replaced)).collect();
        let lost = self.live.iter().filter(gone);
        left.extend(lost.map(|held| (held.key, cause(held))));
        self.epoch += u64::from(!left.is_empty());

        let mut held = self.keys_with(&[]);
        for cause in [Gone::Replaced, Gone::Stripped, Gone::Cleared] {
            let of_cause = left.iter().filter(|(_, why)| *why == cause);
            let of_cause: HashSet<Key> = of_cause.map(|(key, _)| *key).collect();
            if !of_cause.is_empty() {
                held.retain(|key| !of_cause.contains(key));
                let keys = held.clone();
                writer.push(self.lane, Event::Retain { keys, cause });
                self.emptied.extend(of_cause);
            }
        }
        let held: HashSet<Key> = held.into_iter().collect();
        let more = held.iter().any(|key| !stays.contains(key));
        let returns = |key: &Key| self.told.contains(key) && !held.contains(key);
        if more || stays.iter().any(returns) {
            let mut keys: Vec<Key> = stays.iter().copied().collect();
            keys.sort_unstable();
            let cause = match more {
                true => why,
                false => Gone::Rewind,
            };
            writer.push(self.lane, Event::Retain { keys, cause });
        }
    }

    /// Where the summary stands that took the place of what left, if the conversation was compacted:
    /// it reads like one, or a shorter history begins with something new though the old one goes on
    /// behind it.
    fn summary_at(&self, kept: usize, new: &[Held], units: &[Unit<'_>]) -> Option<usize> {
        let is_new = |held: &Held| !self.told.contains(&held.key);
        let size = |held: &[Held]| -> u64 { held.iter().map(|held| held.bytes).sum() };
        let (before, after) = (size(&self.live[kept..]), size(new));
        let old = self.live[kept..].iter().find(|held| !held.is_start())?;
        let told = (0..).zip(new.iter().zip(units));
        let like_one = told
            .clone()
            .find(|(_, (held, unit))| is_new(held) && unit.is_like_a_summary());
        let lost = |held: &Held| !new.iter().any(|other| other.key == held.key);
        if let Some((n, _)) = like_one {
            let gone = self.live[kept..]
                .iter()
                .any(|held| !held.is_start() && lost(held));
            return (gone && after < before).then_some(n);
        }
        let first = new.first()?;
        let goes_on = new.iter().any(|held| !is_new(held));
        (is_new(first) && lost(old) && goes_on && after * 2 < before).then_some(0)
    }

    /// Whether the oldest are missing, and nothing has taken their place.
    fn lost_its_beginning(&self, kept: usize, new: &[Held]) -> bool {
        let held = |held: &Held| self.live.iter().any(|old| old.key == held.key);
        let oldest = self.live[kept..].iter().find(|held| !held.is_start());
        let (Some(oldest), Some(first)) = (oldest, new.first()) else {
            return false;
        };
        oldest.key != first.key && held(first)
    }

    fn tell_front(
        &mut self,
        front: Front<'_, '_>,
        fixed: &[(Key, u64)],
        writer: &mut Writer<'_, '_>,
    ) {
        let tools = front.tools.map(|tools| {
            let mut unit = Unit::new(Role::Container, Kind::ToolList);
            unit.matter.push(Matter::Json(tools));
            unit
        });
        for (unit, told) in front.prompts.iter().chain(&tools).zip(fixed) {
            if !self.fixed.contains(told) || self.emptied.contains(&told.0) {
                let items = vec![unit.item(writer.out)];
                self.told.insert(told.0);
                self.emptied.remove(&told.0);
                let node = Node {
                    key: Some(told.0),
                    part: Part::Injected,
                    items,
                    ..Node::default()
                };
                writer.push(self.lane, Event::Node(Box::new(node)));
            }
        }
    }

    fn tell_unit(&mut self, held: &Held, unit: &Unit<'_>, writer: &mut Writer<'_, '_>) {
        self.told.insert(held.key);
        self.emptied.remove(&held.key);
        let part = unit.part();
        let mut item = unit.item(writer.out);
        match (item.call, &item.tool) {
            (Some(call), Some(tool)) => {
                self.tools.insert(call, tool.clone());
            }
            (Some(call), None) => item.tool = self.tools.get(&call).cloned(),
            _ => {}
        }
        let node = Node {
            key: Some(held.key),
            part,
            request: held.request.filter(|_| part == Part::Output),
            turn: unit.turn == Turn::Begins,
            items: vec![item],
            ..Node::default()
        };
        writer.push(self.lane, Event::Node(Box::new(node)));
    }

    /// Tells where a response begins, or, once more, that nothing stands in for what it said.
    fn tell_start(&mut self, held: &Held, writer: &mut Writer<'_, '_>) {
        self.told.insert(held.key);
        let node = Node {
            key: Some(held.key),
            part: Part::Output,
            request: held.request,
            ..Node::default()
        };
        writer.push(self.lane, Event::Node(Box::new(node)));
    }

    /// Where this request has shown what an earlier response said, nothing stands in for it any more.
    fn settle_unshown(&mut self, writer: &mut Writer<'_, '_>) {
        let unshown = |held: &Held| matches!(held.sort, Sort::Start { shown: false });
        let starts: Vec<usize> = (0..self.live.len())
            .filter(|ix| unshown(&self.live[*ix]))
            .collect();
        for ix in starts {
            let shown = |held: &Held| !held.is_start() && held.request == self.live[ix].request;
            if self.live[ix + 1..].iter().any(shown) {
                self.live[ix].sort = Sort::Start { shown: true };
                let start = self.live[ix].clone();
                self.tell_start(&start, writer);
            }
        }
    }

    fn keys_with(&self, more: &[Held]) -> Vec<Key> {
        let fixed = self.fixed.iter().map(|(key, _)| *key);
        let held = self.live.iter().chain(more).map(|held| held.key);
        fixed.chain(held).collect()
    }
}

fn as_summary<'a>(unit: &Unit<'a>) -> Unit<'a> {
    let mut summary = unit.clone();
    (summary.role, summary.kind) = (Role::Container, Kind::Summary);
    summary.turn = Turn::GoesOn;
    summary
}

/// The keys and hashes of a system prompt's blocks and of the tools, which come last.
fn fixed_of(front: Front<'_, '_>) -> Vec<(Key, u64)> {
    let prompts = (0..).zip(front.prompts);
    let prompts = prompts.map(|(n, unit)| {
        (
            Key::of_number("prompt", n),
            hash(&(unit.print(), unit.bytes())),
        )
    });
    let tools = front
        .tools
        .map(|tools| (Key::of("tools"), hash(&tools.get())));
    prompts.chain(tools).collect()
}

fn next(counts: &mut HashMap<u64, u32>, print: u64) -> u32 {
    let count = counts.entry(print).or_default();
    *count += 1;
    *count
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
