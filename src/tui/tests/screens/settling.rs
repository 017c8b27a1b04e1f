//! What may still change is drawn as such.

use super::*;
use jiff::SignedDuration;
use model::lists::sessions::SessionKey;

/// The session that is selected or open, read again.
pub(super) fn read_again(app: &mut App, are_texts_counted: bool) {
    let key = app.current().unwrap();
    let mut session = app.sessions.get(key).unwrap().clone();
    session.is_counted = are_texts_counted;
    let sessions = vec![(key.conversation, session)];
    let file = key.file;
    app.update(Msg::Update(Update::Rebuilt { file, sessions }));
    app.prepare(now());
}

/// Screens with the session selected that has some of everything, not counted yet.
fn uncounted(columns: u16, rows: u16) -> App {
    let mut app = app(logs(), columns, rows);
    type_keys(&mut app, "/opus⏎");
    read_again(&mut app, false);
    app
}

fn shown(app: &App) -> String {
    text(app, Theme::default())
}

#[test]
fn provisional_numbers_of_the_list_are_marked_until_they_are_counted() {
    let mut app = uncounted(100, 24);
    assert!(shown(&app).contains("T ~93k · largest"), "{}", shown(&app));
    assert!(shown(&app).contains("~61.1k (~37%)"), "{}", shown(&app));
    assert!(!shown(&app).contains("counting"));
    app.prepare(now() + SignedDuration::from_secs(1));
    assert!(app.take_rested().is_some());
    // A word that comes and goes moves no number.
    assert!(shown(&app).contains("T ~93k · largest"), "{}", shown(&app));
    assert!(shown(&app).contains(" · counting ──"), "{}", shown(&app));
    read_again(&mut app, true);
    assert!(shown(&app).contains("T 93k · largest"), "{}", shown(&app));
}

#[test]
fn provisional_numbers_of_a_session_are_marked_until_they_are_counted() {
    for (columns, rows) in SIZES {
        let mut app = uncounted(columns, rows);
        type_keys(&mut app, "⏎");
        insta::assert_snapshot!(format!("provisional_{columns}x{rows}"), shown(&app));
        type_keys(&mut app, "2");
        assert!(shown(&app).contains('~'), "{}", shown(&app));
        type_keys(&mut app, "1");
        read_again(&mut app, true);
        let mut counted = super::app(logs(), columns, rows);
        type_keys(&mut counted, OPEN_SHOP);
        assert_eq!(shown(&app), shown(&counted));
    }
}

#[test]
fn provisional_numbers_of_compactions_and_policies_are_marked_until_they_are_counted() {
    let mut app = super::app(logs(), 80, 24);
    type_keys(&mut app, "/billing⏎⏎");
    for (tab, provisional) in [("C", "freed ~127.5k"), ("4G⏎", " ~182.6k ")] {
        type_keys(&mut app, tab);
        read_again(&mut app, false);
        let marked = shown(&app);
        assert!(marked.contains(provisional), "{marked}");
        read_again(&mut app, true);
        let counted = shown(&app);
        let settled = provisional.replace('~', "");
        assert!(counted.contains(&settled), "{counted}");
        assert!(!counted.contains(provisional), "{counted}");
    }
}

#[test]
fn the_result_of_an_action_is_no_notice() {
    let mut app = super::app(logs(), 80, 24);
    app.notify("copied 5 bytes".to_owned());
    assert!(shown(&app).contains("copied 5 bytes"));
    type_keys(&mut app, "!");
    let box_shown = shown(&app);
    assert!(!box_shown.contains("copied"), "{box_shown}");
    assert!(box_shown.contains("alerts are off"), "{box_shown}");
}

fn key(file: u64) -> SessionKey {
    SessionKey {
        file: FileId(file),
        conversation: Conversation::Main,
    }
}

#[test]
fn a_session_opens_from_its_alert() {
    let mut app = app(Vec::new(), 80, 24);
    app.set_alerts(Alerts {
        shares: vec![0.5],
        notify: vec![Channel::Screen],
        ..Alerts::default()
    });
    for update in logs().into_iter().flat_map(|log| log.into_updates()) {
        app.update(Msg::Update(update));
    }
    let read: Vec<SessionKey> = app.sessions.keys().collect();
    for key in read {
        if let Some(session) = app.sessions.get_mut(key) {
            session.coverage = model::session::Coverage::Whole;
        }
    }
    app.prepare(now());
    let alerts = app.notices.all.len();
    assert!(alerts > 1);
    assert!(shown(&app).contains("! all notices"), "{}", shown(&app));
    app.notify("copied 5 bytes".to_owned());
    type_keys(&mut app, "!");
    assert!(shown(&app).contains("Enter opens the session"));
    assert!(!shown(&app).contains("copied"), "{}", shown(&app));
    type_keys(&mut app, "⎋");
    for downs in 0..alerts {
        type_keys(&mut app, "!");
        type_keys(&mut app, &"j".repeat(downs));
        type_keys(&mut app, "⏎");
        let alert = &app.notices.all[alerts - 1 - downs];
        assert_eq!(app.open_session(), alert.session);
        assert_eq!(app.ui.overlay, None);
        type_keys(&mut app, "⎋");
    }
    // By mouse: the first click on another one selects it, the second opens it.
    type_keys(&mut app, "!");
    let screen = shown(&app);
    let row = screen
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains('▲'))
        .last();
    let row = row.map(|(row, _)| row);
    let at = (20, row.unwrap() as u16);
    click(&mut app, at);
    assert_eq!(app.open_session(), None);
    click(&mut app, at);
    assert!(app.open_session().is_some());
}

#[test]
fn a_window_is_set_for_all_sessions_of_a_model() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "/opus⏎w");
    app.update(Msg::Key(KeyPress::Tab));
    app.prepare(now());
    assert!(shown(&app).contains("● all of opus-4-6"), "{}", shown(&app));
    type_keys(&mut app, "400k⏎");
    let window = |app: &App, file| app.sessions.get(key(file)).unwrap().limits();
    assert_eq!(window(&app, 2).window, 400_000);
    assert_eq!(window(&app, 2).window_from(), "set here");
    assert_eq!(window(&app, 5).window, 200_000, "another model");

    // It is kept, and a session of its own comes before its model.
    type_keys(&mut app, "w");
    assert!(shown(&app).contains("● all of opus-4-6"), "{}", shown(&app));
    app.update(Msg::Key(KeyPress::Tab));
    type_keys(&mut app, "500_000⏎");
    let remembered = app.remember();
    let mut next = App::new(Sessions::new(rules()), now());
    next.recall(&remembered);
    for update in logs().into_iter().flat_map(|log| log.into_updates()) {
        next.update(Msg::Update(update));
    }
    assert_eq!(next.remember().windows, remembered.windows);
    assert_eq!(window(&next, 2).window, 500_000);
    type_keys(&mut app, "w⏎");
    assert_eq!(window(&app, 2).window, 400_000);
}

#[test]
fn rows_keep_their_order_while_a_window_is_typed() {
    let mut app = app(logs(), 80, 24);
    app.ui.sort = Column::named("headroom").unwrap();
    app.update(Msg::Wheel(0, 5, 0));
    app.prepare(now());
    let selected = app.current().unwrap();
    let before = keys_on_screen(&app);
    type_keys(&mut app, "w");
    let grown = super::super::testing::Log::found(4, "gemini-cli", "session-7", 1)
        .meta("/home/ada/docs", "gemini-3-pro", None, None)
        .answer(1_040_000, 900, "read_file", "ch02.md");
    for update in grown.into_updates() {
        app.update(Msg::Update(update));
    }
    app.prepare(now());
    assert_eq!(keys_on_screen(&app), before);
    // The row goes to its place then, and stays selected.
    type_keys(&mut app, "1M⏎");
    assert_ne!(keys_on_screen(&app), before);
    assert_eq!(app.current(), Some(selected));
}
