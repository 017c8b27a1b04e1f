//! Tests properties that must hold of a session for any input.

use crate::cost::carried::CarriedCost;
use crate::cost::tools::tools;
use crate::event::{
    Cause, Conversation, Entry, Event, ItemKey, Key, Meta, NewItem, Node, Parent, Part, Place,
    Reset, RetainedItems, Size, Usage,
};
use crate::outlook::compaction::{compactions, contents};
use crate::outlook::estimators::{Estimator, predictions};
use crate::outlook::forecast::{backtest, forecast};
use crate::outlook::whatif::{what_if, what_if_without};
use crate::session::Session;
use crate::sizes::thinking::Thinking;
use crate::window::Rules;
use crate::{Kind, LeaveReason, Role, Source};
use proptest::prelude::*;
use std::sync::Arc;

const RULES: &str = r#"
[[model]]
ids = ["alpha"]
window = 200000
tokenizer = "one"
thinking = "leaves"
source = "test"

[[model]]
ids = ["beta"]
window = 100000
tokenizer = "two"
source = "test"

[tokenizer.one]
per_token = 1.2
per_item = 20.0
per_opaque_byte = 0.1
spread = 0.3
spread_floor = 50.0
source = "test"

[tokenizer.two]
per_token = 1.0
per_item = 10.0
spread = 0.1
spread_floor = 20.0
source = "test"
"#;

pub(crate) fn session() -> Session {
    let rules: Rules = toml::from_str(RULES).unwrap();
    Session::new("test", Arc::new(rules))
}

fn item() -> impl Strategy<Value = NewItem> {
    let kinds = prop_oneof![
        Just((Role::User, Kind::Text)),
        Just((Role::Tool, Kind::ToolResult)),
        Just((Role::Container, Kind::Reminder)),
        Just((Role::Assistant, Kind::Text)),
        Just((Role::Assistant, Kind::Thinking)),
        Just((Role::Assistant, Kind::ToolCall)),
    ];
    let size = (0u32..100_000, 0u32..2_000, 0u32..5_000, any::<bool>());
    (kinds, size, 0u64..6).prop_map(|((role, kind), (local, fixed, opaque, counted), call)| {
        NewItem {
            role,
            kind,
            tool: None,
            call: Some(Key::new(call)),
            size: Size {
                bytes: local * 4,
                chars: local * 4,
                local,
                counted,
                fixed,
                opaque,
                ..Size::default()
            },
            preview: "".into(),
            hash: local.into(),
            nth: 0,
            is_failed: false,
        }
    })
}

fn node() -> impl Strategy<Value = Event> {
    let parent = prop_oneof![
        4 => Just(Parent::Previous),
        1 => Just(Parent::Root),
        4 => (0u64..24).prop_map(|k| Parent::Key(Key::new(k))),
    ];
    let part = prop_oneof![
        Just(Part::Link),
        Just(Part::Output),
        Just(Part::Result),
        Just(Part::Injected),
        Just(Part::Input),
        Just(Part::Front),
        Just(Part::Beside),
    ];
    let items = prop::collection::vec(item(), 0..4);
    let key = prop::option::weighted(0.8, 0u64..24);
    (key, parent, part, 0u64..12, any::<bool>(), items).prop_map(
        |(key, parent, part, request, turn, items)| {
            Event::Node(Box::new(Node {
                key: key.map(Key::new),
                parent,
                part,
                request: (part == Part::Output).then_some(Key::new(request)),
                turn,
                items,
            }))
        },
    )
}

fn usage() -> impl Strategy<Value = Event> {
    let number = prop_oneof![0u64..2_000, 0u64..300_000, 0u64..1_000_000_000_000];
    let model = prop_oneof![Just("alpha"), Just("beta"), Just("unheard-of")];
    let source = prop_oneof![9 => Just(Source::Reported), 1 => Just(Source::Agent)];
    let output = prop::option::of(0u64..50_000);
    let reasoning = prop::option::of(0u64..60_000);
    (
        0u64..12,
        number,
        output,
        reasoning,
        model,
        source,
        any::<bool>(),
    )
        .prop_map(
            |(request, prompt, output, reasoning, model, source, is_whole)| {
                Event::Usage(Box::new(Usage {
                    model: Some(model.into()),
                    cached: prompt / 2,
                    output,
                    reasoning,
                    source,
                    is_whole,
                    ..Usage::reported(Key::new(request), prompt)
                }))
            },
        )
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    prop::collection::vec((0u64..24).prop_map(Key::new), 0..5)
}

fn item_keys() -> impl Strategy<Value = Vec<ItemKey>> {
    let key = (0u64..24, 0u64..2_000).prop_map(|(node, hash)| ItemKey {
        node: Key::new(node),
        hash,
    });
    prop::collection::vec(key, 0..5)
}

fn upheaval() -> impl Strategy<Value = Event> {
    let kept = prop_oneof![
        Just(RetainedItems::Nothing),
        keys().prop_map(RetainedItems::Nodes),
        (0u64..24, prop::option::of(0u64..24)).prop_map(|(first, last)| RetainedItems::Range {
            first: Key::new(first),
            last: last.map(Key::new),
        }),
    ];
    prop_oneof![
        (prop::option::of(24u64..30), kept).prop_map(|(key, kept)| {
            Event::Reset(Box::new(Reset {
                key: key.map(Key::new),
                gone: LeaveReason::Compaction,
                cause: Cause::Automatic,
                before: None,
                after: None,
                kept,
            }))
        }),
        (keys(), any::<bool>()).prop_map(|(keys, compaction)| Event::Retain {
            keys,
            cause: if compaction {
                LeaveReason::Compaction
            } else {
                LeaveReason::Cleared
            },
        }),
        (0u64..30, any::<bool>()).prop_map(|(key, rewound)| Event::Leaf {
            key: Key::new(key),
            rewound,
        }),
        (0u64..4).prop_map(|turns| Event::Rollback { turns }),
        any::<bool>().prop_map(|_| Event::ResetPostponed),
        (0u64..100_000).prop_map(Event::LeftOut),
        prop_oneof![Just(Cause::Idle), Just(Cause::Automatic)].prop_map(Event::ResetCause),
        (keys(), keys()).prop_map(|(nodes, calls)| Event::cleared(nodes, calls)),
        (item_keys(), item_keys()).prop_map(|(added, missing)| Event::Sent { added, missing }),
        prop_oneof![Just("alpha"), Just("beta")].prop_map(|model| {
            Event::Meta(Box::new(Meta {
                model: Some(model.into()),
                ..Meta::default()
            }))
        }),
    ]
}

pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    let any = prop::collection::vec(
        prop_oneof![6 => node(), 3 => usage(), 1 => upheaval()],
        0..60,
    );
    prop_oneof![4 => any, 1 => regular(), 1 => interrupted()]
}

/// One response of a regular session: its thinking, whether the log shows that, the tokens of the result
/// after it, and whether the user has the next word.
type Response = (u64, bool, u64, bool);

fn response() -> impl Strategy<Value = Response> {
    let thinking = prop_oneof![Just(0_u64), Just(300), Just(900)];
    let result = prop_oneof![5_u64..200, 200_u64..9_000];
    (thinking, any::<bool>(), result, any::<bool>())
}

/// A session of a model whose tokenizer is off by a factor, and whose thinking is sent back or not.
fn regular() -> impl Strategy<Value = Vec<Event>> {
    let scale = prop::sample::select(vec![0.8, 1.0, 1.31]);
    let thinking = prop::sample::select(Thinking::ALL.to_vec());
    let model = prop_oneof![Just("alpha"), Just("beta")];
    let responses = prop::collection::vec(response(), 1..14);
    (scale, thinking, model, responses).prop_map(|(scale, thinking, model, responses)| {
        conversation(scale, thinking, model, &responses)
    })
}

/// Returns the events of [`regular`] with any others in between.
fn interrupted() -> impl Strategy<Value = Vec<Event>> {
    (
        regular(),
        prop::collection::vec((upheaval(), 0..40_usize), 0..4),
    )
        .prop_map(|(mut events, upheavals)| {
            for (event, at) in upheavals {
                events.insert(at.min(events.len()), event);
            }
            events
        })
}

fn conversation(scale: f64, thinking: Thinking, model: &str, all: &[Response]) -> Vec<Event> {
    let item = |role, kind, local: u64| NewItem {
        hash: local,
        ..crate::testing::new_item(role, kind, local)
    };
    let mut events = Vec::new();
    let (mut sent, mut thoughts) = (9_000_u64, 0_u64);
    for (n, (reasoning, is_logged, result, is_turn)) in (0_u64..).zip(all) {
        let request = Key::new(100 + n);
        let mut output = vec![item(Role::Assistant, Kind::ToolCall, 20)];
        if *is_logged && *reasoning > 0 {
            output.insert(0, item(Role::Assistant, Kind::Thinking, *reasoning));
        }
        let key = (n < 20).then_some(Key::new(n));
        events.push(Event::Node(Box::new(Node::output(
            key,
            Some(request),
            output,
        ))));
        events.push(Event::Usage(Box::new(Usage {
            model: Some(model.into()),
            output: Some(20 + reasoning),
            reasoning: Some(*reasoning),
            ..Usage::reported(request, sent + thoughts)
        })));
        let (role, kind, part) = match is_turn {
            true => (Role::User, Kind::Text, Part::Input),
            false => (Role::Tool, Kind::ToolResult, Part::Result),
        };
        let node = Node::new(None, part, vec![item(role, kind, *result)]);
        events.push(Event::Node(Box::new(node)));
        sent += 20 + (*result as f64 * scale).round() as u64;
        thoughts = match (thinking, is_turn) {
            (Thinking::Never, _) | (Thinking::Leaves, true) => 0,
            (Thinking::Leaves, false) | (Thinking::Stays, _) => thoughts + reasoning,
        };
    }
    events
}

fn holds(session: &mut Session) {
    let sized: Vec<_> = session.in_context().collect();
    let walked: u64 = sized.iter().map(|(_, tokens, _)| *tokens).sum();
    let (running, _) = session.attribution_mut().items_mut().tokens_in_context();
    assert_eq!(running, walked, "the running sums are those of a walk");

    let context = session.context();
    let roles: u64 = context.roles.iter().map(|share| share.tokens).sum();
    assert_eq!(roles, context.used, "roles sum to the total");
    assert_eq!(
        context.known + context.estimated,
        context.used,
        "known + estimated is the total"
    );
    let known: u64 = context.roles.iter().map(|share| share.known).sum();
    assert_eq!(
        known, context.known,
        "the roles' known parts sum to the known"
    );
    assert!(context.low <= context.used && context.used <= context.high);

    let Some(anchor) = session.anchor() else {
        assert_eq!(context.known, 0, "nothing is known without an anchor");
        return;
    };
    let reported = anchor.prompt + anchor.output.unwrap_or(0);
    assert!(
        context.known <= reported,
        "known is never above the anchor, {reported}: {context:#?}"
    );
    let ix = session
        .requests()
        .iter()
        .position(|r| r.key() == anchor.key());
    let left_since = session
        .items()
        .iter()
        .any(|item| item.left.is_some_and(|left| Some(left.request) > ix));
    if !left_since {
        assert_eq!(context.known, reported, "known is the anchor");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_sums_hold_for_any_input(events in events()) {
        let mut session = session();
        for event in events {
            session.apply(entry(event));
            holds(&mut session);
        }
    }

    #[test]
    fn what_an_estimator_sees_of_a_prompt_is_what_the_prompt_held(events in events()) {
        let mut session = session();
        for event in events {
            session.apply(entry(event));
        }
        for prediction in predictions(&session) {
            let held = session.items().iter().filter(|item| item.held_by(prediction.request));
            let chars: u64 = held.map(|item| u64::from(item.size.chars)).sum();
            prop_assert_eq!(prediction.expected[Estimator::Chars4 as usize], chars / 4);
            prop_assert!(Estimator::ALL.into_iter().all(|e| prediction.error(e).is_finite()));
        }
    }

    #[test]
    fn costs_add_up_for_any_input_at_any_moment(events in events(), part in 0.0..1.1_f64) {
        let mut session = session();
        for event in events {
            session.apply(entry(event));
        }
        let all = session.requests().len();
        let tool_role = session.context().role(Role::Tool).tokens;
        let now: u64 = tools(&session, session.in_context(), all).iter().map(|t| t.in_context).sum();
        prop_assert_eq!(now, tool_role);

        let then = (all as f64 * part) as usize;
        let carried = |by, ix| CarriedCost::by(&session, by).tokens(ix, session.tokens(ix).0);
        for ix in 0..session.items().len() {
            prop_assert!(carried(then, ix) <= carried(all.max(then), ix));
        }
        for tool in tools(&session, [], then) {
            prop_assert!(tool.results > 0 && tool.largest.1 <= tool.tokens);
        }
        for (reset, done) in compactions(&session).into_iter().enumerate() {
            let (left, kept) = contents(&session, reset);
            prop_assert_eq!((left.len(), kept.len()), (done.left_items, done.kept_items));
        }
        for row in what_if(&session, then) {
            for done in &row.compactions {
                prop_assert!(done.before <= row.largest && done.request <= then.min(all));
            }
        }
    }

    #[test]
    fn no_number_is_too_large_for_costs(
        events in events(),
        sizes in prop::collection::vec(0_u64..1 << 60, 1..9),
    ) {
        let mut session = session();
        for event in events {
            session.apply(entry(event));
        }
        let mut size = sizes.iter().cycle();
        session.attribution_mut().items_mut().change_all(|item| {
            item.attributed = size.next().map(|tokens| (*tokens, Source::Shared));
        });
        session.attribution_mut().change_requests(|request| {
            request.usage.prompt = *size.next().unwrap();
            request.system = *size.next().unwrap();
        });
        for reset in session.attribution_mut().resets_mut() {
            reset.before = *size.next().unwrap();
            reset.after.get_or_insert(0);
        }
        let all = session.requests().len();
        let context: Vec<_> = session.in_context().collect();
        let tools = tools(&session, context.iter().copied(), all);
        prop_assert!(tools.iter().all(|tool| tool.in_context <= tool.tokens));
        let rows = what_if(&session, all);
        what_if_without(&session, all, &(0..session.items().len()).step_by(2).collect());
        let real = session.requests().iter().map(|r| r.prompt).max().unwrap_or(0);
        prop_assert!(rows[0].largest >= real);
    }

    #[test]
    fn a_forecast_is_in_order_for_any_input(events in events(), trigger in any::<u64>()) {
        let mut session = session();
        session.meta.trigger = Some(trigger);
        for event in events {
            session.apply(Entry {
                conversation: Conversation::Main,
                place: Place::default(),
                at: None,
                event,
            });
            forecast(&session, None).ok();
        }
        let now = forecast(&session, None).map(|left| left.requests);
        let fresh = forecast(&session.clone(), None).map(|left| left.requests);
        prop_assert_eq!(now, fresh, "one that follows is one made anew");
        let past = backtest(&session).into_iter().map(|point| point.requests);
        for band in past.chain(now) {
            assert!(0.0 <= band.p10 && band.p10 <= band.p50 && band.p50 <= band.p90);
            assert!(band.p90.is_finite());
        }
    }
}

pub(crate) fn entry(event: Event) -> Entry {
    Entry {
        conversation: Conversation::Main,
        place: Place::default(),
        at: None,
        event,
    }
}
