use super::*;
use proptest::prelude::*;

fn call(tool: &str, arguments: &str) -> String {
    written(Some(tool), arguments, 110).into_owned()
}

#[test]
fn a_call_is_written_as_a_person_would() {
    for (tool, arguments, shown) in [
        ("Read", r#"{"file_path":"src/db.rs"}"#, "src/db.rs"),
        (
            "Read",
            r#"{"file_path":"src/db.rs","offset":10,"limit":71}"#,
            "src/db.rs:10-80",
        ),
        (
            "Read",
            r#"{"file_path":"src/db.rs","limit":"80"}"#,
            "src/db.rs:1-80",
        ),
        (
            "view",
            r#"{"command":"view","path":"a.py","view_range":[10,-1]}"#,
            "view a.py:10-",
        ),
        (
            "view_file",
            r#"{"AbsolutePath":"/x/a.ts","StartLine":3,"EndLine":9}"#,
            "/x/a.ts:3-9",
        ),
        (
            "Edit",
            r#"{"replace_all":false,"file_path":"src/a.rs","old_string":"x \"y\""}"#,
            "src/a.rs",
        ),
        (
            "Bash",
            r#"{"command":"rg -n \"a b\" src","description":"Search"}"#,
            r#"rg -n "a b" src"#,
        ),
        (
            "shell",
            r#"{"command":["bash","-lc","rg -n packages src"],"workdir":"/x"}"#,
            "rg -n packages src",
        ),
        (
            "shell",
            r#"{"command":["git","commit","-m","a b"]}"#,
            "git commit -m 'a b'",
        ),
        ("local_shell", r#"["sh", "-c", "ls | wc -l"]"#, "ls | wc -l"),
        (
            "exec_command",
            r#"{"cmd":"bd list","yield_time_ms":1000}"#,
            "bd list",
        ),
        (
            "Grep",
            r#"{"pattern":"fn connect","path":"src/","output_mode":"content"}"#,
            "fn connect in src/",
        ),
        ("grep", r#"{"pattern":"fn","include":"*.rs"}"#, "fn in *.rs"),
        (
            "web_search",
            r#"{"query":"jiff timestamp"}"#,
            "jiff timestamp",
        ),
        (
            "WebFetch",
            r#"{"url":"https://a.b/c","prompt":"Which?"}"#,
            "https://a.b/c",
        ),
        (
            "Task",
            r#"{"description":"Find usages","prompt":"…","subagent_type":"Explore"}"#,
            "Explore: Find usages",
        ),
        (
            "read_many_files",
            r#"{"paths":["a.md","b.md"]}"#,
            "a.md, b.md",
        ),
        (
            "apply_patch",
            "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n*** Add File: b.md\n+y\n*** End Patch",
            "src/a.rs, b.md",
        ),
        (
            "apply_patch",
            r#"{"input":"*** Begin Patch\n*** Delete File: src/a.rs\n*** End Patch"}"#,
            "src/a.rs",
        ),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: n.rs\n+a\n*** End Patch"]}"#,
            "n.rs",
        ),
        (
            "mcp__docs__search",
            r#"{"query":"how to","limit":5,"filter":{"a":1},"empty":"","more":true}"#,
            r#"query="how to" limit=5 filter={…}"#,
        ),
        (
            "write_stdin",
            r#"{"session_id":3,"chars":""}"#,
            "session_id=3",
        ),
        ("TodoWrite", r#"{"todos":[{"content":"a"}]}"#, "todos=[…]"),
        ("list", "{}", ""),
        (
            "view_file",
            r#"{"AbsolutePath":"\"/x/a.ts\"","StartLine":"3"}"#,
            "/x/a.ts:3-",
        ),
        ("exec", "const x = 1;", "const x = 1;"),
        ("Bash", r#"{"command":"cut of"#, "cut of"),
        ("Bash", r#"{"command":"a \u003e b\ud83d"}"#, r"a > b\ud83d"),
    ] {
        assert_eq!(call(tool, arguments), shown, "{tool} {arguments}");
    }
}

#[test]
fn the_name_of_a_file_stays() {
    let path = format!(
        "/home/somebody/{}test/spotter_web/live/project_live_test.exs",
        "projects/".repeat(12)
    );
    let shown = call("Read", &format!(r#"{{"limit":9,"file_path":"{path}"}}"#));
    assert!(shown.starts_with('…') && shown.len() <= 110, "{shown}");
    assert!(
        shown.ends_with("/test/spotter_web/live/project_live_test.exs:1-9"),
        "{shown}"
    );
    let shown = call(
        "Grep",
        &format!(r#"{{"pattern":"{}","path":"{path}"}}"#, "long ".repeat(40)),
    );
    assert!(
        shown.starts_with("long ") && shown.ends_with("/project_live_test.exs"),
        "{shown}"
    );
    assert_eq!(
        shortened(&"x".repeat(40), 10),
        format!("…{}", "x".repeat(7))
    );
}

#[test]
fn arguments_after_a_large_one_are_not_looked_for() {
    let large = format!(
        r#"{{"content":"{}","file_path":"a.rs"}}"#,
        "x".repeat(99_999)
    );
    let shown = call("Write", &large);
    assert!(
        shown.starts_with("content=xxx") && shown.ends_with('…') && shown.len() < 60,
        "{shown}"
    );
}

proptest! {
    #[test]
    fn any_text_is_written(
        tool in prop::option::of("mcp__a__b|Read|Bash"),
        text in r#"[{\["]?([\[\]{}",:\\ a-z…漢0-9]|"path":|"command":|"pattern":|\*\*\* Begin Patch|\*\*\* Add File: ){0,60}"#,
        room in 0_usize..130,
    ) {
        written(tool.as_deref(), &text, room);
    }
}
