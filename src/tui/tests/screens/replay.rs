//! A replay: the moments that it goes through, by keys and by time.

use super::session::{press, shop};
use crate::app::Speed;
use crate::keymap::KeyPress;
use crate::tests::testing::{app, logs, now, text, type_keys};
use crate::theme::Theme;
use jiff::SignedDuration;

/// Every moment is drawn, and the last of them is the session as it is.
#[test]
fn a_replay_ends_live() {
    for (columns, rows) in super::SIZES {
        for log in ["/opus⏎⏎", "/billing⏎⏎", "/notes⏎⏎", "/api⏎⏎"] {
            let mut app = app(logs(), columns, rows);
            type_keys(&mut app, log);
            let live = text(&app, Theme::default());
            type_keys(&mut app, "r");
            assert!(app.ui.replay.is_on());
            let moments = app.page().unwrap().timeline.len();
            for _ in 0..moments {
                text(&app, Theme::default());
                type_keys(&mut app, ".");
            }
            assert!(!app.ui.replay.is_on());
            assert_eq!(text(&app, Theme::default()), live);
        }
    }
}

#[test]
fn moments_that_share_a_place_are_stepped_through() {
    let mut log = crate::tests::testing::Log::found(1, "gemini-cli", "one", 5)
        .meta("/home/ada/docs", "gemini-3-pro", None, None)
        .user(400, "proofread chapter two");
    for n in 0..5 {
        log = log.result("read_file", 100 + n, "# Chapter");
    }
    let mut app = app(vec![log.in_two_places()], 80, 24);
    press(&mut app, KeyPress::Enter);
    let end = app.moment().unwrap();
    assert!(end >= 5);
    for at in (0..end).rev() {
        type_keys(&mut app, ",");
        assert_eq!(app.moment(), Some(at));
    }
}

#[test]
fn time_plays_a_replay_to_its_end() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "r");
    let begun = app.page().unwrap().state.requests;
    let mut at = now();
    let mut steps = 0;
    while app.ui.replay.is_on() {
        let wait = app.next_change().unwrap();
        assert!(wait.as_secs() <= 1);
        at += SignedDuration::try_from(wait).unwrap();
        app.prepare(at);
        steps += 1;
        assert!(steps < 10_000, "it never ends");
    }
    assert!(begun < app.page().unwrap().state.requests);
    assert_eq!(app.ui.replay.playing, None);
}

#[test]
fn speeds_have_ends_and_a_step_pauses() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "r+++++++++++++++");
    assert_eq!(app.ui.replay.speed(), *Speed::ALL.last().unwrap());
    type_keys(&mut app, "----------------");
    assert_eq!(app.ui.replay.speed(), Speed::ALL[0]);
    assert!(app.ui.replay.playing.is_some());
    press(&mut app, KeyPress::Right);
    assert!(app.ui.replay.playing.is_none());
}

#[test]
fn a_step_to_a_compaction_that_there_is_not_leads_nowhere() {
    let mut app = shop(80, 24);
    type_keys(&mut app, "[");
    assert!(!app.ui.replay.is_on());
    let shown = text(&app, Theme::default());
    assert!(shown.contains("no compaction before this point"), "{shown}");
    press(&mut app, KeyPress::Left);
    let moment = app.moment();
    type_keys(&mut app, "]");
    assert_eq!(app.moment(), moment);
    assert!(app.ui.replay.is_on());
}

#[test]
fn a_request_or_a_time_is_gone_to() {
    let mut app = shop(80, 24);
    let end = app.page().unwrap().state.requests;
    for typed in ["#2", "2"] {
        type_keys(&mut app, &format!(":{typed}⏎"));
        assert_eq!(app.page().unwrap().state.requests, 2);
        assert!(app.ui.replay.is_on() && app.ui.prompt.is_none());
    }
    type_keys(&mut app, &format!(":#{}⏎", end + 1));
    let shown = text(&app, Theme::default());
    assert!(shown.contains(&format!("requests #1 to #{end}")), "{shown}");
    press(&mut app, KeyPress::Esc);
    // The time of a record, and the second before it, lead to the record.
    let timeline = &app.page().unwrap().timeline;
    let times: Vec<_> = (0..timeline.len())
        .map(|ix| timeline.moment(ix).unwrap().at)
        .collect();
    let later = (1..times.len()).find(|ix| times[*ix] > times[ix - 1] && times[ix - 1].is_some());
    let (later, at) = (later.unwrap(), times[later.unwrap()].unwrap());
    type_keys(&mut app, &format!(":{}⏎", at.strftime("%H:%M:%S")));
    assert_eq!(app.moment(), Some(later));
    for wrong in ["noon", "25:00", "03:00"] {
        type_keys(&mut app, &format!(":{wrong}⏎"));
        assert!(app.ui.prompt.is_some(), "{wrong}");
        assert_eq!(app.moment(), Some(later));
        press(&mut app, KeyPress::Esc);
    }
    type_keys(&mut app, ":⏎");
    assert_eq!(
        (app.moment(), app.ui.prompt.is_some()),
        (Some(later), false)
    );
}
