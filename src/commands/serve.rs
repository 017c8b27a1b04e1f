//! `ctxgauge serve`.

use super::metrics::{Begun, Named};
use super::options::MonitorOptions;
use super::{Call, Run, setup};
use ::metrics::pages::{Names, Pages};
use ::metrics::server::{self, listen};
use anyhow::{Result, bail};
use clap::Args;
use report::output::redact::Redaction;
use report::session::{self, SessionRequest};
use report::{HTML, Style};
use std::net::SocketAddr;
use std::path::Path;

/// `ctxgauge serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address and port to listen on. Other machines can connect if it is not a loopback address; there is no password.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9799", value_parser = address)]
    pub listen: SocketAddr,
    /// Also serve pages for a browser: the list of sessions, and a report of each. Only on a loopback address.
    #[arg(long)]
    pub pages: bool,
    /// Show texts, names and paths of logs on the pages, which leave them out by default.
    #[arg(long, requires = "pages")]
    pub texts: bool,
    /// The sessions and their names.
    #[command(flatten)]
    pub sessions: Named,
}

impl Run for Serve {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.sessions.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        // Before anything is read: a port that is in use is said at once.
        let listener = listen(self.listen)?;
        let address = listener.local_addr()?;
        if self.pages && !address.ip().is_loopback() {
            bail!(
                "--pages has no password: give a loopback address, and reach it from elsewhere by a tunnel of your own"
            );
        }
        let begun = self.sessions.begin(call)?;
        let pages = self.pages.then(|| self.pages_of(&begun));
        if !address.ip().is_loopback() {
            writeln!(
                call.err,
                "warning: other machines can read at {address}, without a password, how full each session is, its agent and its \
                 model{}",
                if self.sessions.labels.is_empty() {
                    ""
                } else {
                    ", and the labels that you added"
                }
            )?;
        }
        // Whoever started it may not read that line.
        let _ = writeln!(call.out, "listening at http://{address}/metrics");
        if self.pages {
            let _ = writeln!(call.out, "pages at http://{address}/");
        }
        let _ = call.out.flush();
        let err = &mut *call.err;
        begun.run(|followed| server::run(listener, (followed, pages), err))
    }
}

impl Serve {
    fn pages_of(&self, begun: &Begun) -> Pages {
        let (context, texts) = (begun.context.beside(), self.texts);
        let names = if texts {
            Names::Titles
        } else {
            Names::Pseudonyms
        };
        let report = move |path: &Path, session: Option<&str>| {
            let mut context = context.beside();
            context.roots.clear();
            if !texts {
                context.redaction = Redaction::On(setup::redactor(&context.rules)?);
            }
            let asked = SessionRequest {
                path: Some(path),
                session,
                ..SessionRequest::default()
            };
            let mut page = Vec::new();
            session::run(&context, &asked, Style::of_page(&HTML), &mut page)?;
            Ok(page)
        };
        Pages::new(names, Box::new(report))
    }
}

/// Reads an address with its port.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse().map_err(
        |_| "not an address of this machine with a port, such as 127.0.0.1:9799 or [::1]:9799",
    )
}
