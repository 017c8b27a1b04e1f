//! The list of sessions under the keys, the mouse and the clock.

use super::*;
use crate::app::columns::Sort;
use crate::app::{Direction, FoundItem, Grouping, ListLine, SearchUpdate};
use crate::tests::testing::Log;
use jiff::{SignedDuration, Timestamp};
use model::lists::gauge::SessionGauge;
use model::lists::sessions::SessionKey;
use std::collections::HashSet;

#[test]
fn another_order_is_shown_from_its_top() {
    let mut app = many_sessions();
    let scrolled = |app: &mut App| {
        type_keys(app, "G");
        assert!(app.ui.sessions.offset() > 0);
    };
    for key in ["ss⏎", "S", "pp⏎", "pp⏎", "ss⏎"] {
        scrolled(&mut app);
        type_keys(&mut app, key);
        assert_eq!(app.ui.sessions.offset(), 0, "{key}");
        assert_eq!(app.current(), Some(keys_on_screen(&app)[0]), "{key}");
    }
    type_keys(&mut app, "pp⏎G");
    let heading = app.overview_layout().columns;
    click(&mut app, (heading.x + 4, heading.y));
    assert_eq!((app.ui.sort.name, app.ui.sessions.offset()), ("agent", 0));
}

#[test]
fn the_order_is_chosen_in_a_menu() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "s");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("▌• recent ▾"), "{shown}");
    assert!(shown.contains("kept for the next run"), "{shown}");
    // What is chosen is only used then.
    type_keys(&mut app, "jj");
    assert_eq!(app.ui.sort.name, "recent");
    type_keys(&mut app, "⏎");
    assert_eq!((app.ui.sort.name, app.ui.overlay), ("headroom", None));
    // The direction is that of this column.
    type_keys(&mut app, "sS");
    assert!(text(&app, Theme::default()).contains("▌• headroom ▴"));
    type_keys(&mut app, "k⏎");
    assert_eq!(app.ui.sort.name, "needs you");
    assert_eq!(app.ui.direction, Direction::default());
    type_keys(&mut app, "pp⏎");
    assert_eq!(app.ui.grouping, Grouping::Project);
    type_keys(&mut app, "p⎋");
    assert_eq!((app.ui.grouping, app.ui.overlay), (Grouping::Project, None));
    // Keys that are none of its do nothing, here and in the list.
    type_keys(&mut app, "siznext");
    assert_eq!(app.ui.overlay, Some(Overlay::Sort));
    assert!(!app.ui.is_live_only);
    for (key, row) in [
        (KeyPress::End, 16),
        (KeyPress::Home, 0),
        (KeyPress::PageDown, 8),
    ] {
        app.update(Msg::Key(key));
        assert_eq!(app.ui.menu_row, row, "{key:?}");
    }
    type_keys(&mut app, "⎋");
    // All rows of the menu can be reached on the smallest screen.
    let mut app = super::app(logs(), 40, 12);
    type_keys(&mut app, "skkk");
    let shown = text(&app, Theme::default());
    let row = shown
        .lines()
        .position(|line| line.contains("▌  compactions"));
    let row = row.unwrap_or_else(|| panic!("{shown}")) as u16;
    assert!(shown.contains("─ sort, more above and below ─"), "{shown}");
    click(&mut app, (18, row));
    assert_eq!(app.ui.sort.name, "compactions");
}

/// Nobody can follow an order by a number that is not there.
#[test]
fn the_number_that_the_list_is_sorted_by_is_shown() {
    for (columns, rows) in SIZES {
        let mut app = app(logs(), columns, rows);
        for column in COLUMNS.iter().filter(|column| !column.widths.is_empty()) {
            app.ui.sort = column;
            app.prepare(now());
            let shown = text(&app, Theme::default());
            let headings = shown.lines().nth(1).unwrap();
            let is_number = !matches!(column.sort, Sort::Name(_) | Sort::Recent);
            let begins: String = column.heading.chars().take(5).collect();
            assert!(!is_number || headings.contains(&begins), "{shown}");
        }
    }
}

#[test]
fn the_selection_stays_on_its_session_under_filters() {
    let mut app = app(logs(), 80, 24);
    unfold(&mut app);
    type_keys(&mut app, "/shop⏎");
    type_keys(&mut app, "G");
    let selected = app.current();
    assert!(selected.is_some() && selected != Some(keys_on_screen(&app)[0]));
    type_keys(&mut app, "⎋");
    assert_eq!((app.current(), app.ui.filter.as_str()), (selected, ""));
    assert_ne!(selected, Some(keys_on_screen(&app)[0]));
    // A filter that lists it again selects it again, as long as nothing else was selected.
    for typed in ["/agent:", "claude"] {
        type_keys(&mut app, typed);
        assert_eq!(app.current(), selected, "{typed}");
    }
    // The first one is selected instead of a session that is left out, and stays when the filter is cleared.
    type_keys(&mut app, "⏎⎋/gateway");
    let first = app.current();
    assert_eq!(first, Some(keys_on_screen(&app)[0]));
    assert_ne!(first, selected);
    type_keys(&mut app, "⎋");
    assert_eq!(app.current(), first);
}

#[test]
fn the_lines_below_the_list_have_the_sums_of_a_group() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "pp⏎/shop⏎k");
    let shown = text(&app, Theme::default());
    let below = shown.lines().skip_while(|line| !line.contains("── shop"));
    let below: Vec<&str> = below.collect();
    assert!(below[1].starts_with(" 2 sessions: 162.0k known"), "{shown}");
    assert!(
        below[2].starts_with(" largest context 129k the cart"),
        "{shown}"
    );
    // All that is listed, in one group, has the sums of the list; those that a filter leaves out are in none.
    assert!(below[3].starts_with(" 2 of 7: 162.0k known"), "{shown}");
    // Folded, it has the same.
    type_keys(&mut app, "⏎");
    let folded = text(&app, Theme::default());
    assert!(
        folded.contains(below[1]) && folded.contains(below[2]),
        "{folded}"
    );
}

#[test]
fn the_header_shows_a_filter_and_the_sort_where_both_fit() {
    let mut app = app(logs(), 77, 24);
    type_keys(&mut app, "/>1%⏎");
    let header = |app: &App| {
        text(app, Theme::default())
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let shown = header(&app);
    assert!(
        shown.contains("needs you") && shown.contains("/>1%"),
        "{shown}"
    );
    assert!(shown.ends_with("sort recent ▾"), "{shown}");
    type_keys(&mut app, &format!("/{}⏎", ">1% ".repeat(9)));
    let shown = header(&app);
    assert!(shown.contains("/>1%") && !shown.contains("sort"), "{shown}");
}

#[test]
fn the_header_counts_the_live_sessions_that_are_listed() {
    let mut app = app(logs(), 80, 24);
    unfold(&mut app);
    let all = app.shown.live;
    type_keys(&mut app, "/shop");
    let listed = keys_on_screen(&app);
    let live = listed.iter().filter(|key| app.is_live(**key)).count();
    assert!(live < all);
    assert_eq!(app.shown.live, live);
}

#[test]
fn a_click_selects_and_a_second_opens() {
    let mut app = app(logs(), 80, 24);
    let row = app.overview_layout().list.y + 2;
    click(&mut app, (10, row));
    let selected = app.current().unwrap();
    assert_eq!(keys_on_screen(&app)[2], selected);
    let effect = click(&mut app, (10, row));
    assert_eq!(effect, Effect::LookAt(selected.file));
}

#[test]
fn a_session_that_vanishes_leads_back_to_the_list() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "⏎");
    let file = app.current().unwrap().file;
    app.update(Msg::Update(Update::Vanished(file)));
    app.prepare(now());
    assert_eq!(app.ui.screen, Screen::Overview);
}

#[test]
fn ages_tick_only_while_something_lives() {
    let rested = |logs| {
        let mut app = app(logs, 80, 24);
        app.prepare(later(200));
        assert!(app.take_rested().is_some());
        app
    };
    assert_eq!(rested(logs()).next_change().unwrap().as_secs(), 1);
    assert_eq!(rested(logs().split_off(5)).next_change(), None);
}

#[test]
fn each_column_orders_the_sessions_and_the_other_way_round() {
    let mut app = app(logs(), 80, 24);
    let all = keys_on_screen(&app).len();
    let mut names = std::collections::HashSet::new();
    for _ in COLUMNS {
        let column = app.ui.sort.name;
        assert!(names.insert(column), "{column} twice");
        let one_way = keys_on_screen(&app);
        type_keys(&mut app, "S");
        let other_way = keys_on_screen(&app);
        assert_eq!((one_way.len(), other_way.len()), (all, all), "{column}");
        // One session has compacted, and none has a price: the others are the last in both directions.
        let is_one = matches!(column, "compactions" | "cost");
        assert_eq!(one_way == other_way, is_one, "{column}");
        type_keys(&mut app, "Sss⏎");
    }
    assert_eq!(app.ui.sort, Column::first());
}

#[test]
fn sizes_are_sorted_by_their_tokens_and_shares_by_their_percent() {
    let mut app = app(logs(), 80, 24);
    let sorted = |app: &mut App, name: &str, value: fn(&SessionGauge) -> Option<u64>| {
        app.ui.sort = Column::named(name).unwrap();
        type_keys(app, "SS");
        let rows = app.visible_lines().filter_map(ListLine::session);
        // Sub-agents are below their parents.
        let rows = rows.filter(|row| row.depth == 0);
        let gauges = rows.filter_map(|row| app.sessions.gauge(row.key));
        let values: Vec<_> = gauges.map(value).collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{name}: {values:?}");
        assert!(values[0] > values[1]);
    };
    sorted(&mut app, "context", |gauge| Some(gauge.context.used));
    sorted(&mut app, "trigger", |gauge| {
        Some(gauge.context.fill(gauge.limits()))
    });
    sorted(&mut app, "largest", |gauge| {
        Some(gauge.largest.as_ref()?.tokens)
    });
    // The line below the list names it.
    let shown = text(&app, Theme::default());
    assert!(shown.contains("largest Grep"), "{shown}");
}

#[test]
fn live_sessions_keep_their_places() {
    let mut app = app(logs(), 80, 24);
    let before = keys_on_screen(&app);
    let last = before
        .iter()
        .rfind(|key| app.age(**key) <= Some(model::lists::sessions::LIVE_SECONDS));
    let key = *last.unwrap();
    let entry = Entry {
        conversation: key.conversation,
        place: Place::default(),
        at: Some(now()),
        event: Event::Skipped("progress".into()),
    };
    app.update(Msg::Update(Update::Appended {
        file: key.file,
        entries: vec![entry],
    }));
    app.prepare(now());
    assert_eq!(before, keys_on_screen(&app));
    assert_eq!(app.age(key), Some(0));
}

/// A set of sessions whose list is not made again for every update.
fn many_sessions() -> App {
    let many = (0..1_500).map(|n| Log::found(n, "codex", &format!("s{n}"), 1_000 + n as i64));
    app(many.collect(), 80, 24)
}

fn key_of(file: u64) -> SessionKey {
    SessionKey {
        file: FileId(file),
        conversation: Conversation::Main,
    }
}

/// A session is found, the newest of all.
fn find(app: &mut App, file: u64) {
    let log = Log::found(file, "codex", "new", 500);
    for update in log.into_updates() {
        app.update(Msg::Update(update));
    }
}

fn later(ms: i64) -> Timestamp {
    now() + SignedDuration::from_millis(ms)
}

#[test]
fn a_large_list_is_not_made_again_for_every_update() {
    let counts = |app: &App| (app.shown.matching.len(), app.shown.listed_of);
    let mut app = many_sessions();
    let before = keys_on_screen(&app);
    find(&mut app, 9_000);
    for ms in [0, 50, 199] {
        app.catch_up(later(ms));
        app.prepare(later(ms));
        assert_eq!(keys_on_screen(&app), before, "after {ms} ms");
        assert_eq!(counts(&app), (1500, 1500));
        // A frame follows without another update.
        assert!(app.next_change().unwrap().as_millis() <= 40);
    }
    app.prepare(later(200));
    assert_eq!(keys_on_screen(&app)[0], key_of(9_000));
    assert_eq!(counts(&app), (1501, 1501));
    // It is right, and was not made by a key: nothing more is due but sums and ages.
    for step in 1..20 {
        app.prepare(later(200 + step * 40));
        app.take_rested();
    }
    assert!(app.next_change().is_none_or(|wait| wait.as_secs() >= 1));
}

#[test]
fn a_small_list_is_made_again_for_every_update() {
    let mut app = app(logs(), 80, 24);
    let before = keys_on_screen(&app);
    find(&mut app, 9_000);
    app.prepare(now());
    assert_eq!(keys_on_screen(&app).len(), before.len() + 1);
}

#[test]
fn keys_that_change_a_large_list_see_all_of_it() {
    for keys in ["ss⏎", "S", "pp⏎", "/new"] {
        let mut app = many_sessions();
        find(&mut app, 9_000);
        type_keys(&mut app, keys);
        let lines = app.lines().iter();
        let mut sessions = lines.filter_map(crate::app::ListLine::session);
        assert!(sessions.any(|row| row.key == key_of(9_000)), "{keys}");
    }
}

#[test]
fn the_selection_in_a_large_list_stays_on_its_session() {
    let mut app = many_sessions();
    type_keys(&mut app, "jjj");
    let selected = app.current();
    for n in 0..10 {
        find(&mut app, 9_000 + n);
        app.prepare(later(90 * n as i64));
        assert_eq!(app.current(), selected);
    }
    // A key moves it by one row of what is on screen.
    let below = keys_on_screen(&app).into_iter();
    let below = below.skip_while(|key| Some(*key) != selected).nth(1);
    find(&mut app, 9_100);
    app.catch_up(later(850));
    app.update(Msg::Key(KeyPress::Char('j')));
    app.prepare(later(850));
    assert_eq!(app.current(), below);
}

#[test]
fn a_session_that_is_gone_leaves_a_large_list_at_once() {
    let mut app = many_sessions();
    let first = keys_on_screen(&app)[0];
    app.update(Msg::Update(Update::Vanished(first.file)));
    app.prepare(later(1));
    assert!(!keys_on_screen(&app).contains(&first));
}

#[test]
fn a_clock_that_is_set_back_does_not_stop_the_list() {
    let mut app = many_sessions();
    find(&mut app, 9_000);
    app.prepare(later(-60_000));
    assert_eq!(keys_on_screen(&app)[0], key_of(9_000));
}

/// Of a session that is only listed, messages are searched for the words of the filter.
#[test]
fn messages_are_searched_for_the_words_of_a_filter() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "/teapot");
    assert_eq!(keys_on_screen(&app), []);
    assert_eq!(app.take_filter_search(), None, "the filter may go on");
    app.prepare(later(400));
    let request = app.take_filter_search().expect("a search");
    assert_eq!(request.pattern, "teapot");
    assert_eq!(app.take_filter_search(), None, "it runs");
    let listed = app
        .sessions
        .keys()
        .filter(|key| app.sessions.get(*key).is_none());
    let listed: HashSet<SessionKey> = listed.collect();
    assert!(!listed.is_empty());
    assert_eq!(*request.sessions, listed);
    let key = *listed.iter().next().expect("a session");
    for (role, text) in [
        (Role::Tool, "a teapot"),
        (Role::User, "a kettle"),
        (Role::User, "the Teapot"),
    ] {
        assert_eq!(keys_on_screen(&app), [], "{role:?} {text}");
        app.take_filter_news(&SearchUpdate::Found(Box::new(FoundItem {
            key,
            place: Place::default(),
            nth: 0,
            kind: Kind::Text,
            hash: 0,
            role,
            label: String::new(),
            tokens: 1,
            source: Source::Estimated,
            request: String::new(),
            in_context: true,
            text: text.to_owned(),
            matches: Vec::new(),
            line: 1,
            more: 0,
        })));
        app.prepare(later(800));
    }
    assert_eq!(keys_on_screen(&app), [key]);
    type_keys(&mut app, "⎋");
    assert!(!app.filters_messages());
}

#[test]
fn sub_agents_are_folded_below_their_parent() {
    let mut app = app(logs(), 120, 40);
    let (parent, child) = (key_of(2), key_of(3));
    let shown = text(&app, Theme::default());
    assert!(
        shown.contains("·▸claude") && !shown.contains("└"),
        "{shown}"
    );
    assert!(!keys_on_screen(&app).contains(&child));
    type_keys(&mut app, "/shop⏎ ");
    assert_eq!(keys_on_screen(&app), [parent, child]);
    assert!(text(&app, Theme::default()).contains("1 of 6 sessions, 1 sub-agent"));
    let shown = text(&app, Theme::default());
    let names = shown.lines().find(|line| line.contains("└ claude"));
    let names = names.unwrap_or_default();
    assert!(names.contains("shop   "), "{shown}");
    assert!(names.contains("Explore: find all callers"), "{shown}");
    assert!(
        shown.contains("▾claude") && shown.contains("1 sub-agent"),
        "{shown}"
    );
    // From the sub-agent, the key hides it.
    type_keys(&mut app, "j ");
    assert_eq!(keys_on_screen(&app), [parent]);
    assert_eq!(app.current(), Some(parent));
    // Where its parent is not listed, it is listed by itself.
    type_keys(&mut app, "⎋/haiku⏎");
    assert_eq!(keys_on_screen(&app), [child]);
}

/// Sub-agents stay below their parent whatever the list is sorted by, and in its group.
#[test]
fn sub_agents_stay_with_their_parent_in_every_order() {
    let mut app = app(logs(), 120, 40);
    unfold(&mut app);
    let (parent, child) = (key_of(2), key_of(3));
    for _ in COLUMNS {
        for _ in 0..2 {
            let keys = keys_on_screen(&app);
            let at = keys.iter().position(|key| *key == child).unwrap();
            assert_eq!(keys[at - 1], parent, "{}", app.ui.sort.name);
            let shown = text(&app, Theme::default());
            assert_eq!(shown.matches("└ claude").count(), 1, "{shown}");
            type_keys(&mut app, "S");
        }
        type_keys(&mut app, "ss⏎");
    }
}

/// A filter that leaves the parent out does not move its helper to another project.
#[test]
fn a_helper_is_in_the_group_of_its_parents_project() {
    let helper = Log::found(9, "claude-code", "agent-b2", 30)
        .meta(
            "/home/ada/worktrees/4te",
            "claude-haiku-4-5",
            None,
            Some("5f0c-mid"),
        )
        .user(700, "find the callers")
        .answer(14_000, 200, "Grep", "connect");
    let logs = logs().into_iter().chain([helper]);
    let mut app = app(logs.collect(), 120, 40);
    type_keys(&mut app, "pp⏎/callers");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("▾ shop  2 sessions"), "{shown}");
    assert!(!shown.contains("▾ 4te"), "{shown}");
}

/// Rows without a number are the last, in both directions.
#[test]
fn sessions_without_a_number_come_last() {
    for name in ["headroom", "next", "known", "cache"] {
        let mut app = app(logs(), 200, 60);
        app.ui.sort = Column::named(name).unwrap();
        for _ in 0..2 {
            type_keys(&mut app, "S");
            let (Sort::Lowest(number) | Sort::Highest(number)) = app.ui.sort.sort else {
                panic!("{name} is no number");
            };
            let has = |key: &SessionKey| number(app.sessions.gauge(*key).unwrap()).is_some();
            let rows: Vec<bool> = app
                .lines()
                .iter()
                .filter_map(ListLine::session)
                .filter(|row| row.depth == 0)
                .map(|row| has(&row.key))
                .collect();
            assert!(rows.is_sorted_by(|a, b| a >= b), "{name}: {rows:?}");
            assert!(rows[0] && !rows[rows.len() - 1], "{name}");
        }
    }
}

#[test]
fn a_filter_keeps_the_selection_and_shows_the_sort() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "G");
    let last = app.current();
    type_keys(&mut app, "/claude");
    assert_eq!(app.current(), last);
    let shown = text(&app, Theme::default());
    let header = shown.lines().next().unwrap_or_default();
    assert!(
        header.contains("/claude") && header.ends_with("sort recent ▾"),
        "{shown}"
    );
    // Moving the selection is not undone by what the filter is cleared with.
    type_keys(&mut app, "⏎k");
    let selected = app.current();
    type_keys(&mut app, "⎋");
    assert_eq!(app.current(), selected);
}

/// The filter finds every name and title that is on screen.
#[test]
fn a_filter_finds_what_is_shown() {
    let untitled = Log::found(8, "gemini-cli", "0a1b2c3d-gem", 50)
        .event(Event::Meta(Box::new(Meta {
            model: Some("gemini-3-pro".into()),
            ..Meta::default()
        })))
        .user(20, "<task>mend the kettle</task> now");
    let logs = logs().into_iter().chain([untitled]);
    let mut app = app(logs.collect(), 200, 60);
    for row in keys_on_screen(&app) {
        let name = app.sessions.name(row);
        let title = app.sessions.title(row).unwrap_or_default().into_owned();
        for shown in [name, title] {
            type_keys(&mut app, &format!("/{shown}"));
            assert!(keys_on_screen(&app).contains(&row), "{shown}");
            type_keys(&mut app, "⎋");
        }
    }
}

#[test]
fn the_keys_are_in_groups_and_can_be_filtered() {
    let mut app = app(logs(), 120, 60);
    type_keys(&mut app, "??");
    let shown = text(&app, Theme::default());
    let at = |words: &str| {
        shown
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {shown}"))
    };
    assert!(
        at("open and go back") < at("list and find")
            && at("list and find") < at("share and open elsewhere")
    );
    type_keys(&mut app, "/REPORT");
    let shown = text(&app, Theme::default());
    assert!(
        shown.contains("write a report") && shown.contains("/REPORT"),
        "{shown}"
    );
    assert!(!shown.contains("go to the top"), "{shown}");
    type_keys(&mut app, "⎋");
    assert!(text(&app, Theme::default()).contains("go to the top"));
    type_keys(&mut app, "q");
    assert_eq!(app.ui.overlay, None);
}
