//! Settings files of agents: where they are, and how to read them without failing.

use decode::lenient::MAX_WINDOW;
use model::window::{Compaction, Overrides, ReadySummary};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The settings of an agent, as far as they change its windows and triggers.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Its files, those with precedence first.
    pub files: &'static [SettingsFile],
    /// Variables of the environment that it reads as well. Where any is set, `{"env":{…}}` with them
    /// comes after all files.
    pub env: &'static [&'static str],
    /// The settings in files of these contents, in that order. Never fails: what cannot be read is
    /// ignored.
    pub read: fn(&[&[u8]]) -> Overrides,
    /// The summary that was made beforehand for a session, of an agent that may make one.
    pub ready: Option<&'static ReadyFile>,
}

/// The path of a summary that was made beforehand, and its reader.
#[derive(Debug)]
pub struct ReadyFile {
    /// Its path, from the path of the session's log.
    pub path: fn(&Path) -> Option<PathBuf>,
    /// Reads it; `None`: it is none. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<ReadySummary>,
}

/// The path of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// Below the agent's folder, the one that [`super::Root::logs`] is in.
    Agent(&'static str),
    /// Beside the agent's folder.
    Beside(&'static str),
    /// Below the folder that the log's folder is in, of an agent that is one of several.
    NearLog(&'static str),
    /// Below the folder in which the session works.
    Project(&'static str),
    /// The machine's.
    Machine {
        /// On Linux and other systems.
        unix: &'static str,
        /// On macOS.
        macos: &'static str,
        /// On Windows.
        windows: &'static str,
    },
}

/// The bytes that some editors write before a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Settings files that could be read, the strongest first.
#[derive(Debug, Default)]
pub struct Layers(Vec<Value>);

impl Settings {
    /// Returns settings of these files alone.
    pub const fn new(files: &'static [SettingsFile], read: fn(&[&[u8]]) -> Overrides) -> Settings {
        Settings {
            files,
            env: &[],
            read,
            ready: None,
        }
    }

    /// Returns the settings with variables of the environment.
    #[must_use]
    pub const fn env(self, env: &'static [&'static str]) -> Settings {
        Settings { env, ..self }
    }
}

impl Layers {
    /// Reads JSON. A file with comments is not read, as its agent does not read it.
    pub fn json(files: &[&[u8]]) -> Layers {
        Layers::of(files, |bytes| serde_json::from_slice(bytes).ok())
    }

    /// Reads JSON in which there may be comments.
    pub fn json_with_comments(files: &[&[u8]]) -> Layers {
        Layers::of(files, |bytes| {
            serde_json::from_slice(&without_comments(bytes)).ok()
        })
    }

    /// Reads JSON in which there may be comments, and a comma after the last of several values.
    pub fn jsonc(files: &[&[u8]]) -> Layers {
        Layers::of(files, |bytes| {
            let plain = without_last_commas(without_comments(bytes));
            serde_json::from_slice(&plain).ok()
        })
    }

    /// Reads the files by `read`, without the byte order mark that some editors write.
    fn of(files: &[&[u8]], read: impl Fn(&[u8]) -> Option<Value>) -> Layers {
        let read = |bytes: &&[u8]| read(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes));
        Layers(files.iter().filter_map(read).collect())
    }

    /// Reads TOML.
    pub fn toml(files: &[&[u8]]) -> Layers {
        let read = |bytes: &&[u8]| toml::from_str(std::str::from_utf8(bytes).ok()?).ok();
        Layers(files.iter().filter_map(read).collect())
    }

    /// Returns the first readable value at this path, a JSON pointer.
    pub fn find<'l, T>(&'l self, path: &str, read: impl Fn(&'l Value) -> Option<T>) -> Option<T> {
        let mut layers = self.0.iter();
        layers.find_map(|layer| read(layer.pointer(path)?))
    }

    /// Returns every value at this path, the strongest first.
    pub fn each(&self, path: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter_map(move |layer| layer.pointer(path))
    }

    /// Returns the fields of every object at this path, those of the strongest first.
    pub fn fields(&self, path: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.each(path).filter_map(Value::as_object).flatten()
    }

    /// Returns whether the agent compacts by itself, by the first truth value at this path.
    pub fn compaction(&self, path: &str) -> Compaction {
        match self.find(path, Value::as_bool) {
            Some(false) => Compaction::Off,
            _ => Compaction::Usual,
        }
    }

    /// Returns the first number of tokens above 0 at this path.
    pub fn tokens(&self, path: &str) -> Option<u64> {
        self.find(path, tokens)
    }

    /// Returns the first share at this path: above 0, at most 1.
    pub fn share(&self, path: &str) -> Option<f64> {
        self.find(path, |value| {
            value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0)
        })
    }
}

/// Returns the settings in the `settings.json` of Gemini CLI, or of an agent derived from it: the share of the window
/// at which it compacts, by its newest name, else by those that it had in both.
pub fn threshold(files: &[&[u8]], newest: &str) -> Overrides {
    const OLDER: [&str; 2] = [
        "/model/chatCompression/contextPercentageThreshold",
        "/chatCompression/contextPercentageThreshold",
    ];
    let layers = Layers::json_with_comments(files);
    let mut names = std::iter::once(newest).chain(OLDER);
    Overrides {
        share: names.find_map(|path| layers.share(path)),
        ..Overrides::default()
    }
}

/// Returns a number of tokens above 0, bare or as a string.
pub fn tokens(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => tokens_of(text),
        other => believed(other.as_u64()?),
    }
}

/// Returns a number of tokens above 0, as text.
pub fn tokens_of(text: &str) -> Option<u64> {
    believed(text.trim().parse().ok()?)
}

/// Returns a number of tokens that are kept free, 0 for none.
pub fn reserved_tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens <= MAX_WINDOW)
}

fn believed(tokens: u64) -> Option<u64> {
    (1..=MAX_WINDOW).contains(&tokens).then_some(tokens)
}

/// Returns JSON as people write it with blanks in place of comments.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let (mut at, mut in_string) = (0, false);
    while let Some(byte) = bytes.get(at) {
        let end = match (in_string, byte, bytes.get(at + 1)) {
            (true, b'\\', _) => at + 2,
            (_, b'"', _) => {
                in_string = !in_string;
                at + 1
            }
            (false, b'/', Some(b'/')) => {
                let line = bytes[at..].iter().position(|b| *b == b'\n');
                let end = line.map_or(bytes.len(), |len| at + len);
                out[at..end].fill(b' ');
                end
            }
            (false, b'/', Some(b'*')) => {
                let close = bytes[at + 2..].windows(2).position(|two| two == b"*/");
                let end = close.map_or(bytes.len(), |len| at + len + 4);
                out[at..end].fill(b' ');
                end
            }
            _ => at + 1,
        };
        at = end;
    }
    out
}

/// Commas after the last of several values become blanks.
fn without_last_commas(mut bytes: Vec<u8>) -> Vec<u8> {
    let (mut at, mut in_string, mut comma) = (0, false, None);
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'\\' if in_string => at += 1,
            _ if in_string => in_string = byte != b'"',
            b',' => comma = Some(at),
            _ if byte.is_ascii_whitespace() => {}
            _ => {
                in_string = byte == b'"';
                if let (Some(comma), b'}' | b']') = (comma.take(), byte) {
                    bytes[comma] = b' ';
                }
            }
        }
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests;
