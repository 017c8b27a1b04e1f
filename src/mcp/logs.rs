//! Finds the session that is asked about, and follows its log.

use super::Setup;
use super::choice::{Choice, Grounds, either, newer};
use super::hints::Hints;
use ingest::AT_WORK;
use ingest::bytes::patience::{WaitTime, moments};
use ingest::discover::Scanner;
use ingest::discover::settings::{SettingsOwner, SettingsReader};
use ingest::discover::which::call::{Evidence, ToolCall};
use ingest::discover::which::process::registered;
use ingest::discover::which::{Glances, with_id};
use ingest::log::LogFile;
use ingest::log::follower::{Follower, is_gone};
use jiff::Timestamp;
use model::event::{Conversation, Key};
use model::lists::sessions::{SessionKey, Update};
use model::outlook::forecast::{Forecast, NoForecast, forecast};
use model::session::Session;
use report::ReportContext;
use std::sync::Arc;
use tokens::Counter;

/// The number of logs that stay open: those of a session and its sub-agents.
const MOST_FOLLOWED: usize = 4;
/// The number of the newest logs that are read for their working directory.
const MOST_ASKED: usize = 256;
/// The number of the newest logs that are searched for a call.
const MOST_SEARCHED: usize = 8;

/// A session that was found, as it is now.
pub(crate) struct SessionMatch<'a> {
    pub(crate) key: SessionKey,
    pub(crate) session: &'a Session,
    pub(crate) follower: &'a Follower,
    pub(crate) context: &'a ReportContext,
    /// The forecast of the next compaction.
    pub(crate) forecast: Result<Forecast, NoForecast>,
    /// The time of the answer.
    pub(crate) now: Timestamp,
    /// The way in which it was found.
    pub(crate) found_by: &'static str,
    /// The reason why that is uncertain; `None`: it is certain.
    pub(crate) note: Option<String>,
}

/// The logs of this machine, and those that are followed.
pub(crate) struct Logs {
    setup: Setup,
    scanner: Scanner,
    counter: Arc<Counter>,
    settings: SettingsReader,
    /// The newest is last.
    followed: Vec<Follower>,
    glances: Glances,
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
            glances: Glances::new(&context.rules),
            setup,
        }
    }

    /// Returns the places of all logs.
    pub(crate) fn context(&self) -> &ReportContext {
        &self.setup.context
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
        if let Some(wanted) = &self.setup.session {
            let has_it = |log: &&LogFile| {
                let id = self.glances.id(log);
                id.is_some_and(|id| id.starts_with(wanted) || id.ends_with(wanted))
            };
            let newest = || logs.iter().take(MOST_ASKED).find(has_it);
            let log = with_id(logs, wanted).or_else(newest);
            let choice = log.map(|log| Choice::of(log, "--session", Grounds::Named));
            return choice.ok_or_else(|| format!("there is no session '{wanted}'"));
        }
        if let Some(log) = hints.thread.as_deref().and_then(|id| with_id(logs, id)) {
            let found_by = "the client names it in the call";
            return Ok(Choice::of(log, found_by, Grounds::Named));
        }
        let by_variable = self.by_variable(logs, hints);
        by_variable.map_or_else(|| self.by_folder(logs, hints), Ok)
    }

    /// Finds the session that an agent names to the servers that it starts. After `/clear` or `/resume` the agent has
    /// another one, which Claude Code's registry has for its process.
    fn by_variable(&mut self, logs: &[LogFile], hints: &Hints) -> Option<Choice> {
        let client = self.agent(hints);
        let of_agent = |agent, id: &str| with_id(logs, id).filter(|log| log.format.id == agent);
        for (agent, variable) in VARIABLES {
            let Setup {
                context, parents, ..
            } = &self.setup;
            let (formats, user) = (&context.formats, &context.user);
            let is_client = match agent {
                // A shell of Claude Code has its variables too.
                CLAUDE_CODE => hints.client.is_none() || client == Some(agent),
                _ => client.is_none_or(|client| client == agent),
            };
            let is_set = agent != CLAUDE_CODE
                || user.env.get("CLAUDECODE").is_some_and(|value| value == "1");
            let Some(id) = user.env.get(variable).filter(|_| is_client && is_set) else {
                continue;
            };
            let mut parents = parents.iter();
            let now = parents.find_map(|pid| registered(*pid, formats, user));
            let now = now.filter(|(format, _)| format.id == agent);
            if let Some(log) = now.and_then(|(_, id)| of_agent(agent, &id)) {
                let found_by = "Claude Code's registry has it for its process";
                return Some(Choice::of(log, found_by, Grounds::Client));
            }
            if let Some(log) = id.to_str().and_then(|id| of_agent(agent, id)) {
                return Some(self.with_newer(log, variable, logs));
            }
        }
        None
    }

    /// Chooses the session that a variable names, with a note if a newer one may have replaced it. The variable of a
    /// server never changes.
    fn with_newer(&mut self, log: &LogFile, found_by: &'static str, logs: &[LogFile]) -> Choice {
        let mut choice = Choice::of(log, found_by, Grounds::Client);
        let later = logs.iter().take(MOST_ASKED);
        let mut later = later.take_while(|later| later.facts.modified > log.facts.modified);
        let later = later.find(|later| {
            later.format.id == log.format.id
                && later.facts.parent.is_none()
                && (are_beside(later, log) || self.glances.are_of_one_folder(later, log))
        });
        choice.note = later.map(|later| newer(self.glances.id(later)));
        choice
    }

    /// Returns the id of the agent that the client is; `None`: it is no known agent.
    fn agent(&self, hints: &Hints) -> Option<&'static str> {
        let agents = self.setup.context.formats.iter().map(|format| format.id);
        agents.filter(|id| hints.is(id)).max_by_key(|id| id.len())
    }

    /// Chooses the newest log of the working directory, of the client's agent if that is known. A note names another one
    /// that was written to at about the same time.
    fn by_folder(&mut self, logs: &[LogFile], hints: &Hints) -> Result<Choice, String> {
        let agent = self.agent(hints);
        let is_its = |log: &&LogFile| {
            log.facts.parent.is_none() && agent.is_none_or(|agent| log.format.id == agent)
        };
        let own = || logs.iter().filter(is_its).take(MOST_ASKED);
        let Setup { here, context, .. } = &self.setup;
        let home = context.user.folders.home.as_deref();
        let Some((newest, folder)) = self.glances.newest_in(own(), here, home) else {
            return Err(match agent {
                Some(agent) => format!("no log of {agent} was found for the working directory"),
                None => "no log was found for the working directory".to_owned(),
            });
        };
        // An agent may have been started in a folder around this one.
        let found_by = if here.contains(&folder) {
            "newest log of the working directory"
        } else {
            "newest log of a folder around the working directory"
        };
        let mut choice = Choice::of(newest, found_by, Grounds::Newest);
        let since = newest.facts.modified.map(|at| at - AT_WORK);
        let mut others = own().take_while(|other| other.facts.modified >= since);
        let other = others.find(|other| {
            other.facts.file != newest.facts.file && self.glances.are_of_one_folder(other, newest)
        });
        choice.note = other.map(|other| either(self.glances.id(newest), self.glances.id(other)));
        Ok(choice)
    }

    /// Reads what is new in a log. It becomes the newest of those that are followed.
    fn follow(&mut self, log: &LogFile) -> Result<(), String> {
        let file = log.facts.file;
        let known = self
            .followed
            .iter()
            .position(|known| known.log.facts.file == file);
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
                note: Some(either(self.glances.id(first), self.glances.id(other))),
                ..Choice::of(first, choice.found_by, choice.grounds)
            },
        })
    }

    /// Returns the newest logs that may have a call beside the chosen one: those of its sub-agents and, if the client
    /// does not name its session or this call, those of the same folder.
    fn beside(&mut self, choice: &Choice, call: &ToolCall<'_>, logs: &[LogFile]) -> Vec<LogFile> {
        let log = &choice.log;
        let since = log.facts.modified.map(|at| at - AT_WORK);
        let mut is_near = |near: &&LogFile| {
            let is_child = log.facts.id.is_some() && near.facts.parent == log.facts.id;
            near.format.id == log.format.id
                && near.facts.file != log.facts.file
                && near.facts.modified >= since
                && (is_child
                    || (call.id.is_some() && are_beside(near, log))
                    // An agent may write a call after it has made it: another session's call shows nothing then.
                    || (choice.grounds == Grounds::Newest && self.glances.are_of_one_folder(near, log)))
        };
        let near = logs.iter().take(MOST_ASKED).filter(|log| is_near(log));
        near.take(MOST_SEARCHED).cloned().collect()
    }

    /// Returns the session of the log that was read last.
    fn found(&mut self, choice: Choice) -> Result<SessionMatch<'_>, String> {
        let now = (self.setup.context.now)();
        let follower = self.followed.last_mut().ok_or("no log was read")?;
        let (file, conversation) = (follower.log.facts.file, choice.conversation);
        let key = SessionKey { file, conversation };
        let whose = SettingsOwner::of(follower.sessions.get(key).map(|session| &session.meta));
        self.settings.look_again();
        let overrides = self.settings.of(&choice.log, &whose);
        follower
            .sessions
            .apply(Update::Settings { file, overrides });
        let follower = &*follower;
        let session = follower.session(key).ok_or("the log has no session")?;
        Ok(SessionMatch {
            key,
            session,
            follower,
            context: &self.setup.context,
            forecast: forecast(session, Some(now)),
            now,
            found_by: choice.found_by,
            note: choice.note,
        })
    }
}

/// Returns true if two logs are in one folder.
fn are_beside(one: &LogFile, other: &LogFile) -> bool {
    one.facts.path.parent() == other.facts.path.parent()
}

const CLAUDE_CODE: &str = "claude-code";

/// The variables by which agents name a session to the servers that they start: Qwen Code since 0.24, Copilot CLI since
/// 1.0.
const VARIABLES: [(&str, &str); 3] = [
    (CLAUDE_CODE, "CLAUDE_CODE_SESSION_ID"),
    ("qwen-code", "QWEN_CODE_SESSION_ID"),
    ("copilot-cli", "COPILOT_AGENT_SESSION_ID"),
];
