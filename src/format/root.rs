//! Where agents keep their logs.

use std::path::PathBuf;

/// Reads folders from a list that an agent keeps.
pub type Listing = fn(&[u8]) -> Vec<PathBuf>;

/// A folder in which an agent keeps its logs.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// The environment variable that names the agent's folder, or several, comma separated. If it is
    /// set, `base` does not apply.
    pub env: Option<&'static str>,
    /// The agent's folder otherwise.
    pub base: Base,
    /// The folder of the logs inside the agent's folder.
    pub logs: &'static str,
    /// Whether there are no logs in the folders below it, which are then neither searched nor watched.
    pub is_flat: bool,
    /// `logs` is a file that lists the folders, which are then searched as if they were flat. It is read once.
    pub listing: Option<Listing>,
}

impl Root {
    /// `logs` in an agent's folder below the home directory.
    pub const fn home(agent: &'static str, logs: &'static str) -> Root {
        Root::new(Base::Home(agent), logs)
    }

    /// `logs` in an agent's folder.
    pub const fn new(base: Base, logs: &'static str) -> Root {
        Root {
            env: None,
            base,
            logs,
            is_flat: false,
            listing: None,
        }
    }

    /// The same, without the folders below.
    #[must_use]
    pub const fn flat(self) -> Root {
        Root {
            is_flat: true,
            ..self
        }
    }

    /// The same for a file that lists folders. `read` returns them, and must accept any bytes.
    #[must_use]
    pub const fn listing(self, read: Listing) -> Root {
        Root {
            is_flat: true,
            listing: Some(read),
            ..self
        }
    }

    /// The same, with a variable that names the agent's folder.
    #[must_use]
    pub const fn env(self, name: &'static str) -> Root {
        Root {
            env: Some(name),
            ..self
        }
    }
}

/// An agent's folder when no variable names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Below the home directory.
    Home(&'static str),
    /// Below `$XDG_CONFIG_HOME`, or `~/.config`.
    XdgConfig(&'static str),
    /// Below `$XDG_DATA_HOME`, or `~/.local/share`.
    XdgData(&'static str),
    /// This folder.
    At(&'static str),
}
