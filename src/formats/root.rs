//! Defines the places in which agents keep their logs.

use std::path::PathBuf;

/// The way in which the folders of logs are read from a file that an agent keeps.
#[derive(Debug, Clone, Copy)]
pub struct FolderListing {
    /// The setting that names them; empty: the file is a list of them.
    pub setting: &'static str,
    /// Reads them. It must accept any bytes.
    pub read: fn(&[u8]) -> Vec<PathBuf>,
}

/// A folder in which an agent keeps its logs, or a file of them.
#[must_use]
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// The environment variable that names the agent's folder, or several, comma separated. If it is
    /// set, `base` does not apply.
    pub env: Option<&'static str>,
    /// The folder that a relative path in the variable is in; `None`: the working folder.
    pub within: Option<Base>,
    /// The agent's folder otherwise.
    pub base: Base,
    /// The folder of the logs inside the agent's folder.
    pub logs: &'static str,
    /// True if there are no logs in the folders below it, which are then neither searched nor watched.
    pub is_flat: bool,
    /// `logs` is a file that names the folders. It is read once.
    pub listing: Option<FolderListing>,
}

impl Root {
    /// Returns the root `logs` in an agent's folder below the home directory.
    pub const fn home(agent: &'static str, logs: &'static str) -> Root {
        Root::new(Base::Home(agent), logs)
    }

    /// Returns the root `logs` in an agent's folder.
    pub const fn new(base: Base, logs: &'static str) -> Root {
        Root {
            env: None,
            within: None,
            base,
            logs,
            is_flat: false,
            listing: None,
        }
    }

    /// Returns the root `logs` in the folder that a variable names; empty: the variable names the folder of the logs,
    /// or one file.
    pub const fn named(variable: &'static str, logs: &'static str) -> Root {
        Root::new(Base::Nowhere, logs).env(variable)
    }

    /// Returns the root with the folder to which a path in the variable is relative.
    pub const fn within(self, base: Base) -> Root {
        Root {
            within: Some(base),
            ..self
        }
    }

    /// Returns the root without the folders below.
    pub const fn flat(self) -> Root {
        Root {
            is_flat: true,
            ..self
        }
    }

    /// Returns the root as a file that names folders.
    pub const fn listing(self, setting: &'static str, read: fn(&[u8]) -> Vec<PathBuf>) -> Root {
        Root {
            listing: Some(FolderListing { setting, read }),
            ..self
        }
    }

    /// Returns the root with a variable that names the agent's folder.
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
    /// None: only a variable names it.
    Nowhere,
}
