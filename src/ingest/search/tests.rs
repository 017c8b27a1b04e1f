use super::*;
use crate::bytes::lines::LONG_LINE;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::log::conversations::LogSessions;
use crate::log::reader::read_once;
use crate::testing::made::MadeLog;
use model::event::ByLength;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn sessions(log: &LogFile) -> LogSessions {
    read_once(log, &ByLength, &Arc::default()).unwrap()
}

fn matcher(pattern: &str) -> Matcher {
    Matcher::new(pattern, Syntax::Regex, Case::Smart).unwrap()
}

/// The items that match, and their lines.
fn found(log: &LogFile, pattern: &str) -> Vec<(ItemIx, Vec<String>)> {
    let matcher = matcher(pattern);
    let mut found = Vec::new();
    let sessions = sessions(log);
    let all = sessions
        .iter()
        .map(|(conversation, session)| (*conversation, session));
    each_match(log, all, &matcher, &|| true, &mut |hit| {
        let lines = hit.lines.lines.iter().map(|line| line.text.clone());
        found.push((hit.item, lines.collect()));
        ControlFlow::Continue(())
    })
    .unwrap();
    if !found.is_empty() {
        assert!(may_match(log, &matcher, &|| true).unwrap(), "{pattern}");
    }
    found
}

#[test]
fn what_is_escaped_in_a_log_is_found_as_it_is_meant() {
    let made = MadeLog::new(
        "{\"toy\":10}\n{\"say\":\"first\\nsecond \\u006eeedle \\\"quoted\\\"\"}\n{\"say\":\"none\"}\n\
         {\"side\":\"an aside\"}\n{\"say\":\"a\\tneedle\"}\n",
    );
    let log = made.log();
    let needles = found(&log, "needle");
    let lines: Vec<&str> = needles.iter().map(|(_, lines)| lines[0].as_str()).collect();
    assert_eq!(lines, ["second needle \"quoted\"", "a\tneedle"]);
    assert_eq!(
        found(&log, r"first\s+second")[0].1,
        ["first\nsecond needle \"quoted\""]
    );
    assert_eq!(found(&log, "aside")[0].0, 0, "of the sub-agent");
    assert!(found(&log, "say|nneedle").is_empty());
    assert!(!may_match(&log, &matcher("say|nneedle"), &|| true).unwrap());
}

#[test]
fn the_end_of_a_text_of_a_very_long_line_is_found() {
    let filler = "x".repeat(LONG_LINE + (1 << 20));
    let text = format!(
        "{{\"say\":\"short\"}}\n{{\"say\":\"begins\\n{filler}\\nthen a ne\\u0065dle\\nends\"}}\n{{\"say\":\"after\"}}\n"
    );
    let made = MadeLog::new(&text);
    let log = made.log();
    assert_eq!(
        found(&log, "needle"),
        [(1, vec!["then a needle".to_owned()])]
    );
    assert_eq!(found(&log, "^(ends|short|after)$").len(), 3);
    assert!(found(&log, "nothing like it").is_empty());
}

#[test]
fn it_ends_when_there_are_enough() {
    let made = MadeLog::new(&"{\"say\":\"needle\"}\n".repeat(100));
    let log = made.log();
    let sessions = sessions(&log);
    let all = sessions
        .iter()
        .map(|(conversation, session)| (*conversation, session));
    let mut given = 0;
    each_match(&log, all, &matcher("needle"), &|| true, &mut |_| {
        given += 1;
        if given < 7 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })
    .unwrap();
    assert_eq!(given, 7);
}

#[test]
fn it_ends_when_nobody_waits_for_it() {
    // More than one batch of records.
    let made = MadeLog::new(&"{\"say\":\"needle\"}\n".repeat(100_000));
    let log = made.log();
    let sessions = sessions(&log);
    let all = sessions
        .iter()
        .map(|(conversation, session)| (*conversation, session));
    let asked = Cell::new(0);
    let is_wanted = || {
        asked.set(asked.get() + 1);
        false
    };
    let mut given = 0;
    each_match(&log, all, &matcher("needle"), &is_wanted, &mut |_| {
        given += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(asked.get(), 1);
    assert!(given < 100_000);
    assert!(!may_match(&log, &matcher("nothing"), &is_wanted).unwrap());
    assert_eq!(asked.get(), 2);
}

/// The only log at a path.
fn log_at(path: &Path) -> LogFile {
    let roots = vec![SearchRoot::Given(path.to_path_buf())];
    let found = Scanner::new(roots, agents::ALL.to_vec(), |_| None).look();
    found.files.into_iter().next().expect("one log")
}

#[test]
fn compressed_logs_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    let plain = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/usage-record/log.jsonl");
    let bytes = fs::read(&plain).unwrap();
    let name = "rollout-2026-11-20T10-00-00-77777777-7777-7777-8777-777777777777.jsonl.zst";
    let compressed = compress_to_vec(bytes.as_slice(), CompressionLevel::Fastest);
    fs::write(dir.path().join(name), compressed).unwrap();
    let here = found(&log_at(dir.path()), "[a-z]");
    assert!(!here.is_empty());
    assert_eq!(here, found(&log_at(&plain), "[a-z]"));
}

proptest! {
    #[test]
    fn matches_are_within_their_lines(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["x", "é", " ", "\r", "\n", "\r\n", "needle", "\u{85}"]), 0..40,
        ),
        pattern in prop::sample::select(vec![
            "needle", "needle.*", ".*$", "^.", r"\s+", r"x\s", r"\r", r"(?s)x.+", "[^x]+", r"\n",
        ]),
    ) {
        let (text, matcher) = (pieces.concat(), matcher(pattern));
        for line in &matcher.lines(&text).lines {
            prop_assert!(!line.matches.is_empty(), "{line:?}");
            for found in &line.matches {
                let shown = line.text.get(found.clone());
                prop_assert!(shown.is_some_and(|shown| !shown.is_empty()), "{line:?}");
            }
        }
    }
}
