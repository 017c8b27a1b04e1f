use super::*;
use crate::model::event::{Lane, Place};
use crate::model::fleet::FileId;
use proptest::prelude::*;

fn reader() -> Reader {
    let file = FileId(1);
    let wanted = TextRequest {
        file,
        place: Place::default(),
        hash: 7,
        page: 0,
    };
    let lane = Lane::Main;
    let mut reader = Reader::open(SessionKey { file, lane }, wanted);
    reader.fit(25, 5);
    reader
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
fn answer(reader: &mut Reader, asked: Option<TextRequest>, pages: &[&str]) -> usize {
    let mut asked = asked;
    for n in 0.. {
        match asked {
            None => return n,
            Some(of) => asked = reader.take(page(of, pages)),
        }
    }
    unreachable!()
}

fn opened(pages: &[&str]) -> Reader {
    let mut reader = reader();
    let asked = Some(reader.request());
    assert_eq!(answer(&mut reader, asked, pages), 1);
    reader
}

fn lines(reader: &Reader) -> Vec<&str> {
    let text = reader.text();
    reader
        .visible()
        .iter()
        .map(|row| &text[row.range()])
        .collect()
}

fn current(reader: &Reader) -> Option<&str> {
    let text = reader.text();
    let rows = reader.visible().iter();
    rows.flat_map(|row| reader.hits_in(*row))
        .find(|(_, hit)| *hit == Hit::Current)
        .map(|(range, _)| &text[range])
}

#[test]
fn scrolling_goes_over_the_pages() {
    let pages = ["a1\na2\na3\na4\na5\na6\na7\n", "b1\nb2\nb3"];
    let mut reader = opened(&pages);
    assert_eq!(lines(&reader), ["a1", "a2", "a3", "a4", "a5"]);
    assert_eq!(reader.scroll(2), None);
    assert_eq!(lines(&reader)[0], "a3");
    assert_eq!(reader.scroll(99), None, "first to the end of the page");
    let asked = reader.scroll(1);
    assert!(reader.is_waiting());
    assert_eq!(
        lines(&reader)[1],
        "a5",
        "until it is there, the old one stays"
    );
    assert_eq!(answer(&mut reader, asked, &pages), 1);
    assert_eq!(lines(&reader), ["b1", "b2", "b3"]);
    assert_eq!(reader.page().unwrap().line, 8);
    let asked = reader.scroll(-1);
    answer(&mut reader, asked, &pages);
    assert_eq!(lines(&reader), ["a4", "a5", "a6", "a7", ""]);
    let asked = reader.last();
    answer(&mut reader, asked, &pages);
    assert_eq!((reader.page_number(), reader.scroll(1)), (1, None));
    let asked = reader.turn(Way::Back);
    answer(&mut reader, asked, &pages);
    assert_eq!((reader.page_number(), reader.turn(Way::Back)), (0, None));
    let asked = reader.turn(Way::On);
    answer(&mut reader, asked, &pages);
    assert_eq!((reader.page_number(), reader.turn(Way::On)), (1, None));
    let asked = reader.first();
    answer(&mut reader, asked, &pages);
    assert_eq!((reader.page_number(), reader.scroll(-1)), (0, None));
}

#[test]
fn a_search_goes_over_the_pages_and_around() {
    let pages = ["one\ntwo\n", "three\n", "One\nfour one\n"];
    let mut reader = opened(&pages);
    assert_eq!(reader.search("one"), None);
    assert_eq!(current(&reader), Some("one"));
    let asked = reader.next_hit(Way::On);
    assert_eq!(answer(&mut reader, asked, &pages), 2);
    assert_eq!(current(&reader), Some("One"));
    assert_eq!(
        reader.found().unwrap(),
        Found {
            needle: "one",
            at: 1,
            hits: 2
        }
    );
    assert_eq!(reader.next_hit(Way::On), None);
    let asked = reader.next_hit(Way::On);
    assert_eq!(answer(&mut reader, asked, &pages), 1);
    assert_eq!(reader.page_number(), 0);
    let asked = reader.next_hit(Way::Back);
    assert_eq!(answer(&mut reader, asked, &pages), 1);
    assert_eq!(reader.found().unwrap().at, 2);
    let asked = reader.search("nowhere");
    assert_eq!(answer(&mut reader, asked, &pages), 3, "all around");
    assert_eq!((reader.page_number(), reader.found().unwrap().hits), (2, 0));
    assert_eq!(reader.search(""), None);
    assert_eq!(reader.found(), None);
}

#[test]
fn a_search_may_begin_before_the_text_is_there() {
    let pages = ["one\n", "two\n"];
    let mut reader = reader();
    let asked = Some(reader.request());
    assert_eq!(reader.search("two"), None);
    assert_eq!(answer(&mut reader, asked, &pages), 2);
    assert_eq!(current(&reader), Some("two"));
    assert_eq!(reader.found().unwrap().at, 1);
}

#[test]
fn a_hit_is_brought_on_screen_and_marked_over_rows() {
    let text = format!(
        "{}{}",
        "row\n".repeat(100),
        "x ".repeat(9) + "needle in two rows"
    );
    let mut reader = opened(&[&text]);
    assert_eq!(reader.search("needle in two"), None);
    let parts: Vec<&str> = reader
        .visible()
        .iter()
        .flat_map(|row| reader.hits_in(*row))
        .map(|(range, _)| &reader.text()[range])
        .collect();
    assert_eq!(parts.concat(), "needle in two");
}

#[test]
fn json_is_indented_until_told_otherwise() {
    let mut reader = opened(&["{\"a\":1}"]);
    assert_eq!(
        (lines(&reader).len(), reader.form()),
        (3, Some(Form::Indented))
    );
    assert_eq!(reader.exact(), "{\"a\":1}");
    reader.switch_form();
    assert_eq!(lines(&reader), ["{\"a\":1}"]);
    let reader = opened(&["{\"a\":1}", "{}"]);
    assert_eq!(reader.form(), None, "half a text is none");
}

#[test]
fn lines_are_numbered_as_in_the_whole() {
    let pages = ["a\nb\nc", "c\nd"];
    let mut reader = opened(&pages);
    let asked = reader.last();
    answer(&mut reader, asked, &pages);
    let numbers = |reader: &Reader| -> Vec<Option<u64>> {
        reader
            .visible()
            .iter()
            .map(|row| reader.line_number(*row))
            .collect()
    };
    assert_eq!(numbers(&reader), [Some(3), Some(4)]);
    let mut reader = opened(&["[1,\n2]"]);
    assert_eq!(numbers(&reader), [Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!((reader.gutter(), reader.percent()), (5, 100));
    reader.switch_form();
    assert_eq!(numbers(&reader), [Some(1), Some(2)]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let mut reader = reader();
    let of = reader.request();
    let other = TextPage {
        of: TextRequest { hash: 8, ..of },
        text: Err("no".to_owned()),
    };
    assert_eq!(reader.take(other), None);
    assert_eq!((reader.failed(), reader.is_waiting()), (None, true));
    let text = Err("gone".to_owned());
    assert_eq!(reader.take(TextPage { of, text }), None);
    assert_eq!(
        (reader.failed(), reader.is_waiting()),
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
        let mut reader = opened(&pages);
        for (what, n) in steps {
            let asked = match what {
                0 => reader.scroll(n as isize),
                1 => reader.scroll(-(n as isize)),
                2 => reader.first(),
                3 => reader.last(),
                4 => reader.search(["a", "b c", "é", "漢", ""][n % 5]),
                5 => reader.next_hit(Way::On),
                6 => reader.next_hit(Way::Back),
                7 => {
                    reader.fit(n, n % 7);
                    None
                }
                8 => {
                    reader.switch_form();
                    None
                }
                _ => reader.scroll(isize::MIN),
            };
            let answers = answer(&mut reader, asked, &pages);
            prop_assert!(answers <= pages.len());
            prop_assert!(!reader.is_waiting());
            prop_assert!(!reader.visible().is_empty());
            let (top, rows) = reader.position();
            prop_assert!(top < rows);
            if let Some(found) = reader.found() {
                prop_assert!(found.at <= found.hits);
                if found.at > 0 && (5..=6).contains(&what) {
                    prop_assert!(current(&reader).is_some());
                }
            }
            for row in reader.visible() {
                for (range, _) in reader.hits_in(*row) {
                    prop_assert!(reader.text().get(range).is_some());
                }
            }
        }
    }
}
