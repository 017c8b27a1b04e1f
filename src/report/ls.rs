//! The list of all sessions, and totals over all of them.

use super::{Output, ReportContext, Style, print_problems};
use crate::agents::{Format, Term};
use crate::ingest::COUNTED;
use crate::ingest::discover::LogFile;
use crate::ingest::reader::{self, each_usage, read_whole, tail_only};
use crate::ingest::settings::SettingsReader;
use crate::model::event::{Billed, Entry, Event, Key, Lane};
use crate::model::fleet::{Fleet, Update};
use crate::model::session::Session;
use crate::model::window::Rules;
use crate::paths;
use crate::tokens::Counter;
use anyhow::Result;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

/// Whether a list ends with totals over all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// Only the list, from the ends of the logs.
    None,
    /// Reads all logs from beginning to end.
    Totals,
}

/// The sessions that were found.
pub struct Sessions {
    /// The sessions.
    pub fleet: Fleet,
    /// The totals, if they were asked for.
    pub totals: Option<Totals>,
}

/// Lists all sessions. Prints what could not be read on `err`.
///
/// # Errors
///
/// If a path that the user named cannot be read, or `out` or `err` cannot be written to.
pub fn run(
    context: &ReportContext,
    style: Style,
    sums: Sums,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let found = context.find();
    let mut problems = found.problems;
    let mut fleet = Fleet::new(Arc::clone(&context.rules));
    let mut totals = (sums == Sums::Totals).then(Totals::default);
    let mut settings = SettingsReader::new(paths::env);
    let counter = Counter::for_estimator(context.rules.estimator);
    for log in found.files {
        let file = log.facts.file;
        let read = gauges(&log, &context.rules, &counter).and_then(|sessions| {
            let main = sessions.iter().find(|(lane, _)| *lane == Lane::Main);
            let cwd = main.and_then(|(_, session)| session.meta.cwd.as_deref());
            let overrides = settings.of(&log, cwd);
            fleet.apply(Update::Found(Box::new(log.facts.clone())));
            fleet.apply(Update::Settings { file, overrides });
            fleet.apply(Update::Rebuilt { file, sessions });
            match &mut totals {
                Some(totals) => each_usage(&log, &mut |entry| totals.add(log.format, &entry)),
                None => Ok(()),
            }
        });
        if let Err(error) = read {
            problems.push((log.facts.path.to_path_buf(), error.to_string()));
        }
    }
    print_problems(&problems, err)?;
    if fleet.is_empty() && problems.is_empty() {
        writeln!(
            err,
            "no sessions found; `ctxgauge agents` lists the folders that are searched"
        )?;
    }
    style.print(Output::Sessions(&Sessions { fleet, totals }), out)?;
    context.check_named(&problems)
}

/// The sessions of a log, from its end. Of a small log without usage reports all text is counted: nothing
/// else of it is known.
fn gauges(log: &LogFile, rules: &Arc<Rules>, counter: &Counter) -> io::Result<reader::Sessions> {
    let sessions = tail_only(log, rules)?;
    let unreported = |(_, session): &(Lane, Session)| session.is_unreported();
    match log.facts.len <= COUNTED && sessions.iter().any(unreported) {
        true => read_whole(log, counter, rules),
        false => Ok(sessions),
    }
}

/// The usage of every response, each counted once even if several lines and files repeat it.
#[derive(Default)]
pub struct Totals {
    agents: BTreeMap<&'static str, Responses>,
}

struct Responses {
    terms: &'static [Term],
    by_request: HashMap<Key, Billed>,
}

impl Totals {
    /// Adds an entry of a log of this format.
    pub fn add(&mut self, format: &'static Format, entry: &Entry) {
        let (request, cost) = match &entry.event {
            Event::Usage(usage) if usage.source.is_known() => (usage.request, usage.billed),
            Event::Billed { request, billed } => (*request, *billed),
            _ => return,
        };
        let agent = self.agents.entry(format.id).or_insert(Responses {
            terms: format.terms,
            by_request: HashMap::new(),
        });
        let billed = agent.by_request.entry(request).or_default();
        *billed = billed.max(cost);
    }

    /// The sums of each agent, in its provider's own terms.
    pub fn by_agent(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
        let sums = |responses: &Responses| {
            let sum = |read: fn(&Billed) -> u64| {
                let numbers = responses.by_request.values().map(read);
                numbers.fold(0u64, u64::saturating_add)
            };
            let terms = responses.terms.iter();
            terms.map(|(name, read)| (*name, sum(*read))).collect()
        };
        let agents = self.agents.iter();
        agents.map(|(agent, all)| (*agent, sums(all))).collect()
    }
}
