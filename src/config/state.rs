//! What is remembered from one run to the next, in a file of its own: nothing that a person writes, and
//! nothing lost where it is gone.

use crate::tui::app::Remembered;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The least time between two writes while the program runs.
const PAUSE: Duration = Duration::from_secs(5);

/// The first line of the file.
const HEAD: &str = "# Written by ctxgauge; remove it to forget.\n";

/// What is remembered. Keys that are not known are passed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The theme that was chosen on screen.
    pub theme: Option<String>,
    /// What the screens were set to.
    pub screens: Remembered,
}

/// The file of what is remembered.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
    recalled: State,
    /// What needs no writing: what the file says, as far as the program understands it. None: the file is
    /// broken.
    kept: Option<State>,
    written: Option<Instant>,
}

impl Memory {
    /// Reads the file, and what is wrong with it, where something is: then nothing is remembered, and the
    /// next write mends it.
    pub fn open(path: PathBuf) -> (Memory, Option<String>) {
        let read = match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|_| "not what was remembered; it will be written anew".to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::default()),
            Err(error) => Err(format!("cannot read what was remembered: {error}")),
        };
        let (kept, wrong) = match read {
            Ok(state) => (Some(state), None),
            Err(wrong) => (None, Some(wrong)),
        };
        let memory = Memory {
            path,
            recalled: kept.clone().unwrap_or_default(),
            kept,
            written: None,
        };
        (memory, wrong)
    }

    /// What was remembered.
    pub fn recalled(&self) -> &State {
        &self.recalled
    }

    /// What was remembered has been taken up, and reads so from now on: no change that has to be written.
    pub fn taken_up(&mut self, state: State) {
        self.kept = self.kept.take().map(|_| state);
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what has changed, unless it was written a moment ago; then a later call does.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn keep(&mut self, state: State, now: Instant) -> io::Result<()> {
        let lately = |written: Instant| now.saturating_duration_since(written) < PAUSE;
        if self.written.is_some_and(lately) || self.kept.as_ref() == Some(&state) {
            return Ok(());
        }
        // Also where it fails: what cannot be written is not tried with every key.
        self.written = Some(now);
        self.close(state)
    }

    /// Writes what has changed. The file is the old one or the new one, never a part of either.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn close(&mut self, state: State) -> io::Result<()> {
        if self.kept.as_ref() == Some(&state) {
            return Ok(());
        }
        let text = toml::to_string(&state).map_err(io::Error::other)?;
        if let Some(folder) = self.path.parent() {
            create_folder(folder)?;
        }
        let aside = self
            .path
            .with_extension(format!("{}.tmp", std::process::id()));
        let written = std::fs::write(&aside, format!("{HEAD}{text}"))
            .and_then(|()| std::fs::rename(&aside, &self.path));
        if written.is_err() {
            let _ = std::fs::remove_file(&aside);
        }
        written?;
        self.kept = Some(state);
        Ok(())
    }
}

/// For nobody but the user, as the XDG base directory specification has it.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let (mut memory, wrong) = Memory::open(path.clone());
        assert_eq!((memory.recalled(), wrong), (&State::default(), None));
        memory.close(state("dark")).unwrap();
        let (memory, wrong) = Memory::open(path.clone());
        assert_eq!((memory.recalled(), wrong), (&state("dark"), None));
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "only the file itself");
    }

    #[test]
    fn nothing_is_written_where_nothing_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        let (mut memory, _) = Memory::open(path.clone());
        memory.keep(State::default(), Instant::now()).unwrap();
        memory.taken_up(state("dark"));
        memory.close(state("dark")).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn it_is_not_written_with_every_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        let (mut memory, _) = Memory::open(path.clone());
        let read = || Memory::open(path.clone()).0.recalled().clone();
        let now = Instant::now();
        memory.keep(state("dark"), now).unwrap();
        memory.keep(state("light"), now + PAUSE / 2).unwrap();
        assert_eq!(read(), state("dark"));
        memory.keep(state("light"), now + PAUSE).unwrap();
        assert_eq!(read(), state("light"));
        memory.close(state("mine")).unwrap();
        assert_eq!(read(), state("mine"));
    }

    #[test]
    fn a_broken_file_is_said_to_be_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        for broken in [&b"theme = 5"[..], b"\xff\xfe", b"[[["] {
            std::fs::write(&path, broken).unwrap();
            let (mut memory, wrong) = Memory::open(path.clone());
            assert!(wrong.is_some(), "{broken:?}");
            memory.taken_up(state("dark"));
            memory.close(state("dark")).unwrap();
            assert_eq!(Memory::open(path.clone()).1, None);
        }
    }

    #[test]
    fn keys_of_another_version_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.toml");
        std::fs::write(&path, "new = 1\ntheme = \"dark\"\n[screens]\nnew = 2\n").unwrap();
        let (memory, wrong) = Memory::open(path);
        assert_eq!((memory.recalled(), wrong), (&state("dark"), None));
    }

    #[test]
    fn a_folder_that_is_none_is_an_error_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let (mut memory, _) = Memory::open(file.join("state.toml"));
        assert!(memory.close(state("dark")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_comes_back(filter in ".*", path in ".*") {
            let mut state = State::default();
            state.screens.sessions.filter = filter;
            state.screens.last.path = path;
            let text = toml::to_string(&state).unwrap();
            prop_assert_eq!(toml::from_str::<State>(&text).unwrap(), state);
        }
    }
}
