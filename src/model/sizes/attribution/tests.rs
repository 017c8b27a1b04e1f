//! Tests what is learned from the reports and what is attributed again.

use crate::event::{Event, Key, NewItem, Node, Parent, Part, Usage};
use crate::session::Session;
use crate::session::replay::Timeline;
use crate::sizes::thinking::Thinking;
use crate::testing::{Log, new_item};
use crate::window::Rules;
use crate::{Kind, LeaveReason, Role, Source};
use std::sync::Arc;

/// Results of tools, and thinking before each.
const RESULTS: [u64; 5] = [3_000, 90, 8_000, 400, 2_000];
const THINKING: u64 = 600;
const CALL: u64 = 20;

/// The way in which a log shows thinking: its text, its number, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Text,
    Number,
    Both,
}

/// A response with thinking.
fn step(log: Log, n: usize, prompt: u64, shown: Shown) -> Log {
    let request = Key::of_number("step", n as u64);
    let mut output = vec![new_item(Role::Assistant, Kind::ToolCall, CALL)];
    if shown != Shown::Number {
        output.push(new_item(Role::Assistant, Kind::Thinking, THINKING));
    }
    let node = Node::output(None, Some(request), output);
    let usage = Usage {
        output: Some(CALL + THINKING),
        reasoning: (shown != Shown::Text).then_some(THINKING),
        ..Usage::reported(request, prompt)
    };
    log.event(Event::Node(Box::new(node)))
        .event(Event::Usage(Box::new(usage)))
}

fn result(log: Log, n: usize, part: Part) -> Log {
    let (role, kind) = match part {
        Part::Input => (Role::User, Kind::Text),
        _ => (Role::Tool, Kind::ToolResult),
    };
    let item: NewItem = new_item(role, kind, RESULTS[n]);
    log.event(Event::Node(Box::new(Node::new(None, part, vec![item]))))
}

/// A session in which this becomes of thinking and a token costs `scale` tokens; the user has the word
/// every second time.
fn session(thinking: Thinking, scale: f64, shown: Shown) -> Log {
    let (mut log, mut sent, mut thoughts) = (Log::new().model("m"), 9_000, 0);
    for (n, tokens) in RESULTS.into_iter().enumerate() {
        let part = if n % 2 == 1 {
            Part::Input
        } else {
            Part::Result
        };
        log = result(step(log, n, sent + thoughts, shown), n, part);
        sent += CALL + (tokens as f64 * scale).round() as u64;
        thoughts = match (thinking, part) {
            (Thinking::Never, _) | (Thinking::Leaves, Part::Input) => 0,
            _ => thoughts + THINKING,
        };
    }
    step(log, RESULTS.len(), sent + thoughts, shown)
}

/// The sizes of the results in the context, and how they are known.
fn results(log: &Log) -> Vec<(u64, Source)> {
    let items = log.session.in_context();
    let results = items.filter(|(ix, ..)| log.session.items()[*ix].role != Role::Assistant);
    results
        .map(|(_, tokens, source)| (tokens, source))
        .collect()
}

#[test]
fn whatever_becomes_of_thinking_results_have_their_sizes() {
    for thinking in Thinking::ALL {
        for shown in [Shown::Text, Shown::Number, Shown::Both] {
            let log = session(thinking, 1.0, shown);
            let sizes = RESULTS.map(|tokens| (tokens, Source::Derived));
            assert_eq!(results(&log), sizes, "{thinking:?}, {shown:?}");
            let context = log.session.context();
            let system = context.role(Role::System);
            assert_eq!(
                (system.tokens, system.estimated),
                (9_000, 0),
                "{thinking:?}"
            );
            assert_eq!(context.estimated, 0);
        }
    }
}

#[test]
fn thinking_that_is_not_sent_back_was_in_no_prompt() {
    let log = session(Thinking::Never, 1.0, Shown::Both);
    let items = log.session.items().iter();
    let mut thinking = items.filter(|item| item.kind == Kind::Thinking).rev();
    assert!(thinking.next().is_some_and(|newest| newest.in_context()));
    for item in thinking {
        assert_eq!(item.requests_held(log.session.requests().len()), 0);
        assert_eq!(item.left.map(|left| left.why), Some(LeaveReason::Stripped));
    }
}

/// Two models of different tokenizers; the table is wrong about the thinking of the first.
const TWO_MODELS: &str = r#"
[[model]]
ids = ["leaving"]
window = 100_000
tokenizer = "one"
thinking = "leaves"

[[model]]
ids = ["other"]
window = 100_000
tokenizer = "two"

[tokenizer.one]
per_token = 1.0
per_item = 0.0
spread = 0.1
spread_floor = 20.0
source = "test"

[tokenizer.two]
per_token = 1.2
per_item = 0.0
spread = 0.1
spread_floor = 20.0
source = "test"
"#;

#[test]
fn a_model_that_is_chosen_again_knows_its_last_prompt() {
    let answered = || {
        let rules: Rules = toml::from_str(TWO_MODELS).unwrap();
        let mut log = Log::new();
        log.session = Session::new("tested", Arc::new(rules));
        result(
            step(log.model("leaving"), 0, 9_000, Shown::Both),
            0,
            Part::Input,
        )
    };
    let before = answered().session.context();
    assert!(before.known >= 9_000);
    let other = answered().model("other");
    assert_eq!(other.session.context().known, 0);
    let back = answered().model("other").model("leaving");
    assert_eq!(back.session.context(), before);
    // The report of another one counts.
    let asked = step(answered().model("other"), 1, 7_000, Shown::Both).model("leaving");
    assert_eq!(asked.session.context().known, 0);
}

#[test]
fn thinking_from_before_another_tokenizer_is_part_of_the_first_prompt_after_it() {
    let rules: Rules = toml::from_str(TWO_MODELS).unwrap();
    let mut log = Log::new();
    log.session = Session::new("tested", Arc::new(rules));
    log = log.model("leaving");
    let mut prompt = 9_000;
    for (n, tokens) in RESULTS.into_iter().enumerate() {
        log = step(log, n, prompt, Shown::Both);
        assert_eq!(log.session.context().estimated, 0, "report {n}");
        // After the second report, which held the thinking before it, no size holds any more. That thinking is
        // believed to leave with the turn, so the next report does not attribute it.
        log = match n {
            0 => result(log, n, Part::Result),
            1 => result(log.model("other").model("leaving"), n, Part::Input),
            _ => result(log, n, Part::Input),
        };
        prompt += CALL + THINKING + tokens;
    }
    let learned = log.session.attribution().items().calibrations().current();
    assert_eq!(learned.thinking, Thinking::Stays);
    for turns in 0..3 {
        let at = log.session.anchor().unwrap();
        let reported = at.prompt + CALL + THINKING;
        assert_eq!(log.session.context().known, reported, "{turns} turns back");
        log = log.event(Event::Rollback { turns: 1 });
    }
}

#[test]
fn what_was_shown_then_was_shown_so() {
    let whole = session(Thinking::Never, 1.31, Shown::Both);
    let timeline = Timeline::of(&whole.session);
    let report = timeline.of_request(1).and_then(|at| timeline.moment(at));
    let then = whole.session.snapshot_at(report.unwrap());
    assert_eq!(then.context.used, then.context.known);
    let shown = |ix: &usize| whole.session.items()[*ix].kind == Kind::Thinking;
    let thinking = then.items.iter().filter(|(ix, ..)| shown(ix)).count();
    assert_eq!(thinking, 2, "it was not known yet that it is not sent back");
}

#[test]
fn a_tokenizer_far_from_its_prior_is_learned() {
    for scale in [0.8, 1.31, 1.5] {
        let log = session(Thinking::Stays, scale, Shown::Both);
        for ((tokens, source), local) in results(&log).into_iter().zip(RESULTS) {
            let real = (local as f64 * scale).round() as u64;
            assert_eq!((tokens, source), (real, Source::Derived), "{scale}");
        }
        let last = log.session.requests().last().unwrap();
        let expected = last.predicted.unwrap();
        assert!(
            (expected.low..=expected.high).contains(&last.prompt),
            "{scale}"
        );
    }
}

#[test]
fn an_excess_over_a_prior_that_fits_is_unlogged() {
    let mut log = Log::new().model("m");
    let mut sent = 9_000;
    for (n, tokens) in RESULTS.into_iter().enumerate() {
        log = result(step(log, n, sent, Shown::Both), n, Part::Result);
        // The third time something else comes with the result.
        sent += CALL + THINKING + tokens + if n == 2 { 5_000 } else { 0 };
    }
    let log = step(log, RESULTS.len(), sent, Shown::Both);
    let of_result = results(&log)[2].0;
    assert!(of_result.abs_diff(RESULTS[2]) < 100, "{of_result}");
    let system = log.session.context().role(Role::System).tokens;
    assert!(system.abs_diff(14_000) < 100, "{system}");
}

#[test]
fn history_that_is_not_logged_is_no_prefix() {
    let first = |parent| {
        let node = Node {
            key: Some(Key::new(1)),
            parent,
            ..Node::new(None, Part::Input, vec![new_item(Role::User, Kind::Text, 9)])
        };
        let log = Log::new().model("m").event(Event::Node(Box::new(node)));
        log.report(150_000).compact(150_000).session.context().used
    };
    assert_eq!(
        first(Parent::Key(Key::new(9))),
        0,
        "the agent's prefix is not known"
    );
    assert!(first(Parent::Root) > 140_000);
}

#[test]
fn the_same_content_costs_the_same_again() {
    let log = Log::new().model("m").report(10_000);
    // By itself: 1,300 where 1,000 were counted.
    let log = log.result("a", "Read", 1_000).report(11_300);
    let log = log.result("b", "Read", 1_000).result("c", "Grep", 900);
    let log = log.report(13_500);
    let sizes: Vec<u64> = [0, 1, 2].map(|ix| log.session.tokens(ix).0).to_vec();
    assert_eq!(sizes[0], 1_300);
    assert!(sizes[1] > sizes[2], "{sizes:?}");
    assert_eq!(sizes[1] + sizes[2], 2_200);
    // Another size alone, since its share of the whole differs from that of the counts.
    assert!(sizes[1] > 2_200 * 1_000 / 1_900, "{sizes:?}");
}

fn node(key: u64, part: Part, request: Option<u64>, items: Vec<NewItem>) -> Event {
    let request = request.map(|request| Key::of_number("request", request));
    let node = Node::new(Some(Key::new(key)), part, items);
    Event::Node(Box::new(Node { request, ..node }))
}

fn response(request: u64, prompt: u64, output: u64) -> Event {
    let key = Key::of_number("request", request);
    Event::Usage(Box::new(Usage {
        output: Some(output),
        ..Usage::reported(key, prompt)
    }))
}

/// Two responses, the first of two records, with a result between them.
fn two_responses() -> Log {
    let call = || vec![new_item(Role::Assistant, Kind::ToolCall, CALL)];
    let log = Log::new().model("m");
    let log = log.event(node(1, Part::Output, Some(1), call()));
    let log = log.event(node(2, Part::Output, Some(1), call()));
    let log = log.event(response(1, 9_000, 2 * CALL));
    let log = result(log, 0, Part::Result);
    let log = log.event(node(3, Part::Output, Some(2), call()));
    log.event(response(2, 9_000 + 2 * CALL + RESULTS[0], CALL))
}

fn leaf(log: Log, key: u64) -> Log {
    log.event(Event::Leaf {
        key: Key::new(key),
        rewound: true,
    })
}

fn known(log: &Log) -> u64 {
    log.session.context().known
}

#[test]
fn a_report_counts_again_when_the_session_is_back_on_its_branch() {
    let log = two_responses();
    let reported = known(&log);
    let log = leaf(log, 2);
    assert_eq!(known(&log), 9_000 + 2 * CALL);
    assert_eq!(known(&leaf(log, 3)), reported);
}

#[test]
fn a_report_is_void_once_an_earlier_one_was_settled_otherwise_on_another_branch() {
    // The output of the first has grown, its prompt, or the session was in the middle of it.
    for (output, prompt) in [(400, 9_000), (2 * CALL, 9_900)] {
        let log = leaf(two_responses(), 2).event(response(1, prompt, output));
        assert_eq!(known(&log), prompt + output);
        assert_eq!(known(&leaf(log, 3)), prompt + output);
    }
    let log = leaf(leaf(two_responses(), 1), 3);
    let anchor = log.session.anchor().unwrap();
    assert!(known(&log) <= anchor.prompt + anchor.output.unwrap());
}

/// Some models are not sent the thinking of the one before.
#[test]
fn thinking_leaves_at_a_switch_of_the_model_whose_prompt_lacks_it() {
    let switched = |sent: u64| {
        let (mut log, mut prompt) = (Log::new().model("cheap"), 9_000);
        for (n, tokens) in RESULTS.into_iter().take(4).enumerate() {
            log = result(step(log, n, prompt, Shown::Both), n, Part::Result);
            prompt += CALL + THINKING + tokens;
        }
        let log = log.model("dear");
        step(log, 4, prompt - 4 * THINKING + sent, Shown::Both).session
    };
    let left = |session: &Session| {
        let items = session.items().iter();
        let thinking = items.filter(|item| item.kind == Kind::Thinking);
        let left = thinking.map(|item| item.left.map(|left| left.request));
        left.collect::<Vec<_>>()
    };
    let without = switched(0);
    assert_eq!(left(&without), [Some(4), Some(4), Some(4), Some(4), None]);
    let [before, after] = [3, 4].map(|request| without.requests()[request].system);
    assert_eq!(after, before);
    assert_eq!(left(&switched(4 * THINKING)), [None; 5]);
}

#[test]
fn after_a_compaction_more_may_come_back_than_was_there() {
    let log = Log::new().model("m");
    let log = log.item("question", Role::User, Kind::Text, 500);
    let log = log.report(20_500).compact(20_500);
    let log = log.item("summary", Role::Container, Kind::Summary, 1_000);
    let context = log.session.context();
    assert!(context.known == 0 && context.used.abs_diff(21_000) < 300);
    let (below, above) = (context.used - context.low, context.high - context.used);
    // Files that Claude Code attaches again were up to half as large as all that was not logged before.
    assert!(above > 20_000 / 2, "{context:?}");
    assert!(below < 20_000 / 3, "{context:?}");
}
