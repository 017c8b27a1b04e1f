//! The findings of a session: their tab, their places, the line on the first page, the warning before a late turn.

use super::SIZES;
use super::settling::read_again;
use crate::app::tabs::{ITEMS, WHAT_IF, WHY};
use crate::app::{App, FindingsResult, Msg};
use crate::tests::testing::{Log, app, now, text, type_keys};
use crate::theme::Theme;
use jiff::SignedDuration;
use model::lists::sessions::Update;
use model::values::process_activity::ProcessActivity;
use model::why::{Finding, FindingDetail, FindingKind, FindingPlace, SmallerWindow};

/// A session with two rebuilt caches and a large result. One cause is hostile.
fn log() -> Log {
    Log::found(1, "claude-code", "f1nd", 5)
        .meta("/home/ada/code/shop", "claude-opus-4-6", None, None)
        .user(480, "why is it slow")
        .answer(31_200, 350, "Bash", "cargo test")
        .result("Bash", 9_700, "running 41 tests")
        .rebuilt(60_900, "tools_changed")
        .rebuilt(61_900, "brand new\u{1b}[2J")
        .rebuilt(62_900, "tools_changed")
        .result("Read", 4_000, "src/db.rs")
}

fn finding(kind: FindingKind, about: &str, usd: Option<f64>, places: &[FindingPlace]) -> Finding {
    Finding {
        kind,
        about: about.into(),
        count: places.len() as u64,
        tokens: 211_000,
        usd,
        range: None,
        detail: FindingDetail::None,
        places: places.to_vec(),
    }
}

/// Returns the findings that need texts, and some others.
fn with_texts() -> FindingsResult {
    let (request, item) = (FindingPlace::Request, FindingPlace::Item);
    let window = SmallerWindow {
        window: 200_000,
        was: 3_000_000,
        prompts: 1_000_000,
        compactions_were: 0,
        compactions: 4,
    };
    Ok(vec![
        Finding {
            range: Some((100.0, 190.0)),
            detail: FindingDetail::Window(window),
            ..finding(FindingKind::Window, "200000", Some(165.0), &[request(1)])
        },
        finding(
            FindingKind::Rebuild,
            "tools_changed",
            Some(4.02),
            &[request(3), request(1)],
        ),
        finding(
            FindingKind::Oversized,
            "Ba\u{1b}[2Jsh",
            Some(0.5),
            &[item(2), item(99)],
        ),
        finding(FindingKind::Polling, "wait", None, &[item(3)]),
    ])
}

fn opened(columns: u16, rows: u16) -> App {
    let mut app = app(vec![log()], columns, rows);
    type_keys(&mut app, "⏎");
    app
}

/// The tab, with what the texts show.
fn read(columns: u16, rows: u16) -> App {
    let mut app = opened(columns, rows);
    type_keys(&mut app, "8");
    app.take_findings_request().unwrap();
    app.update(Msg::Findings(with_texts()));
    app.prepare(now());
    app
}

fn shown(app: &App) -> String {
    text(app, Theme::default())
}

#[test]
fn findings() {
    for (columns, rows) in SIZES {
        let app = read(columns, rows);
        insta::assert_snapshot!(format!("why_{columns}x{rows}"), shown(&app));
    }
}

#[test]
fn those_that_need_no_texts_are_there_at_once_and_the_dearest_is_on_the_first_page() {
    let mut app = opened(80, 24);
    let first = shown(&app);
    let line = first.lines().find(|line| line.starts_with(" 8 why  "));
    let line = line.unwrap_or_else(|| panic!("{first}"));
    assert!(
        line.contains("the cache was rebuilt: tools changed"),
        "{line}"
    );
    type_keys(&mut app, "8");
    let tab = shown(&app);
    assert!(
        tab.contains("reading") && tab.contains("brand new"),
        "{tab}"
    );
    assert!(!tab.contains(" 8 why  $"), "once: {tab}");
    // In a replay the line is not of the moment on screen.
    type_keys(&mut app, "1r");
    assert!(!shown(&app).contains(" 8 why  $"), "{}", shown(&app));
    // A session without findings has no line.
    let mut app = super::app(super::logs(), 80, 24);
    type_keys(&mut app, super::OPEN_SHOP);
    assert!(!shown(&app).contains(" 8 why  $"), "{}", shown(&app));
}

#[test]
fn texts_are_read_once_and_again_when_the_session_has_grown_and_time_has_passed() {
    let mut app = opened(80, 24);
    assert_eq!(app.take_findings_request(), None, "no tab shows them");
    type_keys(&mut app, "8");
    let (key, _) = app.take_findings_request().unwrap();
    assert_eq!(Some(key), app.open_session());
    assert_eq!(app.take_findings_request(), None, "they are being read");
    app.update(Msg::Findings(with_texts()));
    app.prepare(now());
    assert_eq!(app.take_findings_request(), None, "they were read");
    let grow = |app: &mut App, seconds| {
        for update in log().into_updates().split_off(1) {
            app.update(Msg::Update(update));
        }
        app.prepare(now() + SignedDuration::from_secs(seconds));
    };
    grow(&mut app, 1);
    assert_eq!(app.take_findings_request(), None, "a moment ago");
    grow(&mut app, 6);
    assert!(shown(&app).contains("smaller") || shown(&app).contains("a window of 200k"));
    assert!(app.take_findings_request().is_some());
    app.update(Msg::Findings(Err("it is gone".to_owned())));
    app.prepare(now());
    type_keys(&mut app, "?");
    assert!(
        shown(&app).contains("do not add them up"),
        "{}",
        shown(&app)
    );
    // Findings of a session that was left are shown of no other.
    let mut app = super::app(vec![log(), super::logs().swap_remove(1)], 80, 24);
    type_keys(&mut app, "/shop⏎⏎8");
    app.take_findings_request().unwrap();
    type_keys(&mut app, "⎋j⏎8");
    app.update(Msg::Findings(with_texts()));
    app.prepare(now());
    assert!(!shown(&app).contains("a window of 200k"), "{}", shown(&app));
    assert!(app.take_findings_request().is_some());
}

#[test]
fn enter_goes_from_place_to_place_and_escape_back() {
    let mut app = read(80, 24);
    let request = |app: &App| app.page().unwrap().state.requests;
    // To the rebuilds: the requests of the timeline, and around.
    type_keys(&mut app, "jjjjj");
    while app.selected_finding().unwrap().finding.kind != FindingKind::Rebuild {
        type_keys(&mut app, "j");
    }
    let mut seen = Vec::new();
    for place in [1, 2, 1] {
        type_keys(&mut app, "⏎");
        let screen = shown(&app);
        assert!(
            screen.contains(&format!("place {place} of 2: request")),
            "{screen}"
        );
        assert!(screen.contains("of the whole session") || screen.contains(" 8 why   4"));
        seen.push(request(&app));
    }
    assert_eq!(seen, [4, 2, 4]);
    type_keys(&mut app, "⎋");
    assert!(!app.ui.replay.is_on() && app.ui.tab == WHY);
    // To an item, and back to its finding.
    while app.selected_finding().unwrap().finding.kind != FindingKind::Oversized {
        type_keys(&mut app, "j");
    }
    type_keys(&mut app, "⏎");
    assert_eq!(app.ui.tab, ITEMS);
    assert_eq!(app.selected_item().map(|(_, ix, _)| ix), Some(2));
    type_keys(&mut app, "⎋");
    assert_eq!(app.ui.tab, WHY);
    let kind = app.selected_finding().unwrap().finding.kind;
    assert_eq!(kind, FindingKind::Oversized);
    // Another tab in between is no way back.
    type_keys(&mut app, "⏎21⎋");
    assert!(app.open_session().is_none());
}

#[test]
fn an_item_that_a_rewrite_has_removed_is_said_to_be_gone() {
    let mut app = read(80, 24);
    while app.selected_finding().unwrap().finding.kind != FindingKind::Oversized {
        type_keys(&mut app, "j");
    }
    let key = app.open_session().unwrap();
    let other = super::app(
        vec![Log::found(1, "claude-code", "f1nd", 5).user(9, "new")],
        80,
        24,
    );
    let session = other.sessions.get(key).unwrap().clone();
    let sessions = vec![(key.conversation, session)];
    let file = key.file;
    app.update(Msg::Update(Update::Rebuilt { file, sessions }));
    app.prepare(now());
    assert!(
        shown(&app).contains("the log no longer has it"),
        "{}",
        shown(&app)
    );
    type_keys(&mut app, "⏎");
    assert!(
        shown(&app).contains("place 1 of 2: the log no longer has it"),
        "{}",
        shown(&app)
    );
    assert_eq!(app.ui.tab, WHY);
    // An item that has only moved is found.
    let mut app = read(80, 24);
    read_again(&mut app, true);
    while app.selected_finding().unwrap().finding.kind != FindingKind::Oversized {
        type_keys(&mut app, "j");
    }
    type_keys(&mut app, "⏎");
    assert_eq!(app.ui.tab, ITEMS);
}

#[test]
fn the_context_without_a_finding_is_shown_where_it_can_be_tried() {
    let tried = |kind| {
        let mut app = read(120, 40);
        while app.selected_finding().unwrap().finding.kind != kind {
            type_keys(&mut app, "j");
        }
        type_keys(&mut app, "m");
        app
    };
    let mut oversized = tried(FindingKind::Oversized);
    assert_eq!(oversized.ui.tab, WHAT_IF);
    let screen = shown(&oversized);
    assert!(
        screen.contains("without 1 marked") && screen.contains("IF YOU ACT NOW"),
        "{screen}"
    );
    type_keys(&mut oversized, "⎋");
    assert_eq!(oversized.ui.tab, WHY);
    let window = tried(FindingKind::Window);
    assert!(shown(&window).contains("POLICY") && window.ui.tab == WHAT_IF);
    let rebuild = tried(FindingKind::Rebuild);
    assert!(shown(&rebuild).contains("what-if cannot try") && rebuild.ui.tab == WHY);
}

#[test]
fn a_late_turn_is_warned_of_while_the_session_waits() {
    let log = |size| {
        Log::found(1, "claude-code", "late", 5)
            .meta("/home/ada/code/shop", "claude-opus-4-6", None, None)
            .user(480, "go on")
            .answer(size, 350, "Bash", "make")
            .result("Bash", 100, "ok")
            .says(100, "Done.")
    };
    // The trigger is 167k.
    for (size, is_late) in [(130_000, false), (140_000, true)] {
        for columns in [80, 200] {
            let mut app = app(vec![log(size)], columns, 24);
            type_keys(&mut app, "⏎");
            assert_eq!(
                shown(&app).contains("compact before you ask"),
                is_late,
                "{}",
                shown(&app)
            );
        }
    }
    let mut app = app(vec![log(140_000)], 80, 24);
    type_keys(&mut app, "⏎");
    let file = app.open_session().unwrap().file;
    let running = Some(ProcessActivity::Busy);
    app.update(Msg::Update(Update::Running {
        file,
        running,
        at: now(),
    }));
    app.prepare(now());
    assert!(
        !shown(&app).contains("compact before"),
        "a turn has begun: {}",
        shown(&app)
    );
}
