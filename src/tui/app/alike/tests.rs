use super::*;
use crate::tests::testing::{Log, app, keys_on_screen, type_keys};

#[test]
fn titles_keep_their_beginning_and_have_ids_where_rows_read_alike() {
    let log = |n: u64, folder: &str, title: &str| {
        Log::found(n, "codex", &format!("019a-{n:06}"), n as i64)
            .meta(folder, "gpt-5.4", Some(title), None)
            .user(100, "go")
    };
    let bead = |bead: &str| format!("Work on bead spotter-{bead}. Run bd show to see the details");
    let app = app(
        vec![
            log(1, "/code/spotter", &bead("dov")),
            log(2, "/code/spotter", &bead("a0y")),
            log(3, "/code/other", &bead("4te")),
            log(
                4,
                "/code/shop",
                "should we close the issue as resolved, number 1263",
            ),
        ],
        80,
        24,
    );
    let title = |key| app.row_names(key).title;
    let titles: Vec<String> = keys_on_screen(&app).into_iter().map(title).collect();
    assert_eq!(
        titles,
        [
            "Work on bead s… 000001",
            "Work on bead s… 000002",
            "Work on bead spotter-…",
            "should we close the i…",
        ]
    );
}

/// Sessions whose titles and projects are alike, more than fit on the screen.
fn many() -> App {
    let logs = (0..60).map(|n| {
        let title = format!("Work on bead spotter-{}. Run bd show to see it", n / 2);
        Log::found(n, "codex", &format!("019a-{n:06}"), n as i64)
            .meta("/code/shop", "gpt-5.4", Some(&title), None)
            .user(100 + n * 37 % 1_000, "go")
    });
    app(logs.collect(), 80, 24)
}

#[test]
fn no_two_rows_on_screen_have_the_same_names() {
    let mut app = many();
    for _ in 0..3 {
        let keys = keys_on_screen(&app);
        let names: HashSet<RowNames> = keys.iter().map(|key| app.row_names(*key)).collect();
        assert_eq!(names.len(), keys.len());
        type_keys(&mut app, "jjjjjjjjjjjjjjjjjjjjjjjjj");
    }
}

#[test]
fn names_follow_the_list_and_the_width() {
    let mut app = many();
    let first = |app: &App| app.row_names(keys_on_screen(app)[0]).title;
    let narrow = first(&app);
    app.update(crate::app::Msg::Resize(200, 60));
    app.prepare(crate::tests::testing::now());
    assert_ne!(first(&app), narrow);
    type_keys(&mut app, "/spotter-29⏎");
    assert_eq!(keys_on_screen(&app).len(), 2);
    assert!(
        first(&app).starts_with("Work on bead spotter-29. Run"),
        "{}",
        first(&app)
    );
}
