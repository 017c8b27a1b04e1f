use super::*;
use crate::Role;
use crate::event::{Event, Meta, NewItem, Size};
use crate::testing::{Log, new_item};

fn piece(id: &str, tool: Option<&str>, kind: Kind, preview: &str) -> NewItem {
    NewItem {
        tool: tool.map(Into::into),
        call: Some(Key::of(id)),
        preview: preview.into(),
        ..new_item(Role::Assistant, kind, 10)
    }
}

#[test]
fn a_result_is_named_by_the_first_piece_of_its_call_that_has_arguments() {
    let call = |id, tool, preview| piece(id, Some(tool), Kind::ToolCall, preview);
    let log = Log::new()
        .node("1", vec![call("a", "Read", "Read src/db.rs")])
        .node("2", vec![call("b", "Shell", "Shell")])
        .node("3", vec![call("a", "Read", "\", \"limit\": 5}")])
        .node("4", vec![call("b", "Shell", "cargo test")])
        .node("5", vec![piece("a", None, Kind::ToolResult, "1 use std")])
        .node("6", vec![piece("b", None, Kind::ToolResult, "ok")])
        .node("7", vec![piece("c", None, Kind::ToolResult, "alone")]);
    let (all, one) = (Calls::of(&log.session), Calls::of_items(&log.session, [4]));
    let item = |ix| &log.session.items()[ix];
    let names =
        |calls: &Calls| [0, 4, 5, 6].map(|ix| calls.name(&log.session, item(ix)).into_owned());
    assert_eq!(
        names(&all),
        ["src/db.rs", "src/db.rs", "cargo test", "alone"]
    );
    assert_eq!(names(&one), ["src/db.rs", "src/db.rs", "ok", "alone"]);
    let arguments = [0, 4, 6, 99].map(|ix| all.arguments_at(&log.session, ix));
    let arguments = arguments.map(|found| found.unwrap_or_default().into_owned());
    assert_eq!(arguments, ["src/db.rs", "src/db.rs", "", ""]);
}

#[test]
fn paths_below_the_session_s_folder_are_relative() {
    let log = Log::new().event(Event::Meta(Box::new(Meta {
        cwd: Some("/home/shop".into()),
        ..Meta::default()
    })));
    for (text, shown) in [
        ("/home/shop/src/db.rs:1-9", "src/db.rs:1-9"),
        ("fn in /home/shop/src", "fn in src"),
        ("diff /home/shop/a /home/shop/b", "diff a b"),
        ("cat '/home/shop/a b'", "cat 'a b'"),
        ("/old/home/shop/a", "/old/home/shop/a"),
        ("/home/shopping/a", "/home/shopping/a"),
        ("cd /home/shop && ls", "cd /home/shop && ls"),
        ("ls /home/shop/", "ls /home/shop/"),
    ] {
        assert_eq!(relative(&log.session, text), shown);
    }
}

#[test]
fn hidden_content_has_a_note_and_empty_content_has_none() {
    let item = |opaque, kind| NewItem {
        size: Size {
            opaque,
            ..Size::default()
        },
        ..new_item(Role::Assistant, kind, 0)
    };
    let items = vec![item(900, Kind::Thinking), item(0, Kind::ToolResult)];
    let log = Log::new().node("1", items);
    let previews = [0, 1].map(|ix: usize| preview(&log.session.items()[ix]));
    assert_eq!(previews, [NOT_LOGGED, ""]);
}
