//! Reads the properties of the terminal from the environment: its characters and columns, and whether it can show
//! screens.

use crate::config::Config;
use anyhow::{Result, bail};
use files::paths::Env;
use jiff::tz::TimeZone;
use std::io::{self, IsTerminal};
use std::path::Path;

/// The standard streams that are terminals.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminals {
    /// Nobody passes anything on standard input.
    pub stdin: bool,
    /// A person reads standard output.
    pub stdout: bool,
    /// A person reads standard error.
    pub stderr: bool,
}

impl Terminals {
    /// Returns those of the process.
    pub fn of_process() -> Terminals {
        Terminals {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
        }
    }
}

/// Returns true if the user's locale has another encoding than UTF-8: `C`, `POSIX`, or a name without `UTF-8` in it.
/// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set decides (POSIX.1-2024, XBD 8.2). If none is set, as in
/// containers and remote shells, the terminal is assumed to use UTF-8.
pub(super) fn is_ascii(env: &Env) -> bool {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    let set = names.find_map(|name| env.get(name));
    files::HAS_TERMINAL_VARIABLES
        && set.is_some_and(|locale| {
            let locale = locale.to_string_lossy().to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        })
}

/// Returns the columns of the terminal: `COLUMNS`, or else the size that the terminal reports.
pub(super) fn columns(env: &Env) -> Option<usize> {
    let of_terminal = || Some(crossterm::terminal::size().ok()?.0.into());
    let columns = set_columns(env).or_else(of_terminal);
    columns.filter(|columns| *columns > 0)
}

/// Returns the columns that the environment sets.
pub(super) fn set_columns(env: &Env) -> Option<usize> {
    env.get("COLUMNS")?.to_str()?.parse().ok()
}

/// The size of the file of a time zone, in bytes, above which it is not read. The largest has 4 kB.
const MOST_ZONE: u64 = 1 << 20;

/// Returns the time zone of the user's clock: `TZ`, or else the zone of the system. A `TZ` that is none means UTC.
pub(super) fn zone(env: &Env) -> TimeZone {
    let Some(set) = env.get("TZ") else {
        return system_zone().unwrap_or_else(TimeZone::system);
    };
    let named = set.to_str().and_then(|name| named_zone(name, env));
    named.unwrap_or(TimeZone::UTC)
}

/// Returns the zone with this name, of this file, or with these rules. The library would read a file without end, and wait
/// for a pipe.
fn named_zone(name: &str, env: &Env) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    let files = files::zone_files(name, env.get("TZDIR").as_deref());
    let of_file = files.iter().find_map(|file| zone_of(name, file));
    of_file.or_else(|| {
        let of_library = || TimeZone::get(name).ok().filter(|_| files.is_empty());
        TimeZone::posix(name).ok().or_else(of_library)
    })
}

/// Returns the zone of the system by its file; `None`: it has no such file. [`TimeZone::system`] lists all zones to find
/// that file, which takes a fifth of the CPU of a status line.
fn system_zone() -> Option<TimeZone> {
    let (name, file) = files::system_zone()?;
    zone_of(&name, &file)
}

fn zone_of(name: &str, file: &Path) -> Option<TimeZone> {
    let rules = files::read(file, MOST_ZONE).ok()?;
    TimeZone::tzif(name, &rules).ok()
}

/// Returns true if the environment or the configuration asks for no colours.
pub(super) fn is_plain(env: &Env, config: &Config) -> bool {
    let is_dumb = env.get("TERM").is_some_and(|term| term == "dumb");
    env.get("NO_COLOR").is_some() || is_dumb || config.no_color
}

/// Returns true if standard output is a terminal that takes escape sequences.
pub(super) fn takes_escapes(env: &Env, terminals: Terminals) -> bool {
    let is_dumb = env.get("TERM").is_none_or(|term| term == "dumb");
    terminals.stdout && !is_dumb
}

/// Returns true if what is printed has styles: the terminal has them, and the user has not turned them off.
pub(super) fn has_styles(env: &Env, terminals: Terminals) -> bool {
    takes_escapes(env, terminals) && env.get("NO_COLOR").is_none()
}

/// Returns true if the terminal has a cursor to move.
pub(super) fn has_cursor(env: &Env) -> bool {
    let term = env.get("TERM");
    !files::HAS_TERMINAL_VARIABLES || term.is_some_and(|term| term != "dumb" && term != "unknown")
}

/// Fails if the terminal has no cursor to move.
pub(super) fn check_terminal(env: &Env) -> Result<()> {
    if has_cursor(env) {
        return Ok(());
    }
    let what = match env.get("TERM") {
        None => "TERM is not set".to_owned(),
        Some(term) => format!("TERM is '{}'", term.to_string_lossy()),
    };
    bail!(
        "{what}, so this terminal may not be able to show the monitor; use `ctxgauge ls` or \
        `ctxgauge report`, or set TERM, for example `TERM=xterm-256color ctxgauge`"
    )
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use std::ffi::OsString;

    fn with(set: &[(&str, &str)]) -> Env {
        let set: Vec<(String, OsString)> = set
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
            .collect();
        Env::from(move |name: &str| {
            let found = set.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn the_first_variable_of_the_locale_decides() {
        assert!(!is_ascii(&with(&[])));
        for ascii in ["C", "POSIX", "en_US", "de_DE.ISO-8859-1", "C.ASCII"] {
            assert!(is_ascii(&with(&[("LANG", ascii)])), "{ascii}");
        }
        for unicode in ["C.UTF-8", "en_GB.utf8", "de_DE.UTF-8@euro", "UTF-8"] {
            assert!(!is_ascii(&with(&[("LANG", unicode)])), "{unicode}");
            let over = [("LC_CTYPE", unicode), ("LANG", "C")];
            assert!(!is_ascii(&with(&over)), "{unicode}");
        }
        assert!(is_ascii(&with(&[("LC_ALL", "C"), ("LC_CTYPE", "C.UTF-8")])));
    }

    #[test]
    fn a_terminal_without_a_cursor_is_refused() {
        assert!(check_terminal(&with(&[("TERM", "xterm")])).is_ok());
        for refused in [&[][..], &[("TERM", "dumb")]] {
            let error = check_terminal(&with(refused)).unwrap_err().to_string();
            assert!(
                error.contains("TERM") && error.contains("ctxgauge ls"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_zone_is_a_name_a_file_or_rules_and_utc_if_it_is_none() {
        let folder = tempfile::tempdir().unwrap();
        // Version 1, without transitions: an hour and a half east of Greenwich.
        let mut rules = b"TZif".to_vec();
        rules.extend([0; 16]);
        for count in [0_u32, 0, 0, 0, 1, 4] {
            rules.extend(count.to_be_bytes());
        }
        rules.extend(5_400_i32.to_be_bytes());
        rules.extend(*b"\0\0ABC\0");
        std::fs::create_dir(folder.path().join("Mine")).unwrap();
        let file = folder.path().join("Mine/Place");
        std::fs::write(&file, rules).unwrap();
        let offset = |zone: &str| {
            let set = [("TZ", zone), ("TZDIR", folder.path().to_str().unwrap())];
            let at = Timestamp::from_second(1_790_000_000).unwrap();
            super::zone(&with(&set)).to_offset(at).seconds()
        };
        let file = file.to_str().unwrap();
        for (zone, seconds) in [
            ("Mine/Place", 5_400),
            (":Mine/Place", 5_400),
            (file, 5_400),
            (&format!(":{file}"), 5_400),
            ("CET-1", 3_600),
            ("UTC", 0),
            ("Mine", 0),
            ("Mine/Other", 0),
            (":/dev/null", 0),
            (":/dev/zero", 0),
        ] {
            assert_eq!(offset(zone), seconds, "{zone}");
        }
    }

    #[test]
    fn the_system_s_zone_is_the_one_of_its_name() {
        // Some systems have no link.
        let Some(zone) = system_zone() else { return };
        let name = zone.iana_name().unwrap();
        let expected = TimeZone::get(name).unwrap();
        for day in 0..400 {
            let at = Timestamp::from_second(1_790_000_000 + day * 86_400).unwrap();
            assert_eq!(zone.to_offset(at), expected.to_offset(at), "{name} at {at}");
        }
    }
}
