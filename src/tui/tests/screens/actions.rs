//! The menu of what can be done with a session.

use super::session::{keys, press};
use super::*;
use crate::keymap::Action;
use crate::paint::Hit;
use crate::tests::testing::drawn;

/// A session that does not run, so that it can be resumed.
fn idle() -> Vec<Log> {
    vec![
        Log::found(1, "claude-code", "5f0c-idle", 4_000)
            .meta("/home/ada/shop", "claude-opus-4-6", None, None)
            .user(10, "hello")
            .answer(20_000, 100, "Read", "src/db.rs"),
    ]
}

fn rows(app: &App) -> Vec<String> {
    let rows = app.action_rows(app.current().unwrap()).into_iter();
    rows.map(|row| row.key).collect()
}

#[test]
fn actions_have_the_keys_that_do_them_elsewhere() {
    at_each_size("actions", &keys("a"), idle);
    let mut app = app(idle(), 80, 24);
    assert_eq!(rows(&app), ["R", "y", "E", "e", "x", "w", "4"]);
    app.is_in_tmux = true;
    assert!(rows(&app).contains(&"P".to_owned()));
    for (key, does) in [
        ('R', Some("claude --resume 5f0c-idle")),
        ('P', None),
        ('e', None),
        ('E', None),
    ] {
        for before in ["a", ""] {
            type_keys(&mut app, before);
            let effect = press(&mut app, KeyPress::Char(key));
            assert_eq!(app.ui.overlay, None);
            match (effect, does) {
                (Effect::Run { command, .. }, Some(does)) => {
                    assert!(command.ends_with(does), "{command}")
                }
                (Effect::OpenPane { .. } | Effect::OpenPath(_), None) => {}
                other => panic!("{key}: {other:?}"),
            }
        }
    }
    type_keys(&mut app, "a4");
    assert_eq!(app.ui.tab.action, Action::WhatIf);
    type_keys(&mut app, "ay");
    assert!(text(&app, Theme::default()).contains("claude --resume"));
}

/// Two agents would write to one log.
#[test]
fn a_session_that_runs_is_not_resumed() {
    let mut app = app(logs(), 80, 24);
    assert!(!rows(&app).contains(&"R".to_owned()));
    assert_eq!(press(&mut app, KeyPress::Char('R')), Effect::None);
    assert!(text(&app, Theme::default()).contains("a running session is not resumed"));
    assert_eq!(press(&mut app, KeyPress::Char('P')), Effect::None);
    assert!(text(&app, Theme::default()).contains("a pane needs tmux"));
}

#[test]
fn the_menu_of_a_session_that_is_gone_closes() {
    for menu in ["a", "y", "x"] {
        let mut app = app(idle(), 80, 24);
        type_keys(&mut app, menu);
        assert!(app.ui.overlay.is_some());
        app.update(Msg::Update(Update::Vanished(FileId(1))));
        app.prepare(now());
        assert_eq!(app.ui.overlay, None);
        let shown = text(&app, Theme::default());
        assert!(shown.contains("this session no longer exists"), "{shown}");
        assert_eq!(press(&mut app, KeyPress::Enter), Effect::None);
    }
}

#[test]
fn a_right_click_opens_the_menu_of_its_row() {
    let mut app = app(logs(), 80, 24);
    let keys = keys_on_screen(&app);
    let first = (0..24).find(|row| {
        let hit = drawn(&app).at(10, *row);
        hit.is_some_and(|(_, hit)| hit == Hit::List)
    });
    let second = first.unwrap() + 1;
    app.hits = drawn(&app);
    app.update(Msg::Menu(10, second));
    assert_eq!(app.ui.overlay, Some(Overlay::Actions(keys[1])));
    // Another click closes it.
    app.update(Msg::Menu(10, second));
    assert_eq!(app.ui.overlay, None);
}
