//! The list of sessions as a page, whose rows lead to their reports.

use super::{MADE_BY, head};
use maud::{DOCTYPE, html};
use render::text::inert;

/// The time after which a browser asks for a page again, in seconds.
const REFRESH: u32 = 30;

/// A row of the list.
#[derive(Debug)]
pub struct SessionRow {
    /// The address of its report.
    pub link: String,
    /// Its name.
    pub name: String,
    /// Its agent's name.
    pub agent: String,
    /// The size of its context.
    pub size: String,
    /// The share of its trigger or window.
    pub share: String,
    /// The time since its newest record.
    pub age: String,
}

/// Returns the page of these sessions, below a note.
pub fn sessions_page(rows: &[SessionRow], note: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head("ctxgauge"))
            body {
                h1 { "Sessions" }
                main { section {
                    p.note { (note) }
                    table.many {
                        thead { tr {
                            th scope="col" { "session" }
                            th scope="col" { "agent" }
                            @for name in NUMBERS { th.number scope="col" { (name) } }
                        } }
                        tbody {
                            @for row in rows {
                                tr {
                                    td data-name="session" {
                                        a href=(row.link) { bdi { (inert(&row.name)) } }
                                    }
                                    td data-name="agent" { (inert(&row.agent)) }
                                    @for (name, number) in NUMBERS.iter().zip([&row.size, &row.share, &row.age]) {
                                        td.number data-name=(name) { (number) }
                                    }
                                }
                            }
                        }
                    }
                } }
                footer { (MADE_BY) }
            }
        }
    };
    page.into_string()
}

/// The headings of the columns of numbers.
const NUMBERS: [&str; 3] = ["context", "full", "active"];

/// Returns a page that a browser asks for again after some time.
pub fn refreshed(page: &str) -> String {
    let refresh = format!("<head><meta http-equiv=\"refresh\" content=\"{REFRESH}\">");
    page.replacen("<head>", &refresh, 1)
}
