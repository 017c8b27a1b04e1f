//! The tabs of a session: the jumps, the names of all, what can be opened.

use super::at_each_size;
use super::session::{keys, press, shop};
use crate::app::App;
use crate::app::tabs::{TABS, Tab, Target};
use crate::keymap::{Action, KeyPress};
use crate::tests::testing::{logs, now, text, type_keys};
use crate::theme::Theme;

#[test]
fn jumps_are_listed_the_largest_first_and_lead_to_their_moments() {
    at_each_size("jumps", &keys("7"), logs);
    let mut app = shop(120, 40);
    let jumps = app.page().unwrap().jumps.clone();
    assert!(jumps.len() > 1 && jumps.is_sorted_by(|a, b| a.tokens >= b.tokens));
    let moment = |app: &App, rank: usize| jumps[rank].moment(&app.page().unwrap().timeline);
    // The next largest each time, and from the last one the largest again.
    for rank in (0..jumps.len()).chain([0]) {
        type_keys(&mut app, "L");
        assert_eq!(app.moment(), moment(&app, rank), "{rank}");
        let shown = text(&app, Theme::default());
        let said = format!("jump {} of {}: ", rank + 1, jumps.len());
        assert!(shown.contains(&said), "{said}: {shown}");
    }
    type_keys(&mut app, "l7j⏎");
    assert_eq!(app.moment(), moment(&app, 1));
    // What was said of a jump goes with the next move.
    for pressed in [KeyPress::Down, KeyPress::Left] {
        type_keys(&mut app, "lL");
        assert!(text(&app, Theme::default()).contains("jump 1 of "));
        press(&mut app, pressed);
        app.prepare(now());
        assert!(
            !text(&app, Theme::default()).contains("jump 1 of "),
            "{pressed}"
        );
    }
}

#[test]
fn no_name_of_a_jump_is_cut_twice() {
    for columns in (40..=200).step_by(8) {
        let mut app = shop(columns, 40);
        type_keys(&mut app, "7L");
        let shown = text(&app, Theme::default());
        let of_jumps = |line: &&str| line.contains(" +") && line.contains(" result ");
        for line in shown.lines().filter(|line| of_jumps(line)) {
            let parts = line.rsplit("  ").next().unwrap_or_default();
            for part in parts.split(", ") {
                assert!(part.matches('…').count() <= 1, "{columns}: {line}");
                // Its size is shown where there is room.
                let size = part.split(' ').next_back().unwrap_or_default();
                let is_size = size.starts_with(|c: char| c.is_ascii_digit());
                assert!(is_size || columns < 80, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn the_footer_offers_to_open_what_can_be_opened() {
    let mut app = shop(80, 24);
    for tab in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        type_keys(&mut app, tab);
        let rows = app.list().map_or(1, |(list, _)| list.ids().len().max(1));
        for row in 0..rows {
            let target = app.list().map(|(list, _)| list.target(row));
            let opens = target.is_some_and(|target| target != Target::Nothing);
            let hints = app.hints();
            let is_offered = hints.iter().any(|hint| hint.action == Some(Action::Open));
            assert_eq!(is_offered, opens, "tab {tab}, row {row}");
            type_keys(&mut app, "j");
        }
    }
}

#[test]
fn all_tabs_are_named_from_80_columns_on() {
    for columns in [80, 100, 120] {
        let mut app = shop(columns, 24);
        for tab in TABS {
            app.ui.tab = tab;
            type_keys(&mut app, "Z");
            app.ui.tab = tab;
            app.prepare(now());
            let shown = text(&app, Theme::default());
            let named = |other: &&Tab| shown.contains(other.short_name());
            let names = TABS.iter().filter(|tab| named(&&**tab));
            assert_eq!(
                names.count(),
                TABS.len(),
                "{columns}, {}: {shown}",
                tab.name
            );
        }
    }
}
