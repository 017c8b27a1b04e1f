//! The items of all sessions whose text matches a pattern, as they are found: the newest log first.

mod json;
mod text;

use super::in_order::{Step, in_order};
use super::ls::is_part;
use super::whole::Whole;
use super::{ReportContext, Style, print_problems};
use anyhow::{Error, Result, bail};
use ingest::log::LogFile;
use ingest::reader::read_once;
use ingest::search::{Lines, Matcher, each_match, may_match};
use jiff::Timestamp;
use model::event::ByLength;
use model::fleet::{FileFacts, Fleet, SessionKey};
use model::session::{ItemIx, ItemRef, Session};
use model::{Role, Source};
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// How many logs are looked through ahead of the one whose matches are shown.
const AHEAD: usize = 8;

/// What is searched for.
pub struct Search<'a> {
    /// The pattern.
    pub matcher: &'a Matcher,
    /// Only logs that were written to since then.
    pub since: Option<Timestamp>,
    /// Only sessions with this in the name of their project.
    pub project: Option<&'a str>,
    /// Only items of this role.
    pub role: Option<Role>,
    /// Only calls and results of tools with this in their name.
    pub tool: Option<&'a str>,
    /// At most this many items.
    pub limit: Option<usize>,
}

/// Whether matches are marked with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// What a search has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Something.
    Found,
    /// Nothing.
    Nothing,
}

/// An item that matches. Its texts are those of the log: not safe to print.
struct Hit<'a> {
    fleet: &'a Fleet,
    key: SessionKey,
    session: &'a Session,
    facts: &'a FileFacts,
    ix: ItemIx,
    item: ItemRef<'a>,
    tokens: u64,
    source: Source,
    lines: &'a Lines,
}

/// Writes hits one after the other.
trait Writer {
    /// Writes one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn hit(&mut self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()>;
}

/// Searches. What is found is written at once; what cannot be read is printed on `err`.
///
/// # Errors
///
/// If there is no log, a path that the user named cannot be read, nothing is found and a log could not be read, or `out`
/// cannot be written to.
pub fn run(
    context: &ReportContext,
    search: &Search<'_>,
    (style, colours): (Style, Colours),
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Verdict> {
    let found = context.find_since(search.since);
    let (mut logs, mut problems) = (found.files, found.problems);
    logs.sort_by_cached_key(|log| (Reverse(log.facts.modified), log.facts.path.clone()));
    if logs.is_empty() && problems.is_empty() && search.since.is_none() {
        bail!("no sessions found; `ctxgauge agents` lists the folders that are searched");
    }
    let mut printer = Printer {
        writer: if style.format.for_people {
            Box::new(text::Rows::new(style, colours))
        } else {
            Box::new(json::Documents::new(style))
        },
        out,
        left: search.limit.unwrap_or(usize::MAX),
        verdict: Verdict::Nothing,
        failed: None,
    };
    let mut whole = Whole::new(context);
    let look = |log: &LogFile| {
        let look = || may_match(log, search.matcher);
        context.patience.read(log, look)
    };
    // The only error is that nothing more is wanted.
    let _ = in_order(&logs, AHEAD, look, |step| {
        let Step::Next(log, looked) = step else {
            return Ok(());
        };
        let searched = match looked {
            Ok(true) => in_log(context, search, log, &mut whole, &mut printer),
            looked => looked.map(drop),
        };
        if let Err(error) = searched {
            problems.push((log.facts.path.to_path_buf(), error.to_string()));
        }
        if printer.is_done() { Err(()) } else { Ok(()) }
    });
    let Printer {
        verdict, failed, ..
    } = printer;
    if let Some(error) = failed {
        return Err(error);
    }
    print_problems(&problems, err)?;
    context.check(&problems)?;
    if verdict == Verdict::Nothing && !problems.is_empty() {
        bail!("nothing was found, but some of the logs could not be read, see above");
    }
    Ok(verdict)
}

/// Writes the items of a log that match. Sizes that no report settled are by length.
fn in_log(
    context: &ReportContext,
    search: &Search<'_>,
    log: &LogFile,
    whole: &mut Whole<'_>,
    printer: &mut Printer<'_>,
) -> io::Result<()> {
    let read = || read_once(log, &ByLength, &context.rules);
    let sessions = context.patience.read(log, read)?;
    let fleet = whole.fleet(log, sessions);
    let facts = &log.facts;
    let is_wanted = |session: &Session| is_part(search.project, session.project());
    let wanted = fleet
        .of_file(facts.file)
        .filter(|(_, session)| is_wanted(session))
        .map(|(key, session)| (key.lane, session));
    each_match(log, wanted, search.matcher, &mut |found| {
        let (file, lane) = (facts.file, found.lane);
        let key = SessionKey { file, lane };
        let Some(session) = fleet.get(key) else {
            return ControlFlow::Continue(());
        };
        let item = session.items().at(found.item);
        if !search.wants(&item) {
            return ControlFlow::Continue(());
        }
        let (tokens, source) = session.tokens(found.item);
        printer.print(&Hit {
            fleet: &fleet,
            key,
            session,
            facts,
            ix: found.item,
            item,
            tokens,
            source,
            lines: found.lines,
        })
    })
}

impl Search<'_> {
    fn wants(&self, item: &ItemRef<'_>) -> bool {
        self.role.is_none_or(|role| item.role() == role)
            && (self.tool.is_none() || is_part(self.tool, item.tool().unwrap_or_default()))
    }
}

/// Writes hits until there are enough.
struct Printer<'a> {
    writer: Box<dyn Writer>,
    out: &'a mut dyn Write,
    /// How many more are wanted.
    left: usize,
    verdict: Verdict,
    failed: Option<Error>,
}

impl Printer<'_> {
    fn print(&mut self, hit: &Hit<'_>) -> ControlFlow<()> {
        self.verdict = Verdict::Found;
        self.left = self.left.saturating_sub(1);
        let written = self.writer.hit(hit, self.out);
        // Whoever waits for it sees it at once.
        let written = written.and_then(|()| Ok(self.out.flush()?));
        self.failed = written.err();
        if self.is_done() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_done(&self) -> bool {
        self.left == 0 || self.failed.is_some()
    }
}
