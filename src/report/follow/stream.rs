//! Holds the state that the threads that read logs share with the one that writes lines.

mod other_hosts;

use super::changes::{Changes, SentLine};
use super::json::{Count, Row, SessionGone, State as Body};
use super::plain::PlainLines;
use super::{Lines, Pace, Texts};
use crate::OnlySession;
use crate::ls::json::SessionPart;
use crate::output::json::line;
use crate::output::names::{Names, joined_by};
use crate::session;
use crate::session::Report;
use anyhow::Result;
use ingest::IngestEvent;
use ingest::bytes::sync::lock;
use jiff::tz::TimeZone;
use model::event::Conversation;
use model::lists::sessions::{FileId, SessionKey, Sessions, Update};
use model::session::{Coverage, Session};
use model::window::Rules;
use render::clock::Clock;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of lines that are made at once. They are the only states that are kept besides the newest of each
/// session.
const BATCH: usize = 64;
/// The time between two looks at the sessions that were live.
const LIVE_CHECK: Duration = Duration::from_secs(10);

/// A stream of changes.
pub struct Stream {
    pub(super) pace: Pace,
    pub(super) texts: Texts,
    /// The only session that is written; `None`: all are.
    only: Option<OnlySession>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    sessions: Sessions,
    changes: Changes,
    /// Lines for people; `None`: lines are JSON.
    plain: Option<PlainLines>,
    /// The other machines of which it is to be written whether they answer.
    hosts: BTreeSet<Arc<str>>,
    /// Sessions in which nothing was said, until all logs were read: another log may have them.
    held: BTreeSet<SessionKey>,
    /// The newest problem with each path.
    problems: BTreeMap<PathBuf, String>,
    /// True if the line was written that all sessions were sent.
    is_announced: bool,
    next_live_check: Instant,
    is_ended: bool,
}

/// The next step of the writer.
pub(super) enum Step {
    /// It writes the lines that are ready, and prints these problems.
    Ready(Vec<(PathBuf, String)>),
    /// It stops.
    Ended,
}

impl Stream {
    /// Creates a stream without sessions.
    pub fn new(rules: Arc<Rules>, pace: Pace, texts: Texts) -> Stream {
        Stream {
            pace,
            texts,
            only: None,
            state: Mutex::new(State {
                sessions: Sessions::new(rules),
                changes: Changes::new(pace.every),
                plain: None,
                hosts: BTreeSet::new(),
                held: BTreeSet::new(),
                problems: BTreeMap::new(),
                is_announced: false,
                next_live_check: Instant::now() + LIVE_CHECK,
                is_ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Restricts the stream to one session.
    #[must_use]
    pub fn of(self, only: Option<OnlySession>) -> Stream {
        Stream { only, ..self }
    }

    /// Has the stream write lines for people.
    #[must_use]
    pub fn in_words(self, plain: PlainLines) -> Stream {
        self.lock().plain = Some(plain);
        self
    }

    pub(super) fn is_plain(&self) -> bool {
        self.lock().plain.is_some()
    }

    /// Ends the stream after the line that is being written.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Returns the number of sessions that the reader has.
    pub(super) fn sessions(&self) -> usize {
        self.lock().changes.len()
    }

    /// Takes in what was read.
    pub(super) fn take(&self, event: IngestEvent, now: Instant) -> ControlFlow<()> {
        let mut state = self.lock();
        if state.is_ended {
            return ControlFlow::Break(());
        }
        let is_new = match event {
            IngestEvent::Update(update) => {
                let is_new = state.apply(update, &self.texts, now);
                if let Some(only) = &self.only {
                    state.leave_out(only);
                }
                is_new
            }
            IngestEvent::Problem { path, what } => state.problems.insert(path, what).is_none(),
            IngestEvent::Text(_) | IngestEvent::Banner(_) => false,
        };
        if is_new {
            self.changed.notify_one();
        }
        ControlFlow::Continue(())
    }

    /// Waits until there is something to write, or until that time, and makes lines of it.
    pub(super) fn wait(&self, until: Instant, lines: &mut Lines, to: &mut Vec<u8>) -> Result<Step> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if state.is_ended {
                return Ok(Step::Ended);
            }
            if state.next_live_check <= now {
                state.next_live_check = now + LIVE_CHECK;
                state.changes.mark_live(now);
            }
            let next = state.changes.next(now).unwrap_or(until).min(until);
            let is_ready = next <= now
                || !state.problems.is_empty()
                || !state.hosts.is_empty()
                || state.is_to_announce(now);
            if is_ready {
                break;
            }
            let wait = next.saturating_duration_since(now);
            let woken = self.changed.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.write(&self.texts, lines, to)?;
        let problems = std::mem::take(&mut state.problems).into_iter().collect();
        Ok(Step::Ready(problems))
    }
}

impl State {
    /// Takes in an update. Returns whether there is something new to write.
    fn apply(&mut self, update: Update, texts: &Texts, now: Instant) -> bool {
        let (file, conversations) = match &update {
            Update::Found(facts) => (facts.file, None),
            Update::Summaries { file, summaries } => (*file, Some(conversations_of(summaries))),
            Update::Rebuilt { file, sessions } => (*file, Some(conversations_of(sessions))),
            Update::Appended { file, .. }
            | Update::Settings { file, .. }
            | Update::Running { file, .. } => (*file, None),
            Update::Vanished(file) => (*file, Some(Vec::new())),
            Update::InitialScanDone => {
                self.sessions.apply(update);
                for key in std::mem::take(&mut self.held) {
                    self.changes.mark(key, now);
                }
                return true;
            }
            // It shows what it showed.
            Update::PutAway(_) => {
                self.sessions.apply(update);
                return false;
            }
            Update::Host { host, .. } => {
                self.hosts.insert(Arc::clone(host));
                self.sessions.apply(update);
                return true;
            }
            Update::CaughtUp => return false,
        };
        let mut is_new = matches!(update, Update::Vanished(_));
        if let Some(conversations) = conversations {
            let former = self.keys(file).into_iter();
            for key in former.filter(|key| !conversations.contains(&key.conversation)) {
                self.remove(key, texts);
            }
        }
        self.sessions.apply(update);
        for key in self.keys(file) {
            is_new |= self.changes.mark(key, now);
        }
        is_new
    }

    /// Marks no other session as changed.
    fn leave_out(&mut self, only: &OnlySession) {
        let sessions = &self.sessions;
        self.changes.retain(|key| {
            let gauge = sessions.gauge(key);
            let id = gauge.and_then(|gauge| gauge.meta.id.as_deref());
            only.is_of(key.file) && only.is(key.conversation, id)
        });
    }

    fn keys(&self, file: FileId) -> Vec<SessionKey> {
        self.sessions.of_file(file).collect()
    }

    fn remove(&mut self, key: SessionKey, texts: &Texts) {
        self.held.remove(&key);
        let sessions = &self.sessions;
        self.changes.remove(key, || {
            let facts = sessions.facts(key)?;
            let names = texts.names(sessions, key)?;
            Some(SessionGone {
                session: joined_by(facts, key.conversation),
                id: names.id.map(Cow::into_owned),
                agent: facts.agent,
                path: names.path.into_owned(),
            })
        });
    }

    /// Returns true if the line is due that all sessions were sent.
    fn is_to_announce(&self, now: Instant) -> bool {
        let is_sent = || self.changes.next(now).is_none_or(|next| next > now);
        self.sessions.initial_scan_done && !self.is_announced && is_sent()
    }

    /// Writes what may be written now, not more than a batch.
    fn write(&mut self, texts: &Texts, lines: &mut Lines, to: &mut Vec<u8>) -> Result<()> {
        let now = Instant::now();
        let mut made = 0;
        while made < BATCH
            && let Some(gone) = self.changes.take_gone()
        {
            lines.add(to, "gone", gone)?;
            made += 1;
        }
        while made < BATCH
            && let Some(key) = self.changes.take_due(now)
        {
            self.session(key, now, texts, lines, to)?;
            made += 1;
        }
        if made < BATCH {
            self.write_hosts((lines.now)(), to)?;
        }
        if self.is_to_announce(now) {
            self.is_announced = true;
            let sessions = self.changes.len();
            lines.add(to, "scanned", Count { sessions })?;
            if let Some(plain) = &mut self.plain {
                plain.begin(&self.sessions, None, (lines.now)(), to)?;
            }
        }
        Ok(())
    }

    /// Writes the state of a session, unless the reader has it.
    fn session(
        &mut self,
        key: SessionKey,
        now: Instant,
        texts: &Texts,
        lines: &mut Lines,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        let found = self.sessions.gauge(key).zip(self.sessions.facts(key));
        let Some((gauge, facts)) = found.filter(|(of, _)| of.coverage != Coverage::Unread) else {
            return Ok(());
        };
        if !gauge.has_begun() && !self.sessions.initial_scan_done {
            self.held.insert(key);
            return Ok(());
        }
        if self.sessions.is_remnant(key) {
            return Ok(());
        }
        let at = (lines.now)();
        let is_live = self.sessions.live(key, at).is_some();
        let sent = |said: &[u8]| SentLine {
            at: now,
            hash: hash(said),
            is_live,
        };
        if let Some(plain) = &mut self.plain {
            plain.session(&self.sessions, key, at, to)?;
            self.changes.note(key, sent(&[]));
            return Ok(());
        }
        let name = joined_by(facts, key.conversation);
        if matches!(texts, Texts::Summaries) {
            if let Some(row) = hosts::wire::row(&self.sessions, key)
                && self.changes.note_new(key, sent(row.as_bytes()))
            {
                lines.add(to, "session", Row { session: name, row })?;
            }
            return Ok(());
        }
        let Some(mut names) = texts.names(&self.sessions, key) else {
            return Ok(());
        };
        let title = names.title.take().filter(|_| texts.has_titles());
        let part = SessionPart::new(&self.sessions, key, gauge, names, None, at);
        let is_whole = |of: &&Session| {
            matches!(texts, Texts::Reports { .. }) && of.coverage == Coverage::Whole
        };
        let clock = Clock {
            now: at,
            zone: TimeZone::UTC,
        };
        let whole = self.sessions.get(key).filter(is_whole);
        let report = whole.map(|session| Report::new(clock, session, facts));
        let body = Body::new(name, title, part, report.as_ref());
        let mut said = Vec::new();
        line(&mut said, &body)?;
        if self.changes.note_new(key, sent(&said)) {
            match &report {
                Some(report) if lines.reports_alone => line(to, &session::json::session(report))?,
                _ => lines.add(to, "session", body)?,
            }
        }
        Ok(())
    }
}

/// Returns a hash of what a line says.
fn hash(said: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(said);
    hash.finish()
}

fn conversations_of<T>(all: &[(Conversation, T)]) -> Vec<Conversation> {
    all.iter().map(|(conversation, _)| *conversation).collect()
}

impl Texts {
    /// True if titles and prompts are written.
    pub(super) fn has_titles(&self) -> bool {
        matches!(self, Texts::Reports { .. } | Texts::All)
    }

    /// Returns the names of a session that may be in the lines.
    fn names<'f>(&self, sessions: &'f Sessions, key: SessionKey) -> Option<Names<'f>> {
        match self {
            Texts::Reports { .. } | Texts::All => Names::with_texts(sessions, key),
            Texts::Names | Texts::Summaries => Names::without_texts(sessions, key),
            Texts::Redacted(redactor) => Names::redacted(sessions, key, redactor),
        }
    }
}
