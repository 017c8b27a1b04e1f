//! The lines of a session's screen above its list: the status, the numbers, the forecast, the footer.

use super::OPEN_SHOP;
use super::settling::read_again;
use crate::app::{App, Effect, Msg, Overlay, Screen};
use crate::keymap::KeyPress;
use crate::tests::testing::{Log, app, logs, text, type_keys};
use crate::theme::Theme;

fn line<'t>(screen: &'t str, with: &str) -> &'t str {
    let found = screen.lines().find(|line| line.contains(with));
    found.unwrap_or_else(|| panic!("no {with} in {screen}"))
}

fn opened(logs: Vec<Log>, columns: u16) -> App {
    let mut app = app(logs, columns, 24);
    type_keys(&mut app, OPEN_SHOP);
    app
}

#[test]
fn the_footer_of_a_replay_names_its_keys() {
    for columns in [80, 120, 200] {
        let mut app = opened(logs(), columns);
        type_keys(&mut app, "r");
        let screen = text(&app, Theme::default());
        let footer = screen.lines().last().unwrap();
        for key in ["[", "]", "{", "}", ",", ".", "L ", "-+", "space", "←→"] {
            assert!(footer.contains(key), "{key} of {columns}: {footer}");
        }
    }
}

/// Nothing on the second line moves because something comes or goes.
#[test]
fn the_second_line_does_not_move() {
    let place = |is_counted: bool| {
        let mut app = app(logs(), 120, 24);
        type_keys(&mut app, "/opus⏎");
        read_again(&mut app, is_counted);
        type_keys(&mut app, "⏎");
        let screen = text(&app, Theme::default());
        assert_eq!(screen.contains("counting"), !is_counted, "{screen}");
        line(&screen, "window 200k").find("window 200k")
    };
    assert_eq!(place(true), place(false));
}

#[test]
fn marks_leave_the_forecast_that_they_are_compared_with() {
    for columns in [80, 120, 200] {
        let mut app = opened(logs(), columns);
        type_keys(&mut app, "m");
        let screen = text(&app, Theme::default());
        let line = line(&screen, "without 1 marked");
        assert!(line.contains("11 ") && line.contains(" more"), "{line}");
        assert!(
            line.contains("next 11 (4–19)") || line.contains("about 11 requests"),
            "{line}"
        );
    }
}

#[test]
fn what_if_begins_with_what_the_user_can_do() {
    let mut app = opened(logs(), 120);
    type_keys(&mut app, "m4");
    let screen = text(&app, Theme::default());
    for wanted in [
        "IF YOU ACT NOW",
        "as it is",
        "compact now",
        "clear now",
        "without 1 marked",
    ] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert!(!screen.contains("codex: codex"), "{screen}");
    type_keys(&mut app, "G⏎");
    let policies = text(&app, Theme::default());
    assert!(
        policies.contains("codex: codex") && policies.contains("actual"),
        "{policies}"
    );
    type_keys(&mut app, "⎋");
    assert!(text(&app, Theme::default()).contains("compact now"));
}

fn press(app: &mut App, key: KeyPress) -> Effect {
    app.update(Msg::Key(key))
}

#[test]
fn what_resumes_a_session_is_copied() {
    let mut app = opened(logs(), 80);
    assert_eq!(press(&mut app, KeyPress::Char('y')), Effect::None);
    let session = app.open_session().unwrap();
    assert_eq!(app.ui.overlay, Some(Overlay::Copy(session)));
    let screen = text(&app, Theme::default());
    assert!(screen.contains("claude --resume"), "{screen}");
    let Effect::Copy(command) = press(&mut app, KeyPress::Char('r')) else {
        panic!("nothing was copied");
    };
    assert!(command.contains("claude --resume "), "{command}");
    // These keys work on the list too.
    type_keys(&mut app, "⎋");
    assert_eq!(app.ui.screen, Screen::Overview);
    press(&mut app, KeyPress::Char('y'));
    let Effect::Copy(path) = press(&mut app, KeyPress::Char('p')) else {
        panic!("nothing was copied");
    };
    assert!(path.ends_with(".jsonl") || path.contains('/'), "{path}");
    press(&mut app, KeyPress::Char('y'));
    assert_eq!(press(&mut app, KeyPress::Char('q')), Effect::None);
    assert_eq!(app.ui.overlay, None, "any other key closes it");
}

#[test]
fn the_text_of_the_selected_item_is_read_and_copied() {
    let mut app = opened(logs(), 80);
    press(&mut app, KeyPress::Char('y'));
    let Effect::ReadText(request) = press(&mut app, KeyPress::Char('t')) else {
        panic!("nothing is read");
    };
    let text = model::lists::text::Text {
        text: "fn \u{1b}[2Jconnect".to_owned(),
        pages: 1,
        ..model::lists::text::Text::default()
    };
    let page = model::lists::text::TextPage {
        of: request,
        text: Ok(text),
    };
    let Effect::Copy(copied) = app.update(Msg::Text(Box::new(page))) else {
        panic!("nothing was copied");
    };
    assert!(
        copied.contains("connect") && !copied.contains('\u{1b}'),
        "{copied:?}"
    );
}

#[test]
fn the_log_and_the_folder_open_in_the_editor() {
    let mut app = opened(logs(), 80);
    assert!(matches!(
        press(&mut app, KeyPress::Char('e')),
        Effect::OpenPath(_)
    ));
    let folder = press(&mut app, KeyPress::Char('E'));
    assert!(
        matches!(folder, Effect::OpenPath(_) | Effect::None),
        "{folder:?}"
    );
}
