//! What makes tests slow is listed: those that start a process,
//! and those that go through all hand-written logs. A new one is added here, or does without.

use super::source::of_tests;
use std::collections::BTreeMap;

/// What starts the program as a process: the helpers of `tests/it/support`, and its path.
const STARTS: [&str; 5] = [
    " process(",
    "::process(",
    "CARGO_BIN_EXE_",
    ".program(&",
    "in_a_shell(",
];

/// The files whose tests start a process, and what only a process has.
const PROCESSES: [(&str, &str); 27] = [
    ("tests/it/bad_input.rs", "a limit of the size of files"),
    ("tests/it/ended.rs", "signals"),
    ("tests/it/export.rs", "a limit of the size of files"),
    ("tests/it/exported.rs", "a limit of open files"),
    (
        "tests/it/faults/files.rs",
        "standard input, pipes, locks, limits",
    ),
    ("tests/it/faults/follow.rs", "it is killed, limits"),
    ("tests/it/follow.rs", "it does not end, signals"),
    ("tests/it/handout.rs", "a limit of the size of files, pipes"),
    ("tests/it/hook.rs", "standard input, its exit code"),
    ("tests/it/hostile/messages.rs", "a closed standard error"),
    (
        "tests/it/hostile/pipes.rs",
        "a closed or full standard output",
    ),
    ("tests/it/hosts.rs", "it does not end, ssh"),
    ("tests/it/mcp.rs", "standard input, a working directory"),
    ("tests/it/metrics.rs", "it does not end, sockets, signals"),
    (
        "tests/it/metrics/requests.rs",
        "it does not end, sockets, signals",
    ),
    (
        "tests/it/paths.rs",
        "the folders of its environment, a working directory",
    ),
    ("tests/it/setup.rs", "the program under another name"),
    ("tests/it/statusline.rs", "standard input, many at once"),
    ("tests/it/support.rs", "the helpers"),
    ("tests/it/support/claude.rs", "the helpers"),
    ("tests/it/support/program.rs", "the helpers"),
    ("tests/it/transcripts.rs", "a shell and its pipes"),
    ("tests/pty/confined.rs", "a terminal"),
    ("tests/pty/hosts.rs", "a terminal"),
    ("tests/pty/life.rs", "a terminal"),
    ("tests/pty/signals.rs", "a terminal"),
    ("tests/pty/terminal.rs", "a terminal"),
];

/// How often the tests of a file go through the hand-written logs of all agents.
const READINGS: [(&str, usize); 23] = [
    ("src/agents/custom/tests/draft.rs", 1),
    ("src/agents/lib.rs", 1),
    ("src/ingest/bytes/text/tests.rs", 1),
    ("src/ingest/database/fixtures.rs", 1),
    ("src/ingest/index/summaries.rs", 1),
    ("src/ingest/log/fixtures.rs", 1),
    ("tests/it/audit.rs", 2),
    ("tests/it/damaged/logs.rs", 1),
    ("tests/it/disorder.rs", 1),
    ("tests/it/export.rs", 1),
    ("tests/it/faults/opened.rs", 2),
    ("tests/it/fixtures.rs", 4),
    ("tests/it/handout.rs", 1),
    ("tests/it/hostile/plant.rs", 1),
    ("tests/it/house.rs", 1),
    ("tests/it/json.rs", 2),
    ("tests/it/list.rs", 1),
    ("tests/it/mcp.rs", 1),
    ("tests/it/meant.rs", 1),
    ("tests/it/redact.rs", 1),
    ("tests/it/replay.rs", 1),
    ("tests/it/runs.rs", 1),
    ("tests/pty/confined.rs", 1),
];

/// The files with tests, but for this one.
fn others() -> impl Iterator<Item = (String, String)> {
    let tests = of_tests().into_iter();
    tests.filter(|(path, _)| path != "tests/it/house/budget.rs")
}

#[test]
fn tests_that_start_a_process_are_listed() {
    let mut found: Vec<String> = others()
        .filter(|(path, _)| path.starts_with("tests/"))
        .filter(|(_, code)| STARTS.iter().any(|start| code.contains(start)))
        .map(|(path, _)| path)
        .collect();
    found.sort();
    assert_eq!(found, PROCESSES.map(|(path, _)| path));
}

#[test]
fn tests_that_go_through_all_fixtures_are_listed() {
    let mut found = BTreeMap::new();
    for (path, code) in others() {
        let readings = readings(&code);
        if readings > 0 {
            found.insert(path, readings);
        }
    }
    let found: Vec<(&str, usize)> = found.iter().map(|(path, n)| (path.as_str(), *n)).collect();
    assert_eq!(found, READINGS);
}

/// How often this code names the folder of all hand-written logs, or all folders of agents in it.
fn readings(code: &str) -> usize {
    let code: String = code.split_whitespace().collect();
    let rest = code.split("fixtures\")").skip(1);
    let of_all =
        rest.filter(|rest| !rest.starts_with(".join(") || rest.starts_with(".join(format.id)"));
    of_all.count() + code.matches("fixtures\",\"*/").count()
}
