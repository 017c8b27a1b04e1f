//! The menu of copies.

use super::*;
use crate::app::menu::Choice;

/// A session whose command is wider than a row of the menu.
fn long() -> Vec<Log> {
    let folder = "/home/ada/work space/clients/north/services/api-gateway-2";
    let id = "5f0cbb1e-7a3d-4c55-9a0e-2f7d1c64b9aa";
    vec![
        Log::found(1, "claude-code", id, 2)
            .meta(folder, "claude-opus-4-6", None, None)
            .user(10, "hello"),
    ]
}

#[test]
fn what_a_row_has_no_room_for_is_shown_whole_below() {
    let mut app = app(long(), 80, 24);
    type_keys(&mut app, "y");
    let copyables = app.copyables(app.current().unwrap());
    for (row, copyable) in copyables.iter().enumerate() {
        let shown = text(&app, Theme::default());
        let Choice::Copy(content) = &copyable.choice else {
            continue;
        };
        // The words of the lines inside the frame, one after the other.
        let inside = shown.lines().filter_map(|line| line.split('│').nth(1));
        let lines = inside.map(str::trim).collect::<Vec<_>>().join(" ");
        assert!(lines.contains(&**content), "row {row}:\n{shown}");
        type_keys(&mut app, "j");
    }
    insta::assert_snapshot!("copy_80x24", text(&app, Theme::default()));
}

#[test]
fn the_menu_says_where_copies_go() {
    let mut app = app(long(), 40, 12);
    app.is_in_tmux = true;
    type_keys(&mut app, "y");
    let shown = text(&app, Theme::default());
    assert!(shown.contains("to tmux's buffer"), "{shown}");
    insta::assert_snapshot!("copy_40x12", shown);
}
