//! Reads the ends of all logs and the cost of each response, on all cores; unchanged logs come from the cache. A log that
//! the monitor has read whole is shown as the monitor showed it.

use super::responses::Responses;
use super::{Depth, Sums};
use crate::{CacheUse, ReportContext};
use ingest::COUNTED;
use ingest::bytes::sync::{lock, threads};
use ingest::discover::settings::{SettingsOwner, SettingsReader};
use ingest::index::{Index, IndexEntries, LogKey, Part, restore, value};
use ingest::log::LogFile;
use ingest::log::conversations::{LogSessions, LogSummaries, main_of, summaries_of};
use ingest::log::reader::{read_once, read_with_usage, tail_only};
use model::cost::texts::TextReader;
use model::event::{ByLength, Conversation, Meta};
use model::session::Session;
use model::why::SessionFindings;
use model::window::{Overrides, Rules};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::{io, thread};
use tokens::Counter;

/// The content of a log.
pub(super) struct LogContent {
    pub(super) summaries: LogSummaries,
    /// The settings of its agent.
    pub(super) overrides: Arc<Overrides>,
    /// The usage of every response, if totals were asked for.
    pub(super) responses: io::Result<Responses>,
    /// The findings of each session, if they were asked for.
    pub(super) findings: LogFindings,
}

/// The findings of the sessions of a log.
pub(super) type LogFindings = Vec<(Conversation, SessionFindings)>;

/// Findings as the index keeps them, with a hash of the settings that they depend on.
type KeptFindings = (u64, LogFindings);

/// The results that earlier runs have kept.
#[derive(Default)]
struct EarlierResults {
    /// `None`: nothing is kept.
    index: Option<Index>,
    /// The summaries that the monitor kept of logs that it read whole.
    whole: IndexEntries,
    ends: IndexEntries,
    responses: IndexEntries,
    findings: IndexEntries,
}

/// The results of a log that are to be kept.
#[derive(Default)]
struct NewResults {
    key: Option<LogKey>,
    values: Vec<(Part, Vec<u8>)>,
}

/// Reads all logs, and passes on what was read of each with its index, in any order. Returns the cache that could not
/// be written, and why.
pub(super) fn gather(
    context: &ReportContext,
    (sums, depth): (Sums, Depth),
    files: &[LogFile],
    take: &mut dyn FnMut(usize, io::Result<LogContent>),
) -> Option<(PathBuf, io::Error)> {
    let known = EarlierResults::open(context, sums);
    let counter = Counter::new();
    let settings = Mutex::new(SettingsReader::new(context.user.clone()));
    // The largest come first, so that none of them is begun when all others are done.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_unstable_by_key(|ix| std::cmp::Reverse(files[*ix].facts.len));
    let next = AtomicUsize::new(0);
    let reading = context.progress.begin(files);
    let read = |known: &EarlierResults| {
        let ix = *order.get(next.fetch_add(1, Ordering::Relaxed))?;
        let (log, mut fresh) = (&files[ix], NewResults::default());
        let mut from = || {
            let how = ReadContext {
                depth,
                rules: &context.rules,
                counter: &counter,
                settings: &settings,
            };
            known.read(log, sums, &how, &mut fresh)
        };
        let read = reading.log(log, || context.patience.read(log, &mut from));
        // Only a log whose changes show is kept. This is known only after it was read.
        if read.is_err() || !log.store.is_stamped_whole() {
            fresh = NewResults::default();
        }
        Some((ix, read, fresh))
    };
    let mut kept = Vec::new();
    thread::scope(|scope| {
        let (sender, results) = sync_channel(WAITING_RESULTS);
        for _ in 0..threads() {
            let sender = sender.clone();
            let (read, known) = (&read, &known);
            // If no thread can be started, this one reads below.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(result) = read(known) {
                    let _ = sender.send(result);
                }
            });
        }
        drop(sender);
        let mut take = |(ix, read, fresh)| {
            kept.push(fresh);
            take(ix, read);
        };
        results.into_iter().for_each(&mut take);
        while let Some(result) = read(&known) {
            take(result);
        }
    });
    match context.cache_use {
        CacheUse::Kept => known.keep(kept),
        CacheUse::ReadOnly => None,
    }
}

/// The most results that wait to be taken.
const WAITING_RESULTS: usize = 16;

/// The tools and rules for reading logs.
struct ReadContext<'a> {
    depth: Depth,
    rules: &'a Arc<Rules>,
    counter: &'a Counter,
    settings: &'a Mutex<SettingsReader>,
}

impl ReadContext<'_> {
    fn settings_of(&self, log: &LogFile, meta: Option<&Meta>) -> Arc<Overrides> {
        lock(self.settings).of(log, &SettingsOwner::of(meta))
    }
}

impl EarlierResults {
    fn open(context: &ReportContext, sums: Sums) -> EarlierResults {
        let Some(folder) = &context.cache else {
            return EarlierResults::default();
        };
        let index = Index::new(folder, &context.rules);
        let mut known = EarlierResults {
            whole: index.all(Part::Summaries),
            ends: index.all(Part::Ends),
            ..EarlierResults::default()
        };
        if sums != Sums::None {
            known.responses = index.all(Part::Responses);
        }
        if sums == Sums::Findings {
            known.findings = index.all(Part::Findings);
        }
        known.index = Some(index);
        known
    }

    /// Reads the end of a log and, for totals, all of its responses.
    fn read(
        &self,
        log: &LogFile,
        sums: Sums,
        how: &ReadContext<'_>,
        fresh: &mut NewResults,
    ) -> io::Result<LogContent> {
        if self.index.is_some() {
            fresh.key = LogKey::now(log)?;
        }
        let key = fresh.key.as_ref();
        let kept = |of: &IndexEntries| {
            let summaries = restore(&of.take(key?)?, log.format.id)?;
            let overrides = how.settings_of(log, main_of(&summaries).map(|summary| &summary.meta));
            let settings = overrides.summary_hash();
            // They were made with these settings, and of so much of the log.
            let is_enough = summaries.iter().all(|(_, summary)| {
                let is_deep = how.depth == Depth::Ends || summary.is_settled();
                is_deep && summary.settings == settings
            });
            is_enough.then_some((summaries, overrides))
        };
        let (summaries, overrides) = match kept(&self.whole).or_else(|| kept(&self.ends)) {
            Some(kept) => kept,
            None => {
                let mut sessions = gauges(log, how)?;
                let meta = main_of(&sessions).map(|session| &session.meta);
                let overrides = how.settings_of(log, meta);
                for (_, session) in &mut sessions {
                    session.set_overrides(Arc::clone(&overrides));
                }
                let summaries = summaries_of(&sessions);
                fresh.values.push((Part::Ends, value(&summaries)));
                (summaries, overrides)
            }
        };
        let kept = || Responses::restore(&self.responses.take(key?)?);
        let kept_findings = || {
            let (settings, kept): KeptFindings =
                postcard::from_bytes(&self.findings.take(key?)?).ok()?;
            (settings == overrides.summary_hash()).then_some(kept)
        };
        let (responses, findings) = match (sums, kept()) {
            (Sums::None, _) => (Ok(Responses::default()), LogFindings::new()),
            (Sums::Totals, Some(responses)) => (Ok(responses), LogFindings::new()),
            (Sums::Totals, None) => {
                let read = Responses::read(log);
                let values = read.iter().map(|read| (Part::Responses, read.store()));
                fresh.values.extend(values);
                (read, LogFindings::new())
            }
            (Sums::Findings, responses) => match responses.zip(kept_findings()) {
                Some((responses, findings)) => (Ok(responses), findings),
                None => {
                    let (responses, findings) = read_findings(log, &overrides, how)?;
                    // No type in it can fail to be written.
                    let kept = postcard::to_stdvec(&(overrides.summary_hash(), &findings));
                    fresh.values.push((Part::Responses, responses.store()));
                    fresh
                        .values
                        .extend(kept.ok().map(|kept| (Part::Findings, kept)));
                    (Ok(responses), findings)
                }
            },
        };
        Ok(LogContent {
            summaries,
            overrides,
            responses,
            findings,
        })
    }

    /// Keeps what is new. Returns the file that could not be written, and why.
    fn keep(&self, all: Vec<NewResults>) -> Option<(PathBuf, io::Error)> {
        let index = self.index.as_ref()?;
        let mut parts: BTreeMap<Part, Vec<_>> = BTreeMap::new();
        for new in all {
            let Some(key) = new.key else { continue };
            for (part, value) in new.values {
                parts.entry(part).or_default().push((key.clone(), value));
            }
        }
        let parts = parts.into_iter();
        let mut failed = parts.filter_map(|(part, entries)| index.put(part, &entries).err());
        Some((index.path.clone(), failed.next()?))
    }
}

/// Reads a log once, for its responses and its findings.
fn read_findings(
    log: &LogFile,
    overrides: &Arc<Overrides>,
    how: &ReadContext<'_>,
) -> io::Result<(Responses, LogFindings)> {
    let reader = TextReader::new(&ByLength);
    let (mut sessions, responses) =
        Responses::read_by(log, |give| read_with_usage(log, &reader, how.rules, give))?;
    let texts = reader.into_texts();
    let findings = sessions.iter_mut().map(|(conversation, session)| {
        session.set_overrides(Arc::clone(overrides));
        (*conversation, SessionFindings::of(session, &texts))
    });
    let findings = findings.collect();
    Ok((responses, findings))
}

/// Reads the sessions of a log, from its end if that is enough. In a small log without usage reports all text is counted,
/// because no other size is known.
fn gauges(log: &LogFile, how: &ReadContext<'_>) -> io::Result<LogSessions> {
    if how.depth == Depth::Whole {
        return read_once(log, how.counter, how.rules);
    }
    let sessions = tail_only(log, how.rules)?;
    let unreported = |(_, session): &(Conversation, Session)| session.is_unreported();
    if log.facts.len <= COUNTED && sessions.iter().any(unreported) {
        read_once(log, how.counter, how.rules)
    } else {
        Ok(sessions)
    }
}
