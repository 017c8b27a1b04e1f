//! What the fixtures' reports do not show.

use super::*;
use crate::testing::{self, fixture, previews};
use model::event::Entry;
use model::session::Session;
use model::window::Rules;
use std::sync::Arc;

fn events(log: &str) -> Vec<Entry> {
    testing::read(&PI, log.lines())
}

fn session(log: &str) -> Session {
    let rules: Rules = toml::from_str(assets::MODELS).unwrap();
    let rules = rules.listing(assets::CATALOGUE);
    let mut session = Session::new("pi", Arc::new(rules));
    events(log)
        .into_iter()
        .for_each(|entry| session.apply(entry));
    session
}

#[test]
fn a_branch_that_was_left_is_not_in_the_context() {
    let session = session(fixture!("pi/branch/log.jsonl"));
    assert_eq!(
        previews(&session),
        [
            "Which port?",
            "8080.",
            "The user tried port 9090 and came back.",
            "Keep 8080."
        ]
    );
    let known = session.context().known;
    assert_eq!(known, 1_010, "the newer report was of the other branch");
}

#[test]
fn only_what_the_model_gets_is_in_the_context() {
    let session = session(fixture!("pi/custom/log.jsonl"));
    let roles: Vec<Role> = session
        .alive()
        .iter()
        .map(|ix| session.items()[*ix].role)
        .collect();
    assert_eq!(
        previews(&session),
        ["Hello", "Lint is on.", "Mode: strict.", "uname", "Linux"]
    );
    assert_eq!(
        roles,
        [
            Role::User,
            Role::Container,
            Role::Container,
            Role::User,
            Role::Tool
        ]
    );
    let skipped: Vec<&str> = session.skipped.keys().map(|kind| &**kind).collect();
    assert_eq!(
        skipped,
        ["bashExecution", "custom", "label", "thinking_level_change"]
    );
    assert_eq!(session.meta.title.as_deref(), Some("Lint run"));
}

#[test]
fn a_compaction_keeps_from_the_first_kept_entry_on_and_no_older_summary() {
    let session = session(fixture!("pi/compactions/log.jsonl"));
    let resets: Vec<(u64, &str)> = session
        .resets()
        .iter()
        .map(|r| (r.before, r.cause.name()))
        .collect();
    assert_eq!(resets, [(3_060, "manual"), (3_130, "auto")]);
    assert_eq!(
        previews(&session),
        [
            "two",
            "Two.",
            "three",
            "read a.rs",
            "Second summary.",
            "fn a() {}"
        ]
    );
    assert_eq!(session.context().basis.name(), "estimated");
}

#[test]
fn the_oldest_format_has_indexes_instead_of_ids() {
    let session = session(fixture!("pi/version-1/log.jsonl"));
    assert_eq!(session.resets()[0].before, 3_060);
    assert_eq!(
        previews(&session),
        ["kept", "Kept too.", "What was said before.", "go on"]
    );
    assert_eq!(session.model(), Some("claude-sonnet-4-5"));
    assert_eq!(session.meta.parent, None, "a fork is no sub-agent");
}

#[test]
fn of_a_broken_response_only_a_prompt_counts() {
    let session = session(fixture!("pi/aborted/log.jsonl"));
    let prompts: Vec<(u64, Option<u64>)> = session
        .requests()
        .iter()
        .map(|r| (r.prompt, r.output))
        .collect();
    assert_eq!(prompts, [(1_100, Some(20)), (1_150, None)]);
    assert_eq!(previews(&session), ["one", "One.", "two", "three"]);
    let context = session.context();
    assert_eq!(context.known, 1_150, "nothing of an aborted response stays");
    assert!(context.estimated > 0, "what came after it");
}

#[test]
fn a_prompt_is_all_input_cached_or_not() {
    let session = session(fixture!("pi/usage/log.jsonl"));
    let request = &session.requests()[0];
    assert_eq!((request.prompt, request.cached), (30_110, 30_000));
    assert_eq!((request.output, request.reasoning), (Some(250), Some(90)));
    let kinds: Vec<Kind> = session
        .alive()
        .iter()
        .map(|ix| session.items()[*ix].kind)
        .collect();
    assert_eq!(
        kinds,
        [
            Kind::Text,
            Kind::Thinking,
            Kind::ToolCall,
            Kind::ToolResult,
            Kind::Text
        ]
    );
    let image = &session.items()[3];
    assert_eq!(
        (image.size.fixed, image.tool.as_deref()),
        (4, Some("screenshot"))
    );
    assert_eq!(
        session.turns, 1,
        "a message put in during the run begins no turn"
    );
}

#[test]
fn a_fork_repeats_requests_under_their_keys() {
    let keys = |log: &str| -> Vec<Key> {
        let usage = |entry: Entry| match entry.event {
            Event::Usage(usage) => Some(usage.request),
            _ => None,
        };
        events(log).into_iter().filter_map(usage).collect()
    };
    let log = fixture!("pi/usage/log.jsonl");
    let fork = log.replace(
        "\"id\":\"5e55\"",
        "\"id\":\"f04c\",\"parentSession\":\"/x.jsonl\"",
    );
    assert_ne!(log, fork);
    assert_eq!(keys(log), keys(&fork));
}

#[test]
fn hostile_lines_are_counted() {
    let session = session(fixture!("pi/hostile/log.jsonl"));
    assert_eq!(session.unreadable, 4);
    assert_eq!(previews(&session), ["still here"]);
    assert_eq!(session.requests().len(), 0);
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let claim = |name: &str| PI.claims(Path::new(name));
    let id = claim("/s/--p--/2026-05-12T01-02-27-657Z_019e-aa.jsonl").and_then(|c| c.id);
    assert_eq!(id.as_deref(), Some("019e-aa"));
    // Users and extensions choose names.
    for other in [
        "rollout-2026-05-12T01-02-27-aa.jsonl",
        "a_b.jsonl",
        "2026T_.jsonl",
    ] {
        let perhaps = Claim::LINES.standing(Standing::Perhaps);
        assert_eq!(claim(other), Some(perhaps), "{other}");
    }
    assert_eq!(claim("2026-T_a.json"), None);
    let child = claim("/s/2026-05-12T01-02-27-657Z_019e-aa/run/run-0/session.jsonl").unwrap();
    assert_eq!(child.parent.as_deref(), Some("019e-aa"));
    assert_eq!(child.standing, Standing::Perhaps);
    assert!(PI.recognise(b" {\"type\": \"session\", \"ver"));
    assert!(!PI.recognise(b"{\"type\":\"sess"));
    assert!(!PI.recognise(b"{\"type\":\"user\",\"sessionId\":1}"));
}

#[test]
fn system_messages_are_prompt_and_tools() {
    let session = session(fixture!(
        "pi/system_messages_are_prompt_and_tools/log.jsonl"
    ));
    let alive = session.alive();
    let items = alive.iter().map(|ix| &session.items()[*ix]);
    let front: Vec<(Kind, &str)> = items
        .filter(|item| item.is_prefix())
        .map(|item| (item.kind, &*item.preview))
        .collect();
    let starts = |(kind, preview): &(Kind, &str)| (*kind, preview[..8].to_owned());
    assert_eq!(
        front.iter().map(starts).collect::<Vec<_>>(),
        [
            (Kind::Prompt, "You are ".to_owned()),
            (Kind::Prompt, "<rules> ".to_owned()),
            (Kind::ToolList, "read Rea".to_owned()),
            (Kind::ToolList, "grep Fin".to_owned()),
        ]
    );
    // What stayed the same is of the first prompt, through the compaction.
    assert_eq!(session.items()[alive[0]].entered, Some(0));
    assert_eq!(session.skipped.len() + session.unknown.len(), 0);
}

#[test]
fn context_edits_replace_or_remove() {
    let session = session(fixture!("pi/context_edits_replace_or_remove/log.jsonl"));
    assert_eq!(
        previews(&session),
        [
            "Read the ledger.",
            "read ledger.txt",
            "(read and forgotten)",
            "And now?",
            "Nothing."
        ]
    );
    let item = &session.items()[session.alive()[2]];
    assert_eq!(
        (item.kind, item.tool.as_deref()),
        (Kind::ToolResult, Some("read"))
    );
}

#[test]
fn its_own_count_is_the_last_total_and_characters() {
    let log = fixture!("pi/context_edits_replace_or_remove/log.jsonl");
    let until = |lines: usize| {
        let lines: Vec<&str> = log.lines().take(lines).collect();
        session(&lines.join("\n")).own_count().map(|own| own.tokens)
    };
    assert_eq!(until(3), Some(1_012));
    assert_eq!(until(4), Some(1_012 + 300), "1,200 characters");
    assert_eq!(until(5), Some(1_220));
    let mut out = model::event::EventSink::new(&model::event::ByLength);
    let item = add_content(out.item(Role::User, Kind::Text), &bare(Some("ä𝄞.")));
    assert_eq!(item.done().size.own_bytes, Some(4));
}

#[test]
fn a_request_that_keeps_the_cache_warm_counts_and_renews_it() {
    let log = |kind: &str, read: u64| {
        format!(
            r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-11-28T10:00:00Z"}}
{{"type":"message","id":"u","parentId":null,"timestamp":"2026-11-28T10:01:00Z","message":{{"role":"user","content":"Go on."}}}}
{{"type":"message","id":"a","parentId":"u","timestamp":"2026-11-28T10:01:20Z","message":{{"role":"assistant","content":"Done.","model":"claude-opus-5-5","usage":{{"input":2,"output":50,"cacheRead":0,"cacheWrite":1000}}}}}}
{{"type":"usage","id":"w","parentId":"a","timestamp":"2026-11-28T10:06:00Z","kind":"{kind}","model":"claude-opus-5-5","usage":{{"input":2,"output":1,"cacheRead":{read},"cacheWrite":0}}}}"#
        )
    };
    let of = |log: String| {
        let entries = events(&log);
        let billed = entries.iter().find_map(|entry| match &entry.event {
            Event::Billed { billed, .. } => Some(billed.cache_read),
            _ => None,
        });
        let sent = session(&log).gauge().prompt_cache().map(|cache| cache.sent);
        (billed, sent.map(|sent| sent.to_string()))
    };
    let renewed = Some("2026-11-28T10:06:00Z".to_owned());
    assert_eq!(of(log("cache_warm", 1_050)), (Some(1_050), renewed));
    let before = Some("2026-11-28T10:01:00Z".to_owned());
    assert_eq!(of(log("title", 10)), (Some(10), before.clone()));
    assert_eq!(of(log("cache_warm", 0)), (Some(0), before));
}
