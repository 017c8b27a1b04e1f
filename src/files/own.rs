//! The program's own files: its state and its cache.
//!
//! They are for the user alone. Each is replaced as a whole, so that several of us need no lock, and a program that is
//! killed leaves the old one.

use super::platform;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// The beginning of the names of files that are not complete yet.
pub const UNFINISHED_PREFIX: &str = ".unfinished-";
/// The age at which such a file was left by a program that was killed.
pub const UNFINISHED_AGE: Duration = Duration::from_secs(600);

/// The files that this process has not completed yet.
struct UnfinishedFiles {
    paths: BTreeSet<PathBuf>,
    /// The process is about to end: nothing more is begun.
    is_ending: bool,
}

static UNFINISHED: Mutex<UnfinishedFiles> = Mutex::new(UnfinishedFiles {
    paths: BTreeSet::new(),
    is_ending: false,
});

fn unfinished() -> MutexGuard<'static, UnfinishedFiles> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces a file by what `write` writes, and creates its folder.
///
/// # Errors
///
/// As [`create_folder`]; if the file cannot be written; and if the process is about to end.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    put(path, write, |file| {
        file.persist(path)?;
        Ok(())
    })
}

/// Makes a file of what `write` writes, and its folder, unless it is there: of several of us, the first makes it.
///
/// # Errors
///
/// As [`replace`].
pub fn create_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    put(path, write, |file| match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    })
}

/// Writes a file beside its path, and has `persist` move it there.
fn put(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
    persist: impl FnOnce(NamedTempFile) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut file = begin(folder)?;
    let beside = file.path().to_owned();
    let done = write(file.as_file_mut()).and_then(|()| persist(file));
    unfinished().paths.remove(&beside);
    done
}

/// Opens a file of the program, to be read. Nobody but the program makes it, so it is no link.
///
/// # Errors
///
/// If it is not a file; the error names what it is.
pub fn open(path: &Path) -> io::Result<File> {
    super::open_itself(path)
}

/// Returns the text of a file of the program, at most `limit` bytes.
///
/// # Errors
///
/// As [`open`] and [`super::read_text`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    super::text(super::read_all(open(path)?, limit)?)
}

/// Returns the path of a file of the program for a library that opens it and refuses links: its folder may be linked.
pub fn unlinked(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match folder.zip(path.file_name()) {
        Some((folder, name)) => folder.join(name),
        None => path.to_path_buf(),
    }
}

/// Makes an empty file that only the user may read, and its folder, unless it is there. A link in its place is removed.
///
/// # Errors
///
/// As [`create_folder`], and if the file cannot be made.
pub fn create(path: &Path) -> io::Result<()> {
    create_folder(path.parent().unwrap_or(Path::new(".")))?;
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        fs::remove_file(path)?;
    }
    match platform::private_file().open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn begin(folder: &Path) -> io::Result<NamedTempFile> {
    let mut unfinished = unfinished();
    if unfinished.is_ending {
        return Err(io::Error::other("the program ends"));
    }
    let file = NamedTempFile::with_prefix_in(UNFINISHED_PREFIX, folder)?;
    unfinished.paths.insert(file.path().to_owned());
    Ok(file)
}

/// True if this process leaves what it has not completed.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// Has this process end at once: nothing waits for a disk any more, and what is not completed is left to [`sweep`].
pub fn leave_unfinished() {
    IS_LATE.store(true, Ordering::SeqCst);
}

/// Removes what this process has not completed, and begins nothing more: it is about to end, whatever its threads do.
pub(super) fn remove_unfinished() {
    if IS_LATE.load(Ordering::SeqCst) {
        return;
    }
    let mut unfinished = unfinished();
    unfinished.is_ending = true;
    for path in std::mem::take(&mut unfinished.paths) {
        // A thread may just have completed it.
        let _ = fs::remove_file(path);
    }
}

/// Creates a folder that only the user may read, as the XDG base directory specification demands.
///
/// # Errors
///
/// If it cannot be created. If the administrator would create it in a folder of another user, or write to one of theirs
/// (`sudo` may keep the user's `HOME`): that user could not read what is in it.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let around = folder.ancestors().find_map(|around| around.metadata().ok());
    if around.is_some_and(|around| platform::is_closed_to_its_owner(&around)) {
        let why = "it would be closed to the user whose folder it is in; nothing is written there as root";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    platform::private_folder().create(folder)
}

/// Removes files of a folder that were never completed.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_unfinished = name
            .as_encoded_bytes()
            .starts_with(UNFINISHED_PREFIX.as_bytes());
        if is_unfinished && entry.metadata().is_ok_and(|meta| is_left(&meta)) {
            // Another of us may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_left(meta: &Metadata) -> bool {
    let age = meta.modified().ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > UNFINISHED_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/kept");
        replace(&path, |file| file.write_all(b"old")).unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"ne")?;
            assert_eq!(names(path.parent().unwrap()).len(), 2);
            Err(io::Error::other("full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(path.parent().unwrap()), ["kept"]);
    }

    #[test]
    fn of_two_files_that_are_made_at_once_the_first_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/kept");
        create_with(&path, |file| {
            file.write_all(b"second")?;
            create_with(&path, |file| file.write_all(b"first"))
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(path.parent().unwrap()), ["kept"]);
    }

    #[test]
    fn a_file_is_made_unless_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/kept");
        create(&path).unwrap();
        fs::write(&path, "kept").unwrap();
        create(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    fn a_process_that_is_late_waits_for_no_file_that_is_being_begun() {
        leave_unfinished();
        let begins = unfinished();
        let ends = std::thread::spawn(remove_unfinished);
        crate::waiting::wait_for("end", || {
            let has_ended = ends.is_finished().then_some(());
            has_ended.ok_or("it waits")
        });
        drop(begins);
    }

    #[test]
    fn what_a_killed_program_left_is_removed_when_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        let old = File::create(dir.path().join(".unfinished-old")).unwrap();
        let begun = std::time::SystemTime::now() - UNFINISHED_AGE - Duration::from_secs(60);
        old.set_modified(begun).unwrap();
        let other = File::create(dir.path().join("other")).unwrap();
        other.set_modified(begun).unwrap();
        File::create(dir.path().join(".unfinished-new")).unwrap();
        sweep(dir.path());
        let mut left = names(dir.path());
        left.sort();
        assert_eq!(left, [".unfinished-new", "other"]);
    }

    /// Only the administrator can make a folder of somebody else.
    #[cfg(unix)]
    #[test]
    fn as_root_nothing_is_made_in_the_folder_of_another_user() {
        use std::os::unix::fs::{MetadataExt, chown};
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        if chown(&home, Some(65_534), Some(65_534)).is_err() {
            assert_ne!(home.metadata().unwrap().uid(), 0);
            return;
        }
        let refused = replace(&home.join(".cache/ctxgauge/logs"), |_| Ok(()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(names(&home).is_empty());
        // Nor in one that the other user has made.
        let own = home.join("ctxgauge");
        fs::create_dir(&own).unwrap();
        chown(&own, Some(65_534), None).unwrap();
        assert!(replace(&own.join("logs"), |_| Ok(())).is_err());
        assert!(names(&own).is_empty());
    }
}
