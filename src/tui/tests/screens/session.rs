//! A session's screen: its panels, its replay, the text of its items.

use super::{OPEN_SHOP, at_each_size};
use crate::app::tabs::{ITEMS, TABS};
use crate::app::{App, Effect, Msg, Screen};
use crate::keymap::KeyPress;
use crate::paint::Hit;
use crate::tests::testing::{Log, app, cells, click, drawn, logs, now, rules, text, type_keys};
use crate::theme::{Theme, Themes};
use model::event::{Conversation, Entry, Event, Meta, Place};
use model::lists::sessions::{FileId, Update};
use model::lists::text::{Text, TextPage, TextRequest};
use model::session::{Coverage, Session};
use render::number;

pub(super) fn keys(of: &str) -> String {
    format!("{OPEN_SHOP}{of}")
}

pub(super) fn shop(columns: u16, rows: u16) -> App {
    let mut app = app(logs(), columns, rows);
    type_keys(&mut app, OPEN_SHOP);
    app
}

/// A key that is no character.
pub(super) fn press(app: &mut App, press: KeyPress) -> Effect {
    let effect = app.update(Msg::Key(press));
    app.prepare(now());
    effect
}

#[test]
fn keys_of_a_session() {
    at_each_size("session_help", &keys("??"), logs);
    let mut app = shop(80, 24);
    type_keys(&mut app, "??");
    let top = text(&app, Theme::default());
    assert!(top.contains("↓ more below"), "{top}");
    press(&mut app, KeyPress::End);
    let end = text(&app, Theme::default());
    assert!(
        end.contains("suspend") && end.contains("more above"),
        "{end}"
    );
    type_keys(&mut app, "?");
    assert_eq!(app.ui.overlay, None, "after the keys there is nothing more");
}

#[test]
fn signs_of_a_session() {
    at_each_size("session_signs", &keys("?"), logs);
}

#[test]
fn signs_are_those_of_the_screen() {
    let signs = |app: &mut App| {
        type_keys(app, "?");
        let shown = text(app, Theme::default());
        type_keys(app, "⎋");
        shown
    };
    let mut app = shop(120, 60);
    let items = signs(&mut app);
    assert!(
        items.contains("CARRIED $") && items.contains("╱╱╱ estimated"),
        "{items}"
    );
    assert!(
        !items.contains("◆") && !items.contains("agent's own"),
        "{items}"
    );
    type_keys(&mut app, "m");
    assert!(signs(&mut app).contains("◆ marked"));
    type_keys(&mut app, "4");
    let now = signs(&mut app);
    assert!(
        now.contains("NEXT PROMPT") && !now.contains("AT REQUEST"),
        "{now}"
    );
    type_keys(&mut app, "G⏎");
    let policies = signs(&mut app);
    assert!(
        policies.contains("AT REQUEST") && !policies.contains("SHARE  "),
        "{policies}"
    );
    type_keys(&mut app, "1⏎");
    let read = signs(&mut app);
    assert!(
        read.contains("sent in all") && !read.contains("┃"),
        "{read}"
    );
}

#[test]
fn records_of_unknown_types_are_a_warning() {
    let mut app = shop(120, 40);
    assert!(!text(&app, Theme::default()).contains("unknown type"));
    let key = app.open_session().unwrap();
    app.update(Msg::Update(Update::Appended {
        file: key.file,
        entries: vec![Entry {
            conversation: key.conversation,
            place: Place::default(),
            at: Some(now()),
            event: Event::Unknown("brand-new".into()),
        }],
    }));
    app.prepare(now());
    let screen = text(&app, Theme::default());
    assert!(
        screen.contains("1 record of unknown type (claude-code"),
        "{screen}"
    );
}

#[test]
fn tools() {
    at_each_size("tools", &keys("2"), logs);
}

#[test]
fn other_policies() {
    at_each_size("what_if", &keys("4"), logs);
}

#[test]
fn sub_agents() {
    at_each_size("agents", &keys("5"), logs);
}

#[test]
fn the_course_has_a_tab_where_it_has_no_place() {
    at_each_size("timeline", &keys("6"), logs);
}

#[test]
fn a_filter_of_items() {
    at_each_size("item_filter", &keys("/role:tool >5k"), logs);
}

#[test]
fn a_size_from_which_on_items_are_oversized() {
    at_each_size("oversized", &keys("o15%"), logs);
    let mut app = shop(80, 24);
    type_keys(&mut app, "o15%⏎");
    assert_eq!(app.page().unwrap().oversized, 1);
    type_keys(&mut app, "olarge⏎");
    assert!(
        app.ui.prompt.is_some(),
        "what is not understood is not taken"
    );
}

#[test]
fn a_replay() {
    for (columns, rows) in super::SIZES {
        let mut app = shop(columns, rows);
        for _ in 0..2 {
            press(&mut app, KeyPress::Left);
        }
        type_keys(&mut app, ",");
        let shown = text(&app, Theme::default());
        insta::assert_snapshot!(format!("replay_{columns}x{rows}"), shown);
    }
}

#[test]
fn escape_leads_back_step_by_step() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "t");
    press(&mut app, KeyPress::Left);
    assert!(app.ui.replay.is_on() && !app.ui.item_filter.is_empty());
    type_keys(&mut app, "⎋");
    assert!(!app.ui.replay.is_on() && !app.ui.item_filter.is_empty());
    type_keys(&mut app, "⎋");
    assert!(app.ui.item_filter.is_empty());
    type_keys(&mut app, "⎋");
    assert_eq!(app.ui.screen, Screen::Overview);
}

#[test]
fn marks_show_the_context_without_them() {
    let mut app = shop(120, 40);
    type_keys(&mut app, "m");
    let page = app.page().unwrap();
    let list = page.list.as_deref().unwrap();
    assert_eq!(page.marked, list.item(0).unwrap().1);
    let shown = text(&app, Theme::default());
    assert!(
        shown.contains("without it") && shown.contains('◆'),
        "{shown}"
    );
    // Of the trigger, as all percentages.
    let (left, end) = (page.without_marked, page.state.limits.end());
    let percent = number::percent(left, end).unwrap();
    assert!(
        shown.contains(&format!("{percent}%)")),
        "{percent}: {shown}"
    );
    type_keys(&mut app, "M");
    assert_eq!(app.page().unwrap().marked, 0);
}

#[test]
fn marks_are_seen_at_every_height() {
    for rows in [12, 24, 60] {
        let mut app = shop(80, rows);
        type_keys(&mut app, "m");
        let shown = text(&app, Theme::default());
        assert!(shown.contains("without 1 marked: 68k, next 2"), "{shown}");
        type_keys(&mut app, "m");
        let shown = text(&app, Theme::default());
        assert!(shown.contains("without 2 marked: 50k, next "), "{shown}");
    }
    let mut app = shop(80, 24);
    type_keys(&mut app, "4m1m4G⏎");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("own rule: without 1 marked"), "{shown}");
    let (list, view) = app.list().unwrap();
    let largest = |row| {
        let cells = list.row(&view, row);
        cells[2].text.trim().to_owned()
    };
    assert_eq!((largest(1), largest(2)), ("124k".into(), "63k".into()));
}

#[test]
fn oversized_items_are_stepped_through_and_around() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "s");
    let mut seen = Vec::new();
    for _ in 0..4 {
        type_keys(&mut app, "n");
        seen.push(app.selected_item().unwrap().1);
    }
    assert_eq!(seen[0], seen[3]);
    assert_eq!(
        seen[..3]
            .iter()
            .collect::<std::collections::HashSet<_>>()
            .len(),
        3
    );
    type_keys(&mut app, "N");
    assert_eq!(app.selected_item().unwrap().1, seen[2]);
}

#[test]
fn a_tool_leads_to_its_items() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "2⏎");
    assert_eq!(app.ui.tab, ITEMS);
    assert_eq!(app.ui.item_filter, "tool:Grep");
    assert_eq!(app.list().unwrap().0.ids().len(), 2);
    type_keys(&mut app, "⎋");
    assert_eq!((app.ui.tab, &*app.ui.item_filter), (&TABS[1], ""));
    // An answer about an item is not about the text of another.
    type_keys(&mut app, "1@");
    assert!(text(&app, Theme::default()).contains(" UTC, "));
    type_keys(&mut app, "⏎");
    let shown = text(&app, Theme::default());
    assert!(!shown.contains(" UTC, "), "{shown}");
}

/// The list of sessions leaves it out: its parent's tab is where it is seen.
#[test]
fn the_session_that_wrote_a_summary_is_named_by_that() {
    let id = "agent-acompact-1";
    let run = Log::found(9, "claude-code", id, 30)
        .event(Event::Meta(Box::new(Meta {
            id: Some(id.into()),
            cwd: Some("/home/ada/code/shop".into()),
            model: Some("claude-opus-4-6".into()),
            parent: Some("5f0c-mid".into()),
            ..Meta::default()
        })))
        .user(700, "write a summary")
        .answer(124_000, 200, "Read", "a");
    let mut app = app(logs().into_iter().chain([run]).collect(), 120, 40);
    let shown = text(&app, Theme::default());
    assert!(shown.contains("6 sessions, 1 sub-agent,"), "{shown}");
    type_keys(&mut app, OPEN_SHOP);
    type_keys(&mut app, "5");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("  summary of a compaction  opus"), "{shown}");
    assert!(shown.contains("2, 161k in their contexts"), "{shown}");
}

#[test]
fn a_sub_agent_opens_and_leads_back() {
    let mut app = shop(80, 24);
    let parent = app.current();
    type_keys(&mut app, "5⏎");
    assert_ne!(app.current(), parent);
    type_keys(&mut app, "⎋");
    assert_eq!(app.current(), parent);
}

#[test]
fn the_mouse_goes_where_a_hand_would() {
    let mut app = shop(120, 40);
    // Tabs, then the timeline, then the line of the replay.
    let tab = spot(&app, |hit| hit == Hit::Tab(TABS[1].name));
    click(&mut app, tab);
    assert_eq!(app.ui.tab, &TABS[1]);
    let timeline = spot(&app, |hit| hit == Hit::Timeline);
    click(&mut app, timeline);
    assert!(app.ui.replay.is_on());
    let transport = spot(&app, |hit| hit == Hit::Transport);
    click(&mut app, transport);
    assert_eq!(app.moment(), Some(0));
    app.update(Msg::Drag(119));
    app.prepare(now());
    assert!(!app.ui.replay.is_on(), "dragged to its end it is live");
    app.update(Msg::Release);
    app.update(Msg::Drag(60));
    app.prepare(now());
    assert!(!app.ui.replay.is_on());
}

/// The first spot with such a zone, from the top left.
pub(super) fn spot(app: &App, wanted: impl Fn(Hit) -> bool) -> (u16, u16) {
    let (hits, (columns, rows)) = (drawn(app), app.ui.size);
    let spots = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
    let mut found = spots.filter(|(x, y)| hits.at(*x, *y).is_some_and(|(_, hit)| wanted(hit)));
    found.next().unwrap()
}

/// Opens the largest item's text, which comes at once.
fn reading(columns: u16, rows: u16, said: &str) -> App {
    let mut app = shop(columns, rows);
    let Effect::ReadText(of) = press(&mut app, KeyPress::Enter) else {
        panic!("no text is asked for");
    };
    answer(&mut app, of, Ok(said));
    app
}

fn answer(app: &mut App, of: TextRequest, said: Result<&str, &str>) {
    let text = match said {
        Ok(said) => Ok(Text {
            text: said.to_owned(),
            pages: 1,
            bytes: said.len() as u64,
            line: 1,
            lines: said.lines().count() as u64,
        }),
        Err(why) => Err(why.to_owned()),
    };
    app.update(Msg::Text(Box::new(TextPage { of, text })));
    app.prepare(now());
}

const JSON: &str = r#"{"files":[{"path":"src/main.rs","line":12,"text":"fn connect(url: &str)"},{"path":"src/db.rs","line":3,"text":"日本語 \u001b[31m"}],"more":false}"#;

#[test]
fn the_text_of_an_item() {
    for (columns, rows) in super::SIZES {
        let app = reading(columns, rows, JSON);
        let shown = text(&app, Theme::default());
        insta::assert_snapshot!(format!("text_{columns}x{rows}"), shown);
    }
}

#[test]
fn what_is_searched_in_a_text() {
    for (columns, rows) in super::SIZES {
        let mut app = reading(columns, rows, JSON);
        type_keys(&mut app, "/src");
        let shown = text(&app, Theme::default());
        insta::assert_snapshot!(format!("search_{columns}x{rows}"), shown);
    }
}

#[test]
fn a_text_is_searched_copied_opened_and_left() {
    let mut app = reading(80, 24, "one\ntwo\nthree two\n\u{1b}[2Jtwo");
    type_keys(&mut app, "/two⏎");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("1 of 3"), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    let copy = app.update(Msg::Key(KeyPress::Char('y')));
    assert!(matches!(copy, Effect::Copy(text) if text.ends_with("␛[2Jtwo")));
    for key in ['o', 'e'] {
        let open = app.update(Msg::Key(KeyPress::Char(key)));
        assert!(matches!(open, Effect::Open(..)), "{key}");
    }
    type_keys(&mut app, "⎋");
    assert!(matches!(app.ui.screen, Screen::Session(_)));
    assert!(app.pager.is_none(), "nothing of it is kept");
}

#[test]
fn a_text_that_cannot_be_read_says_why() {
    let mut app = shop(80, 24);
    let Effect::ReadText(of) = press(&mut app, KeyPress::Enter) else {
        panic!("no text is asked for");
    };
    answer(
        &mut app,
        of,
        Err("the log was rewritten: open the session again"),
    );
    let shown = text(&app, Theme::default());
    assert!(shown.contains("the log was rewritten"), "{shown}");
}

/// The updates of a reader that began at the end of the shop's log, or at its beginning: the first has
/// no lines.
fn reread(lines: fn(u64) -> u64) -> Msg {
    let mut session = Session::new("claude-code", rules());
    for update in logs().swap_remove(1).into_updates() {
        if let Update::Appended { entries, .. } = update {
            for mut entry in entries {
                entry.place = entry.place.on_line(lines(entry.place.line()));
                session.apply(entry);
            }
        }
    }
    session.coverage = Coverage::Whole;
    Msg::Update(Update::Rebuilt {
        file: FileId(2),
        sessions: vec![(Conversation::Main, session)],
    })
}

/// Of a session that nobody has opened only its summary is held, until its log is read.
#[test]
fn a_session_is_opened_before_its_log_is_read() {
    let mut app = app(logs(), 80, 24);
    let Msg::Update(Update::Rebuilt { file, sessions }) = reread(|line| line) else {
        panic!("no sessions");
    };
    let summarised =
        |(conversation, session): &(Conversation, Session)| (*conversation, session.summary());
    let summaries = sessions.iter().map(summarised).collect();
    app.update(Msg::Update(Update::Summaries { file, summaries }));
    app.prepare(now());
    // Without the pointer, and the lines about the selected session.
    let rows = |app: &App| {
        let shown = text(app, Theme::default());
        let rows = shown.lines().take(9);
        rows.map(|row| row.replace('▌', " ")).collect::<Vec<_>>()
    };
    let listed = rows(&app);
    type_keys(&mut app, "/opus⏎⏎");
    assert!(app.page().is_none());
    let shown = text(&app, Theme::default());
    assert!(shown.contains("reading its log"), "{shown}");
    assert!(
        shown.contains("known") && shown.contains("headroom"),
        "{shown}"
    );
    for keys in ["r", "t", "C", "⏎", "/shop⏎", "m", "?", "⎋"] {
        type_keys(&mut app, keys);
    }
    app.update(reread(|line| line));
    app.prepare(now());
    type_keys(&mut app, "⎋⎋⎋⎋⎋");
    assert_eq!(rows(&app), listed);
    type_keys(&mut app, "/opus⏎⏎");
    assert!(app.page().is_some());
}

#[test]
fn the_shown_item_is_found_again_after_a_reread() {
    let mut app = shop(80, 24);
    app.update(reread(|_| 0));
    app.prepare(now());
    press(&mut app, KeyPress::Left);
    let moment = app.moment();
    press(&mut app, KeyPress::Enter);
    assert!(moment.is_some_and(|at| at > 0) && app.item_read().is_some());
    app.update(reread(|line| line));
    app.prepare(now());
    assert!(app.item_read().is_some(), "the item is in its log");
    press(&mut app, KeyPress::Esc);
    assert_eq!(app.moment(), moment);
}

#[test]
fn in_light_and_in_ascii() {
    let mut themes = Themes::default();
    themes.choose("light").unwrap();
    let mut app = shop(80, 24);
    press(&mut app, KeyPress::Left);
    insta::assert_debug_snapshot!("replay_light", cells(&app, themes.theme()));
    let shown = text(&app, crate::tests::testing::in_ascii(Theme::default()));
    assert!(shown.is_ascii(), "{shown}");
    insta::assert_snapshot!("replay_ascii", shown);
    let plain = text(&app, Theme::monochrome());
    insta::assert_snapshot!("replay_no_color", plain);
}

/// Items that no tool made are listed by their kind.
#[test]
fn one_key_lists_the_items_like_the_selected_one() {
    let mut app = app(logs(), 120, 40);
    type_keys(&mut app, OPEN_SHOP);
    type_keys(&mut app, "/kind:skill⏎⎋");
    let row = (0..20).find(|_| {
        let kind = app.selected_item().map(|(_, _, item)| item.kind);
        let is_skill = kind == Some(model::Kind::Skill);
        if !is_skill {
            type_keys(&mut app, "j");
        }
        is_skill
    });
    assert!(row.is_some(), "no skill is listed");
    type_keys(&mut app, "t");
    assert_eq!(app.ui.item_filter, "kind:skill");
    assert_eq!(app.list().unwrap().0.ids().len(), 1);
    type_keys(&mut app, "t");
    assert_eq!(app.ui.item_filter, "");
}

/// A tab that has nothing in this session does not hide its items.
#[test]
fn an_empty_tab_is_not_kept_for_the_next_session() {
    let mut app = app(logs(), 120, 40);
    type_keys(&mut app, "/billing⏎⏎C");
    assert_eq!(app.ui.tab.name, "compactions");
    type_keys(&mut app, "⎋");
    type_keys(&mut app, OPEN_SHOP);
    assert_eq!(app.ui.tab.name, "items");
    // But the user may look at an empty one.
    type_keys(&mut app, "C");
    assert_eq!(app.ui.tab.name, "compactions");
}
