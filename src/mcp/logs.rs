//! Finds the session that is asked about, and follows its log.

use super::Setup;
use super::choice::{Choice, Grounds, either, newer, whole_id};
use super::hints::Hints;
use super::tool_call::{Evidence, ToolCall};
use ingest::conversations::main_of;
use ingest::discover::Scanner;
use ingest::discover::registry;
use ingest::discover::settings::{SettingsOwner, SettingsReader};
use ingest::follower::{Follower, is_gone};
use ingest::log::LogFile;
use ingest::patience::{WaitTime, moments};
use ingest::reader::tail_only;
use jiff::{SignedDuration, Timestamp};
use model::event::{Conversation, Key};
use model::forecast::{Forecast, NoForecast, forecast};
use model::session::Session;
use model::sessions::{FileId, SessionKey, Update};
use report::here::meant_by;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokens::Counter;

/// Two sessions of a folder are both at work if their logs were written within this time.
const AT_WORK: SignedDuration = SignedDuration::from_mins(15);
/// The number of logs that stay open: those of a session and its sub-agents.
const MOST_FOLLOWED: usize = 4;
/// The number of the newest logs that are read for their working directory.
const MOST_ASKED: usize = 256;
/// The number of the newest logs that are searched for a call.
const MOST_SEARCHED: usize = 8;

/// A session that was found, as it is now.
pub(crate) struct SessionMatch<'a> {
    pub(crate) session: &'a Session,
    pub(crate) follower: &'a Follower,
    /// The forecast of the next compaction.
    pub(crate) forecast: Result<Forecast, NoForecast>,
    /// The time of the answer.
    pub(crate) now: Timestamp,
    /// The way in which it was found.
    pub(crate) found_by: &'static str,
    /// The reason why that is uncertain; `None`: it is certain.
    pub(crate) note: Option<String>,
}

/// The facts about a session in the newest records of its log.
#[derive(Debug, Clone, Default)]
struct SessionGlance {
    id: Option<String>,
    folder: Option<PathBuf>,
}

/// The logs of this machine, and those that are followed.
pub(crate) struct Logs {
    setup: Setup,
    scanner: Scanner,
    counter: Arc<Counter>,
    settings: SettingsReader,
    /// The newest is last.
    followed: Vec<Follower>,
    /// The facts from the ends of logs, with the length that each log had.
    glances: HashMap<FileId, (u64, SessionGlance)>,
}

impl Logs {
    pub(crate) fn new(setup: Setup) -> Logs {
        let context = &setup.context;
        let env = context.user.env.look_up();
        let scanner = Scanner::new(context.roots.clone(), context.formats.clone(), env);
        Logs {
            scanner,
            counter: Arc::new(Counter::new()),
            settings: SettingsReader::new(context.user.clone()),
            followed: Vec::new(),
            glances: HashMap::new(),
            setup,
        }
    }

    /// Finds the session that a call of a tool is about, and reads its log to the end.
    ///
    /// # Errors
    ///
    /// If there is none: the reason, for the model to read.
    pub(crate) fn session(
        &mut self,
        hints: &Hints,
        tool: &str,
    ) -> Result<SessionMatch<'_>, String> {
        let id = hints.call.as_deref().map(Key::of);
        let call = ToolCall { id, tool };
        let mut moments = moments();
        let is_written_late = |choice: &Choice| id.is_some() || choice.grounds == Grounds::Client;
        let choice = loop {
            let logs = self.look();
            let choice = self.choose(&logs, hints)?;
            if choice.grounds == Grounds::Named {
                break choice;
            }
            match self.by_call(&choice, &call, &logs) {
                Some(choice) => break choice,
                // It may be about to be written.
                None if is_written_late(&choice) && moments.next().is_some() => {}
                None if choice.note.is_none() => break choice,
                // The session is another one by now, if that has the call.
                None => {
                    let other = self.by_call(&choice.of_any(), &call, &logs);
                    break other.unwrap_or(choice);
                }
            }
        };
        self.follow(&choice.log)?;
        self.found(choice)
    }

    /// Finds all logs, the newest first.
    fn look(&mut self) -> Vec<LogFile> {
        let mut waiting = WaitTime::default();
        loop {
            let found = self.scanner.look();
            // A database that is locked is soon not.
            if found.locked.is_empty() || waiting.pause().is_err() {
                return found.files;
            }
        }
    }

    /// Chooses the log that a call is about.
    fn choose(&mut self, logs: &[LogFile], hints: &Hints) -> Result<Choice, String> {
        if let Some(wanted) = self.setup.session.clone() {
            let log = self.with_id(logs, &wanted);
            let choice = log.map(|log| Choice::of(log, "--session", Grounds::Named));
            return choice.ok_or_else(|| format!("there is no session '{wanted}'"));
        }
        let named = hints.thread.as_deref().and_then(|id| whole_id(logs, id));
        if let Some(log) = named {
            let found_by = "the client names it in the call";
            return Ok(Choice::of(log, found_by, Grounds::Named));
        }
        let by_variable = self.by_claude_code(logs, hints);
        let by_variable = by_variable.or_else(|| self.by_variable(logs, hints));
        by_variable.map_or_else(|| self.by_folder(logs, hints), Ok)
    }

    /// Finds the log of the session with this id or, of the newest logs, the first whose id begins or ends with it.
    fn with_id<'l>(&mut self, logs: &'l [LogFile], wanted: &str) -> Option<&'l LogFile> {
        if let Some(log) = whole_id(logs, wanted) {
            return Some(log);
        }
        let mut newest = logs.iter().take(MOST_ASKED);
        newest.find(|log| {
            let id = log.facts.id.clone().or_else(|| self.glance(log).id);
            id.is_some_and(|id| id.starts_with(wanted) || id.ends_with(wanted))
        })
    }

    /// Finds the session of the Claude Code process that has started the server. The variable has the session in which
    /// the server was started. After `/clear` or `/resume` the process has another one.
    fn by_claude_code(&mut self, logs: &[LogFile], hints: &Hints) -> Option<Choice> {
        let env = &self.setup.context.user.env;
        let is_its_client = hints.client.is_none() || hints.is(CLAUDE_CODE);
        let is_its = env.get("CLAUDECODE").is_some_and(|value| value == "1");
        let id = env
            .get("CLAUDE_CODE_SESSION_ID")
            .filter(|_| is_its && is_its_client)?;
        let named = whole_id(logs, id.to_str()?);
        // A process that goes on with a session names one that it has not begun.
        let any = named.or_else(|| logs.iter().find(|log| log.format.id == CLAUDE_CODE))?;
        let mut parents = self.setup.parents.iter();
        let now = parents.find_map(|pid| registry::session_beside(any, *pid));
        let now = now.as_deref().and_then(|id| whole_id(logs, id));
        if let Some(now) = now {
            return Some(Choice::of(
                now,
                "Claude Code's registry has it for its process",
                Grounds::Client,
            ));
        }
        Some(self.with_newer(named?, "CLAUDE_CODE_SESSION_ID", logs))
    }

    /// Finds the session that an agent names to the servers that it starts. After `/clear` or `/resume` the agent has
    /// another one.
    fn by_variable(&mut self, logs: &[LogFile], hints: &Hints) -> Option<Choice> {
        let client = self.agent(hints);
        let named = VARIABLES.iter().find_map(|(agent, variable)| {
            let id = self.setup.context.user.env.get(variable);
            let id = id.filter(|_| client.is_none_or(|client| client == *agent))?;
            let log = whole_id(logs, id.to_str()?)?;
            (log.format.id == *agent).then_some((log, *variable))
        });
        let (log, variable) = named?;
        Some(self.with_newer(log, variable, logs))
    }

    /// Chooses the session that a variable names, with a note if a newer one may have replaced it. The variable of a
    /// server never changes.
    fn with_newer(&mut self, log: &LogFile, found_by: &'static str, logs: &[LogFile]) -> Choice {
        let mut choice = Choice::of(log, found_by, Grounds::Client);
        let folder = self.glance(log).folder;
        let later = logs.iter().take(MOST_ASKED);
        let mut later = later.take_while(|later| later.facts.modified > log.facts.modified);
        let later = later.find(|later| {
            let is_beside = || later.facts.path.parent() == log.facts.path.parent();
            later.format.id == log.format.id
                && later.facts.parent.is_none()
                && (is_beside() || self.glance(later).folder == folder)
        });
        choice.note = later.map(|later| newer(self.id_of(later)));
        choice
    }

    /// Returns the id of the agent that the client is; `None`: it is no known agent.
    fn agent(&self, hints: &Hints) -> Option<&'static str> {
        let agents = self.setup.context.formats.iter().map(|format| format.id);
        agents.filter(|id| hints.is(id)).max_by_key(|id| id.len())
    }

    /// Chooses the newest log of the working directory, of the client's agent if that is known.
    fn by_folder(&mut self, logs: &[LogFile], hints: &Hints) -> Result<Choice, String> {
        let agent = self.agent(hints);
        let is_its = |log: &&LogFile| {
            log.facts.parent.is_none() && agent.is_none_or(|agent| log.format.id == agent)
        };
        let logs: Vec<&LogFile> = logs.iter().filter(is_its).take(MOST_ASKED).collect();
        let here = self.setup.here.clone();
        let home = self.setup.context.user.folders.home.clone();
        for meant in meant_by(&here, home.as_deref()) {
            // An agent may have been started in a folder around this one.
            let found_by = if here.contains(&meant) {
                "newest log of the working directory"
            } else {
                "newest log of a folder around the working directory"
            };
            if let Some(choice) = self.newest_of(&logs, &meant, found_by) {
                return Ok(choice);
            }
        }
        Err(match agent {
            Some(agent) => format!("no log of {agent} was found for the working directory"),
            None => "no log was found for the working directory".to_owned(),
        })
    }

    /// Chooses the newest of these logs that is of this folder. A note names another one that was written to at about
    /// the same time.
    fn newest_of(
        &mut self,
        logs: &[&LogFile],
        folder: &Path,
        found_by: &'static str,
    ) -> Option<Choice> {
        let mut meant = logs.iter().filter_map(|log| {
            let glance = self.glance(log);
            let is_its = glance.folder.is_some_and(|its| its == folder);
            is_its.then(|| (*log, log.facts.id.clone().or(glance.id)))
        });
        let (newest, id) = meant.next()?;
        let mut choice = Choice::of(newest, found_by, Grounds::Newest);
        let since = newest.facts.modified.map(|at| at - AT_WORK);
        let other = meant.next();
        if let Some((_, other)) = other.filter(|(other, _)| other.facts.modified >= since) {
            choice.note = Some(either(id, other));
        }
        Some(choice)
    }

    /// Returns the id of a log's session and its working directory, from its newest records.
    fn glance(&mut self, log: &LogFile) -> SessionGlance {
        let (file, len) = (log.facts.file, log.facts.len);
        if let Some((known, glance)) = self.glances.get(&file)
            && *known == len
        {
            return glance.clone();
        }
        let sessions = tail_only(log, &self.setup.context.rules).unwrap_or_default();
        let meta = main_of(&sessions).map(|session| &session.meta);
        let glance = SessionGlance {
            id: meta.and_then(|meta| meta.id.as_deref().map(str::to_owned)),
            folder: meta.and_then(|meta| meta.cwd.as_deref().map(PathBuf::from)),
        };
        self.glances.insert(file, (len, glance.clone()));
        glance
    }

    /// Reads what is new in a log. It becomes the newest of those that are followed.
    fn follow(&mut self, log: &LogFile) -> Result<(), String> {
        let file = log.facts.file;
        let known = self.followed.iter().position(|known| known.file() == file);
        let mut follower = match known {
            Some(at) => self.followed.remove(at),
            None => {
                let rules = Arc::clone(&self.setup.context.rules);
                Follower::new(log.clone(), rules, Arc::clone(&self.counter))
            }
        };
        follower.read().map_err(|error| {
            let path = log.facts.path.display();
            if is_gone(&error) {
                format!("the log '{path}' is gone")
            } else {
                format!("the log '{path}' cannot be read: {error}")
            }
        })?;
        if self.followed.len() >= MOST_FOLLOWED {
            self.followed.remove(0);
        }
        self.followed.push(follower);
        Ok(())
    }

    /// Chooses the session whose log has the call that is being answered; `None`: no log has it.
    fn by_call(
        &mut self,
        choice: &Choice,
        call: &ToolCall<'_>,
        logs: &[LogFile],
    ) -> Option<Choice> {
        let mut near = vec![choice.log.clone()];
        near.extend(self.beside(choice, call, logs));
        let rules = &self.setup.context.rules;
        let evidence: Vec<_> = near.iter().map(|log| call.find(log, rules)).collect();
        let most = evidence.iter().map(|(evidence, _)| *evidence).max();
        let most = most.filter(|most| *most > Evidence::None);
        let all = near.iter().zip(evidence);
        let mut asking = all.filter(|(_, (evidence, _))| Some(*evidence) == most);
        let (first, (_, conversation)) = asking.next()?;
        let is_clients = choice.grounds == Grounds::Client
            && first.facts.file == choice.log.facts.file
            && conversation == Conversation::Main;
        Some(match asking.next() {
            _ if is_clients => Choice::of(first, choice.found_by, Grounds::Client),
            None => Choice {
                conversation,
                ..Choice::of(first, "the call is in its log", Grounds::Client)
            },
            Some((other, _)) => Choice {
                note: Some(either(self.id_of(first), self.id_of(other))),
                ..Choice::of(first, choice.found_by, choice.grounds)
            },
        })
    }

    /// Returns the newest logs that may have a call beside the chosen one: those of its sub-agents and, if the client
    /// does not name its session or this call, those of the same folder.
    fn beside(&mut self, choice: &Choice, call: &ToolCall<'_>, logs: &[LogFile]) -> Vec<LogFile> {
        let log = &choice.log;
        let since = log.facts.modified.map(|at| at - AT_WORK);
        let folder = self.glance(log).folder;
        let mut is_near = |near: &&LogFile| {
            let is_child = log.facts.id.is_some() && near.facts.parent == log.facts.id;
            let is_beside = || near.facts.path.parent() == log.facts.path.parent();
            near.format.id == log.format.id
                && near.facts.file != log.facts.file
                && near.facts.modified >= since
                && (is_child
                    || (call.id.is_some() && is_beside())
                    // An agent may write a call after it has made it: another session's call shows nothing then.
                    || (choice.grounds == Grounds::Newest && self.glance(near).folder == folder))
        };
        let near = logs.iter().take(MOST_ASKED).filter(|log| is_near(log));
        near.take(MOST_SEARCHED).cloned().collect()
    }

    fn id_of(&mut self, log: &LogFile) -> Option<String> {
        log.facts.id.clone().or_else(|| self.glance(log).id)
    }

    /// Returns the session of the log that was read last.
    fn found(&mut self, choice: Choice) -> Result<SessionMatch<'_>, String> {
        let now = (self.setup.context.now)();
        let follower = self.followed.last_mut().ok_or("no log was read")?;
        let (file, conversation) = (follower.file(), choice.conversation);
        let key = SessionKey { file, conversation };
        let whose = SettingsOwner::of(follower.sessions().get(key).map(|session| &session.meta));
        self.settings.look_again();
        let overrides = self.settings.of(&choice.log, &whose);
        follower
            .sessions()
            .apply(Update::Settings { file, overrides });
        let follower = &*follower;
        let session = follower.session(key).ok_or("the log has no session")?;
        Ok(SessionMatch {
            session,
            follower,
            forecast: forecast(session, Some(now)),
            now,
            found_by: choice.found_by,
            note: choice.note,
        })
    }
}

const CLAUDE_CODE: &str = "claude-code";

/// The variables by which other agents name a session to the servers that they start: Qwen Code since 0.24, Copilot CLI
/// since 1.0.
const VARIABLES: [(&str, &str); 2] = [
    ("qwen-code", "QWEN_CODE_SESSION_ID"),
    ("copilot-cli", "COPILOT_AGENT_SESSION_ID"),
];
