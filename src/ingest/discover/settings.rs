//! Reads the settings files that the agent of a log would have read.
//!
//! Settings of the agent and of the machine apply to logs in the agent's folder, settings of a project if
//! its folder is on this machine. All of them are looked for in the home and the system that the log
//! [comes from](super::origin). A log that was copied elsewhere, or is on another machine, has none.

use super::notes::Notes;
use super::origin::{NamedFolder, Origin, Origins, agent_folder, own_folders};
use super::repositories::{Repositories, resolved, started_in, worktree_below};
use super::roots;
use crate::bytes::source::Stamp;
use crate::bytes::source::file_system::FileSystem;
use crate::log::LogFile;
use files::paths::{Env, User};
use formats::Settings;
use formats::settings::SettingsFile;
use model::event::Meta;
use model::values::project::Project;
use model::window::{OtherSettings, Overrides, ReadySummary};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file of settings, in bytes.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// The settings of agents, each file read once and again only when it has changed.
pub struct SettingsReader {
    user: User,
    files: HashMap<PathBuf, StampedFile>,
    known: HashMap<SettingsKey, CachedSettings>,
    notes: Notes,
    origins: Origins,
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
        SettingsReader {
            notes: Notes::new(&user.folders),
            origins: Origins::default(),
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
        self.notes.look_again();
        self.origins.look_again();
    }

    /// Returns the folder of this user's own agent, for a log that a variable or a setting has moved out of it.
    fn mover(&self, log: &LogFile) -> Option<PathBuf> {
        let roots = roots::usual(&[log.format], &self.user);
        let is_moved = |root: &roots::SearchRoot| log.facts.path.starts_with(root.path());
        roots
            .iter()
            .any(is_moved)
            .then(|| own_folders(log.format, &self.user).next())?
    }

    /// Returns the settings for the session of a log, with what the agent's client said of it and what its hooks noted.
    pub fn of(&mut self, log: &LogFile, whose: &SettingsOwner) -> Arc<Overrides> {
        let folder = agent_folder(log.format, &log.facts.path);
        let origin = self.origins.of(log.format, folder.as_deref(), &self.user);
        let cwd = whose.cwd.as_deref();
        let set = self.of_files(log, folder, &origin, cwd);
        let project = self.project(log, &origin, cwd);
        let id = whose.id.as_deref().or(log.facts.id.as_deref());
        let id = id.filter(|_| log.system.is_here());
        let (agent, id) = (log.format.id, id.unwrap_or_default());
        let said = self.notes.said(&origin, agent, id);
        let hooked = self.notes.hooked(&origin, agent, id);
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
    fn project(&mut self, log: &LogFile, origin: &Origin, cwd: Option<&str>) -> Option<Project> {
        let cwd = cwd?;
        let started = started_in(&log.facts.path, cwd);
        // A worktree names its repository by a path of its own system.
        let is_here = log.system.is_here() && origin.is_here();
        let folder = is_here.then(|| origin.folder(started, &log.facts.path));
        let is_inside = |folder: &NamedFolder| {
            origin.is_own() || files::within(&folder.within, &folder.path).is_ok()
        };
        let repository = folder
            .flatten()
            .filter(is_inside)
            .and_then(|folder| self.repositories.of(&folder.path));
        let folder = repository
            .or_else(|| worktree_below(started, origin.home.as_deref()))
            .unwrap_or_else(|| started.to_owned());
        (folder != cwd).then(|| Project {
            cwd: cwd.into(),
            folder: folder.into(),
        })
    }

    /// Returns the summary that was made beforehand for the session of a log, if its agent may make one.
    fn ready(&mut self, log: &LogFile, set: &Overrides) -> Option<ReadySummary> {
        let ready = log.format.settings?.ready?;
        if set.others.background != Some(true) || !log.system.is_here() {
            return None;
        }
        let path = (ready.path)(&log.facts.path)?;
        let root = log.facts.path.parent().map(Path::to_path_buf);
        (ready.read)(&self.look(log, root, path)?)
    }

    /// Returns a file's bytes, if there is such a file. No link leads out of `root`.
    fn look(&mut self, log: &LogFile, root: Option<PathBuf>, path: PathBuf) -> Option<Arc<[u8]>> {
        let held = self.files.entry(path.clone()).or_default();
        if held.round != Some(self.round) {
            held.round = Some(self.round);
            let real = place(&*log.system, root.as_deref(), &path).unwrap_or_default();
            let stamp = stamp(&real);
            if stamp != held.stamp || stamp.is_some_and(|stamp| !stamp.is_sure()) {
                held.stamp = stamp;
                held.bytes = stamp.and_then(|_| read(&real)).unwrap_or_default();
            }
        }
        held.stamp.map(|_| Arc::clone(&held.bytes))
    }

    fn of_files(
        &mut self,
        log: &LogFile,
        folder: Option<PathBuf>,
        origin: &Origin,
        cwd: Option<&str>,
    ) -> Arc<Overrides> {
        let Some(settings) = log.format.settings.filter(|_| log.system.is_here()) else {
            return Overrides::none();
        };
        let home = folder.or_else(|| self.mover(log));
        let project = cwd.and_then(|cwd| origin.folder(cwd, &log.facts.path));
        let is_near = |file: &SettingsFile| matches!(file, SettingsFile::NearLog(_));
        let near = log.facts.path.parent().and_then(Path::parent);
        let near = near.filter(|_| home.is_some() && settings.files.iter().any(is_near));
        let asker = SettingsKey {
            agent: log.format.id,
            home,
            near: near.map(Path::to_path_buf),
            project: project.as_ref().map(|project| project.path.clone()),
        };
        if let Some(known) = self.known.get(&asker)
            && known.round == self.round
        {
            return Arc::clone(&known.overrides);
        }
        let (home, near) = (&asker.home, &asker.near);
        // Many users keep their agent's settings elsewhere, and link them.
        let is_own = origin.is_own_folder
            || home
                .as_ref()
                .is_some_and(|home| own_folders(log.format, &self.user).any(|own| own == *home));
        let of = |folder: &'_ Path, name: &str| {
            let root = origin.outermost().unwrap_or(folder);
            let root = Some(root.to_path_buf()).filter(|_| !is_own);
            Some((root, resolved(&folder.join(name))))
        };
        let paths = settings.files.iter().filter_map(|file| match *file {
            SettingsFile::Agent(below) => of(home.as_deref()?, below),
            SettingsFile::Beside(name) => of(home.as_ref()?.parent()?, name),
            SettingsFile::NearLog(below) => of(near.as_deref()?, below),
            SettingsFile::Project(below) => {
                let project = project.as_ref()?;
                Some((Some(project.within.clone()), project.path.join(below)))
            }
            SettingsFile::Machine {
                unix,
                macos,
                windows,
            } => {
                home.as_ref()?;
                let here = files::of_system(unix, macos, windows);
                let path = origin.machine_file(here, unix)?;
                let root = origin.outermost().filter(|_| !origin.is_here());
                Some((root.map(Path::to_path_buf), path))
            }
        });
        let paths: Vec<_> = paths.collect();
        let paths = paths.into_iter();
        let mut contents: Vec<Arc<[u8]>> = paths
            .filter_map(|(root, path)| self.look(log, root, path))
            .collect();
        if home.is_some() && origin.is_own() {
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

/// Returns the real path of a file of settings, if no link leads out of `root` on the way to it.
fn place(system: &dyn FileSystem, root: Option<&Path>, path: &Path) -> io::Result<PathBuf> {
    let path = system.place(path)?;
    match root {
        Some(root) => files::within(&system.place(root)?, &path),
        None => Ok(path),
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = files::look(path).ok()?;
    (meta.len() <= LARGEST_SETTINGS).then(|| Stamp::from(&meta))
}

fn read(path: &Path) -> Option<Arc<[u8]>> {
    Some(files::read(path, LARGEST_SETTINGS).ok()?.into())
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
