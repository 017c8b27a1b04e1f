//! Forks, sub-agents, media, old and broken files: what stands at the edges of the format.

use super::*;

#[test]
fn a_fork_repeats_its_parents_requests_under_the_same_keys() {
    let keys = |name| -> Vec<Key> {
        decode(&fixture(name))
            .iter()
            .filter_map(|entry| match &entry.event {
                Event::Usage(usage) => Some(usage.request),
                _ => None,
            })
            .collect()
    };
    let (parent, fork) = (keys("fork-parent"), keys("fork"));
    assert_eq!(parent[..2], fork[..2]);
    assert_ne!(parent[2], fork[2]);
    let facts = only(&story("fork"), "meta");
    assert!(facts[0].starts_with("1 meta id=11111111-") && !facts[0].contains("parent"));
    assert!(facts.iter().skip(1).all(|fact| !fact.contains("id=")));
}

#[test]
fn a_sub_agent_has_a_parent_and_does_not_pay_for_the_past() {
    let story = story("sub-agent");
    let meta = &only(&story, "meta")[0];
    assert!(meta.contains("title=Euler (explorer)"));
    assert!(meta.contains("parent=22222222-2222-7222-8222-222222222222"));
    assert!(story.contains("9 node turn user/text opaque=20 '/root Message Type: NEW_TASK"));
    assert_eq!(
        only(&story, "usage"),
        [
            "4 usage r1 reported 9000+0 out 100 (40) billed 0 0 0 0",
            "6 usage r2 reported 100+9000 out 10 (0) billed 0 0 0 0",
            "11 usage r3 reported 200+9000 out 10 (0) billed 9200 9000 10 0",
        ]
    );
    assert_eq!(
        only(&super::tests::story("sub-agent-ordinals"), "usage"),
        [
            "2 usage r1 reported 9000+0 out 100 (40) billed 0 0 0 0",
            "3 usage r2 reported 100+9000 out 10 (0) billed 9100 9000 10 0",
        ]
    );
}

#[test]
fn other_agents_words_come_back_like_a_tools() {
    let nodes = only(&story("between-agents"), "node");
    assert_eq!(
        nodes[1],
        "5 node r1 assistant/tool_call [collaboration.spawn_agent] 'task_name=one'"
    );
    assert_eq!(
        nodes[3..5],
        [
            "9 node tool/tool_result [agent_message] '/lead/one Message Type: FINAL_ANSWER \
             Payload: No findings.'",
            "10 node tool/tool_result [agent_message] '/lead/two One finding.'",
        ]
    );
}

#[test]
fn images_cost_their_formula() {
    let story = story("images");
    // 1280 × 720: 40 × 23 patches of 1.2 tokens.
    assert!(story.contains("4 node turn user/text fixed=1104 'what is this? [image]'"));
    assert!(story.contains("6 node tool/tool_result [view_image] fixed=1844 'attached [image]'"));
    assert!(story.ends_with("7 node\n"));
    let cut = String::from_utf8(fixture("images"))
        .unwrap()
        .replace("AAElFTkSuQmCC", &format!("{ELIDED}90000{ELIDED}"));
    assert!(tell(&decode(cut.as_bytes())).contains("4 node turn user/text fixed=1104"));
}

#[test]
fn every_kind_of_tool_is_named() {
    let nodes = only(&story("other-tools"), "node");
    assert_eq!(
        nodes[1..],
        [
            "5 node r1 assistant/tool_call [web_search] 'rows'",
            "6 node r1 assistant/tool_call [apply_patch] '*** Begin Patch'",
            "7 node r1 assistant/tool_call [local_shell] 'ls'",
            "8 node r1 assistant/tool_call [tool_search] 'page'",
            "9 node tool/tool_result [apply_patch] \
             '{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0}}'",
            "10 node tool/tool_result [local_shell] 'a.txt'",
            "11 node container/tool_list [tool_search] '[{\"name\":\"open_page\"}]'",
            "12 node r1 assistant/tool_call [mcp__docs__search] ''",
            "13 node tool/tool_result [mcp__docs__search] 'one two'",
        ]
    );
}

#[test]
fn the_model_and_its_window_change() {
    let facts = only(&story("model-switch"), "meta");
    assert_eq!(
        facts[1..],
        [
            "2 meta window=258400",
            "3 meta model=gpt-5.5",
            "7 meta window=121600",
            "8 meta model=gpt-5.3-codex-spark",
            "13 meta title=Faster hello",
        ]
    );
    let entries = decode(&fixture("model-switch"));
    let models = entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) => usage.model.as_deref(),
        _ => None,
    });
    assert_eq!(
        models.collect::<Vec<_>>(),
        ["gpt-5.5", "gpt-5.3-codex-spark", "gpt-5.3-codex-spark"]
    );
}

#[test]
fn a_count_that_begins_anew_or_skips_a_line_still_sums_up() {
    let story = story("resumed");
    assert_eq!(
        only(&story, "usage"),
        [
            "6 usage r1 reported 5000+0 out 10 (0) billed 5000 0 10 0",
            "12 usage r2 reported 108+4992 out 10 (0) billed 5100 4992 10 0",
            // The line between, 5,100 in and 10 out, is lost; the total is not.
            "13 usage r3 reported 208+4992 out 10 (0) billed 10300 4992 20 0",
        ]
    );
    assert!(story.contains("7 meta cwd=/home/ada/cart version=0.147.0"));
}

#[test]
fn a_rollback_takes_the_last_turn_away() {
    assert_eq!(only(&story("rollback"), "rollback"), ["12 rollback 1"]);
    assert_eq!(
        alive(&session("rollback")),
        ["user one", "assistant 1", "user three"]
    );
}

#[test]
fn files_without_payloads_are_read() {
    assert_eq!(
        story("unwrapped").lines().collect::<Vec<_>>(),
        [
            "1 meta id=22222222-2222-7222-8222-222222222222",
            "2 skipped record_type/state",
            "3 node container/reminder '<environment_context> <cwd>/home/ada</cwd> </environment_context>'",
            "4 skipped record_type/state",
            "5 node turn user/text 'hello'",
            "6 node r1 assistant/thinking opaque=50 'Greeting'",
            "7 node r1 assistant/tool_call [shell] 'ls'",
            "8 node tool/tool_result [shell] \
             '{\"output\":\"a.txt\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}'",
            "9 node user/text 'put in between'",
            "10 node r2 assistant/text 'hi'",
            "11 skipped record_type/state",
            "12 node turn user/text 'bye'",
        ]
    );
}

#[test]
fn numbers_that_cannot_be_are_absent() {
    let story = story("hostile-numbers");
    assert_eq!(
        only(&story, "usage"),
        ["10 usage r1 reported 0+5000 out 10 (10) billed 5000 5000 10 10"]
    );
    assert_eq!(only(&story, "meta").len(), 3);
    assert!(only(&story, "rollback").is_empty());
}

#[test]
fn broken_lines_are_counted_and_the_rest_is_read() {
    let story = story("broken-lines");
    assert_eq!(
        only(&story, "unreadable"),
        ["2 unreadable", "3 unreadable", "5 unreadable"]
    );
    assert!(story.contains("7 node turn user/text 'plain words'"));
}

#[test]
fn an_event_of_a_new_type_is_unknown_though_its_body_is_not_read() {
    let event = |kind: &str| {
        let line = format!(
            r#"{{"timestamp":"2026-09-20T10:00:00Z","type":"event_msg","payload":{{"type":"{kind}"}}}}"#
        );
        decode(line.as_bytes())[0].event.clone()
    };
    assert_eq!(
        event("moon_phase"),
        Event::Unknown("event_msg/moon_phase".into())
    );
    assert_eq!(
        event("agent_message"),
        Event::Skipped("event_msg/agent_message".into())
    );
}

#[test]
fn an_output_is_cut_in_its_middle_as_the_model_gets_it() {
    assert_eq!(size_of(&output_of(&"x".repeat(48_000))).bytes, 48_000);
    assert_eq!(size_of(&output_of(&"x".repeat(48_001))).bytes, 48_000);
    // 16,001 characters of three bytes: 8,000 from each end, on character boundaries.
    assert_eq!(size_of(&output_of(&"水".repeat(16_001))).bytes, 48_000);
    assert_eq!(
        size_of(&output_of(&format!("x{}", "水".repeat(20_000)))).bytes,
        47_998
    );
    // The reader kept 1,000 bytes and cut the rest: the size is the same.
    let cut = |rest: u64| format!("{}{ELIDED}{rest}{ELIDED}", "x".repeat(1_000));
    assert_eq!(size_of(&output_of(&cut(200_000))).bytes, 48_000);
    assert_eq!(size_of(&output_of(&cut(2_000))).bytes, 3_000);
}

#[test]
fn the_texts_of_one_output_share_the_limit() {
    let text = "x".repeat(40_000);
    let part = serde_json::json!({"type": "input_text", "text": text});
    let line = serde_json::json!({"type": "response_item", "payload":
        {"type": "function_call_output", "call_id": "c", "output": [part, part, part]}});
    assert_eq!(size_of(&decode(line.to_string().as_bytes())).bytes, 48_000);
}

#[test]
fn reading_may_begin_anywhere() {
    let log = fixture("fork");
    let lines: Vec<_> = log.split(|byte| *byte == b'\n').collect();
    for from in 1..lines.len() - 2 {
        let mut decoder = CODEX.decoder();
        let mut out = EventSink::new(&ByLength);
        for line in &lines[from..] {
            decoder.read_line(&String::from_utf8_lossy(line), &mut out);
        }
        let story = tell(&out.entries);
        let last = only(&story, "usage").pop().unwrap();
        assert!(last.ends_with("reported 300+9000 out 10 (0) billed 9300 9000 10 0"));
        // The parent's `session_meta` on line 2 is not taken for the file's own.
        assert!(!story.contains("id="), "{story}");
    }
}

#[test]
fn a_name_tells_a_rollout_and_its_thread() {
    let id = |name: &str| CODEX.claims(Path::new(name)).map(|claim| claim.id);
    let thread = "019f80ed-65ac-7eb3-9c28-9885c0fbca91";
    let path = format!("/x/sessions/2026/07/20/rollout-2026-07-20T19-07-49-{thread}.jsonl");
    assert_eq!(id(&path), Some(Some(thread.into())));
    let reverted = format!("rollout-2026-07-20T19-07-49-{thread}_019f.jsonl");
    assert_eq!(id(&reverted), Some(Some(thread.into())));
    assert_eq!(id("rollout-2026.jsonl"), Some(None));
    assert_eq!(id("history.jsonl"), None);
    assert_eq!(id(&format!("{path}.zst")), Some(Some(thread.into())));
    assert_eq!(id("rollout-2026.zst"), None);
}

#[test]
fn a_beginning_tells_a_rollout() {
    for name in ["outputs-before-count", "unwrapped", "sub-agent-ordinals"] {
        let log = fixture(name);
        assert!(
            (140..log.len()).all(|end| CODEX.recognise(&log[..end])),
            "{name}"
        );
    }
    let claude = br#"{"type":"user","message":{"content":"{\"type\":\"session_meta\"}"}}"#;
    assert!(!CODEX.recognise(claude));
    assert!(!CODEX.recognise(br#"{"type":"session","id":"x","timestamp":"2026"}"#));
    assert!(!CODEX.recognise(b""));
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(
        name in prop::sample::select(vec!["other-tools", "images", "sub-agent", "local-compaction"]),
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..12),
        keep in any::<bool>(),
    ) {
        let mut log = fixture(name);
        let at = at.index(log.len());
        let end = if keep { at } else { (at + bytes.len()).min(log.len()) };
        log.splice(at..end, bytes);
        let mut session = Session::new("codex", Arc::default());
        for entry in decode(&log) {
            session.apply(entry);
        }
        let context = session.context();
        prop_assert_eq!(context.known + context.estimated, context.used);
    }
}
