//! The session of a status line: as its log shows it, with what the client says that is newer.

use super::LineProblem;
use super::find::{SessionQuery, find, named};
use crate::ReportContext;
use ingest::discover::settings::{SettingsOwner, SettingsReader};
use ingest::log::LogFile;
use ingest::log::reader::recent;
use integrations::client_record::{self, ClientRecord};
use integrations::line::{Input, Size};
use integrations::store;
use jiff::Timestamp;
use model::event::PlanLimits;
use model::event::{ByLength, Conversation, Entry, Event, Key, Measure, Meta, Place, Usage};
use model::session::{Coverage, Session};
use model::window::{ClientStatus, without_window};
use model::{LeaveReason, Role, Source};
use render::clock::Clock;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokens::Counter;

/// The share of a context before its compaction from which on a client's number can only be of the time before it.
const OLD_SHARE: f64 = 0.75;
/// The most of the newest prompts that are compared with a client's number.
const PROMPTS: usize = 256;

/// The session of a status line.
pub struct LineSession {
    /// The session.
    pub session: Session,
    /// The agent's name on screens.
    pub agent: &'static str,
    /// The user's clock.
    pub clock: Clock,
}

impl LineSession {
    /// Returns an empty session.
    pub fn nothing(context: &ReportContext) -> LineSession {
        LineSession {
            session: Session::new("", Arc::clone(&context.rules)),
            agent: "",
            clock: context.clock(),
        }
    }

    /// Returns the session that a client passes, without its log. No file is read.
    pub fn of_client(context: &ReportContext, input: &Input) -> LineSession {
        let mut shown = without_log(context, input);
        let mut plan = PlanLimits::default();
        plan.report(&input.limits);
        add_said(&mut shown.session, input, (shown.clock.now, &plan));
        shown
    }

    /// Returns the session of this log. Its texts are counted only if no report holds anything of the context.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn of_log(context: &ReportContext, log: &LogFile) -> Result<LineSession, LineProblem> {
        let read = |measure: &dyn Measure| {
            let path = super::named(&log.facts.path);
            recent_session(context, log, measure).map_err(|error| {
                let sentence = format!("cannot read {path}: {error}");
                LineProblem::new("log unreadable", sentence)
            })
        };
        let mut session = read(&ByLength)?;
        if is_all_estimated(&session) {
            session = read(&Counter::new())?;
        }
        let whose = SettingsOwner::of(Some(&session.meta));
        session.set_overrides(SettingsReader::new(context.user.clone()).of(log, &whose));
        Ok(LineSession {
            session,
            agent: log.format.label,
            clock: context.clock(),
        })
    }

    /// Adds the prompt of the newest request, as the client says it, where that is newer than the log's.
    pub(crate) fn add_reported(&mut self, prompt: u64) {
        let size = Size::Reported {
            prompt,
            cached: 0,
            output: None,
        };
        add_size(&mut self.session, size, None);
    }

    /// Returns the session of a log that was looked for, and notes the path of the log. `None`: there is no log, or it is
    /// among the troubles why there is no session.
    pub(crate) fn of_found(
        context: &ReportContext,
        found: Result<Option<LogFile>, LineProblem>,
        path: &mut Option<PathBuf>,
        troubles: &mut Vec<LineProblem>,
    ) -> Option<LineSession> {
        let read = |log: LogFile| {
            *path = Some(log.facts.path.to_path_buf());
            LineSession::of_log(context, &log)
        };
        let shown = found.and_then(|log| log.map(read).transpose());
        shown.unwrap_or_else(|trouble| {
            troubles.push(trouble);
            None
        })
    }
}

/// Returns the session of the recent part of a log.
fn recent_session(
    context: &ReportContext,
    log: &LogFile,
    measure: &dyn Measure,
) -> io::Result<Session> {
    let read = || recent(log, measure, &context.rules);
    let sessions = context.patience.read(log, read)?;
    let main = sessions
        .into_iter()
        .find(|(conversation, _)| *conversation == Conversation::Main);
    Ok(main.map_or_else(
        || Session::new(log.format.id, Arc::clone(&context.rules)),
        |(_, session)| session,
    ))
}

/// Returns true if there is a context and all of it is estimated: no response has come yet, or none since a compaction.
fn is_all_estimated(session: &Session) -> bool {
    let is_compacted = session
        .newest_reset()
        .is_some_and(|(reset, is_answered)| reset.gone == LeaveReason::Compaction && !is_answered);
    let is_answered = || session.items().iter().any(|it| it.role == Role::Assistant);
    let has_items = session.items().iter().next().is_some();
    has_items && session.context().known == 0 && (is_compacted || !is_answered())
}

/// Returns the session that a client passes to its status line. The client's values are kept for it.
pub fn passed(context: &ReportContext, input: &Input) -> (LineSession, Vec<LineProblem>) {
    let mut troubles = Vec::new();
    let folder = context.user.folders.state_folder();
    let folder = folder.map(|state| client_record::folder(&state));
    let known: Option<ClientRecord> = match (&folder, input.agent, &input.session) {
        (Some(folder), Some(agent), Some(id)) => store::load(folder, agent.id(), id),
        _ => None,
    };
    let mut log_path: Option<PathBuf> = known.as_ref().and_then(|kept| kept.log.clone());
    let wanted = SessionQuery {
        agent: input.agent,
        log: input.log.as_deref(),
        session: input.session.as_deref(),
        has_begun: input.size.is_some(),
        known: log_path.as_deref(),
    };
    let found = find(context, wanted);
    let shown = LineSession::of_found(context, found, &mut log_path, &mut troubles);
    let mut shown = shown.unwrap_or_else(|| without_log(context, input));
    let now = (context.now)();
    let keep = input.to_keep().map(|keep| keep.said(now, known.as_ref()));
    let since = keep.as_ref().map_or(now, |keep| keep.since.unwrap_or(now));
    let mut plan = known
        .as_ref()
        .map(|known| known.plan.clone())
        .unwrap_or_default();
    plan.report(&input.limits);
    add_said(&mut shown.session, input, (since, &plan));
    if let (Some(folder), Some(mut keep)) = (folder, keep) {
        (keep.log, keep.plan) = (log_path, plan);
        // A status line is not passed these.
        if let Some(known) =
            known.filter(|known| (known.window, &known.model) == (keep.window, &keep.model))
        {
            (keep.compaction, keep.breakdown) = (known.compaction, known.breakdown);
        }
        if let Err(error) = store::save(&folder, &keep) {
            // The line itself lacks nothing.
            troubles.push(LineProblem::new(
                "",
                format!(
                    "what the client says could not be kept in {}: {error}",
                    super::named(&folder)
                ),
            ));
        }
    }
    (shown, troubles)
}

/// Returns a session of which only the client's values are known.
fn without_log(context: &ReportContext, input: &Input) -> LineSession {
    let format = input.agent.and_then(|agent| named(context, agent.id()));
    let id = format.map_or("", |format| format.id);
    let mut session = Session::new(id, Arc::clone(&context.rules));
    let boxed = |text: &Option<String>| text.as_deref().map(Box::from);
    let model = input.model.as_deref().map(without_window);
    let meta = Meta {
        id: boxed(&input.session),
        model: model.map(Box::from),
        version: boxed(&input.version),
        cwd: input
            .cwd
            .as_ref()
            .and_then(|cwd| cwd.to_str())
            .map(Box::from),
        ..Meta::default()
    };
    session.apply(entry(Event::Meta(Box::new(meta))));
    LineSession {
        session,
        agent: format.map_or("", |format| format.label),
        clock: context.clock(),
    }
}

/// Adds what the client says: the window, which it first said at `since`, the limits of the plan, and the size where that
/// is newer than the log's.
fn add_said(session: &mut Session, input: &Input, (since, plan): (Timestamp, &PlanLimits)) {
    if let Some(window) = input.window {
        let known = session.said().filter(|said| said.window == window);
        let known = known.filter(|said| said.model == input.model).cloned();
        let said = known.unwrap_or_else(|| ClientStatus::window(window, input.model.clone()));
        session.set_said(ClientStatus {
            since: Some(since),
            cache_until: input.cache_until,
            miss: input.miss.clone(),
            plan: plan.clone(),
            ..said
        });
    }
    if let Some(size) = input.size {
        add_size(session, size, input.model.as_deref());
    }
}

/// Adds the size that the client says, where that is newer than the log's.
fn add_size(session: &mut Session, size: Size, model: Option<&str>) {
    let request = Key::of_parts(&["client", "status line"]);
    let usage = match size {
        Size::Estimated(tokens) => Usage::estimated(request, tokens),
        // The user went back, and no record shows it before the next prompt.
        Size::Reported { prompt, output, .. }
            if let Some(turns) = session.turns_since(prompt, output) =>
        {
            return session.apply(entry(Event::Rollback { turns }));
        }
        Size::Reported { prompt, .. } if !is_newer(session, prompt) => return,
        Size::Reported {
            prompt,
            cached,
            output,
        } => Usage {
            cached,
            output,
            model: model.map(|id| without_window(id).into()),
            source: Source::Reported,
            ..Usage::reported(request, prompt)
        },
    };
    session.apply(entry(Event::Usage(Box::new(usage))));
}

/// Returns true if a prompt that the client names is newer than all that was read of the log.
fn is_newer(session: &Session, prompt: u64) -> bool {
    let prompts = session.newest_prompts(PROMPTS);
    let reset = session.newest_reset();
    match (prompts.is_empty(), reset) {
        // Nothing was answered since: a number as large as before is of before, and the one that the log has of the
        // compaction is an estimate of the agent, as Qwen Code passes it on.
        (_, Some((reset, false))) => {
            reset.after != Some(prompt) && (prompt as f64) < reset.before as f64 * OLD_SHARE
        }
        (true, None) => true,
        // Of the end of a log, only the newest requests are known.
        (false, _) if session.coverage < Coverage::Epoch => false,
        _ => !prompts.contains(&prompt),
    }
}

/// Returns an entry for an event that no log has, placed after the end of the log.
fn entry(event: Event) -> Entry {
    Entry {
        conversation: Conversation::Main,
        place: Place::new(0, u64::MAX >> 8, 0),
        at: None,
        event,
    }
}
