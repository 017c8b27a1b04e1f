//! Reads the settings files that the agent of a log would have read.
//!
//! Settings of the agent and of the machine apply to logs in the agent's folder, settings of a project if
//! its folder is on this machine. A log that was copied elsewhere, or is on another machine, has none.

use super::repositories::{Repositories, started_in, with_hyphens, worktree_below};
use super::roots;
use crate::log::LogFile;
use crate::source::Stamp;
use files::paths::{Env, User};
use formats::settings::SettingsFile;
use formats::{Base, Format, Settings};
use integrations::client_record::{self, ClientRecord, RecordedCompaction};
use integrations::hook_notes::{self, HookCompaction, HookNotes};
use integrations::store;
use model::event::{Cause, Meta};
use model::hooked::HookedCompaction;
use model::project::Project;
use model::window::{
    Breakdown, ClientCompaction, ClientStatus, OtherSettings, Overrides, ReadySummary,
};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The largest file of settings, in bytes.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// The settings of agents, each file read once and again only when it has changed.
pub struct SettingsReader {
    user: User,
    files: HashMap<PathBuf, StampedFile>,
    known: HashMap<SettingsKey, CachedSettings>,
    /// The statements of the agents' clients.
    kept: store::Reader<ClientRecord>,
    /// The notes of the agents' hooks.
    noted: store::Reader<HookNotes>,
    repositories: Repositories,
    /// Files are looked at once a round.
    round: u64,
}

/// The session whose settings are asked for, as far as its log says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsOwner {
    /// Its id.
    pub id: Option<Box<str>>,
    /// The folder in which it works.
    pub cwd: Option<Box<str>>,
}

impl SettingsOwner {
    /// Returns a session that was read; `None`: the log holds none.
    pub fn of(meta: Option<&Meta>) -> SettingsOwner {
        meta.map_or_else(SettingsOwner::default, |meta| SettingsOwner {
            id: meta.id.clone(),
            cwd: meta.cwd.clone(),
        })
    }

    /// Takes over what is new. Returns whether that is anything.
    pub fn add(&mut self, meta: &Meta) -> bool {
        let known = self.clone();
        self.id = meta.id.clone().or(self.id.take());
        self.cwd = meta.cwd.clone().or(self.cwd.take());
        *self != known
    }
}

/// The properties of a log that determine its settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SettingsKey {
    agent: &'static str,
    /// The agent's folder.
    home: Option<PathBuf>,
    /// The folder that the log's folder is in, where there may be settings.
    near: Option<PathBuf>,
    /// The folder in which the session works.
    project: Option<PathBuf>,
}

/// The settings that were read for a log.
struct CachedSettings {
    round: u64,
    contents: Vec<Arc<[u8]>>,
    overrides: Arc<Overrides>,
}

/// The stamp of a file when it was last looked at; `None`: it is not there.
#[derive(Default)]
struct StampedFile {
    round: Option<u64>,
    stamp: Option<Stamp>,
    bytes: Arc<[u8]>,
}

impl SettingsReader {
    /// Returns a reader that has read nothing yet.
    pub fn new(user: User) -> SettingsReader {
        let state = user.folders.state_folder();
        let folder = |of: fn(&Path) -> PathBuf| state.as_deref().map(of);
        SettingsReader {
            kept: store::Reader::new(folder(client_record::folder)),
            noted: store::Reader::new(folder(hook_notes::folder)),
            user,
            files: HashMap::new(),
            known: HashMap::new(),
            repositories: Repositories::default(),
            round: 0,
        }
    }

    /// Makes every file be looked at again.
    pub fn look_again(&mut self) {
        self.round += 1;
        self.kept.look_again();
        self.noted.look_again();
    }

    /// Returns the folders of this user's own agent.
    fn own(&self, format: &Format) -> Vec<PathBuf> {
        let roots = format.roots.iter();
        roots
            .flat_map(|root| roots::agent_folders(root, &self.user))
            .collect()
    }

    /// Returns the folder of this user's own agent, for a log that a variable or a setting has moved out of it.
    fn mover(&self, log: &LogFile) -> Option<PathBuf> {
        let roots = roots::usual(&[log.format], &self.user);
        let is_moved = |root: &roots::SearchRoot| log.facts.path.starts_with(root.path());
        roots
            .iter()
            .any(is_moved)
            .then(|| self.own(log.format))?
            .into_iter()
            .next()
    }

    /// Returns true if a session worked in the folder that its log names, so that its settings may be looked for there:
    /// the folder is below the user's home, or the folder of the log is named after it. A hostile log could otherwise
    /// have any folder of the machine looked at.
    fn is_believed(&self, cwd: &Path, log: &Path) -> bool {
        if cwd.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        let home = self.user.folders.home.as_ref();
        home.is_some_and(|home| cwd.starts_with(home)) || is_named_after(log, cwd)
    }

    /// Returns the settings for the session of a log, with what the agent's client said of it and what its hooks noted.
    pub fn of(&mut self, log: &LogFile, whose: &SettingsOwner) -> Arc<Overrides> {
        let set = self.of_files(log, whose.cwd.as_deref());
        let project = self.project(log, whose.cwd.as_deref());
        let id = whose.id.as_deref().or(log.facts.id.as_deref());
        let id = id.filter(|_| log.system.is_here());
        let (agent, id) = (log.format.id, id.unwrap_or_default());
        let (said, hooked) = (self.said(agent, id), self.hooked(agent, id));
        let ready = self.ready(log, &set);
        if said.is_none() && hooked.is_empty() && project.is_none() && ready.is_none() {
            return set;
        }
        let others = OtherSettings {
            ready,
            ..set.others.clone()
        };
        Arc::new(Overrides {
            others,
            said,
            hooked,
            project,
            ..Overrides::clone(&set)
        })
    }

    /// Returns the project of a session that works in this folder, where that is another folder.
    fn project(&mut self, log: &LogFile, cwd: Option<&str>) -> Option<Project> {
        let cwd = cwd?;
        let log_path = &log.facts.path;
        let home = self.user.folders.home.as_deref();
        let is_believed = |path: &Path| {
            log.system.is_here() && is_local(path) && self.is_believed(path, log_path)
        };
        let started = started_in(log_path, cwd);
        let repository = if is_believed(Path::new(started)) {
            self.repositories.of(Path::new(started))
        } else {
            None
        };
        let folder = repository
            .or_else(|| worktree_below(started, home))
            .unwrap_or_else(|| started.to_owned());
        (folder != cwd).then(|| Project {
            cwd: cwd.into(),
            folder: folder.into(),
        })
    }

    /// Returns the window that the agent's client said.
    fn said(&mut self, agent: &str, id: &str) -> Option<ClientStatus> {
        let kept = self.kept.of(agent, id)?;
        let breakdown = kept.breakdown.as_ref().map(|it| Breakdown {
            at: it.at,
            tokens: it.tokens,
            parts: it.parts.clone(),
        });
        Some(ClientStatus {
            compaction: kept.compaction.map_or(ClientCompaction::Unsaid, of_client),
            breakdown,
            since: kept.since,
            cache_until: kept.cache_until,
            ..ClientStatus::window(kept.window?, kept.model.clone())
        })
    }

    /// Returns the summary that was made beforehand for the session of a log, if its agent may make one.
    fn ready(&mut self, log: &LogFile, set: &Overrides) -> Option<ReadySummary> {
        let ready = log.format.ready?;
        if set.others.background != Some(true) || !log.system.is_here() {
            return None;
        }
        let path = (ready.path)(&log.facts.path)?;
        let root = log.facts.path.parent().map(Path::to_path_buf);
        (ready.read)(&look(&mut self.files, self.round, root, path)?)
    }

    /// Returns the compactions that the agent's hooks noted.
    fn hooked(&mut self, agent: &str, id: &str) -> Vec<HookedCompaction> {
        let noted = self.noted.of(agent, id);
        let compactions = noted.iter().flat_map(|noted| &noted.compactions);
        compactions.map(of_hook).collect()
    }

    fn of_files(&mut self, log: &LogFile, cwd: Option<&str>) -> Arc<Overrides> {
        let Some(settings) = log.format.settings.filter(|_| log.system.is_here()) else {
            return Overrides::none();
        };
        let home = agent_folder(log.format, &log.facts.path).or_else(|| self.mover(log));
        let is_believed = |cwd: &&Path| is_local(cwd) && self.is_believed(cwd, &log.facts.path);
        let project = cwd.map(Path::new).filter(is_believed);
        let is_near = |file: &SettingsFile| matches!(file, SettingsFile::NearLog(_));
        let near = log.facts.path.parent().and_then(Path::parent);
        let near = near.filter(|_| home.is_some() && settings.files.iter().any(is_near));
        let asker = SettingsKey {
            agent: log.format.id,
            home,
            near: near.map(Path::to_path_buf),
            project: project.map(Path::to_path_buf),
        };
        if let Some(known) = self.known.get(&asker)
            && known.round == self.round
        {
            return Arc::clone(&known.overrides);
        }
        let (home, near) = (&asker.home, &asker.near);
        // Many users keep their agent's settings elsewhere, and link them.
        let is_own = home
            .as_ref()
            .is_some_and(|home| self.own(log.format).contains(home));
        let of = |folder: &'_ Path, name: &str| {
            let root = Some(folder.to_path_buf()).filter(|_| !is_own);
            Some((root, folder.join(name)))
        };
        let paths = settings.files.iter().filter_map(|file| match *file {
            SettingsFile::Agent(below) => of(home.as_deref()?, below),
            SettingsFile::Beside(name) => of(home.as_ref()?.parent()?, name),
            SettingsFile::NearLog(below) => of(near.as_deref()?, below),
            SettingsFile::Project(below) => {
                Some((Some(project?.to_path_buf()), project?.join(below)))
            }
            SettingsFile::Machine {
                unix,
                macos,
                windows,
            } => {
                let path = files::of_system(unix, macos, windows);
                home.as_ref().map(|_| (None, path.into()))
            }
        });
        let mut contents: Vec<Arc<[u8]>> = paths
            .filter_map(|(root, path)| look(&mut self.files, self.round, root, path))
            .collect();
        if home.is_some() {
            contents.extend(environment(settings, &self.user.env));
        }
        let round = self.round;
        if let Some(known) = self.known.get_mut(&asker)
            && known.contents == contents
        {
            known.round = round;
            return Arc::clone(&known.overrides);
        }
        let files: Vec<&[u8]> = contents.iter().map(|bytes| &**bytes).collect();
        let overrides = Arc::new((settings.read)(&files));
        let known = CachedSettings {
            round,
            contents,
            overrides: Arc::clone(&overrides),
        };
        self.known.insert(asker, known);
        overrides
    }
}

/// Returns the settings in the environment, as a settings file.
fn environment(settings: &Settings, env: &Env) -> Option<Arc<[u8]>> {
    let set = |name: &&'static str| Some((*name, env.get(name)?.into_string().ok()?));
    let set: BTreeMap<&str, String> = settings.env.iter().filter_map(set).collect();
    if set.is_empty() {
        return None;
    }
    let file = serde_json::to_vec(&BTreeMap::from([("env", set)])).ok()?;
    Some(file.into())
}

/// Returns the folder of the agent that a log lies in: what its nearest folder for logs is in.
pub(crate) fn agent_folder(format: &Format, log: &Path) -> Option<PathBuf> {
    log.ancestors().skip(1).find_map(|folder| {
        let mut roots = format
            .roots
            .iter()
            .filter(|root| root.base != Base::Nowhere);
        let root = roots.find(|root| folder.ends_with(root.logs))?;
        let depth = Path::new(root.logs).components().count();
        folder.ancestors().nth(depth).map(Path::to_path_buf)
    })
}

/// Returns true if one of the folders of a log has the name of another folder's path, as Claude Code, pi and Qwen Code
/// name the folders of their projects: all but letters and digits are hyphens.
fn is_named_after(log: &Path, cwd: &Path) -> bool {
    let Some(cwd) = cwd.to_str() else {
        return false;
    };
    let name = with_hyphens(cwd);
    let name = name.trim_matches('-');
    let folders = log.ancestors().skip(1).filter_map(Path::file_name);
    let mut folders = folders.filter_map(OsStr::to_str);
    !name.is_empty() && folders.any(|folder| folder.trim_matches('-') == name)
}

/// Returns true if a path that a log names may be looked at. A share of another machine may not: it would be looked up
/// over the network.
fn is_local(path: &Path) -> bool {
    let share = |text: &str| text.starts_with(r"\\") || text.starts_with("//");
    path.is_absolute() && !path.to_str().is_none_or(share)
}

/// Returns a file's bytes, if there is such a file. No link leads out of `root`.
fn look(
    held: &mut HashMap<PathBuf, StampedFile>,
    round: u64,
    root: Option<PathBuf>,
    path: PathBuf,
) -> Option<Arc<[u8]>> {
    let held = held.entry(path.clone()).or_default();
    if held.round != Some(round) {
        held.round = Some(round);
        let inside = root.is_none_or(|root| files::below(&root, &path).is_ok());
        let stamp = inside.then(|| stamp(&path)).flatten();
        if stamp != held.stamp || stamp.is_some_and(|stamp| !stamp.is_sure()) {
            held.stamp = stamp;
            held.bytes = stamp.and_then(|_| read(&path)).unwrap_or_default();
        }
    }
    held.stamp.map(|_| Arc::clone(&held.bytes))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = files::look(path).ok()?;
    (meta.len() <= LARGEST_SETTINGS).then(|| Stamp::from(&meta))
}

fn read(path: &Path) -> Option<Arc<[u8]>> {
    Some(files::read(path, LARGEST_SETTINGS).ok()?.into())
}

/// Returns a client's compaction as the model has it.
fn of_client(kept: RecordedCompaction) -> ClientCompaction {
    match kept {
        RecordedCompaction::At(at) => ClientCompaction::At(at),
        RecordedCompaction::WhenRefused => ClientCompaction::Refused,
        RecordedCompaction::Off => ClientCompaction::Off,
    }
}

/// Returns a compaction as the model has it.
fn of_hook(noted: &HookCompaction) -> HookedCompaction {
    let of_agent = noted.before.filter(|size| size.is_agents);
    HookedCompaction {
        at: noted.at,
        ended: noted.ended,
        cause: Cause::named(&noted.cause),
        before: of_agent.map(|size| size.used),
        after: noted.after.map(|size| size.used),
    }
}

#[cfg(test)]
mod tests {
    use super::super::roots::SearchRoot;
    use super::*;
    use crate::discover::Scanner;
    use agents;
    use agents::builtin::claude_code::CLAUDE_CODE;
    use model::window::Compaction;
    use std::fs;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn log(path: &Path) -> LogFile {
        put(
            path,
            "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"parentUuid\":null,\"timestamp\":\"2026-05-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
        );
        let roots = vec![SearchRoot::Given(path.to_path_buf())];
        let found = Scanner::new(roots, vec![&CLAUDE_CODE], |_| None).look();
        found.files.into_iter().next().expect("a log")
    }

    /// A user with this home.
    fn at_home(home: &Path) -> User {
        let mut user = User::default();
        user.folders.home = Some(home.to_path_buf());
        user
    }

    fn works_in(cwd: Option<&str>) -> SettingsOwner {
        SettingsOwner {
            id: None,
            cwd: cwd.map(Box::from),
        }
    }

    #[test]
    fn a_folder_that_a_log_names_is_looked_at_below_the_home_or_as_its_project() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let set = |project: &Path| {
            put(
                &project.join(".claude/settings.json"),
                "{\"autoCompactWindow\":400000}",
            );
            project.to_str().unwrap().to_owned()
        };
        let (inside, outside) = (set(&home.join("shop")), set(&dir.path().join("srv/shop")));
        let named: String = outside.replace(|c: char| !c.is_alphanumeric(), "-");
        let logs = home.join(".claude/projects");
        let (own, other) = (
            log(&logs.join(&named).join("a.jsonl")),
            log(&logs.join("-elsewhere/b.jsonl")),
        );
        let mut reader = SettingsReader::new(at_home(&home));
        let mut is_read =
            |log: &LogFile, cwd: &str| !reader.of(log, &works_in(Some(cwd))).is_empty();
        assert!(is_read(&other, &inside));
        assert!(is_read(&own, &outside));
        assert!(!is_read(&other, &outside));
        let around = format!("{}/../srv/shop", home.display());
        assert!(!is_read(&other, &around));
    }

    #[test]
    fn local_precedes_project_precedes_user() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join(".claude"), dir.path().join("shop"));
        let log = log(&home.join("projects/-shop/3f2a.jsonl"));
        let cwd = project.to_str();
        let window = |reader: &mut SettingsReader| {
            reader.look_again();
            reader.of(&log, &works_in(cwd)).compact_window
        };
        let mut reader = SettingsReader::new(at_home(dir.path()));
        assert_eq!(window(&mut reader), None);
        put(
            &home.join("settings.json"),
            "{\"autoCompactWindow\":300000,\"autoCompactEnabled\":false}",
        );
        assert_eq!(window(&mut reader), Some(300_000));
        put(
            &project.join(".claude/settings.json"),
            "{\"autoCompactWindow\":400000}",
        );
        assert_eq!(window(&mut reader), Some(400_000));
        put(
            &project.join(".claude/settings.local.json"),
            "{\"autoCompactWindow\":500000}",
        );
        assert_eq!(window(&mut reader), Some(500_000));
        // Each key from the first file that says it.
        assert_eq!(reader.of(&log, &works_in(cwd)).compaction, Compaction::Off);
        // Another project has the user's alone.
        let other = reader.of(&log, &works_in(dir.path().to_str()));
        assert_eq!(other.compact_window, Some(300_000));
        // The same length: noticed by its time, or because it is too young to be sure.
        put(
            &project.join(".claude/settings.local.json"),
            "{\"autoCompactWindow\":600000}",
        );
        assert_eq!(window(&mut reader), Some(600_000));
        fs::remove_dir_all(project.join(".claude")).unwrap();
        assert_eq!(window(&mut reader), Some(300_000));
    }

    #[test]
    fn the_agents_state_is_beside_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join(".claude");
        let log = log(&home.join("projects/-shop/3f2a.jsonl"));
        let sent =
            |window| format!("{{\"autoCompactWindowsCache\":{{\"claude-opus-5\":{window}}}}}");
        let mut reader = SettingsReader::new(User::default());
        put(&dir.path().join(".claude.json"), &sent(400_000));
        let windows = |reader: &mut SettingsReader| {
            reader.look_again();
            let models = &reader.of(&log, &works_in(None)).models;
            models.first().and_then(|row| row.compact_window)
        };
        assert_eq!(windows(&mut reader), Some(400_000));
        put(&home.join(".claude.json"), &sent(300_000));
        assert_eq!(windows(&mut reader), Some(300_000));
    }

    #[test]
    fn a_copy_elsewhere_has_the_projects_settings_alone() {
        let dir = tempfile::tempdir().unwrap();
        put(
            &dir.path().join("settings.json"),
            "{\"autoCompactWindow\":300000}",
        );
        let log = log(&dir.path().join("copies/3f2a.jsonl"));
        let mut reader = SettingsReader::new(at_home(dir.path()));
        assert!(
            reader
                .of(&log, &works_in(Some("/nonexistent/shop")))
                .is_empty()
        );
        assert!(reader.of(&log, &works_in(Some("relative"))).is_empty());
        assert!(reader.of(&log, &works_in(None)).is_empty());
        let project = dir.path().join("shop");
        put(
            &project.join(".claude/settings.json"),
            "{\"autoCompactWindow\":400000}",
        );
        let set = reader.of(&log, &works_in(project.to_str()));
        assert_eq!(set.compact_window, Some(400_000));
    }

    #[test]
    fn the_environment_comes_after_all_files() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join(".claude");
        let log = log(&home.join("projects/-shop/3f2a.jsonl"));
        let env = Env::from(|name: &str| match name {
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW" => Some("460000".into()),
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" => Some("80".into()),
            _ => None,
        });
        let mut reader = SettingsReader::new(User {
            env,
            ..User::default()
        });
        let window = reader.of(&log, &works_in(None)).compact_window;
        assert_eq!(window, Some(460_000));
        put(
            &home.join("settings.json"),
            r#"{"env":{"CLAUDE_CODE_AUTO_COMPACT_WINDOW":"300000"}}"#,
        );
        reader.look_again();
        let set = reader.of(&log, &works_in(None));
        assert_eq!(set.compact_window, Some(300_000));
        assert_eq!(set.percent, Some(80.0));
        // A copy was perhaps written on another machine.
        let copy = self::log(&dir.path().join("copies/3f2a.jsonl"));
        assert!(reader.of(&copy, &works_in(None)).is_empty());
    }

    #[test]
    fn the_folder_of_each_agent() {
        let of = |id, path| agent_folder(agents::by_id(id).unwrap(), Path::new(path));
        let some = |path: &str| Some(PathBuf::from(path));
        assert_eq!(
            of(
                "claude-code",
                "/h/.claude/projects/-a/s/subagents/agent-1.jsonl"
            ),
            some("/h/.claude")
        );
        assert_eq!(
            of("codex", "/h/.codex/sessions/2026/05/01/rollout-1.jsonl"),
            some("/h/.codex")
        );
        assert_eq!(
            of("codex", "/h/.codex/archived_sessions/rollout-1.jsonl"),
            some("/h/.codex")
        );
        assert_eq!(
            of("gemini-cli", "/h/.gemini/tmp/a/chats/session-1.json"),
            some("/h")
        );
        assert_eq!(
            of("pi", "/h/.pi/agent/sessions/--a--/1_2.jsonl"),
            some("/h/.pi/agent")
        );
        assert_eq!(of("pi", "/h/downloads/1_2.jsonl"), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join(".claude");
        let log = log(&home.join("projects/-a/s.jsonl"));
        fs::create_dir(home.join("settings.json")).unwrap();
        let project = dir.path().join("p/.claude");
        fs::create_dir_all(&project).unwrap();
        std::os::unix::fs::symlink("/dev/zero", project.join("settings.json")).unwrap();
        let mut reader = SettingsReader::new(at_home(dir.path()));
        let cwd = dir.path().join("p");
        assert!(reader.of(&log, &works_in(cwd.to_str())).is_empty());
    }

    #[test]
    fn each_of_several_agents_has_its_own_models() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(".openclaw");
        let window = |tokens: u64| {
            format!(
                "{{\"providers\":{{\"p\":{{\"models\":[{{\"id\":\"m\",\"contextWindow\":{tokens}}}]}}}}}}"
            )
        };
        for (agent, tokens) in [("main", 64_000), ("other", 32_000)] {
            let folder = state.join("agents").join(agent);
            let header = format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{agent}\",\"timestamp\":\"2026-06-02T06:00:00Z\",\"cwd\":\"/x/.openclaw/workspace\"}}\n"
            );
            put(
                &folder.join("sessions").join(agent).with_extension("jsonl"),
                &header,
            );
            put(&folder.join("agent/models.json"), &window(tokens));
        }
        let roots = vec![SearchRoot::Given(state.clone())];
        let formats = agents::ALL.to_vec();
        let found = Scanner::new(roots, formats, |_| None).look();
        let mut reader = SettingsReader::new(at_home(dir.path()));
        let mut windows: Vec<Option<u64>> = found
            .files
            .iter()
            .map(|log| reader.of(log, &SettingsOwner::default()).models[0].window)
            .collect();
        windows.sort_unstable();
        assert_eq!(windows, [Some(32_000), Some(64_000)]);
    }
}
