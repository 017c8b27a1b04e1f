//! Describes errors of files in words, and what to do about them.

use std::io;

/// Returns the reason for which something could not be done with a file or folder.
pub(crate) fn unreadable(error: &io::Error, what: &str) -> String {
    if files::is_exhausted(error) {
        return format!(
            "cannot {what}: too many files are open; raise the limit, as with `ulimit -n 256`"
        );
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "no permission to {what}: what it holds is missing here; give yourself read access \
             (chmod u+rX), or run as its owner"
        ),
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        _ => format!("cannot {what}: {error}"),
    }
}

/// A pipe that the user named where it cannot be read.
pub(crate) const UNREADABLE_PIPE: &str =
    "it is a pipe, which only `ctxgauge report` and the screens read: save the log to a file";

/// A log that is no longer where it was.
pub(crate) const LOG_GONE: &str = "the log is gone: it was moved or deleted since it was read";
