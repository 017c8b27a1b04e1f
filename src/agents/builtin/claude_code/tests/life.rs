//! The records of requests as sessions are lived: in a terminal, forked, upgraded, with another window.

use super::*;
use model::LeaveReason;
use model::session::Session;
use model::window::WindowSource;

const REQUESTS: &str = fixture!("claude-code/requests_say_what_they_hold/log.jsonl");

fn session(lines: &[&str]) -> Session {
    let mut sessions = testing::sessions(&CLAUDE_CODE, lines.iter().copied());
    sessions.remove(&Conversation::Main).unwrap()
}

/// What is in the context, in any order, and how often something was cleared.
fn content(session: &Session) -> (Vec<(Role, u64)>, usize) {
    let alive = session.alive().into_iter();
    let mut items: Vec<_> = alive
        .map(|ix| (session.items()[ix].role, session.items()[ix].hash))
        .collect();
    items.sort_unstable();
    let left = session.items().iter().filter_map(|item| item.left);
    (
        items,
        left.filter(|left| left.why == LeaveReason::Cleared).count(),
    )
}

/// In a terminal, attachments are written after the request that holds them; elsewhere before its messages.
#[test]
fn attachments_are_one_item_wherever_they_are_written() {
    let lines: Vec<&str> = REQUESTS.lines().collect();
    let at_once = session(&lines);
    // The first two attachments, before or after the blob and the request; the last one likewise.
    for (skills, date, reminder) in (0..27).map(|n| (n % 3, n / 3 % 3, n / 9)) {
        let mut order: Vec<(usize, &str)> =
            (0..).map(|n| n * 10).zip(lines.iter().copied()).collect();
        for (line, place) in [(1, [10, 55, 65]), (2, [20, 56, 66]), (20, [200, 225, 235])]
            .into_iter()
            .zip([skills, date, reminder])
            .map(|((line, places), nth)| (line, places[nth]))
        {
            order[line].0 = place;
        }
        order.sort_by_key(|(place, _)| *place);
        let order: Vec<&str> = order.into_iter().map(|(_, line)| line).collect();
        let other = session(&order);
        let name = format!("{skills} {date} {reminder}");
        assert_eq!(content(&other), content(&at_once), "{name}");
        assert_eq!(other.context().used, at_once.context().used, "{name}");
        assert_eq!(other.context().known, at_once.context().known, "{name}");
    }
}

/// `@pic.png`: the log has it in an attachment, and as it was sent.
#[test]
fn a_picture_that_the_user_attached_is_the_users() {
    let lines: Vec<&str> = REQUESTS.lines().take(7).collect();
    let tokens = |session: &Session, role| session.context().role(role).tokens;
    let before = session(&lines);
    let content = r#""role":"user","content":["#;
    let picture = r#"{"type":"image","source":{"type":"base64","data":"?"}},"#;
    let sent = lines[5].replacen(content, &format!("{content}{picture}"), 1);
    let after = session(&[&lines[..5], &[&sent, lines[6]]].concat());
    for (role, more) in [(Role::User, 1_500..1_600), (Role::Container, 0..1)] {
        let grown = tokens(&after, role) - tokens(&before, role);
        assert!(more.contains(&grown), "{role:?} by {grown}");
    }
}

/// A fork begins with copied lines, a snapshot of the prompt among them, and records its own requests later.
#[test]
fn a_shape_after_a_snapshot_takes_nothing_from_what_is_known() {
    let lines: Vec<&str> = REQUESTS.lines().collect();
    let is_of_request = |line: &&&str| line.starts_with(r#"{"type":"api-request"#);
    let mut copied: Vec<&str> = lines[..19]
        .iter()
        .filter(|l| !is_of_request(l))
        .copied()
        .collect();
    let before = session(&copied).context();
    assert!(before.known > 0);
    // Its system prompt is written in other blocks.
    let shape = lines[15].replace("You are an agent for the shop.", "You are an agent.");
    copied.push(&shape);
    let after = session(&copied);
    assert_eq!(after.context().known, before.known);
    assert_eq!(after.context().used, before.used);
    let named = after.items().iter().filter(|item| item.in_context());
    assert!(named.filter(|item| item.kind == Kind::ToolList).count() > 1);
}

#[test]
fn nothing_is_unlogged_once_a_request_shows_its_system_prompt_and_tools() {
    let lines: Vec<&str> = REQUESTS.lines().collect();
    let used = |lines: &[&str]| session(lines).context().used;
    assert!(used(&lines[..4]) > 20_000, "what is usual is expected");
    assert!(used(&lines[..5]) < 5_000);
    assert!(used(&lines[..7]) < 5_000);
}

#[test]
fn a_request_says_whether_its_window_is_a_million() {
    let lines: Vec<String> = REQUESTS
        .lines()
        .map(|l| l.replace("claude-opus-4-8", "claude-opus-4-6"))
        .collect();
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            if line.contains(r#""id":"r2""#) {
                line.replace(
                    r#""max_tokens""#,
                    r#""betas":["context-1m-2025-08-07"],"max_tokens""#,
                )
            } else {
                line.clone()
            }
        })
        .map(|line| {
            if line.contains(r#""id":"m2""#) {
                line.replacen(r#""requestId""#, r#""requestRef":"r2","requestId""#, 1)
            } else {
                line
            }
        })
        .collect();
    let window = |n: usize| {
        let lines: Vec<&str> = lines[..n].iter().map(String::as_str).collect();
        let session = session(&lines);
        let limits = session.limits();
        assert_eq!(limits.window_source, WindowSource::ModelTable);
        (session.model().unwrap().to_owned(), limits.window)
    };
    let (usual, long) = (
        ("claude-opus-4-6".to_owned(), 200_000),
        ("claude-opus-4-6[1m]".to_owned(), 1_000_000),
    );
    assert_eq!(window(7), usual, "before the first response");
    assert_eq!(window(17), usual);
    assert_eq!(window(18), long, "when the request is made");
    assert_eq!(window(19), long, "when its response is there");
    assert_eq!(window(24), usual, "another one asks for the usual window");
}

#[test]
fn notices_of_background_agents_are_not_the_users() {
    let queued = |mode: &str| {
        let line = format!(
            r#"{{"parentUuid":null,"isSidechain":false,"type":"attachment","attachment":{{"type":"queued_command","prompt":"an agent is done","commandMode":"{mode}"}},"rendered":[{{"content":"an agent is done"}}],"uuid":"u1","sessionId":"5e55"}}"#
        );
        session(&[&line]).items()[0].role
    };
    assert_eq!(queued("prompt"), Role::User);
    assert_eq!(queued("task-notification"), Role::Container);
}

#[test]
fn a_sub_agents_sub_agent_is_its_own() {
    let log = Path::new("/h/p/5e55/subagents/agent-b2.jsonl");
    assert_eq!(
        (CLAUDE_CODE.beside.states)(log),
        [log.with_file_name("agent-b2.meta.json")]
    );
    assert!((CLAUDE_CODE.beside.states)(Path::new("/h/p/5e55.jsonl")).is_empty());
    let mut out = EventSink::new(&ByLength);
    let mut decoder = CLAUDE_CODE.decoder();
    let about =
        r#"{"agentType":"general-purpose","description":"second reader","parentAgentId":"a1"}"#;
    assert_eq!(
        decoder.read_state(about, &mut out),
        Some(StateUpdate::Accepted)
    );
    assert_eq!(decoder.read_state("{\"agentTy", &mut out), None);
    let mut session = Session::default();
    session.meta.parent = Some("5e55".into());
    out.entries.drain(..).for_each(|entry| session.apply(entry));
    assert_eq!(session.meta.parent.as_deref(), Some("agent-a1"));
    assert_eq!(session.meta.title.as_deref(), Some("second reader"));
}

#[test]
fn thinking_that_was_cut_is_not_sent_again() {
    let line = |id: &str, parent: &str, block: &str, stop: &str, usage: (u64, u64)| {
        let (prompt, output) = usage;
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"assistant","message":{{"model":"claude-opus-4-8","id":"m{id}","role":"assistant","content":[{block}],"stop_reason":"{stop}","usage":{{"input_tokens":{prompt},"output_tokens":{output}}}}},"uuid":"{id}","sessionId":"5e55"}}"#
        )
    };
    let thinking = r#"{"type":"thinking","thinking":"","signature":"SIG"}"#;
    let text = r#"{"type":"text","text":"Done."}"#;
    let log = [
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"why?"},"uuid":"1","sessionId":"5e55"}"#.to_owned(),
        line("2", "1", thinking, "max_tokens", (30_000, 64_000)),
        line("3", "2", thinking, "max_tokens", (30_062, 64_000)),
        line("4", "3", text, "max_tokens", (30_124, 64_000)),
    ];
    let known = |n: usize| {
        let lines: Vec<&str> = log[..n].iter().map(String::as_str).collect();
        session(&lines).context().known
    };
    assert_eq!(known(2), 30_000);
    assert_eq!(known(3), 30_062);
    assert_eq!(known(4), 94_124, "what was said stays, cut or not");
}
