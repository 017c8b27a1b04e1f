//! The windows that the user has set on screen, in the sessions that they are for.

use super::{FileId, SessionKey, Sessions, conversations};
use crate::window::set::{SetWindow, SetWindows, WindowScope};

impl Sessions {
    /// Returns the windows that the user has set on screen.
    pub fn set_windows(&self) -> &SetWindows {
        &self.windows
    }

    /// Sets the window of a session or a model, or takes that back.
    pub fn set_window(&mut self, sessions: WindowScope, tokens: Option<u64>) {
        self.windows.set(sessions, tokens);
        for file in self.files.keys().copied().collect::<Vec<_>>() {
            self.set_windows_of(file);
        }
    }

    /// Sets the windows that were set in an earlier run, the latest last.
    pub fn recall_windows(&mut self, windows: impl IntoIterator<Item = SetWindow>) {
        for SetWindow { sessions, tokens } in windows {
            self.set_window(sessions, Some(tokens));
        }
    }

    /// Returns this session, as the one that a window is set for; `None`: it is gone.
    pub fn set_for(&self, key: SessionKey) -> Option<WindowScope> {
        let path = self.facts(key)?.path.to_string_lossy().into_owned();
        let id = self.sessions.get(&key)?.meta().id.as_deref();
        let id = id.unwrap_or_default().to_owned();
        Some(WindowScope::Session { path, id })
    }

    /// Gives a file's sessions the windows that the user has set for them, after the file has changed.
    pub(super) fn recall_window(&mut self, file: FileId) {
        if !self.windows.all().is_empty() {
            self.set_windows_of(file);
        }
    }

    fn set_windows_of(&mut self, file: FileId) {
        let Some(known) = self.files.get(&file) else {
            return;
        };
        // The user sets windows of this machine's sessions. A log of another machine may have the path of one here.
        if known.facts.host.is_some() {
            return;
        }
        let path = known.facts.path.to_string_lossy();
        for (_, listed) in self.sessions.range_mut(conversations(file)) {
            let id = listed.meta().id.as_deref().unwrap_or_default();
            let window = self.windows.window(&path, id, listed.model());
            listed.set_window(window);
        }
    }
}
