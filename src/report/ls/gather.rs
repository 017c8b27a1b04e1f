//! Reads the ends of all logs and the cost of each response, on all cores; unchanged logs come from the cache.

use super::Sums;
use super::responses::Responses;
use crate::ReportContext;
use ingest::COUNTED;
use ingest::cache::{self, Cache, LogKey, Part};
use ingest::discover::settings::{SettingsReader, Whose};
use ingest::lanes::{Sessions, Summaries, main_meta, main_session, summaries_of};
use ingest::log::LogFile;
use ingest::reader::{read_once, tail_only};
use ingest::sync::{lock, threads};
use model::event::{Lane, Meta};
use model::session::Session;
use model::window::{Overrides, Rules};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::{io, thread};
use tokens::Counter;

/// What was read of a log.
pub(super) struct Gathered {
    pub(super) summaries: Summaries,
    /// The settings of its agent.
    pub(super) overrides: Arc<Overrides>,
    /// The usage of every response, if totals were asked for.
    pub(super) responses: io::Result<Responses>,
}

/// The caches of both parts; each is `None` if it is not used.
struct Caches {
    ends: Option<Cache>,
    totals: Option<Cache>,
}

/// What a cache is to keep of a log.
#[derive(Default)]
struct Fresh {
    key: Option<LogKey>,
    ends: Option<cache::Value>,
    totals: Option<cache::Value>,
}

/// Reads all logs, and passes on what was read of each with its index, in any order. Returns the cache that could not
/// be written, and why.
pub(super) fn gather(
    context: &ReportContext,
    sums: Sums,
    files: &[LogFile],
    mut take: impl FnMut(usize, io::Result<Gathered>),
) -> Option<(PathBuf, io::Error)> {
    let open = |part| Some(Cache::open(context.cache.as_ref()?, part, &context.rules));
    let mut caches = Caches {
        ends: open(Part::Ends),
        totals: open(Part::Totals).filter(|_| sums == Sums::Totals),
    };
    let counter = Counter::for_estimator(context.rules.estimator);
    let settings = Mutex::new(SettingsReader::new(context.user.clone()));
    // The largest come first, so that none of them is begun when all others are done.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|ix| std::cmp::Reverse(files[*ix].facts.len));
    let next = AtomicUsize::new(0);
    let reading = context.progress.begin(files);
    let read = |caches: &Caches| {
        let ix = *order.get(next.fetch_add(1, Ordering::Relaxed))?;
        let (log, mut fresh) = (&files[ix], Fresh::default());
        let mut from = || {
            let how = How {
                rules: &context.rules,
                counter: &counter,
                settings: &settings,
            };
            caches.read(log, sums, &how, &mut fresh)
        };
        let read = reading.log(log, || context.patience.read(log, &mut from));
        Some((ix, read, fresh))
    };
    let mut kept = Vec::new();
    thread::scope(|scope| {
        let (sender, results) = sync_channel(WAITING_RESULTS);
        for _ in 0..threads() {
            let sender = sender.clone();
            let (read, caches) = (&read, &caches);
            // If no thread can be started, this one reads below.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                while let Some(result) = read(caches) {
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
        while let Some(result) = read(&caches) {
            take(result);
        }
    });
    caches.keep(kept)
}

/// How many results may wait to be taken.
const WAITING_RESULTS: usize = 16;

/// What logs are read with.
struct How<'a> {
    rules: &'a Arc<Rules>,
    counter: &'a Counter,
    settings: &'a Mutex<SettingsReader>,
}

impl How<'_> {
    fn settings_of(&self, log: &LogFile, meta: Option<&Meta>) -> Arc<Overrides> {
        lock(self.settings).of(log, &Whose::of(meta))
    }
}

impl Caches {
    /// Reads the end of a log and, for totals, all of its responses.
    fn read(
        &self,
        log: &LogFile,
        sums: Sums,
        how: &How<'_>,
        fresh: &mut Fresh,
    ) -> io::Result<Gathered> {
        if self.ends.is_some() {
            fresh.key = LogKey::now(log)?;
        }
        let key = fresh.key.as_ref();
        let kept =
            found(&self.ends, key).and_then(|kept| cache::restore(kept.shown, log.format.id));
        let kept = kept.map(|summaries| {
            let overrides = how.settings_of(log, main_meta(&summaries));
            (summaries, overrides)
        });
        let (summaries, overrides) = match kept.filter(|(kept, set)| are_by(kept, set)) {
            Some(kept) => kept,
            None => {
                let mut sessions = gauges(log, how.rules, how.counter)?;
                let meta = main_session(&sessions).map(|session| &session.meta);
                let overrides = how.settings_of(log, meta);
                for (_, session) in &mut sessions {
                    session.set_overrides(Arc::clone(&overrides));
                }
                let summaries = summaries_of(&sessions);
                if key.is_some() && log.store.is_stamped_whole() {
                    fresh.ends = Some(cache::value(&summaries));
                }
                (summaries, overrides)
            }
        };
        let responses = match sums {
            Sums::None => Ok(Responses::default()),
            Sums::Totals => {
                match found(&self.totals, key).and_then(|kept| Responses::restore(kept.shown)) {
                    Some(responses) => Ok(responses),
                    None => Responses::read(log).inspect(|responses| {
                        let key = key.filter(|_| log.store.is_stamped_whole());
                        fresh.totals = key.and_then(|_| responses.store());
                    }),
                }
            }
        };
        Ok(Gathered {
            summaries,
            overrides,
            responses,
        })
    }

    fn keep(&mut self, all: Vec<Fresh>) -> Option<(PathBuf, io::Error)> {
        let put = |cache: &mut Option<Cache>, key: &LogKey, value: Option<cache::Value>| {
            if let (Some(cache), Some(value)) = (cache, value) {
                cache.put(key.clone(), value);
            }
        };
        for fresh in all {
            if let Some(key) = &fresh.key {
                put(&mut self.ends, key, fresh.ends);
                put(&mut self.totals, key, fresh.totals);
            }
        }
        let caches = [&mut self.ends, &mut self.totals].into_iter().flatten();
        let mut failed = caches.filter_map(|cache| {
            cache.forget_found();
            let error = cache.save().err()?;
            Some((Path::to_path_buf(cache.path()), error))
        });
        failed.next()
    }
}

/// Whether these summaries are by these settings.
fn are_by(summaries: &Summaries, overrides: &Overrides) -> bool {
    let settings = overrides.fold_hash();
    summaries
        .iter()
        .all(|(_, summary)| summary.settings == settings)
}

/// What a cache has of a log.
fn found<'c>(cache: &'c Option<Cache>, key: Option<&LogKey>) -> Option<cache::ValueRef<'c>> {
    cache.as_ref()?.get(key?)
}

/// The sessions of a log, from its end. In a small log without usage reports all text is counted: no other size is
/// known.
fn gauges(log: &LogFile, rules: &Arc<Rules>, counter: &Counter) -> io::Result<Sessions> {
    let sessions = tail_only(log, rules)?;
    let unreported = |(_, session): &(Lane, Session)| session.is_unreported();
    if log.facts.len <= COUNTED && sessions.iter().any(unreported) {
        read_once(log, counter, rules)
    } else {
        Ok(sessions)
    }
}
