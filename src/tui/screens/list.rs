//! The list of sessions under the keys, the mouse and the clock.

use super::*;

#[test]
fn the_selection_survives_another_order() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "jj");
    let selected = app.current();
    for _ in 0..5 {
        type_keys(&mut app, "s");
        assert_eq!(app.current(), selected);
    }
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
    let live = app(logs(), 80, 24);
    assert_eq!(live.next_change().unwrap().as_secs(), 1);
    let old = app(logs().split_off(5), 80, 24);
    assert_eq!(old.next_change(), None);
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
        assert_ne!(one_way, other_way, "{column}");
        type_keys(&mut app, "Ss");
    }
    assert_eq!(app.ui.sort, Column::first());
}

#[test]
fn live_sessions_keep_their_places() {
    let mut app = app(logs(), 80, 24);
    let before = keys_on_screen(&app);
    let last = before
        .iter()
        .rfind(|key| app.age(**key) <= Some(crate::tui::app::LIVE));
    let key = *last.unwrap();
    let entry = Entry {
        lane: key.lane,
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

/// Five thousand sessions: what is worked out is what is on screen.
#[test]
fn a_large_fleet_works_out_its_visible_rows_only() {
    let many =
        (0..5_000).map(|n| crate::tui::testing::Log::found(n, "codex", &format!("s{n}"), n as i64));
    let mut app = app(many.collect(), 80, 24);
    type_keys(&mut app, "G");
    let known = app
        .fleet
        .sessions()
        .filter(|(key, _)| app.summary(*key).is_some());
    assert!(known.count() <= 2 * 24);
    assert!(text(&app, Theme::default()).contains("5000 of 5000"));
}
