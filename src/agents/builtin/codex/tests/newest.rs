//! What versions from autumn 2026 on write.

use super::*;
use std::path::{Path, PathBuf};

#[test]
fn a_record_reports_a_response_while_its_tools_still_run() {
    let story = story("usage-record");
    assert_eq!(
        story.lines().skip(7).take(12).collect::<Vec<_>>(),
        [
            "6 node r1 assistant/tool_call [exec_command] 'cargo test'",
            "7 usage r1 reported 9000+0 out 100 (40) billed 9000 0 100 40",
            "8 skipped event_msg/item_completed",
            "9 node tool/tool_result [exec_command] '3 failed'",
            // The same request again.
            "10 usage r1 reported 9000+0 out 100 (40) billed 9000 0 100 40",
            // Something was classified in the background: no output stands before its record.
            "11 billed 9050 9000 8 0",
            "12 node r2 assistant/text 'Fixed.'",
            "13 usage r2 reported 130+9000 out 20 (0) billed 9130 9000 20 0",
            "14 usage r2 reported 130+9000 out 20 (0) billed 9130 9000 20 0",
            "15 skipped event_msg/token_count",
            "16 skipped event_msg/task_started",
            "17 node turn user/text 'and now run it'",
        ]
    );
    let session = session("usage-record");
    assert_eq!(session.requests().len(), 3);
    assert_eq!(session.context().known, 9_220);
}

#[test]
fn a_compaction_costs_but_is_no_request_of_the_conversation() {
    let story = story("usage-record-compaction");
    assert_eq!(
        only(&story, "billed"),
        ["14 billed 9200 9000 300 0", "23 billed 4000 0 50 0"]
    );
    assert_eq!(only(&story, "reset"), ["15 reset unknown", "25 reset auto"]);
    let reported: Vec<_> = session("usage-record-compaction")
        .requests()
        .iter()
        .map(|request| request.prompt)
        .collect();
    assert_eq!(reported, [9_000, 9_130, 5_000, 3_000]);
    assert!(story.contains("22 skipped response_item/compaction_output\n"));
}

#[test]
fn a_record_without_an_output_is_a_request_if_a_count_repeats_it() {
    let log = String::from_utf8(fixture("usage-record")).unwrap();
    let without_output: Vec<_> = log
        .lines()
        .filter(|line| !line.contains("Fixed."))
        .collect();
    let story = tell(&decode(without_output.join("\n").as_bytes()));
    assert_eq!(
        only(&story, "billed"),
        ["11 billed 9050 9000 8 0", "12 billed 9130 9000 20 0"]
    );
    assert_eq!(
        only(&story, "usage")[2],
        "13 usage r2 reported 130+9000 out 20 (0) billed 9130 9000 20 0"
    );
}

#[test]
fn the_number_of_a_line_may_precede_its_type() {
    let skipped = only(&story("usage-record"), "skipped");
    assert!(skipped.contains(&"8 skipped event_msg/item_completed".to_owned()));
    let numbered = br#"{"timestamp":"2026-11-20T10:00:00Z","ordinal":12,"type":"event_msg","payload":{"type":"item_completed","item":{"#;
    // The rest of the line is not looked at.
    let entries = decode(numbered);
    assert_eq!(
        entries[0].event,
        Event::Skipped("event_msg/item_completed".into())
    );
    assert!(entries[0].at.is_some());
}

#[test]
fn the_log_names_who_wrote_each_part_of_a_message() {
    assert_eq!(
        only(&story("item-kinds"), "node")[1..],
        [
            "4 node container/reminder '<permissions instructions>ask first</permissions instructions>' \
             container/reminder 'Heartbeat: the build is green.'",
            "5 node turn container/memory 'Keep the answers short.' \
             user/text '<skill> is a word I use </skill>'",
            "6 node container/reminder 'Five minutes are left.'",
            "7 node r1 assistant/text 'Quickly, then.'",
            // One name for two parts: the texts decide.
            "10 node user/text 'half named'",
        ]
    );
}

#[test]
fn an_output_may_have_a_limit_of_its_own() {
    let session = session("token-limit");
    let sizes = session
        .items()
        .iter()
        .filter(|item| item.role == Role::Tool);
    // 25 tokens of four bytes.
    assert_eq!(sizes.map(|item| item.size.bytes).collect::<Vec<_>>(), [100]);
}

#[test]
fn what_a_tool_delivered_is_no_answer() {
    let story = story("delivered-message");
    assert!(story.contains("7 skipped response_item/delivered_assistant_message\n"));
    // A second output of the same call names the tool itself.
    assert!(story.contains("9 node tool/tool_result [exec] 'a note'\n"));
    assert!(story.contains("11 skipped response_item/configuration_update\n"));
    assert!(story.contains("12 node container/tool_list '[{\"name\":\"open_page\""));
}

#[test]
fn the_model_may_change_between_turns() {
    let facts = only(&story("thread-settings"), "meta");
    assert_eq!(facts[3], "8 meta cwd=/home/ada/cart model=gpt-6-astra");
}

#[test]
fn an_image_may_be_a_file_elsewhere() {
    let story = story("image-file");
    assert!(story.contains("4 node turn user/text fixed=1844 'what is this? [image]'"));
}

#[test]
fn numbers_of_lines_may_be_strings() {
    assert_eq!(
        only(&story("sub-agent-ordinals-as-strings"), "usage"),
        [
            "4 usage r1 reported 1000+69000 out 100 (0) billed 0 0 0 0",
            // Not measured from the parent's total.
            "7 usage r2 reported 1000+29000 out 100 (0) billed 30000 29000 100 0",
            "8 usage r2 reported 1000+29000 out 100 (0) billed 30000 29000 100 0",
        ]
    );
}

#[test]
fn a_fork_names_the_rollout_that_it_continues() {
    let base = |name: &str| {
        let log = fixture(name);
        let line = log.split(|byte| *byte == b'\n').next().unwrap();
        (base::CHAIN.base)(line)
    };
    let id = "bbbbbbbb-2222-7222-8222-222222222222";
    let (name, end) = base("fork-by-reference").unwrap();
    assert_eq!(name, id);
    assert!(matches!(end, formats::End::At(1_001..)));
    assert_eq!(base("usage-record"), None);
    assert_eq!((base::CHAIN.base)(b"{\"history_base\":"), None);
    let is_base = |file: &str| (base::CHAIN.is_base)(file, id);
    assert!(is_base(&format!("rollout-2026-11-20T10-02-00-{id}.jsonl")));
    assert!(is_base(&format!(
        "rollout-2026-11-20T10-02-00-{id}.jsonl.zst"
    )));
    assert!(is_base(&format!(
        "rollout-2026-11-20T10-02-00-0199_{id}.jsonl"
    )));
    // The thread's first rollout, not the one after it was reverted.
    assert!(!is_base(&format!(
        "rollout-2026-11-20T10-02-00-{id}_0199.jsonl"
    )));
    assert!(!is_base(&format!("notes-{id}.jsonl")));
    let folders = (base::CHAIN.folders)(Path::new("/c/sessions/2026/11/20/rollout.jsonl"));
    assert_eq!(
        folders,
        [
            "/c/sessions/2026/11/20",
            "/c/sessions",
            "/c/archived_sessions"
        ]
        .map(PathBuf::from)
    );
}

#[test]
fn inherited_history_that_is_not_there_leaves_at_a_compaction() {
    let story = story("fork-without-base");
    assert!(story.contains("2 BeginningMissing\n"), "{story}");
    let session = session("fork-without-base");
    assert_eq!(session.requests()[0].prompt, 9_430);
    // The rest of the first prompt is not taken for a prefix that comes back.
    let context = session.context();
    assert!(context.used < 2_000, "{}", context.used);
}

#[test]
fn a_message_from_outside_ends_a_response_that_was_not_reported() {
    let nodes = only(&story("broken-off-by-a-message"), "node");
    assert_eq!(
        nodes[4..],
        [
            "9 node r2 assistant/thinking opaque=1200 ''",
            "11 node tool/tool_result [agent_message] '/root/one Message Type: MESSAGE Payload: One found.'",
            "12 node r3 assistant/thinking opaque=1400 ''",
            "13 node r3 assistant/tool_call [exec_command] 'cargo test'",
            "15 node tool/tool_result [exec_command] 'ok'",
        ]
    );
    assert_eq!(
        only(&story("broken-off-by-a-message"), "usage").len(),
        4,
        "each of two requests, and its repetition"
    );
}

#[test]
fn a_response_of_which_nothing_was_reported_ends_with_its_record() {
    let log = String::from_utf8(fixture("usage-record")).unwrap();
    let zeros = r#"{"input_tokens":0,"cached_input_tokens":0,"cache_write_input_tokens":0,"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":0}"#;
    let reported = r#"{"input_tokens":9000,"cached_input_tokens":0,"cache_write_input_tokens":0,"output_tokens":100,"reasoning_output_tokens":40,"total_tokens":9100}"#;
    let mut lines: Vec<String> = log.lines().map(Into::into).collect();
    lines[6] = lines[6].replacen(reported, zeros, 1);
    lines.remove(9);
    let nodes = only(&tell(&decode(lines.join("\n").as_bytes())), "node").join("\n");
    assert!(nodes.contains("node r1 assistant/tool_call"), "{nodes}");
    assert!(nodes.contains("node r2 assistant/text 'Fixed.'"), "{nodes}");
}

#[test]
fn definitions_that_a_search_found_are_their_servers() {
    let tools = serde_json::json!([
        {"type": "namespace", "name": "mcp__lab", "description": "The lab's.", "tools": [
            {"type": "function", "name": "lookup", "description": "Looks a word up."},
            {"type": "function", "name": "list"},
        ]},
        {"type": "function", "name": "open_page"},
    ]);
    let line = serde_json::json!({
        "type": "response_item",
        "payload": {"type": "tool_search_output", "call_id": "c", "tools": tools},
    });
    let call = serde_json::json!({
        "type": "response_item",
        "payload": {"type": "function_call", "namespace": "mcp__lab", "name": "lookup", "arguments": "{}", "call_id": "d"},
    });
    let entries = decode(format!("{line}\n{call}").as_bytes());
    let items = entries.iter().filter_map(|entry| match &entry.event {
        Event::Node(node) => Some(&node.items),
        _ => None,
    });
    let names: Vec<_> = items
        .flatten()
        .map(|item| (item.tool.as_deref(), item.size.tools))
        .collect();
    assert_eq!(
        names,
        [
            (None, 1),
            (Some("mcp__lab__lookup"), 1),
            (Some("mcp__lab__list"), 1),
            (Some("mcp__lab__lookup"), 0),
        ]
    );
}

#[test]
fn two_rollouts_may_be_of_one_thread() {
    let meta = |id: &str| format!(r#"{{"type":"session_meta","payload":{{"id":"{id}"}}}}"#);
    let is_same = |base: &str| (base::CHAIN.is_same)(meta("a").as_bytes(), meta(base).as_bytes());
    assert!(is_same("a"));
    assert!(!is_same("b"), "a fork");
    assert!(!(base::CHAIN.is_same)(b"{}", b"{}"));
}
