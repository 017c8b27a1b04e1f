//! Makes reports and tables of a session for the screens, in a thread of its own.

use crate::commands::setup;
use anyhow::Result;
use files::output::Existing;
use report::export::{self, Export, Place, Sizes, Table};
use report::output::redact::Redaction;
use report::session::{self, SessionRequest};
use report::{HTML, MARKDOWN, OutputFormat, ReportContext, Style, to_file};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use tui::app::{HandOut, HandOutRequest, HandOutResult};

/// The most files of the same name, each with another number.
const MOST_NAMES: usize = 999;

/// Writes files, which are made as the screens read logs.
#[derive(Clone)]
pub(super) struct Writer(pub(super) Arc<ReportContext>);

impl Writer {
    /// Makes it in a thread, and gives what came of it to `done`.
    pub(super) fn make(
        &self,
        request: HandOutRequest,
        done: Box<dyn FnOnce(HandOutResult) + Send>,
    ) {
        let writer = self.clone();
        let make = move || {
            let made = writer.make_now(&request);
            done(made.unwrap_or_else(|error| {
                HandOutResult::Said(format!("nothing was written: {error:#}"))
            }));
        };
        // If no thread can be started, `done` is dropped, which its owner notices.
        drop(thread::Builder::new().name("report".into()).spawn(make));
    }

    fn make_now(&self, request: &HandOutRequest) -> Result<HandOutResult> {
        let mut context = self.0.beside();
        context.roots.clear();
        let name = match request.kind {
            HandOut::Html => self.write(context, request, &HTML)?,
            HandOut::Markdown => self.write(context, request, &MARKDOWN)?,
            HandOut::Items => self.write_items(context, request)?,
            HandOut::Copy => {
                let mut text = Vec::new();
                self.report(&mut context, request, &MARKDOWN, &mut text)?;
                let text = String::from_utf8_lossy(&text).into_owned();
                return Ok(HandOutResult::Copy(text));
            }
        };
        let user = &self.0.user;
        let folder = user.working_folder();
        let folder = folder.first().map(|it| user.folders.display(it));
        let folder = folder.unwrap_or_default();
        Ok(HandOutResult::Said(format!("wrote {name} in {folder}")))
    }

    /// Writes a report to a file. Returns its name.
    fn write(
        &self,
        mut context: ReportContext,
        request: &HandOutRequest,
        format: &'static OutputFormat,
    ) -> Result<String> {
        let name = free(request, format.end);
        to_file(Path::new(&name), Existing::Keep, |out| {
            self.report(&mut context, request, format, out)
        })?;
        Ok(name)
    }

    fn report(
        &self,
        context: &mut ReportContext,
        request: &HandOutRequest,
        format: &'static OutputFormat,
        out: &mut dyn Write,
    ) -> Result<()> {
        let redactor = setup::redactor(&context.rules)?;
        context.redaction = Redaction::On(redactor);
        let asked = SessionRequest {
            path: Some(&request.log),
            session: request.session.as_deref(),
            here: &self.0.user.working_folder(),
            window: request.window,
        };
        session::run(context, &asked, Style::of_page(format), out)
    }

    fn write_items(&self, mut context: ReportContext, request: &HandOutRequest) -> Result<String> {
        let name = free(request, export::Format::Csv.name());
        context.roots = vec![context.given(request.log.to_path_buf())];
        let export = Export {
            tables: &[Table::Items],
            format: export::Format::Csv,
            place: Place::Path {
                path: Path::new(&name),
                existing: Existing::Keep,
                parts: &[],
            },
            sizes: Sizes::Counted,
            since: None,
        };
        export::run(&context, &export, &mut io::sink(), &mut io::sink())?;
        Ok(name)
    }
}

/// Returns a name that no file in the working directory has. From the log it contains only the agent and a day.
fn free(request: &HandOutRequest, end: &str) -> String {
    let what = match request.kind {
        HandOut::Html | HandOut::Markdown | HandOut::Copy => "report",
        HandOut::Items => "items",
    };
    let day = request.day.as_deref().unwrap_or("undated");
    let first = format!("ctxgauge-{what}-{}-{day}", request.agent);
    let others = (2..=MOST_NAMES).map(|nth| format!("{first}-{nth}"));
    let names = std::iter::once(first.clone()).chain(others);
    let mut names = names.map(|name| format!("{name}.{end}"));
    let is_free = |name: &String| Path::new(name).symlink_metadata().is_err();
    // If all exist, writing the first one is the error.
    names
        .find(is_free)
        .unwrap_or_else(|| format!("{first}.{end}"))
}
