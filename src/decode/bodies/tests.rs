use super::*;
use crate::lenient::{LostFields, Raw};
use crate::prompts::{Block, Content};
use model::Role;

/// Role, kind, call, tool and texts of each block, and the names of the fields that were lost.
fn read(json: &str, usual: Role) -> (Vec<String>, usize) {
    let lost = LostFields::default();
    let blocks = blocks(Raw::of(json).unwrap(), usual, lost.at("body"));
    let shown = |block: &Block<'_>| {
        let texts = block.content.iter().map(|content| match content {
            Content::Text(text) => text.to_string(),
            Content::Json(raw) => raw.get().to_owned(),
            Content::Media(tokens, label) => format!("{label}={tokens}"),
            Content::Hidden(bytes) | Content::Unlogged(bytes, _) => format!("{bytes} bytes"),
        });
        let texts: Vec<_> = texts.filter(|text| text != "0 bytes").collect();
        let (call, tool) = (block.call.as_deref(), block.tool.as_deref());
        let names = [call, tool].map(|name| name.unwrap_or("-"));
        format!(
            "{:?} {:?} {} {}",
            block.role,
            block.kind,
            names.join(" "),
            texts.join("|")
        )
    };
    let shown = blocks.iter().map(shown).collect();
    let mut out = model::event::EventSink::new(&model::event::ByLength);
    lost.report(&mut out);
    (shown, out.entries.len())
}

#[test]
fn a_call_is_the_same_in_every_interface() {
    let calls = [
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"n\":1}"}}]}"#,
        r#"{"type":"function_call","call_id":"c","id":"fc","name":"read","arguments":"{\"n\":1}"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read","input":{"n":1}}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"id":"c","name":"read","args":{"n":1}}}]}"#,
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"read","input":{"n":1}}}]}"#,
        r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"read","input":{"n":1}}]}"#,
        r#"{"role":"Assistant","content":[{"type":"toolCall","callId":"c","toolName":"read","input":{"n":1}}]}"#,
        r#"{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"read","arguments":{"n":1}}]}"#,
        r#"{"message":{"role":"assistant","tool_calls":[{"tool_call":{"id":"c","function":{"name":"read","arguments":"{\"n\":1}"}}}]}}"#,
        r#"{"lc":1,"type":"constructor","id":["langchain","schema","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"read","args":{"n":1},"id":"c","type":"tool_call"}]}}"#,
    ];
    for call in calls {
        let expected = vec!["Assistant ToolCall c read read|{\"n\":1}".to_owned()];
        assert_eq!(read(call, Role::User), (expected, 0), "{call}");
    }
}

#[test]
fn a_result_is_the_same_in_every_interface() {
    let results = [
        r#"{"role":"tool","tool_call_id":"c","content":"one"}"#,
        r#"{"type":"function_call_output","call_id":"c","output":"one"}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"one"}]}]}"#,
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"c","status":"success","content":[{"text":"one"}]}}]}"#,
        r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"text","value":"one"}}]}"#,
        r#"{"role":"User","content":[{"type":"toolResult","callId":"c","toolResult":"one"}]}"#,
        r#"{"role":"user","parts":[{"type":"tool_call_response","id":"c","response":"one"}]}"#,
        r#"{"type":"tool","data":{"content":"one","tool_call_id":"c","id":"message"}}"#,
    ];
    for result in results {
        let expected = vec!["Tool ToolResult c - one".to_owned()];
        assert_eq!(read(result, Role::User), (expected, 0), "{result}");
    }
}

#[test]
fn a_thought_is_the_same_in_every_interface() {
    let thoughts = [
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"So."}]}"#,
        r#"{"role":"assistant","content":null,"reasoning_content":"So."}"#,
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"So."}]}"#,
        r#"{"role":"model","parts":[{"text":"So.","thought":true}]}"#,
        r#"{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"So."}}}]}"#,
        r#"{"role":"assistant","parts":[{"type":"reasoning","content":"So."}]}"#,
        r#"{"role":"thinking","content":"So."}"#,
    ];
    for thought in thoughts {
        let expected = vec!["Assistant Thinking - - So.".to_owned()];
        assert_eq!(read(thought, Role::User), (expected, 0), "{thought}");
    }
}

#[test]
fn who_names_no_role_has_the_usual_one() {
    let text = |role: &str| (vec![format!("{role} Text - - Hello.")], 0);
    for message in [
        r#""Hello.""#,
        r#"{"parts":[{"text":"Hello."}]}"#,
        r#"{"content":"Hello."}"#,
        r#"[[{"type":"text","text":"Hello."}]]"#,
    ] {
        assert_eq!(read(message, Role::User), text("User"), "{message}");
        assert_eq!(
            read(message, Role::Assistant),
            text("Assistant"),
            "{message}"
        );
    }
    assert_eq!(role_of("AIMessageChunk"), Some(Role::Assistant));
    assert_eq!(role_of("HumanMessage"), Some(Role::User));
    assert_eq!(role_of("robot"), None);
}

#[test]
fn wrappers_in_wrappers_have_an_end() {
    let deep = format!("{}{}", "{\"message\":".repeat(10_000), "}".repeat(10_000));
    let Some(raw) = Raw::of(&deep) else {
        return;
    };
    let lost = LostFields::default();
    assert!(blocks(raw, Role::User, lost.at("body")).is_empty());
}

#[test]
fn input_that_includes_what_was_cached_is_the_prompt_unless_more_was_cached() {
    let usage = |read: u64| {
        let numbers = Numbers {
            whole: Some(100),
            cache_read: Some(read),
            ..Numbers::default()
        };
        let usage = numbers.usage(model::event::Key::of("a"), None);
        usage.map(|usage| (usage.prompt, usage.billed.input))
    };
    assert_eq!(usage(64), Some((100, 100)));
    assert_eq!(usage(640), Some((740, 100)));
    assert_eq!(
        Numbers::default().usage(model::event::Key::of("a"), None),
        None
    );
}

#[test]
fn a_service_tier_and_a_speed_are_surcharges() {
    let names = |json: &str| {
        let response = response::whole(json, &LostFields::default()).unwrap();
        response.numbers.surcharges.names()
    };
    let usage = r#""usage":{"input_tokens":9,"output_tokens":1"#;
    let openai = format!("{{\"service_tier\":\"flex\",\"output\":[],{usage}}}}}");
    assert_eq!(names(&openai), ["flex"]);
    let standard = format!("{{{usage},\"service_tier\":\"standard\",\"speed\":\"fast\"}}}}");
    assert_eq!(names(&standard), ["fast"]);
}
