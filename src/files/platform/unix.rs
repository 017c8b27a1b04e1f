//! Linux, macOS and other kinds of Unix.

mod pipe;
#[cfg_attr(
    any(target_os = "linux", target_os = "android"),
    path = "unix/remote_linux.rs"
)]
#[cfg_attr(
    any(target_os = "macos", target_os = "freebsd"),
    path = "unix/remote_bsd.rs"
)]
mod remote;

pub use pipe::{check_reader, is_pipe, open_pipe};
pub use remote::remote_file_system;

use nix::sys::signal::{SigSet, Signal};
use rustix::fs::OFlags;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, Signal as Kill, WaitId, WaitIdOptions, geteuid, kill_process_group, test_kill_process,
    waitid,
};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Is true where variables such as `TERM` and `LANG` describe the terminal.
pub const HAS_TERMINAL_VARIABLES: bool = true;

/// Returns options to read a file. A pipe without a writer in its place is opened at once, and a terminal does not become
/// the program's.
pub(crate) fn reading() -> OpenOptions {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

/// Returns options to read a file that is not a link, as [`reading`].
pub(crate) fn reading_itself() -> OpenOptions {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let mut options = reading();
    options.custom_flags(flags.bits().cast_signed());
    options
}

/// Returns options to write a new file that only the user may read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
}

/// Returns a builder of folders that only the user may read.
pub(crate) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
}

/// Lets all users read a file, and its owner write to it.
pub(crate) fn open_to_all(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(0o644))
}

/// Returns the memory that this program takes, in bytes; `None`: the system has no such file.
pub fn memory_in_use() -> Option<u64> {
    own_number("/proc/self/status", "VmRSS:")?.checked_mul(1_024)
}

/// Returns the bytes that this program has read; `None`: the system has no such file.
pub fn bytes_read() -> Option<u64> {
    own_number("/proc/self/io", "rchar:")
}

/// Returns the number after a name in a file of the system about this program.
fn own_number(path: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Returns for how long processors have worked on this program.
pub fn cpu_time() -> Option<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Some(Duration::new(seconds.ok()?, nanoseconds.ok()?))
}

/// Exchanges two files, at one moment.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if this system cannot; [`io::ErrorKind::InvalidInput`] if this file system cannot.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (one, other);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Gives a file to the owner and the group of another one. Only the administrator may, and only they need it: a file that
/// anybody else makes is theirs.
pub(crate) fn copy_ownership(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    match std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid())) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Returns true if the administrator runs this program, and the folder is another user's: what the administrator makes
/// in it for themselves is closed to that user.
pub(crate) fn is_closed_to_its_owner(folder: &Metadata) -> bool {
    geteuid().is_root() && folder.uid() != 0
}

/// Has a command run in a process group of its own.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Returns true if a command has ended. It is not waited for: its number stays its own.
///
/// # Errors
///
/// If that cannot be found out.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Kills all that is left of the process group of a command that was started in its own, by the command's process, which was
/// not waited for yet.
pub fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    // There may be nothing left of it.
    let _ = leader.map(|leader| kill_process_group(leader, Kill::KILL));
}

/// Returns what something is that is neither a file nor a folder, in words.
pub(crate) fn kind_name(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}

/// Returns the device of a file and the file on it; zeros where the system has no such numbers.
#[inline]
pub fn file_number(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

/// Returns when the file itself was changed, in seconds and nanoseconds; zeros where the system does not keep that.
#[inline]
pub fn change_time(meta: &Metadata) -> (i64, i64) {
    (meta.ctime(), meta.ctime_nsec())
}

/// Returns how many names a file has, by hard links.
#[inline]
pub fn links(meta: &Metadata) -> u64 {
    meta.nlink()
}

/// Makes a write beyond the limit of the size of files (`ulimit -f`) an error instead of the end of the program. Call
/// it before any thread is started: threads inherit it, child processes do not.
pub fn ignore_file_size_limit() {
    // It fails only for an unknown number.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

/// Checks that this many more files can be opened. Libraries panic when no descriptors are left.
///
/// # Errors
///
/// If the system's limit is lower; the error says how to raise it.
pub fn check_room(files: usize) -> io::Result<()> {
    let mut held = Vec::with_capacity(files);
    for _ in 0..files {
        match fcntl_dupfd_cloexec(io::stderr(), 0) {
            Ok(copy) => held.push(copy),
            Err(e) if is_exhausted(&e.into()) => {
                return Err(io::Error::other(format!(
                    "too few files can be opened at once, {files} more are needed: raise the limit, as with \
                     `ulimit -n 256`"
                )));
            }
            // Standard error is closed: nothing is known.
            Err(_) => break,
        }
    }
    Ok(())
}

/// Returns true if an error says that no more files can be opened at once.
pub fn is_exhausted(error: &io::Error) -> bool {
    is(error, Errno::MFILE) || is(error, Errno::NFILE)
}

fn is(error: &io::Error, code: Errno) -> bool {
    error.raw_os_error() == Some(code.raw_os_error())
}

/// Returns what to do about an error of a watcher of files; empty: nothing is known to help.
///
/// See inotify(7): the limits are those of `/proc/sys/fs/inotify`, and `inotify_init` fails with EMFILE for two
/// reasons that cannot be distinguished.
pub fn watch_limit_hint(error: &io::Error) -> &'static str {
    if !cfg!(target_os = "linux") {
        ""
    } else if error.kind() == io::ErrorKind::StorageFull {
        "; on Linux, raise fs.inotify.max_user_watches"
    } else if is(error, Errno::MFILE) {
        "; raise fs.inotify.max_user_instances, or the number of files that a process may open (ulimit -n)"
    } else if is(error, Errno::NFILE) {
        "; raise fs.file-max"
    } else {
        ""
    }
}

/// Returns the name and the file of the system's time zone, a link into the database of zones; `None`: it is no such
/// link.
pub fn system_zone() -> Option<(String, PathBuf)> {
    let file = std::fs::read_link("/etc/localtime").ok()?;
    let (_, name) = file.to_str()?.split_once("zoneinfo/")?;
    let is_variant = name.starts_with("posix/") || name.starts_with("right/");
    (!is_variant).then(|| (name.to_owned(), Path::new("/etc").join(&file)))
}

/// Returns true if there is a process with this number on this machine.
pub(crate) fn is_running(process: u32) -> bool {
    let pid = process.try_into().ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Returns the files that a time zone of this name can be in, with the folder that the user names. A path is its own file.
pub fn zone_files(name: &str, folder: Option<&OsStr>) -> Vec<PathBuf> {
    let usual = [
        "/usr/share/zoneinfo",
        "/usr/share/lib/zoneinfo",
        "/etc/zoneinfo",
    ];
    let folders = folder.into_iter().chain(usual.map(OsStr::new));
    folders.map(|folder| Path::new(folder).join(name)).collect()
}

/// Returns the process that has started this one.
pub fn parent_process() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}
