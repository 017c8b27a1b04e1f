//! The screens as a user sees them, at four sizes.

mod actions;
mod copy;
mod hostile;
mod list;
mod needs;
mod replay;
mod search;
mod session;
mod session_lines;
mod settling;
mod tabs;
mod unreported;
mod why;
mod widths;

use crate::app::columns::COLUMNS;
use crate::app::{App, Column, Direction, Effect, Msg, Overlay, Screen};
use crate::keymap::KeyPress;
use crate::tests::testing::{
    Log, app, cells, click, item, keys_on_screen, logs, now, rules, text, type_keys,
};
use crate::theme::{Theme, Themes};
use model::due::alerts::{Alerts, Channel};
use model::event::is_unsafe_to_show;
use model::event::{
    BilledUsage, Cause, Conversation, Entry, Event, Key, Meta, Node, Part, Place, Usage,
};
use model::lists::sessions::{FileFacts, FileId, Sessions, Update};
use model::values::process_activity::ProcessActivity;
use model::{Kind, Role, Source};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

/// Finds the session that has some of everything, and opens it.
const OPEN_SHOP: &str = "/opus⏎⏎";

/// The same keys at each size.
fn at_each_size(name: &str, keys: &str, logs: fn() -> Vec<super::testing::Log>) {
    for (columns, rows) in SIZES {
        let mut app = app(logs(), columns, rows);
        type_keys(&mut app, keys);
        insta::assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&app, Theme::default())
        );
    }
}

/// Lists all sub-agents below their parents.
fn unfold(app: &mut App) {
    app.ui.unfolded.extend(app.shown.families.keys());
    // The list is made again.
    type_keys(app, "SS");
}

#[test]
fn overview() {
    at_each_size("overview", "", logs);
}

#[test]
fn session() {
    at_each_size("session", OPEN_SHOP, logs);
}

#[test]
fn session_of_the_past() {
    // The last row: an old one with lines that could not be read.
    at_each_size("session_unreadable", "G⏎", logs);
}

/// The session that has just compacted, and what that did.
#[test]
fn compactions() {
    at_each_size("compactions", "/billing⏎⏎C", logs);
}

/// All that it dropped and kept.
#[test]
fn a_compaction_is_opened() {
    at_each_size("compaction", "/billing⏎⏎C⏎", logs);
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "/billing⏎⏎C");
    let short = app.list().unwrap().0.ids().len();
    type_keys(&mut app, "⏎");
    assert!(app.list().unwrap().0.ids().len() > short);
    type_keys(&mut app, "⎋");
    assert_eq!(app.list().unwrap().0.ids().len(), short);
    assert!(matches!(app.ui.screen, Screen::Session(_)));
}

#[test]
fn without_compactions() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, OPEN_SHOP);
    type_keys(&mut app, "C");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("no compactions yet"), "{shown}");
    type_keys(&mut app, "1");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("10 · tokens"), "{shown}");
}

/// Results that left without a compaction have a row of their own, in the order of requests.
#[test]
fn results_that_were_cleared_are_listed_with_the_compactions() {
    let result = |key: &str, tokens: u64| {
        Event::Node(Box::new(Node {
            key: Some(Key::of(key)),
            part: Part::Result,
            items: vec![item(
                Role::Tool,
                Kind::ToolResult,
                Some("Bash"),
                tokens,
                key,
            )],
            ..Node::default()
        }))
    };
    let cleared = Event::cleared(["old", "older"].map(Key::of).to_vec(), Vec::new());
    let log = Log::found(1, "claude-code", "aa-cleared", 8)
        .meta("/home/ada/code/shop", "claude-opus-4-8", None, None)
        .user(900, "why does the retry loop spin")
        .event(result("older", 4_000))
        .event(result("old", 8_000))
        .answer(150_000, 600, "Bash", "cargo test")
        .event(cleared)
        .answer(139_000, 600, "Bash", "cargo fmt");
    let mut app = app(vec![log], 120, 40);
    type_keys(&mut app, "⏎C");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("cleared 2 results · freed"), "{shown}");
}

/// On the lowest screen a compaction has more rows than fit.
#[test]
fn all_that_a_compaction_did_can_be_scrolled_to() {
    let mut app = app(logs(), 40, 12);
    type_keys(&mut app, "/billing⏎⏎C");
    assert!(!text(&app, Theme::default()).contains("ours"));
    type_keys(&mut app, "G");
    assert!(text(&app, Theme::default()).contains("ours"));
}

#[test]
fn a_window_that_is_typed() {
    at_each_size("window", "w1.5M", logs);
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "wlarge");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("not a size: 200k, 1M, 272_000"), "{shown}");
    // What is not understood is not taken.
    type_keys(&mut app, "⏎");
    assert!(app.ui.prompt.is_some());
    type_keys(&mut app, "⎋");
    assert!(app.ui.prompt.is_none());
}

#[test]
fn a_window_is_set_and_taken_back() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, OPEN_SHOP);
    let key = app.current().unwrap();
    let limits = |app: &App| app.sessions.gauge(key).unwrap().limits().clone();
    let known = limits(&app);
    type_keys(&mut app, "w1M⏎");
    let set = limits(&app);
    assert_eq!(
        (set.window, set.window_source.name()),
        (1_000_000, "set here")
    );
    assert_ne!(set.trigger, known.trigger);
    let shown = text(&app, Theme::default());
    assert!(shown.contains("window 1.0M (set here)"), "{shown}");

    // The log is reread: the window stays at the size that was set.
    let sessions = vec![(key.conversation, app.sessions.get(key).unwrap().clone())];
    let file = key.file;
    app.sessions.get_mut(key).unwrap().meta.title = Some("old".into());
    app.update(Msg::Update(Update::Rebuilt { file, sessions }));
    app.prepare(now());
    assert_eq!(limits(&app), set);

    type_keys(&mut app, "w⏎");
    assert_eq!(limits(&app), known);
}

#[test]
fn a_window_is_set_where_it_was_asked_for() {
    let mut app = app(logs(), 80, 24);
    let key = app.current().unwrap();
    type_keys(&mut app, "w");
    app.update(Msg::Wheel(0, 5, 1));
    app.prepare(now());
    type_keys(&mut app, "300k⏎");
    assert_ne!(app.current(), Some(key));
    let set = |key| app.sessions.get(key).unwrap().set_window;
    assert_eq!(set(key), Some(300_000));
    assert_eq!(set(app.current().unwrap()), None);
}

#[test]
fn a_window_for_what_is_gone_is_not_asked() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "w30");
    let file = app.current().unwrap().file;
    app.update(Msg::Update(Update::Vanished(file)));
    app.prepare(now());
    assert!(app.ui.prompt.is_none());
}

#[test]
fn groups() {
    at_each_size("groups", "pp⏎", logs);
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "pp⏎");
    let all = app.lines().len();
    // The selected session's group heading is above it: folded, its sessions are gone.
    app.update(Msg::Key(KeyPress::Home));
    app.prepare(now());
    assert!(
        app.selected_line()
            .is_some_and(|line| line.session().is_none())
    );
    type_keys(&mut app, "⏎");
    assert!(app.lines().len() < all);
    type_keys(&mut app, "⏎");
    assert_eq!(app.lines().len(), all);
    type_keys(&mut app, "pp⏎");
    insta::assert_snapshot!("groups_by_agent", text(&app, Theme::default()));
}

#[test]
fn idle_sessions_hide() {
    let mut app = app(logs(), 80, 24);
    unfold(&mut app);
    type_keys(&mut app, "i");
    insta::assert_snapshot!("live_only", text(&app, Theme::default()));
    let keys = keys_on_screen(&app);
    assert_eq!(keys.len(), app.shown.live);
    assert!(keys.iter().all(|key| app.is_live(*key)));
}

#[test]
fn a_session_is_live_while_its_agent_runs() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "G");
    let (old, live) = (app.current().unwrap(), app.shown.live);
    assert!(!app.is_live(old));
    let mut now_is = |running| {
        let file = old.file;
        let at = now();
        app.update(Msg::Update(Update::Running { file, running, at }));
        app.prepare(now());
        let is_live = app.is_live(old);
        assert_eq!(app.shown.live, live + usize::from(is_live));
        let overview = text(&app, Theme::default());
        let row = overview.lines().find(|line| line.starts_with('▌'));
        let row: String = row.unwrap_or_default().chars().take(12).collect();
        type_keys(&mut app, "⏎");
        let screen = text(&app, Theme::default());
        type_keys(&mut app, "⎋");
        let header = screen.lines().next().unwrap_or_default().trim_end();
        let end = header.rsplit_once("   ").map_or("", |(_, end)| end.trim());
        (is_live, row, end.to_owned())
    };
    let of = [
        None,
        Some(ProcessActivity::Busy),
        Some(ProcessActivity::Idle),
        Some(ProcessActivity::Waiting),
        Some(ProcessActivity::Unspecified),
        None,
    ];
    insta::assert_debug_snapshot!("running", of.map(|running| (running, now_is(running))));
}

#[test]
fn a_session_whose_process_has_ended_is_not_live() {
    let mut app = app(logs(), 80, 24);
    let key = app.current().unwrap();
    let live = app.shown.live;
    assert!(app.is_live(key), "it was written lately");
    let mut now_is = |running, ago: i64| {
        let (file, at) = (key.file, now() - jiff::SignedDuration::from_secs(ago));
        app.update(Msg::Update(Update::Running { file, running, at }));
        app.prepare(now());
        (app.is_live(key), app.shown.live)
    };
    assert_eq!(now_is(Some(ProcessActivity::Busy), 0), (true, live));
    assert_eq!(now_is(None, 0), (false, live - 1));
    assert_eq!(
        now_is(Some(ProcessActivity::Idle), 0),
        (true, live),
        "resumed"
    );
    assert_eq!(now_is(None, 3600), (true, live), "written since");
}

#[test]
fn a_key_leads_to_the_newest() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "Gn");
    let newest = app.current().unwrap();
    assert_eq!(app.age(newest), Some(2));
}

#[test]
fn a_heading_orders_the_list() {
    let mut app = app(logs(), 120, 40);
    let row = app.overview_layout().columns.y;
    click(&mut app, (60, row));
    assert_eq!(app.ui.sort.name, "context");
    assert_eq!(app.ui.direction, Direction::Usual);
    click(&mut app, (60, row));
    assert_eq!(app.ui.direction, Direction::Reversed);
}

#[test]
fn a_hint_is_its_key() {
    let mut app = app(logs(), 120, 40);
    let footer = app.overview_layout().footer.y;
    let help = text(&app, Theme::default());
    let line = help.lines().nth(usize::from(footer)).unwrap();
    let at = line.chars().collect::<Vec<_>>();
    let at = at
        .windows(4)
        .position(|w| w.iter().collect::<String>() == "help");
    click(&mut app, (at.unwrap() as u16, footer));
    assert_eq!(app.ui.overlay, Some(Overlay::Signs));
    click(&mut app, (1, 1));
    assert_eq!(app.ui.overlay, None);
}

#[test]
fn the_sums_take_in_all_sessions_in_time() {
    let mut app = app(logs(), 80, 24);
    unfold(&mut app);
    let totals = app.shown.totals;
    let used = |key| {
        app.sessions
            .gauge(key)
            .map_or(0, |gauge| gauge.context.used)
    };
    let sum: u64 = keys_on_screen(&app).into_iter().map(used).sum();
    assert_eq!(totals.known + totals.estimated, sum);
    type_keys(&mut app, "/codex");
    assert!(app.shown.totals.known < totals.known);
}

#[test]
fn help() {
    at_each_size("signs", "?", logs);
    at_each_size("help", "??", logs);
}

#[test]
fn no_logs() {
    for (columns, rows) in SIZES {
        let mut app = app(Vec::new(), columns, rows);
        app.looked_in = vec!["~/.claude/projects".into(), "~/.codex/sessions".into()];
        app.banner = "no agent logs found; this is a demo".into();
        insta::assert_snapshot!(
            format!("empty_{columns}x{rows}"),
            text(&app, Theme::default())
        );
    }
}

#[test]
fn the_footer_of_a_first_start_begins_with_the_help() {
    for (columns, rows) in SIZES {
        let mut app = app(logs(), columns, rows);
        app.is_first_start = true;
        let footer = |app: &App| {
            let shown = text(app, Theme::default());
            shown.lines().last().unwrap_or_default().to_owned()
        };
        let first = footer(&app);
        assert!(first.starts_with(" ? help  "), "{first}");
        assert!(first.ends_with("  q quit"), "{first}");
        type_keys(&mut app, "j");
        let later = footer(&app);
        assert!(!later.starts_with(" ?"), "{later}");
        assert_eq!(later.len(), first.len());
    }
}

#[test]
fn notices_are_listed() {
    for (columns, rows) in SIZES {
        let mut app = app(logs(), columns, rows);
        let path = PathBuf::from("/home/ada/.codex/sessions");
        let what = "permission denied; check the file's permissions".to_owned();
        app.update(Msg::Problem { path, what });
        app.notify("wrote report.html".to_owned());
        app.prepare(now());
        type_keys(&mut app, "!");
        let shown = text(&app, Theme::default());
        insta::assert_snapshot!(format!("notices_{columns}x{rows}"), shown);
        // Seen notices are not shown again.
        type_keys(&mut app, "⎋");
        assert_eq!(app.notices.newest(now()), None);
    }
}

#[test]
fn a_filter_at_each_size() {
    at_each_size("filtered", "/claude s", logs);
}

/// What to do is at the end of what is said.
#[test]
fn a_file_that_is_no_log_is_explained_in_whole() {
    let mut empty = app(Vec::new(), 80, 24);
    let path = PathBuf::from("odd.jsonl");
    let what = "its first line is a JSON object with `n`, `speaker`, `words`, and no agent's format \
                fits; `ctxgauge agents` lists the agents, `ctxgauge help custom-formats` is about your own";
    let what = what.to_owned();
    empty.update(Msg::Problem { path, what });
    empty.update(Msg::Update(Update::InitialScanDone));
    empty.prepare(now());
    let words = |app: &App| -> String {
        let shown = text(app, Theme::default());
        let words = shown.split(|c: char| c.is_whitespace() || c == '│');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join(" ")
    };
    let end = "`ctxgauge help custom-formats` is about your own";
    assert!(words(&empty).contains(end), "{}", words(&empty));
    let mut full = app(logs(), 80, 24);
    full.update(Msg::Problem {
        path: PathBuf::from("odd.jsonl"),
        what: format!("{}; {end}", "it is not a log ".repeat(9)),
    });
    full.prepare(now());
    assert!(!words(&full).contains(end), "{}", words(&full));
    type_keys(&mut full, "!");
    assert!(words(&full).contains(end), "{}", words(&full));
}

#[test]
fn problems() {
    let mut app = app(logs(), 80, 24);
    let path = PathBuf::from("/home/ada/.codex/sessions");
    let what = "permission denied; check the file's permissions".to_owned();
    app.update(Msg::Problem { path, what });
    app.prepare(now());
    insta::assert_snapshot!("problem_line", text(&app, Theme::default()));
    type_keys(&mut app, "!");
    insta::assert_snapshot!("problem_overlay", text(&app, Theme::default()));
}

#[test]
fn all_items() {
    let mut app = app(logs(), 80, 24);
    let keys = keys_on_screen(&app);
    let row = keys.iter().position(|key| key.file == FileId(5)).unwrap();
    type_keys(&mut app, &"j".repeat(row));
    type_keys(&mut app, "⏎c");
    insta::assert_snapshot!("all_items", text(&app, Theme::default()));
}

#[test]
fn without_colours() {
    let theme = Theme::monochrome();
    let mut app = app(logs(), 80, 24);
    insta::assert_snapshot!("no_color_overview", text(&app, theme));
    type_keys(&mut app, OPEN_SHOP);
    insta::assert_snapshot!("no_color_session", text(&app, theme));
    let coloured = cells(&app, theme).content.iter().any(|cell| {
        cell.fg != ratatui::style::Color::Reset || cell.bg != ratatui::style::Color::Reset
    });
    assert!(!coloured);
}

#[test]
fn in_ascii() {
    let theme = crate::tests::testing::in_ascii(Theme::default());
    let mut app = app(logs(), 80, 24);
    insta::assert_snapshot!("ascii_overview", text(&app, theme));
    type_keys(&mut app, OPEN_SHOP);
    insta::assert_snapshot!("ascii_session", text(&app, theme));
    type_keys(&mut app, "?");
    let text = text(&app, theme);
    assert!(text.is_ascii() && !text.contains("? ?"), "{text}");
}

#[test]
fn in_every_theme() {
    let mut themes = Themes::default();
    let names: Vec<String> = themes.names().map(str::to_owned).collect();
    for name in names {
        themes.choose(&name).unwrap();
        let app = app(logs(), 80, 24);
        let shown = cells(&app, themes.theme());
        insta::assert_debug_snapshot!(format!("overview_in_{name}"), shown);
    }
}

#[test]
fn rows_carry_their_styles() {
    let app = app(logs(), 80, 12);
    insta::assert_debug_snapshot!("overview_styles", cells(&app, Theme::default()));
}

#[test]
fn keys_reach_what_they_name() {
    let mut app = app(logs(), 80, 24);
    assert_eq!(app.update(Msg::Key(KeyPress::Ctrl('c'))), Effect::Quit);
    assert_eq!(app.update(Msg::Key(KeyPress::Ctrl('z'))), Effect::Suspend);
    let first = app.current().unwrap();
    assert_eq!(
        app.update(Msg::Key(KeyPress::Enter)),
        Effect::LookAt(first.file)
    );
    assert_eq!(app.ui.screen, Screen::Session(first));
    type_keys(&mut app, "⎋");
    assert_eq!(app.ui.screen, Screen::Overview);
}

#[test]
fn a_filter_is_typed_live_and_cleared_by_escape() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "/gemq");
    assert_eq!(app.shown.matching.len(), 0);
    app.update(Msg::Key(KeyPress::Backspace));
    app.prepare(now());
    assert_eq!(app.shown.matching.len(), 1);
    type_keys(&mut app, "⎋");
    assert_eq!(app.shown.matching.len(), app.sessions.len());
}

#[test]
fn a_filter_is_seen_while_it_is_typed() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "/shop");
    insta::assert_snapshot!("filter", text(&app, Theme::default()));
    type_keys(&mut app, "zzz");
    insta::assert_snapshot!("filter_without_match", text(&app, Theme::default()));
}

#[test]
fn any_key_closes_an_overlay_and_does_nothing_else() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "?");
    assert!(app.ui.overlay.is_some());
    assert_eq!(app.update(Msg::Key(KeyPress::Char('q'))), Effect::None);
    assert!(app.ui.overlay.is_none());
}
