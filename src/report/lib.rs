//! Reports without a screen, for people, scripts and pipes.
//!
//! A command collects what it shows, an [`Output`]; an [`OutputFormat`] writes any of them. A new format is such a
//! constant, and an entry in the lists of the commands that have it.

pub mod about;
pub mod audit;
pub mod check;
pub mod client;
pub mod diff;
pub mod export;
pub mod follow;
pub mod ls;
pub mod output;
pub mod reading;
pub mod search;
pub mod session;
pub mod why;

pub use output::document::html::sessions::{SessionRow, refreshed, sessions_page};
pub use output::document::{Document, HTML, MARKDOWN};
pub use output::names::{joined_by, session_parts};
pub use output::redact::session_pseudonym;
pub use output::text::page::Page;
pub use output::to_file::to_file;
pub use session::only::OnlySession;

use anyhow::{Context, Result, bail};
use files::paths::User;
use formats::Format;
use ingest::discover::roots::SearchRoot;
use ingest::discover::{ScanResult, Scanner};
use ingest::{Handle, IngestEvent, Options};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::window::Rules;
use output::redact::{OmittedCounts, Redaction};
use reading::patience::{BUSY, Patience};
use reading::progress::Progress;
pub use render::ascii::Charset;
use render::ascii::in_ascii;
use render::clock::Clock;
use render::text::inert;
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokens::Counter;

/// The output of a command, in each format that the command has.
pub trait Output {
    /// Returns what people read; `None`: it is written as text alone.
    fn document(&self) -> Option<Document> {
        None
    }

    /// Writes it for people. Log text is made safe to print before.
    ///
    /// # Errors
    ///
    /// If `page` cannot be written to.
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        match self.document() {
            Some(document) => output::document::write_text(&document, page),
            None => Ok(()),
        }
    }

    /// Writes it for programs, on one line.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    fn json(&self, out: &mut dyn Write) -> Result<()>;

    /// Writes it as annotations of a GitHub workflow.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to, or its command has no such format.
    fn github(&self, _: Charset, _: &mut dyn Write) -> Result<()> {
        bail!("it is not written as annotations")
    }
}

/// A way to write an [`Output`].
#[derive(Debug, Clone, Copy)]
pub struct OutputFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its description on the command line.
    pub help: &'static str,
    /// The end of the names of its files.
    pub end: &'static str,
    /// True if people read it on a terminal.
    pub for_people: bool,
    /// True if it is for people who were not there. It is then made from the whole log, and has no texts unless they
    /// are asked for.
    pub to_hand_on: bool,
    write: fn(&dyn Output, &Style, &mut dyn Write) -> Result<()>,
    /// Appends the ASCII text that replaces a character.
    ascii: fn(char, &mut String),
}

const TEXT: OutputFormat = OutputFormat {
    name: "text",
    help: "For people",
    end: "txt",
    for_people: true,
    to_hand_on: false,
    write: |output, style, out| output::text::write(output, style.columns, out),
    ascii: output::text::ascii,
};

/// For programs.
pub const JSON: OutputFormat = OutputFormat {
    name: "json",
    help: "For programs: one JSON document on one line",
    end: "json",
    for_people: false,
    write: |output, _, out| output.json(out),
    ascii: output::json::ascii,
    ..TEXT
};

/// The formats that all outputs have, the default first.
pub static FORMATS: [OutputFormat; 2] = [TEXT, JSON];

/// The formats of outputs that are documents, the default first.
pub static DOCUMENT_FORMATS: [OutputFormat; 4] = [TEXT, JSON, HTML, MARKDOWN];

/// The style in which a report is written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// The format.
    pub format: &'static OutputFormat,
    /// Its characters.
    pub charset: Charset,
    /// The columns of the terminal; `None`: it goes elsewhere, and nothing is cut.
    pub columns: Option<usize>,
}

impl Style {
    /// Returns the style of a report that goes into a file or to a browser.
    pub fn of_page(format: &'static OutputFormat) -> Style {
        Style {
            format,
            charset: Charset::Unicode,
            columns: None,
        }
    }

    /// Writes a report.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn print(&self, output: &dyn Output, out: &mut dyn Write) -> Result<()> {
        if self.charset == Charset::Unicode {
            return (self.format.write)(output, self, out);
        }
        let mut text = Vec::new();
        (self.format.write)(output, self, &mut text)?;
        let plain = self
            .in_charset(&String::from_utf8_lossy(&text))
            .into_owned();
        Ok(out.write_all(plain.as_bytes())?)
    }

    /// Returns a text of this format in the characters that it may contain.
    fn in_charset<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.charset == Charset::Unicode || text.is_ascii() {
            return text.into();
        }
        in_ascii(text, self.format.ascii).into()
    }
}

/// The logs that reports are made from, and how they are read.
pub struct ReportContext {
    /// The formats to recognise.
    pub formats: Vec<&'static Format>,
    /// The format of every file and pipe that the user names; `None`: the content decides.
    pub forced: Option<&'static Format>,
    /// The places where logs are searched.
    pub roots: Vec<SearchRoot>,
    /// The models table.
    pub rules: Arc<Rules>,
    /// The user whose logs they are.
    pub user: User,
    /// The folder for caches; `None`: nothing is kept.
    pub cache: Option<PathBuf>,
    /// The use of the caches.
    pub cache_use: CacheUse,
    /// True if all logs that are followed are polled too.
    pub poll: bool,
    /// The clock, to find out which sessions are idle.
    pub now: fn() -> Timestamp,
    /// The zone of the user's clock.
    pub zone: TimeZone,
    /// The time that the command has waited for databases.
    pub patience: Patience,
    /// The progress of the work.
    pub progress: Progress,
    /// The texts of logs that the output shows.
    pub redaction: Redaction,
    /// The only session that is wanted; `None`: all are.
    pub only: Option<OnlySession>,
}

/// The use of caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheUse {
    /// New results are kept.
    Kept,
    /// They are read, and nothing is written.
    ReadOnly,
}

impl ReportContext {
    /// Returns the user's clock as it is now.
    pub fn clock(&self) -> Clock {
        Clock {
            now: (self.now)(),
            zone: self.zone.clone(),
        }
    }

    /// Starts the threads that find, read and follow the logs, and pass what they read to `take`.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn follow(
        self,
        take: impl Fn(IngestEvent) -> ControlFlow<()> + Clone + Send + 'static,
    ) -> io::Result<Handle> {
        ingest::start(self.options(Arc::new(Counter::new())), None, take)
    }

    /// Returns what the threads need that find, read and follow the logs.
    pub fn options(self, counter: Arc<Counter>) -> Options {
        Options {
            formats: self.formats,
            roots: self.roots,
            user: self.user,
            counter,
            rules: self.rules,
            cache: self.cache,
            poll: self.poll,
        }
    }

    /// Returns a context for the same logs, for a task beside this one. It uses no cache, and leaves no texts out.
    pub fn beside(&self) -> ReportContext {
        ReportContext {
            formats: self.formats.clone(),
            roots: self.roots.clone(),
            rules: Arc::clone(&self.rules),
            user: self.user.clone(),
            zone: self.zone.clone(),
            cache: None,
            patience: Patience::default(),
            progress: Progress::default(),
            redaction: Redaction::Off,
            only: None,
            ..*self
        }
    }

    /// Returns the root of a file or folder that the user names. Its path is made whole, because a log's settings
    /// depend on that. It is in the file system of the root around it, if there is one.
    pub fn given(&self, path: PathBuf) -> SearchRoot {
        let path = self.user.whole(path);
        let around = self.roots.iter().find(|root| path.starts_with(root.path()));
        let system = around.map(SearchRoot::system);
        let given = match self.forced {
            Some(format) => SearchRoot::Forced(format, path),
            None => SearchRoot::Given(path),
        };
        match system {
            Some(system) => SearchRoot::In(system, Box::new(given)),
            None => given,
        }
    }

    /// Returns the folders of an agent, and the folders that the user adds.
    fn roots_of(&self, format: &Format) -> Vec<SearchRoot> {
        let is_its = |root: &&SearchRoot| root.agent().is_none_or(|of| of.id == format.id);
        self.roots.iter().filter(is_its).cloned().collect()
    }

    /// Finds all logs.
    fn find(&self) -> ScanResult {
        self.find_in(self.roots.clone())
    }

    /// Finds the logs that were written to since then, or all.
    fn find_since(&self, since: Option<Timestamp>) -> ScanResult {
        let mut found = self.find();
        found
            .files
            .retain(|log| since.is_none_or(|at| log.facts.modified >= Some(at)));
        found
    }

    /// Returns the counts of what was left out so far; `None`: texts are shown.
    fn left_out(&self) -> Option<OmittedCounts> {
        Some(self.redaction.redactor()?.left_out())
    }

    /// Finds the logs below these roots. A database that is locked all the time is a problem.
    fn find_in(&self, roots: Vec<SearchRoot>) -> ScanResult {
        let env = self.user.env.look_up();
        let mut scanner = Scanner::new(roots, self.formats.clone(), env);
        let mut found = self.patience.look(&mut scanner);
        for (path, _) in &found.locked {
            found.problems.retain(|(of, _)| *of != **path);
            found.problems.push((path.to_path_buf(), BUSY.to_owned()));
        }
        if let Some(only) = &self.only {
            found.files.retain(|log| only.is_of(log.facts.file));
        }
        found
    }

    /// Finds what is at a path below these roots, or below it.
    fn find_at(&self, roots: Vec<SearchRoot>, path: &Path) -> ScanResult {
        let env = self.user.env.look_up();
        Scanner::new(roots, self.formats.clone(), env).scan_below(path)
    }

    /// Fails if databases were locked, or if a path that the user named is among the problems, which have already been
    /// printed.
    fn check(&self, problems: &[(PathBuf, String)]) -> Result<()> {
        let is_busy = |(_, what): &&(PathBuf, String)| what == BUSY;
        let busy = problems.iter().filter(is_busy).count();
        if busy > 0 {
            let error = io::Error::from(io::ErrorKind::ResourceBusy);
            return Err(error).context(format!("{busy} of the logs were busy, see above"));
        }
        let is_named = |path: &Path| self.roots.iter().any(|root| root.names(path));
        match problems.iter().filter(|(path, _)| is_named(path)).count() {
            0 => Ok(()),
            unread => bail!("{unread} of the given paths could not be read, see above"),
        }
    }
}

/// The error where there is nothing to report on.
const NO_SESSIONS: &str =
    "no sessions found; `ctxgauge agents` lists the folders that are searched";

/// Prints each path that could not be read, and why, on a line.
///
/// # Errors
///
/// If `err` cannot be written to.
pub fn print_problems(problems: &[(PathBuf, String)], err: &mut dyn Write) -> Result<()> {
    for (path, what) in problems {
        writeln!(err, "{}: {what}", inert(&path.to_string_lossy()))?;
    }
    Ok(())
}

/// Returns a share in percent, to one decimal.
fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => (part as f64 / whole as f64 * 1000.0).round() / 10.0,
    }
}
