//! Keeps the blocks that the context of one conversation holds, and finds what a new request changes. A request carries its
//! history, whole or from a known block on, so a block that it no longer carries has left.

mod losses;

use super::block::{Block, Content};
use super::context_block::{BlockContent, BlockIdentity, ContextBlock};
pub use losses::LossInference;
use model::event::{Event, EventSink, Key, Node, Parent, Part, Usage};
use model::{Kind, LeaveReason, Role};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The n-th block of this fingerprint among all that the context holds.
type Name = (u64, u32);

/// Shows whether a request continues the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The request continues the conversation, perhaps rewound or compacted.
    Continue,
    /// Another one takes its place.
    Replace,
}

/// The content of a request.
#[derive(Clone, Copy)]
pub struct Prompt<'p, 'a> {
    /// The system prompt and the tools on offer.
    pub front: &'p [Block<'a>],
    /// True if the parts of the front that are held stay although it does not carry them: the log may lack them.
    pub keeps_front: bool,
    /// The number of held blocks on which it builds without carrying them.
    pub kept: usize,
    /// The history.
    pub blocks: &'p [Block<'a>],
    /// Shows whether it continues the conversation.
    pub step: Step,
}

impl<'p, 'a> Prompt<'p, 'a> {
    /// Returns a request that carries these blocks, the system prompt and the tools first.
    pub fn of(blocks: &'p [Block<'a>]) -> Prompt<'p, 'a> {
        let front = blocks.iter().take_while(|block| block.is_front()).count();
        Prompt {
            front: &blocks[..front],
            keeps_front: false,
            kept: 0,
            blocks: &blocks[front..],
            step: Step::Continue,
        }
    }
}

/// A conversation. Its events go to the sink's current conversation.
#[derive(Clone, Default)]
pub struct PromptHistory {
    losses: LossInference,
    /// The blocks of the system prompt and the tools, with hashes of their content.
    front: Vec<(Key, u64)>,
    live: Vec<ContextBlock>,
    /// Nodes by the blocks they hold.
    names: HashMap<Name, Key>,
    /// Nodes that were emitted.
    emitted: HashSet<Key>,
    /// Of these, the ones whose items have left for good: they must be emitted again.
    emptied: HashSet<Key>,
    /// The names of tools, by the call.
    tools: HashMap<Key, Arc<str>>,
    /// The number of times that each block is held, as long as blocks were only added.
    counted: Option<HashMap<u64, u32>>,
    /// The number of losses so far: lengths that were noted before the last one are wrong.
    pub loss_count: u64,
}

impl PromptHistory {
    /// Returns a conversation from its first request on; `losses` says how parts leave it.
    pub fn new(losses: LossInference) -> PromptHistory {
        PromptHistory {
            losses,
            ..PromptHistory::default()
        }
    }

    /// Returns the number of blocks in the context, for requests that build on it as it is now.
    pub fn held(&self) -> usize {
        self.live.len()
    }

    /// Returns the index in the context of the longest run that these blocks repeat, of which the oldest may be missing.
    /// Returns [`held`](Self::held) if they repeat nothing.
    pub fn held_before(&self, blocks: &[Block<'_>]) -> usize {
        /// Enough to tell one place from another.
        const COMPARED: usize = 64;
        let in_a_row = |at: usize| {
            let held = self.live[at..].iter().filter_map(ContextBlock::fingerprint);
            let pairs = held.zip(blocks).take(COMPARED);
            let same = pairs.take_while(|(held, block)| *held == block.fingerprint());
            same.count()
        };
        let is_block = |at: &usize| !self.live[*at].is_start();
        let places = (0..self.live.len()).filter(is_block);
        let best = places.max_by_key(|at| in_a_row(*at));
        best.filter(|at| in_a_row(*at) > 0).unwrap_or(self.held())
    }

    /// Returns the marks that identify the history so far, in its order.
    pub fn marks(&self) -> impl Iterator<Item = BlockIdentity> {
        self.live.iter().filter_map(ContextBlock::mark)
    }

    /// Returns true if the response to this request was recorded before.
    pub fn has_response(&self, request: Key) -> bool {
        self.emitted.contains(&start_key(request))
    }

    /// Returns true if it holds nothing yet, or something that these blocks contain as well.
    pub fn shares(&self, blocks: &[Block<'_>]) -> bool {
        let is_empty = self.front.is_empty() && self.live.iter().all(ContextBlock::is_start);
        // A set of all that is held takes longer than looking for one block, which is mostly the first.
        let is_held = |key| self.live.iter().any(|held| held.key == key);
        is_empty || self.shared_front(blocks).next().is_some() || self.known(blocks).any(is_held)
    }

    /// Returns the number of these blocks that it has too, if one of them was an answer here; `None` where none was,
    /// since examples in a prompt look like answers.
    pub fn repeats(&self, blocks: &[Block<'_>]) -> Option<usize> {
        let is_answer = |key: &Key| {
            let held = self.live.iter().find(|held| held.key == *key);
            held.is_some_and(|held| held.request.is_some())
        };
        let repeats = self.shared_with(blocks).any(|key| is_answer(&key));
        repeats.then(|| self.shared_with(blocks).count())
    }

    /// Returns the keys of these blocks that are in the context.
    fn shared_with<'s>(&'s self, blocks: &'s [Block<'_>]) -> impl Iterator<Item = Key> + 's {
        let live: HashSet<Key> = self.live.iter().map(|held| held.key).collect();
        let keys = self.known(blocks).filter(move |key| live.contains(key));
        self.shared_front(blocks).chain(keys)
    }

    /// Returns the keys of the system prompt's blocks and the tools that are in the context.
    fn shared_front(&self, blocks: &[Block<'_>]) -> impl Iterator<Item = Key> + '_ {
        let front = front_of(Prompt::of(blocks).front).into_iter();
        let front = front.filter(|block| self.front.contains(block));
        front.map(|(key, _)| key)
    }

    /// Returns the keys of those of the other blocks that were in the context at some time.
    fn known<'s>(&'s self, blocks: &'s [Block<'_>]) -> impl Iterator<Item = Key> + 's {
        let mut counts = HashMap::new();
        Prompt::of(blocks).blocks.iter().filter_map(move |block| {
            let name = next_name(&mut counts, block.fingerprint());
            self.names.get(&name).copied()
        })
    }

    /// Takes in a request.
    pub fn add_request(&mut self, prompt: &Prompt<'_, '_>, out: &mut EventSink<'_>) {
        if self.add_to_all(prompt, out) {
            return;
        }
        // 1. Find what stays: the blocks on which it builds, those that it carries, the starts of responses, the front.
        let kept = prompt.kept.min(self.live.len());
        let new = self.match_blocks(kept, prompt.blocks);
        let mut starts = self.starts_that_stay(kept, &new);
        let front = Vec::from_iter(front_of(prompt.front).into_iter().zip(prompt.front));
        let kept_front = if prompt.keeps_front {
            self.front_beside(&front)
        } else {
            Vec::new()
        };
        let fronts = kept_front
            .iter()
            .chain(front.iter().map(|(named, _)| named));
        let held = self.live[..kept].iter().chain(&new);
        let held = held.chain(starts.iter().map(|(_, start)| start));
        let stays = fronts.map(|(key, _)| *key).chain(held.map(|held| held.key));
        let stays: Vec<Key> = stays.collect();

        // 2. Emit what leaves, and why.
        let (cause, summary) = self.loss(prompt, kept, &new);
        self.drop_missing(&stays, &new, cause, out);

        // 3. Emit what is new of the front.
        self.set_front(kept_front, &front, out);

        // 4. Emit new blocks. Output among them belongs to the response whose start is before it: no line showed it, or in
        //    other words.
        self.counted = None;
        self.live.truncate(kept);
        let mut owner = None;
        for (n, (mut held, block)) in new.into_iter().zip(prompt.blocks).enumerate() {
            while let Some(ix) = starts.iter().position(|(at, _)| *at == n) {
                let (_, start) = starts.remove(ix);
                owner = start.request;
                self.live.push(start);
            }
            let is_new = self.is_missing(held.key);
            if !held.is_output() {
                owner = None;
            } else if is_new {
                held.request = held.request.or(owner);
            }
            if is_new && summary == Some(n) {
                self.emit_block(&held, &as_summary(block), out);
            } else if is_new {
                self.emit_block(&held, block, out);
            }
            self.live.push(held);
        }

        // 5. Note the responses that have their output now.
        self.live.extend(starts.into_iter().map(|(_, start)| start));
        self.settle_starts(out);
    }

    /// Takes in a request that builds on all that is held and carries what is new alone, in a time that does not grow with
    /// the context. Returns false, and does nothing, if something leaves or returns.
    fn add_to_all(&mut self, prompt: &Prompt<'_, '_>, out: &mut EventSink<'_>) -> bool {
        if prompt.kept < self.live.len() || self.live.is_empty() || prompt.step == Step::Replace {
            return false;
        }
        let front = Vec::from_iter(front_of(prompt.front).into_iter().zip(prompt.front));
        let beside = self.front_beside(&front);
        if !beside.is_empty() && !prompt.keeps_front {
            return false;
        }
        let mut counts = self.take_counts();
        let mut new = Vec::new();
        for block in prompt.blocks {
            let name = next_name(&mut counts, block.fingerprint());
            let key = *self.names.entry(name).or_insert_with(|| block_key(name));
            if self.emitted.contains(&key) {
                return false;
            }
            new.push(ContextBlock::of(block, key, None));
        }
        self.set_front(beside, &front, out);
        for (held, block) in new.iter().zip(prompt.blocks) {
            self.emit_block(held, block, out);
        }
        self.live.extend(new);
        self.counted = Some(counts);
        true
    }

    /// Takes in the first blocks of a request of which more may follow: nothing leaves.
    pub fn add_request_part(&mut self, blocks: &[Block<'_>], out: &mut EventSink<'_>) {
        let prompt = Prompt::of(blocks);
        let front = Vec::from_iter(front_of(prompt.front).into_iter().zip(prompt.front));
        self.set_front(self.front_beside(&front), &front, out);
        self.counted = None;
        let hidden = self.live.last().filter(|held| held.is_start());
        let mut owner = hidden.and_then(|start| start.request);
        for (held, block) in self
            .match_blocks(0, prompt.blocks)
            .iter_mut()
            .zip(prompt.blocks)
        {
            if self.live.iter().any(|other| other.key == held.key) {
                continue;
            }
            owner = owner.filter(|_| held.is_output());
            held.request = owner;
            self.emit_block(held, block, out);
            self.live.push(held.clone());
        }
        self.settle_starts(out);
    }

    /// Takes in the response to a request, and its usage.
    pub fn add_response(
        &mut self,
        request: Key,
        blocks: &[Block<'_>],
        usage: impl IntoIterator<Item = Usage>,
        out: &mut EventSink<'_>,
    ) {
        let key = start_key(request);
        if !self.emitted.contains(&key) || self.live.iter().all(|held| held.key != key) {
            self.add_output(request, blocks, out);
        }
        usage.into_iter().for_each(|usage| out.usage(usage));
    }

    fn add_output(&mut self, request: Key, blocks: &[Block<'_>], out: &mut EventSink<'_>) {
        let start = ContextBlock {
            key: start_key(request),
            content: BlockContent::Start {
                shown: !blocks.is_empty(),
            },
            bytes: 0,
            request: Some(request),
        };
        let mut counts = self.take_counts();
        let mut outputs = Vec::new();
        for (n, block) in blocks.iter().enumerate() {
            let key = Key::of_number("output", hash(&(request, n)));
            let name = next_name(&mut counts, block.fingerprint());
            self.names.insert(name, key);
            outputs.push(ContextBlock::of(block, key, Some(request)));
        }
        let keys = || std::iter::once(start.key).chain(outputs.iter().map(|held| held.key));
        if keys().any(|key| self.emitted.contains(&key)) {
            // It is one response again: its line was written twice.
            let keys = self.keys().chain(keys()).collect();
            let cause = LeaveReason::Rewind;
            out.emit(Event::Retain { keys, cause });
        }
        if !self.emitted.contains(&start.key) {
            self.emit_start(&start, out);
        }
        for (held, block) in outputs.iter().zip(blocks) {
            if !self.emitted.contains(&held.key) {
                self.emit_block(held, block, out);
            }
        }
        self.live.push(start);
        self.live.extend(outputs);
        self.counted = Some(counts);
    }

    /// Takes in the usage of a request that is older than the newest one: it counts, and the context
    /// stays as it is.
    pub fn add_late_response(
        &mut self,
        request: Key,
        usage: impl IntoIterator<Item = Usage>,
        out: &mut EventSink<'_>,
    ) {
        let key = Key::of_number("late", request.get());
        out.node(Node {
            parent: Parent::Root,
            ..Node::output(Some(key), Some(request), Vec::new())
        });
        usage.into_iter().for_each(|usage| out.usage(usage));
        let keys = self.keys().collect();
        let cause = LeaveReason::Rewind;
        out.emit(Event::Retain { keys, cause });
    }

    /// Returns the nodes in the context.
    fn keys(&self) -> impl Iterator<Item = Key> {
        let front = self.front.iter().map(|(key, _)| *key);
        front.chain(self.live.iter().map(|held| held.key))
    }

    /// Returns the parts of the front that are held and of which these have nothing.
    fn front_beside(&self, front: &[((Key, u64), &Block<'_>)]) -> Vec<(Key, u64)> {
        let is_beside = |held: &&(Key, u64)| front.iter().all(|((key, _), _)| *key != held.0);
        self.front.iter().filter(is_beside).copied().collect()
    }

    /// Returns true if the items of a node are yet to be emitted.
    fn is_missing(&self, key: Key) -> bool {
        !self.emitted.contains(&key) || self.emptied.contains(&key)
    }

    /// Returns the number of times that each block is held, for a caller that adds blocks and puts it back.
    fn take_counts(&mut self) -> HashMap<u64, u32> {
        let counted = self.counted.take();
        counted.unwrap_or_else(|| self.counts(self.live.len()))
    }

    /// Returns the number of times that each block is held among the first `upto`.
    fn counts(&self, upto: usize) -> HashMap<u64, u32> {
        let mut counts = HashMap::new();
        for held in &self.live[..upto] {
            if let BlockContent::Block { fingerprint, .. } = held.content {
                next_name(&mut counts, fingerprint);
            }
        }
        counts
    }

    /// Returns the blocks as they will be held, known ones under the keys they have.
    fn match_blocks(&mut self, kept: usize, blocks: &[Block<'_>]) -> Vec<ContextBlock> {
        let mut counts = self.counts(kept);
        let by_key: HashMap<Key, Option<Key>> = self
            .live
            .iter()
            .map(|held| (held.key, held.request))
            .collect();
        let held = blocks.iter().map(|block| {
            let name = next_name(&mut counts, block.fingerprint());
            let key = self.names.entry(name);
            let key = *key.or_insert_with(|| block_key(name));
            ContextBlock::of(block, key, by_key.get(&key).copied().flatten())
        });
        held.collect()
    }

    /// Emits what is new of the front, which now holds these parts besides those that were `kept`.
    fn set_front(
        &mut self,
        kept: Vec<(Key, u64)>,
        front: &[((Key, u64), &Block<'_>)],
        out: &mut EventSink<'_>,
    ) {
        for (named, block) in front {
            if !self.front.contains(named) || self.emptied.contains(&named.0) {
                let held = ContextBlock::of(block, named.0, None);
                self.emit_block(&held, block, out);
            }
        }
        let front = front.iter().map(|(named, _)| *named);
        self.front = kept.into_iter().chain(front).collect();
    }

    fn emit_block(&mut self, held: &ContextBlock, block: &Block<'_>, out: &mut EventSink<'_>) {
        self.emitted.insert(held.key);
        self.emptied.remove(&held.key);
        let part = block.part();
        let mut item = block.item(out);
        match (item.call, &item.tool) {
            (Some(call), Some(tool)) => {
                self.tools.insert(call, tool.clone());
            }
            (Some(call), None) => item.tool = self.tools.get(&call).cloned(),
            _ => {}
        }
        out.node(Node {
            request: held.request.filter(|_| part == Part::Output),
            turn: block.begins_turn,
            ..Node::new(Some(held.key), part, vec![item])
        });
    }

    /// Emits where a response starts; once more, when its output has been shown.
    fn emit_start(&mut self, held: &ContextBlock, out: &mut EventSink<'_>) {
        self.emitted.insert(held.key);
        out.node(Node::output(Some(held.key), held.request, Vec::new()));
    }

    /// Notes which earlier responses have their output shown now: nothing takes its place any more.
    fn settle_starts(&mut self, out: &mut EventSink<'_>) {
        for ix in 0..self.live.len() {
            let (start, rest) = (&self.live[ix], &self.live[ix + 1..]);
            if start.content != (BlockContent::Start { shown: false }) {
                continue;
            }
            let mut outputs = rest.iter().take_while(|held| !held.is_start());
            if outputs.any(|held| held.request == start.request) {
                self.live[ix].content = BlockContent::Start { shown: true };
                let start = self.live[ix].clone();
                self.emit_start(&start, out);
            }
        }
    }
}

fn block_key(name: Name) -> Key {
    Key::of_number("block", hash(&name))
}

fn start_key(request: Key) -> Key {
    Key::of_number("start", request.get())
}

fn as_summary<'a>(block: &Block<'a>) -> Block<'a> {
    let mut summary = block.clone();
    (summary.role, summary.kind) = (Role::Container, Kind::Summary);
    summary.begins_turn = false;
    summary
}

/// Returns the keys of the system prompt's blocks and the tools, with hashes of their content.
pub fn front_of(front: &[Block<'_>]) -> Vec<(Key, u64)> {
    let mut counts: HashMap<Kind, u64> = HashMap::new();
    let named = front.iter().map(|block| {
        let n = counts.entry(block.kind).or_default();
        *n += 1;
        let json = block.content.iter().filter_map(|content| match content {
            Content::Json(raw) => Some(raw.get()),
            _ => None,
        });
        let json: Vec<&str> = json.collect();
        let hash = hash(&(block.fingerprint(), block.bytes(), json));
        (Key::of_number(block.kind.name(), *n), hash)
    });
    named.collect()
}

fn next_name(counts: &mut HashMap<u64, u32>, fingerprint: u64) -> Name {
    let count = counts.entry(fingerprint).or_default();
    *count += 1;
    (fingerprint, *count)
}

/// Returns a hash that is the same for equal values in one run of the program.
pub fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
