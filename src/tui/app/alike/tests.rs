use super::*;
use crate::app::Direction;
use crate::tests::testing::{Log, app, keys_on_screen, type_keys};
use proptest::prelude::*;

fn cut_to(texts: &[&str], columns: usize) -> Vec<String> {
    shortened(texts.iter().map(|text| Cow::Borrowed(*text)), columns)
}

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

#[test]
fn paths_are_cut_in_the_middle() {
    let path = "/home/ada/code/clients/north/api-gateway";
    assert_eq!(cut_to(&[path], 20), [text::middle(path, 20)]);
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
fn no_name_changes_while_the_list_is_scrolled_or_sorted() {
    let mut app = many();
    let mut names: HashMap<SessionKey, RowNames> = HashMap::new();
    for _ in 0..20 {
        for key in keys_on_screen(&app) {
            let now = app.row_names(key);
            let before = names.entry(key).or_insert_with(|| now.clone());
            assert_eq!(*before, now);
        }
        let next = match app.ui.direction {
            Direction::Usual => "S",
            Direction::Reversed => "Ss",
        };
        type_keys(&mut app, next);
        type_keys(&mut app, "jjjjjjjjjjjjjjjjjjjjjjjjj");
    }
    let titles: HashSet<&String> = names.values().map(|names| &names.title).collect();
    assert_eq!(titles.len(), names.len());
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

proptest! {
    #[test]
    fn no_text_is_wider_than_asked_and_its_neighbours_order_says_nothing(
        texts in prop::collection::vec("[ab1 ./é日\u{200d}\u{301}]{0,30}|\\PC{0,30}", 0..12),
        columns in 0usize..30,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let shown = cut_to(&texts, columns);
        for text in &shown {
            prop_assert!(text::width(text) <= columns, "{:?}", text);
        }
        let reversed: Vec<&str> = texts.iter().rev().copied().collect();
        let again = cut_to(&reversed, columns);
        prop_assert!(again.iter().rev().eq(shown.iter()));
    }
}
