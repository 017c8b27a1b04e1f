//! For all that another machine may send, its rows are listed and drawn without a panic.

use super::first_line;
use super::sessions::RULES;
use ctxgauge::agents;
use ctxgauge::hosts::Host;
use ctxgauge::hosts::incoming::Incoming;
use ctxgauge::hosts::wire::{self, VERSION};
use ctxgauge::model::lists::sessions::Sessions;
use ctxgauge::tui::app::columns::{COLUMNS, Entry};
use ctxgauge::tui::app::{App, ListLine, Msg};
use jiff::Timestamp;
use std::sync::Arc;

/// The beginning of an input that is the bytes of a row. Any other input is lines.
pub const ROW: &str = "row\n";

/// The first line that this version prints.
pub fn start() -> String {
    format!(
        r#"{{"type":"start","seq":0,"at":"1970-01-01T00:00:00Z","schema":"ctxgauge.follow/1","version":"{VERSION}"}}"#
    )
}

/// The line of a session.
pub fn session(row: &str) -> String {
    format!(r#"{{"type":"session","at":"1970-01-01T00:00:00Z","session":"a","row":"{row}"}}"#)
}

/// An input is a row, or lines.
pub fn check(input: &[u8]) {
    let host = Host::read("there").expect("a name");
    let mut incoming = Incoming::new(host, agents::by_id);
    incoming.begin();
    let now = Timestamp::UNIX_EPOCH;
    let mut app = App::new(Sessions::new(Arc::clone(&RULES)), now);
    app.update(Msg::Resize(240, 60));
    let lines = match first_line(input) {
        (b"row", row) => format!("{}\n{}", start(), session(&wire::text(row))).into_bytes(),
        _ => input.to_vec(),
    };
    for line in lines.split(|byte| *byte == b'\n') {
        let Ok(news) = incoming.line(line, now) else {
            break;
        };
        for update in news.updates {
            app.update(Msg::Update(update));
        }
        app.prepare(now);
    }
    for line in app.lines() {
        let ListLine::Session(row) = line else {
            continue;
        };
        let Some(gauge) = app.sessions.gauge(row.key) else {
            continue;
        };
        for column in COLUMNS {
            let entry = Entry {
                app: &app,
                row,
                gauge,
                width: 20,
            };
            (column.cell)(&entry);
        }
    }
}
