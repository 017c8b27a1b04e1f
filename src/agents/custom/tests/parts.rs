//! Messages of several parts.

use super::*;

/// A log in which most of what a message holds is in its parts.
pub(super) const PARTS: &str = r#"
names = ["last.jsonl", "run-{*}.jsonl"]
has = [{ at = "/kind", is = ["part-*"] }]

[session]
model = "/model"
no_model = ["None", "*/hidden"]
window = "/most"

[record]
skip = [{ at = "/is", is = ["command_*"] }]

[message]
role = ["/meta", "/is"]
text = "/content"
apart = true
joined = true
thinking = "/content/*/thought"
hidden = "/content/*/signature"
images = "/content/*/image"
calls = "/content/*"
results = "/content/*"

[calls]
name = "/call"
arguments = "/with"

[results]
tool = "/of"
text = "/result/**"
state = "/state"

[roles]
container = ["true"]
clear = ["command_clear"]

[causes]
command_clear = "manual"

[usage]
input = "/usage/fresh"
cached = "/usage/read"
written = "/usage/written"
output = "/usage/out"
"#;

#[test]
fn parts_of_a_message_come_in_their_order() {
    let log = r#"{"kind":"part-1","is":"user","model":"None","most":9000,"content":["Look.",{"text":"At all."},{"image":"x"},{"text":7}]}
{"is":"assistant","model":"own/hidden","content":[{"thought":"Hm."},{"signature":"four"},{"text":"I do."},{"call":"ls","with":{"in":"."}}]}
{"is":"assistant","model":"gpt-5","content":{"text":"And wait."},"usage":{"fresh":10,"read":200,"written":30,"out":9}}
{"is":"user","content":[{"of":"ls","result":{"files":["a.rs",{"more":"b.rs"}],"count":2}},{"of":"cat","state":"cancelled"}]}
{"is":"user","meta":true,"content":"Be brief."}
{"is":"command_help"}
"#;
    let format = format(PARTS);
    let session = read(format, log);
    assert_eq!(
        items_of(&session),
        [
            "user text : Look.",
            "user text : At all.",
            "user text : [image]",
            "assistant thinking : Hm.",
            "assistant text : I do.",
            "assistant tool_call ls: ls in=.",
            "assistant text : And wait.",
            "tool tool_result ls: a.rs b.rs",
            "tool tool_result cat: cancelled",
            "container reminder : Be brief.",
        ]
    );
    let requests = session.requests();
    assert_eq!((requests.len(), requests[0].prompt), (1, 240));
    assert_eq!(requests[0].cached, 200);
    assert_eq!(session.model(), Some("gpt-5"));
    assert_eq!(session.meta.window, Some(9000));
    assert_eq!(session.lost_fields.get("text"), Some(&1));
    assert!(session.skipped.contains_key("command"));
    let cleared = format!("{log}{}\n", r#"{"is":"command_clear"}"#);
    let session = read(format, &cleared);
    assert_eq!((items_of(&session).len(), session.resets().len()), (0, 1));
    assert_eq!(session.resets()[0].cause.name(), "manual");
    assert_eq!(format.reset_marks, ["\"command_clear\""]);
    let again = read(format, "{\"is\":\"command_clear\"}\n");
    assert!(again.resets().is_empty());
}
