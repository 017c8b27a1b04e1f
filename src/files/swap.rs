//! Files that other programs write too. They are replaced only if nobody has changed them since they were read.

use super::output::{self, Guard, rename_new};
use super::platform;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The largest file that is replaced, in bytes.
const LARGEST: u64 = 16 << 20;
/// The number of times that a file is put back which others keep replacing.
const MOST_TURNS: usize = 64;
/// The time that another program which has the file open may take to write it.
const PAUSE: Duration = Duration::from_millis(20);

/// The result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapOutcome {
    /// It was made.
    Done,
    /// It was not made: somebody else has changed the file since it was read. What they wrote is there.
    Changed,
}

/// Replaces the bytes `before` of a file with `after`; `None`: there is no file. The file keeps its permissions and its
/// owner. A new file is for its owner alone, who is that of its folder.
///
/// On Linux and macOS, both files are exchanged before what was there is compared, so that nothing which is written at
/// the same moment is lost. Elsewhere it is compared just before.
///
/// # Errors
///
/// If the file cannot be read or replaced.
pub fn swap(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> io::Result<SwapOutcome> {
    let Some(after) = after else {
        return remove(path, before);
    };
    if content(path)?.as_deref() != before {
        return Ok(SwapOutcome::Changed);
    }
    let guard = written(path, after, path)?;
    guard.at_once(|new| match before {
        None => match rename_new(new, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(SwapOutcome::Changed),
            moved => moved.map(|()| SwapOutcome::Done),
        },
        Some(before) => exchange(new, path, before, after),
    })
}

/// Writes a file, or replaces it, with the permissions and the owner of another one.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_like(path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let guard = written(path, bytes, like)?;
    guard.at_once(|new| fs::rename(new, path))
}

/// Removes the incomplete files in the folder of a path that programs which have ended left, if `is_meant` holds for the
/// file that each was meant for.
pub fn remove_left(path: &Path, is_meant: impl Fn(&Path) -> bool) {
    let folder = super::or_current_folder(path.parent().unwrap_or(Path::new("")));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((of, process)) = name.to_str().and_then(output::unfinished) else {
            continue;
        };
        if is_meant(&path.with_file_name(of)) && !platform::is_running(process) {
            // Another of us may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns a complete file beside this path, with the permissions and the owner of the file `like`. If there is none,
/// it is for its owner alone, who is that of its folder: the user, unless the administrator works in it.
fn written(path: &Path, bytes: &[u8], like: &Path) -> io::Result<Guard> {
    let (mut file, guard) = Guard::begin(path, |path| platform::private_file().open(path))?;
    file.write_all(bytes)?;
    if let Ok(like) = fs::metadata(like) {
        platform::copy_ownership(&file, &like)?;
        file.set_permissions(like.permissions())?;
    } else if let Some(Ok(folder)) = path
        .parent()
        .map(|folder| fs::metadata(super::or_current_folder(folder)))
    {
        platform::copy_ownership(&file, &folder)?;
    }
    file.sync_all()?;
    Ok(guard)
}

/// Exchanges the new file and the one that is there. If that is not as it was, it is put back.
fn exchange(new: &Path, path: &Path, before: &[u8], after: &[u8]) -> io::Result<SwapOutcome> {
    let (mut placed, mut expected) = (after.to_vec(), before.to_vec());
    let mut swapped = SwapOutcome::Done;
    for turn in 0..MOST_TURNS {
        match platform::exchange(new, path) {
            Ok(()) => {}
            Err(error) if turn == 0 && is_unsupported(&error) => {
                if content(path)?.as_deref() != Some(before) {
                    return Ok(SwapOutcome::Changed);
                }
                return fs::rename(new, path).map(|()| SwapOutcome::Done);
            }
            // Somebody has removed the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound && turn == 0 => {
                return Ok(SwapOutcome::Changed);
            }
            Err(error) => {
                if turn > 0 {
                    put_back(new, path)?;
                }
                return Err(error);
            }
        }
        let mut out = content(new);
        if swapped == SwapOutcome::Done && out.as_ref().is_ok_and(|out| is(out, &expected)) {
            // Whoever had it open may be writing to it.
            thread::sleep(PAUSE);
            out = content(new);
        }
        match out {
            Ok(out) if is(&out, &expected) => return Ok(swapped),
            // It is newer than what took its place.
            Ok(out) => {
                swapped = SwapOutcome::Changed;
                expected = std::mem::replace(&mut placed, out.unwrap_or_default());
            }
            Err(error) => {
                put_back(new, path)?;
                return Err(error);
            }
        }
    }
    put_back(new, path)?;
    Ok(SwapOutcome::Changed)
}

/// Moves what somebody else wrote last, which was taken out, to its place.
fn put_back(new: &Path, path: &Path) -> io::Result<()> {
    // The file that is there now may have been removed.
    platform::exchange(new, path).or_else(|_| fs::rename(new, path))
}

fn is_unsupported(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, Unsupported};
    matches!(error.kind(), Unsupported | InvalidInput)
}

/// Removes a file if it is as it was.
fn remove(path: &Path, before: Option<&[u8]>) -> io::Result<SwapOutcome> {
    let begun = Guard::begin(path, |aside| fs::rename(path, aside));
    let ((), guard) = match begun {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(if before.is_none() {
                SwapOutcome::Done
            } else {
                SwapOutcome::Changed
            });
        }
        begun => begun?,
    };
    guard.at_once(|aside| match content(aside) {
        Ok(content) if content.as_deref() == before => Ok(SwapOutcome::Done),
        // If somebody has written another file there meanwhile, that is newer.
        other => {
            rename_new(aside, path)?;
            other.map(|_| SwapOutcome::Changed)
        }
    })
}

/// Returns true if a file has these bytes.
fn is(content: &Option<Vec<u8>>, bytes: &[u8]) -> bool {
    content.as_deref() == Some(bytes)
}

/// Returns the bytes of a file; `None`: there is none. Links to it were resolved before: one that is there now was put
/// there meanwhile.
fn content(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = super::open_itself(path);
    match file.and_then(|file| super::read_all(file, LARGEST)) {
        Err(error) if super::is_absent(&error) => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A folder with a file of this text.
    fn with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    /// The names of all files in a folder.
    fn names(dir: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(dir.path()).unwrap().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn what_is_as_it_was_is_replaced_or_removed() {
        let (dir, path) = with("old");
        let swapped = swap(&path, Some(b"old"), Some(b"new")).unwrap();
        assert_eq!(
            (swapped, fs::read(&path).unwrap()),
            (SwapOutcome::Done, b"new".to_vec())
        );
        assert_eq!(names(&dir), ["settings.json"]);
        assert_eq!(swap(&path, Some(b"new"), None).unwrap(), SwapOutcome::Done);
        assert_eq!(names(&dir), [] as [&str; 0]);
        assert_eq!(
            swap(&path, None, Some(b"first")).unwrap(),
            SwapOutcome::Done
        );
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(&dir), ["settings.json"]);
    }

    #[test]
    fn what_has_changed_stays() {
        let (dir, path) = with("theirs");
        for (before, after) in [
            (Some(&b"old"[..]), Some(&b"new"[..])),
            (Some(b"old"), None),
            (None, Some(b"new")),
            (None, None),
        ] {
            assert_eq!(swap(&path, before, after).unwrap(), SwapOutcome::Changed);
            assert_eq!(fs::read(&path).unwrap(), b"theirs");
            assert_eq!(names(&dir), ["settings.json"]);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(
            swap(&path, Some(b"old"), Some(b"new")).unwrap(),
            SwapOutcome::Changed
        );
        assert_eq!(
            swap(&path, Some(b"old"), None).unwrap(),
            SwapOutcome::Changed
        );
        assert_eq!(names(&dir), [] as [&str; 0]);
    }

    /// One that somebody has made too large in the meantime, for instance.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    #[test]
    fn what_cannot_be_read_is_put_back() {
        let (dir, path) = with("old");
        let new = dir.path().join("new");
        fs::write(&new, "new").unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("theirs"), "").unwrap();
        assert!(exchange(&new, &path, b"old", b"new").is_err());
        assert!(path.join("theirs").exists() && new.is_file());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_a_new_file_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (dir, path) = with("old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        swap(&path, Some(b"old"), Some(b"new")).unwrap();
        assert_eq!(mode(&path), 0o640);
        let other = dir.path().join("other");
        swap(&other, None, Some(b"new")).unwrap();
        assert_eq!(mode(&other), 0o600);
    }

    /// Another program that writes all the time, by files that it moves there.
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    #[test]
    fn what_is_written_at_the_same_moment_is_not_lost() {
        const WRITES: u64 = 300;
        let (dir, path) = with("0");
        let (theirs, aside) = (path.clone(), dir.path().join("aside"));
        let writer = thread::spawn(move || {
            for n in 1..=WRITES {
                fs::write(&aside, n.to_string()).unwrap();
                fs::rename(&aside, &theirs).unwrap();
                thread::yield_now();
            }
        });
        let number = |text: &[u8]| -> u64 {
            let text = std::str::from_utf8(text).unwrap();
            text.trim_end_matches('+').parse().unwrap()
        };
        let mut newest = 0;
        while newest < WRITES {
            let before = fs::read(&path).unwrap();
            assert!(number(&before) >= newest, "{newest} was written before");
            newest = number(&before);
            let after = [&before[..], b"+"].concat();
            swap(&path, Some(&before), Some(&after)).unwrap();
        }
        writer.join().unwrap();
        assert_eq!(number(&fs::read(&path).unwrap()), WRITES);
        assert_eq!(names(&dir), ["settings.json"]);
    }
}
