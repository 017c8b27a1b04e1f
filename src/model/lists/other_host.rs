//! The facts of another machine about its sessions.

use crate::window::Limits;
use std::sync::Arc;

/// The other machine that a log is on, and what that machine says of its session. The configuration of this machine does
/// not apply to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherHost {
    /// The machine, as the user names it.
    pub name: Arc<str>,
    /// The name of the project there, after the machine: `build-1:shop`. It is no folder of this machine.
    pub project: Box<str>,
    /// The window and the trigger, as the list there shows them.
    pub limits: Limits,
}

impl OtherHost {
    /// Returns a machine with the name that a session's project has there.
    pub fn new(name: &Arc<str>, project: &str, limits: Limits) -> OtherHost {
        OtherHost {
            name: Arc::clone(name),
            project: format!("{name}:{project}").into(),
            limits,
        }
    }
}
