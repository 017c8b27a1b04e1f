//! Windows, and whatever else is no Unix.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, StdoutLock};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Is true where variables such as `TERM` and `LANG` describe the terminal.
pub const HAS_TERMINAL_VARIABLES: bool = false;

/// Returns options to read a file.
pub(crate) fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Returns options to read a file. The standard library has none that refuses a link.
pub(crate) fn reading_itself() -> OpenOptions {
    reading()
}

/// Returns options to write a new file. The folders of a user are the user's alone.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

/// Returns a builder of folders. The folders of a user are the user's alone.
pub(crate) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder
}

/// Returns false: the standard library does not know owners.
pub(crate) fn is_closed_to_its_owner(_: &Metadata) -> bool {
    false
}

/// Returns what something is that is neither a file nor a folder, in words.
pub(crate) fn kind_name(_: FileType) -> &'static str {
    "something else"
}

/// Returns zeros: files have no numbers that the standard library knows.
pub fn file_number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Returns zeros: the standard library does not know when a file itself was changed.
pub fn change_time(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

/// Returns 1: the standard library does not know the names of a file.
pub fn links(_: &Metadata) -> u64 {
    1
}

/// Does nothing: there is no limit of the size of files.
pub fn ignore_file_size_limit() {}

/// Does nothing: there is no limit that programs reach.
///
/// # Errors
///
/// None.
pub fn check_room(_: usize) -> io::Result<()> {
    Ok(())
}

/// Returns false: no error says that no more files can be opened at once.
pub fn is_exhausted(_: &io::Error) -> bool {
    false
}

/// Returns nothing: no limit is known.
pub fn watch_limit_hint(_: &io::Error) -> &'static str {
    ""
}

/// Returns true: the standard library does not know which processes there are.
pub(crate) fn is_running(_: u32) -> bool {
    true
}

/// Returns nothing: the standard library does not know which process has started this one.
pub fn parent_process() -> Option<u32> {
    None
}

/// Returns a name if a file or folder is on a share of another machine, or of WSL: nobody who watches it learns what is
/// written there.
pub fn remote_file_system(path: &Path) -> Option<&'static str> {
    let path = path.to_str()?;
    let is_share = match path.strip_prefix(r"\\?\") {
        Some(long) => long.starts_with("UNC"),
        None => path.starts_with(r"\\"),
    };
    is_share.then_some("a network share")
}

/// Returns false: pipes are not found by paths here.
pub fn is_pipe(_: &Path) -> bool {
    false
}

/// Does nothing: whether somebody may still read what is written is not known.
///
/// # Errors
///
/// None.
pub fn check_reader(_: &StdoutLock<'_>) -> io::Result<()> {
    Ok(())
}

/// Returns an error: there are no pipes to open.
///
/// # Errors
///
/// Always.
pub fn open_pipe(_: &Path) -> io::Result<Box<dyn Read + Send>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the command as it is: there are no process groups.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command
}

/// Returns true if a command has ended.
///
/// # Errors
///
/// If that cannot be found out.
pub fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Does nothing: there are no process groups.
pub fn kill_group(_: u32) {}

/// Exchanges two files, at one moment.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`]: this system cannot.
pub(crate) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a file to the owner of another one: it is that of its folder already.
pub(crate) fn copy_ownership(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing: a new file is for those who may read its folder.
pub(crate) fn open_to_all(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns the memory that this program takes: not known.
pub fn memory_in_use() -> Option<u64> {
    None
}

/// Returns the bytes that this program has read: not known.
pub fn bytes_read() -> Option<u64> {
    None
}

/// Returns for how long processors have worked on this program; `None`: that is not known here.
pub fn cpu_time() -> Option<Duration> {
    None
}

/// Returns the name and the file of the system's time zone.
pub fn system_zone() -> Option<(String, PathBuf)> {
    None
}

/// Returns no files: the library has the time zones.
pub fn zone_files(_: &str, _: Option<&OsStr>) -> Vec<PathBuf> {
    Vec::new()
}
