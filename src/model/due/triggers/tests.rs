use super::*;
use crate::Kind;
use crate::event::{BilledUsage, Conversation, Entry, Event, Key, Meta, Node, Part, Place, Usage};
use crate::outlook::forecast::NoForecast;
use crate::session::Coverage;
use crate::testing::new_item;
use crate::window::{Overrides, ReadySummary, Rules};
use std::sync::Arc;

const RULES: &str = r#"
[[model]]
ids = ["small"]
window = 100_000

[[model]]
ids = ["*"]
window = 1_000_000

[[policy]]
agent = "tested"
name = "at 900,000"
share = 0.9
budget = 900_000

[[trigger]]
agent = "tested"
kind = "idle"
from = "2.0"
usual = true
share = 0.9
cache_seconds = 3_600
size = 200_000
least = 100_000

[[trigger]]
agent = "tested"
kind = "background"
usual = false
share = 0.8
reserve = 20_000

[[trigger]]
agent = "tested"
kind = "model-change"
usual = true
hashes = [["old*", "1"], ["new*", "2"]]

[[trigger]]
agent = "tested"
kind = "clearing"
usual = false
pause = 3_900
results = 3
kept = 1
least = 20_000
tools = ["Read"]
"#;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + seconds).expect("a time")
}

/// A session with a prompt of this size that is kept for an hour.
fn session(prompt: u64, meta: Meta, items: Vec<crate::event::NewItem>) -> Session {
    let rules: Rules = toml::from_str(RULES).expect("rules");
    session_by(rules, prompt, meta, items)
}

/// A session like that by other rules.
fn session_by(rules: Rules, prompt: u64, meta: Meta, items: Vec<crate::event::NewItem>) -> Session {
    let mut session = Session::new("tested", Arc::new(rules));
    session.coverage = Coverage::Whole;
    let node = Node::new(Some(Key::of("said")), Part::Input, items);
    let usage = Usage {
        billed: BilledUsage::new(3, 10)
            .with_cache(0, prompt)
            .with_hour(prompt),
        output: Some(10),
        ..Usage::reported(Key::of("request"), prompt)
    };
    let meta = Meta {
        model: Some("old".into()),
        ..meta
    };
    let events = [
        Event::Meta(Box::new(meta)),
        Event::Node(Box::new(node)),
        Event::Usage(Box::new(usage)),
    ];
    for (line, event) in (1..).zip(events) {
        session.apply(Entry {
            conversation: Conversation::Main,
            place: Place::of_line(line),
            at: Some(at(0)),
            event,
        });
    }
    session
}

fn usual(prompt: u64) -> Session {
    let text = vec![new_item(Role::User, Kind::Text, 100)];
    session(prompt, Meta::default(), text)
}

fn set(session: &mut Session, others: OtherSettings) {
    session.set_overrides(Arc::new(Overrides {
        others,
        ..Overrides::default()
    }));
}

fn kinds(session: &Session, seconds: i64) -> Vec<TriggerKind> {
    let all = next(&session.gauge(), &Err(NoForecast::NoGrowth), at(seconds));
    all.iter().map(|next| next.kind).collect()
}

#[test]
fn an_idle_session_compacts_before_its_cache_is_cold() {
    let session = usual(250_000);
    let all = next(&session.gauge(), &Err(NoForecast::NoGrowth), at(60));
    // Nobody works: the time comes first.
    assert_eq!(kinds(&session, 60), [TriggerKind::Idle, TriggerKind::Size]);
    assert_eq!(all[0].at, Some(at(3_240)));
    assert!(!all[0].is_sure);
    assert_eq!(all[1].left, Some(900_000 - 250_010));
    // It is over: nobody was there.
    assert_eq!(kinds(&session, 3_240), [TriggerKind::Size]);
}

#[test]
fn the_conditions_of_an_idle_compaction() {
    let none = [TriggerKind::Size];
    assert_eq!(kinds(&usual(199_000), 0), none);
    let mut smaller = usual(150_000);
    set(
        &mut smaller,
        OtherSettings {
            idle_size: Some(1_000),
            ..OtherSettings::default()
        },
    );
    assert_eq!(kinds(&smaller, 0)[0], TriggerKind::Idle);
    let mut least = usual(99_000);
    set(
        &mut least,
        OtherSettings {
            idle_size: Some(1_000),
            ..OtherSettings::default()
        },
    );
    assert_eq!(kinds(&least, 0), none);
    let mut off = usual(250_000);
    set(
        &mut off,
        OtherSettings {
            idle: Some(false),
            ..OtherSettings::default()
        },
    );
    assert_eq!(kinds(&off, 0), none);
    let mut never = usual(250_000);
    never.set_overrides(Arc::new(Overrides {
        compaction: Compaction::Off,
        ..Overrides::default()
    }));
    assert_eq!(kinds(&never, 0), []);
    let of = |attended, version: Option<&str>| {
        let meta = Meta {
            attended,
            version: version.map(Into::into),
            ..Meta::default()
        };
        session(250_000, meta, vec![new_item(Role::User, Kind::Text, 100)])
    };
    assert_eq!(kinds(&of(Some(false), None), 0), none);
    assert_eq!(kinds(&of(Some(true), Some("1.9")), 0), none);
    assert_eq!(kinds(&of(Some(true), Some("2.0")), 0)[0], TriggerKind::Idle);
}

#[test]
fn a_summary_is_made_from_a_share_on_and_may_be_ready() {
    let mut session = usual(150_000);
    let background = |ready| OtherSettings {
        background: Some(true),
        ready,
        ..OtherSettings::default()
    };
    set(&mut session, background(None));
    let all = other(&session.gauge(), at(60));
    assert_eq!(all[0].kind, TriggerKind::Background);
    assert_eq!(all[0].tokens, Some(784_000));
    let before = 148_908;
    set(
        &mut session,
        background(Some(ReadySummary { at: None, before })),
    );
    let ready = &other(&session.gauge(), at(60))[0];
    // No prefix is usual with it, and no summary; 150,010 are in the context.
    let prefix = session.context().role(Role::System).tokens;
    assert_eq!(
        (ready.size, ready.after),
        (Some(before), Some(prefix + 1_102))
    );
    // A share that is set, of all of the window.
    set(
        &mut session,
        OtherSettings {
            background: Some(true),
            background_share: Some(1.0),
            ..OtherSettings::default()
        },
    );
    assert_eq!(other(&session.gauge(), at(60))[0].tokens, Some(900_000));
}

#[test]
fn another_hash_compacts_before_the_next_turn() {
    let meta = Meta {
        model_hash: Some("1".into()),
        ..Meta::default()
    };
    let mut session = session(50_000, meta, vec![new_item(Role::User, Kind::Text, 100)]);
    assert_eq!(other(&session.gauge(), at(60)), []);
    let to = |model: &str, hashes: &[(&str, &str)]| OtherSettings {
        model: Some(model.to_owned()),
        hashes: hashes
            .iter()
            .map(|(id, hash)| ((*id).to_owned(), (*hash).to_owned()))
            .collect(),
        ..OtherSettings::default()
    };
    set(&mut session, to("new-1", &[]));
    let all = other(&session.gauge(), at(60));
    assert_eq!(all[0].kind, TriggerKind::ModelChange);
    assert_eq!(all[0].model.as_deref(), Some("new-1"));
    // The list of the server goes before the table; a model in neither is not known.
    set(&mut session, to("new-1", &[("new-1", "1")]));
    assert_eq!(other(&session.gauge(), at(60)), []);
    set(&mut session, to("third", &[]));
    assert_eq!(other(&session.gauge(), at(60)), []);
    set(&mut session, to("old", &[("old", "7")]));
    assert_eq!(other(&session.gauge(), at(60)).len(), 1);
}

#[test]
fn old_results_are_left_out_after_a_pause() {
    let result = |tool: &str, tokens| crate::event::NewItem {
        tool: Some(tool.into()),
        ..new_item(Role::Tool, Kind::ToolResult, tokens)
    };
    let items = vec![
        result("Read", 10_000),
        result("Read", 11_000),
        result("Task", 30_000),
        result("Read", 12_000),
    ];
    let mut session = session(64_000, Meta::default(), items);
    assert_eq!(other(&session.gauge(), at(60)), []);
    let clearing = OtherSettings {
        clearing: Some(true),
        ..OtherSettings::default()
    };
    set(&mut session, clearing);
    let all = other(&session.gauge(), at(60));
    assert_eq!(all[0].kind, TriggerKind::Clearing);
    assert_eq!(all[0].at, Some(at(3_900)));
    let size = all[0].size.expect("a size");
    assert!((20_000..23_000).contains(&size), "{size}");
}

#[test]
fn old_results_are_cut_above_a_share_of_the_window() {
    let of = |change: fn(&mut OtherTrigger)| {
        let result = |tokens| crate::event::NewItem {
            tool: Some("Any".into()),
            ..new_item(Role::Tool, Kind::ToolResult, tokens)
        };
        let items = [10_000, 500, 12_000].map(result).to_vec();
        let mut rules: Rules = toml::from_str(RULES).expect("rules");
        for row in &mut rules.trigger {
            row.usual |= row.kind == TriggerKind::Clearing;
            (row.results, row.least, row.tools) = (0, 0, vec!["*".to_owned()]);
            row.stays = 4_000;
            if row.kind == TriggerKind::Clearing {
                change(row);
            }
        }
        let session = session_by(rules, 23_000, Meta::default(), items);
        let all = other(&session.gauge(), at(60));
        let mut all = all.into_iter();
        let clearing = all.find(|next| next.kind == TriggerKind::Clearing);
        clearing.and_then(|next| next.size)
    };
    // Of 40,000 characters 4,000 stay, and of 2,000 all.
    let size = of(|_| ()).expect("a size");
    assert!((9_000..9_700).contains(&size), "{size}");
    assert!(of(|row| row.share = 0.02).is_some());
    assert_eq!(of(|row| row.share = 0.03), None);
    assert!(of(|row| row.ids = vec!["ol*".to_owned()]).is_some());
    assert_eq!(of(|row| row.ids = vec!["new*".to_owned()]), None);
}

#[test]
fn a_smaller_window_compacts_before_the_next_turn() {
    let to = |model: &str| OtherSettings {
        model: Some(model.to_owned()),
        ..OtherSettings::default()
    };
    let with = |prompt, model| {
        let mut session = usual(prompt);
        set(&mut session, to(model));
        other(&session.gauge(), at(60))
    };
    let all = with(95_000, "small");
    assert_eq!(all[0].kind, TriggerKind::ModelChange);
    assert_eq!(all[0].tokens, Some(90_000));
    assert_eq!(all[0].model.as_deref(), Some("small"));
    // It fits, or the window is as large.
    assert_eq!(with(80_000, "small"), []);
    assert_eq!(with(95_000, "third"), []);
}

#[test]
fn the_size_and_the_end_of_a_turn_are_both_next() {
    let of = |share| {
        let mut session = usual(50_000);
        session.set_overrides(Arc::new(Overrides {
            turn_end_share: Some(share),
            trigger_from: "config.toml",
            ..Overrides::default()
        }));
        let all = next(&session.gauge(), &Err(NoForecast::NoGrowth), at(60));
        let all = all.into_iter();
        all.map(|next| (next.kind, next.tokens, next.left == Some(0), next.setting))
            .collect::<Vec<_>>()
    };
    let size = (TriggerKind::Size, Some(900_000), false, "");
    let turn_end = |tokens, now| (TriggerKind::TurnEnd, Some(tokens), now, "config.toml");
    assert_eq!(of(0.5), [turn_end(500_000, false), size]);
    assert_eq!(of(0.04), [turn_end(40_000, true), size]);
    assert_eq!(of(0.95), [size]);
}

#[test]
fn the_oldest_results_are_left_out_where_all_are_too_long() {
    let result = |tokens| crate::event::NewItem {
        tool: Some("Read".into()),
        ..new_item(Role::Tool, Kind::ToolResult, tokens)
    };
    // Of 4 characters a token, as the log has them; the report makes them a little larger.
    let items = [10_000, 11_000, 12_000].map(result).to_vec();
    let mut session = session(64_000, Meta::default(), items);
    let of = |session: &mut Session, characters, kept| {
        let clearing = OtherSettings {
            clearing_characters: Some(characters),
            clearing_kept: kept,
            ..OtherSettings::default()
        };
        set(session, clearing);
        let all = other(&session.gauge(), at(60));
        all.first().map(|next| {
            assert_eq!((next.at, next.left), (None, Some(0)));
            next.size.unwrap_or(0) / 5_000
        })
    };
    assert_eq!(of(&mut session, 132_000, None), None);
    assert_eq!(of(&mut session, 131_999, None), Some(4));
    // Half of what may be there is left.
    assert_eq!(of(&mut session, 131_999, Some(2)), Some(2));
    assert_eq!(of(&mut session, 0, None), None);
}
