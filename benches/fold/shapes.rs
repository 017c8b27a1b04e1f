//! Sessions of `n` requests that never compact, by shape.

use ctxgauge::model::event::{
    BilledUsage, Cause, Conversation, Entry, Event, Key, Meta, NewItem, Node, Parent, Part, Place,
    Reset, RetainedItems, Size, Usage, count,
};
use ctxgauge::model::{Kind, LeaveReason, Role, Source};

/// A shape of sessions, by its name.
pub type Shape = (&'static str, fn(u64) -> Vec<Entry>);

/// All shapes.
pub const ALL: &[Shape] = &[
    ("reports", reports),
    ("reports, counted", |n| counted(reports(n))),
    ("no usage", no_usage),
    ("user messages only", users),
    ("parallel calls", parallel),
    ("sub-agents, 4 lanes", conversations),
    ("sub-agents, many", many_conversations),
    ("thinking stays", |n| thinking(n, STAYS)),
    ("thinking leaves", |n| thinking(n, LEAVES)),
    ("prompts drop", |n| {
        prompts(n, |n, used| (n % 150 == 149).then_some(used / 8))
    }),
    ("prompts contradict", |n| {
        prompts(n, |n, used| (n % 2 == 1).then_some(used / 2))
    }),
    ("prompts shrink", |n| {
        prompts(n, |n, _| Some(40_000_000 - n * 400))
    }),
    ("cleared, one each", |n| cleared(n, 1)),
    ("cleared, none found", |n| cleared(n, 0)),
    ("models alike", |n| switches(n, [STAYS, ALIKE])),
    ("models unlike", |n| switches(n, [STAYS, OTHER])),
    ("models, no usage", switches_unreported),
    ("prompt rises", |n| rising(n, true)),
    ("lines of a response", |n| rising(n, false)),
    ("retries of a turn", retries),
    ("retries of one turn", retries_of_one),
    ("rewinds by leaf", leaves),
    ("two short branches", two_branches),
    ("rollbacks", rollbacks),
    ("unrelated requests", unrelated),
    ("records again", again),
    ("agent's own numbers", own_numbers),
    ("resets, 4 requests", |n| resets(n, 4)),
    ("tiny records", tiny),
];

/// Shapes that a session may have while it is on screen.
pub const LIVE: &[Shape] = &[
    ("reports", |n| counted(reports(n))),
    ("thinking", |n| counted(thinking(n, STAYS))),
];

/// The same, counted by a tokenizer: then there is something to learn from each report, and that takes longest.
fn counted(mut log: Vec<Entry>) -> Vec<Entry> {
    for entry in &mut log {
        if let Event::Node(node) = &mut entry.event {
            node.items
                .iter_mut()
                .for_each(|item| item.size.counted = true);
        }
    }
    log
}

const STAYS: &str = "claude-opus-4-5-20251101";
const LEAVES: &str = "claude-sonnet-4-5-20250929";
const ALIKE: &str = "claude-sonnet-4-6";
const OTHER: &str = "claude-opus-4-8";
/// The output of a request, in tokens.
const OUTPUT: u64 = 180;

#[derive(Default)]
struct Log {
    entries: Vec<Entry>,
    conversation: Option<Key>,
}

impl Log {
    fn push(&mut self, event: Event) {
        let line = self.entries.len() as u64 + 1;
        self.entries.push(Entry {
            conversation: self
                .conversation
                .map_or(Conversation::Main, Conversation::Side),
            place: Place::new(line, line * 100, 99),
            at: None,
            event,
        });
    }

    fn key(&self) -> Key {
        Key::of_number("node", self.entries.len() as u64)
    }

    /// A record of these items after the one before.
    fn node(&mut self, part: Part, request: Option<Key>, items: Vec<NewItem>) -> Key {
        self.below(Parent::Previous, part, request, items)
    }

    fn below(
        &mut self,
        parent: Parent,
        part: Part,
        request: Option<Key>,
        items: Vec<NewItem>,
    ) -> Key {
        let key = self.key();
        self.push(Event::Node(Box::new(Node {
            key: Some(key),
            parent,
            part,
            request,
            turn: part == Part::Input,
            items,
        })));
        key
    }

    fn says(&mut self) -> Key {
        let item = self.item(Role::User, Kind::Text, 40);
        self.node(Part::Input, None, vec![item])
    }

    /// One call of a tool.
    fn calls(&mut self, request: Key) -> Key {
        let item = self.item(Role::Assistant, Kind::ToolCall, 60);
        self.node(Part::Output, Some(request), vec![item])
    }

    fn result(&mut self, tokens: u64) -> Key {
        let item = self.item(Role::Tool, Kind::ToolResult, tokens);
        self.node(Part::Result, None, vec![item])
    }

    fn usage(&mut self, usage: Usage) {
        self.push(Event::Usage(Box::new(usage)));
    }

    fn model(&mut self, id: &str) {
        self.push(Event::Meta(Box::new(Meta::of_model(Some(id.into())))));
    }

    fn item(&self, role: Role, kind: Kind, tokens: u64) -> NewItem {
        NewItem {
            role,
            kind,
            tool: matches!(kind, Kind::ToolCall | Kind::ToolResult).then(|| "Read".into()),
            call: Some(self.key()),
            size: Size {
                bytes: count(tokens * 4),
                chars: count(tokens * 4),
                local: count(tokens),
                ..Size::default()
            },
            preview: Box::default(),
            hash: self.entries.len() as u64,
            nth: 0,
            is_failed: false,
        }
    }
}

fn request(n: u64) -> Key {
    Key::of_number("request", n)
}

fn usage(n: u64, prompt: u64) -> Usage {
    Usage {
        output: Some(OUTPUT),
        billed: BilledUsage::default(),
        ..Usage::reported(request(n), prompt)
    }
}

fn size(n: u64) -> u64 {
    20 + n * 37 % 200
}

/// Requests with reports, after `before` of each.
fn regular(n: u64, mut before: impl FnMut(&mut Log, u64)) -> Log {
    let mut log = Log::default();
    log.model(STAYS);
    let mut prompt = 20_000;
    for n in 0..n {
        before(&mut log, n);
        if n % 10 == 0 {
            log.says();
            prompt += 50;
        }
        log.calls(request(n));
        log.usage(usage(n, prompt));
        log.result(size(n));
        prompt += OUTPUT + size(n) + 20;
    }
    log
}

fn reports(n: u64) -> Vec<Entry> {
    regular(n, |_, _| {}).entries
}

fn no_usage(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    for n in 0..n {
        if n % 10 == 0 {
            log.says();
        }
        log.calls(request(n));
        log.result(size(n));
    }
    log.entries
}

fn users(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    (0..n).for_each(|_| {
        log.says();
    });
    log.entries
}

fn parallel(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    let mut prompt = 20_000;
    for n in 0..n {
        let calls = [(); 3].map(|()| {
            let key = log.calls(request(n));
            log.usage(usage(n, prompt));
            key
        });
        prompt += OUTPUT;
        for call in calls {
            let item = log.item(Role::Tool, Kind::ToolResult, size(n));
            log.below(Parent::Key(call), Part::Result, None, vec![item]);
            prompt += size(n) + 20;
        }
    }
    log.entries
}

fn conversations(n: u64) -> Vec<Entry> {
    regular(n, |log, n| {
        log.conversation = (n % 2 == 1).then_some(Key::new(n / 2 % 4))
    })
    .entries
}

fn many_conversations(n: u64) -> Vec<Entry> {
    regular(n, |log, n| {
        log.conversation = (n % 10 > 0).then_some(Key::new(n / 10))
    })
    .entries
}

fn thinking(n: u64, model: &str) -> Vec<Entry> {
    let mut log = Log::default();
    log.model(model);
    let mut prompt = 20_000;
    for n in 0..n {
        if n % 10 == 0 {
            log.says();
            prompt += 50;
        }
        let thinks = log.item(Role::Assistant, Kind::Thinking, 90);
        let calls = log.item(Role::Assistant, Kind::ToolCall, 60);
        log.node(Part::Output, Some(request(n)), vec![thinks, calls]);
        log.usage(Usage {
            reasoning: Some(100),
            ..usage(n, prompt)
        });
        log.result(size(n));
        prompt += OUTPUT + size(n) + 20;
    }
    log.entries
}

/// Prompts as reported; `None`: as the items have it.
fn prompts(n: u64, reported: fn(u64, u64) -> Option<u64>) -> Vec<Entry> {
    let mut log = Log::default();
    log.model(STAYS);
    let mut used = 20_000;
    for n in 0..n {
        log.calls(request(n));
        used = reported(n, used).unwrap_or(used);
        log.usage(usage(n, used));
        log.result(size(n));
        used += OUTPUT + size(n) + 20;
    }
    log.entries
}

fn cleared(n: u64, each: usize) -> Vec<Entry> {
    let mut results = std::collections::VecDeque::new();
    let mut log = Log::default();
    log.model(STAYS);
    let mut prompt = 20_000;
    for n in 0..n {
        log.calls(request(n));
        log.usage(usage(n, prompt));
        results.push_back(log.key());
        log.result(size(n));
        prompt += OUTPUT + size(n) + 20;
        let calls = match each {
            0 => vec![Key::new(n)],
            each if results.len() > 20 => results.drain(..each).collect(),
            _ => Vec::new(),
        };
        if each > 0 && !calls.is_empty() {
            prompt -= size(n) + 20;
        }
        log.push(Event::cleared_calls(calls));
    }
    log.entries
}

fn switches(n: u64, models: [&'static str; 2]) -> Vec<Entry> {
    regular(n, |log, n| log.model(models[n as usize % 2])).entries
}

fn switches_unreported(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    for n in 0..n {
        log.model([STAYS, OTHER][n as usize % 2]);
        log.says();
        log.calls(request(n));
    }
    log.entries
}

/// One response of many lines, each with its usage.
fn rising(n: u64, rises: bool) -> Vec<Entry> {
    let mut log = regular(20, |_, _| {});
    for line in 0..n {
        log.calls(request(20));
        log.usage(Usage {
            output: Some(OUTPUT + line * 20),
            ..usage(20, 40_000 + if rises { line * 10 } else { 0 })
        });
    }
    log.entries
}

/// The last turn is tried again and again, in a log that is a tree.
fn retries(n: u64) -> Vec<Entry> {
    let mut prompt = 20_000;
    let mut log = Log::default();
    log.model(STAYS);
    let mut from = log.says();
    for n in 0..n {
        let item = log.item(Role::User, Kind::Text, 40);
        let question = log.below(Parent::Key(from), Part::Input, None, vec![item]);
        let item = log.item(Role::Assistant, Kind::ToolCall, 60);
        let call = log.below(
            Parent::Key(question),
            Part::Output,
            Some(request(n)),
            vec![item],
        );
        log.usage(usage(n, prompt));
        // Every other try is kept.
        if n % 2 == 0 {
            from = call;
            prompt += OUTPUT + 50;
        }
    }
    log.entries
}

/// The same question below the first answer is asked again and again.
fn retries_of_one(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    log.model(STAYS);
    let from = log.says();
    for n in 0..n {
        let item = log.item(Role::User, Kind::Text, 40);
        let question = log.below(Parent::Key(from), Part::Input, None, vec![item]);
        let item = log.item(Role::Assistant, Kind::ToolCall, 60);
        let output = Some(request(n));
        log.below(Parent::Key(question), Part::Output, output, vec![item]);
        log.usage(usage(n, 20_000));
    }
    log.entries
}

/// After every third request the conversation goes on from the one before.
fn leaves(n: u64) -> Vec<Entry> {
    let mut kept = Key::new(0);
    let mut log = Log::default();
    log.model(STAYS);
    let mut prompt = 20_000;
    for n in 0..n {
        let call = log.calls(request(n));
        log.usage(usage(n, prompt));
        if n % 3 == 2 {
            log.push(Event::Leaf {
                key: kept,
                rewound: true,
            });
        } else {
            kept = call;
            prompt += OUTPUT;
        }
    }
    log.entries
}

/// A long trunk, and two branches of ten records between which the conversation goes back and forth.
fn two_branches(n: u64) -> Vec<Entry> {
    let mut log = regular(n / 2, |_, _| {});
    let trunk = log.result(50);
    let ends = [0, 1].map(|_| {
        let mut end = trunk;
        for _ in 0..10 {
            let item = log.item(Role::User, Kind::Text, 40);
            end = log.below(Parent::Key(end), Part::Input, None, vec![item]);
        }
        end
    });
    for n in 0..n / 2 {
        log.push(Event::Leaf {
            key: ends[n as usize % 2],
            rewound: true,
        });
    }
    log.entries
}

fn rollbacks(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    log.model(STAYS);
    let mut prompt = 20_000;
    for n in 0..n {
        log.says();
        log.calls(request(n));
        log.usage(usage(n, prompt));
        if n % 2 == 1 {
            log.push(Event::Rollback { turns: 1 });
        } else {
            prompt += OUTPUT + 50;
        }
    }
    log.entries
}

/// Each request has a conversation of its own.
fn unrelated(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    for n in 0..n {
        let keys = vec![log.says(), log.says()];
        log.push(Event::Retain {
            keys,
            cause: LeaveReason::Rewind,
        });
        log.calls(request(n));
        log.usage(usage(n, 400));
    }
    log.entries
}

/// Records that are written again, with more in them.
fn again(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    log.model(STAYS);
    let mut prompt = 20_000;
    let mut before = log.says();
    for n in 0..n {
        let items: Vec<NewItem> = (0..2)
            .map(|_| log.item(Role::Assistant, Kind::ToolCall, 60))
            .collect();
        let key = log.key();
        for items in [items[..1].to_vec(), items] {
            log.push(Event::Node(Box::new(Node {
                key: Some(key),
                parent: Parent::Key(before),
                ..Node::output(None, Some(request(n)), items)
            })));
        }
        log.usage(usage(n, prompt));
        prompt += OUTPUT;
        before = key;
    }
    log.entries
}

/// Nothing is reported, and the agent has a number of its own after each message.
fn own_numbers(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    let mut used = 0;
    for n in 0..n {
        log.says();
        log.calls(request(n));
        used += 70;
        log.usage(Usage {
            source: Source::Agent,
            ..usage(n, used)
        });
    }
    log.entries
}

fn resets(n: u64, every: u64) -> Vec<Entry> {
    regular(n, |log, n| {
        if n % every == every - 1 {
            log.push(Event::Reset(Box::new(Reset {
                key: None,
                gone: LeaveReason::Compaction,
                cause: Cause::Automatic,
                before: None,
                after: None,
                kept: RetainedItems::Nothing,
            })));
        }
    })
    .entries
}

fn tiny(n: u64) -> Vec<Entry> {
    let mut log = Log::default();
    for _ in 0..n * 4 {
        log.push(Event::Skipped("progress".into()));
    }
    log.entries
}
