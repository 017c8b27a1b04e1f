//! What people come for, each with the keys a newcomer would press.

use crate::conversation::{failing_tests, home};
use crate::monitor::Monitor;
use crate::support::ctxgauge;
use serde_json::Value;
use std::fs;
use std::path::Path;

const DOWN: &str = "↓";
const ENTER: &str = "⏎";
const ESCAPE: &str = "⎋";

/// The sessions as they are listed at first.
const RECENT: [&str; 5] = [
    "pi notes",
    "codex gateway",
    "claude ledger",
    "claude ledger",
    "gemini —",
];

/// The monitor on a home, once all its gauges stand.
fn open(home: &Path, size: (u16, u16)) -> Monitor {
    let mut monitor = Monitor::open(home, &["--fresh"], size);
    monitor.wait_for("all sessions", |s| {
        s.contains("5 sessions, 3 live") && are_recent(&listed(s))
    });
    monitor
}

/// Opens the ledger's session, the third of the list.
fn open_ledger(monitor: &mut Monitor) {
    for key in [DOWN, DOWN] {
        monitor.press(key);
    }
    monitor.wait_for("the ledger selected", |s| {
        s.lines()
            .any(|line| line.starts_with('▌') && line.contains(" led"))
    });
    monitor.press(ENTER);
    wait_for_ledger(monitor);
}

/// Waits until the ledger's log is read to its beginning, and counted.
fn wait_for_ledger(monitor: &mut Monitor) {
    monitor.wait_for("its items", |s| {
        s.contains("14.9k ══") && !s.contains("reading")
    });
}

/// The list's sessions, by agent and project.
fn listed(screen: &str) -> Vec<String> {
    let below = screen.lines().skip_while(|line| !line.contains("CONTEXT"));
    let rows = below.take_while(|line| !line.contains("──"));
    let rows = rows.filter(|line| line.contains('%'));
    let words = |row: &str| -> Vec<String> {
        let row = row.trim_start_matches(['▌', '·', ' ']);
        row.split_whitespace().take(2).map(str::to_owned).collect()
    };
    rows.map(|row| words(row).join(" ")).collect()
}

/// Whether these are the sessions as they are listed at first; a narrow screen cuts their names.
fn are_recent(listed: &[String]) -> bool {
    // Without a column for titles, a session without a project has its name there.
    let is_it = |(row, name): (&String, &str)| {
        name.starts_with(row.trim_end_matches('…'))
            || (row, name) == (&"gemini s-1".to_owned(), "gemini —")
    };
    listed.len() == RECENT.len() && listed.iter().zip(RECENT).all(is_it)
}

/// The number before or after a word.
fn number(screen: &str, before: &str, after: &str) -> u64 {
    let found = screen.split(before).skip(1).find_map(|rest| {
        let digits = rest.split_once(after)?.0;
        digits.trim().parse().ok()
    });
    found.unwrap_or_else(|| panic!("no number between '{before}' and '{after}':\n{screen}"))
}

/// How full the context is, in percent of its trigger, as the session's screen has it.
fn percent_of(screen: &str, trigger: &str) -> u64 {
    number(screen, " · ", &format!("% of {trigger}"))
}

/// The request that a replay stands at.
fn request(screen: &str) -> u64 {
    if screen.contains("before #1 of ") {
        return 0;
    }
    number(screen, "after #", " of ")
}

#[test]
fn the_largest_result_in_the_context_is_read_with_a_few_keys() {
    for size in [(120, 40), (80, 24), (40, 12)] {
        let home = home();
        let mut monitor = open(home.path(), size);
        open_ledger(&mut monitor);
        monitor.press(ENTER);
        // Four keys from the start.
        let screen = monitor.wait_for_text("1  test import::case_1 ... ok (0.04 s)");
        assert!(screen.contains("14.9k ══ 9% · in the context"), "{screen}");
        monitor.press("G");
        monitor.wait_for_text("901  test result: FAILED.");
    }
}

#[test]
fn the_last_compaction_tells_what_it_dropped() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    open_ledger(&mut monitor);
    monitor.press("[");
    // The state is that right after it: all of the epoch's tool results are gone.
    let screen = monitor.wait_for("the compaction", |s| {
        s.contains("■") && s.contains("after #") && !s.contains("14.9k ══")
    });
    assert!(screen.contains("  compaction "), "{screen}");
    let here = request(&screen);
    monitor.press("3");
    let screen = monitor.wait_for_text("auto 171.1k");
    let list: Vec<&str> = screen
        .lines()
        .skip_while(|l| !l.contains("WHEN, CAUSE"))
        .collect();
    assert!(
        list[1].starts_with('▌') && list[1].contains("→ 14.1k"),
        "{screen}"
    );
    assert!(
        list[2].contains("removed") && list[2].contains("74 items"),
        "{screen}"
    );
    assert!(list[3].contains("24.3k ══ T Bash"), "{screen}");

    // What it dropped last can still be read.
    for key in [DOWN, DOWN, ENTER] {
        monitor.press(key);
    }
    let screen = monitor.wait_for_text("1  +    rows.push(Row::from(field_1));");
    assert!(screen.contains("left: compaction"), "{screen}");
    monitor.press(ESCAPE);
    monitor.wait_for_text("auto 171.1k");
    monitor.press("[");
    let screen = monitor.wait_for("the compaction before", |s| {
        s.contains("after #") && request(s) < here
    });
    assert!(screen.contains("■"), "{screen}");
}

#[test]
fn a_replay_runs_from_the_beginning_to_the_end() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    open_ledger(&mut monitor);
    // Without the first line: it tells how long ago.
    let state = |screen: &str| -> Vec<String> {
        let rows = screen.lines().skip(1).take(14);
        rows.map(|row| row.trim_end().to_owned()).collect()
    };
    // Counted: before that, what came since the last report is guessed from its length.
    let live = monitor.wait_for("its items, counted", |s| {
        s.contains("· 2 compactions") && s.contains("known + 17 ")
    });
    let live = state(&live);
    // Slowly at first: what is on screen stays there.
    monitor.press("----r");
    let screen = monitor.wait_for_text("▶ 1×");
    assert!(
        request(&screen) < 10 && !screen.contains("2 compactions"),
        "{screen}"
    );
    monitor.press("]");
    monitor.wait_for("a moment on the way", |s| {
        s.contains("1 compaction") && s.contains("■ 1×") && request(s) > 30
    });
    monitor.press("+++++++ ");
    monitor.play_until("the end, which is live", |s| {
        state(s) == live && !s.contains("1000×")
    });
    // And again, paused.
    monitor.press("------- ");
    monitor.wait_for_text("▶ 1×");
    monitor.press(" ");
    monitor.wait_for_text("■ 1×");
}

#[test]
fn a_log_without_reports_and_times_is_replayed_record_by_record() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".cursor/projects/shop/agent-transcripts");
    fs::create_dir_all(&folder).unwrap();
    let log = include_str!("../fixtures/cursor/query_in_tags/log.jsonl");
    fs::write(folder.join("abc.jsonl"), log).unwrap();
    let mut monitor = Monitor::open(home.path(), &["--fresh"], (120, 40));
    monitor.wait_for_text("▌○ cursor");
    monitor.press(ENTER);
    monitor.wait_for("its items, counted", |s| {
        s.contains("Rename it then.") && s.contains("~178")
    });
    monitor.press("----r");
    let screen = monitor.play_until("its second record", |s| s.contains("record 2 of 4"));
    assert!(screen.contains("▶ 1×") && !screen.contains("Rename it then."));
    monitor.press(" ");
    monitor.wait_for_text("■ 1×");
    monitor.press("→→");
    monitor.wait_for("its end", |s| {
        s.contains("Rename it then.") && !s.contains("of 4")
    });
    monitor.press("←");
    monitor.wait_for_text("record 3 of 4");
}

#[test]
fn one_tool_s_items_are_listed_alone() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    open_ledger(&mut monitor);
    let tools = |screen: &str| -> Vec<String> {
        let below = screen.lines().skip_while(|line| !line.contains("TOKENS"));
        let rows = below.skip(1).take_while(|line| !line.contains("Enter "));
        let rows = rows.filter(|row| !row.trim().is_empty());
        rows.map(|row| row.chars().skip(40).take(8).collect::<String>())
            .map(|tool| tool.trim().to_owned())
            .collect()
    };
    let screen = monitor.text();
    assert!(tools(&screen).iter().any(|tool| tool == "Read"), "{screen}");
    monitor.press("2");
    let screen = monitor.wait_for_text("ALL NOW");
    assert!(
        screen
            .lines()
            .any(|row| row.starts_with('▌') && row.trim_end().ends_with("Read")),
        "{screen}"
    );
    monitor.press(DOWN);
    monitor.press(ENTER);
    let screen = monitor.wait_for("one tool alone", |s| {
        s.contains("/tool:Bash") && s.contains("14.9k ══")
    });
    assert_eq!(tools(&screen), ["Bash"; 4], "{screen}");
    // Back to the tools, where it was opened.
    monitor.press(ESCAPE);
    monitor.wait_for_text("ALL NOW");
    monitor.press("1");
    monitor.wait_for_text("40 in context");
    // By typing, too.
    monitor.press("/tool:Grep");
    let screen = monitor.wait_for("what is typed", |s| {
        s.contains("/tool:Grep") && !s.contains("14.9k ══")
    });
    assert_eq!(tools(&screen), ["Grep"; 2], "{screen}");
}

#[test]
fn a_session_is_counted_in_the_list_before_it_is_opened() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    let roles = |screen: &str| {
        let mut lines = screen.lines();
        let line = lines.find(|line| line.starts_with(" S ") && line.contains("largest"));
        line.unwrap_or_default().to_owned()
    };
    for key in [DOWN, DOWN] {
        monitor.press(key);
    }
    let provisional = monitor.wait_for("the ledger's roles", |s| roles(s).contains("T ~74k"));
    assert!(!provisional.contains("counting"), "{provisional}");
    let settled = monitor.play_until("what is counted", |s| !roles(s).contains('~'));
    assert!(roles(&settled).contains("T 74k"), "{settled}");
    // The first frame has the same numbers.
    monitor.press(ENTER);
    let opened = monitor.text();
    assert!(opened.contains("14.9k ══"), "{opened}");
    assert!(!opened.contains("counting"), "{opened}");
}

#[test]
fn another_window_changes_the_percent() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    // The notes: their trigger follows from the window.
    monitor.press(ENTER);
    // While its log is read, a percentage may be of another trigger.
    let screen = monitor.wait_for("its window", |s| {
        s.contains("window 200k (model table)") && !s.contains("reading")
    });
    let before = percent_of(&screen, "184k trigger");
    monitor.press("w400k");
    monitor.press(ENTER);
    let screen = monitor.wait_for_text("window 400k (set here)");
    let after = percent_of(&screen, "384k trigger");
    assert_eq!((before, after), (24, 12), "{screen}");
    monitor.press("w");
    monitor.press(ENTER);
    let screen = monitor.wait_for_text("window 200k (model table)");
    assert_eq!(percent_of(&screen, "184k trigger"), before);
}

#[test]
fn the_forecast_is_that_of_the_report() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    let report = ctxgauge(home.path())
        .args(["report", "--json"])
        .arg(home.path().join(".claude"))
        .output();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let left = &report["compaction"]["requests_left"];
    let band = format!("{} ({}–{})", left["p50"], left["p10"], left["p90"]);
    monitor.wait_for("the forecast in the list", |s| {
        let row = s.lines().find(|row| row.contains("· claude"));
        row.is_some_and(|row| row.contains(&band))
    });
    open_ledger(&mut monitor);
    let said = format!(
        "compacts in about {} requests ({}–{})",
        left["p50"], left["p10"], left["p90"]
    );
    monitor.wait_for_text(&said);
}

/// RFC 4648, section 4, without padding.
fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0, 0_u32);
    for digit in text.trim_end_matches('=').chars() {
        held = held << 6 | u32::try_from(DIGITS.find(digit).unwrap()).unwrap();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}

#[test]
fn a_text_is_searched_and_copied() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    open_ledger(&mut monitor);
    monitor.press(ENTER);
    monitor.wait_for_text("1  test import::case_1 ");

    monitor.press("/case_77");
    monitor.press(ENTER);
    let screen = monitor.wait_for_text("'case_77' 1 of 11");
    assert!(screen.contains("77  test import::case_77 ..."), "{screen}");
    monitor.press("n");
    let screen = monitor.wait_for_text("'case_77' 2 of 11");
    assert!(
        screen.contains("770  test import::case_770 ..."),
        "{screen}"
    );

    monitor.press("y");
    let text = failing_tests();
    let first = text.lines().next().unwrap();
    monitor.wait_for_text(&format!("sent to the terminal's clipboard: {first}"));
    let bytes = String::from_utf8_lossy(&monitor.bytes()).into_owned();
    let (_, rest) = bytes.split_once("\x1b]52;c;").unwrap();
    let (copied, _) = rest.split_once('\x07').unwrap();
    assert!(
        from_base64(copied) == text.as_bytes(),
        "another text was copied"
    );

    monitor.press(ESCAPE);
    monitor.wait_for_text("40 in context");
}

#[test]
fn sessions_are_grouped_hidden_and_sorted() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    // The widest forecast keeps its distance.
    assert!(monitor.text().contains("512k "), "{}", monitor.text());
    monitor.press("pp⏎");
    monitor.wait_for_text("▾ ledger  2 sessions, 1 live");
    monitor.press("i");
    let screen = monitor.wait_for_text("▾ ledger  1 session, 1 live");
    assert!(!screen.contains("gemini"), "{screen}");
    monitor.press("ppp⏎");
    monitor.wait_for("the live ones alone", |s| {
        listed(s) == RECENT[..3] && !s.contains("1 session,")
    });
    monitor.press("i");
    monitor.wait_for("all of them", |s| listed(s) == RECENT);

    monitor.click("HEADROOM");
    let nearest = [
        "codex gateway",
        "claude ledger",
        "claude ledger",
        "pi notes",
        "gemini —",
    ];
    monitor.wait_for("the nearest first", |s| {
        s.contains("sort headroom") && listed(s) == nearest
    });
    monitor.click("HEADROOM");
    let farthest: Vec<&str> = nearest.into_iter().rev().collect();
    monitor.wait_for("the farthest first", |s| listed(s) == farthest);
}

#[test]
fn the_mouse_finds_tabs_rows_and_moments() {
    let home = home();
    let mut monitor = open(home.path(), (120, 40));
    // A click selects, a second one opens.
    monitor.click("claude");
    monitor.wait_for("the row selected", |s| s.contains("▌· claude"));
    monitor.click("claude");
    wait_for_ledger(&mut monitor);
    monitor.click("2 tools");
    monitor.wait_for_text("ALL NOW");

    let (column, row) = monitor.place("200k│");
    let at = |request: u16| (column + 5 + request, row + 2);
    monitor.drag(at(30), &[at(20), at(10)]);
    let screen = monitor.wait_for_text("■ 30×");
    let there = request(&monitor.wait_for("the moment", |s| s.contains("■") && request(s) < 30));
    assert!(there > 0, "{screen}");
    monitor.drag(at(10), &[at(9), at(2)]);
    monitor.wait_for("an earlier moment", |s| {
        s.contains("■") && request(s) < there
    });
    monitor.click("l live");
    monitor.wait_for("the end", |s| {
        !s.contains("■ 30×") && s.contains("2 compactions")
    });
}

#[test]
fn a_key_takes_the_next_theme() {
    let home = home();
    let mut monitor = open(home.path(), (80, 24));
    let here = (12, 40);
    assert_eq!(monitor.background(here), vt100::Color::Default);
    monitor.press("T");
    monitor.wait_for_text("theme: dark");
    let dark = monitor.background(here);
    assert_ne!(dark, vt100::Color::Default);
    monitor.press("T");
    monitor.wait_for_text("theme: light");
    assert_ne!(monitor.background(here), dark);
}

#[test]
fn the_help_is_read_to_its_end() {
    let home = home();
    let mut monitor = open(home.path(), (80, 24));
    open_ledger(&mut monitor);
    monitor.press("?");
    let screen = monitor.wait_for_text("signs: session");
    assert!(screen.contains("derived: the rest"), "{screen}");
    monitor.press("?");
    let screen = monitor.wait_for_text("more below");
    assert!(
        screen.contains("open: the item's text") && !screen.contains("suspend (fg"),
        "{screen}"
    );
    monitor.press("⇟⇟⇟");
    let screen = monitor.wait_for("its end", |s| {
        s.contains("suspend (fg") && s.contains("more above")
    });
    assert!(!screen.contains("more below"), "{screen}");
    monitor.press(ESCAPE);
    monitor.wait_for_text("14.9k ══");
}
