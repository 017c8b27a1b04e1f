//! Logs by mappings.

mod draft;
mod ledger;
mod parts;
mod requests;

use super::*;
use model::event::{ByLength, Conversation, Entry, Event, EventSink, Place};
use model::session::Session;
use model::{Kind, Role};
use parts::PARTS;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const RECORDS: &str = r#"
has = ["/role", "/session"]

[session]
id = "/session"
cwd = "/cwd"
model = "/model"

[record]
id = "/id"
parent = "/parent"
time = "/at"
skip = [{ at = "/type", is = ["heartbeat"] }]

[message]
role = "/role"
text = ["/content", "/content/*/text"]
thinking = "/thought"
tool = "/name"
call = "/call"
calls = "/calls"

[calls]
name = "/function/name"
id = "/id"
arguments = "/function/arguments"

[roles]
summary = ["compaction"]

[usage]
prompt = ["/usage/fresh", "/usage/cached"]
cached = "/usage/cached"
output = "/usage/out"
"#;

const REQUESTS: &str = r#"
has = "/request/messages"
messages = "/request/messages"
reply = "/response/message"

[record]
id = "/id"

[message]
role = "/role"
text = ["/content", "/content/*/text"]
calls = "/content/*"
results = "/content/*"

[calls]
name = "/name"
id = "/id"
arguments = "/input"

[results]
call = "/tool_use_id"
text = ["/content", "/content/*/text"]

[usage]
prompt = "/usage/input"
output = "/usage/output"
"#;

fn mapping(text: &str) -> Mapping {
    Mapping::read("mine", text).unwrap()
}

fn format(text: &str) -> &'static Format {
    mapping(text).into_format()
}

fn read(format: &Format, log: &str) -> Session {
    let mut session = Session::new("mine", Arc::default());
    entries(format, log)
        .into_iter()
        .for_each(|entry| session.apply(entry));
    session
}

fn entries(format: &Format, log: &str) -> Vec<Entry> {
    let mut out = EventSink::new(&ByLength);
    let mut decoder = format.decoder();
    let mut offset = 0;
    for (line, text) in (1..).zip(log.split_inclusive('\n')) {
        let len = text.trim_end_matches('\n').len() as u64;
        let place = Place::new(line, offset, len);
        out.begin(place);
        decoder.read_line(text.trim_end(), &mut out);
        offset += text.len() as u64;
    }
    out.entries
}

fn items_of(session: &Session) -> Vec<String> {
    let alive = session.alive();
    let items = alive.iter().map(|ix| &session.items()[*ix]);
    items
        .map(|item| {
            let tool = item.tool.as_deref().unwrap_or_default();
            format!(
                "{} {} {tool}: {}",
                item.role.name(),
                item.kind.name(),
                &*item.preview
            )
        })
        .collect()
}

const LOG: &str = r#"{"session":"s1","cwd":"/w/shop","model":"gpt-5","role":"system","id":"a","content":"Be brief.","at":1767225600}
{"session":"s1","role":"user","id":"b","parent":"a","content":[{"type":"text","text":"List the files."}],"at":"2026-01-01T00:00:01Z"}
{"type":"heartbeat","session":"s1"}
{"session":"s1","role":"assistant","id":"c","parent":"b","content":"","thought":"ls will do","calls":[{"id":"t1","function":{"name":"ls","arguments":{"path":"."}}}],"usage":{"fresh":40,"cached":100,"out":12}}
{"session":"s1","role":"tool","id":"d","parent":"c","call":"t1","content":"a.rs\nb.rs"}
{"session":"s1","role":"assistant","id":"e","parent":"d","content":"Two.","usage":{"fresh":20,"cached":150,"out":3}}
{"session":"s1","role":"robot","id":"f","parent":"e","content":"?"}
broken
"#;

/// The sessions of a log, by their ids.
fn all(format: &Format, log: &str) -> BTreeMap<String, Session> {
    let mut conversations: BTreeMap<Conversation, Session> = BTreeMap::new();
    for entry in entries(format, log) {
        let session = conversations.entry(entry.conversation);
        let session = session.or_insert_with(|| Session::new("mine", Arc::default()));
        session.apply(entry);
    }
    let id = |session: &Session| session.meta.id.as_deref().unwrap_or_default().to_owned();
    conversations
        .into_values()
        .map(|session| (id(&session), session))
        .collect()
}

proptest! {
    #[test]
    fn sessions_in_one_file_are_as_in_files_of_their_own(
        turns in prop::collection::vec((0..3usize, prop::bool::ANY), 1..40),
        requests in prop::bool::ANY,
    ) {
        let text = if requests { REQUESTS.replace("[record]", "[session]\nid = \"/session\"\n\n[record]") } else { RECORDS.to_owned() };
        let format = format(&text);
        let mut said = [0; 3];
        let mut own = [const { String::new() }; 3];
        let mut together = String::new();
        for (n, (of, names_it)) in turns.into_iter().enumerate() {
            said[of] += 1;
            let history: Vec<String> = (0..said[of])
                .map(|nth| format!(r#"{{"role":"user","content":"{of}: {nth}"}}"#))
                .collect();
            let record = if requests { format!(
                r#""request":{{"messages":[{}]}},"usage":{{"input":{},"output":1}}}}"#,
                history.join(","),
                said[of] * 10
            ) } else { format!(
                r#""role":"assistant","content":"{of}: {n}","usage":{{"fresh":{},"out":1}}}}"#,
                said[of] * 10
            ) };
            // One that names no session goes on with the one before.
            let goes_on = !names_it && together.lines().last().is_some_and(|last| {
                last.contains(&format!("\"{of}: "))
            });
            let session = if goes_on { String::new() } else { format!(r#""session":"s{of}","#) };
            let line = format!("{{{session}{record}\n");
            together += &line;
            own[of] += &line;
        }
        let together = all(format, &together);
        prop_assert_eq!(together.len(), said.iter().filter(|said| **said > 0).count());
        for (of, log) in own.iter().enumerate().filter(|(_, log)| !log.is_empty()) {
            let (session, alone) = (&together[&format!("s{of}")], read(format, log));
            prop_assert_eq!(items_of(session), items_of(&alone));
            prop_assert_eq!(session.context(), alone.context());
            prop_assert_eq!(session.requests().len(), alone.requests().len());
        }
    }
}

#[test]
fn what_a_record_does_not_say_of_its_session_holds_on() {
    let log = r#"{"session":"s1","model":"gpt-5","role":"user","content":"Hi."}
{"session":"s1","role":"assistant","content":"Hello.","usage":{"fresh":40,"out":2}}
"#;
    let entries = entries(format(RECORDS), log);
    let metas = entries
        .iter()
        .filter(|entry| matches!(entry.event, Event::Meta(_)));
    assert_eq!(metas.count(), 1);
    let model = entries.iter().find_map(|entry| match &entry.event {
        Event::Usage(usage) => Some(usage.model.as_deref()),
        _ => None,
    });
    assert_eq!(model, Some(Some("gpt-5")));
}

#[test]
fn records_are_read_as_the_mapping_says() {
    let session = read(format(RECORDS), LOG);
    assert_eq!(
        items_of(&session),
        [
            "container prompt : Be brief.",
            "user text : List the files.",
            "assistant thinking : ls will do",
            "assistant tool_call ls: ls .",
            "tool tool_result ls: a.rs b.rs",
            "assistant text : Two.",
        ]
    );
    assert_eq!(session.meta.id.as_deref(), Some("s1"));
    assert_eq!(
        (session.model(), session.project()),
        (Some("gpt-5"), "shop")
    );
    let prompts: Vec<_> = session
        .requests()
        .iter()
        .map(|request| (request.prompt, request.cached, request.output))
        .collect();
    assert_eq!(prompts, [(140, 100, Some(12)), (170, 150, Some(3))]);
    assert_eq!(session.context().known, 173);
    let skipped: Vec<_> = session.skipped.keys().map(|kind| &**kind).collect();
    assert_eq!(skipped, ["heartbeat"]);
    assert_eq!(session.unknown.get("robot message"), Some(&1));
    assert_eq!((session.unreadable, session.turns), (1, 1));
    let started = session.started_at.unwrap().to_string();
    assert_eq!(started, "2026-01-01T00:00:00Z");
}

#[test]
fn a_record_with_facts_alone_is_no_message() {
    let log = r#"{"session":"s1","cwd":"/home/ada/shop","model":"gpt-5"}
{"session":"s1","role":"user","content":"hello"}
{"session":"s1","content":"without a role"}
"#;
    let session = read(format(RECORDS), log);
    assert_eq!(
        (session.model(), session.project()),
        (Some("gpt-5"), "shop")
    );
    assert!(session.skipped.contains_key("facts about the session"));
    assert_eq!((session.items().len(), session.unreadable), (1, 1));
}

#[test]
fn a_call_that_is_a_record_has_its_arguments() {
    let keys = "call = \"/call\"\narguments = \"/input\"";
    let text = RECORDS.replace("call = \"/call\"", keys);
    let text = text.replace("[roles]", "[roles]\ncall = [\"tool_use\"]");
    let log = r#"{"session":"s1","role":"user","content":"List.","input":"not its"}
{"session":"s1","role":"tool_use","call":"t1","name":"ls","content":"as asked","input":{"path":"."}}
{"session":"s1","role":"tool","call":"t1","content":"a.rs"}
"#;
    assert_eq!(
        items_of(&read(format(&text), log)),
        [
            "user text : List.",
            "assistant tool_call ls: ls as asked .",
            "tool tool_result ls: a.rs",
        ]
    );
}

#[test]
fn a_branch_is_left_and_a_summary_takes_the_place_of_all() {
    let log = format!(
        "{LOG}{}\n{}\n",
        r#"{"session":"s1","role":"user","id":"g","parent":"a","content":"Count them."}"#,
        r#"{"session":"s1","role":"assistant","id":"h","parent":"g","content":"2"}"#,
    );
    let session = read(format(RECORDS), &log);
    assert_eq!(
        items_of(&session),
        [
            "container prompt : Be brief.",
            "user text : Count them.",
            "assistant text : 2"
        ]
    );
    let log = format!(
        "{LOG}{}\n{}\n",
        r#"{"session":"s1","role":"compaction","id":"g","parent":"e","content":"There are two."}"#,
        r#"{"session":"s1","role":"user","id":"h","parent":"g","content":"Go on."}"#,
    );
    let session = read(format(RECORDS), &log);
    assert_eq!(
        items_of(&session),
        ["container summary : There are two.", "user text : Go on."]
    );
    assert_eq!(session.resets().len(), 1);
    assert_eq!(format(RECORDS).reset_marks, ["\"compaction\""]);
}

#[test]
fn calls_and_results_are_parts_of_messages() {
    let log = r#"{"request":{"messages":[{"role":"user","content":"Look."}]},"response":{"message":{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}]}}}
{"request":{"messages":[{"role":"user","content":"Look."},{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"fn a"}]}]}]}}
"#;
    let session = read(format(REQUESTS), log);
    assert_eq!(
        items_of(&session),
        [
            "user text : Look.",
            "assistant text : I will.",
            "assistant tool_call read: read a",
            "tool tool_result read: fn a",
        ]
    );
    assert_eq!(session.turns, 1, "a result is no turn of the user's");
}

#[test]
fn facts_inside_of_a_list_keep_it_whole() {
    let list = |facts: &str| {
        let text = "shape = \"document\"\nmessages = \"/log\"\n".to_owned()
            + &RECORDS.replace("[session]", &format!("[session]\n{facts}"));
        format(&text).recognition.list
    };
    assert_eq!(list("title = \"/name\""), Some(ArrayName::Json("log")));
    assert_eq!(list("title = \"/log/0/name\""), None);
}

#[test]
fn a_document_is_a_list_of_records() {
    let text = "shape = \"document\"\nnames = \"chat-*.json\"\nmessages = \"/log\"\n".to_owned()
        + &RECORDS.replace(
            "has = [\"/role\", \"/session\"]",
            "has = [\"/session\", \"/log/0/role\"]",
        );
    let format = format(&text);
    let records: Vec<&str> = LOG.lines().take(6).collect();
    let document = format!(
        "{{\n\"session\":\"s9\",\"model\":\"m\",\n\"log\":[{}]}}",
        records.join(",\n")
    );
    let mut out = EventSink::new(&ByLength);
    format.decoder().read_document(&document, &mut out);
    // Given around its list first, it says the same.
    assert_eq!(format.recognition.list, Some(ArrayName::Json("log")));
    let mut decoder = format.decoder();
    let mut apart = EventSink::new(&ByLength);
    let around = document.replace(&records.join(",\n"), "");
    decoder.read_document(&around, &mut apart);
    for (line, record) in (1..).zip(&records) {
        let place = Place::of_line(line);
        apart.begin(place);
        decoder.read_line(record, &mut apart);
    }
    assert_eq!(apart.entries, out.entries);
    let mut session = Session::new("mine", Arc::default());
    out.entries
        .into_iter()
        .for_each(|entry| session.apply(entry));
    assert_eq!(session.meta.id.as_deref(), Some("s9"));
    assert_eq!(
        (session.requests().len(), session.context().known),
        (2, 173)
    );
    assert_eq!(session.requests()[1].place.line(), 6);
    assert!(format.recognise(document.as_bytes()));
    assert!(format.recognise(&document.as_bytes()[..100]));
    assert!(!format.recognise(b"{\"session\":1}"));
    assert_eq!(format.store(b""), Some(StoreKind::Document));
    let claim = |name: &str| format.claims(Path::new(name)).map(|claim| claim.store);
    assert_eq!(claim("/x/chat-1.json"), Some(StoreKind::Document));
    assert_eq!(claim("/x/other.json"), None);
}

#[test]
fn lines_are_recognised_by_what_they_must_have() {
    let format = format(RECORDS);
    assert!(format.recognise(LOG.as_bytes()));
    assert!(format.recognise(b"junk\n{\"role\":\"user\",\"session\":\"s\"}\n{\"ro"));
    for other in ["", "junk", "{\"role\":\"user\"}\n", "[{\"role\":1}]\n"] {
        assert!(!format.recognise(other.as_bytes()), "{other}");
    }
    assert_eq!(format.facts.mark, "`role` with `session`");
}

#[test]
fn numbers_that_cannot_be_true_report_nothing() {
    let log = r#"{"session":"s","role":"assistant","content":"x","usage":{"fresh":-5,"out":1e300}}
{"session":"s","role":"assistant","content":"y","usage":{"fresh":0,"out":7}}
"#;
    let session = read(format(RECORDS), log);
    assert_eq!((session.requests().len(), session.items().len()), (0, 2));
}

#[test]
fn usage_of_a_wrong_type_is_lost() {
    let lost = |usage: &str| {
        let log = format!(
            "{{\"session\":\"s\",\"role\":\"assistant\",\"content\":\"x\",\"usage\":{usage}}}\n"
        );
        let session = read(format(RECORDS), &log);
        assert_eq!(session.requests().len(), 0, "{usage}");
        let lost = session.lost_fields.get("usage").copied();
        (lost, session.unreadable_usage)
    };
    for wrong in ["true", "7", "\"many\"", "[9, 8]"] {
        assert_eq!(lost(wrong), (Some(1), 1), "{wrong}");
    }
    for none in ["null", "{}"] {
        assert_eq!(lost(none), (None, 0), "{none}");
    }
}

#[test]
fn usage_in_a_record_of_its_own_is_the_response_s_before_it() {
    let log = r#"{"session":"s","role":"user","content":"x"}
{"session":"s","role":"assistant","content":"y"}
{"session":"s","usage":{"fresh":50,"out":7}}
"#;
    let session = read(format(RECORDS), log);
    assert_eq!(session.context().known, 57);
    assert!(session.skipped.is_empty(), "{:?}", session.skipped);
    let answer = &session.items()[1];
    assert_eq!(answer.kind, Kind::Text);
    assert_eq!(answer.output_of, Some(session.requests()[0].key()));
}

#[test]
fn a_name_may_have_the_session_s_id_and_a_text_tells_a_log() {
    let format = format(PARTS);
    let id = |name: &str| format.claims(Path::new(name)).map(|claim| claim.id);
    assert_eq!(id("/x/run-7.jsonl"), Some(Some("7".to_owned())));
    assert_eq!(id("/x/last.jsonl"), Some(None));
    assert_eq!(id("/x/run-7.json"), None);
    assert!(format.recognise(b"{\"kind\":\"part-2\"}"));
    assert!(format.recognise(b"{ \"kind\": \"part-2\", \"content\": [\"cut"));
    assert!(!format.recognise(b"{\"kind\":\"whole\"}"));
    assert!(!format.recognise(b"{ \"kind\": \"whole\", \"content\": [\"part-"));
}

#[test]
fn usage_is_read_in_a_provider_s_words_or_as_the_agent_s_own() {
    let usage = |usage: &str| {
        let (all, _) = RECORDS.split_once("[usage]").unwrap();
        let text = format!("{all}[usage]\n{usage}\n")
            .replace("[message]", "[message]\nuser_begins = true");
        let log = r#"{"session":"s","role":"user","content":"Go."}
{"session":"s","role":"assistant","content":"ls","usage":{"prompt_tokens":90,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens":4}}
{"session":"s","role":"user","content":"a.rs"}
"#;
        read(format(&text), log)
    };
    let session = usage("report = \"/usage\"");
    let request = &session.requests()[0];
    assert_eq!(
        (request.prompt, request.cached, request.output),
        (90, 64, Some(4))
    );
    assert_eq!(session.context().known, 94);
    assert_eq!(items_of(&session)[2], "tool tool_result : a.rs");
    let own = "prompt = \"/usage/prompt_tokens\"\noutput = \"/usage/completion_tokens\"\nestimated = true";
    let context = usage(own).context();
    assert_eq!(context.known, 0);
    assert!((90..120).contains(&context.used), "{}", context.used);
}

/// Any JSON, with the keys of the mappings in it.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "tool",
        "system",
        "compaction",
        "s1",
        "a",
        "t1",
        "",
    ]);
    let leaf = prop_oneof![
        4 => word.prop_map(serde_json::Value::from),
        2 => any::<i64>().prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
    ];
    let key = prop::sample::select(vec![
        "role", "content", "session", "id", "parent", "calls", "function", "name", "usage",
        "fresh", "out", "input", "output", "request", "messages", "response", "message", "text",
        "at",
    ]);
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            3 => prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner.clone(), 0..6)
                .prop_map(serde_json::Value::from_iter),
            1 => prop::collection::vec(inner, 0..5).prop_map(serde_json::Value::from),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_makes_it_panic_and_sums_hold(
        lines in prop::collection::vec(json(), 0..12),
        requests in any::<bool>(),
    ) {
        let format = format(if requests { REQUESTS } else { RECORDS });
        let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
        format.recognise(log.as_bytes());
        for session in all(format, &log).values() {
            let context = session.context();
            prop_assert_eq!(context.known + context.estimated, context.used);
        }
    }
}
