//! Finds the session that is asked about, and follows its log.

use super::Setup;
use super::hints::Hints;
use ingest::discover::Scanner;
use ingest::discover::registry;
use ingest::discover::settings::{SettingsReader, Whose};
use ingest::follower::{Follower, is_gone};
use ingest::lanes::main_session;
use ingest::log::LogFile;
use ingest::patience::Waiting;
use ingest::reader::tail_only;
use jiff::SignedDuration;
use model::event::{Key, Lane};
use model::fleet::{FileId, SessionKey, Update};
use model::forecast::{Forecast, NoForecast, forecast};
use model::session::Session;
use report::here::meant_by;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokens::Counter;

/// Two sessions of a folder are both at work if their logs were written within this time.
const AT_WORK: SignedDuration = SignedDuration::from_mins(15);
/// How many logs stay open: those of a session and its sub-agents.
const MOST_FOLLOWED: usize = 4;
/// How many of the newest logs are asked for their working directory.
const MOST_ASKED: usize = 256;
/// How many of the newest logs are looked into for a call.
const MOST_SEARCHED: usize = 8;
/// How many of a session's newest items are compared with a call.
const NEWEST_ITEMS: usize = 256;

/// A session that was found, as it is now.
pub(crate) struct Found<'a> {
    pub(crate) session: &'a Session,
    pub(crate) follower: &'a Follower,
    /// When it will compact.
    pub(crate) forecast: Result<Forecast, NoForecast>,
    /// How it was found.
    pub(crate) found_by: &'static str,
    /// What makes that uncertain.
    pub(crate) note: Option<String>,
}

/// The log that is asked about.
struct Choice {
    log: LogFile,
    found_by: &'static str,
    note: Option<String>,
}

impl Choice {
    fn of(log: &LogFile, found_by: &'static str) -> Choice {
        Choice {
            log: log.clone(),
            found_by,
            note: None,
        }
    }
}

/// What the newest records of a log say of its session.
#[derive(Debug, Clone, Default)]
struct Glance {
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
    /// What was seen of logs, by the length that the log had.
    glances: HashMap<FileId, (u64, Glance)>,
}

impl Logs {
    pub(crate) fn new(setup: Setup) -> Logs {
        let context = &setup.context;
        let env = context.user.env.look_up();
        let scanner = Scanner::new(context.roots.clone(), context.formats.clone(), env);
        Logs {
            scanner,
            counter: Arc::new(Counter::for_estimator(context.rules.estimator)),
            settings: SettingsReader::new(context.user.clone()),
            followed: Vec::new(),
            glances: HashMap::new(),
            setup,
        }
    }

    /// The session that a call is about, with what its log has by now.
    ///
    /// # Errors
    ///
    /// Why there is none, for the model to read.
    pub(crate) fn session(&mut self, hints: &Hints) -> Result<Found<'_>, String> {
        let logs = self.look();
        let mut choice = self.choose(&logs, hints)?;
        self.follow(&choice.log)?;
        if let Some(call) = hints.call.as_deref().filter(|_| hints.is(CLAUDE_CODE)) {
            let call = Key::of(call);
            if self.newest_has(call) {
                choice.note = None;
            } else if let Some(log) = self.log_with(call, &choice.log, &logs) {
                choice = Choice::of(log, "the call is in its log");
                self.follow(&choice.log)?;
            }
        }
        self.found(choice)
    }

    /// All logs, the newest first.
    fn look(&mut self) -> Vec<LogFile> {
        let mut waiting = Waiting::default();
        loop {
            let found = self.scanner.look();
            // A database that is locked is soon not.
            if found.locked.is_empty() || waiting.pause().is_err() {
                return found.files;
            }
        }
    }

    /// The log that a call is about.
    fn choose(&mut self, logs: &[LogFile], hints: &Hints) -> Result<Choice, String> {
        if let Some(wanted) = self.setup.session.clone() {
            let log = self.with_id(logs, &wanted);
            let choice = log.map(|log| Choice::of(log, "--session"));
            return choice.ok_or_else(|| format!("there is no session '{wanted}'"));
        }
        let named = hints.thread.as_deref().and_then(|id| whole_id(logs, id));
        if let Some(log) = named {
            return Ok(Choice::of(log, "the client names it in the call"));
        }
        let by_variable = self.by_claude_code(logs, hints);
        let by_variable = by_variable.or_else(|| self.by_qwen_code(logs, hints));
        by_variable.map_or_else(|| self.by_folder(logs, hints), Ok)
    }

    /// The log of the session with this id or, of the newest, the first whose id begins or ends so.
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

    /// The session of the Claude Code process that has started the server. The variable has the session in which the
    /// server was started, which is another one after `/clear` or `/resume`.
    fn by_claude_code(&self, logs: &[LogFile], hints: &Hints) -> Option<Choice> {
        let env = &self.setup.context.user.env;
        let is_its_client = hints.client.is_none() || hints.is(CLAUDE_CODE);
        let is_its = env.get("CLAUDECODE").is_some_and(|value| value == "1");
        let id = env
            .get("CLAUDE_CODE_SESSION_ID")
            .filter(|_| is_its && is_its_client)?;
        let log = whole_id(logs, id.to_str()?)?;
        let mut parents = self.setup.parents.iter();
        let now = parents.find_map(|pid| registry::session_beside(log, *pid));
        let now = now.as_deref().and_then(|id| whole_id(logs, id));
        if let Some(now) = now {
            return Some(Choice::of(
                now,
                "Claude Code's registry has it for its process",
            ));
        }
        Some(with_newer(log, "CLAUDE_CODE_SESSION_ID", logs))
    }

    /// The session that Qwen Code names to the servers that it starts. After `/clear` or `/resume` it is another one.
    fn by_qwen_code(&self, logs: &[LogFile], hints: &Hints) -> Option<Choice> {
        const VARIABLE: &str = "QWEN_CODE_SESSION_ID";
        let agent = self.agent(hints);
        let id = self.setup.context.user.env.get(VARIABLE);
        let id = id.filter(|_| agent.is_none_or(|agent| agent == QWEN_CODE))?;
        let log = whole_id(logs, id.to_str()?)?;
        (log.format.id == QWEN_CODE).then(|| with_newer(log, VARIABLE, logs))
    }

    /// The id of the agent that the client is; `None`: of none that is known.
    fn agent(&self, hints: &Hints) -> Option<&'static str> {
        let agents = self.setup.context.formats.iter().map(|format| format.id);
        agents.filter(|id| hints.is(id)).max_by_key(|id| id.len())
    }

    /// The newest log of the working directory; where the client is a known agent, of that agent.
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

    /// The newest of these logs that is of this folder. If another one was written to at about the same time, that is said.
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
        let mut choice = Choice::of(newest, found_by);
        let since = newest.facts.modified.map(|at| at - AT_WORK);
        if let Some((_, other)) = meant
            .next()
            .filter(|(other, _)| other.facts.modified >= since)
        {
            let [id, other] = [id, other].map(Option::unwrap_or_default);
            choice.note = Some(format!(
                "sessions {id} and {other} of this folder are both at work, and this client does not say which of them asks: \
                 this is {id}, which was written last"
            ));
        }
        Some(choice)
    }

    /// The id of a log's session, and its working directory, as its newest records have them.
    fn glance(&mut self, log: &LogFile) -> Glance {
        let (file, len) = (log.facts.file, log.facts.len);
        if let Some((known, glance)) = self.glances.get(&file)
            && *known == len
        {
            return glance.clone();
        }
        let sessions = tail_only(log, &self.setup.context.rules).unwrap_or_default();
        let meta = main_session(&sessions).map(|session| &session.meta);
        let glance = Glance {
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

    /// Whether the session that was read last has this call among its newest items.
    fn newest_has(&mut self, call: Key) -> bool {
        let follower = self.followed.last_mut();
        follower.is_some_and(|follower| {
            let key = main_of(follower.file());
            let session = follower.fleet().get(key);
            session.is_some_and(|session| has_call(session, call))
        })
    }

    /// The log with this call, of the newest beside one and of its sub-agents.
    fn log_with<'l>(
        &self,
        call: Key,
        beside: &LogFile,
        logs: &'l [LogFile],
    ) -> Option<&'l LogFile> {
        let facts = &beside.facts;
        let is_near = |log: &&LogFile| {
            let is_child = facts.id.is_some() && log.facts.parent == facts.id;
            let is_beside = log.facts.path.parent() == facts.path.parent();
            log.facts.file != facts.file && (is_child || is_beside)
        };
        let mut near = logs.iter().filter(is_near).take(MOST_SEARCHED);
        near.find(|log| {
            let sessions = tail_only(log, &self.setup.context.rules).unwrap_or_default();
            main_session(&sessions).is_some_and(|session| has_call(session, call))
        })
    }

    /// The session of the log that was read last.
    fn found(&mut self, choice: Choice) -> Result<Found<'_>, String> {
        let now = (self.setup.context.now)();
        let follower = self.followed.last_mut().ok_or("no log was read")?;
        let (file, key) = (follower.file(), main_of(follower.file()));
        let whose = Whose::of(follower.fleet().get(key));
        self.settings.look_again();
        let overrides = self.settings.of(&choice.log, &whose);
        follower.fleet().apply(Update::Settings { file, overrides });
        let follower = &*follower;
        let session = follower.session(key).ok_or("the log has no session")?;
        Ok(Found {
            session,
            follower,
            forecast: forecast(session, Some(now)),
            found_by: choice.found_by,
            note: choice.note,
        })
    }
}

/// The ids of the agents whose environment names their session.
const CLAUDE_CODE: &str = "claude-code";
const QWEN_CODE: &str = "qwen-code";

/// The session that a variable names. A server keeps that which it was started with.
fn with_newer(log: &LogFile, found_by: &'static str, logs: &[LogFile]) -> Choice {
    let mut choice = Choice::of(log, found_by);
    let newer = logs
        .iter()
        .take_while(|newer| newer.facts.modified > log.facts.modified);
    let folder = log.facts.path.parent();
    let mut newer = newer.filter(|newer| newer.facts.path.parent() == folder);
    if let Some(newer) = newer.find(|newer| newer.facts.parent.is_none()) {
        let id = newer.facts.id.as_deref().unwrap_or_default();
        choice.note = Some(format!(
            "session {id} of this project was written later: after /clear or /resume it may be the one"
        ));
    }
    choice
}

fn main_of(file: FileId) -> SessionKey {
    let lane = Lane::Main;
    SessionKey { file, lane }
}

/// Whether a call is among the newest items of a session.
fn has_call(session: &Session, call: Key) -> bool {
    let newest = session.items().iter().rev().take(NEWEST_ITEMS);
    newest.into_iter().any(|item| item.call == Some(call))
}

/// The log of the session with this id.
fn whole_id<'l>(logs: &'l [LogFile], id: &str) -> Option<&'l LogFile> {
    logs.iter().find(|log| log.facts.id.as_deref() == Some(id))
}
