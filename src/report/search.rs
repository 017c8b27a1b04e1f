//! The items of all sessions whose text matches a pattern, as they are found: the newest log first.

mod json;
mod largest;
mod text;

use crate::ls::is_part;
use crate::reading::in_order::in_order;
use crate::reading::sessions_builder::SessionsBuilder;
use crate::{NO_SESSIONS, ReportContext, Style, print_problems};
use anyhow::{Error, Result, bail};
use ingest::discover::ScanResult;
use ingest::log::LogFile;
use ingest::log::reader::read_once;
use ingest::search::{Lines, Matcher, each_match, may_match};
use jiff::Timestamp;
use model::cost::calls::Calls;
use model::event::ByLength;
use model::lists::sessions::{FileFacts, SessionKey, Sessions};
use model::session::{Item, ItemIx, Session};
use model::values::project::is_named;
use model::{Role, Source};
use render::number::counted;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The number of logs that are searched ahead of the one whose matches are shown.
const AHEAD: usize = 8;

/// The options of a search.
pub struct Search<'a> {
    /// The pattern.
    pub matcher: &'a Matcher,
    /// Only logs that were written to since then.
    pub since: Option<Timestamp>,
    /// Only sessions with this in the name of their project; with a separator, in the path of its folder.
    pub project: Option<&'a str>,
    /// Only items of this role.
    pub role: Option<Role>,
    /// Only calls and results of tools with this in their name.
    pub tool: Option<&'a str>,
    /// True if the largest are first, and an item that a fork has inherited counts in the session that it continues. Else
    /// the order is that of the logs, the newest first.
    pub by_size: bool,
    /// At most this many items.
    pub limit: Option<usize>,
    /// At most this many matching lines of an item are shown to people; the others are counted.
    pub lines: usize,
}

/// The colours of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Something.
    Found,
    /// Nothing.
    Nothing,
}

/// An item that matches. Its texts are those of the log: not safe to print.
pub struct Hit<'a> {
    /// The sessions of its log.
    pub sessions: &'a Sessions,
    /// Its session.
    pub key: SessionKey,
    /// Its session, as `key` has it in the sessions.
    pub session: &'a Session,
    /// Its log.
    pub facts: &'a FileFacts,
    /// Its index in the session.
    pub ix: ItemIx,
    /// The item.
    pub item: &'a Item,
    /// The arguments of its call, if it is a tool's result.
    pub call: Option<Cow<'a, str>>,
    /// Its size. What no report settled is by length.
    pub tokens: u64,
    /// The source of the size.
    pub source: Source,
    /// The lines of it that match.
    pub lines: &'a Lines,
}

/// Takes what a search finds, as it is found.
pub trait Taker {
    /// Returns true if a session is to be searched.
    fn wants(&self, key: SessionKey) -> bool;

    /// Takes an item that matches.
    fn hit(&mut self, hit: &Hit<'_>) -> ControlFlow<()>;

    /// Takes the result for a log, which was searched or could not be read.
    fn searched(&mut self, log: &LogFile, searched: io::Result<()>) -> ControlFlow<()>;
}

/// Returns the logs that were written to since then, or all, the newest first, with the problems of finding them.
pub fn logs(context: &ReportContext, since: Option<Timestamp>) -> ScanResult {
    let mut found = context.find_since(since);
    let logs = &mut found.files;
    logs.sort_by_cached_key(|log| (Reverse(log.facts.modified), log.facts.path.clone()));
    found
}

/// Searches logs in their order, until the taker breaks or no more `is_wanted`.
pub fn in_logs(
    context: &ReportContext,
    search: &Search<'_>,
    logs: &[LogFile],
    is_wanted: &(dyn Fn() -> bool + Sync),
    taker: &mut dyn Taker,
) {
    let mut searching = LogSearch {
        context,
        search,
        is_wanted,
        taker,
        whole: SessionsBuilder::new(context),
    };
    let reading = context.progress.begin(logs);
    let look = |log: &LogFile| {
        let look = || may_match(log, search.matcher, is_wanted);
        reading.log(log, || context.patience.read(log, look))
    };
    // The only error is that nothing more is wanted.
    let _ = in_order(logs, AHEAD, look, |log, looked| {
        let taken = match looked {
            Ok(true) => searching.log(log),
            looked => searching.taker.searched(log, looked.map(drop)),
        };
        match taken {
            ControlFlow::Continue(()) if is_wanted() => Ok(()),
            _ => Err(()),
        }
    });
}

/// Searches the logs that may have what is searched for.
struct LogSearch<'a> {
    context: &'a ReportContext,
    search: &'a Search<'a>,
    is_wanted: &'a (dyn Fn() -> bool + Sync),
    taker: &'a mut dyn Taker,
    whole: SessionsBuilder<'a>,
}

impl LogSearch<'_> {
    /// Gives the items of a log that match.
    fn log(&mut self, log: &LogFile) -> ControlFlow<()> {
        let mut taken = ControlFlow::Continue(());
        let searched = self.items(log, &mut taken);
        taken?;
        self.taker.searched(log, searched)
    }

    fn items(&mut self, log: &LogFile, taken: &mut ControlFlow<()>) -> io::Result<()> {
        let (context, search) = (self.context, self.search);
        let read = || read_once(log, &ByLength, &context.rules);
        let sessions = context.patience.read(log, read)?;
        let all_sessions = self.whole.sessions(log, sessions);
        let facts = &log.facts;
        let taker = &mut *self.taker;
        let is_wanted = |(key, session): &(SessionKey, &Session)| {
            search
                .project
                .is_none_or(|project| is_named(session.folder(), project))
                && taker.wants(*key)
        };
        let keys = all_sessions.of_file(facts.file);
        let all = keys.filter_map(|key| Some((key, all_sessions.get(key)?)));
        let wanted: Vec<_> = all.filter(is_wanted).collect();
        let wanted = wanted
            .into_iter()
            .map(|(key, session)| (key.conversation, session));
        each_match(log, wanted, search.matcher, &self.is_wanted, &mut |found| {
            let (file, conversation) = (facts.file, found.conversation);
            let key = SessionKey { file, conversation };
            let Some(session) = all_sessions.get(key) else {
                return ControlFlow::Continue(());
            };
            let item = &session.items()[found.item];
            if !search.wants(session, item) {
                return ControlFlow::Continue(());
            }
            let (tokens, source) = session.tokens(found.item);
            *taken = taker.hit(&Hit {
                sessions: &all_sessions,
                key,
                session,
                facts,
                ix: found.item,
                item,
                call: Calls::of_item(session, found.item).subject(session, item),
                tokens,
                source,
                lines: found.lines,
            });
            *taken
        })
    }
}

/// Writes hits one after the other.
trait Writer {
    /// Writes one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn hit(&mut self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()>;

    /// Writes what was kept until all logs were searched.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn end(&mut self, _: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// Searches, and writes each match at once. Prints the logs that could not be read on `err`.
///
/// # Errors
///
/// If there is no log, a path that the user named cannot be read, nothing is found and a log could not be read, or
/// `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    search: &Search<'_>,
    (style, colours): (Style, Colours),
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Verdict> {
    let found = logs(context, search.since);
    if found.files.is_empty() && found.problems.is_empty() && search.since.is_none() {
        bail!(NO_SESSIONS);
    }
    let most = search.limit.unwrap_or(usize::MAX);
    let (writer, left): (Box<dyn Writer>, _) = if search.by_size {
        (Box::new(largest::Largest::new(style, most)), usize::MAX)
    } else if style.format.for_people {
        let rows = text::Rows::new(style, colours, search.lines);
        (Box::new(rows), most)
    } else {
        (Box::new(json::Documents(style)), most)
    };
    let mut printer = Printer {
        writer,
        out,
        left,
        verdict: Verdict::Nothing,
        failed: None,
        problems: found.problems,
    };
    in_logs(context, search, &found.files, &|| true, &mut printer);
    if let Some(error) = printer.failed {
        return Err(error);
    }
    printer.writer.end(printer.out)?;
    let (verdict, problems) = (printer.verdict, printer.problems);
    print_problems(&problems, err)?;
    context.check(&problems)?;
    if verdict == Verdict::Nothing && !problems.is_empty() {
        bail!("nothing was found, but some of the logs could not be read, see above");
    }
    if verdict == Verdict::Nothing {
        let logs = counted(found.files.len() as u64, "log");
        writeln!(err, "nothing was found in {logs}")?;
    }
    Ok(verdict)
}

impl Search<'_> {
    fn wants(&self, session: &Session, item: &Item) -> bool {
        (!self.by_size || !session.is_inherited(item))
            && self.role.is_none_or(|role| item.role == role)
            && (self.tool.is_none() || is_part(self.tool, item.tool.as_deref().unwrap_or_default()))
    }
}

/// Writes hits until there are enough.
struct Printer<'a> {
    writer: Box<dyn Writer>,
    out: &'a mut dyn Write,
    /// The number of items that are still wanted.
    left: usize,
    verdict: Verdict,
    failed: Option<Error>,
    /// The paths that could not be read, each with the reason.
    problems: Vec<(PathBuf, String)>,
}

impl Taker for Printer<'_> {
    fn wants(&self, _: SessionKey) -> bool {
        true
    }

    fn hit(&mut self, hit: &Hit<'_>) -> ControlFlow<()> {
        self.verdict = Verdict::Found;
        self.left = self.left.saturating_sub(1);
        let written = self.writer.hit(hit, self.out);
        // Whoever waits for it sees it at once.
        let written = written.and_then(|()| Ok(self.out.flush()?));
        self.failed = written.err();
        if self.left == 0 || self.failed.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn searched(&mut self, log: &LogFile, searched: io::Result<()>) -> ControlFlow<()> {
        if let Err(error) = searched {
            let path = log.facts.path.to_path_buf();
            self.problems.push((path, error.to_string()));
        }
        ControlFlow::Continue(())
    }
}
