//! Requests for texts, and how they are fulfilled.

use crate::bytes::text::{self, in_record};
use crate::log::LogFile;
use crate::log::event::IngestEvent;
use crate::log::problem;
use formats::Format;
use model::lists::text::{Text, TextPage, TextRequest};
use std::io::{self, Write};

/// Called with the number of bytes written, or what is wrong and what to do about it.
pub type OnWritten = Box<dyn FnOnce(Result<u64, String>) + Send>;

/// A text that is wanted.
pub enum TextJob {
    /// A page of it, as a [`IngestEvent::Text`].
    Page(TextRequest),
    /// All of it, written out; the page does not matter.
    WriteAll(TextRequest, Box<dyn Write + Send>, OnWritten),
}

impl TextJob {
    /// Returns the request of the text.
    pub fn request(&self) -> TextRequest {
        match self {
            TextJob::Page(request) | TextJob::WriteAll(request, ..) => *request,
        }
    }
}

/// The jobs that wait.
#[derive(Default)]
pub(crate) struct TextQueue(Vec<TextJob>);

impl TextQueue {
    /// Adds a job; a page replaces another page, which is no longer looked at.
    pub(crate) fn put(&mut self, job: TextJob) {
        if matches!(job, TextJob::Page(_)) {
            self.0.retain(|other| !matches!(other, TextJob::Page(_)));
        }
        self.0.push(job);
    }

    /// Returns true if no job waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the newest job, since it is what is looked at.
    pub(crate) fn take(&mut self) -> Option<TextJob> {
        self.0.pop()
    }
}

/// The source of a text.
pub(crate) enum Origin {
    /// A log.
    Log(LogFile),
    /// A line that is here.
    Line(&'static Format, Vec<u8>),
    /// Nowhere, and why.
    None(String),
}

/// The text of which a page was read last. Its other pages are those of the text as it was then.
#[derive(Default)]
pub(crate) struct OpenedText(Option<(TextRequest, String)>);

impl OpenedText {
    fn page(&mut self, log: &LogFile, wanted: TextRequest) -> io::Result<Text> {
        let of = TextRequest { page: 0, ..wanted };
        let opened = self.0.take().filter(|(open, _)| *open == of);
        let (_, text) = match opened.filter(|_| wanted.page > 0) {
            Some(opened) => self.0.insert(opened),
            None => self.0.insert((of, log.store.text(log, wanted)?)),
        };
        Ok(text::page(text, wanted.page))
    }

    /// Reads a text and delivers it. Returns what is to be sent.
    pub(crate) fn do_job(&mut self, job: TextJob, origin: Origin) -> Option<IngestEvent> {
        match (job, origin) {
            (TextJob::Page(of), Origin::Log(log)) => Some(page(of, self.page(&log, of))),
            (job, origin) => do_job(job, origin),
        }
    }
}

/// Reads a text and delivers it. Returns what is to be sent.
pub(crate) fn do_job(job: TextJob, origin: Origin) -> Option<IngestEvent> {
    let wanted = job.request();
    match origin {
        Origin::Log(log) => give(job, log.store.text(&log, wanted)),
        Origin::Line(format, line) => give(job, in_record(format, wanted, &line)),
        Origin::None(why) => give(job, Err(io::Error::other(why))),
    }
}

fn page(of: TextRequest, text: io::Result<Text>) -> IngestEvent {
    let text = text.map_err(|e| why(&e));
    IngestEvent::Text(Box::new(TextPage { of, text }))
}

fn give(job: TextJob, found: io::Result<String>) -> Option<IngestEvent> {
    match job {
        TextJob::Page(of) => {
            let text = found.map(|text| text::page(&text, of.page));
            Some(page(of, text))
        }
        TextJob::WriteAll(_, mut out, done) => {
            let written = found.and_then(|text| {
                out.write_all(text.as_bytes())?;
                out.flush()?;
                Ok(text.len() as u64)
            });
            done(written.map_err(|e| why(&e)));
            None
        }
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::Other => error.to_string(),
        io::ErrorKind::NotFound => problem::LOG_GONE.to_owned(),
        _ => problem::unreadable(error, "read it"),
    }
}
