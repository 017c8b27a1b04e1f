//! `ctxgauge report` in the formats to share: `html` and `markdown`, and files by `-o`.

#[cfg(unix)]
use crate::support::in_a_shell;
use crate::support::{ctxgauge, manifest_folder, process};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

fn run(home: &Path, arguments: &[&str]) -> Output {
    ctxgauge(home).arg("report").args(arguments).output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn fixture() -> String {
    let path =
        manifest_folder().join("tests/fixtures/claude-code/begins_midway_then_compacts/log.jsonl");
    path.to_str().unwrap().to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten();
    let names = names.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "log.jsonl").collect();
    names.sort();
    names
}

/// A log in which these texts are a title, names of tools and of an MCP server, results, and the cause of a compaction.
fn log(path: &Path, texts: &[&str]) {
    let mut lines: Vec<String> = Vec::new();
    let mut parent = Value::Null;
    let mut push = |mut line: Value| {
        let number = lines.len();
        line["uuid"] = json!(format!("u{number}"));
        line["parentUuid"] = parent.clone();
        line["sessionId"] = json!(texts[0]);
        line["cwd"] = json!(format!("/{}", texts[0]));
        line["version"] = json!("2.1.330");
        line["timestamp"] = json!(format!("2026-11-22T10:00:{:02}Z", number % 60));
        parent = line["uuid"].clone();
        lines.push(line.to_string());
    };
    push(json!({ "type": "user", "message": { "role": "user", "content": texts[0] } }));
    for (ix, each) in texts.iter().enumerate() {
        let tool = [(*each).to_owned(), format!("mcp__{each}__{each}")][ix % 2].clone();
        push(
            json!({ "type": "assistant", "requestId": format!("r{ix}"), "message": {
            "id": format!("m{ix}"), "role": "assistant", "model": format!("claude-{each}"),
            "content": [{ "type": "tool_use", "id": format!("t{ix}"), "name": tool, "input": { "q": each } }],
            "usage": { "input_tokens": 10_000 + ix * 900, "output_tokens": 50 },
        } }),
        );
        push(
            json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{ix}"), "content": each.repeat(9) },
        ] } }),
        );
    }
    push(json!({ "type": "system", "subtype": "compact_boundary",
        "compactMetadata": { "trigger": texts[1], "preTokens": 19_000 } }));
    push(json!({ "type": texts[1], "x": 1 }));
    push(json!({ "type": "custom-title", "customTitle": texts[0] }));
    lines.push(format!("{{ {} broken", texts[0]));
    fs::write(path, lines.join("\n")).unwrap();
}

const HOSTILE: [&str; 6] = [
    "</bdi></title></style><h1>x</h1>",
    "<script>alert(1)</script>",
    "| a | b |\n|---|---|\n",
    "``` \n# heading\n```",
    "[link](javascript:x) \\| <https://x.example> \"' &lt;",
    "\u{202e}\u{1b}[31m",
];

#[test]
fn a_log_that_imitates_markup_is_shown_as_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    log(&path, &HOSTILE);
    let path = path.to_str().unwrap();
    let page = text(&run(dir.path(), &[path, "--format", "html", "--texts"]).stdout);
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    for what in ["<script", "<h1>x", "javascript:x\"", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(what), "{what}: {page}");
    }
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
    let tags = [
        "table", "tr", "td", "bdi", "section", "svg", "div", "span", "p",
    ];
    for tag in tags {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let opened = page
            .match_indices(&open)
            .filter(|(at, _)| page[at + open.len()..].starts_with([' ', '>']));
        assert_eq!(opened.count(), page.matches(&close).count(), "{tag}");
    }
    let markdown = text(&run(dir.path(), &[path, "--format", "markdown", "--texts"]).stdout);
    let headings = markdown.lines().filter(|line| line.starts_with("# "));
    assert_eq!(headings.count(), 1, "{markdown}");
    let mut columns = None;
    for line in markdown.lines() {
        let is_row = line.starts_with('|');
        let count = line.matches('|').count();
        assert!(!is_row || *columns.get_or_insert(count) == count, "{line}");
        columns = columns.filter(|_| is_row);
    }
}

#[test]
fn nothing_of_a_log_is_in_what_is_handed_on_unless_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let secrets = [
        "Жщэюя цфхъ",
        "Ђѓљњ ћќўџ",
        "Ωψχφυ τσρπο",
        "ßüöäÄÖ ÜéèêÉ",
        "漢字仮名交文",
        "אבגדה וזחטי",
    ];
    log(&path, &secrets);
    let path = path.to_str().unwrap();
    let shown = text(&run(dir.path(), &[path, "--format", "html", "--texts"]).stdout);
    // Each is a text that could be shown.
    for secret in secrets {
        assert!(shown.contains(secret), "{secret}");
    }
    let options: [&[&str]; 4] = [
        &["--format", "html"],
        &["--format", "markdown"],
        &["--format", "html", "--redact"],
        &["--format", "markdown", "--ascii"],
    ];
    for option in options {
        let out = text(&run(dir.path(), &[&[path], option].concat()).stdout);
        assert!(
            out.contains("eft out: ") && out.contains(" texts, "),
            "{out}"
        );
        for secret in secrets {
            let chars: Vec<char> = secret.chars().filter(|c| *c != ' ').collect();
            for part in chars.windows(4) {
                let part: String = part.iter().collect();
                assert!(!out.contains(&part), "{option:?}: {part} in {out}");
            }
        }
        assert!(!out.contains(dir.path().to_str().unwrap()), "{out}");
    }
}

#[test]
fn every_fixture_can_be_handed_on() {
    let home = tempfile::tempdir().unwrap();
    let fixtures = manifest_folder().join("tests/fixtures");
    let mut logs: Vec<PathBuf> = Vec::new();
    for agent in fs::read_dir(fixtures).unwrap().flatten() {
        // Of each agent some: the formats do not depend on them.
        let cases = fs::read_dir(agent.path()).unwrap().flatten();
        let found = cases.map(|case| case.path().join("log.jsonl"));
        logs.extend(found.filter(|log| log.exists()).take(3));
    }
    assert!(logs.len() > 30, "{}", logs.len());
    for log in &logs {
        let path = log.to_str().unwrap();
        if !run(home.path(), &[path]).status.success() {
            continue;
        }
        for format in ["html", "markdown"] {
            let output = run(home.path(), &[path, "--format", format]);
            assert!(output.status.success(), "{path}: {}", text(&output.stderr));
            let out = text(&output.stdout);
            assert!(out.contains("How the numbers are known"), "{path}");
            assert!(
                !out.contains("NaN") && !out.contains("inf%"),
                "{path}: {out}"
            );
        }
    }
}

#[test]
fn the_name_of_the_file_is_its_format_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let log = fixture();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (name, begins) in [
        ("a.html", "<!DOCTYPE html>"),
        ("a.md", "# "),
        ("a.json", "{\"schema\":\"ctxgauge.report/1\""),
        ("a.txt", "claude-code · "),
    ] {
        let path = file(name);
        let output = run(dir.path(), &[&log, "-o", &path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.starts_with(begins), "{written}");
        let again = run(dir.path(), &[&log, "-o", &path]);
        assert_eq!(again.status.code(), Some(1));
        assert!(text(&again.stderr).contains("exists already; --force"));
        fs::write(&path, "mine").unwrap();
        assert!(
            run(dir.path(), &[&log, "-o", &path, "--force"])
                .status
                .success()
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), written);
    }
    let output = run(dir.path(), &[&log, "-o", &file("a.pdf")]);
    assert_eq!(output.status.code(), Some(2));
    let why = text(&output.stderr);
    assert!(
        why.contains("no format ends in '.pdf'; the known ends are .txt"),
        "{why}"
    );
    let missing = file("no\nsuch/a.html");
    let output = run(dir.path(), &[&log, "-o", &missing]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr).matches("ctxgauge:").count(), 1);
    assert_eq!(names(dir.path()), ["a.html", "a.json", "a.md", "a.txt"]);
}

#[test]
fn a_log_is_not_its_own_report() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    fs::copy(fixture(), &path).unwrap();
    let before = fs::read(&path).unwrap();
    let name = path.to_str().unwrap();
    let output = run(dir.path(), &[name, "-o", name, "--force"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_half_of_a_report() {
    let dir = tempfile::tempdir().unwrap();
    for format in ["html", "markdown", "json"] {
        let file = dir.path().join("out");
        let log = fixture();
        let mut report = process(dir.path());
        report.args(["report", &log, "--format", format, "-o"]);
        report.arg(&file);
        // 2 blocks of 512 or 1,024 bytes.
        let mut limited = in_a_shell("ulimit -f 2; exec \"$0\" \"$@\"", &report);
        let output = limited.output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{format}: {error}");
        assert!(
            error.contains("cannot write '") && error.contains("out'"),
            "{error}"
        );
        assert_eq!(names(dir.path()), Vec::<String>::new(), "{format}");
    }
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    for format in ["html", "markdown"] {
        let log = fixture();
        let mut report = process(dir.path());
        let mut child = report
            .args(["report", &log, "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut error = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut error)
            .unwrap();
        assert!(child.wait().unwrap().success(), "{error}");
        assert_eq!(error, "");
    }
}
