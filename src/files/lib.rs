//! The only way in which the program opens files: what is there must be a file, and no larger than expected.
//!
//! A named pipe, a device, a socket or a folder can be in the place of any file that the program reads, also by a
//! link. Opening a pipe waits for a writer, and `/dev/zero` never ends. So each file is checked before it is opened
//! and again after. The length that the system states is only a hint: the bytes that are read are counted.

pub mod lines;
pub mod output;
pub mod own;
pub mod paths;
mod platform;
pub mod swap;
#[cfg(any(test, feature = "testing"))]
pub mod waiting;
mod within;

pub use platform::{
    HAS_TERMINAL_VARIABLES, Process, Processes, bytes_read, change_time, check_reader, check_room,
    cpu_time, file_number, has_ended, ignore_file_size_limit, ignored_signals, in_own_group,
    is_exhausted, is_pipe, kill_group, links, memory_in_use, of_system, open_pipe, parent_process,
    remote_file_system, system_zone, watch_limit_hint, zone_files,
};

pub use within::{Root, within};

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens the file at a path, to be read. Links are followed.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn open(path: &Path) -> io::Result<File> {
    look(path)?;
    // Something else may be there now. A pipe without writer is opened at once, and refused.
    let file = platform::reading().open(path)?;
    check_is_file(&file.metadata()?)?;
    Ok(file)
}

/// Returns the system's metadata of the file at a path. Links are followed; nothing is opened.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn look(path: &Path) -> io::Result<Metadata> {
    let meta = fs::metadata(path)?;
    check_is_file(&meta)?;
    Ok(meta)
}

/// Opens the file at a path, to be read, unless it is a link.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn open_itself(path: &Path) -> io::Result<File> {
    look_at_itself(path)?;
    let file = platform::reading_itself().open(path)?;
    check_is_file(&file.metadata()?)?;
    Ok(file)
}

/// Returns the system's metadata of the file at a path, unless it is a link.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn look_at_itself(path: &Path) -> io::Result<Metadata> {
    let meta = fs::symlink_metadata(path)?;
    check_is_file(&meta)?;
    Ok(meta)
}

/// Returns the bytes of the file at a path, at most `limit`.
///
/// # Errors
///
/// [`io::ErrorKind::FileTooLarge`] if there are more; and as [`open`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, limit)
}

/// Returns the bytes of an open file, at most `limit`.
///
/// # Errors
///
/// As [`read`].
pub fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let expected = file.metadata()?.len();
    read_at_most(file, expected, limit)
}

/// Returns the bytes of a source, at most `limit`. `expected` is the length that is to be expected.
///
/// # Errors
///
/// As [`read`].
pub fn read_at_most(source: impl Read, expected: u64, limit: u64) -> io::Result<Vec<u8>> {
    if expected > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        Err(too_large(limit))
    } else {
        Ok(bytes)
    }
}

/// Returns the text of the file at a path, at most `limit` bytes.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] if it is not UTF-8; and as [`read`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Returns the text of a file that the user names. It may also be a pipe, or `/dev/null`, which is empty.
///
/// # Errors
///
/// As [`read_text`] and [`open_pipe`].
pub fn read_named(path: &Path, limit: u64) -> io::Result<String> {
    if path == Path::new("/dev/null") {
        return Ok(String::new());
    }
    if !is_pipe(path) {
        return read_text(path, limit);
    }
    text(read_at_most(open_pipe(path)?, 0, limit)?)
}

/// Returns the real path of a file that a format keeps beside a log. Links may not lead out of the last folder that
/// contains both: whoever can write beside a log cannot make the program read other files.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if a link leads out; [`io::ErrorKind::NotFound`] if nothing is there.
pub fn beside(log: &Path, path: &Path) -> io::Result<PathBuf> {
    real_beside(&|path| fs::canonicalize(path), log, path)
}

/// Like [`beside`], but `real` finds real paths.
///
/// # Errors
///
/// As [`beside`].
pub fn real_beside(real: RealPath<'_>, log: &Path, path: &Path) -> io::Result<PathBuf> {
    if log.starts_with(path) {
        // The log was reached through it.
        real(or_current_folder(path))
    } else {
        real_below(real, &common_folder(log, path), path)
    }
}

/// Finds the real path of what is at a path.
pub type RealPath<'a> = &'a dyn Fn(&Path) -> io::Result<PathBuf>;

/// Returns the real path of a file in a folder. Links may not lead out of the folder.
///
/// # Errors
///
/// As [`beside`].
pub fn below(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    real_below(&|path| fs::canonicalize(path), folder, path)
}

/// Like [`below`], but `real` finds real paths.
///
/// # Errors
///
/// As [`beside`].
pub fn real_below(real: RealPath<'_>, folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let found = real(path)?;
    if found.starts_with(real(or_current_folder(folder))?) {
        Ok(found)
    } else {
        Err(leads_out())
    }
}

/// Opens a file that is directly in a folder. If it is a link, it must not lead out of the folder.
///
/// # Errors
///
/// As [`below`] and [`open`].
pub fn open_part(folder: &Path, name: impl AsRef<Path>) -> io::Result<File> {
    let path = folder.join(name);
    if fs::symlink_metadata(&path)?.is_symlink() {
        open(&below(folder, &path)?)
    } else {
        open(&path)
    }
}

/// Returns the path at which to write the file at `path`, so that a link to it stays a link.
///
/// # Errors
///
/// If there is something that is not a file.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    match look(path) {
        Ok(_) => fs::canonicalize(path),
        // There may be a link to a file that does not exist yet.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(match fs::read_link(path) {
            Ok(to) => path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => path.to_path_buf(),
        }),
        Err(e) => Err(e),
    }
}

/// Returns true if an error shows that nothing is at a path: there is nothing of this name, or one of its folders is a
/// file.
pub fn is_absent(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the error of a link that leads out of a folder.
fn leads_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is a link that leads out of its folder, which is not followed",
    )
}

/// Returns the last folder that contains both paths.
fn common_folder(one: &Path, other: &Path) -> PathBuf {
    one.components()
        .zip(other.components())
        .take_while(|(a, b)| a == b)
        .map(|(part, _)| part)
        .collect()
}

/// Returns the folder, or the working directory for the empty path that is the folder of a bare name.
fn or_current_folder(folder: &Path) -> &Path {
    if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    }
}

/// Refuses what is not a file.
fn check_is_file(meta: &Metadata) -> io::Result<()> {
    let kind = meta.file_type();
    let (error, what) = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        (io::ErrorKind::IsADirectory, "a folder")
    } else {
        (io::ErrorKind::InvalidInput, platform::kind_name(kind))
    };
    Err(io::Error::new(error, format!("it is {what}, not a file")))
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn too_large(limit: u64) -> io::Error {
    let limit = if limit >= 1 << 20 {
        format!("{} MiB", limit >> 20)
    } else {
        format!("{limit} bytes")
    };
    let what = format!("it has more than {limit}, which is more than such a file can have");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests;
