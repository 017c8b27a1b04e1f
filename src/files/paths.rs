//! The user's folders and the variables of the environment.
//!
//! Agents follow the XDG base directory specification on every system, so their folders are looked for by
//! it. The program's own files are where the system expects them: by XDG on Linux and macOS, below
//! `%APPDATA%` on Windows.

use crate::platform::of_system;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program's folder inside of the folders for configuration, state, data and caches.
const NAME: &str = "ctxgauge";

/// Looks up a variable.
type VariableLookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// The variables of an environment.
#[derive(Clone)]
pub struct Env(Arc<VariableLookup>);

impl Env {
    /// Returns the value of a variable; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// Returns the variables of the process.
    pub fn of_process() -> Env {
        Env::from(env)
    }

    /// Looks up variables of this environment.
    pub fn look_up(&self) -> impl Fn(&str) -> Option<OsString> + Send + Sync + use<> {
        let env = self.clone();
        move |name| env.get(name)
    }
}

impl<F: Fn(&str) -> Option<OsString> + Send + Sync + 'static> From<F> for Env {
    fn from(look_up: F) -> Env {
        Env(Arc::new(look_up))
    }
}

/// No variable is set.
impl Default for Env {
    fn default() -> Env {
        Env::from(|_: &str| None)
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Env")
    }
}

/// The user whose logs and settings are read.
#[derive(Debug, Clone, Default)]
pub struct User {
    /// The user's folders.
    pub folders: Folders,
    /// The user's environment.
    pub env: Env,
}

impl User {
    /// Returns the user who runs the program.
    pub fn of_process() -> User {
        User {
            folders: Folders::of_user(),
            env: Env::of_process(),
        }
    }

    /// Returns the working directory, by its path in `PWD`, which may go through links, and by its real one.
    pub fn working_folder(&self) -> Vec<PathBuf> {
        let real = std::env::current_dir().ok();
        let named = self.env.get("PWD").map(PathBuf::from);
        // Other programs may have left an old one.
        let is_here = |named: &PathBuf| std::fs::canonicalize(named).ok() == real;
        let mut folders: Vec<PathBuf> = named
            .filter(is_here)
            .into_iter()
            .chain(real.clone())
            .collect();
        folders.dedup();
        folders
    }

    /// Returns the whole of a path that is given from the working directory.
    pub fn whole(&self, path: PathBuf) -> PathBuf {
        if path.is_absolute() {
            return path;
        }
        match self.working_folder().first() {
            Some(folder) => folder.join(path),
            None => path,
        }
    }
}

/// Returns the value of a variable of the process; an empty one counts as unset.
pub fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The user's folders; `None`: the user has no home folder.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    /// The home folder.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, or `~/.config`.
    pub xdg_config: Option<PathBuf>,
    /// `$XDG_DATA_HOME`, or `~/.local/share`.
    pub xdg_data: Option<PathBuf>,
    /// The folder of programs for their configuration.
    pub config: Option<PathBuf>,
    /// The folder of programs for what they remember.
    pub state: Option<PathBuf>,
    /// The folder of programs for files that they can make again.
    pub cache: Option<PathBuf>,
}

impl Folders {
    /// Returns the folders of the user who runs the program.
    pub fn of_user() -> Folders {
        let Some(home) = std::env::home_dir() else {
            return Folders::default();
        };
        // One that is not absolute does not count.
        let folder = |(variable, default): (&str, &str)| {
            let named = env(variable).map(PathBuf::from);
            let named = named.filter(|path| path.is_absolute());
            named.or_else(|| Some(home.join(default)))
        };
        let own = |xdg, windows| folder(of_system(xdg, xdg, windows));
        let config = ("XDG_CONFIG_HOME", ".config");
        let local = ("LOCALAPPDATA", "AppData/Local");
        Folders {
            xdg_config: folder(config),
            xdg_data: folder(("XDG_DATA_HOME", ".local/share")),
            config: own(config, ("APPDATA", "AppData/Roaming")),
            state: own(("XDG_STATE_HOME", ".local/state"), local),
            cache: own(("XDG_CACHE_HOME", ".cache"), local),
            home: Some(home),
        }
    }

    /// Returns the program's configuration file, whether it exists or not.
    pub fn config_file(&self) -> Option<PathBuf> {
        Some(self.config.as_ref()?.join(NAME).join("config.toml"))
    }

    /// Returns the file in which the program keeps what it remembers, whether it exists or not.
    pub fn state_file(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("state.toml"))
    }

    /// Returns the folder in which the program keeps what it remembers, whether it exists or not.
    pub fn state_folder(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.join(NAME))
    }

    /// Returns the folder in which the program keeps what it has read of logs, whether it exists or not.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        Some(self.cache.as_ref()?.join(NAME))
    }

    /// Returns the path as people write it, with `~` for the home folder.
    pub fn display(&self, path: &Path) -> String {
        let home = self.home.as_ref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_home_folder_is_shown_from_there() {
        let folders = Folders {
            home: Some("/home/dev".into()),
            ..Folders::default()
        };
        let shown = |path| folders.display(Path::new(path));
        assert_eq!(shown("/home/dev/.config/x"), "~/.config/x");
        assert_eq!(shown("/home/devil/x"), "/home/devil/x");
        assert_eq!(Folders::default().display(Path::new("/a")), "/a");
    }

    #[test]
    fn files_of_the_program_are_in_its_own_folders() {
        let folders = Folders::of_user();
        let is_own = |path: Option<PathBuf>| path.is_none_or(|path| path.is_absolute());
        assert!(is_own(folders.config_file()) && is_own(folders.state_file()));
        assert_eq!(Folders::default().config_file(), None);
    }
}
