//! Texts of items, page after page, as a search reads them.

use super::follow;
use crate::log::event::IngestEvent;
use crate::testing::made::MadeLog;
use crate::worker::job::{OpenedText, Origin, TextJob};
use model::lists::text::{Text, TextRequest};

fn page(
    opened: &mut OpenedText,
    made: &MadeLog,
    wanted: TextRequest,
    page: u32,
) -> Result<Text, String> {
    let job = TextJob::Page(TextRequest { page, ..wanted });
    match opened.do_job(job, Origin::Log(made.log())) {
        Some(IngestEvent::Text(page)) => page.text,
        _ => panic!("no text"),
    }
}

fn wanted(made: &MadeLog) -> TextRequest {
    let (sessions, _) = follow(made);
    let items = super::of(&sessions).items();
    let longest = items.iter().max_by_key(|item| item.size.bytes).unwrap();
    TextRequest::of(made.log().facts.file, longest).unwrap()
}

fn log() -> MadeLog {
    let made = MadeLog::new("{\"toy\":1}\n{\"say\":\"");
    made.append_many(&r"größer \u6f22 \n\\ words ".repeat(1000), 500);
    made.append("\"}\n{\"toy\":2}\n");
    made
}

#[test]
fn a_search_in_a_large_text_reads_it_a_few_times_and_not_once_for_each_page() {
    let made = log();
    let (wanted, mut opened) = (wanted(&made), OpenedText::default());
    let before = made.read();
    let first = page(&mut opened, &made, wanted, 0).unwrap();
    assert!(first.pages > 8, "{}", first.pages);
    let mut text = first.text.clone();
    for n in 1..first.pages {
        let next = page(&mut opened, &made, wanted, n).unwrap();
        assert_eq!((next.bytes, next.lines), (first.bytes, first.lines));
        assert_eq!(next.line, 1 + text.matches('\n').count() as u64);
        text += &next.text;
        // The agent goes on meanwhile.
        made.append("{\"toy\":3}\n");
    }
    assert_eq!(text, "größer 漢 \n\\ words ".repeat(500_000));
    let (read, len) = (made.read() - before, made.log().facts.len);
    assert!(read < len * 2, "{read} of {len}");
}

#[test]
fn a_text_that_is_rewritten_while_it_is_read_is_not_mixed_with_another() {
    let made = log();
    let (wanted, mut opened) = (wanted(&made), OpenedText::default());
    let first = page(&mut opened, &made, wanted, 0).unwrap();
    made.rewrite("größer", "größte");
    let mut text = first.text;
    for n in 1..first.pages {
        text += &page(&mut opened, &made, wanted, n).unwrap().text;
    }
    assert_eq!(text, "größer 漢 \n\\ words ".repeat(500_000));
    // Opened again, it is read again.
    let said = page(&mut opened, &made, wanted, 0).unwrap_err();
    assert!(said.contains("rewritten"), "{said}");
}
