//! The signals that the program was started to ignore.

/// Returns a bit for each signal that is ignored, from signal 1 on. Whoever handles such a signal all the same would
/// end where `nohup` or a shell wants the program to live on.
pub fn ignored_signals() -> u64 {
    let status = crate::read_text(std::path::Path::new("/proc/self/status"), 1 << 16);
    let known = status.ok().and_then(|status| ignored(&status));
    known.unwrap_or(HANGUP)
}

/// The signals that count as ignored where the system does not list them: SIGHUP, which thus keeps its present effect.
const HANGUP: u64 = 1;

fn ignored(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_the_bits_of_a_line() {
        let status =
            "Name:\tcat\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001003\nSigCgt:\t0\n";
        assert_eq!(ignored(status), Some(0x1003));
        assert_eq!(ignored("Name:\tcat\n"), None);
        // The standard library ignores SIGPIPE, signal 13.
        #[cfg(target_os = "linux")]
        assert_eq!(ignored_signals() & (1 << 12), 1 << 12);
    }
}
