use super::*;
use crate::cost::tools::{servers, tools};
use crate::event::{Key, NewItem};
use crate::testing::timed::{self, five};
use crate::testing::{Log, new_item};

/// A session that has compacted once, and grows.
fn log() -> Log {
    Log::new()
        .report(20_000)
        .result("a", "Read", 60_000)
        .report(80_000)
        .result("b", "mcp__docs__page", 60_000)
        .report(140_000)
        .compact(150_000)
        .report(30_000)
        .result("c", "mcp__docs__page", 20_000)
        .report(50_000)
        .result("d", "Read", 20_000)
        .report(70_000)
}

fn of(session: &Session, marked: &[ItemIx], cache: Cache) -> Vec<Outlook> {
    let marked = marked.iter().copied().collect();
    outlooks(session, &session.snapshot(), &marked, cache)
}

fn found(all: &[Outlook], is_meant: impl Fn(&UserAction) -> bool) -> Outlook {
    let found = all.iter().find(|outlook| is_meant(&outlook.action));
    found.cloned().unwrap_or_else(|| panic!("{all:?}"))
}

#[test]
fn a_compaction_leaves_what_the_last_one_left() {
    let log = log();
    let all = of(&log.session, &[], Cache::Warm);
    assert_eq!(all[0].action, UserAction::Nothing);
    assert_eq!(all[0].size, log.session.context().used);
    let compact = found(&all, |action| *action == UserAction::Compact);
    assert_eq!((compact.size, compact.left), (30_000, None));
    let again = log
        .compact(75_000)
        .report(36_000)
        .result("e", "Read", 9_000)
        .report(45_000);
    let all = of(&again.session, &[], Cache::Warm);
    let compact = found(&all, |action| *action == UserAction::Compact);
    assert_eq!(compact.left, Some([30_000, 36_000]));
    let log = self::log();
    let all = of(&log.session, &[], Cache::Warm);
    let clear = found(&all, |action| *action == UserAction::Clear);
    assert!(clear.size <= compact.size, "{clear:?}");
}

/// Less in the context never brings the compaction closer.
#[test]
fn what_frees_tokens_leaves_more_requests() {
    let log = log();
    let items: Vec<ItemIx> = log.session.in_context().map(|(ix, ..)| ix).collect();
    let all = of(&log.session, &items, Cache::Warm);
    let requests = |outlook: &Outlook| outlook.forecast.map(|it| it.requests.p50);
    for outlook in &all {
        if outlook.trigger == all[0].trigger {
            assert!(outlook.size <= all[0].size, "{outlook:?}");
            if let (Ok(more), Ok(now)) = (requests(outlook), requests(&all[0])) {
                assert!(more >= now, "{outlook:?}");
            }
        }
    }
    let server = found(&all, |it| {
        *it == UserAction::WithoutServer("docs".to_owned())
    });
    assert!(server.size < all[0].size);
    assert!(matches!(
        found(&all, |it| matches!(it, UserAction::WithoutMarked(_))).action,
        UserAction::WithoutMarked(n) if n == items.len()
    ));
}

/// The tab Tools lists what the tab What if would save.
#[test]
fn without_a_server_its_definitions_calls_and_results_are_gone() {
    let of_docs = |role, kind, tokens| NewItem {
        tool: Some("mcp__docs__page".into()),
        ..new_item(role, kind, tokens)
    };
    let log = log()
        .node("list", vec![of_docs(Role::Container, Kind::ToolList, 900)])
        .node("call", vec![of_docs(Role::Assistant, Kind::ToolCall, 400)])
        .result("e", "mcp__docs__page", 300)
        .report(72_000);
    let session = &log.session;
    let all = of(session, &[], Cache::Warm);
    let server = found(&all, |it| matches!(it, UserAction::WithoutServer(_)));
    let tools = tools(session, session.in_context(), session.requests().len());
    let docs = &tools
        .iter()
        .find(|tool| tool.name.starts_with("mcp"))
        .unwrap();
    assert!(docs.calls > 0 && docs.schema > 0, "{docs:?}");
    assert_eq!(all[0].size - server.size, docs.held());
    assert_eq!(servers(&tools)[0].calls, docs.calls);
}

#[test]
fn a_skill_has_the_name_that_it_was_called_by() {
    let of = |role, kind, call: &str, tokens, preview: &str| NewItem {
        tool: (kind != Kind::Skill).then(|| "Skill".into()),
        call: (kind != Kind::Skill).then(|| Key::of(call)),
        preview: preview.into(),
        ..new_item(role, kind, tokens)
    };
    let mut log = Log::new();
    for name in ["review", "deploy"] {
        let begins = format!("Base directory for this skill: /home/me/.claude/skills/{name}");
        let call = format!("Skill {name}");
        let items = [
            of(Role::Assistant, Kind::ToolCall, name, 20, &call),
            of(Role::Tool, Kind::ToolResult, name, 10, ""),
            of(Role::Container, Kind::Skill, name, 1_000, &begins),
        ];
        log = items.into_iter().enumerate().fold(log, |log, (n, item)| {
            log.node(&format!("{name}{n}"), vec![item])
        });
    }
    let log = log.report(9_000);
    let all = outlooks(
        &log.session,
        &log.session.snapshot(),
        &BTreeSet::new(),
        Cache::Warm,
    );
    for name in ["review", "deploy"] {
        found(&all, |it| *it == UserAction::WithoutSkill(name.to_owned()));
    }
}

#[test]
fn a_session_without_requests_has_nothing_to_clear() {
    let log = Log::new();
    let all = of(&log.session, &[], Cache::Cold);
    assert_eq!(all[0].action, UserAction::Nothing);
    assert!(
        all.iter()
            .all(|outlook| outlook.action != UserAction::Compact)
    );
}

#[test]
fn an_earlier_trigger_leaves_fewer_requests() {
    let log = log();
    let all = of(&log.session, &[], Cache::Warm);
    let earlier = found(&all, |action| matches!(action, UserAction::Trigger(_)));
    let requests = |outlook: &Outlook| outlook.forecast.unwrap().requests.p50;
    assert!(requests(&earlier) < requests(&all[0]));
    assert!(earlier.trigger < all[0].trigger && earlier.size == all[0].size);
}

/// The request that makes a summary keeps the prefix in the cache; a new start finds it where it was warm.
#[test]
fn the_prefix_is_read_after_a_compaction() {
    let log = |cached| {
        timed::Log::of("five")
            .answers(0, 20_000, five(cached, 20_000 - cached))
            .answers(10, 80_000, five(0, 80_000))
            .0
    };
    let next = |session: &Session, action, cache| {
        let all = of(session, &[], cache);
        let outlook = found(&all, |it| *it == action);
        outlook.next_usd.expect("a price")
    };
    // Halfway between what the first request read and its prompt.
    let (less, more) = (log(2_000), log(10_000));
    for (action, cache) in [
        (UserAction::Compact, Cache::Cold),
        (UserAction::Clear, Cache::Warm),
    ] {
        let [less, more] = [&less, &more].map(|it| next(it, action.clone(), cache));
        assert!(more < less, "{action:?}: {more} of {less}");
    }
    let [less, more] = [&less, &more].map(|it| next(it, UserAction::Clear, Cache::Cold));
    assert_eq!(more, less);
}
