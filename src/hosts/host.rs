//! The names of other machines, and the commands that are run for them. No shell of this machine reads any of it.

use render::shell::shell_word;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The sign before a machine on the command line.
pub const SCHEME: &str = "ssh://";
/// The longest name, in bytes.
const LONGEST: usize = 255;
/// Signs with a meaning for a shell. The user's configuration of `ssh` may pass the name to one, in `ProxyCommand`.
const OF_SHELLS: &str = "'\"`$\\;&<>|(){}*?!#~";

/// The arguments of `ssh` before the name of a machine.
const SSH_OPTIONS: &str = "-T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ServerAliveCountMax=3 --";

/// The command that sends the sessions of a machine.
const FOLLOW: &str = "ctxgauge follow --summaries --every 2s --heartbeat 10s";

/// Another machine, as the user's `ssh` knows it: an alias of its configuration, a name, or `user@name:port`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Arc<str>);

impl Host {
    /// Reads a name, with or without `ssh://` before it.
    ///
    /// # Errors
    ///
    /// Returns the reason, in words, if it could be anything but a name.
    pub fn read(text: &str) -> Result<Host, &'static str> {
        let name = text.strip_prefix(SCHEME).unwrap_or(text);
        let name = name.strip_suffix('/').unwrap_or(name);
        if name.is_empty() {
            return Err("it names no machine");
        }
        if name.len() > LONGEST {
            return Err("it is too long for the name of a machine");
        }
        if name.starts_with('-') {
            return Err("ssh would take it for an option, since it begins with '-'");
        }
        let is_unsafe = |c: char| c.is_control() || c.is_whitespace() || OF_SHELLS.contains(c);
        if name.contains(is_unsafe) || render::text::inert(name) != name {
            return Err("it has signs that no name of a machine has");
        }
        Ok(Host(name.into()))
    }

    /// Returns the name, as rows show it.
    pub fn name(&self) -> &Arc<str> {
        &self.0
    }

    /// Returns the name as `ssh` takes it. It reads a port only in an address.
    pub fn destination(&self) -> String {
        if self.has_port() {
            format!("{SCHEME}{}", self.0)
        } else {
            self.0.as_ref().to_owned()
        }
    }

    /// Returns a file of the machine as `scp` takes it.
    pub fn copy_to(&self, path: &str) -> String {
        if self.has_port() {
            format!("scp://{}/{path}", self.0)
        } else if self.0.contains(':') {
            // An address, which would end at its first colon.
            let (user, name) = self.0.rsplit_once('@').unwrap_or(("", &self.0));
            let at = if user.is_empty() { "" } else { "@" };
            format!("{user}{at}[{name}]:{path}")
        } else {
            format!("{}:{path}", self.0)
        }
    }

    fn has_port(&self) -> bool {
        let port = self.0.split_once(':').map(|(_, port)| port);
        port.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
    }

    /// Returns the arguments of `ssh` that follow the sessions of the machine. A machine that is gone is noticed within
    /// 45 s; nothing is asked, since nobody could answer.
    pub fn follow(&self) -> Vec<String> {
        let words = |line: &'static str| line.split(' ').map(str::to_owned);
        let host = std::iter::once(self.destination());
        words(SSH_OPTIONS)
            .chain(host)
            .chain(words(FOLLOW))
            .collect()
    }

    /// Returns the program and its arguments that show a log of the machine on its own screens, or of several sessions in
    /// it the one with this id; `None`: the path or the id has signs that a terminal acts on. Both came from there, and a
    /// shell there reads them.
    pub fn open(&self, log: &Path, id: Option<&str>) -> Option<Vec<OsString>> {
        let log = log.to_str()?;
        let is_acted_on = |text: &str| text.contains(char::is_control);
        let is_refused = log.is_empty() || log.starts_with(SCHEME) || is_acted_on(log);
        if is_refused || id.is_some_and(is_acted_on) {
            return None;
        }
        // No option begins as a path does.
        let start = if log.starts_with('-') { "./" } else { "" };
        let log = format!("{start}{log}");
        let session = id.map(|id| format!("--session={id}"));
        let there = [Some(log), session].into_iter().flatten();
        let there = there.map(|word| shell_word(&word).into_owned());
        let words = ["ssh", "-t", "--", &self.destination(), "ctxgauge"].map(str::to_owned);
        Some(words.into_iter().chain(there).map(Into::into).collect())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_more_than_a_name_is_refused() {
        for name in [
            "build-1",
            "ssh://build-1",
            "ssh://ada@build.example:22/",
            "::1",
            "a_b",
        ] {
            assert!(Host::read(name).is_ok(), "{name}");
        }
        let long = "a".repeat(256);
        for name in [
            "",
            "ssh://",
            "-oProxyCommand=x",
            "ssh://-x",
            "a b",
            "a\nb",
            "a\u{1b}[2J",
            "a;b",
            "$(x)",
            "`x`",
            "a\u{202e}b",
            &long,
        ] {
            assert!(Host::read(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn the_name_is_one_argument_after_the_options() {
        let arguments = Host::read("ada@build-1").unwrap().follow();
        let at = arguments.iter().position(|it| it == "--").unwrap();
        assert_eq!(
            arguments[at + 1..at + 4],
            ["ada@build-1", "ctxgauge", "follow"]
        );
        let with_port = Host::read("ssh://build-1:2222/").unwrap();
        assert_eq!(with_port.destination(), "ssh://build-1:2222");
        assert_eq!(Host::read("fe80::1").unwrap().destination(), "fe80::1");
        for (name, there) in [
            ("build-1", "build-1:/bin/x"),
            ("ada@lab:2222", "scp://ada@lab:2222//bin/x"),
            ("ada@fe80::1", "ada@[fe80::1]:/bin/x"),
        ] {
            assert_eq!(Host::read(name).unwrap().copy_to("/bin/x"), there);
        }
    }

    #[test]
    fn a_path_from_there_is_one_word_there() {
        let host = Host::read("build-1").unwrap();
        let open = |path: &str| {
            let words = host.open(Path::new(path), None)?;
            Some(words.last()?.to_string_lossy().into_owned())
        };
        assert_eq!(open("/a b/c.jsonl").unwrap(), "'/a b/c.jsonl'");
        assert_eq!(open("/a'; touch x; '").unwrap(), r"'/a'\''; touch x; '\'''");
        assert_eq!(open("--demo").unwrap(), "./--demo");
        assert_eq!(open("/a\nb"), None);
        assert_eq!((open(""), open("ssh://other")), (None, None));
        let of = |id| host.open(Path::new("/a.db"), Some(id));
        let words = of("-x; '").unwrap();
        assert_eq!(words[4..], ["ctxgauge", "/a.db", r"'--session=-x; '\'''"]);
        assert_eq!(of("a\u{1b}"), None);
    }
}
