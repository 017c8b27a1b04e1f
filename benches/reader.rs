//! How long a page of an item's text takes to be shown: wrapped, searched, indented.
//!
//! `cargo bench --bench reader`.

use ctxgauge::model::event::{Conversation, Place};
use ctxgauge::model::lists::sessions::{FileId, SessionKey};
use ctxgauge::model::lists::text::{PAGE_BYTES, Text, TextPage, TextRequest};
use ctxgauge::tui::app::pager::Pager;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Rows of which a page is made.
const ROWS: [(&str, &str); 4] = [
    (
        "code",
        "    let found = texts.iter().filter(|text| text.len() > 80).count();\n",
    ),
    (
        "one line",
        "a log of one line that has no end at all and 1234 numbers in it, ",
    ),
    (
        "Chinese",
        "上下文窗口有多满，谁填满了它，以及代理何时压缩。\n",
    ),
    (
        "JSON",
        "{\"name\":\"value\",\"list\":[1,2,3],\"nested\":{\"a\":null,\"b\":true}},",
    ),
];

/// A page full of a row.
fn page(name: &str) -> Text {
    let row = ROWS
        .iter()
        .find(|(n, _)| *n == name)
        .map_or("", |(_, row)| row);
    let rows = PAGE_BYTES as usize / row.len();
    let mut text = row.repeat(rows);
    if name == "JSON" {
        text = format!("[{}]", text.trim_end_matches(','));
    }
    Text {
        bytes: text.len() as u64,
        lines: text.lines().count() as u64,
        text,
        pages: 1,
        line: 1,
    }
}

fn opened(text: Text) -> Pager {
    let (file, conversation) = (FileId(1), Conversation::Main);
    let of = TextRequest {
        file,
        place: Place::default(),
        hash: 1,
        page: 0,
    };
    let mut reader = Pager::open(SessionKey { file, conversation }, of);
    reader.fit(80, 24);
    let _ = reader.take(TextPage { of, text: Ok(text) });
    reader
}

#[divan::bench(args = ROWS.map(|(name, _)| name))]
fn page_that_comes(bencher: Bencher<'_, '_>, name: &str) {
    bencher.with_inputs(|| page(name)).bench_values(opened);
}

#[divan::bench(args = ROWS.map(|(name, _)| name))]
fn another_width(bencher: Bencher<'_, '_>, name: &str) {
    let mut reader = opened(page(name));
    let mut width = 80;
    bencher.bench_local(|| {
        width = 161 - width;
        reader.fit(width, 24);
        black_box(reader.position())
    });
}

#[divan::bench(args = ROWS.map(|(name, _)| name))]
fn search(bencher: Bencher<'_, '_>, name: &str) {
    let mut reader = opened(page(name));
    bencher.bench_local(|| black_box(reader.search("a")));
}
