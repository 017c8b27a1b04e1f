//! The worked examples of the analyses that the rules come from, and the rules' own edges.

use super::{Decision, Estimator, Prediction, predictions, trial};
use crate::event::{
    Cause, Conversation, Entry, Event, Key, NewItem, Node, Parent, Part, Place, Reset,
    RetainedItems, Size, Usage, count,
};
use crate::session::Session;
use crate::session::context::Basis;
use crate::window::Rules;
use crate::{Kind, Role};
use std::sync::Arc;

const RULES: &str = r#"
[[model]]
ids = ["m-*"]
window = 200_000
tokenizer = "one"
thinking = "leaves"

[tokenizer.one]
per_token = 1.2
per_item = 20.0
spread = 0.3
spread_floor = 50.0

[[policy]]
agent = "test"
name = "0.9 of the window"
share = 0.9
"#;

/// A made-up conversation, told event by event.
struct Talk(Session);

impl Talk {
    fn new() -> Talk {
        let rules: Rules = toml::from_str(RULES).unwrap();
        Talk(Session::new("test", Arc::new(rules)))
    }

    fn tell(&mut self, event: Event) {
        self.0.apply(Entry {
            conversation: Conversation::Main,
            place: Place::default(),
            at: None,
            event,
        });
    }

    /// A record of one item of this many o200k tokens, at 4 characters each.
    fn item(&mut self, role: Role, kind: Kind, tokens: u64) {
        self.node(role, kind, tokens, None);
    }

    fn node(&mut self, role: Role, kind: Kind, tokens: u64, request: Option<u64>) {
        let item = NewItem {
            role,
            kind,
            tool: (kind == Kind::ToolCall).then(|| "Read".into()),
            call: None,
            size: Size {
                bytes: count(tokens * 4),
                chars: count(tokens * 4),
                local: count(tokens),
                counted: true,
                tools: if kind == Kind::ToolList { 3 } else { 0 },
                ..Size::default()
            },
            preview: "".into(),
            hash: tokens,
            nth: 0,
            is_failed: false,
        };
        self.tell(Event::Node(Box::new(Node {
            key: Some(Key::new(self.0.items().len() as u64 + 1_000)),
            parent: Parent::Previous,
            part: match role {
                Role::Assistant => Part::Output,
                Role::Tool => Part::Result,
                _ => Part::Input,
            },
            request: request.map(Key::new),
            turn: role == Role::User,
            items: vec![item],
        })));
    }

    /// A response: what is said in it, and its report.
    fn response(&mut self, request: u64, model: &str, prompt: u64, output: u64) {
        self.node(Role::Assistant, Kind::Text, output, Some(request));
        self.report(request, model, prompt, output);
    }

    fn report(&mut self, request: u64, model: &str, prompt: u64, output: u64) {
        self.usage(request, model, prompt, Some(output));
    }

    /// A report whose output is a placeholder.
    fn placeholder(&mut self, request: u64, model: &str, prompt: u64) {
        self.usage(request, model, prompt, None);
    }

    fn usage(&mut self, request: u64, model: &str, prompt: u64, output: Option<u64>) {
        self.tell(Event::Usage(Box::new(Usage {
            model: Some(model.into()),
            output,
            ..Usage::reported(Key::new(request), prompt)
        })));
    }

    fn last(&self) -> Prediction {
        predictions(&self.0).pop().expect("a prediction")
    }
}

fn said(prediction: &Prediction, estimator: Estimator) -> u64 {
    prediction.expected[estimator as usize]
}

#[test]
fn a_hundred_kilobytes_of_tool_result_between_two_reports() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 50);
    talk.response(1, "m-1", 60, 150);
    talk.item(Role::Tool, Kind::ToolResult, 25_000);
    talk.response(2, "m-1", 25_200, 100);
    let last = talk.last();
    assert_eq!(last.prompt, 25_200);
    // Outputs alone: 150 of 25,200.
    assert_eq!(said(&last, Estimator::Outputs), 150);
    assert_eq!(said(&last, Estimator::LastTotal), 60 + 150);
    assert!(last.error(Estimator::Outputs) < -0.99);
    assert_eq!(said(&last, Estimator::Delta), 60 + 150 + 25_000 + 4);
    assert_eq!(last.delta, Basis::Delta);
    assert!(last.error(Estimator::Delta).abs() < 0.01);
    assert_eq!(said(&last, Estimator::Chars4), 50 + 150 + 25_000);
    assert_eq!(said(&last, Estimator::Chars35), (50 + 150 + 25_000) * 8 / 7);
    let o200k = 50 + 150 + 25_000 + 3 * 4;
    assert_eq!(said(&last, Estimator::O200k), o200k);
    assert_eq!(said(&last, Estimator::O200kTools), o200k + 16);
}

#[test]
fn after_a_reset_the_sums_begin_again() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 50);
    talk.response(1, "m-1", 9_000, 150);
    let reset = Reset::compaction(Cause::Automatic, RetainedItems::Nothing);
    talk.tell(Event::Reset(Box::new(reset)));
    talk.item(Role::Container, Kind::Summary, 80);
    talk.response(2, "m-1", 2_000, 10);
    talk.item(Role::User, Kind::Text, 30);
    talk.response(3, "m-1", 2_100, 10);
    assert_eq!(said(&talk.last(), Estimator::Chars4), 80 + 10 + 30);
}

#[test]
fn decisions_are_false_alarms_and_missed_compactions() {
    // The trigger is 180,000.
    let decided = |talk: &Talk| trial(&talk.0).decisions;
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-1", 150_000, 100);
    talk.item(Role::Tool, Kind::ToolResult, 20_000);
    talk.response(2, "m-1", 170_100, 100);
    let below = decided(&talk).pop().expect("a decision");
    assert!(!below.is_due && !below.is_compaction);
    let compacts = |decision: &Decision| {
        let all = Estimator::ALL.into_iter().zip(decision.compacts);
        let names = all.filter(|(_, compacts)| *compacts);
        names
            .map(|(estimator, _)| estimator.name())
            .collect::<Vec<_>>()
    };
    assert!(compacts(&below).is_empty());
    talk.item(Role::Tool, Kind::ToolResult, 15_000);
    talk.response(3, "m-1", 188_000, 100);
    let at = decided(&talk).pop().expect("a decision");
    assert!(at.is_due);
    assert_eq!(compacts(&at), ["delta", "calibrated"]);
}

#[test]
fn a_compaction_is_a_decision_too() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-1", 149_900, 50);
    talk.item(Role::User, Kind::Text, 40);
    talk.response(2, "m-1", 150_000, 100);
    talk.item(Role::Tool, Kind::ToolResult, 29_800);
    let reset = Reset {
        before: Some(185_900),
        ..Reset::compaction(Cause::Automatic, RetainedItems::Nothing)
    };
    talk.tell(Event::Reset(Box::new(reset)));
    talk.response(3, "m-1", 8_000, 100);
    let decisions = trial(&talk.0).decisions;
    let [sent, decision] = decisions.as_slice() else {
        panic!("{decisions:?}");
    };
    assert!(!sent.is_due && !sent.is_compaction);
    assert!(decision.is_due && decision.is_compaction);
    assert_eq!(decision.request, 1, "the last one before it");
    let compacts = |estimator: Estimator| decision.compacts[estimator as usize];
    // The context was there until then: 150,100 known, 29,800 counted.
    assert!(compacts(Estimator::Calibrated));
    assert!(!compacts(Estimator::Delta), "179,904");
    assert!(!compacts(Estimator::LastTotal) && !compacts(Estimator::O200k));
    // One that the user asked for is none.
    let mut talk = Talk::new();
    talk.response(1, "m-1", 150_000, 100);
    let reset = Reset::compaction(Cause::Manual, RetainedItems::Nothing);
    talk.tell(Event::Reset(Box::new(reset)));
    assert!(trial(&talk.0).decisions.is_empty());
}

#[test]
fn a_known_prefix_of_50_000_and_500_new() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-1", 49_900, 100);
    let exact = talk.0.context();
    assert_eq!((exact.known, exact.estimated), (50_000, 0));
    assert_eq!(exact.basis, Basis::Exact);
    talk.item(Role::User, Kind::Text, 496);
    assert_eq!(talk.0.context().known, 50_000);
    assert_eq!(talk.0.context().basis, Basis::Delta);
    talk.response(2, "m-1", 50_600, 10);
    assert_eq!(said(&talk.last(), Estimator::Delta), 50_500);
}

#[test]
fn totals_replace_each_other_and_do_not_add_up() {
    let mut talk = Talk::new();
    for (request, prompt, output) in [(1, 10_000, 200), (2, 10_300, 400), (3, 11_000, 50)] {
        talk.response(request, "m-1", prompt, output);
        let context = talk.0.context();
        assert_eq!(context.known, prompt + output);
        assert_eq!(context.used, prompt + output);
    }
    let last = talk.last();
    assert_eq!(said(&last, Estimator::LastTotal), 10_700);
    assert_eq!(said(&last, Estimator::Outputs), 600);
}

#[test]
fn delta_falls_back_where_the_conversation_diverges() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-1", 9_000, 100);
    talk.item(Role::User, Kind::Text, 500);
    talk.response(2, "m-1", 9_700, 100);
    talk.tell(Event::Rollback { turns: 1 });
    talk.item(Role::User, Kind::Text, 300);
    talk.response(3, "m-1", 9_450, 100);
    let last = talk.last();
    assert_eq!(last.delta, Basis::Estimated);
    // All text of the branch, its framing, and no tool.
    assert_eq!(
        said(&last, Estimator::Delta),
        1_000 + 100 + 300 + 3 * 4 + 16
    );
    assert_eq!(
        said(&last, Estimator::LastTotal),
        9_100,
        "the report that is live again"
    );
}

#[test]
fn delta_keeps_the_last_report_of_each_family() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-big-4", 9_000, 100);
    talk.response(2, "m-small-4", 9_110, 50);
    talk.response(3, "m-big-4-1", 9_170, 50);
    let last = talk.last();
    // The small model's report does not count: what came since the big one's does.
    assert_eq!(said(&last, Estimator::Delta), 9_000 + 100 + 50);
    assert_eq!(said(&last, Estimator::LastTotal), 9_160);
}

#[test]
fn stripped_thinking_is_no_divergence() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 100);
    talk.node(Role::Assistant, Kind::Thinking, 700, Some(1));
    talk.response(1, "m-1", 5_000, 900);
    talk.item(Role::Tool, Kind::ToolResult, 40);
    talk.response(2, "m-1", 5_950, 30);
    talk.item(Role::User, Kind::Text, 20);
    talk.response(3, "m-1", 5_300, 30);
    let last = talk.last();
    assert_eq!(last.delta, Basis::Delta);
    assert_eq!(said(&last, Estimator::Delta), 5_950 + 30 + 20 + 4);
    assert_eq!(said(&last, Estimator::Outputs), 900 + 30, "as reported");
}

#[test]
fn stripped_thinking_takes_nothing_away_that_delta_has_not_counted() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 100);
    talk.node(Role::Assistant, Kind::Thinking, 700, Some(1));
    talk.placeholder(1, "m-1", 5_000);
    talk.item(Role::Tool, Kind::ToolResult, 40);
    talk.response(2, "m-1", 5_750, 30);
    assert_eq!(said(&talk.last(), Estimator::Delta), 5_000 + 704 + 44);
    talk.item(Role::User, Kind::Text, 20);
    talk.response(3, "m-1", 5_100, 30);
    assert_eq!(said(&talk.last(), Estimator::Delta), 5_750 + 30 + 24);
}

#[test]
fn tools_and_their_schemas_count_where_they_are_logged() {
    let mut talk = Talk::new();
    talk.item(Role::Container, Kind::ToolList, 1_000);
    talk.node(Role::Assistant, Kind::ToolCall, 30, Some(1));
    talk.report(1, "m-1", 3_000, 30);
    talk.item(Role::Tool, Kind::ToolResult, 40);
    talk.response(2, "m-1", 3_100, 10);
    let last = talk.last();
    // Three tools on offer, one of them called; the list is no message.
    let o200k = 1_000 + 30 + 40 + 2 * 4;
    assert_eq!(said(&last, Estimator::O200kTools), o200k + 100 + 16 + 3 * 8);
}

#[test]
fn after_a_model_of_another_kind_nobody_is_judged() {
    let mut talk = Talk::new();
    talk.response(1, "m-1", 9_000, 100);
    talk.response(2, "unheard-of", 9_900, 100);
    assert!(predictions(&talk.0).is_empty());
}

#[test]
fn each_rule_has_its_own_number() {
    let mut talk = Talk::new();
    talk.item(Role::User, Kind::Text, 1_000);
    talk.response(1, "m-1", 9_000, 100);
    talk.item(Role::Tool, Kind::ToolResult, 500);
    talk.response(2, "m-1", 9_700, 10);
    for estimator in Estimator::ALL {
        let expected = match estimator {
            Estimator::Outputs => 100,
            Estimator::Chars4 => 1_600,
            Estimator::Chars35 => 6_400 * 2 / 7,
            Estimator::O200k => 1_600 + 12,
            Estimator::O200kTools => 1_600 + 12 + 16,
            Estimator::LastTotal => 9_100,
            Estimator::Delta => 9_100 + 504,
            Estimator::Calibrated => 9_100 + 600 + 20,
        };
        assert_eq!(said(&talk.last(), estimator), expected, "{estimator}");
    }
}

#[test]
fn all_are_in_their_order() {
    for estimator in Estimator::ALL {
        assert_eq!(Estimator::ALL[estimator as usize], estimator);
        assert!(!estimator.rule().is_empty() && !estimator.from().is_empty());
    }
}
