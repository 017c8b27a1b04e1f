use super::*;
use crate::cost::texts::TextFacts;
use crate::event::{Key, NewItem};
use crate::testing::{Log, new_item};
use crate::{Kind, Role};
use jiff::Timestamp;

/// The texts that were seen of a log whose items have these texts.
fn seen(log: &Log, text: impl Fn(ItemIx) -> String) -> Texts {
    let mut texts = Texts::default();
    for (ix, item) in log.session.items().iter().enumerate() {
        texts.add(item.place, &item.logged, &text(ix));
    }
    texts
}

fn found(log: &Log, texts: &Texts, kind: FindingKind) -> Vec<(String, u64)> {
    let found = SessionFindings::of(&log.session, texts)
        .findings
        .into_iter();
    let found = found.filter(|finding| finding.kind == kind);
    found
        .map(|finding| (finding.about.into(), finding.count))
        .collect()
}

/// Six lines that are long enough to be compared.
fn lines(of: &str) -> String {
    (0..6)
        .map(|n| format!("{n}\tthe line {n} of the file {of}\n"))
        .collect()
}

#[test]
fn a_large_result_is_oversized_if_it_was_cut_or_has_a_long_line() {
    let log = Log::new()
        .result("a", "Bash", 5_000)
        .result("b", "Bash", 5_001)
        .result("c", "Read", 5_002)
        .result("d", "mcp__web__page", 5_003)
        .result("e", "Grep", 1_000)
        .report(21_100)
        .report(21_200);
    let long = "x".repeat(1_500);
    let with = |text: &str| {
        let texts = seen(&log, |_| text.to_owned());
        found(&log, &texts, FindingKind::Oversized)
    };
    let both = [("Bash".to_owned(), 2), ("mcp__web__page".to_owned(), 1)];
    let sorted = |text: &str| {
        let mut all = with(text);
        all.sort();
        all
    };
    assert_eq!(sorted(&long), both);
    assert_eq!(sorted("… 812 tokens truncated …"), both);
    assert!(sorted("no tokens truncated").is_empty());
    assert!(sorted(&"a line\n".repeat(900)).is_empty());
}

#[test]
fn a_result_repeats_what_is_in_the_context_and_not_what_has_left_it() {
    let read = |log: Log, key: &str, tokens| {
        let item = NewItem {
            tool: Some("Read".into()),
            call: Some(Key::of(key)),
            ..new_item(Role::Tool, Kind::ToolResult, tokens)
        };
        log.node(key, vec![item])
    };
    let log = read(Log::new(), "a", 1_000).report(2_000);
    let log = read(log, "b", 1_001).report(4_000).report(4_100);
    let texts = seen(&log, |ix| lines(["x", "x"][ix]));
    let repeated = [("Read".to_owned(), 1)];
    assert_eq!(found(&log, &texts, FindingKind::Repeated), repeated);
    // An edit above moves the numbers of all lines.
    let texts = seen(&log, |ix| lines("x").replace('\t', ["\t", "7→"][ix]));
    assert_eq!(found(&log, &texts, FindingKind::Repeated), repeated);
    let texts = seen(&log, |ix| lines(["x", "y"][ix]));
    assert!(found(&log, &texts, FindingKind::Repeated).is_empty());
    // A long line that is new is most of a result, however many short ones are not.
    let texts = seen(&log, |ix| lines("x") + &"z".repeat(200 * ix));
    assert!(found(&log, &texts, FindingKind::Repeated).is_empty());

    let log = read(Log::new(), "a", 1_000)
        .report(2_000)
        .compact(2_100)
        .report(500);
    let log = read(log, "b", 1_001).report(4_000).report(4_100);
    let texts = seen(&log, |_| lines("x"));
    assert!(found(&log, &texts, FindingKind::Repeated).is_empty());
}

#[test]
fn five_polls_of_one_job_are_polling_and_input_is_none() {
    let call = |nth: u64, arguments: &str, kind, tokens| NewItem {
        tool: Some("write_stdin".into()),
        call: Some(Key::of_number("call", nth)),
        preview: format!("write_stdin {arguments}").into(),
        ..new_item(Role::Assistant, kind, tokens + nth)
    };
    let polls = |polls: u64, arguments: &dyn Fn(u64) -> String| {
        let mut log = Log::new();
        for nth in 0..polls {
            let items = vec![
                call(nth, &arguments(nth), Kind::ToolCall, 20),
                call(nth, "", Kind::ToolResult, 2_000),
            ];
            log = log.node(&format!("{nth}"), items).report(2_100 * (nth + 1));
        }
        let log = log.report(2_100 * polls + 10);
        let texts = seen(&log, |_| String::new());
        found(&log, &texts, FindingKind::Polling)
    };
    let same = |_: u64| "session_id=7 yield_time_ms=1000".to_owned();
    assert_eq!(polls(5, &same), [("write_stdin".to_owned(), 5)]);
    assert!(polls(4, &same).is_empty());
    assert!(polls(5, &|nth| format!("session_id={nth}")).is_empty());
    assert!(polls(5, &|_| "session_id=7 chars=q".to_owned()).is_empty());
}

#[test]
fn explanations_in_a_list_of_files_are_no_names() {
    let list = "<skills>\n## Plugins\n- alpha: reads (file: a/SKILL.md)\n  more\n- beta: writes (file: b/SKILL.md)\n\
                ### How to use them\n- Discovery: the list above\n- Rules: none\n";
    let listed = |text| TextFacts::of(Role::Container, Kind::ToolList, text).listed;
    let names = listed(list);
    let names: Vec<(&str, usize)> = names
        .iter()
        .map(|(name, bytes)| (&**name, *bytes))
        .collect();
    assert_eq!(names, [("alpha", 41), ("beta", 34)]);
    let alone =
        "# Using skills\n### How to use skills\n- Discovery: see above\n- Relevance: none\n";
    assert_eq!(listed(alone), []);
    let parts = "## Plugins\nBundles.\n### Available plugins\n- `box`: packs\n";
    assert_eq!(listed(parts), []);
    let explained = "<plugins>\n## Plugins\nBundles.\n### How to use plugins\n- Naming: first\n";
    assert_eq!(listed(explained), []);
}

/// A session that lists four skills, and has a call with these arguments.
fn with_skills(preview: &str, arguments: &str) -> SessionFindings {
    let list = NewItem {
        preview: preview.into(),
        ..new_item(Role::Container, Kind::ToolList, 4_000)
    };
    let call = NewItem {
        tool: Some("Bash".into()),
        ..new_item(Role::Assistant, Kind::ToolCall, 50)
    };
    let mut log = Log::new().node("list", vec![list]).node("call", vec![call]);
    for nth in 0..12 {
        log = log.report(5_000 + nth);
    }
    let names = ["alpha", "beta", "tools:gamma", "delta"];
    let list: String = names
        .iter()
        .map(|name| format!("- {name}: it does something\n  more of it\n"))
        .collect();
    let texts = seen(&log, |ix| [list.clone(), arguments.to_owned()][ix].clone());
    SessionFindings::of(&log.session, &texts)
}

#[test]
fn a_skill_is_unused_only_if_no_session_of_the_project_used_it() {
    let unused = |sessions: &[SessionFindings]| {
        let findings = hardly_used(sessions);
        let detail = findings.first().map(|finding| finding.detail.clone());
        match detail {
            Some(FindingDetail::Listed(of)) => of.unused.join(" "),
            _ => String::new(),
        }
    };
    let listing = "skill_listing - alpha";
    let none = with_skills(listing, "{\"command\":\"ls\"}");
    assert_eq!(
        unused(std::slice::from_ref(&none)),
        "tools:gamma alpha delta beta"
    );
    // A shell may read it, and a plugin's name may be left out.
    let shell = with_skills(listing, "{\"command\":\"cat /p/skills/gamma/SKILL.md\"}");
    assert_eq!(unused(&[none.clone(), shell.clone()]), "alpha delta beta");
    let tool = with_skills(listing, "{\"skill\":\"beta\"}");
    assert_eq!(unused(&[none.clone(), shell, tool]), "");
    // A tool that is loaded when it is needed costs its name.
    let deferred = with_skills("deferred_tools_delta alpha", "");
    assert_eq!(unused(&[deferred]), "");
}

#[test]
fn a_large_window_is_compared_with_smaller_ones_whose_compactions_are_paid() {
    let mut log = Log::of("keeper").item("a", Role::User, Kind::Text, 10_000);
    log.session.set_window(Some(1_000_000));
    for nth in 1..=20 {
        log = log
            .item(
                &format!("i{nth}"),
                Role::Tool,
                Kind::ToolResult,
                39_000 + nth,
            )
            .report(40_000 * nth);
    }
    let texts = seen(&log, |_| String::new());
    let all = SessionFindings::of(&log.session, &texts).findings;
    let window = all
        .iter()
        .find(|finding| finding.kind == FindingKind::Window);
    let window = window.unwrap();
    let FindingDetail::Window(of) = &window.detail else {
        panic!("{window:?}");
    };
    assert_eq!((of.window, of.compactions_were), (200_000, 0));
    assert!(of.compactions > 3 && of.prompts * 2 <= of.was, "{of:?}");
    assert_eq!(window.tokens, of.was - of.prompts);
    log.session.set_window(Some(200_000));
    let all = SessionFindings::of(&log.session, &texts).findings;
    assert!(
        all.iter()
            .all(|finding| finding.kind != FindingKind::Window)
    );
}

#[test]
fn an_empty_session_has_no_findings() {
    let log = Log::new();
    let texts = seen(&log, |_| String::new());
    let none = SessionFindings::of(&log.session, &texts);
    assert!(none.findings.is_empty());
    assert!(hardly_used([&none]).is_empty());
}

/// A session that began on this day and lists four skills of 1,000 tokens each, without the last ones.
fn listing(without: usize, tokens: u64) -> SessionFindings {
    let names = &["alpha", "beta", "gamma", "delta"][..4 - without];
    let list = NewItem {
        preview: "skill_listing".into(),
        ..new_item(Role::Container, Kind::ToolList, tokens * names.len() as u64)
    };
    let mut log = Log::new().node("list", vec![list]);
    for nth in 0..12 {
        log = log.report(8_000 + nth);
    }
    let line = |name: &&str| format!("- {name:5}: it does something\n");
    let text: String = names.iter().map(line).collect();
    SessionFindings::of(&log.session, &seen(&log, |_| text.clone()))
}

#[test]
fn a_list_that_became_shorter_is_measured_again() {
    let day = |day: i64| Timestamp::from_second(day * 86_400).unwrap();
    let of = |sessions: &[SessionFindings]| measured((1..).map(day).zip(sessions).collect());
    let (long, short) = (|tokens| listing(0, tokens), |tokens| listing(1, tokens));
    let changed = of(&[long(1_000), long(1_010), short(1_000), short(1_010)]);
    let [found] = &changed[..] else {
        panic!("{changed:?}");
    };
    assert_eq!((&*found.names[0], found.since), ("delta", day(3)));
    assert_eq!(found.sessions, [2, 2]);
    assert!(
        (found.less - found.promised).abs() <= found.error,
        "{found:?}"
    );
    // One session is no measurement, and neither is a list that comes back.
    assert_eq!(of(&[long(1_000), long(1_000), short(1_000)]), []);
    assert_eq!(
        of(&[
            long(1_000),
            short(1_000),
            short(1_000),
            long(1_000),
            long(1_000)
        ]),
        []
    );
    // Sizes that vary by more than the name has show nothing.
    assert_eq!(
        of(&[long(1_000), long(9_000), short(1_000), short(9_000)]),
        []
    );
    // Nothing says that a log without lists would have had them.
    let none = SessionFindings::default;
    assert_eq!(of(&[long(1_000), long(1_000), none(), none()]), []);
}
