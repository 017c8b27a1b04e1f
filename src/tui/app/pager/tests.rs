use super::*;
use model::event::{Conversation, Place};
use model::lists::sessions::FileId;
use proptest::prelude::*;

fn pager() -> Pager {
    let file = FileId(1);
    let wanted = TextRequest {
        file,
        place: Place::default(),
        hash: 7,
        page: 0,
    };
    let conversation = Conversation::Main;
    let mut pager = Pager::open(SessionKey { file, conversation }, wanted);
    pager.fit(25, 5);
    pager
}

/// The page that was asked for, of a text that comes in these.
fn page(of: TextRequest, pages: &[&str]) -> TextPage {
    let number = (of.page as usize).min(pages.len() - 1);
    let before: String = pages[..number].concat();
    TextPage {
        of,
        text: Ok(Text {
            text: pages[number].to_owned(),
            pages: pages.len() as u32,
            bytes: pages.concat().len() as u64,
            lines: pages.concat().split('\n').count() as u64,
            line: before.split('\n').count() as u64,
        }),
    }
}

/// Answers until nothing more is asked for. Returns how often.
fn answer(pager: &mut Pager, asked: Option<TextRequest>, pages: &[&str]) -> usize {
    let mut asked = asked;
    for n in 0.. {
        match asked {
            None => return n,
            Some(of) => asked = pager.take(page(of, pages)),
        }
    }
    unreachable!()
}

fn opened(pages: &[&str]) -> Pager {
    let mut pager = pager();
    let asked = Some(pager.wanted);
    assert_eq!(answer(&mut pager, asked, pages), 1);
    pager
}

fn lines(pager: &Pager) -> Vec<&str> {
    let text = pager.text();
    pager
        .visible()
        .iter()
        .map(|row| &text[row.range()])
        .collect()
}

fn current(pager: &Pager) -> Option<&str> {
    let text = pager.text();
    let rows = pager.visible().iter();
    rows.flat_map(|row| pager.matches_in(*row))
        .find(|(_, hit)| *hit == Tone::MatchHere)
        .map(|(range, _)| &text[range])
}

#[test]
fn scrolling_goes_over_the_pages() {
    let pages = ["a1\na2\na3\na4\na5\na6\na7\n", "b1\nb2\nb3"];
    let mut pager = opened(&pages);
    assert_eq!(lines(&pager), ["a1", "a2", "a3", "a4", "a5"]);
    assert_eq!(pager.scroll(2), None);
    assert_eq!(lines(&pager)[0], "a3");
    assert_eq!(pager.scroll(99), None, "first to the end of the page");
    let asked = pager.scroll(1);
    assert!(pager.is_waiting());
    assert_eq!(
        lines(&pager)[1],
        "a5",
        "until it is there, the old one stays"
    );
    assert_eq!(answer(&mut pager, asked, &pages), 1);
    assert_eq!(lines(&pager), ["b1", "b2", "b3"]);
    assert_eq!(pager.page.as_ref().unwrap().line, 8);
    let asked = pager.scroll(-1);
    answer(&mut pager, asked, &pages);
    assert_eq!(lines(&pager), ["a4", "a5", "a6", "a7", ""]);
    let asked = pager.last();
    answer(&mut pager, asked, &pages);
    assert_eq!((pager.page_number(), pager.scroll(1)), (1, None));
    let asked = pager.turn_page(SearchDirection::Back);
    answer(&mut pager, asked, &pages);
    assert_eq!(
        (pager.page_number(), pager.turn_page(SearchDirection::Back)),
        (0, None)
    );
    let asked = pager.turn_page(SearchDirection::Forward);
    answer(&mut pager, asked, &pages);
    assert_eq!(
        (
            pager.page_number(),
            pager.turn_page(SearchDirection::Forward)
        ),
        (1, None)
    );
    let asked = pager.first();
    answer(&mut pager, asked, &pages);
    assert_eq!((pager.page_number(), pager.scroll(-1)), (0, None));
}

#[test]
fn a_search_goes_over_the_pages_and_around() {
    let pages = ["one\ntwo\n", "three\n", "One\nfour one\n"];
    let mut pager = opened(&pages);
    assert_eq!(pager.search("one"), None);
    assert_eq!(current(&pager), Some("one"));
    let asked = pager.next_match(SearchDirection::Forward);
    assert_eq!(answer(&mut pager, asked, &pages), 2);
    assert_eq!(current(&pager), Some("One"));
    assert_eq!(
        pager.found().unwrap(),
        SearchStatus {
            needle: "one",
            at: 1,
            count: 2
        }
    );
    assert_eq!(pager.next_match(SearchDirection::Forward), None);
    let asked = pager.next_match(SearchDirection::Forward);
    assert_eq!(answer(&mut pager, asked, &pages), 1);
    assert_eq!(pager.page_number(), 0);
    let asked = pager.next_match(SearchDirection::Back);
    assert_eq!(answer(&mut pager, asked, &pages), 1);
    assert_eq!(pager.found().unwrap().at, 2);
    let asked = pager.search("nowhere");
    assert_eq!(answer(&mut pager, asked, &pages), 3, "all around");
    assert_eq!((pager.page_number(), pager.found().unwrap().count), (2, 0));
    assert_eq!(pager.search(""), None);
    assert_eq!(pager.found(), None);
}

#[test]
fn a_search_may_begin_before_the_text_is_there() {
    let pages = ["one\n", "two\n"];
    let mut pager = pager();
    let asked = Some(pager.wanted);
    assert_eq!(pager.search("two"), None);
    assert_eq!(answer(&mut pager, asked, &pages), 2);
    assert_eq!(current(&pager), Some("two"));
    assert_eq!(pager.found().unwrap().at, 1);
}

#[test]
fn a_hit_is_brought_on_screen_and_marked_over_rows() {
    let text = format!(
        "{}{}",
        "row\n".repeat(100),
        "x ".repeat(9) + "needle in two rows"
    );
    let mut pager = opened(&[&text]);
    assert_eq!(pager.search("needle in two"), None);
    let parts: Vec<&str> = pager
        .visible()
        .iter()
        .flat_map(|row| pager.matches_in(*row))
        .map(|(range, _)| &pager.text()[range])
        .collect();
    assert_eq!(parts.concat(), "needle in two");
}

#[test]
fn json_is_indented_by_default() {
    let mut pager = opened(&["{\"a\":1}"]);
    assert_eq!(
        (lines(&pager).len(), pager.form()),
        (3, Some(Form::Indented))
    );
    assert_eq!(pager.text, "{\"a\":1}");
    pager.switch_form();
    assert_eq!(lines(&pager), ["{\"a\":1}"]);
    let pager = opened(&["{\"a\":1}", "{}"]);
    assert_eq!(pager.form(), None, "half a text is none");
}

#[test]
fn lines_are_numbered_as_in_the_whole() {
    let pages = ["a\nb\nc", "c\nd"];
    let mut pager = opened(&pages);
    let asked = pager.last();
    answer(&mut pager, asked, &pages);
    let numbers = |pager: &Pager| -> Vec<Option<u64>> {
        pager
            .visible()
            .iter()
            .map(|row| pager.line_number(*row))
            .collect()
    };
    assert_eq!(numbers(&pager), [Some(3), Some(4)]);
    let mut pager = opened(&["[1,\n2]"]);
    assert_eq!(numbers(&pager), [Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!((pager.gutter(), pager.percent()), (5, 100));
    pager.switch_form();
    assert_eq!(numbers(&pager), [Some(1), Some(2)]);
}

#[test]
fn unreadable_text_is_reported() {
    let mut pager = pager();
    let of = pager.wanted;
    let other = TextPage {
        of: TextRequest { hash: 8, ..of },
        text: Err("no".to_owned()),
    };
    assert_eq!(pager.take(other), None);
    assert_eq!((pager.failed.as_deref(), pager.is_waiting()), (None, true));
    let text = Err("gone".to_owned());
    assert_eq!(pager.take(TextPage { of, text }), None);
    assert_eq!(
        (pager.failed.as_deref(), pager.is_waiting()),
        (Some("gone"), false)
    );
}

proptest! {
    #[test]
    fn whatever_is_pressed_something_is_on_screen(
        pages in prop::collection::vec("[a-c é漢\n]{0,60}", 1..4),
        steps in prop::collection::vec((0_u8..10, 1_usize..50), 0..40),
    ) {
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let mut pager = opened(&pages);
        for (what, n) in steps {
            let asked = match what {
                0 => pager.scroll(n as isize),
                1 => pager.scroll(-(n as isize)),
                2 => pager.first(),
                3 => pager.last(),
                4 => pager.search(["a", "b c", "é", "漢", ""][n % 5]),
                5 => pager.next_match(SearchDirection::Forward),
                6 => pager.next_match(SearchDirection::Back),
                7 => {
                    pager.fit(n, n % 7);
                    None
                }
                8 => {
                    pager.switch_form();
                    None
                }
                _ => pager.scroll(isize::MIN),
            };
            let answers = answer(&mut pager, asked, &pages);
            prop_assert!(answers <= pages.len());
            prop_assert!(!pager.is_waiting());
            prop_assert!(!pager.visible().is_empty());
            let (top, rows) = pager.position();
            prop_assert!(top < rows);
            if let Some(found) = pager.found() {
                prop_assert!(found.at <= found.count);
                if found.at > 0 && (5..=6).contains(&what) {
                    prop_assert!(current(&pager).is_some());
                }
            }
            for row in pager.visible() {
                for (range, _) in pager.matches_in(*row) {
                    prop_assert!(pager.text().get(range).is_some());
                }
            }
        }
    }
}
