//! The results of a search over sessions.

use super::SIZES;
use crate::app::{App, Msg, SearchUpdate};
use crate::keymap::KeyPress;
use crate::tests::testing::{
    Log, app, begin_search, found_in, logs, now, say, shop, text, type_keys,
};
use crate::theme::Theme;
use model::event::{Conversation, is_unsafe_to_show};
use model::lists::sessions::{FileId, SessionKey};

/// Items of several sessions.
fn found(app: &mut App) {
    begin_search(app, "src|tests");
    for (file, ix) in [(1, 2), (1, 4), (2, 3), (2, 6), (2, 9), (3, 2)] {
        let key = SessionKey {
            file: FileId(file),
            conversation: Conversation::Main,
        };
        let found = found_in(app, key, ix, "src");
        say(app, SearchUpdate::Found(Box::new(found)));
    }
    say(app, SearchUpdate::Searched(3));
}

fn at_each_size(name: &str, logs: fn() -> Vec<Log>, play: impl Fn(&mut App)) {
    for (columns, rows) in SIZES {
        let mut app = app(logs(), columns, rows);
        play(&mut app);
        insta::assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&app, Theme::default())
        );
    }
}

#[test]
fn a_search_that_goes_on() {
    at_each_size("search", logs, |app| {
        found(app);
        type_keys(app, "jj");
    });
}

/// Sessions of one project, whose groups would read alike.
#[test]
fn sessions_of_one_name_have_their_ids() {
    for (columns, name) in [(80, "000003"), (200, "till · mend the till 000003")] {
        let logs = (1..4).map(|n| {
            Log::found(n, "codex", &format!("019a-{n:06}"), n as i64)
                .meta(
                    "/home/ada/code/till",
                    "gpt-5.4",
                    Some("mend the till"),
                    None,
                )
                .user(90, "hello")
        });
        let mut app = app(logs.collect(), columns, 24);
        begin_search(&mut app, "hello");
        for n in 1..4 {
            let key = SessionKey {
                file: FileId(n),
                conversation: Conversation::Main,
            };
            let found = found_in(&app, key, 0, "hello");
            say(&mut app, SearchUpdate::Found(Box::new(found)));
        }
        let shown = text(&app, Theme::default());
        assert!(shown.contains(name), "{shown}");
    }
}

#[test]
fn a_search_in_some_sessions_that_is_over() {
    at_each_size("search_over", logs, |app| {
        type_keys(app, "/agent:claude⏎");
        found(app);
        let why = "permission denied".to_owned();
        say(app, SearchUpdate::Unread(1, why));
        say(app, SearchUpdate::End);
    });
}

#[test]
fn a_search_that_has_found_nothing() {
    at_each_size("search_nothing", logs, |app| {
        begin_search(app, "no such text");
        say(app, SearchUpdate::Searched(7));
        say(app, SearchUpdate::End);
    });
}

#[test]
fn a_pattern_that_is_typed() {
    at_each_size("search_prompt", logs, |app| type_keys(app, "fretry|loop"));
}

#[test]
fn what_a_search_has_found_is_made_visible() {
    let hostile = || {
        let text = "a\u{1b}]0;x\u{7} src \u{202e}漢字の文章がここに\tあります\u{9b}31m";
        let log = Log::found(2, "claude-code", "5f0c\u{1b}[2J", 2)
            .meta(
                "/home/ada/code/\u{1b}[31mshop",
                "claude-opus-4-6",
                None,
                None,
            )
            .user(480, text)
            .answer(31_200, 350, "\u{1b}[1mRead", text);
        vec![log]
    };
    for (columns, rows) in SIZES {
        let mut app = app(hostile(), columns, rows);
        begin_search(&mut app, "src \u{1b}[5m");
        for ix in [0, 1] {
            let found = found_in(&app, shop(), ix, "src");
            say(&mut app, SearchUpdate::Found(Box::new(found)));
        }
        let shown = text(&app, Theme::default());
        let is_unsafe = |c: char| c != '\n' && is_unsafe_to_show(c);
        assert!(!shown.contains(is_unsafe), "{shown:?}");
        assert!(shown.contains("src"), "{shown}");
        let widest = shown.lines().map(render::text::width).max();
        assert!(widest <= Some(usize::from(columns)), "{shown}");
    }
}

/// More results than fit are scrolled, and the session of the first row on screen is named.
#[test]
fn results_are_scrolled() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "src");
    let item = found_in(&app, shop(), 3, "src");
    for _ in 0..100 {
        app.update(Msg::Search(SearchUpdate::Found(Box::new(item.clone()))));
    }
    app.update(Msg::Key(KeyPress::Char('G')));
    app.update(Msg::Key(KeyPress::PageUp));
    app.prepare(now());
    let shown = text(&app, Theme::default());
    assert!(shown.contains(" 82 of 100 "), "{shown}");
    let first = shown.lines().nth(2).unwrap();
    assert!(first.contains("shop"), "{shown}");
}
