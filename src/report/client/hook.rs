//! Answers the events of a hook: a warning at a prompt, once for each threshold that the context has passed, and a
//! sentence on each compaction.
//!
//! The numbers are those of a status line, from a short read of the log. The items that a compaction removed are noted
//! before it and after it, since not every log has its cause and its sizes.

mod notes;
mod warning;

use crate::ReportContext;
use crate::client::line::find::{SessionQuery, find};
use crate::client::line::{LineProblem, LineSession, named};
use files::paths::User;
use integrations::client_record::{self, ClientRecord};
use integrations::hook::{Event, HookMessage, HookMoment};
use integrations::hook_notes::{self, HookNotes};
use integrations::store;
use model::values::threshold::Threshold;
use model::window::Breakdown;
use std::io;
use std::path::{Path, PathBuf};

/// The duties of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Duties {
    /// Shares of the trigger, or of the window where there is none, the smallest first: it warns once for each that is
    /// passed.
    pub shares: Vec<f64>,
    /// True if the model gets the warning too.
    pub tells_model: bool,
    /// From this size on a prompt is not sent. A share is one of the trigger.
    pub block_at: Option<Threshold>,
    /// True if it reports each compaction afterwards.
    pub reports_compactions: bool,
}

/// Returns the answer of a hook, and the troubles that it had. The agent is not told of the troubles.
pub fn respond(
    context: &ReportContext,
    event: &Event,
    duties: &Duties,
) -> (Option<HookMessage>, Vec<LineProblem>) {
    let mut call = Call {
        context,
        event,
        folder: context.user.folders.state_folder(),
        troubles: Vec::new(),
    };
    let say = match event.moment {
        // It has a context of its own.
        _ if event.is_sub_agent => None,
        HookMoment::Prompt => call.prompt(duties),
        HookMoment::BeforeCompaction => {
            call.before_compaction();
            None
        }
        HookMoment::AfterCompaction => {
            let done = call.after_compaction();
            done.filter(|_| duties.reports_compactions)
                .map(HookMessage::ToUser)
        }
        HookMoment::TurnEnd => {
            call.keep_said();
            call.turn_end(duties)
        }
        HookMoment::Context => {
            call.keep_said();
            None
        }
        HookMoment::Other => None,
    };
    (say, call.troubles)
}

/// Notes that a hook took too long for its event, to be said at the next one.
pub fn note_missed(user: &User, event: &Event) {
    let folder = user
        .folders
        .state_folder()
        .map(|state| hook_notes::folder(&state));
    let Some((folder, session)) = folder.zip(event.session.as_deref()) else {
        return;
    };
    let agent = event.agent.id();
    let known: Option<HookNotes> = store::load(&folder, agent, session);
    let mut noted = known.unwrap_or_else(|| HookNotes::new(agent, session));
    noted.missed = noted.missed.saturating_add(1);
    // There is nobody left to say it to.
    let _ = store::save(&folder, &noted);
}

/// One run of a hook.
struct Call<'a> {
    context: &'a ReportContext,
    event: &'a Event,
    /// The program's own state folder.
    folder: Option<PathBuf>,
    troubles: Vec<LineProblem>,
}

impl Call<'_> {
    fn prompt(&mut self, duties: &Duties) -> Option<HookMessage> {
        if self.event.agent.shows_hooks_at_prompts() {
            return self.say(duties);
        }
        // The agent would not show a warning here. It follows at the end of the turn.
        let mut noted = self.noted();
        let shown = self.shown(&mut noted)?;
        let say = duties.warning(&shown, &mut noted.told);
        self.save(&noted);
        say.filter(|say| !matches!(say, HookMessage::ToUser(_)))
    }

    fn turn_end(&mut self, duties: &Duties) -> Option<HookMessage> {
        if self.event.agent.shows_hooks_at_prompts() {
            return None;
        }
        // There is no prompt to stop, and the model is told at the prompt.
        self.say(&Duties {
            block_at: None,
            tells_model: false,
            ..duties.clone()
        })
    }

    /// Returns the answer, and notes its parts as said.
    fn say(&mut self, duties: &Duties) -> Option<HookMessage> {
        let mut noted = self.noted();
        let shown = self.shown(&mut noted)?;
        let missed = notes::missed(&mut noted);
        let done = notes::end(&mut noted, &shown, self.event.agent);
        let done = done.filter(|_| duties.reports_compactions);
        let warning = duties.warning(&shown, &mut noted.warned);
        self.save(&noted);
        let before = missed.into_iter().chain(done);
        before.fold(warning, |say, sentence| {
            Some(match say {
                Some(say) => say.after(&sentence),
                None => HookMessage::ToUser(sentence),
            })
        })
    }

    /// Returns the notes on the session so far.
    fn noted(&self) -> HookNotes {
        let (agent, session) = (self.event.agent.id(), self.event.session.as_deref());
        let known = || {
            store::load(
                &hook_notes::folder(self.folder.as_deref()?),
                agent,
                session?,
            )
        };
        known().unwrap_or_else(|| HookNotes::new(agent, session.unwrap_or_default()))
    }

    /// Returns the session as its log has it; `None`: there is none that can be read.
    fn shown(&mut self, noted: &mut HookNotes) -> Option<LineSession> {
        let wanted = SessionQuery {
            agent: Some(self.event.agent),
            log: self.event.log.as_deref(),
            session: self.event.session.as_deref(),
            has_begun: false,
            known: noted.log.as_deref(),
        };
        let found = find(self.context, wanted);
        let path = &mut noted.log;
        let mut shown = LineSession::of_found(self.context, found, path, &mut self.troubles)?;
        if let Some(prompt) = self.event.reported {
            shown.add_reported(prompt);
        }
        Some(shown)
    }

    /// Keeps what the agent passes and its log lacks. What a status line was passed is kept likewise, and has the model.
    fn keep_said(&mut self) {
        let Some((folder, session)) = self.folder.as_deref().zip(self.event.session.clone()) else {
            return;
        };
        let agent = self.event.agent.id();
        let folder = client_record::folder(folder);
        let known: Option<ClientRecord> = store::load(&folder, agent, &session);
        let known = known.unwrap_or_else(|| ClientRecord {
            agent: agent.to_owned(),
            session,
            ..ClientRecord::default()
        });
        let now = (self.context.now)();
        let (event, said) = (self.event, self.event.context.as_ref());
        let is_without = known.model.is_some() || event.moment == HookMoment::Context;
        if event.window.is_none() || (is_without && said.is_none()) {
            return;
        }
        let kept = ClientRecord {
            window: event.window,
            model: event.model.clone(),
            version: event.version.clone().or_else(|| known.version.clone()),
            compaction: said.map(|said| said.compaction),
            breakdown: said.map(|said| Breakdown {
                at: now,
                tokens: said.tokens,
                parts: said.parts.clone(),
            }),
            ..known.clone()
        };
        let saved = store::save(&folder, &kept.said(now, Some(&known)));
        self.note_failure(&folder, saved);
    }

    fn save(&mut self, noted: &HookNotes) {
        let Some(folder) = self.folder.as_deref().map(hook_notes::folder) else {
            return;
        };
        // Without an id nobody would find it.
        if noted.session.is_empty() || *noted == HookNotes::new(&noted.agent, &noted.session) {
            return;
        }
        let saved = store::save(&folder, noted);
        self.note_failure(&folder, saved);
    }

    fn note_failure(&mut self, folder: &Path, saved: io::Result<()>) {
        if let Err(error) = saved {
            let sentence = format!("nothing could be kept in {}: {error}", named(folder));
            self.troubles.push(LineProblem::new("", sentence));
        }
    }
}
