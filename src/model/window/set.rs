//! Windows that the user has set on screen. They outrank all others, and are saved from run to run.

use serde::{Deserialize, Serialize};

/// The sessions for which a window was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowScope {
    /// One session.
    Session {
        /// The path of its log.
        path: String,
        /// Its id; empty: none is known.
        id: String,
    },
    /// All sessions with this model.
    Model(String),
}

/// A window that was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetWindow {
    /// The sessions.
    #[serde(flatten)]
    pub sessions: WindowScope,
    /// The window, in tokens.
    pub tokens: u64,
}

/// The windows that were set, the latest last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetWindows(Vec<SetWindow>);

/// The most windows that are kept; beyond, the oldest is forgotten.
const MOST: usize = 200;

impl SetWindows {
    /// Returns all of them, the latest last.
    pub fn all(&self) -> &[SetWindow] {
        &self.0
    }

    /// Sets the window of these sessions, or takes that back.
    pub fn set(&mut self, sessions: WindowScope, tokens: Option<u64>) {
        self.0.retain(|known| known.sessions != sessions);
        if let Some(tokens) = tokens {
            self.0.push(SetWindow { sessions, tokens });
            let over = self.0.len().saturating_sub(MOST);
            self.0.drain(..over);
        }
    }

    /// Returns the window that was set for exactly these sessions.
    pub fn of(&self, sessions: &WindowScope) -> Option<u64> {
        let known = self.0.iter().find(|known| known.sessions == *sessions);
        known.map(|known| known.tokens)
    }

    /// Returns the window of a session: its own, else that of its model.
    pub(crate) fn window(&self, path: &str, id: &str, model: Option<&str>) -> Option<u64> {
        let fits = |sessions: &WindowScope| match sessions {
            WindowScope::Session { path: p, id: i } => (p.as_str(), i.as_str()) == (path, id),
            WindowScope::Model(m) => Some(m.as_str()) == model,
        };
        let fitting = self.0.iter().filter(|known| fits(&known.sessions));
        let first = fitting.min_by_key(|known| matches!(known.sessions, WindowScope::Model(_)));
        first.map(|known| known.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_s_own_window_comes_before_that_of_its_model() {
        let session = |path: &str| WindowScope::Session {
            path: path.to_owned(),
            id: "s1".to_owned(),
        };
        let mut set = SetWindows::default();
        set.set(session("/a"), Some(1_000));
        set.set(WindowScope::Model("m".to_owned()), Some(2_000));
        assert_eq!(set.window("/a", "s1", Some("m")), Some(1_000));
        assert_eq!(set.window("/b", "s1", Some("m")), Some(2_000));
        assert_eq!(set.window("/b", "s1", None), None);
        set.set(session("/a"), None);
        assert_eq!(set.window("/a", "s1", Some("m")), Some(2_000));
        assert_eq!(set.of(&session("/a")), None);
        assert_eq!(set.all().len(), 1);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut set = SetWindows::default();
        for n in 0..=MOST {
            set.set(WindowScope::Model(n.to_string()), Some(5_000));
        }
        assert_eq!(set.all().len(), MOST);
        assert_eq!(set.of(&WindowScope::Model("0".to_owned())), None);
    }
}
