//! The only way in which the program opens files: what is there must be a file, and no larger than expected.
//!
//! A named pipe, a device, a socket or a folder can be in the place of any file that the program reads, also by a
//! link. To open a pipe waits for a writer, and `/dev/zero` never ends. So whatever is opened is looked at before
//! and after. The length that the system states is only a hint: what is read is counted.

pub mod paths;
mod pipe;
#[cfg(any(test, feature = "testing"))]
pub mod waiting;

pub use pipe::{check_reader, is_pipe, open_pipe};

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Opens the file at a path, to be read. Links are followed.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn open(path: &Path) -> io::Result<File> {
    look(path)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // Something else may be there now. A pipe without writer is opened at once, and refused.
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.open(path)?;
    admit(&file.metadata()?)?;
    Ok(file)
}

/// What the system states about the file at a path. Links are followed; nothing is opened.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn look(path: &Path) -> io::Result<Metadata> {
    let meta = fs::metadata(path)?;
    admit(&meta)?;
    Ok(meta)
}

/// The bytes of the file at a path, which must not be more than `most`.
///
/// # Errors
///
/// [`io::ErrorKind::FileTooLarge`] if there are more; and as [`open`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, most)
}

/// The bytes of an opened file, which must not be more than `most`.
///
/// # Errors
///
/// As [`read`].
pub fn read_all(file: File, most: u64) -> io::Result<Vec<u8>> {
    let expected = file.metadata()?.len();
    read_at_most(file, expected, most)
}

/// The bytes of something that is opened, which must not be more than `most`; about `expected` are.
///
/// # Errors
///
/// As [`read`].
pub fn read_at_most(source: impl Read, expected: u64, most: u64) -> io::Result<Vec<u8>> {
    if expected > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    source
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(too_large(most))
    } else {
        Ok(bytes)
    }
}

/// The text of the file at a path, which must not be more than `most` bytes.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] if it is not UTF-8; and as [`read`].
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(read(path, most)?)
}

/// The text of a file that the user names: also of a pipe, and of `/dev/null`, which is empty.
///
/// # Errors
///
/// As [`read_text`] and [`open_pipe`].
pub fn read_named(path: &Path, most: u64) -> io::Result<String> {
    if path == Path::new("/dev/null") {
        return Ok(String::new());
    }
    if !is_pipe(path) {
        return read_text(path, most);
    }
    let mut bytes = Vec::new();
    let pipe = open_pipe(path)?;
    pipe.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        Err(too_large(most))
    } else {
        text(bytes)
    }
}

/// Copies the file at a path into a new one, which only the user may read. Returns the number of bytes, which must
/// not be more than `most`.
///
/// # Errors
///
/// As [`read`]; and if the copy cannot be written, or exists.
pub fn copy(from: &Path, to: &Path, most: u64) -> io::Result<u64> {
    let file = open(from)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to)?;
    let copied = io::copy(&mut file.take(most.saturating_add(1)), &mut copy)?;
    copy.flush()?;
    if copied > most {
        Err(too_large(most))
    } else {
        Ok(copied)
    }
}

/// The real path of what a format keeps beside a log. From the last folder that both are in, no link leads out of
/// that folder: whoever can write beside a log cannot make the program read other files.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if a link leads out; [`io::ErrorKind::NotFound`] if nothing is there.
pub fn beside(log: &Path, path: &Path) -> io::Result<PathBuf> {
    real_beside(&|path| fs::canonicalize(path), log, path)
}

/// The same where `real` finds real paths.
///
/// # Errors
///
/// As [`beside`].
pub fn real_beside(real: Real<'_>, log: &Path, path: &Path) -> io::Result<PathBuf> {
    if log.starts_with(path) {
        // The log was reached through it.
        real(or_here(path))
    } else {
        real_below(real, &common(log, path), path)
    }
}

/// Finds the real path of what is at a path.
pub type Real<'a> = &'a dyn Fn(&Path) -> io::Result<PathBuf>;

/// From here on, a write beyond the limit of the size of files (`ulimit -f`) is an error, and not the end of the program.
/// Call it before any thread is started: threads inherit it. Child processes begin without it.
#[cfg(unix)]
pub fn outlive_size_limit() {
    use nix::sys::signal::{SigSet, Signal};
    // It fails for an unknown number only.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

/// There is no such limit here.
#[cfg(not(unix))]
pub fn outlive_size_limit() {}

/// The real path of what is in a folder. No link in it leads out of the folder.
///
/// # Errors
///
/// As [`beside`].
pub fn below(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    real_below(&|path| fs::canonicalize(path), folder, path)
}

/// The same where `real` finds real paths.
///
/// # Errors
///
/// As [`beside`].
pub fn real_below(real: Real<'_>, folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let found = real(path)?;
    if found.starts_with(real(or_here(folder))?) {
        Ok(found)
    } else {
        Err(leads_out())
    }
}

/// Opens what is directly in a folder. If it is a link, it must not lead out of the folder.
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

/// Where the file at a path is to be written, so that a link to it stays one.
///
/// # Errors
///
/// If something else than a file is there.
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

/// Checks that so many more files can be opened. Libraries panic where there are no descriptors left.
///
/// # Errors
///
/// If the system's limit is lower; the error says how to raise it.
pub fn check_room(files: usize) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut held = Vec::with_capacity(files);
        for _ in 0..files {
            match rustix::io::fcntl_dupfd_cloexec(io::stderr(), 0) {
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
    }
    Ok(())
}

/// Whether nothing is at a path: nothing of its name, or a file where a folder of it would be.
pub fn is_absent(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether an error says that no more files can be opened at once.
pub fn is_exhausted(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let code = error.raw_os_error();
        [Errno::MFILE, Errno::NFILE]
            .iter()
            .any(|all| code == Some(all.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// The error of a link that leads out of a folder.
fn leads_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is a link that leads out of the session's folder, which is not followed",
    )
}

/// The last folder that two paths are both in.
fn common(one: &Path, other: &Path) -> PathBuf {
    let both = one.components().zip(other.components());
    let same = both.take_while(|(a, b)| a == b);
    same.map(|(part, _)| part).collect()
}

/// A path as the system takes it: the folder of a bare name is the one that the program works in.
fn or_here(folder: &Path) -> &Path {
    if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    }
}

/// Refuses what is not a file.
fn admit(meta: &Metadata) -> io::Result<()> {
    if meta.is_file() {
        Ok(())
    } else {
        Err(not_a_file(meta.file_type()))
    }
}

fn not_a_file(kind: FileType) -> io::Error {
    let (error, what) = if kind.is_dir() {
        (io::ErrorKind::IsADirectory, "a folder")
    } else {
        (io::ErrorKind::InvalidInput, name(kind))
    };
    io::Error::new(error, format!("it is {what}, not a file"))
}

#[cfg(unix)]
fn name(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
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

#[cfg(not(unix))]
fn name(_: FileType) -> &'static str {
    "something else"
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn too_large(most: u64) -> io::Error {
    let most = if most >= 1 << 20 {
        format!("{} MiB", most >> 20)
    } else {
        format!("{most} bytes")
    };
    let what = format!("it has more than {most}, which is more than such a file can have");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests;
