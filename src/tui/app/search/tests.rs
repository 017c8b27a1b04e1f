use super::*;
use crate::app::{Msg, Overlay, ShownItems};
use crate::keymap::KeyPress;
use crate::tests::testing::{
    Plain, app, begin_search, click, found_in, logs, now, say, shop, text, type_keys,
};
use crate::theme::Theme;
use model::lists::sessions::{FileId, Update};

fn press(app: &mut App, key: KeyPress) -> Effect {
    let effect = app.update(Msg::Key(key));
    app.prepare(now());
    effect
}

/// What Enter asks for after these keys.
fn asked(app: &mut App, keys: &str) -> SearchRequest {
    type_keys(app, keys);
    match press(app, KeyPress::Enter) {
        Effect::Search(request) => request,
        other => panic!("{other:?}"),
    }
}

fn searching(app: &App) -> &Search {
    app.search.as_ref().unwrap()
}

#[test]
fn the_listed_sessions_are_searched() {
    let mut app = app(logs(), 80, 24);
    let request = asked(&mut app, "fretry loop");
    assert_eq!(
        (&*request.pattern, request.syntax),
        ("retry loop", Syntax::Regex)
    );
    assert_eq!(request.sessions.len(), app.sessions.len());
    assert_eq!(request.filter, "");

    type_keys(&mut app, "⎋/agent:codex⏎");
    let request = asked(&mut app, "fx");
    let files: Vec<FileId> = request.sessions.iter().map(|key| key.file).collect();
    assert_eq!((files, &*request.filter), (vec![FileId(1)], "agent:codex"));

    // A folded group is listed too.
    type_keys(&mut app, "⎋⎋pk⏎");
    let request = asked(&mut app, "fx");
    assert_eq!(request.sessions.len(), app.sessions.len());
}

#[test]
fn a_pattern_is_a_regular_expression_or_a_text() {
    let mut app = app(logs(), 80, 24);
    type_keys(&mut app, "fa(");
    press(&mut app, KeyPress::Tab);
    let request = asked(&mut app, "");
    assert_eq!((&*request.pattern, request.syntax), ("a(", Syntax::Text));
    // So is the next one.
    begin_search(&mut app, "a(");
    app.search.as_mut().unwrap().request.syntax = Syntax::Text;
    assert_eq!(asked(&mut app, "fb").syntax, Syntax::Text);
}

#[test]
fn a_wrong_pattern_can_be_corrected() {
    let mut app = app(logs(), 80, 24);
    asked(&mut app, "fa(");
    say(&mut app, SearchUpdate::Refused("unclosed group".to_owned()));
    let prompt = app.ui.prompt.as_ref().unwrap();
    assert_eq!((&*prompt.typed, &*prompt.wrong), ("a(", "unclosed group"));
    assert!(text(&app, Theme::default()).contains("unclosed group"));
    type_keys(&mut app, ")");
    assert_eq!(app.ui.prompt.as_ref().unwrap().wrong, "");
    assert_eq!(asked(&mut app, "").pattern, "a()");
    type_keys(&mut app, "⎋");
    assert_eq!(
        (app.ui.screen, app.search.is_none()),
        (Screen::Overview, true)
    );
}

#[test]
fn a_session_is_searched_alone_and_stays_behind_the_results() {
    let mut app = app(logs(), 80, 24);
    let _ = app.open_session_page(shop());
    app.prepare(now());
    let request = asked(&mut app, "fdb");
    assert_eq!(*request.sessions, HashSet::from([shop()]));
    let pattern = Arc::new(Plain("db".to_owned()));
    say(&mut app, SearchUpdate::Begun(request, pattern));
    let found = found_in(&app, shop(), 2, "db");
    say(&mut app, SearchUpdate::Found(Box::new(found)));
    let shown = text(&app, Theme::default());
    assert!(shown.contains("in this session"), "{shown}");
    // The next search is for the same session.
    let request = asked(&mut app, "fx");
    assert_eq!(*request.sessions, HashSet::from([shop()]));
    press(&mut app, KeyPress::Esc);
    // To the item in its session, back to the results, to the session and to the list.
    press(&mut app, KeyPress::Enter);
    press(&mut app, KeyPress::Enter);
    let back = [Screen::Results, Screen::Session(shop()), Screen::Overview];
    for screen in back {
        press(&mut app, KeyPress::Esc);
        assert_eq!(app.ui.screen, screen);
    }
}

#[test]
fn the_largest_items_are_listed_first() {
    let mut app = app(logs(), 80, 24);
    let Effect::Search(request) = press(&mut app, KeyPress::Char('L')) else {
        panic!("no search");
    };
    assert_eq!(request.syntax, Syntax::Any);
    begin_search(&mut app, "");
    app.search.as_mut().unwrap().request.syntax = Syntax::Any;
    let item = |tokens| FoundItem {
        tokens,
        ..found_in(&app, shop(), 0, "nothing like it")
    };
    let items = [5, 9, 7].map(item);
    let many = vec![item(1); MOST_FOUND];
    for found in items.into_iter().chain(many) {
        say(&mut app, SearchUpdate::Found(Box::new(found)));
    }
    let search = searching(&app);
    let tokens: Vec<u64> = search.found.iter().map(|found| found.tokens).collect();
    assert_eq!(tokens[..4], [9, 7, 5, 1]);
    assert_eq!(
        (tokens.len(), search.state),
        (MOST_FOUND, SearchState::Running)
    );
    assert!(text(&app, Theme::default()).contains("largest items"));
    // Its text is opened at its beginning.
    press(&mut app, KeyPress::Enter);
    assert!(app.is_text_found());
    assert_eq!(app.pager.as_ref().unwrap().found(), None);
}

#[test]
fn only_so_many_items_are_kept() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "e");
    let item = found_in(&app, shop(), 0, "e");
    for _ in 0..MOST_FOUND {
        assert_eq!(
            app.update(Msg::Search(SearchUpdate::Found(Box::new(item.clone())))),
            Effect::None
        );
    }
    assert_eq!(searching(&app).state, SearchState::Running);
    let more = SearchUpdate::Found(Box::new(item));
    assert_eq!(app.update(Msg::Search(more)), Effect::EndSearch);
    app.update(Msg::Search(SearchUpdate::Searched(7)));
    let search = searching(&app);
    assert_eq!(
        (search.state, search.found.len(), search.searched),
        (SearchState::Full, MOST_FOUND, 0)
    );
    let shown = text(&app, Theme::default());
    let left = "stopped at 1000 items: 7 of 7 sessions not wholly searched";
    assert!(shown.contains(left) && !shown.contains("ended"), "{shown}");
}

#[test]
fn back_leads_from_a_text_to_the_results_and_to_the_list() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "db");
    for ix in [2, 3, 9] {
        let found = found_in(&app, shop(), ix, "db");
        say(&mut app, SearchUpdate::Found(Box::new(found)));
    }
    press(&mut app, KeyPress::Down);
    assert_eq!(app.current(), Some(shop()));
    let effect = press(&mut app, KeyPress::Enter);
    let items = app.sessions.get(shop()).unwrap().items();
    let wanted = TextRequest::of(shop().file, &items[3]).unwrap();
    assert_eq!(effect, Effect::LookAndRead(wanted));
    assert_eq!(app.ui.screen, Screen::Text(shop()));

    // To the results as they were.
    press(&mut app, KeyPress::Esc);
    assert_eq!(app.ui.screen, Screen::Results);
    assert_eq!(app.ui.results.index(), 1);

    // Or to the session, in which the item is selected.
    press(&mut app, KeyPress::Enter);
    press(&mut app, KeyPress::Enter);
    assert_eq!(app.ui.screen, Screen::Session(shop()));
    assert_eq!(app.selected_item().unwrap().1, 3);
    // Its text is left to its session.
    press(&mut app, KeyPress::Enter);
    assert!(matches!(app.ui.screen, Screen::Text(_)));
    press(&mut app, KeyPress::Esc);
    assert_eq!(app.ui.screen, Screen::Session(shop()));
    press(&mut app, KeyPress::Esc);
    assert_eq!(app.ui.screen, Screen::Results);

    assert_eq!(searching(&app).state, SearchState::Running);
    assert_eq!(press(&mut app, KeyPress::Esc), Effect::EndSearch);
    assert_eq!(app.ui.screen, Screen::Overview);
    assert_eq!(searching(&app).state, SearchState::Left);

    // Nothing typed: what was found.
    type_keys(&mut app, "f⏎");
    assert_eq!(app.ui.screen, Screen::Results);
    assert_eq!(searching(&app).found.len(), 3);
}

#[test]
fn an_item_that_is_filtered_out_is_selected() {
    let mut app = app(logs(), 80, 24);
    app.ui.item_filter = "nothing like it".to_owned();
    app.ui.listed = ShownItems::default();
    let billing = SessionKey {
        file: FileId(5),
        ..shop()
    };
    begin_search(&mut app, "listing");
    let found = found_in(&app, billing, 2, "listing");
    assert!(!found.in_context);
    say(&mut app, SearchUpdate::Found(Box::new(found)));
    type_keys(&mut app, "⏎⏎");
    assert_eq!(app.selected_item().unwrap().1, 2);
    // Others list what they listed before, and so does the next run.
    assert_eq!(app.ui.listed, ShownItems::All);
    assert_eq!(app.remember().items.listed, "");
    let _ = app.open_session_page(shop());
    assert_eq!(app.ui.listed, ShownItems::InContext);
}

#[test]
fn a_session_that_is_gone_is_not_opened() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "db");
    let found = found_in(&app, shop(), 2, "db");
    say(&mut app, SearchUpdate::Found(Box::new(found)));
    app.update(Msg::Update(Update::Vanished(shop().file)));
    app.prepare(now());
    assert_eq!(press(&mut app, KeyPress::Enter), Effect::None);
    assert_eq!(app.ui.screen, Screen::Results);
    let shown = text(&app, Theme::default());
    assert!(shown.contains("no longer exists"), "{shown}");
}

#[test]
fn a_row_is_selected_and_opened_by_clicks() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "db");
    for ix in [2, 3] {
        let found = found_in(&app, shop(), ix, "db");
        say(&mut app, SearchUpdate::Found(Box::new(found)));
    }
    let list = app.overview_layout().list;
    assert_eq!(click(&mut app, (4, list.y + 1)), Effect::None);
    assert_eq!(app.ui.results.index(), 1);
    assert!(matches!(
        click(&mut app, (4, list.y + 1)),
        Effect::LookAndRead(_)
    ));
    // Below the last row nothing is.
    press(&mut app, KeyPress::Esc);
    assert_eq!(click(&mut app, (4, list.y + 5)), Effect::None);
    assert_eq!(app.ui.screen, Screen::Results);
}

#[test]
fn its_signs_and_keys_are_explained() {
    let mut app = app(logs(), 80, 24);
    begin_search(&mut app, "db");
    type_keys(&mut app, "?");
    assert_eq!(app.ui.overlay, Some(Overlay::Signs));
    let shown = text(&app, Theme::default());
    assert!(shown.contains("the first line that matches"), "{shown}");
    type_keys(&mut app, "?");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("search for something else"), "{shown}");
}
