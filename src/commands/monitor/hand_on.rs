//! Writes reports and tables of a session for the screens, in a thread of its own.

use super::as_read::AsRead;
use crate::commands::setup;
use anyhow::Result;
use files::output::Existing;
use report::export::{self, Export, Place, Sizes, Table};
use report::session::{self, Asked};
use report::{Charset, ReportContext, handout, to_file};
use std::io;
use std::path::Path;
use std::thread;
use tui::app::{FileKind, FileRequest};

/// The most files of the same name, each with another number.
const MOST_NAMES: usize = 999;

/// Writes files, which are made as the screens read logs.
#[derive(Clone)]
pub(super) struct Writer(pub(super) AsRead);

impl Writer {
    /// Writes a file in a thread, and gives what to say about it to `done`.
    pub(super) fn write(&self, request: FileRequest, done: Box<dyn FnOnce(String) + Send>) {
        let writer = self.clone();
        let write = move || {
            let said = match writer.write_now(&request) {
                Ok(name) => {
                    let folder = writer.0.user.working_folder();
                    let folder = folder.first().map(|it| writer.0.user.folders.display(it));
                    format!("wrote {name} in {}", folder.unwrap_or_default())
                }
                Err(error) => format!("nothing was written: {error:#}"),
            };
            done(said);
        };
        // If no thread can be started, `done` is dropped, which its owner notices.
        drop(thread::Builder::new().name("report".into()).spawn(write));
    }

    /// Writes a file. Returns its name.
    fn write_now(&self, request: &FileRequest) -> Result<String> {
        let mut context = self.0.context();
        context.roots.clear();
        let folder = self.0.user.working_folder();
        let format = match request.kind {
            FileKind::Html => "html",
            FileKind::Markdown => "markdown",
            FileKind::Items => return self.write_items(context, request),
        };
        let format = handout::FORMATS.iter().find(|it| it.name == format);
        let format = format.unwrap_or(&handout::FORMATS[0]);
        context.redactor = Some(setup::redactor(&context.rules, &context.formats)?);
        let name = free(request, format.end);
        let asked = Asked {
            path: Some(&request.log),
            session: request.session.as_deref(),
            here: &folder,
        };
        to_file(Path::new(&name), Existing::Keep, |out| {
            session::hand_on(&context, &asked, (format, Charset::Unicode), out)
        })?;
        Ok(name)
    }

    fn write_items(&self, mut context: ReportContext, request: &FileRequest) -> Result<String> {
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

/// A name that nothing in the working directory has. It has nothing of the log but the agent and a day.
fn free(request: &FileRequest, end: &str) -> String {
    let what = match request.kind {
        FileKind::Html | FileKind::Markdown => "report",
        FileKind::Items => "items",
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
