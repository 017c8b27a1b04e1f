//! Finds whose log it is: this user's, another user's of this machine, or one of another system whose files are seen
//! below a folder, such as those of a container, of WSL or of a machine whose disk is mounted.
//!
//! Settings, registries and notes are read in the home of that user. A path in a log of another system is one there: it
//! never leads to a file of this one.

use super::repositories::with_hyphens;
use super::roots;
use files::Processes;
use files::paths::User;
use formats::{Base, Format, Root};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The folders in which the homes of a machine usually are.
const USUAL_PARENTS: [&str; 2] = ["/home", "/Users"];

/// The user whose agent wrote a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The home of that user; `None`: it is not known.
    pub(super) home: Option<PathBuf>,
    system: System,
    /// True if the log is in the folder of this user's own agent.
    pub(super) is_own_folder: bool,
}

/// The system on which a log was written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum System {
    /// This one, by this user, or nothing else is known.
    Own,
    /// This one, by another user.
    Here,
    /// Another one, whose root is seen in this folder, if it is seen.
    Other(Option<PathBuf>),
}

/// A folder that a log names, as it is seen on this machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedFolder {
    pub(super) path: PathBuf,
    /// The folder out of which no link in it may lead.
    pub(super) within: PathBuf,
}

impl Origin {
    /// Returns the origin of the logs below an agent's folder.
    fn of(format: &Format, folder: &Path, user: &User) -> Origin {
        let own = &user.folders.home;
        let home = home_around(format, folder);
        let is_own_folder = own_folders(format, user).any(|own| own == folder);
        let origin = |system| Origin {
            home: match system {
                System::Own => own.clone(),
                _ => home.clone(),
            },
            system,
            is_own_folder,
        };
        if is_own_folder {
            return origin(System::Own);
        }
        if let Some(root) = roots::system_around(folder) {
            return origin(System::Other(Some(root)));
        }
        let Some(own) = own else {
            return origin(System::Own);
        };
        if folder.starts_with(own) {
            let is_mounted = files::remote_file_system(folder).is_some()
                && files::remote_file_system(own).is_none();
            return origin(if is_mounted {
                System::Other(None)
            } else {
                System::Own
            });
        }
        // Homes of one machine are beside each other, but that of the administrator.
        let is_here = |home: &PathBuf| {
            let parent = home.parent();
            let is_usual = USUAL_PARENTS
                .iter()
                .any(|usual| parent == Some(Path::new(usual)));
            is_usual || parent == own.parent()
        };
        origin(if home.as_ref().is_some_and(is_here) {
            System::Here
        } else {
            System::Other(None)
        })
    }

    /// Returns true if the log is of this user, as far as is known.
    pub(super) fn is_own(&self) -> bool {
        self.system == System::Own
    }

    /// Returns true if the log was written on this system, so that its paths are those of this system.
    pub(super) fn is_here(&self) -> bool {
        !matches!(self.system, System::Other(_))
    }

    /// Returns the folder out of which no link to a setting may lead, for a log of another user.
    pub(super) fn outermost(&self) -> Option<&Path> {
        match &self.system {
            System::Own => None,
            System::Other(Some(root)) => Some(root),
            System::Here | System::Other(None) => self.home.as_deref(),
        }
    }

    /// Returns the path on this machine of a file of the system on which the log was written. `here` is its path if
    /// that is this system, `there` its path on another one, which is a kind of Unix.
    pub(super) fn machine_file(&self, here: &str, there: &str) -> Option<PathBuf> {
        match &self.system {
            System::Own | System::Here => Some(here.into()),
            System::Other(root) => Some(root.as_ref()?.join(there.trim_start_matches('/'))),
        }
    }

    /// Returns the processes of the system on which the log was written. Where they are not seen, looking one up says
    /// so.
    pub(super) fn processes(&self) -> Processes {
        match &self.system {
            System::Own | System::Here => Processes::default(),
            System::Other(root) => {
                let folder = |root: &PathBuf| files::within(root, &root.join("proc")).ok();
                let folder = root.as_ref().and_then(folder);
                Processes::in_folder(folder.unwrap_or_else(|| "/dev/null".into()))
            }
        }
    }

    /// Returns the folder that a log names, if the agent may be believed to have worked there: the folder is below its
    /// user's home, or the folder of the log is named after it, or it is below the root of another system. A hostile log
    /// could otherwise have any folder of this machine looked at.
    pub(super) fn folder(&self, cwd: &str, log: &Path) -> Option<NamedFolder> {
        if !self.is_here() {
            return self.folder_there(cwd);
        }
        let path = Path::new(cwd);
        let is_up = path.components().any(|part| part == Component::ParentDir);
        let home = self.home.as_ref();
        let is_believed =
            || home.is_some_and(|home| path.starts_with(home)) || is_named_after(log, path);
        let is_read = is_local(path) && !is_up && is_believed();
        let theirs = home.filter(|home| !self.is_own() && path.starts_with(home));
        is_read.then(|| NamedFolder {
            path: path.to_path_buf(),
            within: theirs.map_or(path, |home| home).to_path_buf(),
        })
    }

    /// Returns the folder that a log of another system names: in the home there, whose path here may end as it does
    /// there, or below the root of that system.
    fn folder_there(&self, cwd: &str) -> Option<NamedFolder> {
        let parts = parts_there(cwd)?;
        let in_home = self.home.as_ref().and_then(|home| {
            let path = home.join(below_home(home, &parts)?);
            let within = self.outermost().unwrap_or(home).to_path_buf();
            Some(NamedFolder { path, within })
        });
        in_home.or_else(|| match &self.system {
            System::Other(Some(root)) => Some(NamedFolder {
                path: root.join(parts.iter().collect::<PathBuf>()),
                within: root.clone(),
            }),
            _ => None,
        })
    }
}

/// The origins of logs. Each agent's folder is looked at once a round.
#[derive(Debug, Default)]
pub(crate) struct Origins(HashMap<(&'static str, PathBuf), Arc<Origin>>);

impl Origins {
    /// Makes every folder be looked at again.
    pub(super) fn look_again(&mut self) {
        self.0.clear();
    }

    /// Returns the origin of the logs below an agent's folder; without a folder, this user's.
    pub(super) fn of(
        &mut self,
        format: &Format,
        folder: Option<&Path>,
        user: &User,
    ) -> Arc<Origin> {
        let Some(folder) = folder else {
            return Arc::new(Origin {
                home: user.folders.home.clone(),
                system: System::Own,
                is_own_folder: false,
            });
        };
        let key = (format.id, folder.to_path_buf());
        let new = || Arc::new(Origin::of(format, folder, user));
        Arc::clone(self.0.entry(key).or_insert_with(new))
    }
}

/// Returns the folders of this user's own agent.
pub(super) fn own_folders(format: &Format, user: &User) -> impl Iterator<Item = PathBuf> {
    let roots = format.roots.iter();
    roots.flat_map(|root| roots::agent_folders(root, user))
}

/// Returns the folder of the agent that a log lies in: the folder around its nearest folder for logs.
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

/// Returns the home that the folder of an agent is in, by the names of such folders.
fn home_around(format: &Format, folder: &Path) -> Option<PathBuf> {
    let above = |root: &Root| {
        let below = match root.base {
            Base::Home(below) => PathBuf::from(below),
            Base::XdgConfig(below) => Path::new(".config").join(below),
            Base::XdgData(below) => Path::new(".local/share").join(below),
            Base::At(_) | Base::Nowhere => return None,
        };
        let depth = below.components().count();
        let home = folder.ancestors().nth(depth)?;
        folder.ends_with(&below).then(|| home.to_path_buf())
    };
    format.roots.iter().find_map(above)
}

/// Returns the parts of an absolute path of any system; `None`: it is none, or leads upwards or to another machine.
fn parts_there(path: &str) -> Option<Vec<&str>> {
    let drive = |path: &str| {
        let mut bytes = path.bytes();
        let is_letter = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
        is_letter && bytes.next() == Some(b':') && matches!(bytes.next(), Some(b'/' | b'\\'))
    };
    let parts: Vec<&str> = if drive(path) {
        path[2..].split(['/', '\\']).collect()
    } else if path.starts_with('/') && !path.starts_with("//") {
        path.split('/').collect()
    } else {
        return None;
    };
    // On Windows a name with a colon or a backslash is more than a name.
    let is_name = |part: &&str| {
        let mut names = Path::new(part).components();
        matches!(
            (names.next(), names.next()),
            (Some(Component::Normal(_)), None)
        )
    };
    let parts: Vec<&str> = parts
        .into_iter()
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    parts.iter().all(is_name).then_some(parts)
}

/// Returns the rest of a path that begins as the path of a home ends: of `/mnt/build/home/ada`, `shop` of
/// `/home/ada/shop`.
fn below_home(home: &Path, parts: &[&str]) -> Option<PathBuf> {
    let names: Vec<&OsStr> = home.iter().collect();
    let starts = |names: &&[&OsStr]| {
        let begin = parts.get(..names.len());
        begin.is_some_and(|begin| begin.iter().zip(*names).all(|(a, b)| OsStr::new(a) == *b))
    };
    let ends = (0..names.len()).map(|from| &names[from..]);
    let end = ends.into_iter().find(|end| starts(end))?;
    Some(parts[end.len()..].iter().collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use agents::builtin::claude_code::CLAUDE_CODE;

    fn at_home(home: &Path) -> User {
        let mut user = User::default();
        user.folders.home = Some(home.to_path_buf());
        user
    }

    /// The origin of Claude Code's logs in a home.
    fn origin(home: &Path, user: &User) -> Origin {
        Origin::of(&CLAUDE_CODE, &home.join(".claude"), user)
    }

    fn folder(origin: &Origin, cwd: &str) -> Option<PathBuf> {
        let log = Path::new("/x/.claude/projects/-named/s.jsonl");
        origin.folder(cwd, log).map(|folder| folder.path)
    }

    #[test]
    fn a_home_elsewhere_is_of_another_system_and_one_beside_the_users_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let user = at_home(&at("home/me"));
        for home in ["home/me", "home/me/copies"] {
            let own = origin(&at(home), &user);
            assert!(own.is_own() && own.is_here(), "{home}");
            assert_eq!(own.home, user.folders.home);
        }
        let beside = origin(&at("home/bob"), &user);
        assert!(!beside.is_own() && beside.is_here());
        assert_eq!(beside.home, Some(at("home/bob")));
        let elsewhere = origin(&at("volumes/ada"), &user);
        assert!(!elsewhere.is_here());
        assert_eq!(elsewhere.outermost(), Some(&*at("volumes/ada")));
        assert_eq!(elsewhere.machine_file("/etc/here", "/etc/there"), None);
        // A container without a daemon has its files in the user's home.
        std::fs::create_dir_all(at("home/me/merged/etc")).unwrap();
        std::fs::write(at("home/me/merged/etc/passwd"), "").unwrap();
        let container = origin(&at("home/me/merged/root"), &user);
        assert!(!container.is_here());
        assert_eq!(container.home, Some(at("home/me/merged/root")));
        assert_eq!(
            container.machine_file("/here", "/etc/there"),
            Some(at("home/me/merged/etc/there"))
        );
    }

    #[test]
    fn a_path_of_another_system_leads_into_its_home_or_below_its_root() {
        let other = |home: &str, root: Option<&str>| Origin {
            home: Some(home.into()),
            system: System::Other(root.map(PathBuf::from)),
            is_own_folder: false,
        };
        let seen =
            |origin: &Origin, cwd| folder(origin, cwd).map(|path| path.display().to_string());
        let some = |path: &str| Some(path.to_owned());
        let mounted = other("/mnt/build/home/ada", None);
        assert_eq!(
            seen(&mounted, "/home/ada/shop"),
            some("/mnt/build/home/ada/shop")
        );
        assert_eq!(
            seen(&mounted, "/ada/./shop/"),
            some("/mnt/build/home/ada/shop")
        );
        // By its path here, as an agent of this machine has it.
        assert_eq!(
            seen(&mounted, "/mnt/build/home/ada/shop"),
            some("/mnt/build/home/ada/shop")
        );
        for none in [
            "/srv/shop",
            "/named",
            "shop",
            "",
            "/home/ada/../bob",
            "//ada/x",
            r"\\ada\x",
        ] {
            assert_eq!(seen(&mounted, none), None, "{none}");
        }
        let container = other("/merged/home/app", Some("/merged"));
        assert_eq!(
            seen(&container, "/home/app/shop"),
            some("/merged/home/app/shop")
        );
        assert_eq!(seen(&container, "/srv/shop"), some("/merged/srv/shop"));
        assert_eq!(seen(&container, "/srv/../../etc"), None);
        let windows = other("/mnt/c/Users/Ada", None);
        assert_eq!(
            seen(&windows, r"C:\Users\Ada\shop"),
            some("/mnt/c/Users/Ada/shop")
        );
        assert_eq!(seen(&windows, r"C:\Users\Bob\shop"), None);
        assert_eq!(seen(&windows, r"C:Users\Ada"), None);
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
}
