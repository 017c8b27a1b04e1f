use super::*;
use crate::app::Direction;
use crate::tests::testing::{Log, app, keys_on_screen, type_keys};
use proptest::prelude::*;

fn cut_apart(texts: &[&str], columns: usize) -> Vec<String> {
    told_apart(texts.iter().map(|text| Cow::Borrowed(*text)), columns)
}

#[test]
fn what_differs_is_kept() {
    let beads = ["dov", "a0y", "4te", "fum"].map(|bead| {
        format!("Work on bead spotter-{bead}. Run bd show spotter-{bead} to see the details")
    });
    let beads = beads.each_ref().map(String::as_str);
    assert_eq!(
        cut_apart(&beads, 22),
        [
            "…spotter-dov. Run bd …",
            "…spotter-a0y. Run bd …",
            "…spotter-4te. Run bd …",
            "…spotter-fum. Run bd …",
        ]
    );
    assert_eq!(
        cut_apart(&["Implement it", beads[0]], 22)[1],
        "Work on bead spotter-…"
    );
}

#[test]
fn texts_that_differ_late_are_cut_late() {
    let texts = [
        "Review the change of the parser, part one",
        "Review the change of the parser, part two",
        "Review the change of the lexer",
    ];
    assert_eq!(
        cut_apart(&texts, 20),
        ["…parser, part one", "…parser, part two", "…lexer"]
    );
}

#[test]
fn paths_are_cut_in_the_middle() {
    let path = "/home/ada/code/clients/north/api-gateway";
    assert_eq!(cut_apart(&[path], 20), [text::middle(path, 20)]);
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

/// A word of a title, short enough for any of the columns below.
fn word() -> impl Strategy<Value = String> {
    "[a-z日é]{1,4}"
}

proptest! {
    /// Texts of one beginning that differ in their last word, which fits.
    #[test]
    fn texts_that_differ_in_a_word_read_differently(
        start in "[a-zA-Z ,:é日-]{0,60}",
        words in prop::collection::hash_set(word(), 2..12),
        end in "[a-z .]{0,40}",
        columns in 16usize..60,
    ) {
        let texts: Vec<String> = words.iter().map(|word| format!("{start} {word} {end}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let shown = cut_apart(&texts, columns);
        let distinct: HashSet<&String> = shown.iter().collect();
        prop_assert_eq!(distinct.len(), texts.len(), "{:?}", shown);
    }

    #[test]
    fn no_text_is_wider_than_asked_and_its_neighbours_order_says_nothing(
        texts in prop::collection::vec("[ab1 ./é日\u{200d}\u{301}]{0,30}|\\PC{0,30}", 0..12),
        columns in 0usize..30,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let shown = cut_apart(&texts, columns);
        for text in &shown {
            prop_assert!(text::width(text) <= columns, "{:?}", text);
        }
        let reversed: Vec<&str> = texts.iter().rev().copied().collect();
        let again = cut_apart(&reversed, columns);
        prop_assert!(again.iter().rev().eq(shown.iter()));
    }
}
