//! Defines the places in which logs are searched.

use crate::bytes::source::file_system::{FileSystem, Kind, Local, Rooted};
use files::paths::{Env, Folders, User};
use formats::{Base, Format, Root};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A file of every Unix system, below the folder in which the system is seen.
const SYSTEM_MARK: &str = "etc/passwd";

/// The most homes of another system that are searched.
const MOST_HOMES: usize = 64;
/// The largest list of folders that an agent keeps, in bytes.
const LARGEST_LIST: u64 = 16 << 20;

/// A file or folder in which logs are looked for.
#[derive(Clone)]
pub enum SearchRoot {
    /// A folder in which an agent keeps its logs, or a file of them. Only logs of this agent count; it need not exist.
    Usual(&'static Format, PathBuf),
    /// Like `Usual`, without the folders in it.
    Flat(&'static Format, PathBuf),
    /// A file or folder that the user named.
    Given(PathBuf),
    /// Like `Given`, with the format in which a file there is read, whatever it contains.
    Forced(&'static Format, PathBuf),
    /// A root in another file system than this machine's.
    In(Arc<dyn FileSystem>, Box<SearchRoot>),
}

impl SearchRoot {
    /// Returns the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            SearchRoot::Usual(_, path)
            | SearchRoot::Flat(_, path)
            | SearchRoot::Given(path)
            | SearchRoot::Forced(_, path) => path,
            SearchRoot::In(_, root) => root.path(),
        }
    }

    /// Returns the agent whose folder it is.
    pub fn agent(&self) -> Option<&'static Format> {
        match self {
            SearchRoot::Usual(format, _) | SearchRoot::Flat(format, _) => Some(format),
            SearchRoot::Given(_) | SearchRoot::Forced(..) => None,
            SearchRoot::In(_, root) => root.agent(),
        }
    }

    /// Returns the format in which a file there is read, whatever it contains.
    pub fn forced(&self) -> Option<&'static Format> {
        match self {
            SearchRoot::Forced(format, _) => Some(format),
            SearchRoot::In(_, root) => root.forced(),
            _ => None,
        }
    }

    /// Returns the file system in which its path is.
    pub fn system(&self) -> Arc<dyn FileSystem> {
        match self {
            SearchRoot::In(system, _) => Arc::clone(system),
            _ => Arc::new(Local),
        }
    }

    /// Returns true if the folders in it do not matter.
    pub fn is_flat(&self) -> bool {
        match self {
            SearchRoot::Flat(..) => true,
            SearchRoot::In(_, root) => root.is_flat(),
            _ => false,
        }
    }

    /// Returns true if the user named exactly this path.
    pub fn names(&self, path: &Path) -> bool {
        self.agent().is_none() && self.path() == path
    }
}

/// Returns the folders in which agents keep their logs on this machine, each once.
pub fn usual(formats: &[&'static Format], user: &User) -> Vec<SearchRoot> {
    usual_on(&Local, formats, user)
}

/// Returns the folders in which agents keep their logs in a file system, each once.
fn usual_on(system: &dyn FileSystem, formats: &[&'static Format], user: &User) -> Vec<SearchRoot> {
    let mut found: Vec<SearchRoot> = Vec::new();
    for format in formats {
        for root in format.roots {
            for logs in agent_folders(root, user)
                .into_iter()
                .flat_map(|folder| logs_in(system, folder, root, user))
            {
                // Two roots of an agent may have the same variable.
                let is_known = found.iter().any(|known| {
                    known.agent().is_some_and(|of| of.id == format.id) && known.path() == logs
                });
                if !is_known {
                    found.push(if root.is_flat {
                        SearchRoot::Flat(format, logs)
                    } else {
                        SearchRoot::Usual(format, logs)
                    });
                }
            }
        }
    }
    found
}

/// Returns the places below a folder that the user wants to be searched. If it is a home, agents keep their logs there as
/// in the user's own. If another system is seen in it, these are the homes of that system and nothing else: it has tens of
/// thousands of folders without logs. No link leads out of the folder or, in another system, out of that.
pub fn given(formats: &[&'static Format], folder: PathBuf) -> Vec<SearchRoot> {
    let around = system_around(&folder);
    // A file has others beside it.
    let parent = folder.parent().filter(|_| folder.is_file());
    let outermost = around.as_deref().or(parent).unwrap_or(&folder);
    let system: Arc<dyn FileSystem> = Arc::new(Rooted::new(outermost.to_path_buf()));
    let mut roots = Vec::new();
    if around.as_ref() == Some(&folder) {
        for home in homes_in(&*system, &folder) {
            roots.extend(usual_in(&*system, formats, home));
        }
    } else {
        // Other logs in a home count too, since the user named it.
        roots = usual_in(&*system, formats, folder.clone());
        roots.retain(|root| system.stat(root.path()).is_ok() && root.path() != folder);
        roots.push(SearchRoot::Given(folder));
    }
    let within = |root| SearchRoot::In(Arc::clone(&system), Box::new(root));
    roots.into_iter().map(within).collect()
}

/// Returns the places in which agents keep their logs in a home whose environment is not known.
fn usual_in(
    system: &dyn FileSystem,
    formats: &[&'static Format],
    home: PathBuf,
) -> Vec<SearchRoot> {
    let user = User {
        folders: Folders {
            xdg_config: Some(home.join(".config")),
            xdg_data: Some(home.join(".local/share")),
            home: Some(home.clone()),
            ..Folders::default()
        },
        env: Env::default(),
    };
    let mut roots = usual_on(system, formats, &user);
    roots.retain(|root| root.path().starts_with(&home));
    roots
}

/// Returns the root of the system that a folder belongs to, if that is seen in a folder of this one.
pub(super) fn system_around(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    let is_root = |path: &&Path| {
        path.is_absolute() && *path != Path::new("/") && path.join(SYSTEM_MARK).is_file()
    };
    above.find(is_root).map(Path::to_path_buf)
}

/// Returns the homes of a system that is seen in a folder.
fn homes_in(system: &dyn FileSystem, folder: &Path) -> Vec<PathBuf> {
    let around = folder.join("home");
    let homes = system.list(&around).into_iter().flatten().flatten();
    let homes = homes.take(MOST_HOMES).map(|home| around.join(home.name));
    let mut homes: Vec<PathBuf> = homes.chain([folder.join("root")]).collect();
    homes.sort_unstable();
    let is_folder = |home: &Path| system.stat(home).is_ok_and(|it| it.kind == Kind::Folder);
    homes.retain(|home| is_folder(home));
    homes
}

/// Returns the folders of logs in an agent's folder, or that a file there names.
fn logs_in(system: &dyn FileSystem, folder: PathBuf, root: &Root, user: &User) -> Vec<PathBuf> {
    // A file is none with a slash behind it.
    let logs = match root.logs {
        "" => folder,
        logs => folder.join(logs),
    };
    let Some(listing) = root.listing else {
        return vec![logs];
    };
    let list = system.read(&logs, LARGEST_LIST).unwrap_or_default();
    let named = (listing.read)(&list).into_iter();
    // A file in the working folder may be somebody else's: it names nothing outside of that.
    let is_believed = |path: &PathBuf| {
        let is_inside = |part| matches!(part, Component::Normal(name) if name != "~");
        !matches!(root.base, Base::At(_)) || path.components().all(is_inside)
    };
    named
        .filter(is_believed)
        .map(|path| of_home(path, &user.folders))
        .collect()
}

/// Returns the folders of an agent on this machine that one of its roots is in.
pub(crate) fn agent_folders(root: &Root, user: &User) -> Vec<PathBuf> {
    let Some(list) = root.env.and_then(|name| user.env.get(name)) else {
        return base(root.base, &user.folders).into_iter().collect();
    };
    let within = root.within.and_then(|within| base(within, &user.folders));
    let path = |path| match &within {
        Some(folder) => folder.join(of_home(path, &user.folders)),
        None => of_home(path, &user.folders),
    };
    split_list(list).into_iter().map(path).collect()
}

/// Returns a path that a person wrote, who may have begun it with `~`.
fn of_home(path: PathBuf, folders: &Folders) -> PathBuf {
    match (path.strip_prefix("~"), &folders.home) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path,
    }
}

fn base(base: Base, folders: &Folders) -> Option<PathBuf> {
    let (folder, below) = match base {
        Base::Home(below) => (&folders.home, below),
        Base::XdgConfig(below) => (&folders.xdg_config, below),
        Base::XdgData(below) => (&folders.xdg_data, below),
        Base::At(folder) => return Some(PathBuf::from(folder)),
        Base::Nowhere => return None,
    };
    Some(folder.as_ref()?.join(below))
}

fn split_list(list: OsString) -> Vec<PathBuf> {
    match list.to_str() {
        Some(text) => {
            let parts = text.split(',').map(str::trim);
            parts
                .filter(|part| !part.is_empty())
                .map(PathBuf::from)
                .collect()
        }
        None => vec![PathBuf::from(list)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TOY;
    use files::paths::Env;

    #[test]
    fn roots_follow_the_environment() {
        let folders = Folders {
            home: Some("/h".into()),
            xdg_config: Some("/x".into()),
            xdg_data: Some("/h/.local/share".into()),
            ..Folders::default()
        };
        let paths = |folders: &Folders, toy_home: &str| -> Vec<String> {
            let toy_home = OsString::from(toy_home);
            let user = User {
                folders: folders.clone(),
                env: Env::from(move |name: &str| (name == "TOY_HOME").then(|| toy_home.clone())),
            };
            let roots = usual(&[&TOY], &user);
            let paths = roots.iter().map(|root| root.path().display().to_string());
            paths.collect()
        };
        assert_eq!(
            paths(&folders, ""),
            ["/h/.toy/logs", "/x/toy/logs", "/h/.local/share/toy/logs"]
        );
        assert_eq!(
            paths(&folders, "/a, /b,"),
            ["/a/logs", "/b/logs", "/h/.local/share/toy/logs"]
        );
        assert_eq!(paths(&Folders::default(), ""), [""; 0]);
    }

    #[test]
    fn folders_that_an_agent_lists() {
        let data = tempfile::tempdir().unwrap();
        let folders = Folders {
            xdg_data: Some(data.path().to_owned()),
            ..Folders::default()
        };
        let paths = || -> Vec<PathBuf> {
            let user = User {
                folders: folders.clone(),
                ..User::default()
            };
            let roots = usual(&[&agents::builtin::crush::CRUSH], &user);
            roots.iter().map(|root| root.path().to_owned()).collect()
        };
        let here = PathBuf::from("./.crush");
        assert_eq!(paths(), [here.as_path()], "there is no list");
        std::fs::create_dir(data.path().join("crush")).unwrap();
        let list = data.path().join("crush/projects.json");
        let projects =
            r#"{"projects":[{"path":"/shop","data_dir":"/shop/.crush"},7,{"path":"/fair"}]}"#;
        std::fs::write(list, projects).unwrap();
        assert_eq!(
            paths(),
            [Path::new("/shop/.crush"), Path::new("/fair/.crush"), &here]
        );
    }

    #[test]
    fn what_moves_logs_adds_to_where_they_usually_are() {
        let home = tempfile::tempdir().unwrap();
        let paths = |agent: &str, set: &'static [(&str, &str)]| -> Vec<PathBuf> {
            let get = move |name: &str| {
                let set = set.iter().find(|(known, _)| *known == name);
                set.map(|(_, value)| OsString::from(*value))
            };
            let user = User {
                folders: Folders {
                    home: Some(home.path().to_owned()),
                    xdg_data: Some("/data".into()),
                    ..Folders::default()
                },
                env: Env::from(get),
            };
            let roots = usual(&[agents::by_id(agent).unwrap()], &user);
            roots.iter().map(|root| root.path().to_owned()).collect()
        };
        let settings = home.path().join(".pi/agent/settings.json");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        std::fs::write(&settings, r#"{"sessionDir":"~/kept"}"#).unwrap();
        let pi = paths("pi", &[("PI_CODING_AGENT_SESSION_DIR", "~/moved")]);
        for expected in [".pi/agent/sessions", ".omp/agent/sessions", "moved", "kept"] {
            assert!(pi.contains(&home.path().join(expected)), "{expected}");
        }
        let opencode = |name| paths("opencode", name);
        let db = |value| opencode(value).pop().unwrap();
        assert_eq!(db(&[("OPENCODE_DB", "/a/my.db")]), Path::new("/a/my.db"));
        // A name is one in its folder.
        assert_eq!(
            db(&[("OPENCODE_DB", "my.db")]),
            Path::new("/data/opencode/my.db")
        );
        assert!(!opencode(&[]).iter().any(|path| path.ends_with("my.db")));
    }
}
