//! What holds at every width.

use crate::app::{App, Msg};
use crate::tests::testing::{Log, app, logs, now, text, type_keys};
use crate::theme::Theme;
use std::thread;

/// The keys to each screen of the list.
const LISTS: [&str; 3] = ["", "?", "/clau"];
/// The keys to each screen of a session.
const SESSIONS: [&str; 11] = [
    "⏎c", "⏎m", "⏎2", "⏎3", "⏎3⏎", "⏎4", "⏎5", "⏎8", "⏎?", "⏎o15%", "⏎⏎",
];

/// A session whose numbers and names are too long for most cells.
fn long() -> Log {
    let text = "1234567 of 89012345 rows read, 42.195 left, 0x7f00 to 0x7fff; ".repeat(9);
    Log::found(9, "claude-code", "long-90125", 30 * 86_400)
        .meta(
            "/home/ada/code/release-2026-03-14-15926",
            "claude-opus-4-6-20260115",
            Some("port 8080 to 8443, step 12 of 345"),
            None,
        )
        .user(12_345_678, &text)
        .answer(
            987_654_321,
            123_456,
            "mcp__numbers_1234567__count_8901234",
            &text,
        )
        .result("mcp__numbers_1234567__count_8901234", 98_765_432, &text)
        .compact(999_999_999, Some(888_888_888))
        .summary(12_345, &text)
        .answer(900_000_000, 1, "Read", &text)
        .rebuilt(900_000_000, "changed 1234567 of 89012345")
        .result("Read", 98_765_432, &text)
        .result("Read", 98_765_432, &text)
}

/// Where a number and an ellipsis touch.
fn shortened(screen: &str) -> Option<&str> {
    screen.lines().find(|line| {
        let cells: Vec<char> = line.chars().collect();
        cells.windows(2).any(|pair| {
            let is_digit = |c: char| c.is_ascii_digit();
            matches!(pair, [c, '…'] | ['…', c] if is_digit(*c))
        })
    })
}

fn at_each_width(app: &mut App, check: impl Fn(&App, u16)) {
    for columns in 20..=300 {
        app.update(Msg::Resize(columns, 24));
        app.prepare(now());
        check(app, columns);
    }
}

fn no_number_is_shortened(keys: &str, logs: Vec<Log>) {
    let mut app = app(logs, 80, 24);
    type_keys(&mut app, keys);
    at_each_width(&mut app, |app, columns| {
        let screen = text(app, Theme::default());
        assert_eq!(shortened(&screen), None, "{keys} at {columns}:\n{screen}");
    });
}

#[test]
fn no_number_of_a_list_is_shortened() {
    for keys in LISTS {
        let logs = logs().into_iter().chain([long()]).collect();
        no_number_is_shortened(keys, logs);
    }
}

#[test]
fn no_number_of_a_session_is_shortened() {
    // Each at all widths: in one thread they would take most of the time of all tests here.
    thread::scope(|scope| {
        for keys in SESSIONS {
            scope.spawn(|| no_number_is_shortened(keys, vec![long()]));
        }
    });
}

/// Emoji that terminals join, or do not, leave the cells after them in their columns.
#[test]
fn joined_emoji_move_no_column() {
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let log = |title: &str, tool: &str| {
        Log::found(1, "claude-code", "emoji", 5)
            .meta("/home/ada/code/shop", "claude-opus-4-6", Some(title), None)
            .user(90, "hello")
            .answer(20_000, 100, tool, "a")
            .result(tool, 700, "b")
    };
    let lines = |title: &str, tool: &str| {
        let mut app = app(vec![log(title, tool)], 120, 24);
        type_keys(&mut app, "⏎");
        let screen = text(&app, Theme::default());
        assert!(
            !screen.contains('\u{200d}') && !screen.contains('\u{fffd}'),
            "{screen}"
        );
        let widths = screen.lines().map(render::text::width);
        assert!(widths.into_iter().all(|width| width <= 120));
        screen
    };
    let joined = lines(&format!("{family} tea"), family);
    let apart = lines(
        "\u{1f469}\u{1f469}\u{1f467} tea",
        "\u{1f469}\u{1f469}\u{1f467}",
    );
    assert_eq!(joined, apart);
}
