//! Which sessions need the user, and what was spent.

use super::*;
use crate::app::{ListLine, Need};
use crate::tests::testing::Log;
use jiff::SignedDuration;
use model::event::Conversation;
use model::lists::sessions::{Away, SessionKey};

fn key_of(file: u64) -> SessionKey {
    SessionKey {
        file: FileId(file),
        conversation: Conversation::Main,
    }
}

/// A session of Claude Code that was asked this long ago, and is far from its trigger.
fn calm(file: u64, ago: i64) -> Log {
    Log::found(file, "claude-code", &format!("calm-{file}"), ago)
        .meta(
            "/home/ada/code/calm",
            "claude-opus-4-6",
            Some("far off"),
            None,
        )
        .user(90, "hello")
        .answer(20_000, 100, "Read", "a")
        .answer(21_000, 100, "Read", "b")
}

#[test]
fn the_sessions_that_need_the_user_are_the_first_after_one_key() {
    // One works far from its trigger, one waits for the user, the cache of one is soon cold, one ended days ago.
    let near = logs().into_iter().next().unwrap().of_file(5);
    let mut app = app(
        vec![
            calm(1, 20),
            calm(2, 50),
            calm(3, 3_000),
            calm(4, 90_000),
            near,
        ],
        80,
        24,
    );
    app.update(Msg::Update(Update::Running {
        file: FileId(2),
        running: Some(ProcessActivity::Waiting),
        at: now(),
    }));
    app.prepare(now());
    let needs = [1, 2, 3, 4, 5].map(|file| app.need(key_of(file)));
    assert_eq!(
        needs,
        [
            None,
            Some(Need::Waits),
            Some(Need::Cools),
            None,
            Some(Need::Compacts)
        ]
    );
    type_keys(&mut app, "ss⏎");
    assert_eq!(app.ui.sort.name, "needs you");
    let order: Vec<u64> = keys_on_screen(&app).iter().map(|key| key.file.0).collect();
    assert_eq!(order, [2, 5, 3, 1, 4]);
    let shown = text(&app, Theme::default());
    assert!(shown.contains("3 need you"), "{shown}");
    type_keys(&mut app, "g");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("waits for you"), "{shown}");
    type_keys(&mut app, "/needs");
    let order: Vec<u64> = keys_on_screen(&app).iter().map(|key| key.file.0).collect();
    assert_eq!(order, [2, 5, 3]);
    // The cache of the third goes cold, and nothing is written to any log.
    let later = now() + SignedDuration::from_secs(700);
    app.prepare(later);
    let lines = app.lines().iter().filter_map(ListLine::session);
    assert!(lines.into_iter().all(|row| row.key != key_of(3)));
}

#[test]
fn where_nothing_needs_the_user_the_list_says_so_and_what_is_near_comes_first() {
    let near = Log::found(5, "codex", "near", 100_000)
        .meta("/home/ada/code/near", "gpt-5.4", None, None)
        .user(90, "hello")
        .answer(230_000, 100, "Read", "a")
        .answer(240_000, 100, "Read", "b");
    let mut app = app(vec![calm(4, 90_000), near], 80, 24);
    type_keys(&mut app, "ss⏎");
    let order: Vec<u64> = keys_on_screen(&app).iter().map(|key| key.file.0).collect();
    assert_eq!(order, [5, 4]);
    let shown = text(&app, Theme::default());
    assert!(shown.contains("2 sessions, none needs you"), "{shown}");
    assert!(shown.contains("1 near the trigger (/near)"), "{shown}");
    type_keys(&mut app, "s⏎");
    assert!(text(&app, Theme::default()).contains("none needs you"));
    type_keys(&mut app, "sj⏎");
    assert!(!text(&app, Theme::default()).contains("none needs you"));
}

/// A session of a model with a price whose last request was this long ago and cost half a dollar, as the one before.
fn priced(file: u64, ago: i64) -> Log {
    let log = Log::found(file, "codex", &format!("priced-{file}"), ago)
        .meta(
            "/home/ada/code/till",
            "priced-1",
            Some("mend the till"),
            None,
        )
        .user(90, "hello");
    (0..2).fold(log, |log, n| {
        log.event(Event::Usage(Box::new(Usage {
            billed: BilledUsage::new(40_000, 2_000),
            ..Usage::reported(Key::of_number("priced", file * 10 + n), 40_000)
        })))
    })
}

#[test]
fn sessions_and_days_have_a_cost() {
    // Today, before midnight, and one whose model has no price.
    let logs = vec![priced(1, 20), priced(2, 20 * 3_600), calm(3, 60)];
    let mut app = app(logs, 120, 40);
    let shown = text(&app, Theme::default());
    let row = |shown: &str, title: &str| {
        let mut lines = shown.lines().skip(2);
        lines
            .find(|line| line.contains(title))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(shown.contains("COST"), "{shown}");
    assert!(row(&shown, "mend the till").contains("  $1.00 "), "{shown}");
    assert!(row(&shown, "far off").contains(" — "), "{shown}");
    let sums = "today ≥$1.00 · without 2 responses of unknown price";
    assert!(shown.contains(sums), "{shown}");
    // Only what is listed is added up.
    type_keys(&mut app, "/till⏎");
    let shown = text(&app, Theme::default());
    assert!(
        shown.contains("2 of 3: ") && shown.contains("today $1.00\n"),
        "{shown}"
    );
    app.update(Msg::Resize(80, 24));
    app.prepare(now());
    let shown = text(&app, Theme::default());
    assert!(
        !shown.contains("COST") && shown.contains("· cost $1.00 ·"),
        "{shown}"
    );
}

/// A sum over the list is below the lines of the selected session, and says over how many sessions.
#[test]
fn no_sum_over_the_list_is_above_the_selected_session() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let app = app(logs(), columns, rows);
        let shown = text(&app, Theme::default());
        let lines: Vec<&str> = shown.lines().collect();
        let at = |what: &str| lines.iter().position(|line| line.contains(what));
        let (name, sum) = (at("── docs"), at("all 7: "));
        assert!(name.is_some() && name < sum, "{shown}");
        assert_eq!(sum, Some(lines.len() - 2), "{shown}");
    }
}

#[test]
fn a_session_of_a_machine_that_is_away_needs_nobody_and_its_cache_is_not_known() {
    let log = calm(1, 3_000).on_host("build-1");
    let mut app = app(vec![log], 200, 30);
    assert_eq!(app.need(key_of(1)), Some(Need::Cools));
    let away = |app: &mut App| {
        app.update(Msg::Update(Update::Host {
            host: "build-1".into(),
            away: Some(Away {
                since: Some(now()),
                why: format!("ssh: connect to host {}: refused", "10.77.0.2 ".repeat(9)).into(),
            }),
        }));
        app.prepare(now());
        text(app, Theme::default())
    };
    let shown = away(&mut app);
    assert_eq!(app.need(key_of(1)), None);
    assert!(shown.contains("1 session, 1 host away"), "{shown}");
    let row = shown.lines().find(|line| line.contains("far off"));
    let row = row.unwrap_or(&shown);
    assert!(row.contains(" ? ") && row.contains(" ?50m"), "{row}");
    app.update(Msg::Resize(80, 24));
    app.prepare(now());
    let shown = text(&app, Theme::default());
    let line = shown
        .lines()
        .find(|line| line.contains("── calm · 0s old, ssh: "));
    assert!(line.is_some_and(|line| line.contains("… ─")), "{shown}");
    let mut empty = super::app(Vec::new(), 80, 24);
    let shown = away(&mut empty);
    assert!(shown.starts_with(" ctxgauge  1 host away"), "{shown}");
}

#[test]
fn a_session_says_that_another_one_needs_the_user() {
    let mut app = app(vec![calm(1, 20), calm(2, 50)], 120, 40);
    type_keys(&mut app, "⏎");
    let open = app.open_session();
    let other = [key_of(1), key_of(2)]
        .into_iter()
        .find(|key| Some(*key) != open);
    let header = |app: &App| {
        text(app, Theme::default())
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert!(!header(&app).contains("waits for you"));
    for key in [open, other].into_iter().flatten() {
        app.update(Msg::Update(Update::Running {
            file: key.file,
            running: Some(ProcessActivity::Waiting),
            at: now(),
        }));
        app.prepare(now());
        // The one on screen says so by its sign.
        assert_eq!(
            header(&app).contains("calm waits for you"),
            Some(key) == other
        );
    }
}

#[test]
fn two_agents_that_change_one_file_in_one_folder_are_marked() {
    let at_work = |file, agent, folder: &str, edited: &str| {
        Log::found(file, agent, &format!("s{file}"), 20)
            .meta(folder, "claude-opus-4-6", Some("far off"), None)
            .user(90, "hello")
            .answer(20_000, 100, "Edit", edited)
    };
    let shown = |folder: &str, edited: &str| {
        let logs = vec![
            at_work(
                1,
                "claude-code",
                "/code/shop",
                "Edit /code/shop/src/cart.rs:3-9",
            ),
            at_work(2, "codex", folder, edited),
        ];
        text(&app(logs, 120, 24), Theme::default())
    };
    let together = shown("/code/shop", "Edit src/cart.rs");
    assert_eq!(together.matches(" ! far off").count(), 2, "{together}");
    assert!(
        together.contains("src/cart.rs is changed by another agent too"),
        "{together}"
    );
    for apart in [
        shown("/code/shop", "Edit src/db.rs"),
        shown("/code/blog", "Edit src/cart.rs"),
    ] {
        assert!(!apart.contains("! far off"), "{apart}");
    }
}
