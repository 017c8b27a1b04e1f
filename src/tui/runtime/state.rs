//! The state of the screens that is saved from run to run, in a file of its own.

use crate::app::SavedScreens;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The least time between two writes while the program runs.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The first line of the file.
const FIRST_LINE: &str = "# Written by ctxgauge; delete it to reset the screens.\n";

/// The saved state. Unknown keys are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The theme that was chosen on screen.
    pub theme: Option<String>,
    /// The settings of the screens.
    pub screens: SavedScreens,
}

/// The file of the saved state.
#[derive(Debug)]
pub struct StateFile {
    /// Its path.
    pub path: PathBuf,
    /// The state that was loaded.
    pub loaded: State,
    /// The content of the file, without unknown keys; `None`: it is broken.
    saved: Option<State>,
    /// True if there was no file: the screens were not used yet, or only looked at.
    pub is_new: bool,
    written: Option<Instant>,
}

impl StateFile {
    /// Reads the file. A broken one is described, loads the default state, and is replaced by the next write.
    pub fn open(path: PathBuf) -> (StateFile, Option<String>) {
        let text = files::read_text(&path, MAX_FILE_BYTES);
        let is_new = matches!(&text, Err(error) if files::is_absent(error));
        let read = match text {
            Ok(text) => toml::from_str(&text)
                .map_err(|_| "not a valid state file; it will be replaced".to_owned()),
            Err(_) if is_new => Ok(State::default()),
            Err(error) => Err(format!("could not read the saved state: {error}")),
        };
        let problem = read.as_ref().err().cloned();
        let saved = read.ok();
        let file = StateFile {
            path,
            loaded: saved.clone().unwrap_or_default(),
            saved,
            is_new,
            written: None,
        };
        (file, problem)
    }

    /// Takes this state for what the file contains: the loaded state, without what this version ignores.
    pub fn set_saved(&mut self, state: State) {
        self.saved = self.saved.take().map(|_| state);
    }

    /// Saves a changed state, unless one was saved a moment ago; then a later call does.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save_at(&mut self, state: State, now: Instant) -> io::Result<()> {
        let recent = |written: Instant| now.saturating_duration_since(written) < SAVE_INTERVAL;
        if self.written.is_some_and(recent) || self.saved.as_ref() == Some(&state) {
            return Ok(());
        }
        // Set it even if the write fails, so that it is not tried with every key.
        self.written = Some(now);
        self.save(state)
    }

    /// Saves a changed state. The file is replaced as a whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&mut self, state: State) -> io::Result<()> {
        if self.saved.as_ref() == Some(&state) {
            return Ok(());
        }
        let text = toml::to_string(&state).map_err(io::Error::other)?;
        let path = files::target(&self.path)?;
        files::own::replace(&path, |file| write!(file, "{FIRST_LINE}{text}"))?;
        self.saved = Some(state);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::window::set::{SetWindow, WindowScope};
    use proptest::prelude::*;

    fn state(theme: &str) -> State {
        State {
            theme: Some(theme.to_owned()),
            ..State::default()
        }
    }

    #[test]
    fn what_was_set_is_there_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/below/state.toml");
        let (mut file, problem) = StateFile::open(path.clone());
        assert_eq!((&file.loaded, problem), (&State::default(), None));
        assert!(file.is_new);
        file.save(state("dark")).unwrap();
        let (file, problem) = StateFile::open(path.clone());
        assert_eq!((&file.loaded, problem), (&state("dark"), None));
        assert!(!file.is_new);
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "only the file itself");
    }

    #[test]
    fn nothing_is_written_where_nothing_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        let (mut file, _) = StateFile::open(path.clone());
        file.save_at(State::default(), Instant::now()).unwrap();
        file.set_saved(state("dark"));
        file.save(state("dark")).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn it_is_not_written_with_every_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        let (mut file, _) = StateFile::open(path.clone());
        let read = || StateFile::open(path.clone()).0.loaded.clone();
        let now = Instant::now();
        file.save_at(state("dark"), now).unwrap();
        file.save_at(state("light"), now + SAVE_INTERVAL / 2)
            .unwrap();
        assert_eq!(read(), state("dark"));
        file.save_at(state("light"), now + SAVE_INTERVAL).unwrap();
        assert_eq!(read(), state("light"));
        file.save(state("mine")).unwrap();
        assert_eq!(read(), state("mine"));
    }

    #[test]
    fn a_broken_file_is_reported_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        for broken in [&b"theme = 5"[..], b"\xff\xfe", b"[[["] {
            std::fs::write(&path, broken).unwrap();
            let (mut file, problem) = StateFile::open(path.clone());
            assert!(problem.is_some(), "{broken:?}");
            file.set_saved(state("dark"));
            file.save(state("dark")).unwrap();
            assert_eq!(StateFile::open(path.clone()).1, None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_file_is_written_and_the_link_stays() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (path, real) = (
            folder.path().join("state.toml"),
            folder.path().join("real/mine"),
        );
        symlink(&real, &path).unwrap();
        for theme in ["dark", "light"] {
            let (mut file, problem) = StateFile::open(path.clone());
            assert_eq!(problem, None);
            file.save(state(theme)).unwrap();
            assert!(path.is_symlink());
            assert!(std::fs::read_to_string(&real).unwrap().contains(theme));
        }
        // What is not a file is neither read nor replaced.
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (mut file, problem) = StateFile::open(pipe);
        assert!(problem.unwrap().contains("a named pipe"));
        assert!(file.save(state("dark")).is_err());
    }

    #[test]
    fn two_of_us_that_write_at_once_leave_a_whole_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        // Of different lengths: a mixture of them is no state of either.
        let names = ["a", &"b".repeat(5_000)].map(str::to_owned);
        let is_one_of_them = || {
            let (file, problem) = StateFile::open(path.clone());
            assert_eq!(problem, None);
            let theme = file.loaded.theme.clone();
            theme.is_none_or(|theme| names.contains(&theme))
        };
        std::thread::scope(|scope| {
            for name in &names {
                let path = path.clone();
                scope.spawn(move || {
                    for n in 0..100 {
                        let (mut file, problem) = StateFile::open(path.clone());
                        assert_eq!(problem, None);
                        file.set_saved(state(&format!("another {n}")));
                        file.save(state(name)).unwrap();
                    }
                });
            }
            for _ in 0..100 {
                assert!(is_one_of_them());
            }
        });
        assert!(is_one_of_them() && path.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn keys_of_another_version_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        std::fs::write(&path, "new = 1\ntheme = \"dark\"\n[screens]\nnew = 2\n").unwrap();
        let (file, problem) = StateFile::open(path);
        assert_eq!((&file.loaded, problem), (&state("dark"), None));
    }

    #[test]
    fn a_folder_that_is_none_is_an_error_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("file");
        std::fs::write(&taken, "").unwrap();
        let (mut file, _) = StateFile::open(taken.join("state.toml"));
        assert!(file.save(state("dark")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_comes_back(sort in ".*", path in ".*") {
            let mut state = State::default();
            state.screens.sessions.sort = sort;
            let scopes = [
                WindowScope::Model(path.clone()),
                WindowScope::Session { path: path.clone(), id: String::new() },
            ];
            let window = |sessions| SetWindow { sessions, tokens: 200_000 };
            state.screens.windows = scopes.map(window).into();
            state.screens.last.path = path;
            let text = toml::to_string(&state).unwrap();
            prop_assert_eq!(toml::from_str::<State>(&text).unwrap(), state);
        }
    }
}
