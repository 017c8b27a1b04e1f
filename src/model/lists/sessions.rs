//! All sessions: what is known of each file, order, filter, lineage.

mod activity;
mod entry;
mod hosts;
mod name;
mod projects;
mod rows;
mod title;
mod windows;

use crate::Role;
use crate::event::{self, Conversation, Key, Meta};
use crate::lists::gauge::SessionGauge;
pub use crate::lists::other_host::OtherHost;
use crate::lists::summary::Summary;
use crate::session::Session;
pub use crate::values::file_id::FileId;
pub use crate::values::names::contains;
use crate::values::process_activity::ProcessActivity;
use crate::values::project::Projects;
use crate::window::set::SetWindows;
use crate::window::{Overrides, Rules};
pub use activity::{Activity, LIVE_SECONDS};
use entry::{EntryContent, SessionEntry};
pub use hosts::Away;
use jiff::Timestamp;
pub use name::name_of;
pub use rows::{Candidate, Families, Row};

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// A session, for as long as the program runs; selection and memory go by this, never by a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    /// Its file.
    pub file: FileId,
    /// Its conversation in the file.
    pub conversation: Conversation,
}

/// The facts about a log that its path and the file system show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// The file.
    pub file: FileId,
    /// The agent's id.
    pub agent: &'static str,
    /// The agent's name in a narrow column.
    pub label: &'static str,
    /// The agent's commands.
    pub commands: Commands,
    /// The path of the file. One that is not on this machine begins with the name of the file system that it is in.
    pub path: Arc<PathBuf>,
    /// The session's id, where the name holds it.
    pub id: Option<String>,
    /// The id of the session that started it, where the path holds it.
    pub parent: Option<String>,
    /// Bytes.
    pub len: u64,
    /// The time at which it was last written.
    pub modified: Option<Timestamp>,
    /// The machine that it is on; `None`: this one.
    pub host: Option<Arc<OtherHost>>,
}

/// The commands by which the user goes on with a session in its agent; `None`: none is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commands {
    /// Resumes a session, with `{id}` for its id: `claude --resume {id}`.
    pub resume: Option<&'static str>,
    /// Compacts the context: `/compact`, typed at the agent's prompt.
    pub compact: Option<&'static str>,
}

impl Commands {
    /// None is certain.
    pub const NONE: Commands = Commands {
        resume: None,
        compact: None,
    };
}

impl FileFacts {
    /// Returns what the path has of the names of its session.
    pub fn names(&self) -> Meta {
        Meta {
            id: self.id.as_deref().map(Into::into),
            parent: self.parent.as_deref().map(Into::into),
            ..Meta::default()
        }
    }
}

/// A change of the sessions.
#[derive(Debug)]
pub enum Update {
    /// A file was found, or its size or time changed.
    Found(Box<FileFacts>),
    /// New summaries of all sessions of a file that nobody writes to or looks at. They replace the earlier ones.
    Summaries {
        /// The file.
        file: FileId,
        /// The summaries of its sessions.
        summaries: Vec<(Conversation, Summary)>,
    },
    /// All sessions of a file, read again; they replace the earlier ones.
    Rebuilt {
        /// The file.
        file: FileId,
        /// Its sessions.
        sessions: Vec<(Conversation, Session)>,
    },
    /// Nobody writes to a file or looks at it any more: only what lists show of its sessions is held from here on.
    PutAway(FileId),
    /// The records that were appended to a file.
    Appended {
        /// The file.
        file: FileId,
        /// The new entries, in order.
        entries: Vec<event::Entry>,
    },
    /// The agent's settings for the sessions of a file.
    Settings {
        /// The file.
        file: FileId,
        /// The settings.
        overrides: Arc<Overrides>,
    },
    /// The activity of the process of a file's session, by the agent's registry; `None`: there is no process.
    Running {
        /// The file.
        file: FileId,
        /// The activity of the process.
        running: Option<ProcessActivity>,
        /// The time at which this was observed. It may have begun earlier.
        at: Timestamp,
    },
    /// A file is gone.
    Vanished(FileId),
    /// Another machine has sent all its sessions and answers, or it does not.
    Host {
        /// The machine, as the user names it.
        host: Arc<str>,
        /// Since when it does not answer; `None`: it does.
        away: Option<Away>,
    },
    /// Every file was read once, at least its end: all gauges have numbers.
    InitialScanDone,
    /// Everything has been read through.
    CaughtUp,
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    rules: Arc<Rules>,
    files: BTreeMap<FileId, File>,
    sessions: BTreeMap<SessionKey, SessionEntry>,
    /// The windows that the user has set on screen.
    windows: SetWindows,
    projects: Projects,
    /// The sessions by their ids, without those that are in the log of another one.
    by_id: HashMap<Box<str>, SessionKey>,
    /// The summary of a session of each agent of which nothing was read.
    unread: BTreeMap<&'static str, Summary>,
    /// The machines that do not answer.
    away: BTreeMap<Arc<str>, Away>,
    /// True if every file was read once, at least its end.
    pub initial_scan_done: bool,
    /// True if everything has been read through.
    pub caught_up: bool,
}

/// The facts about a file besides its sessions.
#[derive(Debug)]
struct File {
    facts: FileFacts,
    /// The agent's settings for its sessions.
    settings: Arc<Overrides>,
    /// The time of its newest record.
    newest: Option<Timestamp>,
    /// True if the file was written to since it was found.
    is_written: bool,
    running: Option<ProcessActivity>,
    /// The time at which the process of its session ended.
    ended: Option<Timestamp>,
}

impl File {
    fn found(facts: FileFacts) -> File {
        File {
            facts,
            settings: Overrides::none(),
            newest: None,
            is_written: false,
            running: None,
            ended: None,
        }
    }
}

impl Sessions {
    /// Returns a set of sessions without sessions.
    pub fn new(rules: Arc<Rules>) -> Sessions {
        Sessions {
            rules,
            ..Sessions::default()
        }
    }

    /// Returns the data that a list shows of a session.
    pub fn gauge(&self, key: SessionKey) -> Option<&SessionGauge> {
        self.sessions.get(&key).map(SessionEntry::gauge)
    }

    /// Returns a session, if all of it is held: it is written to, or somebody looks at it.
    pub fn get(&self, key: SessionKey) -> Option<&Session> {
        self.sessions.get(&key)?.session()
    }

    /// Returns a session, to change what the user set of it; not its records.
    pub fn get_mut(&mut self, key: SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(&key)?.session_mut()
    }

    /// Returns true if there is such a session.
    pub fn contains(&self, key: SessionKey) -> bool {
        self.sessions.contains_key(&key)
    }

    /// Returns the facts about a session's file.
    pub fn facts(&self, key: SessionKey) -> Option<&FileFacts> {
        Some(&self.files.get(&key.file)?.facts)
    }

    /// Returns the activity of a session's process, by its agent's registry; `None`: there is no process, or the agent
    /// keeps no registry. Sub-agents in the file of their parent have no process of their own.
    pub fn running(&self, key: SessionKey) -> Option<ProcessActivity> {
        let running = self.files.get(&key.file)?.running;
        running.filter(|_| key.conversation == Conversation::Main)
    }

    /// Returns the time at which a session's process was seen to have ended, unless another one runs.
    pub fn ended(&self, key: SessionKey) -> Option<Timestamp> {
        self.files.get(&key.file)?.ended
    }

    /// Returns the data that a list shows of each session, in no particular order.
    pub fn gauges(&self) -> impl Iterator<Item = (SessionKey, &SessionGauge)> {
        let listed = self.sessions.iter();
        listed.map(|(key, listed)| (*key, listed.gauge()))
    }

    /// Returns all sessions, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = SessionKey> {
        self.sessions.keys().copied()
    }

    /// Returns the time at which each session was last active.
    pub fn activities(&self) -> impl Iterator<Item = (SessionKey, Option<Timestamp>)> {
        self.sessions
            .iter()
            .map(|(key, listed)| (*key, listed.active))
    }

    /// Returns the sessions of a file.
    pub fn of_file(&self, file: FileId) -> impl Iterator<Item = SessionKey> {
        self.sessions
            .range(conversations(file))
            .map(|(key, _)| *key)
    }

    /// Returns the session's id, if its log has several sessions.
    pub fn id_among_several(&self, key: SessionKey) -> Option<&str> {
        let is_one_of_several = self.of_file(key.file).nth(1).is_some();
        let (gauge, facts) = self.gauge(key).zip(self.facts(key))?;
        let id = gauge.meta.id.as_deref().or(facts.id.as_deref());
        id.filter(|_| is_one_of_several)
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the number of files that were found.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Returns true if there is no session.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Takes in what was read of the logs.
    pub fn apply(&mut self, update: Update) {
        match update {
            Update::Found(facts) => {
                let key = SessionKey {
                    file: facts.file,
                    conversation: Conversation::Main,
                };
                if !self.sessions.contains_key(&key) {
                    let held = EntryContent::Summary(Box::new(self.unread_gauge(&facts)));
                    self.sessions.insert(key, SessionEntry::of(held));
                }
                if let Some(known) = self.files.get_mut(&key.file) {
                    known.is_written |= known.facts.modified < facts.modified;
                    known.facts = *facts;
                } else {
                    self.files.insert(key.file, File::found(*facts));
                }
                self.note_changes(key.file);
            }
            Update::Summaries { file, summaries } => {
                let former = self.take_out(file);
                for (conversation, mut summary) in summaries {
                    let key = SessionKey { file, conversation };
                    if let Some(former) = former.get(&key) {
                        summary.meta.inherit_names(former.meta());
                    }
                    let rules = Arc::clone(&self.rules);
                    let mut gauge = SessionGauge::new(summary, rules, self.settings_of(file));
                    gauge.set_host(self.host_of(file));
                    let held = EntryContent::Summary(Box::new(gauge));
                    self.sessions.insert(key, SessionEntry::of(held));
                }
                self.note_changes(file);
            }
            Update::Rebuilt { file, sessions } => {
                let former = self.take_out(file);
                let known = self.files.get(&file);
                let written = known.and_then(|known| known.facts.modified);
                for (conversation, mut session) in sessions {
                    let key = SessionKey { file, conversation };
                    session.set_overrides(self.settings_of(file));
                    if let Some(former) = former.get(&key) {
                        session.meta.inherit_names(former.meta());
                        if let Some(former) = former.session() {
                            session.inherit(former, written);
                        }
                    }
                    self.sessions
                        .insert(key, SessionEntry::of(EntryContent::whole(session)));
                }
                self.note_changes(file);
            }
            Update::PutAway(file) => {
                for (_, listed) in self.sessions.range_mut(conversations(file)) {
                    listed.evict();
                }
            }
            Update::Appended { file, entries } => {
                if let Some(known) = self.files.get_mut(&file) {
                    known.is_written = true;
                }
                for entry in entries {
                    let key = SessionKey {
                        file,
                        conversation: entry.conversation,
                    };
                    if let Some(session) = self.session_of(key) {
                        session.apply(entry);
                    }
                }
                self.note_changes(file);
            }
            Update::Settings { file, overrides } => {
                for (_, listed) in self.sessions.range_mut(conversations(file)) {
                    listed.set_overrides(&overrides);
                }
                if let Some(known) = self.files.get_mut(&file) {
                    known.settings = overrides;
                }
                self.note_projects(file);
            }
            Update::Running { file, running, at } => {
                if let Some(known) = self.files.get_mut(&file) {
                    let ended = known.running.map_or(known.ended, |_| Some(at));
                    known.ended = ended.filter(|_| running.is_none());
                    known.running = running;
                }
            }
            Update::Vanished(file) => {
                self.files.remove(&file);
                self.take_out(file);
            }
            Update::Host { host, away } => match away {
                Some(away) => drop(self.away.insert(host, away)),
                None => drop(self.away.remove(&host)),
            },
            Update::InitialScanDone => self.initial_scan_done = true,
            Update::CaughtUp => self.caught_up = true,
        }
    }

    /// Takes the sessions of a file out.
    fn take_out(&mut self, file: FileId) -> BTreeMap<SessionKey, SessionEntry> {
        let keys: Vec<SessionKey> = self.of_file(file).collect();
        let all = keys.iter();
        let taken: BTreeMap<SessionKey, SessionEntry> = all
            .filter_map(|key| self.sessions.remove_entry(key))
            .collect();
        for (key, listed) in &taken {
            self.projects.remove(&listed.folder);
            let id = listed.id.as_deref();
            if let Some(id) = id.filter(|id| self.by_id.get(*id) == Some(key)) {
                self.by_id.remove(id);
            }
        }
        taken
    }

    /// Notes that a file's sessions have changed.
    fn note_changes(&mut self, file: FileId) {
        self.note_activity(file);
        self.note_projects(file);
        self.recall_window(file);
    }

    /// Returns the gauge of a session of which nothing was read yet. A session is made once for each agent: making one
    /// for each of ten thousand logs took a twentieth of a start.
    fn unread_gauge(&mut self, facts: &FileFacts) -> SessionGauge {
        let (agent, rules) = (facts.agent, Arc::clone(&self.rules));
        let unread = self.unread.entry(agent);
        let unread = unread.or_insert_with(|| Session::new(agent, Arc::clone(&rules)).summary());
        let summary = Summary {
            meta: facts.names(),
            ..unread.clone()
        };
        let mut gauge = SessionGauge::new(summary, rules, self.settings_of(facts.file));
        gauge.set_host(facts.host.clone());
        gauge
    }

    /// Returns the session that goes on with what was appended; `None`: only its summary is held.
    fn session_of(&mut self, key: SessionKey) -> Option<&mut Session> {
        let facts = &self.files.get(&key.file)?.facts;
        let known = self.sessions.get(&key);
        if known.is_none_or(SessionEntry::is_unread) {
            let mut session = Session::new(facts.agent, Arc::clone(&self.rules));
            session.meta = facts.names();
            session.set_overrides(self.settings_of(facts.file));
            if key.conversation != Conversation::Main {
                session.meta.parent = session.meta.id.take();
                // A session that begins while its file grows is read as far as the file is.
                let main = SessionKey {
                    conversation: Conversation::Main,
                    ..key
                };
                let main = self.get(main);
                let read = main.map(|main| (main.coverage, main.is_counted));
                (session.coverage, session.is_counted) = read.unwrap_or_default();
            }
            let listed = SessionEntry::of(EntryContent::whole(session));
            self.sessions.insert(key, listed);
        }
        self.get_mut(key)
    }

    fn host_of(&self, file: FileId) -> Option<Arc<OtherHost>> {
        self.files.get(&file)?.facts.host.clone()
    }

    fn settings_of(&self, file: FileId) -> Arc<Overrides> {
        let known = self.files.get(&file);
        known.map_or_else(Overrides::none, |known| Arc::clone(&known.settings))
    }

    /// Returns true if a session matches a filter: its agent, folder, model, title, first prompt, id, path, or the name or
    /// title that lists show contains every one of these words, which are in lower case; or, if all of it is held,
    /// messages of the user do.
    pub fn matches(&self, key: SessionKey, gauge: &SessionGauge, words: &[String]) -> bool {
        words.iter().all(|word| {
            let facts = [
                Some(gauge.agent),
                gauge.meta.cwd.as_deref(),
                gauge.model(),
                gauge.meta.title.as_deref(),
                gauge.meta.prompt.as_deref(),
                gauge.meta.id.as_deref(),
                self.facts(key).and_then(|f| f.path.to_str()),
            ];
            let typed = || {
                let items = self.get(key).into_iter();
                let items = items.flat_map(|session| session.items().iter());
                items.filter(|item| item.role == Role::User)
            };
            let mut texts = facts.into_iter().flatten();
            let is_shown = || {
                let title = self.title(key);
                title.is_some_and(|title| contains(&title, word)) || contains(&self.name(key), word)
            };
            texts.any(|text| contains(text, word))
                || is_shown()
                || typed().any(|item| contains(&item.preview, word))
        })
    }

    /// Returns the newest time stamp of a session's log, or else its file's time.
    pub fn newest_record(&self, key: SessionKey) -> Option<Timestamp> {
        let listed = self.sessions.get(&key);
        let logged = listed.and_then(SessionEntry::updated_at);
        logged.or_else(|| self.facts(key).and_then(|facts| facts.modified))
    }

    /// Returns the time at which a session was last active: at its newest record. A log that is copied is not active,
    /// so the time of its file counts only where its records have none. But a log may have another machine's clock, or
    /// be played again: of a file that was written to since it was found, the newest record counts as written when the
    /// file was. The file's other sessions are older by the difference in the log.
    pub fn activity_of(&self, key: SessionKey) -> Option<Timestamp> {
        self.sessions.get(&key)?.active
    }

    /// Computes again when the sessions of a file were last active.
    fn note_activity(&mut self, file: FileId) {
        let listed = self.sessions.range(conversations(file));
        let times = listed.filter_map(|(_, listed)| listed.updated_at());
        let newest = times.max();
        let Some(known) = self.files.get_mut(&file) else {
            return;
        };
        known.newest = newest.or(known.newest);
        let (newest, written) = (known.newest, known.facts.modified);
        let last = match (newest, written) {
            // Its own machine has said when it was active, and the clock there may be another.
            (newest, written) if known.facts.host.is_some() => written.or(newest),
            (Some(newest), Some(written)) if known.is_written => Some(newest.max(written)),
            // Nothing is newer than its file: the clock of the one or the other is wrong.
            (Some(newest), Some(written)) => Some(newest.min(written)),
            (newest, written) => newest.or(written),
        };
        for (_, listed) in self.sessions.range_mut(conversations(file)) {
            let own = listed.updated_at();
            let before = newest
                .zip(own)
                .map(|(newest, own)| newest.duration_since(own));
            listed.active = match (last, before) {
                (Some(last), Some(before)) => last.checked_sub(before).ok().or(own),
                (last, _) => last,
            };
        }
    }
}

fn conversations(file: FileId) -> std::ops::RangeInclusive<SessionKey> {
    let at = |conversation| SessionKey { file, conversation };
    at(Conversation::Main)..=at(Conversation::Side(Key::new(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::event::{Entry, Event, Place};
    use crate::history::Coverage;
    use crate::testing::{Log, file_facts, new_item};

    #[test]
    fn a_session_is_named_by_what_distinguishes_it() {
        let name = |path: &str, meta: Meta| {
            let file = FileId(1);
            let mut sessions = found(path);
            let entry = Entry {
                conversation: Conversation::Main,
                place: Place::default(),
                at: None,
                event: Event::Meta(Box::new(meta)),
            };
            let entries = vec![entry];
            sessions.apply(Update::Appended { file, entries });
            sessions.name(SessionKey {
                file,
                conversation: Conversation::Main,
            })
        };
        let some = |text: &str| Some(text.into());
        let whole = || Meta {
            id: some("session_9b1f2c3d4e"),
            cwd: some("/home/dev/shop"),
            title: some("Fix it"),
            ..Meta::default()
        };
        let folderless = || Meta {
            cwd: None,
            ..whole()
        };
        assert_eq!(name("a.jsonl", whole()), "shop");
        let child = Meta {
            parent: some("p"),
            ..whole()
        };
        assert_eq!(name("a.jsonl", child), "Fix it");
        assert_eq!(name("a.jsonl", folderless()), "Fix it");
        let unseen = Meta {
            title: some(" \u{200b}"),
            ..folderless()
        };
        assert_eq!(name("a.jsonl", unseen), "9b1f2c3d");
        assert_eq!(name("a.jsonl", Meta::default()), "a");
    }

    #[test]
    fn a_sub_agent_that_begins_while_its_file_grows_is_read_as_far_as_the_file_is() {
        let file = FileId(1);
        let mut all = found("wire.jsonl");
        let append = |all: &mut Sessions, id| {
            let key = SessionKey {
                file,
                conversation: Conversation::Side(Key::of(id)),
            };
            let entry = Entry {
                conversation: key.conversation,
                place: Place::default(),
                at: None,
                event: Event::Meta(Box::default()),
            };
            let entries = vec![entry];
            all.apply(Update::Appended { file, entries });
            all.get(key).map(|session| session.coverage)
        };
        assert_eq!(append(&mut all, "early"), Some(Coverage::Unread));
        for coverage in [Coverage::Tail, Coverage::Whole] {
            let mut main = Session::new("kimi", Arc::default());
            main.coverage = coverage;
            let sessions = vec![(Conversation::Main, main)];
            all.apply(Update::Rebuilt { file, sessions });
            assert_eq!(append(&mut all, "late"), Some(coverage));
        }
    }

    /// A set of sessions with one file that has not been read yet.
    fn found(path: &str) -> Sessions {
        let mut sessions = Sessions::new(Arc::new(Rules::default()));
        sessions.apply(Update::Found(Box::new(FileFacts {
            label: "request",
            modified: Some(at(500)),
            ..file_facts(FileId(1), "request-log", path)
        })));
        sessions
    }

    /// Returns a set of sessions of one file with these sessions in it.
    fn one_file(sessions: Vec<(Conversation, Session)>) -> Sessions {
        let mut all = found("/logs/proxy.jsonl");
        all.apply(Update::Rebuilt {
            file: FileId(1),
            sessions,
        });
        all
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn key(conversation: Conversation) -> SessionKey {
        SessionKey {
            file: FileId(1),
            conversation,
        }
    }

    #[test]
    fn sessions_of_one_file_are_as_old_as_their_records() {
        let side = Conversation::Side(Key::new(1));
        let quiet = Conversation::Side(Key::new(2));
        let of = |updated_at| {
            let mut session = Log::new().session;
            session.updated_at = updated_at;
            session
        };
        let mut sessions = one_file(vec![
            (Conversation::Main, of(Some(at(100)))),
            (side, of(Some(at(140)))),
            (quiet, of(None)),
        ]);
        let activity = |sessions: &Sessions| {
            [Conversation::Main, side, quiet]
                .map(|conversation| sessions.activity_of(key(conversation)).unwrap().as_second())
        };
        // Its file was copied later.
        assert_eq!(activity(&sessions), [100, 140, 140]);
        let order: Vec<Conversation> = sessions
            .recent()
            .iter()
            .map(|row| row.key.conversation)
            .collect();
        assert_eq!(order, [side, quiet, Conversation::Main]);
        // It is written to, whatever its clock is.
        let mut facts = sessions.facts(key(Conversation::Main)).unwrap().clone();
        facts.modified = Some(at(600));
        sessions.apply(Update::Found(Box::new(facts)));
        assert_eq!(activity(&sessions), [560, 600, 600]);
    }

    #[test]
    fn a_session_is_named_by_the_best_description() {
        let said = || Log::new().item("s", Role::Container, Kind::Prompt, 9);
        let name = |log: Log, change: fn(&mut Meta)| {
            let mut session = log.session;
            change(&mut session.meta);
            one_file(vec![(Conversation::Main, session)]).name(key(Conversation::Main))
        };
        assert_eq!(name(said(), |_| {}), "proxy");
        assert_eq!(
            name(said(), |meta| meta.id = Some("0123456789".into())),
            "01234567"
        );
        let said = || {
            let mut item = new_item(Role::User, Kind::Text, 9);
            item.preview = "Which files?".into();
            said().node("u", vec![item])
        };
        assert_eq!(
            name(said(), |meta| meta.id = Some("chat-7".into())),
            "chat-7"
        );
        let mut unseen = new_item(Role::User, Kind::Text, 0);
        unseen.preview = "(120 bytes, not in the log)".into();
        let unseen = Log::new().node("u", vec![unseen]);
        assert_eq!(name(unseen, |_| {}), "proxy");
        let first = name(said(), |meta| meta.id = Some("0123456789".into()));
        assert_eq!(first, "Which files?");
        assert_eq!(
            name(said(), |meta| meta.title = Some("A talk".into())),
            "A talk"
        );
        assert_eq!(
            name(said(), |meta| meta.title = Some("\u{1b}\u{202e} ".into())),
            first
        );
        let in_project = |meta: &mut Meta| {
            meta.cwd = Some("/home/shop".into());
            meta.title = Some("A talk".into());
        };
        assert_eq!(name(said(), in_project), "shop");
        let child = |meta: &mut Meta| {
            meta.cwd = Some("/home/shop".into());
            meta.title = Some("Explore".into());
            meta.parent = Some("p".into());
        };
        assert_eq!(name(said(), child), "Explore");
    }

    #[test]
    fn a_word_is_found_in_any_case() {
        for (text, word, is_in) in [
            ("The API gateway", "api", true),
            ("The API gateway", "gateways", false),
            ("api", "", true),
            ("", "api", false),
            ("Größe", "größe", true),
            ("ASCII only", "größe", false),
        ] {
            assert_eq!(contains(text, word), is_in, "{text} {word}");
        }
    }

    #[test]
    fn sessions_that_are_each_others_parents_are_listed() {
        let mut sessions = Sessions::new(Arc::new(Rules::default()));
        for (n, id, parent) in [(1, "a", "b"), (2, "b", "a"), (3, "c", "c")] {
            sessions.apply(Update::Found(Box::new(FileFacts {
                id: Some(id.to_owned()),
                parent: Some(parent.to_owned()),
                ..file_facts(FileId(n), "codex", id)
            })));
        }
        assert_eq!(sessions.recent().len(), 3);
    }

    /// The listed ids with their depths, sorted by these ranks.
    fn ordered(sessions: &[(&str, Option<&str>, u64)], families: Families) -> String {
        let mut all = Sessions::new(Arc::new(Rules::default()));
        for (n, (id, parent, _)) in sessions.iter().enumerate() {
            all.apply(Update::Found(Box::new(FileFacts {
                id: Some((*id).to_owned()),
                parent: parent.map(str::to_owned),
                ..file_facts(FileId(n as u64), "codex", id)
            })));
        }
        let rank = |found: &Candidate<'_>| sessions[found.key.file.0 as usize].2;
        let rows = all.rows(|_| true, rank, families).into_iter();
        let shown = rows.map(|row| {
            let id = sessions[row.key.file.0 as usize].0;
            format!("{id}{}", row.depth)
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_family_may_be_where_its_first_member_is() {
        let sessions = [
            ("calm", None, 3),
            ("due", Some("calm"), 1),
            ("late", Some("calm"), 9),
            ("deep", Some("late"), 0),
            ("near", None, 2),
        ];
        let by = |families| ordered(&sessions, families);
        assert_eq!(by(Families::ByFirst), "calm0 late1 deep2 due1 near0");
        assert_eq!(by(Families::ByParent), "near0 calm0 due1 late1 deep2");
        assert_eq!(by(Families::Apart), "deep0 due0 near0 calm0 late0");
        let circle = [
            ("a", Some("b"), 1),
            ("b", Some("a"), 0),
            ("c", Some("c"), 2),
        ];
        assert_eq!(ordered(&circle, Families::ByFirst), "c0 b0 a0");
    }

    #[test]
    fn a_log_in_which_nothing_was_said_is_no_second_session() {
        let mut all = Sessions::new(Arc::new(Rules::default()));
        for (n, id, turns) in [(1, "a", 3), (2, "a", 0), (3, "b", 0), (4, "a", 1)] {
            let file = FileId(n);
            all.apply(Update::Found(Box::new(FileFacts {
                label: "gemini",
                ..file_facts(file, "gemini-cli", id)
            })));
            let mut session = Session::new("gemini-cli", Arc::default());
            session.meta.id = Some(id.into());
            session.turns = turns;
            all.apply(Update::Rebuilt {
                file,
                sessions: vec![(Conversation::Main, session)],
            });
        }
        let mut listed: Vec<u64> = all.recent().iter().map(|row| row.key.file.0).collect();
        listed.sort_unstable();
        assert_eq!(listed, [1, 3, 4]);
    }
}
