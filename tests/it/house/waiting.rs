//! No test depends on how fast the machine is: none waits for a span of time, and none asserts that something
//! happened, or did not, within one. What a test awaits it waits for with `wait_for`, which has one deadline for all;
//! what depends on the time is given the time.

use super::source::of_tests;

/// What a test does not do.
const FORBIDDEN: [(&str, &str); 3] = [
    ("thread::sleep", "wait for what is awaited: `wait_for`"),
    ("Instant::now", "give the time, from `some_time` on"),
    (
        "recv_timeout",
        "look with `try_recv` in `wait_for`, which has a deadline",
    ),
];
/// What no test presses, and what instead.
const ESCAPE: (&str, &str) = (
    "\"\\x1b\"",
    "an escape and the key after it may be read as one key: send it as `\"\\x1b[27u\"`",
);

/// The files that do it, and why they may.
const MAY: [(&str, &str); 5] = [
    ("src/files/waiting.rs", "it is how tests wait"),
    (
        "src/ingest/testing.rs",
        "`some_time`, the time that tests go on from",
    ),
    (
        "src/report/follow/tests.rs",
        "`some_time`, the time that tests go on from",
    ),
    (
        "src/tui/runtime/pacer.rs",
        "times to go on from; nothing waits",
    ),
    (
        "src/tui/runtime/state.rs",
        "times to go on from; nothing waits",
    ),
];

#[test]
fn no_test_depends_on_how_fast_the_machine_is() {
    let mut listed: Vec<&str> = MAY.iter().map(|(path, _)| *path).collect();
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for (path, code) in of_tests() {
        // This file names all of it.
        if path.ends_with("house/waiting.rs") {
            continue;
        }
        let pressed = path.starts_with("tests/").then_some(ESCAPE);
        let forbidden = FORBIDDEN.into_iter().chain(pressed);
        let mut does = forbidden.filter(|(what, _)| code.contains(what)).peekable();
        if does.peek().is_some() && listed.contains(&&*path) {
            used.push(path);
        } else {
            wrong.extend(does.map(|(what, instead)| format!("{path}: {what}: {instead}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    listed.retain(|path| !used.iter().any(|used| used == path));
    assert!(listed.is_empty(), "take them off the list: {listed:#?}");
}
