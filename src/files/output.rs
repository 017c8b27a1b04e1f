//! Files and folders that a user asks for: written beside their place and moved there when they are complete, so that
//! there is never half of one.

use super::{own, platform};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shows whether an existing file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and that is an error.
    Keep,
    /// It is replaced.
    Replace,
}

impl Existing {
    /// Returns the choice of an option such as `--force`.
    pub fn replaced_if(force: bool) -> Existing {
        if force {
            Existing::Replace
        } else {
            Existing::Keep
        }
    }
}

/// Returns true if two paths are of one file, which exists.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| Some(one) == real(other))
}

/// The files and folders that this program writes at the user's request.
#[derive(Default)]
struct Outputs {
    /// Those that are not complete yet, by the path where each is until then.
    unfinished: BTreeSet<PathBuf>,
    /// Those that are complete, in order.
    complete: Vec<PathBuf>,
    /// Folders that were made for them, the innermost first.
    made: Vec<PathBuf>,
    /// True if the program is about to end: then nothing more is begun.
    is_ending: bool,
}

static OUTPUTS: Mutex<Outputs> = Mutex::new(Outputs {
    unfinished: BTreeSet::new(),
    complete: Vec::new(),
    made: Vec::new(),
    is_ending: false,
});

fn outputs() -> MutexGuard<'static, Outputs> {
    OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the outputs, to begin one that is removed if the program ends.
fn outputs_to_begin() -> io::Result<MutexGuard<'static, Outputs>> {
    let outputs = outputs();
    if outputs.is_ending {
        return Err(io::Error::other("the program ends"));
    }
    Ok(outputs)
}

/// The state of the outputs when the program ends.
#[derive(Debug, Default)]
pub struct OutputState {
    /// Those that are complete, in order.
    pub complete: Vec<PathBuf>,
    /// The number of incomplete files or folders, which are removed.
    pub removed: usize,
}

/// Removes all that is not complete: the program is about to end.
pub fn remove_unfinished() -> OutputState {
    own::remove_unfinished();
    let mut outputs = outputs();
    outputs.is_ending = true;
    let unfinished = std::mem::take(&mut outputs.unfinished);
    unfinished.iter().for_each(|path| remove(path));
    remove_empty(&outputs.made);
    OutputState {
        complete: std::mem::take(&mut outputs.complete),
        removed: unfinished.len(),
    }
}

/// Removes folders that are empty.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}

fn remove(path: &Path) {
    // If it cannot be removed, it stays, with a name that shows its purpose.
    let _ = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
}

/// Fails if something is at a path that must not be replaced.
fn check(path: &Path, existing: Existing) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(_) if existing == Existing::Keep => Err(is_there()),
        Ok(meta) if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(meta) if !meta.is_file() && !meta.is_symlink() => {
            let kind = platform::kind_name(meta.file_type());
            Err(io::Error::other(format!(
                "it is {kind}, which is not replaced"
            )))
        }
        _ => Ok(()),
    }
}

fn is_there() -> io::Error {
    let why = "it exists already; --force replaces it";
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}

/// Returns the name of a file from that of an incomplete one, and the process that made it; `None`: it is none.
pub(super) fn unfinished(name: &str) -> Option<(&str, u32)> {
    let (of, process) = name.strip_prefix('.')?.rsplit_once(".unfinished-")?;
    Some((of, process.parse().ok()?))
}

/// Returns a free name beside a path, with a word for what is there.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{what}-{}", std::process::id()));
    path.with_file_name(name)
}

/// Moves something to a path where nothing is.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    // The system refuses to move a folder to the place of one that is not empty.
    if !from.is_dir() {
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(is_there()),
            // There are no links here.
            Err(_) => check(to, Existing::Keep)?,
        }
    }
    fs::rename(from, to)
}

/// A guard that removes an unfinished output when it is dropped.
pub(super) struct Guard {
    path: PathBuf,
    is_finished: bool,
}

impl Guard {
    /// Begins something beside this path.
    pub(super) fn begin<T>(
        path: &Path,
        begin: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(T, Guard)> {
        let path = beside(path, "unfinished");
        let mut outputs = outputs_to_begin()?;
        // A program with the same process number may have left it when it was killed.
        remove(&path);
        let begun = begin(&path)?;
        outputs.unfinished.insert(path.clone());
        let guard = Guard {
            path,
            is_finished: false,
        };
        Ok((begun, guard))
    }

    /// Does something with it that no signal interrupts. What is in its place then is removed.
    pub(super) fn at_once<T>(self, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let outputs = outputs_to_begin()?;
        let done = work(&self.path);
        drop(outputs);
        done
    }

    /// Moves it to its place. A folder that is there is set aside, and removed when the other is in its place: there is
    /// always a whole one.
    fn finish(mut self, to: &Path, existing: Existing) -> io::Result<()> {
        let mut outputs = outputs_to_begin()?;
        let old = (existing == Existing::Replace && to.is_dir()).then(|| beside(to, "replaced"));
        if let Some(old) = &old {
            remove(old);
            fs::rename(to, old)?;
        }
        let moved = match existing {
            Existing::Keep => rename_new(&self.path, to),
            Existing::Replace => fs::rename(&self.path, to),
        };
        if let Err(error) = moved {
            if let Some(old) = &old {
                fs::rename(old, to)?;
            }
            return Err(error);
        }
        outputs.unfinished.remove(&self.path);
        // One that is kept fresh is complete many times.
        if outputs.complete.last().is_none_or(|last| last != to) {
            outputs.complete.push(to.to_owned());
        }
        self.is_finished = true;
        if let Some(old) = old {
            outputs.unfinished.insert(old.clone());
            drop(outputs);
            remove(&old);
            self::outputs().unfinished.remove(&old);
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_finished {
            remove(&self.path);
            outputs().unfinished.remove(&self.path);
        }
    }
}

/// A file that is being written. Unless it is finished, nothing is left of it.
pub struct NewFile {
    file: File,
    guard: Guard,
    path: PathBuf,
    existing: Existing,
}

impl NewFile {
    /// Begins a file for this path. It is for the user alone, unless it replaces one that others may read: texts of a
    /// log may be in it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if something is there that must not be replaced; and if its folder cannot be
    /// written to.
    pub fn create(path: &Path, existing: Existing) -> io::Result<NewFile> {
        check(path, existing)?;
        let (file, guard) = Guard::begin(path, |path| platform::private_file().open(path))?;
        Ok(NewFile {
            file,
            guard,
            path: path.to_owned(),
            existing,
        })
    }

    /// Returns the file, to be written.
    ///
    /// # Errors
    ///
    /// If the system has no more files.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Moves the complete file to its place.
    ///
    /// # Errors
    ///
    /// If something else has come there, or the file cannot be moved.
    pub fn finish(self) -> io::Result<()> {
        check(&self.path, self.existing)?;
        let old = self.path.symlink_metadata();
        if let Some(old) = old.ok().filter(Metadata::is_file) {
            self.file.set_permissions(old.permissions())?;
        }
        self.guard.finish(&self.path, self.existing)
    }
}

/// Replaces a file that programs of other users read, whole. A new one is readable for all. A link to it stays one. What is
/// there is replaced only if `is_ours` finds that its beginning is that of such a file.
///
/// # Errors
///
/// [`io::ErrorKind::AlreadyExists`] if something else is there, and if its folder cannot be written to.
pub fn publish(path: &Path, bytes: &[u8], is_ours: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    check(path, Existing::Replace)?;
    let path = &super::target(path)?;
    if let Ok(old) = super::open(path) {
        let mut begin = Vec::new();
        old.take(BEGIN).read_to_end(&mut begin)?;
        if !begin.is_empty() && !is_ours(&begin) {
            let why = "it is another kind of file, which is not replaced";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
    }
    let new = NewFile::create(path, Existing::Replace)?;
    let mut file = new.file()?;
    file.write_all(bytes)?;
    platform::open_to_all(&file)?;
    new.finish()
}

/// The bytes of a file by which its kind is recognised.
const BEGIN: u64 = 64;

/// A folder around what is written. If it was made for that, and nothing is in it at the end, it is removed.
pub struct ParentFolder {
    made: Vec<PathBuf>,
}

impl ParentFolder {
    /// Makes a folder, and those around it, unless they are there.
    ///
    /// # Errors
    ///
    /// If it is no folder, or cannot be made.
    pub fn make(path: &Path) -> io::Result<ParentFolder> {
        let mut outputs = outputs_to_begin()?;
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing);
        let made: Vec<PathBuf> = made.map(Path::to_path_buf).collect();
        fs::create_dir_all(path)?;
        outputs.made.extend_from_slice(&made);
        Ok(ParentFolder { made })
    }
}

impl Drop for ParentFolder {
    fn drop(&mut self) {
        remove_empty(&self.made);
    }
}

/// A folder that is being filled. Unless it is finished, nothing is left of it.
pub struct NewFolder {
    guard: Guard,
    path: PathBuf,
    existing: Existing,
    /// Returns true if a file of this name in it may be replaced with it.
    is_ours: fn(&str) -> bool,
}

impl NewFolder {
    /// Begins a folder for this path. A folder that is there is replaced only if all files in it have names that are
    /// `is_ours`.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if something is there that must not be replaced; and if the folder around it cannot
    /// be written to.
    pub fn create(
        path: &Path,
        existing: Existing,
        is_ours: fn(&str) -> bool,
    ) -> io::Result<NewFolder> {
        may_replace(path, existing, is_ours)?;
        let ((), guard) = Guard::begin(path, |path| fs::create_dir(path))?;
        Ok(NewFolder {
            guard,
            path: path.to_owned(),
            existing,
            is_ours,
        })
    }

    /// Begins a file in it, and the folders around that.
    ///
    /// # Errors
    ///
    /// If it exists, or cannot be written.
    pub fn file(&self, below: &Path) -> io::Result<File> {
        let _outputs = outputs_to_begin()?;
        let path = self.guard.path.join(below);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        platform::private_file().open(path)
    }

    /// Moves the complete folder to its place.
    ///
    /// # Errors
    ///
    /// If something else has come there, or the folder cannot be moved.
    pub fn finish(self) -> io::Result<()> {
        may_replace(&self.path, self.existing, self.is_ours)?;
        self.guard.finish(&self.path, self.existing)
    }
}

/// Fails if what is at the path of a folder must not be replaced.
fn may_replace(path: &Path, existing: Existing, is_ours: fn(&str) -> bool) -> io::Result<()> {
    let Ok(meta) = path.symlink_metadata() else {
        return Ok(());
    };
    if existing == Existing::Keep || !meta.is_dir() {
        return check(path, Existing::Keep);
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if !entry.file_name().to_str().is_some_and(is_ours) {
                let name = entry.path();
                let why = format!("it has a file that is not replaced: {}", name.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = names
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_complete_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let file = NewFile::create(&path, Existing::Keep).unwrap();
        file.file().unwrap().write_all(b"whole").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(dir.path()), ["out"]);

        let exists = NewFile::create(&path, Existing::Keep)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(exists.kind(), io::ErrorKind::AlreadyExists);
        let half = NewFile::create(&path, Existing::Replace).unwrap();
        half.file().unwrap().write_all(b"ha").unwrap();
        drop(half);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(dir.path()), ["out"]);
        // It came while the other was written.
        let other = dir.path().join("other");
        let late = NewFile::create(&other, Existing::Keep).unwrap();
        fs::write(&other, "mine").unwrap();
        assert!(late.finish().is_err());
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert_eq!(names(dir.path()), ["other", "out"]);
    }

    #[test]
    fn only_files_and_links_are_replaced() {
        let device = NewFile::create(Path::new("/dev/null"), Existing::Replace).map(|_| ());
        if cfg!(unix) {
            assert!(device.unwrap_err().to_string().contains("a device"));
        }
        let dir = tempfile::tempdir().unwrap();
        let folder = NewFile::create(dir.path(), Existing::Replace).map(|_| ());
        assert_eq!(folder.unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_for_the_user_alone_and_one_that_is_replaced_for_those_as_before() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.csv");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let write = |existing| NewFile::create(&path, existing).unwrap().finish();
        write(Existing::Keep).unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(Existing::Replace).unwrap();
        assert_eq!(mode(&path), 0o644);
        let folder = dir.path().join("parts");
        let new = NewFolder::create(&folder, Existing::Keep, |_| true).unwrap();
        new.file(Path::new("date=1/0.csv")).unwrap();
        new.finish().unwrap();
        assert_eq!(mode(&folder.join("date=1/0.csv")), 0o600);
    }

    #[test]
    fn a_published_file_is_for_all_and_replaces_only_its_like() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.prom");
        let is_ours = |begin: &[u8]| begin.starts_with(b"# HELP");
        let write = |text: &str| publish(&path, text.as_bytes(), is_ours);
        for text in ["# HELP a", "# HELP b"] {
            write(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o644);
        }
        assert_eq!(names(dir.path()), ["x.prom"]);
        fs::write(&path, "my notes").unwrap();
        let refused = write("# HELP c").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "my notes");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_published_file_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let [path, link] = ["x.prom", "link.prom"].map(|name| dir.path().join(name));
        std::os::unix::fs::symlink("x.prom", &link).unwrap();
        let is_ours = |begin: &[u8]| begin.starts_with(b"# HELP");
        for text in ["# HELP a", "# HELP b"] {
            publish(&link, text.as_bytes(), is_ours).unwrap();
            assert!(link.is_symlink());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, "my notes").unwrap();
        assert!(publish(&link, b"# HELP c", is_ours).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "my notes");
    }

    /// What somebody else put there after all checks.
    #[test]
    fn what_comes_late_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let [from, to] = ["new", "late"].map(|name| dir.path().join(name));
        fs::write(&from, "ours").unwrap();
        fs::write(&to, "theirs").unwrap();
        assert_eq!(
            rename_new(&from, &to).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&to).unwrap(), b"theirs");
        fs::remove_file(&to).unwrap();
        rename_new(&from, &to).unwrap();
        assert_eq!(names(dir.path()), ["late"]);
    }

    #[test]
    fn a_folder_replaces_only_one_of_its_kind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let is_ours = |name: &str| name.ends_with(".csv");
        let fill = |existing, name: &str| -> io::Result<()> {
            let folder = NewFolder::create(&path, existing, is_ours)?;
            folder.file(&Path::new("a=1").join(name))?.write_all(b"x")?;
            folder.finish()
        };
        fill(Existing::Keep, "0.csv").unwrap();
        assert!(fill(Existing::Keep, "1.csv").is_err());
        fill(Existing::Replace, "1.csv").unwrap();
        assert_eq!(names(&path.join("a=1")), ["1.csv"]);
        fs::write(path.join("notes"), "mine").unwrap();
        assert!(fill(Existing::Replace, "2.csv").is_err());
        assert_eq!(names(&path), ["a=1", "notes"]);
        drop(NewFolder::create(&dir.path().join("b"), Existing::Keep, is_ours).unwrap());
        assert_eq!(names(dir.path()), ["out"]);
        // So are those around it, if they were made for it.
        for (name, left) in [("c/d", "out"), ("out/e", "out"), ("f/g", "f")] {
            let around = ParentFolder::make(&dir.path().join(name)).unwrap();
            if left == "f" {
                fs::write(dir.path().join("f/note"), "mine").unwrap();
            }
            drop(around);
            assert!(!dir.path().join(name).exists());
            assert!(names(dir.path()).contains(&left.to_owned()));
        }
        assert_eq!(names(dir.path()), ["f", "out"]);
    }
}
