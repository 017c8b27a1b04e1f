//! Finds the machines of sessions, and those machines that do not answer.

use super::{SessionKey, Sessions};
use crate::window::Overrides;
use jiff::Timestamp;
use std::sync::Arc;

/// A machine that does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Away {
    /// The time of its last line; `None`: it has not answered yet.
    pub since: Option<Timestamp>,
    /// The reason, in a few words. It may be text of the other machine: make it inert before showing it.
    pub why: Box<str>,
}

impl Sessions {
    /// Returns the machine that the log of a session is on, as the user names it; `None`: it is this one.
    pub fn host(&self, key: SessionKey) -> Option<&Arc<str>> {
        self.facts(key)?.host.as_ref()
    }

    /// Returns the settings of the agent of a session.
    pub fn settings(&self, key: SessionKey) -> Option<&Overrides> {
        Some(&self.files.get(&key.file)?.settings)
    }

    /// Returns since when and why the machine of a session does not answer; `None`: it does. What is shown of the
    /// session is as old as that, and may have changed since.
    pub fn away(&self, key: SessionKey) -> Option<&Away> {
        // Few people have other machines, and every row asks.
        if self.away.is_empty() {
            return None;
        }
        self.away.get(self.host(key)?)
    }

    /// Returns the number of machines that do not answer.
    pub fn hosts_away(&self) -> usize {
        self.away.len()
    }
}
